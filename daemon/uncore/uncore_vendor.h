// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_VENDOR_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_VENDOR_H

// Metric groups of the vendor's files (`specs:` of the configuration) for this host's PMUs outside the cores, beside
// the kinds of our own specs: those that `uncore.groups` names, or all metrics of a PMU under the PMU's name.

#include "daemon/source/setup.h"

// Adds the kinds with a named group to the set-up. Entries that are wrong are told of where the files are read for the
// cores. Returns 0 or -ENOMEM.
int uncore_vendor_setup(struct setup *setup, const struct options *options);

#endif
