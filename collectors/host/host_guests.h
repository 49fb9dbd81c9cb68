// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H
#define TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H

// Whether this host may run virtual machines of KVM.
//
// An event that includes guests and one that excludes them count the same as long as no guest runs. With guests there
// is a difference: a kernel that lends the counters themselves to a guest (mediated virtual PMU) refuses to make such a
// guest while anybody has an event open that includes guests, and refuses such events while there is such a guest
// (EOPNOTSUPP). The first makes it too late to look for running guests, so what counts is that guests can be made.

#include "collectors/host/host_linux.h"

// True where KVM has registered its device, which it does once the CPU's virtualization is found to be usable: sysfs
// shows it as class/misc/kvm, also in a sandbox that hides /dev and where KVM is no module.
bool host_guests_possible(const struct host_roots *roots);

#endif
