// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/next.h"
#include "core/plan/plan_possible.h"
#include "daemon/base/log.h"
#include "daemon/engine/engines.h"
#include "daemon/engine/newest.h"
#include "daemon/measure/collected.h"
#include "daemon/measure/quick_setup.h"
#include "daemon/run/load.h"
#include "daemon/run/reload.h"

static const double NS = 1e-9;
static const uint64_t TICK_NS = UINT64_C(1000000000);
static const double FIRST_LOOK = 0.25, LAST_LOOK = 0.7; // share of the duration, between which the plan may grow
enum { DEEPER_MAX = 3, ROUNDS_TO_JUDGE = 2 };
static const double COSTS_MORE = 10; // than what runs all year may

struct session {
    const struct session_request *request;
    struct setup *setup;
    bool simulated;
    uint64_t virtual_ns; // of a simulated host
    struct clocks clocks;
    struct self self;
    struct engines engines;
    struct newest newest; // what they told last, for counts that one has from another
    struct collected *whole[SETUP_TYPES_MAX], *interval[SETUP_TYPES_MAX];
    size_t taken[SETUP_TYPES_MAX]; // snapshots since the last change of plan
    struct span_ns {
        uint64_t start_ns, end_ns;
    } last[SETUP_TYPES_MAX];   // of the last snapshot
    uint64_t begun_ns, end_ns; // begun_ns 0: a type has no plan yet
    double interval_begun_seconds[SETUP_TYPES_MAX];
    unsigned deeper;
    struct text groups;
    struct errors *errors;
};

// ---- time ----

static uint64_t now_of(const struct session *s) { return s->clocks.monotonic_ns(s->clocks.context); }

// True if a signal asks for the end.
static bool wait_until(struct session *s, uint64_t until_ns) {
    if (!s->simulated) {
        (void)stopper_wait(s->request->stopper, until_ns);
    } else {
        s->virtual_ns = until_ns > s->virtual_ns ? until_ns : s->virtual_ns;
        (void)stopper_wait(s->request->stopper, 0);
    }
    return s->request->stopper->signal != 0;
}

// ---- reports ----

static bool tells_memory(const struct catalog *catalog) {
    bool tells = false;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        tells = tells || (catalog->metrics[m].traffic >= TRAFFIC_MEMORY_READ &&
                          catalog->metrics[m].traffic <= TRAFFIC_MEMORY_ALL);
    return tells;
}

static struct output_head head_of(const struct session *s) {
    struct output_head head = {
        .hostname = s->setup->hostname, .how = s->request->how, .simulated = s->simulated, .n_memory = 0};
    for (size_t i = s->setup->n_types; i < s->engines.n; i++)
        head.n_memory += tells_memory(s->setup->types[i].source->catalog);
    return head;
}

// The result of a type so far; false if there is none. The caller frees both.
static bool make_report(struct session *s, const struct collected *collected, struct snapshot **snapshot,
                        struct report *report) {
    struct view *view;
    *snapshot = collected_result(collected, &view);
    if (!*snapshot)
        return false;
    if (report_init(report, view, *snapshot, s->request->output->finest) == 0)
        return true;
    report_deinit(report);
    *snapshot = snapshot_unref(*snapshot);
    return false;
}

static double seconds_since(const struct session *s, uint64_t ns) {
    return ns > s->begun_ns ? (double)(ns - s->begun_ns) * NS : 0;
}

// A snapshot comes at the edge of a slot: one that is a bit early is in time.
static bool interval_is_over(const struct session *s, size_t i, const struct snapshot *snapshot) {
    double wanted = s->request->options->measure.interval_seconds,
           span = (double)(snapshot->end_ns - snapshot->start_ns) * NS;
    return wanted > 0 && seconds_since(s, snapshot->end_ns) - s->interval_begun_seconds[i] >= wanted - span / 4;
}

static void tell_interval(struct session *s, size_t i, const struct snapshot *last) {
    double seconds = seconds_since(s, last->end_ns);
    struct snapshot *snapshot;
    struct report report;
    if (!interval_is_over(s, i, last) || !make_report(s, s->interval[i], &snapshot, &report))
        return;
    const struct output_head head = head_of(s);
    bool any = report_has_values(&report); // else it goes on: a change of plan may take a whole interval
    report.from_seconds = seconds_since(s, snapshot->start_ns); // what lies before was not measured
    report.to_seconds = seconds;
    if (any)
        output_interval(s->request->output, &head, &report);
    report_deinit(&report);
    snapshot_unref(snapshot);
    if (!any)
        return;
    s->interval_begun_seconds[i] = seconds;
    collected_begin(s->interval[i]);
}

