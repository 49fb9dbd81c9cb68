// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/pmu/pmu.h"
#include "core/base/decimal.h"
#include "daemon/base/log.h"
#include "daemon/base/log_event.h"

enum { ROUND_SECONDS_EXPECTED = 60 }; // fits Prometheus' usual windows of five minutes: four rounds

static const uint64_t STATUS_US = 10000000; // systemd tells everybody on its bus of each new status

static size_t plannable(const struct plan *plan) {
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        n += plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary;
    return n;
}

// "64 CPUs on 2 sockets (6 general counters and 1 fixed)"
static void describe_cpus(const struct core_type *type, unsigned counters, char *out, size_t size) {
    const struct topology *topology = type->topology;
    int length = snprintf(out, size, "%zu CPU%s on %zu socket%s", topology->n_cpus, topology->n_cpus == 1 ? "" : "s",
                          topology->n_sockets, topology->n_sockets == 1 ? "" : "s");
    if (length > 0 && counters > 0)
        (void)snprintf(out + length, size - (size_t)length, " with %u general and %u fixed counters each", counters,
                       source_fixed_counters(type->source));
    else if (length > 0 && !type->source->replayed) // a log does not say how many counters there were
        (void)snprintf(out + length, size - (size_t)length, "; software events take no counters");
}

// ", of which 1 is always on"
static void describe_standing(const struct plan *plan, char *out, size_t size) {
    size_t rotating = plan_n_rotating(plan), standing = plan->n_groups - rotating;
    out[0] = '\0';
    if (standing > 0)
        (void)snprintf(out, size, ", of which %zu %s always on", standing, standing == 1 ? "is" : "are");
}

static void describe_plan(const struct setup *setup, const struct core_type *type, const struct plan *plan, char *out,
                          size_t size) {
    char standing[64];
    size_t n = plannable(plan);
    const char *metrics = n == 1 ? "metric" : "metrics", *groups = plan->n_groups == 1 ? "group" : "groups";
    describe_standing(plan, standing, sizeof standing);
    if (plan_n_rotating(plan) == 0) {
        (void)snprintf(out, size, "%zu %s in %zu event %s that %s always on, read every %.0f s", n, metrics,
                       plan->n_groups, groups, plan->n_groups == 1 ? "is" : "are", (double)plan->round_ns * 1e-9);
        return;
    }
    (void)snprintf(
        out, size, "%zu %s in %zu event %s%s; a round takes %.2f s in slots of %.0f ms, %.0f %% of it idle%s", n,
        metrics, plan->n_groups, groups, standing, (double)plan->round_ns * 1e-9, (double)plan->slot_ns * 1e-6,
        (double)plan->idle_ns / (double)plan->round_ns * 100,
        setup_adaptive(setup, type) ? "; adaptive: it may take twice as long while the bottleneck gets more of it"
                                    : "");
}

bool summary_describe_long_round(const struct plan *plan, char *out, size_t size) {
    double seconds = (double)plan->round_ns * 1e-9;
    if (seconds <= ROUND_SECONDS_EXPECTED)
        return false;
    (void)snprintf(out, size,
                   "a round takes %.0f s: values are as old, and rate() in PromQL needs windows of four rounds, %.0f "
                   "min; for shorter ones make slot or idle smaller, or name fewer groups",
                   seconds, seconds * 4 / 60);
    return true;
}

const char *summary_cannot(const struct source *source) {
    return source->replayed ? "the log's spec does not have" : "this host cannot measure";
}

// Each event of each CPU is a file of its own.
static void show_files(const char *prefix, const struct plan *plan, size_t n_cpus) {
    size_t files = plan_n_opened(plan) * n_cpus;
    char size[DECIMAL_SIZE_MAX];
    if (files > 0)
        (void)printf("%sneeds %zu file descriptors, one for each event and CPU, and about %s of the kernel's "
                     "memory for them\n",
                     prefix, files, decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size));
}

static void warn_of_not_plannable(const struct source *source, const struct plan *plan) {
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (!plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary)
            log_warning("%smetric %s is not plannable: %s", source->prefix,
                        plan->catalog->metrics[plan->metrics[m].metric].export_name, plan->metrics[m].reason);
}

// "PMUs imc: 16 boxes on 2 sockets, spec imc-sapphire-rapids: 2 metrics in 1 event group that is always on ..."
static void start_boxes(const struct view *view, const struct setup *setup, const struct core_type *type) {
    const struct topology *topology = type->topology;
    char plan[SUMMARY_LINE_MAX];
    describe_plan(setup, type, view->layout->plan, plan, sizeof plan);
    log_info("%s%zu box%s on %zu socket%s, spec %s: %s", type->source->prefix, topology->n_cpus,
             topology->n_cpus == 1 ? "" : "es", topology->n_sockets, topology->n_sockets == 1 ? "" : "s",
             type->source->catalog->product.spec, plan);
    for (size_t i = 0; i < type->source->troubles.n; i++)
        log_warning("%s%s", type->source->prefix, type->source->troubles.errors[i].text);
    warn_of_not_plannable(type->source, view->layout->plan);
}

