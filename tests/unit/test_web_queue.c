// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "exporters/web/web_queue.h"

// Whose password is computed next: single rules, and then floods in virtual time. A computation takes 60 ms, as one of
// cost 10 does, and the thread rests for 180 ms after a wrong one (web_gate.c).

enum { COMPUTE_MS = 60, REST_MS = 180, SCRAPE_TIMEOUT_MS = 10000, SCRAPERS = 20, FLOODERS_MAX = 200 };
enum { STEP_MS = 10, AGAIN_MS = 20, BEGIN_MS = 60000, EACH_MS = 3000, INTERVAL_MS = 15000 };

struct address {
    uint8_t bytes[WEB_CLIENT_BYTES];
};

static struct address ipv4(unsigned last) { return (struct address){{127, 0, (uint8_t)(last >> 8), (uint8_t)last}}; }

static struct address ipv6(unsigned network, unsigned host) {
    return (struct address){{0x20, 0x01, 0x0d, 0xb8, [6] = (uint8_t)(network >> 8),
                             (uint8_t)network, [14] = (uint8_t)(host >> 8), (uint8_t)host}};
}

// A question of that name; most tests have one name.
static int add_named(struct web_queue *queue, size_t place, struct address address, size_t name, uint64_t now_ms) {
    return web_queue_add(queue, place, &(struct web_queue_asker){address.bytes, name}, now_ms);
}

static int add(struct web_queue *queue, size_t place, struct address address, uint64_t now_ms) {
    return add_named(queue, place, address, 0, now_ms);
}

// ---- single rules ----

static void test_clients_take_turns_however_much_one_asks(void **state) {
    static const int expected[] = {0, 3, 4, 1, 2};
    struct web_queue queue;
    struct address a = ipv4(2), b = ipv4(3), c = ipv4(4);
    (void)state;
    web_queue_init(&queue, 1);
    for (size_t place = 0; place < 3; place++)
        assert_int_equal(add(&queue, place, a, 0), -1);
    assert_int_equal(add(&queue, 3, b, 0), -1);
    assert_int_equal(add(&queue, 4, c, 0), -1);
    for (size_t i = 0; i < N_OF(expected); i++) {
        assert_int_equal(web_queue_take(&queue), expected[i]);
        web_queue_remove(&queue, (size_t)expected[i], false);
    }
    assert_int_equal(web_queue_take(&queue), -1);
}

static void test_a_newcomer_comes_before_all_who_have_guessed_and_a_right_password_clears(void **state) {
    struct web_queue queue;
    struct address guesser = ipv4(2), newcomer = ipv4(3);
    (void)state;
    web_queue_init(&queue, 1);
    for (int i = 0; i < 3; i++) {
        (void)add(&queue, 0, guesser, 0);
        assert_int_equal(web_queue_take(&queue), 0);
        web_queue_remove(&queue, 0, false);
    }
    (void)add(&queue, 0, guesser, 1);
    (void)add(&queue, 1, newcomer, 2);
    assert_int_equal(web_queue_take(&queue), 1);
    web_queue_remove(&queue, 1, false);
    assert_int_equal(web_queue_take(&queue), 0); // 3 wrong ones; this one is right
    web_queue_remove(&queue, 0, true);
    (void)add(&queue, 1, newcomer, 3); // has guessed once
    (void)add(&queue, 0, guesser, 4);
    assert_int_equal(web_queue_take(&queue), 0);
}

static void test_a_client_is_an_ipv4_address_or_a_64(void **state) {
    struct address mapped = {{[10] = 0xff, 0xff, 127, 0, 0, 2}};
    const struct {
        struct address a, b;
        bool one;
    } pairs[] = {{ipv4(2), ipv4(3), false},
                 {ipv4(2), mapped, true},
                 {ipv4(3), mapped, false},
                 {ipv6(1, 1), ipv6(1, 2), true},
                 {ipv6(1, 1), ipv6(2, 1), false}};
    (void)state;
    for (size_t i = 0; i < N_OF(pairs); i++) {
        struct web_queue queue;
        web_queue_init(&queue, 1);
        (void)add(&queue, 0, pairs[i].a, 0);
        (void)add(&queue, 1, pairs[i].a, 0);
        (void)add(&queue, 2, pairs[i].b, 0);
        assert_int_equal(web_queue_take(&queue), 0);
        assert_int_equal(web_queue_take(&queue), pairs[i].one ? 1 : 2);
    }
}

