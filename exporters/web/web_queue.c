// SPDX-License-Identifier: Apache-2.0
#include "exporters/web/web_queue.h"

#include <string.h>

#include "core/base/random.h"

// Standings: of a client that was refused often; of one that nobody knows, 0; the best and the worst after a wrong
// guess.
enum { NEAREST = -4, GUESSED = 1, FARTHEST = 64, PREFIX_BYTES = 8, MAPPED_AT = 12, IPV4_BYTES = 4 };

void web_queue_init(struct web_queue *queue, uint64_t seed) { *queue = (struct web_queue){.random = seed}; }

// ---- clients ----

// The first half of an address: all of an IPv4 one, also where a socket of both kinds has it as ::ffff:192.0.2.1.
static uint64_t prefix_of(const uint8_t address[WEB_CLIENT_BYTES]) {
    static const uint8_t mapped[MAPPED_AT] = {[10] = 0xff, [11] = 0xff};
    uint64_t prefix = 0;
    if (memcmp(address, mapped, MAPPED_AT) == 0)
        memcpy(&prefix, address + MAPPED_AT, IPV4_BYTES);
    else
        memcpy(&prefix, address, PREFIX_BYTES);
    return prefix;
}

// A new client takes the place of one that waits for nothing: there are more of those than places.
static size_t find_client(struct web_queue *queue, uint64_t prefix) {
    size_t begin = random_below(&queue->random, WEB_QUEUE_CLIENTS_MAX), unused = WEB_QUEUE_CLIENTS_MAX;
    for (size_t k = 0; k < WEB_QUEUE_CLIENTS_MAX; k++) {
        size_t i = (begin + k) % WEB_QUEUE_CLIENTS_MAX;
        const struct web_queue_client *client = &queue->clients[i];
        if (client->known && client->prefix == prefix)
            return i;
        bool better = unused == WEB_QUEUE_CLIENTS_MAX || (queue->clients[unused].known && !client->known);
        if (client->n_waiting == 0 && better)
            unused = i;
    }
    queue->clients[unused] = (struct web_queue_client){.prefix = prefix, .known = true};
    return unused;
}

static struct web_queue_name *name_of(struct web_queue *queue, const struct web_queue_place *place) {
    return &queue->clients[place->client].names[place->name];
}

static void leave(struct web_queue *queue, struct web_queue_place *place) {
    queue->clients[place->client].n_waiting--;
    name_of(queue, place)->n_waiting--;
    *place = (struct web_queue_place){.waits = false};
}

static void refuse(struct web_queue *queue, struct web_queue_place *place, uint64_t now_ms) {
    struct web_queue_client *client = &queue->clients[place->client];
    leave(queue, place);
    if (client->n_waiting > 0 || now_ms < client->nearer_ms)
        return;
    client->nearer_ms = now_ms + WEB_QUEUE_WAIT_MS;
    client->standing -= client->standing > (client->guessed ? GUESSED : NEAREST);
}

// ---- who is refused ----

// Whether a place's client, or else its name, has a greater part in the crowd than another's: positive, negative, or 0
// where both have the same.
static int compare_burden(const struct web_queue *queue, const struct web_queue_place *a,
                          const struct web_queue_place *b) {
    const struct web_queue_client *ca = &queue->clients[a->client], *cb = &queue->clients[b->client];
    if (ca->n_waiting != cb->n_waiting)
        return ca->n_waiting > cb->n_waiting ? 1 : -1;
    if (ca->standing != cb->standing)
        return ca->standing - cb->standing;
    const struct web_queue_name *na = &ca->names[a->name], *nb = &cb->names[b->name];
    return na->n_waiting != nb->n_waiting ? na->n_waiting - nb->n_waiting : na->guesses - nb->guesses;
}

