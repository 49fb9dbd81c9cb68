// SPDX-License-Identifier: Apache-2.0
//
// Every list is a table of core data; exporters/view/table.h writes it for people or for programs.

#include "daemon/command/list.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/command/list_specs.h"
#include "daemon/base/options.h"
#include "daemon/source/source_find.h"

enum what { LIST_CPUS, LIST_GROUPS, LIST_METRICS, LIST_EVENTS, LIST_N };
static const char *const WHATS[LIST_N] = {"cpus", "groups", "metrics", "events"};

enum { EXIT_WRONG = 2 };

enum {
    OPTION_HELP = 1,
    OPTION_CPU,
    OPTION_GROUP,
    OPTION_JSON,
    OPTION_PMU,
    OPTION_SYSFS,
    OPTION_PROCFS,
    OPTION_DATA,
    OPTION_CONFIG,
};

struct list_options {
    enum what what;
    const char *cpu, *group; // NULL: this host's, all
    bool json, help;
    struct options host; // where the host is looked at
};

void list_help(void) {
    (void)puts("Usage: topdownd list cpus|groups|metrics|events [OPTION]...\n"
               "Shows what is known of this host's CPU, or of any other that has a spec.\n"
               "\n"
               "  cpus                specs, and what identifies their CPUs\n"
               "  groups              metric groups, which a profile names\n"
               "  metrics             metrics, with their names in Prometheus\n"
               "  events              events, with the perf attributes that would be used\n"
               "\n"
               "Options:\n"
               "  --cpu NAME          of that CPU: a spec, what the CPU is known as, or (cpus) a vendor\n"
               "  --group GROUP       metrics: only those of that metric group\n"
               "  --json              an array of objects\n"
               "  --config FILE       configuration, which may name a vendor's files for this host\n"
               "  --pmu KIND, --path.sysfs DIR, --path.procfs DIR, --path.data DIR\n"
               "                      as for the daemon: topdownd --help");
}

// ---- the command line ----

static int wrong(const char *what, const char *word, const char *suggestion) {
    (void)fprintf(stderr, "topdownd: %s '%s'%s%s%s\n", what, word, suggestion ? ": did you mean '" : "",
                  suggestion ? suggestion : ": topdownd list --help tells what there is", suggestion ? "'?" : "");
    return -EINVAL;
}

static int parse_what(int argc, char **argv, struct list_options *options) {
    if (optind == argc)
        return wrong("list what? There is", "cpus, groups, metrics, events", NULL);
    if (optind + 1 < argc)
        return wrong("there is one word too many:", argv[optind + 1], NULL);
    for (int i = 0; i < LIST_N; i++) {
        if (strcmp(argv[optind], WHATS[i]) == 0) {
            options->what = (enum what)i;
            return 0;
        }
    }
    return wrong("there is no list of", argv[optind], error_suggest(argv[optind], WHATS, LIST_N));
}

static int parse_option(int option, struct list_options *options) {
    switch (option) {
    case OPTION_HELP:
        options->help = true;
        return 0;
    case OPTION_CPU:
        options->cpu = optarg;
        return 0;
    case OPTION_GROUP:
        options->group = optarg;
        return 0;
    case OPTION_JSON:
        options->json = true;
        return 0;
    case OPTION_PMU:
        return options_parse_pmu(optarg, &options->host);
    case OPTION_SYSFS:
        options->host.sysfs = optarg;
        return 0;
    case OPTION_PROCFS:
        options->host.procfs = optarg;
        return 0;
    case OPTION_DATA:
        options->host.data = optarg;
        return 0;
    case OPTION_CONFIG:
        options->host.config = optarg;
        options->host.config_given = true;
        return 0;
    default:
        return -EINVAL; // getopt_long has said why
    }
}

static int parse(int argc, char **argv, struct list_options *options) {
    static const struct option longs[] = {
        {"help", no_argument, NULL, OPTION_HELP},
        {"cpu", required_argument, NULL, OPTION_CPU},
        {"group", required_argument, NULL, OPTION_GROUP},
        {"json", no_argument, NULL, OPTION_JSON},
        {"pmu", required_argument, NULL, OPTION_PMU},
        {"path.sysfs", required_argument, NULL, OPTION_SYSFS},
        {"path.procfs", required_argument, NULL, OPTION_PROCFS},
        {"path.data", required_argument, NULL, OPTION_DATA},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {NULL, 0, NULL, 0},
    };
    int r = 0;
    for (int option; r == 0 && (option = getopt_long(argc, argv, "", longs, NULL)) != -1;)
        r = parse_option(option, options);
    if (r < 0 || options->help)
        return r;
    r = parse_what(argc, argv, options);
    return r == 0 && options->group && options->what != LIST_METRICS ? wrong("only metrics have", "--group", NULL) : r;
}

