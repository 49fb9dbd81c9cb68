// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// Values of formulas, and the faults of refused ones. test_formula_ratio tests which of them are ratios.

static const char *const NAMES[] = {"A", "B", "C", "Z", "INST_RETIRED", "L1D.MISS_2"};
static const double VALUES[] = {2, 3, 5, 0, 700, 1100};

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    (void)context;
    for (size_t i = 0; i < N_OF(NAMES) && kind == FORMULA_ID; i++)
        if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) {
            *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)i};
            return 0;
        }
    return -ENOENT;
}

static const struct formula_scope SCOPE = {.lookup = lookup};

static struct formula *compile(const char *text) {
    struct formula *formula = NULL;
    struct fault error;
    if (formula_compile(text, &SCOPE, &formula, &error) != 0)
        fail_msg("%s: column %zu: %s", text, error.column, error.text);
    return formula;
}

static double value_of(const char *text) {
    struct formula *formula = compile(text);
    double value = formula_evaluate(formula, VALUES, NULL);
    formula_free(formula);
    return value;
}

static void check_value(const char *text, double wanted) {
    double value = value_of(text);
    if (!(value == wanted))
        fail_msg("%s is %g, not %g", text, value, wanted);
}

static void check_no_value(const char *text) {
    double value = value_of(text);
    if (!isnan(value))
        fail_msg("%s is %g, which should be no value", text, value);
}

static void refuse(const char *text, size_t column, const char *wanted) {
    struct formula *const untouched = (struct formula *)&SCOPE, *formula = untouched;
    struct fault error = {0};
    int r = formula_compile(text, &SCOPE, &formula, &error);
    if (r != -EINVAL || error.column != column || !strstr(error.text, wanted))
        fail_msg("%.60s: got %d, column %zu, \"%s\"; wanted column %zu, \"%s\"", text, r, error.column, error.text,
                 column, wanted);
    assert_ptr_equal(formula, untouched);
}

// `n` times `piece`, then `middle`, then `n` times `end`. For free().
static char *nested(const char *piece, const char *middle, const char *end, size_t n) {
    char *text = calloc(n * (strlen(piece) + strlen(end)) + strlen(middle) + 1, 1), *to = text;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        to = stpcpy(to, piece);
    to = stpcpy(to, middle);
    for (size_t i = 0; i < n; i++)
        to = stpcpy(to, end);
    return text;
}

static void check_nested(const char *piece, const char *middle, const char *end, size_t n, double wanted) {
    char *text = nested(piece, middle, end, n);
    check_value(text, wanted);
    free(text);
}

static void refuse_nested(const char *piece, const char *middle, const char *end, size_t n, size_t column,
                          const char *wanted) {
    char *text = nested(piece, middle, end, n);
    refuse(text, column, wanted);
    free(text);
}

static void test_products_bind_closer_than_sums(void **state) {
    (void)state;
    check_value("1 + 2 * 3", 7);
    check_value("2 * 3 + 1", 7);
    check_value("20 - 6 / 2", 17);
    check_value("(1 + 2) * 3", 9);
    check_value("A + B * C - 100 / C", 2 + 15 - 20);
}

static void test_operators_of_one_kind_go_left_to_right(void **state) {
    (void)state;
    check_value("10 - 4 - 3", 3);
    check_value("10 - (4 - 3)", 9);
    check_value("24 / 4 / 2", 3);
    check_value("24 / (4 / 2)", 12);
    check_value("24 / 4 * 2", 12);
    check_value("2 - 3 + 4", 3);
}

static void test_unary_minus_binds_closest(void **state) {
    (void)state;
    check_value("-2 * 3", -6);
    check_value("2 * -3", -6);
    check_value("-A + B", 1);
    check_value("-2 - 3", -5);
    check_value("2 - -3", 5);
    check_value("2--3", 5);
    check_value("--4", 4);
    check_value("- - - 4", -4);
    check_value("-(1 + 2)", -3);
    check_value("8 / -4", -2);
    check_value("-A * -B", 6);
}

