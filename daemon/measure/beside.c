// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/beside.h"

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
static bool lease_for(const struct beside *beside, unsigned seconds, int *error) {
    char request[CONTROL_REQUEST_MAX], answer[CONTROL_ANSWER_MAX];
    (void)snprintf(request, sizeof request, "lease %u\n", seconds);
    *error = ask_quietly(beside->path, request, TIMEOUT_SECONDS, answer, sizeof answer);
    return *error == 0 && strncmp(answer, "ok ", 3) == 0;
}

int beside_begin(struct beside *beside, const struct options *options) {
    int error;
    *beside = (struct beside){.path = ask_path(options)};
    if (!beside->path)
        return -ENOMEM;
    if (options->pmu == PMU_SIM)
        return 0; // it has no counters that the daemon could hold
    if (lease_for(beside, BESIDE_LEASE_SECONDS, &error))
        beside->state = BESIDE_YIELDED;
    else if (error == -EACCES || error == -EPERM)
        beside->state = BESIDE_DENIED;
    beside->renewed_ns = clocks_now_ns();
    return 0;
}

void beside_renew(void *context) {
    struct beside *beside = context;
    uint64_t now_ns = clocks_now_ns();
    int error;
    if (beside->state != BESIDE_YIELDED || now_ns < beside->renewed_ns + BESIDE_RENEW_SECONDS * SECOND_NS)
        return;
    beside->renewed_ns = now_ns;
    (void)lease_for(beside, BESIDE_LEASE_SECONDS, &error); // a daemon that has ended holds nothing
}

void beside_end(struct beside *beside) {
    int error;
    if (beside->state == BESIDE_YIELDED)
        (void)lease_for(beside, 0, &error);
    free(beside->path);
}
