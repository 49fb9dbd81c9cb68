// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_SERIES_SERIES_H
#define TOPDOWND_EXPORTERS_SERIES_SERIES_H

// The contents of /metrics and /metrics/cpu: families, each with its series, in the order in which pages have them.
//
// Names, labels and help never change: they are written once, when the series are made. For each snapshot there are
// only the numbers to fill in. On a host with several core types each family has the series of all types, with the
// label core_type; series of the host or the daemon appear once, without it.

#include <math.h>

#include "core/spec/family.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

enum series_kind {
    SERIES_FIXED, // never changes: its number is part of the text
    SERIES_WHOLE, // an estimated count: rounded to a whole number
    SERIES_REAL,
    SERIES_SCALED // and above: SERIES_WHOLE times one of the scales
};

// Where a number is from: a core type's snapshot, or one of these, each with a getter by number.
enum series_source {
    FROM_MEMORY = SHOWN_TYPES_MAX,
    FROM_HEALTH,
    FROM_STATUS,
    FROM_ENGINES // and a core type: its engine
};

// A piece of text in the pool.
struct series_part {
    uint32_t text, length;
};

// A series is the family's name, two parts and a number. Thousands of series share the parts: the first names the
// scope, the second has the other labels. Together they are a suffix of the name, the labels as all formats of
// Prometheus write them, and a space.
struct series_line {
    struct series_part head, tail; // of a fixed series the number, too
    uint32_t value;                // index into snapshot->values, or the number of the other source
    uint16_t kind;
    uint16_t source; // core type of the snapshot, or enum series_source
};

struct series_family {
    struct series_part name, help; // escaped; each line begins with the name
    const char *type;              // of core/spec/family.h: "counter", "gauge", "histogram" or "info"
    uint32_t stem;                 // length of the name without the end that OpenMetrics leaves to the samples
    uint32_t unit;                 // length of the unit at the end of the stem; 0: none
    size_t first, n;               // of the lines
};

enum { SERIES_SCALES_MAX = 16 };

struct series {
    struct text pool;
    struct series_family *families;
    size_t n_families;
    struct series_line *lines;
    size_t n_lines;
    size_t n_rare;      // of these: one alone, or none, of many has a value at a time
    size_t lines_bytes; // of all lines' names and parts
    double scales[SERIES_SCALES_MAX];
    size_t n_scales;
    // While the series are made (series_private.h):
    const struct shown *shown; // borrowed
    enum family family;        // being added, if it is one of the table
    struct series_memo *memos; // by core type
    size_t n_memos;
    bool simulated;        // every series gets simulated="true"
    bool replayed;         // and replay="true"
    size_t source;         // of the series being added,
    const char *core_type; // and their label; NULL: none. Borrowed
    bool failed;           // out of memory
};

// Makes the host's series (/metrics), or the CPUs' (/metrics/cpu). The views are borrowed; the snapshots are not used.
// NULL if out of memory.
struct series *series_new(const struct shown *shown, bool per_cpu);
struct series *series_free(struct series *series);

// The largest number of samples: nothing is absent, and every event has every kind of trouble.
size_t series_count(const struct series *series);

// The number of samples once all has been measured: each socket has one verdict, and no event is in trouble.
size_t series_count_usual(const struct series *series);

// The number of series that /metrics/cpu would have without its limit (view->max_cpu_series); appends what the limit
// leaves out, for people, or nothing.
size_t series_count_cpus(const struct shown *shown, struct text *omitted);

// Of a line whose number is in no snapshot's values.
double series_value_beside(const struct shown *shown, const struct series_line *line);

// The number of a line that is not fixed, in snapshots of the views for which the series were made; NaN: it has none.
// In this header because an exporter asks for each of 64,512 lines.
static inline double series_value(const struct series *series, const struct shown *shown,
                                  const struct series_line *line) {
    double value = line->source < SHOWN_TYPES_MAX ? shown->types[line->source].snapshot->values[line->value]
                                                  : series_value_beside(shown, line);
    return line->kind >= SERIES_SCALED  ? rint(value * series->scales[line->kind - SERIES_SCALED])
           : line->kind == SERIES_WHOLE ? rint(value)
                                        : value;
}

#endif
