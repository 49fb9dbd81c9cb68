// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

void view_bound_share(const struct tree *tree, size_t node, struct text *out) {
    const struct catalog_metric *metric = &tree->layout->catalog->metrics[tree->nodes[node].metric];
    text_format(out, "%s, %.3g %% of %s", view_title(metric), 100 * tree->nodes[node].value, view_whole(metric));
}

const char *view_bound_reason(const struct view *view, const struct bound *bound, const struct snapshot *snapshot,
                              size_t scope) {
    return bound->missing >= 0 ? view_absent_text(view, snapshot, scope, (size_t)bound->missing)
                               : "no metric group that is measured here says what the CPUs are bound by";
}

void view_bound_text(const struct view *view, const struct tree *tree, const struct bound *bound,
                     const struct snapshot *snapshot, size_t scope, struct text *out) {
    if (bound->n == 0) {
        text_format(out, "Not known: %s.", view_bound_reason(view, bound, snapshot, scope));
        return;
    }
    const struct tree_node *last = &tree->nodes[bound->path[bound->n - 1]];
    const char *meaning = tree->layout->catalog->metrics[last->metric].meaning;
    if (bound->exceeded != JUDGE_YES)
        text_string(out, "Nothing stands out. The largest share: ");
    for (size_t i = 0; i < bound->n; i++) {
        text_string(out, i > 0 ? "; in it " : "");
        view_bound_share(tree, bound->path[i], out);
    }
    if (bound->exceeded == JUDGE_YES)
        text_format(out, ".%s%s", meaning[0] ? " " : "", meaning);
    else if (bound->exceeded == JUDGE_NO)
        text_string(out, ". No share of the first level is above its threshold.");
    else
        text_string(out, ". Not every threshold of the first level could be judged.");
    if (bound->close == tree->n)
        return;
    const struct tree_node *first = &tree->nodes[bound->path[0]];
    text_format(out, " %s cannot be told apart from ", view_title(&tree->layout->catalog->metrics[first->metric]));
    view_bound_share(tree, bound->close, out);
    text_string(out, ": their 95 % intervals overlap.");
}
