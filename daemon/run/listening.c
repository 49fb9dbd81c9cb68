// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/listening.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/engine/engines.h"
#include "daemon/run/protection.h"

enum { RETRY_US_MIN = 1000000, RETRY_US_MAX = 10000000, RETRY_ACCURACY_US = 250000, CHANGED_US = 50000, HOST_MAX = 80 };

#define MEASURES_WITHOUT "%s. topdownd measures without this address, and tries it again every few seconds"

// An address of the configuration; the one of probes has the place HTTP_PROBE.
struct awaited {
    struct http_address at;   // its texts are owned
    size_t place;             // its number at the server
    bool here;                // it listens
    bool both;                // systemd's [::], which stands for 0.0.0.0 as well
    char why[ERROR_TEXT_MAX]; // "" before the first attempt; what has been logged
};

struct listening {
    sd_event *loop;
    struct http_server *server;
    sd_event_source *timer; // NULL: nothing has ever been awaited
    uint64_t retry_us;      // until the next attempt
    bool announced;
    bool inherited; // the addresses are those of systemd's sockets
    bool tls;
    struct awaited addresses[HTTP_PLACES_MAX];
    size_t n;
};

static bool is_probe(const struct awaited *address) { return address->place == HTTP_PROBE; }
static bool is_path(const struct awaited *address) { return *address->at.address == '/'; }

// ---- an address ----

static void announce(const struct listening *listening, const struct awaited *address) {
    const char *text = address->at.address;
    bool ipv6 = strchr(text, ':') != NULL;
    unsigned port = http_server_port(listening->server, address->place);
    char where[HOST_MAX];
    if (is_path(address)) {
        log_info("probe %s for /-/healthy and /-/ready", text);
        return;
    }
    if (is_probe(address)) {
        log_info("probe http://%s%s%s:%u/-/ready", ipv6 ? "[" : "", text, ipv6 ? "]" : "", port);
        return;
    }
    (void)snprintf(where, sizeof where, "%s://%s%s%s:%u", listening->tls ? "https" : "http", ipv6 ? "[" : "", text,
                   ipv6 ? "]" : "", port);
    log_info("look at %s/ or scrape %s/metrics", where, where);
}

static void awaited_deinit(struct awaited *address) {
    if (address->here && is_path(address))
        (void)unlink(address->at.address);
    free((char *)(uintptr_t)address->at.address);
    free((char *)(uintptr_t)address->at.text);
}

static int awaited_init(struct awaited *address, const char *text, const char *number, uint16_t port, size_t place) {
    *address = (struct awaited){.at = {strdup(text), strdup(number), port}, .place = place};
    if (address->at.text && address->at.address)
        return 0;
    awaited_deinit(address);
    return -ENOMEM;
}

// Returns 0 if the address listens or is awaited, with *changed where that is news; else as http_server_listen.
static int try_address(struct listening *listening, struct awaited *address, bool first, struct errors *errors,
                       bool *changed) {
    struct errors found = {0};
    if (!http_server_is_free(listening->server, address->place))
        return 0; // requests of the address before it are under way
    int r = http_server_listen(listening->server, address->place, &address->at, &found);
    const char *why = found.n > 0 ? found.items[0].text : "";
    if (r == 0) {
        address->here = *changed = true;
        if (listening->announced)
            announce(listening, address);
        return 0;
    }
    errors->passing = errors->passing || found.passing;
    if (r != -EAGAIN && first) // later it is only said: nothing ends a daemon that measures
        return errors_add(errors, NULL, 0, 0, "%s", why);
    if (strcmp(why, address->why) != 0) {
        *changed = true;
        (void)snprintf(address->why, sizeof address->why, "%s", why);
        log_warning(MEASURES_WITHOUT, why);
    }
    return 0;
}

// ---- all of them ----

