// SPDX-License-Identifier: Apache-2.0
#include "config/spec/uncore_kinds_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_reader.h"
#include "core/base/array.h"

// topdownd ships the file, so an unknown key is a mistake. All mistakes of all rows are shown.

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 8, ROWS_MAX = 256, PATTERNS_MAX = 32, KINDS_MAX = 4096 };

static const char WORD[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char FILE_NAME[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
static const char *const GROUPS[] = {"memory", "remote", "llc", "interconnect", "io"};

struct kinds_reader {
    struct json_reader reader;
    struct uncore_kinds kinds;
};

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static void free_kind(const struct uncore_kind *kind) {
    free((char *)kind->name);
    free((char *)kind->spec);
    free((char *)kind->pattern);
    free((char *)kind->identifier);
    free((char *)kind->file);
    free((char *)kind->host);
    free((char *)kind->cpus);
    free((char *)kind->group);
}

void uncore_kinds_json_deinit(struct uncore_kinds *kinds) {
    for (size_t k = 0; k < kinds->n; k++)
        free_kind(&kinds->kinds[k]);
    free(kinds->kinds);
    *kinds = (struct uncore_kinds){0};
}

// Adds a copy of the kind with texts of its own.
static int add_kind(struct uncore_kinds *kinds, const struct uncore_kind *kind) {
    struct uncore_kind *grown = array_grow(kinds->kinds, kinds->n, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    kinds->kinds = grown;
    const struct uncore_kind own = {.name = copy(kind->name),
                                    .spec = copy(kind->spec),
                                    .pattern = copy(kind->pattern),
                                    .identifier = copy(kind->identifier),
                                    .file = copy(kind->file),
                                    .host = copy(kind->host),
                                    .cpus = copy(kind->cpus),
                                    .group = copy(kind->group)};
    if (!own.name || !own.spec || !own.pattern || (kind->identifier && !own.identifier) || (kind->file && !own.file) ||
        (kind->host && !own.host) || !own.cpus || !own.group) {
        free_kind(&own);
        return -ENOMEM;
    }
    grown[kinds->n++] = own;
    return 0;
}

static void check_text(const struct json_node *row, const char *text, const char *characters, const char *what) {
    if (text && (text[0] == '\0' || strspn(text, characters) != strlen(text) || strlen(text) >= UNCORE_NAME_MAX))
        json_fail(row, "'%.40s' is not %s", text, what);
}

static void check_group(const struct json_node *row, const char *group) {
    size_t g = 0, n = sizeof GROUPS / sizeof *GROUPS;
    while (group && g < n && strcmp(group, GROUPS[g]) != 0)
        g++;
    if (g == n)
        json_fail_suggest(row, group, GROUPS, n, "is no group: write memory, remote, llc, interconnect or io");
}

// A row is a kind for each of its CPUs and names of PMUs.
static void read_row(struct kinds_reader *file, const struct json_node *row) {
    static const char *const keys[] = {"name", "spec", "pmu", "identifier", "file", "host", "cpus", "group"};
    struct uncore_kind kind = {0};
    const char **pmus = NULL, **cpus = NULL;
    size_t n_pmus = 0, n_cpus = 0;
    int r = 0;
    if (!json_is_object(row))
        return;
    json_check_keys(row, keys, sizeof keys / sizeof *keys);
    (void)json_get_text(row, "name", JSON_REQUIRED, &kind.name);
    (void)json_get_text(row, "spec", JSON_REQUIRED, &kind.spec);
    (void)json_get_text(row, "identifier", JSON_OPTIONAL, &kind.identifier);
    (void)json_get_text(row, "file", JSON_OPTIONAL, &kind.file);
    (void)json_get_text(row, "host", JSON_OPTIONAL, &kind.host);
    (void)json_get_text(row, "group", JSON_REQUIRED, &kind.group);
    (void)json_get_texts(row, "pmu", JSON_REQUIRED, PATTERNS_MAX, &pmus, &n_pmus);
    (void)json_get_texts(row, "cpus", JSON_REQUIRED, PATTERNS_MAX, &cpus, &n_cpus);
    check_text(row, kind.name, WORD, "a word of a-z, 0-9 and _, which a label can be");
    check_text(row, kind.spec, FILE_NAME, "a spec's name: write that of its file, without folder and .json");
    check_group(row, kind.group);
    for (size_t c = 0; c < n_cpus && file->reader.status == 0; c++)
        for (size_t p = 0; p < n_pmus && r == 0; p++) {
            kind.cpus = cpus[c];
            kind.pattern = pmus[p];
            r = file->kinds.n < KINDS_MAX ? add_kind(&file->kinds, &kind) : -ENOMEM;
        }
    if (r < 0)
        json_fail_memory(row);
    free(cpus);
    free(pmus);
}

static void read_document(struct kinds_reader *file, const struct json_node *root) {
    static const char *const keys[] = {"kinds"};
    struct json_node rows;
    const cJSON *value;
    size_t index = 0;
    json_check_keys(root, keys, 1);
    if (!json_get_array(root, "kinds", JSON_REQUIRED, ROWS_MAX, &rows))
        return;
    cJSON_ArrayForEach(value, rows.value) {
        const struct json_node row = json_child(&rows, value, index++);
        read_row(file, &row);
    }
}

static int read_all(struct kinds_reader *file, cJSON *document, struct uncore_kinds *out) {
    if (document) {
        const struct json_node root = json_root(&file->reader, document);
        read_document(file, &root);
    }
    if (file->reader.status == 0)
        *out = file->kinds;
    else
        uncore_kinds_json_deinit(&file->kinds);
    cJSON_Delete(document);
    return file->reader.status;
}

int uncore_kinds_json_load(const char *path, struct errors *errors, struct uncore_kinds *out) {
    struct kinds_reader file = {.reader = {.file = path, .errors = errors}};
    return read_all(&file, json_load(&file.reader, FILE_MAX, DEPTH_MAX), out);
}

int uncore_kinds_json_parse(const char *name, const char *text, size_t length, struct errors *errors,
                            struct uncore_kinds *out) {
    struct kinds_reader file = {.reader = {.file = name, .errors = errors}};
    return read_all(&file, json_parse(&file.reader, text, length, DEPTH_MAX), out);
}
