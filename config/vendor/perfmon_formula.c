// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perfmon_formula.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/array.h"

// A parser that writes while it reads. The other language has neither <= nor >=: "a >= b" becomes "(1 - (a < b))", for
// which the beginning of `a` in the output is kept.

enum { DEPTH_MAX = 64 };

struct parser {
    const char *at;
    const struct perfmon_scope *scope;
    struct perfmon_text *out;
    struct fault *fault;
    unsigned depth;
    bool wrong;
};

// ---- text ----

void perfmon_text_add(struct perfmon_text *text, const char *piece, size_t length) {
    char *data = text->failed ? NULL : array_reserve(text->data, text->n + length + 1, &text->room, 1);
    text->failed = !data;
    if (!data)
        return;
    text->data = data;
    memcpy(data + text->n, piece, length);
    text->n += length;
    data[text->n] = '\0';
}

static void add(struct parser *p, const char *piece) { perfmon_text_add(p->out, piece, strlen(piece)); }

// Inserts before the byte `at` of the output.
static void insert(struct parser *p, size_t at, const char *piece) {
    size_t length = strlen(piece);
    add(p, piece);
    if (p->out->failed)
        return;
    memmove(p->out->data + at + length, p->out->data + at, p->out->n - length - at);
    memcpy(p->out->data + at, piece, length);
}

void perfmon_write_name(const char *name, size_t length, struct perfmon_text *out) {
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && !strchr("_.:?", name[i]))
            perfmon_text_add(out, "\\", 1);
        perfmon_text_add(out, name + i, 1);
    }
}

// ---- tokens ----

static void fail(struct parser *p, const char *what) {
    if (!p->wrong)
        (void)fault_set(p->fault, "its formula %s at '%.20s'", what, p->at);
    p->wrong = true;
}

static void skip_space(struct parser *p) { p->at += strspn(p->at, " \t\r\n"); }

