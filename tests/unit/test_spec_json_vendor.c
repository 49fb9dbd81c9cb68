// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/spec/spec_json.h"
#include "tests/build/vendor.h"

// Arm's own files, which do not describe the counters, and the defaults that replace this.

#define DEFAULTS "specs/arm/defaults.json"
#define TELEMETRY "../shared/telemetry/arm/cpu"

#define EVENTS                                                                                                         \
    "\"events\": {\"CPU_CYCLES\": {\"code\": \"0x11\"}, \"FE\": {\"code\": \"0x3e\"}, \"BE\": {\"code\": \"0x3d\"},"   \
    "\"LL\": {\"code\": \"0x36\"}}"
#define SHARE(name, event)                                                                                             \
    "\"" name "\": {\"title\": \"T\", \"units\": \"percent of slots\", \"formula\": \"100 * " event                    \
    " / (CPU_CYCLES * 5)\"}"
#define CATEGORIES SHARE("frontend_bound", "FE") "," SHARE("bad_speculation", "FE") "," SHARE("retiring", "BE") ","
#define BACKEND SHARE("backend_bound", "BE") ","
#define LAST "\"ll_cache_read_mpki\": {\"title\": \"T\", \"units\": \"MPKI\", \"formula\": \"1000 * LL / BE\"}"
#define FILE_OF(slots, events, metrics, more)                                                                          \
    "{\"product_configuration\": {\"product_name\": \"New\", \"implementer\": \"0x41\"" slots "}," events              \
    ",\"metrics\": {" metrics "}, \"groups\": {\"metrics\": {\"All\": {\"metrics\": [\"ll_cache_read_mpki\"]}}}" more  \
    "}"

static char path[64];
static struct errors errors;

static int make_file(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, P_tmpdir "/topdownd-vendor-XXXXXX.json");
    int fd = mkstemps(path, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static int load(const char *text, const char *defaults, const struct environment *environment,
                struct catalog **catalog) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    memset(&errors, 0, sizeof errors);
    *catalog = NULL;
    return vendor_load_spec(path, defaults, environment, &errors, catalog);
}

static struct catalog *expect_good(const char *text) {
    struct catalog *catalog;
    int r = load(text, DEFAULTS, NULL, &catalog);
    for (size_t i = 0; i < errors.n; i++)
        print_error("%s\n", errors.items[i].text);
    assert_int_equal(r, 0);
    return catalog;
}

static void test_a_vendors_file_gets_counters_level_1_names_and_definitions(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(FILE_OF(", \"num_slots\": 5", EVENTS, CATEGORIES BACKEND LAST, ""));
    assert_string_equal(catalog->product.pmu, "armv*");
    assert_int_equal(catalog->general_counters, 6);
    assert_true(catalog->events[catalog_find_event(catalog, "CPU_CYCLES")].fixed);
    assert_true(catalog->level1.present);
    assert_int_equal(catalog->level1.n_categories, 4);
    assert_true(catalog->level1.width == 5);
    double counts[8] = {0};
    counts[catalog_find_event(catalog, "CPU_CYCLES")] = 7;
    assert_true(formula_evaluate(catalog->level1.pipeline_slots, counts, NULL) == 35); // 7 cycles of 5
    assert_string_equal(catalog->metrics[catalog_find_metric(catalog, "ll_cache_read_mpki")].export_name,
                        "ll_cache_mpki");
    assert_string_equal(catalog->metrics[catalog_find_metric(catalog, "ll_cache_read_mpki")].definition, "reads");
    catalog_free(catalog);
}

// The formulas of the file have the width as a number.
static void test_the_files_width_wins_over_the_hosts(void **state) {
    (void)state;
    struct environment environment;
    struct catalog *catalog;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SLOTS] = 8;
    assert_int_equal(
        load(FILE_OF(", \"num_slots\": 5", EVENTS, CATEGORIES BACKEND LAST, ""), DEFAULTS, &environment, &catalog), 0);
    double counts[8] = {0};
    counts[catalog_find_event(catalog, "CPU_CYCLES")] = 1;
    assert_true(formula_evaluate(catalog->level1.pipeline_slots, counts, NULL) == 5);
    catalog_free(catalog);
}

