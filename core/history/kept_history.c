// SPDX-License-Identifier: Apache-2.0
#include "core/history/kept_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kept_history *kept_history_new(int64_t begin_ns, int64_t coarse_begin_ns, int64_t end_ns) {
    const struct steps steps = {
        .begin_ns = begin_ns, .coarse_begin_ns = coarse_begin_ns, .end_ns = end_ns, .begun = true};
    struct kept_history *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->begin_ns = begin_ns;
    kept->coarse_begin_ns = coarse_begin_ns;
    kept->end_ns = end_ns;
    kept->fine = steps_range(&steps, false);
    kept->coarse = steps_range(&steps, true);
    kept->series = calloc(KEPT_SERIES_MAX, sizeof *kept->series);
    return kept->series ? kept : kept_history_free(kept);
}

struct kept_history *kept_history_free(struct kept_history *kept) {
    if (kept) {
        for (size_t i = 0; i < kept->n; i++) {
            free(kept->series[i].values);
            free(kept->series[i].margins);
        }
        free(kept->series);
        free(kept);
    }
    return NULL;
}

struct kept_series *kept_history_add(struct kept_history *kept, long of, const char *name) {
    size_t n = kept->fine.n + kept->coarse.n;
    if (kept->n >= KEPT_SERIES_MAX || strlen(name) >= KEPT_NAME_MAX)
        return NULL;
    float *values = calloc(n, sizeof *values);
    uint8_t *margins = calloc(n, sizeof *margins);
    if (!values || !margins) {
        free(values);
        free(margins);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    struct kept_series *series = &kept->series[kept->n++];
    *series = (struct kept_series){.of = of, .values = values, .margins = margins};
    strcpy(series->name, name);
    return series;
}

float *kept_series_values(const struct kept_history *kept, const struct kept_series *series, bool coarse) {
    return series->values + (coarse ? kept->fine.n : 0);
}

uint8_t *kept_series_margins(const struct kept_history *kept, const struct kept_series *series, bool coarse) {
    return series->margins + (coarse ? kept->fine.n : 0);
}

static struct steps_range range_of(const struct kept_history *kept, bool coarse) {
    return coarse ? kept->coarse : kept->fine;
}

// ---- from steps, and back ----

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

struct kept_history *kept_history_take(const struct steps *steps, double (*k)(const void *context, size_t series),
                                       const void *context) {
    double values[HISTORY_FINE_N];
    struct kept_history *kept = kept_history_new(steps->begin_ns, steps->coarse_begin_ns, steps->end_ns);
    for (size_t i = 0; kept && i < steps->n; i++) {
        const struct kept_series *series = kept_history_add(kept, steps->series[i].of, steps->series[i].name);
        for (int coarse = 0; series && coarse <= 1; coarse++) {
            struct steps_range range = range_of(kept, coarse != 0);
            steps_read(steps, i, k(context, i), coarse != 0, range.first, range.n, values);
            for (size_t step = 0; step < range.n; step++)
                kept_series_values(kept, series, coarse != 0)[step] = (float)values[step];
            steps_read_margins(steps, i, coarse != 0, range.first, range.n,
                               kept_series_margins(kept, series, coarse != 0));
        }
    }
    if (kept)
        kept->earlier = steps->earlier;
    return kept;
}

void kept_history_go_on(const struct kept_history *kept, int64_t own_begin_ns, struct steps *steps) {
    steps->begin_ns = least(steps->begin_ns, kept->begin_ns);
    steps->coarse_begin_ns = least(steps->coarse_begin_ns, kept->coarse_begin_ns);
    steps->earlier = kept->earlier;
    if (kept->earlier.boot_ns == INT64_MAX)
        steps->earlier.boot_ns = own_begin_ns;
}

void kept_history_put(const struct kept_history *kept, const struct kept_series *series, double k, struct steps *steps,
                      size_t place) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct steps_range range = range_of(kept, coarse != 0);
        for (size_t step = 0; step < range.n; step++) {
            steps_put(steps, place, coarse != 0, range.first + (int64_t)step,
                      (double)kept_series_values(kept, series, coarse != 0)[step] / k);
            steps_put_margin(steps, place, coarse != 0, range.first + (int64_t)step,
                             kept_series_margins(kept, series, coarse != 0)[step]);
        }
    }
}

