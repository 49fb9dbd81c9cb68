// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "config/spec/spec_json.h"

// Two readings of one spec have the same hash. Anything that changes a value changes the hash; texts do not.

static const char SPEC[] =
    "{\"product_configuration\": {\"product_name\": \"Toy\"},"
    "\"events\": {\"CYCLES\": {\"code\": \"0x11\", \"title\": \"Cycles\"}, \"INST\": {\"code\": \"0x08\"}},"
    "\"metrics\": {\"ipc\": {\"title\": \"IPC\", \"formula\": \"INST / CYCLES\", \"units\": \"per cycle\"}},"
    "\"groups\": {\"metrics\": {\"General\": {\"metrics\": [\"ipc\"]}}},"
    "\"topdownd\": {\"vendor\": \"Arm\", \"pmu\": \"armv*\", \"counters\": {\"general\": 6}}}";

// Of the spec with `from` replaced by `to`, which is as long.
static uint64_t hash_with(const char *from, const char *to, const struct environment *environment) {
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
    uint64_t hash = catalog_hash(catalog);
    catalog_free(catalog);
    return hash;
}

static void test_what_changes_a_value_changes_the_hash(void **state) {
    (void)state;
    static const char *const changes[][2] = {
        {"INST / CYCLES", "CYCLES / INST"}, {"0x08", "0x09"}, {"General", "Special"}};
    uint64_t hash = hash_with("Toy", "Toy", NULL);
    assert_true(hash == hash_with("Toy", "Toy", NULL));
    for (size_t i = 0; i < N_OF(changes); i++)
        assert_true(hash != hash_with(changes[i][0], changes[i][1], NULL));
    assert_true(hash == hash_with("\"IPC\"", "\"ipc\"", NULL));       // a title
    assert_true(hash == hash_with("\"Cycles\"", "\"Clocks\"", NULL)); // of an event
}

static void test_the_host_does_not_change_the_hash(void **state) {
    (void)state;
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 0;
    environment.facts.literals[LITERAL_NUM_CPUS] = 64;
    assert_true(hash_with("Toy", "Toy", &environment) == hash_with("Toy", "Toy", NULL));
}

static void test_level_1_without_topdown_counters_is_another_catalog(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog_builder *builder;
    assert_int_equal(spec_json_read("specs/sapphire-rapids.json", NULL, &errors, &builder), 0);
    uint64_t hash = catalog_hash(catalog_builder_catalog(builder));
    catalog_builder_drop_topdown(builder);
    assert_true(hash != catalog_hash(catalog_builder_catalog(builder)));
    catalog_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_changes_a_value_changes_the_hash),
        cmocka_unit_test(test_the_host_does_not_change_the_hash),
        cmocka_unit_test(test_level_1_without_topdown_counters_is_another_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