static void test_without_all_categories_or_the_width_there_is_no_level_1(void **state) {
    (void)state;
    static const char *const texts[] = {FILE_OF(", \"num_slots\": 5", EVENTS, CATEGORIES LAST, ""), // no backend_bound
                                        FILE_OF("", EVENTS, CATEGORIES BACKEND LAST, ""),
                                        FILE_OF(", \"num_slots\": 0", EVENTS, CATEGORIES BACKEND LAST, ""),
                                        FILE_OF(", \"num_slots\": 65", EVENTS, CATEGORIES BACKEND LAST, ""),
                                        FILE_OF(", \"num_slots\": \"5\"", EVENTS, CATEGORIES BACKEND LAST, "")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct catalog *catalog = expect_good(texts[i]);
        assert_false(catalog->level1.present);
        assert_int_equal(catalog->general_counters, 6);
        catalog_free(catalog);
    }
}

static void test_a_fixed_event_that_the_file_does_not_have_is_none(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good(FILE_OF("", "\"events\": {\"LL\": {\"code\": 1}, \"BE\": {\"code\": 2}}", LAST, ""));
    for (size_t e = 0; e < catalog->n_events; e++)
        assert_false(catalog->events[e].fixed);
    catalog_free(catalog);
}

static void test_what_a_file_says_itself_stands(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(FILE_OF(", \"num_slots\": 5", EVENTS, CATEGORIES BACKEND LAST,
                                                  ", \"topdownd\": {\"counters\": {\"general\": 3}}"));
    assert_int_equal(catalog->general_counters, 3);
    assert_false(catalog->level1.present);
    catalog_free(catalog);
}

static void test_defaults_that_cannot_be_read_are_named(void **state) {
    (void)state;
    struct catalog *catalog;
    assert_int_equal(load(FILE_OF("", EVENTS, LAST, ""), "specs/arm/gone.json", NULL, &catalog), -EINVAL);
    assert_null(catalog);
    assert_string_equal(errors.items[0].file, "specs/arm/gone.json");
}

static void test_a_wrong_file_is_refused_under_its_own_name(void **state) {
    (void)state;
    struct catalog *catalog;
    assert_int_equal(load("{", DEFAULTS, NULL, &catalog), -EINVAL);
    assert_null(catalog);
    assert_string_equal(errors.items[0].file, path);
    assert_int_equal(load(FILE_OF("", "\"events\": 3", LAST, ""), DEFAULTS, NULL, &catalog), -EINVAL);
    assert_string_equal(errors.items[0].file, path);
}

// How often an error names the place.
static size_t told(const char *place) {
    size_t n = 0;
    for (size_t i = 0; i < errors.n; i++)
        n += strncmp(errors.items[i].text, place, strlen(place)) == 0;
    return n;
}

// One wrong entry in a file that is good otherwise.
#define GOOD_EVENTS "\"CPU_CYCLES\": {\"code\": \"0x11\"}, \"FE\": {\"code\": \"0x3e\"}, \"BE\": {\"code\": \"0x3d\"}"
#define GOOD_METRICS CATEGORIES BACKEND LAST
#define WITH(events, metrics) FILE_OF(", \"num_slots\": 5", "\"events\": {" events "}", metrics, "")

