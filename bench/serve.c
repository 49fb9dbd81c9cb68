// SPDX-License-Identifier: Apache-2.0
//
// Measures what scrapes cost once a snapshot's page has been rendered and compressed: a page of 50,000 series, fetched
// again and again over the loopback, as text and as gzip. The peer in the same process is the HTTP library alone, with
// a body of the same bytes. Both take turns, the fastest fetch of each counts, and their ratio is limited. On a busy
// machine that takes more fetches.
//
// Then the history of a day on 64 CPUs: its memory is limited, and rendering /metrics must not take longer with it.
// Then the daemon with a simulated host of 1,024 CPUs and a page a second, for readers that take nothing of pages as
// large as that: what it and the kernel hold for them, over MemoryHigh of the unit.
//
// Last the daemon beside node_exporter, where that is installed: the CPU time that each spends on a scrape, as
// Prometheus asks for it. Limits hold in optimised builds only.

#include <arpa/inet.h>
#include <malloc.h>
#include <math.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/host/v2_host.h"
#include "bench/process/program.h"
#include "exporters/http/http_listen.h"
#include "exporters/http/http_render.h"

#define SERVE_RATIO_GOAL 1.3 // 1.0 to 1.1 is seen for text, 1.0 to 1.31 for gzip
#define SERVE_RATIO_MAX 1.5
#define RENDER_RATIO_MAX 1.15 // with a day's history, over without: the noise of the clock
#define HISTORY_BYTES_MAX (1 << 20)
#define EXPORTER_RATIO_MAX 1.0  // CPU time of a scrape, over node_exporter's
#define MEMORY_HIGH (128 << 20) // systemd/topdownd.service.in

enum { LARGE_CPUS = 800, SMALL_CPUS = 64, FETCHES = 60, FETCHES_MAX = 6000, WARM = 5, RENDERS = 300, SCRAPES = 100 };
enum { TURNS = 3, TURNS_MAX = 12 };
enum { READERS = 120, READERS_A_SECOND = 12, READER_SECONDS = 20 };
enum { ANSWER_MAX = 8 << 20, DAY_STEPS = 24 * 3600 / 10, EXPORTER_PORT = 19101 };

static const char ASKS_TEXT[] = "Accept-Encoding: identity\r\n", ASKS_GZIP[] = "Accept-Encoding: gzip\r\n";
static const char ASKS_AS_PROMETHEUS[] =
    "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n"
    "Accept-Encoding: gzip\r\n";

static const struct http_address LOOPBACK = {"127.0.0.1:0", "127.0.0.1", 0};

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench/serve: %s\n", what);
    exit(EXIT_FAILURE);
}

static bool report(const char *what, double value, double limit) {
    bool within = value <= limit;
    (void)printf("%s: %.3g (limit %.3g): %s\n", what, value, limit, within ? "ok" : "OVER THE LIMIT");
    return within;
}

// ---- a client that keeps its connection ----

struct client {
    int fd;
    char *answer;          // of the last fetch
    size_t header, length; // of that, with the header
};

static struct client client_new(uint16_t port) {
    struct client client = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .answer = malloc(ANSWER_MAX)};
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (!client.answer || connect(client.fd, (const struct sockaddr *)&address, sizeof address) < 0)
        give_up("no connection");
    return client;
}

static void client_free(struct client *client) {
    close(client->fd);
    free(client->answer);
}

// Whether the answer is whole with its first `got` bytes: by the length that it states, or by its last chunk.
static bool is_whole(struct client *client, size_t got) {
    static const char name[] = "Content-Length: ", last[] = "\r\n0\r\n\r\n";
    if (client->header == 0) {
        const char *end = strstr(client->answer, "\r\n\r\n"), *stated = strstr(client->answer, name);
        if (!end)
            return false;
        client->header = (size_t)(end + 4 - client->answer);
        client->length = stated && stated < end ? client->header + strtoul(stated + sizeof name - 1, NULL, 10) : 0;
    }
    if (client->length > 0)
        return got >= client->length;
    return got >= sizeof last - 1 && memcmp(client->answer + got - (sizeof last - 1), last, sizeof last - 1) == 0;
}

