// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_LOG_H
#define TOPDOWND_DAEMON_BASE_LOG_H

// Lines for the journal (with a priority in front, see sd-daemon(3); $JOURNAL_STREAM says whether standard error is
// its) or for a terminal (without). One event, one line: control characters are written as \xHH.

#include "core/base/error.h"

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

// All errors of a list, a line each.
void log_errors(const struct errors *errors);

#endif
