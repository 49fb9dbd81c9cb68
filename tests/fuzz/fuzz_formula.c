// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula.h"

// Any text is a formula that can be evaluated, or an error with a column within the text. Every name is known.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VARIABLES = 16 };

static int lookup_any(void *context, enum formula_name_kind kind, const char *name, size_t length,
                      struct formula_symbol *out) {
    (void)context;
    (void)kind;
    size_t sum = length;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)name[i];
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)(sum % VARIABLES)};
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const double values[VARIABLES] = {1, 0, 2, 3e9, 0.5, 7, 1e15, 0, 11, 13, 1e-9, 4, 6, 9, 1e300, 5};
    const struct formula_scope scope = {.lookup = lookup_any};
    struct formula_error error = {0};
    struct formula *formula = NULL;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int r = formula_compile(text, &scope, &formula, &error);
    assert((r == 0) == (formula != NULL));
    if (r == 0) {
        (void)formula_evaluate(formula, values, NULL);
        for (size_t i = 0; i < formula->n_variables; i++)
            assert(formula->variables[i] < VARIABLES && (i == 0 || formula->variables[i] > formula->variables[i - 1]));
        if (formula->is_ratio)
            assert(formula_sum_evaluate(&formula->numerator, values) >= 0 &&
                   formula_sum_evaluate(&formula->denominator, values) >= 0);
    } else {
        assert(error.text[0] != '\0' && error.column >= 1 && error.column <= strlen(text) + 1);
    }
    formula_free(formula);
    free(text);
    return 0;
}
