// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PAGE_H
#define TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PAGE_H

// A page as a template: text with holes, and the snapshot value for each hole. prometheus.c decides the contents; this
// file knows the text format.

#include "exporters/prometheus/prometheus.h"

enum page_kind {
    PAGE_FIXED, // never changes: its number is part of the text
    PAGE_WHOLE, // an estimated count: rounded to a whole number
    PAGE_REAL
};

struct page_label {
    const char *name, *value;
};

struct page_series {
    uint32_t text, length; // name, labels and a space, in the pool; of a fixed series the number, too
    uint32_t value;        // index into snapshot->values
    uint16_t kind;
    uint16_t type; // core type of the snapshot
};

struct page_family {
    const char *name;      // borrowed, only while the page is built
    uint32_t text, length; // HELP and TYPE
    size_t first, n;       // of the series
};

struct prometheus_page {
    struct text pool;
    struct page_family *families;
    size_t n_families;
    struct page_series *series;
    size_t n_series;
    size_t bytes_max;      // maximum length of an exposition
    bool simulated;        // every series gets simulated="true"
    bool replayed;         // and replay="true"
    size_t type;           // core type of the series being added,
    const char *core_type; // and their label; NULL: none. Borrowed, only while the page is built
    bool failed;           // out of memory
};

// Begins a family; the series that follow belong to it. `name` is borrowed until the next call.
void page_family(struct prometheus_page *page, const char *name, const char *type, const char *help);

// Adds a series of the family; its name is the family's and `suffix`.
void page_series(struct prometheus_page *page, const char *suffix, const struct page_label *labels, size_t n_labels,
                 enum page_kind kind, size_t value);
void page_series_fixed(struct prometheus_page *page, const struct page_label *labels, size_t n_labels, double number);

#endif
