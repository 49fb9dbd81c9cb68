// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log_cpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_event.h"

// How many CPUs perf added up in a place follows from the times: an event that is open on each of them has been enabled
// for their number times the interval (running / share), and perf's clocks count that time. The share has two decimals,
// so the event with the largest one tells best.

// Of an interval and place.
struct hint {
    double share; // of the event that tells; above 1: a clock; 0: none does
    double cpus;
};

// Measured and printed times differ a little.
static const double ROUNDED = 0.05, RELATIVE = 0.005;

static bool is_clock(const char *event) { return strcmp(event, "cpu-clock") == 0 || strcmp(event, "task-clock") == 0; }

static bool is_cpu(const struct perf_log *log, size_t place) { return strncmp(log->places[place], "CPU", 3) == 0; }

static void take_row(const struct perf_log *log, const struct perf_log_row *row, bool of_cores, double length_ns,
                     struct hint *hint) {
    bool clock = is_clock(log->events[row->event]);
    double share = clock ? 2 : row->running_ns > 0 && row->share > 0 && of_cores ? row->share : 0;
    if (row->state != PERF_LOG_COUNTED || share <= hint->share)
        return;
    double enabled_ns = clock ? (double)row->count : (double)row->running_ns / share;
    *hint = (struct hint){.share = share, .cpus = enabled_ns / length_ns};
}

// The whole number that this is, 0 if it is none that a host can have.
static double whole(double cpus) {
    double nearest = round(cpus);
    return nearest >= 1 && nearest <= PERF_LOG_PLACES_MAX && fabs(cpus - nearest) <= fmax(ROUNDED, RELATIVE * nearest)
               ? nearest
               : 0;
}

struct finding {
    const struct perf_log_request *request;
    bool *of_cores;     // by event
    bool *says;         // by place: perf says there how many
    struct hint *hints; // by place, of an interval
    double each;        // so far; 0: the places differ, -1: nothing says it
};

static void take_number(struct finding *finding, double cpus) {
    finding->each = finding->each < 0 || finding->each == cpus ? cpus : 0;
}

static void take_interval(struct finding *finding, size_t i) {
    const struct perf_log *log = finding->request->log;
    const struct perf_log_interval *of = &log->intervals[i];
    double length_ns = (double)(of->end_ns - (i > 0 ? log->intervals[i - 1].end_ns : 0));
    memset(finding->hints, 0, log->n_places * sizeof *finding->hints);
    for (size_t r = of->first; r < of->first + of->n_rows; r++) {
        const struct perf_log_row *row = &log->rows[r];
        take_row(log, row, finding->of_cores[row->event], length_ns, &finding->hints[row->place]);
    }
    for (size_t p = 0; p < log->n_places && finding->each != 0; p++)
        if (finding->hints[p].share > 0 && !finding->says[p])
            take_number(finding, whole(finding->hints[p].cpus));
}

// What perf says in a line is of that line's PMU: of an uncore event, of one that is not counted and of time itself it
// is another number than of the cores.
static void take_said(struct finding *finding) {
    const struct perf_log *log = finding->request->log;
    for (size_t p = 0; p < log->n_places; p++) {
        finding->says[p] = is_cpu(log, p);
        if (finding->says[p])
            take_number(finding, 1);
    }
    for (size_t r = 0; r < log->n_rows && finding->each != 0; r++) {
        const struct perf_log_row *row = &log->rows[r];
        if (is_cpu(log, row->place) || row->cpus == 0 || row->state != PERF_LOG_COUNTED ||
            !finding->of_cores[row->event])
            continue;
        finding->says[row->place] = true;
        take_number(finding, row->cpus);
    }
}

unsigned perf_log_cpus_each(const struct perf_log_request *request) {
    const struct perf_log *log = request->log;
    struct finding finding = {.request = request,
                              .of_cores = calloc(log->n_events + 1, sizeof *finding.of_cores),
                              .says = calloc(log->n_places + 1, sizeof *finding.says),
                              .hints = calloc(log->n_places + 1, sizeof *finding.hints),
                              .each = -1};
    bool room = finding.of_cores && finding.says && finding.hints;
    for (size_t e = 0; room && e < log->n_events; e++)
        finding.of_cores[e] = perf_log_find_event_of(request, e) >= 0;
    if (room)
        take_said(&finding);
    for (size_t i = 0; room && i < log->n_intervals && finding.each != 0; i++)
        take_interval(&finding, i);
    free(finding.hints);
    free(finding.says);
    free(finding.of_cores);
    return room && finding.each > 0 ? (unsigned)finding.each : 0;
}
