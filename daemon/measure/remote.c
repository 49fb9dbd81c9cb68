// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/remote.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_values.h"
#include "daemon/base/clocks.h"
#include "daemon/base/loopback.h"
#include "daemon/engine/plan_view.h"
#include "daemon/measure/collected.h"
#include "daemon/measure/quick_setup.h"
#include "daemon/run/load.h"

static const double NS = 1e-9;
static const uint64_t LOOK_NS = UINT64_C(1000000000);

struct remote {
    const struct session_request *request;
    struct setup *setup;
    const struct config_listen *at; // where the daemon answers
    struct view *views[SOURCE_TYPES_MAX];
    struct collected *whole[SOURCE_TYPES_MAX], *interval[SOURCE_TYPES_MAX];
    struct snapshot *snapshots[SOURCE_TYPES_MAX]; // that a page is read into
    uint64_t ended_ns[SOURCE_TYPES_MAX];          // when the last round ended of which values were taken
    uint64_t begun_ns;
    double interval_begun_seconds;
};

// ---- a page ----

// -1: the daemon measures a socket that this set-up does not have.
static int scope_of(const struct topology *topology, long socket) {
    if (socket == JSON_VALUES_HOST)
        return 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        if (topology->sockets[s].id == socket)
            return (int)snapshot_scope_socket(s);
    return -1;
}

static void take_value(const struct json_value *read, void *context) {
    struct remote *remote = context;
    if (read->type >= remote->setup->n_types)
        return;
    struct snapshot *snapshot = remote->snapshots[read->type];
    const struct snapshot_layout *layout = snapshot->layout;
    if (read->start_ns >= 0 && read->end_ns > read->start_ns) { // else it is a daemon of before they were told
        snapshot->start_ns = (uint64_t)read->start_ns;
        snapshot->end_ns = (uint64_t)read->end_ns;
    }
    int found = scope_of(layout->topology, read->socket);
    size_t scope = (size_t)found;
    for (size_t m = 0; m < layout->n_metrics && found >= 0; m++) {
        if (strcmp(view_metric(remote->views[read->type], m)->export_name, read->metric) != 0)
            continue;
        snapshot->values[snapshot_metric(layout, scope, m)] = read->value;
        snapshot->values[snapshot_low(layout, scope, m)] = read->low;
        snapshot->values[snapshot_high(layout, scope, m)] = read->high;
        snapshot->values[snapshot_share_of_time(layout, scope, m)] = read->share_of_time;
        if (read->quality_reason)
            snapshot_set_trust(snapshot, snapshot_state(layout, scope, m), ESTIMATE_POOR,
                               estimate_doubt_find(read->quality_reason));
        snapshot->absent[snapshot_state(layout, scope, m)] =
            (uint8_t)(isfinite(read->value) ? ABSENT_NOT : ABSENT_NO_ROUND);
    }
}

static int read_page(struct remote *remote, const struct config_listen *at, const char *path) {
    struct text page = {0};
    int r = loopback_get(at->address, at->port, path, &page);
    if (r == 0)
        r = json_values_read(page.data, page.length, take_value, remote) < 0 ? -EINVAL : 0;
    text_free(&page);
    return r;
}

// Takes the values of a core type, unless they are those of the last look.
static int take_type(struct remote *remote, size_t i) {
    const struct snapshot *snapshot = remote->snapshots[i];
    bool first = remote->ended_ns[i] == 0;
    if (snapshot->end_ns <= remote->ended_ns[i])
        return 0;
    remote->ended_ns[i] = snapshot->end_ns;
    int r = collected_take(remote->whole[i], remote->views[i], snapshot);
    if (r == 0 && !first) // the first ones are of before the measurement
        r = collected_take(remote->interval[i], remote->views[i], snapshot);
    return r;
}

// Takes what the daemon shows now.
static int look(struct remote *remote, const struct config_listen *at) {
    uint64_t now_ns = clocks_now_ns();
    int r = 0;
    size_t n = remote->setup->n_types;
    for (size_t i = 0; i < n; i++) {
        remote->snapshots[i] = snapshot_new(remote->views[i]->layout);
        r = remote->snapshots[i] ? r : -ENOMEM;
        if (r == 0) {
            remote->snapshots[i]->start_ns = now_ns - LOOK_NS;
            remote->snapshots[i]->end_ns = now_ns;
        }
    }
    if (r == 0)
        r = read_page(remote, at, "/api/v1/snapshot");
    if (r == 0)
        r = read_page(remote, at, "/api/v1/snapshot?scope=socket");
    for (size_t i = 0; i < n; i++) {
        r = r == 0 ? take_type(remote, i) : r;
        snapshot_unref(remote->snapshots[i]);
    }
    return r;
}

