// SPDX-License-Identifier: Apache-2.0
//
// Refused parts of YAML, the limits of a configuration's size, and many mistakes
// shown at once.
#include "tests/unit/config_check.h"

static void test_a_duplicate_key_is_refused_with_both_lines(void **state) {
    (void)state;
    refuse("slot: 1s\nidle: 5%\n'slot': 2s\n", "t.yaml:3:1: duplicate key \"slot\": it is already in line 1; keep one");
    refuse("profiles:\n  a: {groups: []}\n\n  a: {groups: []}\n",
           "t.yaml:4:3: duplicate key \"a\": it is already in line 2; keep one");
}

static void test_yaml_beyond_plain_data_is_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"slot: &a 1s", "t.yaml:1:7: anchors such as \"&a\" are not supported: write the value out"},
        {"profiles: &a {}", "t.yaml:1:11: anchors such as \"&a\" are not supported: write the value out"},
        {"hosts: &a []", "t.yaml:1:8: anchors such as \"&a\" are not supported: write the value out"},
        {"&a slot: 1s", "t.yaml:1:1: anchors such as \"&a\" are not supported: write the value out"},
        {"hosts: [{match: {hostname: *-db}, profile: default}]",
         "t.yaml:1:28: aliases such as \"*-db\" are not supported: write the value out, or, where it is a pattern, put "
         "it in quotes"},
        {"slot: !!str 1s", "t.yaml:1:7: tags such as \"tag:yaml.org,2002:str\" are not supported: remove it"},
        {"hosts: !x []", "t.yaml:1:8: tags such as \"!x\" are not supported: remove it"},
        {"profiles: !x {}", "t.yaml:1:11: tags such as \"!x\" are not supported: remove it"},
        {"slot: 1s\n---\nslot: 2s",
         "t.yaml:2:1: a second document begins here: one file holds one, put the other into conf.d"},
        {"listen: [[::1]:80]",
         "t.yaml:1:10: a key must be a single word: an address such as \"[::1]:10813\" needs quotes"},
        {"? *a\n: b", "t.yaml:1:3: a key must be a single word: an address such as \"[::1]:10813\" needs quotes"},
        {"slot: \"1s\\0\"", "t.yaml:1:7: a text must not contain the character NUL: remove \"\\0\""},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_what_is_not_yaml_is_refused_where_it_goes_wrong(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"profiles:\n\ta: 1", "t.yaml:2:1: YAML allows no tab here: use spaces"},
        {"# ä\nlisten: [a\nslot: 1s", "t.yaml:3:5: this is not YAML: did not find expected ',' or ']' while parsing a "
                                      "flow sequence that begins in line 2"},
        {"slot: 1s\nä: \xff\n", "t.yaml:2:4: invalid leading UTF-8 octet: a configuration is UTF-8 text without "
                                "control characters"},
        {"slot: \x01", "t.yaml:1:7: control characters are not allowed: a configuration is UTF-8 text without control "
                       "characters"},
        {"\xff\xfes", "t.yaml:1:1: invalid leading UTF-8 octet: a configuration is UTF-8 text without control "
                      "characters"},
    };
    refuse_all(refusals, N_OF(refusals));
    static const char nul[] = "slot: 1s\n# \0";
    refuse_bytes(nul, sizeof nul - 1, "t.yaml:2:3: a NUL byte: a configuration is UTF-8 text");
}

static void test_16_levels_are_read_and_17_refused(void **state) {
    (void)state;
    const char *known =
        ": known here are listen, probe, profile, profiles, hosts, slot, interval, idle, cpus, counters, guests, mode, "
        "evidence, standard_error, max_series, max_cpu_series, specs, record, textfile, uncore";
    char error[240];
    (void)snprintf(error, sizeof error, "t.yaml:1:1: unknown key \"deep\"%s", known);
    char *text = repeat("deep: ", "[", 15, "]]]]]]]]]]]]]]]");
    refuse(text, error);
    free(text);
    refuse_repeated("deep: ", "[", 16, "]]]]]]]]]]]]]]]]", "t.yaml:1:22: nested deeper than 16 levels");
    refuse_repeated("", "{a: ", 900, "", "t.yaml:1:65: nested deeper than 16 levels");
    refuse_repeated("", "[", 900000, "", "t.yaml:1:17: nested deeper than 16 levels");
}

// The mapping itself, the list and 19,998 items are 20,000 values.
static void test_20000_values_are_read_and_more_refused(void **state) {
    (void)state;
    refuse_repeated(
        "deep: [", "a,", 19998, "]",
        "t.yaml:1:1: unknown key \"deep\": known here are listen, probe, profile, profiles, hosts, slot, interval, "
        "idle, "
        "cpus, counters, guests, mode, evidence, standard_error, max_series, max_cpu_series, specs, record, textfile, "
        "uncore");
    refuse_repeated("deep: [", "a,", 19999, "]", "t.yaml:1:40004: more than 20000 values in all files");
}

