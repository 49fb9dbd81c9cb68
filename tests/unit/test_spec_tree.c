// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/build/shipped.h"

// The shipped Arm specs are complete and consistent: texts for everything, and a tree in which every name leads
// somewhere. Read as JSON, so that nothing depends on the loader.

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const specs[] = {"armv8-pmuv3", "neoverse-n1", "neoverse-n2", "neoverse-n2-r0p3",
                                    "neoverse-n3", "neoverse-v1", "neoverse-v2", "neoverse-v3",
                                    "c1-nano",     "c1-pro",      "c1-premium",  "c1-ultra"};

static cJSON *read_json(const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "specs/%s.json", name);
    return shipped_json(path);
}

static const cJSON *get(const cJSON *json, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!value)
        fail_msg("%s has no %s", json->string ? json->string : "the document", key);
    return value;
}

static const cJSON *metrics_of(const cJSON *spec) { return get(spec, "metrics"); }
static const cJSON *groups_of(const cJSON *spec) { return get(get(spec, "groups"), "metrics"); }

// What an action could win at most: core/spec/opportunity.h says of each action what it means.
static bool is_bound(const cJSON *metric) { return strncmp(metric->string, "opportunity_", 12) == 0; }

static bool has(const cJSON *object, const char *key) { return cJSON_GetObjectItemCaseSensitive(object, key) != NULL; }

static bool list_has(const cJSON *list, const char *text) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (strcmp(item->valuestring, text) == 0)
            return true;
    }
    return false;
}

static void expect_words(const cJSON *entry, const char *key, size_t least) {
    const char *text = get(entry, key)->valuestring;
    if (strlen(text) < least)
        fail_msg("%s: %s says nothing", entry->string, key);
}

static void test_every_event_metric_and_group_is_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        cJSON *spec = read_json(specs[i]);
        const cJSON *const kinds[] = {get(spec, "events"), metrics_of(spec), groups_of(spec)};
        const cJSON *entry;
        for (size_t k = 0; k < N_OF(kinds); k++)
            cJSON_ArrayForEach(entry, kinds[k]) {
                expect_words(entry, "title", 3);
                expect_words(entry, "description", 15);
            }
        cJSON_ArrayForEach(entry, metrics_of(spec)) if (!is_bound(entry))
            expect_words(get(entry, "topdownd"), "meaning", 30);
        cJSON_Delete(spec);
    }
}

// Every part of a threshold is NAME > NUMBER, joined by &; the first is of the metric itself, and what follows is the
// threshold of its parent.
static void check_threshold(const cJSON *metrics, const cJSON *metric) {
    const cJSON *ours = get(metric, "topdownd"), *parent = cJSON_GetObjectItemCaseSensitive(ours, "parent");
    const char *text = get(ours, "threshold")->valuestring, *rest = strstr(text, " & ");
    char name[128];
    double limit;
    assert_int_equal(sscanf(text, "%127s > %lf", name, &limit), 2);
    assert_string_equal(name, metric->string);
    assert_true(limit > 0 && limit <= 100);
    assert_int_equal(rest != NULL, parent != NULL);
    if (parent)
        assert_string_equal(rest + 3,
                            get(get(get(metrics, parent->valuestring), "topdownd"), "threshold")->valuestring);
}

static void test_thresholds_are_of_the_metric_and_of_those_above_it(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        cJSON *spec = read_json(specs[i]);
        const cJSON *metric;
        size_t n = 0;
        cJSON_ArrayForEach(metric, metrics_of(spec)) {
            if (is_bound(metric))
                continue;
            const cJSON *ours = get(metric, "topdownd");
            if (has(ours, "parent") || has(ours, "threshold")) {
                check_threshold(metrics_of(spec), metric);
                n++;
            }
        }
        assert_true(n >= 5);
        cJSON_Delete(spec);
    }
}

