// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <sys/socket.h>
#include <unistd.h>

#include "exporters/http/http_connections.h"

// Who gives way to whom, and when, on pairs of sockets and a clock of the test's own.

enum { SLOTS = 12, LIMIT_MS = 30000 };

struct peers {
    struct http_connections connections;
    int theirs[SLOTS], ours[SLOTS];
    size_t n;
};

static void begin(struct peers *peers) {
    *peers = (struct peers){0};
    assert_int_equal(http_connections_init(&peers->connections, SLOTS), 0);
}

static void finish(struct peers *peers) {
    for (size_t i = 0; i < peers->n; i++) {
        close(peers->theirs[i]);
        close(peers->ours[i]);
    }
    http_connections_deinit(&peers->connections);
}

static struct http_connection *arrive(struct peers *peers, size_t listener, uint8_t client, uint64_t now_ms) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    peers->ours[peers->n] = pair[0];
    peers->theirs[peers->n++] = pair[1];
    const struct http_arrival arrival = {
        .fd = pair[0], .listener = listener, .client = {{client}}, .listener_max = 4, .client_max = client > 0 ? 2 : 0};
    struct http_connection *connection = http_connections_add(&peers->connections, &arrival, now_ms);
    assert_non_null(connection);
    return connection;
}

static bool ended(const struct peers *peers, size_t i) {
    char byte;
    return recv(peers->theirs[i], &byte, 1, MSG_DONTWAIT) == 0;
}

static void assert_ended(const struct peers *peers, const char *expected) {
    for (size_t i = 0; i < peers->n; i++)
        if (ended(peers, i) != (expected[i] == 'x'))
            fail_msg("connection %zu: %s", i, ended(peers, i) ? "ended" : "still there");
}

static void test_the_one_without_a_request_for_longest_gives_way(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    http_connection_set(arrive(&peers, 0, 0, 1), HTTP_ASKING, 2);
    http_connection_set(arrive(&peers, 0, 0, 3), HTTP_ANSWERED, 10);
    (void)arrive(&peers, 0, 0, 5);
    http_connection_set(arrive(&peers, 0, 0, 7), HTTP_ASKING, 8);
    assert_ended(&peers, "....");
    (void)arrive(&peers, 0, 0, 11);
    assert_ended(&peers, "..x..");
    (void)arrive(&peers, 0, 0, 12);
    assert_ended(&peers, ".xx...");
    finish(&peers);
}

static void test_where_all_ask_the_first_request_gives_way(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    for (uint64_t i = 0; i < 5; i++)
        http_connection_set(arrive(&peers, 0, 0, i), HTTP_ASKING, 10 - i);
    assert_ended(&peers, "...x.");
    finish(&peers);
}

static void test_one_client_cannot_push_out_others(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    (void)arrive(&peers, 0, 1, 1);
    for (uint64_t i = 0; i < 4; i++)
        (void)arrive(&peers, 0, 2, 2 + i);
    assert_ended(&peers, ".xx..");
    (void)arrive(&peers, 1, 2, 9); // another address has places of its own
    assert_ended(&peers, ".xx...");
    finish(&peers);
}

static void test_two_clients_cannot_keep_out_a_third(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    for (uint64_t i = 0; i < 4; i++)
        (void)arrive(&peers, 0, (uint8_t)(1 + i % 2), i);
    (void)arrive(&peers, 0, 3, 5);
    assert_ended(&peers, "x....");
    finish(&peers);
}

static void test_where_files_are_short_an_idle_connection_gives_way_and_no_request_does(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    http_connection_set(arrive(&peers, 0, 0, 1), HTTP_ASKING, 2);
    http_connections_yield(&peers.connections);
    assert_ended(&peers, ".");
    http_connection_set(arrive(&peers, 0, 0, 1), HTTP_ANSWERED, 4);
    http_connection_set(arrive(&peers, 1, 0, 1), HTTP_ANSWERED, 3);
    http_connections_yield(&peers.connections);
    assert_ended(&peers, "..x");
    http_connections_yield(&peers.connections); // the library has not closed the other one yet
    assert_ended(&peers, "..x");
    peers.connections.slots[2].fd = -1;
    http_connections_yield(&peers.connections);
    assert_ended(&peers, ".xx");
    finish(&peers);
}

static void test_a_connection_without_a_request_ends_after_two_seconds(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    (void)arrive(&peers, 0, 0, 1000);
    http_connection_set(arrive(&peers, 0, 0, 1000), HTTP_ASKING, 1500);
    http_connection_set(arrive(&peers, 0, 0, 1000), HTTP_ANSWERED, 1600);
    assert_int_equal(http_connections_expire(&peers.connections, 2999, LIMIT_MS), 1);
    assert_ended(&peers, "...");
    assert_int_equal(http_connections_expire(&peers.connections, 3000, LIMIT_MS), 28500);
    assert_ended(&peers, "x..");
    assert_int_equal(http_connections_expire(&peers.connections, 31500, LIMIT_MS), 100);
    assert_ended(&peers, "xx.");
    assert_int_equal(http_connections_expire(&peers.connections, 31600, LIMIT_MS), -1);
    finish(&peers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_one_without_a_request_for_longest_gives_way),
        cmocka_unit_test(test_where_all_ask_the_first_request_gives_way),
        cmocka_unit_test(test_one_client_cannot_push_out_others),
        cmocka_unit_test(test_two_clients_cannot_keep_out_a_third),
        cmocka_unit_test(test_where_files_are_short_an_idle_connection_gives_way_and_no_request_does),
        cmocka_unit_test(test_a_connection_without_a_request_ends_after_two_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
