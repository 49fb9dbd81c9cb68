// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>

#include "exporters/http/http_connections.h"
#include "exporters/http/http_request.h"

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

static void test_of_a_state_with_more_than_its_places_the_oldest_gives_way(void **state) {
    (void)state;
    struct peers peers;
    begin(&peers);
    http_connection_set(arrive(&peers, 0, 0, 1), HTTP_ASKING, 2);
    http_connection_set(arrive(&peers, 0, 0, 3), HTTP_ANSWERED, 10);
    (void)arrive(&peers, 0, 0, 5);
    http_connection_set(arrive(&peers, 0, 0, 7), HTTP_ASKING, 8);
    assert_ended(&peers, "....");
    (void)arrive(&peers, 0, 0, 11);
    assert_ended(&peers,
                 "x...."); // of four places one is kept for those that ask, one for new and one for answered ones
    (void)arrive(&peers, 0, 0, 12);
    assert_ended(&peers, "x.x...");
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
// ---- floods ----

enum { PLACES = 16 };

// Of a listener with PLACES places and no limit for a client.
static struct http_connection *come(struct http_connections *connections, uint32_t client, uint64_t now_ms) {
    struct http_arrival arrival = {.fd = INT_MAX, .listener_max = PLACES}; // no file: to end it changes its state alone
    memcpy(arrival.client.address, &client, sizeof client);
    struct http_connection *connection = http_connections_add(connections, &arrival, now_ms);
    assert_non_null(connection);
    return connection;
}

// The library closes what was ended.
static void close_ended(struct http_connections *connections) {
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd >= 0 && connections->slots[i].state == HTTP_ENDING)
            http_connections_remove(connections, &connections->slots[i]);
}

// Whether it is the connection of time 0, and no other in its slot.
static bool is_still(const struct http_connection *slot, enum http_connection_state state) {
    return slot->fd >= 0 && slot->state == state && slot->since_ms == 0;
}

static void flood(struct http_connections *connections, uint32_t client, enum http_connection_state state, size_t n,
                  uint64_t now_ms) {
    for (size_t i = 0; i < n; i++) {
        http_connection_set(come(connections, client, now_ms + i), state, now_ms + i);
        close_ended(connections);
    }
}

static void test_slow_requests_take_no_place_from_handshakes_and_answered_connections(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, 2 * PLACES), 0);
    struct http_connection *handshake = come(&connections, 1, 0), *answered = come(&connections, 1, 0),
                           *asks = come(&connections, 1, 0);
    http_connection_set(answered, HTTP_ANSWERED, 0);
    http_connection_set(asks, HTTP_ASKING, 0);
    flood(&connections, 1, HTTP_READING, 100, 1); // all of one address, as on loopback
    assert_true(is_still(handshake, HTTP_SILENT));
    assert_true(is_still(answered, HTTP_ANSWERED));
    assert_true(is_still(asks, HTTP_ASKING));
    flood(&connections, 1, HTTP_ANSWERED, 100, 200);
    assert_false(is_still(answered, HTTP_ANSWERED)); // the oldest of its own kind
    assert_true(is_still(handshake, HTTP_SILENT));
    assert_true(is_still(asks, HTTP_ASKING));
    http_connections_deinit(&connections);
}

static void test_new_connections_take_no_place_from_requests(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, 2 * PLACES), 0);
    struct http_connection *asks = come(&connections, 1, 0), *reads = come(&connections, 1, 0);
    http_connection_set(asks, HTTP_ASKING, 0);
    http_connection_set(reads, HTTP_READING, 0);
    flood(&connections, 1, HTTP_SILENT, 100, 1);
    assert_true(is_still(asks, HTTP_ASKING));
    assert_true(is_still(reads, HTTP_READING));
    struct http_connection *last = come(&connections, 1, 200);
    flood(&connections, 1, HTTP_SILENT, PLACES * 3 / 8 - 1, 201);
    assert_true(last->state == HTTP_SILENT &&
                last->since_ms == 200); // who comes has at least the places that are kept for new ones
    http_connections_deinit(&connections);
}

static void test_the_client_with_most_connections_gives_way_first(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, 2 * PLACES), 0);
    struct http_connection *one = come(&connections, 1, 0);
    flood(&connections, 2, HTTP_READING, PLACES, 1);
    flood(&connections, 3, HTTP_ASKING, PLACES, 50);
    flood(&connections, 4, HTTP_SILENT, 5 * PLACES, 100);
    assert_true(is_still(one, HTTP_SILENT)); // although it is the oldest of all
    assert_int_equal(one->n_alike, 1);
    size_t n[5] = {0};
    for (size_t i = 0; i < connections.n_used; i++)
        if (connections.slots[i].fd >= 0)
            n[connections.slots[i].client.address[0]]++;
    assert_int_equal(n[2] + n[3] + n[4], PLACES - 1);
    assert_true(n[2] >= 4 && n[3] >= 4 && n[4] >= 4);
    http_connections_deinit(&connections);
}

