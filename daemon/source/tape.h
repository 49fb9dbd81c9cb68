// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_TAPE_H
#define TOPDOWND_DAEMON_SOURCE_TAPE_H

// The tape of --pmu replay:FILE: a recording, with its existing earlier files, or a log of perf, converted into a
// recording in memory.

#include "collectors/recording/recording_file.h"
#include "collectors/recording/recording_reader.h"
#include "config/perf_log/perf_log.h"
#include "config/yaml/config.h"
#include "core/recording/recording.h"
#include "daemon/source/data.h"

enum { TAPE_FILES_MAX = RECORDING_FILE_FORMERS_MAX + 1 };

struct tape_log {
    struct perf_log *log;            // NULL: a recording
    struct perf_names *names;        // what perf's own names of events mean
    char pmu[PERF_LOG_NAME_MAX + 1]; // of several core PMUs in the log the one that is replayed; "": there is one
};

struct tape {
    const char *path;
    bool boxes; // it has the records of one kind of boxes alone: that of the header's PMU
    struct recording_reader *files[TAPE_FILES_MAX]; // of a recording: `path`, the last one, comes first
    size_t n_files, present;                        // their number, and the one being read
    struct recording_buffer bytes;                  // a log's records
    size_t at;                                      // position in `bytes`
    struct recording_header header;
    struct tape_log log;           // until it is loaded
    unsigned added_up;             // of a log: perf_log_cpus_each
    const struct catalog *catalog; // borrowed
    // set by tape_load: the first plan, its topology, and whether the schedule was adaptive then
    struct plan *plan;
    struct topology *topology;
    bool adaptive;
};

struct tape_request {
    const char *path; // borrowed as long as the tape
    const char *spec; // of a log, as NAME or NAME@PMU; NULL: the one with most of its events
    const struct specs *specs;
    const struct config_specs *vendor; // NULL or without a path: none
    const char *data;                  // folder
};

// Reads the file and finds its spec. A recording's catalog is built as on the recorded host, also from the vendor's
// files if the configuration names them. The caller owns the catalog, which must outlive the tape. Returns 0, -EINVAL
// with the reason in `errors`, -ENOMEM.
int tape_open(const struct tape_request *request, struct errors *errors, struct catalog **catalog, struct tape **out);

// Sets a log's metrics to those of the selections, and checks that the first plan can be made.
int tape_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections, struct errors *errors);

// The kinds of boxes of which a recording has counts (core/uncore/uncore.h), in the order in which they were recorded:
// the header that each has. At most `max`; returns their number.
int tape_boxes(struct tape *tape, struct recording_header *out, size_t max);
// The catalog of a kind, where the recording itself has it. Returns 1; 0: it is a shipped spec's; -EINVAL with the
// reason in `errors`, -ENOMEM.
int tape_catalog(struct tape *tape, const struct recording_header *header, struct errors *errors, struct catalog **out);
// In recordings of version 5, the names of those that were measured and are not in it, at most `max`; returns their
// number.
size_t tape_missing(struct tape *tape, char (*out)[RECORDING_TEXT_MAX + 1], size_t max);
// In those, too, what the events of a kind are that the configuration had chosen. Returns 1; 0: it is a spec's.
int tape_definition(struct tape *tape, const char *kind, struct recording_definition *out);
// The tape of one of them, whose catalog is borrowed. Load it before it is played. Returns 0 or -ENOMEM.
int tape_open_boxes(const struct tape *of, const struct recording_header *header, const struct catalog *catalog,
                    struct tape **out);

// Logs that the catalog is not what it was for the recorded host, if so.
void tape_compare_catalog(const struct tape *tape);

// True for a log of perf.
bool tape_is_log(const struct tape *tape);

// The next record, beginning with the first; returns the same as recording_next. The record is valid until the next
// call.
int tape_next(struct tape *tape, struct recording_record *out);
// The start of the last record.
uint64_t tape_at(const struct tape *tape);

struct tape *tape_free(struct tape *tape);

// Adds the reason why a plan's record could not be read. Returns -EINVAL, or -ENOMEM if `r` is.
int tape_explain_plan(const struct tape *tape, int r, const char *missing, struct errors *errors);

#endif
