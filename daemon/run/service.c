// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/base/log_stream.h"
#include "daemon/base/self.h"
#include "daemon/base/start_memory.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/newest.h"
#include "daemon/kept/kept.h"
#include "daemon/memory/memory_watch.h"
#include "daemon/run/control.h"
#include "daemon/run/listening.h"
#include "daemon/run/load.h"
#include "daemon/run/loop.h"
#include "daemon/run/protection.h"
#include "daemon/run/reload.h"
#include "daemon/run/series_limits.h"
#include "daemon/run/signals.h"
#include "daemon/run/summary.h"
#include "daemon/run/textfile.h"
#include "daemon/source/setup.h"
#include "daemon/uncore/uncore_watch.h"

// This thread runs the event loop: the engines' deadlines, signals, the watchdog. The HTTP server has a thread of its
// own. They share the newest snapshots.
//
// Each core type is measured by itself, in steps of its own. The earliest deadline wakes the loop, which runs only the
// engines that are due. The daemon answers requests once all engines have a plan.

enum { EXIT_WRONG = 2 };

struct service {
    const struct options *options;
    struct errors errors; // why the daemon did not start
    struct setup *setup;
    struct reload reload;
    struct uncore_watch watch;
    struct self self;
    struct engine *engines[SETUP_TYPES_MAX]; // of each core type, then of each kind of box; or of the replay
    uint64_t deadlines_ns[SETUP_TYPES_MAX];
    size_t n_engines;
    struct newest newest;
    struct readers readers;
    struct listening *listening;
    struct protection *protection;
    struct textfile *textfile; // NULL: none
    struct memory_watch *memory;
    struct kept *kept;       // NULL: nothing outlives it
    struct control *control; // NULL: no folder for its socket
    sd_event *loop;
    struct loop_waiting waiting;
    struct log_stream *log; // NULL: nothing is held back
    uint64_t wake_us;       // when the engines are due
    bool serving;           // there is a plan, and requests are answered
    struct loop_watchdog watchdog;
    struct summary_host status; // systemd's
};

static struct view *present_view(const struct service *s, size_t i) { return s->engines[i]->ops->view(s->engines[i]); }

static int begin(struct service *s, struct errors *errors) {
    uint64_t now_ns = clocks_now_ns();
    self_init(&s->self, &clocks_kernel, setup_n_cpus(s->setup), now_ns);
    s->self.status.certificate_expiry_seconds = protection_expiry_seconds(protection_web(s->protection));
    s->readers = (struct readers){.cpus_read = listening_cpus_read, .context = s->listening};
    int r = engine_new_all(s->setup, &s->self, &s->newest.shown, now_ns, errors, s->engines, &s->n_engines);
    engine_attend_all(s->engines, s->n_engines, &s->readers);
    return r;
}

// ---- steps ----

// Gives what the kernel counts of memory to a snapshot of the first engine, which records it.
static void attach_memory(struct service *s, struct snapshot *snapshot) {
    memory_watch_attach(s->memory, s->setup, clocks_now_ns(), snapshot);
    if (snapshot && s->engines[0]->ops->record_memory)
        s->engines[0]->ops->record_memory(s->engines[0], snapshot->memory);
}

static void publish(struct service *s, size_t type, struct snapshot *snapshot) {
    if (type == 0)
        attach_memory(s, snapshot);
    const struct http_published published = {present_view(s, type), snapshot};
    newest_put(&s->newest, type, published.view, snapshot);
    http_server_publish(listening_server(s->listening), type, &published);
    textfile_publish(s->textfile, type, s->n_engines, &published);
    s->self.status.textfile = textfile_state(s->textfile);
    s->status.n_types = s->setup->n_types;
    if (type >= s->setup->n_types)
        return;
    uint64_t now_us = clocks_now_ns() / 1000;
    summary_take(&s->status, type, published.view, snapshot, now_us);
    summary_send(&s->status, s->listening, now_us);
}

