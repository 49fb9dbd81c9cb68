// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_STEPS_H
#define TOPDOWND_CORE_HISTORY_STEPS_H

// Values of named series in steps of bounded number: the last hour in steps of ten seconds, the last day in steps of
// five minutes. A series takes 5.7 KiB, of which memory is used as time goes by.
//
// Times are those of the monotonic clock, which begins near 0 when the host boots: what was before the boot is below 0.
// Steps of earlier boots stay at their time of day. They move by whole steps if the wall clock is set, and are right to
// half a step and a second, or to one where those of this boot begin.
// What a clock that is ahead moves out of the hour or the day is lost, also if the clock is set right soon.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_FINE_N = 360, HISTORY_COARSE_N = 288 };
#define HISTORY_FINE_NS INT64_C(10000000000)
#define HISTORY_COARSE_NS INT64_C(300000000000)

// One step of one series. b > 0: the sums of a quotient (a over b); b < 0: no sums, a is the last gauge; 0, as memory
// begins: nothing.
struct steps_point {
    float a, b;
};

// Times, and offsets between the monotonic clock and the epoch, are at most so far from 0: their sums have room.
#define STEPS_TIME_MAX (INT64_MAX / 4)
#define STEPS_OFFSET_MAX (INT64_MAX / 2 - HISTORY_COARSE_NS)

// By less than that, wall clocks go to and fro as they are kept in time.
#define STEPS_CLOCK_NS INT64_C(1000000000)

// The margins of the newest step of one series, as long as it goes on.
struct steps_open {
    float squares; // of all margins in it
    uint32_t n;
};

// What is of earlier boots.
struct steps_earlier {
    bool any;
    int64_t boot_ns;   // this boot's steps begin here; INT64_MAX: there are none yet
    int64_t end_ns;    // the last moment before the boot
    int64_t offset_ns; // between this clock and the epoch, for which the moments of earlier boots are right
    struct steps_placed {
        int64_t offset_ns; // for which the steps are
        int64_t last;      // the last step
    } fine, coarse;
};

struct steps {
    size_t series_max, n;
    struct steps_series {
        char *name;
        long of;      // the scope that it is a series of: the owner's number
        bool present; // set by the owner: it is not given up for another one
    } * series;
    size_t width;                      // points of a step: series that have a place
    struct steps_point *points;        // HISTORY_FINE_N steps, then HISTORY_COARSE_N
    uint8_t *margins;                  // of the same points (core/history/margin.h)
    struct steps_open *open;           // of the newest fine and coarse step of each series
    int64_t begin_ns, coarse_begin_ns; // of the first moment, for steps of each resolution
    int64_t end_ns;                    // of the last moment
    bool begun;
    struct steps_earlier earlier;
};

int steps_init(struct steps *steps, size_t series_max); // 0 or -ENOMEM
void steps_deinit(struct steps *steps);

// The place of a series; SIZE_MAX: there is none.
size_t steps_find(const struct steps *steps, long of, const char *name);
// A place for a new series: a free one, or that of one that is not present. SIZE_MAX: none.
size_t steps_make(struct steps *steps, long of, const char *name);
// Makes room for so many series in all, at most series_max. If out of memory, those that have a place keep it.
void steps_widen(struct steps *steps, size_t width);

// Goes on to a moment: false if it is before the last one, or beyond STEPS_TIME_MAX. The steps that begin since then
// are empty.
bool steps_go(struct steps *steps, uint64_t now_ns);

// Adds to the sums of the newest steps if b > 0; else they have this gauge as long as they have no sums; NaN: nothing.
void steps_add(struct steps *steps, size_t series, double a, double b, double gauge);
// The steps that lie within the time from start_ns to now have this gauge.
void steps_fill(struct steps *steps, size_t series, int64_t start_ns, double gauge);

// The newest round of a series, which lasted so long, has this margin; NaN: none is known. A step that lasts longer has
// the root of its rounds' mean square: its own interval is no wider, but how much narrower depends on what rounds have
// in common. One that is shorter than a round has a wider one.
void steps_add_margin(struct steps *steps, size_t series, double margin, int64_t round_ns);
// The steps that lie within that round and have none.
void steps_fill_margin(struct steps *steps, size_t series, int64_t start_ns, double margin);
// Gives a step this margin (core/history/margin.h), unless it is outside the range.
void steps_put_margin(struct steps *steps, size_t series, bool coarse, int64_t step, uint8_t margin);

// Gives a step this gauge, unless it is outside the range or the gauge is NaN.
void steps_put(struct steps *steps, size_t series, bool coarse, int64_t step, double gauge);

// The wall clock is so far from the monotonic one now: moves the steps of earlier boots if they are elsewhere. Returns
// by how much their moments moved.
int64_t steps_follow_clock(struct steps *steps, int64_t wall_offset_ns);

// The step that a moment lies in.
int64_t steps_step(int64_t at_ns, int64_t step_ns);
// A span of time in whole steps, to the nearest.
int64_t steps_round(int64_t span_ns, int64_t step_ns);

// The steps that exist: the last one has not ended.
struct steps_range {
    int64_t step_ns;
    int64_t first; // the first step's beginning in step_ns
    size_t n;      // 0: no moment yet
};
struct steps_range steps_range(const struct steps *steps, bool coarse);

// Writes k times the values of `n` steps from step `first` on; NaN: not measured, or outside the range. `series` may be
// SIZE_MAX.
void steps_read(const struct steps *steps, size_t series, double k, bool coarse, int64_t first, size_t n,
                double *values);
// The same of margins; MARGIN_NONE: not known.
void steps_read_margins(const struct steps *steps, size_t series, bool coarse, int64_t first, size_t n,
                        uint8_t *margins);

#endif
