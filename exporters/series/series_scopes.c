// SPDX-License-Identifier: Apache-2.0
//
// What every socket and every CPU has: level 1, and the time that was covered.

#include "core/spec/opportunity.h"
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

void series_add_opportunities(struct series *series, const struct view *view, const struct series_labels *scope) {
    for (size_t m = 0; m < view->layout->n_metrics && view->layout->n_level1 > 0; m++) {
        enum opportunity action = opportunity_of(view_metric(view, m));
        if (action != OPPORTUNITY_N && view_plannable(view, m) && !view->layout->plan->metrics[m].fetched)
            series_add_scoped(series, scope, "action", opportunity_table[action].name, SERIES_WHOLE,
                              snapshot_numerator(view->layout, scope->scope, m));
    }
}

void series_add_uncovered(struct series *series, const struct view *view, const struct series_labels *scope) {
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        series_add_scoped(series, scope, "reason", uncovered_name((enum uncovered)reason), SERIES_REAL,
                          snapshot_uncovered(view->layout, scope->scope, (enum uncovered)reason));
}

void series_add_covered(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_covered(view->layout, scope->scope));
}

// The metric tells more: it is the PMU's, and has a numerator and a denominator.
bool series_lacks_utilization(struct series *series, const struct view *view) {
    (void)series;
    return snapshot_layout_place(view->layout, CATALOG_UTILIZATION) < 0;
}

void series_add_busy(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_busy(view->layout, scope->scope));
}

void series_add_guest(struct series *series, const struct view *view, const struct series_labels *scope) {
    if (view->guests_excluded)
        series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_guest(view->layout, scope->scope));
}
