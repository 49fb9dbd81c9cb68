// SPDX-License-Identifier: Apache-2.0
//
// What the server keeps of its pages: memory for the next rendering, while somebody asks; and what a connection still
// sends, whatever else happens.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "exporters/http/http_cache.h"
#include "exporters/http/http_connections.h"
#include "tests/unit/exporter_host.h"

enum { LARGE = 6 << 20 };

static int setup(void **state) {
    *state = calloc(1, sizeof(struct http_cache));
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    http_cache_deinit(*state);
    free(*state);
    return 0;
}

// Renders a page of `length` bytes `c` and returns where they are.
static const char *put(struct http_cache *cache, enum http_page page, uint64_t generation, size_t length, char c) {
    struct text *text = http_cache_begin(cache, page);
    assert_non_null(text);
    assert_int_equal(text->length, 0);
    char *room = text_room(text, length);
    assert_non_null(room);
    memset(room, c, length);
    text->length = length;
    assert_non_null(http_cache_end(cache, page, generation));
    return room;
}

static bool has(struct http_cache *cache, enum http_page page, uint64_t generation, uint64_t now_ms) {
    return http_cache_find(cache, page, generation, now_ms) != NULL;
}

static void test_a_page_is_kept_for_its_generation(void **state) {
    struct http_cache *cache = *state;
    assert_false(has(cache, HTTP_PAGE_PLAIN, 1, 0));
    put(cache, HTTP_PAGE_PLAIN, 1, 100, 'a');
    assert_true(has(cache, HTTP_PAGE_PLAIN, 1, 0));
    assert_false(has(cache, HTTP_PAGE_PLAIN, 2, 0));
    assert_false(has(cache, HTTP_PAGE_METRICS, 1, 0));
}

static void test_the_next_rendering_uses_the_same_memory(void **state) {
    struct http_cache *cache = *state;
    const char *first = put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    for (uint64_t generation = 2; generation < 10; generation++)
        assert_ptr_equal(put(cache, HTTP_PAGE_METRICS_CPU, generation, LARGE - generation, 'b'), first);
}

static void test_what_nobody_asks_for_any_more_is_given_back(void **state) {
    struct http_cache *cache = *state;
    assert_int_equal(http_cache_expire(cache, 0), -1);
    assert_false(has(cache, HTTP_PAGE_METRICS_CPU, 1, 1000));
    put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    assert_false(has(cache, HTTP_PAGE_METRICS, 1, 5000));
    put(cache, HTTP_PAGE_METRICS, 1, 100, 'a');
    assert_int_equal(http_cache_expire(cache, 6000), HTTP_KEPT_MS - 5000);
    assert_true(has(cache, HTTP_PAGE_METRICS_CPU, 1, 7000)); // keeps it, as a rendering does
    assert_int_equal(http_cache_expire(cache, 5000 + HTTP_KEPT_MS - 1), 1);
    assert_int_equal(http_cache_expire(cache, 5000 + HTTP_KEPT_MS), 2000);
    assert_int_equal(http_cache_expire(cache, 7000 + HTTP_KEPT_MS), -1);
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++) {
        assert_null(cache->pages[i].response);
        assert_null(cache->pages[i].spare);
    }
    assert_false(has(cache, HTTP_PAGE_METRICS_CPU, 1, 7000 + HTTP_KEPT_MS));
}

static void test_a_compressed_page_is_kept_and_given_back_for_itself(void **state) {
    struct http_cache *cache = *state;
    const size_t packed = http_cache_gzip(HTTP_PAGE_METRICS);
    (void)has(cache, HTTP_PAGE_METRICS, 1, 0);
    put(cache, HTTP_PAGE_METRICS, 1, 1000, 'a');
    (void)http_cache_find(cache, packed, 1, 0);
    struct text *text = http_cache_begin(cache, packed);
    assert_non_null(text);
    text_string(text, "z");
    assert_non_null(http_cache_end(cache, packed, 1));
    assert_int_equal(http_cache_text(cache, HTTP_PAGE_METRICS)->length, 1000);
    assert_int_equal(http_cache_text(cache, packed)->length, 1);
    assert_non_null(http_cache_find(cache, packed, 1, 20000)); // the text is not asked for any more
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS), 20000);
    assert_false(has(cache, HTTP_PAGE_METRICS, 1, HTTP_KEPT_MS));
    assert_null(http_cache_text(cache, HTTP_PAGE_METRICS));
    assert_non_null(http_cache_find(cache, packed, 1, HTTP_KEPT_MS));
    assert_int_equal(http_cache_expire(cache, 2 * HTTP_KEPT_MS), -1);
    assert_null(http_cache_text(cache, packed));
}

