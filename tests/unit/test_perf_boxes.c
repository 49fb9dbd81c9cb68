// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/vendor/perf_json.h"
#include "core/formula/formula.h"

// Metrics of Linux' files for PMUs outside the cores, of one kind, of several, or together with events of the cores:
// each has the value that evaluate_boxes.py, an evaluator in another language, computes from the files themselves for a
// host with such boxes. That also finds which metrics of the files need such PMUs: each has a value, in one kind and no
// other, or is one of those that the kernel itself cannot count.

#define ARCH "../shared/telemetry/linux/arch"

enum { PACKAGES = 2, BOXES_OF_PACKAGE = 6, TRIALS = 3 };
static const double SECONDS = 2.5;

static const struct folder {
    const char *path, *cpuid, *identifier;
    size_t measurable; // at least
    size_t joined;     // of these exactly, that need several PMUs, or the cores'
} FOLDERS[] = {
    {"x86/jaketown", "GenuineIntel-6-2D-7", "", 4, 0},
    {"x86/ivytown", "GenuineIntel-6-3E-4", "", 4, 0},
    {"x86/haswellx", "GenuineIntel-6-3F-2", "", 15, 2},
    {"x86/broadwellx", "GenuineIntel-6-4F-1", "", 15, 2},
    {"x86/skylakex", "GenuineIntel-6-55-4", "", 25, 2},
    {"x86/cascadelakex", "GenuineIntel-6-55-7", "", 30, 2},
    {"x86/icelakex", "GenuineIntel-6-6A-6", "", 40, 3},
    {"x86/sapphirerapids", "GenuineIntel-6-8F-4", "", 45, 3},
    {"x86/emeraldrapids", "GenuineIntel-6-CF-2", "", 38, 3},
    {"x86/graniterapids", "GenuineIntel-6-AD-1", "", 38, 2},
    {"x86/sierraforest", "GenuineIntel-6-AF-3", "", 25, 2},
    {"x86/clearwaterforest", "GenuineIntel-6-DD-0", "", 25, 2},
    {"x86/grandridge", "GenuineIntel-6-B6-0", "", 8, 2},
    {"x86/alderlake", "GenuineIntel-6-97-2", "", 3, 0},
    {"x86/arrowlake", "GenuineIntel-6-C6-0", "", 2, 0},
    {"x86/lunarlake", "GenuineIntel-6-BD-0", "", 2, 0},
    {"x86/meteorlake", "GenuineIntel-6-AA-0", "", 2, 0},
    {"x86/amdzen1", "AuthenticAMD-23-1-2", "", 3, 0},
    {"x86/amdzen2", "AuthenticAMD-23-31-0", "", 3, 0},
    {"x86/amdzen3", "AuthenticAMD-25-1-1", "", 3, 0},
    {"x86/amdzen4", "AuthenticAMD-25-11-1", "", 20, 0},
    {"x86/amdzen5", "AuthenticAMD-26-2-1", "", 25, 0},
    {"x86/amdzen6", "AuthenticAMD-26-50-0", "", 10, 0},
    {"arm64/arm/cmn/sys", "0x00000000410fd0c0", "43400", 8, 0},
    {"arm64/hisilicon/hip09/sys", "0x00000000480fd020", "0x00000030", 2, 0},
    {"arm64/thead/yitian710/sys", "0x00000000410fd490", "ali_drw_pmu", 2, 0},
};

static void show(const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        print_message("%s\n", line);
    }
}

// A made-up host: what holds for a package is a whole number.
static struct environment host(const char *cpuid) {
    struct environment environment;
    environment_init(&environment);
    double *literals = environment.facts.literals;
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", cpuid);
    literals[LITERAL_NUM_PACKAGES] = PACKAGES;
    literals[LITERAL_NUM_DIES] = PACKAGES;
    literals[LITERAL_NUM_CORES] = PACKAGES * 24.0;
    literals[LITERAL_NUM_CPUS] = literals[LITERAL_NUM_CPUS_ONLINE] = PACKAGES * 48.0;
    literals[LITERAL_SMT_ON] = 1;
    literals[LITERAL_HAS_PMEM] = 1;
    literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    return environment;
}

static cJSON *literals_of(const struct environment *environment) {
    static const struct {
        const char *name;
        int literal;
    } known[] = {{"num_packages", LITERAL_NUM_PACKAGES},
                 {"num_dies", LITERAL_NUM_DIES},
                 {"num_cores", LITERAL_NUM_CORES},
                 {"num_cpus_online", LITERAL_NUM_CPUS_ONLINE},
                 {"smt_on", LITERAL_SMT_ON},
                 {"has_pmem", LITERAL_HAS_PMEM},
                 {"num_cpus", LITERAL_NUM_CPUS},
                 {"system_tsc_freq", LITERAL_SYSTEM_TSC_FREQ}};
    cJSON *literals = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_non_null(
            cJSON_AddNumberToObject(literals, known[i].name, environment->facts.literals[known[i].literal]));
    return literals;
}

