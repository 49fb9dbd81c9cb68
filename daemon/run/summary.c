// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "collectors/pmu/pmu.h"
#include "core/base/decimal.h"
#include "daemon/base/log.h"
#include "exporters/http/http.h"

enum { ROUND_SECONDS_EXPECTED = 60 }; // fits Prometheus' usual windows of five minutes: four rounds

static const uint64_t LOOK_US = 1000000;
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

bool summary_takes_turns(const struct plan *plan) {
    size_t needed = 0;
    for (size_t g = 0; g < plan->n_groups; g++)
        for (size_t e = 0; e < plan->groups[g].n_events; e++)
            needed += !plan->catalog->events[plan->groups[g].events[e]].fixed;
    unsigned counters = plan->catalog->general_counters; // 0: not stated
    return plan_n_rotating(plan) == 0 && plan->n_groups > 1 && counters > 0 && needed > counters;
}

static void describe_plan(const struct setup *setup, const struct core_type *type, const struct plan *plan, char *out,
                          size_t size) {
    char standing[64];
    size_t n = plannable(plan);
    const char *metrics = n == 1 ? "metric" : "metrics", *groups = plan->n_groups == 1 ? "group" : "groups";
    describe_standing(plan, standing, sizeof standing);
    if (plan_n_rotating(plan) == 0) {
        (void)snprintf(out, size, "%zu %s in %zu event %s that %s, read every %.0f s", n, metrics, plan->n_groups,
                       groups,
                       summary_takes_turns(plan) ? "take turns"
                       : plan->n_groups == 1     ? "is always on"
                                                 : "are always on",
                       (double)plan->round_ns * 1e-9);
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
static void show_files(const char *prefix, size_t files, const char *of_what) {
    char size[DECIMAL_SIZE_MAX];
    if (files > 0)
        (void)printf("%sneeds %zu file descriptors, one for each event and %s, and about %s of the kernel's "
                     "memory for them\n",
                     prefix, files, of_what, decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size));
}

static void warn_of_not_plannable(const struct source *source, const struct plan *plan) {
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (!plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary)
            log_warning("%smetric %s is not plannable: %s", source->prefix,
                        plan->catalog->metrics[plan->metrics[m].metric].export_name, plan->metrics[m].reason);
}

bool summary_joins(const struct core_type *type, const struct plan *plan) {
    return type->source->driver->files && summary_files_of(type, plan) != plan_n_opened(plan) * type->topology->n_cpus;
}

// "16 boxes on 2 sockets, spec imc-sapphire-rapids: 2 metrics in 1 event group that is always on ..."
void summary_describe_boxes(const struct setup *setup, const struct core_type *type, const struct plan *plan, char *out,
                            size_t size) {
    const struct topology *topology = type->topology;
    const struct catalog_product *product = &type->source->catalog->product;
    char text[SUMMARY_LINE_MAX];
    describe_plan(setup, type, plan, text, sizeof text);
    char boxes[64] = "all boxes"; // of several PMUs, added up by socket
    if (!summary_joins(type, plan))
        (void)snprintf(boxes, sizeof boxes, "%zu box%s", topology->n_cpus, topology->n_cpus == 1 ? "" : "es");
    (void)snprintf(out, size, "%s on %zu socket%s, %s%s: %s", boxes, topology->n_sockets,
                   topology->n_sockets == 1 ? "" : "s", product->chosen ? "events of uncore.pmus" : "spec ",
                   product->chosen ? "" : product->spec, text);
}

static void start_boxes(const struct view *view, const struct setup *setup, const struct core_type *type) {
    char text[SUMMARY_BOXES_MAX];
    summary_describe_boxes(setup, type, view->layout->plan, text, sizeof text);
    log_info("%s%s", type->source->prefix, text);
    for (size_t i = 0; i < type->source->troubles.n; i++)
        log_warning("%s%s", type->source->prefix, type->source->troubles.errors[i].text);
    warn_of_not_plannable(type->source, view->layout->plan);
}

static struct config_origin_text place_of(const struct setup *setup, const char *key) {
    return config_origin_text(config_place_of(setup->config, setup->profile, key));
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
              prefix, view->version, view->hostname ? view->hostname : "an unknown host",
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
    if (type->missing)
        log_warning("%s%sprofile %s: %s %s", prefix, place_of(setup, "groups").text, view->profile,
                    summary_cannot(source), type->missing);
    if (view->layout->plan->n_units == 0) {
        log_info("%sprofile %s: measuring nothing", prefix, view->profile);
    } else {
        describe_plan(setup, type, view->layout->plan, plan, sizeof plan);
        log_info("%sprofile %s: %s", prefix, view->profile, plan);
    }
    if (summary_describe_long_round(view->layout->plan, plan, sizeof plan))
        log_warning("%s%sprofile %s: %s", prefix, place_of(setup, "slot").text, view->profile, plan);
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

// True if a later snapshot of the type comes before the line is sent. A replay's may come at any time.
static bool is_replaced(const struct summary_host *host, const struct view *view, uint64_t now_us) {
    uint64_t interval_us = view->interval_ns / 1000;
    return host->n_types == 1 ? now_us < host->due_us : interval_us > 0 && now_us + 2 * interval_us < host->due_us;
}

void summary_take(struct summary_host *host, size_t type, const struct view *view, const struct snapshot *snapshot,
                  uint64_t now_us) {
    bool first = host->parts[type][0] == '\0';
    if (!first && is_replaced(host, view, now_us))
        return;
    summary_status(view, snapshot, host->parts[type], sizeof host->parts[type]);
    if (!first && now_us < host->due_us)
        return;
    host->due_us = now_us + STATUS_US;
    host->due = true;
}

// At the start the line says so already, and where all is well it says nothing of it.
static bool is_told(const struct health *health) {
    return health->reason != HEALTH_FINE && health->reason != HEALTH_STARTING;
}

void summary_take_health(struct summary_host *host, struct health health, const char *text) {
    bool changed = health.ready != host->health.ready || health.reason != host->health.reason;
    host->due = host->due || (changed && (is_told(&health) || is_told(&host->health)));
    host->health = health;
    (void)snprintf(host->trouble, sizeof host->trouble, "%s", text);
}

// Lines become sentences of one.
static size_t put_trouble(const struct summary_host *host, char *out, size_t size) {
    if (!is_told(&host->health))
        return 0;
    (void)snprintf(out, size, "%s: %s", host->health.ready ? "not all is counted" : "NOT READY", host->trouble);
    size_t length = strlen(out);
    length -= length > 0 && out[length - 1] == '\n';
    out[length] = '\0';
    for (char *end; (end = strchr(out, '\n'));)
        *end = ' ';
    return length;
}

void summary_host(const struct summary_host *host, char *out, size_t size) {
    out[0] = '\0';
    size_t length = put_trouble(host, out, size);
    for (size_t i = 0; i < host->n_types && length < size; i++)
        if (host->parts[i][0] != '\0')
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? "; " : "", host->parts[i]);
}

void summary_send(struct summary_host *host, const struct listening *listening, uint64_t now_us) {
    char line[SUMMARY_HOST_MAX], text[HEALTH_TEXT_MAX];
    if (now_us >= host->looked_us + LOOK_US) {
        host->looked_us = now_us;
        struct health health = http_server_health(listening_server(listening), text, sizeof text);
        summary_take_health(host, health, text);
    }
    if (!host->due)
        return;
    host->due = false;
    summary_host(host, line, sizeof line);
    listening_describe(listening, line, sizeof line);
    (void)sd_notifyf(0, "STATUS=%s", line);
}

void summary_tell_health(const struct listening *listening, struct text *out) {
    char text[HEALTH_TEXT_MAX], *rest = text;
    struct health health = http_server_health(listening_server(listening), text, sizeof text);
    text_format(out, "%s %s\n", health.ready ? "ready" : "not_ready", health_reason_name(health.reason));
    for (char *line; (line = strsep(&rest, "\n"));)
        if (line[0] != '\0')
            text_format(out, "because %s\n", line);
}

void summary_readers(const struct setup *setup, bool sockets, struct errors *warnings) {
    char text[ERROR_TEXT_MAX];
    if (setup_is_read(setup, sockets))
        return;
    (void)snprintf(text, sizeof text,
                   "%snobody can read what is measured: listen is none, and there is neither a text file nor a "
                   "recording",
                   place_of(setup, "listen").text);
    if (warnings)
        (void)errors_add(warnings, NULL, 0, 0, "%s", text);
    else
        log_warning("%s", text);
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
    const char *host = setup_shown_host(setup);
    (void)printf("%shost %s, spec %s: %s\n", prefix, host ? host : "unknown", source->catalog->product.spec, cpus);
    (void)printf("%sprofile %s: %s\n", prefix, setup_profile_name(setup),
                 plan->n_units == 0 ? "measures nothing" : text);
    if (!source->replayed)
        show_files(prefix, summary_files_of(type, plan), "CPU");
}

size_t summary_files_of(const struct core_type *type, const struct plan *plan) {
    return source_files(type->source, plan, type->topology->n_cpus);
}

void summary_boxes(const struct setup *setup, const struct core_type *type, const struct plan *plan) {
    char text[SUMMARY_BOXES_MAX];
    summary_describe_boxes(setup, type, plan, text, sizeof text);
    (void)printf("%s%s\n", type->source->prefix, text);
    if (!type->source->replayed)
        show_files(type->source->prefix, summary_files_of(type, plan), "box");
}

void summary_describe_unmeasured(const struct setup_unmeasured_kind *kind, char *out, size_t size) {
    (void)snprintf(out, size, "PMUs %s: %zu box%s, not measured: %s", kind->name, kind->n, kind->n == 1 ? "" : "es",
                   kind->why);
}
