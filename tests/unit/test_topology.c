// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "core/base/cpuset.h"
#include "core/host/topology.h"

// ---- CPU lists ----

static void expect_cpus(const char *text, const char *wanted) {
    struct cpuset set;
    char got[256] = "";
    size_t n = 0;
    memset(&set, 0xff, sizeof set);
    assert_int_equal(cpuset_parse(text, &set), 0);
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++)
        if (cpuset_has(&set, cpu) && strlen(got) < sizeof got - 8) {
            (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", n > 0 ? " " : "", cpu);
            n++;
        }
    assert_string_equal(got, wanted);
    assert_int_equal(cpuset_count(&set), n);
}

static void test_a_cpu_list_has_numbers_and_ranges(void **state) {
    (void)state;
    expect_cpus("0", "0");
    expect_cpus("0-3,8", "0 1 2 3 8");
    expect_cpus("8,0-3", "0 1 2 3 8");
    expect_cpus("63-65", "63 64 65");
    expect_cpus("1-1", "1");
    expect_cpus("2,2,1-2", "1 2");
    expect_cpus("007", "7");
    expect_cpus("8191", "8191");
}

static void test_the_kernels_newline_and_its_empty_list_are_read(void **state) {
    (void)state;
    expect_cpus("0-2\n", "0 1 2");
    expect_cpus("", "");
    expect_cpus("\n", "");
}

static void test_what_is_no_cpu_list_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {",",    "1,",  ",1",   "1,,2",  "1-",   "-1", "3-1", "1-2-3", "a",   "1 ", " 1",
                                      "1, 2", "0x1", "1,\n", "1\n\n", "1\n2", "+1", "all", "1-a",   "1.5", "\n1"};
    struct cpuset before, set;
    memset(&before, 0x5a, sizeof before);
    for (size_t i = 0; i < N_OF(bad); i++) {
        set = before;
        if (cpuset_parse(bad[i], &set) != -EINVAL)
            fail_msg("\"%s\" is taken for a CPU list", bad[i]);
        assert_memory_equal(&set, &before, sizeof set);
    }
}

static void test_a_cpu_number_beyond_the_greatest_is_out_of_range(void **state) {
    (void)state;
    static const char *const bad[] = {"8192", "0-8192", "1,99999999999999999999999999", "4294967296", "4294967297-3"};
    struct cpuset before, set;
    memset(&before, 0x5a, sizeof before);
    for (size_t i = 0; i < N_OF(bad); i++) {
        set = before;
        assert_int_equal(cpuset_parse(bad[i], &set), -ERANGE);
        assert_memory_equal(&set, &before, sizeof set);
    }
}

static void test_a_set_holds_what_was_added_within_its_bounds(void **state) {
    (void)state;
    struct cpuset set = {0};
    assert_int_equal(cpuset_count(&set), 0);
    cpuset_add(&set, 0);
    cpuset_add(&set, 64);
    cpuset_add(&set, 64);
    cpuset_add(&set, CPUSET_MAX - 1);
    cpuset_add(&set, CPUSET_MAX);
    cpuset_add(&set, 4294967295u);
    assert_int_equal(cpuset_count(&set), 3);
    assert_true(cpuset_has(&set, 0) && cpuset_has(&set, 64) && cpuset_has(&set, CPUSET_MAX - 1));
    assert_false(cpuset_has(&set, 1) || cpuset_has(&set, 63) || cpuset_has(&set, CPUSET_MAX) ||
                 cpuset_has(&set, 4294967295u));
}

// ---- topology ----

static struct topology *topology_of(const struct topology_source *cpus, size_t n) {
    struct topology *topology = NULL;
    assert_int_equal(topology_new(cpus, n, 2.5e9, &topology), 0);
    return topology;
}

static void expect_cpu(const struct topology *topology, size_t i, unsigned id, unsigned core, unsigned socket) {
    assert_int_equal(topology->cpus[i].id, id);
    assert_int_equal(topology->cpus[i].core, core);
    assert_int_equal(topology->cpus[i].socket, socket);
}

static void expect_socket(const struct topology *topology, size_t i, unsigned id, unsigned cores, unsigned measured,
                          unsigned excluded) {
    assert_int_equal(topology->sockets[i].id, id);
    assert_int_equal(topology->sockets[i].cores, cores);
    assert_int_equal(topology->sockets[i].measured, measured);
    assert_int_equal(topology->sockets[i].excluded, excluded);
}

static void test_smt_siblings_share_a_core_of_their_package_only(void **state) {
    (void)state;
    const struct topology_source cpus[] = {
        {0, 0, 0, true}, {1, 1, 0, true}, {2, 0, 3, true}, {3, 1, 3, true}, // id, core, package
        {4, 0, 0, true}, {5, 1, 0, true}, {6, 0, 3, true}, {7, 1, 3, true}};
    struct topology *topology = topology_of(cpus, 8);
    assert_int_equal(topology->n_cpus, 8);
    assert_int_equal(topology->n_cores, 4);
    assert_int_equal(topology->n_sockets, 2);
    assert_true(topology->maximum_frequency_hz == 2.5e9);
    for (unsigned i = 0; i < 8; i++)
        expect_cpu(topology, i, i, i % 4, i % 4 / 2);
    expect_socket(topology, 0, 0, 2, 4, 0);
    expect_socket(topology, 1, 3, 2, 4, 0);
    assert_null(topology_free(topology));
    assert_null(topology_free(NULL));
}

