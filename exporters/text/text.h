// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_TEXT_TEXT_H
#define TOPDOWND_EXPORTERS_TEXT_TEXT_H

// A growing piece of text. It remembers a failure to grow, so that callers check once at the end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; // owned; not terminated
    size_t length, capacity;
    bool failed; // out of memory: later text is dropped
};

void text_append(struct text *text, const void *data, size_t length);
void text_string(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

// Appends words from column `indent` on in lines of at most `width`, broken at spaces, and a line break. What follows
// the first line is indented.
void text_folded(struct text *text, const char *words, int indent, int width);

// Appends a string and replaces the characters of `escapes`, a list ending in {0}. Invalid UTF-8 becomes U+FFFD,
// because a single invalid byte makes readers refuse the whole page.
struct text_escape {
    char from;
    const char *to;
};
void text_escaped(struct text *text, const char *string, const struct text_escape *escapes);

// Replaces a byte that is not valid UTF-8: U+FFFD.
#define TEXT_REPLACEMENT "\xEF\xBF\xBD"

// Makes room for `length` more bytes and returns their start, NULL if out of memory. The caller adds the bytes it used
// to text->length.
char *text_room(struct text *text, size_t length);

enum { TEXT_NUMBER_MAX = 32 };

// Writes a number for Prometheus and JSON (not terminated) and returns its length, at most TEXT_NUMBER_MAX. Whole
// numbers below 2^64 are written in full, others with up to 15 significant digits, which every reader turns back into
// the same value. `value` must be finite.
size_t text_number(char *out, double value);

#endif
