// SPDX-License-Identifier: Apache-2.0
//
// Rendering copies three pieces of text, writes a number, and goes on. The pieces of a thousand CPUs fit a cache,
// because series share them: each CPU has its labels once, not once a family. Rendering reserves space for the longest
// possible page once and checks nothing after that.

#include "exporters/prometheus/prometheus_page.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "exporters/health/health.h"

static const struct text_escape LABEL_ESCAPES[] = {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {0, NULL}};
// OpenMetrics has another escape for a quotation mark than format 0.0.4, so no help has one.
static const struct text_escape HELP_ESCAPES[] = {{'\\', "\\\\"}, {'\n', "\\n"}, {'"', "'"}, {0, NULL}};

// What a page has around its series in each format.
struct format {
    bool openmetrics;
    const char *end;
};
static const struct format TEXT = {.end = ""}, OPENMETRICS = {.openmetrics = true, .end = "# EOF\n"};

// All words of a family's header but its names, help, type and unit.
enum { HEADER_WORDS_BYTES = sizeof "# HELP  \n# TYPE  \n# UNIT  \n" };

// The text added to the pool since `begin`; a pool that outgrows its indexes has failed.
static struct page_part pool_since(struct prometheus_page *page, size_t begin) {
    if (page->pool.failed || page->pool.length > UINT32_MAX)
        page->failed = true;
    return (struct page_part){(uint32_t)begin, (uint32_t)(page->pool.length - begin)};
}

// The length of the base unit in which the first `length` bytes of a name end; 0: none.
static uint32_t find_unit(const char *name, size_t length) {
    static const char *const units[] = {"seconds", "bytes", "ratio", "hertz"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i]);
        if (length > n + 1 && name[length - n - 1] == '_' && memcmp(name + length - n, units[i], n) == 0)
            return (uint32_t)n;
    }
    return 0;
}

void page_family(struct prometheus_page *page, const char *name, const char *type, const char *help) {
    struct page_family *families = page->failed ? NULL : array_grow(page->families, page->n_families, sizeof *families);
    if (!families) {
        page->failed = true;
        return;
    }
    page->families = families;
    struct page_family *family = &page->families[page->n_families++];
    *family = (struct page_family){.type = type, .first = page->n_series};
    size_t begin = page->pool.length;
    text_string(&page->pool, name);
    family->name = pool_since(page, begin);
    begin = page->pool.length;
    text_escaped(&page->pool, help, HELP_ESCAPES);
    family->help = pool_since(page, begin);
    if (page->failed)
        return; // the name has no length
    size_t end = strcmp(type, "counter") == 0 ? strlen("_total") : strcmp(type, "info") == 0 ? strlen("_info") : 0;
    family->stem = family->name.length - (uint32_t)end;
    family->unit = find_unit(name, family->stem);
    page->bytes_max += HEADER_WORDS_BYTES + 4 * (size_t)family->name.length + family->help.length + strlen(type);
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
    page->bytes_max += family->name.length + series.head.length + series.tail.length + TEXT_NUMBER_MAX + 1;
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

static enum page_kind find_scale(struct prometheus_page *page, double scale) {
    size_t i = 0;
    while (i < page->n_scales && page->scales[i] != scale)
        i++;
    assert(i < PAGE_SCALES_MAX);
    page->scales[i] = scale;
    page->n_scales += i == page->n_scales;
    return (enum page_kind)(PAGE_SCALED + i);
}

void page_series_scaled(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double scale,
                        size_t value) {
    page_series(page, "", labels, n_labels, find_scale(page, scale), value);
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

void page_begin_memory(struct prometheus_page *page) {
    page->type = PAGE_MEMORY;
    page->core_type = NULL;
}

void page_begin_health(struct prometheus_page *page) {
    page->type = PAGE_HEALTH;
    page->core_type = NULL;
}

void page_end(struct prometheus_page *page) {
    while (page->n_memos > 0) {
        const struct page_memo *memo = &page->memos[--page->n_memos];
        free(memo->tails);
        free(memo->scopes);
    }
    free(page->memos);
    page->memos = NULL;
}

static struct page_part find_scope(struct prometheus_page *page, size_t scope, const struct page_label *labels,
                                   size_t n_labels) {
    if (page->failed)
        return (struct page_part){0};
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

size_t prometheus_usual_series(const struct prometheus_page *page) { return page->n_series - page->n_rare; }

static char *copy(char *p, const struct prometheus_page *page, struct page_part part) {
    memcpy(p, page->pool.data + part.text, part.length);
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
static char *render_header(const struct prometheus_page *page, const struct page_family *family,
                           const struct format *format, char *p) {
    const char *name = page->pool.data + family->name.text;
    bool info = strcmp(family->type, "info") == 0;
    size_t length = format->openmetrics ? family->stem : family->name.length;
    p = copy_line(p, "# HELP ", name, length);
    p = copy(p, page, family->help);
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

static double number_of(const struct prometheus_page *page, unsigned kind, double value) {
    return kind >= PAGE_SCALED  ? rint(value * page->scales[kind - PAGE_SCALED])
           : kind == PAGE_WHOLE ? rint(value)
                                : value;
}

static double value_of(const struct shown *shown, const struct page_series *series) {
    return series->kind == PAGE_FIXED    ? 0
           : series->type == PAGE_MEMORY ? host_memory_series(shown->memory, series->value)
           : series->type == PAGE_HEALTH ? health_series(shown, (enum health_reason)series->value)
                                         : shown->types[series->type].snapshot->values[series->value];
}

static char *render_family(const struct prometheus_page *page, const struct page_family *family,
                           const struct shown *shown, const struct format *format, char *p) {
    bool begun = false;
    const struct page_series *end = page->series + family->first + family->n;
    for (const struct page_series *series = page->series + family->first; series < end; series++) {
        double value = value_of(shown, series);
        if (!isfinite(value))
            continue;
        if (!begun)
            p = render_header(page, family, format, p);
        begun = true;
        p = copy(p, page, family->name);
        p = copy(p, page, series->head);
        p = copy(p, page, series->tail);
        if (series->kind != PAGE_FIXED)
            p += text_number(p, number_of(page, series->kind, value));
        *p++ = '\n';
    }
    return p;
}

static int render(const struct prometheus_page *page, const struct shown *shown, const struct format *format,
                  struct text *out) {
    char *begin = text_room(out, page->bytes_max + strlen(format->end));
    if (!begin)
        return -ENOMEM;
    char *p = begin;
    for (size_t i = 0; i < page->n_families; i++)
        p = render_family(page, &page->families[i], shown, format, p);
    p = copy_string(p, format->end);
    out->length += (size_t)(p - begin);
    return 0;
}

int prometheus_render(const struct prometheus_page *page, const struct shown *shown, struct text *out) {
    return render(page, shown, &TEXT, out);
}

int prometheus_render_openmetrics(const struct prometheus_page *page, const struct shown *shown, struct text *out) {
    return render(page, shown, &OPENMETRICS, out);
}
