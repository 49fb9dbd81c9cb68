// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_JSON_WRITER_H
#define TOPDOWND_EXPORTERS_VIEW_JSON_WRITER_H

// Writes one JSON document straight into a text: no tree, no second copy. The writer puts commas, line breaks, and
// escapes. A caller that gives a member of an object no key, or an element of an array one, or that leaves something
// open at the end, is a broken program.

#include <stdbool.h>
#include <stdint.h>

#include "exporters/view/text.h"

enum { JSON_DEPTH_MAX = 80 }; // two levels for each of a tree of metrics, and what is around them

enum json_layout {
    JSON_COMPACT,  // all on one line
    JSON_INDENTED, // each member of an object on a line, behind tabs
    JSON_SPACED,   // the same, behind spaces
};

struct json {
    struct text *out; // borrowed
    unsigned depth;   // objects and arrays that are open
    struct json_level {
        uint8_t layout; // enum json_layout
        uint8_t indent; // of its members
        char close;     // '}', ']', or 0: of the document
        bool filled;    // has a member
    } levels[JSON_DEPTH_MAX + 1];
    bool line; // what comes next begins a line, in this layout:
    enum json_layout line_layout;
};

// Begins a document at the end of `out`.
struct json json_begin(struct text *out, enum json_layout layout);

// Ends the document with a line break. Returns 0, or -ENOMEM where `out` could not hold it.
int json_end(struct json *json);

// The next member, element or closing bracket begins a line at the left edge, in this layout.
void json_begin_line(struct json *json, enum json_layout layout);

// `key` is NULL for an element of an array, and for the document itself.
void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);

// Bytes that are no UTF-8 become U+FFFD, as readers refuse a document for one of them. NULL is null.
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value); // as text_number(); null where not finite
void json_exact(struct json *json, const char *key, double value);  // with 17 digits; null where not finite
void json_whole(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