static void test_of_large_pages_those_that_were_asked_for_last_are_kept(void **state) {
    struct http_cache *cache = *state;
    static const enum http_page pages[] = {HTTP_PAGE_METRICS_CPU, HTTP_PAGE_SNAPSHOT_CPU, HTTP_PAGE_TOPDOWN_CPU};
    for (size_t i = 0; i < 2; i++) {
        (void)has(cache, pages[i], 1, i);
        put(cache, pages[i], 1, LARGE, 'a');
    }
    assert_true(has(cache, pages[0], 1, 10));
    assert_false(has(cache, pages[2], 1, 20));
    put(cache, pages[2], 1, LARGE, 'a');
    assert_true(has(cache, pages[0], 1, 30));
    assert_false(has(cache, pages[1], 1, 30));
    assert_true(has(cache, pages[2], 1, 30));
    (void)has(cache, HTTP_PAGE_PLAIN, 1, 40);
    put(cache, HTTP_PAGE_PLAIN, 1, HTTP_CACHE_BYTES_MAX + 1, 'a'); // one page is kept, however large
    assert_true(has(cache, HTTP_PAGE_PLAIN, 1, 50));
    assert_false(has(cache, pages[0], 1, 50));
    assert_false(has(cache, pages[2], 1, 50));
}

static void test_a_template_goes_with_its_page_or_after_it(void **state) {
    struct http_cache *cache = *state;
    struct exporter_host host;
    host_init(&host);
    const struct shown shown = {.n = 1, .types = {{.view = &host.view}}};
    (void)has(cache, HTTP_PAGE_METRICS_CPU, 1, 0);
    put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    cache->templates.cpu = series_new(&shown, true);
    assert_non_null(cache->templates.cpu);
    (void)has(cache, HTTP_PAGE_PLAIN, 1, 10);
    put(cache, HTTP_PAGE_PLAIN, 1, HTTP_CACHE_BYTES_MAX, 'a');
    assert_null(cache->pages[HTTP_PAGE_METRICS_CPU].response);
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS - 1), 1);
    assert_non_null(cache->templates.cpu); // its page may be asked for again
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS), 10);
    assert_null(cache->templates.cpu);
    host_deinit(&host);
}

static void test_a_template_stays_while_one_of_its_two_formats_is_asked_for(void **state) {
    struct http_cache *cache = *state;
    struct exporter_host host;
    host_init(&host);
    const struct shown shown = {.n = 1, .types = {{.view = &host.view}}};
    (void)has(cache, HTTP_PAGE_METRICS_CPU, 1, 0);
    put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    (void)has(cache, HTTP_PAGE_OPENMETRICS_CPU, 1, 1000);
    put(cache, HTTP_PAGE_OPENMETRICS_CPU, 1, LARGE, 'b');
    cache->templates.cpu = series_new(&shown, true);
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS), 1000);
    assert_null(cache->pages[HTTP_PAGE_METRICS_CPU].response);
    assert_non_null(cache->pages[HTTP_PAGE_OPENMETRICS_CPU].response);
    assert_non_null(cache->templates.cpu);
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS + 1000), -1);
    assert_null(cache->templates.cpu);
    host_deinit(&host);
}

static void test_what_could_not_be_rendered_leaves_nothing(void **state) {
    struct http_cache *cache = *state;
    put(cache, HTTP_PAGE_PLAIN, 1, 100, 'a');
    struct text *text = http_cache_begin(cache, HTTP_PAGE_PLAIN);
    text->failed = true;
    http_cache_drop(cache, HTTP_PAGE_PLAIN);
    assert_false(has(cache, HTTP_PAGE_PLAIN, 1, 0));
    put(cache, HTTP_PAGE_PLAIN, 2, 100, 'b');
    assert_true(has(cache, HTTP_PAGE_PLAIN, 2, 0));
}

