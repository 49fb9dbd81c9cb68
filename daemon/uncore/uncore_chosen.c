// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_chosen.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/pmu_named.h"
#include "collectors/uncore/uncore_find.h"
#include "daemon/uncore/uncore_linux.h"
#include "daemon/uncore/uncore_source.h"

enum { FORMULA_MAX = 96, ABSENT_MAX = 3 };

static const char GROUP[] = "Events";

// ---- the catalog ----

static int add_formats(const struct host_roots *roots, const char *pmu, struct catalog_builder *builder) {
    char(*terms)[PMU_NAMED_MAX] = NULL;
    char text[PMU_NAMED_TERMS_MAX];
    struct fault ignored; // the events that use it cannot be encoded, and are refused
    int n = pmu_named_list(roots, pmu, "format", &terms), r = n == -ENOMEM ? n : 0;
    for (int i = 0; i < n && r != -ENOMEM; i++)
        if (pmu_named_term(roots, pmu, terms[i], text, sizeof text) == 0)
            r = catalog_builder_add_format(builder, terms[i], text, &ignored);
    free(terms);
    return r == -ENOMEM ? r : 0;
}

// An event, which formulas know as event_I as its own name need not be a word, and its metric, whose numerator is what
// the pages show.
static int add_event(struct catalog_builder *builder, const char *name, const struct pmu_named_event *event, size_t i,
                     struct fault *fault) {
    char alias[32], formula[FORMULA_MAX], export_name[PMU_NAMED_MAX + 8];
    const struct catalog_event_text text = {.name = name, .terms = event->terms, .takes = 1};
    (void)snprintf(alias, sizeof alias, "event_%zu", i);
    (void)snprintf(export_name, sizeof export_name, "event_%s", name);
    for (char *c = export_name; *c != '\0'; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    (void)snprintf(formula, sizeof formula, "%.17g * %s / cpu_seconds", event->unit.factor, alias);
    const struct catalog_metric_text metric = {.name = name,
                                               .export_name = export_name,
                                               .title = name,
                                               .help = "As the kernel names it and gives its unit.",
                                               .units = event->unit.name,
                                               .formula = formula};
    int added = catalog_builder_add_event_text(builder, &text, fault);
    int r = added < 0 ? added : catalog_builder_add_alias(builder, alias, (unsigned)added, fault);
    return r < 0 ? r : catalog_builder_add_metric(builder, &metric, fault);
}

static int fill(struct catalog_builder *builder, const char *const *events, const struct pmu_named_event *read,
                size_t n, struct fault *fault) {
    const char *const groups[] = {GROUP};
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++)
        r = add_event(builder, events[i], &read[i], i, fault);
    if (r >= 0)
        r = catalog_builder_set_counters(builder, 1, NULL, 0, fault); // so that each event has a group of its own
    if (r >= 0)
        r = catalog_builder_add_group(builder, GROUP, "Events", "Events that the configuration names.", events, n,
                                      fault);
    if (r >= 0)
        r = catalog_builder_set_defaults(builder, groups, 1, fault);
    if (r >= 0)
        catalog_builder_set_chosen(builder);
    return r;
}

static int make_builder(const char *pmu, struct catalog_builder **out) {
    return catalog_builder_new(pmu, "Linux", "a PMU that the kernel describes", pmu, pmu, out);
}

int uncore_chosen_catalog(const struct host_roots *roots, const char *pmu, const char *const *events, size_t n,
                          struct catalog **out) {
    struct pmu_named_event *read = calloc(n + 1, sizeof *read);
    struct catalog_builder *builder = NULL;
    struct fault fault;
    bool usable = true;
    int r = read ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        usable = usable && pmu_named_event(roots, pmu, events[i], &read[i]) == 0 && !read[i].unusable;
    if (r == 0)
        r = make_builder(pmu, &builder);
    if (r == 0)
        r = add_formats(roots, pmu, builder);
    if (r == 0 && usable)
        r = fill(builder, events, read, n, &fault);
    free(read);
    if (r < 0 || !usable)
        catalog_builder_free(builder);
    if (r == -EINVAL || !usable)
        *out = NULL;
    else if (r >= 0)
        *out = catalog_builder_finish(builder);
    return r == -ENOMEM ? r : 0;
}

