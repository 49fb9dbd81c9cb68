// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "collectors/recording/recording_file.h"
#include "core/recording/recording_catalog.h"
#include "core/recording/recording_memory.h"
#include "daemon/base/log.h"
#include "daemon/record/record_facts.h"
#include "daemon/record/record_kinds.h"
#include "daemon/record/record_stream.h"

// A core type and the boxes that are recorded with it share a reel: one stream of records, in the order in which things
// happened. What boxes have is put into a record of its own first, and that into one of boxes (core/recording/).
//
// After a failure recording starts again with headers and plans, so that a reader has all it needs and sees the gap
// from the times. A new file begins in the same way. A kind of boxes that comes later begins a file, so that a reader
// finds all kinds in the beginnings of files.

enum { CATALOG_PART = 16 }; // the largest part of a file that the cores' catalog takes

struct reel {
    struct record_stream *stream;          // NULL: the core type's recording is over
    struct record *parts[SETUP_TYPES_MAX]; // the core type's, NULL if it is over; then its boxes'
    size_t n_parts;
    struct recording_buffer one; // a record of boxes
    char *gone[SETUP_TYPES_MAX]; // kinds of boxes that are no longer measured, which is to be put
    size_t n_gone;
    struct record_kinds kinds;  // in this recording
    struct host_memory *memory; // the newest reading of the kernel's counts; NULL: none
    bool has_memory;            // there are records of it
    bool memory_known;          // the newest one's
    bool begun, has_rounds;     // a header was put; rounds after the last one
    size_t refs;
};

struct record {
    struct reel *reel;
    bool boxes;
    const struct clocks *clocks; // borrowed
    struct recording_header header;
    const struct catalog *catalog; // a reference: the recording holds it; NULL: a shipped spec has it
    struct view *view;             // a reference; NULL: no plan yet
    uint64_t plan_end;             // end of the current plan among all records
    bool plan_known;               // the plan is in a file or waits
    bool begins;                   // the next plan begins a file
};

// ---- making ----

static const char *why(int error) {
    switch (error) {
    case -EBUSY:
        return "another topdownd writes this recording: end it, or give this one another name";
    case -ETXTBSY:
        return "another topdownd writes a recording of this name with a number at its end, as older parts of this one "
               "are called: end it, or give one of the two another name";
    case -EEXIST:
        return "there is a file here, or beside it with a number at its end, that is not a recording: remove it, or "
               "give the recording another name";
    case -EISDIR:
        return "there is a folder here, or beside it with a number at its end: name a file for the recording, in that "
               "folder or beside it";
    case -EINVAL:
        return "has a slash at its end, as a folder: name a file for the recording, in that folder";
    case -EOPNOTSUPP:
        return "is in a file system of the kernel's own, as /proc and /sys are: name a file on a disk for the "
               "recording";
    case -ELOOP:
        return "is a symbolic link: name the file itself for the recording";
    case -EROFS:
    case -EACCES:
        return "cannot be made for the recording: the daemon may not write there. Its unit gives it /var/lib/topdownd; "
               "a drop-in with ReadWritePaths= opens another folder, which must be the user topdownd's";
    default:
        return NULL;
    }
}

// The path of the type's file: with several core types, each has its own.
static char *path_of(const struct setup *setup, const struct source *source) {
    char *path;
    bool several = source->core_type[0] != '\0';
    return asprintf(&path, "%s%s%s", setup->record_path, several ? "." : "", source->core_type) < 0 ? NULL : path;
}

// If the configuration names the file, the error points there.
static int record_refuse(const struct setup *setup, const char *path, int error, struct errors *errors) {
    const struct config_origin *origin = setup->record_origin;
    const char *reason = why(error);
    errors->passing = errors->passing || error_passes(error);
    char text[ERROR_TEXT_MAX];
    if (!reason)
        (void)snprintf(text, sizeof text, "cannot be made for the recording: %s", error_reason(error));
    else
        (void)snprintf(text, sizeof text, "%s", reason);
    return origin ? errors_add(errors, origin->file, origin->line, origin->column, "record.path: %.200s %s", path, text)
                  : errors_add(errors, path, 0, 0, "%s", text);
}

// ---- reels ----

static int reel_new(const char *path, uint64_t bytes_max, const struct clocks *clocks, struct reel **out) {
    struct reel *reel = calloc(1, sizeof *reel);
    int r = reel ? record_stream_new(path, bytes_max, clocks, &reel->stream) : -ENOMEM;
    if (r < 0) {
        free(reel);
        return r;
    }
    reel->n_parts = 1; // the core type's
    *out = reel;
    return 0;
}

