// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RECORD_RECORD_H
#define TOPDOWND_DAEMON_RECORD_RECORD_H

// run --record: writes every reading to a file without ever delaying measurement (daemon/record/record_stream.h). A
// failure to write is reported once, and recording continues when there is room again. A NULL record does nothing.

#include "core/recording/recording.h"
#include "core/tally/snapshot.h"
#include "daemon/base/clocks.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct record;

// Records to the path of the setup; on a host with several core types, to that path followed by the type, with a share
// of the size. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM. `seed` is the schedule's; `clocks` are
// borrowed.
int record_new(const struct setup *setup, const struct core_type *type, uint64_t seed, const struct clocks *clocks,
               struct errors *errors, struct record **out);
// What boxes count (core/uncore/uncore.h) is recorded together with a core type, whose record is `of`. Nothing is
// recorded of them any more where that one is freed. Returns 0 or -ENOMEM.
int record_new_boxes(struct record *of, const struct setup *setup, const struct core_type *type, uint64_t seed,
                     struct record **out);
// True if what boxes count is recorded together with that one.
bool record_is_of(const struct record *record, const struct record *of);
// Checks in advance, as far as possible: 0; 1 with a warning in `errors` if the folder is missing or may not be written
// to, which another user or the unit may mend; -EINVAL with the reason in `errors`, -ENOMEM.
int record_check(const struct setup *setup, const struct core_type *type, struct errors *errors);
struct record *record_free(struct record *record); // writes the rest

// True if the setup records to where the record does.
bool record_is_at(const struct record *record, const struct setup *setup, const struct core_type *type);
// Records under another set-up from the next plan on: into a new file, if what a file says at its beginning differs.
void record_change(struct record *record, const struct setup *setup, const struct core_type *type);
// What has been recorded in all; and another record goes on from there.
struct record_totals {
    uint64_t bytes, rounds_lost;
};
struct record_totals record_totals(const struct record *record);
void record_continue(struct record *record, struct record_totals totals);

// Valid as long as the record; NULL: no recording, or a part of another one.
const char *record_path(const struct record *record);
// Writes what there is to say of the recording, unless it is part of another one.
void record_fill(const struct record *record, struct snapshot *snapshot);

// Records that the view's plan is now in force; or, for the same plan, the facts shown now.
void record_plan(struct record *record, struct view *view);
void record_view(struct record *record, struct view *view);
void record_round(struct record *record, const struct readings *readings, double timestamp_seconds);
void record_pause(struct record *record, const struct recording_pause *pause);
// Records the newest reading of what the kernel counts of memory, unless it is recorded already. NULL: none is made.
void record_memory(struct record *record, struct host_memory *memory);

// Writes a piece of the waiting records if there is time before deadline_ns. True while more is waiting.
bool record_step(struct record *record, uint64_t deadline_ns);

#endif