// ---- the plan grows ----

// True if a metric of the group is not in the plan and can be.
static bool adds(const struct plan *plan, const struct catalog_group *group) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (plan->place[group->metrics[i]] < 0 && plan_metric_possible(plan, group->metrics[i]))
            return true;
    return false;
}

// Adds what the path of one core type leads to. True if there is something new.
static bool add_next(const struct report *report, struct text *out) {
    const struct catalog *catalog = report->view->layout->catalog;
    unsigned groups[NEXT_GROUPS_MAX];
    bool found = false;
    if (!verdict_high(report->verdict))
        return false;
    size_t n = next_groups(report->view->layout->plan, (unsigned)verdict_metric(report->verdict), groups);
    for (size_t i = 0; i < n; i++) {
        const struct catalog_group *group = &catalog->groups[groups[i]];
        if (!adds(report->view->layout->plan, group))
            continue;
        text_format(out, ",%s", group->name);
        found = true;
    }
    return found;
}

// Appends ",GROUP" for each metric group that the dominant paths lead to and that is not measured yet. False: none.
static bool add_next_groups(const struct report *reports, size_t n, struct text *out) {
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = add_next(&reports[i], out) || found;
    return found;
}

static bool is_time_to_look(const struct session *s, uint64_t now_ns) {
    double share = (double)(now_ns - s->begun_ns) / (double)(s->end_ns - s->begun_ns);
    bool ready = s->deeper < DEEPER_MAX && share > FIRST_LOOK && share < LAST_LOOK;
    for (size_t i = 0; i < s->engines.n && ready; i++)
        ready = s->taken[i] >= ROUNDS_TO_JUDGE;
    return ready && !s->request->options->measure.groups;
}

// Goes on with the groups that the results so far lead to. If that fails, measuring goes on as it was.
static int change_plan(struct session *s, uint64_t now_ns) {
    struct options options = *s->request->options;
    struct errors errors = {0};
    struct reload reload = {.next = NULL};
    options.measure.groups = s->groups.data;
    int r = quick_setup_new(&options, &errors, &reload.next);
    if (r == 0)
        r = load_compare(s->setup, reload.next, &errors);
    if (r < 0 || !load_same_kinds(s->setup, reload.next)) {
        reload_deinit(&reload);
        return r == -ENOMEM ? r : 0;
    }
    const struct reload_engines present = {s->setup, &s->self, NULL, &s->engines};
    r = reload_prepare(&reload, &present, now_ns, &errors);
    if (r < 0) {
        reload_deinit(&reload);
        return r == -ENOMEM ? r : 0;
    }
    r = reload_change(&reload, &s->engines, now_ns, &s->setup);
    memset(s->taken, 0, sizeof s->taken);
    return r;
}

static int look_deeper(struct session *s, uint64_t now_ns) {
    struct report reports[SETUP_TYPES_MAX];
    struct snapshot *snapshots[SETUP_TYPES_MAX];
    size_t n = 0;
    while (n < s->engines.n && make_report(s, s->whole[n], &snapshots[n], &reports[n]))
        n++;
    if (s->groups.length == 0)
        quick_setup_groups(s->setup, &s->groups);
    else
        s->groups.length--; // its end
    bool found = n == s->engines.n && add_next_groups(reports, n, &s->groups);
    text_append(&s->groups, "", 1);
    for (size_t i = 0; i < n; i++) {
        report_deinit(&reports[i]);
        snapshot_unref(snapshots[i]);
    }
    s->deeper++;
    if (s->groups.failed)
        return -ENOMEM;
    return found ? change_plan(s, now_ns) : 0;
}

// ---- steps ----

static int take(size_t i, struct snapshot *snapshot, void *context) {
    struct session *s = context;
    struct view *view = engines_view(&s->engines, i);
    newest_put(&s->newest, i, view, snapshot);
    if (snapshot->sequence == 0 || !view)
        return 0;
    int r = collected_take(s->whole[i], view, snapshot);
    if (r == 0)
        r = collected_take(s->interval[i], view, snapshot);
    if (r == 0)
        tell_interval(s, i, snapshot);
    s->taken[i]++;
    s->last[i] = (struct span_ns){snapshot->start_ns, snapshot->end_ns};
    return r;
}

static int step_due(struct session *s, uint64_t *next_ns) {
    int r = engines_step(&s->engines, &s->clocks, take, s, next_ns);
    if (s->begun_ns == 0 && engines_have_plans(&s->engines)) {
        double seconds = s->request->options->measure.seconds;
        s->begun_ns = now_of(s);
        s->end_ns = s->begun_ns + (uint64_t)((seconds > 0 ? seconds : SESSION_SECONDS) / NS);
    }
    return r;
}

