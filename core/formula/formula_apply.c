// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/formula/formula_private.h"

// Operations of two and three operands, for evaluation and for folding constants.

// Returns 0, 1, or NaN if undecided.
static double logical(enum formula_operation operation, double left, double right) {
    bool unknown = isnan(left) || isnan(right);
    switch (operation) {
    case STEP_AND:
        return left == 0 || right == 0 ? 0 : unknown ? NAN : 1;
    case STEP_OR:
        return (left != 0 && !isnan(left)) || (right != 0 && !isnan(right)) ? 1 : unknown ? NAN : 0;
    default:
        return unknown ? NAN : (left != 0) != (right != 0);
    }
}

static double modulo(double left, double right) {
    left = trunc(left);
    right = trunc(right);
    return right == 0 ? NAN : fmod(left, right);
}

double formula_apply(enum formula_operation operation, double left, double right) {
    switch (operation) {
    case STEP_ADD:
        return left + right;
    case STEP_SUBTRACT:
        return left - right;
    case STEP_MULTIPLY:
        return left * right;
    case STEP_DIVIDE:
        return right == 0 ? NAN : left / right;
    case STEP_MODULO:
        return modulo(left, right);
    case STEP_LESS:
        return left < right;
    case STEP_GREATER:
        return left > right;
    case STEP_MIN:
        return left < right ? left : right;
    case STEP_MAX:
        return left > right ? left : right;
    case STEP_D_RATIO:
        return right == 0 ? 0 : left / right;
    default:
        return logical(operation, left, right);
    }
}

double formula_apply_known(enum formula_operation operation, double left, double right) {
    switch (operation) {
    case STEP_LESS:
    case STEP_GREATER:
    case STEP_MIN:
    case STEP_MAX:
        return isnan(left) || isnan(right) ? NAN : formula_apply(operation, left, right);
    default: // their results hold for any value in place of NaN
        return formula_apply(operation, left, right);
    }
}

double formula_choose_known(double x, double c, double y) {
    if (isnan(c))
        return x == y ? x : NAN;
    return c != 0 ? x : y;
}
