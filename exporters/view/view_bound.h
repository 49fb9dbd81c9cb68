// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_BOUND_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_BOUND_H

// Describes a scope's bottleneck, for people.

#include "core/diagnosis/bottlenecks.h"
#include "exporters/text/text.h"
#include "exporters/view/view.h"

// The answer in a sentence or two.
void view_bound_text(const struct view *view, const struct verdict *verdict, const struct snapshot *snapshot,
                     size_t scope, struct text *out);

// The share of a metric of a verdict's path, as exported.
double view_bound_value(const struct snapshot *snapshot, size_t scope, unsigned metric);

// The same with its title, and of what it is a share.
void view_bound_share(const struct snapshot *snapshot, size_t scope, unsigned metric, struct text *out);

// What a bottleneck comes from (core/diagnosis/cause.h), and what to do about it: sentences after a space. False if
// there is no cause; then the meaning of the path's last metric tells what to do.
bool view_bound_cause_text(const struct snapshot *snapshot, const struct verdict *verdict, struct text *out);
// Its kind in one word; NULL: there is none.
const char *view_bound_cause_name(enum verdict_cause_kind kind);

// "CPUs 300 to 307 and 310 of socket 4", "CPUs 3 and 67 (all threads of a core)", "socket 4".
void view_bound_cpus(const struct snapshot *snapshot, const struct outliers *outliers, struct text *out);
// The same with what they are bound by, without a full stop: "CPUs 300 to 307 of socket 4: Back-end bound, 61 % of
// their pipeline slots (12 % in the median CPU), in it Memory bound, 55 % of their pipeline slots".
void view_bound_outliers(const struct snapshot *snapshot, const struct outliers *outliers, struct text *out);

// Why the bottleneck is unknown, if it is; with the event that never counts.
struct view_bound_reason {
    char text[256];
};
struct view_bound_reason view_bound_reason(const struct view *view, const struct verdict *verdict,
                                           const struct snapshot *snapshot, size_t scope);

// Why a heading of what would help how much has no value, and what it lacks.
struct view_bound_reason view_bound_bottleneck_reason(const struct view *view, const struct snapshot *snapshot,
                                                      size_t scope, const struct bottleneck_row *row);

#endif
