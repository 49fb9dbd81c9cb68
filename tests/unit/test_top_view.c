// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/top_pages.h"

#include <errno.h>
#include <math.h>

#include "top/model/timeline.h"
#include "top/view/lines.h"

// The view in a terminal, from JSON to the lines of a screen.

static void press(struct shown *shown, int key) {
    assert_int_equal(screen_press(&shown->view, &shown->data, key), SCREEN_NOTHING);
    shown_draw(shown, 24, 80, false);
}

static void test_the_overview_says_host_verdict_level_1_and_tree(void **state) {
    (void)state;
    struct shown shown = shown_new();
    shown_draw(&shown, 24, 80, false);
    assert_int_equal(shown_find(&shown, "web-1  Neoverse V2, 3 CPUs, 2 sockets  SIMULATED"), 0);
    assert_int_equal(shown_find(&shown, "here: 1 s old"), 1);
    assert_int_equal(shown_find(&shown, "Back-end bound, 50 % of pipeline slots."), 2);
    assert_int_equal(shown_find(&shown, "(2 min); next groups: L1D, DTLB"), 3);
    assert_int_equal(shown_find(&shown, "Find the code: perf record"), 4);
    assert_int_equal(shown_find(&shown, "10 s a column, to 50 %"), 5);
    assert_int_equal(shown_find(&shown, " Front-end bound            30.0 % \u00b10.5"), 6);
    assert_int_equal(shown_find(&shown, " Back-end bound             50.0 % \u00b12.0"), 8);
    shown_find(&shown, "\u2588\u2588\u2588\u2588\u2588\u2588"); // half of the bar of twelve
    // the last four steps: 0, half of 50 %, none, all of it
    shown_find(&shown, "\u2581\u2585 \u2588");
    // what is high is open, the rest is not
    shown_find(&shown, "! - Back-end bound");
    shown_find(&shown, "!     Memory");
    shown_find(&shown, "  + Front-end bound");
    assert_false(shown_has(&shown, "Instruction cache"));
    shown_find(&shown, "ipc                                       1.50 \u00b10.10    per cycle");
    assert_int_equal(shown_find(&shown, "q end  ? help"), 23);
    // what has no room is left out, not written over
    shown_draw(&shown, 24, 60, false);
    assert_int_equal(shown_find(&shown, "Level 1 of pipeline slots          95 %              to 50 %"), 5);
    shown_free(&shown);
}

static void test_a_moment_within_a_round_says_of_when_its_values_are(void **state) {
    (void)state;
    struct shown shown = shown_new();
    shown_draw(&shown, 24, 80, false);
    assert_false(shown_has(&shown, "values are of"));
    struct frame *frame = (struct frame *)(uintptr_t)shown.data.frame;
    assert_true(isnan(frame->values_age));
    frame->values_seconds = 12;
    frame->values_age = 0; // a round has ended with the snapshot
    shown_draw(&shown, 24, 80, false);
    assert_false(shown_has(&shown, "values are of"));
    frame->values_age = 4;
    shown_draw(&shown, 24, 80, false);
    assert_int_equal(shown_find(&shown, "here: 1 s old; values are of 12 s, to 4 s before"), 1);
    shown_free(&shown);
}

static void test_keys_open_and_close_nodes_and_descend(void **state) {
    (void)state;
    struct shown shown = shown_new();
    press(&shown, SCREEN_KEY_RIGHT);
    shown_find(&shown, "  - Front-end bound");
    shown_find(&shown, "Instruction cache");
    press(&shown, SCREEN_KEY_DOWN);
    press(&shown, SCREEN_KEY_LEFT); // to the node above
    assert_int_equal(shown.view.lists[SCREEN_OVERVIEW].at, 0);
    press(&shown, SCREEN_KEY_LEFT);
    assert_false(shown_has(&shown, "Instruction cache"));
    press(&shown, SCREEN_KEY_ENTER);
    shown_find(&shown, "30.0 % of pipeline slots (95 %: 29.5 % to 30.5 %)");
    shown_find(&shown, "not high");
    shown_find(&shown, "What it means.");
    press(&shown, SCREEN_KEY_BACK);
    for (int tries = 0; tries < 8 && !shown_has(&shown, "metric      backend_bound_ratio"); tries++) {
        press(&shown, SCREEN_KEY_BACK);
        press(&shown, SCREEN_KEY_DOWN);
        press(&shown, SCREEN_KEY_ENTER);
    }
    shown_find(&shown, "The last 40 s, 10 s a column; full height: 100 %");
    press(&shown, SCREEN_KEY_BACK);
    press(&shown, SCREEN_KEY_END);
    press(&shown, SCREEN_KEY_ENTER);
    shown_find(&shown, "1.50 per cycle (95 %: 1.40 to 1.60)");
    press(&shown, '?');
    shown_find(&shown, "these keys");
    press(&shown, SCREEN_KEY_BACK);
    assert_int_equal(shown.view.screen, SCREEN_NODE);
    press(&shown, 'e');
    assert_true(shown_find(&shown, "Back-end bound") < shown_find(&shown, "topdownd began"));
    shown_free(&shown);
}