// ---- the lists ----

static const struct table_column CPU_COLUMNS[] = {
    {"spec", "SPEC", TABLE_TEXT},          {"vendor", "VENDOR", TABLE_TEXT},
    {"name", "NAME", TABLE_TEXT},          {"microarchitecture", NULL, TABLE_TEXT},
    {"midr", "MIDR", TABLE_TEXTS},         {"cpuid", "CPUID", TABLE_TEXTS},
    {"known_as", "KNOWN AS", TABLE_TEXTS}, {"generic", "GENERIC", TABLE_TEXT},
};

// The first column of the lists of one spec is there on a host with cores of several types only.

static const struct table_column GROUP_COLUMNS[] = {
    LIST_CORE_TYPE_COLUMN,
    {"name", "NAME", TABLE_TEXT},
    {"metrics", "METRICS", TABLE_NUMBER},
    {"stage", "STAGE", TABLE_NUMBER},
    {"title", "TITLE", TABLE_TEXT},
    {"help", NULL, TABLE_TEXT},
};

static const struct table_column METRIC_COLUMNS[] = {
    LIST_CORE_TYPE_COLUMN,           {"metric", "METRIC", TABLE_TEXT}, {"name", "NAME", TABLE_TEXT},
    {"units", "UNITS", TABLE_TEXT},  {"title", "TITLE", TABLE_TEXT},   {"groups", "GROUPS", TABLE_TEXTS},
    {"formula", NULL, TABLE_TEXT},   {"help", NULL, TABLE_TEXT},       {"parent", NULL, TABLE_TEXT},
    {"threshold", NULL, TABLE_TEXT}, {"meaning", NULL, TABLE_TEXT},    {"unmeasurable", NULL, TABLE_TEXT},
};

static void put_midrs(struct table *table, const struct cpu_row *row) {
    char texts[CPU_MAP_ENTRIES_MAX][sizeof "0x00000000"];
    const char *pointers[CPU_MAP_ENTRIES_MAX];
    for (size_t i = 0; i < row->n_midrs; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "0x%08" PRIx32, row->midrs[i]);
        pointers[i] = texts[i];
    }
    table_texts(table, pointers, row->n_midrs);
}

static void list_cpu(const struct list_specs *list, size_t spec, struct table *table) {
    const struct catalog_product *product = &list->specs[spec].catalog->product;
    static const struct cpu_row none = {.spec = NULL};
    const struct cpu_row *row = &none;
    for (size_t i = 0; i < list->cpus.n && row == &none; i++)
        if (strcmp(list->cpus.rows[i].spec, product->spec) == 0)
            row = &list->cpus.rows[i];
    table_text(table, product->spec);
    table_text(table, product->vendor);
    table_text(table, product->name);
    table_text(table, product->microarchitecture);
    put_midrs(table, row);
    table_texts(table, (const char *const *)row->cpuids, row->n_cpuids);
    table_texts(table, (const char *const *)row->known_as, row->n_known_as);
    table_text(table, row->pmu);
}

static void show_errors(const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        (void)fprintf(stderr, "topdownd: %s\n", line);
    }
}

// A broken spec is told of, and the others are listed.
static void list_cpus(struct list_specs *list, const bool *found, struct table *table) {
    for (size_t i = 0; i < list->n; i++) {
        struct errors errors = {0};
        if (!found[i])
            continue;
        if (list_specs_load(list, i, &errors) < 0)
            show_errors(&errors);
        else
            list_cpu(list, i, table);
    }
}