// Returns the number of addresses that are awaited.
static int try_awaited(struct listening *listening) {
    bool changed = false;
    int awaited = 0;
    struct errors errors = {0};
    for (size_t i = 0; i < listening->n; i++) {
        struct awaited *address = &listening->addresses[i];
        if (!address->here)
            (void)try_address(listening, address, false, &errors, &changed);
        awaited += !address->here;
    }
    uint64_t later_us = listening->retry_us * 2 < RETRY_US_MAX ? listening->retry_us * 2 : RETRY_US_MAX;
    listening->retry_us = changed ? RETRY_US_MIN : later_us;
    return awaited;
}

static int on_retry(sd_event_source *timer, uint64_t due_us, void *context) {
    (void)due_us;
    struct listening *listening = context;
    if (try_awaited(listening) == 0)
        return 0;
    int r = sd_event_source_set_time_relative(timer, listening->retry_us);
    return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

// Tries what is awaited after so long from now: the loop's own time may be that of an event long ago.
static int await(struct listening *listening, uint64_t after_us) {
    uint64_t due_us = clocks_now_ns() / 1000 + after_us;
    bool all = true;
    for (size_t i = 0; i < listening->n; i++)
        all = all && listening->addresses[i].here;
    if (all)
        return 0;
    if (listening->timer) {
        int r = sd_event_source_set_time(listening->timer, due_us);
        return r < 0 ? r : sd_event_source_set_enabled(listening->timer, SD_EVENT_ONESHOT);
    }
    int r = sd_event_add_time(listening->loop, &listening->timer, CLOCK_MONOTONIC, due_us, RETRY_ACCURACY_US, on_retry,
                              listening);
    return r < 0 ? r : sd_event_source_set_exit_on_failure(listening->timer, true); // never stop trying silently
}

static void drop(struct listening *listening, size_t i) {
    if (listening->addresses[i].here)
        http_server_close(listening->server, listening->addresses[i].place);
    awaited_deinit(&listening->addresses[i]);
    memmove(&listening->addresses[i], &listening->addresses[i + 1],
            (--listening->n - i) * sizeof *listening->addresses);
}

static bool is_named(const struct config *config, const struct awaited *address) {
    const struct config_listen *probe = &config->probe;
    if (is_probe(address))
        return probe->text && strcmp(probe->address, address->at.address) == 0 && probe->port == address->at.port;
    for (size_t i = 0; i < config->n_listen; i++)
        if (strcmp(config->listen[i].address, address->at.address) == 0 && config->listen[i].port == address->at.port)
            return true;
    return false;
}

static bool is_known(const struct listening *listening, const struct config_listen *listen) {
    for (size_t i = 0; i < listening->n; i++)
        if (!is_probe(&listening->addresses[i]) && strcmp(listen->address, listening->addresses[i].at.address) == 0 &&
            listen->port == listening->addresses[i].at.port)
            return true;
    return false;
}

static int add(struct listening *listening, const struct config_listen *listen, struct errors *errors) {
    bool used[HTTP_PLACES_MAX] = {0}, changed;
    for (size_t i = 0; i < listening->n; i++)
        used[listening->addresses[i].place] = true;
    int place = http_server_place(listening->server, used);
    if (place < 0 || listening->n == HTTP_PLACES_MAX)
        return errors_add(errors, NULL, 0, 0,
                          "listen: there are %d addresses at most, with those that it replaces: change a part first",
                          HTTP_ADDRESSES_MAX);
    struct awaited *address = &listening->addresses[listening->n];
    int r = awaited_init(address, listen->text, listen->address, listen->port, (size_t)place);
    if (r < 0)
        return r;
    r = try_address(listening, address, true, errors, &changed);
    if (r < 0)
        awaited_deinit(address);
    else
        listening->n++;
    return r;
}

// Adds the addresses that are new. Where one is refused, those that were added before it go again.
static int add_new(struct listening *listening, const struct config *config, struct errors *errors) {
    size_t before = listening->n;
    int r = 0;
    for (size_t i = 0; i < config->n_listen && r >= 0; i++)
        if (!is_known(listening, &config->listen[i]))
            r = add(listening, &config->listen[i], errors);
    while (r < 0 && listening->n > before)
        drop(listening, listening->n - 1);
    return r;
}

// Serves probes where the configuration says so now. `first`: a daemon begins, and an address that it may not have ends
// it.
static int change_probe(struct listening *listening, const struct config *config, bool first, struct errors *errors) {
    const struct config_listen *probe = &config->probe;
    bool changed;
    for (size_t i = listening->n; i-- > 0;) {
        if (!is_probe(&listening->addresses[i]))
            continue;
        if (is_named(config, &listening->addresses[i]))
            return 0;
        drop(listening, i);
    }
    if (!probe->text || listening->n == HTTP_PLACES_MAX)
        return 0;
    struct awaited *address = &listening->addresses[listening->n];
    int r = awaited_init(address, probe->text, probe->address, probe->port, HTTP_PROBE);
    if (r < 0)
        return r;
    r = try_address(listening, address, first, errors, &changed);
    if (r < 0)
        awaited_deinit(address);
    else
        listening->n++;
    return r;
}

// Makes the server for the addresses.
static int make_server(struct listening *listening, const struct http_address *addresses, size_t n,
                       const struct listening_request *request, struct errors *errors) {
    int r = http_server_new(addresses, n, &listening->server);
    listening->tls = request->web && request->web->tls;
    return r == 0 && request->web ? protection_apply(listening->server, request->web, errors) : r;
}

static size_t take_configured(const struct config *config, struct http_address addresses[HTTP_ADDRESSES_MAX]) {
    size_t n = config->n_listen < HTTP_ADDRESSES_MAX ? config->n_listen : HTTP_ADDRESSES_MAX;
    for (size_t i = 0; i < n; i++)
        addresses[i] = (struct http_address){.address = config->listen[i].address};
    return n;
}

// ---- sockets of systemd ----

static bool takes_both(const struct inherited_socket *from) {
    int only_ipv6 = 1;
    socklen_t size = sizeof only_ipv6;
    return strcmp(from->address, "::") == 0 &&
           getsockopt(from->fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, &size) == 0 && !only_ipv6;
}

static int adopt(struct listening *listening, const struct inherited_socket *from, struct errors *errors) {
    struct awaited *address = &listening->addresses[listening->n];
    int r = awaited_init(address, from->text, from->address, from->port, listening->n);
    if (r < 0)
        return r;
    listening->n++;
    address->here = true;
    address->both = takes_both(from);
    return http_server_adopt(listening->server, address->place, &address->at, from->fd, errors);
}

static int adopt_all(struct listening *listening, const struct listening_request *request, struct errors *errors) {
    const struct inherited *inherited = request->inherited;
    struct http_address addresses[HTTP_ADDRESSES_MAX] = {0};
    for (size_t i = 0; i < inherited->n; i++)
        addresses[i].address = inherited->sockets[i].address;
    int r = make_server(listening, addresses, inherited->n, request, errors);
    for (size_t i = 0; i < inherited->n && r == 0; i++)
        r = adopt(listening, &inherited->sockets[i], errors);
    listening->inherited = true;
    return r == -EAGAIN ? -EINVAL : r; // nobody tries these again
}

// ---- of a configuration ----

static int listen_to(struct listening *listening, const struct listening_request *request, struct errors *errors) {
    struct http_address addresses[HTTP_ADDRESSES_MAX] = {0};
    int r = make_server(listening, addresses, take_configured(request->config, addresses), request, errors);
    return r == 0 ? add_new(listening, request->config, errors) : r;
}

int listening_new(sd_event *loop, const struct listening_request *request, struct errors *errors,
                  struct listening **out) {
    struct listening *listening = calloc(1, sizeof *listening);
    if (!listening)
        return -ENOMEM;
    listening->loop = loop;
    listening->retry_us = RETRY_US_MIN;
    int r = request->inherited->n > 0 ? adopt_all(listening, request, errors) : listen_to(listening, request, errors);
    if (r >= 0)
        r = change_probe(listening, request->config, true, errors);
    if (r >= 0)
        r = await(listening, RETRY_US_MIN);
    if (r < 0)
        listening_free(listening);
    else
        *out = listening;
    return r < 0 ? r : 0;
}

int listening_change(struct listening *listening, const struct config *config, struct errors *errors) {
    int r = listening->inherited ? 0 : add_new(listening, config, errors);
    if (r < 0)
        return r;
    for (size_t i = listening->n; i-- > 0 && !listening->inherited;)
        if (!is_probe(&listening->addresses[i]) && !is_named(config, &listening->addresses[i]))
            drop(listening, i);
    listening->retry_us = RETRY_US_MIN;
    r = change_probe(listening, config, false, errors);
    if (r < 0)
        return r;
    r = await(listening, CHANGED_US); // what an address before it held is free soon
    return r < 0 ? r : 0;
}

struct http_server *listening_server(const struct listening *listening) {
    return listening->server;
}

bool listening_cpus_read(void *listening) { return http_server_cpus_read(((struct listening *)listening)->server); }

void listening_announce(struct listening *listening) {
    listening->announced = true;
    for (size_t i = 0; i < listening->n; i++)
        if (listening->addresses[i].here)
            announce(listening, &listening->addresses[i]);
}

// What crosses a network that should not, and its remedy; NULL: nothing. One address is enough.
static const char *find_unwise(const struct listening *listening, const struct web *web, bool passwords_alone,
                               char *text, size_t size) {
    for (size_t i = 0; i < listening->n; i++) {
        const struct http_address *at = &listening->addresses[i].at;
        if (is_probe(&listening->addresses[i]))
            continue;
        if (!passwords_alone && protection_describe(web, at, text, size))
            return protection_remedy;
        if (protection_describe_passwords(web, at, text, size))
            return protection_passwords_remedy;
    }
    return NULL;
}

void listening_warn(const struct listening *listening, const struct web *web) {
    char text[ERROR_TEXT_MAX];
    const char *remedy = find_unwise(listening, web, false, text, sizeof text);
    if (remedy)
        log_warning("%s: %s", text, remedy);
}

void listening_describe(const struct listening *listening, char *text, size_t size) {
    const char *before = "; waiting for ";
    for (size_t i = 0; i < listening->n; i++) {
        size_t length = strlen(text);
        if (listening->addresses[i].here)
            continue;
        (void)snprintf(text + length, size - length, "%s%s", before, listening->addresses[i].at.text);
        before = ", ";
    }
}

void listening_warn_of_awaited(const struct listening *listening, struct errors *warnings) {
    size_t n = 0, n_here = 0;
    for (size_t i = 0; i < listening->n; i++) {
        const struct awaited *address = &listening->addresses[i];
        n += !is_probe(address);
        n_here += !is_probe(address) && address->here;
        if (!address->here && *address->why != '\0')
            (void)errors_add(warnings, NULL, 0, 0, MEASURES_WITHOUT, address->why);
    }
    if (n_here == 0 && n > 0)
        (void)errors_add(warnings, NULL, 0, 0, "topdownd listens to no address now");
}

void listening_tell(const struct listening *listening, const struct protection *protection, struct text *out) {
    char text[ERROR_TEXT_MAX];
    const char *remedy = find_unwise(listening, protection_web(protection), true, text, sizeof text);
    protection_tell(protection, out);
    if (remedy)
        engines_tell_trouble("password_without_tls", text, remedy, out);
    for (size_t i = 0; i < listening->n; i++) {
        const struct awaited *address = &listening->addresses[i];
        unsigned port = http_server_port(listening->server, address->place);
        if (is_probe(address) && address->here)
            text_format(out, "probed %s %u\n", address->at.address, port);
        else if (address->here)
            text_format(out, "listens %s %u\n", address->at.address, port);
        else
            text_format(out, "awaits %s %u %s\n", address->at.address, (unsigned)address->at.port, address->why);
        if (address->both)
            text_format(out, "listens 0.0.0.0 %u\n", port);
    }
}

struct listening *listening_free(struct listening *listening) {
    if (!listening)
        return NULL;
    sd_event_source_unref(listening->timer);
    http_server_free(listening->server);
    while (listening->n > 0)
        awaited_deinit(&listening->addresses[--listening->n]);
    free(listening);
    return NULL;
}
