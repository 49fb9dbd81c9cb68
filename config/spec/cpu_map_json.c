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

static void add_row(struct map_reader *map, const struct json_node *node, const struct cpu_row *row) {
    struct fault fault;
    int r = cpu_map_add(&map->map, row, &fault);
    if (r == -ENOMEM)
        json_fail_memory(node);
    else if (r < 0)
        json_fail(node, "%s", fault.text);
}

static void read_row(struct map_reader *map, const struct json_node *node) {
    static const char *const keys[] = {"spec", "midr", "cpuid", "core", "generic", "vendor", "known_as"};
    const char *spec = NULL, *core = NULL, *pmu = NULL, *vendor = NULL, **midr_texts = NULL, **cpuids = NULL,
               **known_as = NULL;
    size_t n_midrs = 0, n_cpuids = 0, n_known_as = 0;
    int before = map->reader.status;
    map->reader.status = 0;
    json_check_keys(node, keys, sizeof keys / sizeof *keys);
    (void)json_get_text(node, "spec", JSON_REQUIRED, &spec);
    (void)json_get_texts(node, "midr", JSON_OPTIONAL, CPU_MAP_ENTRIES_MAX, &midr_texts, &n_midrs);
    (void)json_get_texts(node, "cpuid", JSON_OPTIONAL, CPU_MAP_ENTRIES_MAX, &cpuids, &n_cpuids);
    (void)json_get_text(node, "core", JSON_OPTIONAL, &core);
    (void)json_get_text(node, "generic", JSON_OPTIONAL, &pmu);
    (void)json_get_text(node, "vendor", JSON_OPTIONAL, &vendor);
    (void)json_get_texts(node, "known_as", JSON_OPTIONAL, CPU_MAP_ENTRIES_MAX, &known_as, &n_known_as);
    uint32_t *midrs = read_midrs(node, midr_texts, n_midrs);
    if (spec && (spec[0] == '\0' || strchr(spec, '/')))
        json_fail(node, "'%.40s' is no spec's name: write that of its file, without folder and .json", spec);
    // cpu_map_add only copies from these
    const struct cpu_row row = {.spec = (char *)spec,
                                .midrs = midrs,
                                .n_midrs = n_midrs,
                                .cpuids = (char **)cpuids,
                                .n_cpuids = n_cpuids,
                                .core = (char *)core,
                                .pmu = (char *)pmu,
                                .vendor = (char *)vendor,
                                .known_as = (char **)known_as,
                                .n_known_as = n_known_as};
    if (map->reader.status == 0)
        add_row(map, node, &row);
    if (map->reader.status == 0)
        map->reader.status = before;
    free(midrs);
    free(known_as);
    free(cpuids);
    free(midr_texts);
}

static void read_rows(struct map_reader *map, const struct json_node *root) {
    static const char *const keys[] = {"cpus"};
    struct json_node rows;
    const cJSON *value;
    size_t index = 0;
    json_check_keys(root, keys, 1);
    if (!json_get_array(root, "cpus", JSON_REQUIRED, CPU_MAP_ROWS_MAX, &rows))
        return;
    cJSON_ArrayForEach(value, rows.value) {
        const struct json_node row = json_child(&rows, value, index++);
        if (json_is_object(&row))
            read_row(map, &row);
    }
}

// Takes ownership of the document; NULL if there is none.
static int read_map(struct map_reader *map, cJSON *document, struct cpu_map *out) {
    if (document) {
        const struct json_node root = json_root(&map->reader, document);
        read_rows(map, &root);
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
