// SPDX-License-Identifier: Apache-2.0
//
// What answers may take together, with made-up readers: who is reset, and when nothing new may be made.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "exporters/http/http_budget.h"

enum { PAGE = 8 << 20, MIB = 1 << 20 };

// A client that has read `read` bytes.
struct client {
    struct http_reader reader;
    uint64_t read;
    bool was_reset;
};

static struct client *client_of(const struct http_reader *reader) {
    return (struct client *)((uintptr_t)reader - offsetof(struct client, reader));
}

static uint64_t progress(const struct http_reader *reader) { return client_of(reader)->read; }
static void reset(struct http_reader *reader) { client_of(reader)->was_reset = true; }

static struct http_budget budget_new(void) { return (struct http_budget){.progress = progress, .reset = reset}; }

static void test_loads_count_as_long_as_they_exist(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load a = {.kept = true}, b = {.kept = true};
    http_budget_resize(&budget, &a, PAGE);
    http_budget_resize(&budget, &b, MIB);
    assert_int_equal(budget.bytes, PAGE + MIB);
    http_budget_resize(&budget, &a, 2 * PAGE);
    assert_int_equal(budget.bytes, 2 * PAGE + MIB);
    http_budget_give(&budget, &a);
    assert_int_equal(budget.bytes, MIB);
    http_budget_give(&budget, &b);
    assert_int_equal(budget.bytes, 0);
    assert_int_equal(budget.leaving, 0);
}

static void test_what_nobody_keeps_or_reads_leaves(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = true};
    struct client client = {.read = 0};
    http_budget_resize(&budget, &load, PAGE);
    http_budget_begin(&budget, &client.reader, &load, 0);
    assert_int_equal(budget.unread, HTTP_UNREAD_BYTES_MAX);
    http_budget_keep(&budget, &load, false); // a newer page is there
    assert_int_equal(budget.leaving, 0);
    assert_true(http_budget_reset_slowest(&budget, 1));
    assert_true(client.was_reset);
    assert_int_equal(budget.leaving, PAGE);
    assert_int_equal(budget.bytes, PAGE); // it still exists
    assert_int_equal(budget.unread, 0);
    http_budget_give(&budget, &load);
    assert_int_equal(budget.leaving, 0);
    assert_int_equal(budget.bytes, 0);
    http_budget_end(&budget, &client.reader); // the library tells of the end afterwards
    assert_int_equal(budget.bytes, 0);
}

static void test_of_a_page_that_is_kept_nothing_leaves_with_its_reader(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = true};
    struct client client = {.read = 0};
    http_budget_resize(&budget, &load, PAGE);
    http_budget_begin(&budget, &client.reader, &load, 0);
    http_budget_end(&budget, &client.reader);
    assert_int_equal(budget.leaving, 0);
    assert_false(client.was_reset);
    http_budget_keep(&budget, &load, false);
    assert_int_equal(budget.leaving, PAGE);
    http_budget_keep(&budget, &load, true); // for the next rendering
    assert_int_equal(budget.leaving, 0);
    http_budget_give(&budget, &load);
}

static void test_memory_that_goes_before_its_readers_end_takes_them_along(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = false}, other = {.kept = true};
    struct client clients[3] = {{.read = 0}};
    http_budget_resize(&budget, &load, PAGE);
    http_budget_resize(&budget, &other, PAGE);
    http_budget_begin(&budget, &clients[0].reader, &load, 0);
    http_budget_begin(&budget, &clients[1].reader, &other, 0);
    http_budget_begin(&budget, &clients[2].reader, &load, 0);
    http_budget_give(&budget, &load);
    assert_ptr_equal(budget.readers, &clients[1].reader);
    assert_null(clients[1].reader.next);
    http_budget_end(&budget, &clients[0].reader);
    http_budget_end(&budget, &clients[2].reader);
    http_budget_end(&budget, &clients[1].reader);
    assert_null(budget.readers);
    assert_int_equal(budget.unread, 0);
    assert_false(clients[0].was_reset || clients[1].was_reset || clients[2].was_reset);
}

// Which of the clients is reset, all others staying.
static size_t slowest_of(struct http_budget *budget, struct client *clients, size_t n, uint64_t now_ms) {
    assert_true(http_budget_reset_slowest(budget, now_ms));
    size_t which = n;
    for (size_t i = 0; i < n; i++)
        if (clients[i].was_reset) {
            assert_int_equal(which, n);
            clients[i].was_reset = false;
            which = i;
        }
    assert_true(which < n);
    return which;
}

static void test_the_slowest_has_read_least_for_its_time(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = true};
    // the third has read more than the second on its connection, but before this answer
    struct client clients[4] = {{.read = 0}, {.read = 0}, {.read = 100 * (size_t)MIB}, {.read = 0}};
    http_budget_resize(&budget, &load, PAGE);
    http_budget_begin(&budget, &clients[0].reader, &load, 0);
    http_budget_begin(&budget, &clients[1].reader, &load, 5000);
    http_budget_begin(&budget, &clients[2].reader, &load, 5000);
    http_budget_begin(&budget, &clients[3].reader, &load, 9999); // has just asked
    clients[0].read += 6 * (uint64_t)MIB;                        // in 10 s
    clients[1].read += 2 * (uint64_t)MIB;                        // in 5 s
    clients[2].read += 1 * (uint64_t)MIB;                        // in 5 s
    assert_int_equal(slowest_of(&budget, clients, 4, 10000), 2);
    assert_int_equal(slowest_of(&budget, clients, 4, 10000), 1);
    assert_int_equal(slowest_of(&budget, clients, 4, 10000), 0);
    assert_int_equal(slowest_of(&budget, clients, 4, 10000), 3);
    assert_false(http_budget_reset_slowest(&budget, 10000));
    http_budget_give(&budget, &load);
}

