// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_ERROR_H
#define TOPDOWND_CORE_BASE_ERROR_H

// Describes an error in a file or in the environment to the person who has to fix it.
//
// Library code does not print: it adds errors to a list, and daemon/ shows the list once. The list is bounded, so that
// a hostile file cannot grow it; errors that no longer fit are counted.

#include <stdbool.h>
#include <stddef.h>

enum { ERRORS_MAX = 16, ERROR_FILE_MAX = 256, ERROR_TEXT_MAX = 400, ERROR_LINE_MAX = 704 };

struct error {
    char file[ERROR_FILE_MAX]; // "" if no file is at fault
    unsigned line;             // counted from 1; 0: the whole file
    unsigned column;           // counted from 1; 0: the whole line
    char text[ERROR_TEXT_MAX]; // the error and its remedy
};

struct errors {
    size_t n;
    size_t dropped; // errors beyond ERRORS_MAX
    bool passing;   // one of them may pass by itself: trying again later makes sense
    struct error items[ERRORS_MAX];
};

// Adds one error and returns -EINVAL, so that a caller can return it. `file` may be NULL.
int errors_add(struct errors *errors, const char *file, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Adds "WHAT: reason" for a failed operation, and returns -EINVAL; `error` is its errno, of either sign. Notes whether
// that may pass by itself.
int errors_add_failure(struct errors *errors, const char *file, const char *what, int error);
// True if files, memory or a disk are short or fail now and may not a moment later, though nobody changed a file.
bool error_passes(int error);
// The reason for people, with the remedy where a limit is too low. Valid until the thread's next call.
const char *error_reason(int error);

// Writes "file:line:column: text" (without the parts that are unknown) and returns its length; `out` is always
// terminated; ERROR_LINE_MAX bytes hold any error.
size_t error_format(const struct error *error, char *out, size_t size);

// Returns the candidate that is nearest to `word` in spelling, NULL if none is near. Case, '_' and '-' are ignored.
const char *error_suggest(const char *word, const char *const *candidates, size_t n);

#endif
