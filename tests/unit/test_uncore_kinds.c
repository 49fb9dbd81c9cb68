// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "config/spec/uncore_kinds_json.h"
#include "core/spec/catalog.h"

// specs/uncore: the list of kinds, and the spec of each.

#define ROW(more) "{\"kinds\": [{\"name\": \"imc\", \"spec\": \"imc-a\", \"group\": \"memory\"" more "}]}"
#define REST ", \"pmu\": [\"uncore_imc\", \"uncore_imc_[0-9]*\"], \"cpus\": [\"zen4\", \"zen5\"]"

static int parse(const char *text, struct errors *errors, struct uncore_kinds *out) {
    *errors = (struct errors){0};
    return uncore_kinds_json_parse("kinds.json", text, strlen(text), errors, out);
}

static void test_a_row_is_a_kind_for_each_cpu_and_name(void **state) {
    (void)state;
    struct errors errors;
    struct uncore_kinds kinds;
    assert_int_equal(parse(ROW(REST ", \"identifier\": \"43*\""), &errors, &kinds), 0);
    assert_int_equal(kinds.n, 4);
    assert_string_equal(kinds.kinds[1].pattern, "uncore_imc_[0-9]*");
    assert_string_equal(kinds.kinds[1].cpus, "zen4");
    assert_string_equal(kinds.kinds[2].pattern, "uncore_imc");
    assert_string_equal(kinds.kinds[2].cpus, "zen5");
    assert_string_equal(kinds.kinds[3].identifier, "43*");
    assert_string_equal(kinds.kinds[3].spec, "imc-a");
    assert_null(kinds.kinds[3].file);
    assert_null(kinds.kinds[3].host);
    uncore_kinds_json_deinit(&kinds);
    assert_int_equal(parse(ROW(REST ", \"file\": \"events/rd\", \"host\": \"bus/cxl/devices/mem*\""), &errors, &kinds),
                     0);
    assert_string_equal(kinds.kinds[0].file, "events/rd");
    assert_string_equal(kinds.kinds[3].host, "bus/cxl/devices/mem*");
    uncore_kinds_json_deinit(&kinds);
    assert_int_equal(parse(ROW(REST), &errors, &kinds), 0);
    assert_null(kinds.kinds[0].identifier);
    uncore_kinds_json_deinit(&kinds);
}

static void refused(const char *text, const char *path, const char *reason) {
    struct errors errors;
    struct uncore_kinds kinds = {.n = 7};
    assert_int_equal(parse(text, &errors, &kinds), -EINVAL);
    assert_int_equal(kinds.n, 7); // untouched
    assert_true(errors.n > 0);
    if (!strstr(errors.items[0].text, path) || !strstr(errors.items[0].text, reason))
        fail_msg("'%s' is told of '%s', not of %s %s", text, errors.items[0].text, path, reason);
}

static void test_a_mistake_is_told_with_its_place(void **state) {
    (void)state;
    refused("[]", "", "object");
    refused("{\"kind\": []}", "kind", "");
    refused(ROW(""), "kinds[0].pmu", "missing");
    refused(ROW(REST ", \"boxes\": 3"), "kinds[0].boxes", "");
    refused("{\"kinds\": [{\"name\": \"I M C\", \"spec\": \"a\", \"group\": \"memory\"" REST "}]}", "kinds[0]",
            "'I M C' is not a word of a-z");
    refused("{\"kinds\": [{\"name\": \"imc\", \"spec\": \"../a\", \"group\": \"memory\"" REST "}]}", "kinds[0]",
            "'../a' is not a spec's name");
    refused("{\"kinds\": [{\"name\": \"imc\", \"spec\": \"a\", \"group\": \"memry\"" REST "}]}", "kinds[0]",
            "is no group");
    refused("{\"kinds\": [3]}", "kinds[0]", "object");
}

// ---- what ships ----

static struct uncore_kinds shipped(void) {
    struct errors errors = {0};
    struct uncore_kinds kinds;
    if (uncore_kinds_json_load("specs/uncore/kinds.json", &errors, &kinds) < 0)
        fail_msg("%s", errors.items[0].text);
    return kinds;
}

