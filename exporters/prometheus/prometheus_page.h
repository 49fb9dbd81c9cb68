// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PAGE_H
#define TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PAGE_H

// A page as a template: text with holes, and the snapshot value for each hole. prometheus.c decides the contents; this
// file knows the text format.

#include "exporters/prometheus/prometheus.h"

enum page_kind {
    PAGE_FIXED, // never changes: its number is part of the text
    PAGE_WHOLE, // an estimated count: rounded to a whole number
    PAGE_REAL,
    PAGE_SCALED // and above: PAGE_WHOLE times one of the page's scales
};

struct page_label {
    const char *name, *value;
};

// A piece of text in the pool.
struct page_part {
    uint32_t text, length;
};

// A line is the family's name, two parts, a number and a line break. Thousands of series share the parts: the first
// names the scope, the second has the other labels and a space.
struct page_series {
    struct page_part head, tail; // of a fixed series the number, too
    uint32_t value;              // index into snapshot->values
    uint16_t kind;
    uint16_t type; // core type of the snapshot, PAGE_MEMORY or PAGE_HEALTH
};

struct page_family {
    struct page_part name, help; // lines begin with the name
    const char *type;            // of core/spec/family.h: "counter", "gauge", "histogram" or "info"
    uint32_t stem;               // length of the name without the end that OpenMetrics leaves to the samples
    uint32_t unit;               // length of the unit at the end of the stem; 0: none
    size_t first, n;             // of the series
};

// While a page is built: the parts that a core type's series have so far.
struct page_memo {
    struct page_part *scopes; // by scope; length 0: not yet
    struct page_tail {
        const char *name, *value; // the same pointers have the same text
        struct page_part part;
    } * tails;
    size_t n_tails;
    size_t next; // the tail that probably comes next: each scope has the same ones
};

enum { PAGE_SCALES_MAX = 16, PAGE_MEMORY = SHOWN_TYPES_MAX, PAGE_HEALTH };

struct prometheus_page {
    struct text pool;
    struct page_memo *memos; // by core type, while the page is built
    size_t n_memos;
    struct page_family *families;
    size_t n_families;
    struct page_series *series;
    size_t n_series;
    size_t n_rare;    // of these: one alone, or none, of many has a value at a time
    size_t bytes_max; // maximum length of an exposition
    double scales[PAGE_SCALES_MAX];
    size_t n_scales;
    bool simulated;        // every series gets simulated="true"
    bool replayed;         // and replay="true"
    size_t type;           // core type of the series being added,
    const char *core_type; // and their label; NULL: none. Borrowed, only while the page is built
    bool failed;           // out of memory
};

// Begins a family; the series that follow belong to it. `type` is borrowed for the life of the page.
void page_family(struct prometheus_page *page, const char *name, const char *type, const char *help);

// Later series are core type `type`'s, which has `n_scopes` scopes.
void page_begin(struct prometheus_page *page, size_t type, const char *core_type, size_t n_scopes);

// Later series are those of core/memory/host_memory.h, by their numbers in the place of a snapshot's values.
void page_begin_memory(struct prometheus_page *page);

// Later series are those of exporters/health/health.h, by the reason.
void page_begin_health(struct prometheus_page *page);

// Ends building: what only that needs is freed.
void page_end(struct prometheus_page *page);

// Adds a series of the family; its name is the family's and `suffix`.
void page_series(struct prometheus_page *page, const char *suffix, const struct page_label *labels, size_t n_labels,
                 enum page_kind kind, size_t value);

// The same for a whole number that is a value times `scale`. A page has few scales.
void page_series_scaled(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double scale,
                        size_t value);

// The same as page_series for one of the core type's scopes, which all have the same labels first, and one more label
// unless `more` is NULL. Its name and value are borrowed until page_end.
void page_series_scoped(struct prometheus_page *page, size_t scope, const struct page_label *labels, size_t n_labels,
                        const struct page_label *more, enum page_kind kind, size_t value);

// A series whose number never changes.
void page_series_fixed(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double number);

#endif
