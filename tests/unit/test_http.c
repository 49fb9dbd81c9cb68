// SPDX-License-Identifier: Apache-2.0
//
// Requests and answers on the wire, and the limits of connections. test_http_publish.c tests publishing meanwhile.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <time.h>

#include "exporters/http/http_listen.h"
#include "http_check.h"

static void test_every_route_answers(void **state) {
    const struct fixture *f = *state;
    const char *prometheus = "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n";
    const char *json = "Content-Type: application/json\r\n", *text = "Content-Type: text/plain; charset=utf-8\r\n";
    assert_page(f, "/", 200, "Content-Type: text/html; charset=utf-8\r\n", "<!doctype html>");
    assert_page(f, "/metrics", 200, prometheus, "topdownd_ipc{socket=\"7\"} 3.04\n");
    assert_page(f, "/metrics/cpu", 200, prometheus, "topdownd_cpu_ipc{socket=\"7\",cpu=\"4\"} 6.04\n");
    assert_page(f, "/api/v1/snapshot", 200, json, "\"scope\":\"host\"");
    assert_page(f, "/api/v1/snapshot?scope=host", 200, json, "\"scope\":\"host\"");
    assert_page(f, "/api/v1/snapshot?x=y&scope=socket", 200, json, "\"scope\":\"socket\"");
    assert_page(f, "/api/v1/snapshot?scope=cpu&scope2", 200, json, "\"scope\":\"cpu\"");
    assert_page(f, "/api/v1/snapshot?scope=core", 400, json, "choose host, socket or cpu");
    assert_page(f, "/api/v1/snapshot?scope=", 400, json, "choose host, socket or cpu");
    assert_page(f, "/api/v1/plan", 200, json, "\"not_plannable\"");
    assert_page(f, "/api/v1/status", 200, json, "\"1.2.3\"");
    assert_page(f, "/-/healthy", 200, text, "topdownd is healthy.\n");
    assert_page(f, "/-/ready", 200, text, "topdownd is ready.\n");
    assert_page(f, "/metrics/", 404, text, "/api/v1/snapshot");
    assert_page(f, "/../etc/passwd", 404, text, "/metrics");
}

static void test_a_whole_uri_is_as_good_as_its_path(void **state) {
    const struct fixture *f = *state;
    const char *json = "Content-Type: application/json\r\n", *text = "Content-Type: text/plain; charset=utf-8\r\n";
    const char *html = "Content-Type: text/html; charset=utf-8\r\n";
    assert_page(f, "http://127.0.0.1:10813/-/healthy", 200, text, "topdownd is healthy.\n");
    assert_page(f, "HTTP://[::1]/api/v1/snapshot?scope=cpu", 200, json, "\"scope\":\"cpu\"");
    assert_page(f, "http://host", 200, html, "<!doctype html>");
    assert_page(f, "http://host?x=/y", 200, html, "<!doctype html>");
    assert_page(f, "http://host/", 200, html, "<!doctype html>");
    assert_page(f, "http://host/nothing", 404, text, "/metrics");
    assert_page(f, "http:/metrics", 404, text, "/metrics");
    assert_page(f, "ftp://host/metrics", 404, text, "/metrics");
}

