// SPDX-License-Identifier: Apache-2.0
#include "core/history/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/margin.h"

enum { STEPS_N = HISTORY_FINE_N + HISTORY_COARSE_N };

int steps_init(struct steps *steps, size_t series_max) {
    *steps = (struct steps){.series_max = series_max, .series = calloc(series_max, sizeof *steps->series)};
    return steps->series ? 0 : -ENOMEM;
}

void steps_deinit(struct steps *steps) {
    for (size_t i = 0; i < steps->n; i++)
        free(steps->series[i].name);
    free(steps->points);
    free(steps->margins);
    free(steps->open);
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
    if (width <= steps->width)
        return;
    struct steps_point *points = calloc(STEPS_N * width, sizeof *points);
    uint8_t *margins = calloc(STEPS_N * width, sizeof *margins);
    struct steps_open *open = calloc(2 * width, sizeof *open);
    if (!points || !margins || !open) {
        free(points);
        free(margins);
        free(open);
        return;
    }
    for (size_t step = 0; step < STEPS_N && steps->n > 0; step++) {
        memcpy(points + step * width, steps->points + step * steps->width, steps->n * sizeof *points);
        memcpy(margins + step * width, steps->margins + step * steps->width, steps->n * sizeof *margins);
    }
    if (steps->n > 0)
        memcpy(open, steps->open, 2 * steps->n * sizeof *open);
    free(steps->points);
    free(steps->margins);
    free(steps->open);
    steps->points = points;
    steps->margins = margins;
    steps->open = open;
    steps->width = width;
}

static size_t find_place(struct steps *steps) {
    if (steps->n < steps->width)
        return steps->n++;
    for (size_t i = 0; i < steps->n; i++)
        if (!steps->series[i].present) {
            free(steps->series[i].name);
            for (size_t step = 0; step < STEPS_N; step++) {
                steps->points[step * steps->width + i] = (struct steps_point){0, 0};
                steps->margins[step * steps->width + i] = MARGIN_NONE;
            }
            steps->open[2 * i] = steps->open[2 * i + 1] = (struct steps_open){0, 0};
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
    int64_t step_ns;
};

static struct ring ring_of(bool coarse) {
    return coarse ? (struct ring){HISTORY_FINE_N, HISTORY_COARSE_N, HISTORY_COARSE_NS}
                  : (struct ring){0, HISTORY_FINE_N, HISTORY_FINE_NS};
}

int64_t steps_step(int64_t at_ns, int64_t step_ns) { return at_ns / step_ns - (at_ns % step_ns < 0); }

int64_t steps_round(int64_t span_ns, int64_t step_ns) { return steps_step(span_ns + step_ns / 2, step_ns); }

// A step's place in its ring; steps before the boot are below 0.
static size_t place_of(const struct ring *ring, int64_t step) {
    int64_t n = (int64_t)ring->n, place = step % n;
    return (size_t)(place < 0 ? place + n : place);
}

static struct steps_point *point_of(const struct steps *steps, size_t series, const struct ring *ring, int64_t step) {
    return &steps->points[(ring->offset + place_of(ring, step)) * steps->width + series];
}

static uint8_t *margin_of(const struct steps *steps, size_t series, const struct ring *ring, int64_t step) {
    return &steps->margins[(ring->offset + place_of(ring, step)) * steps->width + series];
}

// Empties the steps that begin after the last moment, up to that of now_ns.
static void begin_steps(struct steps *steps, bool coarse, int64_t now_ns) {
    struct ring ring = ring_of(coarse);
    int64_t last = steps_step(steps->end_ns, ring.step_ns), now = steps_step(now_ns, ring.step_ns);
    if (now - last > (int64_t)ring.n)
        last = now - (int64_t)ring.n;
    for (int64_t step = last + 1; step <= now; step++)
        for (size_t i = 0; i < steps->n; i++) {
            *point_of(steps, i, &ring, step) = (struct steps_point){0, 0};
            *margin_of(steps, i, &ring, step) = MARGIN_NONE;
            steps->open[2 * i + coarse] = (struct steps_open){0, 0};
        }
}

bool steps_go(struct steps *steps, uint64_t at_ns) {
    int64_t now_ns = at_ns <= STEPS_TIME_MAX ? (int64_t)at_ns : -1;
    if (now_ns < 0 || (steps->begun && now_ns < steps->end_ns))
        return false;
    if (!steps->begun) {
        steps->begun = true;
        steps->begin_ns = steps->coarse_begin_ns = steps->end_ns = now_ns;
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
        struct steps_point *point = point_of(steps, series, &ring, steps_step(steps->end_ns, ring.step_ns));
        if (b > 0)
            add(point, a, b);
        else
            add_gauge(point, gauge);
    }
}

void steps_fill(struct steps *steps, size_t series, int64_t start_ns, double gauge) {
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        int64_t last = steps_step(steps->end_ns, ring.step_ns), step = steps_step(start_ns, ring.step_ns) + 1;
        if (last - step >= (int64_t)ring.n)
            step = last - (int64_t)ring.n + 1;
        for (; step < last; step++)
            add_gauge(point_of(steps, series, &ring, step), gauge);
    }
}