// Of one client, too, who asks most loses first: here another name than the one that asked last.
static void test_of_a_client_with_too_many_questions_the_name_with_most_loses_one(void **state) {
    enum { MANY = 5, FEW = 6 };
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct web_queue queue;
        web_queue_init(&queue, seed);
        for (size_t place = 0; place < WEB_QUEUE_CLIENT_MAX - 1; place++)
            assert_int_equal(add_named(&queue, place, ipv4(2), MANY, 0), -1);
        assert_int_equal(add_named(&queue, WEB_QUEUE_CLIENT_MAX - 1, ipv4(2), FEW, 0), -1);
        int refused = add_named(&queue, WEB_QUEUE_CLIENT_MAX, ipv4(2), FEW, 0);
        assert_true(refused >= 0 && refused < (int)WEB_QUEUE_CLIENT_MAX - 1);
    }
}

static void test_nobody_waits_longer_than_a_scraper_does(void **state) {
    struct web_queue queue;
    struct address a = ipv4(2);
    (void)state;
    web_queue_init(&queue, 1);
    assert_true(web_queue_end_ms(&queue) == UINT64_MAX);
    (void)add(&queue, 0, a, 100);
    (void)add(&queue, 1, a, 200);
    (void)add(&queue, 2, a, 300);
    assert_int_equal(web_queue_take(&queue), 0); // is being computed: it gets its answer
    assert_true(web_queue_end_ms(&queue) == 200 + WEB_QUEUE_WAIT_MS);
    assert_int_equal(web_queue_expire(&queue, 199 + WEB_QUEUE_WAIT_MS), -1);
    assert_int_equal(web_queue_expire(&queue, 200 + WEB_QUEUE_WAIT_MS), 1);
    assert_int_equal(web_queue_expire(&queue, 200 + WEB_QUEUE_WAIT_MS), -1);
    assert_int_equal(web_queue_take(&queue), 2);
    assert_true((int)WEB_QUEUE_WAIT_MS < (int)SCRAPE_TIMEOUT_MS);
}

// A free place; there is one, as fewer wait than there are places.
static size_t free_place(const struct web_queue *queue) {
    size_t place = 0;
    while (queue->places[place].waits)
        place++;
    return place;
}

static void test_a_client_with_much_gives_way_at_random_and_one_with_little_never(void **state) {
    struct web_queue queue;
    struct address few = ipv4(99);
    bool first_refused = false, last_refused = false;
    (void)state;
    web_queue_init(&queue, 7);
    (void)add(&queue, 63, few, 0);
    for (unsigned i = 0; i < 1000; i++) {
        size_t place = free_place(&queue);
        struct address much = ipv4(2 + i % 3);
        int refused = add(&queue, place, much, 0);
        assert_int_not_equal(refused, 63);
        assert_true(refused >= 0 || i < WEB_QUEUE_MAX);
        if (refused >= 0 && (size_t)refused == place)
            last_refused = true;
        else if (refused >= 0)
            first_refused = true;
    }
    assert_true(first_refused && last_refused);
    size_t n = 0;
    for (size_t i = 0; i < WEB_QUEUE_PLACES; i++)
        n += queue.places[i].waits;
    assert_int_equal(n, WEB_QUEUE_MAX);
}

static void test_one_client_has_half_of_the_places(void **state) {
    struct web_queue queue;
    struct address a = ipv4(2);
    size_t refused = 0;
    (void)state;
    web_queue_init(&queue, 7);
    for (size_t i = 0; i < 100; i++)
        refused += add(&queue, free_place(&queue), a, 0) >= 0;
    assert_int_equal(refused, 100 - WEB_QUEUE_CLIENT_MAX);
}