// The metrics of the group of this name.
static cJSON *names_of(const struct catalog *catalog, const char *kind) {
    const struct catalog_group *group = &catalog->groups[catalog_find_group(catalog, kind)];
    cJSON *names = cJSON_CreateArray();
    for (size_t m = 0; m < group->n_metrics; m++)
        assert_true(cJSON_AddItemToArray(names, cJSON_CreateString(catalog->metrics[group->metrics[m]].name)));
    return names;
}

// Boxes in the catalog of a kind: sockets where it joins PMUs.
static double boxes_of(const struct perf_json_boxes *boxes) {
    return PACKAGES * (boxes->n_beside > 0 ? 1 : boxes->per_package);
}

// Writes what the other evaluator needs: the counts, and our values.
static void try(const struct catalog *catalog, const struct folder *folder, const struct perf_json_request *request,
                const char *kind, uint64_t *random, FILE *tasks) {
    const struct perf_json_boxes *boxes = request->boxes;
    double *counts = calloc(catalog->n_events, sizeof *counts), *values = calloc(catalog->n_metrics, sizeof *values);
    cJSON *task = cJSON_CreateObject(), *of_events = cJSON_AddObjectToObject(task, "counts");
    cJSON *of_metrics = cJSON_AddObjectToObject(task, "values");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", ARCH, folder->path);
    assert_true(counts && values && of_events && of_metrics);
    assert_non_null(cJSON_AddStringToObject(task, "folder", path));
    assert_non_null(cJSON_AddStringToObject(task, "pmu", boxes->pmu));
    assert_non_null(cJSON_AddStringToObject(task, "identifier", folder->identifier));
    assert_true(cJSON_AddItemToObject(task, "told", names_of(catalog, kind)));
    assert_non_null(cJSON_AddNumberToObject(task, "boxes", PACKAGES * BOXES_OF_PACKAGE));
    assert_non_null(cJSON_AddNumberToObject(task, "packages", PACKAGES));
    assert_non_null(cJSON_AddNumberToObject(task, "seconds", SECONDS));
    assert_true(cJSON_AddItemToObject(task, "literals", literals_of(request->environment)));
    for (size_t e = 0; e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        counts[e] = event->kind == EVENT_DURATION ? SECONDS : (double)random_below(random, 1000000);
        if (event->kind == EVENT_COUNTED)
            assert_non_null(cJSON_AddNumberToObject(of_events, event->name, counts[e]));
    }
    counts[CATALOG_CPU_SECONDS] = boxes_of(boxes) * SECONDS;
    for (size_t m = 0; m < catalog->n_metrics; m++) { // each comes before those that use it
        values[m] = formula_evaluate(catalog->metrics[m].formula, counts, values);
        if (!catalog->metrics[m].unmeasurable)
            assert_non_null(cJSON_AddNumberToObject(of_metrics, catalog->metrics[m].name, values[m]));
    }
    char *line = cJSON_PrintUnformatted(task);
    assert_non_null(line);
    fprintf(tasks, "%s\n", line);
    free(line);
    cJSON_Delete(task);
    free(values);
    free(counts);
}

// Formulas with the filter that the kernel calls `threshold` from Alder Lake on and `thresh` on servers: no kernel
// takes their term `cmask` (Linux, arch/x86/events/intel/uncore_snb.c, adl_uncore_formats_attr).
static void check_reason(const struct folder *folder, const struct catalog_metric *metric) {
    print_message("%s: %s: %s\n", folder->path, metric->name, metric->unmeasurable);
    assert_non_null(strstr(metric->unmeasurable, "the PMU has no term \"cmask\""));
    assert_string_equal(metric->name, "tma_info_system_mem_parallel_reads");
}

