// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "core/spec/event_format.h"

// The numbers are worked out by hand from the bits that Linux gives the terms in its files format/*.

struct field {
    const char *name, *text;
};

static const struct field INTEL[] = {
    {"event", "config:0-7"},   {"umask", "config:8-15"},    {"edge", "config:18\n"}, {"any", "config:21"},
    {"inv", "config:23"},      {"cmask", "config:24-31"},   {"in_tx", "config:32"},  {"offcore_rsp", "config1:0-63"},
    {"ldlat", "config1:0-15"}, {"frontend", "config1:0-23"}};
static const struct field AMD[] = {{"event", "config:0-7,32-35"},
                                   {"umask", "config:8-15"},
                                   {"edge", "config:18"},
                                   {"inv", "config:23"},
                                   {"cmask", "config:24-31"}};
static const struct field ARM[] = {{"event", "config:0-15"},
                                   {"long", "config1:0"},
                                   {"rdpmc", "config1:1"},
                                   {"threshold_compare", "config1:3-4"},
                                   {"threshold", "config1:5-16"}};
static const struct field UNCORE[] = {{"event", "config:0-7"}, {"umask", "config:8-15,32-63"}, {"tid", "config2:9"}};

static struct event_format *format_of(const struct field *fields, size_t n) {
    struct event_format *format;
    struct fault error;
    assert_int_equal(event_format_new(&format), 0);
    for (size_t i = 0; i < n; i++)
        if (event_format_add(format, fields[i].name, fields[i].text, &error) < 0)
            fail_msg("%s", error.text);
    return format;
}

struct sample {
    const char *terms;
    uint64_t config, config1, config2;
};

static void expect_samples(const struct field *fields, size_t n_fields, const struct sample *samples, size_t n) {
    struct event_format *format = format_of(fields, n_fields);
    for (size_t i = 0; i < n; i++) {
        struct pmu_event event = {.pmu = 3, .config = 1, .config1 = 2, .config2 = 3};
        struct fault error;
        if (event_format_encode(format, samples[i].terms, &event, &error) < 0)
            fail_msg("%s: %s", samples[i].terms, error.text);
        assert_int_equal(event.config, samples[i].config);
        assert_int_equal(event.config1, samples[i].config1);
        assert_int_equal(event.config2, samples[i].config2);
        assert_int_equal(event.pmu, 3);
    }
    event_format_free(format);
}

static void expect_refused(const struct field *fields, size_t n_fields, const char *terms, const char *wanted) {
    struct event_format *format = format_of(fields, n_fields);
    struct fault error = {0};
    struct pmu_event event = {.config = 5};
    assert_int_equal(event_format_encode(format, terms, &event, &error), -EINVAL);
    assert_string_equal(error.text, wanted);
    assert_int_equal(event.config, 5);
    event_format_free(format);
}

static void test_intel_terms_go_where_the_kernel_says(void **state) {
    (void)state;
    const struct sample samples[] = {
        {"event=0x3c", 0x3c, 0, 0},
        {"event=0xc2,umask=0x1,inv,cmask=0x10", 0x108001c2, 0, 0},
        {"event=0xb1,umask=0x3f,cmask=1,inv=1,any=1", 0x01a03fb1, 0, 0},
        {"event=0xb1,umask=63,edge=1,inv,cmask=1,any", 0x01a43fb1, 0, 0},
        {"event=0x00,umask=0x04", 0x0400, 0, 0},
        {"event=0xb7,umask=0x1,offcore_rsp=0x3fffc00001", 0x01b7, 0x3fffc00001, 0},
        {"event=0xb7,umask=1,offcore_rsp=0xffffffffffffffff", 0x01b7, UINT64_MAX, 0},
        {"event=0xcd,umask=0x1,ldlat=0x200", 0x01cd, 0x200, 0},
        {"event=0xc6,umask=0x3,frontend=0x8", 0x03c6, 8, 0},
        {"event=0x3c,in_tx=1", UINT64_C(0x10000003c), 0, 0},
    };
    expect_samples(INTEL, N_OF(INTEL), samples, N_OF(samples));
}

static void test_split_fields_are_filled_low_bits_first(void **state) {
    (void)state;
    const struct sample amd[] = {{"event=0x76", 0x76, 0, 0},
                                 {"event=0x1c7,umask=0x2", UINT64_C(0x1000002c7), 0, 0},
                                 {"event=0xfff,umask=0xff", UINT64_C(0xf0000ffff), 0, 0},
                                 {"event=0x28f,umask=0x7,cmask=1", UINT64_C(0x20100078f), 0, 0}};
    const struct sample uncore[] = {{"event=0x35,umask=0xc001fe01", UINT64_C(0x00c001fe00000135), 0, 0},
                                    {"event=0x1,umask=0xffffffffff", UINT64_C(0xffffffff0000ff01), 0, 0},
                                    {"event=1,tid", 1, 0, 0x200}};
    expect_samples(AMD, N_OF(AMD), amd, N_OF(amd));
    expect_samples(UNCORE, N_OF(UNCORE), uncore, N_OF(uncore));
}

