// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_FORMULA_PRIVATE_H
#define TOPDOWND_CORE_FORMULA_FORMULA_PRIVATE_H

// Shared by the files of formula.h: a formula as steps in postfix order. An operand is a contiguous run of steps with
// its operation last, so the steps also represent the tree. formula_parse.c writes them through formula_steps.c, which
// folds constants with formula_apply.c; formula_ratio.c and formula_degree.c read them. formula.c combines them, and
// none of the others calls it.

#include "core/formula/formula.h"

enum formula_operation {
    STEP_NUMBER,
    STEP_EVENT,
    STEP_METRIC,
    STEP_NEGATE, // one operand
    STEP_ADD,    // two operands, like the rest except the last
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_MODULO,
    STEP_LESS,
    STEP_GREATER,
    STEP_AND,
    STEP_OR,
    STEP_XOR,
    STEP_MIN,
    STEP_MAX,
    STEP_D_RATIO,
    STEP_SELECT // X, C, Y: X if C else Y
};

struct formula_step {
    enum formula_operation operation;
    unsigned index; // of EVENT, METRIC
    double number;
};

// Steps under construction.
struct formula_steps {
    struct formula_step *items;
    size_t n, room;
    size_t n_written; // in total: bounds the work even if everything is folded
};

// Each returns 0, -ENOMEM, or -E2BIG beyond FORMULA_STEPS_MAX.
int formula_steps_push(struct formula_steps *steps, struct formula_step step);
int formula_steps_inline(struct formula_steps *steps, const struct formula *formula);
// The last operand begins at `at`, the one before it at `left`; X, C and Y likewise.
int formula_steps_negate(struct formula_steps *steps, size_t at);
int formula_steps_binary(struct formula_steps *steps, enum formula_operation operation, size_t left, size_t at);
int formula_steps_select(struct formula_steps *steps, size_t x, size_t c, size_t y);

// The number of an operation's operands.
static inline unsigned formula_operands(enum formula_operation operation) {
    return operation < STEP_NEGATE ? 0 : operation == STEP_NEGATE ? 1 : operation == STEP_SELECT ? 3 : 2;
}

// Apply an operation of two operands, by perf's rules and by the known ones.
double formula_apply(enum formula_operation operation, double left, double right);
double formula_apply_known(enum formula_operation operation, double left, double right);
double formula_choose_known(double x, double c, double y); // X if C else Y

// The same in all lanes, by the known rules. The result may take the place of an operand.
void formula_operate_lanes(enum formula_operation operation, struct lanes *to, const struct lanes *const *of);

// Writes the steps of `text`. Returns the same as formula_compile.
int formula_parse(const char *text, const struct formula_scope *scope, struct formula_steps *steps,
                  struct fault *fault);

// Sets is_ratio, scale, numerator and denominator of `formula`. Returns 0 (a ratio or not), -ENOMEM.
int formula_ratio_find(struct formula *formula);

bool formula_is_scale_free(const struct formula *formula);

#endif
