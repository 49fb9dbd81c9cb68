// SPDX-License-Identifier: Apache-2.0
#include "top/run/feed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 900 };

static const double ASK_SECONDS = 1, AGAIN_SECONDS = 2, HISTORY_SECONDS = 10, STATUS_SECONDS = 30, NONE_SECONDS = 60;
static const char SLOTS[] = "ratio of pipeline slots";

// ---- which page ----

static const struct frame *newest(const struct feed *feed) {
    return feed->fresh ? feed->fresh : timeline_newest(&feed->timeline);
}

static bool lacks(const struct feed *feed, enum frame_scope scope) {
    const struct frame *frame = newest(feed);
    return frame && frame->n_types > 0 && !frame->types[0].units[scope].present;
}

static bool wants(const struct feed *feed, const struct screen_state *view, enum frame_scope scope) {
    return lacks(feed, scope) && (scope == FRAME_HOST || feed->everything || screen_wants(view, scope));
}

// The kernel's counts of each moment; where it counts nothing, seldom.
static bool wants_memory(const struct feed *feed, double now) {
    return feed->fresh && !feed->fresh->memory.present && feed->due[FEED_MEMORY] <= now;
}

static enum feed_page next_page(const struct feed *feed, const struct screen_state *view, double now) {
    static const enum feed_page pages[FRAME_SCOPES] = {FEED_HOST, FEED_SOCKETS, FEED_CPUS};
    for (int scope = 0; scope < FRAME_SCOPES; scope++)
        if (wants(feed, view, (enum frame_scope)scope) && feed->due[pages[scope]] <= now)
            return pages[scope];
    if (feed->fresh)
        return wants_memory(feed, now) ? FEED_MEMORY : FEED_NONE;
    if (feed->due[FEED_TOPDOWN] <= now)
        return FEED_TOPDOWN;
    if (feed->due[FEED_STATUS] <= now)
        return FEED_STATUS;
    return feed->due[FEED_HISTORY] <= now && newest(feed) ? FEED_HISTORY : FEED_NONE;
}

// Appends a name of a metric, if there is room.
static void add_name(char *out, size_t size, const char *name) {
    size_t length = strlen(out);
    const char *before = strchr(out, '=') ? "," : "?metric=";
    if (length + strlen(name) + sizeof "?metric=" <= size)
        (void)snprintf(out + length, size - length, "%s%s", before, name);
}

// The level-1 categories, what the kernel counts, and the metric that is looked at.
static void history_path(const struct feed *feed, char *out, size_t size) {
    const struct frame *frame = newest(feed);
    const struct frame_type *type = frame->n_types > 0 ? &frame->types[0] : NULL;
    bool listed = false;
    (void)snprintf(out, size, "/api/v1/history");
    for (size_t i = 0; type && i < type->n_nodes; i++) {
        const struct frame_node *node = &type->nodes[i];
        if (node->depth > 0 || strcmp(node->unit, SLOTS) != 0)
            continue;
        add_name(out, size, node->metric);
        listed = listed || strcmp(node->metric, feed->metric) == 0;
    }
    for (size_t i = 0; i < MEMORY_METRICS_N; i++)
        if (frame->memory.present && isfinite(frame->memory.values[i])) {
            add_name(out, size, memory_metrics[i].name);
            listed = listed || strcmp(memory_metrics[i].name, feed->metric) == 0;
        }
    if (feed->metric[0] != '\0' && !feed->metric_refused && !listed)
        add_name(out, size, feed->metric);
}

static void begin(struct feed *feed, enum feed_page page, double now) {
    static const char *const paths[FEED_NONE] = {[FEED_TOPDOWN] = "/api/v1/topdown",
                                                 [FEED_HOST] = "/api/v1/snapshot?scope=host",
                                                 [FEED_SOCKETS] = "/api/v1/snapshot?scope=socket",
                                                 [FEED_CPUS] = "/api/v1/snapshot?scope=cpu",
                                                 [FEED_MEMORY] = "/api/v1/memory",
                                                 [FEED_STATUS] = "/api/v1/status"};
    static const double after[FEED_NONE] = {[FEED_STATUS] = STATUS_SECONDS, [FEED_HISTORY] = HISTORY_SECONDS};
    char path[PATH_MAX_BYTES];
    if (page == FEED_HISTORY)
        history_path(feed, path, sizeof path);
    else
        (void)snprintf(path, sizeof path, "%s", paths[page]);
    feed->page = page;
    feed->due[page] = page == FEED_TOPDOWN && feed->stepped ? (double)INFINITY
                      : page == FEED_TOPDOWN                ? now + ASK_SECONDS
                                                            : now + after[page];
    if (fetch_begin(feed->fetch, path) < 0)
        feed->page = FEED_NONE;
}

// ---- answers ----

static bool is_new(const struct feed *feed, const struct frame *frame) {
    const struct frame *before = timeline_newest(&feed->timeline);
    return !before || before->end_ns != frame->end_ns || before->sequence != frame->sequence ||
           before->n_types != frame->n_types;
}

static int take_topdown(struct feed *feed, const struct fetched *answer, char why[static 200]) {
    struct frame *frame;
    int r = frame_read(answer->body, answer->length, &frame, why);
    if (r < 0)
        return r;
    feed->fresh = frame_free(feed->fresh);
    if (is_new(feed, frame))
        feed->fresh = frame;
    else
        frame_free(frame);
    return 0;
}

static int take_units(struct feed *feed, enum frame_scope scope, const struct fetched *answer, char why[static 200]) {
    struct frame *frame = feed->fresh ? feed->fresh : timeline_newest(&feed->timeline);
    return frame ? frame_add_units(frame, scope, answer->body, answer->length, why) : 0;
}

