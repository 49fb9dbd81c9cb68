// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_json.h"
#include "tests/build/shipped.h"

// What the shipped specs of Arm's cores share with the vendor's files besides codes and formulas (test_arm_specs.c):
// the decision tree, and the file for each core. And what they do not share: the texts.

#define ARM_FOLDER "../shared/telemetry/arm"
#define N_OF(array) (sizeof(array) / sizeof(array)[0])

// As in Arm's mapping, whose names are those of its packages.
static const struct core {
    const char *name, *arm, *mapped;
} cores[] = {
    {"neoverse-n1", "neoverse-n1", "neoverse_n1_r4p1_pmu"},
    {"neoverse-n2", "neoverse-n2", "neoverse_n2_r0p2_pmu"},
    {"neoverse-n2-r0p3", "neoverse-n2-r0p3", "neoverse_n2_r0p3_pmu"},
    {"neoverse-n3", "neoverse-n3", "neoverse_n3_r0p0_pmu"},
    {"neoverse-v1", "neoverse-v1", "neoverse_v1_r1p2_pmu"},
    {"neoverse-v2", "neoverse-v2", "neoverse_v2_r0p0_pmu"},
    {"neoverse-v3", "neoverse-v3", "neoverse_v3_r0p0_pmu"},
    {"c1-nano", "arm-c1-nano-r0p0-pmu", "arm_c1_nano_r0p0_pmu"},
    {"c1-pro", "arm-c1-pro-r0p0-pmu", "arm_c1_pro_r0p0_pmu"},
    {"c1-pro", "arm-c1-pro-r1p1-pmu", "arm_c1_pro_r1p1_pmu"},
    {"c1-pro", "arm-c1-pro-r1p2-pmu", "arm_c1_pro_r1p2_pmu"},
    {"c1-premium", "arm-c1-premium-r0p0-pmu", "arm_c1_premium_r0p0_pmu"},
    {"c1-ultra", "arm-c1-ultra-r0p0-pmu", "arm_c1_ultra_r0p0_pmu"},
};

static cJSON *read_json(const char *path) {
    static struct errors errors;
    char *text;
    size_t length;
    if (json_read_file(path, SPEC_FILE_MAX, &errors, &text, &length) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    cJSON *json = cJSON_ParseWithLength(text, length);
    free(text);
    assert_non_null(json);
    return json;
}

static cJSON *read_ours(const struct core *core) {
    char path[128];
    (void)snprintf(path, sizeof path, "specs/%s.json", core->name);
    return shipped_json(path);
}

static cJSON *read_arms(const struct core *core) {
    char path[128];
    (void)snprintf(path, sizeof path, ARM_FOLDER "/cpu/%s.json", core->arm);
    return read_json(path);
}

static const cJSON *get(const cJSON *json, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!value)
        fail_msg("%s has no %s", json->string ? json->string : "the document", key);
    return value;
}

static const cJSON *tree_of(const cJSON *spec) {
    return get(get(get(spec, "methodologies"), "topdown_methodology"), "decision_tree");
}

static const cJSON *node_of(const cJSON *tree, const char *name) {
    const cJSON *node;
    cJSON_ArrayForEach(node, get(tree, "metrics")) {
        if (strcmp(get(node, "name")->valuestring, name) == 0)
            return node;
    }
    fail_msg("no node %s", name);
    return NULL;
}

// What the vendor samples for a node: what its tree says, else what it says of the metric. Ours may say more behind it:
// what the Statistical Profiling Extension sees.
static void check_samples(const struct core *core, const cJSON *ours, const cJSON *arms, const cJSON *spec) {
    const char *name = get(arms, "name")->valuestring;
    const cJSON *theirs = get(arms, "sample_events"), *found = get(ours, "sample_events"), *item;
    if (cJSON_GetArraySize(theirs) == 0)
        theirs = get(get(get(spec, "metrics"), name), "sample_events");
    int i = 0;
    cJSON_ArrayForEach(item, found) {
        const cJSON *same = cJSON_GetArrayItem(theirs, i++);
        bool spe = strncmp(item->valuestring, "SPE.", 4) == 0;
        if (spe ? same != NULL : !cJSON_Compare(item, same, true))
            fail_msg("%s: %s: samples %s", core->name, name, item->valuestring);
    }
    if (i < cJSON_GetArraySize(theirs))
        fail_msg("%s: %s: samples less than the vendor", core->name, name);
}

