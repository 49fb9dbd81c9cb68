// SPDX-License-Identifier: Apache-2.0
//
// Measures what a page costs that nobody has asked for since the last snapshot: the host page and the CPU page of a
// Neoverse V2 with 1,024 CPUs, and these CPUs as JSON, with the shipped spec and the default metric groups. Pages are
// made as the server makes them, through its cache, and each rendering shows another snapshot than the one before.
//
// Peers of the same run: the same series written with snprintf, and the same values printed from a tree by a JSON
// library. Both ways take turns, the least CPU time of each counts, and its ratio is limited, so that a slower or
// loaded machine gives the same result. A limit is a quarter above what was measured. A rendering may take few page
// faults: a page that gets fresh memory each time costs one for every 4 KiB. The limits apply to optimised builds.

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "bench/host/v2_host.h"
#include "exporters/http/http_cache.h"

#define HOST_RATIO_MAX 0.135
#define CPU_RATIO_MAX 0.145
#define JSON_RATIO_MAX 0.110

enum { CPUS = 1024, SERIES_LENGTH_MAX = 512 };
enum { SNAPSHOTS = 3, REPETITIONS = 100, JSON_REPETITIONS = 30, FAULTS_MAX = 16 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench/render: %s\n", what);
    exit(1);
}

// The parts of a line of an exposition.
struct sample {
    char *name, *labels;
    double value;
};

// Splits a rendered page into lines and their parts; it writes terminators into the text.
static size_t split(char *text, struct sample **out) {
    size_t n = 0, lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    struct sample *series = calloc(lines + 1, sizeof(*series));
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
        series[n++] = (struct sample){line, labels ? labels + 1 : number, strtod(number + 1, NULL)};
    }
    *out = series;
    return n;
}

static double time_snprintf(const struct sample *series, size_t n, char *buffer) {
    double begin = now_ns();
    char *p = buffer;
    for (size_t i = 0; i < n; i++)
        p += snprintf(p, SERIES_LENGTH_MAX, "%s{%s} %.17g\n", series[i].name, series[i].labels, series[i].value);
    return now_ns() - begin;
}

// A page, the snapshots that it shows in turn, and the server's cache.
struct subject {
    enum http_page page;
    struct view *view;
    struct snapshot *snapshots[SNAPSHOTS];
    struct http_cache cache;
    uint64_t generation;
    const struct text *text; // of the last rendering
};

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

// Makes the page of another snapshot, as the server does.
static double time_render(struct subject *subject) {
    struct shown shown = {
        .n = 1, .types = {{.view = subject->view, .snapshot = subject->snapshots[++subject->generation % SNAPSHOTS]}}};
    double begin = now_ns();
    struct text *text = http_cache_begin(&subject->cache, subject->page);
    if (!text || http_page_render(subject->page, &subject->cache.templates, &shown, text) < 0 ||
        !http_cache_end(&subject->cache, subject->page, subject->generation))
        give_up("memory is short");
    subject->text = text;
    return now_ns() - begin;
}

// The least of all repetitions.
struct best {
    double ours, theirs;
    long faults;
};

static void best_take(struct best *best, double ours, double theirs, long n_faults) {
    best->ours = fmin(best->ours, ours);
    best->theirs = fmin(best->theirs, theirs);
    best->faults = best->faults < n_faults ? best->faults : n_faults;
}

static bool report(const char *name, const char *unit, size_t n, const struct subject *subject, const struct best *best,
                   double limit) {
    double ratio = best->ours / best->theirs;
    bool within = ratio <= limit && best->faults <= FAULTS_MAX;
    printf("%s: %zu %s, %zu bytes in %.2f ms: %.1f ns each, peer %.1f ns, ratio %.3f (limit %.3f), %ld page faults "
           "(limit %d): %s\n",
           name, n, unit, subject->text->length, best->ours / 1e6, best->ours / (double)n, best->theirs / (double)n,
           ratio, limit, best->faults, FAULTS_MAX, within ? "ok" : "OVER THE LIMIT");
    return within;
}

static bool measure(const char *name, struct subject *subject, double limit) {
    struct text copy = {0};
    (void)time_render(subject);
    text_append(&copy, subject->text->data, subject->text->length);
    text_append(&copy, "", 1);
    struct sample *series;
    size_t n = split(copy.data, &series);
    char *buffer = calloc(n + 1, SERIES_LENGTH_MAX);
    if (!buffer || n == 0)
        give_up("the page is empty");
    struct best best = {1e18, 1e18, LONG_MAX};
    for (int i = 0; i < REPETITIONS; i++) {
        long before = faults();
        double ours = time_render(subject);
        long after = faults();
        best_take(&best, ours, time_snprintf(series, n, buffer), after - before);
    }
    free(buffer);
    free(series);
    text_free(&copy);
    bool within = report(name, "series", n, subject, &best, limit);
    http_cache_deinit(&subject->cache);
    return within;
}

// Counts the values of a document that are neither objects nor arrays.
static size_t count_values(const cJSON *item) {
    size_t n = !cJSON_IsObject(item) && !cJSON_IsArray(item);
    const cJSON *child;
    cJSON_ArrayForEach(child, item) n += count_values(child);
    return n;
}

static double time_print(const cJSON *tree, char *buffer, size_t size) {
    double begin = now_ns();
    if (!cJSON_PrintPreallocated((cJSON *)tree, buffer, (int)size, false))
        give_up("the tree cannot be printed");
    return now_ns() - begin;
}

static bool measure_json(struct subject *subject) {
    (void)time_render(subject);
    cJSON *tree = cJSON_ParseWithLength(subject->text->data, subject->text->length);
    size_t n = count_values(tree), size = 4 * subject->text->length;
    char *buffer = malloc(size);
    if (!tree || !buffer)
        give_up("this is no JSON");
    struct best best = {1e18, 1e18, LONG_MAX};
    for (int i = 0; i < JSON_REPETITIONS; i++) {
        long before = faults();
        double ours = time_render(subject);
        long after = faults();
        best_take(&best, ours, time_print(tree, buffer, size), after - before);
    }
    free(buffer);
    cJSON_Delete(tree);
    bool within = report("JSON of CPUs", "values", n, subject, &best, JSON_RATIO_MAX);
    http_cache_deinit(&subject->cache);
    return within;
}

int main(void) {
    struct v2_host v2;
    v2_host_init(&v2, CPUS);
    struct subject host = {.page = HTTP_PAGE_METRICS, .view = &v2.view};
    for (size_t i = 0; i < SNAPSHOTS; i++)
        host.snapshots[i] = v2_host_snapshot(&v2);
    struct subject cpu = host, json = host;
    cpu.page = HTTP_PAGE_METRICS_CPU;
    json.page = HTTP_PAGE_SNAPSHOT_CPU;
    bool within = measure("host page", &host, HOST_RATIO_MAX);
    within = measure("CPU page", &cpu, CPU_RATIO_MAX) && within;
    within = measure_json(&json) && within;
    for (size_t i = 0; i < SNAPSHOTS; i++)
        snapshot_unref(host.snapshots[i]);
    v2_host_deinit(&v2);
#ifdef __OPTIMIZE__
    const bool limited = true;
#else
    const bool limited = false;
#endif
    return limited && !within;
}
