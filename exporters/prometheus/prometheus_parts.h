// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PARTS_H
#define TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_PARTS_H

// Shared by the files that decide the contents of the pages: prometheus.c adds the families of core/spec/family.h,
// prometheus_metrics.c those with a series for each metric of the plan, prometheus_bound.c the verdict,
// prometheus_uncore.c those of PMUs outside the cores, prometheus_memory.c what the kernel counts of memory,
// prometheus_cpu.c those of single CPUs.

#include "core/spec/family.h"
#include "exporters/prometheus/prometheus_page.h"

// Makes later series this core type's. Returns its view.
const struct view *page_begin_type(struct prometheus_page *page, const struct shown *shown, size_t type);

enum { PAGE_NUMBER_MAX = TEXT_NUMBER_MAX };

// Begins a family of core/spec/family.h.
void page_add_family(struct prometheus_page *page, enum family family);

// A scope's own labels: {socket} or {socket,cpu}.
struct page_scope {
    size_t n;
    size_t scope;
    char socket[PAGE_NUMBER_MAX], cpu[PAGE_NUMBER_MAX];
};
struct page_scope page_socket_labels(const struct view *view, size_t socket);
struct page_scope page_cpu_labels(const struct view *view, size_t cpu);

// Adds a series of a scope, with another label if `name` is not NULL. Both are borrowed while the
// page is built.
void page_scoped(struct prometheus_page *page, const struct page_scope *scope, const char *name, const char *value,
                 enum page_kind kind, size_t index);

// Adds a core type's series of the current family.
void page_add_numerators(struct prometheus_page *page, const struct view *view);
void page_add_denominators(struct prometheus_page *page, const struct view *view);
void page_add_metric_infos(struct prometheus_page *page, const struct view *view);
void page_add_standard_errors(struct prometheus_page *page, const struct view *view);
void page_add_ipc_error(struct prometheus_page *page, const struct view *view);

// Adds a core type's verdict by socket: the path, since when, and how certain.
void page_add_bounds(struct prometheus_page *page, const struct view *view);
void page_add_bounds_since(struct prometheus_page *page, const struct view *view);
void page_add_bounds_unseen(struct prometheus_page *page, const struct view *view);
void page_add_bounds_certain(struct prometheus_page *page, const struct view *view);

// Add the series of a socket or CPU.
void page_add_categories(struct prometheus_page *page, const struct view *view, const struct page_scope *scope);
void page_add_contention(struct prometheus_page *page, const struct view *view, const struct page_scope *scope);
void page_add_uncovered(struct prometheus_page *page, const struct view *view, const struct page_scope *scope);

// Adds all families of /metrics/cpu.
void page_add_cpus(struct prometheus_page *page, const struct shown *shown);

// Adds a family for each metric of any type, by socket or by CPU.
void page_add_gauges(struct prometheus_page *page, const struct shown *shown, bool per_cpu);

// Adds the families of PMUs outside the cores.
void page_add_uncore(struct prometheus_page *page, const struct shown *shown);

// Adds the families of what the kernel counts of memory.
void page_add_memory(struct prometheus_page *page, const struct shown *shown);

// Adds the series of a platform.
void page_add_platform(struct prometheus_page *page, const struct platform *platform);

#endif
