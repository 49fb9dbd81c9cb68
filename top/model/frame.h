// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_FRAME_H
#define TOPDOWND_TOP_MODEL_FRAME_H

// What the view knows of one moment: the pages /api/v1/topdown, /api/v1/snapshot and /api/v1/memory of one snapshot,
// without what it does not show. Frames are kept, so that a reader can step back.
//
// Texts are never NULL unless they say so, have no control characters, and belong to the frame, like all arrays.

#include <stdbool.h>
#include <stddef.h>

#include "core/memory/memory_metric.h"
#include "top/model/arena.h"

enum {
    FRAME_TYPES_MAX = 16,
    FRAME_PATH_MAX = 16,
    FRAME_NODES_MAX = 2000,
    FRAME_UNITS_MAX = 8192,
    FRAME_METRICS_MAX = 512,
    FRAME_BOTTLENECKS_MAX = 64,
    FRAME_NUMA_MAX = 1024
};

enum frame_answer { FRAME_UNKNOWN, FRAME_NO, FRAME_YES };

struct frame_value {
    float value, low, high; // NAN: none
    bool exact;             // its events were counted all the time
};

struct frame_node {
    const char *metric, *title, *unit, *meaning, *threshold, *reason, *next, *command, *quality, *quality_reason;
    struct frame_value is;
    float share_of_time;
    unsigned depth; // 0: a root
    bool parent;    // nodes with a greater depth follow
    bool in_path;   // of the bottleneck
    enum frame_answer exceeded, certain;
};

struct frame_bound {
    const char *text;     // the answer, or why there is none
    bool known;           // an answer
    const char *next;     // metric groups, "A, B"
    const char *command;  // "": none
    double since_seconds; // since the epoch; NAN: unknown
    bool at_least;        // its beginning was not seen
    double memory_bytes;  // a second, of all sockets; NAN: unknown
    double memory_peak;   // likewise
    bool peak_exceeded;   // it must be wrong
};

// A heading of what would help how much.
struct frame_bottleneck {
    const char *title, *remedy, *reason;
    struct frame_value is;
    bool rest; // others tell parts of it
};

struct frame_column {
    const char *metric, *unit;
};

// Values of the host, its sockets or its CPUs.
struct frame_units {
    bool present; // the page was asked for
    size_t n_columns, n;
    const struct frame_column *columns;
    const struct frame_unit {
        int cpu, socket; // -1: none
    } * units;
    const struct frame_value *values; // unit by unit, n_columns each
};

enum frame_scope { FRAME_HOST, FRAME_SOCKETS, FRAME_CPUS, FRAME_SCOPES };

struct frame_type {
    const char *name; // of the core type; "": the host has one
    struct frame_bound bound;
    const struct frame_node *nodes; // a parent before its children
    size_t n_nodes;
    const struct frame_bottleneck *bottlenecks; // of the host
    size_t n_bottlenecks;
    struct frame_units units[FRAME_SCOPES];
};

// What the kernel counts of memory. Values are NAN where there is none.
struct frame_memory {
    bool present;                   // the page was asked for
    const char *reason;             // why there are no nodes; "": there are
    double seconds;                 // that the values are of
    float values[MEMORY_METRICS_N]; // of the host
    size_t n_nodes, n_sockets;
    const struct frame_numa {
        int id, socket, tier; // -1: none
        const char *kind;
        double bytes, free_bytes;
        float values[MEMORY_METRICS_N];
    } * nodes;
    const struct frame_resctrl { // a socket, as resctrl counts it
        int id;
        double controllers; // bytes a second of its memory controllers
        float values[MEMORY_METRICS_N];
    } * sockets;
};

struct frame {
    struct arena arena;
    double timestamp_seconds, round_seconds; // NAN: unknown
    double values_seconds, values_age; // how long the time of its values is; how long before it ended. NAN: unknown
    double end_ns;                     // of the snapshot's interval: tells snapshots apart
    double sequence;                   // 0: nothing has been measured yet
    bool simulated, replay;
    const char *bound_text; // for all core types together
    struct frame_type types[FRAME_TYPES_MAX];
    size_t n_types;
    struct frame_memory memory;
};

// Reads /api/v1/topdown. Returns 0; -EINVAL: it is not that page, and *why says what is wrong with it; -ENOMEM.
int frame_read(const char *page, size_t length, struct frame **out, char why[static 200]);

// Adds /api/v1/snapshot of a scope. Returns as frame_read; nothing is added on failure.
int frame_add_units(struct frame *frame, enum frame_scope scope, const char *page, size_t length, char why[static 200]);

// Adds /api/v1/memory, likewise.
int frame_add_memory(struct frame *frame, const char *page, size_t length, char why[static 200]);

struct frame *frame_free(struct frame *frame);

const struct frame_value *frame_units_at(const struct frame_units *units, size_t unit, size_t column);

// The place of a metric among the columns, or n_columns.
size_t frame_units_find(const struct frame_units *units, const char *metric);

#endif