// Each of more clients than places has one question. A client that was refused comes before newcomers when it asks
// again, once it has been refused in another time of waiting, and however often it was refused in this one.
static void test_the_right_to_be_tried_ages_with_each_refusal(void **state) {
    struct web_queue queue;
    struct address patient = ipv4(1);
    (void)state;
    web_queue_init(&queue, 3);
    for (uint64_t time = 1; time <= 2; time++) {
        uint64_t now_ms = time * 2 * WEB_QUEUE_WAIT_MS;
        (void)add(&queue, 0, patient, now_ms);
        assert_int_equal(web_queue_expire(&queue, now_ms + WEB_QUEUE_WAIT_MS), 0);
    }
    uint64_t now_ms = 10 * WEB_QUEUE_WAIT_MS;
    for (unsigned i = 0; i < WEB_QUEUE_MAX; i++) {
        struct address newcomer = ipv4(100 + i);
        assert_int_equal(add(&queue, 1 + i, newcomer, now_ms), -1);
    }
    assert_in_range(add(&queue, 0, patient, now_ms), 1, WEB_QUEUE_MAX); // never itself
    assert_int_equal(web_queue_take(&queue), 0);
    web_queue_remove(&queue, 0, false);
    for (uint64_t time = 20; time < 60; time += 2) { // who has guessed comes no nearer than a newcomer
        (void)add(&queue, 0, patient, time * WEB_QUEUE_WAIT_MS);
        while (web_queue_expire(&queue, (time + 1) * WEB_QUEUE_WAIT_MS) >= 0) {
        }
    }
    struct address newcomer = ipv4(99);
    (void)add(&queue, 1, newcomer, 100 * WEB_QUEUE_WAIT_MS);
    (void)add(&queue, 0, patient, 100 * WEB_QUEUE_WAIT_MS);
    assert_int_equal(web_queue_take(&queue), 1);
}

static void test_names_of_one_client_take_turns_and_the_one_that_asks_most_gives_way(void **state) {
    enum { GUESSED_NAME = 5, GOOD_NAME = 9 };
    struct web_queue queue;
    struct address shared = ipv4(2);
    (void)state;
    web_queue_init(&queue, 7);
    (void)add_named(&queue, 0, shared, GUESSED_NAME, 0);
    assert_int_equal(web_queue_take(&queue), 0);
    web_queue_remove(&queue, 0, false);
    for (size_t place = 0; place < WEB_QUEUE_CLIENT_MAX; place++)
        assert_int_equal(add_named(&queue, place, shared, GUESSED_NAME, 1), -1);
    // the good name comes last, is never the one that is refused, and is the next
    int refused = add_named(&queue, 40, shared, GOOD_NAME, 2);
    assert_in_range(refused, 0, WEB_QUEUE_CLIENT_MAX - 1);
    for (size_t i = 0; i < 1000; i++)
        assert_int_not_equal(add_named(&queue, free_place(&queue), shared, GUESSED_NAME, 3), 40);
    assert_int_equal(web_queue_take(&queue), 40);
    web_queue_remove(&queue, 40, true);
    // a right password clears what was guessed of its name, and of no other
    (void)add_named(&queue, 40, shared, GOOD_NAME, 4);
    assert_int_equal(web_queue_take(&queue), 40);
}

// ---- floods ----

struct actor {
    struct address address;
    size_t name;
    bool right;
    uint64_t asks_ms; // next, or first
    uint64_t asked_ms;
    int place; // -1: asks nothing now
    unsigned tries;
    bool admitted;
    uint64_t took_ms; // of its last try
};

struct flood {
    struct web_queue queue;
    struct actor actors[FLOODERS_MAX + SCRAPERS];
    size_t n;
    uint64_t now_ms, free_ms, computed_ms; // the thread's
    int computing;
};

static struct actor *owner_of(struct flood *flood, int place) {
    for (size_t i = 0; i < flood->n; i++)
        if (flood->actors[i].place == place)
            return &flood->actors[i];
    fail();
    return NULL;
}

// Guessers ask again at once, scrapers after their interval.
static void answer(struct flood *flood, int place, bool computed) {
    struct actor *actor = owner_of(flood, place);
    actor->place = -1;
    actor->took_ms = flood->now_ms - actor->asked_ms;
    actor->admitted = computed && actor->right;
    actor->asks_ms = actor->admitted ? UINT64_MAX
                     : actor->right  ? actor->asked_ms + INTERVAL_MS
                                     : flood->now_ms + AGAIN_MS;
}

static void ask(struct flood *flood, struct actor *actor) {
    size_t place = free_place(&flood->queue);
    assert_true(place < WEB_QUEUE_PLACES);
    actor->place = (int)place;
    actor->asked_ms = flood->now_ms;
    actor->tries++;
    int refused = add_named(&flood->queue, place, actor->address, actor->name, flood->now_ms);
    if (refused >= 0)
        answer(flood, refused, false);
}

static void work(struct flood *flood) {
    if (flood->now_ms < flood->free_ms)
        return;
    flood->computing = web_queue_take(&flood->queue);
    if (flood->computing < 0)
        return;
    bool right = owner_of(flood, flood->computing)->right;
    flood->computed_ms += COMPUTE_MS;
    flood->free_ms = flood->now_ms + COMPUTE_MS + (right ? 0 : REST_MS);
}

