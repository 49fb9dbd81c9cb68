// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/collect/collect.h"
#include "collectors/pmu/pmu_linux.h"
#include "config/spec/spec_json.h"
#include "core/plan/schedule.h"

enum { SKIPPED = 77, SEED = 7 };

void collect_fail(const char *what, int error) {
    (void)fprintf(stderr, "bench_collect: %s: %s\n", what, strerror(-error));
    exit(EXIT_FAILURE);
}

double collect_cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void rig_init(struct rig *rig, const char *spec, struct topology *topology) {
    static const char *const names[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    static struct errors errors; // far too large for a stack
    struct plan_selection selections[sizeof names / sizeof *names];
    size_t n = 0;
    if (spec_json_load(spec, NULL, &errors, &rig->catalog) < 0)
        collect_fail(spec, -EINVAL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int group = catalog_find_group(rig->catalog, names[i]);
        if (group >= 0)
            selections[n++] = (struct plan_selection){.group = (unsigned)group};
    }
    const struct plan_request request = {.catalog = rig->catalog,
                                         .general_counters = rig->catalog->general_counters,
                                         .selections = selections,
                                         .n_selections = n,
                                         .slot_ns = COLLECT_SLOT_NS,
                                         .idle = 0.1};
    int r = plan_new(&request, &rig->plan);
    if (r < 0)
        collect_fail("plan", r);
    rig->topology = topology;
    rig->layout = snapshot_layout_new(rig->plan, topology);
    if (!rig->layout)
        collect_fail("layout", -ENOMEM);
}

void rig_deinit(struct rig *rig) {
    snapshot_layout_unref(rig->layout);
    catalog_free(rig->catalog);
}

// ---- ours ----

static void check_open(const struct sampler *sampler) {
    size_t n_failed;
    int r = sampler_open_error(sampler, &n_failed);
    if (r == -EACCES || r == -EPERM) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(r, 0, remedy, sizeof remedy);
        (void)printf("skipped: %s\n", remedy);
        exit(SKIPPED);
    }
    if (r < 0)
        collect_fail("opening event groups", r);
}

void ours_init(struct ours *ours, const struct rig *rig, struct pmu *pmu) {
    *ours = (struct ours){.rig = rig, .derive = derive_new(rig->layout), .now_ns = 1};
    const struct sampler_request request = {
        .plan = rig->plan, .topology = rig->topology, .pmu = pmu, .interval_ns = PLAN_INTERVAL_NS, .seed = SEED};
    int r = sampler_new(&request, &ours->sampler);
    if (r < 0 || !ours->derive)
        collect_fail("sampler", -ENOMEM);
    do
        (void)sampler_step(ours->sampler, ours->now_ns, &ours->now_ns);
    while (sampler_is_opening(ours->sampler));
    if (!rig->refused)
        check_open(ours->sampler);
}

bool ours_step(struct ours *ours) {
    if (sampler_step(ours->sampler, ours->now_ns, &ours->now_ns) == 0)
        return false;
    double begin = ours->derive_seconds ? collect_cpu_seconds() : 0;
    derive_want_cpus(ours->derive, ours->rig->cpus_read);
    struct snapshot *snapshot = snapshot_new(ours->rig->layout);
    derive_round(ours->derive, sampler_readings(ours->sampler), snapshot);
    snapshot_unref(ours->kept);
    ours->kept = ours->keeps ? snapshot_ref(snapshot) : NULL;
    snapshot_unref(snapshot);
    if (ours->derive_seconds)
        *ours->derive_seconds = collect_cpu_seconds() - begin;
    return true;
}

void ours_deinit(struct ours *ours) {
    if (sampler_round_error(ours->sampler) < 0 && !ours->rig->refused)
        collect_fail("collecting", sampler_round_error(ours->sampler));
    snapshot_unref(ours->kept);
    derive_free(ours->derive);
    sampler_free(ours->sampler);
}

// ---- costs ----

void costs_init(struct costs *costs, size_t n) {
    *costs = (struct costs){calloc(n, sizeof(double)), calloc(n, sizeof(double)), calloc(n, sizeof(double)),
                            calloc(n, sizeof(double)), n};
    if (!costs->ours || !costs->peer || !costs->derive || !costs->diagnosis)
        collect_fail("costs", -ENOMEM);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double costs_median(double *seconds, size_t n) {
    qsort(seconds, n, sizeof *seconds, compare);
    return seconds[n / 2];
}

double costs_least(const double *seconds, size_t n) {
    double least = seconds[0];
    for (size_t i = 1; i < n; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return least;
}

void costs_free(struct costs *costs) {
    free(costs->ours);
    free(costs->peer);
    free(costs->derive);
    free(costs->diagnosis);
}
