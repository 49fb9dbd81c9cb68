// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog_builder_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct catalog_level1 *level1_of(struct catalog_builder *builder, enum level1_variant variant) {
    return variant == LEVEL1_WITHOUT_TOPDOWN ? &builder->without_topdown : &builder->catalog->level1;
}

static int compile(struct catalog_builder *builder, const char *text, struct formula **formula, char **copy,
                   struct fault *fault) {
    int r = builder_compile(builder, text, NULL, formula, fault);
    if (r < 0)
        return r;
    *copy = strdup(text);
    return *copy ? 0 : -ENOMEM;
}

int catalog_builder_set_level1(struct catalog_builder *builder, enum level1_variant variant,
                               const struct catalog_level1_text *text, struct fault *fault) {
    struct catalog_level1 *level1 = level1_of(builder, variant);
    if (level1->present)
        return fault_set(fault, "level 1 stands twice");
    if (!(text->width >= 0 && text->width <= 64))
        return fault_set(fault, "the width is the number of pipeline slots a cycle, between 1 and 64");
    if (text->width == 0 && text->thread[0])
        return fault_set(fault, "level 1 per thread needs the width, the number of pipeline slots a cycle");
    struct catalog_level1 made = {.width = text->width, .present = true, .contention = -1};
    int r = compile(builder, text->pipeline_slots, &made.pipeline_slots, &made.pipeline_slots_text, fault);
    for (int i = 0; r == 0 && i < THREAD_SLOTS_N && text->thread[0]; i++)
        r = compile(builder, text->thread[i], &made.thread[i], &made.thread_texts[i], fault);
    if (r < 0) {
        catalog_entry_free_level1(&made);
        return r;
    }
    made.per_thread = text->thread[0] != NULL;
    made.n_categories = level1->n_categories; // these may come before
    memcpy(made.categories, level1->categories, sizeof made.categories);
    made.metrics = level1->metrics;
    made.n_metrics = level1->n_metrics;
    *level1 = made;
    return 0;
}

static bool holds(const unsigned *metrics, size_t n, unsigned metric) {
    for (size_t i = 0; i < n; i++)
        if (metrics[i] == metric)
            return true;
    return false;
}