// ---- telling ----

static double seconds_since(const struct remote *remote) { return (double)(clocks_now_ns() - remote->begun_ns) * NS; }

// Below 0 for a round that had begun before the measurement.
static double seconds_at(const struct remote *remote, uint64_t ns) {
    return ((double)ns - (double)remote->begun_ns) * NS;
}

static bool tell(struct remote *remote, bool whole) {
    struct report reports[SOURCE_TYPES_MAX];
    struct snapshot *snapshots[SOURCE_TYPES_MAX];
    const struct output_head head = {.hostname = remote->setup->hostname, .how = "read"};
    enum report_scope finest = remote->request->output->finest == REPORT_HOST ? REPORT_HOST : REPORT_SOCKET;
    size_t n = 0;
    bool any = false;
    for (size_t i = 0; i < remote->setup->n_types; i++) {
        struct view *view;
        snapshots[n] = collected_result(whole ? remote->whole[i] : remote->interval[i], &view);
        if (!snapshots[n])
            continue;
        if (report_init(&reports[n], view, snapshots[n], finest) == 0)
            any = any || report_has_values(&reports[n]);
        reports[n].from_seconds = seconds_at(remote, snapshots[n]->start_ns);
        reports[n].to_seconds = seconds_at(remote, snapshots[n]->end_ns);
        n++;
    }
    if (whole && any)
        output_whole(remote->request->output, &head, reports, n);
    for (size_t i = 0; i < n; i++) {
        if (!whole && any)
            output_interval(remote->request->output, &head, &reports[i]);
        report_deinit(&reports[i]);
        snapshot_unref(snapshots[i]);
    }
    return any;
}

static void tell_interval(struct remote *remote) {
    double wanted = remote->request->options->measure.interval_seconds, seconds = seconds_since(remote);
    if (wanted == 0 || seconds - remote->interval_begun_seconds < wanted || !tell(remote, false))
        return;
    remote->interval_begun_seconds = seconds;
    for (size_t i = 0; i < remote->setup->n_types; i++)
        collected_begin(remote->interval[i]);
}

// ---- all of it ----

static int begin(struct remote *remote, struct errors *errors) {
    for (size_t i = 0; i < remote->setup->n_types; i++) {
        struct plan *plan;
        int r = setup_plan_stated(remote->setup, &remote->setup->types[i], errors, &plan);
        if (r < 0)
            return r;
        remote->views[i] = plan_view_new(remote->setup, &remote->setup->types[i], plan);
        remote->whole[i] = collected_new(true);
        remote->interval[i] = collected_new(true);
        if (!remote->views[i] || !remote->whole[i] || !remote->interval[i])
            return -ENOMEM;
    }
    remote->begun_ns = clocks_now_ns();
    for (size_t i = 0; i < remote->setup->config->n_listen && !remote->at; i++)
        if (look(remote, &remote->setup->config->listen[i]) == 0)
            remote->at = &remote->setup->config->listen[i];
    return remote->at ? 0 : -ECONNREFUSED;
}

static int watch(struct remote *remote) {
    double duration = remote->request->options->measure.seconds;
    struct stopper *stopper = remote->request->stopper;
    int r = 0;
    duration = duration > 0 ? duration : SESSION_SECONDS;
    while (r != -ENOMEM && stopper->signal == 0 && seconds_since(remote) < duration) {
        (void)stopper_wait(stopper, clocks_now_ns() + LOOK_NS);
        r = look(remote, remote->at); // a page that cannot be read once is missed
        tell_interval(remote);
        output_progress(remote->request->output, seconds_since(remote), duration);
    }
    return r == -ENOMEM ? r : tell(remote, true) ? 0 : 1;
}

int remote_run(const struct session_request *request, struct errors *errors) {
    struct remote *remote = calloc(1, sizeof *remote);
    if (!remote)
        return -ENOMEM;
    remote->request = request;
    int r = quick_setup_new(request->options, errors, &remote->setup);
    if (r == 0)
        r = begin(remote, errors);
    if (r == 0)
        r = watch(remote);
    for (size_t i = 0; i < SOURCE_TYPES_MAX; i++) {
        collected_free(remote->interval[i]);
        collected_free(remote->whole[i]);
        view_unref(remote->views[i]);
    }
    load_free(remote->setup);
    free(remote);
    return r;
}