static struct catalog *load(const char *spec) {
    struct errors errors = {0};
    struct catalog *catalog = NULL;
    char path[256];
    (void)snprintf(path, sizeof path, "specs/uncore/%s.json", spec);
    if (spec_json_load(path, NULL, &errors, &catalog) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return catalog;
}

// A box may have nothing to do: a zero of its events is a zero. Events take a counter, or have one of their own.
static void check_events(const struct catalog *catalog) {
    size_t n = 0, free = 0;
    for (size_t e = 0; e < catalog->n_events; e++) {
        if (catalog->events[e].kind != EVENT_COUNTED)
            continue;
        assert_null(catalog->events[e].uncoded);
        assert_false(catalog->events[e].must_count || catalog->events[e].may_be_zero);
        n++;
        free += catalog->events[e].need.free;
    }
    assert_true(n > 0);
    if (free < n && catalog->general_counters == 0)
        fail_msg("%s: a box without a number of counters would have all events in one group", catalog->product.spec);
}

static void test_each_kind_has_a_spec_without_a_mistake(void **state) {
    (void)state;
    struct uncore_kinds kinds = shipped();
    for (size_t k = 0; k < kinds.n; k++) {
        if (k > 0 && strcmp(kinds.kinds[k].spec, kinds.kinds[k - 1].spec) == 0)
            continue;
        struct catalog *catalog = load(kinds.kinds[k].spec);
        check_events(catalog);
        assert_true(catalog->n_metrics > 0);
        assert_true(catalog_find_group(catalog, "stage_1") >= 0);
        catalog_free(catalog);
    }
    uncore_kinds_json_deinit(&kinds);
}

static int is_spec(const struct dirent *entry) {
    return fnmatch("*.json", entry->d_name, 0) == 0 && strcmp(entry->d_name, "kinds.json") != 0;
}

static void test_each_spec_is_of_a_kind(void **state) {
    (void)state;
    struct uncore_kinds kinds = shipped();
    struct dirent **entries;
    int n = scandir("specs/uncore", &entries, is_spec, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        size_t k = 0, length = strlen(entries[i]->d_name) - strlen(".json");
        while (k < kinds.n &&
               (strlen(kinds.kinds[k].spec) != length || memcmp(kinds.kinds[k].spec, entries[i]->d_name, length) != 0))
            k++;
        if (k == kinds.n)
            fail_msg("no kind has specs/uncore/%s", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    uncore_kinds_json_deinit(&kinds);
}

// Ports and devices of CXL count the same lines: what a port tells, the daemon leaves out of a device.
static bool may_repeat(enum traffic traffic, const char *name) {
    return (traffic == TRAFFIC_CXL_READ || traffic == TRAFFIC_CXL_WRITE) && strcmp(name, "cxl") == 0;
}

// A CPU that has traffic of one kind counts it with no other kind: the bytes would be there twice.
static void test_no_cpu_counts_a_traffic_with_two_kinds(void **state) {
    (void)state;
    static const char *const cpus[] = {"sandy-bridge-ep",
                                       "broadwell-ep",
                                       "skylake-sp",
                                       "sapphire-rapids",
                                       "granite-rapids",
                                       "gracemont",
                                       "nehalem-ep",
                                       "zen1",
                                       "zen4",
                                       "zen5",
                                       "zen6",
                                       "neoverse-n1",
                                       "neoverse-v2",
                                       "neoverse-v3",
                                       "olympus",
                                       "kunpeng-920",
                                       "ampereone",
                                       "clearwater-forest"};
    struct uncore_kinds kinds = shipped();
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        const char *names[TRAFFIC_N] = {0};
        bool memory = false;
        for (size_t k = 0; k < kinds.n; k++) {
            if (fnmatch(kinds.kinds[k].cpus, cpus[c], 0) != 0)
                continue;
            struct catalog *catalog = load(kinds.kinds[k].spec);
            for (size_t m = 0; m < catalog->n_metrics; m++) {
                enum traffic traffic = catalog->metrics[m].traffic;
                if (traffic == TRAFFIC_NONE)
                    continue;
                if (names[traffic] && strcmp(names[traffic], kinds.kinds[k].name) != 0 &&
                    !may_repeat(traffic, kinds.kinds[k].name))
                    fail_msg("%s: %s by %s and by %s", cpus[c], traffic_table[traffic].name, names[traffic],
                             kinds.kinds[k].name);
                names[traffic] = kinds.kinds[k].name;
                memory = memory || traffic <= TRAFFIC_MEMORY_ALL;
            }
            catalog_free(catalog);
        }
        if (!memory)
            fail_msg("%s: nothing counts its memory", cpus[c]);
    }
    uncore_kinds_json_deinit(&kinds);
}

// The events of home agents count what reached the memory of a socket, whoever asked. All others are beside caches.
static void check_misses(const struct catalog *catalog) {
    static const char *const home_agents[] = {"cha-*", "ha-*", "qhl-*"};
    const char *wanted = TRAFFIC_FETCHED;
    for (size_t i = 0; i < sizeof home_agents / sizeof *home_agents; i++)
        if (fnmatch(home_agents[i], catalog->product.spec, 0) == 0)
            wanted = TRAFFIC_REQUESTED;
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        bool misses = metric->traffic == TRAFFIC_LLC_MISS_LOCAL || metric->traffic == TRAFFIC_LLC_MISS_REMOTE;
        if (strcmp(metric->definition, misses ? wanted : "") != 0)
            fail_msg("%s: %s is defined as '%s'", catalog->product.spec, metric->name, metric->definition);
    }
}

static void test_each_kind_says_whose_misses_it_tells(void **state) {
    (void)state;
    struct uncore_kinds kinds = shipped();
    for (size_t k = 0; k < kinds.n; k++) {
        struct catalog *catalog = load(kinds.kinds[k].spec);
        check_misses(catalog);
        catalog_free(catalog);
    }
    uncore_kinds_json_deinit(&kinds);
}

// Pages show them beside the sum of a socket's boxes.
static void test_a_description_of_bytes_is_true_of_a_box_and_of_a_socket(void **state) {
    (void)state;
    struct uncore_kinds kinds = shipped();
    for (size_t k = 0; k < kinds.n; k++) {
        struct catalog *catalog = load(kinds.kinds[k].spec);
        for (size_t m = 0; m < catalog->n_metrics; m++)
            if (catalog->metrics[m].traffic != TRAFFIC_NONE &&
                (strstr(catalog->metrics[m].help, "and box") || strstr(catalog->metrics[m].help, "this kind of box")))
                fail_msg("%s: %s: %s", kinds.kinds[k].spec, catalog->metrics[m].name, catalog->metrics[m].help);
        catalog_free(catalog);
    }
    uncore_kinds_json_deinit(&kinds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_is_a_kind_for_each_cpu_and_name),
        cmocka_unit_test(test_a_mistake_is_told_with_its_place),
        cmocka_unit_test(test_each_kind_has_a_spec_without_a_mistake),
        cmocka_unit_test(test_each_spec_is_of_a_kind),
        cmocka_unit_test(test_no_cpu_counts_a_traffic_with_two_kinds),
        cmocka_unit_test(test_each_kind_says_whose_misses_it_tells),
        cmocka_unit_test(test_a_description_of_bytes_is_true_of_a_box_and_of_a_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
