// SPDX-License-Identifier: Apache-2.0
#include "core/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/margin.h"

// How a series gets its points.
enum source { SOURCE_QUOTIENT, SOURCE_CATEGORY, SOURCE_GAUGE };

struct series {
    double k;   // the value is k a / b
    bool share; // its margin is in points, else relative
    // where the layout has it:
    enum source source;
    size_t scope, metric; // of the plan
    size_t category;      // of level 1
    double a, b;          // totals of the last snapshot; NaN: none
};

struct history {
    struct steps steps;             // of the exported names; of the sockets' ids
    struct series *series;          // at the same places
    size_t wanted;                  // series that the layout has, as counted while it is matched
    struct snapshot_layout *layout; // that the series were last matched with; a reference
    int64_t wall_offset_ns;
    double gap_seconds;  // uncovered so far because nothing was measured
    bool gap;            // since the last snapshot, too
    double round_end_ns; // of the newest round so far
    bool round_ended;    // since the last snapshot
    struct marks marks;
    struct kept_history *kept; // of an earlier process, until the first snapshot; NULL: none
};

static const double ROUND_NS_LEAST = 1e6; // ages are rounded

struct history *history_new(size_t series_max) {
    struct history *history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    history->series = calloc(series_max, sizeof *history->series);
    return steps_init(&history->steps, series_max) == 0 && history->series ? history : history_free(history);
}

struct history *history_free(struct history *history) {
    if (history) {
        steps_deinit(&history->steps);
        free(history->series);
        snapshot_layout_unref(history->layout);
        kept_history_free(history->kept);
        free(history);
    }
    return NULL;
}

// ---- which series there are ----

// Joins a metric of the layout with its series; with `make`, makes the series if there is none. The first series_max
// count.
static void match(struct history *history, size_t scope, long socket, size_t metric, bool make) {
    if (history->wanted++ >= history->steps.series_max)
        return;
    const struct snapshot_layout *layout = history->layout;
    const struct catalog_metric *entry = &layout->catalog->metrics[layout->plan->metrics[metric].metric];
    size_t place = steps_find(&history->steps, socket, entry->export_name);
    if (place == SIZE_MAX && make) {
        place = steps_make(&history->steps, socket, entry->export_name);
        if (place != SIZE_MAX)
            history->series[place] = (struct series){.a = NAN, .b = NAN};
    }
    if (place == SIZE_MAX)
        return;
    struct series *series = &history->series[place];
    enum source before = series->source;
    history->steps.series[place].present = true;
    series->scope = scope;
    series->metric = metric;
    series->k = 1;
    series->share = entry->domain != METRIC_OTHER;
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
    struct steps *steps = &history->steps;
    for (size_t i = 0; i < steps->n; i++)
        steps->series[i].present = false;
    match_all(history, false);
    size_t present = 0, wanted = history->wanted;
    for (size_t i = 0; i < steps->n; i++)
        present += steps->series[i].present;
    steps_widen(steps, steps->n + (wanted > present ? wanted - present : 0)); // those that went may come back
    match_all(history, true);
}

// ---- points ----

// What a metric of boxes is multiplied by: how many boxes the scope has, if these add up.
static double boxes_of(const struct history *history, const struct series *series) {
    const struct snapshot_layout *layout = history->layout;
    const struct topology *topology = layout->topology;
    const struct catalog_metric *metric = &layout->catalog->metrics[layout->plan->metrics[series->metric].metric];
    return topology->boxes && catalog_metric_adds(layout->catalog, metric)
               ? (double)topology_measured(topology, series->scope)
               : 1;
}

// True if a gauge is newer than in the last snapshot: a round has ended since, or nothing rotates for it.
static bool is_new(const struct history *history, const struct series *series) {
    const struct plan *plan = history->layout->plan;
    int unit = plan->metrics[series->metric].unit;
    return history->round_ended || (unit >= 0 && plan_unit_stands(plan, (unsigned)unit));
}

