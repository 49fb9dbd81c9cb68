// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "collectors/recording/recording_file.h"
#include "daemon/base/log.h"

// Records wait in `buffer` from `written` on. They are written in pieces of whole records of about PIECE_BYTES, each of
// which takes well below a millisecond if the disk can keep up. If it cannot, at most WAITING_BYTES_MAX are kept. After
// a failure nothing is written for ten seconds; then recording starts again with a header and the plan, so that a
// reader has all it needs and sees the gap from the times.

static const uint64_t RETRY_NS = UINT64_C(10000000000);
static const uint64_t ROOM_NS = 2000000; // required time before the next edge for a piece

enum { FILES = 4 }; // number of files of a full-size recording

enum { PIECE_BYTES = 64 << 10, WAITING_BYTES_MAX = 16 << 20 };

#define NO_FILE SIZE_MAX

struct record {
    const struct clocks *clocks; // borrowed
    struct recording_file *file; // NULL: no room for it yet
    struct recording_header header;
    char *path;
    uint64_t bytes_max;  // of all files together
    uint64_t file_bytes; // of the newest file once everything is written
    struct view *view;   // a reference; NULL: no plan yet
    struct recording_buffer buffer;
    size_t written;   // bytes of the buffer
    size_t plan_end;  // end of the current plan in the buffer; 0: it is in a file
    bool plan_known;  // the plan is in one of them
    size_t next_file; // start of the next file in the buffer; NO_FILE: none
    int error;        // already reported; 0: none
    bool begins;      // the next plan begins a file
    bool stopped;     // until retry_ns
    uint64_t retry_ns;
    uint64_t bytes;             // written
    uint64_t rounds_waiting;    // in the buffer, from `written` on
    uint64_t rounds_lost;       // neither written nor waiting
    uint64_t rounds_lost_known; // those lost in past failures
};

static void set_text(char *to, const char *from) {
    size_t n = strnlen(from, RECORDING_TEXT_MAX);
    memcpy(to, from, n);
    to[n] = '\0';
}

static void fill_catalog(struct recording_catalog *out, const struct setup *setup, const struct source *source) {
    const struct environment_facts *environment = &source->catalog->environment;
    *out = (struct recording_catalog){.hash = catalog_hash(source->catalog),
                                      .answers = source->making.answers,
                                      .topdown_dropped = source->making.topdown_dropped};
    set_text(out->spec, source->catalog->product.spec);
    set_text(out->cpuid, environment->cpuid);
    memcpy(out->literals, environment->literals, sizeof out->literals);
    if (!source->vendors)
        return;
    set_text(out->vendor_path, setup->config->specs.path);
    out->vendor_format = (unsigned)setup->config->specs.format;
    set_text(out->vendor_cpuid, source->making.vendor_cpuid);
    set_text(out->vendor_pmu, source->making.vendor_pmu);
}

static void fill_header(struct recording_header *header, const struct setup *setup, const struct source *source,
                        uint64_t seed) {
    *header = (struct recording_header){
        .seed = seed, .simulated = source->simulated, .guests_excluded = source->exclude_guest};
    set_text(header->version, TOPDOWND_VERSION);
    set_text(header->hostname, setup->hostname);
    set_text(header->pmu, source->pmu_name);
    set_text(header->profile, setup->profile->name);
    set_text(header->vendor, source->cpu.vendor);
    set_text(header->model, source->cpu.model);
    set_text(header->microarchitecture, source->microarchitecture);
    set_text(header->core_type, source->core_type);
    fill_catalog(&header->catalog, setup, source);
}

static uint64_t now_ns(const struct record *record) { return record->clocks->monotonic_ns(record->clocks->context); }

// ---- trouble ----

// A disk that is full at the start must not prevent measuring.
static bool no_room(int error) { return error == -ENOSPC || error == -EDQUOT || error == -ENFILE || error == -EIO; }

