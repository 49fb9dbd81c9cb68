// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>

#include "core/formula/formula_step.h"

// Evaluates a formula in all lanes, step by step.

static void add(struct lanes *to, const struct lanes *by) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] += by->of[l];
}

static void subtract(struct lanes *to, const struct lanes *by) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] -= by->of[l];
}

static void multiply(struct lanes *to, const struct lanes *by) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] *= by->of[l];
}

static void divide(struct lanes *to, const struct lanes *by) {
    for (size_t l = 0; l < LANES; l++) {
        double result = to->of[l] / by->of[l];
        to->of[l] = by->of[l] == 0 ? NAN : result;
    }
}

static void negate(struct lanes *to) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = -to->of[l];
}

static void apply(enum formula_operation operation, struct lanes *to, const struct lanes *by) {
    for (size_t l = 0; l < LANES; l++)
        to->of[l] = formula_apply_known(operation, to->of[l], by->of[l]);
}

static void choose(struct lanes *x, const struct lanes *c, const struct lanes *y) {
    for (size_t l = 0; l < LANES; l++)
        x->of[l] = formula_choose_known(x->of[l], c->of[l], y->of[l]);
}

// Applies an operation to the operands that end before `top`, the place of the next value. Returns the new `top`.
static struct lanes *operate(enum formula_operation operation, struct lanes *top) {
    top -= formula_operands(operation) - 1;
    switch (operation) {
    case STEP_ADD:
        add(&top[-1], &top[0]);
        break;
    case STEP_SUBTRACT:
        subtract(&top[-1], &top[0]);
        break;
    case STEP_MULTIPLY:
        multiply(&top[-1], &top[0]);
        break;
    case STEP_DIVIDE:
        divide(&top[-1], &top[0]);
        break;
    case STEP_NEGATE:
        negate(&top[-1]);
        break;
    case STEP_SELECT:
        choose(&top[-1], &top[0], &top[1]);
        break;
    default:
        apply(operation, &top[-1], &top[0]);
    }
    return top;
}

struct lanes formula_evaluate_lanes(const struct formula *formula, const struct lanes *events,
                                    const struct lanes *metrics) {
    struct lanes stack[FORMULA_STACK_MAX], *top = stack, result;
    for (const struct formula_step *step = formula->steps, *end = step + formula->n_steps; step < end; step++) {
        if (step->operation == STEP_NUMBER)
            *top++ = lanes_all(step->number);
        else if (step->operation == STEP_EVENT)
            *top++ = events[step->index];
        else if (step->operation == STEP_METRIC)
            *top++ = metrics[step->index];
        else
            top = operate(step->operation, top);
    }
    assert(top == stack + 1);
    for (size_t l = 0; l < LANES; l++)
        result.of[l] = isfinite(stack[0].of[l]) ? stack[0].of[l] : NAN;
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
