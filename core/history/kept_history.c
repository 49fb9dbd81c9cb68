// SPDX-License-Identifier: Apache-2.0
#include "core/history/kept_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kept_history *kept_history_new(uint64_t begin_ns, uint64_t end_ns) {
    const struct steps steps = {.begin_ns = begin_ns, .end_ns = end_ns, .begun = true};
    struct kept_history *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->begin_ns = begin_ns;
    kept->end_ns = end_ns;
    kept->fine = steps_range(&steps, false);
    kept->coarse = steps_range(&steps, true);
    kept->series = calloc(KEPT_SERIES_MAX, sizeof *kept->series);
    return kept->series ? kept : kept_history_free(kept);
}

struct kept_history *kept_history_free(struct kept_history *kept) {
    if (kept) {
        for (size_t i = 0; i < kept->n; i++)
            free(kept->series[i].values);
        free(kept->series);
        free(kept);
    }
    return NULL;
}

struct kept_series *kept_history_add(struct kept_history *kept, long socket, const char *name) {
    size_t n = kept->fine.n + kept->coarse.n;
    float *values = kept->n < KEPT_SERIES_MAX && strlen(name) < KEPT_NAME_MAX ? calloc(n, sizeof *values) : NULL;
    if (!values)
        return NULL;
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    struct kept_series *series = &kept->series[kept->n++];
    *series = (struct kept_series){.socket = socket, .values = values};
    strcpy(series->name, name);
    return series;
}

void kept_histories_deinit(struct kept_histories *kept) {
    for (size_t i = 0; i < kept->n; i++)
        kept_history_free(kept->all[i]);
    kept->n = 0;
}