// ---- pages that are being sent ----

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *body, size_t *body_length, void **request) {
    (void)url, (void)method, (void)version, (void)body, (void)body_length, (void)request;
    return MHD_queue_response(connection, MHD_HTTP_OK, http_cache_find(context, HTTP_PAGE_METRICS_CPU, 1, 0));
}

static struct MHD_Daemon *start_daemon(struct http_cache *cache) {
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, cache, MHD_OPTION_END);
    assert_non_null(daemon);
    return daemon;
}

// Connects, asks, and reads nothing yet.
static int ask(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(info->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), small = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    (void)connect(fd, (const struct sockaddr *)&address, sizeof address);
    while (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
        MHD_run(daemon);
    for (int i = 0; i < 10; i++)
        MHD_run(daemon);
    return fd;
}

// Reads the answer to its end and checks that its last `n` bytes are `c`.
static void read_all(struct MHD_Daemon *daemon, int fd, size_t n, char c) {
    char *answer = malloc(LARGE + 4096);
    size_t length = 0;
    assert_non_null(answer);
    for (ssize_t r = -1; r != 0;) {
        MHD_run(daemon);
        r = recv(fd, answer + length, LARGE + 4096 - length, 0);
        length += r > 0 ? (size_t)r : 0;
    }
    assert_true(length > n);
    for (size_t i = length - n; i < length; i++)
        if (answer[i] != c)
            fail_msg("byte %zu of %zu is '%c'", i, length, answer[i]);
    free(answer);
    close(fd);
    for (int i = 0; i < 10; i++)
        MHD_run(daemon);
}

static void test_a_page_that_is_being_sent_keeps_its_memory(void **state) {
    struct http_cache *cache = *state;
    struct MHD_Daemon *daemon = start_daemon(cache);
    const char *first = put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    int slow = ask(daemon);
    const char *second = put(cache, HTTP_PAGE_METRICS_CPU, 2, LARGE, 'b');
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(put(cache, HTTP_PAGE_METRICS_CPU, 3, LARGE, 'c'), second);
    read_all(daemon, slow, LARGE, 'a');
    assert_null(cache->pages[HTTP_PAGE_METRICS_CPU].spare); // given back: the newest has its own
    assert_ptr_equal(put(cache, HTTP_PAGE_METRICS_CPU, 4, LARGE, 'd'), second);
    MHD_stop_daemon(daemon);
}

static void test_a_page_that_is_given_up_while_it_is_sent_is_sent_to_its_end(void **state) {
    struct http_cache *cache = *state;
    struct MHD_Daemon *daemon = start_daemon(cache);
    put(cache, HTTP_PAGE_METRICS_CPU, 1, LARGE, 'a');
    int slow = ask(daemon);
    assert_int_equal(http_cache_expire(cache, HTTP_KEPT_MS), -1);
    put(cache, HTTP_PAGE_SNAPSHOT_CPU, 1, LARGE, 'b');
    read_all(daemon, slow, LARGE, 'a');
    assert_null(cache->pages[HTTP_PAGE_METRICS_CPU].spare); // nobody has asked since
    MHD_stop_daemon(daemon);
}

// ---- the budget ----

enum { READERS = 6 };

// A server whose connections are the budget's readers. It sends the newest of a page.
struct counted {
    struct http_cache *cache;
    struct MHD_Daemon *daemon;
    struct http_connection connections[READERS];
    size_t n;
    uint64_t generation;
};

static enum MHD_Result on_counted(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *body, size_t *body_length, void **request) {
    struct counted *counted = context;
    struct http_connection *slot = &counted->connections[counted->n];
    struct MHD_Response *response = http_cache_find(counted->cache, HTTP_PAGE_METRICS_CPU, counted->generation, 0);
    (void)url, (void)method, (void)version, (void)body, (void)body_length;
    if (*request != slot) { // the headers
        *request = slot;
        return MHD_YES;
    }
    slot->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    counted->n++;
    enum MHD_Result r = MHD_queue_response(connection, MHD_HTTP_OK, response);
    http_cache_read(counted->cache, response, &slot->reader, counted->n);
    return r;
}

static void on_counted_end(void *context, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code) {
    struct counted *counted = context;
    struct http_connection *slot = *request;
    (void)connection, (void)code;
    http_budget_end(&counted->cache->budget, &slot->reader);
}

static void counted_start(struct counted *counted, struct http_cache *cache) {
    *counted = (struct counted){.cache = cache};
    counted->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_counted, counted, MHD_OPTION_NOTIFY_COMPLETED,
                                       on_counted_end, counted, MHD_OPTION_END);
    assert_non_null(counted->daemon);
}