static void test_cpus_are_sorted_by_any_metric_and_those_without_a_value_stand_last(void **state) {
    (void)state;
    struct shown shown = shown_new();
    press(&shown, 'c');
    press(&shown, '>'); // of the bottleneck, which is none of these: by number; then the first metric
    shown_find(&shown, "3 CPUs by frontend_bound_ratio, the largest first");
    unsigned largest = shown_find(&shown, "    1      0       40.0 %"),
             smallest = shown_find(&shown, "    0      0       10.0 %");
    assert_true(largest < smallest && smallest < shown_find(&shown, "    2      1            -"));
    press(&shown, 'r');
    largest = shown_find(&shown, "    1      0       40.0 %"),
    smallest = shown_find(&shown, "    0      0       10.0 %");
    assert_true(smallest < largest && largest < shown_find(&shown, "    2      1            -"));
    press(&shown, SCREEN_KEY_DOWN);
    press(&shown, SCREEN_KEY_ENTER);
    shown_find(&shown, "CPU 1");
    shown_find(&shown, "ipc                                  0.50"); // of CPU 1, and
    shown_find(&shown, "1.50  per cycle");                           // of the host
    press(&shown, 's');
    shown_find(&shown, "Reading them ...");
    assert_true(screen_wants(&shown.view, FRAME_SOCKETS) && !screen_wants(&shown.view, FRAME_CPUS));
    shown_free(&shown);
}

static void test_every_size_and_screen_can_be_drawn_also_in_ascii(void **state) {
    (void)state;
    struct shown shown = shown_new();
    char line[4 * GRID_SIDE_MAX + 8];
    for (int screen = 0; screen < SCREEN_KINDS; screen++)
        for (unsigned rows = 1; rows <= 70; rows += 3)
            for (unsigned columns = 1; columns <= 210; columns += 11) {
                shown.view.screen = (enum screen_kind)screen;
                shown.view.unit = 1;
                (void)snprintf(shown.view.metric, sizeof shown.view.metric, "memory_ratio");
                shown.data.gone = rows % 2 ? "web-1: Connection refused. Trying again every 2 s." : NULL;
                shown_draw(&shown, rows, columns, true);
                for (unsigned row = 0; row < rows; row++) {
                    grid_line(&shown.grid, row, line, sizeof line);
                    for (const char *c = line; *c != '\0'; c++)
                        assert_true(*c >= ' ' && *c < 0x7f);
                }
            }
    shown_free(&shown);
}

static void test_a_daemon_that_is_gone_is_said_and_the_last_values_stay(void **state) {
    (void)state;
    struct shown shown = shown_new();
    shown.data.gone = "web-1: Connection refused. Trying again every 2 s.";
    shown_draw(&shown, 24, 80, false);
    assert_int_equal(shown_find(&shown, "GONE: web-1: Connection refused."), 2);
    shown_find(&shown, "Back-end bound, 50 % of pipeline slots.");
    shown.data.frame = NULL;
    shown_draw(&shown, 24, 80, false);
    shown_find(&shown, "Waiting for the first answer");
    shown_free(&shown);
}

static const char MEMORY[] =
    "{\"interval_seconds\":10.2,\"reason\":null,\"values\":{\"numa_remote_allocation_ratio\":0.25,"
    "\"tier_promoted_bytes_per_second\":1.5e6,\"numa_missed_allocation_ratio\":null},\"nodes\":["
    "{\"node\":0,\"socket\":0,\"kind\":\"cpus\",\"tier\":4,\"bytes\":68719476736,\"free_bytes\":1073741824,"
    "\"values\":{\"numa_remote_allocation_ratio\":0.1,\"numa_missed_allocation_ratio\":0}},"
    "{\"node\":2,\"socket\":null,\"kind\":\"cxl\",\"tier\":22,\"bytes\":137438953472,\"free_bytes\":null,\"values\":{}}"
    "],"
    "\"resctrl\":{\"state\":\"counting\",\"sockets\":[{\"socket\":0,\"controllers_bytes_per_second\":2e10,"
    "\"values\":{\"resctrl_memory_bytes_per_second\":1.8e10,\"resctrl_remote_ratio\":0.125}}]}}";
