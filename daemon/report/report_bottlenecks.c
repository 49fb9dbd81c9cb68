// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_bottlenecks.h"

#include <math.h>

#include "core/diagnosis/bottlenecks.h"

enum { INDENT = 2, TITLE_WIDTH = 36 };
static const double SHOWN = 0.01, WORTH = 0.1; // of all pipeline slots: a line, and a word on what to do

static void put_row(const struct bottleneck_row *row, const struct screen *screen, struct text *out) {
    const struct bottleneck_info *info = &bottleneck_table[row->heading];
    double half = (row->high - row->low) / 2;
    struct text title = {0};
    text_format(&title, "%s%s%c", info->title, row->rest ? ", the rest" : "", '\0');
    text_format(out, "%*s%-*s %5.1f %%", INDENT, "", TITLE_WIDTH, title.failed ? info->title : title.data,
                100 * row->value);
    text_free(&title);
    if (isfinite(half))
        text_format(out, " %s%.1f", report_number_plus_minus(screen), 100 * half);
    text_string(out, "\n");
    if (row->value < WORTH)
        return;
    text_format(out, "%*s", 2 * INDENT, "");
    text_folded(out, info->remedy, 2 * INDENT, screen->width);
}

static void put_missing(const struct report *report, const struct bottlenecks *bottlenecks, const struct screen *screen,
                        struct text *out) {
    const struct plan *plan = report->view->layout->plan;
    struct text words = {0};
    bool selected = true;
    if (bottlenecks->n_known == bottlenecks->n)
        return;
    text_string(&words, "Not known: ");
    for (size_t i = bottlenecks->n_known; i < bottlenecks->n; i++) {
        const struct bottleneck_row *row = &bottlenecks->rows[i];
        text_format(&words, "%s%s", i > bottlenecks->n_known ? ", " : "", bottleneck_table[row->heading].title);
        selected = selected && (row->missing < 0 || plan->place[row->missing] >= 0);
    }
    if (selected)
        text_format(&words, ". --json says why.%c", '\0');
    else
        text_format(&words, ". --groups %s measures all that this host can.%c", BOTTLENECK_GROUP, '\0');
    text_format(out, "%*s", INDENT, "");
    if (words.failed)
        out->failed = true;
    else
        text_folded(out, words.data, INDENT, screen->width);
    text_free(&words);
}

void report_bottlenecks(const struct report *report, const struct screen *screen, struct text *out) {
    struct bottlenecks bottlenecks = {.n = 0};
    if (bottlenecks_find(report->snapshot, 0, &bottlenecks) < 0)
        out->failed = true;
    if (!bottlenecks.fine)
        return;
    text_format(out, "\n%*sWhat would help how much, of the pipeline slots\n", INDENT, "");
    for (size_t i = 0; i < bottlenecks.n_known; i++)
        if (bottlenecks.rows[i].value >= SHOWN)
            put_row(&bottlenecks.rows[i], screen, out);
    put_missing(report, &bottlenecks, screen, out);
}
