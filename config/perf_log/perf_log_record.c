// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log.h"
#include "config/perf_log/perf_log_columns.h"
#include "config/perf_log/perf_log_event.h"
#include "core/counts/zeros.h"

// Converts a log into a recording, so that there is only one way to replay.
//
// Every metric's events are an event group of their own, whose counts stand for the whole interval on every place: perf
// has scaled them (struct readings, `scaled`). A window ran for as long as the event that ran least. If that is less
// than the whole interval, it is contended; if one of its events was not counted, it has no data. If events stand
// several times in the log, a window takes the counts that belong together (perf_log_columns.h).

// ---- the plan ----

static int compare_ns(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint64_t interval_ns(const struct perf_log *log, size_t i) {
    return log->intervals[i].end_ns - (i > 0 ? log->intervals[i - 1].end_ns : 0);
}

// The median length of the intervals; 0 if out of memory.
static uint64_t usual_ns(const struct perf_log *log) {
    uint64_t *lengths = calloc(log->n_intervals, sizeof *lengths), median = 0;
    for (size_t i = 0; lengths && i < log->n_intervals; i++)
        lengths[i] = interval_ns(log, i);
    if (lengths) {
        qsort(lengths, log->n_intervals, sizeof *lengths, compare_ns);
        median = lengths[log->n_intervals / 2];
    }
    free(lengths);
    return median;
}

// 3 for "CPU3"; for other places a number above all possible CPUs'.
static unsigned place_id(const struct perf_log *log, size_t place) {
    char *end;
    const char *name = log->places[place];
    unsigned long id = strncmp(name, "CPU", 3) == 0 ? strtoul(name + 3, &end, 10) : ULONG_MAX;
    return id < PERF_LOG_PLACES_MAX ? (unsigned)id : (unsigned)place;
}

static int place_socket(const char *name) { return name[0] == 'S' || name[0] == 'N' ? atoi(name + 1) : 0; }

static int compare_sources(const void *a, const void *b) {
    const struct topology_source *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

// True for places that counted an event of the core PMU. Of a host with several core types, a log has other places too.
static int mark_places(const struct perf_log_request *request, bool *used) {
    const struct perf_log *log = request->log;
    bool *of_pmu = calloc(log->n_events, sizeof *of_pmu);
    for (size_t e = 0; of_pmu && e < log->n_events; e++)
        of_pmu[e] = !request->pmu || (strchr(log->events[e], '/') && perf_log_find_event_of(request, e) >= 0);
    for (size_t i = 0; of_pmu && i < log->n_rows; i++)
        used[log->rows[i].place] = used[log->rows[i].place] || of_pmu[log->rows[i].event];
    free(of_pmu);
    return of_pmu ? 0 : -ENOMEM;
}

// A CPU for each place, ascending by number.
static int make_topology(const struct perf_log_request *request, struct errors *errors, struct topology **out) {
    const struct perf_log *log = request->log;
    struct topology_source *sources = calloc(log->n_places, sizeof *sources);
    bool *used = calloc(log->n_places, sizeof *used);
    size_t n = 0;
    int r = sources && used ? mark_places(request, used) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < log->n_places; i++)
        if (used[i])
            sources[n++] = (struct topology_source){.id = place_id(log, i),
                                                    .core = (int)i, // the log does not tell which CPUs are siblings
                                                    .package = place_socket(log->places[i]),
                                                    .selected = true};
    if (n > 0)
        qsort(sources, n, sizeof *sources, compare_sources);
    if (r == 0)
        r = n > 0 ? topology_new(sources, n, 0, out)
                  : errors_add(errors, request->name, 0, 0, "has no count of the PMU %.60s", request->pmu);
    free(used);
    free(sources);
    return r == -EINVAL && n > 0
               ? errors_add(errors, request->name, 0, 0, "counts of CPUs and of sockets, or of all, in one log")
               : r;
}

// An event that perf reports as not supported counts as missing from the log. For other events perf reports when it
// could not count them. Whether one that stays 0 is believed follows as on a host (core/counts/zeros.h); software
// events always count.
static void mark_support(const struct perf_log_request *request, uint8_t *support) {
    const struct perf_log *log = request->log;
    const struct catalog *catalog = request->catalog;
    memset(support, PLAN_NOT_RECORDED, catalog->n_events);
    for (size_t e = 0; e < log->n_events; e++) {
        int event = perf_log_find_event_of(request, e);
        size_t row = 0;
        while (row < log->n_rows && (log->rows[row].event != e || log->rows[row].state == PERF_LOG_NOT_SUPPORTED))
            row++;
        if (event >= 0 && row < log->n_rows)
            support[event] = catalog->general_counters == 0 ? PLAN_SUPPORTED : PLAN_SUPPORT_UNKNOWN;
    }
}

// What each column of the log has counted in sum; NULL if out of memory.
static uint64_t *sum_columns(const struct perf_log *log) {
    uint64_t *sums = calloc(log->n_columns + 1, sizeof *sums);
    for (size_t i = 0; sums && i < log->n_rows; i++) {
        uint64_t *sum = &sums[log->rows[i].column],
                 count = log->rows[i].state == PERF_LOG_COUNTED ? log->rows[i].count : 0;
        *sum = count < UINT64_MAX - *sum ? *sum + count : UINT64_MAX;
    }
    return sums;
}

// What a log says of its events' zeros.
struct log_zeros {
    bool *ran; // by event: perf has a count of it, if only 0
    struct zeros *zeros;
};

static void note_sums(const struct perf_log_request *request, const uint64_t *sums, const struct log_zeros *found) {
    uint64_t most = 0; // that an event of the core counted
    for (size_t c = 0; c < request->log->n_columns; c++) {
        int event = perf_log_find_event_of(request, request->log->columns[c].event);
        if (event < 0 || sums[c] == 0)
            continue;
        found->zeros->counted[event] = true;
        if (request->catalog->events[event].code.pmu == 0 && sums[c] > most)
            most = sums[c];
    }
    for (unsigned e = 0; e < request->catalog->n_events; e++)
        if (found->ran[e] && !found->zeros->counted[e])
            zeros_note_silence(found->zeros, e, most);
    zeros_judge(found->zeros);
}

static void note_rows(const struct perf_log_request *request, bool *ran) {
    const struct perf_log *log = request->log;
    for (size_t e = 0; e < log->n_events; e++) {
        int event = perf_log_find_event_of(request, e);
        size_t row = 0;
        while (row < log->n_rows && (log->rows[row].event != e || log->rows[row].state != PERF_LOG_COUNTED))
            row++;
        if (event >= 0 && row < log->n_rows)
            ran[event] = true;
    }
}

// Finds the events that are dead by the whole log, and those that got no counter in all of it.
static bool *find_dead(const struct perf_log_request *request, const uint8_t *support) {
    const struct catalog *catalog = request->catalog;
    bool *dead = calloc(catalog->n_events, sizeof *dead);
    uint64_t *sums = sum_columns(request->log);
    struct log_zeros found = {.ran = calloc(catalog->n_events, sizeof *found.ran), .zeros = zeros_new(catalog)};
    if (dead && sums && found.ran && found.zeros) {
        note_rows(request, found.ran);
        note_sums(request, sums, &found);
        for (unsigned e = 0; e < catalog->n_events; e++)
            dead[e] = support[e] == PLAN_SUPPORT_UNKNOWN && (!found.ran[e] || zeros_dead(found.zeros, support, e));
    } else {
        free(dead);
        dead = NULL;
    }
    zeros_free(found.zeros);
    free(found.ran);
    free(sums);
    return dead;
}

static int make_plan(const struct perf_log_request *of, struct errors *errors, struct plan **out) {
    uint64_t slot_ns = usual_ns(of->log);
    uint8_t *support = malloc(of->catalog->n_events);
    if (support)
        mark_support(of, support);
    bool *dead = support ? find_dead(of, support) : NULL;
    if (!dead || slot_ns == 0) {
        free(dead);
        free(support);
        return -ENOMEM;
    }
    const struct plan_request request = {.catalog = of->catalog,
                                         .selections = of->selections,
                                         .n_selections = of->n_selections,
                                         .slot_ns = slot_ns,
                                         .support = support,
                                         .dead = dead,
                                         .apart = true};
    int r = plan_new(&request, out);
    free(dead);
    free(support);
    return r == -E2BIG ? errors_add(errors, of->name, 0, 0,
                                    "the profile asks for more than %d metrics: name fewer groups", PLAN_UNITS_MAX)
                       : r;
}

// ---- rounds ----

struct tape {
    const struct perf_log_request *request;
    const struct snapshot_layout *layout;
    int *column_event;                  // by column: the catalog's event; -1: none
    int *cpu_of;                        // by place: the topology's CPU; -1: none
    struct perf_log_choices *choices;   // by event group: the columns of its events
    const struct perf_log_row **row;    // of this interval: [cpu][column]; NULL: none
    const struct perf_log_row **chosen; // of the events of a group
    struct readings *readings;
};

static void fill_rows(struct tape *tape, const struct perf_log_interval *interval) {
    const struct perf_log *log = tape->request->log;
    memset(tape->row, 0, tape->layout->topology->n_cpus * log->n_columns * sizeof *tape->row);
    for (size_t i = interval->first; i < interval->first + interval->n_rows; i++) {
        const struct perf_log_row *row = &log->rows[i];
        if (tape->column_event[row->column] < 0 || tape->cpu_of[row->place] < 0 || row->state != PERF_LOG_COUNTED)
            continue;
        const struct perf_log_row **of = &tape->row[(size_t)tape->cpu_of[row->place] * log->n_columns + row->column];
        *of = *of ? *of : row;
    }
}

// The counted row of an event in any column; NULL: none.
static const struct perf_log_row *any_row(const struct tape *tape, const struct perf_log_row **of_cpu, unsigned event) {
    for (size_t c = 0; c < tape->request->log->n_columns; c++)
        if (of_cpu[c] && tape->column_event[c] == (int)event)
            return of_cpu[c];
    return NULL;
}

// Sets the rows of a group's events: those of the best choice that were all counted, else any of each event. False if
// one of the events was not counted.
static bool choose_rows(struct tape *tape, unsigned cpu, unsigned group) {
    const struct perf_log_choices *choices = &tape->choices[group];
    const struct perf_log_row **of_cpu = &tape->row[cpu * tape->request->log->n_columns], **chosen = tape->chosen;
    bool all = false;
    for (size_t c = 0; c < choices->n && !all; c++) {
        all = true;
        for (size_t i = 0; i < choices->n_events && all; i++) {
            chosen[i] = of_cpu[choices->columns[c * choices->n_events + i]];
            all = chosen[i] != NULL;
        }
    }
    for (size_t i = 0; i < choices->n_events && !all; i++) {
        chosen[i] = any_row(tape, of_cpu, tape->layout->plan->groups[group].events[i]);
        if (!chosen[i])
            return false;
    }
    return true;
}

// At least 1, which says no more than that it ran (READINGS_SHARE_LEAST).
static uint64_t running_of(uint64_t length_ns, double share) {
    uint64_t running_ns = share < 1 ? (uint64_t)(share * (double)length_ns + 0.5) : length_ns;
    return running_ns > 0 ? running_ns : 1;
}

static void add_window(struct tape *tape, unsigned cpu, unsigned group, uint64_t length_ns) {
    const struct plan_group *events = &tape->layout->plan->groups[group];
    struct window *window = readings_add(tape->readings, cpu, group, events->n_events);
    bool counted = choose_rows(tape, cpu, group);
    double share = 1;
    for (size_t i = 0; counted && i < events->n_events; i++) {
        window->counts[i] = tape->chosen[i]->count;
        share = tape->chosen[i]->share < share ? tape->chosen[i]->share : share;
        share = isnan(tape->chosen[i]->share) ? 0 : share;
    }
    window->enabled_ns = length_ns;
    window->running_ns = counted ? running_of(length_ns, share) : 0;
    window->result = window_result_of(window);
}

static int put_rounds(struct tape *tape, struct recording_buffer *out) {
    const struct plan *plan = tape->layout->plan;
    const struct perf_log *log = tape->request->log;
    int r = 0;
    for (size_t i = 0; i < log->n_intervals && r == 0; i++) {
        const struct perf_log_interval *interval = &log->intervals[i];
        uint64_t length_ns = interval_ns(log, i);
        readings_begin(tape->readings, i, interval->end_ns - length_ns);
        tape->readings->end_ns = interval->end_ns;
        fill_rows(tape, interval);
        for (unsigned cpu = 0; cpu < tape->layout->topology->n_cpus; cpu++)
            for (unsigned g = 0; g < plan->n_groups; g++)
                add_window(tape, cpu, g, length_ns);
        r = recording_put_round(out, tape->readings, plan, NAN);
    }
    return r;
}

// Where the log's columns and places stand in the plan.
static int map_log(struct tape *tape) {
    const struct perf_log *log = tape->request->log;
    const struct plan *plan = tape->layout->plan;
    int r = 0;
    for (size_t c = 0; c < log->n_columns; c++)
        tape->column_event[c] = perf_log_find_event_of(tape->request, log->columns[c].event);
    for (size_t i = 0; i < log->n_places; i++)
        tape->cpu_of[i] = topology_find_cpu(tape->layout->topology, place_id(log, i));
    for (size_t g = 0; g < plan->n_groups && r == 0; g++)
        r = perf_log_choose_columns(log, tape->column_event, plan->groups[g].events, plan->groups[g].n_events,
                                    &tape->choices[g]);
    return r;
}

static int record_layout(const struct perf_log_request *request, const struct snapshot_layout *layout,
                         struct recording_buffer *out) {
    const struct perf_log *log = request->log;
    const struct topology *topology = layout->topology;
    struct tape tape = {.request = request,
                        .layout = layout,
                        .column_event = calloc(log->n_columns, sizeof *tape.column_event),
                        .cpu_of = calloc(log->n_places, sizeof *tape.cpu_of),
                        .choices = calloc(layout->plan->n_groups + 1, sizeof *tape.choices),
                        .row = calloc(topology->n_cpus * log->n_columns, sizeof *tape.row),
                        .chosen = calloc(PLAN_GROUP_EVENTS_MAX, sizeof *tape.chosen),
                        .readings = readings_new(layout->plan, topology)};
    bool room = tape.column_event && tape.cpu_of && tape.choices && tape.row && tape.chosen && tape.readings;
    int r = room ? map_log(&tape) : -ENOMEM;
    if (r == 0)
        r = recording_put_plan(out, layout, false);
    if (r == 0)
        r = put_rounds(&tape, out);
    for (size_t g = 0; tape.choices && g < layout->plan->n_groups; g++)
        perf_log_choices_deinit(&tape.choices[g]);
    readings_free(tape.readings);
    free(tape.chosen);
    free(tape.row);
    free(tape.choices);
    free(tape.cpu_of);
    free(tape.column_event);
    return r;
}

int perf_log_record(const struct perf_log_request *request, struct errors *errors, struct recording_buffer *out) {
    struct topology *topology = NULL;
    struct plan *plan = NULL;
    int r = make_topology(request, errors, &topology);
    if (r == 0)
        r = make_plan(request, errors, &plan);
    struct snapshot_layout *layout = r == 0 ? snapshot_layout_new(plan, topology) : NULL;
    if (!layout) {
        plan_free(plan);
        topology_free(topology);
        return r < 0 ? r : -ENOMEM;
    }
    r = record_layout(request, layout, out);
    snapshot_layout_unref(layout);
    return r;
}
