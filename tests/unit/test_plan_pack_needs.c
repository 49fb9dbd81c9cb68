// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/plan/plan_pack.h"

// Packing of events with special counter needs: against an exhaustive search, and at the size of a real CPU.

enum { SETS_MAX = 200 };

struct instance {
    struct fit_pmu pmu;
    struct event_need needs[PLAN_PACK_EVENTS_MAX];
    size_t n;
    struct plan_set sets[SETS_MAX];
    struct plan_set bins[8]; // of the exhaustive search
};

static bool set_fits(const struct instance *instance, const struct plan_set *set) {
    unsigned events[PLAN_PACK_EVENTS_MAX];
    size_t n = 0;
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++)
        if (set->words[e / 64] >> (e % 64) & 1)
            events[n++] = e;
    return fit_check(&instance->pmu, instance->needs, events, n, NULL);
}

static void unite(struct plan_set *set, const struct plan_set *other) {
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        set->words[w] |= other->words[w];
}

// Set i goes into each open bin or a new one.
static size_t fewest(struct instance *instance, size_t i, size_t n_bins, size_t best) {
    if (i == instance->n || n_bins >= best)
        return n_bins < best ? n_bins : best;
    for (size_t bin = 0; bin <= n_bins; bin++) {
        struct plan_set before = bin < n_bins ? instance->bins[bin] : (struct plan_set){0}, after = before;
        unite(&after, &instance->sets[i]);
        if (!set_fits(instance, &after))
            continue;
        instance->bins[bin] = after;
        best = fewest(instance, i + 1, bin < n_bins ? n_bins : n_bins + 1, best);
        instance->bins[bin] = before;
    }
    return best;
}

// Packs, and checks that every bin fits and none is empty, and that the search kept to its bounds.
static size_t pack(const struct instance *instance, struct plan_pack_work *work) {
    unsigned bins[SETS_MAX];
    int n = plan_pack(instance->sets, instance->n, &instance->pmu, instance->needs, bins, work);
    assert_true(n > 0 && n <= (int)instance->n);
    for (unsigned bin = 0; bin < (unsigned)n; bin++) {
        struct plan_set all = {0};
        bool used = false;
        for (size_t i = 0; i < instance->n; i++) {
            if (bins[i] != bin)
                continue;
            unite(&all, &instance->sets[i]);
            used = true;
        }
        assert_true(used);
        assert_true(set_fits(instance, &all));
    }
    for (size_t i = 0; i < instance->n; i++)
        assert_true(bins[i] < (unsigned)n);
    assert_true(work->steps <= (uint64_t)n * PLAN_PACK_STEPS_MAX / instance->n);
    assert_true(work->fits < PLAN_PACK_FITS_MAX + PLAN_PACK_EVENTS_MAX * PLAN_PACK_EVENTS_MAX);
    return (size_t)n;
}

// `counters`: of the CPU. Kinds and their shares are roughly those of Intel's and AMD's files.
static struct event_need random_need(uint64_t *random, unsigned counters) {
    struct event_need need = {.fixed = -1};
    switch (random_below(random, 8)) {
    case 0:
    case 1:
        need.counters = 0x3;
        break;
    case 2:
        need.counters = UINT64_C(1) << random_below(random, counters);
        break;
    case 3:
        need.takes = 2;
        break;
    case 4:
        need.reg = 1;
        need.reg_value = random_below(random, 3);
        break;
    case 5:
        need.fixed = (int)random_below(random, 3);
        break;
    }
    return need;
}

static void random_instance(uint64_t *random, struct instance *instance) {
    uint64_t n_events = 3 + random_below(random, 8);
    *instance = (struct instance){.n = 1 + (size_t)random_below(random, 6)};
    instance->pmu = (struct fit_pmu){.general = 2 + (unsigned)random_below(random, 3),
                                     .fixed_taken = random_below(random, 2),
                                     .registers = {0, 1 + (unsigned)random_below(random, 2)}};
    for (size_t e = 0; e < n_events; e++)
        instance->needs[e] = random_need(random, instance->pmu.general);
    for (size_t i = 0; i < instance->n;) {
        struct plan_set set = {0};
        uint64_t wanted = 1 + random_below(random, 3);
        for (uint64_t e = 0; e < wanted; e++)
            set.words[0] |= UINT64_C(1) << random_below(random, n_events);
        instance->sets[i] = set;
        if (set_fits(instance, &set))
            i++;
        else
            instance->n--; // a set that never fits is not packed
    }
}

static void test_no_random_instance_can_be_packed_into_fewer_bins(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    static struct instance instance;
    size_t worse = 0, seen = 0, bins[8] = {0};
    for (int i = 0; i < 3000; i++) {
        struct plan_pack_work work;
        random_instance(&random, &instance);
        if (instance.n == 0)
            continue;
        size_t wanted = fewest(&instance, 0, 0, instance.n + 1), got = pack(&instance, &work);
        assert_true(got >= wanted);
        bins[got]++;
        seen++;
        worse += got > wanted;
    }
    assert_true(seen > 2000);
    assert_int_equal(worse, 0);
    for (size_t n = 1; n <= 4; n++)
        assert_true(bins[n] > 0);
}

static struct plan_set set_of(const char *letters) {
    struct plan_set set = {0};
    for (; *letters != '\0'; letters++)
        set.words[0] |= UINT64_C(1) << (*letters - 'a');
    return set;
}

