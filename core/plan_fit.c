// SPDX-License-Identifier: Apache-2.0
#include "core/plan_fit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A catalog event that has a counter of its own gets the next number; beyond what can be numbered it takes none.
static void derive_needs(const struct catalog *catalog, struct fit_event *needs) {
    int fixed = 0;
    for (size_t e = 0; e < catalog->n_events; e++) {
        needs[e] = (struct fit_event){.fixed = -1};
        if (catalog->events[e].fixed && fixed < FIT_FIXED_MAX)
            needs[e].fixed = fixed++;
        else if (catalog->events[e].fixed)
            needs[e].free = true;
    }
}

int plan_fit_init(struct plan *plan, const struct plan_request *request) {
    size_t n = request->catalog->n_events;
    plan->needs = calloc(n, sizeof *plan->needs);
    if (!plan->needs)
        return -ENOMEM;
    if (request->needs)
        memcpy(plan->needs, request->needs, n * sizeof *plan->needs);
    else
        derive_needs(request->catalog, plan->needs);
    plan->pmu = (struct fit_pmu){.general = request->general_counters,
                                 .reserved = request->reserved_counters,
                                 .fixed_taken = request->fixed_taken};
    for (size_t i = 0; i < FIT_REGISTERS_MAX && request->registers[i].name; i++)
        plan->pmu.registers[i + 1] = request->registers[i].values;
    return 0;
}

bool plan_fits(const struct plan *plan, const unsigned *events, size_t n) {
    return fit_check(&plan->pmu, plan->needs, events, n, NULL);
}

// "A, B and C"; of more than three "A, B, C and others".
static void name_events(const struct catalog *catalog, const struct fit_reason *why, char *out, size_t size) {
    enum { NAMED = 3 };
    size_t n = why->n < NAMED ? why->n : NAMED, length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && length < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == why->n ? " and " : ", ";
        length +=
            (size_t)snprintf(out + length, size - length, "%s%.60s", between, catalog->events[why->events[i]].name);
    }
    if (why->n > NAMED && length < size)
        (void)snprintf(out + length, size - length, " and others");
}

void plan_fit_explain(const struct plan_request *request, const struct fit_reason *why, bool level1, char *out,
                      size_t size) {
    char names[200], reserved[64] = "";
    const char *subject = level1 ? "the level-1 categories need" : "needs";
    const char *split = level1 ? ", and the spec has no split that fits" : "";
    unsigned left =
        request->reserved_counters < request->general_counters ? request->reserved_counters : request->general_counters;
    name_events(request->catalog, why, names, sizeof names);
    if (left > 0)
        (void)snprintf(reserved, sizeof reserved, ", %u of them reserved for others", left);
    switch (why->cause) {
    case FIT_COUNTERS:
        (void)snprintf(out, size, "%s %u counters at once, this host has %u%s%s", subject, why->needed,
                       request->general_counters, reserved, split);
        break;
    case FIT_CHOICE:
        (void)snprintf(out, size, "%s %u of the %u counters that can count %s%s", subject, why->needed, why->available,
                       names, split);
        break;
    case FIT_PLACE:
        (void)snprintf(out, size, "%s neighbouring counters for %s that are not free at once%s", subject, names, split);
        break;
    case FIT_REGISTER:
        (void)snprintf(out, size, "%s %u values of %s at once (%s), the CPU holds %u%s", subject, why->needed,
                       request->registers[why->reg - 1].name, names, why->available, split);
        break;
    }
}