// ---- another boot ----

// No clock is further away: arithmetic has room for it.
static bool is_near(int64_t offset_ns) { return offset_ns >= -STEPS_OFFSET_MAX && offset_ns <= STEPS_OFFSET_MAX; }

// By how many steps those of one resolution move, and where they are then.
static int64_t place_steps(struct steps_range range, int64_t offset_ns, int64_t now_offset_ns, int64_t now_ns,
                           struct steps_placed *placed) {
    int64_t last = range.first + (int64_t)range.n - 1, by = steps_round(offset_ns - now_offset_ns, range.step_ns),
            most = steps_step(now_ns, range.step_ns) - 1 - last; // the step of now is this boot's
    by = least(by, most);
    *placed = (struct steps_placed){.offset_ns = offset_ns - by * range.step_ns, .last = last + by};
    return by;
}

static void copy_moved(const struct kept_history *kept, const struct kept_series *from, bool coarse, int64_t by,
                       const struct kept_history *moved, const struct kept_series *to) {
    struct steps_range range = range_of(kept, coarse), there = range_of(moved, coarse);
    for (size_t i = 0; i < range.n; i++) {
        int64_t at = range.first + (int64_t)i + by - there.first;
        if (at >= 0 && at < (int64_t)there.n) {
            kept_series_values(moved, to, coarse)[at] = kept_series_values(kept, from, coarse)[i];
            kept_series_margins(moved, to, coarse)[at] = kept_series_margins(kept, from, coarse)[i];
        }
    }
}

struct kept_history *kept_history_reboot(const struct kept_history *kept, int64_t offset_ns, int64_t now_offset_ns,
                                         int64_t now_ns) {
    if (!is_near(offset_ns) || !is_near(now_offset_ns))
        return NULL;
    int64_t by_ns = least(offset_ns - now_offset_ns, now_ns - 1 - kept->end_ns);
    if (by_ns < -STEPS_TIME_MAX - least(kept->begin_ns, kept->coarse_begin_ns))
        return NULL;
    struct steps_earlier earlier = {
        .any = true, .boot_ns = INT64_MAX, .end_ns = kept->end_ns + by_ns, .offset_ns = offset_ns - by_ns};
    int64_t fine = place_steps(kept->fine, offset_ns, now_offset_ns, now_ns, &earlier.fine),
            coarse = place_steps(kept->coarse, offset_ns, now_offset_ns, now_ns, &earlier.coarse);
    if (!is_near(earlier.offset_ns) || !is_near(earlier.fine.offset_ns) || !is_near(earlier.coarse.offset_ns))
        return NULL;
    // steps are moved by whole ones: the first and the last one may come to lie outside these two moments
    int64_t begin_ns = least(kept->begin_ns + by_ns, (kept->fine.first + fine) * HISTORY_FINE_NS),
            coarse_begin_ns = least(kept->coarse_begin_ns + by_ns, (kept->coarse.first + coarse) * HISTORY_COARSE_NS),
            last_ns = -least(-earlier.fine.last * HISTORY_FINE_NS, -earlier.coarse.last * HISTORY_COARSE_NS),
            end_ns = -least(-earlier.end_ns, -last_ns);
    struct kept_history *moved = kept_history_new(begin_ns, coarse_begin_ns, end_ns);
    if (!moved)
        return NULL;
    moved->kind = kept->kind;
    moved->meanwhile = kept->meanwhile;
    strcpy(moved->of, kept->of);
    moved->earlier = earlier;
    moved->marks = kept->marks;
    marks_move(&moved->marks, INT64_MAX, by_ns);
    for (size_t i = 0; i < kept->n; i++) {
        const struct kept_series *from = &kept->series[i], *to = kept_history_add(moved, from->of, from->name);
        if (!to)
            return kept_history_free(moved);
        copy_moved(kept, from, false, fine, moved, to);
        copy_moved(kept, from, true, coarse, moved, to);
    }
    return moved;
}

void kept_histories_deinit(struct kept_histories *kept) {
    for (size_t i = 0; i < kept->n; i++)
        kept_history_free(kept->all[i]);
    kept->n = 0;
}
