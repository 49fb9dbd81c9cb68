// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_file.h"
#include "collectors/pmu/pmu_linux.h"
#include "daemon/base/log.h"
#include "daemon/source/source_vendor.h"

// ---- answers of the origin ----

int source_load(struct source *source, const struct plan_selection *selections, size_t n_selections,
                struct errors *errors) {
    return source->driver->load ? source->driver->load(source, selections, n_selections, errors) : 0;
}

int source_topology(struct source *source, const struct cpuset *selected, struct errors *errors,
                    struct topology **out) {
    return source->driver->topology(source, selected, errors, out);
}

int source_topology_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out) {
    return source->driver->topology_update ? source->driver->topology_update(source, selected, known, out) : 0;
}

void source_note_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected) {
    struct source *first = sources[0];
    char specs[SOURCE_TEXT_MAX / 2] = "";
    size_t n_other = first->driver->count_other_cores ? first->driver->count_other_cores(sources, n, selected) : 0;
    if (n_other == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(specs);
        (void)snprintf(specs + length, sizeof specs - length, "%s%s", i > 0 ? ", " : "",
                       sources[i]->catalog->product.spec);
    }
    source_note(first, first->pmu_name, "other_cores",
                "%zu CPU%s of another kind than those that are measured (spec %s), and left out", n_other,
                n_other == 1 ? " has a core" : "s have cores", specs);
    first->troubles.errors[first->troubles.n - 1].of_host = first->several;
}

void source_choose_guests(struct source *source, bool share) {
    if (source->driver->choose_guests)
        source->driver->choose_guests(source, share);
}

int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    return source->driver->pmu ? source->driver->pmu(source, now_ns, errors, out) : -EOPNOTSUPP;
}

size_t source_files(const struct source *source, const struct plan *plan, size_t n_cpus) {
    return source->driver->files ? source->driver->files(source, plan, n_cpus) : plan_n_opened(plan) * n_cpus;
}

int source_count_tasks(const struct source *source, const struct source_tasks *asked, struct pmu_linux_tasks **out) {
    return source->driver->tasks ? source->driver->tasks(source, asked, out) : -EOPNOTSUPP;
}

void source_describe(const struct source *source, char *out, size_t size) {
    out[0] = '\0';
    if (source->driver->describe)
        source->driver->describe(source, out, size);
}

struct source *source_free(struct source *source) {
    if (!source)
        return NULL;
    if (source->driver->deinit)
        source->driver->deinit(source);
    host_files_free(source->roots.kept);
    free(source->support);
    catalog_free(source->catalog);
    free(source); // the first member of the allocated struct
    return NULL;
}

// ---- troubles ----

void source_note(struct source *source, const char *pmu, const char *reason, const char *format, ...) {
    struct source_troubles *troubles = &source->troubles;
    va_list arguments;
    if (troubles->n == SOURCE_ERRORS_MAX)
        troubles->n--;
    va_start(arguments, format);
    char *text = troubles->texts[troubles->n];
    (void)vsnprintf(text, SOURCE_TEXT_MAX, format, arguments);
    va_end(arguments);
    troubles->errors[troubles->n++] = (struct view_pmu_error){.pmu = pmu, .reason = reason, .text = text};
}

enum { PMU_FIELDS = 4 };

static const struct log_field *pmu_fields(const struct source *source, const char *reason,
                                          struct log_field out[PMU_FIELDS]) {
    out[0] = (struct log_field){"CORE_TYPE", source->core_type};
    out[1] = (struct log_field){"PMU", source->pmu_name};
    out[2] = (struct log_field){"REASON", reason};
    out[3] = (struct log_field){NULL, NULL};
    return out;
}

void source_log_counters(const struct source *source, bool taken, const char *text) {
    struct log_field fields[PMU_FIELDS];
    log_event(taken ? LOG_EVENT_PMU_LOST : LOG_EVENT_PMU_BACK, taken ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
              pmu_fields(source, taken ? "counters_taken" : "", fields), "%s%s", source->prefix, text);
}

// The PMU's name as the beginning of a line, unless the prefix says it.
static const char *pmu_prefix(const struct source *source, char out[HOST_TEXT_MAX + 16]) {
    (void)snprintf(out, HOST_TEXT_MAX + 16, "%s: ", source->pmu_name);
    size_t length = strlen(out), all = strlen(source->prefix);
    bool said = all > length && strcmp(source->prefix + all - length, out) == 0;
    return said ? "" : out;
}

bool source_note_open_error(struct source *source, int error, size_t n_failed, size_t files) {
    struct source_troubles *troubles = &source->troubles;
    struct log_field fields[PMU_FIELDS];
    char name[HOST_TEXT_MAX + 16];
    if (error == troubles->open_error)
        return false;
    if (troubles->open_error != 0) {
        troubles->n--;
        log_event(LOG_EVENT_PMU_BACK, LOG_LEVEL_INFO, pmu_fields(source, "", fields),
                  "%s%sevent groups can be opened again", source->prefix, pmu_prefix(source, name));
        if (source->driver->allowed)
            source->driver->allowed(source);
    }
    troubles->open_error = error;
    if (error != 0) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(error, files, remedy, sizeof remedy);
        source_note(source, source->pmu_name, pmu_linux_reason(error), "%zu event group%s could not be opened (%s): %s",
                    n_failed, n_failed == 1 ? "" : "s", strerror(-error), remedy);
        log_event(LOG_EVENT_PMU_LOST, LOG_LEVEL_WARNING, pmu_fields(source, pmu_linux_reason(error), fields), "%s%s%s",
                  source->prefix, pmu_prefix(source, name), troubles->errors[troubles->n - 1].text);
    }
    return true;
}

