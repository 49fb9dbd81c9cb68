// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_columns.h"
#include "config/perf_log/perf_log_private.h"
#include "core/base/array.h"
#include "core/base/decimal.h"
#include "core/base/name_index.h"

// Reads a log line by line. Lines without a count are skipped and counted: comments, summaries, metrics without an
// event. A log without any valid line is refused. All lines of an interval have the same time, so a different time
// begins the next one. If no line has a time, the log is of perf stat without -I, and all of it is one interval;
// another one begins where another perf appended its own.

enum { SCRATCH_MAX = 8192 };

struct parser {
    const char *name;
    struct errors *errors;
    struct perf_log *log;
    struct name_index events, places;
    unsigned line;
    bool timed;
    // of a log without times: how long the present interval lasted, as a table says it, an event, or the longest time
    // that an event was enabled; 0: not said
    uint64_t elapsed_ns, duration_ns, enabled_ns;
    char scratch[SCRATCH_MAX];
    char *text; // PERF_LOG_LINE_MAX
};

static int perf_log_fail(struct parser *parser, const char *what) {
    return errors_add(parser->errors, parser->name, parser->line, 0, "%s", what);
}

static int perf_log_fail_all(struct parser *parser) {
    parser->line = 0;
    return perf_log_fail(parser, "is neither a recording of topdownd nor a log of perf stat: perf stat -I 1000 with "
                                 "-x, or -j makes the best one");
}

