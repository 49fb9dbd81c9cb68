// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <glob.h>
#include <math.h>

#include "config/spec/spec_json.h"
#include "core/spec/catalog_same.h"

// Two readings of a spec are the same catalog; whatever a reload could find changed makes it another one.

static const char SPEC[] =
    "{\"product_configuration\": {\"product_name\": \"Toy\"},"
    "\"events\": {\"CYCLES\": {\"code\": \"0x11\", \"title\": \"Cycles\"}, \"INST\": {\"code\": \"0x08\"}},"
    "\"metrics\": {\"ipc\": {\"title\": \"IPC\", \"formula\": \"INST / CYCLES\", \"units\": \"per cycle\"}},"
    "\"groups\": {\"metrics\": {\"General\": {\"metrics\": [\"ipc\"]}}},"
    "\"topdownd\": {\"vendor\": \"Arm\", \"pmu\": \"armv*\", \"counters\": {\"general\": 6}}}";

// The spec with `from` replaced by `to`, which is as long.
static struct catalog *toy_with(const char *from, const char *to, const struct environment *environment) {
    char text[sizeof SPEC];
    struct errors errors = {0};
    struct catalog *catalog;
    memcpy(text, SPEC, sizeof SPEC);
    char *place = strstr(text, from);
    assert_non_null(place);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(place, to, strlen(to));
    if (spec_json_parse("toy.json", text, sizeof text - 1, environment, &errors, &catalog) < 0)
        fail_msg("%s", errors.items[0].text);
    return catalog;
}

static bool same_with(const char *from, const char *to, const struct environment *environment) {
    struct catalog *toy = toy_with("Toy", "Toy", NULL), *other = toy_with(from, to, environment);
    bool same = catalog_same(toy, other);
    assert_true(same == catalog_same(other, toy));
    catalog_free(other);
    catalog_free(toy);
    return same;
}

static void test_every_spec_is_the_same_when_it_is_read_again(void **state) {
    (void)state;
    glob_t files;
    size_t n = 0;
    assert_int_equal(glob("specs/*.json", 0, NULL, &files), 0);
    struct catalog *before = NULL;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct errors errors = {0};
        struct catalog *first, *second;
        if (strstr(files.gl_pathv[i], "cpus.json"))
            continue;
        assert_int_equal(spec_json_load(files.gl_pathv[i], NULL, &errors, &first), 0);
        assert_int_equal(spec_json_load(files.gl_pathv[i], NULL, &errors, &second), 0);
        if (!catalog_same(first, second))
            fail_msg("%s differs from itself", files.gl_pathv[i]);
        assert_true(!before || !catalog_same(before, first));
        catalog_free(before);
        before = first;
        catalog_free(second);
        n++;
    }
    catalog_free(before);
    globfree(&files);
    assert_true(n > 50);
}

static void test_each_change_of_a_spec_makes_another_catalog(void **state) {
    (void)state;
    static const char *const changes[][2] = {{"INST / CYCLES", "CYCLES / INST"},
                                             {"0x08", "0x09"},
                                             {"\"Cycles\"", "\"Clocks\""},
                                             {"\"IPC\"", "\"ipc\""},
                                             {"per cycle", "per clock"},
                                             {"General", "Special"},
                                             {"product_name\": \"Toy", "product_name\": \"Two"},
                                             {"armv*", "cpus*"},
                                             {"\"general\": 6", "\"general\": 4"}};
    assert_true(same_with("Toy", "Toy", NULL));
    for (size_t i = 0; i < N_OF(changes); i++)
        if (same_with(changes[i][0], changes[i][1], NULL))
            fail_msg("%s instead of %s is said to be the same", changes[i][1], changes[i][0]);
}

static void test_other_facts_of_the_host_make_another_catalog(void **state) {
    (void)state;
    struct environment environment;
    environment_init(&environment);
    assert_true(same_with("Toy", "Toy", &environment)); // with facts that are not known
    environment.facts.literals[LITERAL_NUM_CPUS_ONLINE] = 63;
    assert_false(same_with("Toy", "Toy", &environment));
    environment.facts.literals[LITERAL_NUM_CPUS_ONLINE] = NAN;
    (void)strcpy(environment.facts.cpuid, "0x410fd4f0");
    assert_false(same_with("Toy", "Toy", &environment));
}

static void test_a_catalog_lives_until_its_last_reference(void **state) {
    (void)state;
    struct catalog *toy = toy_with("Toy", "Toy", NULL);
    const struct catalog *shared = catalog_share(toy);
    assert_null(catalog_free(toy));
    assert_string_equal(shared->metrics[0].name, "ipc"); // a sanitizer would tell
    assert_null(catalog_free((struct catalog *)(uintptr_t)shared));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spec_is_the_same_when_it_is_read_again),
        cmocka_unit_test(test_each_change_of_a_spec_makes_another_catalog),
        cmocka_unit_test(test_other_facts_of_the_host_make_another_catalog),
        cmocka_unit_test(test_a_catalog_lives_until_its_last_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
