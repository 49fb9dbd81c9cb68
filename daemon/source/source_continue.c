// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_continue.h"

#include <string.h>

#include "core/spec/catalog_same.h"

static bool same_answers(const struct source_making *a, const struct source_making *b) {
    bool same = a->answers.n == b->answers.n && a->topdown_dropped == b->topdown_dropped;
    for (size_t i = 0; same && i < a->answers.n; i++)
        same = strcmp(a->answers.items[i].name, b->answers.items[i].name) == 0 &&
               a->answers.items[i].there == b->answers.items[i].there;
    return same;
}

static bool same_hardware(const struct source *a, const struct source *b) {
    return strcmp(a->pmu_name, b->pmu_name) == 0 && strcmp(a->core_type, b->core_type) == 0 &&
           a->takes_counters == b->takes_counters && a->general_counters == b->general_counters &&
           a->smt_at_boot == b->smt_at_boot && a->exclude_guest == b->exclude_guest;
}

bool source_same(const struct source *a, const struct source *b) {
    return a->driver == b->driver && a->simulated == b->simulated && a->vendors == b->vendors && same_hardware(a, b) &&
           same_answers(&a->making, &b->making) && catalog_same(a->catalog, b->catalog) &&
           memcmp(a->support, b->support, a->catalog->n_events * sizeof *a->support) == 0 &&
           (!a->driver->same || a->driver->same(a, b));
}

static void follow(const char **text, const char *before, const char *now) {
    if (*text == before)
        *text = now;
}

// Texts of the source that are the catalog's own.
static void follow_catalog(struct source *source, const struct catalog_product *before) {
    const struct catalog_product *now = &source->catalog->product;
    follow(&source->pmu_name, before->pmu, now->pmu);
    follow(&source->microarchitecture, before->microarchitecture, now->microarchitecture);
    for (size_t i = 0; i < source->troubles.n; i++)
        follow(&source->troubles.errors[i].pmu, before->pmu, now->pmu);
}

void source_exchange(struct source *a, struct source *b) {
    struct catalog *catalog = a->catalog;
    a->catalog = b->catalog;
    b->catalog = catalog;
    follow_catalog(a, &b->catalog->product);
    follow_catalog(b, &a->catalog->product);
    if (a->driver->exchange)
        a->driver->exchange(a, b);
}

void source_continue(struct source *source, const struct source *old) {
    if (source->watchdog_on == old->watchdog_on)
        source->nmi_watchdog = old->nmi_watchdog;
}
