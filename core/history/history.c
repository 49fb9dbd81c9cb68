// SPDX-License-Identifier: Apache-2.0
#include "core/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One step of one series. b > 0: the sums of a quotient (a over b) or of gauges times seconds; b < 0: no sums, a is the
// last gauge; 0, as memory begins: nothing.
struct point {
    float a, b;
};

// How a series gets its points.
enum source { SOURCE_QUOTIENT, SOURCE_CATEGORY, SOURCE_GAUGE };

struct series {
    char *name; // as exported
    long socket;
    double k; // the value is k a / b
    // where the layout has it:
    bool present;
    enum source source;
    size_t scope, metric; // of the plan
    size_t category;      // of level 1
    double a, b;          // totals of the last snapshot; NaN: none
};

struct history {
    size_t series_max, n;
    size_t wanted; // series that the layout has, as counted while it is matched
    struct series *series;
    size_t width;                   // points of a step: series that have a place
    struct point *points;           // HISTORY_FINE_N steps, then HISTORY_COARSE_N: memory is used as time goes by
    struct snapshot_layout *layout; // that the series were last matched with; a reference
    uint64_t begin_ns, end_ns;      // of the first snapshot, and of the last
    bool begun;
    int64_t wall_offset_ns;
    double gap_seconds; // uncovered so far because nothing was measured
    bool gap;           // since the last snapshot, too
    struct marks marks;
};

struct history *history_new(size_t series_max) {
    struct history *history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    history->series_max = series_max;
    history->series = calloc(series_max, sizeof *history->series);
    return history->series ? history : history_free(history);
}

struct history *history_free(struct history *history) {
    if (history) {
        for (size_t i = 0; i < history->n; i++)
            free(history->series[i].name);
        free(history->points);
        free(history->series);
        snapshot_layout_unref(history->layout);
        free(history);
    }
    return NULL;
}

// ---- which series there are ----

static struct series *find_series(const struct history *history, long socket, const char *name) {
    for (size_t i = 0; i < history->n; i++)
        if (history->series[i].socket == socket && strcmp(history->series[i].name, name) == 0)
            return &history->series[i];
    return NULL;
}

enum { STEPS_N = HISTORY_FINE_N + HISTORY_COARSE_N };

// Makes room for so many series in all. If out of memory, those that have a place keep it.
static void widen(struct history *history, size_t width) {
    struct point *points = width > history->width ? calloc(STEPS_N * width, sizeof *points) : NULL;
    if (!points)
        return;
    for (size_t step = 0; step < STEPS_N && history->n > 0; step++)
        memcpy(points + step * width, history->points + step * history->width, history->n * sizeof *points);
    free(history->points);
    history->points = points;
    history->width = width;
}

// A place for a new series: a free one, or that of a series which the plan does not have any more. NULL: none.
static struct series *find_place(struct history *history) {
    if (history->n < history->width)
        return &history->series[history->n++];
    for (size_t i = 0; i < history->n; i++)
        if (!history->series[i].present) {
            free(history->series[i].name);
            for (size_t step = 0; step < STEPS_N; step++)
                history->points[step * history->width + i] = (struct point){0, 0};
            return &history->series[i];
        }
    return NULL;
}

static struct series *make_series(struct history *history, long socket, const char *name) {
    char *copy = strdup(name);
    struct series *series = copy ? find_place(history) : NULL;
    if (series)
        *series = (struct series){.name = copy, .socket = socket, .a = NAN, .b = NAN};
    else
        free(copy);
    return series;
}

// Joins a metric of the layout with its series; with `make`, makes the series if there is none. The first series_max
// count.
static void match(struct history *history, size_t scope, long socket, size_t metric, bool make) {
    if (history->wanted++ >= history->series_max)
        return;
    const struct snapshot_layout *layout = history->layout;
    const struct catalog_metric *entry = &layout->catalog->metrics[layout->plan->metrics[metric].metric];
    struct series *series = find_series(history, socket, entry->export_name);
    if (!series && make)
        series = make_series(history, socket, entry->export_name);
    if (!series)
        return;
    enum source before = series->source;
    series->present = true;
    series->scope = scope;
    series->metric = metric;
    series->k = 1;
    series->category = snapshot_category_of(layout, metric);
    series->source = series->category < layout->n_level1       ? SOURCE_CATEGORY
                     : catalog_metric_ratio(entry, &series->k) ? SOURCE_QUOTIENT
                                                               : SOURCE_GAUGE;
    if (series->source != before)
        series->a = series->b = NAN; // another spec's
}

