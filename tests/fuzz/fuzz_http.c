// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/spec/catalog_builder.h"
#include "exporters/http/http.h"

// Any bytes that a client sends to the server, at once or in pieces as the first byte says, get answers of HTTP or the
// end of the connection, and the server answers others meanwhile.
//
// The server never gets its thread and nobody connects to its port: connections are pairs of local sockets that are
// handed to the HTTP library, and this program runs the library between what it sends and what it reads. So a run needs
// no switch of threads, of which a request over TCP takes several. That thread and TCP are what e2e/test_connections.py
// is about.

enum { PIECES = 4, RUNS_MAX = 1000, ENDS_MAX = 16 };

typedef const union MHD_DaemonInfo *info_function(struct MHD_Daemon *daemon, enum MHD_DaemonInfoType what, ...);

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct MHD_Daemon *library; // the server's
static info_function *ask_library;
static int other; // a client's connection that stays open

// In the place of the library's, which the server calls when it begins to listen: it tells us the daemon.
const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon, enum MHD_DaemonInfoType what, ...) {
    library = daemon;
    if (!ask_library) {
        void *symbol = dlsym(RTLD_NEXT, "MHD_get_daemon_info");
        memcpy(&ask_library, &symbol, sizeof symbol); // ISO C has no cast from data to functions
    }
    return ask_library(daemon, what);
}

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

// ---- one client, and the server ----

// Lets the server do all that there is to do now.
static void run_server(void) {
    MHD_UNSIGNED_LONG_LONG left_ms;
    int n = 0;
    do {
        if (MHD_run(library) != MHD_YES || ++n > RUNS_MAX)
            abort(); // it has work for ever
    } while (MHD_get_timeout(library, &left_ms) == MHD_YES && left_ms == 0);
}

static unsigned count_connections(void) {
    return ask_library(library, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

static int dial(void) {
    const struct sockaddr_in client = {
        .sin_family = AF_INET, .sin_port = htons(40000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0 ||
        MHD_add_connection(library, ends[1], (const struct sockaddr *)&client, sizeof client) != MHD_YES)
        abort();
    return ends[0];
}

// Closes it, and waits until the server has noticed: it must keep nothing.
static void hang_up(int fd) {
    unsigned before = count_connections();
    (void)close(fd);
    for (int i = 0; i < ENDS_MAX && count_connections() >= before && before > 1; i++)
        run_server();
    if (before > 1 && count_connections() >= before)
        abort();
}

struct answer {
    char bytes[1024]; // its beginning
    size_t length;
};

// Sends bytes and takes in what is answered, all of it. False where the connection has ended.
static bool talk(int fd, const void *bytes, size_t n, struct answer *answer) {
    char more[16384];
    if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
        return false;
    for (;;) {
        run_server();
        ssize_t got = recv(fd, more, sizeof more, 0);
        if (got <= 0)
            return got < 0;
        size_t room = sizeof answer->bytes - answer->length, taken = (size_t)got < room ? (size_t)got : room;
        memcpy(answer->bytes + answer->length, more, taken);
        answer->length += taken;
    }
}

static void check_answer(const struct answer *answer, const char *beginning) {
    size_t n = strlen(beginning) < answer->length ? strlen(beginning) : answer->length;
    if (memcmp(answer->bytes, beginning, n) != 0)
        abort();
}

// Asks on a connection that stays open. The library ends it after ten idle seconds.
static void check_other(void) {
    static const char request[] = "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n\r\n", end[] = "is ready.\n";
    struct answer answer = {.length = 0};
    if (!talk(other, request, sizeof request - 1, &answer)) {
        (void)close(other);
        other = dial();
        answer.length = 0;
        if (!talk(other, request, sizeof request - 1, &answer))
            abort();
    }
    check_answer(&answer, "HTTP/1.1 200 ");
    if (answer.length < sizeof end || memcmp(answer.bytes + answer.length + 1 - sizeof end, end, sizeof end - 1) != 0)
        abort(); // it no longer answers
}

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments) {
    static const struct http_address any = {"127.0.0.1:0", "127.0.0.1", 0};
    struct http_published page = make_page();
    struct http_server *server;
    struct errors errors = {0};
    (void)n_arguments;
    (void)arguments;
    if (http_server_new(&any, 1, &server) < 0 || http_server_listen(server, 0, &any, &errors) < 0 || !library)
        abort();
    http_server_renew(server, &page, 1);
    http_server_publish(server, 0, &page);
    other = dial();
    check_other();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct answer answer = {.length = 0};
    if (size == 0)
        return 0;
    size_t piece = data[0] % 4 == 0 ? size : size / PIECES + 1;
    int fd = dial();
    for (size_t at = 1; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (!talk(fd, data + at, n, &answer))
            break; // refused before its end
        check_other();
    }
    check_answer(&answer, "HTTP/1.");
    hang_up(fd);
    return 0;
}
