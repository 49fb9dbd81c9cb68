// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_RECORD_H
#define TOPDOWND_DAEMON_RUN_RECORD_H

// run --record: writes every reading to a file, without ever being in the way of measuring. A record is put into memory
// at once and written a little at a time between the edges of slots; what fails to be written is said once, and
// recording goes on when there is room again. A NULL record does nothing.

#include "core/recording/recording.h"
#include "core/tally/snapshot.h"
#include "daemon/base/clocks.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct record;

// To the path of the setup, or where the host has several types of cores, to one with the type behind it, and with a
// share of the size. Returns 0, or -EINVAL with the reason in `errors`, -ENOMEM. `seed` is the schedule's; `clocks` are
// borrowed.
int record_new(const struct setup *setup, const struct core_type *type, uint64_t seed, const struct clocks *clocks,
               struct errors *errors, struct record **out);
// What of it can be known beforehand: 0 or -EINVAL with the reason in `errors`, -ENOMEM.
int record_check(const struct setup *setup, const struct core_type *type, struct errors *errors);
struct record *record_free(struct record *record); // writes what is left

const char *record_path(const struct record *record); // as long as the record; NULL where nothing is recorded
// Writes the self values that are about the recording.
void record_fill(const struct record *record, struct snapshot *snapshot);

// The view's plan is in force from now on; and, of the same plan, this is what is shown now.
void record_plan(struct record *record, struct view *view);
void record_view(struct record *record, struct view *view);
void record_round(struct record *record, const struct readings *readings, double timestamp_seconds);
void record_pause(struct record *record, const struct recording_pause *pause);

// Writes some of what is waiting, where nothing has to be done before deadline_ns. True while more is waiting.
bool record_step(struct record *record, uint64_t deadline_ns);

#endif
