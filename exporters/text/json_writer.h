// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_TEXT_JSON_WRITER_H
#define TOPDOWND_EXPORTERS_TEXT_JSON_WRITER_H

// Writes one JSON document straight into a text: no tree, no second copy. The writer adds commas, line breaks and
// escapes. An object's member without a key, an array's element with one, or an object or array left open at the end is
// a bug of the caller.

#include <stdbool.h>
#include <stdint.h>

#include "exporters/text/text.h"

enum { JSON_DEPTH_MAX = 80 }; // two for each level of a tree of metrics, and those around it

enum json_layout {
    JSON_COMPACT,  // all on one line
    JSON_INDENTED, // each member of an object on a line, after tabs
    JSON_SPACED,   // the same, after spaces
};

struct json {
    struct text *out; // borrowed
    unsigned depth;   // open objects and arrays
    struct json_level {
        uint8_t layout; // enum json_layout
        uint8_t indent; // of its members
        char close;     // '}', ']'; 0 for the document
        bool filled;    // has a member
    } levels[JSON_DEPTH_MAX + 1];
    bool line; // what comes next begins a line, in this layout:
    enum json_layout line_layout;
};

// Begins a document at the end of `out`.
struct json json_begin(struct text *out, enum json_layout layout);

// Ends the document with a line break. Returns 0, or -ENOMEM if `out` ran out of memory.
int json_end(struct json *json);

// The next member, element or closing bracket begins a line at the left edge, in this layout.
void json_begin_line(struct json *json, enum json_layout layout);

// `key` is NULL for an element of an array, and for the document itself.
void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);

// Invalid UTF-8 becomes U+FFFD, because a single invalid byte makes readers refuse the document. NULL becomes null.
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value); // as text_number(); null if not finite
void json_exact(struct json *json, const char *key, double value);  // with 17 digits; null if not finite
void json_whole(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

// A value that the caller appends to `out` itself, with one of the two functions below.
void json_hole(struct json *json, const char *key);
void json_put_number(struct text *out, double value);      // null if not finite
void json_put_string(struct text *out, const char *value); // null if NULL

#endif
