// SPDX-License-Identifier: Apache-2.0
#include "config/json/json_scan.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/utf8.h"

// One pass over the text before the parser sees it. It looks for what would cost the parser too much stack or memory,
// and for what the parser would accept wrongly. It is not a parser itself: outside strings it only counts brackets and
// commas.

enum { INDENT = 8 }; // spaces skipped at once

// The number of leading bytes among the next eight that are plain ASCII: no control character, quote or backslash. Most
// text is plain, and checking eight bytes at once takes a fifth of the time. Each term sets the high bit of a byte that
// is not plain. A borrow may set it in the bytes after that one too, so only the first counts.
static size_t plain_of_eight(const char *text) {
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    bytes = le64toh(bytes); // the first byte becomes the lowest
    uint64_t quotes = bytes ^ (ones * '"'), backslashes = bytes ^ (ones * '\\');
    uint64_t marks = (bytes | (bytes - ones * 0x20) | (quotes - ones) | (backslashes - ones)) & high;
    return marks != 0 ? (size_t)__builtin_ctzll(marks) / 8 : 8;
}

// Moves *at past the string that begins there and returns NULL; or returns the fault and moves *at to it.
static const char *scan_string(const char *text, size_t length, size_t *at) {
    size_t i = *at + 1;
    const char *wrong = NULL;
    while (i < length && text[i] != '"' && !wrong) {
        size_t plain = length - i >= 8 ? plain_of_eight(text + i) : 0;
        i += plain;
        if (plain > 0)
            continue;
        size_t step = utf8_length(text + i, length - i);
        if (step == 0)
            wrong = "is not valid UTF-8";
        else if ((unsigned char)text[i] < 0x20)
            wrong = "a string holds a control character: write it as \\n, \\t or \\uXXXX";
        else if (text[i] == '\\' && length - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
            wrong = "a string holds the character \\u0000";
        else
            i += text[i] == '\\' ? 2 : step;
    }
    if (!wrong && i >= length) {
        wrong = "the file ends within a string";
        i = length;
    }
    *at = i;
    return wrong;
}

const char *json_scan(const char *text, size_t length, size_t depth_max, size_t values_max, size_t *at) {
    size_t depth = 0, values = 0;
    for (size_t i = 0; i < length; i++) {
        const char *wrong = NULL;
        while (length - i > INDENT && memcmp(text + i, "        ", INDENT) == 0)
            i += INDENT;
        if (text[i] == ' ' || text[i] == '\n' || text[i] == ':')
            continue;
        bool opens = text[i] == '{' || text[i] == '[';
        *at = i;
        if (text[i] == '"') {
            wrong = scan_string(text, length, &i);
            *at = i;
        } else if ((opens || text[i] == ',') && ++values > values_max)
            wrong = "there are too many values";
        else if (opens && ++depth > depth_max)
            wrong = "lists and objects are nested too deeply";
        else if ((text[i] == '}' || text[i] == ']') && depth > 0)
            depth--;
        else if (text[i] == '\0')
            wrong = "there is a NUL byte";
        if (wrong)
            return wrong;
    }
    return NULL;
}
