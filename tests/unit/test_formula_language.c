// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// What perf's expressions have beyond Arm's: conditionals, comparisons, logic, functions, literals, names of all kinds,
// metrics, and what folding drops. Values are worked out by hand.

static const char *const EVENTS[] = {"A",
                                     "B",
                                     "C",
                                     "Z",
                                     "N",
                                     "topdown-fe-bound",
                                     "cpu@UOPS_ISSUED.ANY,cmask=1@",
                                     "msr@tsc,cpu=cpu_core@",
                                     "3x",
                                     "cycles:u",
                                     "uncore@a@b?",
                                     "iffy",
                                     "a=b"};
static const double VALUES[N_OF(EVENTS)] = {2, 3, 5, 0, NAN, 11, 13, 17, 19, 23, 29, 31, 37};
static const double METRICS[] = {0.25, NAN};

// What the scope is asked for, and formulas that stand for a name.
struct names {
    char asked[512];
    const struct formula *inlined;
};

static int lookup_name(const struct names *names, const char *name, struct formula_symbol *out) {
    for (unsigned i = 0; i < N_OF(EVENTS); i++)
        if (strcmp(EVENTS[i], name) == 0) {
            *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = i};
            return 0;
        }
    if (strcmp(name, "tma_quarter") == 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = 0};
    else if (strcmp(name, "tma_none") == 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = 1};
    else if (strcmp(name, "inlined") == 0 && names->inlined)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_INLINE, .formula = names->inlined};
    else
        return strcmp(name, "loop") == 0 ? -ELOOP : strcmp(name, "full") == 0 ? -ENOMEM : -ENOENT;
    return 0;
}

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    struct names *names = context;
    char text[64];
    assert_true(length < sizeof text);
    memcpy(text, name, length);
    text[length] = '\0';
    size_t end = strlen(names->asked);
    (void)snprintf(names->asked + end, sizeof names->asked - end, "%d:%s ", kind, text);
    if (kind == FORMULA_ID)
        return lookup_name(names, text, out);
    double number = strcmp(text, "smt_on") == 0 || strcmp(text, "A") == 0 ? 1 : strcmp(text, "num_cpus") == 0 ? 8 : 0;
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = number};
    return strcmp(text, "nothing") == 0 ? -ENOENT : 0;
}

static struct formula *compile_with(struct names *names, const char *text) {
    const struct formula_scope scope = {.lookup = lookup, .context = names};
    struct formula *formula = NULL;
    struct fault error;
    int r = formula_compile(text, &scope, &formula, &error);
    if (r != 0)
        fail_msg("%s: %d, column %zu: %s", text, r, error.column, error.text);
    return formula;
}

static void check_value(const char *text, double wanted) {
    struct formula *formula = compile_with(&(struct names){.asked = ""}, text);
    double value = formula_evaluate(formula, VALUES, METRICS);
    formula_free(formula);
    if (isnan(wanted) ? !isnan(value) : value != wanted)
        fail_msg("%s is %g, not %g", text, value, wanted);
}

// Checks what a formula reads: events and metrics as their indexes, "0 1 | 0".
static void check_reads(const char *text, const char *wanted) {
    struct formula *formula = compile_with(&(struct names){.asked = ""}, text);
    char reads[128] = "";
    size_t n = 0;
    for (size_t i = 0; i < formula->n_variables; i++)
        n += (size_t)snprintf(reads + n, sizeof reads - n, "%u ", formula->variables[i]);
    n += (size_t)snprintf(reads + n, sizeof reads - n, "|");
    for (size_t i = 0; i < formula->n_metrics; i++)
        n += (size_t)snprintf(reads + n, sizeof reads - n, " %u", formula->metrics[i]);
    formula_free(formula);
    if (strcmp(reads, wanted) != 0)
        fail_msg("%s reads %s, not %s", text, reads, wanted);
}

static void check_asked(const char *text, const char *wanted) {
    struct names names = {.asked = ""};
    formula_free(compile_with(&names, text));
    assert_string_equal(names.asked, wanted);
}