static void test_of_equals_the_one_that_began_first_is_the_slowest(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = true};
    struct client clients[3] = {{.read = 0}};
    http_budget_resize(&budget, &load, PAGE);
    for (size_t i = 0; i < 3; i++)
        http_budget_begin(&budget, &clients[i].reader, &load, 0); // within one millisecond
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(slowest_of(&budget, clients, 3, 7), i);
    http_budget_give(&budget, &load);
}

static void test_small_answers_count_with_what_they_are(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = true};
    struct client client = {.read = 0};
    http_budget_resize(&budget, &load, 1000);
    http_budget_begin(&budget, &client.reader, &load, 0);
    assert_int_equal(budget.unread, 1000);
    http_budget_end(&budget, &client.reader);
    http_budget_give(&budget, &load);
}

static void test_what_leaves_makes_room_but_is_still_there(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    struct http_load load = {.kept = false};
    http_budget_resize(&budget, &load, HTTP_ANSWER_BYTES_MAX);
    struct client client = {.read = 0};
    http_budget_begin(&budget, &client.reader, &load, 0);
    assert_false(http_budget_fits(&budget, 0));
    assert_true(http_budget_reset_slowest(&budget, 1));
    assert_true(http_budget_fits(&budget, HTTP_ANSWER_BYTES_MAX));
    assert_false(http_budget_fits(&budget, HTTP_ANSWER_BYTES_MAX + 1));
    assert_true(http_budget_allows(&budget, HTTP_ANSWER_BYTES_LIMIT - HTTP_ANSWER_BYTES_MAX));
    assert_false(http_budget_allows(&budget, HTTP_ANSWER_BYTES_LIMIT - HTTP_ANSWER_BYTES_MAX + 1));
    http_budget_give(&budget, &load);
    assert_true(http_budget_allows(&budget, HTTP_ANSWER_BYTES_LIMIT));
}

// Readers that never read come to every new page, and one that reads comes to each of them, too: it is never reset.
static void test_however_many_read_slowly_the_budget_holds_and_who_reads_stays(void **state) {
    (void)state;
    struct http_budget budget = budget_new();
    enum { GENERATIONS = 300, SLOW = 10, PAGE_MS = 1000, TAKES_MS = 200 };
    struct http_load *loads = calloc(GENERATIONS, sizeof *loads);
    struct client *slow = calloc((size_t)GENERATIONS * SLOW, sizeof *slow), honest = {.read = 0};
    size_t n_reset = 0;
    assert_true(loads && slow);
    for (uint64_t i = 0; i < GENERATIONS; i++) {
        uint64_t now_ms = i * PAGE_MS;
        if (i > 0)
            http_budget_keep(&budget, &loads[i - 1], false);
        while (!http_budget_fits(&budget, PAGE))
            assert_true(http_budget_reset_slowest(&budget, now_ms));
        loads[i].kept = true;
        http_budget_resize(&budget, &loads[i], PAGE);
        http_budget_begin(&budget, &honest.reader, &loads[i], now_ms);
        for (size_t s = 0; s < SLOW; s++)
            http_budget_begin(&budget, &slow[i * SLOW + s].reader, &loads[i], now_ms + 1);
        honest.read += PAGE / 2;
        while (!http_budget_fits(&budget, 0))
            assert_true(http_budget_reset_slowest(&budget, now_ms + TAKES_MS / 2));
        assert_false(honest.was_reset);
        honest.read += PAGE / 2;
        http_budget_end(&budget, &honest.reader);
        for (uint64_t old = 0; old < i; old++) // the library closes what was reset
            if (loads[old].leaving && loads[old].bytes > 0)
                http_budget_give(&budget, &loads[old]);
        assert_true(budget.bytes + budget.unread <= HTTP_ANSWER_BYTES_MAX);
    }
    for (size_t s = 0; s < (size_t)GENERATIONS * SLOW; s++)
        n_reset += slow[s].was_reset;
    assert_in_range(n_reset, (GENERATIONS - 8) * SLOW / 2, GENERATIONS * SLOW - 1);
    free(loads);
    free(slow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_count_as_long_as_they_exist),
        cmocka_unit_test(test_what_nobody_keeps_or_reads_leaves),
        cmocka_unit_test(test_of_a_page_that_is_kept_nothing_leaves_with_its_reader),
        cmocka_unit_test(test_memory_that_goes_before_its_readers_end_takes_them_along),
        cmocka_unit_test(test_the_slowest_has_read_least_for_its_time),
        cmocka_unit_test(test_of_equals_the_one_that_began_first_is_the_slowest),
        cmocka_unit_test(test_small_answers_count_with_what_they_are),
        cmocka_unit_test(test_what_leaves_makes_room_but_is_still_there),
        cmocka_unit_test(test_however_many_read_slowly_the_budget_holds_and_who_reads_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