static void test_the_order_of_ranges_does_not_matter(void **state) {
    (void)state;
    const struct field fields[] = {{"event", "config:32-35,0-7"}, {"odd", "config1:63,1,3"}};
    const struct sample samples[] = {
        {"event=0x1c7", UINT64_C(0x1000000c7), 0, 0}, {"odd=3", 0, 0xa, 0}, {"odd=4", 0, UINT64_C(1) << 63, 0}};
    expect_samples(fields, N_OF(fields), samples, N_OF(samples));
}

static void test_arm_terms_go_where_the_kernel_says(void **state) {
    (void)state;
    const struct sample samples[] = {{"event=0x11", 0x11, 0, 0},
                                     {"event=0x8005,long", 0x8005, 1, 0},
                                     {"event=0x70,threshold=4095,threshold_compare=2", 0x70, 0x1fff0, 0}};
    expect_samples(ARM, N_OF(ARM), samples, N_OF(samples));
}

static void test_whole_numbers_lie_below_the_fields(void **state) {
    (void)state;
    const struct sample samples[] = {{"config=0x1a8,config1=0x10,config2=7", 0x1a8, 0x10, 7},
                                     {"umask=0x2,config=0xc4", 0x2c4, 0, 0}};
    expect_samples(INTEL, N_OF(INTEL), samples, N_OF(samples));
}

static void test_what_does_not_change_the_count_is_left_out(void **state) {
    (void)state;
    const struct sample samples[] = {
        {"event=0xc4,umask=0x1,name=BR_INST_RETIRED.ALL,period=400009,percore,metric-id=x!3", 0x1c4, 0, 0},
        {" event=0xc4 , umask=1\n", 0x1c4, 0, 0}};
    expect_samples(INTEL, N_OF(INTEL), samples, N_OF(samples));
}

static void test_a_value_that_its_field_does_not_hold_is_refused(void **state) {
    (void)state;
    expect_refused(INTEL, N_OF(INTEL), "event=0x1c7", "event=0x1c7 is more than its 8 bits hold: at most 0xff");
    expect_refused(AMD, N_OF(AMD), "event=0x1000", "event=0x1000 is more than its 12 bits hold: at most 0xfff");
    expect_refused(INTEL, N_OF(INTEL), "event=1,inv=2", "inv=0x2 is more than its 1 bits hold: at most 0x1");
}

static void test_an_unknown_term_is_refused_with_those_there_are(void **state) {
    (void)state;
    expect_refused(AMD, N_OF(AMD), "event=0xc0,any=1",
                   "the PMU has no term \"any\"; it has event, umask, edge, inv, cmask");
    expect_refused(NULL, 0, "event=0xc0", "the PMU has no term \"event\"; it has none but config, config1 and config2");
}

static void test_a_term_that_comes_twice_is_refused(void **state) {
    (void)state;
    expect_refused(AMD, N_OF(AMD), "event=1,umask=2,event=1", "the term \"event\" is there twice");
    expect_refused(AMD, N_OF(AMD), "event=1,name=a,name=b", "the term \"name\" is there twice");
}

static void test_terms_that_fill_the_same_bits_are_refused(void **state) {
    (void)state;
    expect_refused(INTEL, N_OF(INTEL), "event=0xb7,ldlat=3,offcore_rsp=1",
                   "ldlat and offcore_rsp fill the same bits: an event has one of them");
    const struct sample zero = {"event=0xb7,ldlat=0,offcore_rsp=1", 0xb7, 1, 0};
    expect_samples(INTEL, N_OF(INTEL), &zero, 1);
}

static void test_what_is_no_number_is_refused(void **state) {
    (void)state;
    static const char *const values[] = {
        "0x", "", "x", "-1", "+1", "0x10g", "0x0x1", "1 2", "18446744073709551616", "0x10000000000000000", "?"};
    for (size_t i = 0; i < N_OF(values); i++) {
        char terms[64], wanted[160];
        (void)snprintf(terms, sizeof terms, "event=%s", values[i]);
        (void)snprintf(wanted, sizeof wanted, "event=%s is not a number of at most 64 bits, decimal or 0x...",
                       values[i]);
        expect_refused(ARM, N_OF(ARM), terms, wanted);
    }
}