// ---- counters ----

bool source_look_at_watchdog(struct source *source) {
    bool on = source->driver->watchdog_on ? source->driver->watchdog_on(source) : source->watchdog_on;
    if (on == source->watchdog_on)
        return false;
    source->watchdog_on = source->nmi_watchdog = on;
    log_info("%sthe kernel's NMI watchdog has been switched %s", source->prefix, on ? "on" : "off");
    return true;
}

const struct catalog_event *source_watchdog_event(const struct source *source) {
    const struct catalog *catalog = source->catalog;
    return source->watchdog_on && catalog->watchdog_event >= 0 ? &catalog->events[catalog->watchdog_event] : NULL;
}

void source_note_watchdog(struct source *source, bool holds) {
    if (holds == source->nmi_watchdog)
        return;
    source->nmi_watchdog = holds;
    if (holds)
        log_info("%sthe kernel's NMI watchdog holds a counter of every CPU: kernel.nmi_watchdog=0 gives it back",
                 source->prefix);
    else
        log_info("%sthe kernel's NMI watchdog is on and holds no counter (the buddy detector)", source->prefix);
}

static bool shares_watchdogs_counter(const struct catalog *catalog, size_t event) {
    return catalog->watchdog_event >= 0 && catalog->events[event].fixed &&
           catalog->events[event].need.fixed == catalog->events[catalog->watchdog_event].need.fixed;
}

// A probe does without an event whose fixed counter the watchdog may hold.
void source_choose_probe_events(const struct source *source, bool *usable) {
    bool watchdog = source->watchdog_on || source->nmi_watchdog;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        usable[e] = (source->support[e] == PLAN_SUPPORT_UNKNOWN || source->support[e] == PLAN_SUPPORTED) &&
                    !(watchdog && shares_watchdogs_counter(source->catalog, e));
}

bool source_watchdog_holds(const struct source *source, size_t event) {
    return source->nmi_watchdog && shares_watchdogs_counter(source->catalog, event);
}

// An event and its variants with modifiers share one counter.
unsigned source_fixed_counters(const struct source *source) {
    uint64_t fixed = 0;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        if (source->catalog->events[e].fixed && !source_watchdog_holds(source, e))
            fixed |= UINT64_C(1) << source->catalog->events[e].need.fixed;
    return (unsigned)__builtin_popcountll(fixed);
}

// ---- making ----

int source_make_support(struct source *source, enum plan_support support) {
    source->support = malloc(source->catalog->n_events);
    if (!source->support)
        return -ENOMEM;
    memset(source->support, (int)support, source->catalog->n_events);
    return 0;
}

int source_load_vendors(struct source *source, const struct source_request *request,
                        const struct source_vendors *vendors, struct errors *errors, struct catalog_builder **out) {
    char reason[SOURCE_TEXT_MAX];
    if (!request->vendor || !request->vendor->path)
        return 1;
    (void)snprintf(source->making.vendor_cpuid, sizeof source->making.vendor_cpuid, "%s", vendors->cpuid);
    source->making.vendor_pmu = vendors->pmu ? vendors->pmu : "";
    const struct vendor_request vendor = {.specs = request->vendor,
                                          .data = request->data,
                                          .cpuid = vendors->cpuid,
                                          .pmu = vendors->pmu,
                                          .environment = vendors->environment,
                                          .all_events = vendors->all_events,
                                          .all_warnings = request->options->all_warnings};
    int r = source_vendor_read(&vendor, errors, reason, sizeof reason, out);
    source->vendors = r == 0;
    if (r == 1)
        source_note(source, "cpu", "not_in_specs", "the vendor's files are not used: %s", reason);
    return r;
}

// ---- names ----

enum { NAME_SPEC, NAME_PMU, NAME_CPU, NAME_N };

static void type_name(const struct source *source, int kind, char *out, size_t size) {
    if (kind == NAME_SPEC && source->own_spec)
        (void)snprintf(out, size, "%s", source->own_spec);
    else if (kind == NAME_CPU)
        (void)snprintf(out, size, "%.100s_cpu%u", source->pmu_name, source->first_cpu);
    else
        (void)snprintf(out, size, "%s", source->pmu_name);
}

static bool is_unique(struct source *const *sources, size_t n, size_t i, int kind) {
    char name[HOST_TEXT_MAX], other[HOST_TEXT_MAX];
    bool unique = true;
    type_name(sources[i], kind, name, sizeof name);
    for (size_t j = 0; j < n && unique; j++) {
        type_name(sources[j], kind, other, sizeof other);
        unique = i == j || strcmp(name, other) != 0;
    }
    return unique;
}

void source_name_type(struct source *source, const char *name) {
    (void)snprintf(source->core_type, sizeof source->core_type, "%s", name);
    (void)snprintf(source->prefix, sizeof source->prefix, "core type %s: ", source->core_type);
}

void source_name_types(struct source *const *sources, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int kind = NAME_SPEC;
        while (kind + 1 < NAME_N && !is_unique(sources, n, i, kind))
            kind++;
        char name[HOST_TEXT_MAX];
        type_name(sources[i], kind, name, sizeof name);
        source_name_type(sources[i], name);
    }
}