// Since when the gauges are of.
static int64_t begun_ns(const struct snapshot *snapshot) {
    double ago_ns = snapshot->values[snapshot_gauges_begun(snapshot->layout)] * 1e9;
    uint64_t start_ns = snapshot->start_ns;
    if (ago_ns <= (double)snapshot->end_ns && snapshot->end_ns - (uint64_t)ago_ns < start_ns)
        start_ns = snapshot->end_ns - (uint64_t)ago_ns;
    return (int64_t)start_ns;
}

// The steps that lie within the time that a gauge is of.
static void fill(struct history *history, size_t i, const struct snapshot *snapshot, double gauge) {
    if (!history->gap)
        steps_fill(&history->steps, i, begun_ns(snapshot), gauge);
}

// How uncertain the newest round's gauge is; NaN: not known, or it has been taken.
static double margin_of(const struct history *history, const struct series *series, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    double value = snapshot->values[snapshot_metric(layout, series->scope, series->metric)],
           half = snapshot->values[snapshot_high(layout, series->scope, series->metric)] - value;
    if (!is_new(history, series))
        return NAN;
    return series->share || half == 0 ? half : half / fabs(value);
}

static void take_margin(struct history *history, size_t i, const struct snapshot *snapshot) {
    const struct series *series = &history->series[i];
    double margin = margin_of(history, series, snapshot);
    int64_t start_ns = begun_ns(snapshot);
    steps_add_margin(&history->steps, i, margin, (int64_t)snapshot->end_ns - start_ns);
    if (!history->gap)
        steps_fill_margin(&history->steps, i, start_ns, margin);
}