static void refuse_with(struct names *names, const char *text, int result, size_t column, const char *wanted) {
    const struct formula_scope scope = {.lookup = lookup, .context = names};
    struct formula *const untouched = (struct formula *)&scope, *formula = untouched;
    struct fault error = {0};
    int r = formula_compile(text, &scope, &formula, &error);
    if (r != result || error.column != column || !strstr(error.text, wanted))
        fail_msg("%.60s: got %d, column %zu, \"%s\"; wanted column %zu, \"%s\"", text, r, error.column, error.text,
                 column, wanted);
    assert_ptr_equal(formula, untouched);
}

static void refuse(const char *text, size_t column, const char *wanted) {
    refuse_with(&(struct names){.asked = ""}, text, -EINVAL, column, wanted);
}

static void test_a_conditional_is_its_left_side_unless_the_condition_is_0(void **state) {
    (void)state;
    check_value("A if B else C", 2);
    check_value("A if Z else C", 5);
    check_value("A if -0.5 * B else C", 2);
    check_value("A if N else C", 2); // NaN is true
    check_value("A if A / Z else C", 2);
    check_value("N if Z else C", 5);
    check_value("A if B else N", 2);
    check_value("N if B else C", NAN);
}

static void test_conditionals_bind_loosest_and_from_right_to_left(void **state) {
    (void)state;
    check_value("A if Z else B if Z else C", 5);
    check_value("A if Z else B if A else C", 3);
    check_value("A if B else B if Z else C", 2);
    check_value("(A if Z else B) if Z else C", 5);
    check_value("(A if B else B) if A else C", 2);
    check_value("A + B if Z else C", 5);
    check_value("1 + A if B else C", 3);
    check_value("1 + (A if Z else C)", 6);
    check_value("A if Z | B else C", 2);
    check_value("A if B - B else C + 1", 6);
    check_value("max(A if Z else C, B if A else Z)", 5);
}

static void test_comparisons_are_0_or_1(void **state) {
    (void)state;
    check_value("A < B", 1);
    check_value("B < A", 0);
    check_value("A < A", 0);
    check_value("A > B", 0);
    check_value("B > A", 1);
    check_value("B > B", 0);
    check_value("N < A", 0);
    check_value("A < N", 0);
    check_value("N > A", 0);
    check_value("A > N", 0);
    check_value("1 < NaN", 0);
}

static void test_logic_is_0_or_1_or_unknown(void **state) {
    (void)state;
    const struct {
        const char *left, *right;
        double and, or, xor;
    } rows[] = {{"Z", "Z", 0, 0, 0},     {"Z", "A", 0, 1, 1},     {"A", "Z", 0, 1, 1},
                {"A", "B", 1, 1, 0},     {"Z", "N", 0, NAN, NAN}, {"N", "Z", 0, NAN, NAN},
                {"A", "N", NAN, 1, NAN}, {"N", "A", NAN, 1, NAN}, {"N", "N", NAN, NAN, NAN}};
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s & %s", rows[i].left, rows[i].right);
        check_value(text, rows[i].and);
        (void)snprintf(text, sizeof text, "%s | %s", rows[i].left, rows[i].right);
        check_value(text, rows[i].or);
        (void)snprintf(text, sizeof text, "%s ^ %s", rows[i].left, rows[i].right);
        check_value(text, rows[i].xor);
    }
    check_value("4 & 2", 1); // not of bits
    check_value("0.5 | 0", 1);
    check_value("3 ^ 5", 0);
}

static void test_logic_binds_looser_than_comparison_and_that_than_sums(void **state) {
    (void)state;
    check_value("1 | 1 ^ 1", 1);     // 1 | (1 ^ 1); else 0
    check_value("1 ^ 0 & 0", 1);     // 1 ^ (0 & 0); else 0
    check_value("1 | 0 & 0", 1);     // 1 | (0 & 0); else 0
    check_value("Z & A < B", 0);     // Z & (A < B); else 0 < 3 = 1
    check_value("B > 2 & A > 5", 0); // (B > 2) & (A > 5); else (B > 1) > 5
    check_value("C > 4 & A < 3", 1); // else 5 > (4 & 2) = 1, 1 < 3 = 1; so:
    check_value("C > 6 & B > 2", 0); // else 5 > 1 = 1, 1 > 2 = 0; so:
    check_value("4 < C & C < 9", 1); // else 4 < 1 = 0, 0 < 9 = 1
    check_value("A < B + C", 1);     // else 1 + 5
    check_value("A + B > C - 1", 1); // 5 > 4
    check_value("3 > 2 > 1", 0);     // (3 > 2) > 1
    check_value("1 < 3 < 2", 1);     // (1 < 3) < 2
}

