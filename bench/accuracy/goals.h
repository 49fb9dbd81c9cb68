// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_GOALS_H
#define TOPDOWND_BENCH_ACCURACY_GOALS_H

// The results of all trials, and the goals they must meet.

#include "bench/accuracy/trial.h"

// SETTING_PARTS: level 1 is a composite; reported, without goals.
enum { SETTING_SOCKET, SETTING_HALF, SETTING_TWELFTH, SETTING_PARTS, SETTING_N };
enum { SCORE_KINDS_MAX = 16 };
enum score_what { SCORE_LEVEL1, SCORE_MPKI, SCORE_OTHER, SCORE_WHAT_N };

// The score of one setting, method and load.
struct score {
    double rotations, interrupts_first, interrupts_last; // the latter: sums over trials
    size_t n_trials;
    double *points; // absolute errors of level-1 shares
    size_t n, capacity;
    size_t trial_inside, trial_shown, trial_gauges_inside, trial_gauges_shown; // of the current trial, level 1
    double mpki_error, mpki_weight;
    size_t inside[SCORE_WHAT_N], shown[SCORE_WHAT_N], gauges_inside, gauges_shown;
    double width;
    struct score_trials { // by trial: its share of intervals that contain the truth
        size_t n;
        double sum, squares;
    } minutes, gauges; // of level 1
};

struct scores {
    size_t n_kinds;
    struct score of[SETTING_N][METHOD_N][SCORE_KINDS_MAX];
};

struct scores *scores_new(size_t n_kinds);
void scores_free(struct scores *scores);

// Adds the outcome of a trial. `intervals`: its intervals are valid.
void score_take(struct score *score, const struct plan *plan, bool intervals, const struct outcome *outcome);

struct summary {
    double median, p95;               // level 1, points
    double mpki;                      // relative
    double inside, width;             // of level-1 intervals: share that contain the truth, mean of high - low in
                                      // points
    double inside_mpki, inside_gauge; // of MPKI; of single rounds' gauges, level 1
    double error, error_gauge;        // standard errors of `inside` and `inside_gauge`, from differences between trials
};
// `kind` n_kinds: all loads together.
struct summary scores_summary(const struct scores *scores, unsigned setting, unsigned method, unsigned kind);

// The largest 95th percentile of any load under topdownd's schedule.
double scores_worst(const struct scores *scores, unsigned setting);

// Prints a goal and its result. False if it is missed and `must`.
bool goal_check(bool must, const char *setting, const char *what, double value, double low, double high);

// Prints each goal and its result. False if a goal is missed that the full run meets; goals for single loads count only
// in a `full` run. `fields`: level 1 counts all the time, in fields of 8 bits.
bool goals_check(const struct scores *scores, unsigned n_settings, bool fields, bool full);

#endif
