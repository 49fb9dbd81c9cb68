// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log_columns.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_event.h"
#include "core/base/array.h"

// ---- columns ----

struct making {
    struct perf_log *log;
    int *first;      // by event: its column with n = 0; -1: none yet
    unsigned *seen;  // by event: how often in this place of this interval ...
    size_t *seen_in; // ... if this is its number
    size_t here;     // number of the place and interval, counted from 1
    bool *parted;    // by column: it and the next one are of different groups
    unsigned *order; // rows of an interval, by place
    size_t order_room;
};

// Index of the column, which is added if new; -E2BIG, -ENOMEM.
static int column_of(struct making *making, unsigned event, unsigned nth) {
    struct perf_log *log = making->log;
    int *at = &making->first[event];
    while (*at >= 0 && log->columns[*at].nth != nth)
        at = &log->columns[*at].next;
    if (*at >= 0)
        return *at;
    if (log->n_columns == PERF_LOG_EVENTS_MAX)
        return -E2BIG;
    *at = (int)log->n_columns;
    log->columns[log->n_columns] = (struct perf_log_column){.event = event, .nth = nth, .next = -1};
    return (int)log->n_columns++;
}

// Sets the columns of the rows of one place and interval, in the order of their lines.
static int place_rows(struct making *making, const unsigned *rows, size_t n) {
    const struct perf_log_row *last = NULL;
    making->here++;
    for (size_t i = 0; i < n; i++) {
        struct perf_log_row *row = &making->log->rows[rows[i]];
        unsigned *seen = &making->seen[row->event];
        *seen = making->seen_in[row->event] == making->here ? *seen + 1 : 0;
        making->seen_in[row->event] = making->here;
        int column = column_of(making, row->event, *seen < PERF_LOG_REPEATS_MAX ? *seen : PERF_LOG_REPEATS_MAX - 1);
        if (column < 0)
            return column;
        row->column = (uint16_t)column;
        if (row->state != PERF_LOG_COUNTED)
            continue;
        if (last && last->column + 1 == column && last->running_ns != row->running_ns)
            making->parted[last->column] = true;
        last = row;
    }
    return 0;
}

static int compare_places(const void *a, const void *b, void *context) {
    const struct perf_log_row *rows = context;
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return rows[x].place != rows[y].place ? rows[x].place - rows[y].place : (x > y) - (x < y);
}

static int place_interval(struct making *making, const struct perf_log_interval *interval) {
    const struct perf_log_row *rows = making->log->rows;
    unsigned *order = array_reserve(making->order, interval->n_rows, &making->order_room, sizeof *order);
    if (!order)
        return -ENOMEM;
    making->order = order;
    for (size_t i = 0; i < interval->n_rows; i++)
        order[i] = (unsigned)(interval->first + i);
    qsort_r(order, interval->n_rows, sizeof *order, compare_places, making->log->rows);
    int r = 0;
    for (size_t i = 0, end; i < interval->n_rows && r == 0; i = end) {
        for (end = i + 1; end < interval->n_rows && rows[order[end]].place == rows[order[i]].place;)
            end++;
        r = place_rows(making, order + i, end - i);
    }
    return r;
}

// ---- groups ----

// Columns [from, to) that ran equally long, and a way to divide them: the events that repeat begin groups, in the
// order of the columns or in the reverse.
struct division {
    size_t from, to;
    bool back;
    bool fits; // it begins with an event that repeats
    unsigned n;
    size_t squares;  // sum of the squares of the groups' sizes: less is more even
    unsigned *group; // by column
};

static void divide(const struct perf_log *log, const unsigned *uses, size_t *stamps, struct division *division) {
    size_t size = 0, n = division->to - division->from;
    bool after_single = false;
    memset(stamps, 0, log->n_events * sizeof *stamps);
    division->n = 0;
    division->squares = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = division->back ? division->to - 1 - i : division->from + i;
        unsigned event = log->columns[c].event;
        if (i > 0 && (stamps[event] == division->n + 1 || (uses[event] > 1 && after_single))) {
            division->squares += size * size;
            size = 0;
            division->n++;
        }
        if (i == 0)
            division->fits = uses[event] > 1;
        after_single = uses[event] == 1;
        stamps[event] = division->n + 1;
        division->group[c] = division->n;
        size++;
    }
    division->squares += size * size;
    division->n++;
}

static bool better(const struct division *a, const struct division *b) {
    if (a->fits != b->fits)
        return a->fits;
    return a->n != b->n ? a->n < b->n : a->squares < b->squares;
}

static void group_columns(struct perf_log *log, const bool *parted, unsigned *forward, unsigned *back, unsigned *uses,
                          size_t *stamps) {
    unsigned groups = 0;
    for (size_t from = 0, to; from < log->n_columns; from = to) {
        for (to = from + 1; to < log->n_columns && !parted[to - 1];)
            to++;
        memset(uses, 0, log->n_events * sizeof *uses);
        for (size_t c = from; c < to; c++)
            uses[log->columns[c].event]++;
        struct division a = {.from = from, .to = to, .group = forward};
        struct division b = {.from = from, .to = to, .group = back, .back = true};
        divide(log, uses, stamps, &a);
        divide(log, uses, stamps, &b);
        const struct division *best = better(&b, &a) ? &b : &a;
        for (size_t c = from; c < to; c++)
            log->columns[c].group = groups + best->group[c];
        groups += best->n;
    }
}