static void test_a_cpu_that_is_not_selected_is_counted_as_excluded(void **state) {
    (void)state;
    const struct topology_source cpus[] = {
        {2, 0, 0, false}, {5, 1, 0, true}, {7, 0, 0, true}, {9, 0, 1, false}, {11, 1, 1, false}};
    struct topology *topology = topology_of(cpus, 5);
    assert_int_equal(topology->n_cpus, 2);
    assert_int_equal(topology->n_cores, 2);
    expect_cpu(topology, 0, 5, 0, 0);
    expect_cpu(topology, 1, 7, 1, 0);
    assert_int_equal(topology->n_sockets, 2);
    expect_socket(topology, 0, 0, 2, 2, 1);
    expect_socket(topology, 1, 1, 0, 0, 2);
    topology_free(topology);
}

static void test_a_core_with_one_selected_sibling_counts_once(void **state) {
    (void)state;
    const struct topology_source cpus[] = {{0, 4, 0, true}, {1, 4, 0, false}, {2, 4, 0, true}};
    struct topology *topology = topology_of(cpus, 3);
    assert_int_equal(topology->n_cores, 1);
    expect_socket(topology, 0, 0, 1, 2, 1);
    topology_free(topology);
}

static void test_sums_are_over_whole_cores_where_all_siblings_are_measured(void **state) {
    (void)state;
    const struct topology_source cpus[] = {{0, 4, 0, true}, {1, 5, 0, true},  {2, 4, 0, true}, {3, 6, 0, false},
                                           {4, 4, 1, true}, {5, 4, 1, false}, {6, 8, 2, true}};
    struct topology *topology = topology_of(cpus, 7);
    assert_true(topology_whole_cores(topology, 1)); // CPU 3 is left out, and is a core of its own
    assert_false(topology_whole_cores(topology, 2));
    assert_true(topology_whole_cores(topology, 3));
    assert_false(topology_whole_cores(topology, 0)); // because of socket 1
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        assert_false(topology_whole_cores(topology, 4 + cpu));
    topology_free(topology);
    topology = topology_of(cpus, 4);
    assert_true(topology_whole_cores(topology, 0));
    topology_free(topology);
}

static void test_without_ids_every_cpu_is_a_core_of_socket_0(void **state) {
    (void)state;
    const struct topology_source cpus[] = {{0, -1, -1, true}, {1, -1, -1, true}};
    struct topology *topology = topology_of(cpus, 2);
    assert_int_equal(topology->n_cores, 2);
    assert_int_equal(topology->n_sockets, 1);
    expect_socket(topology, 0, 0, 2, 2, 0);
    topology_free(topology);
}

static void test_a_topology_needs_ascending_ids_and_one_cpu(void **state) {
    (void)state;
    const struct topology_source twice[] = {{3, 0, 0, true}, {3, 1, 0, true}},
                                 back[] = {{1, 0, 0, true}, {0, 1, 0, true}},
                                 none[] = {{0, 0, 0, false}, {1, 1, 0, false}};
    struct topology *const untouched = (struct topology *)(void *)&untouched, *topology = untouched;
    assert_int_equal(topology_new(twice, 2, 0, &topology), -EINVAL);
    assert_int_equal(topology_new(back, 2, 0, &topology), -EINVAL);
    assert_int_equal(topology_new(none, 2, 0, &topology), -EINVAL);
    assert_int_equal(topology_new(none, 0, 0, &topology), -EINVAL);
    assert_ptr_equal(topology, untouched);
}

// ---- against each CPU compared with each ----

enum { RANDOM_CPUS = 60, RANDOM_CASES = 500 };

static bool are_siblings(const struct topology_source *a, const struct topology_source *b) {
    return a == b || (a->core >= 0 && a->core == b->core && a->package == b->package);
}

static size_t random_source(struct topology_source *cpus) {
    size_t n = 0;
    unsigned id = 0;
    for (size_t wanted = (size_t)rand() % RANDOM_CPUS + 1; n < wanted; n++) {
        id += (unsigned)rand() % 3 + (n > 0);
        cpus[n] = (struct topology_source){id, rand() % 12 - 1, rand() % 3 - 1, rand() % 4 > 0 || n == 0};
    }
    return n;
}

// Checks the entry of selected CPU i, which is the topology's next one.
static void check_place(const struct topology *topology, const struct topology_source *cpus, size_t i, size_t next) {
    const struct topology_cpu *cpu = &topology->cpus[next];
    size_t other = 0;
    unsigned cores = 0;
    for (size_t j = 0, at = 0; j <= i; j++) {
        if (!cpus[j].selected)
            continue;
        other = 0;
        while (!cpus[other].selected || !are_siblings(&cpus[j], &cpus[other]))
            other++;
        cores += other == j;
        if (j < i)
            assert_int_equal(topology->cpus[at].core == cpu->core, are_siblings(&cpus[i], &cpus[j]));
        at++;
    }
    assert_int_equal(cpu->id, cpus[i].id);
    if (other == i)
        assert_int_equal(cpu->core, cores - 1); // numbered in the order of their first CPUs
    assert_int_equal(topology->sockets[cpu->socket].id, cpus[i].package < 0 ? 0 : cpus[i].package);
}