// Returns the seconds from the request to the last byte of the answer.
static double client_fetch(struct client *client, const char *path, const char *headers) {
    char request[512];
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
    double begin = bench_now();
    size_t got = 0;
    client->header = 0;
    if (send(client->fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        give_up("the connection has ended");
    do {
        ssize_t r = recv(client->fd, client->answer + got, ANSWER_MAX - 1 - got, 0);
        if (r <= 0)
            give_up("an answer is not whole");
        got += (size_t)r;
        client->answer[got] = '\0';
    } while (!is_whole(client, got));
    client->length = got;
    if (strncmp(client->answer, "HTTP/1.1 200 ", 13) != 0)
        give_up("a page is not there");
    return bench_now() - begin;
}

// ---- a page of 50,000 series, and the library's own speed ----

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_length, void **request) {
    static const char seen;
    (void)url, (void)method, (void)version, (void)body, (void)body_length;
    if (*request != &seen) { // an answer before the request's end ends the connection
        *request = (void *)(uintptr_t)&seen;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, context);
}

// The library alone, with one body.
struct peer {
    struct MHD_Response *response;
    struct MHD_Daemon *daemon;
    struct client client;
};

static struct peer peer_start(const char *body, size_t length) {
    struct errors errors = {0};
    struct peer peer = {.response =
                            MHD_create_response_from_buffer(length, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY)};
    int fd;
    uint16_t port;
    if (!peer.response || http_listen(&LOOPBACK, &errors, &fd, &port) < 0)
        give_up("the peer cannot be started");
    peer.daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, NULL, NULL, answer,
                                   peer.response, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END);
    if (!peer.daemon)
        give_up("the peer cannot be started");
    peer.client = client_new(port);
    return peer;
}

static void peer_stop(struct peer *peer) {
    client_free(&peer->client);
    MHD_stop_daemon(peer->daemon);
    MHD_destroy_response(peer->response);
}

static bool compare(struct client *client, const char *headers, const char *what) {
    double first = client_fetch(client, "/metrics/cpu", headers), ours = INFINITY, theirs = INFINITY;
    size_t length = client->length - client->header;
    struct peer peer = peer_start(client->answer + client->header, length);
    for (int i = 0; i < FETCHES_MAX && (i < FETCHES || ours > SERVE_RATIO_GOAL * theirs); i++) {
        double a = client_fetch(client, "/metrics/cpu", headers), b = client_fetch(&peer.client, "/", "");
        ours = i < WARM ? ours : fmin(ours, a);
        theirs = i < WARM ? theirs : fmin(theirs, b);
    }
    peer_stop(&peer);
    (void)printf(
        "%s of %zu bytes: first scrape of the snapshot %.2f ms, later ones %.3f ms, the library alone %.3f ms\n", what,
        length, first * 1e3, ours * 1e3, theirs * 1e3);
    (void)printf("  goal %.3g;", SERVE_RATIO_GOAL);
    return report(" later scrapes over the library alone", ours / theirs, SERVE_RATIO_MAX);
}

static size_t count_series(const struct client *client) {
    size_t n = 0;
    for (const char *p = client->answer + client->header; (p = strstr(p, "\ntopdownd_")); p++)
        n++;
    return n;
}

static bool measure_large_page(void) {
    struct v2_host host;
    struct errors errors = {0};
    struct http_server *server;
    v2_host_init(&host, LARGE_CPUS);
    struct snapshot *snapshot = v2_host_snapshot(&host);
    if (http_server_new(&LOOPBACK, 1, &server) < 0 || http_server_listen(server, 0, &LOOPBACK, &errors) < 0 ||
        http_server_start(server, &(struct http_published){&host.view, snapshot}, 1) < 0)
        give_up("the server cannot be started");
    struct client client = client_new(http_server_port(server, 0));
    (void)client_fetch(&client, "/metrics/cpu", ASKS_TEXT);
    (void)printf("a page of %zu series\n", count_series(&client));
    http_server_publish(server, 0, &(struct http_published){&host.view, snapshot});
    bool within = compare(&client, ASKS_TEXT, "text");
    http_server_publish(server, 0, &(struct http_published){&host.view, snapshot});
    within = compare(&client, ASKS_GZIP, "gzip") && within;
    client_free(&client);
    http_server_free(server);
    snapshot_unref(snapshot);
    v2_host_deinit(&host);
    return within;
}

