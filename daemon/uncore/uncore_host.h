// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_HOST_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_HOST_H

// Adds the kinds of boxes that this host has, as its files tell.

#include "daemon/source/setup.h"

// Where the host has none, the set-up's first source notes it. As uncore_setup.
int uncore_host_setup(struct setup *setup, const struct options *options, struct errors *errors);

#endif
