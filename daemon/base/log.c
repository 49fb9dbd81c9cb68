// SPDX-License-Identifier: Apache-2.0
// file and line of our own would say where log_event is, and not who calls it
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define LOG_JOURNAL_SOCKET "/run/systemd/journal/socket"

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

static const struct {
    const char *priority, *word;
} LEVELS[] = {[LOG_LEVEL_INFO] = {SD_INFO, ""},
              [LOG_LEVEL_WARNING] = {SD_WARNING, "warning: "},
              [LOG_LEVEL_ERROR] = {SD_ERR, "error: "}};

static void format_line(char out[LINE_MAX_BYTES], const char *format, va_list arguments) {
    char text[LINE_MAX_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    escape_controls(text, out, LINE_MAX_BYTES);
}

static void put_line(enum log_level level, const char *line) {
    if (to_journal())
        (void)fprintf(stderr, "%s%s\n", LEVELS[level].priority, line);
    else
        (void)fprintf(stderr, "topdownd: %s%s\n", LEVELS[level].word, line);
}

static void log_line(enum log_level level, const char *format, va_list arguments) {
    char line[LINE_MAX_BYTES];
    format_line(line, format, arguments);
    put_line(level, line);
}

void log_info(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_LEVEL_INFO, format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_LEVEL_WARNING, format, arguments);
    va_end(arguments);
}

void log_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(LOG_LEVEL_ERROR, format, arguments);
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

void log_reason(int r, const struct errors *errors) {
    if (errors && errors->n > 0)
        log_errors(errors);
    else
        log_error("%s", strerror(-r));
}

// ---- events ----

// Made with systemd-id128 new; they never change.
static const char *const IDS[LOG_EVENTS] = {
    [LOG_EVENT_START] = "bfb048cdfc364f56bc36945dd2d8967e",
    [LOG_EVENT_RELOAD] = "0261b7a1987f4dd29576cd779b27e4f5",
    [LOG_EVENT_PMU_LOST] = "63a77cbb8b764ddb89111b582a03d1e8",
    [LOG_EVENT_PMU_BACK] = "02d53947973544f19bb1c5433da7c03a",
    [LOG_EVENT_BUDGET] = "2afcfc4d191d4aad8cf681e22151a67d",
    [LOG_EVENT_BOTTLENECK] = "85a28f0c938545bbbf7b0a77560b7744",
};

enum { FIELDS_MAX = 12, FIELD_MAX_BYTES = 320 };

struct journal_entry {
    struct iovec parts[FIELDS_MAX];
    char texts[FIELDS_MAX][FIELD_MAX_BYTES];
    int n;
};

static void put_field(struct journal_entry *entry, const char *prefix, const char *name, const char *value) {
    if (!value || value[0] == '\0' || entry->n == FIELDS_MAX)
        return;
    char *text = entry->texts[entry->n], safe[FIELD_MAX_BYTES];
    escape_controls(value, safe, sizeof safe);
    (void)snprintf(text, FIELD_MAX_BYTES, "%s%s=%.*s", prefix, name, FIELD_MAX_BYTES / 2, safe);
    entry->parts[entry->n++] = (struct iovec){text, strlen(text)};
}

// sd_journal_sendv says nothing where there is no journal, so its socket is looked for first.
static bool send_to_journal(enum log_event event, enum log_level level, const struct log_field *fields,
                            const char *line) {
    char message[LINE_MAX_BYTES + sizeof "MESSAGE="];
    struct journal_entry entry = {.n = 1};
    if (event == LOG_EVENT_NONE || !to_journal() || access(LOG_JOURNAL_SOCKET, W_OK) < 0)
        return false;
    (void)snprintf(message, sizeof message, "MESSAGE=%s", line);
    entry.parts[0] = (struct iovec){message, strlen(message)};
    put_field(&entry, "", "PRIORITY", (const char[]){LEVELS[level].priority[1], '\0'});
    put_field(&entry, "", "MESSAGE_ID", IDS[event]);
    put_field(&entry, "", "SYSLOG_IDENTIFIER", "topdownd");
    for (; fields->name; fields++)
        put_field(&entry, "TOPDOWND_", fields->name, fields->value);
    return sd_journal_sendv(entry.parts, entry.n) == 0;
}

void log_event(enum log_event event, enum log_level level, const struct log_field *fields, const char *format, ...) {
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    format_line(line, format, arguments);
    va_end(arguments);
    if (!send_to_journal(event, level, fields, line))
        put_line(level, line);
}
