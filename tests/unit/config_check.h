// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_CONFIG_CHECK_H
#define TOPDOWND_TESTS_UNIT_CONFIG_CHECK_H

// For the tests of refused configurations: texts, each with exactly one error.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

// A text, and the only error it has.
struct refusal {
    const char *text, *error;
};

static inline void refuse_bytes(const char *text, size_t length, const char *error) {
    struct errors errors = {0};
    char line[ERROR_LINE_MAX] = "";
    struct config untouched, *config = &untouched;
    assert_int_equal(config_parse("t.yaml", text, length, &errors, &config), -EINVAL);
    assert_ptr_equal(config, &untouched);
    (void)error_format(&errors.items[0], line, sizeof line);
    assert_string_equal(line, error);
    assert_int_equal(errors.n, 1);
    assert_int_equal(errors.dropped, 0);
}

static inline void refuse(const char *text, const char *error) { refuse_bytes(text, strlen(text), error); }

static inline void refuse_all(const struct refusal *refusals, size_t n) {
    for (size_t i = 0; i < n; i++)
        refuse(refusals[i].text, refusals[i].error);
}

static inline void accept(const char *text) {
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_parse("t.yaml", text, strlen(text), &errors, &config), 0);
    config_free(config);
}

// `n` times a text made of `format` and the number, between `head` and `tail`. For free().
static inline char *repeat(const char *head, const char *format, size_t n, const char *tail) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    (void)fputs(head, stream);
    for (size_t i = 0; i < n; i++) {
        char piece[64];
        const char *number = strchr(format, '#');
        if (number)
            (void)snprintf(piece, sizeof piece, "%.*s%zu%s", (int)(number - format), format, i, number + 1);
        else
            (void)snprintf(piece, sizeof piece, "%s", format);
        (void)fputs(piece, stream);
    }
    (void)fputs(tail, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static inline void refuse_repeated(const char *head, const char *format, size_t n, const char *tail,
                                   const char *error) {
    char *text = repeat(head, format, n, tail);
    refuse(text, error);
    free(text);
}

static inline void accept_repeated(const char *head, const char *format, size_t n, const char *tail) {
    char *text = repeat(head, format, n, tail);
    accept(text);
    free(text);
}

#endif
