// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_TAPE_H
#define TOPDOWND_DAEMON_TAPE_H

// What --pmu replay:FILE plays: a recording, with the file before it where that is there, or a log of perf, made into a
// recording. All of it is in memory.

#include "config/perf_log.h"
#include "core/recording.h"
#include "daemon/data.h"

struct tape {
    const char *path;
    struct recording_buffer bytes; // records
    struct recording_header header;
    struct perf_log *log;          // NULL: it is a recording
    const struct catalog *catalog; // borrowed
    struct topology *topology;     // of the first plan, from tape_load on
};

// Reads the file and finds its spec: a recording's by name, a log's `spec`, or where that is NULL the one that has most
// of its events. The catalog is the caller's, and must outlive the tape. Returns 0, -EINVAL with the reason in
// `errors`, -ENOMEM.
int tape_open(const char *path, const char *spec, const struct specs *specs, struct errors *errors,
              struct catalog **catalog, struct tape **out);

// Makes a log's metrics those of the selections, and checks that the first plan can be had.
int tape_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections, struct errors *errors);

struct tape *tape_free(struct tape *tape);

// Adds why a plan's record could not be read; returns -EINVAL, or -ENOMEM where `r` is.
int tape_explain_plan(const struct tape *tape, int r, const char *missing, struct errors *errors);

#endif