static const char MEMORY_PAST[] = "{\"step_seconds\":10,\"begin_timestamp_seconds\":1080,\"steps\":4,\"series\":["
                                  "{\"metric\":\"numa_remote_allocation_ratio\",\"title\":\"Remote "
                                  "allocations\",\"values\":[0,0.5,null,1]}],\"marks\":[]}";

static void test_memory_of_other_nodes_stands_below_level_1_and_has_a_screen(void **state) {
    (void)state;
    struct shown shown = shown_new();
    char why[200];
    past_free(shown.past);
    assert_int_equal(past_read(MEMORY_PAST, strlen(MEMORY_PAST), &shown.past, why), 0);
    shown.data.past = shown.past;
    shown_draw(&shown, 24, 80, false);
    assert_false(shown_has(&shown, "Remote allocations"));
    press(&shown, 'm');
    shown_find(&shown, "were not read at this moment");
    assert_int_equal(frame_add_memory(shown.frame, MEMORY, strlen(MEMORY), why), 0);
    press(&shown, 'o');
    shown_find(&shown, " Remote allocations         25.0 %");
    press(&shown, 'm');
    shown_find(&shown, "Memory, as the kernel counts it in 10 s");
    shown_find(&shown, " Remote allocations                 25.0 %");
    shown_find(&shown, "\u2581\u2585 \u2588");
    shown_find(&shown, " Moved to a faster tier             1500 k bytes per second");
    assert_false(shown_has(&shown, "Missed allocations"));
    shown_find(&shown, "    0       0  cpus            4    64 GiB     1 GiB    10.0 %     0.0 %");
    shown_find(&shown, "    2       -  cxl            22   128 GiB         -         -         -");
    shown_find(&shown, "          0             18.0 G    12.5 %              20.0 G bytes per second");
    press(&shown, SCREEN_KEY_DOWN);
    press(&shown, SCREEN_KEY_DOWN); // there is no third
    press(&shown, SCREEN_KEY_ENTER);
    shown_find(&shown, "memory that was moved to a faster tier");
    press(&shown, SCREEN_KEY_BACK);
    press(&shown, SCREEN_KEY_UP);
    press(&shown, SCREEN_KEY_ENTER);
    shown_find(&shown, "25.0 % of allocations");
    shown_find(&shown, "The last 40 s, 10 s a column; full height: 100 %");
    press(&shown, SCREEN_KEY_BACK);
    press(&shown, SCREEN_KEY_BACK);
    assert_int_equal(shown.view.screen, SCREEN_OVERVIEW);
    shown_free(&shown);
}

static const char HEADINGS[] =
    "{\"bound\":null,\"scopes\":[{\"scope\":\"host\",\"bottlenecks\":["
    "{\"bottleneck\":\"memory\",\"title\":\"Waits for "
    "data\",\"value\":0.4,\"low\":0.38,\"high\":0.42,\"rest\":true,\"remedy\":\"Prefetch.\",\"reason\":null},"
    "{\"bottleneck\":\"data_tlbs\",\"title\":\"Translations\",\"value\":0.1,\"low\":null,\"high\":null,\"rest\":false,"
    "\"remedy\":\"Use huge pages.\",\"reason\":null},"
    "{\"bottleneck\":\"compute\",\"title\":\"Execution "
    "units\",\"value\":null,\"low\":null,\"high\":null,\"rest\":false,"
    "\"remedy\":\"Vectorise.\",\"reason\":\"needs divider_ratio: not selected\"}],\"tree\":[]}]}";

static void test_what_would_help_has_a_screen(void **state) {
    (void)state;
    struct shown shown = shown_new();
    char why[200];
    press(&shown, 'w');
    shown_find(&shown, "Nothing divides the pipeline slots");
    frame_free(shown.frame);
    assert_int_equal(frame_read(HEADINGS, strlen(HEADINGS), &shown.frame, why), 0);
    shown.data.frame = shown.frame;
    press(&shown, 'w');
    shown_find(&shown, "What would help how much");
    shown_find(&shown, " Waits for data, the rest                   40.0 % \u00b12.0");
    shown_find(&shown, " Translations                               10.0 %");
    shown_find(&shown, " Execution units                                 - needs divider_ratio: not sele");
    shown_find(&shown, " Prefetch.");
    press(&shown, SCREEN_KEY_DOWN);
    shown_find(&shown, " Use huge pages.");
    press(&shown, SCREEN_KEY_BACK);
    assert_int_equal(shown.view.screen, SCREEN_OVERVIEW);
    shown_free(&shown);
}

