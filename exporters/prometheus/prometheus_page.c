// SPDX-License-Identifier: Apache-2.0
//
// Rendering copies three pieces of text, writes a number, and goes on. The pieces of a thousand CPUs fit a cache,
// because series share them: each CPU has its labels once, not once a family. Rendering reserves space for the longest
// possible page once and checks nothing after that.

#include "exporters/prometheus/prometheus_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

static const struct text_escape LABEL_ESCAPES[] = {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {0, NULL}};
static const struct text_escape HELP_ESCAPES[] = {{'\\', "\\\\"}, {'\n', "\\n"}, {0, NULL}};

// The text added to the pool since `begin`; a pool that outgrows its indexes has failed.
static struct page_part pool_since(struct prometheus_page *page, size_t begin) {
    if (page->pool.failed || page->pool.length > UINT32_MAX)
        page->failed = true;
    return (struct page_part){(uint32_t)begin, (uint32_t)(page->pool.length - begin)};
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
    struct page_part header = pool_since(page, begin);
    begin = page->pool.length;
    text_string(&page->pool, name);
    page->families[page->n_families++] =
        (struct page_family){.name = name, .header = header, .own = pool_since(page, begin), .first = page->n_series};
    page->bytes_max += header.length;
}

static void add_label(struct prometheus_page *page, char *separator, const char *name, const char *value) {
    text_append(&page->pool, separator, 1);
    *separator = ',';
    text_string(&page->pool, name);
    text_string(&page->pool, "=\"");
    text_escaped(&page->pool, value, LABEL_ESCAPES);
    text_string(&page->pool, "\"");
}

static void add_labels(struct prometheus_page *page, char *separator, const struct page_label *labels, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_label(page, separator, labels[i].name, labels[i].value);
}

// Adds the labels that all series have, and ends the text before the number.
static void end_labels(struct prometheus_page *page, char separator) {
    if (page->core_type)
        add_label(page, &separator, "core_type", page->core_type);
    if (page->simulated)
        add_label(page, &separator, "simulated", "true");
    if (page->replayed)
        add_label(page, &separator, "replay", "true");
    text_string(&page->pool, separator == '{' ? " " : "} ");
}

static void add_series(struct prometheus_page *page, struct page_series series) {
    struct page_series *room = page->failed ? NULL : array_grow(page->series, page->n_series, sizeof *room);
    page->failed = !room;
    if (!room)
        return;
    struct page_family *family = &page->families[page->n_families - 1];
    page->series = room;
    series.type = (uint16_t)page->type;
    page->series[page->n_series++] = series;
    family->n++;
    page->bytes_max += family->own.length + series.head.length + series.tail.length + TEXT_NUMBER_MAX + 1;
}

void page_series(struct prometheus_page *page, const char *suffix, const struct page_label *labels, size_t n_labels,
                 enum page_kind kind, size_t value) {
    size_t begin = page->pool.length;
    char separator = '{';
    text_string(&page->pool, suffix);
    add_labels(page, &separator, labels, n_labels);
    end_labels(page, separator);
    add_series(page,
               (struct page_series){.head = pool_since(page, begin), .value = (uint32_t)value, .kind = (uint16_t)kind});
}

void page_series_fixed(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double number) {
    size_t begin = page->pool.length;
    char separator = '{', digits[TEXT_NUMBER_MAX];
    add_labels(page, &separator, labels, n_labels);
    end_labels(page, separator);
    text_append(&page->pool, digits, text_number(digits, number));
    add_series(page, (struct page_series){.head = pool_since(page, begin), .kind = PAGE_FIXED});
}

// ---- series of scopes ----

void page_begin(struct prometheus_page *page, size_t type, const char *core_type, size_t n_scopes) {
    struct page_memo *memo = &page->memos[type];
    page->type = type;
    page->core_type = core_type;
    if (!memo->scopes)
        memo->scopes = calloc(n_scopes, sizeof *memo->scopes);
    page->failed = page->failed || !memo->scopes;
}

void page_end(struct prometheus_page *page) {
    for (size_t type = 0; type < SHOWN_TYPES_MAX; type++) {
        free(page->memos[type].tails);
        free(page->memos[type].scopes);
        page->memos[type] = (struct page_memo){0};
    }
}

static struct page_part find_scope(struct prometheus_page *page, size_t scope, const struct page_label *labels,
                                   size_t n_labels) {
    struct page_part *part = &page->memos[page->type].scopes[scope];
    if (part->length > 0)
        return *part;
    size_t begin = page->pool.length;
    char separator = '{';
    add_labels(page, &separator, labels, n_labels);
    return *part = pool_since(page, begin);
}

static struct page_part add_tail(struct prometheus_page *page, const struct page_label *label) {
    struct page_memo *memo = &page->memos[page->type];
    struct page_tail *tails = array_grow(memo->tails, memo->n_tails, sizeof *tails);
    if (!tails) {
        page->failed = true;
        return (struct page_part){0};
    }
    size_t begin = page->pool.length;
    char separator = ',';
    memo->tails = tails;
    add_labels(page, &separator, label, label->name != NULL);
    end_labels(page, separator);
    tails[memo->n_tails] = (struct page_tail){label->name, label->value, pool_since(page, begin)};
    return tails[memo->n_tails++].part;
}

static struct page_part find_tail(struct prometheus_page *page, const struct page_label *label) {
    struct page_memo *memo = &page->memos[page->type];
    for (size_t i = 0; i < memo->n_tails; i++) {
        size_t at = memo->next < memo->n_tails ? memo->next : 0;
        memo->next = at + 1;
        if (memo->tails[at].name == label->name && memo->tails[at].value == label->value)
            return memo->tails[at].part;
    }
    memo->next = 0;
    return add_tail(page, label);
}

void page_series_scoped(struct prometheus_page *page, size_t scope, const struct page_label *labels, size_t n_labels,
                        const struct page_label *more, enum page_kind kind, size_t value) {
    static const struct page_label none = {NULL, NULL};
    if (page->failed)
        return;
    struct page_part head = find_scope(page, scope, labels, n_labels), tail = find_tail(page, more ? more : &none);
    add_series(page,
               (struct page_series){.head = head, .tail = tail, .value = (uint32_t)value, .kind = (uint16_t)kind});
}

struct prometheus_page *prometheus_page_free(struct prometheus_page *page) {
    if (page) {
        page_end(page);
        free(page->series);
        free(page->families);
        text_free(&page->pool);
        free(page);
    }
    return NULL;
}

size_t prometheus_series(const struct prometheus_page *page) { return page->n_series; }

static char *copy(char *p, const struct prometheus_page *page, struct page_part part) {
    memcpy(p, page->pool.data + part.text, part.length);
    return p + part.length;
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
            p = copy(p, page, family->header);
        begun = true;
        p = copy(p, page, family->own);
        p = copy(p, page, series->head);
        p = copy(p, page, series->tail);
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