static void reel_join(struct reel *reel, struct record *record) {
    reel->refs++;
    record->reel = reel;
    if (record->boxes)
        reel->parts[reel->n_parts++] = record;
    else
        reel->parts[0] = record;
}

static void forget_gone(struct reel *reel) {
    while (reel->n_gone > 0)
        free(reel->gone[--reel->n_gone]);
}

// Where the core type's recording is over, so is that of the boxes.
static void reel_leave(struct reel *reel, struct record *record) {
    size_t at = 0;
    while (reel->parts[at] != record)
        at++;
    if (at == 0) {
        reel->parts[0] = NULL;
        reel->stream = record_stream_free(reel->stream);
    } else {
        char *name = reel->stream && record->view ? strdup(record->header.pmu) : NULL;
        memmove(&reel->parts[at], &reel->parts[at + 1], (--reel->n_parts - at) * sizeof *reel->parts);
        if (name && reel->n_gone < SETUP_TYPES_MAX)
            reel->gone[reel->n_gone++] = name;
        else
            free(name);
    }
    if (--reel->refs > 0)
        return;
    forget_gone(reel);
    host_memory_unref(reel->memory);
    recording_buffer_deinit(&reel->one);
    free(reel);
}

static void forget_catalog(struct record *record) {
    catalog_free((struct catalog *)(uintptr_t)record->catalog);
    record->catalog = NULL;
}

static uint64_t bytes_max_of(const struct setup *setup) { return setup->record_bytes / setup->n_types; }

int record_new(const struct setup *setup, const struct core_type *type, uint64_t seed, const struct clocks *clocks,
               struct errors *errors, struct record **out) {
    struct record *record = calloc(1, sizeof *record);
    char *path = path_of(setup, type->source);
    struct reel *reel;
    int r = record && path ? 0 : -ENOMEM;
    if (r == 0) {
        record->clocks = clocks;
        record->catalog = record_facts_catalog(type->source);
        record_facts_header(&record->header, setup, type->source, seed);
        r = getrandom(&record->header.id, sizeof record->header.id, 0) == sizeof record->header.id ? 0 : -EIO;
    }
    if (r == 0)
        r = reel_new(path, bytes_max_of(setup), clocks, &reel);
    if (r < 0) {
        r = r == -ENOMEM ? r : record_refuse(setup, path, r, errors);
        forget_catalog(record);
        free(record);
        free(path);
        return r;
    }
    reel_join(reel, record);
    if (!setup->quiet)
        log_info("recording to %s, and before that to %s.1 and so on; all together %.4g MiB at most", path, path,
                 (double)bytes_max_of(setup) / (1 << 20));
    free(path);
    *out = record;
    return 0;
}

int record_new_boxes(struct record *of, const struct setup *setup, const struct core_type *type, uint64_t seed,
                     struct record **out) {
    struct record *record = calloc(1, sizeof *record);
    if (!record)
        return -ENOMEM;
    record->clocks = of->clocks;
    record->catalog = record_facts_catalog(type->source);
    record->boxes = true;
    record_facts_header(&record->header, setup, type->source, seed);
    reel_join(of->reel, record);
    *out = record;
    return 0;
}

bool record_is_of(const struct record *record, const struct record *of) { return record->reel == of->reel; }

bool record_is_at(const struct record *record, const struct setup *setup, const struct core_type *type) {
    char *path = setup->record_path ? path_of(setup, type->source) : NULL;
    bool same = path && strcmp(path, record_path(record)) == 0;
    free(path);
    return same;
}

void record_change(struct record *record, const struct setup *setup, const struct core_type *type) {
    struct recording_header header;
    record_facts_header(&header, setup, type->source, record->header.seed);
    header.id = record->header.id;
    header.part = record->header.part;
    header.timestamp_seconds = record->header.timestamp_seconds;
    forget_catalog(record);
    record->catalog = record_facts_catalog(type->source);
    if (!record->boxes)
        record_stream_limit(record->reel->stream, bytes_max_of(setup));
    bool same = record->boxes ? record_facts_same_catalog(&header, &record->header)
                              : record_facts_same_beginning(&header, &record->header);
    record->begins = record->begins || !same;
    record->header = header;
}

struct record_totals record_totals(const struct record *record) {
    struct status_recording state = {.bytes = 0};
    if (!record->boxes)
        state = record_stream_state(record->reel->stream);
    return (struct record_totals){state.bytes, state.rounds_lost};
}