int perf_log_make_columns(struct perf_log *log) {
    struct making making = {.log = log,
                            .first = malloc(log->n_events * sizeof *making.first),
                            .seen = calloc(log->n_events, sizeof *making.seen),
                            .seen_in = calloc(log->n_events, sizeof *making.seen_in),
                            .parted = calloc(PERF_LOG_EVENTS_MAX, sizeof *making.parted)};
    unsigned *forward = calloc(PERF_LOG_EVENTS_MAX, sizeof *forward), *back = calloc(PERF_LOG_EVENTS_MAX, sizeof *back);
    log->columns = calloc(PERF_LOG_EVENTS_MAX, sizeof *log->columns);
    bool room = making.first && making.seen && making.seen_in && making.parted && forward && back && log->columns;
    int r = room ? 0 : -ENOMEM;
    for (size_t e = 0; r == 0 && e < log->n_events; e++)
        making.first[e] = -1;
    for (size_t i = 0; r == 0 && i < log->n_intervals; i++)
        r = place_interval(&making, &log->intervals[i]);
    if (r == 0)
        group_columns(log, making.parted, forward, back, making.seen, making.seen_in);
    free(back);
    free(forward);
    free(making.order);
    free(making.parted);
    free(making.seen_in);
    free(making.seen);
    free(making.first);
    return r;
}

// ---- choices ----

// How well the columns of a choice go together: less is better, the first number first.
struct choice {
    unsigned other_modes, other_groups, distance, anchor;
    unsigned *columns;
};

static int compare_choices(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    if (x->other_modes != y->other_modes)
        return x->other_modes < y->other_modes ? -1 : 1;
    if (x->other_groups != y->other_groups)
        return x->other_groups < y->other_groups ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->anchor > y->anchor) - (x->anchor < y->anchor);
}

// How far column c is from the anchor's time and modes.
static struct choice between(const struct perf_log *log, unsigned anchor, unsigned c) {
    const struct perf_log_column *a = &log->columns[anchor], *b = &log->columns[c];
    return (struct choice){.other_modes = !perf_log_same_modes(log->events[a->event], log->events[b->event]),
                           .other_groups = a->group != b->group,
                           .distance = c > anchor ? c - anchor : anchor - c,
                           .anchor = c};
}

// Chooses the best column of each event around the anchor.
static void choose_around(const struct perf_log *log, const int *column_event, const unsigned *events, size_t n_events,
                          struct choice *choice) {
    for (size_t i = 0; i < n_events; i++) {
        struct choice best = {.other_modes = UINT_MAX};
        for (unsigned c = 0; c < log->n_columns; c++) {
            if (column_event[c] != (int)events[i])
                continue;
            const struct choice one = between(log, choice->anchor, c);
            if (compare_choices(&one, &best) < 0)
                best = one;
        }
        choice->columns[i] = best.anchor;
        choice->other_modes += best.other_modes;
        choice->other_groups += best.other_groups;
        choice->distance += best.distance;
    }
}

// Every column of the event with the fewest is an anchor: of another event's, no more can be chosen that differ.
static unsigned rarest(const struct perf_log *log, const int *column_event, const unsigned *events, size_t n_events) {
    size_t least = SIZE_MAX;
    unsigned of = events[0];
    for (size_t i = 0; i < n_events; i++) {
        size_t n = 0;
        for (size_t c = 0; c < log->n_columns; c++)
            n += column_event[c] == (int)events[i];
        if (n < least) {
            least = n;
            of = events[i];
        }
    }
    return of;
}

int perf_log_choose_columns(const struct perf_log *log, const int *column_event, const unsigned *events,
                            size_t n_events, struct perf_log_choices *out) {
    unsigned event = rarest(log, column_event, events, n_events);
    struct choice choices[PERF_LOG_REPEATS_MAX];
    unsigned *columns = calloc(PERF_LOG_REPEATS_MAX * n_events, sizeof *columns);
    *out = (struct perf_log_choices){.n_events = n_events,
                                     .columns = calloc(PERF_LOG_CHOICES_MAX * n_events, sizeof *out->columns)};
    size_t n = 0;
    for (unsigned c = 0; columns && c < log->n_columns && n < PERF_LOG_REPEATS_MAX; c++) {
        if (column_event[c] != (int)event)
            continue;
        choices[n] = (struct choice){.anchor = c, .columns = columns + n * n_events};
        choose_around(log, column_event, events, n_events, &choices[n++]);
    }
    if (columns)
        qsort(choices, n, sizeof *choices, compare_choices);
    for (size_t i = 0; columns && out->columns && i < n && out->n < PERF_LOG_CHOICES_MAX; i++)
        memcpy(out->columns + out->n++ * n_events, choices[i].columns, n_events * sizeof *columns);
    free(columns);
    if (out->n > 0)
        return 0;
    perf_log_choices_deinit(out);
    return -ENOMEM;
}

void perf_log_choices_deinit(struct perf_log_choices *choices) {
    free(choices->columns);
    *choices = (struct perf_log_choices){.columns = NULL};
}