// Discards all waiting records.
static void record_fail(struct record *record, int error) {
    if (record->error == 0)
        log_error("%s: cannot be written: %s; measuring goes on, and recording when it can be", record->path,
                  view_recording_text(error));
    record->error = error;
    record->stopped = true;
    record->retry_ns = now_ns(record) + RETRY_NS;
    record->plan_known = record->plan_known && record->plan_end <= record->written;
    record->buffer.n = record->written = record->plan_end = 0;
    record->next_file = NO_FILE;
    record->file_bytes = record->file ? recording_file_bytes(record->file) : 0;
    record->rounds_lost += record->rounds_waiting;
    record->rounds_waiting = 0;
}

// ---- making ----

static const char *why(int error) {
    switch (error) {
    case -EBUSY:
        return "another topdownd writes this recording: end it, or give this one another name";
    case -EEXIST:
        return "there is a file here, or beside it with a number at its end, that is not a recording: remove it, or "
               "give the recording another name";
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
    char text[ERROR_TEXT_MAX];
    if (!reason)
        (void)snprintf(text, sizeof text, "cannot be made for the recording: %s", strerror(-error));
    else
        (void)snprintf(text, sizeof text, "%s", reason);
    return origin ? errors_add(errors, origin->file, origin->line, origin->column, "record.path: %.200s %s", path, text)
                  : errors_add(errors, path, 0, 0, "%s", text);
}

int record_new(const struct setup *setup, const struct core_type *type, uint64_t seed, const struct clocks *clocks,
               struct errors *errors, struct record **out) {
    struct record *record = calloc(1, sizeof *record);
    if (!record)
        return -ENOMEM;
    record->clocks = clocks;
    fill_header(&record->header, setup, type->source, seed);
    record->path = path_of(setup, type->source);
    record->next_file = NO_FILE;
    record->bytes_max = setup->record_bytes / setup->n_types;
    int r = !record->path                                                                            ? -ENOMEM
            : getrandom(&record->header.id, sizeof record->header.id, 0) == sizeof record->header.id ? 0
                                                                                                     : -EIO;
    if (r == 0)
        r = recording_file_new(record->path, record->bytes_max, &record->file);
    if (no_room(r)) {
        record_fail(record, r);
    } else if (r < 0) {
        r = r == -ENOMEM ? r : record_refuse(setup, record->path, r, errors);
        record_free(record);
        return r;
    }
    if (!setup->quiet)
        log_info("recording to %s, and before that to %s.1 and so on; all together %.4g MiB at most", record->path,
                 record->path, (double)record->bytes_max / (1 << 20));
    *out = record;
    return 0;
}

bool record_is_at(const struct record *record, const struct setup *setup, const struct core_type *type) {
    char *path = setup->record_path ? path_of(setup, type->source) : NULL;
    bool same = path && strcmp(path, record->path) == 0;
    free(path);
    return same;
}

// Whether a file with this header begins as one with the other, but for what numbers the files. Out of memory: no.
static bool same_beginning(const struct recording_header *a, const struct recording_header *b) {
    struct recording_buffer buffers[2] = {0};
    bool same = recording_put_header(&buffers[0], a) == 0 && recording_put_header(&buffers[1], b) == 0 &&
                buffers[0].n == buffers[1].n && memcmp(buffers[0].bytes, buffers[1].bytes, buffers[0].n) == 0;
    recording_buffer_deinit(&buffers[0]);
    recording_buffer_deinit(&buffers[1]);
    return same;
}

void record_change(struct record *record, const struct setup *setup, const struct core_type *type) {
    struct recording_header header;
    fill_header(&header, setup, type->source, record->header.seed);
    header.id = record->header.id;
    header.part = record->header.part;
    header.timestamp_seconds = record->header.timestamp_seconds;
    record->bytes_max = setup->record_bytes / setup->n_types;
    if (record->file)
        recording_file_limit(record->file, record->bytes_max);
    record->begins = record->begins || !same_beginning(&header, &record->header);
    record->header = header;
}

struct record_totals record_totals(const struct record *record) {
    return (struct record_totals){record->bytes, record->rounds_lost};
}

void record_continue(struct record *record, struct record_totals totals) {
    record->bytes = totals.bytes;
    record->rounds_lost = record->rounds_lost_known = totals.rounds_lost;
}

int record_check(const struct setup *setup, const struct core_type *type, struct errors *errors) {
    char *path = path_of(setup, type->source);
    int r = path ? recording_file_check(path) : -ENOMEM;
    r = no_room(r) ? 0 : r;
    bool may_pass = r == -ENOENT || r == -EACCES || r == -EROFS;
    if (r < 0 && r != -ENOMEM)
        r = record_refuse(setup, path, r, errors);
    free(path);
    return may_pass ? 1 : r;
}

// ---- pieces ----

// The end of the last whole record within a piece, or of the first one if that is longer; never in the next file.
// *rounds is the number of rounds in the piece.
static size_t piece_end(const struct record *record, uint64_t *rounds) {
    size_t at = record->written, end = at;
    size_t limit = record->next_file < record->buffer.n ? record->next_file : record->buffer.n;
    struct recording_record one;
    while (recording_next(record->buffer.bytes, limit, &at, &one) > 0) {
        if (end > record->written && at - record->written > PIECE_BYTES)
            break;
        end = at;
        *rounds += one.kind == RECORDING_CORES;
    }
    return end;
}

static void write_piece(struct record *record) {
    int r = 0;
    if (record->next_file == record->written) {
        r = recording_file_rotate(record->file);
        record->next_file = NO_FILE;
    }
    uint64_t rounds = 0;
    size_t end = piece_end(record, &rounds);
    if (r == 0)
        r = recording_file_write(record->file, record->buffer.bytes + record->written, end - record->written);
    if (r < 0) {
        record_fail(record, r);
        return;
    }
    record->bytes += end - record->written;
    record->rounds_waiting -= rounds;
    record->written = end;
    if (record->error != 0)
        log_info("%s: can be written again; %" PRIu64 " rounds are missing", record->path,
                 record->rounds_lost - record->rounds_lost_known);
    record->error = 0;
    record->rounds_lost_known = record->rounds_lost;
}

// ---- records ----

// Accepts a record that was put from `before` on.
static int record_put(struct record *record, size_t before, int result) {
    if (result < 0)
        record_fail(record, result);
    else
        record->file_bytes += record->buffer.n - before;
    return result;
}

static int put_facts(struct record *record) {
    const struct view *view = record->view;
    size_t before = record->buffer.n;
    struct recording_facts facts = {.counters_total = view->counters.total, .counters_usable = view->counters.usable};
    for (size_t i = 0; i < view->n_pmu_errors && i < RECORDING_TROUBLES_MAX; i++) {
        if (view->pmu_errors[i].uncore)
            continue;
        struct recording_trouble *trouble = &facts.troubles[facts.n_troubles++];
        set_text(trouble->pmu, view->pmu_errors[i].pmu);
        set_text(trouble->reason, view->pmu_errors[i].reason);
        set_text(trouble->text, view->pmu_errors[i].text);
        trouble->of_host = view->pmu_errors[i].of_host;
    }
    return record_put(record, before, recording_put_facts(&record->buffer, view->layout->catalog, &facts, view->adapt));
}

// Puts the plan, after the facts shown beside it.
static int put_plan(struct record *record, bool again) {
    int r = put_facts(record);
    size_t before = record->buffer.n;
    if (r == 0)
        r = record_put(record, before, recording_put_plan(&record->buffer, record->view->layout, again));
    if (r == 0 && !again) {
        record->plan_known = true;
        record->plan_end = record->buffer.n;
    }
    return r;
}

// Puts the header and the plan: all that a reader needs first.
static int put_beginning(struct record *record) {
    size_t before = record->buffer.n;
    record->header.timestamp_seconds = record->clocks->realtime_seconds(record->clocks->context);
    int r = record_put(record, before, recording_put_header(&record->buffer, &record->header));
    return r < 0 ? r : put_plan(record, record->plan_known);
}

// Another recording, rather than another part of this one, has a number of its own.
static int put_next_file(struct record *record, bool another) {
    uint64_t id;
    if (another && getrandom(&id, sizeof id, 0) == sizeof id)
        record->header.id = id;
    record->next_file = record->buffer.n;
    record->file_bytes = 0;
    record->header.part = another ? 0 : record->header.part + 1;
    return put_beginning(record);
}

// Begins a file with this plan. A file that has yet to begin is written before.
static void put_beginning_of_file(struct record *record) {
    while (record->next_file != NO_FILE && !record->stopped)
        write_piece(record);
    if (!record->stopped)
        (void)put_next_file(record, true);
}

// Whether someone has removed the file, of which the log tells.
static bool note_removed(const struct record *record) {
    if (!recording_file_removed(record->file))
        return false;
    if (record->error == 0)
        log_warning("%s: somebody has removed this file: recording goes on in a new one", record->path);
    return true;
}

// True if a record can be put now. After a failure, starts again when it is time.
static bool ready(struct record *record) {
    if (!record || !record->view)
        return false;
    if (!record->stopped && record->buffer.n - record->written > WAITING_BYTES_MAX)
        record_fail(record, -ENOBUFS);
    if (record->stopped && now_ns(record) < record->retry_ns)
        return false;
    int r = record->file ? 0 : recording_file_new(record->path, record->bytes_max, &record->file);
    if (r < 0) {
        record_fail(record, r);
        return false;
    }
    bool begins = record->stopped;
    record->stopped = false;
    if (record->next_file == NO_FILE && (record->file_bytes > record->bytes_max / FILES || note_removed(record)))
        return put_next_file(record, false) == 0;
    return !begins || put_beginning(record) == 0;
}

static void set_view(struct record *record, struct view *view) {
    view_unref(record->view);
    record->view = view_ref(view);
}

void record_plan(struct record *record, struct view *view) {
    if (!record)
        return;
    bool first = !record->view;
    set_view(record, view);
    record->plan_known = false;
    if (record->stopped)
        return; // it comes with the header when recording continues
    if (first)
        (void)put_beginning(record);
    else if (record->begins)
        put_beginning_of_file(record);
    else
        (void)put_plan(record, false);
    record->begins = false;
}

void record_view(struct record *record, struct view *view) {
    if (!record || !record->view)
        return;
    set_view(record, view);
    if (!record->stopped)
        (void)put_facts(record);
}

void record_round(struct record *record, const struct readings *readings, double timestamp_seconds) {
    if (!record)
        return;
    bool taken = ready(record);
    size_t before = record->buffer.n;
    if (taken)
        taken = record_put(
                    record, before,
                    recording_put_round(&record->buffer, readings, record->view->layout->plan, timestamp_seconds)) == 0;
    record->rounds_waiting += taken;
    record->rounds_lost += !taken;
}

void record_pause(struct record *record, const struct recording_pause *pause) {
    if (!ready(record))
        return;
    size_t before = record->buffer.n;
    (void)record_put(record, before, recording_put_pause(&record->buffer, pause));
}

// ---- writing ----

bool record_step(struct record *record, uint64_t deadline_ns) {
    if (!record || record->buffer.n == 0)
        return false;
    if (deadline_ns > now_ns(record) + ROOM_NS)
        write_piece(record);
    if (record->written == record->buffer.n)
        record->buffer.n = record->written = record->plan_end = 0;
    return record->buffer.n > 0;
}

const char *record_path(const struct record *record) { return record ? record->path : NULL; }

void record_fill(const struct record *record, struct snapshot *snapshot) {
    if (!record)
        return;
    double *values = snapshot->values + snapshot_self(snapshot->layout, 0);
    values[SELF_RECORDING_UP] = record->error == 0;
    values[SELF_RECORDING_ERROR] = -record->error;
    values[SELF_RECORDING_BYTES] = (double)record->bytes;
    values[SELF_RECORDING_ROUNDS_LOST] = (double)record->rounds_lost;
}

struct record *record_free(struct record *record) {
    if (!record)
        return NULL;
    while (record->file && record_step(record, UINT64_MAX))
        ;
    recording_file_free(record->file);
    view_unref(record->view);
    recording_buffer_deinit(&record->buffer);
    free(record->path);
    free(record);
    return NULL;
}
