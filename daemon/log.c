// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

enum { LINE_MAX_BYTES = 1024 };

static void log_line(const char *priority, const char *word, const char *format, va_list arguments) {
    char line[LINE_MAX_BYTES];
    (void)vsnprintf(line, sizeof line, format, arguments);
    if (getenv("JOURNAL_STREAM"))
        (void)fprintf(stderr, "%s%s\n", priority, line);
    else
        (void)fprintf(stderr, "topdownd: %s%s\n", word, line);
}

void log_info(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(SD_INFO, "", format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(SD_WARNING, "warning: ", format, arguments);
    va_end(arguments);
}

void log_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(SD_ERR, "error: ", format, arguments);
    va_end(arguments);
}

void log_errors(const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        log_error("%s", line);
    }
    if (errors->dropped > 0)
        log_error("and %zu more", errors->dropped);
}