static void test_a_host_with_one_node_says_so(void **state) {
    (void)state;
    static const char one[] = "{\"reason\":null,\"nodes\":[{\"node\":0}],\"resctrl\":{\"sockets\":[]}}";
    static const char none[] =
        "{\"reason\":\"a simulated host has no kernel\",\"nodes\":[],\"resctrl\":{\"sockets\":[]}}";
    static const char *const wrong[] = {"{}", "{\"nodes\":7}", "{\"nodes\":[],\"resctrl\":[]}", "[]"};
    struct shown shown = shown_new();
    char why[200];
    assert_int_equal(frame_add_memory(shown.frame, one, strlen(one), why), 0);
    press(&shown, 'm');
    shown_find(&shown, "This host has one NUMA node");
    assert_int_equal(frame_add_memory(shown.frame, none, strlen(none), why), 0);
    press(&shown, 'm');
    shown_find(&shown, "a simulated host has no kernel");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(frame_add_memory(shown.frame, wrong[i], strlen(wrong[i]), why), -EINVAL);
        assert_true(why[0] != '\0');
    }
    shown_free(&shown);
}

static void test_keys_that_others_answer_are_handed_on(void **state) {
    (void)state;
    struct shown shown = shown_new();
    assert_int_equal(screen_press(&shown.view, &shown.data, 'q'), SCREEN_QUIT);
    assert_int_equal(screen_press(&shown.view, &shown.data, ' '), SCREEN_PAUSE);
    assert_int_equal(screen_press(&shown.view, &shown.data, '['), SCREEN_STEP_BACK);
    assert_int_equal(screen_press(&shown.view, &shown.data, ']'), SCREEN_STEP);
    shown.data.paused = true;
    shown.data.behind = 7;
    shown_draw(&shown, 24, 80, false);
    assert_int_equal(shown_find(&shown, "PAUSED, 7 newer"), 1);
    shown_free(&shown);
}

static struct frame *moment(double end_ns) {
    struct frame *frame;
    char why[200];
    assert_int_equal(frame_read(TOPDOWN, strlen(TOPDOWN), &frame, why), 0);
    frame->end_ns = end_ns;
    return frame;
}

static void test_moments_are_kept_and_the_oldest_are_given_up(void **state) {
    (void)state;
    struct timeline *timeline = calloc(1, sizeof *timeline);
    assert_non_null(timeline);
    for (int i = 0; i < 10; i++)
        timeline_add(timeline, moment(i), true);
    assert_true(timeline_shown(timeline)->end_ns == 9 && timeline->n == 10);
    timeline_move(timeline, -3);
    timeline_add(timeline, moment(10), true); // who looks at an earlier one keeps it
    assert_true(timeline_shown(timeline)->end_ns == 6 && timeline_newest(timeline)->end_ns == 10);
    timeline_move(timeline, -100);
    assert_true(timeline_shown(timeline)->end_ns == 0);
    for (int i = 11; i < TIMELINE_FRAMES_MAX + 20; i++)
        timeline_add(timeline, moment(i), true);
    size_t bytes = 0;
    for (size_t i = 0; i < timeline->n; i++)
        bytes += timeline->frames[i]->arena.bytes;
    assert_true(timeline->n <= TIMELINE_FRAMES_MAX && bytes <= TIMELINE_BYTES_MAX && timeline->at == 0);
    timeline_deinit(timeline);
    free(timeline);
}

static void test_what_was_counted_all_the_time_is_exact(void **state) {
    (void)state;
    char text[LINES_TEXT_MAX];
    lines_interval(text, &(struct frame_value){0.4F, 0.4F, 0.4F, true}, "ratio of pipeline slots");
    assert_string_equal(text, "exact");
    lines_interval(text, &(struct frame_value){0.4F, 0.4F, 0.4F, false}, "ratio of pipeline slots"); // windows alike
    assert_string_equal(text, "\u00b10.0");
    lines_interval(text, &(struct frame_value){0.4F, 0.3F, 0.5F, false}, "ratio of pipeline slots");
    assert_string_equal(text, "\u00b110.0");
    lines_interval(text, &(struct frame_value){0.4F, NAN, NAN, false}, "ratio of pipeline slots");
    assert_string_equal(text, "");
}