static void test_a_target_with_a_zero_byte_is_refused(void **state) {
    const struct fixture *f = *state;
    const char *text = "Content-Type: text/plain; charset=utf-8\r\n";
    static const char *const targets[] = {"/%00", "/metrics%00", "/metrics%00.txt", "/api/v1/snapshot?scope=cpu%00",
                                          "http://host/%00"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        assert_page(f, targets[i], 400, text, "zero byte");
    assert_page(f, "/%2D/healthy", 200, text, "topdownd is healthy.\n"); // other escapes are fine
}

static void test_head_has_the_length_and_no_body(void **state) {
    const struct fixture *f = *state;
    char *get = ask(f, "GET", "/metrics"), *head = ask(f, "HEAD", "/metrics");
    assert_int_equal(status_of(head), 200);
    assert_int_equal(length_of(head), strlen(body_of(get)));
    assert_string_equal(body_of(head), "");
    free(get);
    free(head);
}

static void test_other_methods_are_refused_with_those_that_are_allowed(void **state) {
    const struct fixture *f = *state;
    const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", "BREW"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        char *answer = ask(f, methods[i], "/metrics");
        assert_int_equal(status_of(answer), 405);
        assert_header(answer, "Allow: GET, HEAD\r\n");
        free(answer);
    }
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void test_a_request_with_a_body_is_refused_and_the_body_is_not_taken_for_a_request(void **state) {
    const struct fixture *f = *state;
    static const char sized[] = "%s /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: %s\r\n\r\nGET /-/healthy "
                                "HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char chunked[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n24\r\n"
                                  "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n0\r\n\r\n";
    char requests[4][256];
    (void)snprintf(requests[0], sizeof(requests[0]), sized, "GET", "36");
    (void)snprintf(requests[1], sizeof(requests[1]), sized, "POST", "36");
    (void)snprintf(requests[2], sizeof(requests[2]), sized, "GET", "99999999999");
    (void)snprintf(requests[3], sizeof(requests[3]), "%s", chunked);
    const int expected[] = {413, 405, 413, 413};
    for (size_t i = 0; i < 4; i++) {
        int fd = connect_to(f);
        send_text(fd, requests[i]);
        char *answer = read_all(fd);
        assert_int_equal(status_of(answer), expected[i]);
        assert_int_equal(count(answer, "HTTP/1.1 "), 1);
        assert_null(strstr(answer, "healthy"));
        free(answer);
        close(fd);
    }
}

// The status of the only answer to these bytes.
static int status_for(const struct fixture *f, const char *request) {
    int fd = connect_to(f);
    send_text(fd, request);
    char *answer = read_all(fd);
    int status = status_of(answer);
    assert_int_equal(count(answer, "HTTP/1.1 "), 1);
    free(answer);
    close(fd);
    return status;
}

static void test_a_host_that_is_neither_ours_nor_an_address_is_misdirected(void **state) {
    static const char *const ours[] = {"localhost", "LOCALHOST:10813", "127.0.0.1:1", "192.0.2.1", "[::1]:10813"};
    static const char *const others[] = {"evil.example",
                                         "evil.example:10813",
                                         "localhost.evil.example",
                                         "127.0.0.1.nip.io",
                                         "[evil.example]",
                                         "localhost:x",
                                         "[::1",
                                         ""};
    char request[256], name[128] = "";
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        (void)snprintf(request, sizeof(request), "GET /-/healthy HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                       ours[i]);
        assert_int_equal(status_for(*state, request), 200);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        (void)snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", others[i]);
        assert_int_equal(status_for(*state, request), 421);
    }
    assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
    (void)snprintf(request, sizeof(request), "GET /-/healthy HTTP/1.1\r\nHost: %s:10813\r\nConnection: close\r\n\r\n",
                   name);
    assert_int_equal(status_for(*state, request), 200);
    assert_int_equal(status_for(*state, "GET /-/healthy HTTP/1.0\r\n\r\n"), 200); // has no Host
}

static void test_what_two_readers_could_understand_differently_is_refused(void **state) {
    assert_int_equal(status_for(*state, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                                        "Content-Length: 36\r\n\r\n"),
                     400);
    assert_int_equal(status_for(*state, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n"), 400);
}

static void test_a_query_of_many_arguments_and_long_headers_are_refused(void **state) {
    size_t size = 64 << 10, length;
    char *request = malloc(size);
    assert_non_null(request);
    length = (size_t)snprintf(request, size, "GET /metrics?a");
    for (int i = 0; i < 300; i++) // the library has no memory for many more, and ends those connections without a word
        length += (size_t)snprintf(request + length, size - length, "&a");
    (void)snprintf(request + length, size - length, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_int_equal(status_for(*state, request), 400);
    length = (size_t)snprintf(request, size, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    memset(request + length, 'x', 33 << 10);
    (void)snprintf(request + length + (33 << 10), size - length - (33 << 10), "\r\n\r\n");
    int fd = connect_to(*state);
    (void)send(fd, request, strlen(request), MSG_NOSIGNAL); // it may be refused before all of it has gone
    char *answer = read_all(fd);
    assert_int_equal(status_of(answer), 431);
    free(answer);
    close(fd);
    free(request);
}

static void test_the_kernel_keeps_little_for_a_client_that_does_not_read(void **state) {
    (void)state;
    struct errors errors = {0};
    int listener, bytes = 0;
    uint16_t port;
    socklen_t size = sizeof(bytes);
    assert_int_equal(http_listen(&LOOPBACK, &errors, &listener, &port), 0);
    int client = dial(port);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 20000), 1);
    int accepted = accept(listener, NULL, NULL);
    assert_true(accepted >= 0);
    assert_int_equal(getsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &bytes, &size), 0);
    assert_true(bytes <= 256 << 10);
    static char page[4 << 20];
    ssize_t taken = 0, n;
    while ((n = send(accepted, page, sizeof(page), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
        taken += n;
    assert_true(taken < 3 << 20); // the client's receive buffer, and little more
    close(accepted);
    close(client);
    close(listener);
}

static void test_pipelined_requests_are_answered_in_order(void **state) {
    const struct fixture *f = *state;
    int fd = connect_to(f);
    send_text(fd, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\nGET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    char *answer = read_all(fd);
    close(fd);
    const char *healthy = strstr(answer, "topdownd is healthy."), *nothing = strstr(answer, "no such page"),
               *ready = strstr(answer, "topdownd is ready.");
    assert_true(healthy && nothing && ready && healthy < nothing && nothing < ready);
    free(answer);
}

static void test_a_slow_client_holds_up_nobody(void **state) {
    const struct fixture *f = *state;
    int slow = connect_to(f);
    send_text(slow, "GET /-/healthy HTTP/1.1\r\nHo");
    int reader = connect_to(f); // asks and does not read yet
    send_text(reader, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        char *answer = ask(f, "GET", "/-/ready");
        assert_int_equal(status_of(answer), 200);
        free(answer);
    }
    send_text(slow, "st: localhost\r\nConnection: close\r\n\r\n");
    char *answer = read_all(slow);
    assert_int_equal(status_of(answer), 200);
    free(answer);
    answer = read_all(reader);
    assert_int_equal(length_of(answer), strlen(body_of(answer)));
    free(answer);
    close(slow);
    close(reader);
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// A byte every 20 ms keeps a connection alive for the library, but not for us.
static void test_a_request_that_never_ends_is_cut_off(void **state) {
    const struct fixture *f = *state;
    int fd = connect_to(f);
    send_text(fd, "GET / HTTP/1.1\r\nX: ");
    const struct timespec pause = {.tv_nsec = 20000000};
    uint64_t end = now_ms() + 15000;
    while (send(fd, "x", 1, MSG_NOSIGNAL) == 1) {
        assert_true(now_ms() < end);
        nanosleep(&pause, NULL);
    }
    close(fd);
    char *answer = ask(f, "GET", "/-/healthy");
    assert_int_equal(status_of(answer), 200);
    free(answer);
}

// Asks on one connection for three times the limit; whether it was answered each time. It must be, unless a busy
// machine has let half of the limit pass between two requests.
static bool is_answered_again_and_again(const struct fixture *f) {
    const struct timespec pause = {.tv_nsec = IMPATIENT_MS / 3 * 1000000};
    static const char request[] = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = connect_to(f);
    bool answered = true;
    uint64_t last_ms = now_ms();
    for (int i = 0; i < 9 && answered; i++) {
        char buffer[1024];
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL); // fails where it was cut off
        ssize_t n = recv(fd, buffer, sizeof(buffer) - 1, 0);
        answered = n > 0;
        assert_true(answered || now_ms() - last_ms > IMPATIENT_MS / 2);
        if (answered) {
            buffer[n] = '\0';
            assert_int_equal(status_of(buffer), 200);
            last_ms = now_ms();
            nanosleep(&pause, NULL);
        }
    }
    close(fd);
    return answered;
}

// Requests one after the other renew the time, however long the connection lives.
static void test_a_connection_that_is_used_again_and_again_is_not_cut_off(void **state) {
    for (int tries = 0; !is_answered_again_and_again(*state); tries++)
        assert_true(tries < 100);
}

static void test_garbage_is_survived(void **state) {
    const struct fixture *f = *state;
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    for (int i = 0; i < 200; i++) {
        char bytes[600];
        size_t n = 1 + (size_t)rand_r(&seed) % sizeof(bytes);
        for (size_t j = 0; j < n; j++)
            bytes[j] = (char)rand_r(&seed);
        if (i % 2)
            memcpy(bytes, "GET /metrics HTTP/1.1\r\n", n < 23 ? n : 23);
        int fd = connect_to(f);
        send(fd, bytes, n, MSG_NOSIGNAL);
        close(fd);
    }
    int fd = connect_to(f); // a header larger than the memory of a connection
    static const char line[] = "X-Long: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n";
    send_text(fd, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < 2000; i++)
        if (send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL) < 0)
            break;
    free(read_all(fd));
    close(fd);
    char *answer = ask(f, "GET", "/metrics");
    assert_int_equal(status_of(answer), 200);
    free(answer);
}

static void test_it_ends_promptly_with_connections_open(void **state) {
    struct fixture *f = *state;
    int fds[40];
    for (int i = 0; i < 40; i++) {
        fds[i] = connect_to(f);
        send_text(fds[i], i % 2 ? "GET /metrics/cpu HTTP/1.1\r\nHost: localhost\r\n\r\n" : "GET /");
    }
    free(ask(f, "GET", "/")); // the others have been accepted by now
    uint64_t before = now_ms();
    f->server = http_server_free(f->server);
    assert_true(now_ms() - before < 5000); // half of the time after which an idle connection ends by itself
    for (int i = 0; i < 40; i++) {
        free(read_all(fds[i])); // ends
        close(fds[i]);
    }
}

// Whether a server that is made for this address can listen.
static void assert_refused(const struct http_address *address, int expected, const char *part) {
    struct errors errors = {0};
    struct http_server *server = NULL;
    assert_int_equal(http_server_new(address, 1, &server), 0);
    assert_int_equal(http_server_listen(server, 0, address, &errors), expected);
    assert_int_equal(http_server_port(server, 0), 0);
    http_server_free(server);
    assert_int_equal(errors.n, 1);
    if (!strstr(errors.items[0].text, part) || strncmp(errors.items[0].text, address->text, strlen(address->text)) != 0)
        fail_msg("%s", errors.items[0].text);
}

static void test_a_taken_port_and_a_foreign_address_may_pass_and_are_told_with_the_remedy(void **state) {
    const struct fixture *f = *state;
    char text[64];
    (void)snprintf(text, sizeof(text), "127.0.0.1:%u", http_server_port(f->server, 0));
    const struct http_address taken = {text, "127.0.0.1", http_server_port(f->server, 0)};
    assert_refused(&taken, -EAGAIN,
                   ": the port is taken, perhaps by another topdownd: stop it, or set listen to another port");
    const struct http_address foreign = {"192.0.2.1:10813", "192.0.2.1", 10813}; // reserved for documentation
    assert_refused(&foreign, -EAGAIN, "this host does not have the address");
}

static void test_what_a_person_must_change_is_told_apart_from_what_may_pass(void **state) {
    (void)state;
    const struct http_address name = {"localhost:10813", "localhost", 10813};
    assert_refused(&name, -EINVAL, "not a numeric address");
    static const int passing[] = {EADDRINUSE, EADDRNOTAVAIL, ENFILE, ENOBUFS, ENOMEM, ENODEV, ENETDOWN, EIO};
    static const int lasting[] = {EACCES, EPERM, EAFNOSUPPORT, EINVAL, EMFILE};
    struct errors errors = {0};
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        assert_int_equal(http_listen_refuse(&LOOPBACK, &errors, passing[i]), -EAGAIN);
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
        assert_int_equal(http_listen_refuse(&LOOPBACK, &errors, lasting[i]), -EINVAL);
    errors = (struct errors){0};
    assert_int_equal(http_listen_refuse(&LOOPBACK, &errors, EACCES), -EINVAL);
    assert_false(errors.passing);
    assert_int_equal(http_listen_refuse(&LOOPBACK, &errors, EMFILE), -EINVAL);
    assert_true(errors.passing); // another start may find files
}

static void assert_status(uint16_t port, const char *host, int status) {
    static const char request[] = "GET /-/healthy HTTP/1.1\r\nConnection: close\r\nHost: ";
    int fd = dial(port);
    assert_true(fd >= 0);
    send_text(fd, request);
    send_text(fd, host);
    send_text(fd, "\r\n\r\n");
    char *answer = read_all(fd);
    assert_int_equal(status_of(answer), status);
    free(answer);
    close(fd);
}

static void assert_healthy(uint16_t port) { assert_status(port, "localhost", 200); }

static void test_an_address_that_comes_late_is_served_beside_the_others(void **state) {
    const struct fixture *f = *state;
    struct errors errors = {0};
    struct http_server *server;
    int other;
    uint16_t port;
    assert_int_equal(http_listen(&LOOPBACK, &errors, &other, &port), 0);
    const struct http_address addresses[] = {{"taken", "127.0.0.1", port}, LOOPBACK};
    assert_int_equal(http_server_new(addresses, 2, &server), 0);
    assert_int_equal(http_server_listen(server, 0, &addresses[0], &errors), -EAGAIN);
    assert_int_equal(http_server_listen(server, 1, &addresses[1], &errors), 0);
    assert_int_equal(http_server_start(server, &(struct http_published){f->view, f->snapshot}, 1), 0);
    assert_healthy(http_server_port(server, 1));
    assert_int_equal(http_server_listen(server, 0, &addresses[0], &errors), -EAGAIN);
    close(other);
    assert_int_equal(http_server_listen(server, 0, &addresses[0], &errors), 0);
    assert_int_equal(http_server_port(server, 0), port);
    assert_healthy(port);
    assert_healthy(http_server_port(server, 1));
    http_server_free(server);
}

static void test_a_server_that_never_started_gives_its_addresses_back(void **state) {
    (void)state;
    struct errors errors = {0};
    struct http_server *server;
    const struct http_address any = LOOPBACK;
    assert_int_equal(http_server_new(&any, 1, &server), 0);
    assert_int_equal(http_server_listen(server, 0, &any, &errors), 0);
    const struct http_address same = {"same", "127.0.0.1", http_server_port(server, 0)};
    http_server_free(server);
    assert_int_equal(http_server_new(&same, 1, &server), 0);
    assert_int_equal(http_server_listen(server, 0, &same, &errors), 0);
    http_server_free(server);
}

static void test_a_server_with_no_address_yet_ends(void **state) {
    const struct fixture *f = *state;
    struct http_server *server;
    const struct http_address any = LOOPBACK;
    assert_int_equal(http_server_new(&any, 1, &server), 0);
    assert_int_equal(http_server_start(server, &(struct http_published){f->view, f->snapshot}, 1), 0);
    http_server_free(server);
    assert_int_equal(http_server_new(&any, HTTP_ADDRESSES_MAX + 1, &server), -E2BIG);
}

static void test_one_server_serves_several_addresses(void **state) {
    const struct fixture *f = *state;
    struct errors errors = {0};
    struct http_server *server;
    const struct http_address addresses[] = {LOOPBACK, LOOPBACK, LOOPBACK};
    assert_int_equal(http_server_new(addresses, 3, &server), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(http_server_listen(server, i, &addresses[i], &errors), 0);
    assert_int_equal(http_server_start(server, &(struct http_published){f->view, f->snapshot}, 1), 0);
    for (size_t i = 0; i < 3; i++)
        assert_healthy(http_server_port(server, i));
    http_server_free(server);
}

static void test_a_loopback_address_keeps_its_check_beside_one_that_others_reach(void **state) {
    const struct fixture *f = *state;
    struct errors errors = {0};
    struct http_server *server;
    const struct http_address addresses[] = {LOOPBACK, {"0.0.0.0:0", "0.0.0.0", 0}};
    assert_int_equal(http_server_new(addresses, 2, &server), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(http_server_listen(server, i, &addresses[i], &errors), 0);
    assert_int_equal(http_server_start(server, &(struct http_published){f->view, f->snapshot}, 1), 0);
    assert_status(http_server_port(server, 0), "evil.example", 421);
    assert_status(http_server_port(server, 1), "evil.example", 200);
    http_server_free(server);
}

int main(void) {
#define WITH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define IMPATIENT(function) cmocka_unit_test_setup_teardown(function, setup_impatient, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_every_route_answers),
        WITH(test_a_whole_uri_is_as_good_as_its_path),
        WITH(test_a_target_with_a_zero_byte_is_refused),
        WITH(test_head_has_the_length_and_no_body),
        WITH(test_other_methods_are_refused_with_those_that_are_allowed),
        WITH(test_a_request_with_a_body_is_refused_and_the_body_is_not_taken_for_a_request),
        WITH(test_a_host_that_is_neither_ours_nor_an_address_is_misdirected),
        WITH(test_a_loopback_address_keeps_its_check_beside_one_that_others_reach),
        WITH(test_what_two_readers_could_understand_differently_is_refused),
        WITH(test_a_query_of_many_arguments_and_long_headers_are_refused),
        WITH(test_the_kernel_keeps_little_for_a_client_that_does_not_read),
        WITH(test_pipelined_requests_are_answered_in_order),
        WITH(test_a_slow_client_holds_up_nobody),
        IMPATIENT(test_a_request_that_never_ends_is_cut_off),
        IMPATIENT(test_a_connection_that_is_used_again_and_again_is_not_cut_off),
        IMPATIENT(test_garbage_is_survived),
        WITH(test_it_ends_promptly_with_connections_open),
        WITH(test_a_taken_port_and_a_foreign_address_may_pass_and_are_told_with_the_remedy),
        WITH(test_what_a_person_must_change_is_told_apart_from_what_may_pass),
        WITH(test_an_address_that_comes_late_is_served_beside_the_others),
        WITH(test_a_server_that_never_started_gives_its_addresses_back),
        WITH(test_a_server_with_no_address_yet_ends),
        WITH(test_one_server_serves_several_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
