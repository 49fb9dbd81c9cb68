// SPDX-License-Identifier: Apache-2.0
#include "core/history/history_memory.h"

#include <stdlib.h>

struct history_memory {
    struct steps steps;
    struct host_memory *last; // the newest reading; a reference, so that no other one has its address. NULL: none
    size_t missing;           // series that it has and that have no place yet
};

struct history_memory *history_memory_new(void) {
    struct history_memory *history = calloc(1, sizeof *history);
    return history && steps_init(&history->steps, HISTORY_MEMORY_SERIES_MAX) < 0 ? history_memory_free(history)
                                                                                 : history;
}

struct history_memory *history_memory_free(struct history_memory *history) {
    if (history) {
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
    uint64_t end_ns = history->steps.end_ns;
    double took_ns = history->last->seconds * 1e9; // a recording may say anything
    if (at == SIZE_MAX || !(growth.denominator > 0))
        return;
    steps_add(&history->steps, at, growth.numerator, growth.denominator, 0);
    uint64_t begin_ns = took_ns >= 0 && took_ns < (double)end_ns ? end_ns - (uint64_t)took_ns : 0;
    steps_fill(&history->steps, at, begin_ns, growth.numerator / growth.denominator);
}

void history_memory_take(struct history_memory *history, const struct snapshot *snapshot) {
    if (!steps_go(&history->steps, snapshot->end_ns) || snapshot->memory == history->last)
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
                         uint64_t first, size_t n, double *values) {
    size_t at = steps_find(&history->steps, key_of(series->scope, series->id), memory_metrics[series->metric].name);
    steps_read(&history->steps, at, 1, coarse, first, n, values);
}