static void test_shares_are_percentages_and_say_of_what(void **state) {
    (void)state;
    static const struct {
        const char *unit, *value, *words;
    } cases[] = {{"ratio of pipeline slots", "14.0 %", "of pipeline slots"},
                 {"share of cycles", "14.0 %", "of cycles"},
                 {"ratio", "14.0 %", ""},
                 {"per cache access", "0.14", "per cache access"},
                 {"ratios", "0.14", "ratios"},
                 {"seconds per read", "1.4e+08 ns", "per read"}};
    char text[LINES_TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lines_value(text, 0.14F, cases[i].unit);
        assert_string_equal(text, cases[i].value);
        assert_string_equal(lines_unit(cases[i].unit), cases[i].words);
    }
}

// Its tree has shares of three wholes.
static const char MIXED[] =
    "{\"bound\":null,\"bound_reason\":\"x\",\"simulated\":true,\"replay\":false,\"sequence\":5,"
    "\"round\":{\"start_ns\":1,\"end_ns\":2000000000,\"seconds\":2},\"timestamp_seconds\":1120,\"scope\":\"host\","
    "\"scopes\":[{\"scope\":\"host\",\"tree\":[" NODE(
        "backend_bound_ratio", "Back-end bound", "0.3", "0.29", "0.31", "true",
        NODE_OF("share of cycles", "execution_clocks_ratio", "Execution", "0.5", "0.49", "0.51", "false",
                "") "," NODE_OF("ratio of back-end stall cycles for memory", "memory_stalls_ratio", "Memory", "0.6",
                                "0.59", "0.61", "false",
                                "") "," NODE("slots_ratio", "Slots", "0.2", "0.19", "0.21", "false", "")) "]}]}";

static void test_what_is_no_share_of_slots_has_no_bar_beside_theirs_and_says_of_what(void **state) {
    (void)state;
    struct shown shown = shown_new();
    char why[200];
    frame_free(shown.frame);
    assert_int_equal(frame_read(MIXED, strlen(MIXED), &shown.frame, why), 0);
    shown.data.frame = shown.frame;
    shown_draw(&shown, 24, 120, false);
    shown_find(&shown, "value 95 %     of pipeline slots");
    shown_find(&shown, "Back-end bound                          30.0 % \u00b11.0     \u2588");
    shown_find(&shown, "Slots                                 20.0 % \u00b11.0     \u2588");
    shown_find(&shown, "Execution                             50.0 % \u00b11.0     of cycles");
    shown_find(&shown,
               "Memory                                60.0 % \u00b11.0     of back-end stall cycles for memory");
    shown_draw(&shown, 24, 80, false); // what is cut says so
    shown_find(&shown, "Execution                             50.0 % \u00b11.0     of cycles");
    shown_find(&shown, "Memory                                60.0 % \u00b11.0 of back-end stall cyc...");
    shown_draw(&shown, 24, 60, false);
    shown_find(&shown, "60.0 % \u00b11.0 o...");
    shown_free(&shown);
}

static void test_a_moment_that_no_calendar_has_is_unknown(void **state) {
    (void)state;
    static const double moments[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    char text[LINES_TEXT_MAX];
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        lines_time(text, moments[i], 1.7e9);
        assert_string_equal(text, "unknown");
        lines_time(text, 1.7e9, moments[i]);
        assert_string_equal(text, "unknown");
    }
    lines_time(text, 1.7e9, 1.7e9);
    assert_int_equal(strlen(text), strlen("12:34:56"));
    lines_time(text, 1.7e9, 1.6e9);
    assert_int_equal(strlen(text), strlen("2023-11-14 12:34:56"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_overview_says_host_verdict_level_1_and_tree),
        cmocka_unit_test(test_a_moment_within_a_round_says_of_when_its_values_are),
        cmocka_unit_test(test_keys_open_and_close_nodes_and_descend),
        cmocka_unit_test(test_cpus_are_sorted_by_any_metric_and_those_without_a_value_stand_last),
        cmocka_unit_test(test_every_size_and_screen_can_be_drawn_also_in_ascii),
        cmocka_unit_test(test_a_daemon_that_is_gone_is_said_and_the_last_values_stay),
        cmocka_unit_test(test_memory_of_other_nodes_stands_below_level_1_and_has_a_screen),
        cmocka_unit_test(test_what_would_help_has_a_screen),
        cmocka_unit_test(test_a_host_with_one_node_says_so),
        cmocka_unit_test(test_keys_that_others_answer_are_handed_on),
        cmocka_unit_test(test_moments_are_kept_and_the_oldest_are_given_up),
        cmocka_unit_test(test_what_was_counted_all_the_time_is_exact),
        cmocka_unit_test(test_shares_are_percentages_and_say_of_what),
        cmocka_unit_test(test_what_is_no_share_of_slots_has_no_bar_beside_theirs_and_says_of_what),
        cmocka_unit_test(test_a_moment_that_no_calendar_has_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
