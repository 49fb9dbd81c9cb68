// SPDX-License-Identifier: Apache-2.0
#include "top/run/follow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 900 };

static const double ASK_SECONDS = 1, AGAIN_SECONDS = 2, HISTORY_SECONDS = 10, STATUS_SECONDS = 30, NONE_SECONDS = 60;
static const char SLOTS[] = "ratio of pipeline slots";

// ---- which page ----

static const struct frame *newest(const struct follow *follow) {
    return follow->fresh ? follow->fresh : timeline_newest(&follow->timeline);
}

static bool lacks(const struct follow *follow, enum frame_scope scope) {
    const struct frame *frame = newest(follow);
    return frame && frame->n_types > 0 && !frame->types[0].units[scope].present;
}

static bool wants(const struct follow *follow, const struct screen_state *view, enum frame_scope scope) {
    return lacks(follow, scope) && (scope == FRAME_HOST || follow->everything || screen_wants(view, scope));
}

// The kernel's counts of each moment; where it counts nothing, seldom.
static bool wants_memory(const struct follow *follow, double now) {
    return follow->fresh && !follow->fresh->memory.present && follow->due[FOLLOW_MEMORY] <= now;
}

static enum follow_page next_page(const struct follow *follow, const struct screen_state *view, double now) {
    static const enum follow_page pages[FRAME_SCOPES] = {FOLLOW_HOST, FOLLOW_SOCKETS, FOLLOW_CPUS};
    for (int scope = 0; scope < FRAME_SCOPES; scope++)
        if (wants(follow, view, (enum frame_scope)scope) && follow->due[pages[scope]] <= now)
            return pages[scope];
    if (follow->fresh)
        return wants_memory(follow, now) ? FOLLOW_MEMORY : FOLLOW_NONE;
    if (follow->due[FOLLOW_TOPDOWN] <= now)
        return FOLLOW_TOPDOWN;
    if (follow->due[FOLLOW_STATUS] <= now)
        return FOLLOW_STATUS;
    return follow->due[FOLLOW_HISTORY] <= now && newest(follow) ? FOLLOW_HISTORY : FOLLOW_NONE;
}

// Appends a name of a metric, if there is room.
static void add_name(char *out, size_t size, const char *name) {
    size_t length = strlen(out);
    const char *before = strchr(out, '=') ? "," : "?metric=";
    if (length + strlen(name) + sizeof "?metric=" <= size)
        (void)snprintf(out + length, size - length, "%s%s", before, name);
}

// The level-1 categories, what the kernel counts, and the metric that is looked at.
static void history_path(const struct follow *follow, char *out, size_t size) {
    const struct frame *frame = newest(follow);
    const struct frame_type *type = frame->n_types > 0 ? &frame->types[0] : NULL;
    bool listed = false;
    (void)snprintf(out, size, "/api/v1/history");
    for (size_t i = 0; type && i < type->n_nodes; i++) {
        const struct frame_node *node = &type->nodes[i];
        if (node->depth > 0 || strcmp(node->unit, SLOTS) != 0)
            continue;
        add_name(out, size, node->metric);
        listed = listed || strcmp(node->metric, follow->metric) == 0;
    }
    for (size_t i = 0; i < MEMORY_METRICS_N; i++)
        if (frame->memory.present && isfinite(frame->memory.values[i])) {
            add_name(out, size, memory_metrics[i].name);
            listed = listed || strcmp(memory_metrics[i].name, follow->metric) == 0;
        }
    if (follow->metric[0] != '\0' && !follow->metric_refused && !listed)
        add_name(out, size, follow->metric);
}

static void begin(struct follow *follow, enum follow_page page, double now) {
    static const char *const paths[FOLLOW_NONE] = {[FOLLOW_TOPDOWN] = "/api/v1/topdown",
                                                   [FOLLOW_HOST] = "/api/v1/snapshot?scope=host",
                                                   [FOLLOW_SOCKETS] = "/api/v1/snapshot?scope=socket",
                                                   [FOLLOW_CPUS] = "/api/v1/snapshot?scope=cpu",
                                                   [FOLLOW_MEMORY] = "/api/v1/memory",
                                                   [FOLLOW_STATUS] = "/api/v1/status"};
    static const double after[FOLLOW_NONE] = {[FOLLOW_STATUS] = STATUS_SECONDS, [FOLLOW_HISTORY] = HISTORY_SECONDS};
    char path[PATH_MAX_BYTES];
    if (page == FOLLOW_HISTORY)
        history_path(follow, path, sizeof path);
    else
        (void)snprintf(path, sizeof path, "%s", paths[page]);
    follow->page = page;
    follow->due[page] = page == FOLLOW_TOPDOWN && follow->stepped ? (double)INFINITY
                        : page == FOLLOW_TOPDOWN                  ? now + ASK_SECONDS
                                                                  : now + after[page];
    if (fetch_begin(follow->fetch, path) < 0)
        follow->page = FOLLOW_NONE;
}

// ---- answers ----

static bool is_new(const struct follow *follow, const struct frame *frame) {
    const struct frame *before = timeline_newest(&follow->timeline);
    return !before || before->end_ns != frame->end_ns || before->sequence != frame->sequence ||
           before->n_types != frame->n_types;
}

static int take_topdown(struct follow *follow, const struct fetched *answer, char why[static 200]) {
    struct frame *frame;
    int r = frame_read(answer->body, answer->length, &frame, why);
    if (r < 0)
        return r;
    follow->fresh = frame_free(follow->fresh);
    if (is_new(follow, frame))
        follow->fresh = frame;
    else
        frame_free(frame);
    return 0;
}