static void test_a_wrong_entry_costs_what_needs_it(void **state) {
    (void)state;
    static const struct {
        const char *text, *place;     // of the mistake
        bool level1, ll_cache, extra; // what is left: the metric ll_cache_read_mpki, one named extra
    } cases[] = {
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": \"0x36\"}", GOOD_METRICS), NULL, true, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {}", GOOD_METRICS), "events.LL: has no code", true, false, false},
        {WITH(GOOD_EVENTS ", \"LL\": 3", GOOD_METRICS), "events.LL: must be an object", true, false, false},
        {WITH("\"CPU_CYCLES\": {}, \"FE\": {\"code\": 1}, \"BE\": {\"code\": 2}, \"LL\": {\"code\": 3}", GOOD_METRICS),
         "events.CPU_CYCLES: has no code", false, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}, \"LL\": {\"code\": 4}", GOOD_METRICS),
         "events: the key \"LL\" stands twice", true, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}",
              GOOD_METRICS ", \"extra\": {\"title\": \"T\", \"formula\": \"LL / BE\"}"),
         "metrics.extra.units: is missing", true, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}",
              GOOD_METRICS ", \"extra\": {\"title\": \"T\", \"units\": \"furlongs\", \"formula\": \"LL / BE\"}"),
         NULL, true, true, true},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}",
              GOOD_METRICS ", \"extra\": {\"title\": \"T\", \"units\": \"MPKI\", \"formula\": \"LL / (\"}"),
         "metrics.extra: formula, column 7", true, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}",
              GOOD_METRICS ", \"extra\": {\"title\": \"T\", \"units\": \"MPKI\", \"formula\": \"more / BE\"},"
                           "\"more\": {\"title\": \"T\", \"units\": \"MPKI\", \"formula\": \"extra / BE\"}"),
         "metrics.more: uses the metric extra, which leads back to itself", true, true, false},
        {WITH(GOOD_EVENTS ", \"LL\": {\"code\": 3}",
              SHARE("frontend_bound", "GONE") "," SHARE("bad_speculation", "FE") "," SHARE("retiring",
                                                                                           "BE") "," BACKEND LAST),
         "metrics.frontend_bound.formula: needs the event GONE", false, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct catalog *catalog;
        assert_int_equal(load(cases[i].text, DEFAULTS, NULL, &catalog), 0);
        if (cases[i].place && told(cases[i].place) != 1)
            fail_msg("not told once: %s, but %s", cases[i].place, errors.n > 0 ? errors.items[0].text : "nothing");
        assert_int_equal(errors.n > 0, cases[i].place != NULL);
        int ll_cache = catalog_find_metric(catalog, "ll_cache_read_mpki"),
            extra = catalog_find_metric(catalog, "extra");
        assert_true(ll_cache >= 0); // listed with its reason where it cannot be measured
        assert_int_equal(catalog->metrics[ll_cache].unmeasurable == NULL, cases[i].ll_cache);
        assert_int_equal(extra >= 0 && !catalog->metrics[extra].unmeasurable, cases[i].extra);
        assert_int_equal(catalog->level1.present, cases[i].level1);
        catalog_free(catalog);
    }
}

static void test_lists_of_a_file_may_name_what_is_not_there(void **state) {
    (void)state;
    struct catalog *catalog;
    const char *text =
        "{\"product_configuration\": {\"product_name\": \"New\", \"implementer\": \"0x41\"}," EVENTS
        ",\"metrics\": {" LAST
        "}, \"groups\": {\"metrics\": {\"All\": {\"metrics\": [\"gone\", \"ll_cache_read_mpki\"]}}},"
        "\"methodologies\": {\"topdown_methodology\": {\"metric_grouping\": {\"stage_1\": [\"Gone\", \"All\"]},"
        "\"decision_tree\": {\"root_nodes\": [\"gone\"], \"metrics\": [{\"name\": \"gone\"}]}}}}";
    assert_int_equal(load(text, DEFAULTS, NULL, &catalog), 0);
    assert_int_equal(errors.n, 4);
    assert_int_equal(told("groups.metrics.All: names gone, which is wrong or missing"), 1);
    int stage = catalog_find_group(catalog, "stage_1");
    assert_true(stage >= 0);
    assert_int_equal(catalog->groups[stage].n_metrics, 1);
    assert_int_equal(catalog->n_nodes, 0);
    catalog_free(catalog);
}

// All but N1's, which has no slots, and those of SME units, which are no cores.
static void test_each_file_of_arms_has_level_1_where_it_has_its_categories(void **state) {
    (void)state;
    DIR *folder = opendir(TELEMETRY);
    if (!folder) {
        print_message("skipped: %s is not there\n", TELEMETRY);
        skip();
    }
    size_t n = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char file[512];
        struct catalog *catalog = NULL;
        if (!strstr(entry->d_name, ".json"))
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", TELEMETRY, entry->d_name);
        memset(&errors, 0, sizeof errors);
        assert_int_equal(vendor_load_spec(file, DEFAULTS, NULL, &errors, &catalog), 0);
        bool none = strstr(entry->d_name, "neoverse-n1") || strstr(entry->d_name, "sme2");
        assert_int_equal(catalog->level1.present, !none);
        n++;
        catalog_free(catalog);
    }
    (void)closedir(folder);
    assert_true(n >= 19);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_vendors_file_gets_counters_level_1_names_and_definitions, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_the_files_width_wins_over_the_hosts, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_without_all_categories_or_the_width_there_is_no_level_1, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_a_fixed_event_that_the_file_does_not_have_is_none, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_what_a_file_says_itself_stands, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_defaults_that_cannot_be_read_are_named, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_wrong_file_is_refused_under_its_own_name, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_wrong_entry_costs_what_needs_it, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_lists_of_a_file_may_name_what_is_not_there, make_file, remove_file),
        cmocka_unit_test(test_each_file_of_arms_has_level_1_where_it_has_its_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