// Index of the name in the list, added if new; -ENAMETOOLONG; -E2BIG if there are too many.
static int index_of(struct name_index *index, char ***names, size_t *n, size_t max, const char *name) {
    int found = name_index_find(index, name, strlen(name), false);
    if (found >= 0)
        return found;
    if (strlen(name) > PERF_LOG_NAME_MAX)
        return -ENAMETOOLONG;
    if (*n == max)
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

static int add_interval(struct perf_log *log, uint64_t end_ns) {
    struct perf_log_interval *intervals = array_grow(log->intervals, log->n_intervals, sizeof *intervals);
    if (!intervals)
        return -ENOMEM;
    log->intervals = intervals;
    log->intervals[log->n_intervals++] = (struct perf_log_interval){.end_ns = end_ns, .first = log->n_rows};
    return 0;
}

static int begin_interval(struct parser *parser, uint64_t end_ns) {
    struct perf_log *log = parser->log;
    const struct perf_log_interval *last = log->n_intervals > 0 ? &log->intervals[log->n_intervals - 1] : NULL;
    if (last && last->end_ns == end_ns)
        return 0;
    if (last && end_ns < last->end_ns)
        return perf_log_fail(parser, "goes back in time: is this more than one log? Give them one at a time");
    return add_interval(log, end_ns);
}

// ---- logs without times ----

// The end of the present interval is not known yet.
static const uint64_t OPEN = UINT64_MAX;

static struct perf_log_interval *open_interval(const struct perf_log *log) {
    struct perf_log_interval *last = log->n_intervals > 0 ? &log->intervals[log->n_intervals - 1] : NULL;
    return last && last->end_ns == OPEN ? last : NULL;
}

static void note_length(struct parser *parser, const struct perf_log_line *line, const struct perf_log_row *row) {
    bool clock = strcmp(line->unit, "msec") == 0;
    double enabled = clock ? (double)row->count : (double)row->running_ns / (row->share > 0 ? row->share : 1);
    enabled /= line->cpus > 0 ? line->cpus : 1;
    uint64_t one = enabled < 1e18 ? (uint64_t)enabled : 0;
    if (row->state == PERF_LOG_COUNTED && strcmp(line->event, "duration_time") == 0)
        parser->duration_ns = row->count;
    else if (row->state == PERF_LOG_COUNTED && one > parser->enabled_ns)
        parser->enabled_ns = one;
}

// Ends the present interval, if there is one.
static int end_interval(struct parser *parser) {
    struct perf_log *log = parser->log;
    struct perf_log_interval *last = open_interval(log);
    uint64_t length = parser->elapsed_ns    ? parser->elapsed_ns
                      : parser->duration_ns ? parser->duration_ns
                                            : parser->enabled_ns;
    parser->elapsed_ns = parser->duration_ns = parser->enabled_ns = 0;
    if (!last)
        return 0;
    if (length == 0)
        return perf_log_fail(parser, "does not say how long perf counted: count the event duration_time too, or use "
                                     "perf stat -I 1000, which writes the time");
    uint64_t before = log->n_intervals > 1 ? last[-1].end_ns : 0;
    if (length / 1000000000 + before / 1000000000 >= PERF_LOG_SECONDS_MAX)
        return perf_log_fail(parser, "lasts longer than a year");
    last->end_ns = before + length;
    return 0;
}

// Returns 1 for a line that says how long perf counted, or with which another perf begins.
static int read_frame(struct parser *parser, const char *text) {
    if (strncmp(text, "# started on", 12) == 0 || strstr(text, "Performance counter stats for"))
        return end_interval(parser) < 0 ? -EINVAL : 1;
    uint64_t elapsed_ns;
    if (!perf_log_read_elapsed(text, &elapsed_ns))
        return 0;
    parser->elapsed_ns = elapsed_ns;
    return 1;
}

// ---- rows ----

// Half of the last digit that perf prints, which is what "0.00%" of an event with a count stands for.
static const double PER_CENT_LEAST = 0.005;

static double share_of(const struct perf_log_line *line) {
    double per_cent = line->share_of_all ? 100 : NAN;
    if (line->share && !perf_log_number(line->share, 1, &per_cent))
        return NAN;
    return isnan(per_cent) ? NAN : fmin(fmax(per_cent, PER_CENT_LEAST), 100) / 100;
}

static bool fill_row(const struct perf_log_line *line, struct perf_log_row *row) {
    double count = 0, running;
    bool clock = strcmp(line->unit, "msec") == 0;
    *row = (struct perf_log_row){.state = strcmp(line->count, "<not supported>") == 0 ? PERF_LOG_NOT_SUPPORTED
                                          : strcmp(line->count, "<not counted>") == 0 ? PERF_LOG_NOT_COUNTED
                                                                                      : PERF_LOG_COUNTED};
    if (row->state == PERF_LOG_COUNTED && !perf_log_number(line->count, clock ? 1e6 : 1, &count))
        return false;
    if (line->running && perf_log_number(line->running, 1, &running))
        row->running_ns = (uint64_t)running;
    row->count = (uint64_t)(count + 0.5);
    row->share = share_of(line);
    return true;
}

static int take(struct parser *parser, const struct perf_log_line *line) {
    struct perf_log *log = parser->log;
    struct perf_log_row row;
    if ((parser->timed && line->end_ns == 0) || !fill_row(line, &row)) { // no interval ends at 0
        log->n_skipped++;
        return 0;
    }
    int event = index_of(&parser->events, &log->events, &log->n_events, PERF_LOG_EVENTS_MAX, line->event);
    int place =
        event < 0 ? event : index_of(&parser->places, &log->places, &log->n_places, PERF_LOG_PLACES_MAX, line->place);
    if (place == -ENAMETOOLONG)
        return errors_add(parser->errors, parser->name, parser->line, 0,
                          "the name '%.40s...' is longer than %d bytes, the most that topdownd takes: perf stat -e "
                          "PMU/TERMS,name=SHORT/ gives an event a shorter one",
                          event < 0 ? line->event : line->place, PERF_LOG_NAME_MAX);
    if (place == -E2BIG || log->n_rows == PERF_LOG_ROWS_MAX)
        return perf_log_fail(parser, "holds more events, CPUs or counts than topdownd takes");
    int r = place < 0            ? place
            : parser->timed      ? begin_interval(parser, line->end_ns)
            : open_interval(log) ? 0
                                 : add_interval(log, OPEN);
    if (r < 0)
        return r;
    struct perf_log_row *rows = array_grow(log->rows, log->n_rows, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    log->rows = rows;
    row.event = (uint16_t)event;
    row.place = (uint16_t)place;
    row.cpus = (uint16_t)(line->cpus < PERF_LOG_PLACES_MAX ? line->cpus : 0);
    log->rows[log->n_rows++] = row;
    log->intervals[log->n_intervals - 1].n_rows++;
    if (!parser->timed)
        note_length(parser, line, &row);
    return 0;
}

// ---- lines ----

// Reads a line in the ways of perf, one after the other, each from a copy.
static bool read_formats(struct parser *parser, const char *begin, size_t n, struct perf_log_line *line) {
    static bool (*const readers[])(char *, bool, struct perf_log_line *) = {perf_log_read_table, perf_log_read_csv};
    size_t indent = strspn(begin, " ");
    if (indent < n && begin[indent] == '{')
        return perf_log_read_json(begin + indent, n - indent, parser->timed, parser->scratch, line);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        memcpy(parser->text, begin, n);
        parser->text[n] = '\0';
        *line = (struct perf_log_line){.share = NULL};
        if (readers[i](parser->text, parser->timed, line))
            return true;
    }
    return false;
}

static int read_line(struct parser *parser, const char *begin, size_t n) {
    while (n > 0 && (begin[n - 1] == '\r' || begin[n - 1] == ' '))
        n--;
    if (n == 0)
        return 0;
    if (n >= PERF_LOG_LINE_MAX || memchr(begin, 0, n))
        return parser->log->n_intervals > 0 ? perf_log_fail(parser, "is no line of perf stat")
                                            : perf_log_fail_all(parser);
    if (!parser->timed) {
        memcpy(parser->text, begin, n);
        parser->text[n] = '\0';
        int r = read_frame(parser, parser->text);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    struct perf_log_line line = {.share = NULL};
    if (begin[0] == '#')
        return 0;
    if (read_formats(parser, begin, n, &line))
        return take(parser, &line);
    parser->log->n_skipped++;
    return 0;
}

static int read_lines(struct parser *parser, const char *text, size_t length) {
    int r = 0;
    parser->line = 0;
    parser->log->n_skipped = 0;
    for (const char *end = text + length; text < end && r == 0;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        parser->line++;
        r = read_line(parser, text, (size_t)(stop - text));
        text = stop + 1;
    }
    return r == 0 && !parser->timed ? end_interval(parser) : r;
}

static int read_log(struct parser *parser, const char *text, size_t length) {
    int r = read_lines(parser, text, length);
    if (r == 0 && parser->log->n_intervals == 0) {
        parser->timed = false;
        r = read_lines(parser, text, length);
    }
    if (r == 0 && parser->log->n_intervals == 0)
        return perf_log_fail_all(parser);
    r = r == 0 ? perf_log_make_columns(parser->log) : r;
    return r == -E2BIG ? perf_log_fail(parser, "holds more events than topdownd takes") : r;
}

int perf_log_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_log **out) {
    struct parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return -ENOMEM;
    *parser = (struct parser){.name = name, .errors = errors, .timed = true};
    parser->log = calloc(1, sizeof *parser->log);
    parser->text = malloc(PERF_LOG_LINE_MAX);
    int r = parser->log && parser->text ? read_log(parser, text, length) : -ENOMEM;
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
        free(log->columns);
        free(log->rows);
        free(log->intervals);
        free(log);
    }
    return NULL;
}
