// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_guests.h"

#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

bool host_guests_possible(const struct host_roots *roots) {
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/class/misc/kvm", roots->sysfs);
    return length < PATH_BYTES && access(path, F_OK) == 0;
}
