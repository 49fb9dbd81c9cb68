// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/formula/formula_private.h"

// Writes steps and folds constants. An operand is contiguous and ends where the next begins, so it is dropped by
// truncation, or by moving the next one over it. Folding uses formula_apply, like evaluation, so it gives the same
// value. If perf's rules and the known ones differ for a constant NaN, nothing is folded.

enum { STEPS_MIN = 30 };

static int steps_reserve(struct formula_steps *steps, size_t more) {
    if (more > FORMULA_STEPS_MAX - steps->n_written)
        return -E2BIG;
    size_t needed = steps->n + more < STEPS_MIN ? STEPS_MIN : steps->n + more;
    struct formula_step *items = array_reserve(steps->items, needed, &steps->room, sizeof *items);
    if (!items)
        return -ENOMEM;
    steps->items = items;
    steps->n_written += more;
    return 0;
}

int formula_steps_push(struct formula_steps *steps, struct formula_step step) {
    int r = steps_reserve(steps, 1);
    if (r == 0)
        steps->items[steps->n++] = step;
    return r;
}

int formula_steps_inline(struct formula_steps *steps, const struct formula *formula) {
    int r = steps_reserve(steps, formula->n_steps);
    if (r == 0) {
        memcpy(steps->items + steps->n, formula->steps, formula->n_steps * sizeof *formula->steps);
        steps->n += formula->n_steps;
    }
    return r;
}

// The value of the operand from `at` to `end` if it is a number, else NULL.
static const double *constant(const struct formula_steps *steps, size_t at, size_t end) {
    return end == at + 1 && steps->items[at].operation == STEP_NUMBER ? &steps->items[at].number : NULL;
}

static void cut_to_number(struct formula_steps *steps, size_t at, double number) {
    steps->items[at] = (struct formula_step){.operation = STEP_NUMBER, .number = number};
    steps->n = at + 1;
}

int formula_steps_negate(struct formula_steps *steps, size_t at) {
    const double *number = constant(steps, at, steps->n);
    if (!number)
        return formula_steps_push(steps, (struct formula_step){.operation = STEP_NEGATE});
    cut_to_number(steps, at, -*number);
    return 0;
}

// True if two constants give one value by both sets of rules.
static bool folded(enum formula_operation operation, const double *left, const double *right, double *value) {
    if (!left || !right)
        return false;
    double perf = formula_apply(operation, *left, *right), known = formula_apply_known(operation, *left, *right);
    if (perf != known && !(isnan(perf) && isnan(known)))
        return false;
    *value = perf;
    return true;
}

// True if one operand alone decides the value.
static bool settled(enum formula_operation operation, const double *left, const double *right, double *value) {
    bool zero = (left && *left == 0) || (right && *right == 0);
    bool one = (left && *left != 0 && !isnan(*left)) || (right && *right != 0 && !isnan(*right));
    bool by_zero = right && *right == 0;
    if (operation == STEP_AND && zero)
        *value = 0;
    else if (operation == STEP_OR && one)
        *value = 1;
    else if ((operation == STEP_DIVIDE || operation == STEP_MODULO) && by_zero)
        *value = NAN;
    else if (operation == STEP_D_RATIO && by_zero)
        *value = 0;
    else
        return false;
    return true;
}

int formula_steps_binary(struct formula_steps *steps, enum formula_operation operation, size_t left, size_t at) {
    const double *a = constant(steps, left, at), *b = constant(steps, at, steps->n);
    double value;
    if (!folded(operation, a, b, &value) && !settled(operation, a, b, &value))
        return formula_steps_push(steps, (struct formula_step){.operation = operation});
    cut_to_number(steps, left, value);
    return 0;
}

// True if equal and of the same sign: zeros differ, and NaN equals nothing.
static bool same_number(const double *a, const double *b) { return a && b && *a == *b && !signbit(*a) == !signbit(*b); }

int formula_steps_select(struct formula_steps *steps, size_t x, size_t c, size_t y) {
    const double *condition = constant(steps, c, y);
    bool taken = condition && *condition != 0 && !isnan(*condition);
    if (taken || same_number(constant(steps, x, c), constant(steps, y, steps->n))) {
        steps->n = c;
    } else if (condition && *condition == 0) {
        memmove(steps->items + x, steps->items + y, (steps->n - y) * sizeof *steps->items);
        steps->n = x + (steps->n - y);
    } else {
        return formula_steps_push(steps, (struct formula_step){.operation = STEP_SELECT});
    }
    return 0;
}
