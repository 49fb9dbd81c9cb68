// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/uncore/uncore.h"

// What a PMU's cpumask is made of, and which CPU of it reads a box, on made-up hosts whose drivers do as Linux' do.

enum { CPUS_MAX = 64, RANDOM_HOSTS = 3000 };

struct host {
    unsigned n;
    struct uncore_place places[CPUS_MAX];
    bool online[CPUS_MAX];
};

// Packages of dies of nodes of caches of cores of threads.
static struct host make_host(const unsigned parts[6]) {
    struct host host = {.n = 1};
    for (int i = 0; i < 6; i++)
        host.n *= parts[i];
    assert_true(host.n <= CPUS_MAX);
    for (unsigned cpu = 0; cpu < host.n; cpu++) {
        unsigned core = cpu / parts[5], cache = core / parts[4], node = cache / parts[3], die = node / parts[2],
                 package = die / parts[1], cores_of_die = parts[2] * parts[3] * parts[4];
        host.places[cpu] = (struct uncore_place){(int)package, (int)(die - package * parts[1]), (int)node, (int)cache,
                                                 (int)(core % cores_of_die)};
        host.online[cpu] = true;
    }
    return host;
}

static struct cpuset online_of(const struct host *host) {
    struct cpuset set = {{0}};
    for (unsigned cpu = 0; cpu < host->n; cpu++)
        if (host->online[cpu])
            cpuset_add(&set, cpu);
    return set;
}

// As sysfs shows it: parts have those CPUs that are online.
static struct uncore_mask mask_of(const struct host *host, const struct cpuset *cpus) {
    size_t n = cpuset_count(cpus), i = 0;
    struct uncore_mask mask = {
        .n = n, .cpus = calloc(n + 1, sizeof *mask.cpus), .places = calloc(n + 1, sizeof *mask.places)};
    assert_true(mask.cpus && mask.places);
    for (unsigned cpu = 0; cpu < host->n; cpu++) {
        if (!cpuset_has(cpus, cpu))
            continue;
        mask.cpus[i] = cpu;
        mask.places[i++] = host->places[cpu];
        for (int part = UNCORE_PART_PACKAGE; part < UNCORE_PARTS_N; part++)
            for (unsigned other = 0; other < host->n; other++)
                if (host->online[other] &&
                    uncore_place_same(&host->places[cpu], &host->places[other], (enum uncore_part)part))
                    cpuset_add(&mask.around[part], other);
    }
    return mask;
}

// The first CPU of each part, as after the start.
static struct cpuset first_of_each(const struct host *host, enum uncore_part part) {
    struct cpuset cpus = {{0}};
    for (unsigned cpu = 0; cpu < host->n; cpu++) {
        bool first = host->online[cpu];
        for (unsigned before = 0; before < cpu && first; before++)
            first = !cpuset_has(&cpus, before) ||
                    !(part == UNCORE_PART_HOST || uncore_place_same(&host->places[before], &host->places[cpu], part));
        if (first)
            cpuset_add(&cpus, cpu);
    }
    return cpus;
}

static enum uncore_part part_of(const struct host *host, const char *list) {
    struct cpuset cpus, online = online_of(host);
    assert_int_equal(cpuset_parse(list, &cpus), 0);
    struct uncore_mask mask = mask_of(host, &cpus);
    enum uncore_part part = uncore_mask_part(&mask, &online);
    uncore_mask_deinit(&mask);
    return part;
}

