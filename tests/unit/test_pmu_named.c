// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <math.h>

#include "collectors/uncore/pmu_named.h"

// Events that the kernel names, in made-up folders of sysfs. e2e/test_uncore_hosts.py measures some.

static void write_event(const struct host_tree *tree, const char *event, const char *terms, const char *scale,
                        const char *unit) {
    char file[64];
    (void)snprintf(file, sizeof file, "events/%s", event);
    host_tree_write_pmu(tree, "made_up", file, terms);
    (void)snprintf(file, sizeof file, "events/%s.scale", event);
    if (scale)
        host_tree_write_pmu(tree, "made_up", file, scale);
    (void)snprintf(file, sizeof file, "events/%s.unit", event);
    if (unit)
        host_tree_write_pmu(tree, "made_up", file, unit);
}

// The International System of Units' kilo is 1,000; IEC 80000-13's kibi is 1,024.
static void test_a_count_is_in_base_units(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *scale, *unit;
        double factor;
        const char *base;
    } known[] = {{"64\n", "Bytes\n", 64, "bytes"},      {"1\n", "B\n", 1, "bytes"},
                 {"2\n", "KiB\n", 2048, "bytes"},       {"1\n", "MiB\n", 1048576, "bytes"},
                 {"1\n", "GiB\n", 1073741824, "bytes"}, {"2\n", "KB\n", 2000, "bytes"},
                 {"3\n", "MB\n", 3e6, "bytes"},         {"1\n", "GB\n", 1e9, "bytes"},
                 {"0.5\n", "Joules\n", 0.5, "joules"},  {"1\n", "J\n", 1, "joules"},
                 {"2\n", "mJ\n", 2e-3, "joules"},       {"1\n", "uJ\n", 1e-6, "joules"},
                 {"1\n", "s\n", 1, "seconds"},          {"1\n", "ms\n", 1e-3, "seconds"},
                 {"1\n", "us\n", 1e-6, "seconds"},      {"10\n", "ns\n", 1e-8, "seconds"},
                 {NULL, "Bytes\n", 1, "bytes"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char event[16];
        struct pmu_named_event found;
        (void)snprintf(event, sizeof event, "event_%zu", i);
        write_event(tree, event, "event=0x01\n", known[i].scale, known[i].unit);
        assert_int_equal(pmu_named_event(&tree->roots, "made_up", event, &found), 0);
        assert_null(found.unusable);
        assert_string_equal(found.terms, "event=0x01");
        assert_string_equal(found.unit.name, known[i].base);
        if (fabs(found.unit.factor / known[i].factor - 1) > 1e-12)
            fail_msg("%s: %.17g", known[i].unit, found.unit.factor);
    }
}

static void test_what_cannot_be_chosen_says_why(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *terms, *scale, *unit, *why;
    } unusable[] = {{"event=0x01,channel=?\n", "64\n", "Bytes\n", "need values that only a person can choose"},
                    {"event=0x01\n", NULL, NULL, "states no unit"},
                    {"event=0x01\n", "1\n", "furlongs\n", "no base unit"},
                    {"event=0x01\n", "0\n", "Bytes\n", "no base unit"}};
    struct pmu_named_event found;
    for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++) {
        char event[16];
        (void)snprintf(event, sizeof event, "event_%zu", i);
        write_event(tree, event, unusable[i].terms, unusable[i].scale, unusable[i].unit);
        assert_int_equal(pmu_named_event(&tree->roots, "made_up", event, &found), 0);
        if (!found.unusable || !strstr(found.unusable, unusable[i].why))
            fail_msg("%s: %s", unusable[i].terms, found.unusable ? found.unusable : "can be chosen");
    }
    write_event(tree, "level", "event=0x01\n", "64\n", "Bytes\n");
    host_tree_write_pmu(tree, "made_up", "events/level.snapshot", "1\n");
    assert_int_equal(pmu_named_event(&tree->roots, "made_up", "level", &found), 0);
    assert_non_null(strstr(found.unusable, "present value"));
    assert_int_equal(pmu_named_event(&tree->roots, "made_up", "none", &found), -ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_count_is_in_base_units, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_chosen_says_why, host_tree_setup, host_tree_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
