// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H
#define TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H

// Tells whether this host may run KVM virtual machines.
//
// Events that include guests and events that exclude them count the same while no guest runs. They differ under a
// kernel that lends the counters themselves to a guest (mediated virtual PMU): it refuses to create such a guest while
// any process has an event open that includes guests, and refuses such events while such a guest exists (EOPNOTSUPP).
// Looking for running guests would therefore be too late; topdownd asks whether guests are possible.

#include "collectors/host/host_linux.h"

// True if KVM has registered its device, which it does once it finds the CPU's virtualization usable. sysfs shows the
// device as class/misc/kvm, even in a sandbox that hides /dev and if KVM is built in.
bool host_guests_possible(const struct host_roots *roots);

#endif
