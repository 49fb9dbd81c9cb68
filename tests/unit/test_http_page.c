// SPDX-License-Identifier: Apache-2.0
//
// The table of pages against the list that a client gets who asks for an unknown one.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exporters/http/http_page.h"

static bool is_listed(const char *path) {
    char start[64];
    (void)snprintf(start, sizeof start, "\n%s ", path);
    return strstr(http_page_list, start) != NULL;
}

// Answers that are not rendered from a snapshot alone: no rows.
static bool is_another_answer(const char *path) {
    return strcmp(path, "/") == 0 || strcmp(path, "/api/v1/history") == 0 || strcmp(path, "/api/v1/cpus") == 0 ||
           strncmp(path, "/-/", 3) == 0;
}

static void test_each_page_is_listed_and_each_listed_one_is_found(void **state) {
    (void)state;
    size_t n_listed = 0;
    for (const char *line = strchr(http_page_list, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char path[64];
        assert_int_equal(sscanf(line, "%63s", path), 1);
        assert_int_equal(is_another_answer(path), http_page_find(path, NULL) == -ENOENT);
        n_listed += !is_another_answer(path);
    }
    for (int page = 0; page < HTTP_PAGE_N; page++) {
        const struct http_page_row *row = &http_pages[page];
        if (!row->path)
            continue;
        assert_true(is_listed(row->path));
        n_listed -= http_page_find(row->path, NULL) == page; // once, however many scopes it has
    }
    assert_int_equal(n_listed, 0);
}

static void test_a_page_with_scopes_has_the_hosts_first(void **state) {
    (void)state;
    assert_int_equal(http_page_find("/api/v1/snapshot", NULL), HTTP_PAGE_SNAPSHOT_HOST);
    assert_int_equal(http_page_find("/api/v1/snapshot", "host"), HTTP_PAGE_SNAPSHOT_HOST);
    assert_int_equal(http_page_find("/api/v1/snapshot", "socket"), HTTP_PAGE_SNAPSHOT_SOCKET);
    assert_int_equal(http_page_find("/api/v1/topdown", "cpu"), HTTP_PAGE_TOPDOWN_CPU);
    assert_int_equal(http_page_find("/api/v1/topdown", ""), -EINVAL);
    assert_int_equal(http_page_find("/api/v1/topdown", "core"), -EINVAL);
    assert_int_equal(http_page_find("/metrics", "core"), HTTP_PAGE_METRICS); // it has none, so nothing is wrong
    assert_int_equal(http_page_find("/metrics/", NULL), -ENOENT);
}

static void test_a_row_says_how_its_page_is_rendered_and_only_series_have_two_formats(void **state) {
    (void)state;
    for (int page = 0; page < HTTP_PAGE_N; page++) {
        const struct http_page_row *row = &http_pages[page], *other = &http_pages[row->openmetrics];
        assert_true(row->type &&
                    (row->render != NULL) + (row->series != NULL) + (row->document != NULL) + (row->scoped != NULL) ==
                        1);
        assert_int_equal(strcmp(row->type->vary, "Accept, Accept-Encoding") == 0, row->series != NULL);
        assert_true(row->openmetrics == 0 || (!other->path && !other->openmetrics));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_page_is_listed_and_each_listed_one_is_found),
        cmocka_unit_test(test_a_page_with_scopes_has_the_hosts_first),
        cmocka_unit_test(test_a_row_says_how_its_page_is_rendered_and_only_series_have_two_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
