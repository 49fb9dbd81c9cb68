// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/top_pages.h"

#include <errno.h>
#include <math.h>

// What the view in a terminal reads of a server that it does not trust.

static int read_frame(const char *text, struct frame **out) {
    char why[200] = "";
    int r = frame_read(text, strlen(text), out, why);
    assert_true((r == 0) == (why[0] == '\0'));
    return r;
}

static void test_what_is_no_page_of_topdownd_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "x",
                                        "[]",
                                        "{}",
                                        "null",
                                        "{\"bound\":null}",
                                        "<html>not here</html>",
                                        "{\"core_types\":[1]}",
                                        "{\"bound\":",
                                        "{\"error\":\"x\"}"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        struct frame *frame = NULL;
        assert_int_equal(read_frame(wrong[i], &frame), -EINVAL);
        assert_null(frame);
    }
}

static void test_members_of_wrong_types_count_as_absent(void **state) {
    (void)state;
    struct frame *frame;
    assert_int_equal(
        read_frame("{\"bound\":7,\"scopes\":[{\"tree\":[{\"metric\":1,\"value\":\"x\",\"children\":{}},3]}],"
                   "\"sequence\":\"x\",\"round\":[]}",
                   &frame),
        0);
    assert_int_equal(frame->n_types, 1);
    assert_false(frame->types[0].bound.known);
    assert_int_equal(frame->types[0].n_nodes, 1);
    assert_true(isnan(frame->types[0].nodes[0].is.value));
    frame_free(frame);
}

static void test_texts_cannot_steer_a_terminal(void **state) {
    (void)state;
    struct frame *frame;
    assert_int_equal(read_frame("{\"bound\":{\"text\":\"a\\u001b[2Jb\\u009bc\\u00e4\\n\"},\"scopes\":[]}", &frame), 0);
    assert_string_equal(frame->types[0].bound.text, "a?[2Jb?c\u00e4?");
    frame_free(frame);
}

static void test_core_types_are_read_each_for_itself(void **state) {
    (void)state;
    struct frame *frame;
    char page[2 * sizeof TOPDOWN + 200], why[200] = "";
    (void)snprintf(page, sizeof page,
                   "{\"bound_text\":\"Both.\",\"core_types\":[{\"core_type\":\"big\",%s,{\"core_type\":\"little\",%s]}",
                   TOPDOWN + 1, TOPDOWN + 1);
    assert_int_equal(read_frame(page, &frame), 0);
    assert_int_equal(frame->n_types, 2);
    assert_string_equal(frame->types[1].name, "little");
    assert_string_equal(frame->bound_text, "Both.");
    (void)snprintf(page, sizeof page, "{\"core_types\":[%s,%s]}", HOST, CPUS);
    assert_int_equal(frame_add_units(frame, FRAME_CPUS, page, strlen(page), why), 0);
    assert_int_equal(frame->types[0].units[FRAME_CPUS].n, 1);
    assert_int_equal(frame->types[1].units[FRAME_CPUS].n, 3);
    frame_free(frame);
}

static void test_values_are_found_whatever_the_order_of_their_names(void **state) {
    (void)state;
    struct shown shown = shown_new();
    const struct frame_units *cpus = &shown.frame->types[0].units[FRAME_CPUS];
    size_t ipc = frame_units_find(cpus, "ipc");
    assert_true(frame_units_at(cpus, 1, ipc)->value == 0.5f && frame_units_at(cpus, 1, 1 - ipc)->value == 0.4f);
    assert_true(isnan(frame_units_at(cpus, 2, 1 - ipc)->value));
    shown_free(&shown);
}

