// SPDX-License-Identifier: Apache-2.0
#include "core/counts/zeros.h"

#include <stdlib.h>

#include "core/base/block.h"
#include "core/spec/kernel_pmu.h"

static void lay_out(void *self, struct block *block) {
    struct zeros *zeros = self;
    size_t n = zeros->catalog->n_events;
    zeros->beside = block_take(block, n, sizeof *zeros->beside);
    zeros->counted = block_take(block, n, sizeof *zeros->counted);
    zeros->evidence = block_take(block, n, sizeof *zeros->evidence);
    zeros->filtered = block_take(block, zeros->catalog->n_pmus, sizeof *zeros->filtered);
}

// True if a metric's formula, or one that it uses, has the event.
static bool needs(const struct catalog *catalog, int metric, unsigned event) {
    const struct formula *formula = catalog->metrics[metric].formula;
    bool found = false;
    for (size_t v = 0; v < formula->n_variables && !found; v++)
        found = formula->variables[v] == event;
    for (size_t m = 0; m < formula->n_metrics && !found; m++)
        found = needs(catalog, (int)formula->metrics[m], event);
    return found;
}

// True if some definition of a metric has the event, and the last one does without it.
static bool is_replaced(const struct catalog *catalog, unsigned metric, unsigned event) {
    bool had = false, has = false;
    for (int m = (int)metric; m >= 0; m = catalog->metrics[m].alternative) {
        has = needs(catalog, m, event);
        had = had || has;
    }
    return had && !has;
}

static bool is_evidence(const struct catalog *catalog, unsigned event) {
    bool is = catalog->events[event].must_count && !catalog->events[event].known_dead;
    for (unsigned m = 0; m < catalog->n_metrics && is; m++)
        if (catalog->metrics[m].alternative >= 0 && catalog->metrics[m].stands_for < 0)
            is = !is_replaced(catalog, m, event);
    return is;
}

struct zeros *zeros_new(const struct catalog *catalog) {
    struct zeros *zeros = block_new(&(struct zeros){.catalog = catalog}, sizeof *zeros, lay_out);
    for (unsigned e = 0; zeros && e < catalog->n_events; e++)
        zeros->evidence[e] = is_evidence(catalog, e);
    return zeros;
}

struct zeros *zeros_free(struct zeros *zeros) {
    free(zeros);
    return NULL;
}

void zeros_continue(struct zeros *zeros, const struct zeros *old) {
    const struct catalog *catalog = zeros->catalog;
    for (size_t e = 0; e < catalog->n_events; e++) {
        int event = catalog == old->catalog ? (int)e : catalog_find_event(old->catalog, catalog->events[e].name);
        zeros->counted[e] = event >= 0 && old->counted[event];
        zeros->beside[e] = event >= 0 ? old->beside[event] : 0;
    }
    zeros_judge(zeros);
}

void zeros_note_silence(struct zeros *zeros, unsigned event, uint64_t beside) {
    uint64_t *sum = &zeros->beside[event];
    *sum = beside < ZEROS_BESIDE - *sum ? *sum + beside : ZEROS_BESIDE;
}

void zeros_note(struct zeros *zeros, const unsigned *events, const uint64_t *counts, size_t n) {
    uint64_t largest = 0;
    bool silent = false;
    for (size_t i = 0; i < n; i++) {
        largest = counts[i] > largest ? counts[i] : largest;
        if (counts[i] > 0)
            zeros->counted[events[i]] = true;
        else
            silent = silent || !zeros->counted[events[i]];
    }
    for (size_t i = 0; silent && i < n; i++)
        if (!zeros->counted[events[i]])
            zeros_note_silence(zeros, events[i], largest);
}

// Events that the kernel names count on the core's own counters, and share a filter with its other events.
static unsigned filter_of(const struct catalog *catalog, unsigned pmu) {
    uint32_t type;
    return kernel_pmu_type(catalog->pmus[pmu], &type) ? 0 : pmu;
}

void zeros_judge(struct zeros *zeros) {
    const struct catalog *catalog = zeros->catalog;
    for (size_t i = 0; i < catalog->n_pmus; i++)
        zeros->filtered[i] = false;
    for (size_t e = 0; e < catalog->n_events; e++)
        if (zeros->evidence[e] && !zeros->counted[e] && zeros->beside[e] >= ZEROS_EVIDENCE)
            zeros->filtered[filter_of(catalog, catalog->events[e].code.pmu)] = true;
}

enum zero zeros_of(const struct zeros *zeros, const uint8_t *support, unsigned event) {
    const struct catalog_event *of = &zeros->catalog->events[event];
    if (zeros->counted[event])
        return ZERO_TRUE;
    if (of->known_dead)
        return ZERO_SILENT;
    if (support[event] == PLAN_SUPPORTED || of->may_be_zero)
        return ZERO_TRUE;
    bool filtered = zeros->filtered[filter_of(zeros->catalog, of->code.pmu)];
    return of->must_count ? ZERO_SILENT : filtered ? ZERO_FILTERED : ZERO_TRUE;
}

bool zeros_told(const struct zeros *zeros, unsigned event) {
    return !zeros->catalog->doubts_zeros && !zeros->counted[event] && zeros->beside[event] >= ZEROS_EVIDENCE;
}

bool zeros_dead(const struct zeros *zeros, const uint8_t *support, unsigned event) {
    return zeros->beside[event] >= ZEROS_BESIDE && zeros_of(zeros, support, event) != ZERO_TRUE;
}