static void expect_bins(const struct fit_pmu *pmu, const struct event_need *needs, size_t n_events,
                        const char *const *sets, size_t n, size_t wanted) {
    static struct instance instance;
    struct plan_pack_work work;
    instance = (struct instance){.pmu = *pmu, .n = n};
    for (size_t e = 0; e < n_events; e++)
        instance.needs[e] = needs[e];
    for (size_t i = 0; i < n; i++)
        instance.sets[i] = set_of(sets[i]);
    assert_int_equal(pack(&instance, &work), wanted);
}

// Nehalem, four counters: six events by count need two bins, but three of two counters each.
static void test_events_of_few_counters_need_more_bins_than_their_number(void **state) {
    (void)state;
    const struct event_need l1d = {.fixed = -1, .counters = 0x3}, any = {.fixed = -1};
    const struct event_need needs[] = {l1d, l1d, l1d, l1d, l1d, any};
    const char *const sets[] = {"a", "b", "c", "d", "e", "f"};
    expect_bins(&(struct fit_pmu){.general = 4}, needs, 6, sets, 6, 3);
    expect_bins(&(struct fit_pmu){.general = 4}, needs, 6, sets, 2, 1);
}

static void test_values_of_one_register_take_turns(void **state) {
    (void)state;
    const struct event_need needs[] = {{.fixed = -1, .reg = 1, .reg_value = 0x4011},
                                       {.fixed = -1, .reg = 1, .reg_value = 0x2011},
                                       {.fixed = -1, .reg = 1, .reg_value = 0x4011},
                                       {.fixed = -1}};
    const char *const sets[] = {"ad", "bd", "cd"};
    expect_bins(&(struct fit_pmu){.general = 4, .registers = {0, 1}}, needs, 4, sets, 3, 2);
    expect_bins(&(struct fit_pmu){.general = 4, .registers = {0, 2}}, needs, 4, sets, 3, 1);
}

static void test_events_of_two_counters_fill_a_bin_sooner(void **state) {
    (void)state;
    const struct event_need wide = {.fixed = -1, .takes = 2}, needs[] = {wide, wide, wide, wide};
    const char *const sets[] = {"a", "b", "c", "d"};
    expect_bins(&(struct fit_pmu){.general = 6}, needs, 4, sets, 4, 2);
    expect_bins(&(struct fit_pmu){.general = 5}, needs, 4, sets, 4, 2);
    expect_bins(&(struct fit_pmu){.general = 8}, needs, 4, sets, 4, 1);
}

// 150 metrics over 200 events, two to five each, as many events constrained as on a big core.
static void big_instance(uint64_t *random, struct instance *instance) {
    enum { EVENTS = 200, METRICS = 150 };
    *instance = (struct instance){.pmu = {.general = 8, .registers = {0, 2, 1}}, .n = METRICS};
    for (unsigned e = 0; e < EVENTS; e++) {
        instance->needs[e] = (struct event_need){.fixed = e < 4 ? (int)e : -1};
        uint64_t kind = random_below(random, 10);
        if (e >= 4 && kind < 4)
            instance->needs[e].counters = 0xf;
        if (e >= 4 && kind == 4)
            instance->needs[e].reg = 1 + (unsigned)random_below(random, 2);
        instance->needs[e].reg_value = e;
    }
    for (size_t i = 0; i < METRICS;) {
        struct plan_set set = {.words = {1U << random_below(random, 4)}};
        uint64_t wanted = 1 + random_below(random, 4);
        for (uint64_t k = 0; k < wanted; k++) {
            uint64_t e = random_below(random, EVENTS);
            set.words[e / 64] |= UINT64_C(1) << (e % 64);
        }
        instance->sets[i] = set;
        i += set_fits(instance, &set);
    }
}

static void test_all_metrics_of_a_big_cpu_are_packed_within_bounds(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    static struct instance instance;
    for (int i = 0; i < 3; i++) {
        struct plan_pack_work work;
        big_instance(&random, &instance);
        clock_t before = clock();
        size_t bins = pack(&instance, &work);
        print_message("%zu bins, %llu steps, %llu asked, %.0f ms\n", bins, (unsigned long long)work.steps,
                      (unsigned long long)work.fits, (double)(clock() - before) * 1e3 / CLOCKS_PER_SEC);
        assert_true(work.fits > 0);
    }
}

// Where no event is constrained nothing is asked.
static void test_counting_is_enough_where_any_counter_will_do(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    static struct instance instance;
    struct plan_pack_work work;
    big_instance(&random, &instance);
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++)
        instance.needs[e] = (struct event_need){.fixed = instance.needs[e].fixed};
    clock_t before = clock();
    size_t bins = pack(&instance, &work);
    print_message("%zu bins, %llu steps, %.0f ms\n", bins, (unsigned long long)work.steps,
                  (double)(clock() - before) * 1e3 / CLOCKS_PER_SEC);
    assert_int_equal(work.fits, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_random_instance_can_be_packed_into_fewer_bins),
        cmocka_unit_test(test_events_of_few_counters_need_more_bins_than_their_number),
        cmocka_unit_test(test_values_of_one_register_take_turns),
        cmocka_unit_test(test_events_of_two_counters_fill_a_bin_sooner),
        cmocka_unit_test(test_all_metrics_of_a_big_cpu_are_packed_within_bounds),
        cmocka_unit_test(test_counting_is_enough_where_any_counter_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
