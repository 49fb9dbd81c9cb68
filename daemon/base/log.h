// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_LOG_H
#define TOPDOWND_DAEMON_BASE_LOG_H

// Writes lines for the journal (prefixed with a priority, see sd-daemon(3); $JOURNAL_STREAM tells whether standard
// error is the journal's) or for a terminal (without prefix). One event, one line: control characters are written as
// \xHH.

#include "core/base/error.h"

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Logs all errors of a list, one per line.
void log_errors(const struct errors *errors);

// Logs why a command failed: its errors or, where there are none (or errors is NULL), what errno -r means.
void log_reason(int r, const struct errors *errors);

// ---- happenings ----

// Happenings that programs look for. The journal gets them with MESSAGE_ID and fields of ours, other readers as a plain
// line. topdownd(8), "Journal fields", has the ids and the fields, and packaging/journal/topdownd.catalog explains
// them.
enum log_event {
    LOG_EVENT_NONE, // a plain line everywhere
    LOG_EVENT_START,
    LOG_EVENT_RELOAD,
    LOG_EVENT_PMU_LOST,
    LOG_EVENT_PMU_BACK,
    LOG_EVENT_BUDGET,
    LOG_EVENT_BOTTLENECK,
    LOG_EVENTS
};

struct log_field {
    const char *name;  // after TOPDOWND_; NULL ends the list
    const char *value; // NULL or "": the field is left out
};

enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

// Writes one line, like log_info and its kind.
void log_event(enum log_event event, enum log_level level, const struct log_field *fields, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
