// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "core/base/cpuset.h"
#include "core/base/random.h"
#include "tests/unit/core_check.h"

// A list as a loop over all CPUs writes it.
static void format_plainly(const struct cpuset *set, char *list, size_t size) {
    size_t length = 0;
    list[0] = '\0';
    for (unsigned first = 0; first < CPUSET_MAX; first++) {
        unsigned last = first;
        if (!cpuset_has(set, first))
            continue;
        while (cpuset_has(set, last + 1))
            last++;
        length += (size_t)snprintf(list + length, size - length, last > first ? "%s%u-%u" : "%s%u",
                                   length > 0 ? "," : "", first, last);
        first = last;
    }
}

static void test_walks_through_the_cpus_of_a_set(void **state) {
    static const unsigned CPUS[] = {0, 63, 64, 130, CPUSET_MAX - 1};
    struct cpuset set = {0};
    unsigned cpu = 0;
    (void)state;
    assert_true(cpuset_is_empty(&set));
    assert_int_equal(cpuset_next(&set, 0), CPUSET_MAX);
    for (size_t i = 0; i < sizeof CPUS / sizeof *CPUS; i++)
        cpuset_add(&set, CPUS[i]);
    assert_false(cpuset_is_empty(&set));
    for (size_t i = 0; i < sizeof CPUS / sizeof *CPUS; i++, cpu++)
        assert_int_equal(cpu = cpuset_next(&set, cpu), CPUS[i]);
    assert_int_equal(cpuset_next(&set, cpu), CPUSET_MAX);
    assert_int_equal(cpuset_next(&set, 65), 130);
}

static void test_writes_any_set_as_a_list(void **state) {
    static char list[1 << 16], plain[1 << 16];
    uint64_t seed = 20261123;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 200; round++) {
        struct cpuset set = {0}, read;
        unsigned cpu = (unsigned)random_below(&seed, 3); // sometimes CPU 0 is among them
        while (cpu < CPUSET_MAX) {
            unsigned end = cpu + 1 + (unsigned)random_below(&seed, 1 + round);
            for (; cpu < end && cpu < CPUSET_MAX; cpu++)
                cpuset_add(&set, cpu);
            cpu += 1 + (unsigned)random_below(&seed, 300);
        }
        cpuset_format(&set, list, sizeof list);
        format_plainly(&set, plain, sizeof plain);
        assert_string_equal(list, plain);
        assert_int_equal(cpuset_parse(list, &read), 0);
        assert_memory_equal(&read, &set, sizeof set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks_through_the_cpus_of_a_set),
                                       cmocka_unit_test(test_writes_any_set_as_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
