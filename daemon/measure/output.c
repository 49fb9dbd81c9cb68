// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/report/report_csv.h"
#include "daemon/report/report_json.h"
#include "daemon/report/report_line.h"
#include "daemon/report/report_opportunities.h"
#include "daemon/report/report_outside.h"
#include "daemon/report/report_text.h"

enum { WIDTH_LEAST = 40, WIDTH_MOST = 160, NOTE_INDENT = 8 };
static const double LONGER = 1.25; // than asked, so that it is worth a word

// ---- the screen ----

// Of the environment's locale; the program's own stays "C", so that numbers have points.
static bool is_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

static struct screen screen_of(int fd) {
    int width = terminal_columns(fd);
    return (struct screen){.width = width < WIDTH_LEAST  ? WIDTH_LEAST
                                    : width > WIDTH_MOST ? WIDTH_MOST
                                                         : width,
                           .ends = isatty(fd) != 0,
                           .colour = terminal_has_colour(fd),
                           .utf8 = is_utf8()};
}

// ---- all of it ----

void output_init(struct output *output, const struct options *options) {
    int finest = options->measure.by ? report_scope_find(options->measure.by) : REPORT_HOST;
    *output =
        (struct output){.options = options, .finest = (enum report_scope)finest, .screen = screen_of(STDOUT_FILENO)};
}

static bool is_text(const struct output *output) { return !output->options->json && !output->options->measure.csv; }

// A command's own output goes to standard output: what is told of it goes beside it, as perf stat does.
static bool is_beside(const struct output *output) { return output->options->measure.command && is_text(output); }

static void write_out(struct output *output) {
    struct text *text = &output->text;
    terminal_progress_end(&output->progress);
    if (text->failed)
        output->status = -ENOMEM;
    else if (is_beside(output))
        (void)fwrite(text->data, 1, text->length, stderr);
    else if (output->status == 0)
        output->status = terminal_print(text);
    text->length = 0;
}

static void begin(struct output *output, const struct output_head *head) {
    if (output->begun)
        return;
    output->begun = true;
    if (is_beside(output))
        output->screen = screen_of(STDERR_FILENO);
    if (output->options->measure.csv) {
        report_csv_head(&output->text);
    } else if (output->options->json) {
        const struct report_json_head document = {.hostname = head->hostname,
                                                  .how = head->how,
                                                  .command = output->options->measure.command,
                                                  .simulated = head->simulated};
        output->json = json_begin(&output->text, JSON_INDENTED);
        report_json_begin(&output->json, &document);
    }
}

// ---- lines of intervals ----

// Writes lines that wait, also where the memory is not known.
static void release(struct output *output) {
    if (output->held.n > 0)
        write_out(output);
    output->held.n = 0;
}

static void fill(struct output *output) {
    char text[REPORT_LINE_MEMORY_WIDTH + 1];
    (void)snprintf(text, sizeof text, "%*.1f GB/s", REPORT_LINE_MEMORY_WIDTH - 5, 1e-9 * output->held.told_bytes);
    for (size_t i = 0; i < output->held.n; i++)
        memcpy(output->text.data + output->held.at[i], text, REPORT_LINE_MEMORY_WIDTH);
    release(output);
}

static bool waits(const struct output_held *held, const struct catalog *type) {
    bool found = held->n == SOURCE_TYPES_MAX;
    for (size_t i = 0; i < held->n && !found; i++)
        found = held->of[i] == type;
    return found;
}

// Intervals of different PMUs end within moments of one another.
static bool is_told(const struct output_held *held, const struct report *report) {
    return fabs(held->told_seconds - report->to_seconds) < (report->to_seconds - report->from_seconds) / 2;
}

// How long a line is at least: it ends with a round of all event groups, or when a daemon that is read has new values.
static double line_seconds(const struct output *output, const struct output_head *head, const struct report *report) {
    if (strcmp(head->how, "read") == 0)
        return report->to_seconds - report->from_seconds;
    double wanted = output->options->measure.interval_seconds, round = 1e-9 * (double)report->view->interval_ns;
    return plan_n_rotating(report->view->layout->plan) > 0 && round > 0 ? ceil(wanted / round) * round : wanted;
}