int uncore_chosen_recorded(const char *pmu, const struct recording_definition *definition, struct catalog **out) {
    struct pmu_named_event *read = calloc(definition->n + 1, sizeof *read);
    const char **names = calloc(definition->n + 1, sizeof *names);
    struct catalog_builder *builder = NULL;
    struct fault fault;
    int r = read && names ? make_builder(pmu, &builder) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < definition->n; i++) {
        names[i] = definition->events[i].name;
        read[i].unit = (struct pmu_named_unit){definition->events[i].factor, definition->events[i].units};
    }
    if (r == 0)
        r = fill(builder, names, read, definition->n, &fault);
    free(names);
    free(read);
    if (r < 0)
        catalog_builder_free(builder);
    else
        *out = catalog_builder_finish(builder);
    return r < 0 ? r : 0;
}

// ---- what the configuration says ----

void uncore_chosen_name(const char *pattern, char *out, size_t size) {
    size_t length = strcspn(pattern, "*?[");
    while (length > 0 && strchr("_-.", pattern[length - 1]))
        length--;
    (void)snprintf(out, size, "%.*s", length > 0 ? (int)length : (int)strlen("pmu"), length > 0 ? pattern : "pmu");
}

static int refuse(struct errors *errors, const struct config_pattern *at, const char *text) {
    return errors_add(errors, at->origin.file, at->origin.line, at->origin.column, "%s", text);
}

static int check_event(const struct host_roots *roots, const char *pmu, const struct config_pattern *event,
                       struct errors *errors) {
    struct pmu_named_event read;
    char(*names)[PMU_NAMED_MAX] = NULL, text[ERROR_TEXT_MAX];
    int r = pmu_named_event(roots, pmu, event->text, &read);
    if (r == 0 && !read.unusable)
        return 0;
    if (r == 0) {
        (void)snprintf(text, sizeof text,
                       "event \"%s\" of %s cannot be measured: %s; 'topdownd list pmus' shows which can", event->text,
                       pmu, read.unusable);
        return refuse(errors, event, text);
    }
    int n = pmu_named_list(roots, pmu, "events", &names);
    const char **known = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *known);
    for (int i = 0; known && i < n; i++)
        known[i] = names[i];
    const char *near = known ? error_suggest(event->text, known, (size_t)(n > 0 ? n : 0)) : NULL;
    (void)snprintf(text, sizeof text, "%s has no event \"%s\"%s%s%s: 'topdownd list pmus' shows which it has", pmu,
                   event->text, near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
    free(known);
    free(names);
    return refuse(errors, event, text);
}

// Checks the PMUs of an entry and their events: all of them, so that all mistakes are shown.
static int check(const struct host_roots *roots, const struct config_pmu *entry, const struct uncore_boxes *boxes,
                 struct errors *errors) {
    const struct config_pattern *name = &entry->name.items[0];
    char text[ERROR_TEXT_MAX];
    int r = 0;
    for (size_t b = 0; b < boxes->n; b++) {
        const char *pmu = boxes->boxes[b].pmu, *unusable = pmu_named_unusable(roots, pmu);
        bool repeated = b > 0 && strcmp(boxes->boxes[b - 1].pmu, pmu) == 0;
        if (repeated)
            continue;
        if (unusable) {
            (void)snprintf(text, sizeof text, "name: %s %s", pmu, unusable);
            r = refuse(errors, name, text);
        }
        for (size_t e = 0; !unusable && e < entry->events.n; e++)
            r = check_event(roots, pmu, &entry->events.items[e], errors) < 0 ? -EINVAL : r;
        if (r < 0)
            return r; // the other boxes have the same
    }
    return r;
}