void summary_start(const struct view *view, const struct setup *setup, const struct core_type *type, bool starts) {
    const struct source *source = type->source;
    const char *prefix = source->prefix;
    char cpus[SUMMARY_LINE_MAX], plan[SUMMARY_LINE_MAX];
    if (type->topology->boxes) {
        start_boxes(view, setup, type);
        return;
    }
    describe_cpus(type, view->layout->plan->general_counters, cpus, sizeof cpus);
    const struct log_field fields[] = {{"CORE_TYPE", source->core_type},
                                       {"VERSION", view->version},
                                       {"SPEC", source->catalog->product.spec},
                                       {"PROFILE", view->profile},
                                       {"CONFIG", setup->config->n_files > 0 ? setup->config->files[0] : NULL},
                                       {NULL, NULL}};
    log_event(starts ? LOG_EVENT_START : LOG_EVENT_NONE, LOG_LEVEL_INFO, fields, "%stopdownd %s on %s: %s%s, spec %s",
              prefix, view->version, view->hostname,
              view->replayed    ? "REPLAY of "
              : view->simulated ? "SIMULATED host, "
                                : "",
              cpus, source->catalog->product.spec);
    for (size_t i = 0; i < source->troubles.n; i++) {
        const struct view_pmu_error *error = &source->troubles.errors[i];
        if (error->uncore)
            log_info("%s", error->text);
        else
            log_warning("%s%s: %s", error->of_host ? "" : prefix, error->pmu, error->text);
    }
    if (type->missing[0] != '\0')
        log_warning("%sprofile %s: %s %s", prefix, view->profile, summary_cannot(source), type->missing);
    if (view->layout->plan->n_units == 0) {
        log_info("%sprofile %s: measuring nothing", prefix, view->profile);
    } else {
        describe_plan(setup, type, view->layout->plan, plan, sizeof plan);
        log_info("%sprofile %s: %s", prefix, view->profile, plan);
    }
    if (summary_describe_long_round(view->layout->plan, plan, sizeof plan))
        log_warning("%sprofile %s: %s", prefix, view->profile, plan);
    if (view->layout->plan->reserved_counters > 0)
        log_info("%s%u of %u general counters are left to others", prefix, view->layout->plan->reserved_counters,
                 view->layout->plan->general_counters);
    if (source->exclude_guest)
        log_info("%sthis host can run guests of KVM: what they do is not counted (guests: share counts it)", prefix);
    if (view_composite(view))
        log_info("%slevel 1 is a composite: too few counters for one window, so its parts come from adjacent ones",
                 prefix);
    warn_of_not_plannable(source, view->layout->plan);
}

void summary_status(const struct view *view, const struct snapshot *snapshot, char *out, size_t size) {
    const struct snapshot_layout *layout = view->layout;
    size_t length = (size_t)snprintf(out, size, "%s%s%ssnapshot %llu on %zu CPU%s",
                                     view->core_type ? view->core_type : "", view->core_type ? ": " : "",
                                     view->replayed    ? "REPLAY, "
                                     : view->simulated ? "SIMULATED, "
                                                       : "",
                                     (unsigned long long)snapshot->sequence, layout->topology->n_cpus,
                                     layout->topology->n_cpus == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t m = 0; m < layout->n_metrics && length < size; m++) {
        const struct catalog_metric *metric = &layout->catalog->metrics[layout->plan->metrics[m].metric];
        double value = snapshot->values[snapshot_metric(layout, 0, m)];
        if (metric->domain != METRIC_PIPELINE_SLOTS || isnan(value) || layout->plan->metrics[m].auxiliary)
            continue;
        length += (size_t)snprintf(out + length, size - length, "%s%s %.0f %%", separator, metric->name, value * 100);
        separator = ", ";
    }
}

bool summary_take(struct summary_host *host, size_t type, const struct view *view, const struct snapshot *snapshot,
                  uint64_t now_us) {
    bool first = host->parts[type][0] == '\0';
    summary_status(view, snapshot, host->parts[type], sizeof host->parts[type]);
    if (!first && now_us < host->due_us)
        return false;
    host->due_us = now_us + STATUS_US;
    return true;
}

void summary_host(const struct summary_host *host, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < host->n_types && length < size; i++)
        if (host->parts[i][0] != '\0')
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? "; " : "", host->parts[i]);
}

void summary_readers(const struct setup *setup, bool sockets) {
    if (setup->config->n_listen == 0 && !sockets && !setup->textfile.folder && !setup->record_path)
        log_warning("nobody can read what is measured: listen is none, and there is neither a text file nor a "
                    "recording");
}

void summary_files(const struct setup *setup) {
    for (size_t i = 0; i < setup->config->n_files; i++)
        (void)printf("%s: no mistakes\n", setup->config->files[i]);
}

void summary_config(const struct setup *setup, const struct core_type *type, const struct plan *plan) {
    const struct source *source = type->source;
    const char *prefix = source->prefix;
    char cpus[SUMMARY_LINE_MAX], text[SUMMARY_LINE_MAX], origin[DATA_PATH_MAX + SUMMARY_LINE_MAX];
    describe_cpus(type, plan->general_counters, cpus, sizeof cpus);
    describe_plan(setup, type, plan, text, sizeof text);
    source_describe(source, origin, sizeof origin);
    if (origin[0] != '\0')
        (void)printf("%s\n", origin);
    (void)printf("%shost %s, spec %s: %s\n", prefix, setup->hostname, source->catalog->product.spec, cpus);
    (void)printf("%sprofile %s: %s\n", prefix, setup_profile_name(setup),
                 plan->n_units == 0 ? "measures nothing" : text);
    if (!source->replayed)
        show_files(prefix, plan, type->topology->n_cpus);
}
