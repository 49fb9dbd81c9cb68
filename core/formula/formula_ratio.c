// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/formula/formula_private.h"

// Determines whether a formula is k A/B with A and B sums of counts, by evaluating it with such forms: every operand is
// a number, a sum of events, k times a quotient of two sums, or none of these. A number more or less than a quotient is
// one, too: 1 - A/B is (B - A)/B. Only then can A and B be exported as counters and divided after summing over hosts.
// Formulas of very many events are skipped.

enum { RATIO_EVENTS_MAX = 256 };

enum form_kind { FORM_NONE, FORM_NUMBER, FORM_SUM, FORM_RATIO };

struct form {
    enum form_kind kind;
    double scale;          // the number; the factor of a ratio
    double *upper, *lower; // coefficient by position in formula->variables; the sum is `upper`
};

struct ratio_search {
    const struct formula *formula;
    int result; // 0, -ENOMEM
};

static void form_free(struct form *form) {
    free(form->upper);
    free(form->lower);
    *form = (struct form){.kind = FORM_NONE};
}

static struct form form_variable(struct ratio_search *search, unsigned variable) {
    struct form form = {.kind = FORM_SUM, .scale = 1};
    form.upper = calloc(search->formula->n_variables, sizeof *form.upper);
    if (!form.upper) {
        search->result = -ENOMEM;
        return (struct form){.kind = FORM_NONE};
    }
    for (size_t i = 0; i < search->formula->n_variables; i++)
        form.upper[i] = search->formula->variables[i] == variable;
    return form;
}

static struct form form_scale(const struct ratio_search *search, struct form form, double factor) {
    if (form.kind == FORM_SUM)
        for (size_t i = 0; i < search->formula->n_variables; i++)
            form.upper[i] *= factor;
    else
        form.scale *= factor;
    return form;
}

// The sum of a quotient and a number.
static struct form form_add_number(const struct ratio_search *search, struct form left, double number) {
    for (size_t i = 0; i < search->formula->n_variables; i++)
        left.upper[i] = left.scale * left.upper[i] + number * left.lower[i];
    left.scale = 1;
    return left;
}

static struct form form_add(const struct ratio_search *search, struct form left, struct form right, double sign) {
    if (left.kind == FORM_RATIO && right.kind == FORM_NUMBER)
        return form_add_number(search, left, sign * right.scale);
    if (left.kind == FORM_NUMBER && right.kind == FORM_RATIO)
        return form_add_number(search, form_scale(search, right, sign), left.scale);
    if (left.kind == FORM_NUMBER && right.kind == FORM_NUMBER) {
        left.scale += sign * right.scale;
        return left;
    }
    if (left.kind == FORM_SUM && right.kind == FORM_SUM) {
        for (size_t i = 0; i < search->formula->n_variables; i++)
            left.upper[i] += sign * right.upper[i];
    } else {
        form_free(&left);
    }
    form_free(&right);
    return left;
}

static struct form form_multiply(const struct ratio_search *search, struct form left, struct form right) {
    if (right.kind == FORM_NUMBER)
        return form_scale(search, left, right.scale);
    if (left.kind == FORM_NUMBER)
        return form_scale(search, right, left.scale);
    form_free(&left);
    form_free(&right);
    return left;
}

static struct form form_divide(const struct ratio_search *search, struct form left, struct form right) {
    if (right.kind == FORM_NUMBER && right.scale != 0)
        return form_scale(search, left, 1 / right.scale);
    if (left.kind == FORM_SUM && right.kind == FORM_SUM) {
        left.kind = FORM_RATIO;
        left.lower = right.upper;
        return left;
    }
    form_free(&left);
    form_free(&right);
    return left;
}

static struct form form_operand(struct ratio_search *search, const struct formula_step *step) {
    if (step->operation == STEP_NUMBER)
        return (struct form){.kind = FORM_NUMBER, .scale = step->number};
    return step->operation == STEP_EVENT ? form_variable(search, step->index) : (struct form){.kind = FORM_NONE};
}

