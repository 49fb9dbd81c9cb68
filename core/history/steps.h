// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_STEPS_H
#define TOPDOWND_CORE_HISTORY_STEPS_H

// Values of named series in steps of bounded number: the last hour in steps of ten seconds, the last day in steps of
// five minutes. A series takes 5 KiB, of which memory is used as time goes by.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_FINE_N = 360, HISTORY_COARSE_N = 288 };
#define HISTORY_FINE_NS UINT64_C(10000000000)
#define HISTORY_COARSE_NS UINT64_C(300000000000)

// One step of one series. b > 0: the sums of a quotient (a over b); b < 0: no sums, a is the last gauge; 0, as memory
// begins: nothing.
struct steps_point {
    float a, b;
};

struct steps {
    size_t series_max, n;
    struct steps_series {
        char *name;
        long of;      // the scope that it is a series of: the owner's number
        bool present; // set by the owner: it is not given up for another one
    } * series;
    size_t width;               // points of a step: series that have a place
    struct steps_point *points; // HISTORY_FINE_N steps, then HISTORY_COARSE_N
    uint64_t begin_ns, end_ns;  // of the first moment, and of the last
    bool begun;
};

int steps_init(struct steps *steps, size_t series_max); // 0 or -ENOMEM
void steps_deinit(struct steps *steps);

// The place of a series; SIZE_MAX: there is none.
size_t steps_find(const struct steps *steps, long of, const char *name);
// A place for a new series: a free one, or that of one that is not present. SIZE_MAX: none.
size_t steps_make(struct steps *steps, long of, const char *name);
// Makes room for so many series in all, at most series_max. If out of memory, those that have a place keep it.
void steps_widen(struct steps *steps, size_t width);

// Goes on to a moment: false if it is before the last one. The steps that begin since then are empty.
bool steps_go(struct steps *steps, uint64_t now_ns);

// Adds to the sums of the newest steps if b > 0; else they have this gauge as long as they have no sums; NaN: nothing.
void steps_add(struct steps *steps, size_t series, double a, double b, double gauge);
// The steps that lie within the time from start_ns to now have this gauge.
void steps_fill(struct steps *steps, size_t series, uint64_t start_ns, double gauge);

// Goes on with the past: there were steps from a moment on, which are empty up to those of steps_put. Call it after
// steps_go.
void steps_go_on(struct steps *steps, uint64_t begin_ns);
// Gives a step this gauge, unless it is outside the range or the gauge is NaN.
void steps_put(struct steps *steps, size_t series, bool coarse, uint64_t step, double gauge);

// The steps that exist: the last one has not ended.
struct steps_range {
    uint64_t step_ns;
    uint64_t first; // the first step's beginning in step_ns
    size_t n;       // 0: no moment yet
};
struct steps_range steps_range(const struct steps *steps, bool coarse);

// Writes k times the values of `n` steps from step `first` on; NaN: not measured, or outside the range. `series` may be
// SIZE_MAX.
void steps_read(const struct steps *steps, size_t series, double k, bool coarse, uint64_t first, size_t n,
                double *values);

#endif
