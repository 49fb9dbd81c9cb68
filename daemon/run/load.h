// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_LOAD_H
#define TOPDOWND_DAEMON_RUN_LOAD_H

// Loading: reads configuration and specs, finds the host's core types, and checks that the plan can be made. The start
// and each reload do the same.

#include "daemon/base/options.h"
#include "daemon/source/setup.h"

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM or another negative errno.
int load_setup(const struct options *options, struct errors *errors, struct setup **out);
struct setup *load_free(struct setup *setup); // returns NULL, takes NULL

// True if both measure the same kinds of PMUs outside the cores, in the same order.
bool load_same_kinds(const struct setup *a, const struct setup *b);

// Whether a reload may go from one set-up to the other without a restart. Returns 0, or -EINVAL with reason and remedy.
int load_compare(const struct setup *present, const struct setup *next, struct errors *errors);

#endif