// ---- history ----

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The least CPU time of rendering /metrics and compressing it.
static double time_render(struct http_renderer *renderer, const struct v2_host *host, struct snapshot *snapshot,
                          uint64_t *generation) {
    double least = INFINITY;
    struct http_publication publication = {.n = 1, .types = {{(struct view *)(uintptr_t)&host->view, snapshot}}};
    for (int i = 0; i < RENDERS; i++) {
        publication.generation = ++*generation;
        double begin = cpu_seconds();
        struct MHD_Response *response;
        if (http_render(renderer, HTTP_PAGE_METRICS, HTTP_GZIP, &publication, 0, &response) < 0)
            give_up("memory is short");
        least = fmin(least, cpu_seconds() - begin);
    }
    return least;
}

static size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static bool measure_history(void) {
    static struct shown_history history;
    static struct http_renderer renderer;
    struct v2_host host;
    uint64_t generation = 0;
    v2_host_init(&host, SMALL_CPUS);
    struct snapshot *snapshot = v2_host_snapshot(&host);
    snapshot->sequence = 1;
    shown_history_init(&history);
    renderer.history = &history;
    static struct shown_history none;
    static struct http_renderer plain;
    shown_history_init(&none);
    plain.history = &none;
    size_t bytes = allocated();
    for (uint64_t i = 1; i <= DAY_STEPS; i++) {
        snapshot->start_ns = snapshot->end_ns;
        snapshot->end_ns = i * HISTORY_FINE_NS;
        snapshot->sequence = i;
        shown_history_take(&history, 0, 1, &host.view, snapshot);
    }
    bytes = allocated() - bytes;
    double before = INFINITY, after = INFINITY;
    for (int i = 0; i < TURNS || (i < TURNS_MAX && after > RENDER_RATIO_MAX * before);
         i++) { // others may take the caches
        before = fmin(before, time_render(&plain, &host, snapshot, &generation));
        after = fmin(after, time_render(&renderer, &host, snapshot, &generation));
    }
    (void)printf("a snapshot's first scrape of /metrics, %d CPUs: %.3f ms of CPU time, with a day's history %.3f ms\n",
                 SMALL_CPUS, before * 1e3, after * 1e3);
    bool within = report("  with history over without", after / before, RENDER_RATIO_MAX);
    within = report("history of a day in KiB", (double)bytes / 1024, HISTORY_BYTES_MAX / 1024.0) && within;
    http_cache_deinit(&renderer.cache);
    http_cache_deinit(&plain.cache);
    shown_history_deinit(&history);
    shown_history_deinit(&none);
    snapshot_unref(snapshot);
    v2_host_deinit(&host);
    return within;
}

// ---- the daemon ----

// CPU seconds of a scrape, without what the program does meanwhile anyway.
static double scrape_cost(const struct program *program, size_t *bytes) {
    struct client client = client_new(program->port);
    (void)client_fetch(&client, "/metrics", ASKS_AS_PROMETHEUS);
    double begin = bench_now(), cpu = program_cpu_seconds(program);
    for (int i = 0; i < SCRAPES; i++)
        (void)client_fetch(&client, "/metrics", ASKS_AS_PROMETHEUS);
    double seconds = bench_now() - begin, with = program_cpu_seconds(program) - cpu;
    *bytes = client.length - client.header;
    client_free(&client);
    cpu = program_cpu_seconds(program);
    bench_sleep_until(bench_now() + 2);
    double idle = (program_cpu_seconds(program) - cpu) / 2 * seconds;
    return (with - idle) / SCRAPES;
}

// ---- slow readers ----

// Starts the daemon with this configuration and host.
static struct program start_daemon(const char *daemon, const char *text, const char *pmu) {
    char config[] = "/tmp/bench_serve.XXXXXX";
    int fd = mkstemp(config);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        give_up("no file");
    close(fd);
    struct program program = program_start(
        "topdownd", 0, (const char *const[]){daemon, "--path.data", ".", "--config", config, "--pmu", pmu, NULL});
    bench_sleep_until(bench_now() + 4);
    (void)unlink(config);
    return program;
}

