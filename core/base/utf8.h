// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_UTF8_H
#define TOPDOWND_CORE_BASE_UTF8_H

#include <stddef.h>

// The same for a character that is not ASCII.
size_t utf8_length_long(const char *text, size_t length);

// Length of the well-formed UTF-8 character at `text`, which has at least one byte; 0 if there is none (Unicode 15,
// table 3-7). A terminating zero stops every character in time, so `length` may be SIZE_MAX for a string.
static inline size_t utf8_length(const char *text, size_t length) {
    return (unsigned char)text[0] < 0x80 ? 1 : utf8_length_long(text, length);
}

#endif
