// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_HTTP_CHECK_H
#define TOPDOWND_TESTS_HTTP_CHECK_H

// For the tests of the HTTP server: a real one on a free port of the loopback, and a client that sends bytes and reads
// bytes.

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "exporter_host.h"
#include "exporters/http/http.h"

static const struct http_address LOOPBACK = {"127.0.0.1:0", "127.0.0.1", 0};

struct fixture {
    struct exporter_host host;
    struct view *view;
    struct snapshot *snapshot;
    struct http_server *server;
    _Atomic uint64_t now_ms; // the server's clock for the age of snapshots
};

static inline uint64_t fixture_clock(void *context) { return atomic_load(&((struct fixture *)context)->now_ms); }

static inline int setup_with_limit(void **state, unsigned limit_ms) {
    struct fixture *f = calloc(1, sizeof(*f));
    struct errors errors = {0};
    assert_non_null(f);
    host_init(&f->host);
    f->view = view_new(&f->host.view);
    assert_non_null(f->view);
    f->snapshot = host_snapshot(&f->host);
    assert_int_equal(http_server_new(&LOOPBACK, 1, &f->server), 0);
    assert_int_equal(http_server_listen(f->server, 0, &LOOPBACK, &errors), 0);
    http_server_use_clock(f->server, fixture_clock, f);
    if (limit_ms)
        http_server_limit_request(f->server, limit_ms);
    assert_int_equal(http_server_start(f->server, &(struct http_published){f->view, f->snapshot}, 1), 0);
    *state = f;
    return 0;
}

static inline int setup(void **state) { return setup_with_limit(state, 0); }

enum { IMPATIENT_MS = 300 };
static inline int setup_impatient(void **state) { return setup_with_limit(state, IMPATIENT_MS); }

static inline int teardown(void **state) {
    struct fixture *f = *state;
    assert_null(http_server_free(f->server));
    assert_int_equal(atomic_load(&f->snapshot->references), 1); // the server has released its reference
    assert_int_equal(atomic_load(&f->view->references), 1);
    view_unref(f->view);
    snapshot_unref(f->snapshot);
    host_deinit(&f->host);
    free(f);
    return 0;
}

static inline int dial(uint16_t port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval patience = {.tv_sec = 20};
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return fd;
}

static inline int connect_to(const struct fixture *f) {
    int fd = dial(http_server_port(f->server, 0));
    assert_true(fd >= 0);
    return fd;
}

static inline void send_bytes(int fd, const char *bytes, size_t n) {
    assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

static inline void send_text(int fd, const char *text) { send_bytes(fd, text, strlen(text)); }

// Reads until the other side closes; terminated, owned by the caller.
static inline char *read_all(int fd) {
    size_t n = 0, size = 1 << 16;
    char *text = malloc(size);
    for (;;) {
        assert_non_null(text);
        ssize_t got = recv(fd, text + n, size - n - 1, 0);
        if (got < 0 && errno != ECONNRESET)
            fail_msg("nothing came for long: %s", strerror(errno));
        if (got <= 0)
            break;
        n += (size_t)got;
        if (size - n < 4096)
            text = realloc(text, size *= 2);
    }
    text[n] = '\0';
    return text;
}

// Sends a request (%s: the text that closes the connection) and returns the whole answer.
static inline char *ask(const struct fixture *f, const char *method, const char *target) {
    char request[256];
    (void)snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method,
                   target);
    int fd = connect_to(f);
    send_text(fd, request);
    char *answer = read_all(fd);
    close(fd);
    return answer;
}

static inline int status_of(const char *answer) {
    int status = 0;
    if (sscanf(answer, "HTTP/1.1 %d ", &status) != 1)
        fail_msg("no HTTP: %.80s", answer);
    return status;
}

static const char *body_of(const char *answer) {
    const char *end = strstr(answer, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static inline size_t length_of(const char *answer) {
    const char *header = strcasestr(answer, "\r\nContent-Length: ");
    assert_non_null(header);
    return strtoul(header + 18, NULL, 10);
}

static inline void assert_header(const char *answer, const char *line) {
    const char *found = strcasestr(answer, line);
    if (!found || found > body_of(answer))
        fail_msg("no header %s in %.600s", line, answer);
}

static inline void assert_page(const struct fixture *f, const char *target, int status, const char *type,
                               const char *part) {
    char *answer = ask(f, "GET", target);
    if (status_of(answer) != status)
        fail_msg("%s: status %d", target, status_of(answer));
    assert_header(answer, type);
    // the document is a file of the program, and all else what is measured
    assert_header(answer, strstr(type, "text/html") ? "Cache-Control: no-" : "Cache-Control: no-store\r\n");
    assert_header(answer, "X-Content-Type-Options: nosniff\r\n");
    assert_header(answer, "Content-Security-Policy: default-src 'none'; script-src 'self';");
    assert_int_equal(length_of(answer), strlen(body_of(answer)));
    if (!strstr(body_of(answer), part))
        fail_msg("%s has no '%s'", target, part);
    free(answer);
}

#endif
