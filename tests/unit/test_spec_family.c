// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_family.h"
#include "config/spec/spec_json.h"

// Specs in the form of families. FAMILY defines more than each spec names; the specs differ from it as a test needs.

#define FAMILY_EVENTS                                                                                                  \
    "\"events\": {\"CYCLES\": {\"code\": \"0x11\", \"title\": \"Cycles\", \"topdownd\": {\"must_count\": true}},"      \
    "\"WORK\": {\"code\": \"0x8\", \"title\": \"Work\"}, \"OTHER\": {\"code\": \"0x9\", \"title\": \"Other\"}}"
#define FAMILY_METRICS(formula)                                                                                        \
    "\"metrics\": {\"ipc\": {\"title\": \"Per cycle\", \"formula\": \"" formula "\", \"units\": \"per cycle\","        \
    "\"description\": \"Much is good.\"}, \"unused\": {\"formula\": \"1 +\", \"units\": \"none\"}}"
#define FAMILY_GROUPS "\"groups\": {\"metrics\": {\"General\": {\"title\": \"General\", \"metrics\": [\"ipc\"]}}}"
#define FAMILY_OF(formula) "{" FAMILY_EVENTS "," FAMILY_METRICS(formula) "," FAMILY_GROUPS "}"
#define FAMILY FAMILY_OF("WORK / CYCLES")

#define SPEC(events, metrics, groups)                                                                                  \
    "{\"product_configuration\": {\"product_name\": \"Test\", \"implementer\": \"0x41\"}, \"family\": \"kin\","        \
    "\"events\": {" events "}, \"metrics\": {" metrics "}, \"groups\": {\"metrics\": {" groups "}}}"
#define EVENTS "\"names\": [\"WORK\", \"CYCLES\"]"
#define METRICS "\"names\": [\"ipc\"]"
#define GROUPS "\"names\": [\"General\"]"

static struct errors errors;
static char folder[64];

static int read_with(const char *family, const char *spec, struct catalog **catalog) {
    const struct spec_family_text text = {.text = family, .length = strlen(family)};
    memset(&errors, 0, sizeof errors);
    *catalog = NULL;
    return spec_json_parse_with("folder/test.json", spec, strlen(spec), &text, NULL, &errors, catalog);
}

static struct catalog *expect_good(const char *family, const char *spec) {
    struct catalog *catalog;
    int r = read_with(family, spec, &catalog);
    for (size_t i = 0; i < errors.n; i++)
        print_error("%s: %s\n", errors.items[i].file, errors.items[i].text);
    assert_int_equal(r, 0);
    assert_int_equal(errors.n, 0);
    return catalog;
}

// The spec is refused, and one of the errors says `wanted` of this file.
static void expect_error(const char *family, const char *spec, const char *file, const char *wanted) {
    struct catalog *catalog;
    assert_int_equal(read_with(family, spec, &catalog), -EINVAL);
    assert_null(catalog);
    for (size_t i = 0; i < errors.n; i++)
        if (strcmp(errors.items[i].file, file) == 0 && strstr(errors.items[i].text, wanted))
            return;
    fail_msg("wanted \"%s: %s\", the first of %zu is \"%s: %s\"", file, wanted, errors.n, errors.items[0].file,
             errors.items[0].text);
}

static const char OF_SPEC[] = "folder/test.json", OF_FAMILY[] = "folder/families/kin.json";

// cpu_seconds is the first event of every catalog.
static void test_a_spec_has_what_it_names_in_its_order(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(FAMILY, SPEC(EVENTS, METRICS, GROUPS));
    assert_int_equal(catalog->n_events, 3);
    assert_string_equal(catalog->events[1].name, "WORK");
    assert_string_equal(catalog->events[2].name, "CYCLES");
    assert_int_equal(catalog->events[2].code.config, 0x11);
    assert_true(catalog->events[2].must_count);
    assert_int_equal(catalog->n_metrics, 1);
    assert_string_equal(catalog->metrics[0].help, "Much is good.");
    assert_int_equal(catalog->n_groups, 1);
    catalog_free(catalog);
}

