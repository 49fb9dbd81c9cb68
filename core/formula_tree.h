// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_TREE_H
#define TOPDOWND_CORE_FORMULA_TREE_H

// A parsed formula, between formula.c, which makes it, and formula_ratio.c, which reads its shape.

#include "core/formula.h"

enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_VARIABLE,
    FORMULA_NEGATE, // left
    FORMULA_ADD,    // left and right, as the rest
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE
};

struct formula_node {
    enum formula_kind kind;
    double number;
    unsigned variable;
    const struct formula_node *left, *right;
};

// Sets is_ratio, scale, numerator and denominator of `formula`. Returns 0 (a ratio or not), -ENOMEM.
int formula_ratio_find(const struct formula_node *root, struct formula *formula);

#endif
