// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_H
#define TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_H

// Snapshots as Prometheus text, format 0.0.4, or as OpenMetrics 1.0.0.
//
// Names, labels and help never change: they are written once, when the page is made, and rendering copies them and
// fills in numbers. A family without samples is left out, and a NaN has no line. On a host with several core types each
// family has the samples of all types, with the label core_type; series of the host or the daemon appear once, without
// it.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

struct prometheus_page;

// Makes the host's page (/metrics), or the CPUs' (/metrics/cpu). The views are borrowed; the snapshots are not used.
// NULL if out of memory.
struct prometheus_page *prometheus_page_new(const struct shown *shown, bool per_cpu);
struct prometheus_page *prometheus_page_free(struct prometheus_page *page);

// Appends the whole exposition, with snapshots of the views for which the page was made. Returns 0 or -ENOMEM.
int prometheus_render(const struct prometheus_page *page, const struct shown *shown, struct text *out);

// The same in OpenMetrics. The samples are the same lines, without _created: Prometheus reads those only behind a
// feature flag, and otherwise takes each as one more series.
int prometheus_render_openmetrics(const struct prometheus_page *page, const struct shown *shown, struct text *out);

// The largest number of samples on the page: nothing is absent, and every event has every kind of trouble.
size_t prometheus_series(const struct prometheus_page *page);

// The number of samples on the page once all has been measured: each socket has one verdict, and no event is in
// trouble.
size_t prometheus_usual_series(const struct prometheus_page *page);

// The number of series that /metrics/cpu would have without its limit (view->max_cpu_series); appends what the limit
// leaves out, for people, or nothing.
size_t prometheus_cpu_series(const struct shown *shown, struct text *omitted);

#endif
