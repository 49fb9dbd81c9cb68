// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_BOUND_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_BOUND_H

// Describes a scope's bottleneck, for people.

#include "core/diagnosis/bound.h"
#include "exporters/text/text.h"
#include "exporters/view/view.h"

// The answer in a sentence or two, for the scope in which the tree was last evaluated.
void view_bound_text(const struct view *view, const struct tree *tree, const struct bound *bound,
                     const struct snapshot *snapshot, size_t scope, struct text *out);

// One node: its title, its share, and of what. For the scope in which the tree was last evaluated.
void view_bound_share(const struct tree *tree, size_t node, struct text *out);

// Why the bottleneck is unknown, if it is; with the event that never counts.
struct view_bound_reason {
    char text[256];
};
struct view_bound_reason view_bound_reason(const struct view *view, const struct bound *bound,
                                           const struct snapshot *snapshot, size_t scope);

#endif