static void take(struct history *history, size_t i, const struct snapshot *snapshot) {
    struct series *series = &history->series[i];
    const struct snapshot_layout *layout = snapshot->layout;
    const double *values = snapshot->values;
    double gauge = values[snapshot_metric(layout, series->scope, series->metric)], a = series->a, b = series->b;
    if (series->source == SOURCE_GAUGE) {
        double seconds = (double)(snapshot->end_ns - snapshot->start_ns) * 1e-9;
        gauge = is_new(history, series) ? gauge : NAN;
        steps_add(&history->steps, i, gauge * seconds, isfinite(gauge) ? seconds : 0, NAN);
        fill(history, i, snapshot, gauge);
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
    gauge = is_new(history, series) ? gauge * boxes / series->k : NAN;
    steps_add(&history->steps, i, (series->a - a) * boxes, grew ? series->b - b : 0, gauge);
    fill(history, i, snapshot, gauge);
}

// ---- beyond the end of the process ----

static double factor(const void *context, size_t series) {
    const struct history *history = context;
    return history->series[series].k;
}

struct kept_history *history_keep(const struct history *history) {
    if (history->kept || !history->steps.begun) // the first snapshot is yet to come
        return NULL;
    struct kept_history *kept = kept_history_take(&history->steps, factor, history);
    if (kept)
        kept->marks = history->marks;
    return kept;
}

void history_restore(struct history *history, struct kept_history *kept) {
    kept_history_free(history->kept);
    history->kept = kept;
    history->marks = kept->marks;
}

const struct kept_history *history_kept(const struct history *history) { return history->kept; }

static void mark_past(struct history *history, const struct kept_history *kept, int64_t now_ns) {
    bool booted = kept->earlier.any && kept->earlier.boot_ns == INT64_MAX;
    double seconds = (double)(now_ns - kept->end_ns) * 1e-9;
    int digits = seconds < 10 ? 1 : 0;
    char text[MARK_TEXT_MAX];
    if (booted)
        (void)snprintf(text, sizeof text, "the host was booted: nothing was measured until topdownd began");
    else if (kept->meanwhile)
        (void)snprintf(text, sizeof text, "topdownd was killed: nothing is known of the %.*f s before it began", digits,
                       seconds);
    else
        (void)snprintf(text, sizeof text, "topdownd did not run for %.*f s", digits, seconds);
    marks_add(&history->marks, now_ns, MARK_GAP, text);
}

// What is of the future is of another clock.
static void go_on(struct history *history, const struct snapshot *snapshot) {
    struct kept_history *kept = history->kept;
    int64_t now_ns = (int64_t)snapshot->start_ns;
    history->kept = NULL;
    if (kept && kept->end_ns <= now_ns) {
        kept_history_go_on(kept, now_ns, &history->steps);
        for (size_t i = 0; i < kept->n; i++) {
            size_t place = steps_find(&history->steps, kept->series[i].of, kept->series[i].name);
            if (place != SIZE_MAX && history->series[place].k != 0)
                kept_history_put(kept, &kept->series[i], history->series[place].k, &history->steps, place);
        }
        mark_past(history, kept, now_ns);
    }
    kept_history_free(kept);
}

// What is of earlier boots stays at its time of day.
static void follow_clock(struct history *history, const struct snapshot *snapshot) {
    double wall = snapshot->taken_seconds;
    if (!isfinite(wall))
        return;
    history->wall_offset_ns = (int64_t)(wall * 1e9) - (int64_t)snapshot->end_ns;
    int64_t by_ns = steps_follow_clock(&history->steps, history->wall_offset_ns);
    if (by_ns != 0)
        marks_move(&history->marks, history->steps.earlier.boot_ns, by_ns);
}

// ---- of a snapshot ----

void history_take(struct history *history, const struct snapshot *snapshot) {
    if (history->layout != snapshot->layout)
        match_layout(history, snapshot->layout);
    if (!steps_go(&history->steps, snapshot->end_ns))
        return;
    go_on(history, snapshot);
    double gap = snapshot->values[snapshot_uncovered(snapshot->layout, 0, UNCOVERED_GAP)];
    history->gap = gap > history->gap_seconds;
    history->gap_seconds = isfinite(gap) ? gap : history->gap_seconds;
    double ended_seconds = snapshot->values[snapshot_gauges_ended(snapshot->layout)],
           ended_ns = (double)snapshot->end_ns - ended_seconds * 1e9;
    history->round_ended = !(ended_ns < history->round_end_ns + ROUND_NS_LEAST); // also where that is not known
    history->round_end_ns = isfinite(ended_ns) ? ended_ns : history->round_end_ns;
    follow_clock(history, snapshot);
    for (size_t i = 0; i < history->steps.n; i++)
        if (history->steps.series[i].present) {
            take(history, i, snapshot);
            take_margin(history, i, snapshot);
        }
}

// ---- reading ----

struct marks *history_marks(struct history *history) {
    return &history->marks;
}

int64_t history_wall_offset_ns(const struct history *history) { return history->wall_offset_ns; }

struct steps_range history_range(const struct history *history, bool coarse) {
    return steps_range(&history->steps, coarse);
}

static size_t find_shown(const struct history *history, long socket, const char *metric) {
    bool only = history->layout && history->layout->topology->n_sockets == 1 &&
                socket == (long)history->layout->topology->sockets[0].id;
    return steps_find(&history->steps, only ? HISTORY_HOST : socket, metric);
}

bool history_has(const struct history *history, long socket, const char *metric) {
    return find_shown(history, socket, metric) != SIZE_MAX;
}

void history_read(const struct history *history, long socket, const char *metric, bool coarse, int64_t first, size_t n,
                  double *values) {
    size_t place = find_shown(history, socket, metric);
    steps_read(&history->steps, place, place == SIZE_MAX ? 1 : history->series[place].k, coarse, first, n, values);
}

void history_read_margins(const struct history *history, long socket, const char *metric, bool coarse, int64_t first,
                          size_t n, const double *values, double *margins) {
    uint8_t codes[HISTORY_FINE_N];
    size_t place = find_shown(history, socket, metric);
    bool share = place != SIZE_MAX && history->series[place].share;
    for (size_t done = 0; done < n; done += HISTORY_FINE_N) {
        size_t some = n - done < HISTORY_FINE_N ? n - done : HISTORY_FINE_N;
        steps_read_margins(&history->steps, place, coarse, first + (int64_t)done, some, codes);
        for (size_t i = 0; i < some; i++)
            margins[done + i] = margin_decode(codes[i]) * (share ? 1 : fabs(values[done + i]));
    }
}