// Says once that lines are longer than asked. A line that is late because the host is busy is another matter. What
// stands is of any time.
static void tell_longer(struct output *output, const struct output_head *head, const struct report *report) {
    double seconds = report->to_seconds - report->from_seconds, least = line_seconds(output, head, report);
    double longer = LONGER * output->options->measure.interval_seconds;
    if (output->told_longer || least < longer || seconds < longer)
        return;
    struct text words = {0};
    text_format(&words, "Lines are of %.2f s here: %s.", seconds,
                strcmp(head->how, "read") == 0 ? "the daemon that is read has new values no sooner"
                                               : "a round of all event groups takes no less");
    text_append(&words, "", 1);
    text_folded(&output->text, words.data ? words.data : "", 0, output->screen.width);
    output->text.failed = output->text.failed || words.failed;
    text_free(&words);
    output->told_longer = true;
}

static void add_line(struct output *output, const struct output_head *head, const struct report *report) {
    struct output_held *held = &output->held;
    bool memory = head->n_memory > 0;
    if (waits(held, report->view->layout->catalog))
        release(output); // nothing told what the memory moved in its last interval
    tell_longer(output, head, report);
    if (!output->headed || report_line_differs(report, &output->screen, memory, &output->heading))
        report_line_head(report, &output->screen, memory, &output->heading, &output->text);
    output->headed = true;
    output->lines_lack_intervals = output->lines_lack_intervals || report_line_lacks_interval(report);
    size_t at = report_line(report, &output->screen, memory, &output->text);
    if (!memory || output->text.failed) {
        write_out(output);
        return;
    }
    held->of[held->n] = report->view->layout->catalog;
    held->at[held->n++] = at;
    if (is_told(held, report))
        fill(output);
}

// What a kind of PMUs outside the cores tells of the memory in the same interval.
static void add_memory(struct output *output, const struct output_head *head, const struct report *report) {
    static const enum traffic memory[] = {TRAFFIC_MEMORY_READ, TRAFFIC_MEMORY_WRITE, TRAFFIC_MEMORY_ALL};
    struct output_held *held = &output->held;
    bool tells = false;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        const struct report_row *row = report_find_traffic(report, memory[i], REPORT_HOST, 0);
        tells = tells || row;
        held->bytes += row && isfinite(row->value) ? row->value : 0;
    }
    held->n_told += tells;
    if (!tells || held->n_told < head->n_memory)
        return;
    held->told_bytes = held->bytes;
    held->told_seconds = report->to_seconds;
    held->bytes = 0;
    held->n_told = 0;
    fill(output);
}

void output_interval(struct output *output, const struct output_head *head, const struct report *report) {
    begin(output, head);
    if (output->options->measure.csv)
        report_csv(report, &output->text);
    else if (output->options->json)
        report_json_add(&output->json, report);
    if (!is_text(output))
        write_out(output);
    else if (report->view->layout->topology->boxes)
        add_memory(output, head, report);
    else
        add_line(output, head, report);
}

// What the report is of.
static void put_subject(struct output *output, const struct output_head *head, const struct report *report) {
    const struct view *view = report->view;
    size_t n = view->layout->topology->n_cpus;
    bool boxes = view->layout->topology->boxes;
    struct text *out = &output->text;
    text_format(out, "%s%s", view->core_type && !boxes ? view->core_type : head->hostname,
                head->simulated ? " (SIMULATED)" : "");
    if (boxes)
        text_string(out, ": outside the cores");
    else if (output->options->measure.command)
        text_format(out, ": %s, the command %s", view->cpu_model, output->options->measure.command[0]);
    else
        text_format(out, ": %s, %zu CPU%s", view->cpu_model, n, n == 1 ? "" : "s");
}

static void put_note(struct output *output, const struct text *note) {
    text_string(&output->text, "  note: ");
    text_folded(&output->text, note->data ? note->data : "", NOTE_INDENT, output->screen.width);
    output->text.failed = output->text.failed || note->failed;
}

// Why intervals are of little use.
static void put_notes_on_poor(struct output *output, const struct report *report) {
    for (int why = ESTIMATE_SURE + 1; why < ESTIMATE_DOUBTS; why++) {
        size_t n = report_poor(report, (enum estimate_doubt)why);
        struct text note = {0};
        if (n == 0)
            continue;
        text_format(&note, "%zu value%s a poor interval: %s%c", n, n == 1 ? " has" : "s have",
                    estimate_doubt_text((enum estimate_doubt)why), '\0');
        put_note(output, &note);
        text_free(&note);
    }
}

