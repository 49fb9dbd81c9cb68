// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/name.h"
#include "core/spec/base_unit.h"
#include "core/spec/catalog_entry.h"
#include "core/spec/kernel_pmu.h"

const char *category_name(enum category category) {
    static const char *const names[CATEGORY_N] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound",
                                                  "smt_contention"};
    return names[category];
}

const char *catalog_thread_slots_name(enum catalog_thread_slots slots) {
    static const char *const names[THREAD_SLOTS_N] = {"pipeline_slots", "used", "frontend_bound", "backend_bound"};
    return names[slots];
}

const char *catalog_core_slots_name(enum catalog_core_slots slots) {
    static const char *const names[CORE_SLOTS_N] = {"core_slots", "core_slots.frontend_bound",
                                                    "core_slots.backend_bound"};
    return names[slots];
}

const char *catalog_waits_name(enum catalog_waits waits) {
    static const char *const names[WAITS_N] = {"",       "back_end", "memory", "dram", "dram_bandwidth", "dram_latency",
                                               "nothing"};
    return names[waits];
}

bool catalog_is_special_name(const char *name) {
    bool special = strcasecmp(name, "duration_time") == 0;
    for (int i = 0; i < CORE_SLOTS_N; i++)
        special = special || strcasecmp(name, catalog_core_slots_name((enum catalog_core_slots)i)) == 0;
    return special;
}

int catalog_find_event(const struct catalog *catalog, const char *name) {
    return name_index_find(&catalog->names.events, name, strlen(name), false);
}

int catalog_find_event_any_case(const struct catalog *catalog, const char *name, size_t length) {
    return name_index_find(&catalog->names.events, name, length, true);
}

int catalog_find_metric(const struct catalog *catalog, const char *name) {
    return name_index_find(&catalog->names.metrics, name, strlen(name), false);
}

unsigned catalog_metric_here(const struct catalog *catalog, unsigned metric) {
    const struct catalog_level1 *level1 = &catalog->level1;
    for (size_t i = 0; i < level1->n_replaced; i++)
        if (level1->replaced[i].metric == metric)
            return level1->replaced[i].by;
    return metric;
}

unsigned catalog_metric_hidden(const struct catalog *catalog, unsigned metric) {
    const struct catalog_level1 *level1 = &catalog->level1;
    for (size_t i = 0; i < level1->n_replaced; i++)
        if (level1->replaced[i].by == metric)
            return level1->replaced[i].metric;
    return metric;
}

int catalog_find_group(const struct catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->n_groups; i++)
        if (name_equal(catalog->groups[i].name, name))
            return (int)i;
    return -1;
}

int catalog_default_group(const struct catalog *catalog, unsigned place) {
    for (size_t i = 0; i < catalog->n_groups; i++)
        if (catalog->groups[i].default_place == place)
            return (int)i;
    return -1;
}

bool catalog_metric_of_operations(const struct catalog_metric *metric) {
    return metric->domain == METRIC_OTHER &&
           (strcmp(metric->units, "share of uops") == 0 || strcmp(metric->units, "percent of uops") == 0);
}

bool catalog_metric_ratio(const struct catalog_metric *metric, double *k) {
    if (metric->formula->is_ratio)
        *k = metric->formula->scale * metric->export_scale;
    return metric->formula->is_ratio;
}

static void product_deinit(struct catalog_product *product) {
    free(product->pmu);
    free(product->microarchitecture);
    free(product->name);
    free(product->vendor);
    free(product->spec);
}

static void names_deinit(struct catalog_names *names) {
    name_index_deinit(&names->metrics);
    name_index_deinit(&names->events);
    for (size_t i = 0; i < names->n_aliases; i++)
        free(names->aliases[i]);
    free(names->aliases);
}

static void conclusion_deinit(struct catalog_conclusion *conclusion) {
    formula_free(conclusion->formula);
    free(conclusion->formula_text);
}

const struct catalog *catalog_share(const struct catalog *catalog) {
    struct catalog *counted = (struct catalog *)(uintptr_t)catalog; // only the number of references changes
    atomic_fetch_add_explicit(&counted->shares, 1, memory_order_relaxed);
    return catalog;
}

