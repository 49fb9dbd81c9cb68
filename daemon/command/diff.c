// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compare/difference.h"
#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/command/diff_play.h"
#include "exporters/text/table.h"

enum { EXIT_WRONG = 2, PARTS = 2 };
static const char *const SCOPES[] = {[STRETCH_HOST] = "host", [STRETCH_SOCKET] = "socket", [STRETCH_CPU] = "cpu"};
enum { SCOPES_N = sizeof SCOPES / sizeof *SCOPES };

static int find_scope(const char *word) {
    for (int i = 0; i < SCOPES_N; i++)
        if (strcmp(word, SCOPES[i]) == 0)
            return i;
    return -1;
}

int diff_check(const struct options *options) {
    const char *const words[PARTS] = {options->word, options->second};
    struct diff_part part;
    if (!options->second)
        return options_say("which two? 'topdownd diff BEFORE AFTER', each a recording or a part of one: FILE@FROM-TO");
    for (int i = 0; i < PARTS; i++)
        if (!diff_part_read(words[i], &part))
            return options_refuse("FILE@FROM-TO takes seconds from the beginning, FROM below TO, not", words[i], NULL);
    if (options->diff.by && find_scope(options->diff.by) < 0)
        return options_refuse("--by takes host, socket or cpu, not", options->diff.by,
                              error_suggest(options->diff.by, SCOPES, SCOPES_N));
    return 0;
}

// ---- the table ----

static const struct table_column COLUMNS[] = {
    {"scope", "SCOPE", TABLE_TEXT},     {"metric", "METRIC", TABLE_TEXT}, {"units", "UNITS", TABLE_TEXT},
    {"before", "BEFORE", TABLE_NUMBER}, {"after", "AFTER", TABLE_NUMBER}, {"change", "CHANGE", TABLE_NUMBER},
    {"low", "LOW", TABLE_NUMBER},       {"high", "HIGH", TABLE_NUMBER},   {"verdict", "VERDICT", TABLE_TEXT},
    {"regression", NULL, TABLE_BOOL},
};

static void put_number(struct table *table, double value, bool exact) {
    if (!isfinite(value))
        table_text(table, NULL);
    else
        table_format(table, exact ? "%.15g" : "%.4g", value);
}

static void put_scope(struct table *table, const struct stretch_series *series) {
    if (series->scope == STRETCH_HOST)
        table_text(table, SCOPES[STRETCH_HOST]);
    else
        table_format(table, "%s %u", SCOPES[series->scope], series->id);
}

static void put_row(struct table *table, const struct difference *difference, bool exact) {
    put_scope(table, difference->before);
    table_text(table, difference->before->name);
    table_text(table, difference->before->units);
    put_number(table, difference->value_before, exact);
    put_number(table, difference->value_after, exact);
    put_number(table, difference->value_after - difference->value_before, exact);
    put_number(table, difference->low, exact);
    put_number(table, difference->high, exact);
    table_text(table, difference_verdict_name(difference->verdict));
    table_bool(table, difference_is_regression(difference));
}

// What is told apart first, else in the order of the recording.
static void put_rows(struct table *table, const struct difference *all, size_t n, bool exact) {
    static const enum difference_verdict order[] = {DIFFERENCE_WORSE,     DIFFERENCE_BETTER,
                                                    DIFFERENCE_CHANGED,   DIFFERENCE_NOT_TOLD_APART,
                                                    DIFFERENCE_TOO_SHORT, DIFFERENCE_OTHER_DEFINITION};
    for (size_t v = 0; v < sizeof order / sizeof *order; v++)
        for (size_t i = 0; i < n; i++)
            if (all[i].verdict == order[v])
                put_row(table, &all[i], exact);
}

// ---- what it comes to ----

static void say_part(struct text *out, const char *which, const char *word, const struct diff_played *played) {
    text_format(out, "%-7s %s: %s, spec %s, %.0f s\n", which, word, played->hostname, played->spec, played->seconds);
}

// True if the recordings suffice to say whether less work is done for the time.
static bool judges_work(const struct difference *difference) {
    return difference->before->outcome && difference->verdict != DIFFERENCE_TOO_SHORT &&
           difference->verdict != DIFFERENCE_OTHER_DEFINITION;
}

static const char *describe_end(size_t regressions, size_t judged) {
    if (regressions > 0)
        return "REGRESSION: less work is done in the time than before.";
    if (judged == 0)
        return "Whether there is a regression cannot be told: neither instructions a cycle nor the retiring share "
               "could be compared.";
    return "No regression: instructions a cycle and the retiring share have not become lower.";
}