// Notes an entry that this host has nothing for, which is no mistake: configurations are for fleets, and a module may
// be loaded later.
static void note_absent(struct setup *setup, const struct config_pattern *name) {
    static const char host[] = "this host shows no PMU %s: 'topdownd list pmus' shows which can be chosen here, and a "
                               "kernel module may have to be loaded first";
    static const char simulated[] = "a simulated host has no PMU %s: it has those of its scenario alone";
    struct source *first = setup->types[0].source;
    char text[SOURCE_TEXT_MAX / 2];
    size_t absent = 0;
    for (size_t i = 0; i < first->troubles.n; i++)
        absent += first->troubles.errors[i].uncore;
    if (absent >= ABSENT_MAX)
        return;
    (void)snprintf(text, sizeof text, first->simulated ? simulated : host, name->text);
    source_note(first, name->text, "not_present", "%s:%u: %s", name->origin.file, name->origin.line, text);
    first->troubles.errors[first->troubles.n - 1].uncore = true;
}

static int refuse_name(struct errors *errors, const struct config_pattern *at, const char *kind, bool taken) {
    char text[ERROR_TEXT_MAX];
    (void)snprintf(text, sizeof text,
                   taken ? "name: %s is measured already: name each kind of PMU once"
                         : "name: there is no room for %s: name fewer PMUs, or fewer of uncore.groups",
                   kind);
    return refuse(errors, at, text);
}

static bool is_taken(const struct setup *setup, const char *name) {
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++)
        if (strcmp(setup->types[i].source->pmu_name, name) == 0)
            return true;
    return false;
}

// ---- the source ----

static int make_catalog(const struct config_pmu *entry, struct uncore_linux *kind, struct errors *errors) {
    const char *events[CATALOG_SPLIT_EVENTS_MAX];
    size_t n = 0;
    for (size_t e = 0; e < entry->events.n && n < CATALOG_SPLIT_EVENTS_MAX; e++)
        events[n++] = entry->events.items[e].text;
    int r = uncore_chosen_catalog(&kind->source.roots, kind->boxes.boxes[0].pmu, events, n, &kind->source.catalog);
    if (r == 0 && !kind->source.catalog)
        r = refuse(errors, &entry->events.items[0],
                   "events: the kernel's format of this PMU cannot encode these events, or one is named twice");
    return r == 0 ? source_make_support(&kind->source, PLAN_SUPPORTED) : r;
}

// Takes over the boxes.
static int add(struct setup *setup, const struct config_pmu *entry, struct uncore_boxes *found,
               const struct options *options, struct errors *errors) {
    char name[UNCORE_NAME_MAX];
    struct topology *boxes = NULL;
    uncore_chosen_name(entry->name.items[0].text, name, sizeof name);
    if (is_taken(setup, name)) {
        uncore_boxes_deinit(found);
        return refuse_name(errors, &entry->name.items[0], name, true);
    }
    struct uncore_linux *kind = uncore_linux_new(name, found, options);
    if (!kind)
        return -ENOMEM;
    int r = make_catalog(entry, kind, errors);
    if (r == 0)
        r = uncore_topology(&kind->boxes, &boxes);
    if (r < 0) {
        source_free(&kind->source);
        return r;
    }
    kind->source.microarchitecture = kind->source.catalog->product.microarchitecture;
    r = uncore_add(setup, &kind->source, boxes, true);
    return r == 0 ? refuse_name(errors, &entry->name.items[0], name, false) : r;
}

int uncore_chosen_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    const struct config_uncore *config = &setup->config->uncore;
    int r = 0;
    for (size_t i = 0; i < config->n_pmus && r != -ENOMEM; i++) {
        const struct config_pmu *entry = &config->pmus[i];
        struct uncore_boxes boxes = {.n = 0};
        bool simulated = setup->types[0].source->simulated;
        int found = simulated ? 0 : uncore_find_named(&roots, entry->name.items[0].text, &boxes);
        if (found == 0 && boxes.n == 0)
            note_absent(setup, &entry->name.items[0]);
        if (found == 0 && boxes.n > 0)
            found = check(&roots, entry, &boxes, errors);
        if (found == 0 && boxes.n > 0)
            found = add(setup, entry, &boxes, options, errors);
        else
            uncore_boxes_deinit(&boxes);
        r = found < 0 && r == 0 ? found : r;
    }
    return r < 0 ? r : 0;
}
