// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_HISTORY_H
#define TOPDOWND_CORE_HISTORY_HISTORY_H

// What the metrics of the host and its sockets were: the last hour in steps of ten seconds, the last day in steps of
// five minutes. In bounded memory: at most HISTORY_SERIES_MAX series of 5.7 KiB, of which memory is used as time goes
// by.
//
// A step's value follows from sums: a quotient's from what its numerator and its denominator grew by in the step, a
// level-1 category's from pipeline slots. All other metrics have the mean of their gauges. A step in which no core's
// round ended has no value until the round ends that was going on: then the steps that lie within that round have its
// gauge. No gauge is taken twice.
//
// Traffic outside the cores is that of all boxes of the host or socket, although its metric is that of one box.
//
// Times are those of the monotonic clock, so a step of the wall clock moves nothing but what is of earlier boots
// (core/history/steps.h). No locks: for one thread.

#include "core/history/kept_history.h"
#include "core/history/marks.h"
#include "core/history/steps.h"
#include "core/tally/snapshot.h"

enum { HISTORY_SERIES_MAX = 192 };

struct history;

// Keeps at most `series_max` series. If a host has more, the host's come first, then level 1 of the sockets, then the
// sockets' others in the order of the plan. NULL if out of memory.
struct history *history_new(size_t series_max);
struct history *history_free(struct history *history); // returns NULL, takes NULL

// What is to outlive the process; NULL if there is nothing yet, or if out of memory.
struct kept_history *history_keep(const struct history *history);

// Goes on with the history of an earlier process of this boot, or of an earlier boot (kept_history_reboot), as far as
// metrics are still kept; takes ownership.
// Before the first snapshot. Until then it is history_kept; NULL: none.
void history_restore(struct history *history, struct kept_history *kept);
const struct kept_history *history_kept(const struct history *history);

// Takes a snapshot in, in the order of their times. A metric of another plan, or of another spec, goes on under its
// name. Series that do not get memory are missing.
void history_take(struct history *history, const struct snapshot *snapshot);

// What happened; newest last.
struct marks *history_marks(struct history *history);

// Nanoseconds between the steps' clock and the epoch, as of the last snapshot that told the time; 0: none has.
int64_t history_wall_offset_ns(const struct history *history);

struct steps_range history_range(const struct history *history, bool coarse);

enum { HISTORY_HOST = -1 };

// True if the metric (its exported name) of the host or of the socket with this id is kept.
bool history_has(const struct history *history, long socket, const char *metric);

// Writes the values of `n` steps from step `first` on; NaN: not measured, or outside the range. On a host with one
// socket the socket's are the host's.
void history_read(const struct history *history, long socket, const char *metric, bool coarse, int64_t first, size_t n,
                  double *values);

// How far the 95 % intervals of these values reach to both sides; NaN: not known. An interval is that of the rounds in
// the step (core/history/steps.h).
void history_read_margins(const struct history *history, long socket, const char *metric, bool coarse, int64_t first,
                          size_t n, const double *values, double *margins);

#endif
