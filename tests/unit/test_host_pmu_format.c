// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>

#include "collectors/host/host_pmu.h"

// A PMU's own words, from made-up trees of the three vendors.

static struct event_format *format_of(const struct host_tree *tree, const char *pmu) {
    struct event_format *format = NULL;
    assert_int_equal(host_pmu_format(&tree->roots, pmu, &format), 0);
    return format;
}

static uint64_t config_of(const struct event_format *format, const char *terms) {
    struct pmu_event event = {0};
    struct fault error;
    if (event_format_encode(format, terms, &event, &error) < 0)
        fail_msg("%s", error.text);
    return event.config;
}

static void write_intel(const struct host_tree *tree) {
    static const char *const files[][2] = {{"format/event", "config:0-7\n"},
                                           {"format/umask", "config:8-15,40-47\n"},
                                           {"format/cmask", "config:24-31\n"},
                                           {"format/offcore_rsp", "config1:0-63\n"},
                                           {"events/slots", "event=0x00,umask=0x04\n"},
                                           {"caps/branches", "32\n"},
                                           {"caps/pmu_name", "sapphire_rapids\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        host_tree_write_pmu(tree, "cpu", files[i][0], files[i][1]);
}

static void test_the_format_of_an_intel_pmu_is_read(void **state) {
    const struct host_tree *tree = *state;
    write_intel(tree);
    struct event_format *format = format_of(tree, "cpu");
    assert_int_equal(event_format_count(format), 4);
    assert_string_equal(event_format_at(format, 0)->name, "cmask"); // in byte order
    assert_int_equal(config_of(format, "event=0xd1,umask=0x104,cmask=2"), UINT64_C(0x100020004d1));
    event_format_free(format);
}

static void test_an_event_that_the_kernel_names_is_found(void **state) {
    const struct host_tree *tree = *state;
    char terms[64] = "as it was";
    write_intel(tree);
    assert_int_equal(host_pmu_alias(&tree->roots, "cpu", "slots", terms, sizeof terms), 0);
    assert_string_equal(terms, "event=0x00,umask=0x04");
    struct event_format *format = format_of(tree, "cpu");
    assert_int_equal(config_of(format, terms), 0x400);
    event_format_free(format);
    assert_int_equal(host_pmu_alias(&tree->roots, "cpu", "topdown-retiring", terms, sizeof terms), -ENOENT);
    assert_int_equal(host_pmu_alias(&tree->roots, "cpu_core", "slots", terms, sizeof terms), -ENOENT);
    assert_int_equal(host_pmu_alias(&tree->roots, "cpu", "slots", terms, 21), -EINVAL); // its 21 and the end
    assert_string_equal(terms, "event=0x00,umask=0x04");
    assert_int_equal(host_pmu_alias(&tree->roots, "cpu", "slots", terms, 22), 0);
}

static void test_amd_and_arm_formats_are_read(void **state) {
    const struct host_tree *tree = *state;
    host_tree_write_pmu(tree, "cpu", "format/event", "config:0-7,32-35\n");
    host_tree_write_pmu(tree, "cpu", "format/umask", "config:8-15\n");
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "format/event", "config:0-15\n");
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "events/cpu_cycles", "event=0x0011\n");
    struct event_format *amd = format_of(tree, "cpu"), *arm = format_of(tree, "armv8_pmuv3_0");
    char terms[64];
    assert_int_equal(config_of(amd, "event=0x1c7,umask=0x2"), UINT64_C(0x1000002c7));
    assert_int_equal(host_pmu_alias(&tree->roots, "armv8_pmuv3_0", "cpu_cycles", terms, sizeof terms), 0);
    assert_int_equal(config_of(arm, terms), 0x11);
    event_format_free(arm);
    event_format_free(amd);
}

static void test_capabilities_are_numbers_in_two_ways_of_writing(void **state) {
    const struct host_tree *tree = *state;
    uint64_t value = 77;
    write_intel(tree);
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "caps/slots", "0x0000000a\n");
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "caps/too_much", "0x10000000000000000\n");
    assert_int_equal(host_pmu_cap(&tree->roots, "cpu", "pmu_name", &value), -EINVAL);
    assert_int_equal(host_pmu_cap(&tree->roots, "armv8_pmuv3_0", "too_much", &value), -EINVAL);
    assert_int_equal(host_pmu_cap(&tree->roots, "cpu", "slots", &value), -ENOENT);
    assert_int_equal(value, 77);
    assert_int_equal(host_pmu_cap(&tree->roots, "armv8_pmuv3_0", "slots", &value), 0);
    assert_int_equal(value, 10);
    assert_int_equal(host_pmu_cap(&tree->roots, "cpu", "branches", &value), 0);
    assert_int_equal(value, 32);
}

static void test_a_file_that_is_nonsense_costs_its_term_alone(void **state) {
    const struct host_tree *tree = *state;
    char longest[3000];
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    host_tree_write_pmu(tree, "odd", "format/event", "config:0-7\n");
    host_tree_write_pmu(tree, "odd", "format/beyond", "config9:0-7\n");
    host_tree_write_pmu(tree, "odd", "format/empty", "");
    host_tree_write_pmu(tree, "odd", "format/long", longest);
    host_tree_write_pmu(tree, "odd", "format/lines", "config:8\nconfig:9\n");
    host_tree_write_pmu(tree, "odd", "format/a_name_that_is_longer_than_any_term_has", "config:8\n");
    host_tree_write_pmu(tree, "odd", "format/folder/file", "config:8\n");
    struct event_format *format = format_of(tree, "odd");
    assert_int_equal(event_format_count(format), 1);
    assert_non_null(event_format_find(format, "event"));
    event_format_free(format);
}

static void test_no_name_leads_out_of_the_folder(void **state) {
    const struct host_tree *tree = *state;
    static const char *const names[] = {"..", ".", "", "../odd", "a/b", "/"};
    struct event_format *format = NULL;
    char terms[64];
    host_tree_write_pmu(tree, "odd", "format/event", "config:0-7\n");
    host_tree_write_pmu(tree, "odd", "events/a/b", "event=1\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(host_pmu_format(&tree->roots, names[i], &format), -ENOENT);
        assert_int_equal(host_pmu_alias(&tree->roots, "odd", names[i], terms, sizeof terms), -ENOENT);
    }
    assert_int_equal(host_pmu_format(&tree->roots, "none", &format), -ENOENT);
    assert_null(format);
}

static void test_more_terms_than_a_format_has_are_left_out(void **state) {
    const struct host_tree *tree = *state;
    for (int i = 0; i < EVENT_FORMAT_FIELDS_MAX + 10; i++) {
        char file[32];
        (void)snprintf(file, sizeof file, "format/t%03d", i);
        host_tree_write_pmu(tree, "wide", file, "config:0-7\n");
    }
    struct event_format *format = format_of(tree, "wide");
    assert_int_equal(event_format_count(format), EVENT_FORMAT_FIELDS_MAX);
    assert_non_null(event_format_find(format, "t063"));
    event_format_free(format);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_format_of_an_intel_pmu_is_read, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_an_event_that_the_kernel_names_is_found, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_amd_and_arm_formats_are_read, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_capabilities_are_numbers_in_two_ways_of_writing, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_nonsense_costs_its_term_alone, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_no_name_leads_out_of_the_folder, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_more_terms_than_a_format_has_are_left_out, host_tree_setup,
                                        host_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
