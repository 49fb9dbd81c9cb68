// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_JOINED_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_JOINED_H

// Kinds over several PMUs, for metrics of the vendor's files that need them together (collectors/uncore/pmu_joined.h):
// "uncore_cha_m2m", or "uncore_cha_cpu" for those that also need the cores. A box of such a kind is a socket.

#include "daemon/uncore/uncore_files.h"

// Adds the kinds of a folder that the configuration names a group of, and whose PMUs this host has. Returns 0 or
// -ENOMEM.
int uncore_joined_add(const struct uncore_files *files);

#endif