// Asks for a page, of which it reads nothing. The pages and codings take turns.
static int ask(uint16_t port, int number) {
    static const char *const pages[] = {"/metrics/cpu", "/api/v1/snapshot?scope=cpu", "/api/v1/topdown?scope=cpu"};
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    char request[256];
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", pages[number % 3],
                     number / 3 % 2 == 0 ? ASKS_TEXT : ASKS_GZIP);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        give_up("no connection");
    return fd;
}

// PSS in bytes.
static double memory_of(const struct program *program) {
    char path[64], line[256];
    double kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)program->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lf", &kib) == 1)
            break;
    if (!file)
        give_up("the daemon has ended");
    fclose(file);
    return kib * 1024;
}

// Bytes in the send queues of the connections that came to the port.
static double queued_at(uint16_t port) {
    unsigned local, queued;
    char line[256];
    double bytes = 0;
    FILE *file = fopen("/proc/net/tcp", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %*d: %*8x:%x %*8x:%*x %*x %x:", &local, &queued) == 2 && local == port)
            bytes += queued;
    if (file)
        fclose(file);
    return bytes;
}

static bool is_open(int fd) {
    struct pollfd state = {.fd = fd};
    return poll(&state, 1, 0) == 0;
}

// All readers stay until they are reset; then others come.
static bool measure_slow_readers(const char *daemon) {
    struct program program =
        start_daemon(daemon, "listen: [\"127.0.0.1:0\"]\ninterval: 1s\n", "sim:tests/data/scenarios/large.json");
    int readers[READERS], n = 0, asked = 0, ended = 0;
    double most = 0, most_queued = 0, begin = bench_now();
    for (int tick = 1; tick <= READER_SECONDS * READERS_A_SECOND; tick++) {
        if (n < READERS)
            readers[n++] = ask(program.port, asked++);
        bench_sleep_until(begin + (double)tick / READERS_A_SECOND);
        double queued = queued_at(program.port);
        most = fmax(most, memory_of(&program) + queued);
        most_queued = fmax(most_queued, queued);
        for (int i = 0; i < n; i++)
            if (!is_open(readers[i])) {
                close(readers[i]);
                readers[i--] = readers[--n];
                ended++;
            }
    }
    while (n > 0)
        close(readers[--n]);
    program_stop(&program);
    (void)printf(
        "%d slow readers of pages of 1,024 CPUs, a page a second: %d reset, %.1f MiB at most, %.1f MiB of it in "
        "send queues\n",
        asked, ended, most / (1 << 20), most_queued / (1 << 20));
    return report("  memory over MemoryHigh of the unit", most / MEMORY_HIGH, 1);
}

// ---- beside node_exporter ----

static bool measure_programs(const char *daemon) {
    if (system("command -v prometheus-node-exporter >/dev/null") != 0) {
        (void)printf("without node_exporter: it is not installed here\n");
        return true;
    }
    static const char listen[] = "--web.listen-address=127.0.0.1:19101";
    struct program ours = start_daemon(daemon, "listen: [\"127.0.0.1:0\"]\n", "sim");
    struct program theirs =
        program_start("node_exporter", EXPORTER_PORT, (const char *const[]){"prometheus-node-exporter", listen, NULL});
    bench_sleep_until(bench_now() + 4);
    size_t our_bytes, their_bytes;
    double our_cost = scrape_cost(&ours, &our_bytes), their_cost = scrape_cost(&theirs, &their_bytes);
    program_stop(&ours);
    program_stop(&theirs);
    (void)printf("CPU time of a scrape: topdownd %.3f ms for %zu bytes, node_exporter %.3f ms for %zu bytes\n",
                 our_cost * 1e3, our_bytes, their_cost * 1e3, their_bytes);
    return report("  topdownd over node_exporter", our_cost / their_cost, EXPORTER_RATIO_MAX);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_serve DAEMON\n");
        return 2;
    }
    bool within = measure_large_page();
    within = measure_history() && within;
    within = measure_slow_readers(argv[1]) && within;
    within = measure_programs(argv[1]) && within;
#ifdef __OPTIMIZE__
    const bool limited = true;
#else
    const bool limited = false;
#endif
    return limited && !within;
}