static bool is_kept(const struct plan *plan, size_t metric) {
    return !plan->metrics[metric].auxiliary && plan_metric_planned(&plan->metrics[metric]);
}

static void match_scope(struct history *history, size_t scope, long socket, bool categories, bool others, bool make) {
    const struct plan *plan = history->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++) {
        bool is = snapshot_category_of(history->layout, m) < history->layout->n_level1;
        if (is_kept(plan, m) && (is ? categories : others))
            match(history, scope, socket, m, make);
    }
}

static void match_all(struct history *history, bool make) {
    const struct topology *topology = history->layout->topology;
    history->wanted = 0;
    match_scope(history, 0, HISTORY_HOST, true, true, make);
    for (int others = 0; others <= 1; others++)
        for (size_t s = 0; s < topology->n_sockets && topology->n_sockets > 1; s++)
            match_scope(history, snapshot_scope_socket(s), (long)topology->sockets[s].id, !others, others, make);
}

// First those that go on, so that a new series takes the place of one that does not.
static void match_layout(struct history *history, struct snapshot_layout *layout) {
    snapshot_layout_unref(history->layout);
    history->layout = snapshot_layout_ref(layout);
    for (size_t i = 0; i < history->n; i++)
        history->series[i].present = false;
    match_all(history, false);
    size_t present = 0, wanted = history->wanted;
    for (size_t i = 0; i < history->n; i++)
        present += history->series[i].present;
    size_t width = history->n + (wanted > present ? wanted - present : 0); // those that went may come back
    widen(history, width < history->series_max ? width : history->series_max);
    match_all(history, true);
}

// ---- points ----

struct ring {
    size_t offset, n;
    uint64_t step_ns;
};

static struct ring ring_of(bool coarse) {
    return coarse ? (struct ring){HISTORY_FINE_N, HISTORY_COARSE_N, HISTORY_COARSE_NS}
                  : (struct ring){0, HISTORY_FINE_N, HISTORY_FINE_NS};
}

static struct point *point_of(const struct history *history, size_t series, const struct ring *ring, uint64_t step) {
    return &history->points[(ring->offset + step % ring->n) * history->width + series];
}

// Empties the steps that begin after the last snapshot, up to that of now_ns.
static void begin_steps(struct history *history, bool coarse, uint64_t now_ns) {
    struct ring ring = ring_of(coarse);
    uint64_t last = history->end_ns / ring.step_ns, now = now_ns / ring.step_ns;
    if (now - last > ring.n)
        last = now - ring.n;
    for (uint64_t step = last + 1; step <= now; step++)
        for (size_t i = 0; i < history->n; i++)
            *point_of(history, i, &ring, step) = (struct point){0, 0};
}

static void add(struct point *point, double a, double b) {
    if (point->b < 0)
        *point = (struct point){0, 0};
    point->a += (float)a;
    point->b += (float)b;
}

static void add_gauge(struct point *point, double value) {
    if (point->b <= 0 && isfinite(value))
        *point = (struct point){(float)value, -1};
}

static void add_to_rings(struct history *history, size_t series, double a, double b, double gauge) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        struct point *point = point_of(history, series, &ring, history->end_ns / ring.step_ns);
        if (b > 0)
            add(point, a, b);
        else
            add_gauge(point, gauge);
    }
}

// A snapshot stands for all of its interval: steps that lie within have its gauge.
static void fill_steps(struct history *history, size_t series, const struct snapshot *snapshot, double gauge) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        uint64_t last = snapshot->end_ns / ring.step_ns, step = snapshot->start_ns / ring.step_ns + 1;
        if (step < last && last - step >= ring.n)
            step = last - ring.n + 1;
        for (; step < last; step++)
            add_gauge(point_of(history, series, &ring, step), gauge);
    }
}

// What a traffic metric of boxes, which is that of one box, is multiplied by: how many boxes the scope has.
static double boxes_of(const struct history *history, const struct series *series) {
    const struct snapshot_layout *layout = history->layout;
    const struct topology *topology = layout->topology;
    const struct catalog_metric *metric = &layout->catalog->metrics[layout->plan->metrics[series->metric].metric];
    return topology->boxes && metric->traffic != TRAFFIC_NONE ? (double)topology_measured(topology, series->scope) : 1;
}

