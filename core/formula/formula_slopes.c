// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/formula/formula_private.h"

// Derivatives, by the chain rule from the result back to the inputs: one pass over the steps, however many inputs.

static struct formula_node *last_operand(struct formula_node *node) { return node - 1; }

// The operand before this one.
static struct formula_node *operand_before(struct formula_node *nodes, const struct formula_node *operand) {
    return &nodes[operand->begin - 1];
}

// Finds the value of step i from its operands.
static void find_value(const struct formula_step *step, size_t i, struct formula_node *nodes,
                       const struct lanes *events, const struct lanes *metrics) {
    struct formula_node *node = &nodes[i], *operand = node;
    const struct lanes *of[3];
    node->begin = i;
    if (step->operation == STEP_NUMBER)
        node->value = lanes_all(step->number);
    else if (step->operation == STEP_EVENT)
        node->value = events[step->index];
    else if (step->operation == STEP_METRIC)
        node->value = metrics[step->index];
    for (size_t n = formula_operands(step->operation); n > 0; n--) {
        operand = operand == node ? last_operand(node) : operand_before(nodes, operand);
        of[n - 1] = &operand->value;
        node->begin = operand->begin;
    }
    if (operand != node)
        formula_operate_lanes(step->operation, &node->value, of);
}

// A derivative of 0 stays 0 whatever it is multiplied with: the operand does not matter and may have no value.
static struct lanes times(const struct lanes *slope, const struct lanes *factor) {
    struct lanes of = *slope, by = *factor;
    for (size_t l = 0; l < LANES; l++) {
        double product = of.of[l] * by.of[l];
        of.of[l] = of.of[l] == 0 ? 0 : product;
    }
    return of;
}

static struct lanes minus(const struct lanes *slope) {
    struct lanes of = *slope;
    for (size_t l = 0; l < LANES; l++)
        of.of[l] = -of.of[l];
    return of;
}

static void pass_product(const struct lanes *slope, struct formula_node *left, struct formula_node *right) {
    left->slope = times(slope, &right->value);
    right->slope = times(slope, &left->value);
}

static void pass_ratio(const struct formula_node *node, struct formula_node *left, struct formula_node *right) {
    struct lanes by = node->slope, below = right->value;
    for (size_t l = 0; l < LANES; l++) {
        double ratio = by.of[l] / below.of[l];
        ratio = by.of[l] == 0 ? 0 : ratio;
        by.of[l] = below.of[l] == 0 ? 0 : ratio;
    }
    left->slope = by;
    by = times(&by, &node->value);
    right->slope = minus(&by);
}

// The smaller or the larger operand decides; at the kink both do, by half.
static void pass_extreme(bool larger, const struct lanes *slope, struct formula_node *left,
                         struct formula_node *right) {
    struct lanes all = *slope, of_left;
    for (size_t l = 0; l < LANES; l++) {
        double x = left->value.of[l], y = right->value.of[l];
        bool decides = larger ? x > y : x < y;
        of_left.of[l] = x == y ? all.of[l] / 2 : decides ? all.of[l] : 0;
        all.of[l] -= of_left.of[l];
    }
    left->slope = of_left;
    right->slope = all;
}

static void pass_choice(struct formula_node *nodes, const struct lanes *slope, struct formula_node *y) {
    struct formula_node *c = operand_before(nodes, y), *x = operand_before(nodes, c);
    struct lanes all = *slope, of_x;
    for (size_t l = 0; l < LANES; l++) {
        of_x.of[l] = c->value.of[l] != 0 ? all.of[l] : 0;
        all.of[l] = c->value.of[l] != 0 ? 0 : all.of[l];
    }
    c->slope = lanes_all(0);
    x->slope = of_x;
    y->slope = all;
}

// Passes the derivative by a step's result on to its operands.
static void pass(enum formula_operation operation, struct formula_node *nodes, struct formula_node *node) {
    struct formula_node *right = last_operand(node);
    struct formula_node *left = operation == STEP_NEGATE ? right : operand_before(nodes, right);
    switch (operation) {
    case STEP_NEGATE:
        right->slope = minus(&node->slope);
        break;
    case STEP_ADD:
        left->slope = right->slope = node->slope;
        break;
    case STEP_SUBTRACT:
        left->slope = node->slope;
        right->slope = minus(&node->slope);
        break;
    case STEP_MULTIPLY:
        pass_product(&node->slope, left, right);
        break;
    case STEP_DIVIDE:
    case STEP_D_RATIO:
        pass_ratio(node, left, right);
        break;
    case STEP_MIN:
    case STEP_MAX:
        pass_extreme(operation == STEP_MAX, &node->slope, left, right);
        break;
    case STEP_SELECT:
        pass_choice(nodes, &node->slope, right);
        break;
    default: // steps between whole numbers
        left->slope = right->slope = lanes_all(0);
    }
}

static void add_leaf(const unsigned *inputs, unsigned input, const struct lanes *slope, struct lanes *slopes) {
    struct lanes sum, by = *slope;
    while (*inputs != input)
        inputs++, slopes++;
    sum = *slopes;
    for (size_t l = 0; l < LANES; l++)
        sum.of[l] += by.of[l];
    *slopes = sum;
}

// An input that is 0 does not vary, nor does a value that is none.
static void settle(const unsigned *inputs, size_t n, const struct lanes *of, const struct lanes *value,
                   struct lanes *slopes) {
    for (size_t i = 0; i < n; i++) {
        struct lanes input = of[inputs[i]], slope = slopes[i];
        for (size_t l = 0; l < LANES; l++) {
            double known = isfinite(slope.of[l] + value->of[l]) ? slope.of[l] : 0;
            slope.of[l] = input.of[l] != 0 ? known : 0;
        }
        slopes[i] = slope;
    }
}

struct lanes formula_slopes_lanes(const struct formula *formula, const struct lanes *events,
                                  const struct lanes *metrics, struct formula_node *nodes, struct lanes *slopes) {
    const struct formula_step *steps = formula->steps;
    struct lanes *by_metrics = slopes + formula->n_variables, value;
    for (size_t i = 0; i < formula->n_variables + formula->n_metrics; i++)
        slopes[i] = lanes_all(0);
    for (size_t i = 0; i < formula->n_steps; i++)
        find_value(&steps[i], i, nodes, events, metrics);
    nodes[formula->n_steps - 1].slope = lanes_all(1);
    for (size_t i = formula->n_steps; i-- > 0;) {
        if (steps[i].operation == STEP_EVENT)
            add_leaf(formula->variables, steps[i].index, &nodes[i].slope, slopes);
        else if (steps[i].operation == STEP_METRIC)
            add_leaf(formula->metrics, steps[i].index, &nodes[i].slope, by_metrics);
        else if (steps[i].operation != STEP_NUMBER)
            pass(steps[i].operation, nodes, &nodes[i]);
    }
    for (size_t l = 0; l < LANES; l++) {
        double of = nodes[formula->n_steps - 1].value.of[l];
        value.of[l] = isfinite(of) ? of : NAN;
    }
    settle(formula->variables, formula->n_variables, events, &value, slopes);
    settle(formula->metrics, formula->n_metrics, metrics, &value, by_metrics);
    return value;
}
