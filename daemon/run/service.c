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
#include "daemon/engine/engines.h"
#include "daemon/kept/kept.h"
#include "daemon/run/control.h"
#include "daemon/run/listening.h"
#include "daemon/run/load.h"
#include "daemon/run/loop.h"
#include "daemon/run/mark_limit.h"
#include "daemon/run/protection.h"
#include "daemon/run/publisher.h"
#include "daemon/run/reload.h"
#include "daemon/run/signals.h"
#include "daemon/source/setup.h"
#include "daemon/uncore/uncore_watch.h"
#include "exporters/history/shown_history.h"

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
    struct engines engines;
    struct readers readers;
    struct listening *listening;
    struct protection *protection;
    struct publisher publisher;
    struct kept *kept;       // NULL: nothing outlives it
    struct control *control; // NULL: no folder for its socket
    struct mark_limit marks;
    sd_event *loop;
    struct loop_waiting waiting;
    struct log_stream *log; // NULL: nothing is held back
    uint64_t wake_us;       // when the engines are due
    bool serving;           // there is a plan, and requests are answered
    struct loop_watchdog watchdog;
};

static int begin(struct service *s, struct errors *errors) {
    uint64_t now_ns = clocks_now_ns();
    s->self.status.certificate_expiry_seconds = protection_expiry_seconds(protection_web(s->protection));
    s->readers = (struct readers){.cpus_read = listening_cpus_read, .context = s->listening};
    int r = engines_init(&s->engines, s->setup, &s->self, &s->publisher.newest.shown, now_ns, errors);
    engines_attend(&s->engines, &s->readers);
    return r;
}

// ---- steps ----

// Starts serving, as the first plans exist. With one core type, the step that made the plan has opened the event groups
// but cannot have ended a round, so the first page shows that nothing is measured yet. With several types, others may
// have ended a round.
static int serve(struct service *s) {
    int r = publisher_show(&s->publisher, s->setup, false);
    if (r == 0 && s->control)
        r = control_start(s->control);
    if (r < 0)
        return r;
    s->serving = true;
    publisher_summarize(&s->publisher, s->setup, true, s->options->web.systemd_socket);
    listening_announce(s->listening);
    listening_warn(s->listening, protection_web(s->protection));
    char status[SUMMARY_LINE_MAX] = "started";
    listening_describe(s->listening, status, sizeof status);
    (void)sd_notifyf(0, "READY=1\nSTATUS=%s", status);
    start_memory_give_back();
    return 0;
}

// Serves once all engines have a plan.
static int serve_planned(struct service *s) { return !s->serving && engines_have_plans(&s->engines) ? serve(s) : 0; }

// Takes a snapshot that an engine has made. Then the engine usually looks around at once, in a step of its own because
// that may bring another view: this wakes nobody again.
static int take(size_t i, struct snapshot *snapshot, void *context) {
    struct service *s = context;
    int r = serve_planned(s);
    if (s->serving)
        publisher_put(&s->publisher, s->setup, i, snapshot);
    if (i == 0 && setup_look_at_platform(s->setup, clocks_now_ns()))
        engines_refresh(&s->engines); // the next one shows what has changed
    if (!snapshot->within_round && i < s->setup->n_types)
        s->reload.round_over = true;
    return r < 0 ? r : 1;
}

// Runs the engines that are due; *deadline_ns is the next deadline.
static int step(struct service *s, uint64_t *deadline_ns) {
    int r = engines_step(&s->engines, &clocks_kernel, take, s, deadline_ns);
    if (r >= 0)
        r = serve_planned(s);
    uint64_t now_ns = clocks_now_ns();
    if (r >= 0 && s->serving)
        summary_send(&s->publisher.status, s->listening, now_ns / 1000);
    loop_watchdog_feed(&s->watchdog, now_ns);
    kept_step(s->kept, s->engines.of, s->engines.n, now_ns);
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
    const struct reload_engines engines = {s->setup, &s->self, &s->publisher.newest.shown, &s->engines};
    int r = reload_prepare(&s->reload, &engines, now_ns, errors);
    if (r < 0)
        return r;
    r = listening_change(s->listening, s->reload.next->config, errors);
    if (r < 0)
        reload_abandon(&s->reload);
    return r;
}

