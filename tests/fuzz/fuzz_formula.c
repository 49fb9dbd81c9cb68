// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/formula.h"

// Any text is a formula that can be evaluated, or an error with a column within the text. Every name except "no" and
// "loop" is known: an event, a metric, a number, or the formula before the first new line, which replaces it.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS = 16, METRICS = 4 };

static int lookup_any(void *context, enum formula_name_kind kind, const char *name, size_t length,
                      struct formula_symbol *out) {
    const struct formula *inlined = context;
    size_t sum = length;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)name[i];
    if (length == 2 && memcmp(name, "no", 2) == 0)
        return -ENOENT;
    if (length == 4 && memcmp(name, "loop", 4) == 0)
        return -ELOOP;
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = sum % 5 == 4 ? NAN : (double)(sum % 5)};
    if (kind != FORMULA_ID)
        return 0;
    if (inlined && name[0] == 'i')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_INLINE, .formula = inlined};
    else if (name[0] == 'm')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = (unsigned)(sum % METRICS)};
    else if (name[0] != 'n')
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)(sum % EVENTS)};
    return 0;
}

static void check_indexes(const unsigned *indexes, size_t n, unsigned limit) {
    for (size_t i = 0; i < n; i++)
        assert(indexes[i] < limit && (i == 0 || indexes[i] > indexes[i - 1]));
}

static void check_formula(const struct formula *formula) {
    static const double events[EVENTS] = {1, 0, 2, 3e9, 0.5, 7, 1e15, 0, 11, NAN, 1e-9, 4, 6, 9, 1e300, 5};
    static const double metrics[METRICS] = {0.25, NAN, 0, 12};
    double value = formula_evaluate(formula, events, metrics), known = formula_evaluate_known(formula, events, metrics);
    assert(isnan(value) || isfinite(value));
    assert(isnan(known) || known == value);
    check_indexes(formula->variables, formula->n_variables, EVENTS);
    check_indexes(formula->metrics, formula->n_metrics, METRICS);
    if (formula->n_variables == 0)
        assert(!formula->is_ratio);
    if (formula->is_ratio) {
        assert(formula->scale_free && formula->n_metrics == 0);
        double upper = formula_sum_evaluate(&formula->numerator, events);
        double lower = formula_sum_evaluate(&formula->denominator, events);
        if (!formula->has_difference)
            assert((isnan(upper) || upper >= 0) && (isnan(lower) || lower >= 0));
    }
}

static struct formula *compile(const char *text, struct formula *inlined) {
    const struct formula_scope scope = {.lookup = lookup_any, .context = inlined};
    struct fault error = {0};
    struct formula *formula = NULL;
    int r = formula_compile(text, &scope, &formula, &error);
    assert((r == 0) == (formula != NULL));
    if (r == 0)
        check_formula(formula);
    else
        assert(error.text[0] != '\0' && error.column >= 1 && error.column <= strlen(text) + 1);
    return formula;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    struct formula *first = compile(text, NULL);
    if (rest)
        formula_free(compile(rest, first));
    formula_free(first);
    free(text);
    return 0;
}
