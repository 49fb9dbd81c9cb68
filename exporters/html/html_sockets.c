// SPDX-License-Identifier: Apache-2.0
//
// A card for each socket, so that sockets are compared at a glance: what it is bound by, since when, and level 1 as a
// bar whose parts stand in the order of the names below it. Where its memory is measured, what that moves is a bar too.

#include <math.h>

#include "exporters/html/html_parts.h"
#include "exporters/view/view_memory.h"
#include "exporters/view/view_sockets.h"
#include "exporters/view/view_waits.h"

// The last round's share of a level-1 metric; NaN if there is none or it is not selected.
static double share_of(const struct view *view, const struct snapshot *snapshot, size_t scope, unsigned metric) {
    int place = view->layout->plan->place[metric];
    return place < 0 ? NAN : snapshot->values[snapshot_metric(view->layout, scope, (size_t)place)];
}

static void put_bar(const struct view *view, const struct snapshot *snapshot, size_t scope, struct text *out) {
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    text_string(out, "<div class=\"bar\">");
    for (size_t i = 0; i < view->layout->n_level1; i++) {
        double share = share_of(view, snapshot, scope, level1->categories[i].metric);
        if (share > 0)
            text_format(out, "<span class=\"c%d\" style=\"width:%.2f%%\"></span>", (int)level1->categories[i].category,
                        100 * fmin(share, 1));
    }
    text_string(out, "</div>\n");
}

static void put_shares(const struct view *view, const struct snapshot *snapshot, size_t scope, struct text *out) {
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    text_string(out, "<dl>");
    for (size_t i = 0; i < view->layout->n_level1; i++) {
        double share = share_of(view, snapshot, scope, level1->categories[i].metric);
        text_format(out, "<dt><span class=\"key c%d\"></span>", (int)level1->categories[i].category);
        html_put(out, view_title(&view->layout->catalog->metrics[level1->categories[i].metric]));
        if (isfinite(share))
            text_format(out, "<dd>%.1f %%", 100 * share);
        else
            text_string(out, "<dd class=\"soft\">no value");
        text_string(out, "\n");
    }
    text_string(out, "</dl>\n");
    double contention = level1->per_thread ? share_of(view, snapshot, scope, (unsigned)level1->contention) : NAN;
    if (isfinite(contention))
        text_format(out,
                    "<p class=\"soft\">Beside these, threads lost %.1f %% of the slots of their own clock cycles to "
                    "their siblings.\n",
                    100 * contention);
}

static void put_memory_part(const struct view_memory *memory, const char *part, double bytes, struct text *out) {
    if (isfinite(bytes))
        text_format(out, "<span class=\"%s\" style=\"width:%.2f%%\"></span>", part,
                    100 * fmin(bytes / memory->peak, 1));
}

static void put_memory_history(const struct shown *shown, unsigned socket, struct text *out) {
    struct text names = {0};
    view_memory_metrics(shown, &names);
    text_append(&names, "", 1);
    out->failed = out->failed || names.failed;
    if (!names.failed) {
        text_format(out, "<a class=\"nb\" id=\"memory-history-%u\" data-metric=\"", socket);
        html_put(out, names.data);
        text_string(out, "\" href=\"/api/v1/history?scope=socket&amp;metric=");
        html_put(out, names.data);
        text_string(out, "\">Its history</a>");
    }
    text_free(&names);
}

// What is wrong with the peak, and what is missing in the sums.
static void put_memory_notes(const struct view_memory *memory, bool beyond, struct text *out) {
    struct text words = {0};
    if (beyond) {
        text_string(&words, " This is ");
        view_waits_put_beyond(memory->peak, memory->peak_from, &words);
        text_string(&words, ".");
    } else if (!isfinite(memory->peak) && memory->left_out == 0)
        text_string(&words, " Its peak is not known: see topdownd-memory(8).");
    if (memory->left_out > 0)
        text_format(&words, " uncore.boxes leaves out %u of %u boxes: what they move is missing here%s.",
                    memory->left_out, memory->boxes,
                    isfinite(memory->peak) ? "" : ", and a peak is shown only if uncore.peak states one");
    if (words.length == 0 && !words.failed)
        return;
    text_string(out, ".<span class=\"soft\">");
    html_put_text(out, &words);
    text_string(out, "</span>");
}