// What is said and shown of a configuration that has come into force.
static int finish_change(struct service *s, struct view *const before[SETUP_TYPES_MAX], bool refused) {
    const struct errors none = {0};
    int r = s->reload.other_kinds ? publisher_show(&s->publisher, s->setup, true) : 0;
    if (r < 0)
        return r;
    self_measure_cpus(&s->self, setup_n_cpus(s->setup));
    self_note_config(&s->self, true);
    s->self.status.config.successful = !refused; // but the last attempt
    reload_log_success(s->options, s->reload.looked);
    listening_warn(s->listening, protection_web(s->protection));
    publisher_summarize(&s->publisher, s->setup, false, s->options->web.systemd_socket);
    for (size_t i = 0; i < s->engines.n && !s->reload.other_kinds; i++)
        publisher_show_totals(&s->publisher, s->setup, i, before[i]);
    publisher_change(&s->publisher, s->setup);
    control_end_reload(s->control, 0, &none);
    notify_reload(s, false);
    start_memory_give_back();
    return loop_prepare_again(s->loop, &s->waiting);
}

// Puts what was loaded into force. Returns 1 if it is, 0, or a negative errno that ends the daemon.
static int change(struct service *s) {
    struct errors errors = {0};
    struct view *before[SETUP_TYPES_MAX];
    size_t n = s->engines.n;
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
        before[i] = view_ref(engines_view(&s->engines, i));
    r = reload_change(&s->reload, &s->engines, now_ns, &s->setup);
    if (r == 0)
        r = finish_change(s, before, refused);
    for (size_t i = 0; i < n; i++)
        view_unref(before[i]);
    return r < 0 ? r : 1;
}

// Steps what is due and sets the time to wake.
static int wake(struct service *s) {
    uint64_t deadline_ns;
    int r = step(s, &deadline_ns);
    if (r >= 0 && s->serving && !s->reload.next && uncore_watch_step(&s->watch, s->options, clocks_now_ns()) &&
        reload_look(&s->reload, s->options, s->setup, &s->self) <= 0)
        start_memory_give_back();
    bool waits = r >= 0 && s->serving && s->reload.next;
    int changed = waits && reload_is_due(&s->reload, clocks_now_ns()) ? change(s) : 0;
    if (changed > 0)
        r = step(s, &deadline_ns);
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
            r = wake(s);
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
    int r = engines_yield(&s->engines, seconds);
    if (r < 0)
        return r; // refused
    engines_wake(&s->engines);
    r = wake(s);
    if (r < 0)
        (void)sd_event_exit(s->loop, r);
    return r;
}

// Of this moment. A replay's marks are those of its recording.
static int on_mark(const char *text, const char **why, void *context) {
    struct service *s = context;
    uint64_t now_ns = clocks_now_ns();
    *why = s->options->pmu == PMU_REPLAY ? "a replay takes no marks: it shows another time" : marks_refuse_text(text);
    if (*why)
        return -EINVAL;
    if (!mark_limit_take(&s->marks, now_ns)) {
        *why = "too many marks at once: 10 may be set, and one more every 6 seconds";
        return -EBUSY;
    }
    int r = shown_history_mark(http_server_history(listening_server(s->listening)), (int64_t)now_ns, text);
    *why = r == -EAGAIN ? "nothing has been measured yet: try again in a moment" : NULL;
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
    return engines_tell(&s->engines, s->setup->n_types, out);
}

// In reverse of service_open: first what outlives the service is written, which waits for the disk for a limited time.
// The text file's thread may wait for a disk that hangs until systemd kills the service.
static void service_close(struct service *s) {
    s->kept = kept_free(s->kept, s->engines.of, s->engines.n);
    publisher_close(&s->publisher);
    s->control = control_free(s->control);
    s->protection = protection_free(s->protection);
    s->listening = listening_free(s->listening);
    engines_deinit(&s->engines);
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
    const struct control_requests requests = {on_yield, on_reload, on_warn, on_status, on_mark, s};
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
    if (r >= 0)
        self_init(&s->self, &clocks_kernel, setup_n_cpus(s->setup), clocks_now_ns());
    if (r >= 0 && options->web.systemd_socket)
        r = inherited_take(&inherited, errors);
    if (r >= 0)
        r = open_server(s, &inherited);
    if (r >= 0 && !options->aside.on)
        r = control_new(s->loop, options->paths.run, &requests, errors, &s->control);
    if (r >= 0)
        r = publisher_open(&s->publisher, s->setup, &s->engines, s->listening, &s->self);
    if (r >= 0)
        r = begin(s, errors);
    if (r >= 0)
        s->kept = kept_new(options, s->setup, http_server_history(listening_server(s->listening)), s->engines.of,
                           s->engines.n);
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