static void test_remainders_are_of_whole_numbers(void **state) {
    (void)state;
    check_value("17 % 5", 2);
    check_value("-17 % 5", -2);
    check_value("17 % -5", 2);
    check_value("17.9 % 5.9", 2);
    check_value("C % A", 1);
    check_value("C % Z", NAN);
    check_value("C % 0.5", NAN);
    check_value("C % 0", NAN);
    check_value("N % A", NAN);
    check_value("2 * 7 % 4", 2);   // (2 * 7) % 4
    check_value("1 + 7 % 4", 4);   // 1 + (7 % 4)
    check_value("100 % 7 / 2", 1); // (100 % 7) / 2
}

static void test_functions_of_two_values(void **state) {
    (void)state;
    check_value("min(A, B)", 2);
    check_value("min(B, A)", 2);
    check_value("max(A, B)", 3);
    check_value("max ( B , A )", 3);
    check_value("min(N, A)", 2);   // a < b is not so: b
    check_value("min(A, N)", NAN); // likewise
    check_value("max(N, A)", 2);
    check_value("max(A, N)", NAN);
    check_value("d_ratio(B, A)", 1.5);
    check_value("d_ratio(B, Z)", 0);
    check_value("d_ratio(N, Z)", 0);
    check_value("d_ratio(N, A)", NAN);
    check_value("d_ratio(Z, N)", NAN);
    check_value("max(min(A, B), min(C, 4)) * 2", 8);
    check_value("min(A if Z else C, 10)", 5);
}

static void test_nan_is_a_number_by_that_spelling_only(void **state) {
    (void)state;
    check_value("NaN", NAN);
    check_value("A if NaN else B", 2);
    check_value("max(NaN, 1)", 1);
    refuse("NAN", 1, "unknown name 'NAN'");
}

static void test_the_scope_answers_literals_and_functions_of_names(void **state) {
    (void)state;
    check_value("#num_cpus * A", 16);
    check_value("A if #SMT_on else B", 2);
    check_value("has_event(A) + has_event(B)", 1);
    check_asked("#SMT_on + #num_cpus", "1:smt_on 1:num_cpus ");
    check_asked("has_event(topdown\\-fe\\-bound)", "2:topdown-fe-bound ");
    check_asked("source_count( A ) / aggr_nr (B)", "3:A 4:B ");
    check_asked("strcmp_cpuid_str(0x410fd490) | strcmp_cpuid_str(4711)", "5:0x410fd490 5:4711 ");
    refuse("A + #nothing", 6, "unknown name '#nothing'");
    refuse("has_event(nothing)", 11, "unknown name 'nothing'");
}

static void test_names_are_the_longest_match_without_their_escapes(void **state) {
    (void)state;
    check_value("topdown\\-fe\\-bound", 11);
    check_value("cpu@UOPS_ISSUED.ANY\\,cmask\\=1@", 13);
    check_value("cpu@UOPS_ISSUED.ANY,cmask=1@", 13);
    check_value("cpu@UOPS_ISSUED.ANY\\,cmask=1@-A", 11);
    check_value("msr@tsc\\,cpu=cpu_core@", 17);
    check_value("min(msr@tsc\\,cpu=cpu_core@,A)", 2);
    check_value("3x", 19);
    check_value("3*A", 6);
    check_value("cycles:u", 23);
    check_value("uncore@a@b?", 29);
    check_value("iffy if Z else iffy", 31);
    check_value("a\\=b", 37);
    check_value("\\A+B", 5);
    refuse("\\A\\+B", 1, "unknown name 'A+B'");
}

static void test_a_number_wins_over_a_name_as_long(void **state) {
    (void)state;
    check_value("1e2", 100);
    check_value("1.", 1);
    check_value("1e-2", 0.01); // a name would end before '-'
    check_value("7-2", 5);
    refuse("1e2x", 1, "'1e2x' is neither a number nor a name");
    refuse("0x10", 1, "a number is written in decimal");
}

static void test_metrics_are_read_beside_events(void **state) {
    (void)state;
    check_value("tma_quarter * 4 + A", 3);
    check_value("tma_quarter > 0.2 & tma_quarter < 0.3", 1);
    check_value("tma_none > 0.2", 0);
    check_value("tma_none + A", NAN);
    check_reads("tma_none + A + tma_quarter + C + tma_none", "0 2 | 0 1");
}