struct catalog *catalog_free(struct catalog *catalog) {
    if (!catalog || atomic_fetch_sub_explicit(&catalog->shares, 1, memory_order_acq_rel) > 0)
        return NULL;
    names_deinit(&catalog->names);
    for (size_t i = 0; i < catalog->n_nodes; i++)
        catalog_entry_free_node(&catalog->nodes[i]);
    free(catalog->nodes);
    catalog_entry_free_level1(&catalog->level1);
    for (size_t i = 0; i < BOTTLENECK_N; i++)
        conclusion_deinit(&catalog->bottlenecks[i]);
    conclusion_deinit(&catalog->computes_well);
    for (size_t i = 0; i < catalog->n_groups; i++)
        catalog_entry_free_group(&catalog->groups[i]);
    free(catalog->groups);
    for (size_t i = 0; i < catalog->n_metrics; i++)
        catalog_entry_free_metric(&catalog->metrics[i]);
    free(catalog->metrics);
    for (size_t i = 0; i < catalog->n_events; i++)
        catalog_entry_free_event(&catalog->events[i]);
    free(catalog->events);
    for (size_t i = 0; i < catalog->n_registers; i++)
        free(catalog->registers[i].term);
    event_format_free(catalog->format);
    for (size_t i = 0; i < catalog->n_pmus; i++)
        free(catalog->pmus[i]);
    product_deinit(&catalog->product);
    free(catalog);
    return NULL;
}

bool catalog_event_for_each_cpu(const struct catalog *catalog, unsigned event) {
    static const char *const pmus[] = {"software", "msr"}; // beside the core's
    const struct catalog_event *of = &catalog->events[event];
    const char *pmu = catalog->pmus[of->code.pmu];
    uint32_t ignored;
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++)
        if (strcmp(pmu, pmus[i]) == 0)
            return true;
    return of->kind != EVENT_COUNTED || of->code.pmu == 0 || kernel_pmu_type(pmu, &ignored);
}

bool catalog_event_explain(const struct catalog *catalog, unsigned event, char *reason, size_t size) {
    const struct catalog_event *of = &catalog->events[event];
    if (of->kind != EVENT_COUNTED)
        return false;
    if (of->sampling_only)
        (void)snprintf(reason, size, "the event %.100s can only be sampled, not counted", of->name);
    else if (!catalog_event_for_each_cpu(catalog, event))
        (void)snprintf(reason, size, "the event %.100s belongs to the PMU %.60s, which does not count for each CPU",
                       of->name, catalog->pmus[of->code.pmu]);
    else
        return false;
    return true;
}

bool catalog_metric_explain(const struct catalog *catalog, unsigned metric, char *reason, size_t size) {
    const struct catalog_metric *of = &catalog->metrics[metric];
    if (of->unmeasurable) {
        (void)snprintf(reason, size, "%s", of->unmeasurable);
        return true;
    }
    for (size_t i = 0; i < of->formula->n_variables; i++)
        if (catalog_event_explain(catalog, of->formula->variables[i], reason, size))
            return true;
    for (size_t i = 0; i < of->formula->n_metrics; i++) // each comes before those that use it
        if (catalog_metric_explain(catalog, of->formula->metrics[i], reason, size))
            return true;
    return false;
}

enum { WHY_MAX = 256 };

bool catalog_group_measurable(const struct catalog *catalog, unsigned group) {
    const struct catalog_group *of = &catalog->groups[group];
    char ignored[WHY_MAX];
    for (size_t i = 0; i < of->n_metrics; i++)
        for (int m = (int)of->metrics[i]; m >= 0; m = catalog->metrics[m].alternative)
            if (!catalog_metric_explain(catalog, (unsigned)m, ignored, sizeof ignored))
                return true;
    return false;
}

bool catalog_metric_adds(const struct catalog *catalog, const struct catalog_metric *metric) {
    return metric->traffic != TRAFFIC_NONE || catalog->product.chosen;
}

static void cut_cpus(char *text) {
    static const char rate[] = "per second and CPU";
    char *at = text ? strstr(text, rate) : NULL;
    if (!at)
        return;
    at += strlen("per second");
    memmove(at, at + strlen(" and CPU"), strlen(at + strlen(" and CPU")) + 1);
}

void catalog_add_up(struct catalog *catalog) {
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        cut_cpus(catalog->metrics[m].units);
        cut_cpus(catalog->metrics[m].help);
    }
}

void catalog_metric_unit(const struct catalog_metric *metric, char *out, size_t size) {
    static const char percent[] = "percent";
    const struct base_unit *other = base_unit_find(metric->units);
    if (metric->domain == METRIC_PIPELINE_SLOTS)
        (void)snprintf(out, size, "ratio of pipeline slots");
    else if (metric->export_scale == 0.01 && strncmp(metric->units, percent, strlen(percent)) == 0)
        (void)snprintf(out, size, "ratio%s", metric->units + strlen(percent));
    else
        (void)snprintf(out, size, "%s", other ? other->base : metric->units);
}

const struct catalog_node *catalog_sample_node(const struct catalog *catalog, unsigned metric) {
    for (int m = (int)catalog_metric_named(catalog, metric); m >= 0; m = catalog->metrics[m].parent)
        for (size_t i = 0; i < catalog->n_nodes; i++)
            if (catalog->nodes[i].metric == (unsigned)m && catalog->nodes[i].n_samples > 0)
                return &catalog->nodes[i];
    return NULL;
}
