// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/formula/formula.h"

// Random trees of the whole language, written as text, have the value of a walk over the tree. Numbers, literals and
// functions of names are constants, which are folded when a formula is compiled; the walk folds nothing. An exported
// value does not depend on inputs without a value: any number in their place gives the same result.

enum { EVENTS = 6, METRICS = 3 };

static const char *const OPERATORS[] = {"|", "^", "&", "<", ">", "+", "-", "*", "/", "%"};
static const int BINDINGS[] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6};
static const char *const FUNCTIONS[] = {"min", "max", "d_ratio"};
static const double CONSTANTS[] = {0, 1, 2, NAN}; // what "#c0", "has_event(c1)", ... are worth

enum tree_kind { TREE_NUMBER, TREE_EVENT, TREE_METRIC, TREE_CONSTANT, TREE_MINUS, TREE_BINARY, TREE_FUNCTION, TREE_IF };

struct tree {
    enum tree_kind kind;
    double number;
    unsigned index;                           // of the name, operator or function
    const struct tree *left, *middle, *right; // X if C else Y: left, middle, right
};

struct trees {
    uint64_t random;
    size_t n;
    struct tree nodes[2048];
    double events[EVENTS], metrics[METRICS];
    bool guessing; // the walk takes some number for whatever has no value
    size_t n_missing;
};

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    (void)context;
    assert_int_equal(length, 2);
    unsigned index = (unsigned)(name[1] - '0');
    if (name[0] == 'c')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = CONSTANTS[index]};
    else if (kind == FORMULA_ID && name[0] == 'e')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = index};
    else if (kind == FORMULA_ID && name[0] == 'm')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = index};
    else
        return -ENOENT;
    return 0;
}

static enum tree_kind kind_random(uint64_t *random, unsigned depth) {
    uint64_t dice = random_below(random, depth == 0 ? 8 : 32);
    return dice < 2    ? TREE_NUMBER
           : dice < 5  ? TREE_EVENT
           : dice < 6  ? TREE_METRIC
           : dice < 8  ? TREE_CONSTANT
           : dice < 10 ? TREE_MINUS
           : dice < 24 ? TREE_BINARY
           : dice < 28 ? TREE_FUNCTION
                       : TREE_IF;
}

static const struct tree *tree_random(struct trees *trees, unsigned depth) {
    assert_true(trees->n < N_OF(trees->nodes));
    struct tree *tree = &trees->nodes[trees->n++];
    tree->kind = kind_random(&trees->random, depth);
    static const unsigned choices[] = {1, EVENTS, METRICS, N_OF(CONSTANTS), 1, N_OF(OPERATORS), N_OF(FUNCTIONS), 1};
    tree->index = (unsigned)random_below(&trees->random, choices[tree->kind]);
    tree->number = (double)random_below(&trees->random, 13) / 4;
    tree->left = tree->kind >= TREE_MINUS ? tree_random(trees, depth - 1) : NULL;
    tree->middle = tree->kind == TREE_IF ? tree_random(trees, depth - 1) : NULL;
    tree->right = tree->kind >= TREE_BINARY ? tree_random(trees, depth - 1) : NULL;
    return tree;
}

// The tables of & | ^ over 0, not 0, NaN, in this order for the left and the right side.
static double logic(char sign, double left, double right) {
    static const double and[3][3] = {{0, 0, 0}, {0, 1, NAN}, {0, NAN, NAN}};
    static const double or [3][3] = {{0, 1, NAN}, {1, 1, 1}, {NAN, 1, NAN}};
    static const double xor [3][3] = {{0, 1, NAN}, {1, 0, NAN}, {NAN, NAN, NAN}};
    int row = isnan(left) ? 2 : left != 0, column = isnan(right) ? 2 : right != 0;
    return sign == '&' ? and[row][column] : sign == '|' ? or [row][column] : xor[row][column];
}

static double binary(char sign, double left, double right) {
    switch (sign) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    case '/':
        return right == 0 ? NAN : left / right;
    case '<':
        return left < right ? 1 : 0;
    case '>':
        return right < left ? 1 : 0;
    case '%':
        right = trunc(right);
        if (fabs(left) < 1e15 && fabs(right) < 1e15 && right != 0)
            return (double)((int64_t)left % (int64_t)right);
        return right == 0 ? NAN : fmod(trunc(left), right);
    default:
        return logic(sign, left, right);
    }
}

static double tree_value(struct trees *trees, const struct tree *tree);

static double node_value(struct trees *trees, const struct tree *tree) {
    double left = tree->left ? tree_value(trees, tree->left) : 0;
    double right = tree->right ? tree_value(trees, tree->right) : 0;
    switch (tree->kind) {
    case TREE_NUMBER:
        return tree->number;
    case TREE_EVENT:
        return trees->events[tree->index];
    case TREE_METRIC:
        return trees->metrics[tree->index];
    case TREE_CONSTANT:
        return CONSTANTS[tree->index];
    case TREE_MINUS:
        return 0 - left;
    case TREE_BINARY:
        return binary(OPERATORS[tree->index][0], left, right);
    case TREE_FUNCTION:
        return tree->index == 0   ? (left < right ? left : right)
               : tree->index == 1 ? (left > right ? left : right)
               : right == 0       ? 0
                                  : left / right;
    default:
        return tree_value(trees, tree->middle) == 0 ? right : left;
    }
}

