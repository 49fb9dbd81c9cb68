// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/publisher.h"

#include <errno.h>

#include "daemon/base/clocks.h"
#include "daemon/run/series_limits.h"

int publisher_open(struct publisher *publisher, const struct setup *setup, struct engines *engines,
                   struct listening *listening, struct self *self) {
    publisher->engines = engines;
    publisher->listening = listening;
    publisher->self = self;
    int r = textfile_new(setup, &publisher->textfile);
    return r < 0 ? r : memory_watch_new(setup, self, &publisher->memory);
}

void publisher_close(struct publisher *publisher) {
    publisher->memory = memory_watch_free(publisher->memory);
    publisher->textfile = textfile_free(publisher->textfile);
    newest_deinit(&publisher->newest);
}

void publisher_change(struct publisher *publisher, const struct setup *setup) {
    textfile_change(&publisher->textfile, setup);
}

// Gives what the kernel counts of memory to a snapshot of the first engine, which records it.
static void attach_memory(struct publisher *publisher, const struct setup *setup, struct snapshot *snapshot) {
    memory_watch_attach(publisher->memory, setup, clocks_now_ns(), snapshot);
    struct engine *first = publisher->engines->of[0];
    if (snapshot && first->ops->record_memory)
        first->ops->record_memory(first, snapshot->memory);
}

void publisher_put(struct publisher *publisher, const struct setup *setup, size_t type, struct snapshot *snapshot) {
    if (type == 0)
        attach_memory(publisher, setup, snapshot);
    const struct http_published published = {engines_view(publisher->engines, type), snapshot};
    newest_put(&publisher->newest, type, published.view, snapshot);
    http_server_publish(listening_server(publisher->listening), type, &published);
    textfile_publish(publisher->textfile, type, publisher->engines->n, &published);
    publisher->self->status.textfile = textfile_state(publisher->textfile);
    publisher->status.n_types = setup->n_types;
    if (type >= setup->n_types)
        return;
    uint64_t now_us = clocks_now_ns() / 1000;
    summary_take(&publisher->status, type, published.view, snapshot, now_us);
    summary_send(&publisher->status, publisher->listening, now_us);
}

// Shows the current totals of an engine. Where it has shown values for less than an interval and is shown anew, as
// there are other kinds than before, these stay.
static struct http_published show(struct publisher *publisher, const struct setup *setup, size_t i, bool renew) {
    const struct shown_type *newest = &publisher->newest.shown.types[i];
    struct engine *engine = publisher->engines->of[i];
    bool stays = renew && i < setup->n_types && publisher->newest.held[i] &&
                 !view_stale(newest->view, newest->view->interval_ns / 1000000);
    return stays ? (struct http_published){newest->view, snapshot_ref(publisher->newest.held[i])}
                 : (struct http_published){engines_view(publisher->engines, i), engine->ops->snapshot(engine)};
}

int publisher_show(struct publisher *publisher, const struct setup *setup, bool renew) {
    struct http_published types[SETUP_TYPES_MAX] = {0};
    size_t n = publisher->engines->n;
    bool complete = true;
    for (size_t i = 0; i < n; i++) {
        types[i] = show(publisher, setup, i, renew);
        complete = complete && types[i].snapshot;
    }
    if (types[0].snapshot != publisher->newest.held[0]) // which others read already
        attach_memory(publisher, setup, types[0].snapshot);
    int r = !complete ? -ENOMEM : renew ? 0 : http_server_start(listening_server(publisher->listening), types, n);
    if (r == 0 && renew) {
        http_server_renew(listening_server(publisher->listening), types, n); // and holds the views from now on
        newest_deinit(&publisher->newest);
        textfile_begin_again(publisher->textfile);
        for (size_t i = 0; i < n; i++) {
            newest_put(&publisher->newest, i, types[i].view, types[i].snapshot);
            textfile_publish(publisher->textfile, i, n, &types[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        snapshot_unref(types[i].snapshot);
    return r;
}

void publisher_show_totals(struct publisher *publisher, const struct setup *setup, size_t type,
                           const struct view *before) {
    struct view *view = engines_view(publisher->engines, type);
    struct engine *engine = publisher->engines->of[type];
    struct snapshot *snapshot = view_stale(before, view->interval_ns / 1000000) ? engine->ops->snapshot(engine) : NULL;
    if (snapshot)
        publisher_put(publisher, setup, type, snapshot);
    snapshot_unref(snapshot);
}

void publisher_summarize(struct publisher *publisher, const struct setup *setup, bool starts, bool sockets) {
    struct engine *engine = publisher->engines->of[0];
    struct snapshot *first = engine->ops->snapshot(engine);
    memory_watch_attach(publisher->memory, setup, clocks_now_ns(), first);
    struct shown shown = {.memory = first ? first->memory : NULL};
    for (size_t i = 0; i < publisher->engines->n; i++) {
        shown.types[i].view = engines_view(publisher->engines, i);
        summary_start(shown.types[i].view, setup, &setup->types[i], starts);
    }
    shown_count(&shown, publisher->engines->n);
    summary_readers(setup, sockets, NULL);
    series_limits_warn(&shown, setup);
    snapshot_unref(first);
}