static void take(struct history *history, size_t i, const struct snapshot *snapshot) {
    struct series *series = &history->series[i];
    const struct snapshot_layout *layout = snapshot->layout;
    const double *values = snapshot->values;
    double gauge = values[snapshot_metric(layout, series->scope, series->metric)], a = series->a, b = series->b;
    if (series->source == SOURCE_GAUGE) {
        double seconds = (double)(snapshot->end_ns - snapshot->start_ns) * 1e-9;
        add_to_rings(history, i, gauge * seconds, isfinite(gauge) ? seconds : 0, NAN);
        if (!history->gap)
            fill_steps(history, i, snapshot, gauge);
        return;
    }
    if (series->source == SOURCE_CATEGORY) {
        series->a = values[snapshot_category(layout, series->scope, series->category)];
        series->b = values[snapshot_pipeline_slots(layout, series->scope)];
    } else {
        series->a = values[snapshot_numerator(layout, series->scope, series->metric)];
        series->b = values[snapshot_denominator(layout, series->scope, series->metric)];
    }
    bool grew = series->b > b && series->a >= a; // false for NaN
    double boxes = boxes_of(history, series);
    add_to_rings(history, i, (series->a - a) * boxes, grew ? series->b - b : 0, gauge * boxes / series->k);
    if (!history->gap)
        fill_steps(history, i, snapshot, gauge * boxes / series->k);
}

void history_take(struct history *history, const struct snapshot *snapshot) {
    double wall = snapshot->values[snapshot_self(snapshot->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)];
    if (history->layout != snapshot->layout)
        match_layout(history, snapshot->layout);
    if (history->begun && snapshot->end_ns < history->end_ns)
        return;
    if (!history->begun) {
        history->begun = true;
        history->begin_ns = history->end_ns = snapshot->end_ns;
    }
    double gap = snapshot->values[snapshot_uncovered(snapshot->layout, 0, UNCOVERED_GAP)];
    history->gap = gap > history->gap_seconds;
    history->gap_seconds = isfinite(gap) ? gap : history->gap_seconds;
    begin_steps(history, false, snapshot->end_ns);
    begin_steps(history, true, snapshot->end_ns);
    history->end_ns = snapshot->end_ns;
    if (isfinite(wall))
        history->wall_offset_ns = (int64_t)(wall * 1e9) - (int64_t)snapshot->end_ns;
    for (size_t i = 0; i < history->n; i++)
        if (history->series[i].present)
            take(history, i, snapshot);
}

// ---- reading ----

struct marks *history_marks(struct history *history) {
    return &history->marks;
}

int64_t history_wall_offset_ns(const struct history *history) { return history->wall_offset_ns; }

struct history_range history_range(const struct history *history, bool coarse) {
    struct ring ring = ring_of(coarse);
    uint64_t first = history->begin_ns / ring.step_ns, last = history->end_ns / ring.step_ns;
    if (!history->begun)
        return (struct history_range){.step_ns = ring.step_ns};
    if (last - first >= ring.n)
        first = last - ring.n + 1;
    return (struct history_range){.step_ns = ring.step_ns, .first = first, .n = (size_t)(last - first + 1)};
}

static const struct series *find_shown(const struct history *history, long socket, const char *metric) {
    bool only = history->layout && history->layout->topology->n_sockets == 1 &&
                socket == (long)history->layout->topology->sockets[0].id;
    return find_series(history, only ? HISTORY_HOST : socket, metric);
}

bool history_has(const struct history *history, long socket, const char *metric) {
    return find_shown(history, socket, metric) != NULL;
}

void history_read(const struct history *history, long socket, const char *metric, bool coarse, uint64_t first, size_t n,
                  double *values) {
    const struct series *series = find_shown(history, socket, metric);
    struct ring ring = ring_of(coarse);
    struct history_range range = history_range(history, coarse);
    for (size_t i = 0; i < n; i++) {
        bool exists = series && first + i >= range.first && first + i - range.first < range.n;
        struct point point =
            exists ? *point_of(history, (size_t)(series - history->series), &ring, first + i) : (struct point){0, 0};
        values[i] = point.b > 0   ? series->k * (double)point.a / (double)point.b
                    : point.b < 0 ? series->k * (double)point.a
                                  : NAN;
    }
}
