// SPDX-License-Identifier: Apache-2.0
#include "daemon/check/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Takes the text, which may be NULL.
static void add(struct advice *advice, struct advice_item item) {
    if (advice->n == advice->capacity) {
        size_t capacity = advice->capacity > 0 ? 2 * advice->capacity : 16;
        struct advice_item *items = reallocarray(advice->items, capacity, sizeof *items);
        advice->failed = advice->failed || !items;
        advice->items = items ? items : advice->items;
        advice->capacity = items ? capacity : advice->capacity;
    }
    advice->failed = advice->failed || !item.text;
    if (advice->failed)
        free(item.text);
    else
        advice->items[advice->n++] = item;
}

static char *write_text(const char *format, va_list arguments) {
    char *text;
    return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void advice_add(struct advice *advice, const char *check, const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(advice,
        (struct advice_item){.check = check, .prefix = "", .remedy = remedy, .text = write_text(format, arguments)});
    va_end(arguments);
}

void advice_add_of(struct advice *advice, const char *prefix, bool of_host, const char *check, const char *format,
                   ...) {
    va_list arguments;
    va_start(arguments, format);
    add(advice, (struct advice_item){
                    .check = check, .prefix = prefix, .of_host = of_host, .text = write_text(format, arguments)});
    va_end(arguments);
}

void advice_place(struct advice *advice, struct config_origin at) {
    if (!advice->failed && advice->n > 0)
        advice->items[advice->n - 1].at = at;
}

void advice_deinit(struct advice *advice) {
    while (advice->n > 0)
        free(advice->items[--advice->n].text);
    free(advice->items);
    *advice = (struct advice){.items = NULL};
}

bool advice_of_configuration(const struct advice *advice) {
    bool any = false;
    for (size_t i = 0; i < advice->n; i++)
        any = any || !advice->items[i].of_host;
    return any;
}

void advice_print(const struct advice *advice) {
    for (size_t i = 0; i < advice->n; i++) {
        const struct advice_item *item = &advice->items[i];
        (void)printf("%swarning: %s%s%s%s\n", item->prefix, config_origin_text(item->at).text, item->text,
                     item->remedy ? ": " : "", item->remedy ? item->remedy : "");
    }
}

void advice_print_json(const struct advice *advice, const char *key, struct json *json) {
    json_begin_array(json, key);
    for (size_t i = 0; i < advice->n; i++) {
        const struct advice_item *item = &advice->items[i];
        json_begin_object(json, NULL);
        json_string(json, "check", item->check);
        json_string(json, "about", item->of_host ? "host" : "configuration");
        json_string(json, "file", item->at.line > 0 ? item->at.file : NULL);
        json_whole(json, "line", item->at.line);
        json_whole(json, "column", item->at.column);
        json_string(json, "text", item->text);
        json_string(json, "remedy", item->remedy);
        json_end_object(json);
    }
    json_end_array(json);
}