static void test_masks_of_real_hosts_are_made_of_what_their_drivers_say(void **state) {
    (void)state;
    struct host zen4 = make_host((const unsigned[]){2, 1, 1, 2, 8, 1}); // two sockets of two core complexes
    assert_int_equal(part_of(&zen4, "0,8,16,24"), UNCORE_PART_CACHE);
    assert_int_equal(part_of(&zen4, "0,16"), UNCORE_PART_NODE); // amd_df: packages, which are nodes here
    assert_int_equal(part_of(&zen4, "16"), UNCORE_PART_HOST);   // amd_umc: a PMU for each channel
    struct host epyc_7001 = make_host((const unsigned[]){2, 4, 1, 2, 2, 2});
    assert_int_equal(part_of(&epyc_7001, "0,8,16,24,32,40,48,56"), UNCORE_PART_NODE);
    assert_int_equal(part_of(&epyc_7001, "0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60"), UNCORE_PART_CACHE);
    struct host cascade_lake_ap = make_host((const unsigned[]){2, 2, 2, 1, 4, 2}); // with two NUMA nodes a die
    assert_int_equal(part_of(&cascade_lake_ap, "0,16,32,48"), UNCORE_PART_DIE);
    assert_int_equal(part_of(&cascade_lake_ap, "3,16,35,60"), UNCORE_PART_DIE); // after some have gone and come
    assert_int_equal(part_of(&cascade_lake_ap, "0,32"), UNCORE_PART_PACKAGE);   // power
    struct host few = make_host((const unsigned[]){2, 1, 1, 1, 2, 2});
    assert_int_equal(part_of(&few, "0,2,4,6"), UNCORE_PART_CORE); // power_core
}

static void test_without_a_list_of_cpus_the_largest_parts_that_tell_readers_apart_are_taken(void **state) {
    (void)state;
    struct host host = make_host((const unsigned[]){2, 2, 1, 1, 4, 1});
    struct cpuset cpus = first_of_each(&host, UNCORE_PART_DIE), unknown = {{0}}, online = online_of(&host);
    struct uncore_mask mask = mask_of(&host, &cpus);
    assert_int_equal(uncore_mask_part(&mask, &unknown), UNCORE_PART_DIE);
    memset(mask.around, 0, sizeof mask.around);
    assert_int_equal(uncore_mask_part(&mask, &online), UNCORE_PART_DIE);
    for (size_t i = 0; i < mask.n; i++)
        mask.places[i] = (struct uncore_place){-1, -1, -1, -1, -1};
    assert_int_equal(uncore_mask_part(&mask, &online), UNCORE_PART_HOST); // nothing is known
    uncore_mask_deinit(&mask);
}

static int reader_of(const struct host *host, const struct uncore_box *box, const struct cpuset *cpus) {
    struct uncore_mask mask = mask_of(host, cpus);
    int cpu = uncore_box_reader(box, &mask);
    uncore_mask_deinit(&mask);
    return cpu;
}

// Takes CPUs off line, and readers with them: the driver takes any other one of the same part, or none.
static struct cpuset unplug_some(struct host *host, enum uncore_part part, const struct cpuset *readers,
                                 uint64_t *seed) {
    struct cpuset now = {{0}};
    for (unsigned cpu = 0; cpu < host->n; cpu++)
        host->online[cpu] = random_below(seed, 3) > 0;
    for (unsigned reader = 0; reader < host->n; reader++) {
        int takes = cpuset_has(readers, reader) && host->online[reader] ? (int)reader : -1;
        unsigned begin = (unsigned)random_below(seed, host->n);
        for (unsigned i = 0; i < host->n && takes < 0 && cpuset_has(readers, reader); i++) {
            unsigned other = (begin + i) % host->n;
            if (host->online[other] && uncore_place_same(&host->places[reader], &host->places[other], part))
                takes = (int)other;
        }
        if (takes >= 0)
            cpuset_add(&now, (unsigned)takes);
    }
    return now;
}

