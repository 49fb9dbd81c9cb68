// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_fit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plan_fit_init(struct plan *plan, const struct plan_request *request) {
    const struct catalog *catalog = request->catalog;
    plan->needs = calloc(catalog->n_events, sizeof *plan->needs);
    if (!plan->needs)
        return -ENOMEM;
    for (size_t e = 0; e < catalog->n_events; e++)
        plan->needs[e] = catalog->events[e].need;
    plan->pmu = (struct fit_pmu){.general = request->general_counters, .reserved = request->reserved_counters};
    unsigned group_events = catalog->product.group_events;
    if (request->boxes && group_events > 0 && (plan->pmu.general == 0 || group_events < plan->pmu.general))
        plan->pmu.general = group_events; // whatever the group, each is on its own
    plan->pmu.hardware = request->smt_at_boot && request->general_counters > 0 ? catalog->general_counters : 0;
    if (request->nmi_watchdog && catalog->watchdog_event >= 0)
        plan->pmu.fixed_taken = UINT64_C(1) << catalog->events[catalog->watchdog_event].need.fixed;
    for (size_t i = 0; i < catalog->n_registers; i++)
        plan->pmu.registers[i + 1] = catalog->registers[i].values;
    return 0;
}

// Writes "A, B and C"; for more than three "A, B, C and others".
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
        (void)snprintf(out, size, "%s %u counter%s at once, this host has %u%s%s", subject, why->needed,
                       why->needed == 1 ? "" : "s", request->general_counters, reserved, split);
        break;
    case FIT_CHOICE:
        (void)snprintf(out, size, "%s %u of the %u counter%s that can count %s%s", subject, why->needed, why->available,
                       why->available == 1 ? "" : "s", names, split);
        break;
    case FIT_PLACE:
        (void)snprintf(out, size, "%s neighbouring counters for %s that are not free at once%s", subject, names, split);
        break;
    case FIT_EXCLUSIVE:
        (void)snprintf(out, size,
                       "%s %u general counters at once, and the kernel allows %u beside %s because SMT was on at "
                       "boot%s%s",
                       subject, why->needed, why->available, names, reserved, split);
        break;
    case FIT_REGISTER:
        (void)snprintf(out, size, "%s %u values of %s at once (%s), the CPU holds %u%s", subject, why->needed,
                       request->catalog->registers[why->reg - 1].term, names, why->available, split);
        break;
    }
}
