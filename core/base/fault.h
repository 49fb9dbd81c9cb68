// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_FAULT_H
#define TOPDOWND_CORE_BASE_FAULT_H

// Describes an error in a text or an entry, for code that does not know the file. The reader of the file adds file and
// line (core/base/error.h).
//
// `text` is for people. A caller that distinguishes faults looks at `kind`, never at the text.

#include <stddef.h>

enum { FAULT_TEXT_MAX = 320 };

enum fault_kind {
    FAULT_ENTRY,   // an invalid entry: a duplicate or unknown name, or a limit exceeded
    FAULT_FORMULA, // the text of a formula does not compile
    FAULT_EVENT    // a formula needs an event that does not exist
};

struct fault {
    enum fault_kind kind;
    size_t column; // in the faulty text, counted from 1; 0: no single place
    char text[FAULT_TEXT_MAX];
};

// Both fill *fault and return -EINVAL, so that a caller can return it. fault_set: FAULT_ENTRY without a column.
int fault_set(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fault_set_kind(struct fault *fault, enum fault_kind kind, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
