// SPDX-License-Identifier: Apache-2.0
#include "config/known_cpus_json.h"

#include <errno.h>
#include <stdlib.h>

#include "config/json_reader.h"

enum { FILE_BYTES_MAX = 1 << 20, DEPTH_MAX = 8, CPUS_MAX = 1024, TEXTS_MAX = 256 };

static void read_cpu(const struct json_node *node, struct known_cpu *cpu) {
    static const char *const keys[] = {"spec", "midr", "cpuid", "known_as", "generic", "vendor"};
    json_check_keys(node, keys, sizeof keys / sizeof *keys);
    (void)json_get_text(node, "spec", JSON_REQUIRED, &cpu->spec);
    (void)json_get_texts(node, "midr", JSON_OPTIONAL, TEXTS_MAX, &cpu->midrs, &cpu->n_midrs);
    (void)json_get_texts(node, "cpuid", JSON_OPTIONAL, TEXTS_MAX, &cpu->cpuids, &cpu->n_cpuids);
    (void)json_get_texts(node, "known_as", JSON_OPTIONAL, TEXTS_MAX, &cpu->known_as, &cpu->n_known_as);
    (void)json_get_text(node, "generic", JSON_OPTIONAL, &cpu->generic);
    (void)json_get_text(node, "vendor", JSON_OPTIONAL, &cpu->vendor);
}

static void read_cpus(const struct json_node *root, struct known_cpus *known) {
    static const char *const keys[] = {"cpus"};
    struct json_node cpus;
    const cJSON *value;
    json_check_keys(root, keys, 1);
    if (!json_get_array(root, "cpus", JSON_REQUIRED, CPUS_MAX, &cpus))
        return;
    known->cpus = calloc((size_t)cJSON_GetArraySize(cpus.value) + 1, sizeof *known->cpus);
    if (!known->cpus) {
        json_fail_memory(&cpus);
        return;
    }
    cJSON_ArrayForEach(value, cpus.value) {
        const struct json_node node = json_child(&cpus, value, known->n);
        if (json_is_object(&node))
            read_cpu(&node, &known->cpus[known->n++]);
    }
}

int known_cpus_json_load(const char *path, struct errors *errors, struct known_cpus *out) {
    struct json_reader reader = {.file = path, .errors = errors};
    struct known_cpus known = {.document = json_load(&reader, FILE_BYTES_MAX, DEPTH_MAX)};
    if (known.document) {
        const struct json_node root = json_root(&reader, known.document);
        read_cpus(&root, &known);
    }
    if (reader.status < 0)
        known_cpus_deinit(&known);
    else
        *out = known;
    return reader.status;
}

void known_cpus_deinit(struct known_cpus *known) {
    for (size_t i = 0; i < known->n; i++) {
        free(known->cpus[i].known_as);
        free(known->cpus[i].cpuids);
        free(known->cpus[i].midrs);
    }
    free(known->cpus);
    cJSON_Delete(known->document);
    *known = (struct known_cpus){.n = 0};
}