static int take_memory(struct feed *feed, const struct fetched *answer, double now, char why[static 200]) {
    struct frame *frame = feed->fresh;
    int r = frame ? frame_add_memory(frame, answer->body, answer->length, why) : 0;
    if (r == -EINVAL || (frame && frame->memory.n_nodes < 2 && frame->memory.n_sockets == 0))
        feed->due[FEED_MEMORY] = now + NONE_SECONDS;
    return r == -EINVAL ? 0 : r; // all else can be shown
}

static int take_rest(struct feed *feed, const struct fetched *answer, char why[static 200]) {
    struct host *host = feed->host;
    struct past *past = feed->past;
    int r = feed->page == FEED_STATUS ? host_read(answer->body, answer->length, &host, why)
                                      : past_read(answer->body, answer->length, &past, why);
    if (r < 0)
        return r;
    if (feed->page == FEED_STATUS) {
        host_free(feed->host);
        feed->host = host;
    } else {
        past_free(feed->past);
        feed->past = past;
    }
    return 0;
}

static int take_page(struct feed *feed, const struct fetched *answer, double now, char why[static 200]) {
    switch (feed->page) {
    case FEED_TOPDOWN:
        return take_topdown(feed, answer, why);
    case FEED_HOST:
        return take_units(feed, FRAME_HOST, answer, why);
    case FEED_SOCKETS:
        return take_units(feed, FRAME_SOCKETS, answer, why);
    case FEED_CPUS:
        return take_units(feed, FRAME_CPUS, answer, why);
    case FEED_MEMORY:
        return take_memory(feed, answer, now, why);
    default:
        return take_rest(feed, answer, why);
    }
}

// It may have ended, and another one may answer later: then all is asked for anew.
static void fail(struct feed *feed, const char *why, double now) {
    for (int page = 0; page < FEED_NONE; page++)
        feed->due[page] = now + AGAIN_SECONDS;
    feed->fresh = frame_free(feed->fresh);
    size_t length = strlen(why);
    const char *end = length > 0 && why[length - 1] == '.' ? "" : "."; // a library's reason may be a sentence
    (void)snprintf(feed->gone, sizeof feed->gone, "%.100s: %.300s%s%s", feed->source, why, end,
                   feed->once ? "" : " Trying again every 2 s.");
}

static void take(struct feed *feed, const struct fetched *answer, double now) {
    char why[200] = "";
    enum feed_page page = feed->page;
    int r = 0;
    bool refused = (page == FEED_HISTORY && answer->status == 400)    // a metric without a history
                   || (page == FEED_MEMORY && answer->status == 404); // a daemon that has no such page
    if (refused && page == FEED_MEMORY)
        feed->due[FEED_MEMORY] = now + NONE_SECONDS;
    else if (refused)
        feed->metric_refused = true;
    else if (answer->status == 200)
        r = take_page(feed, answer, now, why);
    feed->page = FEED_NONE;
    if (answer->status != 200 && !refused)
        fail(feed, answer->why, now);
    else if (r < 0)
        fail(feed, r == -ENOMEM ? "out of memory" : why, now);
    else
        feed->gone[0] = '\0';
}

// ---- all of it ----

// Nothing more is to be read for the new moment: it can be shown.
static bool show_fresh(struct feed *feed, const struct screen_state *view, bool paused, double now) {
    for (int scope = 0; scope < FRAME_SCOPES; scope++)
        if (wants(feed, view, (enum frame_scope)scope))
            return false;
    if (wants_memory(feed, now))
        return false;
    timeline_add(&feed->timeline, feed->fresh, !paused);
    feed->fresh = NULL;
    feed->frame_came = true;
    return true;
}

static void choose_metric(struct feed *feed, const struct screen_state *view) {
    const char *metric = view->screen == SCREEN_NODE ? view->metric : "";
    if (metric[0] == '\0' || strcmp(metric, feed->metric) == 0)
        return;
    (void)snprintf(feed->metric, sizeof feed->metric, "%s", metric);
    feed->metric_refused = false;
    feed->due[FEED_HISTORY] = 0;
}

bool feed_work(struct feed *feed, const struct screen_state *view, bool paused, double now) {
    struct fetched answer;
    bool changed = false;
    choose_metric(feed, view);
    if (feed->page != FEED_NONE && fetch_take(feed->fetch, &answer)) {
        take(feed, &answer, now);
        changed = true;
    }
    if (feed->fresh && feed->page == FEED_NONE)
        changed = show_fresh(feed, view, paused, now) || changed;
    enum feed_page page = feed->page == FEED_NONE ? next_page(feed, view, now) : FEED_NONE;
    if (page != FEED_NONE)
        begin(feed, page, now);
    return changed;
}

int feed_wait_ms(const struct feed *feed, double now) {
    double wait = ASK_SECONDS / 2;
    for (int page = 0; page < FEED_NONE && feed->page == FEED_NONE; page++)
        if (page == FEED_TOPDOWN || page == FEED_STATUS || page == FEED_HISTORY)
            wait = fmin(wait, feed->due[page] - now);
    return wait > 0 ? (int)(wait * 1000) + 1 : 0;
}

void feed_deinit(struct feed *feed) {
    feed->fresh = frame_free(feed->fresh);
    timeline_deinit(&feed->timeline);
    feed->host = host_free(feed->host);
    feed->past = past_free(feed->past);
    feed->fetch = fetch_free(feed->fetch);
}
