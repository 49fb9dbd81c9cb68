// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/tasks_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pmu_linux.h"
#include "core/tally/derive.h"
#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/engine/plan_view.h"
#include "daemon/measure/collected.h"
#include "daemon/measure/quick_setup.h"
#include "daemon/measure/task_command.h"
#include "daemon/measure/task_counts.h"
#include "daemon/run/load.h"

static const double NS = 1e-9;
// Rounds tell how certain values are. Short commands get many of them; later on, reading all tasks costs too much.
static const uint64_t ROUND_NS = UINT64_C(100000000), LATER_ROUND_NS = UINT64_C(1000000000);
static const double LATER_SECONDS = 10;

struct tasks {
    const struct session_request *request;
    struct setup *setup;
    struct view *view;
    struct derive *derive;
    struct task_counts *counts;
    struct task_command child;
    struct collected *whole, *interval;
    uint64_t begun_ns;
    double interval_begun_seconds;
};

// ---- opening ----

// The tasks' time is that of one CPU.
static int take_one_cpu(struct core_type *type) {
    const struct topology_source cpu = {.id = 0, .core = 0, .package = 0, .selected = true};
    struct topology *topology;
    int r = topology_new(&cpu, 1, type->topology->maximum_frequency_hz, &topology);
    if (r < 0)
        return r;
    topology_free(type->topology);
    type->topology = topology;
    return 0;
}

static int make_parts(struct tasks *t, struct errors *errors) {
    struct core_type *type = &t->setup->types[0];
    struct plan *plan;
    if (type->source->simulated)
        return errors_add(errors, NULL, 0, 0, "a simulated host runs no commands: leave --pmu or the command out");
    if (t->setup->n_types > 1)
        return errors_add(errors, NULL, 0, 0,
                          "this host has several core types, between which a command moves: measure the host while it "
                          "runs, or give --cpus of one type and start it with taskset(1)");
    if (t->setup->n_boxes > 0) // the kernel refuses their events for tasks
        log_info(
            "PMUs outside the cores count for sockets, not for the tasks of a command: 'topdownd measure' without a "
            "command tells what they count meanwhile");
    int r = take_one_cpu(type);
    if (r == 0)
        r = setup_plan_stated(t->setup, type, errors, &plan);
    if (r < 0)
        return r;
    t->view = plan_view_new(t->setup, type, plan);
    t->derive = t->view ? derive_new(t->view->layout) : NULL;
    t->whole = collected_new(true);
    t->interval = collected_new(true);
    return t->derive && t->whole && t->interval ? 0 : -ENOMEM;
}

// Opens the counters of the process that waits. Returns how many event groups count, or a negative errno; *refused is
// why none does.
static int open_counters(struct tasks *t, bool user_only, int *refused) {
    const struct source *source = t->setup->types[0].source;
    const struct source_tasks asked = {.pid = t->child.pid, .user_only = user_only};
    const struct snapshot_layout *layout = t->view->layout;
    struct pmu_linux_tasks *tasks;
    int r = source_count_tasks(source, &asked, &tasks);
    if (r == 0)
        r = task_counts_new(tasks, layout->plan, layout->topology, &t->counts);
    return r < 0 ? r : (int)task_counts_open(t->counts, refused);
}

// Where the kernel's work may not be counted, the command's own is.
static int open_what_may(struct tasks *t) {
    int refused = 0, r = open_counters(t, false, &refused);
    if (r == 0 && (refused == -EACCES || refused == -EPERM)) {
        task_counts_free(t->counts);
        t->counts = NULL;
        r = open_counters(t, true, &refused);
        if (r > 0)
            log_warning("the kernel's work for the command is not counted: that needs CAP_PERFMON, or "
                        "kernel.perf_event_paranoid at 1 or below");
    }
    if (r == 0) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(refused, 0, remedy, sizeof remedy);
        log_error("nothing can be counted: %s: %s", strerror(-refused), remedy);
    }
    return r;
}

// ---- reports ----

static double seconds_since(const struct tasks *t) { return (double)(clocks_now_ns() - t->begun_ns) * NS; }

static struct output_head head_of(const struct tasks *t) {
    return (struct output_head){.hostname = t->setup->hostname, .how = t->request->how};
}

// True if there was something to tell.
static bool tell(struct tasks *t, bool whole) {
    struct output *output = t->request->output;
    struct view *view;
    struct report report;
    struct snapshot *snapshot = collected_result(whole ? t->whole : t->interval, &view);
    if (!snapshot)
        return false;
    const struct output_head head = head_of(t);
    bool any = report_init(&report, view, snapshot, REPORT_HOST) == 0 &&
               report_name_command(&report, t->request->options->measure.command) == 0;
    report.from_seconds = whole ? 0 : t->interval_begun_seconds;
    report.to_seconds = seconds_since(t);
    if (any && whole)
        output_whole(output, &head, &report, 1);
    else if (any)
        output_interval(output, &head, &report);
    t->interval_begun_seconds = report.to_seconds;
    report_deinit(&report);
    snapshot_unref(snapshot);
    return any;
}

