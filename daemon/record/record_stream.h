// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RECORD_RECORD_STREAM_H
#define TOPDOWND_DAEMON_RECORD_RECORD_STREAM_H

// The way of records into a recording's files, without ever delaying measurement: records wait in memory and are
// written in small pieces between the edges of slots. What the records say is daemon/record/record.h's matter.
//
// A failure is logged once. It drops all that waits, and nothing is taken for ten seconds.

#include "core/recording/recording.h"
#include "core/status/status.h"
#include "daemon/base/clocks.h"

struct record_stream;

// As recording_file_new; a disk without room is a failure of the stream and not of the call. `clocks` are borrowed.
int record_stream_new(const char *path, uint64_t bytes_max, const struct clocks *clocks, struct record_stream **out);
struct record_stream *record_stream_free(struct record_stream *stream); // writes the rest

const char *record_stream_path(const struct record_stream *stream);
// Sets another limit of all files together.
void record_stream_limit(struct record_stream *stream, uint64_t bytes_max);

// True for an error of recording_file_new that must not prevent measuring.
bool record_stream_no_room(int error);

// ---- putting records ----

// Where records are put. What was put from `before` on must be taken with `result`, which is returned.
struct recording_buffer *record_stream_buffer(struct record_stream *stream);
int record_stream_take(struct record_stream *stream, size_t before, int result);
// Notes that a round of cores was put, or could not be.
void record_stream_note_round(struct record_stream *stream, bool taken);

// What comes from here on begins the next file.
void record_stream_begin_file(struct record_stream *stream);
// True if that file has yet to be made: one at a time.
bool record_stream_file_waits(const struct record_stream *stream);
// True if a file must begin before the next round: this one is full, or somebody has removed it.
bool record_stream_wants_file(const struct record_stream *stream);
// The bytes of a full file.
uint64_t record_stream_file_max(const struct record_stream *stream);

// True while nothing is taken after a failure.
bool record_stream_stopped(const struct record_stream *stream);
// True if a record can be put now. *again: it is the first one after a failure.
bool record_stream_ready(struct record_stream *stream, bool *again);

// The position of the next record among all that were ever put, and where what was lost begins: UINT64_MAX if nothing
// was, since record_stream_forget_losses.
uint64_t record_stream_at(const struct record_stream *stream);
uint64_t record_stream_lost_from(const struct record_stream *stream);
void record_stream_forget_losses(struct record_stream *stream);

// ---- writing ----

// Writes a piece if there is time before deadline_ns. True while more is waiting.
bool record_stream_step(struct record_stream *stream, uint64_t deadline_ns);

struct status_recording record_stream_state(const struct record_stream *stream);
// Goes on from what another stream came to.
void record_stream_continue(struct record_stream *stream, uint64_t bytes, uint64_t rounds_lost);

#endif