static void test_numbers_are_whole_decimal_or_with_exponent(void **state) {
    (void)state;
    check_value("0", 0);
    check_value("007", 7);
    check_value("1.5", 1.5);
    check_value(".25", 0.25);
    check_value("1e3", 1000);
    check_value("2E+2", 200);
    check_value("125e-3", 0.125);
    check_value("1.5e1*2", 30);
    check_value("1e3-1", 999);
}

static void test_names_may_hold_digits_dots_and_underscores(void **state) {
    (void)state;
    check_value("INST_RETIRED", 700);
    check_value("L1D.MISS_2 - INST_RETIRED", 400);
}

static void test_white_space_means_nothing(void **state) {
    (void)state;
    check_value("1+2*3", 7);
    check_value(" \t1 +\n2\r* 3\n ", 7);
    check_value("( A )", 2);
}

static void test_a_division_by_zero_has_no_value(void **state) {
    (void)state;
    check_no_value("A / Z");
    check_no_value("Z / Z");
    check_no_value("-A / Z");
    check_no_value("1 / (A + 1 - B)");
    check_no_value("Z * (A / Z)");
    check_no_value("A + B / Z - B / Z");
    check_no_value("1 / 0");
}

static void test_what_is_too_large_for_a_double_has_no_value(void **state) {
    (void)state;
    check_no_value("1e308 * 10");
    check_no_value("-1e308 * 10");
    check_no_value("1e308 * 10 - 1e308 * 10");
}

static void test_a_formula_that_reads_no_value_has_none(void **state) {
    (void)state;
    const double values[] = {NAN, 3, INFINITY, 0, 1, 1};
    const struct {
        const char *text;
        bool defined;
    } cases[] = {{"A", false}, {"A * 0", false}, {"A - A", false}, {"C - C", false}, {"C", false}, {"B + 1", true}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct formula *formula = compile(cases[i].text);
        assert_int_equal(!isnan(formula_evaluate(formula, values, NULL)), cases[i].defined);
        formula_free(formula);
    }
}

