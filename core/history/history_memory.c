// SPDX-License-Identifier: Apache-2.0
#include "core/history/history_memory.h"

#include <math.h>
#include <stdlib.h>

struct history_memory {
    struct steps steps;
    struct host_memory *last;  // the newest reading; a reference, so that no other one has its address. NULL: none
    size_t missing;            // series that it has and that have no place yet
    struct kept_history *kept; // of an earlier process, until the first snapshot; NULL: none
};

struct history_memory *history_memory_new(void) {
    struct history_memory *history = calloc(1, sizeof *history);
    return history && steps_init(&history->steps, HISTORY_MEMORY_SERIES_MAX) < 0 ? history_memory_free(history)
                                                                                 : history;
}

struct history_memory *history_memory_free(struct history_memory *history) {
    if (history) {
        kept_history_free(history->kept);
        host_memory_unref(history->last);
        steps_deinit(&history->steps);
    }
    free(history);
    return NULL;
}

// Calls `with` for each series that the newest reading has.
static void each(struct history_memory *history,
                 void (*with)(struct history_memory *, enum memory_metric, enum memory_scope, size_t place)) {
    for (int scope = 0; scope < MEMORY_SCOPES; scope++)
        for (int metric = 0; metric < MEMORY_METRICS_N; metric++)
            for (size_t place = 0; place < memory_scope_count(history->last, (enum memory_scope)scope); place++)
                if (memory_metric_told(history->last, (enum memory_metric)metric, (enum memory_scope)scope, place))
                    with(history, (enum memory_metric)metric, (enum memory_scope)scope, place);
}

static long key_of(enum memory_scope scope, unsigned id) { return (long)((uint64_t)scope << 32 | id); }

static size_t find(const struct history_memory *history, enum memory_metric metric, enum memory_scope scope,
                   size_t place) {
    return steps_find(&history->steps, key_of(scope, memory_scope_id(history->last, scope, place)),
                      memory_metrics[metric].name);
}

static void keep(struct history_memory *history, enum memory_metric metric, enum memory_scope scope, size_t place) {
    size_t at = find(history, metric, scope, place);
    if (at != SIZE_MAX)
        history->steps.series[at].present = true;
}

static void count(struct history_memory *history, enum memory_metric metric, enum memory_scope scope, size_t place) {
    history->missing += find(history, metric, scope, place) == SIZE_MAX;
}

static void make(struct history_memory *history, enum memory_metric metric, enum memory_scope scope, size_t place) {
    struct steps *steps = &history->steps;
    if (find(history, metric, scope, place) != SIZE_MAX)
        return;
    size_t at =
        steps_make(steps, key_of(scope, memory_scope_id(history->last, scope, place)), memory_metrics[metric].name);
    if (at != SIZE_MAX)
        steps->series[at].present = true;
}

static void add(struct history_memory *history, enum memory_metric metric, enum memory_scope scope, size_t place) {
    struct memory_growth growth = memory_metric_growth(history->last, metric, scope, place);
    size_t at = find(history, metric, scope, place);
    int64_t end_ns = history->steps.end_ns;
    double took_ns = history->last->seconds * 1e9; // a recording may say anything
    if (at == SIZE_MAX || !(growth.denominator > 0))
        return;
    steps_add(&history->steps, at, growth.numerator, growth.denominator, 0);
    int64_t begin_ns = took_ns >= 0 && took_ns < (double)end_ns ? end_ns - (int64_t)took_ns : 0;
    steps_fill(&history->steps, at, begin_ns, growth.numerator / growth.denominator);
}

// ---- beyond the end of the process ----

static double no_factor(const void *context, size_t series) {
    (void)context;
    (void)series;
    return 1;
}

struct kept_history *history_memory_keep(const struct history_memory *history) {
    struct kept_history *kept =
        history->kept || !history->steps.begun ? NULL : kept_history_take(&history->steps, no_factor, NULL);
    if (kept)
        kept->kind = KEPT_MEMORY;
    return kept;
}

void history_memory_restore(struct history_memory *history, struct kept_history *kept) {
    kept_history_free(history->kept);
    history->kept = kept;
}

const struct kept_history *history_memory_kept(const struct history_memory *history) { return history->kept; }

// All series get a place, also those that the first reading does not have: rates need a second one. Those that never
// come again give theirs to others.
static void go_on(struct history_memory *history, const struct snapshot *snapshot) {
    struct kept_history *kept = history->kept;
    history->kept = NULL;
    if (kept && kept->end_ns <= (int64_t)snapshot->start_ns) {
        kept_history_go_on(kept, (int64_t)snapshot->start_ns, &history->steps);
        steps_widen(&history->steps, history->steps.n + kept->n);
        for (size_t i = 0; i < kept->n; i++) {
            size_t place = steps_make(&history->steps, kept->series[i].of, kept->series[i].name);
            if (place != SIZE_MAX)
                kept_history_put(kept, &kept->series[i], 1, &history->steps, place);
        }
    }
    kept_history_free(kept);
}

// ---- of a snapshot ----

static void follow_clock(struct history_memory *history, const struct snapshot *snapshot) {
    double wall_ns = snapshot->taken_seconds * 1e9;
    if (isfinite(wall_ns))
        (void)steps_follow_clock(&history->steps, (int64_t)wall_ns - (int64_t)snapshot->end_ns);
}

void history_memory_take(struct history_memory *history, const struct snapshot *snapshot) {
    if (!steps_go(&history->steps, snapshot->end_ns))
        return;
    go_on(history, snapshot);
    follow_clock(history, snapshot);
    if (snapshot->memory == history->last)
        return;
    host_memory_unref(history->last);
    history->last = host_memory_ref(snapshot->memory);
    for (size_t i = 0; i < history->steps.n; i++)
        history->steps.series[i].present = false;
    if (!history->last)
        return;
    each(history, keep); // first those that go on, so that a new one takes the place of one that does not
    history->missing = 0;
    each(history, count);
    steps_widen(&history->steps, history->steps.n + history->missing);
    each(history, make);
    each(history, add);
}

struct steps_range history_memory_range(const struct history_memory *history, bool coarse) {
    return steps_range(&history->steps, coarse);
}

size_t history_memory_list(const struct history_memory *history, enum memory_scope scope,
                           struct history_memory_series *out, size_t max) {
    size_t n = 0;
    for (int metric = 0; history->last && metric < MEMORY_METRICS_N; metric++)
        for (size_t place = 0; place < memory_scope_count(history->last, scope); place++)
            if (find(history, (enum memory_metric)metric, scope, place) != SIZE_MAX &&
                memory_metric_told(history->last, (enum memory_metric)metric, scope, place) && n < max)
                out[n++] = (struct history_memory_series){(enum memory_metric)metric, scope,
                                                          memory_scope_id(history->last, scope, place)};
    return n;
}

void history_memory_read(const struct history_memory *history, const struct history_memory_series *series, bool coarse,
                         int64_t first, size_t n, double *values) {
    size_t at = steps_find(&history->steps, key_of(series->scope, series->id), memory_metrics[series->metric].name);
    steps_read(&history->steps, at, 1, coarse, first, n, values);
}
