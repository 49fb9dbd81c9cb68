// SPDX-License-Identifier: Apache-2.0
//
// Every list is a table of data from core; exporters/text/table.h writes it for people or for programs.

#include "daemon/command/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/cpu_names.h"
#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/command/list_events.h"
#include "daemon/command/list_pmus.h"
#include "daemon/command/list_scenarios.h"
#include "daemon/command/list_specs.h"
#include "daemon/source/source_find.h"
#include "daemon/source/source_sim.h"

enum what {
    LIST_CPUS,
    LIST_SPEC,
    LIST_GROUPS,
    LIST_METRICS,
    LIST_EVENTS,
    LIST_PMUS,
    LIST_BOXES,
    LIST_SCENARIOS,
    LIST_N
};
static const char *const WHATS[LIST_N] = {"cpus", "spec", "groups", "metrics", "events", "pmus", "boxes", "scenarios"};
enum { EXIT_WRONG = 2 };

static int find_what(const char *word) {
    for (int i = 0; i < LIST_N; i++)
        if (strcmp(word, WHATS[i]) == 0)
            return i;
    return -1;
}

int list_check(const struct options *options) {
    if (!options->word)
        return options_say(
            "list what? 'topdownd list cpus', or spec, groups, metrics, events, pmus, boxes or scenarios");
    int what = find_what(options->word);
    if (what < 0)
        return options_refuse("there is no list of", options->word, error_suggest(options->word, WHATS, LIST_N));
    if (options->list.cpu && what == LIST_SCENARIOS)
        return options_say("--cpu does not go with 'topdownd list scenarios'");
    if (options->list.cpu && what == LIST_BOXES)
        return options_say("--cpu does not go with 'topdownd list boxes': only a host has boxes. 'topdownd list pmus' "
                           "tells what a CPU may have");
    return options->list.group && what != LIST_METRICS ? options_say("--group goes with 'topdownd list metrics'") : 0;
}

// ---- the lists ----

static const struct table_column GROUP_COLUMNS[] = {
    LIST_CORE_TYPE_COLUMN,
    {"name", "NAME", TABLE_TEXT},
    {"metrics", "METRICS", TABLE_NUMBER},
    {"stage", "STAGE", TABLE_NUMBER},
    {"title", "TITLE", TABLE_TEXT},
    {"help", NULL, TABLE_TEXT},
};

static const struct table_column METRIC_COLUMNS[] = {
    LIST_CORE_TYPE_COLUMN,
    {"metric", "METRIC", TABLE_TEXT},
    {"name", "NAME", TABLE_TEXT},
    {"definition", "DEFINITION", TABLE_TEXT},
    {"alternative_of", NULL, TABLE_TEXT},
    {"units", "UNITS", TABLE_TEXT},
    {"title", "TITLE", TABLE_TEXT},
    {"groups", "GROUPS", TABLE_TEXTS},
    {"formula", NULL, TABLE_TEXT},
    {"help", NULL, TABLE_TEXT},
    {"parent", NULL, TABLE_TEXT},
    {"threshold", NULL, TABLE_TEXT},
    {"meaning", NULL, TABLE_TEXT},
    {"sample_events", NULL, TABLE_TEXTS},
    {"unmeasurable", NULL, TABLE_TEXT},
};

