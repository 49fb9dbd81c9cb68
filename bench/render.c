// SPDX-License-Identifier: Apache-2.0
//
// Measures nanoseconds per series of a page against the same series written with snprintf: the host page of a
// two-socket Neoverse V2 and the CPU page of its 64 CPUs, with the shipped spec and the default metric groups. It also
// measures nanoseconds per value of the same CPUs as JSON against a library that prints the same values from a tree.
// The fastest of many repetitions counts, both ways take turns, and the limits apply to optimised builds.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "config/spec/spec_json.h"
#include "core/plan/plan.h"
#include "core/tally/snapshot.h"
#include "exporters/json/json.h"
#include "exporters/prometheus/prometheus.h"

enum { LIMIT_NS = 80, JSON_LIMIT_NS = 120, CPUS = 64, SERIES_LENGTH_MAX = 512 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench/render: %s\n", what);
    exit(1);
}

// The parts of a line of an exposition.
struct series {
    char *name, *labels;
    double value;
};

// Splits a rendered page into lines and their parts; it writes terminators into the text.
static size_t split(char *text, struct series **out) {
    size_t n = 0, lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    struct series *series = calloc(lines + 1, sizeof(*series));
    if (!series)
        give_up("memory is short");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *number = strrchr(line, ' '), *labels = strchr(line, '{');
        if (line[0] == '#' || !number)
            continue;
        *number = '\0';
        if (labels) {
            *labels = '\0';
            number[-1] = '\0';
        }
        series[n++] = (struct series){line, labels ? labels + 1 : number, strtod(number + 1, NULL)};
    }
    *out = series;
    return n;
}

static double time_snprintf(const struct series *series, size_t n, char *buffer) {
    double begin = now_ns();
    char *p = buffer;
    for (size_t i = 0; i < n; i++)
        p += snprintf(p, SERIES_LENGTH_MAX, "%s{%s} %.17g\n", series[i].name, series[i].labels, series[i].value);
    return now_ns() - begin;
}

static double time_render(const struct prometheus_page *page, const struct snapshot *snapshot, struct text *text) {
    text->length = 0;
    double begin = now_ns();
    if (prometheus_render(page, &(struct shown){.n = 1, .types = {{.snapshot = snapshot}}}, text) < 0)
        give_up("memory is short");
    return now_ns() - begin;
}

static bool measure(const char *name, struct view *view, const struct snapshot *snapshot, bool per_cpu) {
    struct prometheus_page *page = prometheus_page_new(&(struct shown){.n = 1, .types = {{.view = view}}}, per_cpu);
    struct text text = {0}, copy = {0};
    if (!page || prometheus_render(page, &(struct shown){.n = 1, .types = {{.snapshot = snapshot}}}, &copy) < 0)
        give_up("memory is short");
    text_append(&copy, "", 1);
    struct series *series;
    size_t n = split(copy.data, &series);
    char *buffer = calloc(n + 1, SERIES_LENGTH_MAX);
    if (!buffer || n != prometheus_series(page))
        give_up("the page is not complete");
    double ours = 1e18, theirs = 1e18;
    for (int i = 0; i < 200; i++) {
        double a = time_render(page, snapshot, &text), b = time_snprintf(series, n, buffer);
        ours = a < ours ? a : ours;
        theirs = b < theirs ? b : theirs;
    }
    ours /= (double)n;
    theirs /= (double)n;
    printf("%s: %zu series, %zu bytes: %.1f ns a series, snprintf %.1f ns, ratio %.3f (limit %d ns)\n", name, n,
           text.length, ours, theirs, ours / theirs, LIMIT_NS);
    free(buffer);
    free(series);
    text_free(&copy);
    text_free(&text);
    prometheus_page_free(page);
    return ours <= LIMIT_NS;
}

// Counts the values of a document that are neither objects nor arrays.
static size_t count_values(const cJSON *item) {
    size_t n = !cJSON_IsObject(item) && !cJSON_IsArray(item);
    const cJSON *child;
    cJSON_ArrayForEach(child, item) n += count_values(child);
    return n;
}

static double time_json(const struct view *view, const struct snapshot *snapshot, struct text *text) {
    text->length = 0;
    double begin = now_ns();
    if (json_render_snapshot(view, snapshot, JSON_CPU, text) < 0)
        give_up("memory is short");
    return now_ns() - begin;
}

