// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H
#define TOPDOWND_COLLECTORS_HOST_HOST_GUESTS_H

// Tells whether this host may run KVM virtual machines.
//
// Events that include guests and events that exclude them count the same while no guest runs. They differ under a
// kernel that lends the counters themselves to a guest (mediated virtual PMU, kvm_intel.enable_mediated_pmu): it
// refuses to create such a guest (EBUSY) while any process has an event open that includes guests, and refuses such
// events while such a guest exists (EOPNOTSUPP). So looking for running guests, or for KVM itself, would be too late: a
// module may be loaded at any time. topdownd asks what the CPU can do.

#include "collectors/host/host_linux.h"

// True if the CPU can run guests: x86 shows VMX or SVM in /proc/cpuinfo, unless the firmware has switched it off. The
// kernel's other ports have KVM built in, or know no mediated virtual PMU: there, true if KVM has registered its
// device, which it does once it finds the CPU's virtualization usable (on Arm if the kernel was started in EL2). sysfs
// shows the device as class/misc/kvm, even in a sandbox that hides /dev.
bool host_guests_possible(const struct host_roots *roots);

#endif