static double guess(uint64_t *random) {
    double sign = random_below(random, 2) == 0 ? 1 : -1;
    switch (random_below(random, 4)) {
    case 0:
        return 0;
    case 1:
        return sign * (double)random_below(random, 4);
    case 2:
        return sign * 1e6;
    default:
        return sign * 1000 * random_unit(random);
    }
}

static double tree_value(struct trees *trees, const struct tree *tree) {
    double value = node_value(trees, tree);
    trees->n_missing += isnan(value) ? 1 : 0;
    return trees->guessing && isnan(value) ? guess(&trees->random) : value;
}

static int binding(const struct tree *tree) {
    return tree->kind == TREE_IF ? 0 : tree->kind == TREE_BINARY ? BINDINGS[tree->index] : 7;
}

static void tree_print(struct trees *trees, FILE *out, const struct tree *tree, int least);

static void leaf_print(struct trees *trees, FILE *out, const struct tree *tree) {
    static const char *const constants[] = {
        "#c%u", "#C%u", "has_event(c%u)", "source_count( c%u )", "aggr_nr(c%u)", "strcmp_cpuid_str (c%u)"};
    if (tree->kind == TREE_NUMBER)
        fprintf(out, "%.17g", tree->number);
    else if (tree->kind == TREE_EVENT)
        fprintf(out, random_below(&trees->random, 4) == 0 ? "\\e%u" : "e%u", tree->index);
    else if (tree->kind == TREE_METRIC)
        fprintf(out, "m%u", tree->index);
    else if (tree->index == 3 && random_below(&trees->random, 2) == 0)
        fputs("NaN", out);
    else
        fprintf(out, constants[random_below(&trees->random, N_OF(constants))], tree->index);
}

static void inner_print(struct trees *trees, FILE *out, const struct tree *tree) {
    const char *space = random_below(&trees->random, 3) == 0 ? " " : "";
    if (tree->kind == TREE_MINUS) {
        fputc('-', out);
        tree_print(trees, out, tree->left, 7);
    } else if (tree->kind == TREE_BINARY) {
        tree_print(trees, out, tree->left, binding(tree));
        fprintf(out, "%s%s%s", space, OPERATORS[tree->index], space);
        tree_print(trees, out, tree->right, binding(tree) + 1);
    } else if (tree->kind == TREE_FUNCTION) {
        fprintf(out, "%s%s(", FUNCTIONS[tree->index], space);
        tree_print(trees, out, tree->left, 0);
        fprintf(out, "%s,%s", space, space);
        tree_print(trees, out, tree->right, 0);
        fputc(')', out);
    } else {
        tree_print(trees, out, tree->left, 1);
        fputs(" if ", out);
        tree_print(trees, out, tree->middle, 1);
        fputs(" else ", out);
        tree_print(trees, out, tree->right, 0);
    }
}

// Writes a tree with the parentheses that it needs, and now and then with some that it does not.
static void tree_print(struct trees *trees, FILE *out, const struct tree *tree, int least) {
    bool parentheses = binding(tree) < least || random_below(&trees->random, 8) == 0;
    fputs(parentheses ? "(" : "", out);
    if (tree->kind < TREE_MINUS)
        leaf_print(trees, out, tree);
    else
        inner_print(trees, out, tree);
    fputs(parentheses ? ")" : "", out);
}

static double value_random(uint64_t *random) {
    uint64_t dice = random_below(random, 8);
    return dice == 0 ? NAN : dice < 3 ? (double)random_below(random, 3) : (double)random_below(random, 1000);
}

// A random tree, its text in `text` and the formula made of it, for formula_free.
static const struct tree *formula_random(struct trees *trees, char text[FORMULA_LENGTH_MAX], struct formula **formula) {
    const struct formula_scope scope = {.lookup = lookup};
    trees->n = 0;
    const struct tree *tree = tree_random(trees, 5);
    FILE *out = fmemopen(text, FORMULA_LENGTH_MAX, "w");
    assert_non_null(out);
    tree_print(trees, out, tree, 0);
    assert_int_equal(fclose(out), 0);
    struct fault error;
    if (formula_compile(text, &scope, formula, &error) != 0)
        fail_msg("%s: column %zu: %s", text, error.column, error.text);
    return tree;
}

static void inputs_random(struct trees *trees) {
    for (size_t i = 0; i < EVENTS; i++)
        trees->events[i] = value_random(&trees->random);
    for (size_t i = 0; i < METRICS; i++)
        trees->metrics[i] = value_random(&trees->random);
}