static bool is_arms(const cJSON *arms, const char *name) {
    return cJSON_HasObjectItem(get(arms, "metrics"), name) ||
           cJSON_HasObjectItem(get(get(arms, "groups"), "metrics"), name);
}

// What our tree has and Arm's cannot have: metrics that are ours alone, such as backend_mem_stalled.
static void remove_own(cJSON *our_tree, const cJSON *arms) {
    cJSON *nodes = cJSON_GetObjectItemCaseSensitive(our_tree, "metrics");
    for (int n = cJSON_GetArraySize(nodes); n-- > 0;) {
        cJSON *node = cJSON_GetArrayItem(nodes, n), *next = cJSON_GetObjectItemCaseSensitive(node, "next_items");
        for (int i = cJSON_GetArraySize(next); i-- > 0;)
            if (!is_arms(arms, cJSON_GetArrayItem(next, i)->valuestring))
                cJSON_DeleteItemFromArray(next, i);
        if (!is_arms(arms, get(node, "name")->valuestring))
            cJSON_DeleteItemFromArray(nodes, n);
    }
}

static void test_our_decision_trees_are_the_vendors(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(cores); c++) {
        cJSON *ours = read_ours(&cores[c]), *arms = read_arms(&cores[c]);
        const cJSON *our_tree = tree_of(ours), *arms_tree = tree_of(arms), *node;
        remove_own((cJSON *)(uintptr_t)our_tree, arms);
        assert_true(cJSON_Compare(get(our_tree, "root_nodes"), get(arms_tree, "root_nodes"), true));
        assert_int_equal(cJSON_GetArraySize(get(our_tree, "metrics")), cJSON_GetArraySize(get(arms_tree, "metrics")));
        cJSON_ArrayForEach(node, get(arms_tree, "metrics")) {
            const cJSON *same = node_of(our_tree, get(node, "name")->valuestring);
            static const char *const keys[] = {"group", "next_items"};
            for (size_t k = 0; k < N_OF(keys); k++)
                if (!cJSON_Compare(get(same, keys[k]), get(node, keys[k]), true))
                    fail_msg("%s: %s: other %s", cores[c].name, get(node, "name")->valuestring, keys[k]);
            check_samples(&cores[c], same, node, arms);
        }
        cJSON_Delete(arms);
        cJSON_Delete(ours);
    }
}

// The spec that specs/cpus.json has for a core: of the rows for its implementer, architecture and part, the latest of
// those whose variant and revision it has reached.
static const char *chosen(const cJSON *cpus, uint32_t midr) {
    const uint32_t kind = 0xff0ffff0, age = 0x00f0000f;
    const char *best = NULL;
    uint32_t best_age = 0;
    const cJSON *row, *item;
    cJSON_ArrayForEach(row, get(cpus, "cpus")) {
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(row, "midr")) {
            uint32_t entry = (uint32_t)strtoul(item->valuestring, NULL, 16);
            if ((entry & kind) != (midr & kind) || (entry & age) > (midr & age) || (best && (entry & age) < best_age))
                continue;
            best = get(row, "spec")->valuestring;
            best_age = entry & age;
        }
    }
    return best;
}

static const char *spec_of_mapped(const char *mapped) {
    for (size_t c = 0; c < N_OF(cores); c++)
        if (strcmp(cores[c].mapped, mapped) == 0)
            return cores[c].name;
    fail_msg("we know no %s", mapped);
    return NULL;
}

