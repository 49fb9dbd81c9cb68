// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_TAPED_H
#define TOPDOWND_TESTS_SIMULATION_TAPED_H

// A simulated host that is measured and recorded, in memory; and its replay, from the recording alone and a newly read
// catalog: every value of every snapshot must be the same bit by bit, with everything shown beside it.

#include "core/recording/recording.h"
#include "tests/simulation/pipeline.h"

enum { TAPED_MAX = 512 };

struct taped {
    struct recording_buffer bytes;
    struct snapshot *live[TAPED_MAX];
    struct adapt_report *reports[TAPED_MAX]; // in force with it, NULL: the schedule is fixed
    size_t n_live;
    struct catalog *catalog; // read anew by the first replay
    size_t n_plans;          // of the pipeline, that have been recorded
};

// Records the header and the plan. From here on every round is recorded, and every plan with taped_run.
void taped_begin(struct taped *taped, struct pipeline *p);
void taped_end(struct taped *taped);

void taped_header(struct taped *taped, const struct pipeline *p);
void taped_plan(struct taped *taped, const struct pipeline *p, bool again);

// Runs so many rounds.
void taped_run(struct taped *taped, struct pipeline *p, unsigned rounds);

// The counters are handed over.
void taped_yield(struct taped *taped, struct pipeline *p, double seconds);

struct taped_replay {
    size_t n_rounds, n_plans;
    int end; // of recording_next
};

// Replays so many bytes of it.
struct taped_replay taped_play(struct taped *taped, size_t n);

// All of it, which has so many rounds.
void taped_assert_plays(struct taped *taped, size_t rounds);

#endif