// How long each recording must be, so that every metric has batches enough.
static double seconds_needed(const struct diff_played played[PARTS]) {
    uint64_t round_ns = 0;
    for (int i = 0; i < PARTS; i++)
        if (played[i].stretch->round_ns > round_ns)
            round_ns = played[i].stretch->round_ns;
    return ceil(DIFFERENCE_BATCHES_MIN * 2 * 1e-9 * (double)round_ns);
}

static void say_sum(struct text *out, const struct difference *all, size_t n, double seconds) {
    size_t of[DIFFERENCE_VERDICTS] = {0}, regressions = 0, judged = 0, counted = 0;
    for (size_t i = 0; i < n; i++) {
        of[all[i].verdict]++;
        counted += all[i].verdict == DIFFERENCE_TOO_SHORT && all[i].before->source == STRETCH_KERNEL;
        regressions += difference_is_regression(&all[i]);
        judged += judges_work(&all[i]);
    }
    size_t found = of[DIFFERENCE_WORSE] + of[DIFFERENCE_BETTER] + of[DIFFERENCE_CHANGED];
    text_format(out, "\n%zu of %zu metrics differ: %zu worse, %zu better, %zu neither. ", found, n,
                of[DIFFERENCE_WORSE], of[DIFFERENCE_BETTER], of[DIFFERENCE_CHANGED]);
    text_format(out, "Without any change, one or more would be found in one of 20 comparisons.\n");
    if (of[DIFFERENCE_TOO_SHORT] > 0)
        text_format(out,
                    "%zu were not measured long enough: each recording needs at least %.0f s, which is %d times two "
                    "rounds.\n",
                    of[DIFFERENCE_TOO_SHORT], seconds, DIFFERENCE_BATCHES_MIN);
    if (counted > 0)
        text_format(out,
                    "%zu of these are counts of the kernel, which are read every ten seconds at most: they need %d "
                    "readings in each recording.\n",
                    counted, DIFFERENCE_BATCHES_MIN);
    if (of[DIFFERENCE_OTHER_DEFINITION] > 0)
        text_format(out,
                    "%zu cannot be compared: the two CPUs count something else under their names (docs/metrics.md).\n",
                    of[DIFFERENCE_OTHER_DEFINITION]);
    text_format(out, "%s\n", describe_end(regressions, judged));
}

static int print(const struct options *options, const struct diff_played played[PARTS], const struct difference *all,
                 size_t n) {
    struct table table = {.columns = COLUMNS, .n_columns = sizeof COLUMNS / sizeof *COLUMNS};
    struct text out = {0};
    put_rows(&table, all, n, options->json);
    if (!options->json) {
        say_part(&out, "before", options->word, &played[0]);
        say_part(&out, "after", options->second, &played[1]);
        text_string(&out, "\n");
    }
    int r = options->json ? table_print_json(&table, &out) : table_print(&table, &out);
    if (!options->json)
        say_sum(&out, all, n, seconds_needed(played));
    r = r == 0 ? terminal_print(&out) : r;
    table_deinit(&table);
    text_free(&out);
    return r;
}

static int compare(const struct options *options, const struct diff_played played[PARTS], struct errors *errors,
                   int *status) {
    struct difference *all = NULL;
    size_t n, regressions = 0, judged = 0;
    int r = difference_find(played[0].stretch, played[1].stretch, &all, &n);
    if (r == 0 && n == 0)
        r = errors_add(errors, NULL, 0, 0, "the two recordings have no metric in common that is a quotient of counts");
    if (r == 0)
        r = print(options, played, all, n);
    for (size_t i = 0; i < n && r == 0; i++) {
        regressions += difference_is_regression(&all[i]);
        judged += judges_work(&all[i]);
    }
    *status = regressions > 0 ? EXIT_FAILURE : judged > 0 ? EXIT_SUCCESS : EXIT_WRONG;
    free(all);
    return r;
}

int diff_run(const struct options *options) {
    const char *const words[PARTS] = {options->word, options->second};
    struct errors *errors = calloc(1, sizeof *errors);
    struct diff_played played[PARTS] = {{.stretch = NULL}, {.stretch = NULL}};
    enum stretch_scope finest = options->diff.by ? (enum stretch_scope)find_scope(options->diff.by) : STRETCH_HOST;
    int status = EXIT_WRONG;
    int r = errors ? 0 : -ENOMEM;
    for (int i = 0; i < PARTS && r == 0; i++) {
        struct diff_part part;
        (void)diff_part_read(words[i], &part);
        r = diff_play(options, &part, finest, errors, &played[i]);
    }
    if (r == 0)
        r = compare(options, played, errors, &status);
    if (r < 0)
        log_reason(r, errors);
    for (int i = 0; i < PARTS; i++)
        diff_played_deinit(&played[i]);
    free(errors);
    return r != 0 ? EXIT_WRONG : status;
}
