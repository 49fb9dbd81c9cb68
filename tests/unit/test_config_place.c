// SPDX-License-Identifier: Apache-2.0
//
// Where the keys of a configuration are set, for what is said of them later.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/config_parsed.h"

static void test_a_key_has_the_place_where_it_is_set_for_a_profile(void **state) {
    (void)state;
    struct config *config =
        parse("idle: 20%\ninterval: 5s\ncounters: {reserve: 1}\ntextfile: {path: /a, interval: 20s}\n"
              "profiles:\n  a: {groups: [], idle: 30%}\n  b: {groups: []}\n"
              "uncore: {groups: [memory,\n io]}\n");
    const struct config_profile *a = profile_of(config, "a"), *b = profile_of(config, "b");
    assert_int_equal(config_place_of(config, a, "idle").line, 6);
    assert_int_equal(config_place_of(config, b, "idle").line, 1);
    assert_int_equal(config_place_of(config, NULL, "idle").line, 1);
    assert_int_equal(config_place_of(config, a, "interval").line, 2);
    assert_int_equal(config_place_of(config, NULL, "textfile.interval").line, 4);
    assert_int_equal(config_place_of(config, b, "counters.reserve").column, 21);
    assert_null(config_place_of(config, a, "slot").file);
    assert_string_equal(config_origin_text(config_place_of(config, a, "slot")).text, "");
    assert_int_equal(config_uncore_origin(&config->uncore, "io").line, 9);
    assert_null(config_uncore_origin(&config->uncore, "llc").file);
    config_free(config);
}

static void test_keys_of_every_mapping_have_a_place(void **state) {
    (void)state;
    struct config *config = parse("listen: none\n"
                                  "specs:\n  path: /perf\n  format: perf\n"
                                  "record:\n  path: /record\n  size: 1M\n"
                                  "textfile: {path: /text}\n"
                                  "uncore:\n  enabled: off\n  groups: [io]\n  boxes:\n    exclude: [a]\n"
                                  "profiles: {a: {groups: [MPKI]}}\n"
                                  "hosts:\n  - match: {cpu: z}\n    profile: a\n");
    static const struct {
        const char *name;
        unsigned line;
    } keys[] = {{"listen", 1},           {"specs", 3},
                {"specs.path", 3},       {"specs.format", 4},
                {"record.path", 6},      {"record.size", 7},
                {"textfile.path", 8},    {"uncore.enabled", 10},
                {"uncore.groups", 11},   {"uncore.boxes.exclude", 13},
                {"hosts.match.cpu", 16}, {"hosts.profile", 17}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (config_place_of(config, NULL, keys[i].name).line != keys[i].line)
            fail_msg("%s is in line %u, not %u", keys[i].name, config_place_of(config, NULL, keys[i].name).line,
                     keys[i].line);
    assert_int_equal(config_place_of(config, profile_of(config, "a"), "groups").line, 14);
    assert_null(config_place_of(config, NULL, "groups").file); // those of uncore are others
    assert_null(config_place_of(config, NULL, "path").file);
    assert_null(config_place_of(config, NULL, "textfile.interval").file);
    config_free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_has_the_place_where_it_is_set_for_a_profile),
        cmocka_unit_test(test_keys_of_every_mapping_have_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
