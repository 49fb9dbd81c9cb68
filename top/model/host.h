// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_HOST_H
#define TOPDOWND_TOP_MODEL_HOST_H

// What changes rarely: the host (/api/v1/status), and the past of some metrics (/api/v1/history).

#include <stddef.h>

#include "top/model/arena.h"

enum { HOST_SERIES_MAX = 256, HOST_STEPS_MAX = 512, HOST_MARKS_MAX = 2048 };

struct host {
    struct arena arena;
    const char *name, *cpu, *version; // never NULL; the CPUs of all core types, "A + B"
    unsigned cpus, sockets;
    const char *trouble; // why a PMU fails; "": none does
};

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

// Both return 0; -EINVAL with the reason in `why`; -ENOMEM. On failure *out stays.
int host_read(const char *page, size_t length, struct host **out, char why[static 200]);
int past_read(const char *page, size_t length, struct past **out, char why[static 200]);

struct host *host_free(struct host *host);
struct past *past_free(struct past *past);

// NULL: not there.
const struct past_series *past_find(const struct past *past, const char *type, const char *metric);

#endif
