// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_H
#define TOPDOWND_DAEMON_REPORT_REPORT_H

// What a measurement by hand tells, in the form that text, JSON and CSV are made from: a row for each scope and metric,
// and the answer to what the CPUs are bound by.

#include <stdbool.h>

#include "core/diagnosis/tree.h"
#include "exporters/text/text.h"
#include "exporters/view/view.h"

enum report_scope { REPORT_HOST, REPORT_SOCKET, REPORT_CPU, REPORT_SCOPES };
const char *report_scope_name(enum report_scope scope);
// -1: there is no such scope.
int report_scope_find(const char *name);

struct report;
// The same in a report; the CPUs of a report about PMUs outside the cores are their boxes.
const char *report_scope_of(const struct report *report, enum report_scope scope);

struct report_row {
    enum report_scope scope;
    unsigned id;                         // the kernel's number of the socket or CPU
    const struct catalog_metric *metric; // NULL: the most that the memory of the scope can move
    double value, low, high;             // NaN: none
    bool exact;                          // it was counted all the time
    const char *reason;                  // why it has no value, else why it has no interval; "" if it has both
    enum estimate_quality quality;       // of the interval
    const char *quality_reason;          // why that is poor; NULL: it is not, or nothing more is known
};

const char *report_row_name(const struct report_row *row);
const char *report_row_title(const struct report_row *row);

struct report_event {
    const char *name;
    double count; // scaled to all the time
    bool exact;   // it counted all the time
};

struct report {
    struct view *view;               // borrowed
    const struct snapshot *snapshot; // borrowed
    double from_seconds, to_seconds; // since the measurement began
    double cpu_seconds;              // of all CPUs, or of all tasks of the command
    struct report_row *rows;
    size_t n_rows;
    struct report_event *events; // of the host, or of the command's tasks
    size_t n_events;
    struct tree *tree;             // judged on the host
    const struct verdict *verdict; // of the host, in the snapshot
    bool sockets_differ;           // they are bound by different things; the answer names each
    struct report_texts {
        struct text answer, next, sample; // each ended by '\0'; "" where there is nothing to say
    } texts;
};

// What PMUs outside the cores tell is of the whole scope: bytes per second.
void report_row_unit(const struct report *report, const struct report_row *row, char *unit, size_t size);

// Returns 0 or -ENOMEM. Free with report_deinit in every case.
int report_init(struct report *report, struct view *view, const struct snapshot *snapshot, enum report_scope finest);
void report_deinit(struct report *report);

// The reports of one measurement, those about the cores first: completes their answers by what those about PMUs outside
// the cores tell of the memory. Returns 0 or -ENOMEM.
int report_tell_memory(struct report *reports, size_t n);

// The next step is about this command, not about the host. Returns 0 or -ENOMEM.
int report_name_command(struct report *report, char *const *command);

// True if at least one metric has a value.
bool report_has_values(const struct report *report);

// The host's row of a metric of the catalog; NULL: there is none.
const struct report_row *report_find_metric(const struct report *report, unsigned metric);
// The last metric of the path, which must not be empty.
const struct catalog_metric *report_last(const struct report *report);

// What passed outside the cores, of a scope; NULL: not measured.
const struct report_row *report_find_traffic(const struct report *report, enum traffic traffic, enum report_scope scope,
                                             unsigned id);
// The most that the memory of a scope can move, in bytes per second; NaN: unknown.
double report_memory_peak(const struct report *report, enum report_scope scope, unsigned id);

// Of how many measured values nothing tells how far off they are.
size_t report_without_interval(const struct report *report);
// Of how many the interval is poor for this reason.
size_t report_poor(const struct report *report, enum estimate_doubt why);
// Why: for people. What few rounds tell is said of nearly all of them at once.
extern const char report_few_rounds[];

// The first reason why there is none; never NULL.
const char *report_reason(const struct report *report);

#endif