static bool has_metric(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

// 1 where the methodology's first stage has all of the group's metrics, else 2.
static unsigned stage_of(const struct catalog *catalog, const struct catalog_group *group) {
    int first = catalog_find_group(catalog, "stage_1");
    for (size_t i = 0; i < group->n_metrics; i++)
        if (first < 0 || !has_metric(&catalog->groups[first], group->metrics[i]))
            return 2;
    return 1;
}

void list_begin_row(const char *core_type, struct table *table) {
    if (core_type)
        table_text(table, core_type);
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

static void list_metric(const struct catalog *catalog, unsigned index, const char *core_type, struct table *table) {
    const struct catalog_metric *metric = &catalog->metrics[index];
    const char *groups[CATALOG_GROUPS_MAX];
    size_t n = 0;
    for (size_t g = 0; g < catalog->n_groups; g++)
        if (has_metric(&catalog->groups[g], index))
            groups[n++] = catalog->groups[g].name;
    list_begin_row(core_type, table);
    table_text(table, metric->export_name);
    table_text(table, metric->name);
    table_text(table, metric->units);
    table_text(table, metric->title);
    table_texts(table, groups, n);
    table_text(table, metric->formula_text);
    table_text(table, metric->help);
    table_text(table, metric->parent < 0 ? NULL : catalog->metrics[metric->parent].export_name);
    table_text(table, metric->threshold_text);
    table_text(table, metric->meaning);
    table_text(table, metric->unmeasurable);
}

// None, where there is no group of that name.
static void list_metrics(const struct catalog *catalog, const char *group_name, const char *core_type,
                         struct table *table) {
    int group = group_name ? catalog_find_group(catalog, group_name) : -1;
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        if (!group_name || (group >= 0 && has_metric(&catalog->groups[group], m)))
            list_metric(catalog, m, core_type, table);
}

static int say_no_group(const struct catalog *catalog, const char *group_name) {
    const char *names[CATALOG_GROUPS_MAX];
    for (size_t g = 0; g < catalog->n_groups; g++)
        names[g] = catalog->groups[g].name;
    return wrong("there is no metric group", group_name, error_suggest(group_name, names, catalog->n_groups));
}

// ---- which CPU ----

// What a list is of.
struct subject {
    bool found[DATA_SPECS_MAX]; // of a list of CPUs: any number of our own specs
    struct list_type {          // of all other lists: one spec; of this host, one for each type of its cores
        char core_type[HOST_TEXT_MAX];
        char name[LIST_SPEC_NAME_MAX];
        struct catalog *vendors; // of the vendor's files; NULL: one of our own
    } types[SOURCE_TYPES_MAX];
    size_t n_types;
};

static int load_config(const struct options *host, struct errors *errors, struct config **out) {
    return host->config_given || access(host->config, F_OK) == 0
               ? config_load(host->config, errors, out)
               : config_parse("built-in defaults", "", 0, errors, out);
}

// Takes over the source's catalog where it is not of our own.
static void take_type(struct source *source, struct list_type *type) {
    memcpy(type->core_type, source->core_type, sizeof type->core_type);
    (void)snprintf(type->name, sizeof type->name, "%s", source->catalog->product.spec);
    if (!source->vendors)
        return;
    type->vendors = source->catalog;
    source->catalog = NULL;
}

// The specs that the daemon would use here.
static int find_own(const struct list_options *options, const char *data, struct errors *errors,
                    struct subject *subject) {
    struct specs *specs = calloc(1, sizeof *specs);
    struct source *sources[SOURCE_TYPES_MAX];
    size_t n = 0;
    struct config *config = NULL;
    int r = specs ? load_config(&options->host, errors, &config) : -ENOMEM;
    if (r == 0)
        r = data_open_specs(data, specs, errors);
    if (r == 0) {
        const struct source_request request = {.options = &options->host,
                                               .data = data,
                                               .specs = specs,
                                               .vendor = &config->specs,
                                               .all_events = options->what == LIST_EVENTS};
        r = source_find(&request, errors, sources, &n);
        subject->n_types = r == 0 ? n : 0;
        for (size_t i = 0; i < subject->n_types; i++)
            take_type(sources[i], &subject->types[i]);
        while (n > 0)
            source_free(sources[--n]);
        specs_deinit(specs);
    }
    config_free(config);
    free(specs);
    return r;
}

static int say_ambiguous(const struct list_specs *list, const char *name, const bool *found) {
    (void)fprintf(stderr, "topdownd: %s has several specs, name one:", name);
    for (size_t i = 0; i < list->n; i++)
        if (found[i])
            (void)fprintf(stderr, " %s", list->specs[i].name);
    (void)fputc('\n', stderr);
    return -EINVAL;
}

static int say_unknown(const struct list_specs *list, const char *name) {
    const char *names[DATA_SPECS_MAX];
    for (size_t i = 0; i < list->n; i++)
        names[i] = list->specs[i].name;
    return wrong("there is no spec for the CPU", name, error_suggest(name, names, list->n));
}

// Sets which specs are meant.
static int choose(struct list_specs *list, const struct list_options *options, const char *data, struct errors *errors,
                  struct subject *subject) {
    const char *name = options->cpu;
    if (options->what != LIST_CPUS && !name)
        return find_own(options, data, errors, subject);
    memset(subject->found, true, list->n);
    size_t n = name ? list_specs_find(list, name, subject->found) : list->n, spec = 0;
    if (n == 0)
        return say_unknown(list, name);
    if (options->what == LIST_CPUS)
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

static void fill_type(const struct list_options *options, const struct catalog *catalog, const char *core_type,
                      struct table *table) {
    if (options->what == LIST_METRICS)
        list_metrics(catalog, options->group, core_type, table);
    else if (options->what == LIST_GROUPS)
        list_groups(catalog, core_type, table);
    else
        list_events(catalog, core_type, table);
}

static int fill(struct list_specs *list, const struct list_options *options, const struct subject *subject,
                struct errors *errors, struct table *table) {
    const struct catalog *catalog = NULL;
    bool several = subject->types[0].core_type[0] != '\0', known = options->group == NULL;
    if (options->what == LIST_CPUS) {
        list_cpus(list, subject->found, table);
        return 0;
    }
    if (!several) { // no column for the core type
        table->columns++;
        table->n_columns--;
    }
    for (size_t i = 0; i < subject->n_types; i++) {
        int r = load_type(list, &subject->types[i], errors, &catalog);
        if (r < 0)
            return r;
        known = known || catalog_find_group(catalog, options->group) >= 0;
        fill_type(options, catalog, several ? subject->types[i].core_type : NULL, table);
    }
    return known ? 0 : say_no_group(catalog, options->group);
}

static int print(const struct table *table, bool json) {
    struct text out = {0};
    int r = json ? table_print_json(table, &out) : table_print(table, &out);
    if (r == 0 && (fwrite(out.data, 1, out.length, stdout) != out.length || fflush(stdout) != 0)) {
        (void)fprintf(stderr, "topdownd: cannot write the list: %s\n", strerror(errno));
        r = -EIO;
    }
    text_free(&out);
    return r;
}

static int run(const struct list_options *options, struct list_specs *list, struct errors *errors) {
#define COLUMNS(array)                                                                                                 \
    { .columns = (array), .n_columns = sizeof(array) / sizeof *(array) }
    struct table tables[LIST_N] = {[LIST_CPUS] = COLUMNS(CPU_COLUMNS),
                                   [LIST_GROUPS] = COLUMNS(GROUP_COLUMNS),
                                   [LIST_METRICS] = COLUMNS(METRIC_COLUMNS),
                                   [LIST_EVENTS] = COLUMNS(list_event_columns)};
#undef COLUMNS
    struct table *table = &tables[options->what];
    char data[DATA_PATH_MAX];
    struct subject subject = {.n_types = 0};
    int r = data_find(options->host.data, data, sizeof data, errors);
    if (r == 0)
        r = list_specs_init(list, data, errors);
    if (r == 0)
        r = choose(list, options, data, errors, &subject);
    if (r == 0)
        r = fill(list, options, &subject, errors, table);
    if (r == 0)
        r = print(table, options->json);
    table_deinit(table);
    for (size_t i = 0; i < subject.n_types; i++)
        catalog_free(subject.types[i].vendors);
    return r;
}

int list_main(int argc, char **argv) {
    struct list_options options = {
        .host = {.config = TOPDOWND_SYSCONFDIR "/topdownd/topdownd.yaml", .sysfs = "/sys", .procfs = "/proc"}};
    struct errors errors = {0};
    if (parse(argc, argv, &options) < 0)
        return EXIT_WRONG;
    if (options.help) {
        list_help();
        return EXIT_SUCCESS;
    }
    struct list_specs *list = calloc(1, sizeof *list);
    int r = list ? run(&options, list, &errors) : -ENOMEM;
    show_errors(&errors);
    if (r == -ENOMEM)
        (void)fprintf(stderr, "topdownd: memory is short\n");
    if (list)
        list_specs_deinit(list);
    free(list);
    return r == 0 ? EXIT_SUCCESS : r == -EINVAL ? EXIT_WRONG : EXIT_FAILURE;
}
