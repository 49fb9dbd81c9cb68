// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "exporters/text/json_writer.h"

static void assert_document(struct json *json, const char *expected) {
    struct text *out = json->out;
    assert_int_equal(json_end(json), 0);
    text_append(out, "", 1);
    assert_false(out->failed);
    assert_string_equal(out->data, expected);
    text_free(out);
}

// An object with a list, an empty list and an empty object.
static void write_example(struct json *json) {
    json_begin_object(json, NULL);
    json_whole(json, "a", 1);
    json_begin_array(json, "list");
    json_bool(json, NULL, true);
    json_bool(json, NULL, false);
    json_begin_object(json, NULL);
    json_null(json, "none");
    json_end_object(json);
    json_end_array(json);
    json_begin_array(json, "empty");
    json_end_array(json);
    json_begin_object(json, "hollow");
    json_end_object(json);
    json_end_object(json);
}

static void test_commas_stand_between_values_and_nowhere_else(void **state) {
    (void)state;
    struct text out = {0};
    struct json json = json_begin(&out, JSON_COMPACT);
    write_example(&json);
    assert_document(&json, "{\"a\":1,\"list\":[true,false,{\"none\":null}],\"empty\":[],\"hollow\":{}}\n");
}

static void test_people_get_a_member_a_line(void **state) {
    (void)state;
    struct text out = {0};
    struct json json = json_begin(&out, JSON_INDENTED);
    write_example(&json);
    assert_document(&json, "{\n\t\"a\":\t1,\n\t\"list\":\t[true, false, {\n\t\t\t\"none\":\tnull\n\t\t}],\n"
                           "\t\"empty\":\t[],\n\t\"hollow\":\t{\n\t}\n}\n");
    json = json_begin(&out, JSON_SPACED);
    json_begin_object(&json, NULL);
    json_whole(&json, "a", 1);
    json_whole(&json, "b", 2);
    json_end_object(&json);
    assert_document(&json, "{\n \"a\": 1,\n \"b\": 2\n}\n");
}

static void test_an_element_on_a_line_of_its_own_has_a_layout_of_its_own(void **state) {
    (void)state;
    struct text out = {0};
    struct json json = json_begin(&out, JSON_INDENTED);
    json_begin_object(&json, NULL);
    json_begin_array(&json, "rows");
    for (int i = 0; i < 2; i++) {
        json_begin_line(&json, i == 0 ? JSON_COMPACT : JSON_INDENTED);
        json_begin_object(&json, NULL);
        json_whole(&json, "n", (uint64_t)i);
        json_whole(&json, "m", 7);
        json_end_object(&json);
    }
    json_begin_line(&json, JSON_COMPACT);
    json_end_array(&json);
    json_end_object(&json);
    assert_document(&json, "{\n\t\"rows\":\t[\n{\"n\":0,\"m\":7},\n{\n\t\"n\":\t1,\n\t\"m\":\t7\n}\n]\n}\n");
}

static void test_numbers_are_in_full_and_what_is_none_is_null(void **state) {
    (void)state;
    struct text out = {0};
    struct json json = json_begin(&out, JSON_COMPACT);
    json_begin_array(&json, NULL);
    json_number(&json, NULL, 0.1);
    json_number(&json, NULL, -1e15);
    json_number(&json, NULL, NAN);
    json_number(&json, NULL, INFINITY);
    json_exact(&json, NULL, 0.1);
    json_exact(&json, NULL, -2.2250738585072014e-308);
    json_exact(&json, NULL, -INFINITY);
    json_whole(&json, NULL, UINT64_MAX);
    json_end_array(&json);
    assert_document(&json, "[0.1,-1000000000000000,null,null,0.10000000000000001,-2.2250738585072014e-308,null,"
                           "18446744073709551615]\n");
}

static void test_strings_and_keys_are_escaped(void **state) {
    (void)state;
    struct text out = {0};
    struct json json = json_begin(&out, JSON_COMPACT);
    json_begin_object(&json, NULL);
    json_string(&json, "a\"b\\\x01", "\b\f\n\r\t\x1f\x7f / caf\xc3\xa9 \xf0\x9f\x98\x80");
    json_string(&json, "\xff", "cut \xe2\x82");
    json_string(&json, "none", NULL);
    json_end_object(&json);
    assert_document(&json, "{\"a\\\"b\\\\\\u0001\":\"\\b\\f\\n\\r\\t\\u001f\x7f / caf\xc3\xa9 \xf0\x9f\x98\x80\","
                           "\"\xEF\xBF\xBD\":\"cut \xEF\xBF\xBD\xEF\xBF\xBD\",\"none\":null}\n");
}

