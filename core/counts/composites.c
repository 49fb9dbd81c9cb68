// SPDX-License-Identifier: Apache-2.0
#include "core/counts/composites.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

enum { BROKEN = -1 }; // a part is missing; in place of the number done

static void lay_out(void *self, struct block *block) {
    struct composites *composites = self;
    size_t n = composites->n_parts * composites->n_values;
    composites->cpus = block_take(block, composites->n_cpus, sizeof *composites->cpus);
    composites->parts = block_take(block, composites->n_cpus * n, sizeof *composites->parts);
    composites->sums = block_take(block, composites->n_cpus * n, sizeof *composites->sums);
    composites->joined = block_take(block, composites->n_values, sizeof *composites->joined);
}

struct composites *composites_new(const struct rows *rows, size_t n_cpus) {
    struct composites composites = {.rows = rows, .n_cpus = n_cpus, .unit = -1};
    int unit = rows->plan->level1_unit;
    if (unit >= 0 && rows->plan->units[unit].n_groups > 1) {
        composites.unit = unit;
        composites.n_parts = rows->plan->units[unit].n_groups;
        composites.n_values = rows_n(rows, (size_t)unit);
    }
    return block_new(&composites, sizeof composites, lay_out);
}

struct composites *composites_free(struct composites *composites) {
    free(composites);
    return NULL;
}

static double *parts_of(const struct composites *composites, size_t cpu) {
    return composites->parts + cpu * composites->n_parts * composites->n_values;
}

static double *sums_of(const struct composites *composites, size_t cpu) {
    return composites->sums + cpu * composites->n_parts * composites->n_values;
}

void composites_begin_round(struct composites *composites, size_t cpu) {
    memset(sums_of(composites, cpu), 0, composites->n_parts * composites->n_values * sizeof *composites->sums);
    composites_break(composites, cpu);
}

void composites_break(struct composites *composites, size_t cpu) { composites->cpus[cpu].done = BROKEN; }

double *composites_begin_part(struct composites *composites, size_t cpu, size_t part) {
    struct composite *composite = &composites->cpus[cpu];
    if (part == 0)
        *composite = (struct composite){0};
    if (composite->done != (int)part) {
        composite->done = BROKEN;
        return NULL;
    }
    return parts_of(composites, cpu) + part * composites->n_values;
}

bool composites_end_part(struct composites *composites, size_t cpu, double *running_seconds) {
    struct composite *composite = &composites->cpus[cpu];
    const double *parts = parts_of(composites, cpu);
    double *sums = sums_of(composites, cpu);
    composite->running_seconds += *running_seconds;
    if (++composite->done < (int)composites->n_parts)
        return false;
    for (size_t i = 0; i < composites->n_parts * composites->n_values; i++)
        sums[i] += parts[i];
    // an event counts only in its own parts: in about one of them
    *running_seconds = composite->running_seconds / (double)composites->n_parts;
    return true;
}

// ---- joining ----

static bool part_counts(const struct composites *composites, size_t part, unsigned event) {
    const struct plan *plan = composites->rows->plan;
    const struct plan_group *group = &plan->groups[plan->units[composites->unit].first_group + part];
    for (size_t e = 0; e < group->n_events; e++)
        if (group->events[e] == event)
            return true;
    return false;
}

// A value summed over all parts.
static double whole_of(const struct composites *composites, const double *parts, size_t value) {
    double whole = 0;
    for (size_t p = 0; p < composites->n_parts; p++)
        whole += parts[p * composites->n_values + value];
    return whole;
}

// Returns a window as long as all parts together. The event that is in every part scales an event's count from its own
// parts to the whole; if it did not happen, time does. Ratios come last here too: these are a round's sums. The parts
// of a single composite saw different moments: if a burst falls into only one of them, the quotient is far off, and
// always to the same side.
const double *composites_join(struct composites *composites, size_t cpu) {
    const struct plan_unit *unit = &composites->rows->plan->units[composites->unit];
    const double *parts = sums_of(composites, cpu);
    double *joined = composites->joined;
    size_t by = unit->reference < 0
                    ? 0
                    : rows_place_in_unit(composites->rows, (size_t)composites->unit, (unsigned)unit->reference);
    if (whole_of(composites, parts, by) == 0)
        by = 0;
    double whole = whole_of(composites, parts, by);
    joined[0] = whole_of(composites, parts, 0);
    for (size_t i = 0; i < unit->n_events; i++) {
        double count = 0, measured = 0;
        for (size_t p = 0; p < composites->n_parts; p++) {
            const double *part = parts + p * composites->n_values;
            if (!part_counts(composites, p, unit->events[i]))
                continue;
            count += part[1 + i];
            measured += part[by];
        }
        joined[1 + i] = measured > 0 ? count / measured * whole : 0;
    }
    return joined;
}
