// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_H
#define TOPDOWND_CORE_FORMULA_H

// A metric's formula, compiled once and evaluated every round.
//
// Grammar (Arm's machine-readable specification v1.0): numbers, names, + - * / and parentheses, unary minus, with the
// usual precedence, left to right. Names are variables: the caller's scope turns each into an index, and evaluation
// reads values[index]. The parser builds a tree, so that functions, conditionals and metrics of metrics become more
// kinds of node; the tree is then flattened to postfix steps. Evaluation allocates nothing and cannot fail: dividing by
// zero gives NaN, "no value".

#include <stdbool.h>
#include <stddef.h>

enum { FORMULA_STACK_MAX = 64, FORMULA_LENGTH_MAX = 16384, FORMULA_ERROR_MAX = 160 };

// Turns a name (not terminated) into a variable's index; negative where there is no such name.
struct formula_scope {
    int (*lookup)(void *context, const char *name, size_t length);
    void *context;
};

struct formula_error {
    size_t column; // counted from 1, within the text
    char text[FORMULA_ERROR_MAX];
};

// A sum of coefficient * values[variable], all coefficients positive: a count of something, which only grows.
struct formula_sum {
    struct formula_term {
        unsigned variable;
        double coefficient;
    } * terms;
    size_t n;
};

struct formula_step; // private

struct formula {
    struct formula_step *steps;
    size_t n_steps;
    unsigned *variables; // those the formula reads, ascending, each once
    size_t n_variables;
    bool is_ratio; // formula == scale * numerator / denominator, both of them sums of counts
    double scale;
    struct formula_sum numerator, denominator; // where is_ratio
};

// Compiles `text`. Returns 0 and a formula for formula_free; -EINVAL with *error filled where the text is wrong,
// -ENOMEM.
int formula_compile(const char *text, const struct formula_scope *scope, struct formula **out,
                    struct formula_error *error);

struct formula *formula_free(struct formula *formula);

// The formula's value; NaN where it divides by zero or reads a NaN.
double formula_evaluate(const struct formula *formula, const double *values);

double formula_sum_evaluate(const struct formula_sum *sum, const double *values);

#endif
