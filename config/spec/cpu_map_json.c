// SPDX-License-Identifier: Apache-2.0
#include "config/spec/cpu_map_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_reader.h"

// topdownd ships the file, so an unknown key is a mistake. All mistakes of all rows are shown.

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 8 };

struct map_reader {
    struct json_reader reader;
    struct cpu_map map;
};

static bool parse_midr(const char *text, uint32_t *out) {
    if (strncmp(text, "0x", 2) != 0 || strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
        return false;
    size_t digits = strlen(text + 2);
    if (digits < 1 || digits > 8)
        return false;
    *out = (uint32_t)strtoul(text + 2, NULL, 16);
    return true;
}

// The MIDRs as numbers, for free(); NULL if one is invalid.
static uint32_t *read_midrs(const struct json_node *row, const char *const *texts, size_t n) {
    uint32_t *midrs = calloc(n + 1, sizeof *midrs);
    if (!midrs)
        json_fail_memory(row);
    for (size_t i = 0; i < n && midrs; i++) {
        if (parse_midr(texts[i], &midrs[i]))
            continue;
        json_fail(row, "'%.20s' is not a MIDR_EL1: write it as \"0x410fd4f0\"", texts[i]);
        free(midrs);
        midrs = NULL;
    }
    return midrs;
}

typedef int adder(struct cpu_map *map, const struct cpu_row *row, struct fault *fault);

static void add_row(struct map_reader *map, const struct json_node *node, const struct cpu_row *row, adder *add) {
    struct fault fault;
    int r = add(&map->map, row, &fault);
    if (r == -ENOMEM)
        json_fail_memory(node);
    else if (r < 0)
        json_fail(node, "%s", fault.text);
}

// cpu_map_add only copies from the texts.
static void read_texts(const struct json_node *node, const char *key, char ***out, size_t *n) {
    const char **texts = NULL;
    (void)json_get_texts(node, key, JSON_OPTIONAL, CPU_MAP_ENTRIES_MAX, &texts, n);
    *out = (char **)texts;
}

static void read_text(const struct json_node *node, const char *key, char **out) {
    const char *text = NULL;
    (void)json_get_text(node, key, JSON_OPTIONAL, &text);
    *out = (char *)text;
}

static void read_entries(const struct json_node *node, struct cpu_row *row) {
    const char **midrs = NULL;
    size_t n = 0;
    (void)json_get_texts(node, "midr", JSON_OPTIONAL, CPU_MAP_ENTRIES_MAX, &midrs, &n);
    row->midrs = read_midrs(node, midrs, n);
    row->n_midrs = n;
    free(midrs);
    read_texts(node, "cpuid", &row->cpuids, &row->n_cpuids);
}

static void free_row(struct cpu_row *row) {
    free(row->shows);
    free(row->sold_as);
    free(row->known_as);
    free(row->cpuids);
    free(row->midrs);
}

// A CPU with a spec of ours.
static void read_row(struct map_reader *map, const struct json_node *node) {
    static const char *const keys[] = {"spec",   "midr",  "cpuid",    "core",   "generic",
                                       "vendor", "shows", "known_as", "sold_as"};
    struct cpu_row row = {.spec = NULL};
    const char *spec = NULL;
    json_check_keys(node, keys, sizeof keys / sizeof *keys);
    (void)json_get_text(node, "spec", JSON_REQUIRED, &spec);
    read_entries(node, &row);
    read_text(node, "core", &row.core);
    read_text(node, "generic", &row.pmu);
    read_text(node, "vendor", &row.vendor);
    read_texts(node, "known_as", &row.known_as, &row.n_known_as);
    read_texts(node, "sold_as", &row.sold_as, &row.n_sold_as);
    read_texts(node, "shows", &row.shows, &row.n_shows);
    if (spec && (spec[0] == '\0' || strchr(spec, '/')))
        json_fail(node, "'%.40s' is no spec's name: write that of its file, without folder and .json", spec);
    row.spec = (char *)spec;
    if (map->reader.status == 0)
        add_row(map, node, &row, cpu_map_add);
    free_row(&row);
}

// A CPU that only Linux's files describe.
static void read_files(struct map_reader *map, const struct json_node *node) {
    static const char *const keys[] = {"folder", "midr", "cpuid"};
    struct cpu_row row = {.spec = NULL};
    const char *folder = NULL;
    json_check_keys(node, keys, sizeof keys / sizeof *keys);
    (void)json_get_text(node, "folder", JSON_REQUIRED, &folder);
    read_entries(node, &row);
    row.spec = (char *)folder;
    if (map->reader.status == 0)
        add_row(map, node, &row, cpu_map_add_files);
    free_row(&row);
}

// Each row's mistakes are shown, whatever the others hold.
static void read_rows(struct map_reader *map, const struct json_node *root, const char *key, bool required,
                      void (*read)(struct map_reader *map, const struct json_node *node)) {
    struct json_node rows;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_array(root, key, required ? JSON_REQUIRED : JSON_OPTIONAL, CPU_MAP_ROWS_MAX, &rows))
        return;
    cJSON_ArrayForEach(value, rows.value) {
        const struct json_node row = json_child(&rows, value, index++);
        int before = map->reader.status;
        map->reader.status = 0;
        if (json_is_object(&row))
            read(map, &row);
        if (map->reader.status == 0)
            map->reader.status = before;
    }
}

static void read_document(struct map_reader *map, const struct json_node *root) {
    static const char *const keys[] = {"cpus", "linux"};
    json_check_keys(root, keys, sizeof keys / sizeof *keys);
    read_rows(map, root, "cpus", true, read_row);
    read_rows(map, root, "linux", false, read_files);
}

// Takes ownership of the document; NULL if there is none.
static int read_map(struct map_reader *map, cJSON *document, struct cpu_map *out) {
    if (document) {
        const struct json_node root = json_root(&map->reader, document);
        read_document(map, &root);
    }
    if (map->reader.status == 0)
        *out = map->map;
    else
        cpu_map_deinit(&map->map);
    cJSON_Delete(document);
    return map->reader.status;
}

int cpu_map_json_parse(const char *name, const char *text, size_t length, struct errors *errors, struct cpu_map *out) {
    struct map_reader map = {.reader = {.file = name, .errors = errors}};
    return read_map(&map, json_parse(&map.reader, text, length, DEPTH_MAX), out);
}

int cpu_map_json_load(const char *path, struct errors *errors, struct cpu_map *out) {
    struct map_reader map = {.reader = {.file = path, .errors = errors}};
    return read_map(&map, json_load(&map.reader, FILE_MAX, DEPTH_MAX), out);
}