static void test_own_changes_adds_and_takes_away(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(
        FAMILY, SPEC("\"names\": [\"NEW\", \"CYCLES\", \"WORK\"], \"own\": {"
                     "\"CYCLES\": {\"code\": \"0x3\", \"topdownd\": {\"must_count\": null, \"takes\": 2}},"
                     "\"NEW\": {\"code\": \"0x77\", \"title\": \"New\"}}",
                     "\"names\": [\"ipc\"], \"own\": {\"ipc\": {\"formula\": \"NEW / CYCLES\", \"description\": null}}",
                     GROUPS));
    assert_string_equal(catalog->events[1].name, "NEW");
    assert_int_equal(catalog->events[1].code.config, 0x77);
    assert_int_equal(catalog->events[2].code.config, 0x3);
    assert_string_equal(catalog->events[2].title, "Cycles");
    assert_false(catalog->events[2].must_count);
    assert_int_equal(catalog->events[2].need.takes, 2);
    assert_string_equal(catalog->metrics[0].formula_text, "NEW / CYCLES");
    assert_string_equal(catalog->metrics[0].title, "Per cycle");
    assert_string_equal(catalog->metrics[0].help, "");
    catalog_free(catalog);
}

// RFC 7396: an object takes the place of what is none, without the members that it takes away.
static void test_a_patch_that_adds_an_object_has_no_nulls_in_it(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good(FAMILY, SPEC(EVENTS ", \"own\": {\"WORK\": {\"topdownd\": {\"takes\": 2, \"no_such_term\": null}}}",
                                 METRICS, GROUPS));
    assert_int_equal(catalog->events[1].need.takes, 2);
    catalog_free(catalog);
}

static void test_lists_are_replaced(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good(FAMILY, SPEC(EVENTS,
                                 "\"names\": [\"ipc\", \"cpi\"], \"own\": {\"cpi\": {\"formula\": \"CYCLES / WORK\", "
                                 "\"title\": \"T\", \"units\": \"c\"}}",
                                 "\"names\": [\"General\"], \"own\": {\"General\": {\"metrics\": [\"cpi\"]}}"));
    assert_int_equal(catalog->groups[0].n_metrics, 1);
    assert_int_equal(catalog->groups[0].metrics[0], 1);
    catalog_free(catalog);
}

static void test_an_error_names_the_file_that_has_the_text(void **state) {
    (void)state;
    expect_error(FAMILY_OF("WORK / / CYCLES"), SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY, "metrics.ipc: formula");
    expect_error(FAMILY_OF("WORK / / CYCLES"), SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY, " (as read for test.json)");
    expect_error(FAMILY_OF("7\", \"title\": 7, \"x\": \""), SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY, "title");
    expect_error(FAMILY, SPEC(EVENTS ", \"own\": {\"WORK\": {\"code\": \"many\"}}", METRICS, GROUPS), OF_SPEC,
                 "events.WORK.code");
    expect_error(FAMILY, SPEC(EVENTS ", \"own\": {\"WORK\": {\"topdownd\": {\"takes\": 9}}}", METRICS, GROUPS), OF_SPEC,
                 "events.WORK.topdownd.takes");
    expect_error(FAMILY, SPEC(EVENTS, "\"names\": [\"ipc\", \"own\"], \"own\": {\"own\": {\"units\": \"u\"}}", GROUPS),
                 OF_SPEC, "metrics.own.formula: is missing");
    expect_error("{\"events\": {\"WORK\": 7}}", SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY,
                 "events.WORK: must be an obj");
    expect_error("{\"event\": {}}", SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY, "event: there is no such key");
    expect_error("{", SPEC(EVENTS, METRICS, GROUPS), OF_FAMILY, "JSON");
}

static void test_an_error_that_a_patch_makes_is_the_specs(void **state) {
    (void)state;
    expect_error(FAMILY, SPEC(EVENTS, METRICS ", \"own\": {\"ipc\": {\"formula\": null}}", GROUPS), OF_SPEC,
                 "metrics.ipc.formula: is missing");
    expect_error(FAMILY, SPEC(EVENTS, METRICS ", \"own\": {\"ipc\": {\"formula\": \"WORK / /\"}}", GROUPS), OF_SPEC,
                 "metrics.ipc: formula");
    expect_error(FAMILY, SPEC(EVENTS, METRICS, GROUPS ", \"own\": {\"General\": {\"metrics\": null}}"), OF_SPEC,
                 "groups.metrics.General.metrics: is missing");
    // what stands in the family's file is still the family's, and so is what is missing in an entry that is as it was
    expect_error(FAMILY_OF("7\", \"title\": 7, \"x\": \""),
                 SPEC(EVENTS, METRICS ", \"own\": {\"ipc\": {\"description\": \"\"}}", GROUPS), OF_FAMILY, "title");
    expect_error("{\"events\": {\"CYCLES\": {\"title\": \"C\"}, \"WORK\": {\"code\": \"0x8\", \"title\": \"W\"}}}",
                 SPEC(EVENTS ", \"own\": {\"WORK\": {\"code\": \"0x9\"}}", "\"names\": []", "\"names\": []"), OF_FAMILY,
                 "events.CYCLES: has no code");
}

