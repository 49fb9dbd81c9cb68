// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "top/model/frame.h"
#include "top/model/page.h"

// The page /api/v1/snapshot. Its objects name their metrics in the order of the page's own list, so each is looked for
// where it should be, and elsewhere only if it is not there. A socket has what PMUs outside the cores tell of it behind
// its own metrics: they stand in a list of their own, kind by kind.

enum { VALUES_MAX = 1 << 20, KINDS_MAX = 64 };

const struct frame_value *frame_units_at(const struct frame_units *units, size_t unit, size_t column) {
    return &units->values[unit * units->n_columns + column];
}

size_t frame_units_find(const struct frame_units *units, const char *metric) {
    size_t i = 0;
    while (i < units->n_columns && strcmp(units->columns[i].metric, metric) != 0)
        i++;
    return i;
}

// The kinds of PMUs outside the cores, which only the page of sockets has.
static size_t read_kinds(const struct json_node *object, struct json_node kinds[KINDS_MAX]) {
    struct json_node array;
    const cJSON *child;
    size_t n = 0;
    if (!page_array(object, "uncore", KINDS_MAX, &array))
        return 0;
    cJSON_ArrayForEach(child, array.value) if (n < KINDS_MAX && cJSON_IsObject(child)) kinds[n++] =
        json_child(&array, child, 0);
    return n;
}

static int add_columns(struct arena *arena, const struct json_node *metrics, struct frame_column *columns, size_t room,
                       size_t *n) {
    const cJSON *child;
    cJSON_ArrayForEach(child, metrics->value) {
        const struct json_node object = json_child(metrics, child, 0);
        if (*n == room || !cJSON_IsObject(child))
            continue;
        struct frame_column *column = &columns[(*n)++];
        *column = (struct frame_column){.metric = arena_text(arena, child->string, PAGE_TEXT_MAX),
                                        .unit = page_text(&object, "unit", arena, "")};
        if (!column->metric || !column->unit)
            return -ENOMEM;
    }
    return 0;
}

static int read_columns(struct arena *arena, const struct json_node *object, const struct json_node *metrics,
                        struct frame_units *out) {
    struct json_node kinds[KINDS_MAX], of_kind;
    size_t n_kinds = read_kinds(object, kinds), n = (size_t)cJSON_GetArraySize(metrics->value);
    for (size_t i = 0; i < n_kinds; i++)
        n += page_object(&kinds[i], "metrics", &of_kind) ? (size_t)cJSON_GetArraySize(of_kind.value) : 0;
    n = n < FRAME_METRICS_MAX ? n : FRAME_METRICS_MAX;
    struct frame_column *columns = arena_take(arena, n + 1, sizeof *columns);
    int r = columns ? add_columns(arena, metrics, columns, n, &out->n_columns) : -ENOMEM;
    for (size_t i = 0; i < n_kinds && r == 0; i++)
        if (page_object(&kinds[i], "metrics", &of_kind))
            r = add_columns(arena, &of_kind, columns, n, &out->n_columns);
    out->columns = columns;
    return r;
}

static void read_values(const struct json_node *metrics, const struct frame_units *units, size_t expected,
                        struct frame_value *row) {
    const cJSON *child;
    cJSON_ArrayForEach(child, metrics->value) {
        size_t at = expected++;
        if (at >= units->n_columns || strcmp(units->columns[at].metric, child->string) != 0)
            at = frame_units_find(units, child->string);
        if (at == units->n_columns || !cJSON_IsObject(child))
            continue;
        const struct json_node object = json_child(metrics, child, 0);
        row[at] = (struct frame_value){.value = (float)page_number(&object, "value"),
                                       .low = (float)page_number(&object, "low"),
                                       .high = (float)page_number(&object, "high"),
                                       .exact = page_bool(&object, "exact") == 1};
    }
}