static void test_variables_are_listed_ascending_and_once(void **state) {
    (void)state;
    struct formula *formula = compile("C + A * A - C / (B + A)");
    assert_int_equal(formula->n_variables, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(formula->variables[i], i);
    formula_free(formula);
    formula = compile("1 + 2");
    assert_int_equal(formula->n_variables, 0);
    formula_free(formula);
}

static void test_an_error_says_its_column(void **state) {
    (void)state;
    refuse("", 1, "the formula ends where a number, a name or '(' is due");
    refuse("  ", 3, "the formula ends");
    refuse("(1 + 2", 7, "')' is missing");
    refuse("(1 + (2 * 3)", 13, "')' is missing");
    refuse("(1 2)", 4, "')' is missing");
    refuse("A +", 4, "the formula ends");
    refuse("A * ", 5, "the formula ends");
    refuse("-", 2, "the formula ends");
    refuse("A + NOPE / B", 5, "unknown name 'NOPE'");
    refuse("a", 1, "unknown name 'a'");
    refuse("A $ B", 3, "'$' is not expected here");
    refuse("A + $", 5, "'$' stands where a number, a name or '(' is due");
    refuse("A + B)", 6, "')' is not expected here");
    refuse("A B", 3, "'B' is not expected here");
    refuse("()", 2, "')' stands where");
    refuse("A ** B", 4, "'*' stands where");
    refuse("+1", 1, "'+' stands where");
    refuse(".", 1, "unknown name '.'");
    refuse("!A", 1, "'!' stands where");
    refuse("A + \xc3\xa9", 5, "'?' stands where");
    refuse("A \x01", 3, "'?' is not expected here");
}

static void test_what_is_no_number_is_refused(void **state) {
    (void)state;
    refuse("A + 3x", 5, "'3x' is neither a number nor a name");
    refuse("1e", 1, "'1e' is neither a number nor a name");
    refuse("1.5.2", 1, "'1.5.2' is neither a number nor a name");
    refuse("0x10", 1, "a number is written in decimal");
    refuse("1 + 1e999", 5, "the number is too large");
    refuse("inf", 1, "unknown name 'inf'");
    refuse("nan", 1, "unknown name 'nan'");
}

static void test_a_long_unknown_name_is_cut_in_the_message(void **state) {
    (void)state;
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, "unknown name '%.*s'", 80,
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    refuse_nested("x", "", "", FORMULA_LENGTH_MAX, 1, wanted);
}

static void test_a_formula_has_a_greatest_length(void **state) {
    (void)state;
    check_nested(" ", "A", "", FORMULA_LENGTH_MAX - 1, 2);
    refuse_nested(" ", "A", "", FORMULA_LENGTH_MAX, 1, "longer than 131072 characters");
}

static void test_a_long_formula_may_have_as_many_terms_as_fit(void **state) {
    (void)state;
    check_nested("1+", "1", "", 8191, 8192);
    check_nested("A+", "A", "", 8191, 16384);
}

static void test_parentheses_and_signs_nest_to_a_greatest_depth(void **state) {
    (void)state;
    const size_t deepest = FORMULA_NESTING_MAX;
    check_nested("(", "A", ")", deepest, 2);
    refuse_nested("(", "A", ")", deepest + 1, deepest + 1, "nested deeper than 62");
    check_nested("-", "A", "", deepest, 2);
    refuse_nested("-", "A", "", deepest + 1, deepest + 1, "nested deeper than 62");
    check_nested("-(", "A", ")", deepest / 2, -2);
    refuse_nested("-(", "A", ")", deepest / 2 + 1, deepest + 1, "nested deeper than 62");
    check_nested("(1)+", "-(1)", "", 100, 99); // one after the other is not nested
    refuse_nested("(", "A", "", 10000, deepest + 1, "nested deeper than 62");
    check_nested("max(A,", "B", ")", deepest, 3);
    refuse_nested("max(A,", "B", ")", deepest + 1, deepest * 6 + 1, "nested deeper than 62");
    check_nested("A if Z else ", "B", "", deepest, 3);
    refuse_nested("A if Z else ", "B", "", deepest + 1, deepest * 12 + 12, "nested deeper than 62");
}

static void test_what_would_overflow_the_stack_is_refused(void **state) {
    (void)state;
    // Each level leaves six values waiting: 42 levels and the innermost seven take 259 of 256 places, 41 take 253.
    check_nested("Z | Z ^ A & Z < Z + A * (", "Z | Z ^ A & Z < Z + A * A", ")", 41, 1);
    refuse_nested("Z | Z ^ A & Z < Z + A * (", "Z | Z ^ A & Z < Z + A * A", ")", 42, 1, "nested too deeply");
}

static void test_freeing_no_formula_does_nothing(void **state) {
    (void)state;
    assert_null(formula_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_bind_closer_than_sums),
        cmocka_unit_test(test_operators_of_one_kind_go_left_to_right),
        cmocka_unit_test(test_unary_minus_binds_closest),
        cmocka_unit_test(test_numbers_are_whole_decimal_or_with_exponent),
        cmocka_unit_test(test_names_may_hold_digits_dots_and_underscores),
        cmocka_unit_test(test_white_space_means_nothing),
        cmocka_unit_test(test_a_division_by_zero_has_no_value),
        cmocka_unit_test(test_what_is_too_large_for_a_double_has_no_value),
        cmocka_unit_test(test_a_formula_that_reads_no_value_has_none),
        cmocka_unit_test(test_variables_are_listed_ascending_and_once),
        cmocka_unit_test(test_an_error_says_its_column),
        cmocka_unit_test(test_what_is_no_number_is_refused),
        cmocka_unit_test(test_a_long_unknown_name_is_cut_in_the_message),
        cmocka_unit_test(test_a_formula_has_a_greatest_length),
        cmocka_unit_test(test_a_long_formula_may_have_as_many_terms_as_fit),
        cmocka_unit_test(test_parentheses_and_signs_nest_to_a_greatest_depth),
        cmocka_unit_test(test_what_would_overflow_the_stack_is_refused),
        cmocka_unit_test(test_freeing_no_formula_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
