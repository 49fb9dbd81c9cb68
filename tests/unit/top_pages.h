// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_TOP_PAGES_H
#define TOPDOWND_TESTS_UNIT_TOP_PAGES_H

// What the tests of the view in a terminal share: pages as a daemon sends them, and lines of a screen.

#include "tests/unit/core_check.h"

#include "top/model/frame.h"
#include "top/model/host.h"
#include "top/model/past.h"
#include "top/screen/grid.h"
#include "top/view/screen.h"

#define NODE_OF(unit, metric, title, value, low, high, high_is, children)                                              \
    "{\"metric\":\"" metric "\",\"name\":\"x\",\"title\":\"" title "\",\"value\":" value                               \
    ",\"reason\":null,\"low\":" low ",\"high\":" high ",\"windows\":9,\"share_of_time\":0.4,\"quality\":\"good\","     \
    "\"unit\":\"" unit "\",\"exceeded\":" high_is                                                                      \
    ",\"exceeded_certain\":true,\"threshold\":\"x > 20\",\"meaning\":\"What it "                                       \
    "means.\",\"next_groups\":[{\"name\":\"A\"},{\"name\":"                                                            \
    "\"B\"}],\"sample_command\":null,\"children\":[" children "]}"
#define NODE(...) NODE_OF("ratio of pipeline slots", __VA_ARGS__)

static const char TOPDOWN[] =
    "{\"bound\":{\"text\":\"Back-end bound, 50 % of pipeline "
    "slots.\",\"path\":[\"backend_bound_ratio\"],\"exceeded\":true,"
    "\"since_timestamp_seconds\":1000,\"next_groups\":[{\"name\":\"L1D\"},{\"name\":\"DTLB\"}],\"sample_command\":"
    "\"perf record\"},"
    "\"bound_reason\":null,\"simulated\":true,\"replay\":false,\"sequence\":5,"
    "\"round\":{\"start_ns\":1,\"end_ns\":2000000000,\"seconds\":2},\"timestamp_seconds\":1120,\"scope\":\"host\","
    "\"scopes\":[{\"scope\":\"host\",\"tree\":[" NODE(
        "frontend_bound_ratio", "Front-end bound", "0.3", "0.295", "0.305", "false",
        NODE("icache_ratio", "Instruction cache", "0.1", "null", "null", "false",
             "")) "," NODE("retiring_ratio", "Useful work", "0.2", "0.19", "0.21", "false",
                           "") "," NODE("backend_bound_ratio", "Back-end bound", "0.5", "0.48", "0.52", "true",
                                        NODE("memory_ratio", "Memory", "0.4", "0.35", "0.45", "true", "")) "]}]}";

static const char HOST[] = "{\"sequence\":5,\"metrics\":{\"frontend_bound_ratio\":{\"unit\":\"ratio of pipeline "
                           "slots\"},\"ipc\":{\"unit\":\"per cycle\"}},"
                           "\"scopes\":[{\"scope\":\"host\",\"metrics\":{\"frontend_bound_ratio\":{\"value\":0.3},"
                           "\"ipc\":{\"value\":1.5,\"low\":1.4,\"high\":1.6}}}]}";

static const char CPUS[] =
    "{\"sequence\":5,\"metrics\":{\"frontend_bound_ratio\":{\"unit\":\"ratio of pipeline "
    "slots\"},\"ipc\":{\"unit\":\"per cycle\"}},"
    "\"scopes\":["
    "{\"cpu\":0,\"socket\":0,\"metrics\":{\"frontend_bound_ratio\":{\"value\":0.1},\"ipc\":{\"value\":2}}},"
    "{\"cpu\":1,\"socket\":0,\"metrics\":{\"ipc\":{\"value\":0.5},\"frontend_bound_ratio\":{\"value\":0.4}}},"
    "{\"cpu\":2,\"socket\":1,\"metrics\":{\"frontend_bound_ratio\":{\"value\":null},\"ipc\":{\"value\":1}}}]}";

static const char STATUS[] =
    "{\"version\":\"1.0\",\"hostname\":\"web-1\",\"cpu\":{\"model\":\"Neoverse V2\"},"
    "\"sockets\":[{\"socket\":0,\"cpus_measured\":2},{\"socket\":1,\"cpus_measured\":1}],\"pmu_errors\":[]}";

static const char HISTORY[] =
    "{\"step_seconds\":10,\"begin_timestamp_seconds\":1080,\"steps\":4,\"series\":["
    "{\"metric\":\"backend_bound_ratio\",\"title\":\"Back-end bound\",\"values\":[0,0.25,null,0.5]}],"
    "\"marks\":[{\"timestamp_seconds\":1080,\"kind\":\"start\",\"text\":\"topdownd began\"},"
    "{\"timestamp_seconds\":1100,\"kind\":\"verdict\",\"text\":\"Back-end bound\"}]}";

struct shown {
    struct frame *frame;
    struct host *host;
    struct past *past;
    struct screen_state view;
    struct screen_data data;
    struct grid grid;
};

static inline struct shown shown_new(void) {
    struct shown shown = {.frame = NULL};
    char why[200];
    assert_int_equal(frame_read(TOPDOWN, strlen(TOPDOWN), &shown.frame, why), 0);
    assert_int_equal(frame_add_units(shown.frame, FRAME_HOST, HOST, strlen(HOST), why), 0);
    assert_int_equal(frame_add_units(shown.frame, FRAME_CPUS, CPUS, strlen(CPUS), why), 0);
    assert_int_equal(host_read(STATUS, strlen(STATUS), &shown.host, why), 0);
    assert_int_equal(past_read(HISTORY, strlen(HISTORY), &shown.past, why), 0);
    screen_init(&shown.view);
    shown.data = (struct screen_data){.frame = shown.frame,
                                      .host = shown.host,
                                      .past = shown.past,
                                      .source = "here",
                                      .now_seconds = 1121,
                                      .speed = 1};
    return shown;
}

static inline void shown_free(struct shown *shown) {
    grid_deinit(&shown->grid);
    frame_free(shown->frame);
    host_free(shown->host);
    past_free(shown->past);
}

static inline void shown_draw(struct shown *shown, unsigned rows, unsigned columns, bool ascii) {
    grid_deinit(&shown->grid);
    assert_int_equal(grid_init(&shown->grid, rows, columns, ascii), 0);
    screen_draw(&shown->view, &shown->data, &shown->grid);
}

// The number of the first line that has the text; fails if none has.
static inline unsigned shown_find(const struct shown *shown, const char *text) {
    char line[4 * GRID_SIDE_MAX + 8];
    for (unsigned row = 0; row < shown->grid.rows; row++) {
        grid_line(&shown->grid, row, line, sizeof line);
        if (strstr(line, text))
            return row;
    }
    for (unsigned row = 0; row < shown->grid.rows; row++) {
        grid_line(&shown->grid, row, line, sizeof line);
        print_message("%s\n", line);
    }
    fail_msg("no line has \"%s\"", text);
    return 0;
}

static inline bool shown_has(const struct shown *shown, const char *text) {
    char line[4 * GRID_SIDE_MAX + 8];
    for (unsigned row = 0; row < shown->grid.rows; row++) {
        grid_line(&shown->grid, row, line, sizeof line);
        if (strstr(line, text))
            return true;
    }
    return false;
}

#endif