static int number_of(const struct json_node *object, const char *key) {
    double number = page_number(object, key);
    return number >= 0 && number <= 1e6 ? (int)number : -1;
}

// What PMUs outside the cores tell of a socket.
static void read_outside(const struct json_node *object, const struct frame_units *units, int socket,
                         struct frame_value *row) {
    struct json_node kinds[KINDS_MAX], sockets, metrics;
    size_t n = read_kinds(object, kinds);
    const cJSON *child;
    for (size_t i = 0; i < n && socket >= 0; i++) {
        if (!page_array(&kinds[i], "sockets", FRAME_UNITS_MAX, &sockets))
            continue;
        cJSON_ArrayForEach(child, sockets.value) {
            const struct json_node of_socket = json_child(&sockets, child, 0);
            if (cJSON_IsObject(child) && number_of(&of_socket, "socket") == socket &&
                page_object(&of_socket, "metrics", &metrics))
                read_values(&metrics, units, units->n_columns, row);
        }
    }
}

static int read_rows(struct arena *arena, const struct json_node *whole, const struct json_node *scopes,
                     struct frame_units *out) {
    size_t n = (size_t)cJSON_GetArraySize(scopes->value);
    if (out->n_columns > 0 && n > VALUES_MAX / out->n_columns)
        return -EINVAL;
    struct frame_unit *units = arena_take(arena, n + 1, sizeof *units);
    struct frame_value *values = arena_take(arena, n * out->n_columns + 1, sizeof *values);
    const cJSON *child;
    if (!units || !values)
        return -ENOMEM;
    cJSON_ArrayForEach(child, scopes->value) {
        const struct json_node object = json_child(scopes, child, 0);
        struct json_node metrics = {.value = NULL};
        if (!cJSON_IsObject(child))
            return -EINVAL;
        struct frame_value *row = values + out->n * out->n_columns;
        for (size_t i = 0; i < out->n_columns; i++)
            row[i] = (struct frame_value){NAN, NAN, NAN, false};
        units[out->n++] = (struct frame_unit){number_of(&object, "cpu"), number_of(&object, "socket")};
        (void)page_object(&object, "metrics", &metrics);
        read_values(&metrics, out, 0, row);
        read_outside(whole, out, number_of(&object, "socket"), row);
    }
    out->units = units;
    out->values = values;
    return 0;
}

static int read_type(struct arena *arena, const struct json_node *object, struct frame_units *out) {
    struct json_node metrics, scopes;
    if (!page_object(object, "metrics", &metrics) || !page_array(object, "scopes", FRAME_UNITS_MAX, &scopes))
        return -EINVAL;
    int r = read_columns(arena, object, &metrics, out);
    if (r == 0)
        r = read_rows(arena, object, &scopes, out);
    out->present = r == 0;
    return r;
}

int frame_add_units(struct frame *frame, enum frame_scope scope, const char *text, size_t length,
                    char why[static PAGE_WHY_MAX]) {
    struct frame_units read[FRAME_TYPES_MAX] = {{.present = false}};
    struct page page;
    struct json_node types;
    int r = page_open(&page, text, length, why);
    if (r == 0 && page_array(&page.root, "core_types", FRAME_TYPES_MAX, &types)) {
        size_t n = 0;
        const cJSON *child;
        cJSON_ArrayForEach(child, types.value) {
            const struct json_node object = json_child(&types, child, 0);
            if (r == 0)
                r = cJSON_IsObject(child) ? read_type(&frame->arena, &object, &read[n++]) : -EINVAL;
        }
    } else if (r == 0)
        r = read_type(&frame->arena, &page.root, &read[0]);
    page_close(&page);
    for (size_t i = 0; i < frame->n_types && r == 0; i++)
        frame->types[i].units[scope] = read[i];
    if (r == -EINVAL && why[0] == '\0')
        (void)snprintf(why, PAGE_WHY_MAX, "its answer is not /api/v1/snapshot of topdownd");
    return r;
}