void record_continue(struct record *record, struct record_totals totals) {
    record_stream_continue(record->reel->stream, totals.bytes, totals.rounds_lost);
}

int record_check(const struct setup *setup, const struct core_type *type, struct errors *errors) {
    char *path = path_of(setup, type->source);
    int r = path ? recording_file_check(path) : -ENOMEM;
    r = record_stream_no_room(r) ? 0 : r;
    bool may_pass = r == -ENOENT || r == -EACCES || r == -EROFS;
    if (r < 0 && r != -ENOMEM)
        r = record_refuse(setup, path, r, errors);
    free(path);
    return may_pass ? 1 : r;
}

// ---- records ----

// Where the next record is put, and the position that it begins at.
static struct recording_buffer *put_begin(struct record *record, size_t *before) {
    struct reel *reel = record->reel;
    struct recording_buffer *buffer = record_stream_buffer(reel->stream);
    *before = buffer->n;
    reel->one.n = 0;
    return record->boxes ? &reel->one : buffer;
}

static int put_end(struct record *record, size_t before, int result) {
    struct reel *reel = record->reel;
    if (result == 0 && record->boxes)
        result = recording_put_boxes(record_stream_buffer(reel->stream), record->header.pmu, &reel->one);
    return record_stream_take(reel->stream, before, result);
}

static int put_header(struct record *record) {
    const struct recording_header *first = &record->reel->parts[0]->header;
    size_t before;
    struct recording_buffer *buffer = put_begin(record, &before);
    record->header.id = first->id;
    record->header.part = first->part;
    record->header.timestamp_seconds = record->clocks->realtime_seconds(record->clocks->context);
    if (record->boxes)
        record_kinds_note(&record->reel->kinds, &record->header);
    return put_end(record, before, recording_put_header(buffer, &record->header));
}

// A small recording has no room for the cores' catalog in each file: its replay needs the vendor's files.
static int put_catalog(struct record *record) {
    size_t before;
    struct recording_buffer *buffer = put_begin(record, &before);
    int r = recording_put_catalog(buffer, record->catalog);
    if (r == 0 && !record->boxes && buffer->n - before > record_stream_file_max(record->reel->stream) / CATALOG_PART)
        buffer->n = before;
    return put_end(record, before, r);
}

static int put_facts(struct record *record) {
    const struct view *view = record->view;
    size_t before;
    struct recording_buffer *buffer = put_begin(record, &before);
    struct recording_facts facts;
    record_facts_of_view(&facts, view);
    return put_end(record, before, recording_put_facts(buffer, view->layout->catalog, &facts, view->adapt));
}

// Puts the plan, after the facts shown beside it.
static int put_plan(struct record *record, bool again) {
    int r = put_facts(record);
    if (r < 0)
        return r;
    size_t before;
    struct recording_buffer *buffer = put_begin(record, &before);
    r = put_end(record, before, recording_put_plan(buffer, record->view->layout, again));
    if (r == 0 && !again) {
        record->plan_known = true;
        record->plan_end = record_stream_at(record->reel->stream);
    }
    return r;
}

// Puts the header, and the plan if there is one: all that a reader needs first.
static int put_part(struct record *record) {
    bool lost = record->plan_end > record_stream_lost_from(record->reel->stream);
    record->plan_known = record->plan_known && !lost;
    int r = put_header(record);
    if (r == 0 && record->catalog)
        r = put_catalog(record);
    return r == 0 && record->view ? put_plan(record, record->plan_known) : r;
}

// Puts the newest reading of the kernel's counts of memory.
static int put_memory(struct reel *reel) {
    struct recording_buffer *buffer = record_stream_buffer(reel->stream);
    size_t before = buffer->n;
    reel->has_memory = reel->memory_known = true;
    return record_stream_take(reel->stream, before, recording_put_memory(buffer, reel->memory));
}

static int put_beginning(struct reel *reel) {
    int r = put_part(reel->parts[0]);
    for (size_t i = 1; i < reel->n_parts && r == 0; i++)
        if (reel->parts[i]->view)
            r = put_part(reel->parts[i]);
    if (r == 0 && (reel->memory || reel->has_memory))
        r = put_memory(reel);
    if (r < 0)
        return r;
    reel->begun = true;
    reel->has_rounds = false;
    record_stream_forget_losses(reel->stream);
    return 0;
}

