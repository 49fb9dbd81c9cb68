// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/closer.h"

#include <errno.h>
#include <stdlib.h>

#include "collectors/pmu/pace.h"
#include "core/base/array.h"

struct taken {
    int handle;
    size_t n_events;
};

struct closer {
    struct pmu *pmu;
    struct taken *taken; // NULL: none
    size_t n_taken, n_closed;
    uint64_t calls;
};

int closer_new(struct pmu *pmu, struct closer **out) {
    struct closer *closer = calloc(1, sizeof *closer);
    if (!closer)
        return -ENOMEM;
    closer->pmu = pmu;
    *out = closer;
    return 0;
}

static void close_group(struct closer *closer, const struct taken *group) {
    closer->calls += group->n_events;
    closer->pmu->ops->close(closer->pmu, group->handle);
}

static void forget_closed(struct closer *closer) {
    free(closer->taken);
    closer->taken = NULL;
    closer->n_taken = closer->n_closed = 0;
}

struct closer *closer_free(struct closer *closer) {
    if (!closer)
        return NULL;
    while (closer_is_busy(closer))
        close_group(closer, &closer->taken[closer->n_closed++]);
    free(closer->taken);
    free(closer);
    return NULL;
}

void closer_take(struct closer *closer, int handle, size_t n_events, bool enabled) {
    const struct taken group = {.handle = handle, .n_events = n_events};
    if (enabled) {
        closer->calls++;
        (void)closer->pmu->ops->enable(closer->pmu, handle, false); // what cannot be stopped ends when it is closed
    }
    struct taken *taken = array_grow(closer->taken, closer->n_taken, sizeof *taken);
    if (!taken) {
        close_group(closer, &group);
        return;
    }
    closer->taken = taken;
    closer->taken[closer->n_taken++] = group;
}

bool closer_is_busy(const struct closer *closer) { return closer->n_closed < closer->n_taken; }

void closer_step(struct closer *closer, uint64_t now_ns) {
    closer->pmu->ops->advance(closer->pmu, now_ns);
    for (size_t events = 0; closer_is_busy(closer); closer->n_closed++) {
        const struct taken *group = &closer->taken[closer->n_closed];
        if (events > 0 && events + group->n_events > PACE_EVENTS)
            return;
        close_group(closer, group);
        events += group->n_events;
    }
    forget_closed(closer);
}

uint64_t closer_calls(const struct closer *closer) { return closer->calls; }
