// SPDX-License-Identifier: Apache-2.0
//
// The host's tree as nested lists with bars. Shares of clock cycles are hatched: they overlap.

#include <errno.h>
#include <math.h>

#include "exporters/html/html_parts.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"

void html_put(struct text *out, const char *string) {
    static const struct text_escape escapes[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                                 {'"', "&quot;"}, {'\'', "&#39;"}, {0, NULL}};
    text_escaped(out, string, escapes);
}

void html_put_number(struct text *out, double value) {
    if (fabs(value) >= 1000)
        text_format(out, "%.0f", value);
    else
        text_format(out, "%.4g", value);
}

void html_put_margin(struct text *out, const struct catalog_metric *metric, double value, double high, double scale) {
    double half = high - value; // of the upper half: the lower one may be cut at 0
    if (!isfinite(half))
        return;
    if (view_interval_tells(metric, value, half))
        text_format(out, " <small class=\"soft\">&plusmn;&nbsp;%.2g</small>", half * scale);
    else
        text_string(out, " <small class=\"soft\">too uncertain to tell</small>");
}

static void put_node(const struct tree *tree, size_t index, struct text *out) {
    const struct tree_node *node = &tree->nodes[index];
    const struct catalog_metric *metric = &tree->layout->catalog->metrics[node->metric];
    text_string(out, "<li title=\"");
    html_put(out, metric->meaning[0] ? metric->meaning : metric->help);
    text_string(out, "\">");
    if (isfinite(node->value) && metric->domain != METRIC_OTHER)
        text_format(out, "<span class=\"bar\"><span class=\"%s\" style=\"width:%.2f%%\"></span></span>",
                    metric->domain == METRIC_PIPELINE_SLOTS ? "slots" : "clocks", 100 * fmax(0, fmin(node->value, 1)));
    text_string(out, node->high == JUDGE_YES ? "<span class=\"high\">" : "<span>");
    html_put(out, view_title(metric));
    text_string(out, " ");
    if (!isfinite(node->value))
        text_string(out, "&ndash;");
    else if (metric->domain == METRIC_OTHER)
        html_put_number(out, node->value);
    else
        text_format(out, "%.3g %%", 100 * node->value);
    text_string(out, "</span>");
    html_put_margin(out, metric, node->value, node->to, metric->domain == METRIC_OTHER ? 1 : 100);
    if (metric->domain == METRIC_CLOCKS || metric->domain == METRIC_STALLS) {
        text_string(out, " <span class=\"soft\">of ");
        html_put(out, view_whole(metric));
        text_string(out, "</span>");
    }
}

// Appends a text of the view, and frees it.
static void put_text(struct text *text, struct text *out) {
    text_append(text, "", 1);
    out->failed = out->failed || text->failed;
    if (!text->failed)
        html_put(out, text->data);
    text_free(text);
}

// The next steps: metric groups say more, and samples show where in the code it happens, with a command to copy.
static void put_next(const struct view *view, unsigned metric, struct text *out) {
    struct text groups = {0}, command = {0};
    bool any = view_next_text(view, metric, &groups);
    text_string(out, any ? "Next, " : "");
    put_text(&groups, out);
    text_string(out, any ? ". " : "");
    text_string(out, "Which code is it? <code>");
    view_sample_command(view, metric, &command);
    put_text(&command, out);
    text_string(out, "</code>");
}

// With names of their own, by which the script knows what is open and what has the focus.
static void put_next_head(const struct view *view, const struct tree *tree, size_t node, struct text *out) {
    struct text key = {0};
    text_format(&key, "next-%s-%s-%zu", view->core_type ? view->core_type : "",
                tree->layout->catalog->metrics[tree->nodes[node].metric].export_name, node);
    text_append(&key, "", 1);
    out->failed = out->failed || key.failed;
    if (!key.failed) {
        text_string(out, " <details data-key=\"");
        html_put(out, key.data);
        text_string(out, "\"><summary id=\"");
        html_put(out, key.data);
        text_string(out, "\">What next?</summary>");
    }
    text_free(&key);
}

// Appends the nodes from `begin` to `end`, each with its descendants.
static void put_list(const struct view *view, const struct tree *tree, size_t begin, size_t end, struct text *out) {
    text_string(out, tree->nodes[begin].depth == 0 ? "<ul class=\"tree\">\n" : "\n<ul>\n");
    for (size_t node = begin; node < end; node = tree_next(tree, node)) {
        put_node(tree, node, out);
        if (tree->nodes[node].high == JUDGE_YES) {
            put_next_head(view, tree, node, out);
            put_next(view, tree->nodes[node].metric, out);
            text_string(out, "</details>");
        }
        if (tree_next(tree, node) > node + 1)
            put_list(view, tree, node + 1, tree_next(tree, node), out);
        text_string(out, "</li>\n");
    }
    text_string(out, "</ul>\n");
}

static void put_since(double seconds, struct text *out) {
    char time[VIEW_TIME_MAX];
    if (!view_time(seconds, time))
        return;
    text_format(out, " <span class=\"soft\">Since %s.</span>", time);
}

static void put_tree(const struct view *view, struct tree *tree, const struct snapshot *snapshot, struct text *out) {
    struct text answer = {0};
    tree_evaluate(tree, snapshot, 0);
    struct bound bound = bound_find(tree);
    view_bound_text(view, tree, &bound, snapshot, 0, &answer);
    if (view_sockets_differ(tree, snapshot)) {
        text_string(&answer, " ");
        view_sockets_text(tree, snapshot, &answer);
    }
    text_append(&answer, "", 1);
    out->failed = out->failed || answer.failed;
    text_string(out, view->core_type ? "<h2>What these cores are bound by</h2>\n<p>"
                                     : "<h2>What this host is bound by</h2>\n<p>");
    if (!answer.failed)
        html_put(out, answer.data);
    put_since(snapshot->values[snapshot_bound_since(tree->layout, 0)], out);
    text_string(out, "\n");
    text_free(&answer);
    if (bound.n > 0) {
        text_string(out, "<p>");
        put_next(view, tree->nodes[bound.path[bound.n - 1]].metric, out);
        text_string(out, "\n");
    }
    put_list(view, tree, 0, tree->n, out);
    text_string(out,
                "<p class=\"soft\">Filled bars are shares of pipeline slots, which add up; hatched ones are shares of "
                "clock cycles, which overlap, or of the stall cycles that are named. Bold: above the threshold.\n");
}

int html_tree_render(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    struct tree *tree = tree_new(view->layout);
    if (!tree)
        return -ENOMEM;
    if (tree->n > 0)
        put_tree(view, tree, snapshot, out);
    tree_free(tree);
    return 0;
}
