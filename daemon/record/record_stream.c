// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/record_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/recording/recording_file.h"
#include "daemon/base/log.h"
#include "exporters/view/view.h"

// Records wait in `buffer` from `written` on. They are written in pieces of whole records of about PIECE_BYTES, each of
// which takes well below a millisecond if the disk can keep up. If it cannot, at most WAITING_BYTES_MAX are kept.

static const uint64_t RETRY_NS = UINT64_C(10000000000);
static const uint64_t ROOM_NS = 2000000; // required time before the next edge for a piece

enum { FILES = 4 }; // number of files of a full-size recording

enum { PIECE_BYTES = 64 << 10, WAITING_BYTES_MAX = 16 << 20 };

#define NO_FILE SIZE_MAX

struct record_stream {
    const struct clocks *clocks; // borrowed
    struct recording_file *file; // NULL: no room for it yet
    char *path;
    uint64_t bytes_max;  // of all files together
    uint64_t file_bytes; // of the newest file once everything is written
    struct recording_buffer buffer;
    size_t written;     // bytes of the buffer
    size_t next_file;   // start of the next file in the buffer; NO_FILE: none
    uint64_t emptied;   // position of the buffer's first byte
    uint64_t lost_from; // position
    int error;          // already reported; 0: none
    bool stopped;       // until retry_ns
    uint64_t retry_ns;
    uint64_t bytes;             // written
    uint64_t rounds_waiting;    // in the buffer, from `written` on
    uint64_t rounds_lost;       // neither written nor waiting
    uint64_t rounds_lost_known; // those lost in past failures
};

static uint64_t now_ns(const struct record_stream *stream) {
    return stream->clocks->monotonic_ns(stream->clocks->context);
}

static void empty(struct record_stream *stream) {
    stream->emptied += stream->buffer.n;
    stream->buffer.n = stream->written = 0;
}

// ---- trouble ----

bool record_stream_no_room(int error) {
    return error == -ENOSPC || error == -EDQUOT || error == -ENFILE || error == -EIO;
}

// Discards all waiting records.
static void fail(struct record_stream *stream, int error) {
    uint64_t lost_from = stream->emptied + stream->written;
    if (stream->error == 0)
        log_error("%s: cannot be written: %s; measuring goes on, and recording when it can be", stream->path,
                  view_recording_text(error));
    stream->error = error;
    stream->stopped = true;
    stream->retry_ns = now_ns(stream) + RETRY_NS;
    stream->lost_from = lost_from < stream->lost_from ? lost_from : stream->lost_from;
    empty(stream);
    stream->next_file = NO_FILE;
    stream->file_bytes = stream->file ? recording_file_bytes(stream->file) : 0;
    stream->rounds_lost += stream->rounds_waiting;
    stream->rounds_waiting = 0;
}

// ---- making ----

int record_stream_new(const char *path, uint64_t bytes_max, const struct clocks *clocks, struct record_stream **out) {
    struct record_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return -ENOMEM;
    *stream = (struct record_stream){
        .clocks = clocks, .path = strdup(path), .bytes_max = bytes_max, .next_file = NO_FILE, .lost_from = UINT64_MAX};
    int r = stream->path ? recording_file_new(path, bytes_max, &stream->file) : -ENOMEM;
    if (record_stream_no_room(r)) {
        fail(stream, r);
    } else if (r < 0) {
        record_stream_free(stream);
        return r;
    }
    *out = stream;
    return 0;
}

struct record_stream *record_stream_free(struct record_stream *stream) {
    if (!stream)
        return NULL;
    while (stream->file && record_stream_step(stream, UINT64_MAX))
        ;
    recording_file_free(stream->file);
    recording_buffer_deinit(&stream->buffer);
    free(stream->path);
    free(stream);
    return NULL;
}

const char *record_stream_path(const struct record_stream *stream) { return stream->path; }

void record_stream_limit(struct record_stream *stream, uint64_t bytes_max) {
    stream->bytes_max = bytes_max;
    if (stream->file)
        recording_file_limit(stream->file, bytes_max);
}

// ---- putting records ----

struct recording_buffer *record_stream_buffer(struct record_stream *stream) {
    return &stream->buffer;
}

