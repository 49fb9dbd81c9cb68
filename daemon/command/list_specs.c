// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/list_specs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/spec/spec_json.h"
#include "config/spec/uncore_kinds_json.h"
#include "core/base/name.h"
#include "core/host/cpu_names.h"
#include "daemon/base/log.h"

enum { NAME_MAX_FOLDED = 256 };

static const char CPUS[] = "cpus.json"; // which spec is for which CPU
static const char BOXES[] = "uncore/";  // the folder of the specs of PMUs outside the cores

static int is_spec(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && length < LIST_SPEC_NAME_MAX && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0 && strcmp(entry->d_name, CPUS) != 0;
}

int list_specs_init(struct list_specs *list, const char *data, struct errors *errors) {
    char path[sizeof list->folder + sizeof CPUS];
    struct dirent **entries;
    *list = (struct list_specs){.n = 0};
    (void)snprintf(list->folder, sizeof list->folder, "%s/specs", data);
    int n = scandir(list->folder, &entries, is_spec, alphasort);
    if (n < 0)
        return errors_add(errors, list->folder, 0, 0, "cannot read the folder: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        if (list->n < DATA_SPECS_MAX)
            (void)snprintf(list->specs[list->n++].name, LIST_SPEC_NAME_MAX, "%.*s",
                           (int)(strlen(entries[i]->d_name) - 5), entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    (void)snprintf(path, sizeof path, "%s/%s", list->folder, CPUS);
    return cpu_map_json_load(path, errors, &list->cpus);
}

void list_specs_deinit(struct list_specs *list) {
    cpu_map_deinit(&list->cpus);
    while (list->n > 0)
        catalog_free(list->specs[--list->n].catalog);
}

bool list_specs_add_boxes(struct list_specs *list, const char *name) {
    static const char kinds[] = "kinds"; // which kinds a CPU has
    char path[sizeof list->folder + LIST_SPEC_NAME_MAX + 8];
    struct list_spec *spec = &list->specs[list->n];
    if (list->n == DATA_SPECS_MAX || strchr(name, '/') || strcmp(name, kinds) == 0 ||
        snprintf(spec->name, sizeof spec->name, "%s%s", BOXES, name) >= LIST_SPEC_NAME_MAX)
        return false;
    (void)snprintf(path, sizeof path, "%s/%s.json", list->folder, spec->name);
    bool found = access(path, F_OK) == 0;
    list->n += found;
    return found;
}

// Adds the software events that every Linux host has, if the folder has their spec.
static int add_software(const struct list_specs *list, struct errors *errors, struct catalog_builder *builder) {
    char path[sizeof list->folder + LIST_SPEC_NAME_MAX + 8];
    size_t i = 0;
    while (i < list->n && strcmp(list->specs[i].name, SPEC_SOFTWARE) != 0)
        i++;
    if (i == list->n || strcmp(catalog_builder_catalog(builder)->product.pmu, SPEC_SOFTWARE) == 0)
        return 0;
    (void)snprintf(path, sizeof path, "%s/" SPEC_SOFTWARE ".json", list->folder);
    return spec_json_add(path, errors, builder);
}

int list_specs_load(struct list_specs *list, size_t spec, struct errors *errors) {
    char path[sizeof list->folder + LIST_SPEC_NAME_MAX + 8];
    struct catalog_builder *builder;
    if (list->specs[spec].catalog)
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s.json", list->folder, list->specs[spec].name);
    int r = spec_json_read(path, NULL, errors, &builder);
    if (r < 0)
        return r;
    if (strncmp(list->specs[spec].name, BOXES, sizeof BOXES - 1) != 0)
        r = add_software(list, errors, builder);
    if (r == 0)
        list->specs[spec].catalog = catalog_builder_finish(builder);
    else
        catalog_builder_free(builder);
    return r;
}

// name_equal, ignoring spaces too.
static bool same(const char *a, const char *b) {
    const char *const names[2] = {a, b};
    char folded[2][NAME_MAX_FOLDED];
    for (int i = 0; i < 2; i++) {
        char *end = folded[i];
        name_fold(names[i], folded[i], NAME_MAX_FOLDED);
        for (const char *c = folded[i]; *c != '\0'; c++)
            if (*c != ' ')
                *end++ = *c;
        *end = '\0';
    }
    return strcmp(folded[0], folded[1]) == 0;
}

static bool known_as(const struct list_specs *list, const char *spec, const char *name) {
    for (size_t i = 0; i < list->cpus.n; i++)
        if (strcmp(list->cpus.rows[i].spec, spec) == 0 && cpu_row_is_called(&list->cpus.rows[i], name))
            return true;
    return false;
}

enum { BY_SPEC, BY_ALIAS, BY_VENDOR, BY_PRODUCT, WAYS };

static bool is_called(struct list_specs *list, size_t spec, int way, const char *name) {
    char full[NAME_MAX_FOLDED];
    struct errors ignored = {0}; // an invalid spec has no product
    if (way == BY_SPEC || way == BY_ALIAS)
        return way == BY_SPEC ? same(list->specs[spec].name, name) : known_as(list, list->specs[spec].name, name);
    if (list_specs_load(list, spec, &ignored) < 0)
        return false;
    const struct catalog_product *product = &list->specs[spec].catalog->product;
    (void)snprintf(full, sizeof full, "%s %s", product->vendor, product->name);
    return way == BY_VENDOR ? same(product->vendor, name) : same(product->name, name) || same(full, name);
}

size_t list_specs_find(struct list_specs *list, const char *name, bool *found) {
    size_t n = 0;
    for (int way = 0; way < WAYS && n == 0; way++)
        for (size_t i = 0; i < list->n; i++)
            n += found[i] = is_called(list, i, way, name);
    return n;
}

bool list_specs_of_boxes(const struct list_specs *list, const char *name, struct text *out) {
    char path[sizeof list->folder + sizeof "/uncore/kinds.json"];
    struct uncore_kinds kinds;
    struct errors ignored = {0}; // then nothing is known
    const char *names[DATA_SPECS_MAX];
    size_t n = 0, before = out->length, length = strlen(name);
    (void)snprintf(path, sizeof path, "%s/uncore/kinds.json", list->folder);
    if (uncore_kinds_json_load(path, &ignored, &kinds) < 0)
        return false;
    for (size_t k = 0; k < kinds.n; k++) {
        bool again = k > 0 && strcmp(kinds.kinds[k].spec, kinds.kinds[k - 1].spec) == 0;
        bool begins = strncmp(kinds.kinds[k].spec, name, length) == 0 && kinds.kinds[k].spec[length] == '-';
        if (!again && (begins || strcmp(kinds.kinds[k].name, name) == 0))
            text_format(out, " %s", kinds.kinds[k].spec);
        if (!again && n < DATA_SPECS_MAX)
            names[n++] = kinds.kinds[k].spec;
    }
    const char *near = out->length == before ? error_suggest(name, names, n) : NULL;
    if (near)
        text_format(out, " %s", near);
    uncore_kinds_json_deinit(&kinds);
    return out->length > before;
}

const char *list_specs_suggest(const struct list_specs *list, const char *name) {
    const char *names[DATA_SPECS_MAX + CPU_MAP_ENTRIES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        names[n++] = list->specs[i].name;
    for (size_t i = 0; i < list->cpus.n; i++)
        for (size_t k = 0; k < list->cpus.rows[i].n_known_as && n < sizeof names / sizeof *names; k++)
            names[n++] = list->cpus.rows[i].known_as[k];
    return error_suggest(name, names, n);
}

int list_specs_print(const struct list_specs *list, const char *name, struct errors *errors, struct text *out) {
    char path[sizeof list->folder + LIST_SPEC_NAME_MAX + 8], *spec;
    (void)snprintf(path, sizeof path, "%s/%s.json", list->folder, name);
    int r = spec_json_print(path, errors, &spec);
    if (r < 0)
        return r;
    text_string(out, spec);
    text_string(out, "\n");
    free(spec);
    return out->failed ? -ENOMEM : 0;
}

// ---- the list of CPUs ----

const struct table_column list_cpu_columns[LIST_CPU_COLUMNS] = {
    {"spec", "SPEC", TABLE_TEXT},          {"vendor", "VENDOR", TABLE_TEXT},
    {"name", "NAME", TABLE_TEXT},          {"microarchitecture", NULL, TABLE_TEXT},
    {"midr", "MIDR", TABLE_TEXTS},         {"cpuid", "CPUID", TABLE_TEXTS},
    {"known_as", "KNOWN AS", TABLE_TEXTS}, {"generic", "GENERIC", TABLE_TEXT},
    {"shows", NULL, TABLE_TEXTS},
};

// What the rows of one spec say, one after the other.
struct rows_texts {
    const char *texts[CPU_MAP_ENTRIES_MAX];
    size_t n;
};

static void add_texts(struct rows_texts *all, char *const *texts, size_t n) {
    for (size_t i = 0; i < n && all->n < CPU_MAP_ENTRIES_MAX; i++)
        all->texts[all->n++] = texts[i];
}

static void put_texts(struct table *table, const struct rows_texts *all) { table_texts(table, all->texts, all->n); }

static void put_midrs(struct table *table, const struct cpu_map *map, const char *spec) {
    char texts[CPU_MAP_ENTRIES_MAX][sizeof "0x00000000"];
    struct rows_texts midrs = {.n = 0};
    for (size_t r = 0; r < map->n; r++)
        for (size_t i = 0; strcmp(map->rows[r].spec, spec) == 0 && i < map->rows[r].n_midrs; i++) {
            if (midrs.n == CPU_MAP_ENTRIES_MAX)
                break;
            (void)snprintf(texts[midrs.n], sizeof texts[midrs.n], "0x%08" PRIx32, map->rows[r].midrs[i]);
            midrs.texts[midrs.n] = texts[midrs.n];
            midrs.n++;
        }
    put_texts(table, &midrs);
}

static void list_cpu(const struct list_specs *list, size_t spec, struct table *table) {
    const struct catalog_product *product = &list->specs[spec].catalog->product;
    struct rows_texts cpuids = {.n = 0}, known_as = {.n = 0}, shows = {.n = 0};
    char generic[256] = "";
    for (size_t i = 0; i < list->cpus.n; i++) {
        const struct cpu_row *row = &list->cpus.rows[i];
        size_t length = strlen(generic);
        if (strcmp(row->spec, product->spec) != 0)
            continue;
        add_texts(&cpuids, row->cpuids, row->n_cpuids);
        add_texts(&known_as, row->known_as, row->n_known_as);
        add_texts(&shows, row->shows, row->n_shows);
        if (row->pmu)
            (void)snprintf(generic + length, sizeof generic - length, "%s%s", length > 0 ? ", " : "", row->pmu);
    }
    table_text(table, product->spec);
    table_text(table, product->vendor);
    table_text(table, product->name);
    table_text(table, product->microarchitecture);
    put_midrs(table, &list->cpus, product->spec);
    put_texts(table, &cpuids);
    put_texts(table, &known_as);
    table_text(table, generic[0] != '\0' ? generic : NULL);
    put_texts(table, &shows);
}

void list_cpus(struct list_specs *list, const bool *found, struct table *table) {
    for (size_t i = 0; i < list->n; i++) {
        struct errors errors = {0};
        if (!found[i])
            continue;
        if (list_specs_load(list, i, &errors) < 0)
            log_errors(&errors);
        else
            list_cpu(list, i, table);
    }
}
