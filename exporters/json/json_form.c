// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_form.h"

#include <stdlib.h>

#include "core/base/array.h"

void json_form_init(struct json_form *form) {
    *form = (struct json_form){.n = 0};
    form->json = json_begin(&form->text, JSON_COMPACT);
}

void json_form_deinit(struct json_form *form) {
    free(form->holes);
    text_free(&form->text);
}

static void add_hole(struct json_form *form, const char *key, struct json_hole hole) {
    struct json_hole *holes = array_grow(form->holes, form->n, sizeof *holes);
    json_hole(&form->json, key);
    form->failed = form->failed || !holes || form->text.failed;
    if (!holes)
        return;
    form->holes = holes;
    hole.at = form->text.length;
    form->holes[form->n++] = hole;
}

void json_form_value(struct json_form *form, const char *key, json_index_of *index, size_t i) {
    add_hole(form, key, (struct json_hole){.index = index, .i = i});
}

void json_form_number(struct json_form *form, const char *key, json_number_of *number) {
    add_hole(form, key, (struct json_hole){.number = number});
}

void json_form_bool(struct json_form *form, const char *key, json_bool_of *boolean, size_t i) {
    add_hole(form, key, (struct json_hole){.boolean = boolean, .i = i});
}

void json_form_string(struct json_form *form, const char *key, json_string_of *string, size_t i) {
    add_hole(form, key, (struct json_hole){.string = string, .i = i});
}

static void fill_hole(const struct json_hole *hole, const struct json_of *of, struct text *out) {
    if (hole->index)
        json_put_number(out, of->snapshot->values[hole->index(of->snapshot->layout, of->scope, hole->i)]);
    else if (hole->number)
        json_put_number(out, hole->number(of));
    else if (hole->boolean)
        text_string(out, hole->boolean(of, hole->i) ? "true" : "false");
    else
        json_put_string(out, hole->string(of, hole->i));
}

void json_form_fill(const struct json_form *form, const struct json_of *of, struct json *json) {
    struct text *out = json->out;
    size_t from = 0;
    json_hole(json, NULL);
    out->failed = out->failed || form->failed || form->text.failed;
    for (size_t h = 0; h < form->n && !out->failed; h++) {
        text_append(out, form->text.data + from, form->holes[h].at - from);
        fill_hole(&form->holes[h], of, out);
        from = form->holes[h].at;
    }
    if (!out->failed)
        text_append(out, form->text.data + from, form->text.length - from);
}