static double time_print(const cJSON *tree, char *buffer, size_t size) {
    double begin = now_ns();
    if (!cJSON_PrintPreallocated((cJSON *)tree, buffer, (int)size, false))
        give_up("the tree cannot be printed");
    return now_ns() - begin;
}

static bool measure_json(const struct view *view, const struct snapshot *snapshot) {
    struct text text = {0};
    (void)time_json(view, snapshot, &text);
    cJSON *tree = cJSON_ParseWithLength(text.data, text.length);
    size_t n = count_values(tree), size = 4 * text.length;
    char *buffer = malloc(size);
    if (!tree || !buffer)
        give_up("this is no JSON");
    double ours = 1e18, theirs = 1e18;
    for (int i = 0; i < 100; i++) {
        double a = time_json(view, snapshot, &text), b = time_print(tree, buffer, size);
        ours = a < ours ? a : ours;
        theirs = b < theirs ? b : theirs;
    }
    ours /= (double)n;
    theirs /= (double)n;
    printf("JSON of CPUs: %zu values, %zu bytes: %.1f ns a value, cJSON's printer %.1f ns, ratio %.3f (limit %d ns)\n",
           n, text.length, ours, theirs, ours / theirs, JSON_LIMIT_NS);
    free(buffer);
    cJSON_Delete(tree);
    text_free(&text);
    return ours <= JSON_LIMIT_NS;
}

static struct plan *make_plan(const struct catalog *catalog) {
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    struct plan_selection selections[4];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        int group = catalog_find_group(catalog, groups[i]);
        if (group >= 0)
            selections[n++] = (struct plan_selection){.group = (unsigned)group};
    }
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = catalog->general_counters,
                                         .selections = selections,
                                         .n_selections = n,
                                         .slot_ns = 200000000,
                                         .idle = 0.1};
    struct plan *plan;
    if (plan_new(&request, &plan) < 0)
        give_up("no plan");
    return plan;
}

static struct topology *make_topology(void) {
    struct topology_source cpus[CPUS];
    struct topology *topology;
    for (unsigned i = 0; i < CPUS; i++)
        cpus[i] = (struct topology_source){i, (int)(i % (CPUS / 2)), i < CPUS / 2 ? 0 : 1, true};
    if (topology_new(cpus, CPUS, 3.4e9, &topology) < 0)
        give_up("no topology");
    return topology;
}

// Fills in counts of some hours, seconds and ratios with all their digits.
static void fill(const struct snapshot_layout *layout, struct snapshot *snapshot) {
    srand48(1);
    for (size_t i = 0; i < layout->n_values; i++)
        snapshot->values[i] = 1e13 * drand48();
    for (size_t s = 0; s < layout->n_scopes; s++) {
        for (size_t m = 0; m < layout->n_metrics; m++)
            snapshot->values[snapshot_metric(layout, s, m)] = drand48();
        snapshot->values[snapshot_deviation(layout, s)] = drand48();
        snapshot->values[snapshot_covered(layout, s)] = 1e5 * drand48();
    }
}

int main(void) {
    struct errors errors = {0};
    struct catalog *catalog;
    if (spec_json_load("specs/neoverse-v2.json", NULL, &errors, &catalog) < 0)
        give_up("specs/neoverse-v2.json cannot be read: start from the source folder");
    struct snapshot_layout *layout = snapshot_layout_new(make_plan(catalog), make_topology());
    struct snapshot *snapshot = layout ? snapshot_new(layout) : NULL;
    if (!snapshot)
        give_up("memory is short");
    fill(layout, snapshot);
    struct view view = {.layout = layout,
                        .version = "0",
                        .hostname = "bench",
                        .pmu = "armv8_pmuv3_0",
                        .cpu_vendor = "Arm",
                        .cpu_model = "Neoverse V2",
                        .cpu_microarchitecture = "neoverse-v2",
                        .profile = "default",
                        .counters_total = 7,
                        .counters_usable = 7};
    bool host = measure("host page", &view, snapshot, false), cpu = measure("CPU page", &view, snapshot, true);
    bool json = measure_json(&view, snapshot);
    snapshot_unref(snapshot);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
#ifdef __OPTIMIZE__
    const bool limited = true;
#else
    const bool limited = false;
#endif
    return limited && !(host && cpu && json);
}
