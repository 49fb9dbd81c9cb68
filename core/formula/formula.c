// SPDX-License-Identifier: Apache-2.0
#include "core/formula/formula.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/formula/formula_private.h"

// Compiles: turns text into steps (formula_parse.c), collects the inputs of the steps, and determines their shape
// (formula_ratio.c, formula_degree.c). Evaluates: one pass over the steps with a stack of values.

static size_t stack_needed(const struct formula *formula) {
    size_t depth = 0, deepest = 0;
    for (size_t i = 0; i < formula->n_steps; i++) {
        depth = depth + 1 - formula_operands(formula->steps[i].operation);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

static int compare_unsigned(const void *a, const void *b) {
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Collects the indexes in the steps of one kind, ascending, each once.
static int collect(const struct formula *formula, enum formula_operation operation, unsigned **out, size_t *n_out) {
    size_t room = 1, n = 0, unique = 0;
    for (size_t i = 0; i < formula->n_steps; i++)
        room += formula->steps[i].operation == operation;
    unsigned *indexes = calloc(room, sizeof *indexes);
    if (!indexes)
        return -ENOMEM;
    for (size_t i = 0; i < formula->n_steps; i++)
        if (formula->steps[i].operation == operation)
            indexes[n++] = formula->steps[i].index;
    qsort(indexes, n, sizeof *indexes, compare_unsigned);
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || indexes[unique - 1] != indexes[i])
            indexes[unique++] = indexes[i];
    *out = indexes;
    *n_out = unique;
    return 0;
}

static int formula_describe(struct formula *formula, struct fault *fault) {
    if (stack_needed(formula) > FORMULA_STACK_MAX) {
        return fault_set_kind(fault, FAULT_FORMULA, 1,
                              "with the metrics that it uses, the formula is nested too deeply");
    }
    int r = collect(formula, STEP_EVENT, &formula->variables, &formula->n_variables);
    if (r == 0)
        r = collect(formula, STEP_METRIC, &formula->metrics, &formula->n_metrics);
    if (r == 0)
        r = formula_ratio_find(formula);
    formula->scale_free = formula_is_scale_free(formula);
    return r;
}

int formula_compile(const char *text, const struct formula_scope *scope, struct formula **out, struct fault *fault) {
    struct formula *formula = calloc(1, sizeof *formula);
    if (!formula)
        return -ENOMEM;
    struct formula_steps steps = {.items = NULL};
    int r = formula_parse(text, scope, &steps, fault);
    // releases unused memory to the next formula
    struct formula_step *fitting = steps.n > 0 ? realloc(steps.items, steps.n * sizeof *steps.items) : NULL;
    formula->steps = fitting ? fitting : steps.items;
    formula->n_steps = steps.n;
    if (r == 0)
        r = formula_describe(formula, fault);
    if (r < 0) {
        formula_free(formula);
        return r;
    }
    *out = formula;
    return 0;
}

struct formula *formula_free(struct formula *formula) {
    if (formula) {
        free(formula->denominator.terms);
        free(formula->numerator.terms);
        free(formula->metrics);
        free(formula->variables);
        free(formula->steps);
        free(formula);
    }
    return NULL;
}

// X if C else Y.
static double choose(double x, double c, double y, bool known) {
    if (known)
        return formula_choose_known(x, c, y);
    return c != 0 ? x : y;
}

static double evaluate(const struct formula *formula, const double *events, const double *metrics, bool known) {
    double stack[FORMULA_STACK_MAX], *top = stack; // place of the next value
    for (const struct formula_step *step = formula->steps, *end = step + formula->n_steps; step < end; step++) {
        switch (step->operation) {
        case STEP_NUMBER:
            *top++ = step->number;
            break;
        case STEP_EVENT:
            *top++ = events[step->index];
            break;
        case STEP_METRIC:
            *top++ = metrics[step->index];
            break;
        case STEP_ADD: // most operations are these four, so they bypass formula_apply
            top--;
            top[-1] += top[0];
            break;
        case STEP_SUBTRACT:
            top--;
            top[-1] -= top[0];
            break;
        case STEP_MULTIPLY:
            top--;
            top[-1] *= top[0];
            break;
        case STEP_DIVIDE:
            top--;
            top[-1] = top[0] == 0 ? NAN : top[-1] / top[0];
            break;
        case STEP_NEGATE:
            top[-1] = -top[-1];
            break;
        case STEP_SELECT:
            top -= 2;
            top[-1] = choose(top[-1], top[0], top[1], known);
            break;
        default:
            top--;
            top[-1] = known ? formula_apply_known(step->operation, top[-1], top[0])
                            : formula_apply(step->operation, top[-1], top[0]);
        }
    }
    assert(top == stack + 1);
    return isfinite(stack[0]) ? stack[0] : NAN;
}

double formula_evaluate(const struct formula *formula, const double *events, const double *metrics) {
    return evaluate(formula, events, metrics, false);
}

double formula_evaluate_known(const struct formula *formula, const double *events, const double *metrics) {
    return evaluate(formula, events, metrics, true);
}

double formula_sum_evaluate(const struct formula_sum *sum, const double *events) {
    double total = 0;
    for (size_t i = 0; i < sum->n; i++)
        total += sum->terms[i].coefficient * events[sum->terms[i].variable];
    return total;
}
