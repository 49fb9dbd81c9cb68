// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/base/spawn.h"
#include "daemon/bundle/bundle_parts.h"

enum { PAGE_BYTES_MAX = 16 << 20, CHUNK = 64 << 10, PATIENCE_S = 10 };

static const struct {
    const char *path, *name, *why;
} PAGES[] = {
    {"/api/v1/status", "daemon/status.json", "the running daemon, its PMU and configuration"},
    {"/api/v1/plan", "daemon/plan.json", "what it measures, and what it cannot"},
    {"/api/v1/snapshot?scope=host", "daemon/snapshot.json", "its last values"},
    {"/api/v1/topdown", "daemon/topdown.json", "its verdict"},
    {"/api/v1/memory", "daemon/memory.json", "what the kernel counts of memory"},
    {"/api/v1/catalog", "daemon/catalog.json", "all metrics of its spec"},
    {"/metrics", "daemon/metrics.txt", "what Prometheus reads"},
};

static int connect_to(const struct config_listen *listen) {
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct addrinfo *found;
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)listen->port);
    if (getaddrinfo(listen->address, port, &hints, &found) != 0) // 0.0.0.0 and :: lead to this host
        return -EADDRNOTAVAIL;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = fd < 0 ? -errno : 0;
    if (r == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (r == 0 && connect(fd, found->ai_addr, found->ai_addrlen) < 0)
        r = -errno;
    freeaddrinfo(found);
    if (r < 0 && fd >= 0)
        (void)close(fd);
    return r < 0 ? r : fd;
}

// Asks for a page. Returns the status and the answer with its headers, or a negative errno.
static int fetch(const struct config_listen *listen, const char *path, struct text *out) {
    char request[256];
    int fd = connect_to(listen), status = -EPROTO;
    if (fd < 0)
        return fd;
    int length =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    ssize_t n = send(fd, request, (size_t)length, MSG_NOSIGNAL);
    while (n > 0 && out->length < PAGE_BYTES_MAX) {
        char *room = text_room(out, CHUNK);
        n = room ? recv(fd, room, CHUNK, 0) : -1;
        out->length += n > 0 ? (size_t)n : 0;
    }
    (void)close(fd);
    text_append(out, "", 1);
    if (out->failed)
        return -ENOMEM;
    out->length--;
    return sscanf(out->data, "HTTP/1.1 %d ", &status) == 1 ? status : -EPROTO;
}

static void add_page(struct bundle *bundle, size_t i) {
    const struct config *config = bundle->request->setup->config;
    char why_not[128] = "the configuration names no address";
    for (size_t k = 0; k < config->n_listen; k++) {
        struct text answer = {0}, body = {0};
        int status = fetch(&config->listen[k], PAGES[i].path, &answer);
        const char *end = status == 200 ? strstr(answer.data, "\r\n\r\n") : NULL;
        if (end)
            text_append(&body, end + 4, answer.length - (size_t)(end + 4 - answer.data));
        text_free(&answer);
        if (end) {
            bundle_add_text(bundle, PAGES[i].name, PAGES[i].why, &body);
            return;
        }
        (void)snprintf(why_not, sizeof why_not, "%s",
                       status == 401       ? "the server asks for a password"
                       : status == -EPROTO ? "the server does not speak plain HTTP (TLS?)"
                       : status < 0        ? strerror(-status)
                                           : "the server refuses it");
    }
    bundle_miss(bundle, PAGES[i].name, why_not);
}

static void add_log(struct bundle *bundle) {
    static const char *const command[] = {"journalctl", "--unit",    "topdownd",      "--lines",    "300",
                                          "--output",   "short-iso", "--no-hostname", "--no-pager", "--quiet"};
    struct spawn_words words = {.n = 0};
    struct text text = {0};
    for (size_t i = 0; i < sizeof command / sizeof *command; i++)
        spawn_word(&words, command[i]);
    int r = spawn_run(&words, PATIENCE_S, &text);
    if (r == 0 && text.length > 0) {
        bundle_add_text(bundle, "daemon/journal.txt", "the last lines of the service's log", &text);
        return;
    }
    text_free(&text);
    bundle_miss(bundle, "daemon/journal.txt",
                r == 0         ? "the journal has no lines of topdownd.service"
                : r == -ENOENT ? "there is no journalctl"
                               : "journalctl failed: run this command as root");
}

void bundle_add_daemon(struct bundle *bundle) {
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++)
        if (bundle->request->daemon > 0)
            add_page(bundle, i);
        else
            bundle_miss(bundle, PAGES[i].name, "topdownd is not running");
    if (!bundle->request->setup->types[0].source->simulated)
        add_log(bundle);
}
