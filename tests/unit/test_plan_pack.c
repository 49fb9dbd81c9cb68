// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/plan/plan_pack.h"

// Packing against an exhaustive search, and on cases with a known minimum of bins.

enum { SETS_MAX = 64 };

static struct plan_set set_of(const char *letters) {
    struct plan_set set = {0};
    for (; *letters != '\0'; letters++)
        set.words[0] |= UINT64_C(1) << (*letters - 'a');
    return set;
}

static unsigned width(uint64_t events, uint64_t fixed) { return (unsigned)__builtin_popcountll(events & ~fixed); }

struct instance {
    size_t n;
    unsigned counters; // 0: no limit
    struct plan_set fixed;
    struct plan_set sets[SETS_MAX];
    uint64_t bins[SETS_MAX]; // events of each bin of the search
};

// The fewest bins, found by trying every way to part the sets: set i goes into each open bin or a new one.
static size_t fewest(struct instance *instance, size_t i, size_t n_bins, size_t best) {
    if (i == instance->n || n_bins >= best)
        return n_bins < best ? n_bins : best;
    for (size_t bin = 0; bin <= n_bins; bin++) {
        uint64_t before = bin < n_bins ? instance->bins[bin] : 0;
        uint64_t after = before | instance->sets[i].words[0];
        if (instance->counters > 0 && width(after, instance->fixed.words[0]) > instance->counters)
            continue;
        instance->bins[bin] = after;
        best = fewest(instance, i + 1, bin < n_bins ? n_bins : n_bins + 1, best);
        instance->bins[bin] = before;
    }
    return best;
}

// The letters' events: each of `fixed` has a counter of its own.
static void needs_of(const struct instance *instance, struct event_need *needs) {
    for (int e = 0; e < PLAN_PACK_EVENTS_MAX; e++)
        needs[e] = (struct event_need){.fixed = e < 64 && (instance->fixed.words[0] >> e & 1) ? e : -1};
}

// Packs, and checks that every bin fits and none is empty.
static size_t pack(const struct instance *instance) {
    unsigned bins[SETS_MAX];
    struct event_need needs[PLAN_PACK_EVENTS_MAX];
    const struct fit_pmu pmu = {.general = instance->counters};
    needs_of(instance, needs);
    int n = plan_pack(instance->sets, instance->n, &pmu, needs, bins, NULL);
    assert_true(n >= 0 && n <= (int)instance->n);
    for (unsigned bin = 0; bin < (unsigned)n; bin++) {
        uint64_t events = 0;
        bool used = false;
        for (size_t i = 0; i < instance->n; i++) {
            events |= bins[i] == bin ? instance->sets[i].words[0] : 0;
            used = used || bins[i] == bin;
        }
        assert_true(used);
        assert_true(instance->counters == 0 || width(events, instance->fixed.words[0]) <= instance->counters);
    }
    for (size_t i = 0; i < instance->n; i++)
        assert_true(bins[i] < (unsigned)n);
    return (size_t)n;
}

static void expect_bins(const char *const *sets, size_t n, const char *fixed, unsigned counters, size_t wanted) {
    struct instance instance = {.n = n, .counters = counters, .fixed = set_of(fixed)};
    for (size_t i = 0; i < n; i++)
        instance.sets[i] = set_of(sets[i]);
    assert_int_equal(pack(&instance), wanted);
}

static void test_nothing_needs_no_bin(void **state) {
    (void)state;
    expect_bins(NULL, 0, "", 4, 0);
}

static void test_sets_share_the_events_they_have_in_common(void **state) {
    (void)state;
    const char *const sets[] = {"ab", "ac", "ad", "ae"};
    expect_bins(sets, 4, "", 5, 1);
    expect_bins(sets, 4, "", 3, 2);
    expect_bins(sets, 4, "", 2, 4);
}

static void test_fixed_counters_take_no_room(void **state) {
    (void)state;
    const char *const sets[] = {"zab", "zcd"}, *const only_fixed[] = {"z", "y"};
    expect_bins(sets, 2, "z", 4, 1);
    expect_bins(sets, 2, "", 4, 2);
    expect_bins(only_fixed, 2, "yz", 1, 1);
}

static void test_without_a_limit_all_is_one_bin(void **state) {
    (void)state;
    const char *const sets[] = {"abcdef", "ghijkl", "mnopqrstuv", "wxyz"};
    expect_bins(sets, 4, "", 0, 1);
}

static void test_a_set_within_another_costs_nothing(void **state) {
    (void)state;
    const char *const sets[] = {"a", "ab", "abc", "abcd", "abcd", "d", "ef"};
    expect_bins(sets, 7, "", 4, 2);
}