static void test_a_socket_has_what_is_told_outside_the_cores_too(void **state) {
    (void)state;
    static const char page[] =
        "{\"metrics\":{\"ipc\":{\"unit\":\"instructions per cycle\"}},"
        "\"scopes\":[{\"socket\":0,\"metrics\":{\"ipc\":{\"value\":2}}},{\"socket\":3,\"metrics\":{\"ipc\":{\"value\":"
        "1}}}],"
        "\"uncore\":[{\"metrics\":{\"memory_latency_seconds\":{\"unit\":\"seconds per "
        "read\"}},\"sockets\":[{\"socket\":3,"
        "\"metrics\":{\"memory_latency_seconds\":{\"value\":1e-7,\"low\":9e-8,\"high\":1.1e-7}}}]},7]}";
    struct shown shown = shown_new();
    char why[200] = "";
    assert_int_equal(frame_add_units(shown.frame, FRAME_SOCKETS, page, strlen(page), why), 0);
    const struct frame_units *sockets = &shown.frame->types[0].units[FRAME_SOCKETS];
    size_t latency = frame_units_find(sockets, "memory_latency_seconds");
    assert_int_equal(sockets->n_columns, 2);
    assert_int_equal(latency, 1);
    assert_true(isnan(frame_units_at(sockets, 0, latency)->value) && frame_units_at(sockets, 1, 0)->value == 1);
    assert_true(fabsf(frame_units_at(sockets, 1, latency)->value - 1e-7f) < 1e-10f);
    (void)screen_press(&shown.view, &shown.data, 's');
    (void)screen_press(&shown.view, &shown.data, SCREEN_KEY_DOWN);
    (void)screen_press(&shown.view, &shown.data, SCREEN_KEY_ENTER);
    shown_draw(&shown, 24, 80, false);
    shown_find(&shown, "memory_latency_seconds             100 ns \u00b110.0");
    shown_find(&shown, "per read");
    shown_free(&shown);
}

// A tree and a table as large as no host has.
static void test_what_is_too_large_is_cut_or_refused(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *page = malloc(SIZE), why[200] = "";
    struct frame *frame;
    assert_non_null(page);
    size_t length = (size_t)snprintf(page, SIZE, "{\"bound\":null,\"scopes\":[{\"tree\":[");
    for (int i = 0; i < 1990; i++)
        length += (size_t)snprintf(page + length, SIZE - length, "%s{\"metric\":\"a\",\"children\":[{},{}]}",
                                   i > 0 ? "," : "");
    (void)snprintf(page + length, SIZE - length, "]}]}");
    assert_int_equal(read_frame(page, &frame), 0);
    assert_int_equal(frame->types[0].n_nodes, FRAME_NODES_MAX);
    length = (size_t)snprintf(page, SIZE, "{\"metrics\":{},\"scopes\":[{}");
    for (int i = 0; i < FRAME_UNITS_MAX; i++)
        length += (size_t)snprintf(page + length, SIZE - length, ",{}");
    (void)snprintf(page + length, SIZE - length, "]}");
    assert_int_equal(frame_add_units(frame, FRAME_CPUS, page, strlen(page), why), -EINVAL);
    assert_false(frame->types[0].units[FRAME_CPUS].present);
    memset(page, '[', SIZE - 1);
    page[SIZE - 1] = '\0';
    struct frame *none = NULL;
    assert_int_equal(read_frame(page, &none), -EINVAL);
    frame_free(frame);
    free(page);
}

static void test_a_history_ends_where_its_steps_do(void **state) {
    (void)state;
    struct past *past;
    char why[200] = "";
    const char *page =
        "{\"steps\":2,\"step_seconds\":10,\"series\":[{\"metric\":\"a\",\"values\":[1,2,3,4]},{\"metric\":7}]}";
    assert_int_equal(past_read(page, strlen(page), &past, why), 0);
    assert_true(past->n_steps == 2 && past->n_series == 2 && past->series[0].values[1] == 2);
    assert_true(isnan(past->series[1].values[0]) && isnan(past->begin_seconds) && !past_find(past, "", "b"));
    past_free(past);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_page_of_topdownd_is_refused),
        cmocka_unit_test(test_members_of_wrong_types_count_as_absent),
        cmocka_unit_test(test_texts_cannot_steer_a_terminal),
        cmocka_unit_test(test_core_types_are_read_each_for_itself),
        cmocka_unit_test(test_values_are_found_whatever_the_order_of_their_names),
        cmocka_unit_test(test_a_socket_has_what_is_told_outside_the_cores_too),
        cmocka_unit_test(test_what_is_too_large_is_cut_or_refused),
        cmocka_unit_test(test_a_history_ends_where_its_steps_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