// A new publication, and a client that asks for it and reads nothing. False if the page must not be made.
static bool ask_for_next(struct counted *counted, size_t length, int *fd) {
    if (!http_cache_make_room(counted->cache, HTTP_PAGE_METRICS_CPU, 1000 + counted->n))
        return false;
    put(counted->cache, HTTP_PAGE_METRICS_CPU, ++counted->generation, length, 'a');
    size_t n = counted->n;
    *fd = ask(counted->daemon);
    for (int i = 0; counted->n == n; i++) {
        assert_true(i < 10000);
        usleep(1000);
        MHD_run(counted->daemon);
    }
    return true;
}

// Without reading: who reads is not the slowest any more.
static bool was_reset(int fd) {
    struct pollfd state = {.fd = fd};
    return poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0;
}

// Runs the library until it has closed what was reset, and no more than so many bytes are left.
static void run_until_within(struct counted *counted, size_t bytes) {
    const struct http_budget *budget = &counted->cache->budget;
    for (int i = 0; budget->leaving > 0 || budget->bytes > bytes; i++) {
        assert_true(i < 10000);
        usleep(1000);
        MHD_run(counted->daemon);
    }
}

// What the kernels of clients that do not read take before their buffers are full differs a little.
static uint64_t no_progress(const struct http_reader *reader) {
    (void)reader;
    return 0;
}

static void test_the_slowest_reader_is_reset_where_pages_that_are_sent_exceed_the_budget(void **state) {
    struct counted counted;
    int fds[5];
    const size_t length = HTTP_ANSWER_BYTES_MAX / 4;
    counted_start(&counted, *state);
    counted.cache->budget.progress = no_progress;
    for (size_t i = 0; i < 3; i++)
        assert_true(ask_for_next(&counted, length, &fds[i]));
    assert_int_equal(counted.cache->budget.bytes, 3 * length);
    assert_true(ask_for_next(&counted, length, &fds[3])); // four pages, and what the kernel holds: too much
    run_until_within(&counted, 3 * length);
    assert_int_equal(counted.cache->budget.bytes, 3 * length);
    assert_true(was_reset(fds[0]));
    for (size_t i = 1; i < 4; i++)
        assert_false(was_reset(fds[i]));
    assert_true(ask_for_next(&counted, length, &fds[4]));
    run_until_within(&counted, 3 * length);
    assert_true(was_reset(fds[1]));
    for (size_t i = 0; i < 5; i++)
        close(fds[i]);
    run_until_within(&counted, length); // the newest is kept
    MHD_stop_daemon(counted.daemon);
    assert_null(counted.cache->budget.readers);
    assert_int_equal(counted.cache->budget.leaving, 0);
}

static void read_some(struct counted *counted, int fd, size_t bytes) {
    char *answer = malloc(bytes);
    assert_non_null(answer);
    for (size_t got = 0; got < bytes;) {
        MHD_run(counted->daemon);
        ssize_t r = recv(fd, answer, bytes - got, 0);
        got += r > 0 ? (size_t)r : 0;
    }
    free(answer);
}

static void test_a_reader_that_reads_is_not_the_slowest_though_it_began_first(void **state) {
    struct counted counted;
    int fds[4];
    const size_t length = HTTP_ANSWER_BYTES_MAX / 4;
    counted_start(&counted, *state);
    assert_true(ask_for_next(&counted, length, &fds[0]));
    read_some(&counted, fds[0], length / 2);
    for (size_t i = 1; i < 4; i++)
        assert_true(ask_for_next(&counted, length, &fds[i]));
    run_until_within(&counted, 3 * length);
    assert_false(was_reset(fds[0]));
    assert_int_equal(was_reset(fds[1]) + was_reset(fds[2]) + was_reset(fds[3]), 1);
    for (size_t i = 0; i < 4; i++)
        close(fds[i]);
    MHD_stop_daemon(counted.daemon);
}

