// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log.h"
#include "core/base/name.h"

// Converts a log into a recording, so that there is only one way to replay.
//
// Every metric's events are an event group of their own, which counted for the whole interval on every place. perf has
// scaled the counts, so a window counts as if it had run all the time. If one of its events was multiplexed, it is
// marked as contended; if one was not counted, it has no data.

// ---- events ----

// perf writes "context-switches" for a vendor's CONTEXT_SWITCHES.
static int find_name(const struct catalog *catalog, const char *name, size_t length) {
    char word[PERF_LOG_NAME_MAX + 1];
    (void)snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t e = 1; e < catalog->n_events; e++)
        if (name_equal(catalog->events[e].name, word))
            return (int)e;
    return -1;
}

static int find_code(const struct catalog *catalog, const struct pmu_event *code) {
    for (size_t e = 1; e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        if (event->kind == EVENT_COUNTED && event->code.pmu == 0 && event->code.config == code->config &&
            event->code.config1 == code->config1 && event->code.config2 == code->config2)
            return (int)e;
    }
    return -1;
}

// "event=0x11,umask=0x1" or "config=0x11"; without a format, event is config.
static int find_terms(const struct catalog *catalog, const char *terms) {
    struct pmu_event code = {.pmu = 0};
    struct fault error;
    if (catalog->format)
        return event_format_encode(catalog->format, terms, &code, &error) == 0 ? find_code(catalog, &code) : -1;
    size_t skip = strncmp(terms, "event=", 6) == 0 ? 6 : strncmp(terms, "config=", 7) == 0 ? 7 : 0;
    char *end;
    code.config = strtoull(terms + skip, &end, 0);
    return skip > 0 && end > terms + skip && *end == '\0' ? find_code(catalog, &code) : -1;
}

static int find_raw(const struct catalog *catalog, const char *name, size_t length) {
    struct pmu_event code = {.pmu = 0};
    if (length < 2 || length > 17 || name[0] != 'r' || strspn(name + 1, "0123456789abcdefABCDEF") < length - 1)
        return -1;
    code.config = strtoull(name + 1, NULL, 16);
    return find_code(catalog, &code);
}

// perf's own name, which may also be written pmu/cycles/.
static int find_perf_name(const struct catalog *catalog, const struct perf_names *names, const char *name,
                          size_t length) {
    const char *terms = names ? perf_names_find(names, catalog->product.vendor, name, length) : NULL;
    return terms ? find_terms(catalog, terms) : -1;
}

