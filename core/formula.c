// SPDX-License-Identifier: Apache-2.0
#include "core/formula.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula_tree.h"

// Three stages: text to tree (this file), tree to ratio of sums where it is one (formula_ratio.c), tree to postfix
// steps (this file). Only the steps and the ratio are kept.

enum { NESTING_MAX = FORMULA_STACK_MAX - 2, NODES_MAX = 4096 };

struct formula_step {
    enum formula_kind kind;
    unsigned variable;
    double number;
};

struct parser {
    const char *text, *cursor;
    const struct formula_scope *scope;
    struct formula_error *error;
    struct formula_node *nodes; // NODES_MAX, in order of creation: children before parents
    size_t n_nodes;
    unsigned nesting;
    int result; // 0, -EINVAL
};

static struct formula_node *parse_sum(struct parser *p);

__attribute__((format(printf, 3, 4))) static struct formula_node *parse_fail(struct parser *p, const char *at,
                                                                             const char *format, ...) {
    if (p->result == 0) {
        p->result = -EINVAL;
        p->error->column = (size_t)(at - p->text) + 1;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(p->error->text, sizeof p->error->text, format, arguments);
        va_end(arguments);
    }
    return NULL;
}

static struct formula_node *node_new(struct parser *p, struct formula_node node) {
    if (p->n_nodes == NODES_MAX)
        return parse_fail(p, p->cursor, "the formula has more than %d terms", NODES_MAX);
    p->nodes[p->n_nodes] = node;
    return &p->nodes[p->n_nodes++];
}

static void skip_space(struct parser *p) {
    while (isspace((unsigned char)*p->cursor))
        p->cursor++;
}

static bool name_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static struct formula_node *parse_number(struct parser *p) {
    const char *start = p->cursor;
    char *end;
    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
        return parse_fail(p, start, "a number is written in decimal");
    double value = strtod(start, &end);
    if (end == start || !isfinite(value))
        return parse_fail(p, start, "not a number");
    if (name_character(*end))
        return parse_fail(p, start, "a name cannot begin with a digit");
    p->cursor = end;
    return node_new(p, (struct formula_node){.kind = FORMULA_NUMBER, .number = value});
}

static struct formula_node *parse_name(struct parser *p) {
    const char *start = p->cursor;
    while (name_character(*p->cursor))
        p->cursor++;
    size_t length = (size_t)(p->cursor - start);
    int variable = p->scope->lookup(p->scope->context, start, length);
    if (variable < 0)
        return parse_fail(p, start, "unknown name '%.*s'", length > 80 ? 80 : (int)length, start);
    return node_new(p, (struct formula_node){.kind = FORMULA_VARIABLE, .variable = (unsigned)variable});
}

static struct formula_node *parse_primary(struct parser *p) {
    skip_space(p);
    char c = *p->cursor;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->cursor[1])))
        return parse_number(p);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(p);
    if (c != '(' && c != '-')
        return c == '\0' ? parse_fail(p, p->cursor, "the formula ends where a number, a name or '(' is due")
                         : parse_fail(p, p->cursor, "'%c' stands where a number, a name or '(' is due",
                                      isprint((unsigned char)c) ? c : '?');
    if (p->nesting == NESTING_MAX)
        return parse_fail(p, p->cursor, "nested deeper than %d", NESTING_MAX);
    p->nesting++;
    p->cursor++;
    struct formula_node *inner = c == '(' ? parse_sum(p) : parse_primary(p);
    p->nesting--;
    if (!inner)
        return NULL;
    if (c == '-')
        return node_new(p, (struct formula_node){.kind = FORMULA_NEGATE, .left = inner});
    skip_space(p);
    if (*p->cursor != ')')
        return parse_fail(p, p->cursor, "')' is missing");
    p->cursor++;
    return inner;
}

static enum formula_kind operator_kind(char c) {
    switch (c) {
    case '+':
        return FORMULA_ADD;
    case '-':
        return FORMULA_SUBTRACT;
    case '*':
        return FORMULA_MULTIPLY;
    default:
        return FORMULA_DIVIDE;
    }
}

// operand (one of `operators` operand)*, left to right
static struct formula_node *parse_chain(struct parser *p, const char *operators,
                                        struct formula_node *(*operand)(struct parser *)) {
    struct formula_node *left = operand(p);
    while (left) {
        skip_space(p);
        char c = *p->cursor;
        if (c == '\0' || !strchr(operators, c))
            return left;
        p->cursor++;
        struct formula_node *right = operand(p);
        left =
            right ? node_new(p, (struct formula_node){.kind = operator_kind(c), .left = left, .right = right}) : NULL;
    }
    return NULL;
}

static struct formula_node *parse_product(struct parser *p) { return parse_chain(p, "*/", parse_primary); }

static struct formula_node *parse_sum(struct parser *p) { return parse_chain(p, "+-", parse_product); }

