// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_H
#define TOPDOWND_CORE_RECORDING_RECORDING_H

// A recording: every reading, with all that derive needs to compute the same values again, bit by bit.
//
// A file is a series of records: a header, facts, the plan in force, then a record for each readings, pause, change
// of facts and of plan. What PMUs outside the cores have counted (core/uncore/uncore.h) is recorded as what a core type
// has: each kind has the same records, from a header on, which stand in records of their own among those of the cores.
// All kinds that are measured begin before the first round of a file. docs/recording.md describes the format. Each
// record has a length and a checksum and depends only on the header and the last plan, so that records written before a
// crash stay readable. The recording stores the plan itself, not the request: a later planner may pack differently.
// Everything here works in memory; the caller handles the files.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/adapt/adapt.h"
#include "core/host/environment.h"
#include "core/tally/readings.h"
#include "core/tally/snapshot.h"

// From RECORDING_ZEROS_VERSION on, zeros were judged as today when a recording was made (core/counts/zeros.h).
enum { RECORDING_ZEROS_VERSION = 7 };
enum { RECORDING_VERSION = 7, RECORDING_TEXT_MAX = 511, RECORDING_RECORD_MAX = 64 << 20, RECORDING_TROUBLES_MAX = 16 };

enum recording_kind {
    RECORDING_HEADER = 'R',
    RECORDING_FACTS = 'f',
    RECORDING_PLAN = 'P',
    RECORDING_ROUND = 'r', // of all cores, as before version 3 and in logs of perf
    RECORDING_CORES = 'c', // rounds of cores, and what counts all the time
    RECORDING_PAUSE = 'p',
    RECORDING_BOXES = 'b',   // a record of another kind, of PMUs outside the cores
    RECORDING_MEMORY = 'm',  // recording_memory.h
    RECORDING_CATALOG = 'C', // recording_catalog.h: where no shipped spec has it
    // in a record of boxes:
    RECORDING_GONE = 'g',       // from here on they are not measured
    RECORDING_DEFINITION = 'd', // in version 5: what the events are that the configuration has chosen
    RECORDING_MISSING = 'n'     // in version 5: they are measured, and not recorded
};

// Collects records to be written. The caller empties it (n = 0). All zero to begin with.
struct recording_buffer {
    uint8_t *bytes;
    size_t n, size;
    bool failed; // out of memory within a record
};
void recording_buffer_deinit(struct recording_buffer *buffer);

// The source of the catalog, and the host for which its formulas were compiled.
struct recording_catalog {
    char spec[RECORDING_TEXT_MAX + 1];
    uint64_t hash; // catalog_hash
    // the vendor's files: path and format (enum spec_format) of `specs:`, and what was searched for in them
    char vendor_path[RECORDING_TEXT_MAX + 1]; // "": a shipped spec
    unsigned vendor_format;
    char vendor_cpuid[RECORDING_TEXT_MAX + 1], vendor_pmu[RECORDING_TEXT_MAX + 1]; // the second may be ""
    double literals[LITERAL_N];
    char cpuid[RECORDING_TEXT_MAX + 1];
    struct environment_answers answers;
    bool topdown_dropped; // catalog_builder_drop_topdown
};

struct recording_header {
    unsigned format;                      // version of the format, as it is read
    char version[RECORDING_TEXT_MAX + 1]; // of the program that wrote the recording
    struct recording_catalog catalog;
    uint64_t id;   // the same in all files of one recording
    unsigned part; // number of this file, counted from 0
    uint64_t seed; // of the schedule
    bool simulated, guests_excluded;
    char hostname[RECORDING_TEXT_MAX + 1], pmu[RECORDING_TEXT_MAX + 1], profile[RECORDING_TEXT_MAX + 1];
    char vendor[RECORDING_TEXT_MAX + 1], model[RECORDING_TEXT_MAX + 1], microarchitecture[RECORDING_TEXT_MAX + 1];
    char core_type[RECORDING_TEXT_MAX + 1];  // "": the host has one core type
    char first_type[RECORDING_TEXT_MAX + 1]; // whose recording has what the host counts beside its cores; "": this one
    double timestamp_seconds;                // since the epoch, when the file was begun
};

