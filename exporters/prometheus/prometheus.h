// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_H
#define TOPDOWND_EXPORTERS_PROMETHEUS_PROMETHEUS_H

// Series as Prometheus text, format 0.0.4, or as OpenMetrics 1.0.0. A family without samples is left out, and a NaN has
// no line.

#include "exporters/series/series.h"

// Appends the whole exposition, with snapshots of the views for which the series were made. Returns 0 or -ENOMEM.
int prometheus_render(const struct series *series, const struct shown *shown, struct text *out);

// The same in OpenMetrics. The samples are the same lines, without _created: Prometheus reads those only behind a
// feature flag, and otherwise takes each as one more series.
int prometheus_render_openmetrics(const struct series *series, const struct shown *shown, struct text *out);

#endif
