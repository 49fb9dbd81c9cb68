// SPDX-License-Identifier: Apache-2.0
#include "exporters/html/html_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"

void html_put(struct text *out, const char *string) {
    static const struct text_escape escapes[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                                 {'"', "&quot;"}, {'\'', "&#39;"}, {0, NULL}};
    text_escaped(out, string, escapes);
}

void html_put_text(struct text *out, struct text *text) {
    text_append(text, "", 1);
    out->failed = out->failed || text->failed;
    if (!text->failed)
        html_put(out, text->data);
    text_free(text);
}

#define DIGITS_SHOWN 1e-4 // of a value; an interval that is narrower than that says nothing more

#define SMALL 1e-4 // printf writes smaller numbers with exponents
enum { DECIMALS_MAX = 12 };

// Appends a number below SMALL with so many digits, as "0.00002".
static void put_small(struct text *out, int digits, double value) {
    char number[32];
    int decimals = digits - 1 - (int)floor(log10(fabs(value)));
    int length = snprintf(number, sizeof number, "%.*f", decimals < DECIMALS_MAX ? decimals : DECIMALS_MAX, value);
    while (length > 0 && number[length - 1] == '0')
        length--;
    if (length > 0 && number[length - 1] == '.')
        length--;
    text_append(out, number, (size_t)length);
}

// %g alone would show 270 with two digits as 2.7e+02.
static void put_rounded(struct text *out, int digits, double value) {
    char rounded[32];
    (void)snprintf(rounded, sizeof rounded, "%.*g", digits, value);
    text_format(out, "%.15g", strtod(rounded, NULL));
}

// Appends a number with so many digits; large ones as "2.8 G".
static void put_digits(struct text *out, int digits, double value) {
    static const struct {
        double factor;
        const char *prefix;
    } prefixes[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
    size_t i = 0;
    while (i < sizeof prefixes / sizeof prefixes[0] && fabs(value) < prefixes[i].factor)
        i++;
    if (i < sizeof prefixes / sizeof prefixes[0]) {
        put_rounded(out, digits, value / prefixes[i].factor);
        text_string(out, prefixes[i].prefix);
    } else if (fabs(value) >= 1000)
        text_format(out, "%.0f", value);
    else if (value != 0 && fabs(value) < SMALL)
        put_small(out, digits, value);
    else
        put_rounded(out, digits, value);
}

void html_put_number(struct text *out, double value) { put_digits(out, 4, value); }

void html_put_share(struct text *out, double value) {
    put_digits(out, 3, 100 * value);
    text_string(out, " %");
}

void html_put_row(struct text *out, const char *name, const char *value) {
    text_string(out, "<tr><th>");
    html_put(out, name);
    text_string(out, "<td>");
    html_put(out, value);
    text_string(out, "\n");
}

void html_put_margin(struct text *out, const struct catalog_metric *metric, const struct html_margin *margin) {
    double value = margin->value, half = margin->high - value; // of the upper half: the lower one may be cut at 0
    if (!isfinite(half))
        return;
    if (!view_interval_tells(metric, value, half)) {
        text_string(out, " <small class=\"soft\">too uncertain to tell</small>");
        return;
    }
    if (margin->exact) {
        text_string(out, " <small class=\"soft\">exact</small>");
        return;
    }
    text_string(out, " <small class=\"soft\">&plusmn;&nbsp;");
    put_digits(out, 2, half < DIGITS_SHOWN * fabs(value) ? 0 : half * margin->scale);
    text_string(out, "</small>");
}

void html_put_id(struct text *out, const struct view *view, const char *use, const struct catalog_metric *metric,
                 size_t number) {
    text_format(out, "%s-", use);
    html_put(out, view->core_type ? view->core_type : "");
    text_string(out, "-");
    html_put(out, metric->export_name);
    text_format(out, "-%zu", number);
}

void html_put_history_link(struct text *out, const struct view *view, const struct catalog_metric *metric,
                           const char *use, size_t number, const char *text) {
    text_string(out, "<a id=\"");
    html_put_id(out, view, use, metric, number);
    text_string(out, "\" data-metric=\"");
    html_put(out, metric->export_name);
    text_string(out, "\" href=\"/api/v1/history?scope=socket&amp;metric=");
    html_put(out, metric->export_name);
    text_string(out, "\">");
    html_put(out, text);
    text_string(out, "</a>");
}

void html_put_next(struct text *out, const struct view *view, unsigned metric, const char *use, size_t number) {
    const struct catalog_metric *of = &view->layout->catalog->metrics[metric];
    struct text groups = {0}, command = {0};
    bool any = view_next_text(view, metric, &groups);
    text_string(out, any ? "Next, " : "");
    html_put_text(out, &groups);
    text_string(out, any ? ". " : "");
    text_string(out, "Which code is it?\n<div class=\"command\"><code id=\"command-");
    html_put_id(out, view, use, of, number);
    text_string(out, "\">");
    view_sample_command(view, metric, &command);
    html_put_text(out, &command);
    text_string(out, "</code><button type=\"button\" class=\"copy\" id=\"copy-");
    html_put_id(out, view, use, of, number);
    text_string(out, "\">Copy</button></div>\n");
}

void html_put_next_details(struct text *out, const struct view *view, unsigned metric, const char *use, size_t number) {
    const struct catalog_metric *of = &view->layout->catalog->metrics[metric];
    text_string(out, "\n<details data-key=\"next-");
    html_put_id(out, view, use, of, number);
    text_string(out, "\"><summary id=\"next-");
    html_put_id(out, view, use, of, number);
    text_string(out, "\">What next?</summary>");
    html_put_next(out, view, metric, use, number);
    text_string(out, "</details>");
}

static void put_duration(struct text *out, double seconds) {
    unsigned long long s = (unsigned long long)seconds;
    if (s < 60)
        text_format(out, "%llu&nbsp;s", s);
    else if (s < 3600)
        text_format(out, "%llu&nbsp;min", s / 60);
    else if (s < 86400)
        text_format(out, "%llu&nbsp;h %llu&nbsp;min", s / 3600, s / 60 % 60);
    else
        text_format(out, "%llu&nbsp;day%s %llu&nbsp;h", s / 86400, s / 86400 == 1 ? "" : "s", s / 3600 % 24);
}

void html_put_since(struct text *out, const struct snapshot *snapshot, size_t scope) {
    const struct verdict_since *since = &snapshot->verdicts[scope].now.since;
    double now = snapshot->taken_seconds;
    char time[VIEW_TIME_MAX];
    if (!view_time(since->seconds, time))
        return;
    text_format(out, "%s %s", since->at_least ? "At least since" : "Since", time);
    if (!(now >= since->seconds))
        return;
    text_string(out, ", for&nbsp;");
    put_duration(out, now - since->seconds);
    if (!(since->unwatched_seconds >= 1)) // also NaN
        return;
    text_string(out, ", of which nothing is known for&nbsp;");
    put_duration(out, since->unwatched_seconds);
}
