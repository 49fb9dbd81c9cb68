// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_CHECK_HOST_H
#define TOPDOWND_DAEMON_RUN_CHECK_HOST_H

// `topdownd check-config --host NAME --cpu SPEC`: which profile another host of the fleet would take.

#include "daemon/source/setup.h"

// Prints the profile of a host of this name (NULL: this host's) with a CPU of this spec (NULL: this host's), and which
// of its metric groups that CPU has. Conditions on files are those of this host. Returns 0, -EINVAL with the reason in
// `errors` if there is no such spec, or -ENOMEM.
int check_host(const struct setup *setup, const char *hostname, const char *cpu, struct errors *errors);

#endif
