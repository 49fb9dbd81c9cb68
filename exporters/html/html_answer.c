// SPDX-License-Identifier: Apache-2.0
//
// What somebody in an incident reads first: what the host is bound by, since when, and what next.

#include "core/diagnosis/next.h"
#include "exporters/html/html_parts.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sockets.h"

enum { SOCKETS_NAMED_MAX = 4 }; // more have cards alone

// Where sockets differ, a mean over them describes none.
static void put_sockets(const struct shown *shown, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = snapshot->layout->topology;
    if (topology->n_sockets > SOCKETS_NAMED_MAX)
        text_string(out, "The sockets differ");
    for (size_t s = 0; s < topology->n_sockets && topology->n_sockets <= SOCKETS_NAMED_MAX; s++) {
        struct text answer = {0};
        view_sockets_answer(shown, snapshot, s, &answer);
        text_format(out, "%sSocket %u: ", s > 0 ? "<br>" : "", topology->sockets[s].id);
        html_put_text(out, &answer);
    }
}

// The host's path in a few words, with the last metric's share.
static void put_path(const struct snapshot *snapshot, struct text *out) {
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    if (!verdict_high(verdict)) {
        text_string(out, verdict->n == 0 ? "Not known" : "Nothing stands out");
        return;
    }
    for (size_t i = 0; i < verdict->n; i++) {
        text_string(out, i > 0 ? " &rsaquo; " : "");
        html_put(out, view_title(&snapshot->layout->catalog->metrics[verdict->path[i]]));
    }
    text_string(out, " <span class=\"nb\">");
    html_put_share(out, view_bound_value(snapshot, 0, verdict->path[verdict->n - 1]));
    text_string(out, "</span>");
}

// Whether the next step leads to a metric group that the profile does not have.
static bool leads_on(const struct view *view, unsigned metric) {
    unsigned groups[NEXT_GROUPS_MAX];
    size_t n = next_groups(view->layout->plan, metric, groups);
    for (size_t i = 0; i < n; i++)
        if (!view_group_measured(view, groups[i]))
            return true;
    return false;
}

void html_answer_render(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    struct text answer = {0};
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    bool differ = view_sockets_verdict(shown, &shown->types[type], &answer);
    text_string(out, view->core_type ? "<section class=\"answer\">\n<h2>What these cores are bound by</h2>\n"
                                     : "<section class=\"answer\">\n<h2>What this host is bound by</h2>\n");
    text_string(out, "<p class=\"verdict\">");
    if (differ)
        put_sockets(shown, snapshot, out);
    else
        put_path(snapshot, out);
    text_string(out, "\n<p class=\"since\">");
    html_put_since(out, snapshot, 0);
    text_string(out, "\n<p>");
    html_put_text(out, &answer);
    text_string(out, "\n");
    if (verdict->n > 0) {
        text_string(out, "<p>");
        unsigned last = verdict->path[verdict->n - 1];
        if (differ) { // each socket has steps of its own
            html_put(out, view_title(&view->layout->catalog->metrics[last]));
            text_string(out, ": ");
        }
        html_put_next(out, view, last, "answer", 0);
        if (leads_on(view, last) && !view->replayed)
            text_string(out, "<p class=\"soft\">To measure another metric group, add it to <code>groups</code> in "
                             "topdownd.yaml and run <code>topdownd reload</code>.\n");
    }
    text_string(out, "</section>\n");
}
