// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/series_limits.h"

#include <stdio.h>

#include "daemon/base/log.h"
#include "daemon/engine/plan_view.h"
#include "daemon/memory/memory_watch.h"
#include "exporters/series/series.h"

static void describe_host(const struct shown *shown, unsigned max, char *out, size_t size) {
    struct series *series = max > 0 ? series_new(shown, false) : NULL;
    size_t n = series ? series_count_usual(series) : 0;
    if (n > max)
        (void)snprintf(
            out, size,
            "/metrics has %zu series, more than max_series (%u): select fewer metric groups, or set max_series "
            "higher",
            n, max);
    series_free(series);
}

static void describe_cpus(const struct shown *shown, char *out, size_t size) {
    struct text omitted = {0};
    size_t n = series_count_cpus(shown, &omitted);
    if (omitted.length > 0)
        (void)snprintf(out, size,
                       "/metrics/cpu would have %zu series, more than max_cpu_series (%u), so it leaves out: %.*s. Set "
                       "max_cpu_series higher, or select fewer metric groups or CPUs",
                       n, shown->types[0].view->max_cpu_series, (int)omitted.length, omitted.data);
    text_free(&omitted);
}

static void describe_all(const struct shown *shown, const struct config_settings *settings,
                         struct series_limits_texts *out) {
    *out = (struct series_limits_texts){{0}, {0}};
    describe_host(shown, settings->max_series, out->host, sizeof out->host);
    describe_cpus(shown, out->cpus, sizeof out->cpus);
}

static struct config_origin_text place_of(const struct setup *setup, const char *key) {
    return config_origin_text(config_place_of(setup->config, setup->profile, key));
}

void series_limits_warn(const struct shown *shown, const struct setup *setup) {
    struct series_limits_texts texts;
    describe_all(shown, &setup->profile->settings, &texts);
    if (texts.host[0] != '\0')
        log_warning("%s%s", place_of(setup, "max_series").text, texts.host);
    if (texts.cpus[0] != '\0')
        log_warning("%s%s", place_of(setup, "max_cpu_series").text, texts.cpus);
}

void series_limits_describe_plans(const struct setup *setup, struct plan *plans[SETUP_TYPES_MAX],
                                  struct series_limits_texts *out) {
    struct shown shown = {.n = setup->n_types, .n_boxes = setup->n_boxes};
    struct errors errors = {.n = 0}; // of boxes there are none: their specs ship
    bool complete = true;
    *out = (struct series_limits_texts){{0}, {0}};
    for (size_t i = 0; i < shown_all(&shown); i++) {
        if (i >= shown.n)
            (void)setup_plan_stated(setup, &setup->types[i], &errors, &plans[i]);
        struct view *view = plans[i] ? plan_view_new(setup, &setup->types[i], plans[i]) : NULL;
        plans[i] = NULL;
        shown.types[i].view = view;
        complete = complete && view;
    }
    shown.memory = complete ? memory_watch_once(setup) : NULL;
    if (complete)
        describe_all(&shown, &setup->profile->settings, out);
    host_memory_unref(shown.memory);
    for (size_t i = 0; i < shown_all(&shown); i++)
        view_unref(shown.types[i].view);
}
