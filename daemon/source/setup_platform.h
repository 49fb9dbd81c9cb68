// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SETUP_PLATFORM_H
#define TOPDOWND_DAEMON_SOURCE_SETUP_PLATFORM_H

// The platform of a set-up's host: collected from this host's files, or of a simulated or recorded host what is known
// of it, and never this host's.

#include "daemon/source/setup.h"

// For setup.c. Returns 0 or -ENOMEM; setup_platform_deinit frees what was made.
int setup_platform_find(struct setup *setup);
void setup_platform_deinit(struct setup *setup);

#endif