static void test_a_formula_is_put_in_the_place_of_a_name(void **state) {
    (void)state;
    struct names names = {.asked = ""};
    struct formula *inner = compile_with(&names, "B - A"), *outer, *twice;
    names.inlined = inner;
    outer = compile_with(&names, "C * inlined * tma_quarter");
    names.inlined = outer;
    twice = compile_with(&names, "100 - inlined / Z if Z else -inlined");
    formula_free(inner);
    formula_free(outer);
    assert_true(formula_evaluate(twice, VALUES, METRICS) == -1.25);
    assert_int_equal(twice->n_variables, 4);
    assert_int_equal(twice->n_metrics, 1);
    formula_free(twice);
}

static void test_a_constant_in_the_place_of_a_name_is_folded(void **state) {
    (void)state;
    struct names names = {.asked = ""};
    struct formula *zero = compile_with(&names, "1 - #smt_on"), *formula;
    names.inlined = zero;
    formula = compile_with(&names, "A if inlined else C");
    assert_int_equal(formula->n_variables, 1);
    assert_int_equal(formula->variables[0], 2);
    formula_free(zero);
    formula_free(formula);
}

static void test_what_constants_decide_is_not_read(void **state) {
    (void)state;
    check_reads("A if 1 else B", "0 |");
    check_reads("A if 0 else B", "1 |");
    check_reads("A if #smt_on else B", "0 |");
    check_reads("A if #core_wide < 1 else B", "0 |");
    check_reads("A if NaN else B", "0 1 |"); // decides nothing of what is exported
    check_reads("A if #core_wide < NaN else B", "0 1 |");
    check_reads("max(NaN, 1) * A", "0 |");
    check_reads("A / C if 1 - 1 else B - tma_none if has_event(A) & #smt_on else C", "1 | 1");
    check_reads("1 if A else 1", "|");
    check_reads("1 if A else 2", "0 |");
    check_reads("0 & A", "|");
    check_reads("A & 0", "|");
    check_reads("1 & A", "0 |");
    check_reads("(A + B > 3) & 0 | C", "2 |");
    check_reads("1 | A", "|");
    check_reads("A | 2", "|");
    check_reads("0 | A", "0 |");
    check_reads("NaN | A", "0 |");
    check_reads("1 ^ A", "0 |");
    check_reads("A / 0", "|");
    check_reads("A % 0", "|");
    check_reads("d_ratio(A, 0)", "|");
    check_reads("0 * A", "0 |"); // NaN where A is
    check_reads("d_ratio(0, A)", "0 |");
    check_reads("min(0, A)", "0 |");
    check_reads("max(2, 3) * A - (1 if 0 else 2)", "0 |");
}

static void test_folding_changes_no_value(void **state) {
    (void)state;
    check_value("1 & A", 1);
    check_value("A & 0", 0);
    check_value("N & 0", 0);
    check_value("N | 1", 1);
    check_value("0 | A", 1);
    check_value("0 * N", NAN);
    check_value("1 / 0 - 1", NAN);
    check_value("A if 1 / 0 else B", 2);
    check_value("(A if 0 else B) * (C if 1 else A)", 15);
    check_value("1 + (A if 0 else B * C) + 1", 17);
    check_value("-(4 - 6) * 3 % 4 + min(7, 3)", 5);
}

static void test_errors_of_the_language_say_their_column(void **state) {
    (void)state;
    refuse("A if B", 7, "'else' is missing");
    refuse("A if B + C", 11, "'else' is missing");
    refuse("A else B", 3, "'e' is not expected here");
    refuse("A if else B", 6, "'else' stands where");
    refuse("if A else B", 1, "'if' stands where");
    refuse("A if B else", 12, "the formula ends");
    refuse("A if B if C else A else C", 8, "'else' is missing");
    refuse("min(A)", 6, "',' is missing");
    refuse("max(A, B", 9, "')' is missing");
    refuse("max(A, B, C)", 9, "')' is missing");
    refuse("min A, B", 5, "'(' is missing after the function's name");
    refuse("has_event A", 11, "'(' is missing after the function's name");
    refuse("has_event()", 11, "a name is missing");
    refuse("has_event(A + B)", 13, "')' is missing");
    refuse("#", 2, "a literal's name is missing");
    refuse("# smt_on", 2, "a literal's name is missing");
    refuse("A << 2", 3, "shifts (<< and >>)");
    refuse("A + B >> 2", 7, "shifts (<< and >>)");
    refuse("A >= B", 4, "'=' stands where");
    refuse("A == B", 3, "'=' is not expected here");
    refuse("A, B", 2, "',' is not expected here");
    refuse("A\\", 2, "'\\' is not expected here");
    refuse("A@B,C", 1, "unknown name 'A@B'");
}

