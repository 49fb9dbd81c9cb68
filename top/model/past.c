// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/model/page.h"
#include "top/model/past.h"

static bool read_values(const struct json_node *object, struct past *past, struct past_series *series) {
    struct json_node values;
    const cJSON *child;
    size_t n = 0;
    float *all = arena_take(&past->arena, past->n_steps + 1, sizeof *all);
    for (size_t i = 0; all && i < past->n_steps; i++)
        all[i] = NAN;
    if (all && page_array(object, "values", PAST_STEPS_MAX, &values))
        cJSON_ArrayForEach(child, values.value) {
            if (n < past->n_steps && cJSON_IsNumber(child))
                all[n] = (float)child->valuedouble;
            n++;
        }
    series->values = all;
    return all;
}

static int read_series(const struct json_node *root, struct past *past) {
    struct json_node array;
    const cJSON *child;
    struct past_series *series = arena_take(&past->arena, PAST_SERIES_MAX, sizeof *series);
    if (!series)
        return -ENOMEM;
    past->series = series;
    if (!page_array(root, "series", PAST_SERIES_MAX, &array))
        return -EINVAL;
    cJSON_ArrayForEach(child, array.value) {
        const struct json_node object = json_child(&array, child, 0);
        struct past_series *one = &series[past->n_series++];
        one->type = page_text(&object, "core_type", &past->arena, "");
        one->metric = page_text(&object, "metric", &past->arena, "");
        one->title = page_text(&object, "title", &past->arena, "");
        if (!one->type || !one->metric || !one->title || !read_values(&object, past, one))
            return -ENOMEM;
    }
    return 0;
}

static int read_marks(const struct json_node *root, struct past *past) {
    struct json_node array;
    const cJSON *child;
    struct past_mark *marks = arena_take(&past->arena, PAST_MARKS_MAX, sizeof *marks);
    if (!marks)
        return -ENOMEM;
    past->marks = marks;
    if (!page_array(root, "marks", PAST_MARKS_MAX, &array))
        return 0;
    cJSON_ArrayForEach(child, array.value) {
        const struct json_node object = json_child(&array, child, 0);
        struct past_mark *mark = &marks[past->n_marks++];
        *mark = (struct past_mark){.seconds = page_number(&object, "timestamp_seconds"),
                                   .kind = page_text(&object, "kind", &past->arena, ""),
                                   .text = page_text(&object, "text", &past->arena, "")};
        if (!mark->kind || !mark->text)
            return -ENOMEM;
    }
    return 0;
}

int past_read(const char *text, size_t length, struct past **out, char why[static PAGE_WHY_MAX]) {
    struct page page;
    struct past *past = calloc(1, sizeof *past);
    int r = page_open(&page, text, length, why);
    if (!past)
        r = -ENOMEM;
    if (r == 0) {
        double steps = page_number(&page.root, "steps");
        past->begin_seconds = page_number(&page.root, "begin_timestamp_seconds");
        past->step_seconds = page_number(&page.root, "step_seconds");
        past->n_steps = steps >= 0 && steps <= PAST_STEPS_MAX ? (size_t)steps : 0;
        r = read_series(&page.root, past);
    }
    if (r == 0)
        r = read_marks(&page.root, past);
    if (r == -EINVAL && why[0] == '\0')
        (void)snprintf(why, PAGE_WHY_MAX, "its answer is not /api/v1/history of topdownd");
    page_close(&page);
    if (r < 0)
        past_free(past);
    else
        *out = past;
    return r;
}

struct past *past_free(struct past *past) {
    if (past)
        arena_deinit(&past->arena);
    free(past);
    return NULL;
}

const struct past_series *past_find(const struct past *past, const char *type, const char *metric) {
    for (size_t i = 0; past && i < past->n_series; i++)
        if (strcmp(past->series[i].metric, metric) == 0 && strcmp(past->series[i].type, type) == 0)
            return &past->series[i];
    return NULL;
}
