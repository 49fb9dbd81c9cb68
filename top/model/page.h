// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_PAGE_H
#define TOPDOWND_TOP_MODEL_PAGE_H

// Reads a page that a server sent: nothing in it is trusted. A member of a wrong type counts as absent, because a later
// version may have another one; a page without what every version promises is refused.

#include <stdbool.h>
#include <stddef.h>

#include "config/json/json_reader.h"
#include "top/model/arena.h"

enum { PAGE_TEXT_MAX = 2000, PAGE_WHY_MAX = 200 };

struct page {
    struct errors errors;
    struct json_reader reader;
    cJSON *document;
    struct json_node root;
};

// Opens a page, an object. Returns 0, -EINVAL with the reason in `why`, or -ENOMEM. Call page_close after either.
int page_open(struct page *page, const char *text, size_t length, char why[static PAGE_WHY_MAX]);
void page_close(struct page *page);

// The member's text, for a terminal; `otherwise` where it is absent. NULL: no memory.
const char *page_text(const struct json_node *object, const char *key, struct arena *arena, const char *otherwise);
double page_number(const struct json_node *object, const char *key); // NAN: absent
int page_bool(const struct json_node *object, const char *key);      // 1, 0, or -1: absent
bool page_object(const struct json_node *object, const char *key, struct json_node *out);
bool page_array(const struct json_node *object, const char *key, size_t max, struct json_node *out);

// The names of an array of objects {"name": ...}, as "A, B". NULL: no memory.
const char *page_names(const struct json_node *object, const char *key, struct arena *arena);

#endif
