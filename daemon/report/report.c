// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/uncore/uncore.h"
#include "exporters/view/view_boxes.h"
#include "exporters/view/view_memory.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"

static const char *const SCOPES[REPORT_SCOPES] = {
    [REPORT_HOST] = "host", [REPORT_SOCKET] = "socket", [REPORT_CPU] = "cpu"};
static const double COUNTS_ALL_THE_TIME = 0.9999; // share; the rest is what reading several files takes

const char *report_scope_name(enum report_scope scope) { return SCOPES[scope]; }

const char *report_scope_of(const struct report *report, enum report_scope scope) {
    return scope == REPORT_CPU && report->view->layout->topology->boxes ? "box" : SCOPES[scope];
}

int report_scope_find(const char *name) {
    for (int i = 0; i < REPORT_SCOPES; i++)
        if (strcmp(name, SCOPES[i]) == 0)
            return i;
    return -1;
}

// ---- rows ----

// The most that a scope's memory can move: of the host, if it is known of all sockets.
static double memory_peak_of(const struct report *report, enum report_scope kind, unsigned id) {
    const struct topology *topology = report->view->layout->topology;
    double sum = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        if (kind != REPORT_SOCKET || topology->sockets[s].id == id)
            sum += view_memory_peak(report->view, report->snapshot, s);
    return kind == REPORT_CPU || sum == 0 ? NAN : sum;
}

const char report_few_rounds[] = "no interval: fewer than two rounds, or too few windows, tell how far off it may be";

// Nothing asks it of a value that has both ends.
static const char *why_no_interval(const struct report *report, const struct catalog_metric *metric) {
    const struct snapshot_layout *layout = report->view->layout;
    if (layout->topology->boxes && uncore_needs_cores(layout->catalog, metric->formula))
        return "no interval: how far off the totals of the cores are is not known";
    return report_few_rounds;
}

static void add_scope(struct report *report, enum report_scope kind, unsigned id, size_t scope) {
    const struct snapshot_layout *layout = report->view->layout;
    const double *values = report->snapshot->values;
    double peak = memory_peak_of(report, kind, id);
    for (size_t m = 0; m < layout->n_metrics; m++) {
        if (!view_exported(report->view, m))
            continue;
        double times = view_boxes_factor(report->view, scope, m);
        double value = values[snapshot_metric(layout, scope, m)], low = values[snapshot_low(layout, scope, m)];
        const struct catalog_metric *metric = view_metric(report->view, m);
        bool lacks_interval = isfinite(value) && !isfinite(low);
        report->rows[report->n_rows++] =
            (struct report_row){.scope = kind,
                                .id = id,
                                .metric = metric,
                                .value = times * value,
                                .low = times * low,
                                .high = times * values[snapshot_high(layout, scope, m)],
                                .exact = view_exact(report->view, report->snapshot, scope, m),
                                .quality = snapshot_quality(report->snapshot, snapshot_state(layout, scope, m)),
                                .quality_reason = view_quality_reason(report->view, report->snapshot, scope, m),
                                .reason = lacks_interval ? why_no_interval(report, metric)
                                                         : view_absent_text(report->view, report->snapshot, scope, m)};
    }
    if (isfinite(peak))
        report->rows[report->n_rows++] = (struct report_row){
            .scope = kind, .id = id, .value = peak, .low = NAN, .high = NAN, .reason = "stated, not measured"};
}

static int add_rows(struct report *report, enum report_scope finest) {
    const struct snapshot_layout *layout = report->view->layout;
    const struct topology *topology = layout->topology;
    report->rows = calloc(layout->n_scopes * (layout->n_metrics + 1), sizeof *report->rows);
    if (!report->rows)
        return -ENOMEM;
    add_scope(report, REPORT_HOST, 0, 0);
    for (size_t s = 0; s < topology->n_sockets && finest >= REPORT_SOCKET; s++)
        add_scope(report, REPORT_SOCKET, topology->sockets[s].id, snapshot_scope_socket(s));
    for (size_t c = 0; c < topology->n_cpus && finest >= REPORT_CPU; c++)
        add_scope(report, REPORT_CPU, topology->cpus[c].id, snapshot_scope_cpu(layout, c));
    return 0;
}

