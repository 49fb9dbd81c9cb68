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

#include "config/spec_json.h"

// Arm's own files, which say nothing of the counters: what stands in for it.

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
    return spec_json_load_vendor(path, defaults, environment, &errors, catalog);
}

static struct catalog *expect_good(const char *text) {
    struct catalog *catalog;
    int r = load(text, DEFAULTS, NULL, &catalog);
    for (size_t i = 0; i < errors.n; i++)
        print_error("%s\n", errors.items[i].text);
    assert_int_equal(r, 0);
    return catalog;
}

static void test_a_vendors_file_gets_counters_level_1_and_names(void **state) {
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
    catalog_free(catalog);
}

// The formulas of the file have the width as a number.
static void test_the_files_width_wins_over_the_hosts(void **state) {
    (void)state;
    struct environment environment;
    struct catalog *catalog;
    environment_init(&environment);
    environment.literals[LITERAL_SLOTS] = 8;
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
        assert_int_equal(spec_json_load_vendor(file, DEFAULTS, NULL, &errors, &catalog), 0);
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
        cmocka_unit_test_setup_teardown(test_a_vendors_file_gets_counters_level_1_and_names, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_the_files_width_wins_over_the_hosts, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_without_all_categories_or_the_width_there_is_no_level_1, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_a_fixed_event_that_the_file_does_not_have_is_none, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_what_a_file_says_itself_stands, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_defaults_that_cannot_be_read_are_named, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_wrong_file_is_refused_under_its_own_name, make_file, remove_file),
        cmocka_unit_test(test_each_file_of_arms_has_level_1_where_it_has_its_categories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
