// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_FAULT_H
#define TOPDOWND_CORE_BASE_FAULT_H

// What is wrong with a text or an entry, said by code that does not know which file it came from. Whoever reads the
// file adds file and line (core/base/error.h).
//
// `text` is for people. A caller that treats faults differently looks at `kind`, and never at the text.

#include <stddef.h>

enum { FAULT_TEXT_MAX = 320 };

enum fault_kind {
    FAULT_ENTRY,   // an entry cannot be as it is: a name stands twice, names nothing, or a limit is exceeded
    FAULT_FORMULA, // the text of a formula does not compile
    FAULT_EVENT    // a formula needs an event that is not there
};

struct fault {
    enum fault_kind kind;
    size_t column; // of the text at fault, counted from 1; 0: no one place
    char text[FAULT_TEXT_MAX];
};

// Both fill *fault and return -EINVAL, so that a caller can return it. fault_set: FAULT_ENTRY without a column.
int fault_set(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fault_set_kind(struct fault *fault, enum fault_kind kind, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
