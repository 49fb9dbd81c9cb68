// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_H
#define TOPDOWND_DAEMON_COMMAND_LIST_H

// `topdownd list cpus|groups|metrics|events`: lists the data about this host's CPU, or any other with a spec, as a
// table or as JSON. Needs no PMU and no privileges.

#include "daemon/base/options.h"

// Checks that the command's word and options are compatible: 0, or -EINVAL after printing why not.
int list_check(const struct options *options);

// Returns the exit status.
int list_run(const struct options *options);

#endif
