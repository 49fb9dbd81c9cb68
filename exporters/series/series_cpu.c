// SPDX-License-Identifier: Apache-2.0
//
// The series of single CPUs. A thousand CPUs have more of them than a server wants to scrape, so the page has a limit:
// what exceeds it is left out kind by kind, the one that is of least use first, and a series says so.

#include "exporters/series/series_private.h"

static void add_events(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t i = 0; i < layout->n_events; i++)
        if (view_event_has_series(view, i))
            series_add_scoped(series, scope, "event", layout->catalog->events[layout->events[i]].name, SERIES_WHOLE,
                              snapshot_event(layout, scope->scope, i));
}

// ---- kinds ----

static size_t count_categories(const struct view *view) { return view->layout->n_level1; }

static size_t count_contention(const struct view *view) {
    return view->layout->n_level1 > 0 && view->layout->catalog->level1.per_thread;
}

static size_t count_events(const struct view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->layout->n_events; i++)
        n += view_event_has_series(view, i);
    return n;
}

static size_t count_covered(const struct view *view) {
    (void)view;
    return 1;
}

static size_t count_guest(const struct view *view) { return view->guests_excluded; }

static size_t count_uncovered(const struct view *view) {
    (void)view;
    return UNCOVERED_N;
}

static size_t count_metrics(const struct view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        n += view_plannable(view, i) && view_has_series(view, i);
    return n;
}

enum kind { CATEGORIES, CONTENTION, EVENTS, COVERED, UNCOVERED, GUEST, METRICS, KINDS_N };

static const struct {
    const char *name;                         // for a label, and for people
    size_t (*count)(const struct view *view); // series of one CPU
    enum family family;                       // of METRICS none: they have one each
    void (*add)(struct series *series, const struct view *view, const struct series_labels *cpu);
} KINDS[KINDS_N] = {
    [CATEGORIES] = {"categories", count_categories, FAMILY_CPU_PIPELINE_SLOTS, series_add_categories},
    [CONTENTION] = {"contention", count_contention, FAMILY_CPU_SMT_CONTENTION, series_add_contention},
    [EVENTS] = {"events", count_events, FAMILY_CPU_EVENT, add_events},
    [COVERED] = {"covered", count_covered, FAMILY_CPU_COVERED, series_add_covered},
    [UNCOVERED] = {"uncovered", count_uncovered, FAMILY_CPU_UNCOVERED, series_add_uncovered},
    [GUEST] = {"guest", count_guest, FAMILY_CPU_GUEST, series_add_guest},
    [METRICS] = {"metrics", count_metrics, FAMILY_N, NULL},
};

// The kinds from the least useful one on: metrics follow from raw events, and level 1 is what the page is for.
static const enum kind LEFT_OUT_FIRST[KINDS_N] = {EVENTS, METRICS, GUEST, UNCOVERED, CONTENTION, COVERED, CATEGORIES};

static size_t count_kind(const struct shown *shown, enum kind kind) {
    size_t n = 0;
    for (size_t type = 0; type < shown->n; type++) {
        const struct view *view = shown->types[type].view;
        n += view->layout->topology->n_cpus * KINDS[kind].count(view);
    }
    return n;
}

// Decides which kinds are left out. Returns the number of series without a limit.
static size_t choose(const struct shown *shown, bool out[KINDS_N]) {
    size_t n = 0, max = shown->types[0].view->max_cpu_series;
    for (int kind = 0; kind < KINDS_N; kind++)
        n += count_kind(shown, (enum kind)kind);
    size_t left = n;
    for (int i = 0; i < KINDS_N; i++) {
        enum kind kind = LEFT_OUT_FIRST[i];
        out[kind] = max > 0 && left > max && count_kind(shown, kind) > 0;
        left -= out[kind] ? count_kind(shown, kind) : 0;
    }
    return n;
}

static void add_omitted(struct series *series, const bool out[KINDS_N]) {
    series_begin_family(series, FAMILY_CPU_OMITTED);
    (void)series_begin_type(series, 0);
    series->core_type = NULL;
    for (int kind = 0; kind < KINDS_N; kind++) {
        const struct series_label label = {"kind", KINDS[kind].name};
        if (out[kind])
            series_add_fixed(series, &label, 1, (double)count_kind(series->shown, (enum kind)kind));
    }
}

void series_add_cpus(struct series *series) {
    bool out[KINDS_N];
    (void)choose(series->shown, out);
    add_omitted(series, out);
    for (int kind = 0; kind < KINDS_N; kind++) {
        const struct series_row row = {KINDS[kind].family, EACH_CORE_TYPE, OF_CPUS, .add_scope = KINDS[kind].add};
        if (out[kind])
            continue;
        if (kind == METRICS)
            series_add_gauges(series, OF_CPUS);
        else
            series_add_rows(series, &row, 1);
    }
}

size_t series_count_cpus(const struct shown *shown, struct text *omitted) {
    bool out[KINDS_N];
    size_t n = choose(shown, out);
    for (int kind = 0; kind < KINDS_N; kind++)
        if (out[kind])
            text_format(omitted, "%s%s", omitted->length > 0 ? ", " : "", KINDS[kind].name);
    return n;
}