static const struct formula_node *parse_all(struct parser *p) {
    const struct formula_node *root = parse_sum(p);
    if (!root)
        return NULL;
    skip_space(p);
    if (*p->cursor != '\0')
        return parse_fail(p, p->cursor, "'%c' is not expected here; operators are + - * / ( )",
                          isprint((unsigned char)*p->cursor) ? *p->cursor : '?');
    return root;
}

// Postfix order of a tree. Recursion is bounded by NODES_MAX.
static void flatten(const struct formula_node *node, struct formula_step *steps, size_t *n) {
    if (node->left)
        flatten(node->left, steps, n);
    if (node->right)
        flatten(node->right, steps, n);
    steps[(*n)++] = (struct formula_step){.kind = node->kind, .variable = node->variable, .number = node->number};
}

static size_t stack_needed(const struct formula_step *steps, size_t n) {
    size_t depth = 0, deepest = 0;
    for (size_t i = 0; i < n; i++) {
        if (steps[i].kind == FORMULA_NUMBER || steps[i].kind == FORMULA_VARIABLE)
            depth++;
        else if (steps[i].kind != FORMULA_NEGATE)
            depth--;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

static int compare_unsigned(const void *a, const void *b) {
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int collect_variables(struct formula *formula) {
    unsigned *variables = calloc(formula->n_steps + 1, sizeof *variables);
    if (!variables)
        return -ENOMEM;
    size_t n = 0, unique = 0;
    for (size_t i = 0; i < formula->n_steps; i++)
        if (formula->steps[i].kind == FORMULA_VARIABLE)
            variables[n++] = formula->steps[i].variable;
    qsort(variables, n, sizeof *variables, compare_unsigned);
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || variables[unique - 1] != variables[i])
            variables[unique++] = variables[i];
    formula->variables = variables;
    formula->n_variables = unique;
    return 0;
}

static int formula_build(const struct formula_node *root, size_t n_nodes, struct formula *formula,
                         struct formula_error *error) {
    formula->steps = calloc(n_nodes, sizeof *formula->steps);
    if (!formula->steps)
        return -ENOMEM;
    flatten(root, formula->steps, &formula->n_steps);
    if (stack_needed(formula->steps, formula->n_steps) > FORMULA_STACK_MAX) {
        error->column = 1;
        (void)snprintf(error->text, sizeof error->text, "the formula is nested too deeply");
        return -EINVAL;
    }
    int r = collect_variables(formula);
    return r < 0 ? r : formula_ratio_find(root, formula);
}

int formula_compile(const char *text, const struct formula_scope *scope, struct formula **out,
                    struct formula_error *error) {
    struct parser p = {.text = text, .cursor = text, .scope = scope, .error = error};
    if (strlen(text) > FORMULA_LENGTH_MAX) {
        (void)parse_fail(&p, text, "the formula is longer than %d characters", FORMULA_LENGTH_MAX);
        return p.result;
    }
    struct formula *formula = calloc(1, sizeof *formula);
    p.nodes = calloc(NODES_MAX, sizeof *p.nodes);
    int r = formula && p.nodes ? 0 : -ENOMEM;
    if (r == 0) {
        const struct formula_node *root = parse_all(&p);
        r = root ? formula_build(root, p.n_nodes, formula, error) : p.result;
    }
    free(p.nodes);
    if (r < 0) {
        formula_free(formula);
        return r;
    }
    *out = formula;
    return 0;
}

struct formula *formula_free(struct formula *formula) {
    if (formula) {
        free(formula->denominator.terms);
        free(formula->numerator.terms);
        free(formula->variables);
        free(formula->steps);
        free(formula);
    }
    return NULL;
}

static double apply(enum formula_kind kind, double left, double right) {
    switch (kind) {
    case FORMULA_ADD:
        return left + right;
    case FORMULA_SUBTRACT:
        return left - right;
    case FORMULA_MULTIPLY:
        return left * right;
    default:
        return right == 0 ? NAN : left / right;
    }
}

double formula_evaluate(const struct formula *formula, const double *values) {
    double stack[FORMULA_STACK_MAX];
    size_t depth = 0;
    for (size_t i = 0; i < formula->n_steps; i++) {
        const struct formula_step *step = &formula->steps[i];
        if (step->kind == FORMULA_NUMBER) {
            stack[depth++] = step->number;
        } else if (step->kind == FORMULA_VARIABLE) {
            stack[depth++] = values[step->variable];
        } else if (step->kind == FORMULA_NEGATE) {
            stack[depth - 1] = -stack[depth - 1];
        } else {
            depth--;
            stack[depth - 1] = apply(step->kind, stack[depth - 1], stack[depth]);
        }
    }
    assert(depth == 1);
    return isfinite(stack[0]) ? stack[0] : NAN;
}

double formula_sum_evaluate(const struct formula_sum *sum, const double *values) {
    double total = 0;
    for (size_t i = 0; i < sum->n; i++)
        total += sum->terms[i].coefficient * values[sum->terms[i].variable];
    return total;
}