// ---- margins ----

// How much wider the interval of a step is than that of a round: a step within a round has a part of its windows.
static double wider(int64_t step_ns, int64_t round_ns) {
    return round_ns > step_ns ? sqrt((double)round_ns / (double)step_ns) : 1;
}

void steps_add_margin(struct steps *steps, size_t series, double margin, int64_t round_ns) {
    if (!isfinite(margin))
        return;
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        struct steps_open *open = &steps->open[2 * series + (size_t)coarse];
        open->squares += (float)(margin * margin);
        open->n++;
        *margin_of(steps, series, &ring, steps_step(steps->end_ns, ring.step_ns)) =
            margin_encode(sqrt((double)open->squares / open->n) * wider(ring.step_ns, round_ns));
    }
}

void steps_fill_margin(struct steps *steps, size_t series, int64_t start_ns, double margin) {
    if (!isfinite(margin))
        return;
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct ring ring = ring_of(coarse != 0);
        int64_t last = steps_step(steps->end_ns, ring.step_ns), step = steps_step(start_ns, ring.step_ns) + 1;
        if (last - step >= (int64_t)ring.n)
            step = last - (int64_t)ring.n + 1;
        for (; step < last; step++) {
            uint8_t *code = margin_of(steps, series, &ring, step);
            bool gauge = point_of(steps, series, &ring, step)->b < 0; // the round's own value
            if (*code == MARGIN_NONE)
                *code = margin_encode(margin * (gauge ? 1 : wider(ring.step_ns, steps->end_ns - start_ns)));
        }
    }
}

static bool range_has(const struct steps_range *range, int64_t step) {
    return step >= range->first && step - range->first < (int64_t)range->n;
}

void steps_put_margin(struct steps *steps, size_t series, bool coarse, int64_t step, uint8_t margin) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    if (range_has(&range, step) && point_of(steps, series, &ring, step)->b < 0)
        *margin_of(steps, series, &ring, step) = margin;
}

// ---- the past ----

void steps_put(struct steps *steps, size_t series, bool coarse, int64_t step, double gauge) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    if (range_has(&range, step))
        add_gauge(point_of(steps, series, &ring, step), gauge);
}

// Moves a series' steps up to `last` by so many steps, of which those have a place that come to lie before `own`.
static void move_series(struct steps *steps, size_t series, const struct ring *ring, int64_t last, int64_t own,
                        int64_t by) {
    struct steps_point moved[HISTORY_FINE_N] = {{0, 0}};
    uint8_t margins[HISTORY_FINE_N] = {MARGIN_NONE};
    int64_t first = steps_step(steps->end_ns, ring->step_ns) - (int64_t)ring->n + 1;
    for (int64_t step = first; step <= last && step < own; step++)
        if (step + by >= first && step + by < own) {
            moved[place_of(ring, step + by)] = *point_of(steps, series, ring, step);
            margins[place_of(ring, step + by)] = *margin_of(steps, series, ring, step);
        }
    for (int64_t step = first; step < own; step++) {
        *point_of(steps, series, ring, step) = moved[place_of(ring, step)];
        *margin_of(steps, series, ring, step) = margins[place_of(ring, step)];
    }
}

