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

#endif
