// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/listening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"

enum { RETRY_US_MIN = 1000000, RETRY_US_MAX = 10000000, RETRY_ACCURACY_US = 250000 };

struct listening {
    const struct config *config;
    struct http_server *server;
    sd_event_source *timer;
    uint64_t retry_us; // until the next attempt
    bool announced;
    struct awaited {
        bool here;                // it listens
        char why[ERROR_TEXT_MAX]; // "" before the first attempt; what has been logged
    } addresses[HTTP_ADDRESSES_MAX];
};

static void announce(const struct listening *listening, size_t i) {
    const char *address = listening->config->listen[i].address;
    bool ipv6 = strchr(address, ':') != NULL;
    unsigned port = http_server_port(listening->server, i);
    log_info("look at http://%s%s%s:%u/ or scrape http://%s%s%s:%u/metrics", ipv6 ? "[" : "", address, ipv6 ? "]" : "",
             port, ipv6 ? "[" : "", address, ipv6 ? "]" : "", port);
}

// Returns 0 if the address listens or is awaited, with *changed where that is news; else as http_server_listen.
static int try_address(struct listening *listening, size_t i, struct errors *errors, bool *changed) {
    const struct config_listen *listen = &listening->config->listen[i];
    struct awaited *address = &listening->addresses[i];
    struct errors found = {0};
    int r = http_server_listen(listening->server, i,
                               &(struct http_address){listen->text, listen->address, listen->port}, &found);
    const char *why = found.n > 0 ? found.items[0].text : "";
    if (r == 0) {
        address->here = *changed = true;
        if (listening->announced)
            announce(listening, i);
        return 0;
    }
    if (r != -EAGAIN && !listening->timer) // later it is only said: nothing ends a daemon that measures
        return errors_add(errors, NULL, 0, 0, "%s", why);
    if (strcmp(why, address->why) != 0) {
        *changed = true;
        (void)snprintf(address->why, sizeof address->why, "%s", why);
        log_warning("%s. topdownd measures without this address, and tries it again every few seconds", why);
    }
    return 0;
}

// Returns the number of addresses that are awaited, or a negative errno.
static int try_all(struct listening *listening, struct errors *errors) {
    bool changed = false;
    int awaited = 0;
    for (size_t i = 0; i < listening->config->n_listen; i++) {
        if (listening->addresses[i].here)
            continue;
        int r = try_address(listening, i, errors, &changed);
        if (r < 0)
            return r;
        awaited += !listening->addresses[i].here;
    }
    uint64_t later_us = listening->retry_us * 2 < RETRY_US_MAX ? listening->retry_us * 2 : RETRY_US_MAX;
    listening->retry_us = changed ? RETRY_US_MIN : later_us;
    return awaited;
}

static int on_retry(sd_event_source *timer, uint64_t due_us, void *context) {
    (void)due_us;
    struct listening *listening = context;
    struct errors errors = {0};
    if (try_all(listening, &errors) == 0)
        return 0;
    int r = sd_event_source_set_time_relative(timer, listening->retry_us);
    return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

static int start(struct listening *listening, sd_event *loop, struct errors *errors) {
    struct http_address addresses[HTTP_ADDRESSES_MAX] = {0};
    size_t n = listening->config->n_listen;
    for (size_t i = 0; i < n && i < HTTP_ADDRESSES_MAX; i++)
        addresses[i].address = listening->config->listen[i].address;
    int r = http_server_new(addresses, n, &listening->server);
    if (r == 0)
        r = try_all(listening, errors);
    if (r <= 0)
        return r;
    r = sd_event_add_time_relative(loop, &listening->timer, CLOCK_MONOTONIC, listening->retry_us, RETRY_ACCURACY_US,
                                   on_retry, listening);
    return r < 0 ? r : sd_event_source_set_exit_on_failure(listening->timer, true); // never stop trying silently
}

int listening_new(sd_event *loop, const struct config *config, struct errors *errors, struct listening **out) {
    struct listening *listening = calloc(1, sizeof *listening);
    if (!listening)
        return -ENOMEM;
    listening->config = config;
    listening->retry_us = RETRY_US_MIN;
    int r = start(listening, loop, errors);
    if (r < 0)
        listening_free(listening);
    else
        *out = listening;
    return r < 0 ? r : 0;
}

struct http_server *listening_server(const struct listening *listening) {
    return listening->server;
}

void listening_announce(struct listening *listening) {
    listening->announced = true;
    for (size_t i = 0; i < listening->config->n_listen; i++)
        if (listening->addresses[i].here)
            announce(listening, i);
}

void listening_describe(const struct listening *listening, char *text, size_t size) {
    const char *before = "; waiting for ";
    for (size_t i = 0; i < listening->config->n_listen; i++) {
        size_t length = strlen(text);
        if (listening->addresses[i].here)
            continue;
        (void)snprintf(text + length, size - length, "%s%s", before, listening->config->listen[i].text);
        before = ", ";
    }
}

struct listening *listening_free(struct listening *listening) {
    if (!listening)
        return NULL;
    sd_event_source_unref(listening->timer);
    http_server_free(listening->server);
    free(listening);
    return NULL;
}