static void test_sets_are_moved_where_the_first_place_was_not_the_best(void **state) {
    (void)state;
    // In this order cd and fg fill one bin, bd and ef another, and ac is left over; abcd and efg hold them all.
    const char *const sets[] = {"cd", "fg", "bd", "ef", "ac"};
    expect_bins(sets, 5, "", 4, 2);
}

static void random_instance(uint64_t *random, struct instance *instance) {
    uint64_t events = 3 + random_below(random, 8);
    *instance = (struct instance){.n = 1 + (size_t)random_below(random, 7)};
    instance->counters = 2 + (unsigned)random_below(random, 3);
    uint64_t n_fixed = random_below(random, 3);
    instance->fixed.words[0] = n_fixed == 0 ? 0 : n_fixed == 1 ? 1 : 3;
    for (size_t i = 0; i < instance->n;) {
        uint64_t wanted = 1 + random_below(random, 4), set = 0;
        for (uint64_t e = 0; e < wanted; e++)
            set |= UINT64_C(1) << random_below(random, events);
        instance->sets[i].words[0] = set;
        i += width(set, instance->fixed.words[0]) <= instance->counters;
    }
}

static void print_instance(const struct instance *instance) {
    print_error("%u counters, fixed %llx, sets", instance->counters, (unsigned long long)instance->fixed.words[0]);
    for (size_t i = 0; i < instance->n; i++)
        print_error(" %llx", (unsigned long long)instance->sets[i].words[0]);
    print_error("\n");
}

static void test_no_random_instance_can_be_packed_into_fewer_bins(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    size_t worse = 0, bins[SETS_MAX] = {0};
    for (int i = 0; i < 20000; i++) {
        struct instance instance;
        random_instance(&random, &instance);
        size_t wanted = fewest(&instance, 0, 0, instance.n + 1), got = pack(&instance);
        assert_true(got >= wanted);
        bins[got]++;
        worse += got > wanted;
        if (got > wanted)
            print_instance(&instance);
    }
    assert_int_equal(worse, 0);
    for (size_t n = 1; n <= 5; n++)
        assert_true(bins[n] > 0); // the instances are not all alike
}

// `n_bins` bins of `counters` events of their own, each cut into pairs with its first event (as metrics per instruction
// are); so many bins are needed. The pairs come in random order.
static void planted(uint64_t *random, size_t n_bins, unsigned counters, struct instance *instance) {
    *instance = (struct instance){.counters = counters};
    for (size_t bin = 0; bin < n_bins; bin++)
        for (unsigned e = 1; e < counters; e++)
            instance->sets[instance->n++].words[0] = (UINT64_C(1) | UINT64_C(1) << e) << (bin * counters);
    for (size_t i = instance->n; i > 1; i--) {
        size_t j = (size_t)random_below(random, i);
        struct plan_set swap = instance->sets[i - 1];
        instance->sets[i - 1] = instance->sets[j];
        instance->sets[j] = swap;
    }
}

static void test_bins_that_are_exactly_full_are_found_again(void **state) {
    (void)state;
    uint64_t random = 20240501;
    for (int i = 0; i < 20; i++) {
        struct instance instance;
        planted(&random, 8, 6, &instance);
        assert_int_equal(pack(&instance), 8);
    }
}

static void test_the_same_input_gives_the_same_bins(void **state) {
    (void)state;
    uint64_t random = 7;
    struct instance instance;
    planted(&random, 8, 6, &instance);
    unsigned first[SETS_MAX], second[SETS_MAX];
    struct event_need needs[PLAN_PACK_EVENTS_MAX];
    const struct fit_pmu pmu = {.general = 6};
    needs_of(&instance, needs);
    assert_true(plan_pack(instance.sets, instance.n, &pmu, needs, first, NULL) > 0);
    assert_true(plan_pack(instance.sets, instance.n, &pmu, needs, second, NULL) > 0);
    assert_memory_equal(first, second, instance.n * sizeof first[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_needs_no_bin),
        cmocka_unit_test(test_sets_share_the_events_they_have_in_common),
        cmocka_unit_test(test_fixed_counters_take_no_room),
        cmocka_unit_test(test_without_a_limit_all_is_one_bin),
        cmocka_unit_test(test_a_set_within_another_costs_nothing),
        cmocka_unit_test(test_sets_are_moved_where_the_first_place_was_not_the_best),
        cmocka_unit_test(test_no_random_instance_can_be_packed_into_fewer_bins),
        cmocka_unit_test(test_bins_that_are_exactly_full_are_found_again),
        cmocka_unit_test(test_the_same_input_gives_the_same_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