static void test_what_is_not_used_need_not_be_right(void **state) {
    (void)state;
    expect_error(FAMILY, SPEC(EVENTS, "\"names\": [\"ipc\", \"unused\"]", GROUPS), OF_FAMILY, "metrics.unused");
    catalog_free(expect_good(FAMILY, SPEC(EVENTS, METRICS, GROUPS)));
}

static void test_wrong_names_are_refused(void **state) {
    (void)state;
    expect_error(FAMILY, SPEC("\"names\": [\"WORK\", \"CYCLE\"]", METRICS, GROUPS), OF_SPEC,
                 "events.names: neither the family nor \"own\" has CYCLE; did you mean CYCLES?");
    expect_error(FAMILY, SPEC("\"names\": [\"WORK\", \"CYCLES\", \"WORK\"]", METRICS, GROUPS), OF_SPEC,
                 "events.names: \"WORK\" stands twice");
    expect_error(FAMILY, SPEC(EVENTS ", \"own\": {\"NEW\": {\"code\": \"1\"}}", METRICS, GROUPS), OF_SPEC,
                 "events.own.NEW: is not among \"names\"");
    expect_error(FAMILY, SPEC(EVENTS ", \"own\": {\"OTHER\": {\"code\": \"1\"}}", METRICS, GROUPS), OF_SPEC,
                 "events.own.OTHER: is not among \"names\"");
    expect_error(FAMILY, SPEC(EVENTS ", \"own\": {\"WORK\": null}", METRICS, GROUPS), OF_SPEC,
                 "events.own.WORK: must be an object");
    expect_error(FAMILY, SPEC("\"WORK\": {\"code\": \"1\"}, " EVENTS, METRICS, GROUPS), OF_SPEC,
                 "events.WORK: there is no such key");
    expect_error(FAMILY, SPEC("\"own\": {}", METRICS, GROUPS), OF_SPEC, "events.names: is missing");
    expect_error(FAMILY, SPEC(EVENTS, METRICS, "\"names\": [\"general\"]"), OF_SPEC, "groups.metrics.names: neither");
}

static void test_a_family_is_a_word(void **state) {
    static const char *const words[] = {
        "", "../kin", "Kin", "kin.json", "a/b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    char spec[256];
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        (void)snprintf(spec, sizeof spec, "{\"family\": \"%s\"}", words[i]);
        expect_error(FAMILY, spec, OF_SPEC, "family: must be a word");
    }
    expect_error(FAMILY, "{\"family\": 7}", OF_SPEC, "family: must be text");
}

// Each file alone is within the limit.
static void test_the_limit_on_values_holds_for_both_files_together(void **state) {
    enum { MANY = JSON_VALUES_MAX / 2 + 1000 };
    char *list = malloc(2 * MANY + 1), *spec = malloc(2 * MANY + 1000), *family = malloc(2 * MANY + 1000);
    (void)state;
    assert_true(list && spec && family);
    for (size_t i = 0; i < MANY; i++)
        memcpy(list + 2 * i, "7,", 2);
    list[2 * MANY - 1] = '\0';
    (void)snprintf(family, 2 * MANY + 1000, "{\"events\": {\"WORK\": {\"code\": 1, \"list\": [%s]}}}", list);
    (void)snprintf(spec, 2 * MANY + 1000, "{\"family\": \"kin\", \"list\": [%s], \"events\": {\"names\": [\"WORK\"]}}",
                   list);
    expect_error(family, spec, OF_SPEC, "has more than 262144 values");
    expect_error("{}", spec, OF_SPEC, "neither the family nor");
    free(list);
    free(spec);
    free(family);
}

