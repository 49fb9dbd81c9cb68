// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_TAPE_H
#define TOPDOWND_DAEMON_SOURCE_TAPE_H

// What --pmu replay:FILE plays: a recording, with the files before it of the same recording that are there, or a log of
// perf, made into a recording in memory.

#include "collectors/recording/recording_file.h"
#include "collectors/recording/recording_reader.h"
#include "config/perf_log/perf_log.h"
#include "config/yaml/config.h"
#include "core/recording/recording.h"
#include "daemon/source/data.h"

enum { TAPE_FILES_MAX = RECORDING_FILE_FORMERS_MAX + 1 };

struct tape {
    const char *path;
    struct recording_reader *files[TAPE_FILES_MAX]; // of a recording, the last one, which is `path`, first
    size_t n_files, present;                        // how many, and from which on the next record comes
    struct recording_buffer bytes;                  // the records of a log
    size_t at;                                      // in them
    struct recording_header header;
    struct perf_log *log;          // NULL: it is a recording
    struct perf_names *names;      // for the log
    const struct catalog *catalog; // borrowed
    // from tape_load on: the first plan, what it is for, and whether the schedule was adaptive then
    struct plan *plan;
    struct topology *topology;
    bool adaptive;
};

struct tape_request {
    const char *path; // borrowed as long as the tape
    const char *spec; // of a log; NULL: the one that has most of its events
    const struct specs *specs;
    const struct config_specs *vendor; // NULL or without a path: there are none
    const char *data;                  // folder
};

// Reads the file and finds its spec: a recording's is made as it was where it was recorded, of the vendor's files too,
// if the configuration names them. The catalog is the caller's, and must outlive the tape. Returns 0, -EINVAL with the
// reason in `errors`, -ENOMEM.
int tape_open(const struct tape_request *request, struct errors *errors, struct catalog **catalog, struct tape **out);

// Makes a log's metrics those of the selections, and checks that the first plan can be had.
int tape_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections, struct errors *errors);

// The next record, from the beginning on, as recording_next says. It is there until the next call.
int tape_next(struct tape *tape, struct recording_record *out);
// Where the last one began.
uint64_t tape_at(const struct tape *tape);

struct tape *tape_free(struct tape *tape);

// Adds why a plan's record could not be read; returns -EINVAL, or -ENOMEM where `r` is.
int tape_explain_plan(const struct tape *tape, int r, const char *missing, struct errors *errors);

#endif
