// SPDX-License-Identifier: Apache-2.0
//
// PMUs outside the cores: what passes through memory controllers, caches and interconnects, by socket. Each kind is a
// pair of view and snapshot of its own, whose metrics say which traffic they tell.

#include "exporters/series/series_private.h"
#include "exporters/view/view_memory.h"

static const struct view *begin_kind(struct series *series, const struct shown *shown, size_t kind) {
    return series_begin_type(series, shown, shown->n + kind);
}

static void add_metric(struct series *series, const struct view *view, size_t metric) {
    const struct traffic_info *info = &traffic_table[view_metric(view, metric)->traffic];
    double bytes;
    if (!view_plannable(view, metric) || !catalog_metric_ratio(view_metric(view, metric), &bytes))
        return;
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        const struct series_label labels[] = {
            {"socket", scope.socket}, {info->label, info->value}, {"kind", info->kind}};
        series_add_scaled(series, labels, info->kind ? 3 : 2, bytes,
                          snapshot_numerator(view->layout, scope.scope, metric));
    }
}

static void add_traffic(struct series *series, const struct shown *shown, enum family family) {
    series_begin_family(series, family);
    for (size_t kind = 0; kind < shown->n_boxes; kind++) {
        const struct view *view = begin_kind(series, shown, kind);
        for (size_t m = 0; m < view->layout->n_metrics; m++) {
            enum traffic traffic = view_metric(view, m)->traffic;
            if (traffic_passes(traffic) && traffic_table[traffic].family == family)
                add_metric(series, view, m);
        }
    }
}

// What the configuration has chosen: each metric is an event, in its unit.
static void add_events(struct series *series, const struct view *view) {
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        const struct catalog_metric *metric = view_metric(view, m);
        double factor;
        if (!view_plannable(view, m) || !catalog_metric_ratio(metric, &factor))
            continue;
        for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
            struct series_labels scope = series_socket_labels(view, s);
            const struct series_label labels[] = {
                {"socket", scope.socket}, {"pmu", view->pmu}, {"event", metric->name}, {"unit", metric->units}};
            series_add_scaled(series, labels, 4, factor, snapshot_numerator(view->layout, scope.scope, m));
        }
    }
}

// Of the kind that tells what the memory moved, so that a utilization has both or neither.
static void add_peaks(struct series *series, const struct view *view) {
    const struct topology *topology = view->layout->topology;
    int measured = view_memory_peak_metric(view);
    for (size_t s = 0; s < topology->n_sockets; s++) {
        struct series_labels scope = series_socket_labels(view, s);
        const struct series_label label = {"socket", scope.socket};
        double stated = view_memory_peak_stated(view, s);
        if (stated > 0)
            series_add_fixed(series, &label, 1, stated);
        else if (measured >= 0 && topology->sockets[s].excluded == 0)
            series_add_scaled(series, &label, 1, topology->sockets[s].measured,
                              snapshot_metric(view->layout, scope.scope, (size_t)measured));
    }
}

static void add_up(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    series_add(series, "", &label, 1, SERIES_WHOLE, snapshot_self(view->layout, SELF_PMU_UP));
}

// A kind's own view has its errors, and the first core type's has what the host lacks.
static void add_errors(struct series *series, const struct view *view) {
    bool all = view->layout->topology->boxes;
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        const struct series_label error[] = {{"pmu", view->pmu_errors[i].pmu}, {"reason", view->pmu_errors[i].reason}};
        if (all || view->pmu_errors[i].uncore)
            series_add_fixed(series, error, 2, 1);
    }
}

void series_add_uncore(struct series *series, const struct shown *shown) {
    static const enum family families[] = {FAMILY_MEMORY_BYTES, FAMILY_LLC_MISS_BYTES, FAMILY_INTERCONNECT_BYTES,
                                           FAMILY_IO_BYTES};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        add_traffic(series, shown, families[i]);
        if (families[i] != FAMILY_MEMORY_BYTES)
            continue;
        series_begin_family(series, FAMILY_MEMORY_PEAK);
        for (size_t kind = 0; kind < shown->n_boxes; kind++)
            add_peaks(series, begin_kind(series, shown, kind));
    }
    series_begin_family(series, FAMILY_UNCORE_EVENT);
    for (size_t kind = 0; kind < shown->n_boxes; kind++) {
        const struct view *view = begin_kind(series, shown, kind);
        if (view->layout->catalog->product.chosen)
            add_events(series, view);
    }
    series_begin_family(series, FAMILY_UNCORE_UP);
    for (size_t kind = 0; kind < shown->n_boxes; kind++)
        add_up(series, begin_kind(series, shown, kind));
    series_begin_family(series, FAMILY_UNCORE_ERROR);
    (void)series_begin_type(series, shown, 0);
    series->core_type = NULL;
    add_errors(series, shown->types[0].view);
    for (size_t kind = 0; kind < shown->n_boxes; kind++)
        add_errors(series, begin_kind(series, shown, kind));
}
