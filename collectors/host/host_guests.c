// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_guests.h"

#include <stdio.h>
#include <unistd.h>

#include "collectors/host/host_cpu.h"

enum { PATH_BYTES = 512 };

bool host_guests_possible(const struct host_roots *roots) {
    if (host_cpu_flag(roots, "vmx") == 1 || host_cpu_flag(roots, "svm") == 1)
        return true;
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/class/misc/kvm", roots->sysfs);
    return length < PATH_BYTES && access(path, F_OK) == 0;
}
