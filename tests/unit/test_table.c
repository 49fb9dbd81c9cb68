// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "exporters/text/table.h"

static const struct table_column COLUMNS[] = {
    {"name", "NAME", TABLE_TEXT},  {"secret", NULL, TABLE_TEXT}, {"n", "N", TABLE_NUMBER},
    {"also", "ALSO", TABLE_TEXTS}, {"on", "ON", TABLE_NUMBERS},  {"good", "GOOD", TABLE_BOOL},
};

static struct table table_of_two(void) {
    static const char *const also[] = {"x \"y\"", "z"};
    struct table table = {.columns = COLUMNS, .n_columns = 6};
    table_text(&table, "caf\xc3\xa9");
    table_text(&table, "s");
    table_format(&table, "%d", 12);
    table_texts(&table, also, 2);
    table_text(&table, "0\n1\n");
    table_bool(&table, true);
    table_text(&table, "\x1b[2J");
    table_text(&table, NULL);
    table_text(&table, NULL);
    table_texts(&table, NULL, 0);
    table_text(&table, NULL);
    table_bool(&table, false);
    return table;
}

static void assert_printed(int (*print)(const struct table *, struct text *), const struct table *table,
                           const char *expected) {
    struct text out = {0};
    assert_int_equal(print(table, &out), 0);
    text_append(&out, "", 1);
    assert_string_equal(out.data, expected);
    text_free(&out);
}

static void test_text_is_aligned_by_characters_and_cannot_steer_a_terminal(void **state) {
    (void)state;
    struct table table = table_of_two();
    assert_printed(table_print, &table,
                   "NAME  N   ALSO      ON    GOOD\n"
                   "caf\xc3\xa9  12  x \"y\", z  0, 1  yes\n"
                   "?[2J  -   -         -     -\n");
    table_deinit(&table);
}

static void test_json_has_every_column_with_its_kind(void **state) {
    (void)state;
    struct table table = table_of_two();
    assert_printed(table_print_json, &table,
                   "[\n{\"name\":\"caf\xc3\xa9\",\"secret\":\"s\",\"n\":12,\"also\":[\"x "
                   "\\\"y\\\"\",\"z\"],\"on\":[0,1],\"good\":true},\n"
                   "{\"name\":\"\\u001b[2J\",\"secret\":null,\"n\":null,\"also\":[],\"on\":null,\"good\":false}\n]\n");
    table_deinit(&table);
}

static void test_an_empty_table_is_its_headings_and_an_empty_array(void **state) {
    (void)state;
    struct table table = {.columns = COLUMNS, .n_columns = 6};
    assert_printed(table_print, &table, "NAME  N  ALSO  ON  GOOD\n");
    assert_printed(table_print_json, &table, "[\n]\n");
    table_deinit(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_aligned_by_characters_and_cannot_steer_a_terminal),
        cmocka_unit_test(test_json_has_every_column_with_its_kind),
        cmocka_unit_test(test_an_empty_table_is_its_headings_and_an_empty_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
