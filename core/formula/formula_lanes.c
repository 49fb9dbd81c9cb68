// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>

#include "core/formula/formula_step.h"

// Evaluates a formula in all lanes, step by step.

static struct lanes add(struct lanes x, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] += y->of[l];
    return x;
}

static struct lanes subtract(struct lanes x, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] -= y->of[l];
    return x;
}

static struct lanes multiply(struct lanes x, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] *= y->of[l];
    return x;
}

static struct lanes divide(struct lanes x, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++) {
        double result = x.of[l] / y->of[l];
        x.of[l] = y->of[l] == 0 ? NAN : result;
    }
    return x;
}

static struct lanes negate(struct lanes x) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] = -x.of[l];
    return x;
}

static struct lanes apply(enum formula_operation operation, struct lanes x, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] = formula_apply_known(operation, x.of[l], y->of[l]);
    return x;
}

static struct lanes choose(struct lanes x, const struct lanes *c, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x.of[l] = formula_choose_known(x.of[l], c->of[l], y->of[l]);
    return x;
}

// Applies an operation to the operands from `of` on.
static struct lanes operate(enum formula_operation operation, const struct lanes *const *of) {
    switch (operation) {
    case STEP_ADD:
        return add(*of[0], of[1]);
    case STEP_SUBTRACT:
        return subtract(*of[0], of[1]);
    case STEP_MULTIPLY:
        return multiply(*of[0], of[1]);
    case STEP_DIVIDE:
        return divide(*of[0], of[1]);
    case STEP_NEGATE:
        return negate(*of[0]);
    case STEP_SELECT:
        return choose(*of[0], of[1], of[2]);
    default:
        return apply(operation, *of[0], of[1]);
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
            made[n] = operate(step->operation, stack + n);
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