// The metrics of the group of the kind's name.
static size_t try_kind(const struct folder *folder, const struct perf_json_request *request, const char *kind,
                       uint64_t *random, FILE *tasks) {
    struct errors errors = {0};
    struct catalog_builder *builder = NULL;
    int r = perf_json_read(request, &errors, &builder);
    if (r < 0)
        show(&errors);
    assert_int_equal(r, 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    int group = catalog_find_group(catalog, kind);
    size_t n = group < 0 ? 0 : catalog->groups[group].n_metrics;
    assert_string_equal(catalog->pmus[0], request->boxes->pmu);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].unmeasurable)
            check_reason(folder, &catalog->metrics[m]);
    // without a host, clients' PMUs have the servers' format, which has another word for the threshold
    for (size_t e = 0; n > 0 && e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        bool counted = event->kind == EVENT_COUNTED && (event->code.pmu == 0 || request->boxes->n_beside > 0);
        if (counted && event->uncoded && !strstr(event->uncoded, "\"cmask\""))
            fail_msg("%s: %s: %s", folder->path, event->name, event->uncoded);
    }
    for (int trial = 0; trial < TRIALS && n > 0; trial++)
        try(catalog, folder, request, kind, random, tasks);
    catalog_free(catalog);
    return n;
}

// Kinds over several PMUs.
static size_t try_joined(const struct folder *folder, struct perf_json_request *request, uint64_t *random,
                         FILE *tasks) {
    struct perf_json_joins *joins = calloc(1, sizeof *joins);
    struct errors errors = {0};
    char name[PERF_JOINED_NAME_MAX];
    size_t n = 0;
    assert_non_null(joins);
    assert_int_equal(perf_json_find_joined(request, &errors, joins), 0);
    for (size_t i = 0; i < joins->n; i++) {
        struct perf_json_beside beside[PERF_JOINED_PMUS_MAX];
        const struct perf_json_joined *joined = &joins->joined[i];
        assert_true(joined->n >= 2);
        for (size_t p = 1; p < joined->n; p++)
            beside[p - 1] = (struct perf_json_beside){joined->pmus[p], BOXES_OF_PACKAGE};
        const struct perf_json_boxes boxes = {.pmu = joined->pmus[0],
                                              .identifier = folder->identifier,
                                              .per_package = BOXES_OF_PACKAGE,
                                              .beside = beside,
                                              .n_beside = joined->n - 1};
        request->boxes = &boxes;
        perf_json_joined_name(joined, name);
        size_t of_kind = try_kind(folder, request, name, random, tasks);
        print_message("%s: %zu metrics of %s\n", folder->path, of_kind, name);
        n += of_kind;
    }
    free(joins);
    return n;
}

static void try_folder(const struct folder *folder, uint64_t *random, FILE *tasks) {
    char path[256];
    struct perf_json_pmus *pmus = calloc(1, sizeof *pmus);
    struct errors errors = {0};
    const struct environment environment = host(folder->cpuid);
    struct perf_json_request request = {
        .path = path, .cpuid = folder->cpuid, .trees = "specs/perf/trees.json", .environment = &environment};
    size_t measurable = 0;
    assert_non_null(pmus);
    (void)snprintf(path, sizeof path, "%s/%s", ARCH, folder->path);
    if (perf_json_find_boxes(&request, &errors, pmus) < 0)
        show(&errors);
    assert_true(pmus->n > 0 && pmus->n < PERF_BOXES_MAX);
    for (size_t p = 0; p < pmus->n; p++) {
        const struct perf_json_boxes boxes = {
            .pmu = pmus->names[p], .identifier = folder->identifier, .per_package = BOXES_OF_PACKAGE};
        request.boxes = &boxes;
        measurable += try_kind(folder, &request, boxes.pmu, random, tasks);
    }
    size_t joined = try_joined(folder, &request, random, tasks);
    print_message("%s: %zu metrics of %zu PMUs, and %zu of several\n", folder->path, measurable, pmus->n, joined);
    assert_int_equal(joined, folder->joined);
    if (measurable < folder->measurable)
        fail_msg("%s: only %zu of %zu", folder->path, measurable, folder->measurable);
    free(pmus);
}

static void test_metrics_are_worth_what_another_evaluator_finds(void **state) {
    (void)state;
    char path[] = "/tmp/topdownd-boxes-XXXXXX", command[256], line[1024];
    uint64_t random = 15;
    if (access(ARCH, R_OK) != 0) {
        print_message("skipped: %s is not there\n", ARCH);
        skip();
    }
    int fd = mkstemp(path);
    FILE *tasks = fdopen(fd, "w");
    assert_non_null(tasks);
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++)
        try_folder(&FOLDERS[i], &random, tasks);
    assert_int_equal(fclose(tasks), 0);
    (void)snprintf(command, sizeof command, "python3 tests/unit/evaluate_boxes.py < %s", path);
    FILE *results = popen(command, "r");
    size_t wrong = 0;
    assert_non_null(results);
    while (fgets(line, sizeof line, results)) {
        print_message("%s", line);
        wrong++;
    }
    assert_int_equal(pclose(results), 0);
    assert_int_equal(wrong, 0);
    (void)unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics_are_worth_what_another_evaluator_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