static void test_each_box_is_read_within_its_part_or_by_nobody(void **state) {
    (void)state;
    static const unsigned CHOICES[] = {1, 1, 2, 2, 3};
    uint64_t seed = seed_begin();
    for (int round = 0; round < RANDOM_HOSTS; round++) {
        unsigned parts[6];
        for (int i = 0; i < 6; i++)
            parts[i] = CHOICES[random_below(&seed, 5)];
        unsigned n = parts[0] * parts[1] * parts[2] * parts[3] * parts[4] * parts[5];
        if (n > CPUS_MAX)
            continue;
        struct host host = make_host(parts);
        enum uncore_part made = (enum uncore_part)(UNCORE_PART_PACKAGE + random_below(&seed, UNCORE_PART_CORE));
        struct cpuset readers = first_of_each(&host, made), online = online_of(&host);
        struct uncore_mask mask = mask_of(&host, &readers);
        enum uncore_part found = uncore_mask_part(&mask, &online);
        uncore_mask_deinit(&mask);
        struct cpuset now = unplug_some(&host, made, &readers, &seed);
        for (unsigned cpu = 0; cpu < host.n; cpu++) {
            const struct uncore_box box = {.cpu = cpu, .place = host.places[cpu], .part = found};
            int expected = -1;
            if (!cpuset_has(&readers, cpu))
                continue;
            for (unsigned other = 0; other < host.n; other++)
                if (cpuset_has(&now, other) && uncore_place_same(&host.places[cpu], &host.places[other], made))
                    expected = (int)other;
            assert_int_equal(reader_of(&host, &box, &now), expected);
        }
    }
}

// Linux numbers cores within a package or within a die (core_id), whichever the CPU's own identifiers make of it.
static void test_cores_of_one_number_in_two_dies_are_not_one(void **state) {
    (void)state;
    const struct uncore_place core = {.package = 1, .die = 0, .node = -1, .cache = -1, .core = 3};
    struct uncore_place other = core;
    assert_true(uncore_place_same(&core, &other, UNCORE_PART_CORE));
    other.die = 1;
    assert_false(uncore_place_same(&core, &other, UNCORE_PART_CORE));
    assert_true(uncore_place_same(&core, &other, UNCORE_PART_PACKAGE));
    struct uncore_place old = core, same = core; // kernels before 5.2 do not tell dies
    old.die = same.die = -1;
    assert_true(uncore_place_same(&old, &same, UNCORE_PART_CORE));
    same.package = 0;
    assert_false(uncore_place_same(&old, &same, UNCORE_PART_CORE));
}

// Caches may be numbered within their package, as firmware has it.
static void test_caches_of_one_number_in_two_packages_are_not_one(void **state) {
    (void)state;
    const struct uncore_place cache = {.package = 0, .die = -1, .node = -1, .cache = 2, .core = 1};
    struct uncore_place other = cache;
    assert_true(uncore_place_same(&cache, &other, UNCORE_PART_CACHE));
    other.package = 1;
    assert_false(uncore_place_same(&cache, &other, UNCORE_PART_CACHE));
}

static void test_a_box_of_a_pmu_with_one_reader_follows_it_anywhere(void **state) {
    (void)state;
    struct host host = make_host((const unsigned[]){2, 1, 1, 1, 4, 1});
    struct uncore_box box = {.cpu = 4, .place = host.places[4], .part = UNCORE_PART_HOST};
    struct cpuset cpus = {{0}};
    assert_int_equal(reader_of(&host, &box, &cpus), -1);
    cpuset_add(&cpus, 0); // of the other socket
    assert_int_equal(reader_of(&host, &box, &cpus), 0);
    cpuset_add(&cpus, 5); // the PMU has two boxes now, and nobody knows which of them this one is
    assert_int_equal(reader_of(&host, &box, &cpus), -1);
    cpuset_add(&cpus, 4);
    assert_int_equal(reader_of(&host, &box, &cpus), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_of_real_hosts_are_made_of_what_their_drivers_say),
        cmocka_unit_test(test_without_a_list_of_cpus_the_largest_parts_that_tell_readers_apart_are_taken),
        cmocka_unit_test(test_each_box_is_read_within_its_part_or_by_nobody),
        cmocka_unit_test(test_cores_of_one_number_in_two_dies_are_not_one),
        cmocka_unit_test(test_caches_of_one_number_in_two_packages_are_not_one),
        cmocka_unit_test(test_a_box_of_a_pmu_with_one_reader_follows_it_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
