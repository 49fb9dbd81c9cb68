// SPDX-License-Identifier: Apache-2.0
#include "daemon/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "collectors/sampler.h"
#include "core/derive.h"
#include "daemon/log.h"
#include "daemon/self.h"
#include "daemon/setup.h"
#include "daemon/summary.h"
#include "daemon/watch.h"
#include "exporters/http.h"

// This thread runs the event loop: the sampler's timer, signals, the watchdog. The HTTP server has a thread of its own.
// What they share is the newest snapshot.

enum { EXIT_WRONG = 2, TIMER_ACCURACY_US = 500 };

struct service {
    struct setup setup;
    struct pmu *pmu;
    struct sampler *sampler;
    struct derive *derive;
    struct watch *watch;
    struct self self;
    struct view view;
    struct http_server *http;
    sd_event *loop;
    sd_event_source *timer;
    uint64_t watchdog_us, watchdog_fed_us; // 0: systemd does not watch
    bool pmu_up;
};

static void feed_watchdog(struct service *s) {
    uint64_t now_us = self_monotonic_ns() / 1000;
    if (s->watchdog_us == 0 || now_us - s->watchdog_fed_us < s->watchdog_us / 4)
        return;
    (void)sd_notify(0, "WATCHDOG=1");
    s->watchdog_fed_us = now_us;
}

static void finish_round(struct service *s) {
    const struct readings *readings = sampler_readings(s->sampler);
    struct snapshot *snapshot = snapshot_new(s->setup.layout);
    derive_round(s->derive, readings, snapshot);
    if (!snapshot) {
        log_error("no memory for a snapshot: this round is in the totals, but not shown");
        return;
    }
    s->pmu_up = readings->n_windows > 0 && summary_counted(readings);
    self_fill(&s->self, &s->setup.source.roots, s->pmu_up, snapshot);
    http_server_publish(s->http, snapshot);
    watch_round(s->watch, snapshot, sampler_round_error(s->sampler));
    char status[SUMMARY_LINE_MAX];
    summary_status(&s->view, snapshot, status, sizeof status);
    (void)sd_notifyf(0, "STATUS=%s", status);
    snapshot_unref(snapshot);
}

// One step of the sampler; *deadline_ns is when the next is due.
static int step(struct service *s, uint64_t *deadline_ns) {
    self_step_begin(&s->self);
    int round_over = sampler_step(s->sampler, self_monotonic_ns(), deadline_ns);
    self_step_end(&s->self);
    if (round_over)
        finish_round(s);
    feed_watchdog(s);
    return 0;
}

// When to wake: at the sampler's deadline, but in time for the watchdog where slots are long.
static uint64_t wake_us(const struct service *s, uint64_t deadline_ns) {
    uint64_t due_us = deadline_ns / 1000 + 1, feed_us = self_monotonic_ns() / 1000 + s->watchdog_us / 4;
    return s->watchdog_us > 0 && feed_us < due_us ? feed_us : due_us;
}

static int on_timer(sd_event_source *timer, uint64_t due_us, void *context) {
    (void)due_us;
    struct service *s = context;
    uint64_t deadline_ns;
    step(s, &deadline_ns);
    int r = sd_event_source_set_time(timer, wake_us(s, deadline_ns));
    return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
    (void)context;
    log_info("ending: %s", strsignal((int)info->ssi_signo));
    (void)sd_notify(0, "STOPPING=1");
    return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

// Signals are blocked before the server's thread exists, so that it inherits the mask.
static int open_loop(struct service *s) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
        return -errno;
    (void)signal(SIGPIPE, SIG_IGN);
    int r = sd_event_new(&s->loop);
    if (r >= 0)
        r = sd_event_add_signal(s->loop, NULL, SIGTERM, on_signal, s);
    if (r >= 0)
        r = sd_event_add_signal(s->loop, NULL, SIGINT, on_signal, s);
    if (r >= 0)
        r = sd_watchdog_enabled(0, &s->watchdog_us);
    return r;
}

static int open_http(struct service *s, struct errors *errors) {
    struct http_address addresses[HTTP_ADDRESSES_MAX];
    const struct config *config = s->setup.config;
    for (size_t i = 0; i < config->n_listen; i++)
        addresses[i] = (struct http_address){
            .text = config->listen[i].text, .address = config->listen[i].address, .port = config->listen[i].port};
    return http_server_new(addresses, config->n_listen, errors, &s->http);
}

