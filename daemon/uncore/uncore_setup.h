// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_SETUP_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_SETUP_H

// Adds the kinds of PMUs outside the cores to a set-up, after its core types (core/uncore/uncore.h): each is a source
// of its own, with boxes in the place of CPUs.

#include "daemon/source/setup.h"

// Returns 0, also where the host has none or they cannot be used, which is noted; -EINVAL with the mistakes in
// `errors`, -ENOMEM.
int uncore_setup(struct setup *setup, const struct options *options, struct errors *errors);

// Boxes of a set-up that is to follow another one go on with the numbers that they have there. Returns 0 or -ENOMEM.
int uncore_continue(struct setup *setup, const struct setup *before);

#endif
