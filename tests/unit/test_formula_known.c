// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// Exported values never depend on unknown ones: the same formulas by perf's rules and by the known ones.

enum { EVENTS_N = 4 };
static const double VALUES[EVENTS_N] = {2, 3, 0, NAN}; // of A, B, Z, N

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    (void)context;
    static const char names[EVENTS_N] = {'A', 'B', 'Z', 'N'};
    const char *found = memchr(names, name[0], EVENTS_N);
    if (kind == FORMULA_ID && length == 1 && found)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)(found - names)};
    else if (kind == FORMULA_LITERAL)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = NAN};
    else
        return -ENOENT;
    return 0;
}

static void check(const char *text, double perf, double known) {
    const struct formula_scope scope = {.lookup = lookup};
    struct formula *formula = NULL;
    struct fault error;
    if (formula_compile(text, &scope, &formula, &error) != 0)
        fail_msg("%s: column %zu: %s", text, error.column, error.text);
    const double wanted[] = {perf, known};
    const double got[] = {formula_evaluate(formula, VALUES, NULL), formula_evaluate_known(formula, VALUES, NULL)};
    formula_free(formula);
    for (size_t i = 0; i < 2; i++)
        if (isnan(wanted[i]) ? !isnan(got[i]) : got[i] != wanted[i])
            fail_msg("%s is %g by %s, not %g", text, got[i], i == 0 ? "perf's rules" : "the known rules", wanted[i]);
}

static void test_a_condition_that_is_not_known_settles_nothing(void **state) {
    (void)state;
    check("A if N else B", 2, NAN);
    check("A if Z / Z else B", 2, NAN);
    check("A if Z / Z < 1 else 0", 0, NAN);
    check("A if 1 > N else 0", 0, NAN);
    check("A if N < 1 else A", 2, 2); // the same whatever it is
    check("A if N < 1 else B - 1", 2, 2);
    check("N if N < 1 else N", NAN, NAN);
    check("A if A < B else N", 2, 2); // what is not taken is not needed
    check("N if A > B else B", 3, 3);
    check("A if Z else N", NAN, NAN);
}

static void test_a_comparison_with_what_is_not_known_is_not_known(void **state) {
    (void)state;
    check("N < A", 0, NAN);
    check("A < N", 0, NAN);
    check("N > A", 0, NAN);
    check("A > N", 0, NAN);
    check("1 - (N > A)", 1, NAN);
    check("A < B", 1, 1);
    check("A > B", 0, 0);
}

static void test_the_smaller_and_the_larger_of_what_is_not_known_are_not_known(void **state) {
    (void)state;
    check("max(1 - N, 0)", 0, NAN);
    check("max(0, 1 - N)", NAN, NAN);
    check("min(N, A)", 2, NAN);
    check("min(A, N)", NAN, NAN);
    check("max(A, B) + min(A, B)", 5, 5);
}

static void test_logic_is_known_where_one_side_decides(void **state) {
    (void)state;
    check("Z & N", 0, 0);
    check("N & Z", 0, 0);
    check("A & N", NAN, NAN);
    check("A | N", 1, 1);
    check("N | A", 1, 1);
    check("Z | N", NAN, NAN);
    check("A ^ N", NAN, NAN);
    check("(A > 1) | (N > 1)", 1, 1);
    check("(A > 5) & (N > 1)", 0, 0);
    check("(A > 1) & (N > 1)", 0, NAN); // perf: N > 1 is 0
    check("B if (A > 1) & (N > 1) else 0", 0, NAN);
    check("B if (A > 5) & (N > 1) else 0", 0, 0);
}

static void test_dividing_by_zero_is_not_known_unless_the_function_says_0(void **state) {
    (void)state;
    check("A / Z", NAN, NAN);
    check("A % Z", NAN, NAN);
    check("d_ratio(A, Z)", 0, 0);
    check("d_ratio(N, Z)", 0, 0); // the same whatever N is
    check("d_ratio(A, N)", NAN, NAN);
    check("0 * N", NAN, NAN);
}

static void test_constants_that_are_not_known_settle_nothing_either(void **state) {
    (void)state;
    check("A if NaN else B", 2, NAN);
    check("1 if NaN else 2", 1, NAN);
    check("1 if NaN else 1", 1, 1);
    check("A if #unknown > 0 else B", 3, NAN);
    check("A if 1 / 0 < 1 else B", 3, NAN);
    check("max(NaN, 1)", 1, NAN);
    check("max(1, NaN)", NAN, NAN);
    check("NaN < 1", 0, NAN);
    check("0 & #unknown", 0, 0);
    check("1 | #unknown", 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_condition_that_is_not_known_settles_nothing),
        cmocka_unit_test(test_a_comparison_with_what_is_not_known_is_not_known),
        cmocka_unit_test(test_the_smaller_and_the_larger_of_what_is_not_known_are_not_known),
        cmocka_unit_test(test_logic_is_known_where_one_side_decides),
        cmocka_unit_test(test_dividing_by_zero_is_not_known_unless_the_function_says_0),
        cmocka_unit_test(test_constants_that_are_not_known_settle_nothing_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