static int take_units(struct follow *follow, enum frame_scope scope, const struct fetched *answer,
                      char why[static 200]) {
    struct frame *frame = follow->fresh ? follow->fresh : timeline_newest(&follow->timeline);
    return frame ? frame_add_units(frame, scope, answer->body, answer->length, why) : 0;
}

static int take_memory(struct follow *follow, const struct fetched *answer, double now, char why[static 200]) {
    struct frame *frame = follow->fresh;
    int r = frame ? frame_add_memory(frame, answer->body, answer->length, why) : 0;
    if (r == -EINVAL || (frame && frame->memory.n_nodes < 2 && frame->memory.n_sockets == 0))
        follow->due[FOLLOW_MEMORY] = now + NONE_SECONDS;
    return r == -EINVAL ? 0 : r; // all else can be shown
}

static int take_rest(struct follow *follow, const struct fetched *answer, char why[static 200]) {
    struct host *host = follow->host;
    struct past *past = follow->past;
    int r = follow->page == FOLLOW_STATUS ? host_read(answer->body, answer->length, &host, why)
                                          : past_read(answer->body, answer->length, &past, why);
    if (r < 0)
        return r;
    if (follow->page == FOLLOW_STATUS) {
        host_free(follow->host);
        follow->host = host;
    } else {
        past_free(follow->past);
        follow->past = past;
    }
    return 0;
}

static int take_page(struct follow *follow, const struct fetched *answer, double now, char why[static 200]) {
    switch (follow->page) {
    case FOLLOW_TOPDOWN:
        return take_topdown(follow, answer, why);
    case FOLLOW_HOST:
        return take_units(follow, FRAME_HOST, answer, why);
    case FOLLOW_SOCKETS:
        return take_units(follow, FRAME_SOCKETS, answer, why);
    case FOLLOW_CPUS:
        return take_units(follow, FRAME_CPUS, answer, why);
    case FOLLOW_MEMORY:
        return take_memory(follow, answer, now, why);
    default:
        return take_rest(follow, answer, why);
    }
}

// It may have ended, and another one may answer later: then all is asked for anew.
static void fail(struct follow *follow, const char *why, double now) {
    for (int page = 0; page < FOLLOW_NONE; page++)
        follow->due[page] = now + AGAIN_SECONDS;
    follow->fresh = frame_free(follow->fresh);
    size_t length = strlen(why);
    const char *end = length > 0 && why[length - 1] == '.' ? "" : "."; // a library's reason may be a sentence
    (void)snprintf(follow->gone, sizeof follow->gone, "%.100s: %.300s%s%s", follow->source, why, end,
                   follow->once ? "" : " Trying again every 2 s.");
}

static void take(struct follow *follow, const struct fetched *answer, double now) {
    char why[200] = "";
    enum follow_page page = follow->page;
    int r = 0;
    bool refused = (page == FOLLOW_HISTORY && answer->status == 400)    // a metric without a history
                   || (page == FOLLOW_MEMORY && answer->status == 404); // a daemon that has no such page
    if (refused && page == FOLLOW_MEMORY)
        follow->due[FOLLOW_MEMORY] = now + NONE_SECONDS;
    else if (refused)
        follow->metric_refused = true;
    else if (answer->status == 200)
        r = take_page(follow, answer, now, why);
    follow->page = FOLLOW_NONE;
    if (answer->status != 200 && !refused)
        fail(follow, answer->why, now);
    else if (r < 0)
        fail(follow, r == -ENOMEM ? "out of memory" : why, now);
    else
        follow->gone[0] = '\0';
}

// ---- all of it ----

// Nothing more is to be read for the new moment: it can be shown.
static bool show_fresh(struct follow *follow, const struct screen_state *view, bool paused, double now) {
    for (int scope = 0; scope < FRAME_SCOPES; scope++)
        if (wants(follow, view, (enum frame_scope)scope))
            return false;
    if (wants_memory(follow, now))
        return false;
    timeline_add(&follow->timeline, follow->fresh, !paused);
    follow->fresh = NULL;
    follow->frame_came = true;
    return true;
}

static void choose_metric(struct follow *follow, const struct screen_state *view) {
    const char *metric = view->screen == SCREEN_NODE ? view->metric : "";
    if (metric[0] == '\0' || strcmp(metric, follow->metric) == 0)
        return;
    (void)snprintf(follow->metric, sizeof follow->metric, "%s", metric);
    follow->metric_refused = false;
    follow->due[FOLLOW_HISTORY] = 0;
}

bool follow_work(struct follow *follow, const struct screen_state *view, bool paused, double now) {
    struct fetched answer;
    bool changed = false;
    choose_metric(follow, view);
    if (follow->page != FOLLOW_NONE && fetch_take(follow->fetch, &answer)) {
        take(follow, &answer, now);
        changed = true;
    }
    if (follow->fresh && follow->page == FOLLOW_NONE)
        changed = show_fresh(follow, view, paused, now) || changed;
    enum follow_page page = follow->page == FOLLOW_NONE ? next_page(follow, view, now) : FOLLOW_NONE;
    if (page != FOLLOW_NONE)
        begin(follow, page, now);
    return changed;
}

int follow_wait_ms(const struct follow *follow, double now) {
    double wait = ASK_SECONDS / 2;
    for (int page = 0; page < FOLLOW_NONE && follow->page == FOLLOW_NONE; page++)
        if (page == FOLLOW_TOPDOWN || page == FOLLOW_STATUS || page == FOLLOW_HISTORY)
            wait = fmin(wait, follow->due[page] - now);
    return wait > 0 ? (int)(wait * 1000) + 1 : 0;
}

void follow_deinit(struct follow *follow) {
    follow->fresh = frame_free(follow->fresh);
    timeline_deinit(&follow->timeline);
    follow->host = host_free(follow->host);
    follow->past = past_free(follow->past);
    follow->fetch = fetch_free(follow->fetch);
}