const char *report_row_name(const struct report_row *row) {
    return row->metric ? row->metric->export_name : "memory_peak_bytes_per_second";
}

const char *report_row_title(const struct report_row *row) {
    return row->metric ? row->metric->title : "The most bytes that the memory can move";
}

void report_row_unit(const struct report *report, const struct report_row *row, char *unit, size_t size) {
    if (row->metric)
        view_boxes_unit(report->view->layout->catalog, row->metric, unit, size);
    else
        (void)snprintf(unit, size, "bytes per second");
}

const struct report_row *report_find_metric(const struct report *report, unsigned metric) {
    const struct catalog_metric *wanted = &report->view->layout->catalog->metrics[metric];
    for (size_t i = 0; i < report->n_rows; i++)
        if (report->rows[i].scope == REPORT_HOST && report->rows[i].metric == wanted)
            return &report->rows[i];
    return NULL;
}

const struct catalog_metric *report_last(const struct report *report) {
    const struct verdict *verdict = report->verdict;
    return &report->view->layout->catalog->metrics[verdict->path[verdict->n - 1]];
}

const struct report_row *report_find_traffic(const struct report *report, enum traffic traffic, enum report_scope scope,
                                             unsigned id) {
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        if (row->metric && row->metric->traffic == traffic && row->scope == scope && row->id == id)
            return row;
    }
    return NULL;
}

double report_memory_peak(const struct report *report, enum report_scope scope, unsigned id) {
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        if (!row->metric && row->scope == scope && row->id == id)
            return row->value;
    }
    return NAN;
}

// ---- events ----

static bool contains(const struct plan_group *group, unsigned event) {
    for (size_t e = 0; e < group->n_events; e++)
        if (group->events[e] == event)
            return true;
    return false;
}

// The time of all CPUs, or of all tasks.
static double cpu_seconds_of(const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    double seconds = snapshot->values[snapshot_covered(layout, 0)];
    for (int u = 0; u < UNCOVERED_N; u++) {
        double uncovered = snapshot->values[snapshot_uncovered(layout, 0, (enum uncovered)u)];
        seconds += isfinite(uncovered) ? uncovered : 0;
    }
    return seconds;
}

// True if one of its event groups was on the counters all the time that was measured.
static bool always_on(const struct report *report, unsigned event) {
    const struct snapshot_layout *layout = report->view->layout;
    const double *values = report->snapshot->values;
    for (size_t g = 0; g < layout->plan->n_groups; g++)
        if (contains(&layout->plan->groups[g], event) &&
            values[snapshot_running(layout, g)] >= COUNTS_ALL_THE_TIME * report->cpu_seconds)
            return true;
    return false;
}

static int add_events(struct report *report) {
    const struct snapshot_layout *layout = report->view->layout;
    report->events = calloc(layout->n_events + 1, sizeof *report->events);
    if (!report->events)
        return -ENOMEM;
    for (size_t e = 0; e < layout->n_events; e++) {
        const struct catalog_event *event = &layout->catalog->events[layout->events[e]];
        double count = report->snapshot->values[snapshot_event(layout, 0, e)];
        if (event->kind == EVENT_COUNTED && isfinite(count))
            report->events[report->n_events++] = (struct report_event){
                .name = event->name, .count = count, .exact = always_on(report, layout->events[e])};
    }
    return 0;
}

// ---- the answer ----

static void end(struct text *text) { text_append(text, "", 1); }

// `shown` may be NULL: then it does not say what the memory moves.
static void put_answer(struct report *report, const struct shown *shown) {
    const struct shown_type type = {report->view, report->snapshot};
    struct text *answer = &report->texts.answer;
    answer->length = 0;
    if (report->tree->n > 0)
        report->sockets_differ = view_sockets_verdict(shown, &type, answer);
    end(answer);
}