// Consumes both operands.
static struct form form_binary(struct ratio_search *search, enum formula_operation operation, struct form left,
                               struct form right) {
    switch (operation) {
    case STEP_ADD:
        return form_add(search, left, right, 1);
    case STEP_SUBTRACT:
        return form_add(search, left, right, -1);
    case STEP_MULTIPLY:
        return form_multiply(search, left, right);
    case STEP_DIVIDE:
    case STEP_D_RATIO:
        return form_divide(search, left, right);
    default:
        form_free(&left);
        form_free(&right);
        return left;
    }
}

// An operand with none of these forms makes everything it is part of formless, so the first one decides.
static struct form form_of(struct ratio_search *search) {
    struct form stack[FORMULA_STACK_MAX], *top = stack;
    for (size_t i = 0; i < search->formula->n_steps; i++) {
        const struct formula_step *step = &search->formula->steps[i];
        struct form form = {.kind = FORM_NONE};
        if (step->operation < STEP_NEGATE) {
            form = form_operand(search, step);
        } else if (step->operation == STEP_NEGATE) {
            form = form_scale(search, *--top, -1);
        } else if (step->operation != STEP_SELECT) {
            top -= 2;
            form = form_binary(search, step->operation, top[0], top[1]);
        }
        if (form.kind == FORM_NONE) {
            while (top > stack)
                form_free(--top);
            return form;
        }
        *top++ = form;
    }
    return stack[0];
}

// The size that the coefficients of a sum's terms have in common; 1 if they differ.
static double common_factor(const double *coefficients, size_t n) {
    double factor = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(coefficients[i]);
        if (size == 0)
            continue;
        if (factor != 0 && factor != size)
            return 1;
        factor = size;
    }
    return factor;
}

static bool is_positive(const double *coefficients, size_t n) {
    size_t i = 0;
    while (i < n && !(coefficients[i] > 0))
        i++;
    return i < n;
}

// Makes a sum of counts: at least one positive term, and none that is not finite. Returns 0, -ENOMEM, or 1 if it is no
// such sum.
static int sum_take(const struct formula *formula, const double *coefficients, double divisor,
                    struct formula_sum *out) {
    struct formula_term *terms = calloc(formula->n_variables, sizeof *terms);
    bool good = is_positive(coefficients, formula->n_variables);
    size_t n = 0;
    if (!terms)
        return -ENOMEM;
    for (size_t i = 0; i < formula->n_variables; i++) {
        good = good && isfinite(coefficients[i]);
        if (coefficients[i] != 0)
            terms[n++] =
                (struct formula_term){.variable = formula->variables[i], .coefficient = coefficients[i] / divisor};
    }
    if (!good) {
        free(terms);
        return 1;
    }
    *out = (struct formula_sum){.terms = terms, .n = n};
    return 0;
}

static bool has_difference(const struct formula_sum *sum) {
    for (size_t i = 0; i < sum->n; i++)
        if (sum->terms[i].coefficient < 0)
            return true;
    return false;
}

int formula_ratio_find(struct formula *formula) {
    if (formula->n_variables > RATIO_EVENTS_MAX)
        return 0;
    struct ratio_search search = {.formula = formula};
    struct form form = form_of(&search);
    struct formula_sum upper = {0}, lower = {0};
    int r = search.result;
    formula->is_sum = r == 0 && form.kind == FORM_SUM;
    if (r == 0 && form.kind == FORM_RATIO) {
        // A factor of the numerator belongs to k, so that the numerator counts events. The denominator keeps its own:
        // 8 * CPU_CYCLES are pipeline slots.
        double factor = common_factor(form.upper, formula->n_variables);
        if (factor > 0 && form.scale > 0 && isfinite(form.scale * factor))
            r = sum_take(formula, form.upper, factor, &upper);
        else
            r = 1;
        if (r == 0)
            r = sum_take(formula, form.lower, 1, &lower);
        if (r == 0) {
            formula->is_ratio = true;
            formula->scale = form.scale * factor;
            formula->numerator = upper;
            formula->denominator = lower;
            formula->has_difference = has_difference(&upper) || has_difference(&lower);
        } else {
            free(upper.terms);
        }
    }
    form_free(&form);
    return r < 0 ? r : 0;
}
