// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "top/model/frame.h"
#include "top/model/page.h"

// The page /api/v1/snapshot. Its objects name their metrics in the order of the page's own list, so each is looked for
// where it should be, and elsewhere only if it is not there.

enum { VALUES_MAX = 1 << 20 };

const struct frame_value *frame_units_at(const struct frame_units *units, size_t unit, size_t column) {
    return &units->values[unit * units->n_columns + column];
}

size_t frame_units_find(const struct frame_units *units, const char *metric) {
    size_t i = 0;
    while (i < units->n_columns && strcmp(units->columns[i].metric, metric) != 0)
        i++;
    return i;
}

static int read_columns(struct arena *arena, const struct json_node *metrics, struct frame_units *out) {
    size_t n = (size_t)cJSON_GetArraySize(metrics->value);
    n = n < FRAME_METRICS_MAX ? n : FRAME_METRICS_MAX;
    struct frame_column *columns = arena_take(arena, n + 1, sizeof *columns);
    const cJSON *child;
    if (!columns)
        return -ENOMEM;
    cJSON_ArrayForEach(child, metrics->value) {
        const struct json_node object = json_child(metrics, child, 0);
        if (out->n_columns == n || !cJSON_IsObject(child))
            continue;
        struct frame_column *column = &columns[out->n_columns++];
        *column = (struct frame_column){.metric = arena_text(arena, child->string, PAGE_TEXT_MAX),
                                        .unit = page_text(&object, "unit", arena, "")};
        if (!column->metric || !column->unit)
            return -ENOMEM;
    }
    out->columns = columns;
    return 0;
}

static void read_values(const struct json_node *metrics, const struct frame_units *units, struct frame_value *row) {
    size_t expected = 0;
    const cJSON *child;
    for (size_t i = 0; i < units->n_columns; i++)
        row[i] = (struct frame_value){NAN, NAN, NAN};
    cJSON_ArrayForEach(child, metrics->value) {
        size_t at = expected++;
        if (at >= units->n_columns || strcmp(units->columns[at].metric, child->string) != 0)
            at = frame_units_find(units, child->string);
        if (at == units->n_columns || !cJSON_IsObject(child))
            continue;
        const struct json_node object = json_child(metrics, child, 0);
        row[at] = (struct frame_value){.value = (float)page_number(&object, "value"),
                                       .low = (float)page_number(&object, "low"),
                                       .high = (float)page_number(&object, "high")};
    }
}

static int number_of(const struct json_node *object, const char *key) {
    double number = page_number(object, key);
    return number >= 0 && number <= 1e6 ? (int)number : -1;
}

static int read_rows(struct arena *arena, const struct json_node *scopes, struct frame_units *out) {
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
        units[out->n] = (struct frame_unit){number_of(&object, "cpu"), number_of(&object, "socket")};
        (void)page_object(&object, "metrics", &metrics);
        read_values(&metrics, out, values + out->n++ * out->n_columns);
    }
    out->units = units;
    out->values = values;
    return 0;
}

static int read_type(struct arena *arena, const struct json_node *object, struct frame_units *out) {
    struct json_node metrics, scopes;
    if (!page_object(object, "metrics", &metrics) || !page_array(object, "scopes", FRAME_UNITS_MAX, &scopes))
        return -EINVAL;
    int r = read_columns(arena, &metrics, out);
    if (r == 0)
        r = read_rows(arena, &scopes, out);
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