static void step(struct flood *flood) {
    bool ends = flood->computing >= 0 && flood->now_ms >= flood->free_ms - REST_MS;
    if (ends && owner_of(flood, flood->computing)->right && flood->now_ms < flood->free_ms)
        ends = false; // there is no rest after it
    if (ends) {
        int place = flood->computing;
        web_queue_remove(&flood->queue, (size_t)place, owner_of(flood, place)->right);
        answer(flood, place, true);
        flood->computing = -1;
    }
    for (int place; (place = web_queue_expire(&flood->queue, flood->now_ms)) >= 0;)
        answer(flood, place, false);
    for (size_t i = 0; i < flood->n; i++) { // a client that is first in each millisecond would be no flood
        struct actor *actor = &flood->actors[(i + flood->now_ms * 7 / STEP_MS) % flood->n];
        if (actor->place < 0 && actor->asks_ms <= flood->now_ms)
            ask(flood, actor);
    }
    work(flood);
}

// `threads` guessers of each of n addresses.
struct guessers {
    const char *what;
    size_t addresses, threads;
    struct address (*of)(size_t i), (*scraper)(size_t i);
    size_t names; // that they ask for; 0: that of all others
    uint64_t each_ms;
};

// The flood, and after a minute a new scraper every so often.
static void run(struct flood *flood, const struct guessers *guessers) {
    uint64_t each_ms = guessers->each_ms > 0 ? guessers->each_ms : EACH_MS;
    *flood = (struct flood){.computing = -1};
    web_queue_init(&flood->queue, 0x9e3779b97f4a7c15);
    for (size_t i = 0; i < guessers->addresses * guessers->threads; i++)
        flood->actors[flood->n++] = (struct actor){.address = guessers->of(i % guessers->addresses),
                                                   .name = guessers->names > 0 ? i % guessers->names : 0,
                                                   .place = -1};
    for (size_t i = 0; i < SCRAPERS; i++)
        flood->actors[flood->n++] = (struct actor){.address = guessers->scraper(i),
                                                   .name = guessers->names > 0 ? 1 + i : 0,
                                                   .right = true,
                                                   .place = -1,
                                                   .asks_ms = BEGIN_MS + each_ms * i};
    for (; flood->now_ms < BEGIN_MS + each_ms * SCRAPERS + 2 * INTERVAL_MS; flood->now_ms += STEP_MS)
        step(flood);
}

static size_t admitted_within(const struct flood *flood, unsigned tries) {
    size_t n = 0;
    for (size_t i = 0; i < flood->n; i++) {
        const struct actor *actor = &flood->actors[i];
        n += actor->right && actor->admitted && actor->tries <= tries && actor->took_ms < SCRAPE_TIMEOUT_MS;
    }
    return n;
}

static struct address flooder(size_t i) { return ipv4(2 + (unsigned)i); }
static struct address flooding_network(size_t i) { return ipv6(1 + (unsigned)i, 1); }
static struct address one_network(size_t i) { return ipv6(1, 1 + (unsigned)i); }
static struct address elsewhere(size_t i) { return ipv4(0x8000 + (unsigned)i); }
static struct address beside_a_flooder(size_t i) { return (void)i, ipv4(2); }

// At least so many at the first try, and all in the end.
static void check_flood(const struct guessers *guessers, size_t at_first_min) {
    static struct flood flood;
    run(&flood, guessers);
    size_t at_once = admitted_within(&flood, 1), at_second = admitted_within(&flood, 2),
           in_the_end = admitted_within(&flood, 1000);
    print_message("%s: %zu of %d at the first try, %zu at the second; CPU %.3f\n", guessers->what, at_once, SCRAPERS,
                  at_second, (double)flood.computed_ms / (double)flood.now_ms);
    assert_true(at_once >= at_first_min);
    assert_int_equal(in_the_end, SCRAPERS);
    assert_true(at_second >= SCRAPERS - 1);
    // a quarter of the time for guesses, and once for each right password
    assert_true(flood.computed_ms <= flood.now_ms / 4 + (SCRAPERS + 1) * COMPUTE_MS);
}