// Shows the current totals of an engine. Where it has shown values for less than an interval and is shown anew, as
// there are other kinds than before, these stay.
static struct http_published show(struct service *s, size_t i, bool renew) {
    const struct shown_type *newest = &s->newest.shown.types[i];
    bool stays = renew && i < s->setup->n_types && s->newest.held[i] &&
                 !view_stale(newest->view, newest->view->interval_ns / 1000000);
    return stays ? (struct http_published){newest->view, snapshot_ref(s->newest.held[i])}
                 : (struct http_published){present_view(s, i), s->engines[i]->ops->snapshot(s->engines[i])};
}

// Shows all engines: on the first pages of the HTTP server, or (renew) on those of other engines than before.
static int show_all(struct service *s, bool renew) {
    struct http_published types[SETUP_TYPES_MAX] = {0};
    size_t n = s->n_engines;
    bool complete = true;
    for (size_t i = 0; i < n; i++) {
        types[i] = show(s, i, renew);
        complete = complete && types[i].snapshot;
    }
    if (types[0].snapshot != s->newest.held[0]) // which others read already
        attach_memory(s, types[0].snapshot);
    int r = !complete ? -ENOMEM : renew ? 0 : http_server_start(listening_server(s->listening), types, n);
    if (r == 0 && renew) {
        http_server_renew(listening_server(s->listening), types, n); // and holds the views from now on
        newest_deinit(&s->newest);
        textfile_begin_again(s->textfile);
        for (size_t i = 0; i < n; i++) {
            newest_put(&s->newest, i, types[i].view, types[i].snapshot);
            textfile_publish(s->textfile, i, n, &types[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        snapshot_unref(types[i].snapshot);
    return r;
}

// Logs what a configuration that comes into force means.
static void summarize(const struct service *s, bool starts) {
    struct snapshot *first = s->engines[0]->ops->snapshot(s->engines[0]);
    memory_watch_attach(s->memory, s->setup, clocks_now_ns(), first);
    struct shown shown = {.memory = first ? first->memory : NULL};
    for (size_t i = 0; i < s->n_engines; i++) {
        shown.types[i].view = present_view(s, i);
        summary_start(shown.types[i].view, s->setup, &s->setup->types[i], starts);
    }
    shown_count(&shown, s->n_engines);
    summary_readers(s->setup, s->options->web.systemd_socket, NULL);
    series_limits_warn(&shown, s->setup);
    snapshot_unref(first);
}

// Starts serving, as the first plans exist. With one core type, the step that made the plan has opened the event groups
// but cannot have ended a round, so the first page shows that nothing is measured yet. With several types, others may
// have ended a round.
static int serve(struct service *s) {
    int r = show_all(s, false);
    if (r == 0 && s->control)
        r = control_start(s->control);
    if (r < 0)
        return r;
    s->serving = true;
    summarize(s, true);
    listening_announce(s->listening);
    listening_warn(s->listening, protection_web(s->protection));
    char status[SUMMARY_LINE_MAX] = "started";
    listening_describe(s->listening, status, sizeof status);
    (void)sd_notifyf(0, "READY=1\nSTATUS=%s", status);
    start_memory_give_back();
    return 0;
}

// Runs an engine once. Returns 1 if it has made a snapshot, 0, or a negative errno.
static int step_engine(struct service *s, size_t i, uint64_t now_ns) {
    struct snapshot *snapshot = NULL;
    int r = s->engines[i]->ops->step(s->engines[i], now_ns, &s->deadlines_ns[i], &snapshot);
    if (r >= 0 && !s->serving && engine_all_have_plans(s->engines, s->n_engines))
        r = serve(s);
    if (snapshot && s->serving)
        publish(s, i, snapshot);
    if (snapshot && i == 0 && setup_look_at_platform(s->setup, clocks_now_ns()))
        engine_refresh_all(s->engines, s->n_engines); // the next one shows what has changed
    if (snapshot && !snapshot->within_round && i < s->setup->n_types)
        s->reload.round_over = true;
    bool made = snapshot != NULL;
    snapshot_unref(snapshot);
    return r < 0 ? r : made;
}

// Runs the engines that are due, or all; *deadline_ns is the next deadline. An engine that has made a snapshot usually
// looks around at once, in a step of its own because that may bring another view: this wakes nobody again.
static int step(struct service *s, bool all, uint64_t *deadline_ns) {
    uint64_t now_ns = clocks_now_ns();
    int r = 0;
    *deadline_ns = UINT64_MAX;
    for (size_t i = 0; i < s->n_engines && r >= 0; i++) {
        uint64_t begun_ns = now_ns;
        if (all || s->deadlines_ns[i] <= begun_ns)
            r = step_engine(s, i, begun_ns);
        if (r > 0 && s->deadlines_ns[i] <= begun_ns)
            r = step_engine(s, i, begun_ns);
        now_ns = clocks_now_ns();
        *deadline_ns = s->deadlines_ns[i] < *deadline_ns ? s->deadlines_ns[i] : *deadline_ns;
    }
    if (r >= 0 && s->serving)
        summary_send(&s->status, s->listening, now_ns / 1000);
    loop_watchdog_feed(&s->watchdog, now_ns);
    kept_step(s->kept, s->engines, s->n_engines, now_ns);
    log_stream_step(s->log, now_ns);
    return r;
}

// ---- reload ----

// At the start systemd waits for readiness itself.
static void notify_reload(const struct service *s, bool begins) {
    if (s->serving && begins)
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clocks_now_ns() / 1000);
    else if (s->serving && !s->reload.next)
        (void)sd_notify(0, "READY=1");
}

static void note_failure(struct service *s, int r, const struct errors *errors) {
    self_note_config(&s->self, false);
    reload_log_refusal(s->options, r, errors);
    start_memory_give_back(); // that loading took
    notify_reload(s, false);
}

static void begin_reading(void *context) { self_step_begin(&((struct service *)context)->self); }

// The web configuration has been read.
static void end_reading(bool in_force, void *context) {
    struct service *s = context;
    self_change_end(&s->self, 0, 0);
    s->self.web_refused = !in_force;
    if (in_force)
        listening_warn(s->listening, protection_web(s->protection));
    start_memory_give_back();
}

// Loads both configurations. That of the web is in force then, because it belongs to no snapshot; the other one waits.
static int load_all(struct service *s, struct errors *errors) {
    struct web *web = NULL;
    begin_reading(s);
    int r = protection_load(s->options, errors, &web);
    if (r == 0)
        r = protection_compare(s->protection, web, errors);
    self_change_end(&s->self, 0, 0);
    if (r == 0)
        r = reload_load(&s->reload, s->options, s->setup, &s->self, errors);
    if (r == 0) {
        r = protection_change(s->protection, web, errors);
        if (r < 0)
            reload_deinit(&s->reload);
        s->self.web_refused = false;
    }
    web_unref(web);
    return r;
}

// Begins to reload. A client is answered by the caller where that fails.
static int begin_reload(struct service *s, struct errors *errors) {
    notify_reload(s, true);
    log_stream_renew(s->log);
    int r = load_all(s, errors);
    s->reload.refused = r < 0;
    if (r < 0)
        note_failure(s, r, errors);
    return r;
}

static int on_reload(struct errors *errors, void *context) { return begin_reload(context, errors); }

static int on_hup(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
    struct errors errors = {0};
    (void)source;
    log_info("%s: reading the configuration again", strsignal((int)info->ssi_signo));
    (void)begin_reload(context, &errors);
    return 0;
}

// Prepares all that depends on the configuration. Returns 0, -EAGAIN, or a negative errno with the reason in `errors`:
// nothing has changed then.
static int prepare_change(struct service *s, uint64_t now_ns, struct errors *errors) {
    const struct reload_engines engines = {s->setup, &s->self, &s->newest.shown, s->engines, &s->n_engines};
    int r = reload_prepare(&s->reload, &engines, now_ns, errors);
    if (r < 0)
        return r;
    r = listening_change(s->listening, s->reload.next->config, errors);
    if (r < 0)
        reload_abandon(&s->reload);
    return r;
}

// The page before a change stays until the next snapshot. Where that comes so late that the page would be too old, the
// totals alone are shown meanwhile.
static void show_totals(struct service *s, size_t type, const struct view *before) {
    struct view *view = present_view(s, type);
    struct snapshot *snapshot =
        view_stale(before, view->interval_ns / 1000000) ? s->engines[type]->ops->snapshot(s->engines[type]) : NULL;
    if (snapshot)
        publish(s, type, snapshot);
    snapshot_unref(snapshot);
}

// What is said and shown of a configuration that has come into force.
static int finish_change(struct service *s, struct view *const before[SETUP_TYPES_MAX], bool refused) {
    const struct errors none = {0};
    int r = s->reload.other_kinds ? show_all(s, true) : 0;
    if (r < 0)
        return r;
    self_measure_cpus(&s->self, setup_n_cpus(s->setup));
    self_note_config(&s->self, true);
    s->self.status.config.successful = !refused; // but the last attempt
    reload_log_success(s->options, s->reload.looked);
    listening_warn(s->listening, protection_web(s->protection));
    summarize(s, false);
    for (size_t i = 0; i < s->n_engines && !s->reload.other_kinds; i++)
        show_totals(s, i, before[i]);
    textfile_change(&s->textfile, s->setup);
    control_end_reload(s->control, 0, &none);
    notify_reload(s, false);
    start_memory_give_back();
    return loop_prepare_again(s->loop, &s->waiting);
}

// Puts what was loaded into force. Returns 1 if it is, 0, or a negative errno that ends the daemon.
static int change(struct service *s) {
    struct errors errors = {0};
    struct view *before[SETUP_TYPES_MAX];
    size_t n = s->n_engines;
    uint64_t now_ns = clocks_now_ns();
    bool refused = s->reload.refused;
    int r = prepare_change(s, now_ns, &errors);
    if (r == -EAGAIN)
        return 0;
    if (r < 0) {
        note_failure(s, r, &errors);
        control_end_reload(s->control, r, &errors);
        return loop_prepare_again(s->loop, &s->waiting);
    }
    for (size_t i = 0; i < n; i++)
        before[i] = view_ref(present_view(s, i));
    r = reload_change(&s->reload, s->engines, &s->n_engines, now_ns, &s->setup);
    if (r == 0)
        r = finish_change(s, before, refused);
    for (size_t i = 0; i < n; i++)
        view_unref(before[i]);
    return r < 0 ? r : 1;
}

// Steps what is due and sets the time to wake.
static int wake(struct service *s, bool all) {
    uint64_t deadline_ns;
    int r = step(s, all, &deadline_ns);
    if (r >= 0 && s->serving && !s->reload.next && uncore_watch_step(&s->watch, s->options, clocks_now_ns()) &&
        reload_look(&s->reload, s->options, s->setup, &s->self) <= 0)
        start_memory_give_back();
    bool waits = r >= 0 && s->serving && s->reload.next;
    int changed = waits && reload_is_due(&s->reload, clocks_now_ns()) ? change(s) : 0;
    if (changed > 0)
        r = step(s, true, &deadline_ns);
    else if (changed < 0)
        r = changed;
    s->wake_us = loop_wake_us(&s->watchdog, deadline_ns);
    return r;
}

static int run_loop(struct service *s) {
    int r = 0, status = 0;
    while (r >= 0 && !loop_is_over(s->loop, &s->waiting)) {
        uint64_t now_us = clocks_now_ns() / 1000;
        if (now_us >= s->wake_us) {
            r = wake(s, false);
            now_us = clocks_now_ns() / 1000;
        }
        if (r >= 0)
            r = loop_wait(s->loop, &s->waiting, s->wake_us > now_us ? s->wake_us - now_us : 0);
    }
    if (r >= 0)
        r = sd_event_get_exit_code(s->loop, &status);
    return r < 0 ? r : status;
}

// A client wants the counters or (0) no longer needs them. On return the counters have changed hands and pages show it.
static int on_yield(double seconds, void *context) {
    struct service *s = context;
    int r = engine_yield_all(s->engines, s->n_engines, seconds);
    if (r < 0)
        return r; // refused
    r = wake(s, true);
    if (r < 0)
        (void)sd_event_exit(s->loop, r);
    return r;
}

static void on_warn(struct errors *warnings, void *context) {
    const struct service *s = context;
    listening_warn_of_awaited(s->listening, warnings);
    summary_readers(s->setup, s->options->web.systemd_socket, warnings);
}

static int on_status(struct text *out, void *context) {
    const struct service *s = context;
    listening_tell(s->listening, s->protection, out);
    summary_tell_health(s->listening, out);
    return engine_tell_all(s->engines, s->setup->n_types, out);
}

// In reverse of service_open.
static void service_close(struct service *s) {
    s->memory = memory_watch_free(s->memory);
    s->textfile = textfile_free(s->textfile);
    s->control = control_free(s->control);
    s->protection = protection_free(s->protection);
    s->kept = kept_free(s->kept, s->engines, s->n_engines);
    s->listening = listening_free(s->listening);
    while (s->n_engines > 0) {
        struct engine *engine = s->engines[--s->n_engines];
        engine->ops->free(engine);
    }
    newest_deinit(&s->newest);
    reload_deinit(&s->reload);
    s->setup = load_free(s->setup);
    s->loop = sd_event_unref(s->loop);
}

// The server, and the watch over what protects it.
static int open_server(struct service *s, const struct inherited *inherited) {
    const struct protection_caller caller = {begin_reading, end_reading, s, &s->self.status.certificate_expiry_seconds};
    struct listening_request request = {.config = s->setup->config, .inherited = inherited};
    int r = protection_load(s->options, &s->errors, &request.web);
    if (r == 0)
        r = listening_new(s->loop, &request, &s->errors, &s->listening);
    if (r == 0)
        r = protection_new(s->loop, s->options, listening_server(s->listening), request.web, &caller, &s->protection);
    web_unref(request.web);
    return r;
}

static int service_open(struct service *s, const struct options *options) {
    struct errors *errors = &s->errors;
    struct inherited inherited = {0};
    const struct control_requests requests = {on_yield, on_reload, on_warn, on_status, s};
    s->options = options;
    inherited_raise_files();
    start_memory_init();
    (void)uncore_watch_step(&s->watch, options, clocks_now_ns());
    int r = sd_event_new(&s->loop);
    if (r >= 0)
        r = signals_open(s->loop, on_hup, s); // blocked before there is another thread, which inherits the mask
    if (r >= 0)
        r = loop_watchdog_open(&s->watchdog);
    if (r >= 0)
        r = load_setup(options, errors, &s->setup);
    if (r >= 0 && options->web.systemd_socket)
        r = inherited_take(&inherited, errors);
    if (r >= 0)
        r = open_server(s, &inherited);
    if (r >= 0 && !options->aside.on)
        r = control_new(s->loop, options->paths.run, &requests, errors, &s->control);
    if (r >= 0)
        r = textfile_new(s->setup, &s->textfile);
    if (r >= 0)
        r = begin(s, errors);
    if (r >= 0)
        r = kept_new(options, s->setup, http_server_history(listening_server(s->listening)), s->engines, s->n_engines,
                     &s->kept);
    if (r >= 0)
        r = memory_watch_new(s->setup, &s->self, &s->memory);
    return r;
}

int service_run(const struct options *options) {
    struct service *s = calloc(1, sizeof *s);
    if (s)
        s->log = log_stream_open();
    int r = s ? service_open(s, options) : -ENOMEM;
    if (r >= 0)
        r = run_loop(s);
    // only a mistake that stays is final (RestartPreventExitStatus); memory or files may be short for a while only
    bool mistaken = s && !s->serving && s->errors.n > 0 && !s->errors.passing;
    int status = r >= 0 ? EXIT_SUCCESS : mistaken && r != -EINTR ? EXIT_WRONG : EXIT_FAILURE;
    if (s && s->errors.n > 0)
        log_errors(&s->errors);
    else if (r < 0 && r != -EINTR) // -EINTR: the signal has been logged
        log_error("%s", error_reason(r));
    if (s) {
        service_close(s);
        log_stream_close(s->log);
    }
    free(s);
    return status;
}