// Facts shown beside the values, which may change with the plan or at other times.
struct recording_facts {
    unsigned counters_total, counters_usable; // of one CPU; 0: events take none
    struct recording_trouble {                // a PMU that is missing or fails
        char pmu[RECORDING_TEXT_MAX + 1], reason[RECORDING_TEXT_MAX + 1], text[RECORDING_TEXT_MAX + 1];
        bool of_host; // concerns the host, not the core type
        bool uncore;  // concerns PMUs outside the cores
    } troubles[RECORDING_TROUBLES_MAX];
    size_t n_troubles;
};

struct recording_plan {
    bool again; // already in force before: repeated at the beginning of a file
    struct plan *plan;
    struct topology *topology;
};

struct recording_pause {
    uint64_t until_ns;
    enum uncovered reason;
    double timestamp_seconds; // of the values shown then, since the epoch; NaN: none were
};

// Each appends a record to the buffer. Returns 0, or -ENOMEM if nothing was added.
int recording_put_header(struct recording_buffer *out, const struct recording_header *header);
// `adapt` may be NULL: the schedule is fixed.
int recording_put_facts(struct recording_buffer *out, const struct catalog *catalog,
                        const struct recording_facts *facts, const struct adapt_report *adapt);
int recording_put_plan(struct recording_buffer *out, const struct snapshot_layout *layout, bool again);
// Readings of either kind. timestamp_seconds: when they ended, since the epoch; NaN: not known.
int recording_put_round(struct recording_buffer *out, const struct readings *readings, const struct plan *plan,
                        double timestamp_seconds);
int recording_put_pause(struct recording_buffer *out, const struct recording_pause *pause);

// A record for a kind of PMUs outside the cores, which holds one record of another kind.
int recording_put_boxes(struct recording_buffer *out, const char *name, const struct recording_buffer *record);
// What is put there where a kind is no longer measured.
int recording_put_gone(struct recording_buffer *out);

struct recording_record {
    unsigned kind;        // enum recording_kind; a later version's kinds are skipped
    const uint8_t *bytes; // borrowed
    size_t n;
};

// True if these bytes begin a recording.
bool recording_is(const uint8_t *bytes, size_t n);

// Gets the record at *at and moves *at past it. Returns 1; 0 at the end; -ENODATA if the file ends within the record;
// -EBADMSG if it is damaged.
int recording_next(const uint8_t *bytes, size_t n, size_t *at, struct recording_record *out);

// These decode a record of their kind. 0; -EBADMSG if it is malformed; -ENOMEM.

// -EPROTONOSUPPORT if it has a later version of the format. All earlier versions are readable.
int recording_get_header(const struct recording_record *record, struct recording_header *out);
// The environment to compile the catalog for; it borrows the header.
void recording_environment(const struct recording_header *header, struct environment *out);
// -ENOENT if the catalog lacks an event, metric or metric group; its name is written to `missing`, which has
// RECORDING_TEXT_MAX + 1 bytes. Free *adapt with adapt_report_free; NULL: the schedule was fixed.
int recording_get_facts(const struct recording_record *record, const struct catalog *catalog, char *missing,
                        struct recording_facts *out, struct adapt_report **adapt);
int recording_get_plan(const struct recording_record *record, const struct catalog *catalog, char *missing,
                       struct recording_plan *out);
// Free with readings_free. Windows with counts that cannot be become WINDOW_IMPLAUSIBLE, as they would today. Not so
// with added_up: in a log of perf a CPU may stand for many, whose counts have no bound, and perf has scaled them.
int recording_get_round(const struct recording_record *record, const struct plan *plan, const struct topology *topology,
                        bool added_up, double *timestamp_seconds, struct readings **out);
int recording_get_pause(const struct recording_record *record, struct recording_pause *out);
struct recording_definition {
    struct recording_event {
        char name[RECORDING_TEXT_MAX + 1];
        char units[RECORDING_TEXT_MAX + 1]; // what is counted, as in "bytes"
        double factor;                      // of these, for each count
    } * events;                             // owned
    size_t n;
};
int recording_get_definition(const struct recording_record *record, struct recording_definition *out);
void recording_definition_deinit(struct recording_definition *definition);
// The name of the kind, which has RECORDING_TEXT_MAX + 1 bytes, and the record that stands there, which borrows the
// bytes.
int recording_get_boxes(const struct recording_record *record, char *name, struct recording_record *out);

#endif
