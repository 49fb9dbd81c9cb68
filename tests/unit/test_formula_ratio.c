// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// Which formulas are k A/B with A and B sums of counts, and what their k, A and B are.

static const char *const NAMES[] = {"A", "B", "C", "D", "LD", "INST"};

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

static struct formula *compile(const char *text) {
    const struct formula_scope scope = {.lookup = lookup};
    struct formula *formula = NULL;
    struct fault error;
    if (formula_compile(text, &scope, &formula, &error) != 0)
        fail_msg("%s: column %zu: %s", text, error.column, error.text);
    return formula;
}

// "A + 8 C"
static void sum_print(const struct formula_sum *sum, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sum->n; i++) {
        const struct formula_term *term = &sum->terms[i];
        char coefficient[32] = "";
        if (term->coefficient != 1)
            (void)snprintf(coefficient, sizeof coefficient, "%g ", term->coefficient);
        length += (size_t)snprintf(out + length, size - length, "%s%s%s", i > 0 ? " + " : "", coefficient,
                                   NAMES[term->variable]);
        assert_true(length < size);
    }
}

static void expect_ratio(const char *text, double scale, const char *numerator, const char *denominator) {
    struct formula *formula = compile(text);
    char upper[128], lower[128];
    sum_print(&formula->numerator, upper, sizeof upper);
    sum_print(&formula->denominator, lower, sizeof lower);
    if (!formula->is_ratio || formula->scale != scale || strcmp(upper, numerator) != 0 ||
        strcmp(lower, denominator) != 0)
        fail_msg("%s: ratio %d, %g (%s) / (%s)", text, formula->is_ratio, formula->scale, upper, lower);
    formula_free(formula);
}

static void expect_none(const char *text) {
    struct formula *formula = compile(text);
    if (formula->is_ratio)
        fail_msg("%s is taken for a ratio", text);
    assert_int_equal(formula->numerator.n + formula->denominator.n, 0);
    formula_free(formula);
}

static void test_a_factor_of_a_quotient_is_its_scale(void **state) {
    (void)state;
    expect_ratio("A/B", 1, "A", "B");
    expect_ratio("LD/INST*100", 100, "LD", "INST");
    expect_ratio("100*(A/B)", 100, "A", "B");
    expect_ratio("A*3/B", 3, "A", "B");
    expect_ratio("3*A/B", 3, "A", "B");
    expect_ratio("A/B/2", 0.5, "A", "B");
    expect_ratio("A/4/B", 0.25, "A", "B");
    expect_ratio("-(-A)/B", 1, "A", "B");
    expect_ratio("-A/-2/B", 0.5, "A", "B");
}

static void test_sums_of_counts_stay_sums(void **state) {
    (void)state;
    expect_ratio("(A+B)/C", 1, "A + B", "C");
    expect_ratio("A/(B+C)", 1, "A", "B + C");
    expect_ratio("(D+C+A)/(A+B)*1000", 1000, "A + C + D", "A + B");
    expect_ratio("(A-B+2*B)/C", 1, "A + B", "C");
    expect_ratio("(A+B-B)/C", 1, "A", "C");
    expect_ratio("(2*A+4*B)/C", 1, "2 A + 4 B", "C");
    expect_ratio("(3*A+3*B)/C", 3, "A + B", "C");
    expect_ratio("(A+A)/B", 2, "A", "B");
}

static void test_a_factor_below_the_line_stays_there(void **state) {
    (void)state;
    expect_ratio("A/(C*8)", 1, "A", "8 C");
    expect_ratio("100*(A/(8*C))", 100, "A", "8 C");
    expect_ratio("A/(C*8+D*2)", 1, "A", "8 C + 2 D");
    expect_ratio("A/(C/2)", 1, "A", "0.5 C");
}

static void test_constants_are_folded(void **state) {
    (void)state;
    expect_ratio("A/((1+1)*(C*4))", 1, "A", "8 C");
    expect_ratio("(10*10)*A/B", 100, "A", "B");
    expect_ratio("A/B*(6/2-1)", 2, "A", "B");
    expect_ratio("A/B*-(1-3)", 2, "A", "B");
}