int perf_log_find_event(const struct catalog *catalog, const struct perf_names *names, const char *name) {
    int found = find_name(catalog, name, strlen(name));
    const char *slash = strchr(name, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
    if (found >= 0 || (slash && !end))
        return found;
    if (slash) {
        char terms[PERF_LOG_NAME_MAX + 1];
        (void)snprintf(terms, sizeof terms, "%.*s", (int)(end - slash - 1), slash + 1);
        found = find_name(catalog, terms, strlen(terms));
        if (found < 0)
            found = find_perf_name(catalog, names, terms, strlen(terms));
        return found >= 0 ? found : find_terms(catalog, terms);
    }
    size_t length = strcspn(name, ":"); // modifiers
    found = find_name(catalog, name, length);
    if (found < 0)
        found = find_perf_name(catalog, names, name, length);
    return found >= 0 ? found : find_raw(catalog, name, length);
}

size_t perf_log_known(const struct perf_log *log, const struct catalog *catalog, const struct perf_names *names) {
    size_t known = 0;
    for (size_t i = 0; i < log->n_events; i++)
        known += perf_log_find_event(catalog, names, log->events[i]) >= 0;
    return known;
}

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

// A CPU for each place, ascending by number.
static int make_topology(const char *name, const struct perf_log *log, struct errors *errors, struct topology **out) {
    struct topology_source *sources = calloc(log->n_places, sizeof *sources);
    if (!sources)
        return -ENOMEM;
    for (size_t i = 0; i < log->n_places; i++)
        sources[i] = (struct topology_source){.id = place_id(log, i),
                                              .core = (int)i, // the log does not tell which CPUs are siblings
                                              .package = place_socket(log->places[i]),
                                              .selected = true};
    qsort(sources, log->n_places, sizeof *sources, compare_sources);
    int r = topology_new(sources, log->n_places, 0, out);
    free(sources);
    return r == -EINVAL ? errors_add(errors, name, 0, 0, "counts of CPUs and of sockets, or of all, in one log") : r;
}

// An event that perf reports as not supported counts as missing from the log. For other events perf reports when it
// could not count them.
static void mark_support(const struct perf_log_request *request, uint8_t *support) {
    const struct perf_log *log = request->log;
    const struct catalog *catalog = request->catalog;
    memset(support, PLAN_NOT_RECORDED, catalog->n_events);
    for (size_t e = 0; e < log->n_events; e++) {
        int event = perf_log_find_event(catalog, request->names, log->events[e]);
        size_t row = 0;
        while (row < log->n_rows && (log->rows[row].event != e || log->rows[row].state == PERF_LOG_NOT_SUPPORTED))
            row++;
        if (event >= 0 && row < log->n_rows)
            support[event] = PLAN_SUPPORTED;
    }
}

static int make_plan(const struct perf_log_request *of, struct errors *errors, struct plan **out) {
    uint64_t slot_ns = usual_ns(of->log);
    uint8_t *support = malloc(of->catalog->n_events);
    if (!support || slot_ns == 0) {
        free(support);
        return -ENOMEM;
    }
    mark_support(of, support);
    const struct plan_request request = {.catalog = of->catalog,
                                         .selections = of->selections,
                                         .n_selections = of->n_selections,
                                         .slot_ns = slot_ns,
                                         .support = support,
                                         .apart = true};
    int r = plan_new(&request, out);
    free(support);
    return r == -E2BIG ? errors_add(errors, of->name, 0, 0,
                                    "the profile asks for more than %d metrics: name fewer groups", PLAN_UNITS_MAX)
                       : r;
}

// ---- rounds ----

struct tape {
    const struct perf_log *log;
    const struct snapshot_layout *layout;
    int *event_of;                   // by log event: the catalog's
    unsigned *cpu_of;                // by place: the topology's
    const struct perf_log_row **row; // of this interval: [cpu][catalog event]; NULL: none
    struct readings *readings;
};

static void fill_rows(struct tape *tape, const struct perf_log_interval *interval) {
    size_t n_events = tape->layout->catalog->n_events;
    memset(tape->row, 0, tape->layout->topology->n_cpus * n_events * sizeof *tape->row);
    for (size_t i = interval->first; i < interval->first + interval->n_rows; i++) {
        const struct perf_log_row *row = &tape->log->rows[i];
        if (tape->event_of[row->event] < 0)
            continue;
        const struct perf_log_row **of =
            &tape->row[tape->cpu_of[row->place] * n_events + (size_t)tape->event_of[row->event]];
        if (!*of || (*of)->state != PERF_LOG_COUNTED) // a duplicate event: take the first that counted
            *of = row;
    }
}

static void add_window(const struct tape *tape, unsigned cpu, unsigned group, uint64_t length_ns) {
    const struct plan_group *events = &tape->layout->plan->groups[group];
    struct window *window = readings_add(tape->readings, cpu, group, events->n_events);
    window->enabled_ns = window->running_ns = length_ns;
    for (size_t i = 0; i < events->n_events; i++) {
        const struct perf_log_row *row = tape->row[cpu * tape->layout->catalog->n_events + events->events[i]];
        if (!row || row->state != PERF_LOG_COUNTED) {
            memset(window->counts, 0, events->n_events * sizeof *window->counts);
            window->result = WINDOW_STARVED;
            window->running_ns = 0;
            return;
        }
        window->counts[i] = row->count;
        if (row->share < 1)
            window->result = WINDOW_CONTENDED;
    }
}

static int put_rounds(struct tape *tape, struct recording_buffer *out) {
    const struct plan *plan = tape->layout->plan;
    int r = 0;
    for (size_t i = 0; i < tape->log->n_intervals && r == 0; i++) {
        const struct perf_log_interval *interval = &tape->log->intervals[i];
        uint64_t length_ns = interval_ns(tape->log, i);
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

static int record_layout(const struct perf_log_request *request, const struct snapshot_layout *layout,
                         struct recording_buffer *out) {
    const struct perf_log *log = request->log;
    const struct topology *topology = layout->topology;
    struct tape tape = {.log = log,
                        .layout = layout,
                        .event_of = calloc(log->n_events, sizeof *tape.event_of),
                        .cpu_of = calloc(log->n_places, sizeof *tape.cpu_of),
                        .row = calloc(topology->n_cpus * layout->catalog->n_events, sizeof *tape.row),
                        .readings = readings_new(layout->plan, topology)};
    int r = tape.event_of && tape.cpu_of && tape.row && tape.readings ? 0 : -ENOMEM;
    for (size_t e = 0; e < log->n_events && r == 0; e++)
        tape.event_of[e] = perf_log_find_event(layout->catalog, request->names, log->events[e]);
    for (size_t i = 0; i < log->n_places && r == 0; i++)
        tape.cpu_of[i] = (unsigned)topology_find_cpu(topology, place_id(log, i)); // made of the same places
    if (r == 0)
        r = recording_put_plan(out, layout, false);
    if (r == 0)
        r = put_rounds(&tape, out);
    readings_free(tape.readings);
    free(tape.row);
    free(tape.cpu_of);
    free(tape.event_of);
    return r;
}

int perf_log_record(const struct perf_log_request *request, struct errors *errors, struct recording_buffer *out) {
    struct topology *topology = NULL;
    struct plan *plan = NULL;
    int r = make_topology(request->name, request->log, errors, &topology);
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
