// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_FORM_H
#define TOPDOWND_EXPORTERS_JSON_JSON_FORM_H

// An object that looks the same for many scopes: its text once, with holes for what differs. The objects of a thousand
// CPUs are copies of that text with their own values.

#include "exporters/text/json_writer.h"
#include "exporters/view/view.h"

// A scope of a snapshot, as the functions that fill holes get it.
struct json_of {
    const struct view *view;
    const struct snapshot *snapshot;
    size_t scope;
};
typedef size_t json_index_of(const struct snapshot_layout *layout, size_t scope, size_t i);
typedef double json_number_of(const struct json_of *of);
typedef bool json_bool_of(const struct json_of *of, size_t i);
typedef const char *json_string_of(const struct json_of *of, size_t i); // NULL becomes null

struct json_form {
    struct json json; // writes the text
    struct text text;
    struct json_hole {
        size_t at; // where in the text
        size_t i;
        json_index_of *index; // one of these fills it
        json_number_of *number;
        json_bool_of *boolean;
        json_string_of *string;
    } * holes;
    size_t n;
    bool failed; // out of memory
};

// Begins a form. The caller writes one object, with form->json and the functions below.
void json_form_init(struct json_form *form);
void json_form_deinit(struct json_form *form);

// Members whose value each scope has for itself: the value at an index of its snapshot, a number, true or
// false, or a string.
void json_form_value(struct json_form *form, const char *key, json_index_of *index, size_t i);
void json_form_number(struct json_form *form, const char *key, json_number_of *number);
void json_form_bool(struct json_form *form, const char *key, json_bool_of *boolean, size_t i);
void json_form_string(struct json_form *form, const char *key, json_string_of *string, size_t i);

// Appends a scope's object to the document.
void json_form_fill(const struct json_form *form, const struct json_of *of, struct json *json);

#endif