static void test_every_core_that_arm_maps_gets_the_spec_of_that_core(void **state) {
    (void)state;
    cJSON *cpus = read_json("specs/cpus.json"), *mapping = read_json(ARM_FOLDER "/mapping.json");
    const cJSON *entry;
    size_t n = 0;
    cJSON_ArrayForEach(entry, mapping) {
        // "0x410fd493", or implementer and part only: "0x41d0c" is 0x410fd0c0
        uint32_t value = (uint32_t)strtoul(entry->string, NULL, 16);
        uint32_t midr = strlen(entry->string) == 10 ? value : value >> 12 << 24 | 0x000f0000 | (value & 0xfff) << 4;
        const char *spec = chosen(cpus, midr), *wanted = spec_of_mapped(get(entry, "name")->valuestring);
        if (!spec || strcmp(spec, wanted) != 0)
            fail_msg("%s: %s instead of %s", entry->string, spec ? spec : "no spec", wanted);
        n++;
    }
    assert_true(n >= 20);
    cJSON_Delete(mapping);
    cJSON_Delete(cpus);
}

// ---- words ----

enum { RUN_WORDS = 8 };

// Every run of eight words of a document's texts, as hashes (FNV-1a).
struct runs {
    uint64_t *hashes;
    size_t n, capacity;
};

static bool is_prose(const cJSON *json) {
    return cJSON_IsString(json) && json->string &&
           (strcmp(json->string, "title") == 0 || strcmp(json->string, "meaning") == 0 ||
            strcmp(json->string, "description") == 0);
}

// Hashes the word at *text, without case; 0 at the end.
static uint64_t next_word(const char **text) {
    const char *c = *text;
    while (*c != '\0' && !isalnum((unsigned char)*c))
        c++;
    if (*c == '\0')
        return 0;
    uint64_t hash = 0xcbf29ce484222325;
    for (; isalnum((unsigned char)*c); c++)
        hash = (hash ^ (uint64_t)tolower((unsigned char)*c)) * 0x100000001b3;
    *text = c;
    return hash | 1;
}

static void add_run(struct runs *runs, const uint64_t *words) {
    if (runs->n == runs->capacity) {
        runs->capacity = 2 * runs->capacity + 1024;
        runs->hashes = realloc(runs->hashes, runs->capacity * sizeof *runs->hashes);
        assert_non_null(runs->hashes);
    }
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < RUN_WORDS; i++)
        hash = (hash ^ words[i]) * 0x100000001b3;
    runs->hashes[runs->n++] = hash;
}

static void collect_runs(struct runs *runs, const cJSON *json) {
    if (is_prose(json)) {
        const char *text = json->valuestring;
        uint64_t words[RUN_WORDS], word;
        for (size_t n = 1; (word = next_word(&text)) != 0; n++) {
            memmove(words, words + 1, (RUN_WORDS - 1) * sizeof *words);
            words[RUN_WORDS - 1] = word;
            if (n >= RUN_WORDS)
                add_run(runs, words);
        }
    }
    const cJSON *child;
    cJSON_ArrayForEach(child, json) collect_runs(runs, child);
}

static int compare_hashes(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static struct runs runs_of(cJSON *document) {
    struct runs runs = {0};
    collect_runs(&runs, document);
    cJSON_Delete(document);
    assert_true(runs.n > 1000);
    return runs;
}

static void test_our_texts_share_no_eight_words_in_a_row_with_the_vendors(void **state) {
    (void)state;
    for (size_t c = 0; c < N_OF(cores); c++) {
        struct runs ours = runs_of(read_ours(&cores[c])), arms = runs_of(read_arms(&cores[c]));
        qsort(arms.hashes, arms.n, sizeof *arms.hashes, compare_hashes);
        for (size_t i = 0; i < ours.n; i++)
            if (bsearch(&ours.hashes[i], arms.hashes, arms.n, sizeof *arms.hashes, compare_hashes))
                fail_msg("%s: a run of %d words is the vendor's", cores[c].name, RUN_WORDS);
        free(arms.hashes);
        free(ours.hashes);
    }
}

int main(void) {
    if (access(ARM_FOLDER "/mapping.json", R_OK) != 0) {
        printf("skipped: " ARM_FOLDER " is not there\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_decision_trees_are_the_vendors),
        cmocka_unit_test(test_every_core_that_arm_maps_gets_the_spec_of_that_core),
        cmocka_unit_test(test_our_texts_share_no_eight_words_in_a_row_with_the_vendors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
