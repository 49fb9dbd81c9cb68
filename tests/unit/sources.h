// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_SOURCES_H
#define TOPDOWND_TESTS_UNIT_SOURCES_H

// Sources as text, for the tests that check them (test_layers.c, test_rooms.c).

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_SIZE = 1 << 16 };

static const char *const LAYERS[] = {"core", "config", "collectors", "exporters", "daemon", "top"};

struct source {
    const char *path, *text;
    char *code;      // the text without comments, strings and directives, as long
    char *findings;  // "file:line: what is wrong" lines, FINDINGS_SIZE
    const char *end; // of `code`
};

static inline size_t line_of(const struct source *source, size_t offset) {
    size_t line = 1;
    for (size_t i = 0; i < offset; i++)
        line += source->text[i] == '\n';
    return line;
}

__attribute__((format(printf, 3, 4))) static inline void report(const struct source *source, size_t offset,
                                                                const char *format, ...) {
    size_t length = strlen(source->findings), room = FINDINGS_SIZE - length;
    length += (size_t)snprintf(source->findings + length, room, "%s:%zu: ", source->path, line_of(source, offset));
    assert_true(length < FINDINGS_SIZE);
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(source->findings + length, FINDINGS_SIZE - length, format, arguments);
    va_end(arguments);
    assert_true(length + 2 < FINDINGS_SIZE);
    strcat(source->findings, "\n");
}

static inline bool in_layer(const char *path, const char *layer) {
    size_t n = strlen(layer);
    return strncmp(path, layer, n) == 0 && path[n] == '/';
}

static inline bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// ---- text to code ----

static inline void blank(char *code, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (code[i] != '\n')
            code[i] = ' ';
}

// Where the comment, string or directive at `at` ends; `at` itself where none begins there.
static inline size_t skip_text(const char *text, size_t at, bool line_start) {
    const char *from = text + at, *end = NULL;
    if (starts_with(from, "//"))
        return at + strcspn(from, "\n");
    if (starts_with(from, "/*")) {
        end = strstr(from + 2, "*/");
        return end ? (size_t)(end + 2 - text) : at + strlen(from);
    }
    if (*from == '#' && line_start) {
        size_t to = at + strcspn(from, "\n");
        while (text[to] == '\n' && text[to - 1] == '\\')
            to += 1 + strcspn(text + to + 1, "\n");
        return to;
    }
    if (*from != '"' && *from != '\'')
        return at;
    size_t to = at + 1;
    while (text[to] != '\0' && text[to] != *from)
        to += text[to] == '\\' && text[to + 1] != '\0' ? 2 : 1;
    return text[to] == '\0' ? to : to + 1;
}

static inline void source_make_code(struct source *source) {
    source->code = strdup(source->text);
    assert_non_null(source->code);
    source->end = source->code + strlen(source->code);
    bool line_start = true;
    for (size_t i = 0; source->text[i] != '\0';) {
        size_t to = skip_text(source->text, i, line_start);
        blank(source->code, i, to);
        line_start = to == i && (source->text[i] == '\n' || (line_start && source->text[i] == ' '));
        i = to > i ? to : i + 1;
    }
}

static inline bool word_at(const char *code, const char *at, const char *word) {
    size_t n = strlen(word);
    return strncmp(at, word, n) == 0 && !isalnum((unsigned char)at[n]) && at[n] != '_' &&
           (at == code || (!isalnum((unsigned char)at[-1]) && at[-1] != '_'));
}

static inline const char *find_word(const char *code, const char *from, const char *to, const char *word) {
    for (const char *at = from; at < to; at++)
        if (word_at(code, at, word))
            return at;
    return NULL;
}

static inline bool head_is_function(const char *from, const char *brace) {
    const char *last = brace;
    while (last > from && isspace((unsigned char)last[-1]))
        last--;
    return last > from && last[-1] == ')' && !memchr(from, '=', (size_t)(last - from));
}

static inline char *source_read(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    assert_true(length > 0 && feof(file));
    assert_int_equal(fclose(file), 0);
    return text;
}

#endif
