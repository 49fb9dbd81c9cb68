// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_H
#define TOPDOWND_DAEMON_COMMAND_LIST_H

// `topdownd list cpus|groups|metrics|events`: what is known, as a table or as JSON, of this host's CPU or of any other
// that has a spec. Needs no PMU and no privileges.

#include "daemon/base/options.h"

// Whether the command's word and options go together: 0, or -EINVAL after saying why.
int list_check(const struct options *options);

// Returns the exit status.
int list_run(const struct options *options);

#endif