static int make_view(struct service *s) {
    const struct setup *setup = &s->setup;
    s->view = (struct view){.layout = setup->layout,
                            .simulated = setup->source.scenario != NULL,
                            .version = TOPDOWND_VERSION,
                            .hostname = setup->hostname,
                            .pmu = setup->source.pmu_name,
                            .cpu_vendor = setup->source.cpu.vendor,
                            .cpu_model = setup->source.cpu.model,
                            .cpu_microarchitecture = setup->source.microarchitecture,
                            .profile = setup->profile->name,
                            .config_hash = setup->config->hash,
                            .counters_total = source_counters(&setup->source),
                            .counters_usable = source_counters(&setup->source)};
    return getrandom(&s->view.seed, sizeof s->view.seed, 0) == sizeof s->view.seed ? 0 : -EIO;
}

static int open_measuring(struct service *s, struct errors *errors) {
    int r = make_view(s);
    if (r == 0)
        r = source_pmu(&s->setup.source, self_monotonic_ns(), errors, &s->pmu);
    if (r == 0)
        r = sampler_new(s->setup.plan, s->setup.topology, s->pmu, s->view.seed, &s->sampler);
    if (r < 0)
        return r;
    s->derive = derive_new(s->setup.layout);
    s->watch = watch_new(s->setup.layout);
    return s->derive && s->watch ? 0 : -ENOMEM;
}

// The first step opens the event groups; what cannot be opened is known before the first page is served.
static int start(struct service *s) {
    uint64_t deadline_ns;
    step(s, &deadline_ns);
    size_t n_failed;
    int error = sampler_open_error(s->sampler, &n_failed);
    if (error < 0)
        source_note_open_error(&s->setup.source, error, n_failed);
    s->view.pmu_errors = s->setup.source.errors;
    s->view.n_pmu_errors = s->setup.source.n_errors;
    struct snapshot *snapshot = snapshot_new(s->setup.layout);
    if (!snapshot)
        return -ENOMEM;
    derive_initial(s->derive, snapshot);
    self_fill(&s->self, &s->setup.source.roots, error == 0, snapshot);
    int r = http_server_start(s->http, &s->view, snapshot);
    snapshot_unref(snapshot);
    if (r < 0)
        return r;
    return sd_event_add_time(s->loop, &s->timer, CLOCK_MONOTONIC, wake_us(s, deadline_ns), TIMER_ACCURACY_US, on_timer,
                             s);
}

// In reverse of service_open.
static void service_close(struct service *s) {
    s->timer = sd_event_source_unref(s->timer);
    s->http = http_server_free(s->http);
    s->watch = watch_free(s->watch);
    s->derive = derive_free(s->derive);
    s->sampler = sampler_free(s->sampler);
    if (s->pmu)
        s->pmu->ops->free(s->pmu);
    setup_deinit(&s->setup);
    s->loop = sd_event_unref(s->loop);
}

static int service_open(struct service *s, const struct options *options, struct errors *errors) {
    raise_file_limit();
    int r = open_loop(s);
    if (r >= 0)
        r = setup_init(&s->setup, options, errors);
    if (r >= 0)
        r = open_http(s, errors);
    if (r >= 0)
        r = open_measuring(s, errors);
    if (r >= 0)
        r = start(s);
    return r;
}

int service_run(const struct options *options) {
    struct service *s = calloc(1, sizeof *s);
    struct errors *errors = calloc(1, sizeof *errors);
    int r = s && errors ? service_open(s, options, errors) : -ENOMEM;
    int status = EXIT_WRONG;
    if (r >= 0) {
        summary_start(&s->view, &s->setup, s->http);
        (void)sd_notify(0, "READY=1");
        r = sd_event_loop(s->loop);
        status = r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (errors && errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    if (s)
        service_close(s);
    free(errors);
    free(s);
    return status;
}

int service_check_config(const struct options *options) {
    struct setup *setup = calloc(1, sizeof *setup);
    struct errors *errors = calloc(1, sizeof *errors);
    int r = setup && errors ? setup_init(setup, options, errors) : -ENOMEM;
    if (r < 0 && errors && errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    else
        summary_config(setup);
    if (setup)
        setup_deinit(setup);
    free(errors);
    free(setup);
    return r < 0 ? EXIT_WRONG : EXIT_SUCCESS;
}
