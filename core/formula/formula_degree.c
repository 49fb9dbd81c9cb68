// SPDX-License-Identifier: Apache-2.0
#include "core/formula/formula_private.h"

#include <math.h>

// Determines by dimensional analysis whether a formula's value stays when all counts are multiplied by the same
// positive number: multiplying them by f multiplies a value of degree d by f to the power of d. Events have degree 1,
// numbers and metrics 0, and the number 0 fits any degree, as in max(0, A - B). A value without a degree ("mixed")
// makes every result mixed.

struct degree {
    enum { DEGREE_MIXED, DEGREE_ANY, DEGREE_KNOWN } kind;
    int degree; // bounded by FORMULA_STEPS_MAX
};

static const struct degree MIXED = {DEGREE_MIXED, 0}, ANY = {DEGREE_ANY, 0}, FREE = {DEGREE_KNOWN, 0};

static bool mixed(struct degree d) { return d.kind == DEGREE_MIXED; }
static bool scale_free(struct degree d) { return d.kind == DEGREE_ANY || (d.kind == DEGREE_KNOWN && d.degree == 0); }

// The degree of a value that is one of two or their sum.
static struct degree join(struct degree a, struct degree b) {
    if (mixed(a) || mixed(b))
        return MIXED;
    if (a.kind == DEGREE_ANY)
        return b;
    return b.kind == DEGREE_ANY || a.degree == b.degree ? a : MIXED;
}

static struct degree product(struct degree a, struct degree b, int sign) {
    if (mixed(a) || mixed(b))
        return MIXED;
    if (a.kind == DEGREE_ANY || b.kind == DEGREE_ANY)
        return ANY;
    return (struct degree){DEGREE_KNOWN, a.degree + sign * b.degree};
}

static struct degree of_two(enum formula_operation operation, struct degree a, struct degree b) {
    switch (operation) {
    case STEP_MULTIPLY:
        return product(a, b, 1);
    case STEP_DIVIDE:
    case STEP_D_RATIO: // its 0 fits any degree
        return product(a, b, -1);
    case STEP_LESS:
    case STEP_GREATER:
        return mixed(join(a, b)) ? MIXED : FREE;
    case STEP_AND:
    case STEP_OR:
    case STEP_XOR: // the scale does not change whether a value is 0
        return mixed(a) || mixed(b) ? MIXED : FREE;
    case STEP_MODULO: // truncates its operands to whole numbers
        return scale_free(a) && scale_free(b) ? FREE : MIXED;
    default:
        return join(a, b);
    }
}

static struct degree of_operand(const struct formula_step *step) {
    if (step->operation == STEP_EVENT)
        return (struct degree){DEGREE_KNOWN, 1};
    bool fits_any = step->operation == STEP_NUMBER && (step->number == 0 || isnan(step->number));
    return fits_any ? ANY : FREE;
}

bool formula_is_scale_free(const struct formula *formula) {
    struct degree stack[FORMULA_STACK_MAX], *top = stack;
    for (size_t i = 0; i < formula->n_steps; i++) {
        const struct formula_step *step = &formula->steps[i];
        top -= formula_operands(step->operation);
        if (step->operation < STEP_NEGATE)
            *top = of_operand(step);
        else if (step->operation == STEP_SELECT)
            *top = mixed(top[1]) ? MIXED : join(top[0], top[2]);
        else if (step->operation != STEP_NEGATE)
            *top = of_two(step->operation, top[0], top[1]);
        top++;
    }
    return scale_free(stack[0]);
}
