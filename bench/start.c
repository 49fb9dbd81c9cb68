// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a start with a vendor's unmodified files: building a catalog from the largest vendor's folder,
// against the parser's bare work on the same bytes (parse and free). Each repetition is a process of its own, like a
// real start, so that none reuses another's memory. The fastest counts, both ways take turns, and the limit applies to
// optimised builds. Without the vendors' files, which are beside the repository, there is nothing to measure.

#include <cjson/cJSON.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/vendor/perf_json.h"
#include "core/spec/catalog_builder.h"

#define ARCH "../shared/telemetry/linux/arch"
#define FOLDER ARCH "/x86/cascadelakex"
#define CPUID "GenuineIntel-6-55-7"
#define LIMIT 2.2

enum { REPETITIONS = 30, FILE_MAX = 16 << 20 };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench/start: %s\n", what);
    exit(1);
}

// Keeps all documents in memory at once, as a start does.
static double time_parser(size_t n, char *const *texts, const size_t *lengths) {
    cJSON **documents = calloc(n, sizeof *documents);
    if (!documents)
        give_up("memory is short");
    double begin = now_ms();
    for (size_t i = 0; i < n; i++)
        documents[i] = cJSON_ParseWithLength(texts[i], lengths[i]);
    for (size_t i = 0; i < n; i++) {
        if (!documents[i])
            give_up("a file is no JSON");
        cJSON_Delete(documents[i]);
    }
    double taken = now_ms() - begin;
    free(documents);
    return taken;
}

static double time_load(bool all_events, size_t *events) {
    const struct perf_json_request request = {
        .path = ARCH, .cpuid = CPUID, .trees = "specs/perf/trees.json", .all_events = all_events};
    struct errors errors = {.n = 0};
    struct catalog_builder *builder;
    double begin = now_ms();
    if (perf_json_read(&request, &errors, &builder) < 0)
        give_up("the folder cannot be loaded: start from the source folder");
    struct catalog *catalog = catalog_builder_finish(builder);
    double taken = now_ms() - begin;
    *events = catalog->n_events;
    catalog_free(catalog);
    return taken;
}

struct inputs {
    glob_t paths;
    char **texts;
    size_t *lengths, total;
};

static void read_inputs(struct inputs *in) {
    if (glob(FOLDER "/*.json", 0, NULL, &in->paths) != 0)
        give_up("the folder cannot be read");
    in->texts = calloc(in->paths.gl_pathc, sizeof *in->texts);
    in->lengths = calloc(in->paths.gl_pathc, sizeof *in->lengths);
    if (!in->texts || !in->lengths)
        give_up("memory is short");
    for (size_t i = 0; i < in->paths.gl_pathc; i++) {
        struct errors errors = {.n = 0};
        if (json_read_file(in->paths.gl_pathv[i], FILE_MAX, &errors, &in->texts[i], &in->lengths[i]) < 0)
            give_up("a file cannot be read");
        in->total += in->lengths[i];
    }
}

enum way { WAY_PARSER, WAY_LOAD, WAY_LOAD_ALL, WAY_N };

struct result {
    double ms;
    size_t events;
};

static struct result measure(const struct inputs *in, enum way way) {
    int ends[2];
    struct result result = {.events = 0};
    if (pipe(ends) < 0)
        give_up("no pipe");
    pid_t child = fork();
    if (child == 0) {
        result.ms = way == WAY_PARSER ? time_parser(in->paths.gl_pathc, in->texts, in->lengths)
                                      : time_load(way == WAY_LOAD_ALL, &result.events);
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof result) != sizeof result)
        give_up("a repetition failed");
    close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return result;
}

int main(void) {
    struct inputs in = {.total = 0};
    struct result best[WAY_N];
    if (access(FOLDER, R_OK) != 0) {
        (void)printf("skipped: %s is not there\n", FOLDER);
        return 0;
    }
    read_inputs(&in);
    for (int i = 0; i < REPETITIONS; i++)
        for (unsigned way = 0; way < WAY_N; way++) {
            struct result result = measure(&in, (enum way)way);
            if (i == 0 || result.ms < best[way].ms)
                best[way] = result;
        }
    double parser = best[WAY_PARSER].ms, ratio = best[WAY_LOAD].ms / parser;
    printf(
        "%zu bytes in %zu files: parsed in %.2f ms; a catalog with the %zu events that metrics need in %.2f ms, ratio "
        "%.2f (limit %.1f); with all %zu events in %.2f ms, ratio %.2f\n",
        in.total, in.paths.gl_pathc, parser, best[WAY_LOAD].events, best[WAY_LOAD].ms, ratio, LIMIT,
        best[WAY_LOAD_ALL].events, best[WAY_LOAD_ALL].ms, best[WAY_LOAD_ALL].ms / parser);
    for (size_t i = 0; i < in.paths.gl_pathc; i++)
        free(in.texts[i]);
    free(in.texts);
    free(in.lengths);
    globfree(&in.paths);
#ifdef __OPTIMIZE__
    const bool limited = true;
#else
    const bool limited = false;
#endif
    return limited && ratio > LIMIT;
}