static void put_memory(const struct shown *shown, unsigned socket, struct text *out) {
    struct view_memory memory;
    if (!view_memory_of(shown, socket, &memory))
        return;
    bool beyond = waits_bus(memory.all, memory.peak) == WAITS_BUS_BEYOND;
    struct view_memory told = memory;
    struct text words = {0};
    told.peak = beyond ? NAN : memory.peak;
    view_memory_text(&told, &words);
    text_string(out, "<p class=\"memory\">");
    html_put_text(out, &words);
    bool told_apart = isfinite(memory.read) && isfinite(memory.write);
    if (told_apart)
        text_format(out,
                    ", <span class=\"nb\"><span class=\"key mr\"></span>read %.1f</span>, "
                    "<span class=\"nb\"><span class=\"key mw\"></span>written %.1f</span>",
                    memory.read / 1e9, memory.write / 1e9);
    put_memory_notes(&memory, beyond, out);
    text_string(out, " ");
    put_memory_history(shown, socket, out);
    text_string(out, "\n");
    if (!isfinite(told.peak) || !isfinite(memory.all))
        return;
    text_string(out, "<div class=\"bar\">");
    put_memory_part(&memory, "mr", told_apart ? memory.read : memory.all, out);
    if (told_apart)
        put_memory_part(&memory, "mw", memory.write, out);
    text_string(out, "</div>\n");
}

static void put_verdict(const struct shown *shown, const struct snapshot *snapshot, size_t socket, struct text *out) {
    struct text answer = {0};
    view_sockets_answer(shown, snapshot, socket, &answer);
    text_string(out, "<p><b>");
    html_put_text(out, &answer);
    text_string(out, "</b><br><small class=\"soft\">");
    html_put_since(out, snapshot, snapshot_scope_socket(socket));
    text_string(out, "</small>\n");
}

static void put_card(const struct shown *shown, size_t type, bool verdicts, size_t socket, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    int bound = verdict_metric(&snapshot->verdicts[snapshot_scope_socket(socket)].now);
    text_format(out, "<div class=\"card\"><h3>Socket %u</h3>\n", view->layout->topology->sockets[socket].id);
    if (verdicts)
        put_verdict(shown, snapshot, socket, out);
    if (view->layout->plan->level1_unit >= 0) {
        put_bar(view, snapshot, snapshot_scope_socket(socket), out);
        put_shares(view, snapshot, snapshot_scope_socket(socket), out);
    }
    if (type == 0) { // a socket's memory serves the cores of all types
        put_memory(shown, view->layout->topology->sockets[socket].id, out);
        html_boxes_put(shown, view->layout->topology->sockets[socket].id, out);
    }
    if (bound >= 0 && view->layout->topology->n_sockets > 1)
        html_put_next_details(out, view, (unsigned)bound, "socket", socket);
    text_string(out, "</div>\n");
}

void html_sockets_render(const struct shown *shown, size_t type, bool verdicts, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct topology *topology = view->layout->topology;
    bool level1 = view->layout->plan->level1_unit >= 0; // else the list of metrics gives the reason
    struct view_memory memory;
    bool shows_memory = type == 0 && view_memory_of(shown, topology->sockets[0].id, &memory);
    if (!level1 && !shows_memory && (!verdicts || topology->n_sockets == 1))
        return;
    text_string(out, level1 ? "<h2>Pipeline slots in the last round</h2>\n" : "<h2>Sockets in the last round</h2>\n");
    if (view_composite(view))
        text_string(out,
                    "<p class=\"soft\">Composite: this host has too few counters for all categories at once, so they "
                    "come from adjacent windows.\n");
    text_string(out, "<div class=\"cards\">\n");
    for (size_t s = 0; s < topology->n_sockets; s++)
        put_card(shown, type, verdicts, s, out);
    text_string(out, "</div>\n");
}