static void test_a_client_that_was_answered_lately_keeps_four_connections(void **state) {
    (void)state;
    struct http_connections connections;
    struct http_connection *mine[HTTP_KNOWN_FREE];
    assert_int_equal(http_connections_init(&connections, 2 * PLACES), 0);
    http_connections_remember(&connections, come(&connections, 1, 0), 0);
    http_connections_remove(&connections, &connections.slots[0]);
    for (size_t i = 0; i < HTTP_KNOWN_FREE; i++)
        mine[i] = come(&connections, 1, 1);
    for (uint32_t i = 0; i < 100; i++) // each of an address of its own
        flood(&connections, 100 + i, HTTP_READING, 1, 2 + i);
    for (size_t i = 0; i < HTTP_KNOWN_FREE; i++)
        assert_true(mine[i]->state == HTTP_SILENT && mine[i]->since_ms == 1);
    http_connections_deinit(&connections);
}

static bool is_known(struct http_connections *connections, uint32_t client, uint64_t now_ms) {
    struct http_connection *connection = come(connections, client, now_ms);
    bool known = connection->known;
    http_connections_remove(connections, connection);
    return known;
}

static void answer(struct http_connections *connections, uint32_t client, uint64_t now_ms) {
    struct http_connection *connection = come(connections, client, now_ms);
    http_connections_remember(connections, connection, now_ms);
    http_connections_remove(connections, connection);
}

static void test_strangers_do_not_make_it_forget_whom_it_answered_before_them(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, PLACES), 0);
    assert_false(is_known(&connections, 1, 0));
    answer(&connections, 1, 0);
    for (uint32_t i = 0; i < 10 * HTTP_KNOWN_MAX; i++)
        answer(&connections, 100 + i, 1 + i);
    assert_true(is_known(&connections, 1, 60000));
    assert_true(is_known(&connections, 100 + 10 * HTTP_KNOWN_MAX - 1, 60000)); // and the newest
    assert_false(is_known(&connections, 100 + 10 * HTTP_KNOWN_MAX - 2, 60000));
    assert_int_equal(connections.n_known, HTTP_KNOWN_MAX);
    http_connections_deinit(&connections);
}

static void test_a_client_is_forgotten_after_ten_minutes(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, PLACES), 0);
    answer(&connections, 1, 1000);
    answer(&connections, 1, 300000);
    assert_true(is_known(&connections, 1, 899999));
    assert_false(is_known(&connections, 1, 900000));
    for (uint32_t i = 0; i < HTTP_KNOWN_MAX; i++)
        answer(&connections, 100 + i, 900000); // the last one gets its place
    for (uint32_t i = 0; i < HTTP_KNOWN_MAX; i++)
        assert_true(is_known(&connections, 100 + i, 900001));
    http_connections_deinit(&connections);
}

static void test_a_request_keeps_its_time_when_its_headers_have_come(void **state) {
    (void)state;
    struct http_connections connections;
    assert_int_equal(http_connections_init(&connections, PLACES), 0);
    struct http_connection *connection = come(&connections, 1, 0);
    http_connection_set(connection, HTTP_READING, 10);
    http_connection_set(connection, HTTP_ASKING, 20);
    http_connection_set(connection, HTTP_ASKING, 30); // a password has been judged
    assert_int_equal(connection->since_ms, 10);
    http_connection_set(connection, HTTP_ANSWERED, 40);
    http_connection_set(connection, HTTP_READING, 50);
    assert_int_equal(connection->since_ms, 50);
    http_connections_deinit(&connections);
}

static struct http_client client_of(const char *text) {
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    if (strchr(text, ':'))
        assert_int_equal(inet_pton(AF_INET6, text, &ipv6.sin6_addr), 1);
    else
        assert_int_equal(inet_pton(AF_INET, text, &ipv4.sin_addr), 1);
    return http_request_client(strchr(text, ':') ? (const void *)&ipv6 : (const void *)&ipv4);
}

static bool alike(const char *one, const char *other) {
    struct http_client a = client_of(one), b = client_of(other);
    return memcmp(&a, &b, sizeof a) == 0;
}

static void test_an_ipv6_network_is_one_client(void **state) {
    (void)state;
    assert_true(alike("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_false(alike("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert_false(alike("192.0.2.1", "192.0.2.2"));
    assert_true(alike("192.0.2.1", "::ffff:192.0.2.1")); // a socket that takes both shows it so
    assert_false(alike("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_a_state_with_more_than_its_places_the_oldest_gives_way),
        cmocka_unit_test(test_slow_requests_take_no_place_from_handshakes_and_answered_connections),
        cmocka_unit_test(test_new_connections_take_no_place_from_requests),
        cmocka_unit_test(test_the_client_with_most_connections_gives_way_first),
        cmocka_unit_test(test_a_client_that_was_answered_lately_keeps_four_connections),
        cmocka_unit_test(test_strangers_do_not_make_it_forget_whom_it_answered_before_them),
        cmocka_unit_test(test_a_client_is_forgotten_after_ten_minutes),
        cmocka_unit_test(test_a_request_keeps_its_time_when_its_headers_have_come),
        cmocka_unit_test(test_an_ipv6_network_is_one_client),
        cmocka_unit_test(test_where_all_ask_the_first_request_gives_way),
        cmocka_unit_test(test_one_client_cannot_push_out_others),
        cmocka_unit_test(test_two_clients_cannot_keep_out_a_third),
        cmocka_unit_test(test_where_files_are_short_an_idle_connection_gives_way_and_no_request_does),
        cmocka_unit_test(test_a_connection_without_a_request_ends_after_two_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
