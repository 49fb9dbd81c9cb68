// SPDX-License-Identifier: Apache-2.0
//
// PMUs outside the cores: what passes through memory controllers, caches and interconnects, by socket. Each kind is a
// pair of view and snapshot of its own, whose metrics say which traffic they tell.

#include "exporters/series/series_private.h"
#include "exporters/view/view_memory.h"

static void add_metric(struct series *series, const struct view *view, size_t metric) {
    const struct traffic_info *info = &traffic_table[view_metric(view, metric)->traffic];
    double bytes;
    if (!view_plannable(view, metric) || !catalog_metric_ratio(view_metric(view, metric), &bytes))
        return;
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS); s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        const struct series_label labels[] = {
            {"socket", scope.socket}, {info->label, info->value}, {"kind", info->kind}};
        series_add_scaled(series, labels, info->kind ? 3 : 2, bytes,
                          snapshot_numerator(view->layout, scope.scope, metric));
    }
}

void series_add_traffic(struct series *series, const struct view *view) {
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        enum traffic traffic = view_metric(view, m)->traffic;
        if (traffic_passes(traffic) && traffic_table[traffic].family == series->family)
            add_metric(series, view, m);
    }
}

// What the configuration has chosen: each metric is an event, in its unit.
static void add_event(struct series *series, const struct view *view, size_t m) {
    const struct catalog_metric *metric = view_metric(view, m);
    double factor;
    if (!view_plannable(view, m) || !catalog_metric_ratio(metric, &factor))
        return;
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS); s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        const struct series_label labels[] = {
            {"socket", scope.socket}, {"pmu", view->pmu}, {"event", metric->name}, {"unit", metric->units}};
        series_add_scaled(series, labels, 4, factor, snapshot_numerator(view->layout, scope.scope, m));
    }
}

void series_add_uncore_events(struct series *series, const struct view *view) {
    for (size_t m = 0; m < view->layout->n_metrics && view->layout->catalog->product.chosen; m++)
        add_event(series, view, m);
}

// Of the kind that tells what the memory moved, so that a utilization has both or neither.
void series_add_memory_peak(struct series *series, const struct view *view, const struct series_labels *scope) {
    const struct topology_socket *socket = &view->layout->topology->sockets[scope->index];
    const struct series_label label = {"socket", scope->socket};
    int measured = view_memory_peak_metric(view);
    double stated = view_memory_peak_stated(view, scope->index);
    if (stated > 0)
        series_add_fixed(series, &label, 1, stated);
    else if (measured >= 0 && socket->excluded == 0)
        series_add_scaled(series, &label, 1, socket->measured,
                          snapshot_metric(view->layout, scope->scope, (size_t)measured));
}

void series_add_uncore_up(struct series *series, const struct view *view) {
    const struct series_label label = {"pmu", view->pmu};
    series_add_engine(series, &label, 1, SERIES_WHOLE, STATUS_PMU_UP);
}

// A kind's own view has its errors, and the first core type's has what the host lacks.
void series_add_uncore_errors(struct series *series, const struct view *view) {
    bool all = view->layout->topology->boxes;
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        const struct series_label error[] = {{"pmu", view->pmu_errors[i].pmu}, {"reason", view->pmu_errors[i].reason}};
        if (all || view->pmu_errors[i].uncore)
            series_add_fixed(series, error, 2, 1);
    }
}
