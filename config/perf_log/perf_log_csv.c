// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A line of perf stat -x: time (with -I), place (unless all is counted together), number of CPUs (newer versions, not
// for single CPUs), count, unit (since 3.17), event, another field with some options, then running time, share of time,
// and metrics (each since some version). The character after the first field is the separator. perf does not quote, so
// an event may contain the separator between two '/'. In a locale with a decimal comma a clock's count contains one,
// too.

enum { FIELDS_MAX = 64 };

struct fields {
    char *text[FIELDS_MAX];
    size_t n;
    char divider;
};

static bool is_number(const char *text) {
    const char *c = text + (*text == '-');
    size_t whole = strspn(c, "0123456789");
    c += whole;
    if (*c == '.' || *c == ',')
        c += 1 + strspn(c + 1, "0123456789");
    return whole > 0 && *c == '\0';
}

static bool is_count(const char *text) {
    return is_number(text) || strcmp(text, "<not counted>") == 0 || strcmp(text, "<not supported>") == 0;
}

static bool is_unit(const char *text) {
    for (; *text != '\0'; text++)
        if (!isalpha((unsigned char)*text) && *text != '%' && *text != '/')
            return false;
    return true;
}

static bool is_event(const char *text) { return *text != '\0' && !is_number(text) && *text != '<'; }

static void split(char *line, struct fields *fields) {
    fields->text[fields->n++] = line;
    for (char *c = line; *c != '\0' && fields->n < FIELDS_MAX; c++) {
        if (*c != fields->divider)
            continue;
        *c = '\0';
        fields->text[fields->n++] = c + 1;
    }
}

// Restores the separator between a field and the next one.
static void join(struct fields *fields, size_t i) {
    fields->text[i][strlen(fields->text[i])] = fields->divider;
    memmove(&fields->text[i + 1], &fields->text[i + 2], (fields->n - i - 2) * sizeof *fields->text);
    fields->n--;
}

static void join_event(struct fields *fields, size_t i) {
    for (;;) {
        size_t slashes = 0;
        for (const char *c = fields->text[i]; *c != '\0'; c++)
            slashes += *c == '/';
        if (slashes % 2 == 0 || i + 1 >= fields->n)
            return;
        join(fields, i);
    }
}

// Finds the count: before unit and event, or (older versions) before the event.
static bool find_count(struct fields *fields, size_t first, size_t *count, size_t *event) {
    for (size_t i = first; i < fields->n && i < first + 3; i++) {
        if (i + 3 < fields->n && fields->divider == ',' && is_number(fields->text[i]) &&
            strspn(fields->text[i + 1], "0123456789") == 2 && fields->text[i + 1][2] == '\0' &&
            strcmp(fields->text[i + 2], "msec") == 0)
            join(fields, i); // a decimal comma
        if (i + 2 < fields->n && is_count(fields->text[i]) && is_unit(fields->text[i + 1]) &&
            is_event(fields->text[i + 2])) {
            *count = i;
            *event = i + 2;
            return true;
        }
    }
    for (size_t i = first; i + 1 < fields->n && i < first + 3; i++) {
        if (!is_count(fields->text[i]) || !is_event(fields->text[i + 1]))
            continue;
        *count = i;
        *event = i + 1;
        return true;
    }
    return false;
}

// The separator after the first field of a line: after its time, its count or its place. 0: there is none. A line
// without time whose fields are apart by spaces is one of a table.
static char divider_of(const char *line, bool timed) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    size_t length = strspn(line, "0123456789");
    if (length > 0 && line[length] == '.')
        length += 1 + strspn(line + length + 1, "0123456789");
    if (timed || length > 0)
        return length > 0 && !isalnum((unsigned char)line[length]) && (timed || line[length] != ' ') ? line[length]
                                                                                                     : '\0';
    length = line[0] == '<' ? strcspn(line, ">") + 1 : strspn(line, letters);
    return length <= strlen(line) && line[length] != ' ' ? line[length] : '\0';
}

// Digits alone, and so many.
static bool is_half(const char *text, size_t least, size_t most) {
    size_t n = strspn(text, "0123456789");
    return text[n] == '\0' && n >= least && n <= most;
}

// What follows the event: a cgroup's name, or with -r the variation of runs, then the running time and its share.
static bool read_rest(struct fields *fields, size_t event, bool placed, struct perf_log_line *out) {
    size_t running = event + 1;
    if (running < fields->n && !is_number(fields->text[running])) {
        const char *extra = fields->text[running++];
        bool cgroup = *extra != '\0' && !strchr(extra, '%');
        if (cgroup && placed)
            return false; // CPUs of each cgroup: more places than a host has
        out->place = cgroup ? extra : out->place;
    }
    if (fields->divider == ',' && running + 2 < fields->n && is_half(fields->text[running + 1], 1, 3) &&
        is_half(fields->text[running + 2], 2, 2))
        join(fields, running + 1); // a decimal comma: perf writes two decimals
    out->running = running < fields->n ? fields->text[running] : NULL;
    out->share = running + 1 < fields->n ? fields->text[running + 1] : NULL;
    return true;
}

bool perf_log_read_csv(char *line, bool timed, struct perf_log_line *out) {
    struct fields fields = {.n = 0};
    line += strspn(line, " ");
    fields.divider = divider_of(line, timed);
    if (fields.divider == '\0')
        return false;
    split(line, &fields);
    size_t first = timed ? 1 : 0; // the place or the count
    bool placed = fields.n > first && !is_count(fields.text[first]);
    size_t count, event;
    if ((timed && (!strchr(fields.text[0], '.') || !perf_log_time(fields.text[0], &out->end_ns))) ||
        !find_count(&fields, first + (placed ? 1 : 0), &count, &event) ||
        (!timed && (count > first + (placed ? 2 : 0) || isdigit((unsigned char)fields.text[event][0]))))
        return false;
    join_event(&fields, event);
    out->place = placed ? fields.text[first] : "";
    out->count = fields.text[count];
    out->unit = event - count == 2 ? fields.text[count + 1] : "";
    out->event = fields.text[event];
    out->cpus = placed && count == first + 2 ? (unsigned)strtoul(fields.text[first + 1], NULL, 10) : 0;
    return read_rest(&fields, event, placed, out);
}
