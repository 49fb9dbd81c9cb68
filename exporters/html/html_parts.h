// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H
#define TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H

// The parts of the page, and helpers that they share.

#include "core/diagnosis/tree.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"
#include "exporters/view/view.h"
#include "exporters/view/view_history.h"

// Appends text from a file or from the host, escaped.
void html_put(struct text *out, const char *string);

// Appends a text of the view, escaped, and frees it.
void html_put_text(struct text *out, struct text *text);

// Appends a number for people: a round's measurement is worth four digits. Millions and more have a prefix, "2.8 G".
void html_put_number(struct text *out, double value);

// Appends a share as "43.3 %".
void html_put_share(struct text *out, double value);

// Appends a row of a table with two columns, both escaped.
void html_put_row(struct text *out, const char *name, const char *value);

struct html_margin {
    double value, high, scale; // shown times `scale`
    bool exact;                // view_exact
};

// "+- half the width" of the interval after a metric's value; words where the interval tells nothing, and nothing if
// there is no interval.
void html_put_margin(struct text *out, const struct catalog_metric *metric, const struct html_margin *margin);

// Appends an identifier by which the script finds an element again after an update: the use, the core type, the metric
// and a number that tells elements of one use apart.
void html_put_id(struct text *out, const struct view *view, const char *use, const struct catalog_metric *metric,
                 size_t number);

// Appends a link to the history of an exported metric, which the script shows as a plot.
void html_put_history_link(struct text *out, const struct view *view, const struct catalog_metric *metric,
                           const char *use, size_t number, const char *text);

// Appends the next steps for a metric of the catalog: metric groups say more, and samples show where in the code it
// happens, with a command to copy. The identifier is that of html_put_id().
void html_put_next(struct text *out, const struct view *view, unsigned metric, const char *use, size_t number);

// The same, to be opened.
void html_put_next_details(struct text *out, const struct view *view, unsigned metric, const char *use, size_t number);

// "Since 2026-11-22 04:03:52 UTC" and for how long the scope has its bottleneck, as seen from the snapshot; for how
// much of that time topdownd did not run; "At least since" if the beginning was not seen. Nothing if it is not known.
void html_put_since(struct text *out, const struct snapshot *snapshot, size_t scope);

// The largest parts, each of a core type.

// What the host is bound by, since when, and what next; or why that is not known.
void html_answer_render(const struct shown *shown, size_t type, struct text *out);
// Level 1 and the verdict of each socket, side by side: `verdicts` is false where the plan has nothing of the decision
// tree. The first type has what the sockets' memory moves.
void html_sockets_render(const struct shown *shown, size_t type, bool verdicts, struct text *out);
// The host's tree, with the path to the bottleneck open.
void html_tree_render(const struct view *view, const struct tree *tree, const struct snapshot *snapshot,
                      struct text *out);
// Level 1 over the last hour, with what happened meanwhile, or only that where level 1 is not measured; nothing before
// the first snapshot.
void html_history_render(const struct view *view, const struct view_history *history, struct text *out);
// What is measured: the CPU, the counters, the schedule with each event group.
void html_facts_render(const struct view *view, const struct snapshot *snapshot, struct text *out);
void html_schedule_render(const struct view *view, const struct snapshot *snapshot, struct text *out);
// The values of all selected metrics, and what cannot be measured, with the reason.
void html_metrics_render(const struct shown_type *type, struct text *out);
void html_missing_render(const struct view *view, const struct snapshot *snapshot, struct text *out);
// What the kernel counts of memory; nothing of a host with one node and without resctrl.
void html_memory_render(const struct shown *shown, struct text *out);
// The beginning of a table of metrics by socket, and a row of it: the sockets are those of `columns`, and `number`
// tells rows of one metric apart.
struct html_metric {
    const struct shown_type *type;
    const struct topology *columns;
    size_t metric; // of the plan
    size_t number;
};
void html_metrics_head(const struct topology *columns, const char *heading, struct text *out);
void html_metric_put(const struct html_metric *of, struct text *out);
// What PMUs outside the cores tell of a socket, for its card: what share of the misses another node answered, and how
// long reads take where uncore.groups has a metric group that tells.
void html_boxes_put(const struct shown *shown, unsigned socket, struct text *out);
// All that they tell, by socket; nothing where the host has none.
void html_boxes_render(const struct shown *shown, struct text *out);
// The host's platform; nothing if it has not been collected.
void html_platform_render(const struct view *view, struct text *out);

#endif