static void test_new_scrapers_get_in_at_the_first_try_under_a_flood(void **state) {
    static const struct guessers floods[] = {
        {.what = "two addresses with four threads each", 2, 4, flooder, elsewhere},
        {.what = "the same, from an address of theirs", 2, 4, flooder, beside_a_flooder},
        {.what = "two addresses with 50 threads each", 2, 50, flooder, elsewhere},
        {.what = "24 addresses with four threads each", 24, 4, flooder, elsewhere},
        {.what = "200 networks", 200, 1, flooding_network, elsewhere},
        {.what = "100 addresses of one network", 100, 1, one_network, elsewhere},
        {.what = "two addresses with four threads each and many names", 2, 4, flooder, elsewhere, 8},
        {.what = "one address with 50 threads and all names", 1, 50, flooder, elsewhere, WEB_QUEUE_NAMES}};
    (void)state;
    for (size_t i = 0; i < N_OF(floods); i++)
        check_flood(&floods[i], SCRAPERS - 1);
}

// As behind a proxy. All come together, too, as after a restart: more than may wait of one address get in at the second
// try.
static void test_scrapers_of_one_address_get_in_beside_a_guesser_there(void **state) {
    static const struct guessers floods[] = {
        {.what = "no guesser, all scrapers at once", 0, 0, flooder, beside_a_flooder, 1, 1},
        {.what = "one guesser", 1, 1, flooder, beside_a_flooder, 1},
        {.what = "one guesser, ten scrapers a second", 1, 1, flooder, beside_a_flooder, 1, 100},
        {.what = "50 threads", 1, 50, flooder, beside_a_flooder, 1},
        {.what = "50 threads, ten scrapers a second", 1, 50, flooder, beside_a_flooder, 1, 100},
        {.what = "the same, and another address with 50", 2, 50, flooder, beside_a_flooder, 1, 100}};
    (void)state;
    check_flood(&floods[0], WEB_QUEUE_CLIENT_MAX);
    for (size_t i = 1; i < N_OF(floods); i++)
        check_flood(&floods[i], SCRAPERS - 1);
}

static struct address beside_one_or_elsewhere(size_t i) { return i % 2 == 0 ? ipv4(2) : elsewhere(i); }

// The bound of all this (docs/web.md, "What passwords cost"): who asks for many names from the scraper's own address,
// over as many connections as may wait there, keeps new scrapers of that address out, and no others.
static void test_many_names_over_many_connections_keep_out_scrapers_of_that_address_alone(void **state) {
    static const struct {
        size_t threads, own_min, own_max; // of half of the scrapers
    } cases[] = {{4, SCRAPERS / 2 - 1, SCRAPERS / 2}, {50, 0, SCRAPERS / 4}};
    static struct flood flood;
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        size_t own = 0, others = 0;
        run(&flood,
            &(struct guessers){"", 1, cases[i].threads, flooder, beside_one_or_elsewhere, WEB_QUEUE_NAMES, EACH_MS});
        for (size_t k = 0; k < SCRAPERS; k++) {
            const struct actor *scraper = &flood.actors[cases[i].threads + k];
            bool at_once = scraper->admitted && scraper->tries == 1;
            own += k % 2 == 0 && at_once;
            others += k % 2 == 1 && at_once;
        }
        print_message("%zu threads with all names: %zu of their address at the first try, %zu of others\n",
                      cases[i].threads, own, others);
        assert_in_range(own, cases[i].own_min, cases[i].own_max);
        assert_int_equal(others, SCRAPERS / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients_take_turns_however_much_one_asks),
        cmocka_unit_test(test_a_newcomer_comes_before_all_who_have_guessed_and_a_right_password_clears),
        cmocka_unit_test(test_a_client_is_an_ipv4_address_or_a_64),
        cmocka_unit_test(test_of_a_client_with_too_many_questions_the_name_with_most_loses_one),
        cmocka_unit_test(test_nobody_waits_longer_than_a_scraper_does),
        cmocka_unit_test(test_a_client_with_much_gives_way_at_random_and_one_with_little_never),
        cmocka_unit_test(test_one_client_has_half_of_the_places),
        cmocka_unit_test(test_the_right_to_be_tried_ages_with_each_refusal),
        cmocka_unit_test(test_names_of_one_client_take_turns_and_the_one_that_asks_most_gives_way),
        cmocka_unit_test(test_new_scrapers_get_in_at_the_first_try_under_a_flood),
        cmocka_unit_test(test_scrapers_of_one_address_get_in_beside_a_guesser_there),
        cmocka_unit_test(test_many_names_over_many_connections_keep_out_scrapers_of_that_address_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
