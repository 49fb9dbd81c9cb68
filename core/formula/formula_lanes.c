// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>

#include "core/formula/formula_private.h"

// Evaluates a formula in all lanes, step by step.

static void add(struct lanes *to, const struct lanes *left, const struct lanes *right) {
    struct lanes x = *left, y = *right;
    for (size_t l = 0; l < LANES; l++)
        x.of[l] += y.of[l];
    *to = x;
}

static void subtract(struct lanes *to, const struct lanes *left, const struct lanes *right) {
    struct lanes x = *left, y = *right;
    for (size_t l = 0; l < LANES; l++)
        x.of[l] -= y.of[l];
    *to = x;
}

static void multiply(struct lanes *to, const struct lanes *left, const struct lanes *right) {
    struct lanes x = *left, y = *right;
    for (size_t l = 0; l < LANES; l++)
        x.of[l] *= y.of[l];
    *to = x;
}

static void divide(struct lanes *to, const struct lanes *left, const struct lanes *right) {
    struct lanes x = *left, y = *right;
    for (size_t l = 0; l < LANES; l++) {
        double result = x.of[l] / y.of[l];
        x.of[l] = y.of[l] == 0 ? NAN : result;
    }
    *to = x;
}

static void negate(struct lanes *to, const struct lanes *of) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = -of->of[l];
}

static void apply(enum formula_operation operation, struct lanes *to, const struct lanes *left,
                  const struct lanes *right) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = formula_apply_known(operation, left->of[l], right->of[l]);
}

static void choose(struct lanes *to, const struct lanes *x, const struct lanes *c, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = formula_choose_known(x->of[l], c->of[l], y->of[l]);
}

void formula_operate_lanes(enum formula_operation operation, struct lanes *to, const struct lanes *const *of) {
    switch (operation) {
    case STEP_ADD:
        add(to, of[0], of[1]);
        break;
    case STEP_SUBTRACT:
        subtract(to, of[0], of[1]);
        break;
    case STEP_MULTIPLY:
        multiply(to, of[0], of[1]);
        break;
    case STEP_DIVIDE:
        divide(to, of[0], of[1]);
        break;
    case STEP_NEGATE:
        negate(to, of[0]);
        break;
    case STEP_SELECT:
        choose(to, of[0], of[1], of[2]);
        break;
    default:
        apply(operation, to, of[0], of[1]);
    }
}

struct lanes formula_evaluate_lanes(const struct formula *formula, const struct lanes *events,
                                    const struct lanes *metrics) {
    struct lanes made[FORMULA_STACK_MAX], result;
    const struct lanes *stack[FORMULA_STACK_MAX]; // inputs where they are, and values of `made` at the same place
    size_t n = 0;
    for (const struct formula_step *step = formula->steps, *end = step + formula->n_steps; step < end; step++) {
        const struct lanes *next = &made[n];
        if (step->operation == STEP_EVENT) {
            next = &events[step->index];
        } else if (step->operation == STEP_METRIC) {
            next = &metrics[step->index];
        } else if (step->operation == STEP_NUMBER) {
            made[n] = lanes_all(step->number);
        } else {
            n -= formula_operands(step->operation);
            next = &made[n];
            formula_operate_lanes(step->operation, &made[n], stack + n);
        }
        stack[n++] = next;
    }
    assert(n == 1);
    for (size_t l = 0; l < LANES; l++)
        result.of[l] = isfinite(stack[0]->of[l]) ? stack[0]->of[l] : NAN;
    return result;
}

struct lanes formula_sum_evaluate_lanes(const struct formula_sum *sum, const struct lanes *events) {
    struct lanes total = lanes_all(0);
    for (size_t i = 0; i < sum->n; i++) {
        const struct lanes *counts = &events[sum->terms[i].variable];
        double coefficient = sum->terms[i].coefficient;
        for (size_t l = 0; l < LANES; l++)
            total.of[l] += coefficient * counts->of[l];
    }
    return total;
}
