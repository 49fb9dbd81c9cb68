// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_WEB_WEB_QUEUE_H
#define TOPDOWND_EXPORTERS_WEB_WEB_QUEUE_H

// Whose password is computed next, and who is refused where too many wait. Pure: the caller has the clock, the thread
// and the questions, which are known here by their places alone.
//
// Clients take turns. A client is an IPv4 address or the /64 of an IPv6 address, because whoever has one address of a
// /64 mostly has all of them. Each computed password costs a client a step back, unless it was right: so a newcomer
// comes before all who have guessed, however many guesses of theirs wait. Clients of equal standing go round.
//
// Many scrapers may share an address with one that guesses, behind a proxy for instance. So the names of one client
// take turns, too: the one that was guessed wrong least is the next, and its own questions go in the order in which
// they came. A name is known by its number below WEB_QUEUE_NAMES, which the caller makes of it by a secret: names that
// nobody has are treated as all others, and a client has no more turns for asking for more of them. This helps beside
// who keeps to a few names. Who guesses many names over WEB_QUEUE_CLIENT_MAX connections or more, or the scraper's own
// name, keeps new scrapers of that address out, and of no other: unit/test_web_queue has the figures.
//
// A question waits for WEB_QUEUE_WAIT_MS at most, and then it is refused: a scraper that allows 10 s, as Prometheus
// does unless told otherwise, still hears of it. Its connection stands still meanwhile, so WEB_QUEUE_MAX bounds them
// all: beyond it a question of the client with most of them is refused, and of its name with most of them. It is one of
// these at random, because always to refuse the last would leave the places to who asks fastest. A client whose last
// question is refused untried comes a step nearer, at most once in WEB_QUEUE_WAIT_MS: before newcomers if it has never
// guessed wrong, else not so far.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEB_CLIENT_BYTES = 16, WEB_QUEUE_CLIENTS_MAX = 256, WEB_QUEUE_NAMES = 32 };

// Questions that wait, of all clients and of one; and places, some of which have answers that nobody has taken yet.
enum { WEB_QUEUE_MAX = 32, WEB_QUEUE_CLIENT_MAX = 16, WEB_QUEUE_PLACES = 64, WEB_QUEUE_WAIT_MS = 8000 };

struct web_queue {
    uint64_t random, n_questions, n_tries;
    struct web_queue_client {
        uint64_t prefix;    // what tells it from others
        uint64_t tried;     // number of its last computation, 0: none
        uint64_t nearer_ms; // not before this time again
        int standing;       // the lowest is the next
        unsigned n_waiting;
        bool known, guessed;
        struct web_queue_name {
            uint8_t n_waiting, guesses; // guesses: those that turned out wrong since a right one
        } names[WEB_QUEUE_NAMES];
    } clients[WEB_QUEUE_CLIENTS_MAX];
    struct web_queue_place {
        bool waits, computed;
        size_t client, name;
        uint64_t number, end_ms;
    } places[WEB_QUEUE_PLACES];
};

void web_queue_init(struct web_queue *queue, uint64_t seed);

// Who asks: an address, and the number of a name.
struct web_queue_asker {
    const uint8_t *address; // WEB_CLIENT_BYTES
    size_t name;
};

// A question comes to a free place. Returns the place of the question that must be refused for it, maybe its own; -1:
// none.
int web_queue_add(struct web_queue *queue, size_t place, const struct web_queue_asker *asker, uint64_t now_ms);

// The place of the question that is to be computed now; -1: none waits. It is neither refused nor taken again.
int web_queue_take(struct web_queue *queue);

// The place of a question that has waited for too long, which must be refused; -1: there is none.
int web_queue_expire(struct web_queue *queue, uint64_t now_ms);
uint64_t web_queue_end_ms(const struct web_queue *queue); // when there will be one; UINT64_MAX: none waits

// The question has its answer, computed for it or for another one. A right password clears the standing of its client
// and of its name.
void web_queue_remove(struct web_queue *queue, size_t place, bool right);

#endif
