// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "exporters/web/web_tls.h"

int http_connections_init(struct http_connections *connections, size_t n) {
    struct http_connection *slots = calloc(n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    *connections = (struct http_connections){.slots = slots, .n = n};
    return 0;
}

void http_connections_deinit(struct http_connections *connections) {
    free(connections->slots);
    *connections = (struct http_connections){0};
}

void http_connection_set(struct http_connection *connection, enum http_connection_state state, uint64_t now_ms) {
    bool goes_on = state == HTTP_ASKING && (connection->state == HTTP_READING || connection->state == HTTP_ASKING);
    if (connection->state == HTTP_ENDING)
        return;
    connection->state = state;
    if (!goes_on)
        connection->since_ms = now_ms;
}

void http_connection_reset_at_close(const struct http_connection *connection) {
    const struct linger none = {.l_onoff = 1};
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

static bool same_client(const struct http_client *a, const struct http_client *b) {
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_there(const struct http_connection *slot) { return slot->fd >= 0 && slot->state != HTTP_ENDING; }

// ---- who was answered lately ----

// NULL: it is not remembered.
static struct http_known *find_known(struct http_connections *connections, const struct http_client *client,
                                     uint64_t now_ms) {
    for (size_t i = 0; i < connections->n_known; i++) {
        struct http_known *known = &connections->known[i];
        if (same_client(&known->client, client))
            return now_ms < known->last_ms + HTTP_KNOWN_MS ? known : NULL;
    }
    return NULL;
}

// A place for a client that is not remembered: its own of long ago, a free one, that of one that has stayed away, or of
// the one that came last.
static struct http_known *place_of_known(struct http_connections *connections, const struct http_client *client,
                                         uint64_t now_ms) {
    struct http_known *last = NULL, *away = NULL;
    for (size_t i = 0; i < connections->n_known; i++) {
        struct http_known *known = &connections->known[i];
        if (same_client(&known->client, client))
            return known;
        if (now_ms >= known->last_ms + HTTP_KNOWN_MS)
            away = known;
        if (!last || known->first_ms >= last->first_ms)
            last = known;
    }
    if (connections->n_known < HTTP_KNOWN_MAX)
        return &connections->known[connections->n_known++];
    return away ? away : last;
}

void http_connections_remember(struct http_connections *connections, struct http_connection *connection,
                               uint64_t now_ms) {
    struct http_known *known = find_known(connections, &connection->client, now_ms);
    if (!known) {
        known = place_of_known(connections, &connection->client, now_ms);
        *known = (struct http_known){.client = connection->client, .first_ms = now_ms};
    }
    known->last_ms = now_ms;
    connection->known = true;
}

// ---- who gives way ----

// Counts a connection in or out where its client's others are counted. Returns how many others there are.
static size_t count_alike(struct http_connections *connections, const struct http_connection *one, bool comes) {
    size_t n = 0;
    for (size_t i = 0; connections && i < connections->n_used; i++) {
        struct http_connection *slot = &connections->slots[i];
        if (slot == one || !is_there(slot) || slot->listener != one->listener ||
            !same_client(&slot->client, &one->client))
            continue;
        slot->n_alike = comes ? slot->n_alike + 1 : slot->n_alike - 1;
        n++;
    }
    return n;
}

void http_connection_end(struct http_connection *connection) {
    http_connection_reset_at_close(connection);
    (void)shutdown(connection->fd, SHUT_RDWR); // the HTTP library sees the end and closes it
    if (connection->state != HTTP_ENDING)
        (void)count_alike(connection->all, connection, false);
    connection->state = HTTP_ENDING;
}

void http_connections_remove(struct http_connections *connections, struct http_connection *connection) {
    if (is_there(connection))
        (void)count_alike(connections, connection, false);
    connection->fd = -1;
}

// Of all places, so many eighths are kept for connections of each state.
static const size_t kept_eighths[] = {
    [HTTP_SILENT] = 3, [HTTP_READING] = 1, [HTTP_ASKING] = 2, [HTTP_ANSWERED] = 2, [HTTP_ENDING] = 0};

// The connections that share a number of places: all of the listener of `newest`, or only those of its client.
struct crowd {
    const struct http_connection *newest;
    bool of_client;
    size_t max;
    size_t n, by_state[HTTP_ENDING + 1];
};

static bool belongs(const struct crowd *crowd, const struct http_connection *slot) {
    return is_there(slot) && slot->listener == crowd->newest->listener &&
           (!crowd->of_client || same_client(&slot->client, &crowd->newest->client));
}

// How many connections its client has beyond those that nobody minds.
static size_t excess(const struct http_connection *slot) {
    size_t spared = slot->known ? HTTP_KNOWN_FREE : 0;
    return slot->n_alike > spared ? slot->n_alike - spared : 0;
}

static bool is_beyond(const struct crowd *crowd, const struct http_connection *slot) {
    return crowd->by_state[slot->state] * 8 > kept_eighths[slot->state] * crowd->max;
}

static bool gives_way_before(const struct crowd *crowd, const struct http_connection *a,
                             const struct http_connection *b) {
    if (excess(a) != excess(b))
        return excess(a) > excess(b);
    bool a_beyond = is_beyond(crowd, a), b_beyond = is_beyond(crowd, b);
    return a_beyond != b_beyond ? a_beyond : a->since_ms < b->since_ms;
}

// Ends one of the crowd, but not the newest, if they are more than there are places. max 0: there is no limit.
static void make_place(struct http_connections *connections, struct crowd crowd) {
    struct http_connection *first = NULL;
    for (size_t i = 0; i < connections->n_used; i++) {
        const struct http_connection *slot = &connections->slots[i];
        if (!belongs(&crowd, slot))
            continue;
        crowd.by_state[slot->state]++;
        crowd.n++;
    }
    if (crowd.max == 0 || crowd.n <= crowd.max)
        return;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *slot = &connections->slots[i];
        if (slot != crowd.newest && belongs(&crowd, slot) && (!first || gives_way_before(&crowd, slot, first)))
            first = slot;
    }
    if (first)
        http_connection_end(first);
}

static struct http_connection *find_free(struct http_connections *connections) {
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd < 0)
            return &connections->slots[i];
    return connections->n_used < connections->n ? &connections->slots[connections->n_used++] : NULL;
}

struct http_connection *http_connections_add(struct http_connections *connections, const struct http_arrival *arrival,
                                             uint64_t now_ms) {
    struct http_connection *slot = find_free(connections);
    if (!slot)
        return NULL;
    *slot = (struct http_connection){.all = connections,
                                     .fd = arrival->fd,
                                     .state = HTTP_SILENT,
                                     .listener = arrival->listener,
                                     .client = arrival->client,
                                     .known = find_known(connections, &arrival->client, now_ms) != NULL,
                                     .since_ms = now_ms};
    slot->n_alike = 1 + count_alike(connections, slot, true);
    make_place(connections, (struct crowd){.newest = slot, .of_client = true, .max = arrival->client_max});
    make_place(connections, (struct crowd){.newest = slot, .max = arrival->listener_max});
    return slot;
}

void http_connections_yield(struct http_connections *connections) {
    struct http_connection *first = NULL;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *slot = &connections->slots[i];
        if (slot->fd < 0)
            continue;
        if (slot->state == HTTP_ENDING)
            return; // its file descriptor is free soon
        bool asks = slot->state == HTTP_READING || slot->state == HTTP_ASKING;
        if (!asks && (!first || slot->since_ms < first->since_ms))
            first = slot;
    }
    if (first)
        http_connection_end(first);
}

