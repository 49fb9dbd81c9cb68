// SPDX-License-Identifier: Apache-2.0
//
// The host's tree as nested lists with bars; each node opens. Shares of clock cycles are hatched: they overlap.

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/html/html_parts.h"

enum { NAME_MAX_SHOWN = 256 };
static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

struct scene {
    const struct view *view;
    const struct tree *tree;
    const struct snapshot *snapshot;
    const struct verdict *verdict;
};

static const struct catalog_metric *metric_of(const struct scene *scene, size_t node) {
    return &scene->tree->layout->catalog->metrics[scene->tree->nodes[node].metric];
}

static void put_head(const struct scene *scene, size_t index, struct text *out) {
    const struct tree_node *node = &scene->tree->nodes[index];
    const struct catalog_metric *metric = metric_of(scene, index);
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
        html_put_share(out, node->value);
    text_string(out, "</span>");
    const struct html_margin margin = {.value = node->value,
                                       .high = node->to,
                                       .scale = metric->domain == METRIC_OTHER ? 1 : 100,
                                       .exact = node->place >= 0 &&
                                                view_exact(scene->view, scene->snapshot, 0, (size_t)node->place)};
    html_put_margin(out, metric, &margin);
    if (metric->domain == METRIC_CLOCKS || metric->domain == METRIC_STALLS) {
        text_string(out, " <span class=\"soft\">of ");
        html_put(out, view_whole(metric));
        text_string(out, "</span>");
    }
    if (node->high == JUDGE_YES)
        text_string(out, "<span class=\"flag\">high</span>");
}

// How far to trust the value, in words.
static void put_interval(const struct scene *scene, size_t index, struct text *out) {
    const struct tree_node *node = &scene->tree->nodes[index];
    const struct catalog_metric *metric = metric_of(scene, index);
    double scale = metric->domain == METRIC_OTHER ? 1 : 100;
    if (!isfinite(node->value)) {
        text_string(out, "No value: ");
        html_put(out, node->place < 0 ? VIEW_NOT_SELECTED
                                      : view_absent_text(scene->view, scene->snapshot, 0, (size_t)node->place));
        text_string(out, ". ");
        return;
    }
    size_t place = (size_t)node->place;
    if (!isfinite(node->to) || node->place < 0) {
        const char *reason = node->place < 0 ? NULL : view_interval_reason(scene->view, scene->snapshot, 0, place);
        text_string(out, "How certain that is, is not known");
        text_string(out, reason ? ": " : "");
        html_put(out, reason ? reason : "");
        text_string(out, ". ");
        return;
    }
    enum estimate_quality quality = scene->snapshot->quality[snapshot_state(scene->view->layout, 0, place)];
    text_format(out, "With 95 %% certainty between %.3g and %.3g%s: ", scale * node->from, scale * node->to,
                metric->domain == METRIC_OTHER ? "" : " %");
    text_string(out, view_interval_tells(metric, node->value, node->to - node->value) ? estimate_quality_name(quality)
                                                                                      : "too uncertain to tell");
    const double *values = scene->snapshot->values;
    double windows = values[snapshot_metric_windows(scene->view->layout, 0, place)],
           share = values[snapshot_share_of_time(scene->view->layout, 0, place)];
    if (isfinite(windows) && isfinite(share))
        text_format(out, ", from %.0f windows in %.3g %% of the time", windows, 100 * share);
    text_string(out, ". ");
}

static void put_domain(const struct catalog_metric *metric, struct text *out) {
    char unit[CATALOG_UNIT_MAX];
    if (metric->domain == METRIC_PIPELINE_SLOTS) {
        text_string(out, "Shares of pipeline slots add up. ");
    } else if (metric->domain == METRIC_CLOCKS) {
        text_string(out, "Shares of clock cycles overlap and do not add up. ");
    } else {
        catalog_metric_unit(metric, unit, sizeof unit);
        text_string(out, "Unit: ");
        html_put(out, unit);
        text_string(out, ". ");
    }
}

// Appends a name of the threshold by what people call it. Returns the metric; NULL: it is none.
static const struct catalog_metric *put_name(const struct catalog *catalog, const char *name, size_t length,
                                             struct text *out) {
    char copy[NAME_MAX_SHOWN];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    int metric = catalog_find_metric(catalog, copy);
    html_put(out, metric < 0 ? copy : view_title(&catalog->metrics[metric]));
    return metric < 0 ? NULL : &catalog->metrics[metric];
}