// ---- files ----

static void write_file(const char *name, const char *text) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *path_of(const char *name) {
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/topdownd-family-XXXXXX");
    return !mkdtemp(folder) || mkdir(path_of("families"), 0700) < 0;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"test.json", "families/kin.json", "families", ""};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(path_of(names[i]));
    return 0;
}

static void test_a_family_is_a_file_beside_the_spec(void **state) {
    struct catalog *catalog = NULL;
    (void)state;
    write_file("test.json", SPEC(EVENTS, METRICS, GROUPS));
    write_file("families/kin.json", FAMILY);
    memset(&errors, 0, sizeof errors);
    assert_int_equal(spec_json_load(path_of("test.json"), NULL, &errors, &catalog), 0);
    assert_string_equal(catalog->product.spec, "test");
    assert_int_equal(catalog->n_events, 3);
    catalog_free(catalog);
}

static void test_a_family_that_is_not_there_is_an_error_of_its_file(void **state) {
    struct catalog *catalog = NULL;
    (void)state;
    write_file("test.json", SPEC(EVENTS, METRICS, GROUPS));
    memset(&errors, 0, sizeof errors);
    assert_int_equal(spec_json_load(path_of("test.json"), NULL, &errors, &catalog), -EINVAL);
    assert_string_equal(errors.items[0].file, path_of("families/kin.json"));
    assert_non_null(strstr(errors.items[0].text, "cannot be opened"));
    assert_string_equal(errors.items[1].file, path_of("test.json"));
    assert_non_null(strstr(errors.items[1].text, "family: cannot be read"));
}

// What is printed is a whole spec with the same catalog.
static void test_a_printed_spec_is_whole(void **state) {
    struct catalog *catalog = NULL, *printed = NULL;
    char *text = NULL;
    (void)state;
    write_file("test.json",
               SPEC("\"names\": [\"WORK\", \"CYCLES\"], \"own\": {\"WORK\": {\"code\": \"0x5\"}}", METRICS, GROUPS));
    write_file("families/kin.json", FAMILY);
    memset(&errors, 0, sizeof errors);
    assert_int_equal(spec_json_print(path_of("test.json"), &errors, &text), 0);
    assert_null(strstr(text, "family"));
    assert_int_equal(spec_json_parse("elsewhere/test.json", text, strlen(text), NULL, &errors, &printed), 0);
    assert_int_equal(spec_json_load(path_of("test.json"), NULL, &errors, &catalog), 0);
    assert_int_equal(catalog_hash(printed), catalog_hash(catalog));
    assert_string_equal(printed->metrics[0].help, catalog->metrics[0].help);
    catalog_free(printed);
    catalog_free(catalog);
    free(text);
}

static void test_a_vendors_file_has_no_family(void **state) {
    static const char spec[] = SPEC(EVENTS, METRICS, GROUPS);
    struct catalog *catalog = NULL;
    (void)state;
    memset(&errors, 0, sizeof errors);
    assert_int_equal(
        spec_json_parse_vendor("mine.json", spec, sizeof spec - 1, "specs/arm/defaults.json", NULL, &errors, &catalog),
        -EINVAL);
    assert_non_null(strstr(errors.items[0].text, "topdownd list spec --cpu"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_spec_has_what_it_names_in_its_order),
        cmocka_unit_test(test_own_changes_adds_and_takes_away),
        cmocka_unit_test(test_a_patch_that_adds_an_object_has_no_nulls_in_it),
        cmocka_unit_test(test_lists_are_replaced),
        cmocka_unit_test(test_an_error_names_the_file_that_has_the_text),
        cmocka_unit_test(test_an_error_that_a_patch_makes_is_the_specs),
        cmocka_unit_test(test_what_is_not_used_need_not_be_right),
        cmocka_unit_test(test_wrong_names_are_refused),
        cmocka_unit_test(test_a_family_is_a_word),
        cmocka_unit_test(test_the_limit_on_values_holds_for_both_files_together),
        cmocka_unit_test_setup_teardown(test_a_family_is_a_file_beside_the_spec, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_family_that_is_not_there_is_an_error_of_its_file, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_a_printed_spec_is_whole, make_folder, remove_folder),
        cmocka_unit_test(test_a_vendors_file_has_no_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