static void test_while_what_was_reset_is_still_there_nothing_new_is_made(void **state) {
    struct counted counted;
    int fds[2];
    const size_t length = HTTP_ANSWER_BYTES_MAX - HTTP_UNREAD_BYTES_MAX;
    counted_start(&counted, *state);
    assert_true(ask_for_next(&counted, length, &fds[0]));
    assert_false(ask_for_next(&counted, length, &fds[1])); // the first is reset, but not gone yet
    run_until_within(&counted, length);                    // its memory is there for the next rendering
    assert_true(was_reset(fds[0]));
    assert_true(ask_for_next(&counted, length, &fds[1]));
    assert_false(was_reset(fds[1]));
    close(fds[0]);
    close(fds[1]);
    MHD_stop_daemon(counted.daemon);
}

static void test_pages_without_readers_go_before_readers(void **state) {
    struct counted counted;
    int fds[3];
    counted_start(&counted, *state);
    for (size_t i = 0; i < 3; i++)
        assert_true(ask_for_next(&counted, 2 * LARGE, &fds[i]));
    put(counted.cache, HTTP_PAGE_SNAPSHOT_HOST, 1, LARGE / 3, 'b');
    assert_true(has(counted.cache, HTTP_PAGE_SNAPSHOT_HOST, 1, 0));
    counted.cache->pages[HTTP_PAGE_SNAPSHOT_SOCKET].expected = LARGE / 3;
    assert_true(http_cache_make_room(counted.cache, HTTP_PAGE_SNAPSHOT_SOCKET, 1000));
    assert_false(has(counted.cache, HTTP_PAGE_SNAPSHOT_HOST, 1, 0));
    assert_true(has(counted.cache, HTTP_PAGE_METRICS_CPU, 3, 0));
    for (size_t i = 0; i < 3; i++) {
        assert_false(was_reset(fds[i]));
        close(fds[i]);
    }
    MHD_stop_daemon(counted.daemon);
}

static void test_an_answer_of_a_key_is_found_again_and_the_oldest_gives_way(void **state) {
    struct http_cache *cache = *state;
    size_t first = http_cache_keyed(cache, strdup("a"));
    put(cache, (enum http_page)first, 1, 100, 'a');
    (void)http_cache_find(cache, first, 1, 10);
    for (int i = 1; i < HTTP_KEYED_SLOTS; i++) {
        char key[] = {(char)('a' + i), '\0'};
        size_t other = http_cache_keyed(cache, strdup(key));
        assert_int_not_equal(other, first);
        put(cache, (enum http_page)other, 1, 100, 'b');
        (void)http_cache_find(cache, other, 1, 10 + (uint64_t)i);
    }
    assert_int_equal(http_cache_keyed(cache, strdup("a")), first);
    assert_non_null(http_cache_find(cache, first, 1, 100));
    size_t second = http_cache_keyed(cache, strdup("another"));
    assert_int_not_equal(second, first);
    assert_null(http_cache_find(cache, second, 1, 100));
    put(cache, (enum http_page)second, 1, 100, 'c');
    assert_int_equal(http_cache_keyed(cache, strdup("a")), first);
    assert_int_not_equal(http_cache_keyed(cache, strdup("b")), second);
}

int main(void) {
#define WITH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_a_page_is_kept_for_its_generation),
        WITH(test_the_next_rendering_uses_the_same_memory),
        WITH(test_what_nobody_asks_for_any_more_is_given_back),
        WITH(test_a_compressed_page_is_kept_and_given_back_for_itself),
        WITH(test_of_large_pages_those_that_were_asked_for_last_are_kept),
        WITH(test_a_template_goes_with_its_page_or_after_it),
        WITH(test_a_template_stays_while_one_of_its_two_formats_is_asked_for),
        WITH(test_what_could_not_be_rendered_leaves_nothing),
        WITH(test_a_page_that_is_being_sent_keeps_its_memory),
        WITH(test_a_page_that_is_given_up_while_it_is_sent_is_sent_to_its_end),
        WITH(test_the_slowest_reader_is_reset_where_pages_that_are_sent_exceed_the_budget),
        WITH(test_a_reader_that_reads_is_not_the_slowest_though_it_began_first),
        WITH(test_while_what_was_reset_is_still_there_nothing_new_is_made),
        WITH(test_pages_without_readers_go_before_readers),
        WITH(test_an_answer_of_a_key_is_found_again_and_the_oldest_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
