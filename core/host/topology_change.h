// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_TOPOLOGY_CHANGE_H
#define TOPDOWND_CORE_HOST_TOPOLOGY_CHANGE_H

// The difference between two topologies of one host, for people.

#include "core/host/topology.h"

// Lists the CPUs of a topology that another one lacks, such as "3-5,9"; ends in "..." if they do not fit into `size`
// bytes, at least 16. Returns their number.
size_t topology_list_missing(const struct topology *of, const struct topology *from, char *list, size_t size);

// The number of CPUs that are left alone because they are isolated.
unsigned topology_count_isolated(const struct topology *topology);

#endif
