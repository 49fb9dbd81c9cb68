// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_PAST_H
#define TOPDOWND_TOP_MODEL_PAST_H

// The past of some metrics (/api/v1/history).

#include <stddef.h>

#include "top/model/arena.h"

enum { PAST_SERIES_MAX = 256, PAST_STEPS_MAX = 512, PAST_MARKS_MAX = 2048 };

struct past_series {
    const char *type, *metric, *title; // type: "": the host has one
    const float *values;               // n_steps of struct past; NAN: none
};

struct past_mark {
    double seconds; // since the epoch
    const char *kind, *text;
};

struct past {
    struct arena arena;
    double begin_seconds, step_seconds; // NAN: rounds have no time
    size_t n_steps, n_series, n_marks;
    const struct past_series *series;
    const struct past_mark *marks; // the oldest first
};

// Returns 0; -EINVAL with the reason in `why`; -ENOMEM. On failure *out stays.
int past_read(const char *page, size_t length, struct past **out, char why[static 200]);
struct past *past_free(struct past *past);

// NULL: not there.
const struct past_series *past_find(const struct past *past, const char *type, const char *metric);

#endif
