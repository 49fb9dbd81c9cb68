// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_private.h"
#include "core/base/array.h"
#include "core/base/decimal.h"
#include "core/base/name_index.h"

// Reads a log line by line. Lines without a count are skipped and counted: comments, summaries, metrics without an
// event. A log without any valid line is refused. All lines of an interval have the same time, so a different time
// begins the next one.

enum { SCRATCH_MAX = 8192 };

struct parser {
    const char *name;
    struct errors *errors;
    struct perf_log *log;
    struct name_index events, places;
    unsigned line;
    char scratch[SCRATCH_MAX];
    char *text; // PERF_LOG_LINE_MAX
};

static int perf_log_fail(struct parser *parser, const char *what) {
    return errors_add(parser->errors, parser->name, parser->line, 0, "%s", what);
}

static int perf_log_fail_all(struct parser *parser) {
    parser->line = 0;
    return perf_log_fail(
        parser, "is neither a recording of topdownd nor an interval log of perf: perf stat -I 1000 with -x, or "
                "-j makes one");
}

// Index of the name in the list, added if new; -E2BIG if there are too many.
static int index_of(struct name_index *index, char ***names, size_t *n, size_t max, const char *name) {
    int found = name_index_find(index, name, strlen(name), false);
    if (found >= 0)
        return found;
    if (*n == max || strlen(name) > PERF_LOG_NAME_MAX)
        return -E2BIG;
    char **grown = array_grow(*names, *n, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *names = grown;
    grown[*n] = strdup(name);
    if (!grown[*n] || name_index_add(index, grown[*n], (unsigned)*n) < 0) {
        free(grown[*n]);
        return -ENOMEM;
    }
    return (int)(*n)++;
}

static int begin_interval(struct parser *parser, uint64_t end_ns) {
    struct perf_log *log = parser->log;
    const struct perf_log_interval *last = log->n_intervals > 0 ? &log->intervals[log->n_intervals - 1] : NULL;
    if (last && last->end_ns == end_ns)
        return 0;
    if (last && end_ns < last->end_ns)
        return perf_log_fail(parser, "goes back in time: is this more than one log? Give them one at a time");
    struct perf_log_interval *intervals = array_grow(log->intervals, log->n_intervals, sizeof *intervals);
    if (!intervals)
        return -ENOMEM;
    log->intervals = intervals;
    log->intervals[log->n_intervals++] = (struct perf_log_interval){.end_ns = end_ns, .first = log->n_rows};
    return 0;
}

static bool fill_row(const struct perf_log_line *line, struct perf_log_row *row) {
    double count = 0, per_cent = 100;
    bool clock = strcmp(line->unit, "msec") == 0;
    *row = (struct perf_log_row){.state = strcmp(line->count, "<not supported>") == 0 ? PERF_LOG_NOT_SUPPORTED
                                          : strcmp(line->count, "<not counted>") == 0 ? PERF_LOG_NOT_COUNTED
                                                                                      : PERF_LOG_COUNTED};
    if (row->state == PERF_LOG_COUNTED && !perf_log_number(line->count, clock ? 1e6 : 1, &count))
        return false;
    if (line->share && !perf_log_number(line->share, 1, &per_cent))
        per_cent = 100;
    row->count = (uint64_t)(count + 0.5);
    row->share = (float)(per_cent < 100 ? per_cent / 100 : 1);
    return true;
}

static int take(struct parser *parser, const struct perf_log_line *line) {
    struct perf_log *log = parser->log;
    struct perf_log_row row;
    if (line->end_ns == 0 || !fill_row(line, &row)) { // no interval ends at 0
        log->n_skipped++;
        return 0;
    }
    int event = index_of(&parser->events, &log->events, &log->n_events, PERF_LOG_EVENTS_MAX, line->event);
    int place =
        event < 0 ? event : index_of(&parser->places, &log->places, &log->n_places, PERF_LOG_PLACES_MAX, line->place);
    if (place == -E2BIG || log->n_rows == PERF_LOG_ROWS_MAX)
        return perf_log_fail(parser, "holds more events, CPUs or counts than topdownd takes");
    int r = place < 0 ? place : begin_interval(parser, line->end_ns);
    if (r < 0)
        return r;
    struct perf_log_row *rows = array_grow(log->rows, log->n_rows, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    log->rows = rows;
    row.event = (unsigned)event;
    row.place = (unsigned)place;
    log->rows[log->n_rows++] = row;
    log->intervals[log->n_intervals - 1].n_rows++;
    return 0;
}

static int read_line(struct parser *parser, const char *begin, size_t n) {
    while (n > 0 && (begin[n - 1] == '\r' || begin[n - 1] == ' '))
        n--;
    if (n == 0 || begin[0] == '#')
        return 0;
    if (n >= PERF_LOG_LINE_MAX || memchr(begin, 0, n))
        return parser->log->n_intervals > 0 ? perf_log_fail(parser, "is no line of perf stat")
                                            : perf_log_fail_all(parser);
    memcpy(parser->text, begin, n);
    parser->text[n] = '\0';
    struct perf_log_line line = {.share = NULL};
    const char *first = parser->text + strspn(parser->text, " ");
    bool good = *first == '{' ? perf_log_read_json(first, strlen(first), parser->scratch, &line)
                              : perf_log_read_csv(parser->text, &line);
    if (good)
        return take(parser, &line);
    parser->log->n_skipped++;
    return 0;
}

static int read_lines(struct parser *parser, const char *text, size_t length) {
    int r = 0;
    for (const char *end = text + length; text < end && r == 0;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        parser->line++;
        r = read_line(parser, text, (size_t)(stop - text));
        text = stop + 1;
    }
    return r == 0 && parser->log->n_intervals == 0 ? perf_log_fail_all(parser) : r;
}

int perf_log_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_log **out) {
    struct parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return -ENOMEM;
    *parser = (struct parser){.name = name, .errors = errors};
    parser->log = calloc(1, sizeof *parser->log);
    parser->text = malloc(PERF_LOG_LINE_MAX);
    int r = parser->log && parser->text ? read_lines(parser, text, length) : -ENOMEM;
    if (r == 0)
        *out = parser->log;
    else
        perf_log_free(parser->log);
    name_index_deinit(&parser->events);
    name_index_deinit(&parser->places);
    free(parser->text);
    free(parser);
    return r;
}

static void free_names(char **names, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

struct perf_log *perf_log_free(struct perf_log *log) {
    if (log) {
        free_names(log->events, log->n_events);
        free_names(log->places, log->n_places);
        free(log->rows);
        free(log->intervals);
        free(log);
    }
    return NULL;
}
