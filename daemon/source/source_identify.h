// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_IDENTIFY_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_IDENTIFY_H

// Chooses the CPUs that a source measures: the selected CPUs of its core type on which the PMU counts.

#include "core/base/cpuset.h"
#include "daemon/source/source_host.h"

struct source_cpus {
    struct cpuset selected; // by default all except those to be left undisturbed
    struct cpuset own;      // of this type, if the host has several
    struct cpuset isolated; // of these; none where the configuration names CPUs
    struct host_choice choice;
};

// Fills *out, which must not be moved. Checks every CPU's core only if `ask` is set; else CPUs of another type may be
// included.
void source_choose_cpus(const struct source_host *host, const struct cpuset *selected, bool ask,
                        struct source_cpus *out);

// Counts the selected online CPUs that belong to none of the sources.
size_t source_count_other_cores(const struct source_host *const *hosts, size_t n, const struct cpuset *selected);

#endif
