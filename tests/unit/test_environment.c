// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/host/environment.h"

static void test_at_first_nothing_is_known_but_that_there_is_smt(void **state) {
    (void)state;
    struct environment environment;
    environment_init(&environment);
    for (int i = 0; i < LITERAL_N; i++)
        assert_true(i == LITERAL_SMT_ON ? environment.facts.literals[i] == 1 : isnan(environment.facts.literals[i]));
    assert_string_equal(environment.facts.cpuid, "");
    assert_null(environment.has_event);
    assert_false(environment_is_cpu(&environment, ".*"));
}

static void test_a_literal_is_found_in_any_case_and_as_a_whole(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int literal;
    } cases[] = {{"smt_on", LITERAL_SMT_ON},
                 {"SMT_On", LITERAL_SMT_ON},
                 {"core_wide", LITERAL_CORE_WIDE},
                 {"num_cpus", LITERAL_NUM_CPUS},
                 {"num_cpus_online", LITERAL_NUM_CPUS_ONLINE},
                 {"num_cores", LITERAL_NUM_CORES},
                 {"num_dies", LITERAL_NUM_DIES},
                 {"num_packages", LITERAL_NUM_PACKAGES},
                 {"slots", LITERAL_SLOTS},
                 {"system_tsc_freq", LITERAL_SYSTEM_TSC_FREQ},
                 {"has_pmem", LITERAL_HAS_PMEM},
                 {"smt", -1},
                 {"smt_on_", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(environment_find_literal(cases[i].name, strlen(cases[i].name)), cases[i].literal);
    assert_int_equal(environment_find_literal("slots and more", 5), LITERAL_SLOTS);
}

static void test_an_x86_cpu_is_compared_by_pattern_and_an_arm_core_by_release(void **state) {
    (void)state;
    struct environment environment;
    environment_init(&environment);
    strcpy(environment.facts.cpuid, "GenuineIntel-6-8F-4");
    assert_true(environment_is_cpu(&environment, "GenuineIntel-6-[8C]F"));
    assert_false(environment_is_cpu(&environment, "GenuineIntel-6-CF"));
    assert_false(environment_is_cpu(&environment, "0x410fd4f0"));
    strcpy(environment.facts.cpuid, "0x00000000411fd493"); // r1p3
    assert_true(environment_is_cpu(&environment, "0x00000000410fd490"));
    assert_true(environment_is_cpu(&environment, "0x411fd493"));
    assert_false(environment_is_cpu(&environment, "0x411fd494"));
    assert_false(environment_is_cpu(&environment, "0x410fd4f0"));
}

// A PMU that has the events whose names end in a digit; counts its calls.
static bool ends_in_a_digit(const void *context, const char *name) {
    unsigned *asked = *(unsigned *const *)context;
    ++*asked;
    return name[0] != '\0' && strchr("0123456789", name[strlen(name) - 1]) != NULL;
}

static void test_what_was_asked_is_answered_again_without_the_pmu(void **state) {
    (void)state;
    unsigned asked = 0, *pmu = &asked;
    struct environment_answers answers = {.n = 0};
    const struct environment_listener listener = {.has_event = ends_in_a_digit, .context = &pmu, .answers = &answers};
    assert_true(environment_listen(&listener, "a-1"));
    assert_false(environment_listen(&listener, "a-b"));
    assert_true(environment_listen(&listener, "a-1"));
    assert_int_equal(answers.n, 2);
    assert_int_equal(asked, 3);
    assert_true(environment_answer(&answers, "a-1"));
    assert_false(environment_answer(&answers, "a-b"));
    assert_false(environment_answer(&answers, "a-2")); // nobody asked
    assert_int_equal(asked, 3);
}

static void test_what_is_not_noted_is_answered_all_the_same(void **state) {
    (void)state;
    unsigned asked = 0, *pmu = &asked;
    struct environment_answers answers = {.n = 0};
    const struct environment_listener listener = {.has_event = ends_in_a_digit, .context = &pmu, .answers = &answers};
    char name[ENVIRONMENT_NAME_MAX + 3];
    memset(name, '1', sizeof name);
    name[ENVIRONMENT_NAME_MAX + 1] = '\0'; // one too long
    assert_true(environment_listen(&listener, name));
    assert_int_equal(answers.n, 0);
    for (unsigned i = 0; i < ENVIRONMENT_ANSWERS_MAX + 5; i++) {
        (void)snprintf(name, sizeof name, "event-%u", i);
        assert_true(environment_listen(&listener, name));
    }
    assert_int_equal(answers.n, ENVIRONMENT_ANSWERS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_first_nothing_is_known_but_that_there_is_smt),
        cmocka_unit_test(test_a_literal_is_found_in_any_case_and_as_a_whole),
        cmocka_unit_test(test_an_x86_cpu_is_compared_by_pattern_and_an_arm_core_by_release),
        cmocka_unit_test(test_what_was_asked_is_answered_again_without_the_pmu),
        cmocka_unit_test(test_what_is_not_noted_is_answered_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