static void put_number(const struct catalog_metric *of, double number, struct text *out) {
    if (of && (of->domain != METRIC_OTHER || of->export_scale == 0.01))
        text_format(out, "%.6g %%", 100 * of->export_scale * number);
    else
        text_format(out, "%.6g", number);
}

// "Fetch latency > 10 % and Front-end bound > 15 %": the spec's own names are the vendor's, and so are its scales.
static void put_threshold(const struct catalog *catalog, const char *text, struct text *out) {
    const struct catalog_metric *of = NULL;
    while (*text != '\0') {
        size_t word = strspn(text, WORD);
        char *end = NULL;
        double number = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
        if (end) {
            put_number(of, number, out);
            text = end;
        } else if (word > 0) {
            of = put_name(catalog, text, word, out);
            text += word;
        } else {
            const char one[2] = {*text++, '\0'};
            html_put(out, *one == '&' ? "and" : *one == '|' ? "or" : one);
        }
    }
}

static void put_about(const struct scene *scene, size_t node, struct text *out) {
    const struct catalog_metric *metric = metric_of(scene, node);
    int place = scene->tree->nodes[node].place;
    text_string(out, "<div class=\"about\">");
    html_put(out, metric->meaning[0] ? metric->meaning : metric->help);
    text_string(out, "<br><span class=\"soft\">");
    put_interval(scene, node, out);
    put_domain(metric, out);
    if (metric->threshold_text[0]) {
        text_string(out, "High where ");
        put_threshold(scene->view->layout->catalog, metric->threshold_text, out);
        text_string(out, ". ");
    }
    text_string(out, "</span>");
    if (place >= 0 && view_exported(scene->view, (size_t)place))
        html_put_history_link(out, scene->view, metric, "node", node, "Its history");
    if (scene->tree->nodes[node].high == JUDGE_YES)
        html_put_next_details(out, scene->view, scene->tree->nodes[node].metric, "node", node);
    text_string(out, "</div>");
}

// What is high stays in sight: the path to the bottleneck is open, and every node that is high as one below it is. What
// is high below a node that is not, the methodology does not look at.
static bool is_open(const struct scene *scene, size_t node) {
    for (size_t i = 0; i < scene->verdict->n; i++)
        if (scene->verdict->path[i] == scene->tree->nodes[node].metric)
            return true;
    if (scene->tree->nodes[node].high != JUDGE_YES)
        return false;
    for (size_t below = node + 1; below < tree_next(scene->tree, node); below = tree_next(scene->tree, below))
        if (scene->tree->nodes[below].high == JUDGE_YES)
            return true;
    return false;
}

// Appends the nodes from `begin` to `end`, each with its descendants.
static void put_list(const struct scene *scene, size_t begin, size_t end, struct text *out) {
    const struct tree *tree = scene->tree;
    text_string(out, tree->nodes[begin].depth == 0 ? "<ul class=\"tree\">\n" : "\n<ul>\n");
    for (size_t node = begin; node < end; node = tree_next(tree, node)) {
        text_string(out, "<li><details data-key=\"");
        html_put_id(out, scene->view, "tree", metric_of(scene, node), node);
        text_string(out, is_open(scene, node) ? "\" open><summary id=\"" : "\"><summary id=\"");
        html_put_id(out, scene->view, "tree", metric_of(scene, node), node);
        text_string(out, "\">");
        put_head(scene, node, out);
        text_string(out, "</summary>\n");
        put_about(scene, node, out);
        if (tree_next(tree, node) > node + 1)
            put_list(scene, node + 1, tree_next(tree, node), out);
        text_string(out, "</details></li>\n");
    }
    text_string(out, "</ul>\n");
}

void html_tree_render(const struct view *view, const struct tree *tree, const struct snapshot *snapshot,
                      struct text *out) {
    const struct scene scene = {
        .view = view, .tree = tree, .snapshot = snapshot, .verdict = &snapshot->verdicts[0].now};
    text_string(out, "<h2>Where the time goes</h2>\n");
    put_list(&scene, 0, tree->n, out);
    text_string(out,
                "<p class=\"soft\">Filled bars are shares of pipeline slots, which add up; hatched ones are shares "
                "of clock cycles, which overlap, or of the stall cycles that are named. High: above the "
                "threshold.\n");
}
