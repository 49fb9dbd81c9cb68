// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// Which formulas keep their value when all counts are multiplied by the same number.

static const char *const EVENTS[] = {"A", "B", "C"};

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    (void)context;
    assert_int_equal(kind, FORMULA_ID);
    assert_int_equal(length, 1);
    for (unsigned i = 0; i < N_OF(EVENTS); i++)
        if (name[0] == EVENTS[i][0])
            *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = i};
    if (name[0] == 'm')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = 0};
    return 0;
}

static struct formula *compile(const char *text) {
    const struct formula_scope scope = {.lookup = lookup};
    struct formula *formula = NULL;
    struct fault error;
    if (formula_compile(text, &scope, &formula, &error) != 0)
        fail_msg("%s: column %zu: %s", text, error.column, error.text);
    return formula;
}

static void check(const char *text, bool wanted) {
    struct formula *formula = compile(text);
    if (formula->scale_free != wanted)
        fail_msg("%s %s scale-free", text, wanted ? "is" : "is not");
    formula_free(formula);
}

static void test_quotients_of_counts_are_free_of_scale(void **state) {
    (void)state;
    check("A / B", true);
    check("100 * (A - B) / (8 * C)", true);
    check("1 - A / B", true);
    check("A * B / (C * C)", true);
    check("A / B / C * B", true);
    check("d_ratio(A, B + C)", true);
    check("-A / B", true);
    check("7", true);
    check("m", true);
    check("m * A / B - 1", true);
}

static void test_counts_and_their_powers_are_not(void **state) {
    (void)state;
    check("A", false);
    check("m * A", false);
    check("A * B", false);
    check("1 / A", false);
    check("A / (B * C)", false);
    check("A / 1000000000", false);
}

static void test_sums_of_unlike_parts_are_not(void **state) {
    (void)state;
    check("A + 1", false);
    check("(A + 1) / (B + 1)", false);
    check("(A - B / C) / A", false);
    check("A / B + C", false);
    check("min(A, 1) / B", false);
    check("((A + 1) - (A + 1)) * 0", false);
}

static void test_zero_is_like_anything(void **state) {
    (void)state;
    check("max(0, A - B) / C", true);
    check("max(A - B, 0) / C", true);
    check("(A if B > C else 0) / C", true);
    check("0 * A / B", true);
    check("(0 - A) / B", true);
    check("max(0, A)", false);
    check("(A + NaN) / B", true); // no value, whatever the scale
}

static void test_comparisons_of_like_things_are(void **state) {
    (void)state;
    check("A > B", true);
    check("A - B > 0", true);
    check("A / B > 0.1 & m < 0.5", true);
    check("A > 5", false);
    check("A & B", true);
    check("A | B / C", true); // being 0 is the same at any scale
    check("A ^ 0", true);
    check("(A > 5) | B", false);
}

static void test_a_condition_counts_only_if_the_scale_changes_it(void **state) {
    (void)state;
    check("A / B if A > B else C / B", true);
    check("A / B if A else 0", true);
    check("A / B if A > 5 else C / B", false);
    check("A if B else C", false);
    check("A / B if C else C", false);
}

static void test_remainders_are_only_of_free_parts(void **state) {
    (void)state;
    check("A % B", false);
    check("A % B / C", false);
    check("(A / B) % 3", true);
}

// ---- property ----

// Anything that the grammar allows; '$' is an operand.
static void any_random(uint64_t *random, FILE *out, unsigned depth) {
    static const char *const forms[] = {"($+$)",       "($-$)", "($*$)",           "$/$",   "($/$)", "($/$)",
                                        "max($,$)",    "(-$)",  "($ if $ else $)", "($>$)", "($&$)", "($%$)",
                                        "d_ratio($,$)"};
    if (depth == 0 || random_below(random, 4) == 0) {
        fputc("ABCABm02"[random_below(random, 8)], out);
        return;
    }
    for (const char *form = forms[random_below(random, N_OF(forms))]; *form != '\0'; form++) {
        if (*form == '$')
            any_random(random, out, depth - 1);
        else
            fputc(*form, out);
    }
}

static void test_what_is_free_of_scale_keeps_its_value(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    int n_free = 0;
    for (int i = 0; i < 50000; i++) {
        char text[2048];
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        any_random(&random, out, 3);
        assert_int_equal(fclose(out), 0);
        struct formula *formula = compile(text);
        n_free += formula->scale_free && formula->n_variables > 0;
        for (int trial = 0; trial < 3 && formula->scale_free; trial++) {
            const double metric = (double)random_below(&random, 5) / 4;
            double counts[N_OF(EVENTS)], scaled[N_OF(EVENTS)]; // by a power of 2, which rounds nothing
            for (size_t e = 0; e < N_OF(EVENTS); e++) {
                counts[e] = (double)random_below(&random, 12);
                scaled[e] = counts[e] * 1024;
            }
            double one = formula_evaluate(formula, counts, &metric), other = formula_evaluate(formula, scaled, &metric);
            if (isnan(one) ? !isnan(other) : one != other)
                fail_msg("%s is %g, and %g at another scale", text, one, other);
        }
        formula_free(formula);
    }
    assert_in_range(n_free, 2000, 45000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotients_of_counts_are_free_of_scale),
        cmocka_unit_test(test_counts_and_their_powers_are_not),
        cmocka_unit_test(test_sums_of_unlike_parts_are_not),
        cmocka_unit_test(test_zero_is_like_anything),
        cmocka_unit_test(test_comparisons_of_like_things_are),
        cmocka_unit_test(test_a_condition_counts_only_if_the_scale_changes_it),
        cmocka_unit_test(test_remainders_are_only_of_free_parts),
        cmocka_unit_test(test_what_is_free_of_scale_keeps_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