static void test_1024_keys_are_read_and_more_refused(void **state) {
    (void)state;
    accept_repeated("profiles:\n", "  p#: {groups: []}\n", 1024, "");
    refuse_repeated("profiles:\n", "  p#: {groups: []}\n", 1025, "",
                    "t.yaml:1026:3: more than 1024 keys in one mapping");
    accept_repeated("profiles: {a: {groups: [", "g#,", 1024, "]}}");
    refuse_repeated("profiles: {a: {groups: [", "g#,", 1025, "]}}",
                    "t.yaml:1:24: groups: more than 1024 in one profile");
}

static void test_a_mebibyte_is_read_and_a_byte_more_refused(void **state) {
    (void)state;
    char *text = malloc(YAML_TREE_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, '#', YAML_TREE_BYTES_MAX + 1);
    struct errors errors = {0};
    struct config *config;
    assert_int_equal(config_parse("t.yaml", text, YAML_TREE_BYTES_MAX, &errors, &config), 0);
    config_free(config);
    refuse_bytes(text, YAML_TREE_BYTES_MAX + 1, "t.yaml: larger than 1048576 bytes");
    free(text);
}

static void assert_error(const struct errors *errors, size_t i, const char *expected) {
    char line[ERROR_LINE_MAX];
    (void)error_format(&errors->items[i], line, sizeof line);
    assert_string_equal(line, expected);
}

static void test_all_mistakes_of_a_file_are_shown_at_once(void **state) {
    (void)state;
    static const char text[] = "idle: 10\n"
                               "profile: databse\n"
                               "profiles:\n"
                               "  database: {groups: [MPKI, M_PKI], slot: 5}\n"
                               "idle: 10%\n";
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_parse("t.yaml", text, strlen(text), &errors, &config), -EINVAL);
    assert_int_equal(errors.n, 5);
    assert_error(&errors, 0, "t.yaml:5:1: duplicate key \"idle\": it is already in line 1; keep one");
    assert_error(&errors, 1, "t.yaml:1:7: idle: \"10\" is out of range: 0% to 90% (0 to 0.9) are allowed");
    assert_error(&errors, 2, "t.yaml:4:43: slot: \"5\" has no unit: write 5s");
    assert_error(&errors, 3, "t.yaml:4:29: group \"M_PKI\" is already in line 4, as \"MPKI\"; keep one");
    assert_error(&errors, 4, "t.yaml:2:10: there is no profile \"databse\": did you mean \"database\"?");
    assert_int_equal(errors.items[3].line, 4);
    assert_int_equal(errors.items[3].column, 29);
}

static void test_mistakes_beyond_the_list_are_counted(void **state) {
    (void)state;
    char *text = repeat("", "key#: 1\n", 100, "");
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_parse("t.yaml", text, strlen(text), &errors, &config), -EINVAL);
    assert_int_equal(errors.n, ERRORS_MAX);
    assert_int_equal(errors.dropped, 100 - ERRORS_MAX);
    // A list that was full before must not make the next mistake look like none.
    assert_int_equal(config_parse("t.yaml", "slot: 1", 7, &errors, &config), -EINVAL);
    assert_int_equal(config_parse("t.yaml", "slot: 1s", 8, &errors, &config), 0);
    config_free(config);
    free(text);
}

static void test_a_file_cut_anywhere_is_read_or_refused(void **state) {
    (void)state;
    static const char text[] = "listen: [\"127.0.0.1:10813\", '[::1]:0']\n"
                               "profiles:\n"
                               "  database: {groups: [stage_1, MPKI], weights: {stage_1: 3}, slot: 200ms}\n"
                               "  größe:\n"
                               "    groups:\n"
                               "      - General\n"
                               "hosts:\n"
                               "- {match: {hostname: \"db-*\", file: /etc/role}, profile: database}\n";
    size_t refused = 0;
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + 1); // of exactly this size, so that a read beyond it is found
        assert_non_null(copy);
        memcpy(copy, text, length);
        struct errors errors = {0};
        struct config *config = NULL;
        int r = config_parse("t.yaml", copy, length, &errors, &config);
        assert_true((r == 0 && config && errors.n == 0) || (r == -EINVAL && !config && errors.n > 0));
        refused += r < 0;
        config_free(config);
        free(copy);
    }
    assert_in_range(refused, 100, sizeof text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_duplicate_key_is_refused_with_both_lines),
        cmocka_unit_test(test_yaml_beyond_plain_data_is_refused),
        cmocka_unit_test(test_what_is_not_yaml_is_refused_where_it_goes_wrong),
        cmocka_unit_test(test_16_levels_are_read_and_17_refused),
        cmocka_unit_test(test_20000_values_are_read_and_more_refused),
        cmocka_unit_test(test_1024_keys_are_read_and_more_refused),
        cmocka_unit_test(test_a_mebibyte_is_read_and_a_byte_more_refused),
        cmocka_unit_test(test_all_mistakes_of_a_file_are_shown_at_once),
        cmocka_unit_test(test_mistakes_beyond_the_list_are_counted),
        cmocka_unit_test(test_a_file_cut_anywhere_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