// What they count cannot fall: cycles less those asleep.
static void test_differences_of_counts_are_sums_with_negative_terms(void **state) {
    (void)state;
    expect_ratio("(A-B)/C", 1, "A + -1 B", "C");
    expect_ratio("A/(B-C)", 1, "A", "B + -1 C");
    expect_ratio("1000*(A-B)/C", 1000, "A + -1 B", "C");
    expect_ratio("(8*A-8*B)/(8*(C-D))", 8, "A + -1 B", "8 C + -8 D");
    expect_ratio("(A-2*B)/C", 1, "A + -2 B", "C");
    struct formula *difference = compile("(A-B)/C"), *sum = compile("(A+B)/C");
    assert_true(difference->has_difference && !sum->has_difference);
    formula_free(sum);
    formula_free(difference);
}

static void test_a_number_and_a_quotient_are_one_quotient(void **state) {
    (void)state;
    expect_ratio("1-A/B", 1, "-1 A + B", "B");
    expect_ratio("100*(1-A/B)", 100, "-1 A + B", "B");
    expect_ratio("A/B+1", 1, "A + B", "B");
    expect_ratio("2*(A/B)-1", 1, "2 A + -1 B", "B");
    expect_ratio("1-(A+B)/(A+B+C)", 1, "C", "A + B + C");
}

static void test_what_has_no_positive_term_is_no_ratio(void **state) {
    (void)state;
    expect_none("(A-2*A)/B");
    expect_none("-(A+B)/C");
    expect_none("A/(-B-C)");
    expect_none("-1-A/B");
    expect_none("-A/B");
    expect_none("-1*(A/B)");
    expect_none("A/B/-2");
    expect_none("A/-B");
}

static void test_what_is_not_one_quotient_of_sums_is_no_ratio(void **state) {
    (void)state;
    expect_none("A/B+C/D");
    expect_none("A/B-A/B");
    expect_none("A/1");
    expect_none("1/A");
    expect_none("A");
    expect_none("A+B");
    expect_none("3");
    expect_none("A*B/C");
    expect_none("A/B*C");
    expect_none("A/(B*C)");
    expect_none("A/B/C");
    expect_none("(A/B)/(C/D)");
    expect_none("(A+1)/B");
}

static void test_of_the_functions_only_d_ratio_is_a_quotient(void **state) {
    (void)state;
    expect_ratio("d_ratio(A+B, C) * 100", 100, "A + B", "C");
    expect_ratio("d_ratio(A, 8*C)", 1, "A", "8 C");
    expect_ratio("min(3, 2) * A / B if 1 > 0 else C", 2, "A", "B"); // constants are gone by then
    expect_none("d_ratio(A, B) / C");
    expect_none("max(A, B) / C");
    expect_none("A % B");
    expect_none("A > B");
    expect_none("A / B if C else D / B");
    expect_none("(A if B else A) / C");
}

static void test_a_ratio_of_nothing_is_none(void **state) {
    (void)state;
    expect_none("(A-A)/B");
    expect_none("A/(B-B)");
    expect_none("0*A/B");
    expect_none("A/B*0");
    expect_none("A/B/0");
    expect_none("A/(0*B)");
}

static void test_a_factor_that_no_double_holds_is_no_ratio(void **state) {
    (void)state;
    expect_none("1e300*1e300*A/B");
    expect_none("A/1e-320/B");
    expect_none("A/(1e300*1e300*B)");
    expect_none("A/(1e300*1e300*A)");
    expect_none("A/B*1e300*1e300");
    expect_none("(A+1e300*1e300*B)/C");
}

// ---- properties ----

// A sum of counts, as text: terms with positive factors.
static void sum_random(uint64_t *random, FILE *out) {
    uint64_t terms = 1 + random_below(random, 3);
    fputc('(', out);
    for (uint64_t i = 0; i < terms; i++) {
        const char *name = NAMES[random_below(random, N_OF(NAMES))];
        unsigned factor = 1 + (unsigned)random_below(random, 12);
        switch (random_below(random, 4)) {
        case 0:
            fprintf(out, "%s%s", i > 0 ? "+" : "", name);
            break;
        case 1:
            fprintf(out, "%s%u*%s", i > 0 ? "+" : "", factor, name);
            break;
        case 2:
            fprintf(out, "%s%s/%u", i > 0 ? "+" : "", name, factor);
            break;
        default:
            fprintf(out, "%s(%s+%u*%s-%s)", i > 0 ? "+" : "", name, factor, name, name);
        }
    }
    fputc(')', out);
}

