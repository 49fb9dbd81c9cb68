// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "bench/accuracy/trial.h"

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        abort();
    return made;
}

void outcome_init(struct outcome *outcome, size_t n) {
    double *values = array(5 * n, sizeof *values);
    size_t *counts = array(2 * n, sizeof *counts);
    *outcome = (struct outcome){.value = values,
                                .truth = values + n,
                                .low = values + 2 * n,
                                .high = values + 3 * n,
                                .weight = values + 4 * n,
                                .inside = counts,
                                .shown = counts + n,
                                .raised = array(n, sizeof *outcome->raised)};
}

void outcome_deinit(struct outcome *outcome) {
    free(outcome->raised);
    free(outcome->inside);
    free(outcome->value);
}