static void check_random_tree(struct trees *trees) {
    char text[FORMULA_LENGTH_MAX];
    struct formula *formula = NULL;
    const struct tree *tree = formula_random(trees, text, &formula);
    for (int trial = 0; trial < 4; trial++) {
        inputs_random(trees);
        double wanted = tree_value(trees, tree), value = formula_evaluate(formula, trees->events, trees->metrics);
        if (isfinite(wanted) ? value != wanted : !isnan(value))
            fail_msg("%s is %.17g, not %.17g", text, value, wanted);
    }
    formula_free(formula);
}

static void test_random_formulas_are_worth_what_their_trees_are(void **state) {
    (void)state;
    struct trees trees = {.random = seed_begin()};
    for (int i = 0; i < 30000; i++)
        check_random_tree(&trees);
}

static void guess_inputs(struct trees *trees, double *events, double *metrics) {
    for (size_t i = 0; i < EVENTS; i++)
        events[i] = isnan(trees->events[i]) ? guess(&trees->random) : trees->events[i];
    for (size_t i = 0; i < METRICS; i++)
        metrics[i] = isnan(trees->metrics[i]) ? guess(&trees->random) : trees->metrics[i];
}

// Numbers in the place of all inputs that have no value, then of every part that has none: quotients by 0, too.
static void check_guesses(struct trees *trees, const struct tree *tree, const struct formula *formula, const char *text,
                          double value) {
    double events[EVENTS], metrics[METRICS];
    trees->guessing = true;
    for (int i = 0; i < 30; i++) {
        guess_inputs(trees, events, metrics);
        double filled = formula_evaluate_known(formula, events, metrics), guessed = tree_value(trees, tree);
        if (filled != value || guessed != value)
            fail_msg("%s is said to be %.17g, but may be %.17g or %.17g", text, value, filled, guessed);
    }
    trees->guessing = false;
}

// What is known of a formula for random inputs. Counts values in spite of something missing in n[1], those of the rest
// in n[0].
static void check_known(struct trees *trees, size_t n[2]) {
    char text[FORMULA_LENGTH_MAX];
    struct formula *formula = NULL;
    const struct tree *tree = formula_random(trees, text, &formula);
    for (int trial = 0; trial < 4; trial++) {
        inputs_random(trees);
        trees->n_missing = 0;
        double whole = tree_value(trees, tree);
        bool missing = trees->n_missing > 0;
        double value = formula_evaluate_known(formula, trees->events, trees->metrics);
        if (!missing && value != whole)
            fail_msg("%s is %.17g, not %.17g, with nothing missing", text, value, whole);
        if (isnan(value))
            continue;
        n[missing]++;
        if (missing)
            check_guesses(trees, tree, formula, text, value);
    }
    formula_free(formula);
}

static void test_what_is_known_of_random_formulas_is_so_whatever_is_missing(void **state) {
    (void)state;
    struct trees trees = {.random = seed_begin()};
    size_t n[2] = {0, 0};
    for (int i = 0; i < 30000; i++)
        check_known(&trees, n);
    print_message("%zu values with nothing missing, %zu in spite of it\n", n[0], n[1]);
    assert_true(n[0] > 10000 && n[1] > 1000);
}

// Evaluates a random formula for other inputs in each lane, and in each as if alone.
static void check_lanes(struct trees *trees) {
    char text[FORMULA_LENGTH_MAX];
    struct formula *formula = NULL;
    struct lanes events[EVENTS], metrics[METRICS], above, below;
    double alone[LANES], sums[2][LANES];
    (void)formula_random(trees, text, &formula);
    for (size_t l = 0; l < LANES; l++) {
        inputs_random(trees);
        for (size_t i = 0; i < EVENTS; i++)
            events[i].of[l] = trees->events[i];
        for (size_t i = 0; i < METRICS; i++)
            metrics[i].of[l] = trees->metrics[i];
        alone[l] = formula_evaluate_known(formula, trees->events, trees->metrics);
        sums[0][l] = formula_sum_evaluate(&formula->numerator, trees->events);
        sums[1][l] = formula_sum_evaluate(&formula->denominator, trees->events);
    }
    struct lanes together = formula_evaluate_lanes(formula, events, metrics);
    above = formula_sum_evaluate_lanes(&formula->numerator, events);
    below = formula_sum_evaluate_lanes(&formula->denominator, events);
    for (size_t l = 0; l < LANES; l++)
        if ((together.of[l] != alone[l] && !(isnan(together.of[l]) && isnan(alone[l]))) ||
            memcmp(&above.of[l], &sums[0][l], sizeof sums[0][l]) != 0 ||
            memcmp(&below.of[l], &sums[1][l], sizeof sums[1][l]) != 0)
            fail_msg("%s is %.17g in a lane, %.17g alone", text, together.of[l], alone[l]);
    formula_free(formula);
}

static void test_lanes_of_random_formulas_are_worth_what_they_are_alone(void **state) {
    (void)state;
    struct trees trees = {.random = seed_begin()};
    for (int i = 0; i < 30000; i++)
        check_lanes(&trees);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_of_random_formulas_are_worth_what_they_are_alone),
        cmocka_unit_test(test_random_formulas_are_worth_what_their_trees_are),
        cmocka_unit_test(test_what_is_known_of_random_formulas_is_so_whatever_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
