// SPDX-License-Identifier: Apache-2.0
//
// A page of a thousand CPUs has half a million values. So one check for room covers everything before a value (comma,
// line break, key), and most of a string's bytes are copied unchanged.

#include "exporters/text/json_writer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum {
    ESCAPED_MAX = 6, // bytes of an escape: \u001f
    AROUND_MAX = 8,  // comma, line break, quotes, colon, and a space or tab after it
};

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

// Writes a one-byte character that a string cannot contain as it is.
static char *put_escape(char *to, unsigned char c) {
    static const char from[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *found = strchr(from, c);
    *to++ = '\\';
    if (found) {
        *to++ = letters[found - from];
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = digits[c >> 4];
    to[4] = digits[c & 15];
    return to + 5;
}

// Writes at most ESCAPED_MAX bytes for each of the string's bytes, and two quotes.
static char *put_string(char *to, const char *string) {
    *to++ = '"';
    for (;;) {
        while (is_plain((unsigned char)*string))
            *to++ = *string++;
        if (!*string)
            break;
        size_t n = utf8_length(string, SIZE_MAX);
        if (n == 1) {
            to = put_escape(to, (unsigned char)*string++);
            continue;
        }
        memcpy(to, n ? string : TEXT_REPLACEMENT, n ? n : sizeof(TEXT_REPLACEMENT) - 1);
        to += n ? n : sizeof(TEXT_REPLACEMENT) - 1;
        string += n ? n : 1;
    }
    *to++ = '"';
    return to;
}

static char *put_line(char *to, enum json_layout layout, size_t indent) {
    *to++ = '\n';
    memset(to, layout == JSON_INDENTED ? '\t' : ' ', indent);
    return to + indent;
}

// Writes the separator before the next value.
static char *put_separator(char *to, struct json *json, const struct json_level *level) {
    if (level->filled)
        *to++ = ',';
    if (json->line)
        *to++ = '\n';
    else if (level->close == '}' && level->layout != JSON_COMPACT)
        to = put_line(to, (enum json_layout)level->layout, level->indent);
    else if (level->filled && level->layout != JSON_COMPACT)
        *to++ = ' ';
    return to;
}

// Writes everything before a value of at most `length` bytes and returns the value's place, NULL if out of memory. The
// caller passes the end of the written value to end_value().
static char *begin_value(struct json *json, const char *key, size_t length) {
    struct json_level *level = &json->levels[json->depth];
    assert((key != NULL) == (level->close == '}'));
    assert(level->close || !level->filled);
    char *to = text_room(json->out, AROUND_MAX + level->indent + (key ? ESCAPED_MAX * strlen(key) : 0) + length);
    if (to) {
        to = put_separator(to, json, level);
        if (key) {
            to = put_string(to, key);
            *to++ = ':';
            if (level->layout != JSON_COMPACT)
                *to++ = level->layout == JSON_INDENTED ? '\t' : ' ';
        }
    }
    level->filled = true;
    json->line = false;
    return to;
}

static void end_value(struct json *json, const char *end) { json->out->length = (size_t)(end - json->out->data); }

// Writes a value verbatim.
static void add_word(struct json *json, const char *key, const char *word, size_t length) {
    char *to = begin_value(json, key, length);
    if (!to)
        return;
    memcpy(to, word, length);
    end_value(json, to + length);
}

struct json json_begin(struct text *out, enum json_layout layout) {
    struct json json = {.out = out};
    json.levels[0].layout = (uint8_t)layout;
    return json;
}

int json_end(struct json *json) {
    assert(json->depth == 0 && json->levels[0].filled);
    text_string(json->out, "\n");
    return json->out->failed ? -ENOMEM : 0;
}

void json_begin_line(struct json *json, enum json_layout layout) {
    json->line = true;
    json->line_layout = layout;
}

static void begin_level(struct json *json, const char *key, const char *open, char close) {
    assert(json->depth < JSON_DEPTH_MAX);
    const struct json_level *above = &json->levels[json->depth];
    struct json_level level = {.layout = above->layout, .indent = (uint8_t)(above->indent + 1), .close = close};
    if (json->line) {
        level.layout = (uint8_t)json->line_layout;
        level.indent = 1;
    }
    add_word(json, key, open, 1);
    json->levels[++json->depth] = level;
}

static void end_level(struct json *json, char close) {
    const struct json_level *level = &json->levels[json->depth];
    assert(level->close == close);
    char *to = text_room(json->out, AROUND_MAX + level->indent);
    if (to) {
        if (json->line)
            *to++ = '\n';
        else if (close == '}' && level->layout != JSON_COMPACT)
            to = put_line(to, (enum json_layout)level->layout, level->indent - 1U);
        *to++ = close;
        end_value(json, to);
    }
    json->line = false;
    json->depth--;
}

void json_begin_object(struct json *json, const char *key) { begin_level(json, key, "{", '}'); }

void json_end_object(struct json *json) { end_level(json, '}'); }

void json_begin_array(struct json *json, const char *key) { begin_level(json, key, "[", ']'); }

void json_end_array(struct json *json) { end_level(json, ']'); }

void json_string(struct json *json, const char *key, const char *value) {
    if (!value) {
        json_null(json, key);
        return;
    }
    char *to = begin_value(json, key, ESCAPED_MAX * strlen(value) + 2);
    if (to)
        end_value(json, put_string(to, value));
}

void json_number(struct json *json, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    char *to = begin_value(json, key, TEXT_NUMBER_MAX);
    if (to)
        end_value(json, to + text_number(to, value));
}

void json_exact(struct json *json, const char *key, double value) {
    char digits[TEXT_NUMBER_MAX];
    if (isfinite(value))
        add_word(json, key, digits, (size_t)snprintf(digits, sizeof digits, "%.17g", value));
    else
        json_null(json, key);
}

void json_whole(struct json *json, const char *key, uint64_t value) {
    char digits[TEXT_NUMBER_MAX];
    add_word(json, key, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

void json_bool(struct json *json, const char *key, bool value) {
    add_word(json, key, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json, const char *key) { add_word(json, key, "null", 4); }

void json_hole(struct json *json, const char *key) {
    char *to = begin_value(json, key, 0);
    if (to)
        end_value(json, to);
}

void json_put_number(struct text *out, double value) {
    char *to = text_room(out, TEXT_NUMBER_MAX);
    if (!to)
        return;
    if (isfinite(value)) {
        out->length += text_number(to, value);
        return;
    }
    memcpy(to, "null", 4);
    out->length += 4;
}

void json_put_string(struct text *out, const char *value) {
    char *to = text_room(out, value ? ESCAPED_MAX * strlen(value) + 2 : 4);
    if (!to)
        return;
    if (value) {
        out->length += (size_t)(put_string(to, value) - to);
        return;
    }
    memcpy(to, "null", 4);
    out->length += 4;
}