// A random one of the questions whose clients burden the queue most, or of one client's.
static int choose_refused(struct web_queue *queue, const struct web_queue_client *only) {
    int chosen = -1;
    size_t n = 0;
    for (size_t i = 0; i < WEB_QUEUE_PLACES; i++) {
        const struct web_queue_place *place = &queue->places[i];
        if (!place->waits || place->computed || (only && &queue->clients[place->client] != only))
            continue;
        int worse = chosen < 0 ? 1 : compare_burden(queue, place, &queue->places[chosen]);
        n = worse > 0 ? 1 : n + (worse == 0);
        if (worse > 0 || (worse == 0 && random_below(&queue->random, n) == 0))
            chosen = (int)i;
    }
    return chosen;
}

int web_queue_add(struct web_queue *queue, size_t place, const struct web_queue_asker *asker, uint64_t now_ms) {
    size_t i = find_client(queue, prefix_of(asker->address)), n = 0;
    struct web_queue_client *client = &queue->clients[i];
    queue->places[place] = (struct web_queue_place){.waits = true,
                                                    .client = i,
                                                    .name = asker->name,
                                                    .number = queue->n_questions++,
                                                    .end_ms = now_ms + WEB_QUEUE_WAIT_MS};
    client->n_waiting++;
    client->names[asker->name].n_waiting++;
    for (size_t k = 0; k < WEB_QUEUE_PLACES; k++)
        n += queue->places[k].waits;
    if (n <= WEB_QUEUE_MAX && client->n_waiting <= WEB_QUEUE_CLIENT_MAX)
        return -1;
    int refused = choose_refused(queue, client->n_waiting > WEB_QUEUE_CLIENT_MAX ? client : NULL);
    refuse(queue, &queue->places[refused], now_ms);
    return refused;
}

// ---- whose turn it is ----

static bool comes_before(const struct web_queue *queue, const struct web_queue_place *a,
                         const struct web_queue_place *b) {
    const struct web_queue_client *ca = &queue->clients[a->client], *cb = &queue->clients[b->client];
    if (ca->standing != cb->standing)
        return ca->standing < cb->standing;
    if (ca->tried != cb->tried)
        return ca->tried < cb->tried;
    unsigned guesses_a = ca->names[a->name].guesses, guesses_b = cb->names[b->name].guesses;
    return guesses_a != guesses_b ? guesses_a < guesses_b : a->number < b->number;
}

int web_queue_take(struct web_queue *queue) {
    int next = -1;
    for (size_t i = 0; i < WEB_QUEUE_PLACES; i++) {
        const struct web_queue_place *place = &queue->places[i];
        if (place->waits && !place->computed && (next < 0 || comes_before(queue, place, &queue->places[next])))
            next = (int)i;
    }
    if (next < 0)
        return -1;
    struct web_queue_client *client = &queue->clients[queue->places[next].client];
    queue->places[next].computed = true;
    client->tried = ++queue->n_tries;
    client->standing = client->standing < GUESSED ? GUESSED : client->standing + (client->standing < FARTHEST);
    client->guessed = true; // until it turns out right
    struct web_queue_name *name = name_of(queue, &queue->places[next]);
    if (name->guesses < UINT8_MAX)
        name->guesses++;
    return next;
}

// ---- the end of a question ----

uint64_t web_queue_end_ms(const struct web_queue *queue) {
    uint64_t end_ms = UINT64_MAX;
    for (size_t i = 0; i < WEB_QUEUE_PLACES; i++)
        if (queue->places[i].waits && !queue->places[i].computed && queue->places[i].end_ms < end_ms)
            end_ms = queue->places[i].end_ms;
    return end_ms;
}

int web_queue_expire(struct web_queue *queue, uint64_t now_ms) {
    for (size_t i = 0; i < WEB_QUEUE_PLACES; i++) {
        struct web_queue_place *place = &queue->places[i];
        if (!place->waits || place->computed || now_ms < place->end_ms)
            continue;
        refuse(queue, place, now_ms);
        return (int)i;
    }
    return -1;
}

void web_queue_remove(struct web_queue *queue, size_t place, bool right) {
    struct web_queue_client *client = &queue->clients[queue->places[place].client];
    struct web_queue_name *name = name_of(queue, &queue->places[place]);
    leave(queue, &queue->places[place]);
    if (!right)
        return;
    name->guesses = 0;
    client->standing = 0;
    client->guessed = false;
}
