// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERFMON_FORMULA_H
#define TOPDOWND_CONFIG_VENDOR_PERFMON_FORMULA_H

// Writes a formula of intel/perfmon's metric files in the language of core/formula/formula.h.
//
// Such a formula has numbers, names, + - * / %, < > <= >=, & and |, also doubled, min and max of two values, "X if C
// else Y", parentheses, and NAME[0] for the count of one of several units. What a name stands for, the caller says.
// "#NA" says that there is no formula.

#include <stdbool.h>
#include <stddef.h>

#include "core/base/fault.h"

// A text that grows; a failed allocation is noted. Free `data`.
struct perfmon_text {
    char *data; // NULL: empty; ends with 0
    size_t n, room;
    bool failed;
};
void perfmon_text_add(struct perfmon_text *text, const char *piece, size_t length);

struct perfmon_scope {
    // Writes what the name stands for. `one` is true for NAME[0]. False with *fault filled if it has no meaning.
    bool (*write)(void *context, const char *name, size_t length, bool one, struct perfmon_text *out,
                  struct fault *fault);
    void *context;
};

// Appends the translation to `out`. 0; -EINVAL with *fault filled, -ENOMEM.
int perfmon_formula_write(const char *formula, const struct perfmon_scope *scope, struct perfmon_text *out,
                          struct fault *fault);

// Writes a name of an event or a constant as one name of the language: with '\' before other characters.
void perfmon_write_name(const char *name, size_t length, struct perfmon_text *out);

#endif
