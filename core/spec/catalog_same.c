// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog_same.h"

#include <string.h>

// Formulas follow from their texts and the facts of the host, and the format of events from the PMU that encodes them,
// so neither is compared.

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_numbers(const unsigned *a, size_t n_a, const unsigned *b, size_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_need(const struct event_need *a, const struct event_need *b) {
    return a->counters == b->counters && a->takes == b->takes && a->fixed == b->fixed && a->reg == b->reg &&
           a->reg_value == b->reg_value && a->free == b->free && a->exclusive == b->exclusive;
}

static bool same_code(const struct pmu_event *a, const struct pmu_event *b) {
    return a->pmu == b->pmu && a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
           a->exclude == b->exclude;
}

static bool same_event(const struct catalog_event *a, const struct catalog_event *b) {
    return a->kind == b->kind && same_text(a->name, b->name) && same_text(a->title, b->title) &&
           same_text(a->terms, b->terms) && same_text(a->uncoded, b->uncoded) && same_code(&a->code, &b->code) &&
           same_need(&a->need, &b->need) && a->fixed == b->fixed && a->topdown == b->topdown &&
           a->sampling_only == b->sampling_only && a->may_be_zero == b->may_be_zero && a->must_count == b->must_count &&
           same_text(a->known_dead, b->known_dead);
}

static bool same_metric_texts(const struct catalog_metric *a, const struct catalog_metric *b) {
    return same_text(a->name, b->name) && same_text(a->vendor, b->vendor) &&
           same_text(a->export_name, b->export_name) && same_text(a->title, b->title) && same_text(a->help, b->help) &&
           same_text(a->units, b->units) && same_text(a->formula_text, b->formula_text) &&
           same_text(a->unmeasurable, b->unmeasurable) && same_text(a->threshold_text, b->threshold_text) &&
           same_text(a->definition, b->definition) && same_text(a->meaning, b->meaning) &&
           same_text(a->rate_advice, b->rate_advice) && a->traffic == b->traffic;
}

static bool same_metric(const struct catalog_metric *a, const struct catalog_metric *b) {
    return same_metric_texts(a, b) && a->export_scale == b->export_scale && a->domain == b->domain &&
           a->parent == b->parent && a->included_in == b->included_in && a->alternative == b->alternative &&
           a->stands_for == b->stands_for && a->constraint == b->constraint && a->waits == b->waits &&
           a->rate_threshold == b->rate_threshold;
}

static bool same_group(const struct catalog_group *a, const struct catalog_group *b) {
    return same_text(a->name, b->name) && same_text(a->title, b->title) && same_text(a->help, b->help) &&
           a->default_place == b->default_place && same_numbers(a->metrics, a->n_metrics, b->metrics, b->n_metrics);
}

static bool same_node(const struct catalog_node *a, const struct catalog_node *b) {
    bool same = a->metric == b->metric && a->root == b->root && a->n_next == b->n_next &&
                same_numbers(a->samples, a->n_samples, b->samples, b->n_samples);
    for (size_t i = 0; same && i < a->n_next; i++)
        same = same_text(a->next[i].name, b->next[i].name);
    return same;
}

static bool same_parts(const struct catalog_level1 *a, const struct catalog_level1 *b) {
    bool same = a->n_parts == b->n_parts;
    for (size_t i = 0; same && i < a->n_parts; i++)
        same = same_numbers(a->parts[i].events, a->parts[i].n, b->parts[i].events, b->parts[i].n);
    return same;
}

static bool same_level1(const struct catalog_level1 *a, const struct catalog_level1 *b) {
    bool same = a->present == b->present && a->per_thread == b->per_thread;
    if (!same || !a->present)
        return same;
    same = same_text(a->pipeline_slots_text, b->pipeline_slots_text) && a->width == b->width &&
           a->contention == b->contention && a->n_categories == b->n_categories &&
           same_numbers(a->metrics, a->n_metrics, b->metrics, b->n_metrics) && same_parts(a, b);
    for (int i = 0; same && a->per_thread && i < THREAD_SLOTS_N; i++)
        same = same_text(a->thread_texts[i], b->thread_texts[i]);
    for (size_t i = 0; same && i < a->n_categories; i++)
        same = a->categories[i].category == b->categories[i].category &&
               a->categories[i].metric == b->categories[i].metric;
    return same;
}

static bool same_conclusions(const struct catalog *a, const struct catalog *b) {
    bool same = same_text(a->computes_well.formula_text, b->computes_well.formula_text);
    for (size_t i = 0; same && i < BOTTLENECK_N; i++)
        same = same_text(a->bottlenecks[i].formula_text, b->bottlenecks[i].formula_text);
    return same;
}

static bool same_product(const struct catalog_product *a, const struct catalog_product *b) {
    return same_text(a->spec, b->spec) && same_text(a->vendor, b->vendor) && same_text(a->name, b->name) &&
           same_text(a->microarchitecture, b->microarchitecture) && same_text(a->pmu, b->pmu) &&
           a->group_events == b->group_events;
}

// A fact that is not known is NaN in both.
static bool same_environment(const struct environment_facts *a, const struct environment_facts *b) {
    return memcmp(a->literals, b->literals, sizeof a->literals) == 0 && strcmp(a->cpuid, b->cpuid) == 0;
}

static bool same_pmus(const struct catalog *a, const struct catalog *b) {
    bool same = a->n_pmus == b->n_pmus && a->n_registers == b->n_registers &&
                same_numbers(a->topdown, a->n_topdown, b->topdown, b->n_topdown);
    for (size_t i = 0; same && i < a->n_pmus; i++)
        same = same_text(a->pmus[i], b->pmus[i]);
    for (size_t i = 0; same && i < a->n_registers; i++)
        same =
            same_text(a->registers[i].term, b->registers[i].term) && a->registers[i].values == b->registers[i].values;
    return same;
}

static bool same_facts(const struct catalog *a, const struct catalog *b) {
    return same_product(&a->product, &b->product) && a->general_counters == b->general_counters &&
           a->watchdog_event == b->watchdog_event && a->duration_event == b->duration_event &&
           a->core_wide_event == b->core_wide_event &&
           memcmp(a->core_slots, b->core_slots, sizeof a->core_slots) == 0 && same_pmus(a, b) &&
           same_level1(&a->level1, &b->level1) && same_conclusions(a, b) &&
           same_environment(&a->environment, &b->environment);
}

bool catalog_same(const struct catalog *a, const struct catalog *b) {
    bool same = a->n_events == b->n_events && a->n_metrics == b->n_metrics && a->n_groups == b->n_groups &&
                a->n_nodes == b->n_nodes && same_facts(a, b);
    for (size_t i = 0; same && i < a->n_events; i++)
        same = same_event(&a->events[i], &b->events[i]);
    for (size_t i = 0; same && i < a->n_metrics; i++)
        same = same_metric(&a->metrics[i], &b->metrics[i]);
    for (size_t i = 0; same && i < a->n_groups; i++)
        same = same_group(&a->groups[i], &b->groups[i]);
    for (size_t i = 0; same && i < a->n_nodes; i++)
        same = same_node(&a->nodes[i], &b->nodes[i]);
    return same;
}
