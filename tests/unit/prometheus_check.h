// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_PROMETHEUS_CHECK_H
#define TOPDOWND_TESTS_UNIT_PROMETHEUS_CHECK_H

// A host's page as text, and its contents.

#include "exporter_host.h"
#include "exporters/prometheus/prometheus.h"

// The exposition, terminated; owned by the caller.
static inline char *render(struct view *view, const struct snapshot *snapshot, bool per_cpu) {
    struct series *series = series_new(&(struct shown){.n = 1, .types = {{.view = view}}}, per_cpu);
    assert_non_null(series);
    struct text text = {0};
    assert_int_equal(prometheus_render(series, &(struct shown){.n = 1, .types = {{.snapshot = snapshot}}}, &text), 0);
    text_append(&text, "", 1);
    series_free(series);
    return text.data;
}

static inline size_t count_series(const char *exposition) {
    size_t n = 0;
    for (const char *line = exposition; *line; line = strchr(line, '\n') + 1)
        n += *line != '#';
    return n;
}

static inline void assert_line(const char *exposition, const char *line) {
    const char *found = strstr(exposition, line);
    if (!found || (found != exposition && found[-1] != '\n') || found[strlen(line)] != '\n')
        fail_msg("this line is not there: %s\n%s", line, exposition);
}

static inline void assert_absent(const char *exposition, const char *part) {
    if (strstr(exposition, part))
        fail_msg("'%s' is there", part);
}

#endif
