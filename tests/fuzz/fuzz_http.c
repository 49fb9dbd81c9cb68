// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/spec/catalog_builder.h"
#include "exporters/http/http.h"

// Any bytes that a client sends to the server, at once or in pieces as the first byte says, get answers of HTTP or the
// end of the connection, and the server answers others meanwhile.

enum { PATIENCE_SECONDS = 120, PIECES = 4 };

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sockaddr_in address;
static int other; // a client's connection that stays open

static struct catalog *make_catalog(void) {
    static const char *const metrics[] = {"ipc"};
    const struct catalog_metric_text ipc = {.name = "ipc", .formula = "inst / cycles", .units = "per cycle"};
    struct catalog_builder *builder;
    struct fault error;
    if (catalog_builder_new("fuzz", "v", "n", "m", "p", &builder) < 0 ||
        catalog_builder_add_event(builder, "cycles", "", 1, &error) < 0 ||
        catalog_builder_add_event(builder, "inst", "", 2, &error) < 0 ||
        catalog_builder_add_metric(builder, &ipc, &error) < 0 ||
        catalog_builder_add_group(builder, "general", "", "", metrics, 1, &error) < 0 ||
        catalog_builder_check(builder, &error) < 0)
        abort();
    return catalog_builder_finish(builder);
}

static struct snapshot_layout *make_layout(void) {
    const struct plan_selection selection = {.group = 0};
    const struct plan_request request = {
        .catalog = make_catalog(), .selections = &selection, .n_selections = 1, .slot_ns = 200000000};
    const struct topology_source cpus[] = {{0, 0, 0, true}, {1, 1, 0, true}};
    struct plan *plan;
    struct topology *topology;
    if (!request.catalog || plan_new(&request, &plan) < 0 || topology_new(cpus, 2, 0, &topology) < 0)
        abort();
    return snapshot_layout_new(plan, topology);
}

static struct http_published make_page(void) {
    struct snapshot_layout *layout = make_layout();
    struct snapshot *snapshot = layout ? snapshot_new(layout) : NULL;
    const struct view facts = {.layout = layout,
                               .interval_ns = layout->plan->round_ns,
                               .version = "1",
                               .hostname = "fuzz",
                               .pmu = "p",
                               .cpu_vendor = "v",
                               .cpu_model = "m",
                               .cpu_microarchitecture = "n",
                               .profile = "default",
                               .replayed = true}; // never too old
    struct view *view = snapshot ? view_new(&facts) : NULL;
    if (!view)
        abort();
    snapshot->sequence = 1;
    return (struct http_published){view, snapshot};
}

static int dial_once(void) {
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    const struct linger reset = {.l_onoff = 1}; // leaves no port behind that waits
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) < 0 ||
        (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 && errno != EINTR))
        abort();
    return fd;
}

// A call that the fuzzer's own timer has interrupted is made anew.
static int dial(void) {
    errno = 0;
    int fd = dial_once();
    while (errno == EINTR) {
        close(fd);
        errno = 0;
        fd = dial_once();
    }
    return fd;
}

// False where the connection has ended, as it may after ten idle seconds.
static bool ask_other(void) {
    static const char request[] = "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char beginning[] = "HTTP/1.1 200 ", end[] = "is ready.\n";
    char answer[1024];
    size_t length = 0;
    if (send(other, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
        return false;
    while (length < sizeof end || memcmp(answer + length + 1 - sizeof end, end, sizeof end - 1) != 0) {
        ssize_t n = recv(other, answer + length, sizeof answer - length, 0);
        if (n < 0 && errno == EINTR)
            continue; // by the fuzzer's own timer
        if (n < 0 && errno != ECONNRESET)
            abort(); // it no longer answers
        if (n <= 0)
            return false;
        length += (size_t)n;
    }
    if (memcmp(answer, beginning, sizeof beginning - 1) != 0)
        abort();
    return true;
}

// Asks on a connection that stays open, and waits for the answer. The server has one thread, so it has looked at what
// was sent before.
static void check_other(void) {
    while (!ask_other()) {
        (void)close(other);
        other = dial();
    }
}

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments) {
    static const struct http_address any = {"127.0.0.1:0", "127.0.0.1", 0};
    struct http_published page = make_page();
    struct http_server *server;
    struct errors errors = {0};
    (void)n_arguments;
    (void)arguments;
    if (http_server_new(&any, 1, &server) < 0 || http_server_listen(server, 0, &any, &errors) < 0 ||
        http_server_start(server, &page, 1) < 0)
        abort();
    address = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_port = htons(http_server_port(server, 0)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    other = dial();
    check_other();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    static const char expected[] = "HTTP/1.";
    char answer[4096];
    size_t piece = data[0] % 4 == 0 ? size : size / PIECES + 1;
    int fd = dial();
    for (size_t at = 1; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (send(fd, data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
            break; // refused before its end
        check_other();
    }
    ssize_t n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    if (n > 0 && memcmp(answer, expected, (size_t)n < sizeof expected - 1 ? (size_t)n : sizeof expected - 1) != 0)
        abort();
    (void)close(fd);
    return 0;
}
