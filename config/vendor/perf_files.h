// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_FILES_H
#define TOPDOWND_CONFIG_VENDOR_PERF_FILES_H

// Finds the unmodified JSON files of Linux tools/perf/pmu-events for one CPU, and reads their entries.
//
// Each file is a list of objects whose values are texts: an event, a metric, or both. An entry with ArchStdEvent
// inherits missing fields from the architecture's entry of that name, in a file beside mapfile.csv. An invalid entry is
// reported and left out; a file that is not JSON is reported, and only its entries are lost.

#include <cjson/cJSON.h>

#include "core/base/error.h"
#include "core/base/name_index.h"

enum { PERF_FILE_MAX = 16 << 20, PERF_FILES_MAX = 256, PERF_PATH_MAX = 4096, PERF_DEPTH_MAX = 16 };

struct perf_files {
    char *name;   // the CPU's folder's; a single file's without ".json"
    char *folder; // its path; a single file's path
    struct perf_file {
        char *path;
        cJSON *document;
        bool standard; // belongs to the architecture, not to the CPU
    } * files;
    size_t n;
    const cJSON **standards;          // entries that ArchStdEvent may name
    struct name_index standard_names; // to their indexes
};

// `path` is a JSON file, a folder of the JSON files of one CPU, an architecture's folder with its mapfile.csv, or a
// folder that contains such folders, itself or in arch/. If mapfile.csv chooses, `cpuid` (in perf's form) is required,
// else it may be NULL. Returns 0 with the mistakes of single files added to `errors`; -EINVAL with the reason if
// nothing can be read, -ENOENT with the reason if there are no files for this CPU, -ENOMEM. Free with perf_files_close,
// which also accepts all zero.
int perf_files_open(const char *path, const char *cpuid, struct errors *errors, struct perf_files *out);
void perf_files_close(struct perf_files *files);

// The same with one file from memory; errors show `name` as the file.
int perf_files_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_files *out);

// The fields of an entry. Unused fields are not read.
enum perf_field {
    PERF_EVENT_NAME,
    PERF_METRIC_NAME,
    PERF_ARCH_STD_EVENT,
    PERF_BRIEF,
    PERF_PUBLIC,
    PERF_UNIT,
    PERF_COUNTER,
    PERF_EVENT_CODE,
    PERF_EXT_SEL,
    PERF_UMASK,
    PERF_UMASK_EXT,
    PERF_COUNTER_MASK,
    PERF_INVERT,
    PERF_EDGE_DETECT,
    PERF_ANY_THREAD,
    PERF_PORT_MASK,
    PERF_FC_MASK,
    PERF_CONFIG_CODE,
    PERF_LEGACY_CODE,
    PERF_EVENTID_CODE,
    PERF_NODE_TYPE,
    PERF_RD_WR_MASK,
    PERF_EN_ALL_CORES,
    PERF_EN_ALL_SLICES,
    PERF_SLICE_ID,
    PERF_THREAD_MASK,
    PERF_MSR_INDEX,
    PERF_MSR_VALUE,
    PERF_FILTER,
    PERF_METRIC_EXPR,
    PERF_METRIC_GROUP,
    PERF_METRIC_THRESHOLD,
    PERF_METRIC_CONSTRAINT,
    PERF_SCALE_UNIT,
    PERF_GENERIC_COUNTERS,
    PERF_COMPAT, // a regular expression of the PMU's identifier
    PERF_FIELD_N
};

struct perf_entry {
    const char *file;
    size_t place; // position in its file, counted from 1
    const cJSON *value;
    const char *fields[PERF_FIELD_N]; // NULL: absent
};

// Reads entries one after the other; start with all zero.
struct perf_cursor {
    size_t file, place;
    const cJSON *next;
};

// Gets the next entry of the CPU's own files, including what it inherits from the architecture's; skips
// metricgroups.json. Returns false at the end. An invalid entry is added to `errors` and skipped.
bool perf_files_next(const struct perf_files *files, struct perf_cursor *cursor, struct errors *errors,
                     struct perf_entry *out);

// The same for the entry at this position, to read again what perf_files_next has read.
bool perf_files_read(const struct perf_files *files, const char *file, size_t place, const cJSON *value,
                     struct errors *errors, struct perf_entry *out);

// Adds an error about an entry.
void perf_entry_fail(const struct perf_entry *entry, struct errors *errors, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The text for a group in metricgroups.json, NULL if there is none.
const char *perf_files_group_text(const struct perf_files *files, const char *group);

// Splits "6.103515625e-5MiB" into the number and the unit. False if it does not begin with a number.
bool perf_scale_unit(const char *text, double *scale, const char **unit);

#endif
