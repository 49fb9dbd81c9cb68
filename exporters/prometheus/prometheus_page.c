// SPDX-License-Identifier: Apache-2.0
//
// All text of a page lies in one pool in the order of the page, so that rendering walks memory forwards: copy a prefix,
// write a number, go on. Rendering reserves space for the longest possible page once and checks nothing after that.

#include "exporters/prometheus/prometheus_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

static const struct text_escape LABEL_ESCAPES[] = {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {0, NULL}};
static const struct text_escape HELP_ESCAPES[] = {{'\\', "\\\\"}, {'\n', "\\n"}, {0, NULL}};

// Length of the text added to the pool since `begin`; a pool that outgrows its indexes has failed.
static uint32_t pool_since(struct prometheus_page *page, size_t begin) {
    if (page->pool.failed || page->pool.length > UINT32_MAX)
        page->failed = true;
    return (uint32_t)(page->pool.length - begin);
}

void page_family(struct prometheus_page *page, const char *name, const char *type, const char *help) {
    struct page_family *families = page->failed ? NULL : array_grow(page->families, page->n_families, sizeof *families);
    if (!families) {
        page->failed = true;
        return;
    }
    page->families = families;
    size_t begin = page->pool.length;
    text_format(&page->pool, "# HELP %s ", name);
    text_escaped(&page->pool, help, HELP_ESCAPES);
    text_format(&page->pool, "\n# TYPE %s %s\n", name, type);
    uint32_t length = pool_since(page, begin);
    page->families[page->n_families++] =
        (struct page_family){.name = name, .text = (uint32_t)begin, .length = length, .first = page->n_series};
    page->bytes_max += length;
}

static void add_label(struct prometheus_page *page, char *separator, const char *name, const char *value) {
    text_append(&page->pool, separator, 1);
    *separator = ',';
    text_string(&page->pool, name);
    text_string(&page->pool, "=\"");
    text_escaped(&page->pool, value, LABEL_ESCAPES);
    text_string(&page->pool, "\"");
}

// Adds the text before the number.
static void add_prefix(struct prometheus_page *page, const char *suffix, const struct page_label *labels,
                       size_t n_labels) {
    text_string(&page->pool, page->families[page->n_families - 1].name);
    text_string(&page->pool, suffix);
    char separator = '{';
    for (size_t i = 0; i < n_labels; i++)
        add_label(page, &separator, labels[i].name, labels[i].value);
    if (page->core_type)
        add_label(page, &separator, "core_type", page->core_type);
    if (page->simulated)
        add_label(page, &separator, "simulated", "true");
    if (page->replayed)
        add_label(page, &separator, "replay", "true");
    text_string(&page->pool, separator == '{' ? " " : "} ");
}

static void add_series(struct prometheus_page *page, size_t begin, enum page_kind kind, size_t value) {
    uint32_t length = pool_since(page, begin);
    page->series[page->n_series++] = (struct page_series){.text = (uint32_t)begin,
                                                          .length = length,
                                                          .value = (uint32_t)value,
                                                          .kind = (uint16_t)kind,
                                                          .type = (uint16_t)page->type};
    page->families[page->n_families - 1].n++;
    page->bytes_max += length + TEXT_NUMBER_MAX + 1;
}

static bool series_room(struct prometheus_page *page) {
    struct page_series *series = page->failed ? NULL : array_grow(page->series, page->n_series, sizeof *series);
    page->failed = !series;
    if (series)
        page->series = series;
    return series;
}

void page_series(struct prometheus_page *page, const char *suffix, const struct page_label *labels, size_t n_labels,
                 enum page_kind kind, size_t value) {
    if (!series_room(page))
        return;
    size_t begin = page->pool.length;
    add_prefix(page, suffix, labels, n_labels);
    add_series(page, begin, kind, value);
}

void page_series_fixed(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double number) {
    if (!series_room(page))
        return;
    size_t begin = page->pool.length;
    char digits[TEXT_NUMBER_MAX];
    add_prefix(page, "", labels, n_labels);
    text_append(&page->pool, digits, text_number(digits, number));
    add_series(page, begin, PAGE_FIXED, 0);
}

struct prometheus_page *prometheus_page_free(struct prometheus_page *page) {
    if (page) {
        free(page->series);
        free(page->families);
        text_free(&page->pool);
        free(page);
    }
    return NULL;
}

size_t prometheus_series(const struct prometheus_page *page) { return page->n_series; }

static char *copy(char *p, const struct prometheus_page *page, uint32_t text, uint32_t length) {
    memcpy(p, page->pool.data + text, length);
    return p + length;
}

static char *render_family(const struct prometheus_page *page, const struct page_family *family,
                           const struct shown *shown, char *p) {
    bool begun = false;
    const struct page_series *end = page->series + family->first + family->n;
    for (const struct page_series *series = page->series + family->first; series < end; series++) {
        double value = series->kind == PAGE_FIXED ? 0 : shown->types[series->type].snapshot->values[series->value];
        if (!isfinite(value))
            continue;
        if (!begun)
            p = copy(p, page, family->text, family->length);
        begun = true;
        p = copy(p, page, series->text, series->length);
        if (series->kind != PAGE_FIXED)
            p += text_number(p, series->kind == PAGE_WHOLE ? rint(value) : value);
        *p++ = '\n';
    }
    return p;
}

int prometheus_render(const struct prometheus_page *page, const struct shown *shown, struct text *out) {
    char *begin = text_room(out, page->bytes_max);
    if (!begin)
        return -ENOMEM;
    char *p = begin;
    for (size_t i = 0; i < page->n_families; i++)
        p = render_family(page, &page->families[i], shown, p);
    out->length += (size_t)(p - begin);
    return 0;
}
