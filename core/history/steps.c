// SPDX-License-Identifier: Apache-2.0
#include "core/history/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_N = HISTORY_FINE_N + HISTORY_COARSE_N };

int steps_init(struct steps *steps, size_t series_max) {
    *steps = (struct steps){.series_max = series_max, .series = calloc(series_max, sizeof *steps->series)};
    return steps->series ? 0 : -ENOMEM;
}

void steps_deinit(struct steps *steps) {
    for (size_t i = 0; i < steps->n; i++)
        free(steps->series[i].name);
    free(steps->points);
    free(steps->series);
}

// ---- series ----

size_t steps_find(const struct steps *steps, long of, const char *name) {
    for (size_t i = 0; i < steps->n; i++)
        if (steps->series[i].of == of && strcmp(steps->series[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

void steps_widen(struct steps *steps, size_t width) {
    width = width < steps->series_max ? width : steps->series_max;
    struct steps_point *points = width > steps->width ? calloc(STEPS_N * width, sizeof *points) : NULL;
    if (!points)
        return;
    for (size_t step = 0; step < STEPS_N && steps->n > 0; step++)
        memcpy(points + step * width, steps->points + step * steps->width, steps->n * sizeof *points);
    free(steps->points);
    steps->points = points;
    steps->width = width;
}

static size_t find_place(struct steps *steps) {
    if (steps->n < steps->width)
        return steps->n++;
    for (size_t i = 0; i < steps->n; i++)
        if (!steps->series[i].present) {
            free(steps->series[i].name);
            for (size_t step = 0; step < STEPS_N; step++)
                steps->points[step * steps->width + i] = (struct steps_point){0, 0};
            return i;
        }
    return SIZE_MAX;
}

size_t steps_make(struct steps *steps, long of, const char *name) {
    char *copy = strdup(name);
    size_t place = copy ? find_place(steps) : SIZE_MAX;
    if (place == SIZE_MAX)
        free(copy);
    else
        steps->series[place] = (struct steps_series){.name = copy, .of = of};
    return place;
}

// ---- points ----

struct ring {
    size_t offset, n;
    uint64_t step_ns;
};

static struct ring ring_of(bool coarse) {
    return coarse ? (struct ring){HISTORY_FINE_N, HISTORY_COARSE_N, HISTORY_COARSE_NS}
                  : (struct ring){0, HISTORY_FINE_N, HISTORY_FINE_NS};
}

static struct steps_point *point_of(const struct steps *steps, size_t series, const struct ring *ring, uint64_t step) {
    return &steps->points[(ring->offset + step % ring->n) * steps->width + series];
}

// Empties the steps that begin after the last moment, up to that of now_ns.
static void begin_steps(struct steps *steps, bool coarse, uint64_t now_ns) {
    struct ring ring = ring_of(coarse);
    uint64_t last = steps->end_ns / ring.step_ns, now = now_ns / ring.step_ns;
    if (now - last > ring.n)
        last = now - ring.n;
    for (uint64_t step = last + 1; step <= now; step++)
        for (size_t i = 0; i < steps->n; i++)
            *point_of(steps, i, &ring, step) = (struct steps_point){0, 0};
}

bool steps_go(struct steps *steps, uint64_t now_ns) {
    if (steps->begun && now_ns < steps->end_ns)
        return false;
    if (!steps->begun) {
        steps->begun = true;
        steps->begin_ns = steps->end_ns = now_ns;
    }
    begin_steps(steps, false, now_ns);
    begin_steps(steps, true, now_ns);
    steps->end_ns = now_ns;
    return true;
}

static void add(struct steps_point *point, double a, double b) {
    if (point->b < 0)
        *point = (struct steps_point){0, 0};
    point->a += (float)a;
    point->b += (float)b;
}

static void add_gauge(struct steps_point *point, double value) {
    if (point->b <= 0 && isfinite(value))
        *point = (struct steps_point){(float)value, -1};
}

void steps_add(struct steps *steps, size_t series, double a, double b, double gauge) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        struct steps_point *point = point_of(steps, series, &ring, steps->end_ns / ring.step_ns);
        if (b > 0)
            add(point, a, b);
        else
            add_gauge(point, gauge);
    }
}

void steps_fill(struct steps *steps, size_t series, uint64_t start_ns, double gauge) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        uint64_t last = steps->end_ns / ring.step_ns, step = start_ns / ring.step_ns + 1;
        if (step < last && last - step >= ring.n)
            step = last - ring.n + 1;
        for (; step < last; step++)
            add_gauge(point_of(steps, series, &ring, step), gauge);
    }
}

void steps_go_on(struct steps *steps, uint64_t begin_ns) {
    if (begin_ns < steps->begin_ns)
        steps->begin_ns = begin_ns;
}

void steps_put(struct steps *steps, size_t series, bool coarse, uint64_t step, double gauge) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    if (step >= range.first && step - range.first < range.n)
        add_gauge(point_of(steps, series, &ring, step), gauge);
}

// ---- reading ----

struct steps_range steps_range(const struct steps *steps, bool coarse) {
    struct ring ring = ring_of(coarse);
    uint64_t first = steps->begin_ns / ring.step_ns, last = steps->end_ns / ring.step_ns;
    if (!steps->begun)
        return (struct steps_range){.step_ns = ring.step_ns};
    if (last - first >= ring.n)
        first = last - ring.n + 1;
    return (struct steps_range){.step_ns = ring.step_ns, .first = first, .n = (size_t)(last - first + 1)};
}

void steps_read(const struct steps *steps, size_t series, double k, bool coarse, uint64_t first, size_t n,
                double *values) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    for (size_t i = 0; i < n; i++) {
        bool exists = series != SIZE_MAX && first + i >= range.first && first + i - range.first < range.n;
        struct steps_point point = exists ? *point_of(steps, series, &ring, first + i) : (struct steps_point){0, 0};
        values[i] = point.b > 0 ? k * (double)point.a / (double)point.b : point.b < 0 ? k * (double)point.a : NAN;
    }
}
