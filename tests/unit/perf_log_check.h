// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_PERF_LOG_CHECK_H
#define TOPDOWND_TESTS_UNIT_PERF_LOG_CHECK_H

// For the tests of perf's logs: turns a text into values, as a replay does.

#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/perf_log/perf_log.h"
#include "config/perf_log/perf_log_cpus.h"
#include "config/perf_log/perf_log_event.h"
#include "config/spec/spec_json.h"
#include "core/tally/derive.h"

static inline struct catalog *load_spec(const char *name) {
    char path[128];
    struct errors errors = {0};
    struct catalog *catalog;
    (void)snprintf(path, sizeof path, "specs/%s.json", name);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), 0);
    return catalog;
}

static inline int parse(const char *text, struct errors *errors, struct perf_log **out) {
    return perf_log_parse("log", text, strlen(text), errors, out);
}

static inline struct perf_log *load_log(const char *file) {
    char path[128], *text;
    size_t length;
    struct errors errors = {0};
    struct perf_log *log;
    (void)snprintf(path, sizeof path, "tests/data/perf/%s", file);
    assert_int_equal(json_read_file(path, 1 << 20, &errors, &text, &length), 0);
    assert_int_equal(perf_log_parse(path, text, length, &errors, &log), 0);
    free(text);
    return log;
}

// ---- from a log to values ----

enum { ROUNDS_MAX = 64 };

struct derived {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct snapshot *rounds[ROUNDS_MAX];
    size_t n;
};

static inline void derive_records(struct derived *derived, const struct recording_buffer *bytes, unsigned added_up) {
    size_t at = 0;
    struct recording_record record;
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    assert_int_equal(recording_next(bytes->bytes, bytes->n, &at, &record), 1);
    assert_int_equal(recording_get_plan(&record, derived->catalog, missing, &plan), 0);
    plan.plan->added_up = added_up;
    derived->layout = snapshot_layout_new(plan.plan, plan.topology);
    struct derive *derive = derive_new(derived->layout);
    assert_non_null(derive);
    while (recording_next(bytes->bytes, bytes->n, &at, &record) == 1) {
        struct readings *readings;
        double seconds;
        assert_int_equal(recording_get_round(&record, plan.plan, plan.topology, true, &seconds, &readings), 0);
        assert_true(derived->n < ROUNDS_MAX);
        derived->rounds[derived->n] = snapshot_new(derived->layout);
        derive_round(derive, readings, derived->rounds[derived->n++]);
        readings_free(readings);
    }
    derive_free(derive);
}

// Takes ownership of the log; derives all metrics of the spec. `pmu` is that of a log with several core PMUs.
static inline struct derived derive_log_of(struct perf_log *log, const char *spec, const char *pmu) {
    struct derived derived = {.catalog = load_spec(spec)};
    struct plan_selection *selections = calloc(derived.catalog->n_groups + 1, sizeof *selections);
    for (unsigned g = 0; g < derived.catalog->n_groups; g++)
        selections[g].group = g;
    struct recording_buffer bytes = {0};
    struct errors errors = {0};
    struct perf_names *names;
    assert_int_equal(perf_names_load("specs/perf/names.json", &errors, &names), 0);
    const struct perf_log_request request = {.name = "log",
                                             .log = log,
                                             .catalog = derived.catalog,
                                             .names = names,
                                             .pmu = pmu,
                                             .selections = selections,
                                             .n_selections = derived.catalog->n_groups};
    assert_int_equal(perf_log_record(&request, &errors, &bytes), 0);
    derive_records(&derived, &bytes, perf_log_cpus_each(&request));
    perf_names_free(names);
    recording_buffer_deinit(&bytes);
    perf_log_free(log);
    free(selections);
    return derived;
}

static inline struct derived derive_log(struct perf_log *log, const char *spec) {
    return derive_log_of(log, spec, NULL);
}

static inline struct derived derive_text(const char *text, const char *spec) {
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse(text, &errors, &log), 0);
    return derive_log(log, spec);
}

static inline void derived_end(struct derived *derived) {
    for (size_t i = 0; i < derived->n; i++)
        snapshot_unref(derived->rounds[i]);
    snapshot_layout_unref(derived->layout);
    catalog_free(derived->catalog);
}

// By the name under which others know the metric, whichever definition counts.
static inline size_t place_of(const struct derived *derived, const char *name) {
    for (size_t m = 0; m < derived->layout->n_metrics; m++) {
        unsigned metric = catalog_metric_named(derived->catalog, derived->layout->plan->metrics[m].metric);
        if (strcmp(derived->catalog->metrics[metric].name, name) == 0)
            return m;
    }
    fail_msg("no metric %s", name);
    return 0;
}

// In the scale of the formula.
static inline double value(const struct derived *derived, size_t round, size_t scope, const char *name) {
    size_t m = place_of(derived, name);
    assert_true(round < derived->n);
    return derived->rounds[round]->values[snapshot_metric(derived->layout, scope, m)] /
           derived->catalog->metrics[derived->layout->plan->metrics[m].metric].export_scale;
}

static inline size_t cpu_scope(const struct derived *derived, unsigned id) {
    for (size_t c = 0; c < derived->layout->topology->n_cpus; c++)
        if (derived->layout->topology->cpus[c].id == id)
            return snapshot_scope_cpu(derived->layout, c);
    fail_msg("no CPU %u", id);
    return 0;
}

static inline void assert_close(double a, double b) {
    if (!(fabs(a - b) <= 1e-9 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

#endif