static void ratio_random(uint64_t *random, FILE *out) {
    unsigned factor = 1 + (unsigned)random_below(random, 1000);
    bool before = random_below(random, 2) == 0;
    if (before)
        fprintf(out, "%u*(", factor);
    sum_random(random, out);
    fputc('/', out);
    sum_random(random, out);
    if (before)
        fputc(')', out);
    else
        fprintf(out, "%c%u", random_below(random, 2) == 0 ? '*' : '/', factor);
}

// Anything that the grammar allows.
static void any_random(uint64_t *random, FILE *out, unsigned depth) {
    switch (random_below(random, depth == 0 ? 2 : 4)) {
    case 0:
        fputs(NAMES[random_below(random, N_OF(NAMES))], out);
        break;
    case 1:
        fprintf(out, "%u", (unsigned)random_below(random, 6));
        break;
    default:
        fputs(random_below(random, 6) == 0 ? "-(" : "(", out);
        any_random(random, out, depth - 1);
        fputc("+-*//"[random_below(random, 5)], out);
        any_random(random, out, depth - 1);
        fputc(')', out);
    }
}

// Of the sum's terms without their signs.
static double size_of(const struct formula_sum *sum, const double *values) {
    double size = 0;
    for (size_t i = 0; i < sum->n; i++)
        size += fabs(sum->terms[i].coefficient * values[sum->terms[i].variable]);
    return size;
}

// True where the text is a ratio; then its parts must have the formula's own value.
static bool check_ratio(uint64_t *random, const char *text) {
    struct formula *formula = compile(text);
    bool is_ratio = formula->is_ratio;
    if (is_ratio) {
        double values[N_OF(NAMES)];
        for (size_t i = 0; i < N_OF(NAMES); i++)
            values[i] = (double)(1 + random_below(random, 1 << 20));
        double upper = formula_sum_evaluate(&formula->numerator, values);
        double lower = formula_sum_evaluate(&formula->denominator, values);
        double wanted = formula_evaluate(formula, values, NULL), value = formula->scale * upper / lower;
        // where a difference has few digits left, so has the value
        double error = 1e-15 * (size_of(&formula->numerator, values) / fabs(upper) +
                                size_of(&formula->denominator, values) / fabs(lower));
        bool same = fabs(value - wanted) <= fmax(1e-12, error) * fabs(wanted);
        if (!formula->has_difference && !(upper > 0 && lower > 0))
            fail_msg("%s has the sums %.17g and %.17g", text, upper, lower);
        if (!same && upper != 0 && lower != 0)
            fail_msg("%s is %.17g, but its ratio is %.17g * %.17g / %.17g", text, wanted, formula->scale, upper, lower);
    }
    formula_free(formula);
    return is_ratio;
}

static void test_every_quotient_of_random_sums_is_a_ratio_of_the_same_value(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    for (int i = 0; i < 20000; i++) {
        char text[1024];
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        ratio_random(&random, out);
        assert_int_equal(fclose(out), 0);
        if (!check_ratio(&random, text))
            fail_msg("%s is not taken for a ratio", text);
    }
}

static void test_whatever_is_taken_for_a_ratio_has_the_same_value(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    int ratios = 0;
    for (int i = 0; i < 50000; i++) {
        char text[2048];
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        any_random(&random, out, 4);
        assert_int_equal(fclose(out), 0);
        ratios += check_ratio(&random, text);
    }
    assert_in_range(ratios, 500, 25000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_factor_of_a_quotient_is_its_scale),
        cmocka_unit_test(test_sums_of_counts_stay_sums),
        cmocka_unit_test(test_a_factor_below_the_line_stays_there),
        cmocka_unit_test(test_constants_are_folded),
        cmocka_unit_test(test_differences_of_counts_are_sums_with_negative_terms),
        cmocka_unit_test(test_a_number_and_a_quotient_are_one_quotient),
        cmocka_unit_test(test_what_has_no_positive_term_is_no_ratio),
        cmocka_unit_test(test_what_is_not_one_quotient_of_sums_is_no_ratio),
        cmocka_unit_test(test_of_the_functions_only_d_ratio_is_a_quotient),
        cmocka_unit_test(test_a_ratio_of_nothing_is_none),
        cmocka_unit_test(test_a_factor_that_no_double_holds_is_no_ratio),
        cmocka_unit_test(test_every_quotient_of_random_sums_is_a_ratio_of_the_same_value),
        cmocka_unit_test(test_whatever_is_taken_for_a_ratio_has_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
