// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_TEXT_H
#define TOPDOWND_EXPORTERS_VIEW_TEXT_H

// A growing piece of text. Failure to grow is remembered, and asked for once at the end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; // owned; not terminated
    size_t length, capacity;
    bool failed; // memory was short: what follows is dropped
};

void text_append(struct text *text, const void *data, size_t length);
void text_string(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

// Appends a string in which the characters of `escapes`, a list ending in {0}, are replaced, and so is what is no UTF-8
// (by U+FFFD): readers refuse a whole page for one such byte.
struct text_escape {
    char from;
    const char *to;
};
void text_escaped(struct text *text, const char *string, const struct text_escape *escapes);

// What stands for a byte that is no UTF-8: U+FFFD.
#define TEXT_REPLACEMENT "\xEF\xBF\xBD"

// Makes room for `length` more bytes and returns where they begin, NULL where memory is short; the caller adds what it
// used to text->length.
char *text_room(struct text *text, size_t length);

enum { TEXT_NUMBER_MAX = 32 };

// Writes a number as Prometheus and JSON read it (not terminated) and returns its length, at most TEXT_NUMBER_MAX.
// Whole numbers below 2^64 in full, others with the up to 15 significant digits that every reader turns back into the
// same value. `value` must be finite.
size_t text_number(char *out, double value);

#endif
