// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/formula_private.h"

// Turns text into steps by recursive descent. Operands leave their steps one after the other; an operation only needs
// to know where its operands begin. Every function returns false after an error, which is the first and only one.

enum { SHOWN_NAME_MAX = 80 };

struct parser {
    const char *text, *cursor;
    const struct formula_scope *scope;
    struct fault *fault;
    struct formula_steps *steps;
    char *name; // room for any name of the text
    unsigned nesting;
    int result; // 0, or the error for formula_compile
};

static bool parse_conditional(struct parser *p);

__attribute__((format(printf, 3, 4))) static bool parse_fail(struct parser *p, const char *at, const char *format,
                                                             ...) {
    p->result = -EINVAL;
    p->fault->kind = FAULT_FORMULA;
    p->fault->column = (size_t)(at - p->text) + 1;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(p->fault->text, sizeof p->fault->text, format, arguments);
    va_end(arguments);
    return false;
}

static char shown(char c) { return isprint((unsigned char)c) ? c : '?'; }

// Handles the result of writing a step.
static bool written(struct parser *p, int r) {
    if (r == -E2BIG)
        return parse_fail(p, p->cursor, "with the metrics that it uses, the formula has more than %d steps",
                          FORMULA_STEPS_MAX);
    if (r < 0)
        p->result = r;
    return r == 0;
}

static void skip_space(struct parser *p) {
    while (isspace((unsigned char)*p->cursor))
        p->cursor++;
}

static bool name_character(char c) { return isalnum((unsigned char)c) || (c != '\0' && strchr("_.:@?", c)); }

// Finds the '@' that closes the one at `open`; a PMU's terms are between them. NULL if none closes it.
static const char *terms_end(const char *open) {
    for (const char *c = open + 1; *c != '\0'; c++) {
        if (*c == '@')
            return c;
        if (*c == '\\' && c[1] != '\0')
            c++;
        else if (!name_character(*c) && *c != '=' && *c != ',')
            return NULL;
    }
    return NULL;
}

// The first character after the name at `start`.
static const char *name_end(const char *start) {
    const char *c = start, *end;
    for (;;) {
        if (*c == '@' && (end = terms_end(c)))
            c = end + 1;
        else if (name_character(*c))
            c++;
        else if (*c == '\\' && c[1] != '\0')
            c += 2;
        else
            return c;
    }
}

// The first character after the number at `start`; `start` itself if there is none.
static const char *number_end(const char *start) {
    const char *c = start;
    size_t digits = 0;
    for (; isdigit((unsigned char)*c); c++)
        digits++;
    if (*c == '.')
        for (c++; isdigit((unsigned char)*c); c++)
            digits++;
    if (digits == 0)
        return start;
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-');
        if (isdigit((unsigned char)*exponent))
            for (c = exponent; isdigit((unsigned char)*c); c++)
                continue;
    }
    return c;
}

static bool token_is(const char *start, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - start) == length && memcmp(start, word, length) == 0;
}

static bool parse_number(struct parser *p, const char *end) {
    double value = strtod(p->cursor, NULL); // reads no further than `end`: a longer one would be a name
    if (!isfinite(value))
        return parse_fail(p, p->cursor, "the number is too large");
    p->cursor = end;
    return written(p, formula_steps_push(p->steps, (struct formula_step){.operation = STEP_NUMBER, .number = value}));
}

static bool symbol_push(struct parser *p, const struct formula_symbol *symbol) {
    switch (symbol->kind) {
    case FORMULA_SYMBOL_INLINE:
        return written(p, formula_steps_inline(p->steps, symbol->formula));
    case FORMULA_SYMBOL_EVENT:
        return written(
            p, formula_steps_push(p->steps, (struct formula_step){.operation = STEP_EVENT, .index = symbol->index}));
    case FORMULA_SYMBOL_METRIC:
        return written(
            p, formula_steps_push(p->steps, (struct formula_step){.operation = STEP_METRIC, .index = symbol->index}));
    default:
        return written(
            p, formula_steps_push(p->steps, (struct formula_step){.operation = STEP_NUMBER, .number = symbol->number}));
    }
}