static bool is_small(int64_t span_ns, int64_t limit_ns) { return span_ns > -limit_ns && span_ns < limit_ns; }

// Steps of this boot keep their places: those of earlier ones come before them.
static void move_steps(struct steps *steps, bool coarse, int64_t wall_offset_ns) {
    struct ring ring = ring_of(coarse);
    struct steps_placed *placed = coarse ? &steps->earlier.coarse : &steps->earlier.fine;
    int64_t own = steps_step(steps->earlier.boot_ns, ring.step_ns), away_ns = placed->offset_ns - wall_offset_ns,
            by = steps_round(away_ns, ring.step_ns);
    if (is_small(away_ns, ring.step_ns / 2 + STEPS_CLOCK_NS))
        return; // else a clock that is kept in time moves them to and fro
    if (by > own - 1 - placed->last)
        by = own - 1 - placed->last > 0 ? own - 1 - placed->last : 0;
    if (by == 0)
        return;
    for (size_t i = 0; i < steps->n; i++)
        move_series(steps, i, &ring, placed->last, own, by);
    placed->last += by;
    placed->offset_ns -= by * ring.step_ns;
    *(coarse ? &steps->coarse_begin_ns : &steps->begin_ns) += by * ring.step_ns;
}

int64_t steps_follow_clock(struct steps *steps, int64_t wall_offset_ns) {
    struct steps_earlier *earlier = &steps->earlier;
    if (!earlier->any || wall_offset_ns > STEPS_OFFSET_MAX || wall_offset_ns < -STEPS_OFFSET_MAX)
        return 0;
    move_steps(steps, false, wall_offset_ns);
    move_steps(steps, true, wall_offset_ns);
    int64_t by = earlier->offset_ns - wall_offset_ns, most = earlier->boot_ns - 1 - earlier->end_ns;
    if (by > most)
        by = most;
    if (is_small(by, STEPS_CLOCK_NS))
        return 0; // so are clocks kept in time
    earlier->end_ns += by;
    earlier->offset_ns -= by;
    return by;
}

// ---- reading ----

struct steps_range steps_range(const struct steps *steps, bool coarse) {
    struct ring ring = ring_of(coarse);
    int64_t begin_ns = coarse ? steps->coarse_begin_ns : steps->begin_ns;
    int64_t first = steps_step(begin_ns, ring.step_ns), last = steps_step(steps->end_ns, ring.step_ns);
    if (!steps->begun)
        return (struct steps_range){.step_ns = ring.step_ns};
    if (last - first >= (int64_t)ring.n)
        first = last - (int64_t)ring.n + 1;
    return (struct steps_range){.step_ns = ring.step_ns, .first = first, .n = (size_t)(last - first + 1)};
}

void steps_read(const struct steps *steps, size_t series, double k, bool coarse, int64_t first, size_t n,
                double *values) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    for (size_t i = 0; i < n; i++) {
        int64_t step = first + (int64_t)i;
        bool exists = series != SIZE_MAX && range_has(&range, step);
        struct steps_point point = exists ? *point_of(steps, series, &ring, step) : (struct steps_point){0, 0};
        values[i] = point.b > 0 ? k * (double)point.a / (double)point.b : point.b < 0 ? k * (double)point.a : NAN;
    }
}

void steps_read_margins(const struct steps *steps, size_t series, bool coarse, int64_t first, size_t n,
                        uint8_t *margins) {
    struct ring ring = ring_of(coarse);
    struct steps_range range = steps_range(steps, coarse);
    for (size_t i = 0; i < n; i++) {
        int64_t step = first + (int64_t)i;
        bool exists = series != SIZE_MAX && range_has(&range, step);
        margins[i] = exists ? *margin_of(steps, series, &ring, step) : MARGIN_NONE;
    }
}
