// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024, ESCAPE_BYTES = 4 };

// True if standard error is the journal's stream, which the variable names. The variable alone is not enough: a program
// inherits it even if its standard error goes elsewhere.
static bool to_journal(void) {
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    char found[64];
    if (!stream || fstat(STDERR_FILENO, &status) < 0)
        return false;
    (void)snprintf(found, sizeof found, "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return strcmp(stream, found) == 0;
}

// Names come from files and from the command line: a line break in one must not forge a second line, and a control
// sequence must not reach a terminal.
static void escape_controls(const char *text, char *out, size_t size) {
    size_t length = 0;
    for (; *text != '\0' && length + ESCAPE_BYTES < size; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == 0x7f)
            length += (size_t)snprintf(out + length, size - length, "\\x%02x", c);
        else
            out[length++] = *text;
    }
    out[length] = '\0';
}

static void log_line(const char *priority, const char *word, const char *format, va_list arguments) {
    char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    escape_controls(text, line, sizeof line);
    if (to_journal())
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