static int compare_unsigned(const void *a, const void *b) {
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Adds a metric and all metrics it needs to level 1's metrics.
static int add_metrics(const struct catalog *catalog, struct catalog_level1 *level1, unsigned metric) {
    unsigned *metrics = realloc(level1->metrics, catalog->n_metrics * sizeof *metrics);
    if (!metrics)
        return -ENOMEM;
    level1->metrics = metrics;
    size_t walked = level1->n_metrics;
    if (!holds(metrics, level1->n_metrics, metric))
        metrics[level1->n_metrics++] = metric;
    for (; walked < level1->n_metrics; walked++) {
        const struct formula *formula = catalog->metrics[metrics[walked]].formula;
        for (size_t m = 0; m < formula->n_metrics; m++)
            if (!holds(metrics, level1->n_metrics, formula->metrics[m]))
                metrics[level1->n_metrics++] = formula->metrics[m];
    }
    qsort(metrics, level1->n_metrics, sizeof *metrics, compare_unsigned);
    return 0;
}

int catalog_builder_set_category(struct catalog_builder *builder, enum level1_variant variant, enum category category,
                                 const char *metric, struct fault *fault) {
    const struct catalog *catalog = builder->catalog;
    struct catalog_level1 *level1 = level1_of(builder, variant);
    int index = builder_find_metric(catalog, metric);
    if (index < 0)
        return fault_set(fault, "level 1 names the metric %.60s, which the spec does not have", metric);
    if (catalog->metrics[index].domain != METRIC_PIPELINE_SLOTS)
        return fault_set(
            fault, "level 1 names the metric %.60s, whose units are neither 'percent of slots' nor 'share of slots'",
            metric);
    for (size_t i = 0; i < level1->n_categories; i++)
        if (level1->categories[i].category == category || level1->categories[i].metric == (unsigned)index)
            return fault_set(fault, "category %s or its metric stands twice in level 1", category_name(category));
    int r = add_metrics(catalog, level1, (unsigned)index);
    if (r < 0)
        return r;
    if (category == CATEGORY_SMT_CONTENTION && level1->per_thread) {
        level1->contention = index;
        return 0;
    }
    level1->categories[level1->n_categories].category = category;
    level1->categories[level1->n_categories++].metric = (unsigned)index;
    return 0;
}

int catalog_builder_add_part(struct catalog_builder *builder, enum level1_variant variant, const char *const *events,
                             size_t n, struct fault *fault) {
    struct catalog_level1 *level1 = level1_of(builder, variant);
    if (level1->n_parts == CATALOG_SPLIT_MAX || n > CATALOG_SPLIT_EVENTS_MAX)
        return fault_set(fault, "a split has at most %d parts of %d events", CATALOG_SPLIT_MAX,
                         CATALOG_SPLIT_EVENTS_MAX);
    for (size_t i = 0; i < n; i++) {
        int event = catalog_find_event(builder->catalog, events[i]);
        if (event <= CATALOG_CPU_SECONDS)
            return fault_set(fault, "the split names the event %.60s, which the spec does not have", events[i]);
        level1->parts[level1->n_parts].events[i] = (unsigned)event;
    }
    level1->parts[level1->n_parts++].n = n;
    return 0;
}

static bool part_has(const struct catalog_level1 *level1, size_t part, unsigned event) {
    for (size_t i = 0; i < level1->parts[part].n; i++)
        if (level1->parts[part].events[i] == event)
            return true;
    return false;
}

static bool in_every_part(const struct catalog_level1 *level1, unsigned event) {
    size_t part = 0;
    while (part < level1->n_parts && part_has(level1, part, event))
        part++;
    return part == level1->n_parts;
}

static bool parts_share_an_event(const struct catalog_level1 *level1) {
    for (size_t i = 0; i < level1->parts[0].n; i++)
        if (in_every_part(level1, level1->parts[0].events[i]))
            return true;
    return false;
}

static int parts_hold(const struct catalog *catalog, const struct catalog_level1 *level1, const struct formula *formula,
                      struct fault *fault) {
    for (size_t i = 0; i < formula->n_variables; i++) {
        size_t part = 0;
        if (catalog->events[formula->variables[i]].kind != EVENT_COUNTED)
            continue;
        while (part < level1->n_parts && !part_has(level1, part, formula->variables[i]))
            part++;
        if (part == level1->n_parts)
            return fault_set(fault, "no part of the level-1 split holds the event %s",
                             catalog->events[formula->variables[i]].name);
    }
    return 0;
}

static int check_split(const struct catalog *catalog, const struct catalog_level1 *level1, struct fault *fault) {
    if (level1->n_parts == 1 || !parts_share_an_event(level1))
        return fault_set(fault, "the level-1 split needs at least two parts, and one event that is in all of them");
    int r = parts_hold(catalog, level1, level1->pipeline_slots, fault);
    for (size_t i = 0; i < level1->n_metrics && r == 0; i++)
        r = parts_hold(catalog, level1, catalog->metrics[level1->metrics[i]].formula, fault);
    for (size_t i = 0; level1->per_thread && i < THREAD_SLOTS_N && r == 0; i++)
        r = parts_hold(catalog, level1, level1->thread[i], fault);
    return r;
}

static bool only_counts(const struct catalog *catalog, const struct formula *formula) {
    bool counts = formula->n_metrics == 0;
    for (size_t v = 0; v < formula->n_variables; v++)
        counts = counts && catalog->events[formula->variables[v]].kind == EVENT_COUNTED;
    return counts;
}

static int check_thread(const struct catalog *catalog, const struct catalog_level1 *level1, struct fault *fault) {
    if (catalog->n_topdown > 0 || level1->contention < 0)
        return fault_set(fault, "level 1 per thread needs the category %s and no resident events",
                         category_name(CATEGORY_SMT_CONTENTION));
    for (int i = 0; i < THREAD_SLOTS_N; i++)
        if (!only_counts(catalog, level1->thread[i]))
            return fault_set(fault, "%s of level 1 per thread has other values than counts of events",
                             catalog_thread_slots_name((enum catalog_thread_slots)i));
    if (!only_counts(catalog, catalog->metrics[level1->contention].formula))
        return fault_set(fault, "the metric of %s has other values than counts of events",
                         category_name(CATEGORY_SMT_CONTENTION));
    return 0;
}

static int check_level1(const struct catalog *catalog, const struct catalog_level1 *level1, struct fault *fault) {
    if (!level1->present)
        return level1->n_categories == 0 && level1->n_parts == 0
                   ? 0
                   : fault_set(fault, "level 1 has categories or a split, but no pipeline slots");
    if (level1->pipeline_slots->n_metrics > 0)
        return fault_set(fault, "level 1's pipeline slots are made of ratios: they must be counts");
    if (level1->n_categories < 2)
        return fault_set(fault, "level 1 needs at least two categories");
    for (size_t i = 0; i < level1->n_metrics; i++)
        if (catalog->metrics[level1->metrics[i]].alternative >= 0)
            return fault_set(fault, "the level-1 metric %s has alternatives: level 1 has one definition",
                             catalog->metrics[level1->metrics[i]].name);
    int r = level1->per_thread ? check_thread(catalog, level1, fault) : 0;
    return r < 0 || level1->n_parts == 0 ? r : check_split(catalog, level1, fault);
}

// Checks that parts have no topdown events: parts take turns, but every group carries topdown events.
static int check_parts_rotate(const struct catalog *catalog, const struct catalog_level1 *level1, struct fault *fault) {
    for (size_t part = 0; part < level1->n_parts; part++)
        for (size_t i = 0; i < level1->parts[part].n; i++)
            if (catalog->events[level1->parts[part].events[i]].topdown)
                return fault_set(fault, "the level-1 split names the event %s, which is resident",
                                 catalog->events[level1->parts[part].events[i]].name);
    return 0;
}

static int check_topdown(const struct catalog_builder *builder, struct fault *fault) {
    int r = check_parts_rotate(builder->catalog, &builder->catalog->level1, fault);
    if (r < 0)
        return r;
    if (builder->catalog->n_topdown == 0 && builder->without_topdown.present)
        return fault_set(fault, "there is a level 1 without resident events, but there are no such events");
    return 0;
}

static bool uses(const struct formula *formula, unsigned event) {
    for (size_t i = 0; i < formula->n_variables; i++)
        if (formula->variables[i] == event)
            return true;
    return false;
}

static bool level1_uses(const struct catalog *catalog, const struct catalog_level1 *level1, unsigned event) {
    bool used = uses(level1->pipeline_slots, event);
    for (size_t i = 0; i < level1->n_metrics && !used; i++)
        used = uses(catalog->metrics[level1->metrics[i]].formula, event);
    for (size_t i = 0; level1->per_thread && i < THREAD_SLOTS_N && !used; i++)
        used = uses(level1->thread[i], event);
    return used;
}

static void trim_split(const struct catalog *catalog, struct catalog_level1 *level1) {
    const struct catalog_level1 whole = *level1;
    size_t n_parts = 0;
    for (size_t part = 0; part < whole.n_parts; part++) {
        size_t n = 0;
        bool measures = false; // more than the event that scales the parts
        for (size_t i = 0; i < whole.parts[part].n; i++) {
            unsigned event = whole.parts[part].events[i];
            bool shared = in_every_part(&whole, event), used = level1_uses(catalog, level1, event);
            measures = measures || (used && !shared);
            if (used || shared)
                level1->parts[n_parts].events[n++] = event;
        }
        level1->parts[n_parts].n = n;
        n_parts += measures;
    }
    level1->n_parts = n_parts > 1 ? n_parts : 0;
}

void catalog_builder_trim_splits(struct catalog_builder *builder) {
    trim_split(builder->catalog, &builder->catalog->level1);
    trim_split(builder->catalog, &builder->without_topdown);
}

bool catalog_builder_keep_split(struct catalog_builder *builder) {
    const struct catalog *catalog = builder->catalog;
    struct catalog_level1 *level1 = &builder->catalog->level1;
    struct fault ignored;
    trim_split(catalog, level1);
    if (level1->n_parts == 0)
        return false;
    if (check_split(catalog, level1, &ignored) < 0 || check_parts_rotate(catalog, level1, &ignored) < 0)
        level1->n_parts = 0;
    return level1->n_parts > 0;
}

int catalog_builder_check(const struct catalog_builder *builder, struct fault *fault) {
    int r = check_level1(builder->catalog, &builder->catalog->level1, fault);
    if (r == 0)
        r = check_level1(builder->catalog, &builder->without_topdown, fault);
    return r == 0 ? check_topdown(builder, fault) : r;
}