static void test_random_hosts_have_the_cores_that_comparing_each_cpu_with_each_finds(void **state) {
    (void)state;
    srand(11);
    for (int i = 0; i < RANDOM_CASES; i++) {
        struct topology_source cpus[RANDOM_CPUS];
        size_t n = random_source(cpus), next = 0;
        struct topology *topology;
        assert_int_equal(topology_new(cpus, n, 0, &topology), 0);
        for (size_t c = 0; c < n; c++) {
            bool whole = true;
            for (size_t o = 0; o < n && !cpus[c].selected; o++)
                whole = whole && !(cpus[o].selected && are_siblings(&cpus[c], &cpus[o]));
            for (size_t s = 0; s < topology->n_sockets && !whole; s++)
                if (topology->sockets[s].id == (cpus[c].package < 0 ? 0U : (unsigned)cpus[c].package))
                    assert_false(topology->sockets[s].whole_cores);
            if (cpus[c].selected)
                check_place(topology, cpus, c, next++);
        }
        assert_int_equal(topology->n_cpus, next);
        topology_free(topology);
    }
}

static void test_a_cpu_is_found_by_its_number(void **state) {
    (void)state;
    const struct topology_source cpus[] = {{2, 0, 0, true}, {3, 1, 0, false}, {7, 2, 0, true}, {4000, 3, 0, true}};
    struct topology *topology;
    assert_int_equal(topology_new(cpus, N_OF(cpus), 0, &topology), 0);
    assert_int_equal(topology_find_cpu(topology, 2), 0);
    assert_int_equal(topology_find_cpu(topology, 7), 1);
    assert_int_equal(topology_find_cpu(topology, 4000), 2);
    static const unsigned absent[] = {0, 3, 6, 8, 3999, 4001, 8191};
    for (size_t i = 0; i < N_OF(absent); i++)
        assert_int_equal(topology_find_cpu(topology, absent[i]), -1);
    topology_free(topology);
}

static void test_cpus_that_another_topology_lacks_are_listed(void **state) {
    (void)state;
    struct topology *all = build_cpus(0, 40, 2), *few;
    struct topology_source sources[40];
    char list[200], cut[16];
    for (unsigned i = 0; i < 40; i++)
        sources[i] = (struct topology_source){
            .id = i, .core = (int)i, .selected = i == 0 || (i > 2 && i < 9) || i == 10 || (i > 11 && i < 39)};
    few = build_topology(sources, 40);
    assert_int_equal(topology_list_missing(all, few, list, sizeof list), 5);
    assert_string_equal(list, "1-2,9,11,39");
    assert_int_equal(topology_list_missing(few, all, list, sizeof list), 0);
    assert_string_equal(list, "");
    topology_free(few);
    for (unsigned i = 0; i < 40; i++)
        sources[i].selected = i % 2 == 0;
    few = build_topology(sources, 40);
    assert_int_equal(topology_list_missing(all, few, cut, sizeof cut), 20);
    assert_string_equal(cut, "1,3,5,7,9,11...");
    topology_free(few);
    topology_free(all);
}

static void test_isolated_cpus_are_summed_over_sockets(void **state) {
    (void)state;
    struct topology *topology = build_cpus(0, 4, 2);
    assert_int_equal(topology_count_isolated(topology), 0);
    topology->sockets[0].isolated = 2;
    topology->sockets[1].isolated = 3;
    assert_int_equal(topology_count_isolated(topology), 5);
    topology_free(topology);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus_that_another_topology_lacks_are_listed),
        cmocka_unit_test(test_isolated_cpus_are_summed_over_sockets),
        cmocka_unit_test(test_a_cpu_list_has_numbers_and_ranges),
        cmocka_unit_test(test_the_kernels_newline_and_its_empty_list_are_read),
        cmocka_unit_test(test_what_is_no_cpu_list_is_refused),
        cmocka_unit_test(test_a_cpu_number_beyond_the_greatest_is_out_of_range),
        cmocka_unit_test(test_a_set_holds_what_was_added_within_its_bounds),
        cmocka_unit_test(test_smt_siblings_share_a_core_of_their_package_only),
        cmocka_unit_test(test_a_cpu_that_is_not_selected_is_counted_as_excluded),
        cmocka_unit_test(test_a_core_with_one_selected_sibling_counts_once),
        cmocka_unit_test(test_sums_are_over_whole_cores_where_all_siblings_are_measured),
        cmocka_unit_test(test_without_ids_every_cpu_is_a_core_of_socket_0),
        cmocka_unit_test(test_a_topology_needs_ascending_ids_and_one_cpu),
        cmocka_unit_test(test_random_hosts_have_the_cores_that_comparing_each_cpu_with_each_finds),
        cmocka_unit_test(test_a_cpu_is_found_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