int record_stream_take(struct record_stream *stream, size_t before, int result) {
    if (result < 0)
        fail(stream, result);
    else
        stream->file_bytes += stream->buffer.n - before;
    return result;
}

void record_stream_note_round(struct record_stream *stream, bool taken) {
    stream->rounds_waiting += taken;
    stream->rounds_lost += !taken;
}

void record_stream_begin_file(struct record_stream *stream) {
    stream->next_file = stream->buffer.n;
    stream->file_bytes = 0;
}

bool record_stream_file_waits(const struct record_stream *stream) { return stream->next_file != NO_FILE; }

uint64_t record_stream_file_max(const struct record_stream *stream) { return stream->bytes_max / FILES; }

// Whether someone has removed the file, of which the log tells.
static bool note_removed(const struct record_stream *stream) {
    if (!recording_file_removed(stream->file))
        return false;
    if (stream->error == 0)
        log_warning("%s: somebody has removed this file: recording goes on in a new one", stream->path);
    return true;
}

bool record_stream_wants_file(const struct record_stream *stream) {
    return stream->next_file == NO_FILE &&
           (stream->file_bytes > record_stream_file_max(stream) || note_removed(stream));
}

bool record_stream_stopped(const struct record_stream *stream) { return stream->stopped; }

bool record_stream_ready(struct record_stream *stream, bool *again) {
    if (!stream->stopped && stream->buffer.n - stream->written > WAITING_BYTES_MAX)
        fail(stream, -ENOBUFS);
    if (stream->stopped && now_ns(stream) < stream->retry_ns)
        return false;
    int r = stream->file ? 0 : recording_file_new(stream->path, stream->bytes_max, &stream->file);
    if (r < 0) {
        fail(stream, r);
        return false;
    }
    *again = stream->stopped;
    stream->stopped = false;
    return true;
}

uint64_t record_stream_at(const struct record_stream *stream) { return stream->emptied + stream->buffer.n; }

uint64_t record_stream_lost_from(const struct record_stream *stream) { return stream->lost_from; }

void record_stream_forget_losses(struct record_stream *stream) { stream->lost_from = UINT64_MAX; }

// ---- writing ----

// The end of the last whole record within a piece, or of the first one if that is longer; never in the next file.
// *rounds is the number of rounds in the piece.
static size_t piece_end(const struct record_stream *stream, uint64_t *rounds) {
    size_t at = stream->written, end = at;
    size_t limit = stream->next_file < stream->buffer.n ? stream->next_file : stream->buffer.n;
    struct recording_record one;
    while (recording_next(stream->buffer.bytes, limit, &at, &one) > 0) {
        if (end > stream->written && at - stream->written > PIECE_BYTES)
            break;
        end = at;
        *rounds += one.kind == RECORDING_CORES;
    }
    return end;
}

static void write_piece(struct record_stream *stream) {
    int r = 0;
    if (stream->next_file == stream->written) {
        r = recording_file_rotate(stream->file);
        stream->next_file = NO_FILE;
    }
    uint64_t rounds = 0;
    size_t end = piece_end(stream, &rounds);
    if (r == 0)
        r = recording_file_write(stream->file, stream->buffer.bytes + stream->written, end - stream->written);
    if (r < 0) {
        fail(stream, r);
        return;
    }
    stream->bytes += end - stream->written;
    stream->rounds_waiting -= rounds;
    stream->written = end;
    if (stream->error != 0)
        log_info("%s: can be written again; %" PRIu64 " rounds are missing", stream->path,
                 stream->rounds_lost - stream->rounds_lost_known);
    stream->error = 0;
    stream->rounds_lost_known = stream->rounds_lost;
}

bool record_stream_step(struct record_stream *stream, uint64_t deadline_ns) {
    if (stream->buffer.n == 0)
        return false;
    if (deadline_ns > now_ns(stream) + ROOM_NS)
        write_piece(stream);
    if (stream->written == stream->buffer.n)
        empty(stream);
    return stream->buffer.n > 0;
}

struct status_recording record_stream_state(const struct record_stream *stream) {
    return (struct status_recording){true, stream->error, stream->bytes, stream->rounds_lost};
}

void record_stream_continue(struct record_stream *stream, uint64_t bytes, uint64_t rounds_lost) {
    stream->bytes = bytes;
    stream->rounds_lost = stream->rounds_lost_known = rounds_lost;
}
