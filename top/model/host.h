// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_HOST_H
#define TOPDOWND_TOP_MODEL_HOST_H

// What changes rarely: the host (/api/v1/status).

#include <stddef.h>

#include "top/model/arena.h"

struct host {
    struct arena arena;
    const char *name, *cpu, *version; // never NULL; the CPUs of all core types, "A + B"
    unsigned cpus, sockets;
    const char *trouble; // why a PMU fails; "": none does
};

// Returns 0; -EINVAL with the reason in `why`; -ENOMEM. On failure *out stays.
int host_read(const char *page, size_t length, struct host **out, char why[static 200]);
struct host *host_free(struct host *host);

#endif