// True if its next snapshot ends nearly as soon as the measurement does.
static bool is_ending(const struct session *s, size_t i, uint64_t now_ns) {
    uint64_t span_ns = s->last[i].end_ns - s->last[i].start_ns;
    return s->last[i].end_ns + span_ns < s->end_ns + span_ns / 2 && now_ns < s->end_ns + span_ns;
}

// The last snapshot comes near the end, not just at it.
static bool is_over(const struct session *s, uint64_t now_ns) {
    if (s->begun_ns == 0 || now_ns < s->end_ns)
        return false;
    bool complete = true;
    for (size_t i = 0; i < s->engines.n; i++) {
        struct view *view = engines_view(&s->engines, i);
        uint64_t patience_ns = view ? view->layout->plan->round_ns + view->interval_ns : 0;
        complete = complete && ((s->taken[i] > 0 && !is_ending(s, i, now_ns)) || now_ns > s->end_ns + patience_ns);
    }
    return complete;
}

static int measure_on(struct session *s) {
    bool stopped = false;
    int r = 0;
    while (r >= 0 && !stopped) {
        uint64_t next_ns;
        r = step_due(s, &next_ns);
        uint64_t now_ns = now_of(s);
        if (r < 0 || is_over(s, now_ns))
            break;
        if (s->begun_ns > 0 && is_time_to_look(s, now_ns))
            r = look_deeper(s, now_ns);
        if (s->request->tick)
            s->request->tick(s->request->context);
        if (s->begun_ns > 0 && !s->simulated)
            output_progress(s->request->output, seconds_since(s, now_ns), (double)(s->end_ns - s->begun_ns) * NS);
        uint64_t at_most_ns = now_ns + TICK_NS;
        if (s->begun_ns > 0 && s->end_ns > now_ns && s->end_ns < at_most_ns)
            at_most_ns = s->end_ns;
        stopped = wait_until(s, next_ns < at_most_ns ? next_ns : at_most_ns);
    }
    return r;
}

// ---- the whole ----

static int tell_whole(struct session *s) {
    struct report reports[SETUP_TYPES_MAX];
    struct snapshot *snapshots[SETUP_TYPES_MAX];
    size_t n = 0;
    bool any = false;
    const struct output_head head = head_of(s);
    for (size_t i = 0; i < s->engines.n; i++) {
        if (!make_report(s, s->whole[i], &snapshots[n], &reports[n]))
            continue;
        reports[n].to_seconds = seconds_since(s, snapshots[n]->end_ns);
        any = any || report_has_values(&reports[n]);
        n++;
    }
    if (any && report_tell_memory(reports, n) == 0)
        output_whole(s->request->output, &head, reports, n);
    else if (n > 0)
        log_error("nothing could be measured: %s", report_reason(&reports[0]));
    else
        log_error("nothing was measured: it ended before the first round did; measure longer");
    while (n > 0) {
        n--;
        report_deinit(&reports[n]);
        snapshot_unref(snapshots[n]);
    }
    return any ? 0 : 1;
}

static int begin(struct session *s) {
    s->simulated = s->setup->types[0].source->simulated;
    s->clocks = s->simulated ? clocks_virtual(&s->virtual_ns) : clocks_kernel;
    s->virtual_ns = (uint64_t)(1 / NS);
    self_init(&s->self, &s->clocks, setup_n_cpus(s->setup), now_of(s));
    s->self.budget.allowed *= COSTS_MORE;
    int r = engines_init(&s->engines, s->setup, &s->self, &s->newest.shown, now_of(s), s->errors);
    for (size_t i = 0; i < s->engines.n; i++) {
        s->whole[i] = collected_new(false);
        s->interval[i] = collected_new(false);
        if (!s->whole[i] || !s->interval[i])
            return -ENOMEM;
    }
    return r;
}

static void end(struct session *s) {
    for (size_t i = 0; i < s->engines.n; i++) {
        collected_free(s->interval[i]);
        collected_free(s->whole[i]);
    }
    engines_deinit(&s->engines);
    newest_deinit(&s->newest);
    text_free(&s->groups);
    load_free(s->setup);
    free(s);
}

int session_run(const struct session_request *request, struct errors *errors) {
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->request = request;
    s->errors = errors;
    int r = quick_setup_new(request->options, errors, &s->setup);
    if (r >= 0)
        r = begin(s);
    if (r >= 0)
        r = measure_on(s);
    if (r >= 0)
        r = tell_whole(s);
    end(s);
    return r;
}