static int add_answer(struct report *report) {
    struct report_texts *texts = &report->texts;
    report->tree = tree_new(report->view->layout);
    if (!report->tree)
        return -ENOMEM;
    tree_evaluate(report->tree, report->snapshot, 0);
    put_answer(report, NULL);
    if (verdict_high(report->verdict) && !report->verdict->well) {
        unsigned metric = (unsigned)verdict_metric(report->verdict);
        (void)view_next_text(report->view, metric, &texts->next);
        view_sample_command(report->view, metric, &texts->sample);
    }
    end(&texts->next);
    end(&texts->sample);
    return texts->answer.failed || texts->next.failed || texts->sample.failed ? -ENOMEM : 0;
}

// ---- all of it ----

int report_init(struct report *report, struct view *view, const struct snapshot *snapshot, enum report_scope finest) {
    *report = (struct report){.view = view,
                              .snapshot = snapshot,
                              .verdict = &snapshot->verdicts[0].now,
                              .cpu_seconds = cpu_seconds_of(snapshot)};
    int r = add_rows(report, finest);
    if (r == 0)
        r = add_events(report);
    return r == 0 ? add_answer(report) : r;
}

void report_deinit(struct report *report) {
    text_free(&report->texts.sample);
    text_free(&report->texts.next);
    text_free(&report->texts.answer);
    tree_free(report->tree);
    free(report->events);
    free(report->rows);
}

int report_tell_memory(struct report *reports, size_t n) {
    struct shown shown = {.n = 0};
    for (size_t i = 0; i < n; i++)
        shown.types[i] = (struct shown_type){reports[i].view, reports[i].snapshot};
    shown_count(&shown, n);
    for (size_t i = 0; i < shown.n; i++) {
        put_answer(&reports[i], &shown);
        if (reports[i].texts.answer.failed)
            return -ENOMEM;
    }
    return 0;
}

// A word as a shell takes it.
static void put_word(struct text *out, const char *word) {
    static const struct text_escape quotes[] = {{'\'', "'\\''"}, {0, NULL}};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    bool quoted = word[0] == '\0' || word[strspn(word, plain)] != '\0';
    text_string(out, quoted ? " '" : " ");
    text_escaped(out, word, quotes);
    text_string(out, quoted ? "'" : "");
}

int report_name_command(struct report *report, char *const *command) {
    static const char of_host[] = " -a", beside[] = " -- sleep 10";
    struct text text = {0};
    const char *sample = report->texts.sample.data, *all = sample ? strstr(sample, of_host) : NULL,
               *sleeps = all ? strstr(all, beside) : NULL;
    if (!sleeps)
        return 0;
    text_append(&text, sample, (size_t)(all - sample));
    all += sizeof of_host - 1;
    text_append(&text, all, (size_t)(sleeps - all));
    text_string(&text, " --");
    for (size_t i = 0; command[i]; i++)
        put_word(&text, command[i]);
    end(&text);
    text_free(&report->texts.sample);
    report->texts.sample = text;
    return text.failed ? -ENOMEM : 0;
}

bool report_has_values(const struct report *report) {
    for (size_t i = 0; i < report->n_rows; i++)
        if (report->rows[i].metric && isfinite(report->rows[i].value))
            return true;
    return false;
}

const char *report_reason(const struct report *report) {
    for (size_t i = 0; i < report->n_rows; i++)
        if (report->rows[i].reason[0] != '\0')
            return report->rows[i].reason;
    return "no metric was selected";
}

size_t report_without_interval(const struct report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_rows; i++)
        n += report->rows[i].reason == report_few_rounds;
    return n;
}

size_t report_poor(const struct report *report, enum estimate_doubt why) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_rows; i++)
        n += report->rows[i].quality_reason && report->rows[i].quality_reason == estimate_doubt_text(why);
    return n;
}