// Another recording, rather than another part of this one, has a number of its own.
static int put_next_file(struct reel *reel, bool another) {
    struct recording_header *header = &reel->parts[0]->header;
    uint64_t id;
    if (another && getrandom(&id, sizeof id, 0) == sizeof id)
        header->id = id;
    if (another)
        reel->kinds.n = 0;
    header->part = another ? 0 : header->part + 1;
    record_stream_begin_file(reel->stream);
    return put_beginning(reel);
}

// Begins a file with the plans in force. A file that has yet to begin is written before.
static void put_beginning_of_file(struct reel *reel, bool another) {
    while (record_stream_file_waits(reel->stream) && !record_stream_stopped(reel->stream))
        (void)record_stream_step(reel->stream, UINT64_MAX);
    if (!record_stream_stopped(reel->stream))
        (void)put_next_file(reel, another);
}

// Says which kinds of boxes are gone, where they have been last.
static void put_gone(struct reel *reel) {
    struct recording_buffer *buffer = record_stream_buffer(reel->stream);
    for (size_t i = 0; i < reel->n_gone; i++) {
        size_t before = buffer->n;
        reel->one.n = 0;
        int r = recording_put_gone(&reel->one);
        if (r == 0)
            r = recording_put_boxes(buffer, reel->gone[i], &reel->one);
        (void)record_stream_take(reel->stream, before, r);
    }
    forget_gone(reel);
}

// True if a record can be put now. After a failure, starts again when it is time.
static bool ready(struct record *record) {
    if (!record || !record->view || !record->reel->stream)
        return false;
    struct reel *reel = record->reel;
    bool again;
    if (!record_stream_ready(reel->stream, &again))
        return false;
    put_gone(reel);
    if (record_stream_wants_file(reel->stream))
        return put_next_file(reel, false) == 0;
    return !again || put_beginning(reel) == 0;
}

static void set_view(struct record *record, struct view *view) {
    view_unref(record->view);
    record->view = view_ref(view);
}

void record_plan(struct record *record, struct view *view) {
    if (!record)
        return;
    struct reel *reel = record->reel;
    bool joins = !record->view && record->boxes;
    record->begins = record->begins || (joins && reel->begun && !record_kinds_fit(&reel->kinds, &record->header));
    set_view(record, view);
    record->plan_known = false;
    if (!reel->stream || record_stream_stopped(reel->stream))
        return; // it comes with the header when recording continues
    put_gone(reel);
    if (!reel->begun)
        (void)put_beginning(reel);
    else if (record->begins || (joins && reel->has_rounds))
        put_beginning_of_file(reel, record->begins);
    else if (joins)
        (void)put_part(record);
    else
        (void)put_plan(record, false);
    record->begins = false;
}

void record_view(struct record *record, struct view *view) {
    if (!record || !record->view)
        return;
    set_view(record, view);
    if (record->reel->stream && !record_stream_stopped(record->reel->stream))
        (void)put_facts(record);
}

void record_round(struct record *record, const struct readings *readings, double timestamp_seconds) {
    if (!record)
        return;
    bool taken = ready(record);
    if (taken) {
        size_t before;
        struct recording_buffer *buffer = put_begin(record, &before);
        taken = put_end(record, before,
                        recording_put_round(buffer, readings, record->view->layout->plan, timestamp_seconds)) == 0;
        record->reel->has_rounds = true;
    }
    if (!record->boxes)
        record_stream_note_round(record->reel->stream, taken);
}

void record_pause(struct record *record, const struct recording_pause *pause) {
    if (!ready(record))
        return;
    size_t before;
    struct recording_buffer *buffer = put_begin(record, &before);
    (void)put_end(record, before, recording_put_pause(buffer, pause));
}

void record_memory(struct record *record, struct host_memory *memory) {
    if (!record || memory == record->reel->memory)
        return;
    struct reel *reel = record->reel;
    host_memory_unref(reel->memory);
    reel->memory = host_memory_ref(memory);
    reel->memory_known = false;
    if (ready(record) && !reel->memory_known)
        (void)put_memory(reel);
}

// ---- writing ----

bool record_step(struct record *record, uint64_t deadline_ns) {
    return record && !record->boxes && record_stream_step(record->reel->stream, deadline_ns);
}

const char *record_path(const struct record *record) {
    return record && !record->boxes ? record_stream_path(record->reel->stream) : NULL;
}

void record_fill(const struct record *record, struct snapshot *snapshot) {
    if (record && !record->boxes)
        snapshot->engine.recording = record_stream_state(record->reel->stream);
}

struct record *record_free(struct record *record) {
    if (!record)
        return NULL;
    reel_leave(record->reel, record);
    view_unref(record->view);
    forget_catalog(record);
    free(record);
    return NULL;
}