static bool lookup_fail(struct parser *p, enum formula_name_kind kind, const char *at, size_t length, int r) {
    char name[SHOWN_NAME_MAX + 1];
    size_t n = length < SHOWN_NAME_MAX ? length : SHOWN_NAME_MAX;
    for (size_t i = 0; i < n; i++)
        name[i] = shown(p->name[i]);
    name[n] = '\0';
    const char *mark = kind == FORMULA_LITERAL ? "#" : "";
    if (r == -ELOOP)
        return parse_fail(p, at, "'%s%s' leads back to itself", mark, name);
    if (r != -ENOENT)
        (void)parse_fail(p, at, "'%s%s' cannot be used", mark, name);
    else if (kind == FORMULA_ID && name[0] == '0' && (name[1] == 'x' || name[1] == 'X'))
        return parse_fail(p, at, "a number is written in decimal");
    else if (kind == FORMULA_ID && isdigit((unsigned char)name[0]))
        return parse_fail(p, at, "'%s' is neither a number nor a name", name);
    else
        return parse_fail(p, at, "unknown name '%s%s'", mark, name);
    p->result = r;
    return false;
}

// Resolves the name from `start` to `end` as the scope knows it: without escapes, a literal in lower case.
static bool parse_symbol(struct parser *p, enum formula_name_kind kind, const char *start, const char *end) {
    size_t length = 0;
    for (const char *c = start; c < end; c++) {
        c += *c == '\\';
        p->name[length++] = kind == FORMULA_LITERAL ? (char)tolower((unsigned char)*c) : *c;
    }
    struct formula_symbol symbol = {.kind = FORMULA_SYMBOL_NUMBER};
    int r = p->scope->lookup(p->scope->context, kind, p->name, length, &symbol);
    if (r < 0)
        return lookup_fail(p, kind, start, length, r);
    p->cursor = end;
    return symbol_push(p, &symbol);
}

static bool parse_character(struct parser *p, char c, const char *where) {
    skip_space(p);
    if (*p->cursor != c)
        return parse_fail(p, p->cursor, "'%c' is missing%s", c, where);
    p->cursor++;
    return true;
}

static bool nesting_begin(struct parser *p, const char *at) {
    if (p->nesting == FORMULA_NESTING_MAX)
        return parse_fail(p, at, "nested deeper than %d", FORMULA_NESTING_MAX);
    p->nesting++;
    return true;
}

static bool parse_name_function(struct parser *p, enum formula_name_kind kind, const char *end) {
    p->cursor = end;
    if (!parse_character(p, '(', " after the function's name"))
        return false;
    skip_space(p);
    const char *start = p->cursor;
    end = name_end(start);
    if (end == start)
        return parse_fail(p, start, "a name is missing");
    return parse_symbol(p, kind, start, end) && parse_character(p, ')', "");
}

static bool parse_value_function(struct parser *p, enum formula_operation operation, const char *end) {
    if (!nesting_begin(p, p->cursor))
        return false;
    p->cursor = end;
    size_t left = p->steps->n;
    if (!parse_character(p, '(', " after the function's name") || !parse_conditional(p))
        return false;
    size_t right = p->steps->n;
    if (!parse_character(p, ',', "") || !parse_conditional(p) || !parse_character(p, ')', ""))
        return false;
    p->nesting--;
    return written(p, formula_steps_binary(p->steps, operation, left, right));
}

static bool parse_word(struct parser *p, const char *end) {
    static const struct {
        const char *name;
        enum formula_operation operation;
    } values[] = {{"min", STEP_MIN}, {"max", STEP_MAX}, {"d_ratio", STEP_D_RATIO}};
    static const struct {
        const char *name;
        enum formula_name_kind kind;
    } names[] = {{"has_event", FORMULA_HAS_EVENT},
                 {"source_count", FORMULA_SOURCE_COUNT},
                 {"aggr_nr", FORMULA_AGGR_NR},
                 {"strcmp_cpuid_str", FORMULA_CPUID}};
    const char *start = p->cursor;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (token_is(start, end, values[i].name))
            return parse_value_function(p, values[i].operation, end);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (token_is(start, end, names[i].name))
            return parse_name_function(p, names[i].kind, end);
    if (token_is(start, end, "if") || token_is(start, end, "else"))
        return parse_fail(p, start, "'%.*s' stands where a number, a name or '(' is due", (int)(end - start), start);
    if (!token_is(start, end, "NaN"))
        return parse_symbol(p, FORMULA_ID, start, end);
    p->cursor = end;
    return written(p, formula_steps_push(p->steps, (struct formula_step){.operation = STEP_NUMBER, .number = NAN}));
}