// Why values stand without an error.
static void put_notes_on_intervals(struct output *output, const struct report *report) {
    struct text lines = {0}, values = {0};
    size_t n = report_without_interval(report);
    if (output->lines_lack_intervals) {
        text_format(&lines, "lines have no %s while fewer than two rounds tell how far off a value may be%c",
                    report_number_plus_minus(&output->screen), '\0');
        put_note(output, &lines);
    }
    output->lines_lack_intervals = false;
    if (n > 0) {
        text_format(&values,
                    "%zu value%s no interval: fewer than two rounds, or too few windows, tell how far off %s may be%c",
                    n, n == 1 ? " has" : "s have", n == 1 ? "it" : "they", '\0');
        put_note(output, &values);
    }
    text_free(&lines);
    text_free(&values);
}

static void put_notes(struct output *output, const struct view *view) {
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        text_string(&output->text, "  note: ");
        text_folded(&output->text, view->pmu_errors[i].text, NOTE_INDENT, output->screen.width);
    }
}

static void put_title(struct output *output, const struct output_head *head, const struct report *report, bool first) {
    const struct view *view = report->view;
    struct text *out = &output->text;
    text_string(out, output->headed || !first ? "\n" : "");
    put_subject(output, head, report);
    text_format(out, ", %.1f s", report->to_seconds - report->from_seconds);
    if (output->options->measure.command)
        text_format(out, ", %.3f s of CPU time", report->cpu_seconds);
    text_string(out, "\n");
    put_notes(output, view);
    put_notes_on_intervals(output, report);
    put_notes_on_poor(output, report);
}

// Those about PMUs outside the cores are the last ones: they tell of one subject together.
static void put_outside(struct output *output, const struct output_head *head, const struct report *reports, size_t n) {
    size_t first = 0;
    while (first < n && !reports[first].view->layout->topology->boxes)
        first++;
    const struct report_outside outside = {.reports = &reports[first],
                                           .n = n - first,
                                           .screen = &output->screen,
                                           .sockets = output->finest != REPORT_HOST};
    if (outside.n == 0)
        return;
    put_title(output, head, &reports[first], first == 0);
    for (size_t i = first + 1; i < n; i++)
        put_notes(output, reports[i].view);
    report_outside(&outside, &output->text);
}

// What each action could win, and nothing else.
static void put_opportunities(struct output *output, const struct output_head *head, const struct report *reports,
                              size_t n) {
    if (output->options->json)
        report_json_whole(&output->json);
    for (size_t i = 0; i < n; i++) {
        if (reports[i].view->layout->topology->boxes)
            continue;
        if (output->options->json) {
            report_opportunities_json(&output->json, &reports[i]);
        } else {
            put_title(output, head, &reports[i], i == 0);
            report_opportunities(&reports[i], &output->screen, &output->text);
        }
    }
    write_out(output);
}

void output_whole(struct output *output, const struct output_head *head, const struct report *reports, size_t n) {
    begin(output, head);
    release(output);
    if (output->options->measure.opportunities) {
        put_opportunities(output, head, reports, n);
        return;
    }
    if (output->options->json)
        report_json_whole(&output->json);
    for (size_t i = 0; i < n; i++) {
        const struct report *report = &reports[i];
        const struct report_text_request request = {.screen = &output->screen,
                                                    .all = output->options->measure.groups ||
                                                           report->view->layout->n_level1 == 0,
                                                    .counts = output->options->measure.command,
                                                    .scopes = output->finest != REPORT_HOST};
        if (output->options->json) {
            report_json_add(&output->json, report);
        } else if (is_text(output) && !report->view->layout->topology->boxes) {
            put_title(output, head, report, i == 0);
            report_text(report, &request, &output->text);
        } else if (output->options->measure.csv && output->options->measure.interval_seconds == 0) {
            report_csv(report, &output->text);
        }
    }
    if (is_text(output))
        put_outside(output, head, reports, n);
    write_out(output);
}

void output_progress(struct output *output, double seconds, double total_seconds) {
    if (output->options->measure.interval_seconds > 0)
        return;
    if (total_seconds > 0)
        terminal_progress_show(&output->progress, "measuring: %.0f of %.0f s", seconds, total_seconds);
    else
        terminal_progress_show(&output->progress, "measuring: %.0f s", seconds);
}

int output_end(struct output *output, int status) {
    if (output->begun && output->options->json) {
        report_json_end(&output->json, status);
        (void)json_end(&output->json);
    }
    write_out(output);
    text_free(&output->text);
    return output->status;
}