static void test_missing_and_too_many_terms_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", ",", "event=1,", "event=1,,long", "=3"};
    for (size_t i = 0; i < N_OF(texts); i++)
        expect_refused(ARM, N_OF(ARM), texts[i],
                       "a term is missing: terms are name or name=value with ',' between them");
    struct event_format *format;
    struct fault error;
    struct pmu_event event;
    char terms[1024] = "";
    assert_int_equal(event_format_new(&format), 0);
    for (int i = 0; i <= EVENT_FORMAT_TERMS_MAX; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "t%d", i);
        strcat(strcat(strcat(terms, i > 0 ? "," : ""), name), "=0");
        assert_int_equal(event_format_add(format, name, "config:0", &error), i < EVENT_FORMAT_FIELDS_MAX ? 0 : -EINVAL);
    }
    assert_string_equal(error.text, "more than 64 terms");
    error.text[0] = '\0';
    assert_int_equal(event_format_encode(format, terms, &event, &error), -EINVAL);
    assert_string_equal(error.text, "more than 64 terms");
    *strrchr(terms, ',') = '\0';
    assert_int_equal(event_format_encode(format, terms, &event, &error), 0);
    event_format_free(format);
}

static void test_a_format_that_is_nonsense_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "config",
                                        "config:",
                                        "config:64",
                                        "config:7-0",
                                        "config:0-7,",
                                        "config:0-7,4",
                                        "config:0-64",
                                        "config3:0-7",
                                        "configs:1",
                                        "config:0-7x",
                                        "config:0--7",
                                        "config:000",
                                        "event:0-7",
                                        "config:-1",
                                        ":0-7",
                                        "config:0-7 8"};
    struct event_format *format;
    assert_int_equal(event_format_new(&format), 0);
    for (size_t i = 0; i < N_OF(texts); i++) {
        struct fault error = {0};
        assert_int_equal(event_format_add(format, "event", texts[i], &error), -EINVAL);
        assert_non_null(strstr(error.text, "does not say which bits event fills"));
    }
    assert_int_equal(event_format_count(format), 0);
    event_format_free(format);
}

static void test_a_field_has_a_name_of_its_own(void **state) {
    (void)state;
    struct event_format *format = format_of(AMD, N_OF(AMD));
    struct fault error;
    assert_int_equal(event_format_add(format, "umask", "config:40-47", &error), -EINVAL);
    assert_string_equal(error.text, "the term umask is there twice");
    assert_int_equal(event_format_add(format, "config1", "config1:0-63", &error), -EINVAL);
    assert_string_equal(error.text, "config1 is the whole number and no term of a format");
    assert_int_equal(event_format_add(format, "a b", "config:40", &error), -EINVAL);
    assert_int_equal(event_format_add(format, "", "config:40", &error), -EINVAL);
    assert_int_equal(event_format_add(format, "a23456789012345678901234567890ab", "config:40", &error), -EINVAL);
    assert_int_equal(event_format_add(format, "a23456789012345678901234567890a", "config:40", &error), 0);
    event_format_free(format);
}

static void test_fields_can_be_looked_at(void **state) {
    (void)state;
    struct event_format *format = format_of(INTEL, N_OF(INTEL));
    assert_int_equal(event_format_count(format), 10);
    assert_string_equal(event_format_at(format, 5)->name, "cmask");
    assert_int_equal(event_format_at(format, 5)->bits, 0xff000000);
    assert_int_equal(event_format_find(format, "offcore_rsp")->word, 1);
    assert_int_equal(event_format_find(format, "offcore_rsp")->bits, UINT64_MAX);
    assert_null(event_format_find(format, "off"));
    assert_null(event_format_free(format));
    assert_null(event_format_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intel_terms_go_where_the_kernel_says),
        cmocka_unit_test(test_split_fields_are_filled_low_bits_first),
        cmocka_unit_test(test_the_order_of_ranges_does_not_matter),
        cmocka_unit_test(test_arm_terms_go_where_the_kernel_says),
        cmocka_unit_test(test_whole_numbers_lie_below_the_fields),
        cmocka_unit_test(test_what_does_not_change_the_count_is_left_out),
        cmocka_unit_test(test_a_value_that_its_field_does_not_hold_is_refused),
        cmocka_unit_test(test_an_unknown_term_is_refused_with_those_there_are),
        cmocka_unit_test(test_a_term_that_comes_twice_is_refused),
        cmocka_unit_test(test_terms_that_fill_the_same_bits_are_refused),
        cmocka_unit_test(test_what_is_no_number_is_refused),
        cmocka_unit_test(test_missing_and_too_many_terms_are_refused),
        cmocka_unit_test(test_a_format_that_is_nonsense_is_refused),
        cmocka_unit_test(test_a_field_has_a_name_of_its_own),
        cmocka_unit_test(test_fields_can_be_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
