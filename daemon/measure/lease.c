// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"

enum { TIMEOUT_SECONDS = 10 };
static const uint64_t SECOND_NS = UINT64_C(1000000000);

// Leases them. True if the daemon has done so; *error is why it could not be asked, 0 if it was.
static bool lease_for(const struct lease *lease, unsigned seconds, int *error) {
    char request[CONTROL_REQUEST_MAX], answer[CONTROL_ANSWER_MAX];
    (void)snprintf(request, sizeof request, "lease %u\n", seconds);
    *error = ask_quietly(lease->path, request, TIMEOUT_SECONDS, answer, sizeof answer);
    return *error == 0 && strncmp(answer, "ok ", 3) == 0;
}

int lease_begin(struct lease *lease, const struct options *options) {
    int error;
    *lease = (struct lease){.path = ask_path(options)};
    if (!lease->path)
        return -ENOMEM;
    if (options->pmu == PMU_SIM)
        return 0; // it has no counters that the daemon could hold
    if (lease_for(lease, LEASE_SECONDS, &error))
        lease->state = LEASE_YIELDED;
    else if (error == -EACCES || error == -EPERM)
        lease->state = LEASE_DENIED;
    lease->renewed_ns = clocks_now_ns();
    return 0;
}

void lease_renew(void *context) {
    struct lease *lease = context;
    uint64_t now_ns = clocks_now_ns();
    int error;
    if (lease->state != LEASE_YIELDED || now_ns < lease->renewed_ns + LEASE_RENEW_SECONDS * SECOND_NS)
        return;
    lease->renewed_ns = now_ns;
    (void)lease_for(lease, LEASE_SECONDS, &error); // a daemon that has ended holds nothing
}

void lease_end(struct lease *lease) {
    int error;
    if (lease->state == LEASE_YIELDED)
        (void)lease_for(lease, 0, &error);
    free(lease->path);
}