// ---- rounds ----

static int read_round(struct tasks *t) {
    const struct readings *readings = task_counts_read(t->counts);
    if (!readings)
        return 0;
    struct snapshot *snapshot = snapshot_new(t->view->layout);
    if (!snapshot)
        return -ENOMEM;
    derive_round(t->derive, readings, snapshot);
    int r = collected_take(t->whole, t->view, snapshot);
    if (r == 0)
        r = collected_take(t->interval, t->view, snapshot);
    snapshot_unref(snapshot);
    return r;
}

static uint64_t next_round_ns(const struct tasks *t) {
    double wanted = t->request->options->measure.interval_seconds;
    uint64_t round_ns = seconds_since(t) < LATER_SECONDS ? ROUND_NS : LATER_ROUND_NS;
    if (wanted > 0 && wanted / NS < (double)round_ns)
        round_ns = (uint64_t)(wanted / NS);
    return clocks_now_ns() + round_ns;
}

static void tell_what_is_due(struct tasks *t) {
    double wanted = t->request->options->measure.interval_seconds, seconds = seconds_since(t);
    if (wanted > 0 && seconds - t->interval_begun_seconds >= wanted && tell(t, false))
        collected_begin(t->interval);
    output_progress(t->request->output, seconds, t->request->options->measure.seconds);
}

// Ctrl-C reaches the command from the terminal by itself; all else is passed on.
static void pass_on(struct tasks *t) {
    struct stopper *stopper = t->request->stopper;
    if (stopper->signal != 0 && stopper->signal != SIGINT)
        task_command_signal(&t->child, stopper->signal);
    stopper->signal = 0;
}

static bool time_is_up(struct tasks *t) {
    double duration = t->request->options->measure.seconds;
    return task_command_is_over(&t->child) || (duration > 0 && seconds_since(t) >= duration);
}

static int measure_on(struct tasks *t) {
    double duration = t->request->options->measure.seconds;
    int r = 0;
    while (r == 0 && !time_is_up(t)) {
        uint64_t until_ns = next_round_ns(t), end_ns = t->begun_ns + (uint64_t)(duration / NS);
        if (duration > 0 && end_ns < until_ns)
            until_ns = end_ns;
        while (!task_command_is_over(&t->child) && stopper_wait(t->request->stopper, until_ns))
            pass_on(t);
        if (time_is_up(t))
            break;
        r = read_round(t);
        tell_what_is_due(t);
        if (t->request->tick)
            t->request->tick(t->request->context);
    }
    return r == 0 ? read_round(t) : r;
}

// What is told of a command comes after its end, or when the time is up.
static int wait_for_end(struct tasks *t) {
    if (t->request->options->measure.interval_seconds > 0)
        (void)tell(t, false); // the rest of the last interval
    if (!tell(t, true))
        log_warning("the command ran so shortly that nothing was counted");
    t->counts =
        task_counts_free(t->counts); // whoever counts next is not to share with a command that is only waited for
    while (!task_command_is_over(&t->child))
        if (stopper_wait(t->request->stopper, clocks_now_ns() + LATER_ROUND_NS))
            pass_on(t);
    return t->child.status;
}

static int start(struct tasks *t) {
    int r = task_command_begin(&t->child);
    if (r == 0)
        return 0;
    log_error("%s: cannot be started: %s", t->request->options->measure.command[0], strerror(-r));
    task_command_wait(&t->child);
    return r == -ENOENT ? TASK_COMMAND_NOT_FOUND : TASK_COMMAND_CANNOT_START;
}

static int run(struct tasks *t) {
    int r = open_what_may(t);
    if (r <= 0)
        return r < 0 ? r : EXIT_FAILURE;
    t->begun_ns = clocks_now_ns();
    r = start(t);
    if (r != 0)
        return r;
    r = measure_on(t);
    return r < 0 ? r : wait_for_end(t);
}

static void tasks_free(struct tasks *t) {
    task_command_deinit(&t->child);
    task_counts_free(t->counts);
    collected_free(t->interval);
    collected_free(t->whole);
    derive_free(t->derive);
    view_unref(t->view);
    load_free(t->setup);
    free(t);
}

int tasks_run(const struct session_request *request, struct errors *errors) {
    struct tasks *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->request = request;
    t->child = (struct task_command){.go = -1, .failed = -1};
    int r = quick_setup_new(request->options, errors, &t->setup);
    if (r == 0)
        r = make_parts(t, errors);
    if (r == 0)
        r = task_command_new(&t->child, request->options->measure.command, &request->stopper->before);
    if (r == 0)
        r = run(t);
    tasks_free(t);
    return r;
}
