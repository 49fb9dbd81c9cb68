// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/base/name_index.h"

enum { NAMES_N = 5000 };

static int find(const struct name_index *index, const char *name, bool any_case) {
    return name_index_find(index, name, strlen(name), any_case);
}

static void test_an_empty_index_has_nothing(void **state) {
    (void)state;
    struct name_index index = {0};
    assert_int_equal(find(&index, "a", false), -1);
    assert_int_equal(find(&index, "", true), -1);
    name_index_deinit(&index);
}

static void test_names_that_differ_in_case_are_told_apart(void **state) {
    (void)state;
    struct name_index index = {0};
    assert_int_equal(name_index_add(&index, "Ipc", 0), 0);
    assert_int_equal(name_index_add(&index, "IPC", 1), 0);
    assert_int_equal(find(&index, "Ipc", false), 0);
    assert_int_equal(find(&index, "IPC", false), 1);
    assert_int_equal(find(&index, "ipc", false), -1);
    assert_int_equal(find(&index, "ipc", true), 0); // the first one added
    assert_int_equal(find(&index, "IPC", true), 0);
    name_index_deinit(&index);
}

static void test_a_name_is_as_long_as_it_is_said_to_be(void **state) {
    (void)state;
    struct name_index index = {0};
    assert_int_equal(name_index_add(&index, "ab", 7), 0);
    assert_int_equal(name_index_find(&index, "abc", 2, false), 7);
    assert_int_equal(name_index_find(&index, "abc", 3, false), -1);
    assert_int_equal(name_index_find(&index, "ab", 1, true), -1);
    name_index_deinit(&index);
}

static void test_a_name_is_added_once_whatever_its_case_is(void **state) {
    (void)state;
    struct name_index index = {0};
    assert_int_equal(name_index_find_or_add(&index, "Ipc", 4), 4);
    assert_int_equal(name_index_find_or_add(&index, "IPC", 5), 4);
    assert_int_equal(name_index_find_or_add(&index, "ipc2", 6), 6);
    assert_int_equal(index.n, 2);
    assert_int_equal(find(&index, "ipc", true), 4);
    assert_int_equal(find(&index, "IPC", false), -1);
    name_index_deinit(&index);
}

// Twice as many entries as names: each also in capitals, after the one in small letters.
static void test_thousands_are_found_and_their_order_outlives_growing(void **state) {
    (void)state;
    static char names[2 * NAMES_N][16];
    struct name_index index = {0};
    for (unsigned i = 0; i < 2 * NAMES_N; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s%u", i % 2 == 0 ? "name" : "NAME", i / 2);
        assert_int_equal(name_index_add(&index, names[i], i), 0);
    }
    assert_true(2 * index.n <= index.capacity);
    for (unsigned i = 0; i < 2 * NAMES_N; i++) {
        assert_int_equal(find(&index, names[i], false), i);
        assert_int_equal(find(&index, names[i], true), i / 2 * 2);
    }
    assert_int_equal(find(&index, "name5000", true), -1);
    name_index_deinit(&index);
}

static void test_where_room_is_made_an_addition_needs_no_memory(void **state) {
    (void)state;
    static char names[200][8];
    struct name_index index = {0};
    for (unsigned i = 0; i < 200; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%u", i);
        assert_int_equal(name_index_make_room(&index), 0);
        const void *entries = index.entries;
        assert_int_equal(name_index_add(&index, names[i], i), 0);
        assert_ptr_equal(index.entries, entries);
    }
    name_index_deinit(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_index_has_nothing),
        cmocka_unit_test(test_names_that_differ_in_case_are_told_apart),
        cmocka_unit_test(test_a_name_is_as_long_as_it_is_said_to_be),
        cmocka_unit_test(test_a_name_is_added_once_whatever_its_case_is),
        cmocka_unit_test(test_thousands_are_found_and_their_order_outlives_growing),
        cmocka_unit_test(test_where_room_is_made_an_addition_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