bool http_connections_none(const struct http_connections *connections) {
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd >= 0)
            return false;
    return true;
}

// When it has had all of its time. A handshake may have ended since the last look.
static uint64_t end_of_time_ms(struct http_connection *connection, uint64_t now_ms, uint64_t limit_ms) {
    uint64_t own_ms = limit_ms;
    if (connection->state == HTTP_SILENT && connection->handshake && web_tls_established(connection->handshake)) {
        connection->handshake = NULL;
        connection->since_ms = now_ms;
    }
    if (connection->state == HTTP_SILENT)
        own_ms = connection->handshake ? HTTP_HANDSHAKE_MS_MAX : HTTP_SILENT_MS_MAX;
    return connection->since_ms + (own_ms < limit_ms ? own_ms : limit_ms);
}

int http_connections_expire(struct http_connections *connections, uint64_t now_ms, uint64_t limit_ms) {
    int next = -1;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *connection = &connections->slots[i];
        if (connection->fd < 0 || connection->state == HTTP_ENDING)
            continue;
        uint64_t end_ms = end_of_time_ms(connection, now_ms, limit_ms);
        if (now_ms >= end_ms)
            http_connection_end(connection);
        else if (next < 0 || end_ms - now_ms < (uint64_t)next)
            next = (int)(end_ms - now_ms);
    }
    return next;
}
