// SPDX-License-Identifier: Apache-2.0
//
// Rendering copies three pieces of text, writes a number, and goes on. The pieces of a thousand CPUs fit a cache,
// because series share them: each CPU has its labels once, not once a family. Rendering reserves space for the longest
// possible page once and checks nothing after that.

#include "exporters/prometheus/prometheus.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// What a page has around its series in each format.
struct format {
    bool openmetrics;
    const char *end;
};
static const struct format TEXT = {.end = ""}, OPENMETRICS = {.openmetrics = true, .end = "# EOF\n"};

// All words of a family's header but its names, help, type and unit.
enum { HEADER_WORDS_BYTES = sizeof "# HELP  \n# TYPE  \n# UNIT  \n" };

static char *copy(char *p, const struct series *series, struct series_part part) {
    memcpy(p, series->pool.data + part.text, part.length);
    return p + part.length;
}

static char *copy_string(char *p, const char *string) {
    size_t length = strlen(string);
    memcpy(p, string, length);
    return p + length;
}

static char *copy_line(char *p, const char *keyword, const char *name, size_t length) {
    p = copy_string(p, keyword);
    memcpy(p, name, length);
    p[length] = ' ';
    return p + length + 1;
}

// Format 0.0.4 has neither units nor infos, which are gauges there.
static char *render_header(const struct series *series, const struct series_family *family,
                           const struct format *format, char *p) {
    const char *name = series->pool.data + family->name.text;
    bool info = strcmp(family->type, "info") == 0;
    size_t length = format->openmetrics ? family->stem : family->name.length;
    p = copy_line(p, "# HELP ", name, length);
    p = copy(p, series, family->help);
    p = copy_line(p, "\n# TYPE ", name, length);
    p = copy_string(p, info && !format->openmetrics ? "gauge" : family->type);
    if (format->openmetrics && family->unit > 0) {
        p = copy_line(p, "\n# UNIT ", name, length);
        memcpy(p, name + length - family->unit, family->unit);
        p += family->unit;
    }
    *p = '\n';
    return p + 1;
}

static char *render_family(const struct series *series, const struct series_family *family,
                           const struct shown *shown, const struct format *format, char *p) {
    bool begun = false;
    const struct series_line *end = series->lines + family->first + family->n;
    for (const struct series_line *line = series->lines + family->first; line < end; line++) {
        double value = line->kind == SERIES_FIXED ? 0 : series_value(series, shown, line);
        if (!isfinite(value))
            continue;
        if (!begun)
            p = render_header(series, family, format, p);
        begun = true;
        p = copy(p, series, family->name);
        p = copy(p, series, line->head);
        p = copy(p, series, line->tail);
        if (line->kind != SERIES_FIXED)
            p += text_number(p, value);
        *p++ = '\n';
    }
    return p;
}

// The length of the longest exposition.
static size_t count_bytes(const struct series *series, const struct format *format) {
    size_t n = series->lines_bytes + series->n_lines * (TEXT_NUMBER_MAX + 1) + strlen(format->end);
    for (size_t i = 0; i < series->n_families; i++) {
        const struct series_family *family = &series->families[i];
        n += HEADER_WORDS_BYTES + 3 * (size_t)family->name.length + family->unit + family->help.length +
             strlen(family->type);
    }
    return n;
}

static int render(const struct series *series, const struct shown *shown, const struct format *format,
                  struct text *out) {
    char *begin = text_room(out, count_bytes(series, format));
    if (!begin)
        return -ENOMEM;
    char *p = begin;
    for (size_t i = 0; i < series->n_families; i++)
        p = render_family(series, &series->families[i], shown, format, p);
    p = copy_string(p, format->end);
    out->length += (size_t)(p - begin);
    return 0;
}

int prometheus_render(const struct series *series, const struct shown *shown, struct text *out) {
    return render(series, shown, &TEXT, out);
}

int prometheus_render_openmetrics(const struct series *series, const struct shown *shown, struct text *out) {
    return render(series, shown, &OPENMETRICS, out);
}