static void test_an_unknown_name_is_shown_without_control_characters(void **state) {
    (void)state;
    refuse("x\\\ny\\\x1b[2J", 1, "unknown name 'x?y?'");
}

static void test_what_the_scope_cannot_answer_ends_the_compilation(void **state) {
    (void)state;
    refuse("1 + loop", 5, "'loop' leads back to itself");
    refuse_with(&(struct names){.asked = ""}, "1 + full", -ENOMEM, 5, "'full' cannot be used");
}

// ((A + B) doubled n times): n inlinings make 2^n + ... steps.
static void test_inlining_cannot_grow_without_bound(void **state) {
    (void)state;
    struct names names = {.asked = ""};
    struct formula *formula = compile_with(&names, "A");
    for (int i = 0; i < 15; i++) { // 2^16 - 1 steps, the greatest odd number
        names = (struct names){.inlined = formula};
        struct formula *next = compile_with(&names, "inlined + inlined");
        formula_free(formula);
        formula = next;
    }
    assert_true(formula_evaluate(formula, VALUES, NULL) == 65536);
    names = (struct names){.inlined = formula};
    refuse_with(&names, "inlined + 1", -EINVAL, 12, "more than 65536 steps");
    names = (struct names){.inlined = formula};
    refuse_with(&names, "0 & inlined + inlined", -EINVAL, 22, "more than 65536 steps");
    formula_free(formula);
}

static void test_what_inlining_nests_too_deeply_is_refused(void **state) {
    (void)state;
    struct names names = {.asked = ""};
    struct formula *formula = compile_with(&names, "A");
    for (int i = 0; i < 255; i++) { // the value of each level waits for the one below
        names = (struct names){.inlined = formula};
        struct formula *next = compile_with(&names, "1 + inlined");
        formula_free(formula);
        formula = next;
    }
    assert_true(formula_evaluate(formula, VALUES, NULL) == 257);
    names = (struct names){.inlined = formula};
    refuse_with(&names, "1 + inlined", -EINVAL, 1, "nested too deeply");
    formula_free(formula);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_conditional_is_its_left_side_unless_the_condition_is_0),
        cmocka_unit_test(test_conditionals_bind_loosest_and_from_right_to_left),
        cmocka_unit_test(test_comparisons_are_0_or_1),
        cmocka_unit_test(test_logic_is_0_or_1_or_unknown),
        cmocka_unit_test(test_logic_binds_looser_than_comparison_and_that_than_sums),
        cmocka_unit_test(test_remainders_are_of_whole_numbers),
        cmocka_unit_test(test_functions_of_two_values),
        cmocka_unit_test(test_nan_is_a_number_by_that_spelling_only),
        cmocka_unit_test(test_the_scope_answers_literals_and_functions_of_names),
        cmocka_unit_test(test_names_are_the_longest_match_without_their_escapes),
        cmocka_unit_test(test_a_number_wins_over_a_name_as_long),
        cmocka_unit_test(test_metrics_are_read_beside_events),
        cmocka_unit_test(test_a_formula_is_put_in_the_place_of_a_name),
        cmocka_unit_test(test_a_constant_in_the_place_of_a_name_is_folded),
        cmocka_unit_test(test_what_constants_decide_is_not_read),
        cmocka_unit_test(test_folding_changes_no_value),
        cmocka_unit_test(test_errors_of_the_language_say_their_column),
        cmocka_unit_test(test_an_unknown_name_is_shown_without_control_characters),
        cmocka_unit_test(test_what_the_scope_cannot_answer_ends_the_compilation),
        cmocka_unit_test(test_inlining_cannot_grow_without_bound),
        cmocka_unit_test(test_what_inlining_nests_too_deeply_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