static bool parse_literal(struct parser *p) {
    const char *start = p->cursor + 1, *end = start;
    while (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
        end++;
    if (end == start)
        return parse_fail(p, start, "a literal's name is missing after '#'");
    return parse_symbol(p, FORMULA_LITERAL, start, end);
}

static bool parse_operand(struct parser *p) {
    skip_space(p);
    char c = *p->cursor;
    const char *number = number_end(p->cursor), *name = name_end(p->cursor);
    if (number > p->cursor && number >= name)
        return parse_number(p, number);
    if (name > p->cursor)
        return parse_word(p, name);
    if (c == '#')
        return parse_literal(p);
    if (c == '\0')
        return parse_fail(p, p->cursor, "the formula ends where a number, a name or '(' is due");
    if (c != '(' && c != '-')
        return parse_fail(p, p->cursor, "'%c' stands where a number, a name or '(' is due", shown(c));
    if (!nesting_begin(p, p->cursor))
        return false;
    p->cursor++;
    size_t at = p->steps->n;
    bool good = c == '(' ? parse_conditional(p) && parse_character(p, ')', "")
                         : parse_operand(p) && written(p, formula_steps_negate(p->steps, at));
    p->nesting--;
    return good;
}

static const struct binary_operator {
    char sign;
    unsigned binding; // larger binds tighter
    enum formula_operation operation;
} OPERATORS[] = {{'|', 1, STEP_OR},      {'^', 2, STEP_XOR},   {'&', 3, STEP_AND},      {'<', 4, STEP_LESS},
                 {'>', 4, STEP_GREATER}, {'+', 5, STEP_ADD},   {'-', 5, STEP_SUBTRACT}, {'*', 6, STEP_MULTIPLY},
                 {'/', 6, STEP_DIVIDE},  {'%', 6, STEP_MODULO}};

static const struct binary_operator *operator_at(const char *cursor) {
    for (size_t i = 0; i < sizeof OPERATORS / sizeof OPERATORS[0]; i++)
        if (OPERATORS[i].sign == *cursor)
            return &OPERATORS[i];
    return NULL;
}

// Parses operands with operators that bind at least as tightly as `least`, left to right.
static bool parse_binary(struct parser *p, unsigned least) {
    size_t left = p->steps->n;
    if (!parse_operand(p))
        return false;
    for (;;) {
        skip_space(p);
        const struct binary_operator *op = operator_at(p->cursor);
        if (!op || op->binding < least)
            return true;
        if (op->binding == 4 && p->cursor[1] == op->sign)
            return parse_fail(p, p->cursor, "shifts (<< and >>) are not part of the language");
        p->cursor++;
        size_t right = p->steps->n;
        if (!parse_binary(p, op->binding + 1) ||
            !written(p, formula_steps_binary(p->steps, op->operation, left, right)))
            return false;
    }
}

static bool skip_word(struct parser *p, const char *word) {
    skip_space(p);
    const char *end = name_end(p->cursor);
    if (!token_is(p->cursor, end, word))
        return false;
    p->cursor = end;
    return true;
}

// Parses X, or X if C else Y, where Y may be another conditional.
static bool parse_conditional(struct parser *p) {
    size_t x = p->steps->n;
    if (!parse_binary(p, 1))
        return false;
    if (!skip_word(p, "if"))
        return true;
    size_t c = p->steps->n;
    if (!parse_binary(p, 1))
        return false;
    if (!skip_word(p, "else"))
        return parse_fail(p, p->cursor, "'else' is missing");
    size_t y = p->steps->n;
    if (!nesting_begin(p, p->cursor) || !parse_conditional(p))
        return false;
    p->nesting--;
    return written(p, formula_steps_select(p->steps, x, c, y));
}

static void parse_all(struct parser *p) {
    if (!parse_conditional(p))
        return;
    skip_space(p);
    if (*p->cursor != '\0')
        (void)parse_fail(p, p->cursor,
                         "'%c' is not expected here; operators are + - * / %% < > & | ^ if else and parentheses",
                         shown(*p->cursor));
}

int formula_parse(const char *text, const struct formula_scope *scope, struct formula_steps *steps,
                  struct fault *fault) {
    struct parser p = {.text = text, .cursor = text, .scope = scope, .fault = fault, .steps = steps};
    size_t length = strlen(text);
    if (length > FORMULA_LENGTH_MAX) {
        (void)parse_fail(&p, text, "the formula is longer than %d characters", FORMULA_LENGTH_MAX);
        return p.result;
    }
    p.name = malloc(length + 1);
    if (!p.name)
        return -ENOMEM;
    parse_all(&p);
    free(p.name);
    return p.result;
}