static bool take(struct parser *p, const char *token) {
    skip_space(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static size_t word_length(const char *at) {
    size_t length = 0;
    bool modified = false;
    if (!isalpha((unsigned char)at[0]) && at[0] != '_')
        return 0;
    while (isalnum((unsigned char)at[length]) || (at[length] != '\0' && strchr("_.:", at[length])) ||
           (modified && at[length] == '=' && at[length + 1] != '=')) {
        modified = modified || at[length] == ':';
        length++;
    }
    return length;
}

static bool take_word(struct parser *p, const char *word) {
    skip_space(p);
    size_t length = word_length(p->at);
    if (length != strlen(word) || strncasecmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

// ---- grammar ----

static void write_conditional(struct parser *p);

// A number; the other language has no negative exponents.
static void write_number(struct parser *p) {
    char *end;
    double number = strtod(p->at, &end);
    size_t length = (size_t)(end - p->at), mantissa = strcspn(p->at, "eE");
    char text[64];
    if (length == 0 || length >= sizeof text || !(number < 1e300) || isalnum((unsigned char)*end) ||
        strncasecmp(p->at, "0x", 2) == 0) {
        fail(p, "has no value");
        return;
    }
    bool small = mantissa < length && p->at[mantissa + 1] == '-';
    if (small)
        (void)snprintf(text, sizeof text, "(%.*s / 1e%.*s)", (int)mantissa, p->at, (int)(length - mantissa - 2),
                       p->at + mantissa + 2);
    else
        (void)snprintf(text, sizeof text, "%.*s", (int)length, p->at);
    add(p, text);
    p->at = end;
}

static void write_call(struct parser *p, const char *function) {
    add(p, function);
    add(p, "(");
    write_conditional(p);
    if (!take(p, ","))
        fail(p, "lacks the second value of a function");
    add(p, ", ");
    write_conditional(p);
    if (!take(p, ")"))
        fail(p, "has a function of more than two values, or one without end,");
    add(p, ")");
}

static void write_name(struct parser *p) {
    const char *name = p->at;
    size_t length = word_length(name);
    p->at += length;
    if ((length == 3) && (strncasecmp(name, "min", 3) == 0 || strncasecmp(name, "max", 3) == 0) && take(p, "(")) {
        write_call(p, tolower((unsigned char)name[1]) == 'i' ? "min" : "max");
        return;
    }
    bool one = false;
    if (take(p, "[")) {
        size_t digits = strspn(p->at, "0123456789");
        p->at += digits;
        one = true;
        if (digits == 0 || !take(p, "]"))
            fail(p, "has no number of a unit");
    }
    if (!p->wrong && !p->scope->write(p->scope->context, name, length, one, p->out, p->fault))
        p->wrong = true;
}

static void write_primary(struct parser *p) {
    skip_space(p);
    if (take(p, "(")) {
        add(p, "(");
        write_conditional(p);
        if (!take(p, ")"))
            fail(p, "lacks a ')'");
        add(p, ")");
    } else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        write_number(p);
    } else if (strncmp(p->at, "#NA", 3) == 0) {
        fail(p, "is #NA, which says that there is none,");
    } else if (word_length(p->at) > 0) {
        write_name(p);
    } else {
        fail(p, "has no value");
    }
}

static void write_unary(struct parser *p) {
    bool minus = false;
    for (;;) {
        if (take(p, "-"))
            minus = !minus;
        else if (!take(p, "+"))
            break;
    }
    if (minus)
        add(p, "-");
    write_primary(p);
}

static void write_product(struct parser *p) {
    write_unary(p);
    while (!p->wrong) {
        const char *sign = take(p, "*") ? " * " : take(p, "/") ? " / " : take(p, "%") ? " % " : NULL;
        if (!sign)
            return;
        add(p, sign);
        write_unary(p);
    }
}

static void write_sum(struct parser *p) {
    write_product(p);
    while (!p->wrong) {
        const char *sign = take(p, "+") ? " + " : take(p, "-") ? " - " : NULL;
        if (!sign)
            return;
        add(p, sign);
        write_product(p);
    }
}

static void write_comparison(struct parser *p) {
    size_t begin = p->out->n;
    write_sum(p);
    while (!p->wrong) {
        bool reversed = take(p, ">=") || take(p, "> =");
        const char *sign = reversed ? " < " : NULL;
        if (!sign && (take(p, "<=") || take(p, "< ="))) {
            reversed = true;
            sign = " > ";
        }
        if (!sign)
            sign = take(p, "<") ? " < " : take(p, ">") ? " > " : NULL;
        if (!sign)
            return;
        if (reversed)
            insert(p, begin, "(1 - (");
        add(p, sign);
        write_sum(p);
        if (reversed) {
            add(p, "))");
            return;
        }
    }
}

static void write_and(struct parser *p) {
    write_comparison(p);
    while (!p->wrong && (take(p, "&&") || take(p, "&"))) {
        add(p, " & ");
        write_comparison(p);
    }
}

static void write_or(struct parser *p) {
    write_and(p);
    while (!p->wrong && (take(p, "||") || take(p, "|"))) {
        add(p, " | ");
        write_and(p);
    }
}

static void write_conditional(struct parser *p) {
    if (p->depth == DEPTH_MAX) {
        fail(p, "is nested too deeply");
        return;
    }
    p->depth++;
    write_or(p);
    if (!p->wrong && take_word(p, "if")) {
        add(p, " if ");
        write_or(p);
        if (!take_word(p, "else"))
            fail(p, "lacks an 'else'");
        add(p, " else ");
        write_conditional(p);
    }
    p->depth--;
}

int perfmon_formula_write(const char *formula, const struct perfmon_scope *scope, struct perfmon_text *out,
                          struct fault *fault) {
    struct parser p = {.at = formula, .scope = scope, .out = out, .fault = fault};
    write_conditional(&p);
    skip_space(&p);
    if (!p.wrong && *p.at != '\0')
        fail(&p, "cannot be read");
    if (out->failed)
        return -ENOMEM;
    return p.wrong ? -EINVAL : 0;
}