static bool has_metric(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

// 1 if the methodology's first stage has all of the group's metrics, else 2.
static unsigned stage_of(const struct catalog *catalog, const struct catalog_group *group) {
    int first = catalog_find_group(catalog, "stage_1");
    for (size_t i = 0; i < group->n_metrics; i++)
        if (first < 0 || !has_metric(&catalog->groups[first], group->metrics[i]))
            return 2;
    return 1;
}

static void list_groups(const struct catalog *catalog, const char *core_type, struct table *table) {
    for (size_t g = 0; g < catalog->n_groups; g++) {
        const struct catalog_group *group = &catalog->groups[g];
        list_begin_row(core_type, table);
        table_text(table, group->name);
        table_format(table, "%zu", group->n_metrics);
        table_format(table, "%u", stage_of(catalog, group));
        table_text(table, group->title);
        table_text(table, group->help);
    }
}

// What can be sampled to find the code behind the metric.
static void add_sample_events(const struct catalog *catalog, unsigned metric, struct table *table) {
    const struct catalog_node *node = catalog_sample_node(catalog, metric);
    const char *names[CATALOG_SAMPLES_MAX];
    size_t n = 0;
    for (; node && n < node->n_samples; n++)
        names[n] = catalog->events[node->samples[n]].name;
    table_texts(table, names, n);
}

static void list_metric(const struct catalog *catalog, unsigned index, const char *core_type, struct table *table) {
    const struct catalog_metric *metric = &catalog->metrics[index];
    const char *groups[CATALOG_GROUPS_MAX];
    size_t n = 0;
    for (size_t g = 0; g < catalog->n_groups; g++)
        if (has_metric(&catalog->groups[g], catalog_metric_named(catalog, index)))
            groups[n++] = catalog->groups[g].name;
    list_begin_row(core_type, table);
    table_text(table, metric->export_name);
    table_text(table, metric->name);
    table_text(table, metric->definition[0] != '\0' ? metric->definition : NULL);
    table_text(table, metric->stands_for < 0 ? NULL : catalog->metrics[metric->stands_for].name);
    table_text(table, metric->units);
    table_text(table, metric->title);
    table_texts(table, groups, n);
    table_text(table, metric->formula_text);
    table_text(table, metric->help);
    table_text(table, metric->parent < 0 ? NULL : catalog->metrics[metric->parent].export_name);
    table_text(table, metric->threshold_text);
    table_text(table, metric->meaning);
    add_sample_events(catalog, index, table);
    char reason[PLAN_REASON_MAX];
    table_text(table, catalog_metric_explain(catalog, index, reason, sizeof reason) ? reason : NULL);
}

// Lists no metric if there is no group of that name.
static void list_metrics(const struct catalog *catalog, const char *group_name, const char *core_type,
                         struct table *table) {
    int group = group_name ? catalog_find_group(catalog, group_name) : -1;
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        if (!group_name || (group >= 0 && has_metric(&catalog->groups[group], catalog_metric_named(catalog, m))))
            list_metric(catalog, m, core_type, table);
}

// `list` is the list with all names.
static int refuse_name(const char *what, const char *name, const char *near, const char *list) {
    if (near)
        log_error("%s '%s': did you mean '%s'?", what, name, near);
    else
        log_error("%s '%s': 'topdownd list %s' tells what there is", what, name, list);
    return -EINVAL;
}

static int say_no_group(const struct catalog *catalog, const char *group_name) {
    const char *names[CATALOG_GROUPS_MAX];
    for (size_t g = 0; g < catalog->n_groups; g++)
        names[g] = catalog->groups[g].name;
    return refuse_name("there is no metric group", group_name, error_suggest(group_name, names, catalog->n_groups),
                       "groups");
}

// ---- the CPU ----

// The subject of a list.
struct subject {
    bool found[DATA_SPECS_MAX]; // for a list of CPUs: any number of shipped specs
    struct list_type {          // for all other lists: one spec; for this host, one per core type
        char core_type[HOST_TEXT_MAX];
        char name[LIST_SPEC_NAME_MAX];
        struct catalog *vendors; // from the vendor's files; NULL: a shipped spec
    } types[SOURCE_TYPES_MAX];
    size_t n_types;
    struct scenario *simulated; // owned; NULL: it is no simulated host
    struct config *config;      // owned; NULL: none was read
};

static int load_config(const struct options *host, struct errors *errors, struct config **out) {
    return host->config_given || access(host->config, F_OK) == 0
               ? config_load(host->config, errors, out)
               : config_parse("built-in defaults", "", 0, errors, out);
}

// Takes ownership of the source's catalog unless it is a shipped spec's.
static void take_type(struct source *source, struct list_type *type) {
    memcpy(type->core_type, source->core_type, sizeof type->core_type);
    (void)snprintf(type->name, sizeof type->name, "%s", source->catalog->product.spec);
    if (!source->vendors)
        return;
    type->vendors = source->catalog;
    source->catalog = NULL;
}

// Finds the specs that the daemon would use here.
static int find_own(const struct options *options, const char *data, struct errors *errors, struct subject *subject) {
    struct specs *specs = calloc(1, sizeof *specs);
    struct source *sources[SOURCE_TYPES_MAX];
    size_t n = 0;
    int r = specs ? load_config(options, errors, &subject->config) : -ENOMEM;
    if (r == 0)
        r = data_open_specs(data, specs, errors);
    if (r == 0) {
        const struct source_request request = {.options = options,
                                               .data = data,
                                               .specs = specs,
                                               .vendor = &subject->config->specs,
                                               .all_events = find_what(options->word) == LIST_EVENTS};
        r = source_find(&request, errors, sources, &n);
        subject->n_types = r == 0 ? n : 0;
        for (size_t i = 0; i < subject->n_types; i++)
            take_type(sources[i], &subject->types[i]);
        if (r == 0 && options->pmu == PMU_SIM) {
            struct source_sim *sim = (struct source_sim *)sources[0];
            subject->simulated = sim->scenario;
            sim->scenario = NULL;
        }
        while (n > 0)
            source_free(sources[--n]);
        specs_deinit(specs);
    }
    free(specs);
    return r;
}

static int say_ambiguous(const struct list_specs *list, const char *name, const bool *found) {
    struct text names = {0};
    for (size_t i = 0; i < list->n; i++)
        if (found[i])
            text_format(&names, " %s", list->specs[i].name);
    int r = names.failed ? -ENOMEM : -EINVAL;
    if (r == -EINVAL)
        log_error("%s has several specs, name one:%.*s", name, (int)names.length, names.data);
    text_free(&names);
    return r;
}

static int say_unknown(const struct list_specs *list, const char *name) {
    const char *folder = cpu_map_files_called(&list->cpus, name);
    if (folder) {
        log_error("there is no spec for the CPU '%s': Linux describes it in tools/perf/pmu-events/arch/%s. If these "
                  "files hold metrics, 'specs: {path: FOLDER, format: perf}' with a copy of arch measures them",
                  name, folder);
        return -EINVAL;
    }
    const char *near = list_specs_suggest(list, name);
    struct text boxes = {0};
    if (!near && list_specs_of_boxes(list, name, &boxes) && !boxes.failed) {
        log_error("there is no spec for the CPU '%s'; PMUs outside the cores have these, name one:%.*s", name,
                  (int)boxes.length, boxes.data);
        text_free(&boxes);
        return -EINVAL;
    }
    text_free(&boxes);
    return refuse_name("there is no spec for the CPU", name, near, "cpus");
}

// Chooses the specs that the options mean.
static int choose(struct list_specs *list, const struct options *options, const char *data, struct errors *errors,
                  struct subject *subject) {
    const char *name = options->list.cpu;
    bool cpus = find_what(options->word) == LIST_CPUS;
    if (!cpus && !name)
        return find_own(options, data, errors, subject);
    memset(subject->found, true, list->n);
    size_t n = name ? list_specs_find(list, name, subject->found) : list->n, spec = 0;
    if (n == 0 && !cpus && list_specs_add_boxes(list, name)) {
        spec = list->n - 1;
        n = 1;
        subject->found[spec] = true;
    }
    if (n == 0)
        return say_unknown(list, name);
    if (cpus)
        return 0;
    if (n > 1)
        return say_ambiguous(list, name, subject->found);
    while (!subject->found[spec])
        spec++;
    memcpy(subject->types[0].name, list->specs[spec].name, LIST_SPEC_NAME_MAX);
    subject->n_types = 1;
    return 0;
}

// ---- the command ----

static int load_type(struct list_specs *list, const struct list_type *type, struct errors *errors,
                     const struct catalog **out) {
    size_t spec = 0;
    int r = 0;
    while (!type->vendors && spec < list->n && strcmp(list->specs[spec].name, type->name) != 0)
        spec++;
    if (!type->vendors)
        r = spec < list->n ? list_specs_load(list, spec, errors) : say_unknown(list, type->name);
    if (r == 0)
        *out = type->vendors ? type->vendors : list->specs[spec].catalog;
    return r;
}

static void fill_type(const struct options *options, const struct catalog *catalog, const char *core_type,
                      struct table *table) {
    int what = find_what(options->word);
    if (what == LIST_METRICS)
        list_metrics(catalog, options->list.group, core_type, table);
    else if (what == LIST_GROUPS)
        list_groups(catalog, core_type, table);
    else
        list_events(catalog, core_type, table);
}

// The PMUs outside the cores belong to the host, whichever core types it has.
static int fill_pmus(const struct list_specs *list, const struct options *options, const struct subject *subject,
                     struct errors *errors, struct table *table) {
    const char *specs[SOURCE_TYPES_MAX];
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    for (size_t i = 0; i < subject->n_types; i++)
        specs[i] = subject->types[i].name;
    bool here = !options->list.cpu && options->pmu != PMU_SIM && options->pmu != PMU_REPLAY;
    const struct list_pmus pmus = {.folder = list->folder,
                                   .roots = here ? &roots : NULL,
                                   .simulated = subject->simulated,
                                   .cpus = &list->cpus,
                                   .config = subject->config ? &subject->config->uncore : NULL,
                                   .specs = specs,
                                   .n = subject->n_types};
    return find_what(options->word) == LIST_BOXES ? list_boxes(&pmus, errors, table) : list_pmus(&pmus, errors, table);
}

// A spec is no table: it is printed as a file, whole, with what it has of its family.
static int print_spec(const struct list_specs *list, const struct subject *subject, struct errors *errors) {
    struct text out = {0};
    if (subject->n_types != 1 || subject->types[0].vendors) {
        log_error("%s: choose a spec with --cpu NAME, as 'topdownd list cpus' names it",
                  subject->n_types > 1 ? "this host has several core types"
                                       : "the spec of this host is a vendor's file");
        return -EINVAL;
    }
    int r = list_specs_print(list, subject->types[0].name, errors, &out);
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r;
}

static int fill(struct list_specs *list, const struct options *options, const struct subject *subject,
                struct errors *errors, struct table *table) {
    const struct catalog *catalog = NULL;
    bool several = subject->types[0].core_type[0] != '\0', known = options->list.group == NULL;
    if (find_what(options->word) == LIST_CPUS) {
        list_cpus(list, subject->found, table);
        return 0;
    }
    if (find_what(options->word) == LIST_SPEC)
        return print_spec(list, subject, errors);
    if (find_what(options->word) == LIST_PMUS || find_what(options->word) == LIST_BOXES)
        return fill_pmus(list, options, subject, errors, table);
    if (!several) { // no column for the core type
        table->columns++;
        table->n_columns--;
    }
    for (size_t i = 0; i < subject->n_types; i++) {
        int r = load_type(list, &subject->types[i], errors, &catalog);
        if (r < 0)
            return r;
        known = known || catalog_find_group(catalog, options->list.group) >= 0;
        fill_type(options, catalog, several ? subject->types[i].core_type : NULL, table);
    }
    return known ? 0 : say_no_group(catalog, options->list.group);
}

static int list_of_specs(struct list_specs *list, const struct options *options, const char *data,
                         struct errors *errors, struct table *table) {
    struct subject subject = {.n_types = 0};
    int r = list_specs_init(list, data, errors);
    if (r == 0)
        r = choose(list, options, data, errors, &subject);
    if (r == 0)
        r = fill(list, options, &subject, errors, table);
    for (size_t i = 0; i < subject.n_types; i++)
        catalog_free(subject.types[i].vendors);
    scenario_free(subject.simulated);
    config_free(subject.config);
    return r;
}

static int print(const struct table *table, bool json) {
    struct text out = {0};
    int r = json ? table_print_json(table, &out) : table_print(table, &out);
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r;
}

// A heading without rows would say nothing.
static int say_no_pmus(const struct options *options) {
    struct text out = {0};
    if (!options->list.cpu && options->pmu == PMU_REPLAY) {
        text_string(&out, "What a recording has of PMUs outside the cores, its replay tells: 'topdownd run --pmu "
                          "replay:FILE', then /api/v1/uncore.\n");
    } else {
        text_string(&out, options->list.cpu ? "No spec has PMUs outside the cores of this CPU.\n"
                          : options->pmu == PMU_SIM
                              ? "This simulated host has no PMUs outside the cores: its scenario has no 'uncore'.\n"
                              : "This host has no PMUs outside the cores, or its kernel shows none.\n");
        text_string(&out, "Those of another CPU: topdownd list pmus --cpu sapphire-rapids\n");
    }
    int r = out.failed ? -ENOMEM : terminal_print(&out);
    text_free(&out);
    return r;
}

static int run(const struct options *options, struct list_specs *list, struct errors *errors) {
#define COLUMNS(array)                                                                                                 \
    { .columns = (array), .n_columns = sizeof(array) / sizeof *(array) }
    struct table tables[LIST_N] = {
        [LIST_CPUS] = COLUMNS(list_cpu_columns),          [LIST_GROUPS] = COLUMNS(GROUP_COLUMNS),
        [LIST_METRICS] = COLUMNS(METRIC_COLUMNS),         [LIST_EVENTS] = COLUMNS(list_event_columns),
        [LIST_PMUS] = COLUMNS(list_pmu_columns),          [LIST_BOXES] = COLUMNS(list_box_columns),
        [LIST_SCENARIOS] = COLUMNS(list_scenario_columns)};
#undef COLUMNS
    struct table *table = &tables[find_what(options->word)];
    char data[DATA_PATH_MAX];
    int r = data_find(options->paths.data, data, sizeof data, errors);
    if (r == 0)
        r = find_what(options->word) == LIST_SCENARIOS ? list_scenarios(data, errors, table)
                                                       : list_of_specs(list, options, data, errors, table);
    bool pmus = table->columns == list_pmu_columns || table->columns == list_box_columns;
    if (r == 0 && find_what(options->word) != LIST_SPEC)
        r = pmus && table->n_cells == 0 && !options->json ? say_no_pmus(options) : print(table, options->json);
    table_deinit(table);
    return r;
}

int list_run(const struct options *options) {
    struct errors errors = {0};
    struct list_specs *list = calloc(1, sizeof *list);
    int r = list ? run(options, list, &errors) : -ENOMEM;
    log_errors(&errors);
    if (r == -ENOMEM)
        log_error("memory is short");
    if (list)
        list_specs_deinit(list);
    free(list);
    return r == 0 ? EXIT_SUCCESS : EXIT_WRONG;
}
