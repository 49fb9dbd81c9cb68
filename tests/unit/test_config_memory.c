// SPDX-License-Identifier: Apache-2.0
//
// Out of memory: every allocation of topdownd fails once, and each time the result
// is -ENOMEM and nothing leaks (the address sanitizer watches). To reach the allocations, the sources are compiled into
// this program with allocators of our own; libyaml keeps the real ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static size_t allocations, failing; // counted from 1; failing 0: none

static bool fails(void) { return ++allocations == failing; }

static void *test_malloc_or_fail(size_t size) { return fails() ? NULL : malloc(size); }

static void *test_calloc_or_fail(size_t n, size_t size) { return fails() ? NULL : calloc(n, size); }

static void *test_realloc_or_fail(void *old, size_t size) { return fails() ? NULL : realloc(old, size); }

static char *test_strdup_or_fail(const char *text) { return fails() ? NULL : strdup(text); }

static int test_asprintf_or_fail(char **out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int r = fails() ? -1 : vasprintf(out, format, arguments);
    va_end(arguments);
    return r;
}

#undef strdup
#define malloc test_malloc_or_fail
#define calloc test_calloc_or_fail
#define realloc test_realloc_or_fail
#define strdup test_strdup_or_fail
#define asprintf test_asprintf_or_fail
#include "config/yaml/config.c"
#include "config/yaml/config_decode.c"
#include "config/yaml/config_listen.c"
#include "config/yaml/config_map.c"
#include "config/yaml/config_profile.c"
#include "config/yaml/config_value.c"
#include "config/yaml/yaml_file.c"
#include "config/yaml/yaml_tree.c"
#include "config/yaml/yaml_tree_parse.c"
#include "core/base/array.c"

typedef int load_function(const char *path, struct errors *errors, struct config **out);

// `r` is what comes back while memory lasts.
static size_t fail_each_allocation(load_function *load, const char *path, int expected) {
    for (size_t i = 1; i < 10000; i++) {
        struct errors errors = {0};
        struct config *config = NULL;
        allocations = 0;
        failing = i;
        int r = load(path, &errors, &config);
        if (allocations < i) { // none failed
            assert_int_equal(r, expected);
            assert_int_equal(config != NULL, r == 0);
            config_free(config);
            return i - 1;
        }
        assert_int_equal(r, -ENOMEM);
        assert_null(config);
    }
    fail_msg("no end");
    return 0;
}

static int parse_rich(const char *name, struct errors *errors, struct config **out) {
    static const char text[] = "listen: [\"127.0.0.1:1\", \"[::1]:2\", \"127.0.0.1:3\"]\n"
                               "profiles: {a: {groups: [MPKI], weights: {MPKI: 3}}, default: {slot: 1s}}\n"
                               "hosts: [{match: {hostname: a, cpu: b, file: /c}, profile: a}]\n"
                               "counters: {reserve: 1}\nguests: share\n";
    return config_parse(name, text, strlen(text), errors, out);
}

static int parse_wrong(const char *name, struct errors *errors, struct config **out) {
    static const char text[] = "listen: [a, '[::1]:2', '[::1]:2']\n"
                               "profile: aa\n"
                               "profile: bb\n"
                               "profiles: {a: {groups: [MPKI, mpki], weights: {MPK: 3}}}\n"
                               "hosts: [{match: {hostname: a}, profile: aaa}, x]\n"
                               "counters: {reserve: x, res: 1}\nguests: no\n";
    return config_parse(name, text, strlen(text), errors, out);
}

static int parse_nothing(const char *name, struct errors *errors, struct config **out) {
    return config_parse(name, "", 0, errors, out);
}

static void test_no_allocation_that_fails_does_harm(void **state) {
    (void)state;
    assert_in_range(fail_each_allocation(parse_nothing, "t.yaml", 0), 5, 30);
    assert_in_range(fail_each_allocation(parse_rich, "t.yaml", 0), 40, 200);
    assert_in_range(fail_each_allocation(parse_wrong, "t.yaml", -EINVAL), 40, 200);
}

static void test_no_allocation_that_fails_does_harm_while_files_are_merged(void **state) {
    (void)state;
    assert_in_range(fail_each_allocation(config_load, "tests/data/config/merge/topdownd.yaml", 0), 60, 400);
    assert_in_range(fail_each_allocation(config_load, "tests/data/config/errors/topdownd.yaml", -EINVAL), 30, 400);
    assert_in_range(fail_each_allocation(config_load, "tests/data/config/absent.yaml", -EINVAL), 4, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocation_that_fails_does_harm),
        cmocka_unit_test(test_no_allocation_that_fails_does_harm_while_files_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