static void test_objects_may_be_nested_as_deep_as_the_limit(void **state) {
    (void)state;
    struct text out = {0};
    char expected[2 * JSON_DEPTH_MAX + 2] = {0};
    struct json json = json_begin(&out, JSON_COMPACT);
    memset(expected, '[', JSON_DEPTH_MAX);
    memset(expected + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    expected[2 * (size_t)JSON_DEPTH_MAX] = '\n';
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_begin_array(&json, NULL);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_end_array(&json);
    assert_document(&json, expected);
}

static void test_short_memory_is_told_at_the_end(void **state) {
    (void)state;
    struct text out = {.failed = true};
    struct json json = json_begin(&out, JSON_INDENTED);
    write_example(&json);
    assert_int_equal(json_end(&json), -ENOMEM);
    assert_int_equal(out.length, 0);
    text_free(&out);
}

// ---- against another writer ----

enum { STRING_MAX = 12, NESTED_MAX = 6 };

// Up to STRING_MAX bytes of ASCII, with zeros only at the end.
static void make_string(uint64_t *random, char *string) {
    size_t n = random_next(random) % STRING_MAX;
    for (size_t i = 0; i < n; i++)
        string[i] = (char)(1 + random_next(random) % 127);
    string[n] = '\0';
}

// Writes a value, and gives it to the other writer's object or array, too.
static void write_random(uint64_t *random, struct json *json, const char *key, cJSON *parent, int depth) {
    uint64_t kind = random_next(random) % (depth < NESTED_MAX ? 6 : 4);
    double number = (double)(random_next(random) % 100000);
    char string[STRING_MAX + 1];
    cJSON *item = NULL;
    make_string(random, string);
    if (kind == 0) {
        json_null(json, key);
        item = cJSON_CreateNull();
    } else if (kind == 1) {
        json_bool(json, key, number > 50000);
        item = cJSON_CreateBool(number > 50000);
    } else if (kind == 2) {
        json_number(json, key, number);
        item = cJSON_CreateNumber(number);
    } else if (kind == 3) {
        json_string(json, key, string);
        item = cJSON_CreateString(string);
    } else {
        (kind == 4 ? json_begin_object : json_begin_array)(json, key);
        item = kind == 4 ? cJSON_CreateObject() : cJSON_CreateArray();
        for (uint64_t n = random_next(random) % 5; n > 0; n--) {
            make_string(random, string);
            write_random(random, json, kind == 4 ? string : NULL, item, depth + 1);
        }
        (kind == 4 ? json_end_object : json_end_array)(json);
    }
    assert_true(key ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item));
}

// cJSON's printer, where the values are such that both write them alike: small whole numbers, ASCII strings.
static void test_random_documents_are_as_another_writer_prints_them(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 3000; i++) {
        struct text out = {0};
        bool indented = i % 2;
        cJSON *root = cJSON_CreateArray();
        struct json json = json_begin(&out, indented ? JSON_INDENTED : JSON_COMPACT);
        json_begin_array(&json, NULL);
        for (int n = 0; n < 5; n++)
            write_random(&random, &json, NULL, root, 1);
        json_end_array(&json);
        assert_int_equal(json_end(&json), 0);
        out.data[out.length - 1] = '\0';
        char *expected = indented ? cJSON_Print(root) : cJSON_PrintUnformatted(root);
        assert_string_equal(out.data, expected);
        cJSON_free(expected);
        cJSON_Delete(root);
        text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_stand_between_values_and_nowhere_else),
        cmocka_unit_test(test_people_get_a_member_a_line),
        cmocka_unit_test(test_an_element_on_a_line_of_its_own_has_a_layout_of_its_own),
        cmocka_unit_test(test_numbers_are_in_full_and_what_is_none_is_null),
        cmocka_unit_test(test_strings_and_keys_are_escaped),
        cmocka_unit_test(test_objects_may_be_nested_as_deep_as_the_limit),
        cmocka_unit_test(test_short_memory_is_told_at_the_end),
        cmocka_unit_test(test_random_documents_are_as_another_writer_prints_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
