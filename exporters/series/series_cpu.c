// SPDX-License-Identifier: Apache-2.0
//
// The series of single CPUs. A thousand CPUs have more of them than a server wants to scrape, so the page has a limit:
// what exceeds it is left out kind by kind, the one that is of least use first, and a series says so.

#include "core/spec/family.h"
#include "exporters/series/series_private.h"

void series_add_categories(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    for (size_t i = 0; i < view->layout->n_level1; i++)
        series_add_scoped(series, scope, "category", category_name(level1->categories[i].category), SERIES_WHOLE,
                          snapshot_category(view->layout, scope->scope, i));
}

void series_add_contention(struct series *series, const struct view *view, const struct series_labels *scope) {
    if (view->layout->n_level1 > 0 && view->layout->catalog->level1.per_thread)
        series_add_scoped(series, scope, NULL, NULL, SERIES_WHOLE, snapshot_contention(view->layout, scope->scope));
}

void series_add_uncovered(struct series *series, const struct view *view, const struct series_labels *scope) {
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        series_add_scoped(series, scope, "reason", uncovered_name((enum uncovered)reason), SERIES_REAL,
                          snapshot_uncovered(view->layout, scope->scope, (enum uncovered)reason));
}

static void add_cpu_categories(struct series *series, const struct view *view) {
    for (size_t cpu = 0; cpu < view->layout->topology->n_cpus; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        series_add_categories(series, view, &scope);
    }
}

static void add_cpu_contention(struct series *series, const struct view *view) {
    for (size_t cpu = 0; cpu < view->layout->topology->n_cpus; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        series_add_contention(series, view, &scope);
    }
}

static void add_cpu_events(struct series *series, const struct view *view) {
    const struct snapshot_layout *layout = view->layout;
    for (size_t cpu = 0; cpu < layout->topology->n_cpus; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        for (size_t i = 0; i < layout->n_events; i++)
            series_add_scoped(series, &scope, "event", layout->catalog->events[layout->events[i]].name, SERIES_WHOLE,
                              snapshot_event(layout, scope.scope, i));
    }
}

static void add_cpu_covered(struct series *series, const struct view *view) {
    for (size_t cpu = 0; cpu < view->layout->topology->n_cpus; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_covered(view->layout, scope.scope));
    }
}

static void add_cpu_guest(struct series *series, const struct view *view) {
    for (size_t cpu = 0; cpu < view->layout->topology->n_cpus && view->guests_excluded; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        series_add_scoped(series, &scope, NULL, NULL, SERIES_REAL, snapshot_guest(view->layout, scope.scope));
    }
}

static void add_cpu_uncovered(struct series *series, const struct view *view) {
    for (size_t cpu = 0; cpu < view->layout->topology->n_cpus; cpu++) {
        struct series_labels scope = series_cpu_labels(view, cpu);
        series_add_uncovered(series, view, &scope);
    }
}

// ---- kinds ----

static size_t count_categories(const struct view *view) { return view->layout->n_level1; }

static size_t count_contention(const struct view *view) {
    return view->layout->n_level1 > 0 && view->layout->catalog->level1.per_thread;
}

static size_t count_events(const struct view *view) { return view->layout->n_events; }

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
        n += view_plannable(view, i) && view_exported(view, i);
    return n;
}

enum kind { CATEGORIES, CONTENTION, EVENTS, COVERED, UNCOVERED, GUEST, METRICS, KINDS_N };

static const struct {
    const char *name;                                  // for a label, and for people
    size_t (*count)(const struct view *view);          // series of one CPU
    void (*add)(struct series *, const struct view *); // NULL: a family for each metric
    enum family family;
} KINDS[KINDS_N] = {
    [CATEGORIES] = {"categories", count_categories, add_cpu_categories, FAMILY_CPU_PIPELINE_SLOTS},
    [CONTENTION] = {"contention", count_contention, add_cpu_contention, FAMILY_CPU_SMT_CONTENTION},
    [EVENTS] = {"events", count_events, add_cpu_events, FAMILY_CPU_EVENT},
    [COVERED] = {"covered", count_covered, add_cpu_covered, FAMILY_CPU_COVERED},
    [UNCOVERED] = {"uncovered", count_uncovered, add_cpu_uncovered, FAMILY_CPU_UNCOVERED},
    [GUEST] = {"guest", count_guest, add_cpu_guest, FAMILY_CPU_GUEST},
    [METRICS] = {"metrics", count_metrics, NULL, FAMILY_N},
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

static void add_omitted(struct series *series, const struct shown *shown, const bool out[KINDS_N]) {
    series_begin_family(series, FAMILY_CPU_OMITTED);
    (void)series_begin_type(series, shown, 0);
    series->core_type = NULL;
    for (int kind = 0; kind < KINDS_N; kind++) {
        const struct series_label label = {"kind", KINDS[kind].name};
        if (out[kind])
            series_add_fixed(series, &label, 1, (double)count_kind(shown, (enum kind)kind));
    }
}

void series_add_cpus(struct series *series, const struct shown *shown) {
    bool out[KINDS_N];
    (void)choose(shown, out);
    add_omitted(series, shown, out);
    for (int kind = 0; kind < KINDS_N; kind++) {
        if (out[kind])
            continue;
        if (!KINDS[kind].add) {
            series_add_gauges(series, shown, true);
            continue;
        }
        series_begin_family(series, KINDS[kind].family);
        for (size_t type = 0; type < shown->n; type++)
            KINDS[kind].add(series, series_begin_type(series, shown, type));
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
