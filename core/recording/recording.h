// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_H
#define TOPDOWND_CORE_RECORDING_RECORDING_H

// A recording: every reading, with all that derive needs to make the same values of it again, bit by bit.
//
// A file is a series of records: a header, facts, the plan in force, then a record for each round, pause, change of
// facts and of plan. docs/recording.md is the format. Each record has a length and a checksum and needs none but the
// header and the last plan, so that what was written before a crash can be read. The plan is recorded as it is, not as
// it was asked for: a later planner may pack otherwise. Everything here works on memory; whoever uses it has the files.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/adapt/adapt.h"
#include "core/host/environment.h"
#include "core/tally/readings.h"
#include "core/tally/snapshot.h"

enum { RECORDING_VERSION = 2, RECORDING_TEXT_MAX = 511, RECORDING_RECORD_MAX = 64 << 20, RECORDING_TROUBLES_MAX = 16 };

enum recording_kind {
    RECORDING_HEADER = 'R',
    RECORDING_FACTS = 'f',
    RECORDING_PLAN = 'P',
    RECORDING_ROUND = 'r',
    RECORDING_PAUSE = 'p'
};

// What is to be written, at its end; for the caller to empty (n = 0). All zero to begin with.
struct recording_buffer {
    uint8_t *bytes;
    size_t n, size;
    bool failed; // memory was short within a record
};
void recording_buffer_deinit(struct recording_buffer *buffer);

// What the catalog was made of, and for which host its formulas were compiled.
struct recording_catalog {
    char spec[RECORDING_TEXT_MAX + 1];
    uint64_t hash; // catalog_hash
    // of the vendor's files: path and format (enum spec_format) of `specs:`, and what was looked for in them
    char vendor_path[RECORDING_TEXT_MAX + 1]; // "": our own spec
    unsigned vendor_format;
    char vendor_cpuid[RECORDING_TEXT_MAX + 1], vendor_pmu[RECORDING_TEXT_MAX + 1]; // the second may be ""
    double literals[LITERAL_N];
    char cpuid[RECORDING_TEXT_MAX + 1];
    struct environment_answers answers;
    bool topdown_dropped; // catalog_builder_drop_topdown
};

struct recording_header {
    char version[RECORDING_TEXT_MAX + 1]; // of the program that wrote it
    struct recording_catalog catalog;
    uint64_t id;   // the same in all files of one recording
    unsigned part; // of them, counted from 0
    uint64_t seed; // of the schedule
    bool simulated, guests_excluded;
    char hostname[RECORDING_TEXT_MAX + 1], pmu[RECORDING_TEXT_MAX + 1], profile[RECORDING_TEXT_MAX + 1];
    char vendor[RECORDING_TEXT_MAX + 1], model[RECORDING_TEXT_MAX + 1], microarchitecture[RECORDING_TEXT_MAX + 1];
    char core_type[RECORDING_TEXT_MAX + 1]; // "": the host has cores of one type
    double timestamp_seconds;               // since the epoch, when the file was begun
};

// What is shown beside the values, and changes with the plan or at other times.
struct recording_facts {
    unsigned counters_total, counters_usable; // of one CPU; 0: events take none
    struct recording_trouble {                // a PMU that is missing or fails
        char pmu[RECORDING_TEXT_MAX + 1], reason[RECORDING_TEXT_MAX + 1], text[RECORDING_TEXT_MAX + 1];
        bool of_host; // rather than of the core type
    } troubles[RECORDING_TROUBLES_MAX];
    size_t n_troubles;
};

struct recording_plan {
    bool again; // it was in force before: repeated at the beginning of a file
    struct plan *plan;
    struct topology *topology;
};

struct recording_pause {
    uint64_t until_ns;
    enum uncovered reason;
    double timestamp_seconds; // of what was shown then, since the epoch; NaN: nothing was
};

// A record each at the end of the buffer. 0, or -ENOMEM: nothing was added.
int recording_put_header(struct recording_buffer *out, const struct recording_header *header);
// `adapt` may be NULL: the schedule is fixed.
int recording_put_facts(struct recording_buffer *out, const struct catalog *catalog,
                        const struct recording_facts *facts, const struct adapt_report *adapt);
int recording_put_plan(struct recording_buffer *out, const struct snapshot_layout *layout, bool again);
// timestamp_seconds: when the round ended, since the epoch; NaN: not known.
int recording_put_round(struct recording_buffer *out, const struct readings *readings, const struct plan *plan,
                        double timestamp_seconds);
int recording_put_pause(struct recording_buffer *out, const struct recording_pause *pause);

struct recording_record {
    unsigned kind;        // enum recording_kind, or of a later version: to be skipped
    const uint8_t *bytes; // borrowed
    size_t n;
};

// Whether a file that begins so is a recording.
bool recording_is(const uint8_t *bytes, size_t n);

// The record at *at, which moves behind it: 1; 0: that is the end; -ENODATA: the file ends within the record; -EBADMSG:
// it is damaged.
int recording_next(const uint8_t *bytes, size_t n, size_t *at, struct recording_record *out);

// What a record holds, of its kind. 0; -EBADMSG: it is not well-formed; -ENOMEM.

// -EPROTONOSUPPORT: it was written in a later version of the format. All earlier ones are read.
int recording_get_header(const struct recording_record *record, struct recording_header *out);
// The environment to compile the catalog for; it borrows the header.
void recording_environment(const struct recording_header *header, struct environment *out);
// -ENOENT: the catalog lacks an event, metric or metric group, whose name is written to `missing`, of
// RECORDING_TEXT_MAX + 1. *adapt is for adapt_report_free; NULL: the schedule was fixed.
int recording_get_facts(const struct recording_record *record, const struct catalog *catalog, char *missing,
                        struct recording_facts *out, struct adapt_report **adapt);
int recording_get_plan(const struct recording_record *record, const struct catalog *catalog, char *missing,
                       struct recording_plan *out);
// For readings_free.
int recording_get_round(const struct recording_record *record, const struct plan *plan, const struct topology *topology,
                        double *timestamp_seconds, struct readings **out);
int recording_get_pause(const struct recording_record *record, struct recording_pause *out);

#endif
