// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_VIRTUAL_H
#define TOPDOWND_COLLECTORS_HOST_HOST_VIRTUAL_H

// Whether this host is a virtual machine, and whose. x86 CPUs tell by a flag; elsewhere only firmware or the device
// tree may name a hypervisor, and their silence proves nothing.

#include "collectors/host/host_linux.h"
#include "core/host/platform.h"

// Sets PLATFORM_VIRTUAL_MACHINE: "no", or the hypervisor's name with what firmware says of the machine.
void host_virtual_describe(const struct host_roots *roots, struct platform *out);

#endif
