// SPDX-License-Identifier: Apache-2.0
#include "daemon/verify/measured.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/diagnosis/bound.h"
#include "daemon/base/clocks.h"
#include "daemon/engine/engines.h"
#include "daemon/measure/collected.h"
#include "daemon/measure/quick_setup.h"
#include "daemon/report/report.h"
#include "daemon/run/load.h"

static const double SECOND_NS = 1e9;
static const uint64_t RECORDING_BYTES = UINT64_C(64) << 20;
static const double PATIENCE_SECONDS = 20; // until the first snapshot

struct session {
    const struct measured_request *request;
    struct measured *out;
    struct setup *setup;
    uint64_t virtual_ns; // of a simulated host
    struct clocks clocks;
    struct self self;
    struct engines engines; // the CPU's alone
    struct collected *collected;
    size_t taken;
    uint64_t begun_ns, first_ns;
    double first_iterations;
};

static uint64_t now_of(const struct session *s) { return s->clocks.monotonic_ns(s->clocks.context); }

static void wait_until(struct session *s, uint64_t until_ns) {
    uint64_t now_ns = now_of(s), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec pause = {.tv_sec = (time_t)(left_ns / 1000000000), .tv_nsec = (long)(left_ns % 1000000000)};
    if (s->out->simulated)
        s->virtual_ns += left_ns;
    else
        (void)nanosleep(&pause, NULL);
}

// ---- counts ----

static double iterations_of(const struct session *s) {
    return s->request->shared ? (double)atomic_load(&s->request->shared->iterations) : 0;
}

// The total in the snapshot; NaN: the plan does not have it.
static double total_of(const struct snapshot *snapshot, const struct measured_total *total) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t m = 0; m < layout->n_metrics; m++) {
        const struct catalog_metric *metric = &layout->catalog->metrics[layout->plan->metrics[m].metric];
        double k;
        if (strcmp(metric->export_name, total->metric) == 0 && catalog_metric_ratio(metric, &k))
            return snapshot
                ->values[total->denominator ? snapshot_denominator(layout, 0, m) : snapshot_numerator(layout, 0, m)];
    }
    return NAN;
}

// Snapshots come where rounds end, and so do the totals. The kernel's iterations are read at once.
static int take(size_t i, struct snapshot *snapshot, void *context) {
    struct session *s = context;
    struct measured *out = s->out;
    struct view *view = engines_view(&s->engines, i);
    if (snapshot->sequence == 0 || !view)
        return 0;
    double iterations = iterations_of(s);
    bool first = s->taken++ == 0;
    if (first) {
        s->first_ns = snapshot->end_ns;
        s->first_iterations = iterations;
    }
    for (struct measured_total *total = out->totals; total->metric; total++) {
        double now = total_of(snapshot, total);
        if (first)
            total->first = now;
        total->count = now - total->first;
    }
    out->iterations = iterations - s->first_iterations;
    out->seconds = (double)(snapshot->end_ns - s->first_ns) / SECOND_NS;
    if (first && s->request->begun)
        s->request->begun(s->request->options->measure.seconds, s->request->context);
    return first ? 0 : collected_take(s->collected, view, snapshot);
}

// ---- the verdict ----

static void fill_verdict(const struct report *report, struct measured *out) {
    for (size_t i = 0; i < report->tree->n; i++) {
        const struct tree_node *node = &report->tree->nodes[i];
        const char *name = report->tree->layout->catalog->metrics[node->metric].export_name;
        if (!node->category || node->depth > 0 || !isfinite(node->value) || out->n_level1 == MEASURED_LEVEL1_MAX)
            continue;
        struct measured_share *share = &out->level1[out->n_level1++];
        (void)snprintf(share->name, sizeof share->name, "%s", name);
        share->share = node->value;
    }
    if (verdict_high(report->verdict))
        (void)snprintf(out->bound, sizeof out->bound, "%s",
                       report->tree->layout->catalog->metrics[report->verdict->path[0]].export_name);
    if (out->n_level1 == 0)
        (void)snprintf(out->reason, sizeof out->reason, "%s", report_reason(report));
}

static int judge(struct session *s) {
    struct view *view;
    struct report report;
    struct snapshot *snapshot = collected_result(s->collected, &view);
    if (!snapshot)
        return -ETIME;
    int r = report_init(&report, view, snapshot, REPORT_HOST);
    if (r == 0)
        fill_verdict(&report, s->out);
    report_deinit(&report);
    snapshot_unref(snapshot);
    return r;
}

// ---- measuring ----

static bool is_over(const struct session *s) {
    double seconds = s->request->options->measure.seconds;
    return s->taken > 1 ? s->out->seconds >= seconds
                        : (double)(now_of(s) - s->begun_ns) / SECOND_NS > seconds + PATIENCE_SECONDS;
}

static int measure_on(struct session *s) {
    int r = 0;
    while (r >= 0 && !is_over(s)) {
        uint64_t next_ns;
        r = engines_step(&s->engines, &s->clocks, take, s, &next_ns);
        if (r >= 0)
            wait_until(s, next_ns);
    }
    return r < 0 ? r : s->taken > 1 ? 0 : -ETIME;
}

static int begin(struct session *s, struct errors *errors) {
    const struct source *source = s->setup->types[0].source;
    s->setup->record_path = s->request->recording;
    s->setup->record_bytes = RECORDING_BYTES;
    s->out->simulated = source->simulated;
    s->out->counters = source->takes_counters;
    s->virtual_ns = (uint64_t)SECOND_NS;
    s->clocks = source->simulated ? clocks_virtual(&s->virtual_ns) : clocks_kernel;
    s->collected = collected_new(false);
    if (!s->collected)
        return -ENOMEM;
    s->begun_ns = now_of(s);
    self_init(&s->self, &s->clocks, setup_n_cpus(s->setup), s->begun_ns);
    int r = engine_new(s->setup, &s->setup->types[0], &s->self, NULL, NULL, s->begun_ns, errors, &s->engines.of[0]);
    s->engines.n = r == 0;
    return r;
}

int measured_take(const struct measured_request *request, struct measured *out, struct errors *errors) {
    struct options options = *request->options;
    struct session s = {.request = request, .out = out};
    options.measure.cpus = request->cpu;
    int r = quick_setup_new(&options, errors, &s.setup);
    if (r < 0)
        return r;
    r = begin(&s, errors);
    if (r >= 0)
        r = measure_on(&s);
    if (r >= 0)
        r = judge(&s);
    engines_deinit(&s.engines);
    collected_free(s.collected);
    load_free(s.setup);
    return r < 0 ? r : 0;
}