// Up from every node of the deeper stage-1 groups to a root of the tree.
static void test_every_metric_of_the_first_stage_hangs_below_a_root(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        cJSON *spec = read_json(specs[i]);
        const cJSON *methodology = get(get(spec, "methodologies"), "topdown_methodology"), *group, *metric;
        const cJSON *roots = get(get(methodology, "decision_tree"), "root_nodes");
        cJSON_ArrayForEach(group, get(get(methodology, "metric_grouping"), "stage_1")) {
            cJSON_ArrayForEach(metric, get(get(groups_of(spec), group->valuestring), "metrics")) {
                const char *name = metric->valuestring;
                for (size_t depth = 0; !list_has(roots, name); depth++) {
                    assert_true(depth < 8);
                    name = get(get(get(metrics_of(spec), name), "topdownd"), "parent")->valuestring;
                }
            }
        }
        cJSON_Delete(spec);
    }
}

static void check_node(const cJSON *spec, const cJSON *node) {
    const char *name = get(node, "name")->valuestring;
    const cJSON *item, *group = get(groups_of(spec), get(node, "group")->valuestring);
    if (!list_has(get(group, "metrics"), name))
        fail_msg("%s is not in %s", name, group->string);
    cJSON_ArrayForEach(item, get(node, "next_items")) {
        if (!has(metrics_of(spec), item->valuestring) && !has(groups_of(spec), item->valuestring))
            fail_msg("%s leads to %s, which is nowhere", name, item->valuestring);
    }
    cJSON_ArrayForEach(item, get(node, "sample_events")) get(get(spec, "events"), item->valuestring);
}

static void test_the_decision_tree_leads_from_every_root_to_groups_that_exist(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        cJSON *spec = read_json(specs[i]);
        const cJSON *methodology = get(get(spec, "methodologies"), "topdown_methodology"), *node, *root;
        const cJSON *tree = get(methodology, "decision_tree");
        cJSON_ArrayForEach(node, get(tree, "metrics")) check_node(spec, node);
        cJSON_ArrayForEach(root, get(tree, "root_nodes")) {
            size_t n = 0;
            cJSON_ArrayForEach(node, get(tree, "metrics")) {
                if (strcmp(get(node, "name")->valuestring, root->valuestring) == 0)
                    n += (size_t)cJSON_GetArraySize(get(node, "next_items"));
            }
            assert_true(n > 0);
        }
        cJSON_Delete(spec);
    }
}

static void test_every_group_is_of_one_stage(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(specs); i++) {
        cJSON *spec = read_json(specs[i]);
        const cJSON *methodology = get(get(spec, "methodologies"), "topdown_methodology"), *group;
        const cJSON *grouping = get(methodology, "metric_grouping");
        cJSON_ArrayForEach(group, groups_of(spec)) {
            bool first = list_has(get(grouping, "stage_1"), group->string);
            if (strcmp(group->string, "Opportunities") == 0)
                continue; // what would be gained is asked beside the stages
            if (first == list_has(get(grouping, "stage_2"), group->string))
                fail_msg("%s: %s is of no stage, or of both", specs[i], group->string);
        }
        cJSON_Delete(spec);
    }
}

static void test_cpus_json_has_every_arm_spec_once(void **state) {
    (void)state;
    cJSON *cpus = read_json("cpus");
    for (size_t i = 0; i < N_OF(specs); i++) {
        const cJSON *row;
        size_t n = 0;
        cJSON_ArrayForEach(row, get(cpus, "cpus")) {
            if (strcmp(get(row, "spec")->valuestring, specs[i]) != 0)
                continue;
            assert_true(has(row, "midr") != has(row, "generic"));
            n++;
        }
        if (n != 1)
            fail_msg("%s stands in %zu rows", specs[i], n);
    }
    cJSON_Delete(cpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_metric_and_group_is_explained),
        cmocka_unit_test(test_thresholds_are_of_the_metric_and_of_those_above_it),
        cmocka_unit_test(test_every_metric_of_the_first_stage_hangs_below_a_root),
        cmocka_unit_test(test_the_decision_tree_leads_from_every_root_to_groups_that_exist),
        cmocka_unit_test(test_every_group_is_of_one_stage),
        cmocka_unit_test(test_cpus_json_has_every_arm_spec_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
