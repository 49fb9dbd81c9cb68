// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/vendor/metric_list.h"
#include "config/vendor/perf_json.h"
#include "core/formula/evaluation.h"
#include "tests/build/vendor.h"

// Linux's files for its CPUs, unmodified, become catalogs; and a few made-up files show each rule.

#define ARCH "../shared/telemetry/linux/arch"
#define TREES "specs/perf/trees.json"

enum { TRIALS = 4 };

static const struct cpu {
    const char *cpuid, *folder, *pmu;
    size_t measurable_min; // of its metrics
    bool level1;
} CPUS[] = {
    {"GenuineIntel-6-8F-4", "sapphirerapids", NULL, 200, true},
    {"GenuineIntel-6-CF-2", "emeraldrapids", NULL, 200, true},
    {"GenuineIntel-6-AD-1", "graniterapids", NULL, 200, true},
    {"GenuineIntel-6-6A-6", "icelakex", NULL, 180, true},
    {"GenuineIntel-6-55-7", "cascadelakex", NULL, 150, true},
    {"GenuineIntel-6-55-4", "skylakex", NULL, 150, true},
    {"GenuineIntel-6-4F-1", "broadwellx", NULL, 100, true},
    {"GenuineIntel-6-3F-2", "haswellx", NULL, 80, true},
    {"GenuineIntel-6-3E-4", "ivytown", NULL, 60, true},
    {"GenuineIntel-6-2D-7", "jaketown", NULL, 30, true},
    {"GenuineIntel-6-1A-5", "nehalemep", NULL, 0, false},
    {"GenuineIntel-6-2C-2", "westmereep-dp", NULL, 0, false},
    {"GenuineIntel-6-2E-6", "nehalemex", NULL, 0, false},
    {"GenuineIntel-6-AF-3", "sierraforest", NULL, 80, true},
    {"GenuineIntel-6-DD-0", "clearwaterforest", NULL, 5, false},
    {"GenuineIntel-6-97-2", "alderlake", "cpu_core", 150, true},
    {"GenuineIntel-6-97-2", "alderlake", "cpu_atom", 50, true},
    {"AuthenticAMD-23-1-2", "amdzen1", NULL, 5, false},
    {"AuthenticAMD-23-31-0", "amdzen2", NULL, 5, false},
    {"AuthenticAMD-25-1-1", "amdzen3", NULL, 5, false},
    {"AuthenticAMD-25-11-1", "amdzen4", NULL, 30, true},
    {"AuthenticAMD-26-2-1", "amdzen5", NULL, 30, true},
    {"AuthenticAMD-26-50-0", "amdzen6", NULL, 20, true},
    {"0x00000000410fd0c0", "neoverse-n1", NULL, 31, false},
    {"0x00000000410fd490", "neoverse-n2-v2", NULL, 40, true},
    {"0x00000000410fd4f0", "neoverse-n2-v2", NULL, 40, true},
    {"0x00000000410fd400", "neoverse-v1", NULL, 31, true},
    {"0x00000000410fd8e0", "neoverse-n3", NULL, 60, true},
    {"0x00000000410fd830", "neoverse-v3", NULL, 60, true},
};

static void need_telemetry(void) {
    if (access(ARCH, R_OK) != 0) {
        print_message("skipped: %s is not there\n", ARCH);
        skip();
    }
}

static void errors_show(const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        print_message("%s\n", line);
    }
}

static struct catalog *load(const struct cpu *cpu, bool all_events) {
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_HAS_PMEM] = 0;
    const struct perf_json_request request = {.path = ARCH,
                                              .cpuid = cpu->cpuid,
                                              .trees = TREES,
                                              .pmu = cpu->pmu,
                                              .environment = &environment,
                                              .all_events = all_events};
    struct errors errors = {.n = 0};
    struct catalog *catalog = NULL;
    int r = vendor_load_perf(&request, &errors, &catalog);
    errors_show(&errors);
    assert_int_equal(r, 0);
    assert_int_equal(errors.n, 0); // the vendors' files have no mistake that would have to be said
    assert_string_equal(catalog->product.spec, cpu->folder);
    return catalog;
}

// ---- all metrics are there, measurable or with a reason that is right ----

enum reason { OTHER_PMU, RETIRE_LATENCY, PART_OF_SOFTWARE, UNKNOWN_EVENT, NO_EVENT, USES_ANOTHER, SAMPLED, REASON_N };

static enum reason reason_of(const char *text) {
    static const char *const words[REASON_N] = {"which does not count by CPU",
                                                "the retire latency of",
                                                "counted in a part of the software",
                                                "which is neither in the files",
                                                "the formula names no event",
                                                "which cannot be measured: ",
                                                "can only be sampled"};
    if (strncmp(text, "uses ", 5) == 0)
        return USES_ANOTHER;
    for (unsigned i = 0; i < REASON_N; i++)
        if (strstr(text, words[i]))
            return (enum reason)i;
    fail_msg("a metric cannot be measured for no known reason: %s", text);
    return REASON_N;
}

static void test_every_metric_of_linux_is_measurable_or_has_its_reason(void **state) {
    (void)state;
    need_telemetry();
    size_t reasons[REASON_N] = {0}, metrics = 0, events = 0;
    for (size_t i = 0; i < N_OF(CPUS); i++) {
        struct catalog *catalog = load(&CPUS[i], true);
        size_t measurable = 0;
        for (size_t m = 0; m < catalog->n_metrics; m++) {
            const char *reason = catalog->metrics[m].unmeasurable;
            if (reason)
                reasons[reason_of(reason)]++;
            else
                measurable++;
        }
        print_message("%s %s: %zu events, %zu of %zu metrics, %zu groups, %u counters, %zu topdown, level 1: %s\n",
                      CPUS[i].folder, CPUS[i].pmu ? CPUS[i].pmu : "", catalog->n_events, measurable, catalog->n_metrics,
                      catalog->n_groups, catalog->general_counters, catalog->n_topdown,
                      catalog->level1.present ? catalog->level1.pipeline_slots_text : "none");
        for (size_t m = 0; m < catalog->n_metrics && CPUS[i].level1 && !catalog->level1.present; m++)
            if (catalog->metrics[m].unmeasurable)
                print_message("%s: %s\n", catalog->metrics[m].name, catalog->metrics[m].unmeasurable);
        assert_true(measurable >= CPUS[i].measurable_min);
        assert_int_equal(catalog->level1.present, CPUS[i].level1);
        assert_true(!catalog->level1.present || catalog_find_group(catalog, "stage_1") >= 0);
        metrics += catalog->n_metrics;
        events += catalog->n_events;
        catalog_free(catalog);
    }
    print_message(
        "%zu events, %zu metrics; not measurable: another PMU %zu, retire latency %zu, user or kernel only %zu, "
        "unknown event %zu, no event on this host %zu, through another metric %zu, sampled only %zu\n",
        events, metrics, reasons[OTHER_PMU], reasons[RETIRE_LATENCY], reasons[PART_OF_SOFTWARE], reasons[UNKNOWN_EVENT],
        reasons[NO_EVENT], reasons[USES_ANOTHER], reasons[SAMPLED]);
}

// ---- a catalog's formulas are worth what the files' are ----

// Counts for the events, by catalog index; the same for formulas, by name.
static void counts_make(const struct catalog *catalog, uint64_t *random, double *values,
                        struct evaluation_counts *counts) {
    for (size_t e = 0; e < catalog->n_events; e++) {
        values[e] = random_below(random, 12) == 0 ? 0 : (double)random_below(random, 1 << 30);
        assert_int_equal(evaluation_counts_add(counts, catalog->events[e].name, values[e]), 0);
    }
    const struct catalog_names *names = &catalog->names;
    for (size_t a = 0; a < names->n_aliases; a++)
        assert_int_equal(
            evaluation_counts_add(counts, names->aliases[a], values[catalog_find_event(catalog, names->aliases[a])]),
            0);
    assert_int_equal(evaluation_counts_add(counts, "#smt_on", 1), 0);
    assert_int_equal(evaluation_counts_add(counts, "#has_pmem", 0), 0);
    if (!isnan(catalog->environment.literals[LITERAL_SLOTS]))
        assert_int_equal(evaluation_counts_add(counts, "#slots", catalog->environment.literals[LITERAL_SLOTS]), 0);
}

static size_t compare_metrics(const struct catalog *catalog, const double *values, const struct metric_list *list,
                              const char *pmu) {
    double *metrics = calloc(catalog->n_metrics + 1, sizeof *metrics);
    size_t n = 0;
    assert_non_null(metrics);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        metrics[m] =
            catalog->metrics[m].unmeasurable ? NAN : formula_evaluate(catalog->metrics[m].formula, values, metrics);
    for (size_t i = 0; i < list->n; i++) {
        const struct evaluation_metric *theirs = &list->metrics[i];
        int m = catalog_find_metric(catalog, theirs->name);
        if (m < 0 || catalog->metrics[m].unmeasurable || (theirs->pmu[0] != '\0' && strcmp(theirs->pmu, pmu) != 0))
            continue;
        if (isnan(theirs->value) ? !isnan(metrics[m]) : fabs(metrics[m] - theirs->value) > 1e-12 * fabs(theirs->value))
            fail_msg("%s %s: %.17g, not %.17g", catalog->product.spec, theirs->name, metrics[m], theirs->value);
        n++;
    }
    free(metrics);
    return n;
}

static void test_what_a_catalog_computes_is_what_the_files_say(void **state) {
    (void)state;
    need_telemetry();
    uint64_t random = seed_begin();
    size_t n = 0;
    for (size_t i = 0; i < N_OF(CPUS); i++) {
        struct catalog *catalog = load(&CPUS[i], false);
        struct metric_list list;
        struct errors errors = {.n = 0};
        assert_int_equal(metric_list_load(ARCH, SPEC_FORMAT_PERF, CPUS[i].cpuid, &errors, &list), 0);
        double *values = calloc(catalog->n_events + 1, sizeof *values);
        assert_non_null(values);
        for (int trial = 0; trial < TRIALS; trial++) {
            struct evaluation_counts counts = {.n = 0};
            counts_make(catalog, &random, values, &counts);
            assert_int_equal(evaluation_run(list.metrics, list.n, &counts, CPUS[i].cpuid), 0);
            n += compare_metrics(catalog, values, &list, CPUS[i].pmu ? CPUS[i].pmu : "");
            evaluation_counts_deinit(&counts);
        }
        free(values);
        metric_list_deinit(&list);
        catalog_free(catalog);
    }
    print_message("%zu values\n", n);
    assert_true(n > TRIALS * 1500);
}

// ---- made-up files ----

static struct catalog *parse(const char *cpuid, const char *text, struct errors *errors) {
    const struct perf_json_request request = {.cpuid = cpuid, .trees = TREES, .all_events = true};
    struct catalog *catalog = NULL;
    int r = perf_json_parse(&request, "made-up.json", text, strlen(text), errors, &catalog);
    if (r != 0)
        errors_show(errors);
    assert_int_equal(r, 0);
    return catalog;
}

static const struct catalog_event *event_of(const struct catalog *catalog, const char *name) {
    int event = catalog_find_event(catalog, name);
    if (event < 0)
        fail_msg("there is no event %s", name);
    return &catalog->events[event];
}

static const struct catalog_metric *metric_named(const struct catalog *catalog, const char *name) {
    int metric = catalog_find_metric(catalog, name);
    if (metric < 0)
        fail_msg("there is no metric %s", name);
    return &catalog->metrics[metric];
}

// Intel SDM 3, 20.2.1.1 (IA32_PERFEVTSEL): event 0-7, umask 8-15, edge 18, any 21, inv 23, cmask 24-31.
static void test_fields_of_an_entry_become_bits(void **state) {
    (void)state;
    struct errors errors = {.n = 0};
    struct catalog *catalog = parse(
        "GenuineIntel-6-8F-4",
        "[{\"EventName\":\"A.B\",\"EventCode\":\"0xA3\",\"UMask\":\"0x14\",\"CounterMask\":\"20\",\"Counter\":\"0,1,2,"
        "3\","
        "\"SampleAfterValue\":\"1000003\"},"
        "{\"EventName\":\"A.INV\",\"EventCode\":\"0x0e\",\"UMask\":\"1\",\"CounterMask\":\"1\",\"Invert\":\"1\","
        "\"EdgeDetect\":\"1\",\"AnyThread\":\"1\"},"
        "{\"EventName\":\"OCR.X\",\"EventCode\":\"0x2A,0x2B\",\"UMask\":\"0x1\",\"MSRIndex\":\"0x1a6,0x1a7\","
        "\"MSRValue\":\"0x10003C0001\"},"
        "{\"EventName\":\"LAT\",\"EventCode\":\"0xcd\",\"UMask\":\"1\",\"MSRIndex\":\"0x3F6\",\"MSRValue\":\"0x80\"},"
        "{\"EventName\":\"INST_RETIRED.ANY\",\"UMask\":\"0x1\",\"Counter\":\"Fixed counter 0\"},"
        "{\"EventName\":\"TOPDOWN.SLOTS\",\"UMask\":\"0x4\",\"Counter\":\"Fixed counter 3\"},"
        "{\"EventName\":\"UNC_CHA_X\",\"EventCode\":\"0x35\",\"UMask\":\"0x1\",\"UMaskExt\":\"0xC001FE\",\"Unit\":"
        "\"CHA\","
        "\"PortMask\":\"0x7\",\"FCMask\":\"0x4\",\"Filter\":\"config1=0x40433\"}]",
        &errors);
    assert_int_equal(errors.n, 0);
    assert_int_equal(event_of(catalog, "A.B")->code.config, 0x140014a3);
    assert_int_equal(event_of(catalog, "A.B")->need.counters, 0xf);
    assert_int_equal(event_of(catalog, "A.INV")->code.config, 0x0e | 1 << 8 | 1 << 18 | 1 << 21 | 1 << 23 | 1 << 24);
    assert_int_equal(event_of(catalog, "OCR.X")->code.config, 0x12a);
    assert_int_equal(event_of(catalog, "OCR.X")->code.config1, 0x10003C0001);
    assert_true(event_of(catalog, "OCR.X")->need.reg > 0);
    assert_true(event_of(catalog, "LAT")->sampling_only);
    assert_int_equal(event_of(catalog, "INST_RETIRED.ANY")->code.config, 0xc0);
    assert_int_equal(event_of(catalog, "INST_RETIRED.ANY")->need.fixed, 0);
    assert_int_equal(event_of(catalog, "TOPDOWN.SLOTS")->code.config, 0x400);
    assert_int_equal(event_of(catalog, "TOPDOWN.SLOTS")->need.fixed, 3);
    assert_string_equal(event_of(catalog, "UNC_CHA_X")->terms,
                        "event=0x35,umask=0xc001fe01,ch_mask=0x7,fc_mask=0x4,config1=0x40433");
    assert_string_equal(catalog->pmus[event_of(catalog, "UNC_CHA_X")->code.pmu], "uncore_cha");
    catalog_free(catalog);
}

// AMD: the event's upper four bits are bits 32 to 35.
static void test_names_in_formulas_become_events(void **state) {
    (void)state;
    struct errors errors = {.n = 0};
    struct catalog *catalog = parse(
        "AuthenticAMD-26-2-1",
        "[{\"EventName\":\"de_slots\",\"EventCode\":\"0x1A0\",\"UMask\":\"0x01\",\"CounterMask\":\"1\"},"
        "{\"MetricName\":\"a\",\"MetricExpr\":\"cpu@de_slots\\\\,cmask\\\\=0x8@ / "
        "instructions\",\"ScaleUnit\":\"100%\","
        "\"MetricGroup\":\"PipelineL1;b_group\"},"
        "{\"MetricName\":\"b\",\"MetricExpr\":\"DE_SLOTS@inv@ / cpu@event\\\\=0x76@\",\"MetricThreshold\":\"a > 0.2\"},"
        "{\"MetricName\":\"time\",\"MetricExpr\":\"msr@tsc@ / duration_time\",\"ScaleUnit\":\"6.4e-5MB/s\"}]",
        &errors);
    errors_show(&errors);
    assert_int_equal(errors.n, 0);
    assert_int_equal(event_of(catalog, "cpu@de_slots,cmask=0x8@")->code.config, 0x1080001a0);
    assert_int_equal(event_of(catalog, "DE_SLOTS@inv@")->code.config, 0x1018001a0);
    assert_int_equal(event_of(catalog, "cpu@event=0x76@")->code.config, 0x76);
    assert_string_equal(catalog->pmus[event_of(catalog, "msr@tsc@")->code.pmu], "msr");
    assert_string_equal(event_of(catalog, "msr@tsc@")->terms, "event=0x00");
    const struct catalog_metric *a = metric_named(catalog, "a"), *time = metric_named(catalog, "time");
    assert_string_equal(a->units, "share of slots");
    assert_string_equal(a->export_name, "a_ratio");
    assert_true(a->export_scale == 1 && a->domain == METRIC_PIPELINE_SLOTS && !a->unmeasurable);
    assert_int_equal(a->parent, catalog_find_metric(catalog, "b"));
    assert_non_null(metric_named(catalog, "b")->threshold);
    assert_true(fabs(time->export_scale - 64) < 1e-9 && // 6.4e-5 MB/s in bytes a second
                !time->unmeasurable);
    assert_string_equal(time->units, "MB/s");
    catalog_free(catalog);
}

#define MEASURED "'uncore: {groups: [uncore_cha_cpu]}' measures metrics of these PMUs together"
#define MEASURED_ALONE "'uncore: {groups: [uncore_cha]}' measures metrics of that PMU alone"

static void test_what_cannot_be_measured_is_kept_with_its_reason(void **state) {
    (void)state;
    static const struct {
        const char *name, *reason;
    } reasons[] = {{"uncore", "needs UNC_X of the PMU uncore_cha, which does not count by CPU: " MEASURED},
                   {"alone", "needs UNC_X of the PMU uncore_cha, which does not count by CPU: " MEASURED_ALONE},
                   {"latency", "needs the retire latency of E (:R), which only sampling gives"},
                   {"sampled", "needs LAT, which can only be sampled"},
                   {"precise", "needs E with the modifiers :p, which topdownd does not know"},
                   {"unknown", "needs the event nothing, which is neither in the files nor known of this PMU"},
                   {"through",
                    "uses uncore, which cannot be measured: needs UNC_X of the PMU uncore_cha, which does not "
                    "count by CPU: " MEASURED},
                   {"power", "needs power@energy-pkg@ of the PMU power, which does not count by CPU"}};
    struct errors errors = {.n = 0};
    struct catalog *catalog = parse(
        "GenuineIntel-6-8F-4",
        "[{\"EventName\":\"E\",\"EventCode\":\"1\"},{\"EventName\":\"UNC_X\",\"EventCode\":\"1\",\"Unit\":\"CHA\"},"
        "{\"EventName\":\"LAT\",\"EventCode\":\"0xcd\",\"MSRIndex\":\"0x3F6\",\"MSRValue\":\"0x80\"},"
        "{\"MetricName\":\"through\",\"MetricExpr\":\"E / uncore\"},{\"MetricName\":\"uncore\",\"MetricExpr\":\"UNC_X "
        "/ E\"},{\"MetricName\":\"alone\",\"MetricExpr\":\"UNC_X * 2\"},"
        "{\"MetricName\":\"latency\",\"MetricExpr\":\"E * E:R\"},{\"MetricName\":\"sampled\",\"MetricExpr\":\"LAT / "
        "E\"},"
        "{\"MetricName\":\"kernel\",\"MetricExpr\":\"E:k / E\"},{\"MetricName\":\"precise\",\"MetricExpr\":\"E:p / "
        "E\"},"
        "{\"MetricName\":\"unknown\",\"MetricExpr\":\"E / "
        "nothing\"},"
        "{\"MetricName\":\"power\",\"MetricExpr\":\"power@energy\\\\-pkg@ / E\"},"
        "{\"MetricName\":\"none\",\"MetricExpr\":\"(E if #smt_on < 1 else 0)\"},"
        "{\"MetricName\":\"without\",\"MetricExpr\":\"E / (E + none) + (uncore if #smt_on < 1 else 0)\"}]",
        &errors);
    assert_int_equal(errors.n, 0);
    for (size_t i = 0; i < N_OF(reasons); i++) {
        assert_non_null(metric_named(catalog, reasons[i].name)->unmeasurable);
        assert_string_equal(metric_named(catalog, reasons[i].name)->unmeasurable, reasons[i].reason);
    }
    assert_null(metric_named(catalog, "kernel")->unmeasurable);
    assert_int_equal(event_of(catalog, "E:k")->code.exclude, PMU_EXCLUDE_USER | PMU_EXCLUDE_HYPERVISOR);
    assert_null(metric_named(catalog, "none")->unmeasurable);
    assert_true(formula_evaluate(metric_named(catalog, "none")->formula, NULL, NULL) == 0);
    assert_null(metric_named(catalog, "without")->unmeasurable); // what the host rules out is no obstacle
    catalog_free(catalog);
}

static void test_wrong_entries_are_reported_and_cost_what_needs_them(void **state) {
    (void)state;
    static const char *const messages[] = {
        "entry 2 (BAD): 'zz' is not an event code",
        "entry 3 (e): stands twice",
        "entry 4 (m): the metric has no MetricExpr",
        "entry 5 (wrong): formula, column 4",
        "entry 7 (y): uses the metric x, which leads back to itself",
        "entry 8 (u): its ScaleUnit 'MB' does not begin with a number",
        "entry 9 (c): its MetricConstraint NEVER is not known",
        "entry 10 (without a name): MetricName must be text",
    };
    struct errors errors = {.n = 0};
    struct catalog *catalog =
        parse("GenuineIntel-6-8F-4",
              "[{\"EventName\":\"E\",\"EventCode\":\"1\"},{\"EventName\":\"BAD\",\"EventCode\":\"zz\"},"
              "{\"EventName\":\"e\",\"EventCode\":\"2\"},{\"MetricName\":\"m\"},{\"MetricName\":\"wrong\","
              "\"MetricExpr\":\"E +\"},"
              "{\"MetricName\":\"x\",\"MetricExpr\":\"y + E\"},{\"MetricName\":\"y\",\"MetricExpr\":\"x / E\"},"
              "{\"MetricName\":\"u\",\"MetricExpr\":\"E / E\",\"ScaleUnit\":\"MB\"},"
              "{\"MetricName\":\"c\",\"MetricExpr\":\"E / E\",\"MetricConstraint\":\"NEVER\"},{\"MetricName\":7},"
              "{\"MetricName\":\"fine\",\"MetricExpr\":\"E / "
              "duration_time\"},{\"MetricName\":\"needs\",\"MetricExpr\":\"BAD/E\"}]",
              &errors);
    for (size_t i = 0; i < N_OF(messages); i++) {
        bool found = false;
        for (size_t e = 0; e < errors.n; e++)
            found = found || strstr(errors.items[e].text, messages[i]);
        if (!found) {
            errors_show(&errors);
            fail_msg("not said: %s", messages[i]);
        }
    }
    assert_null(metric_named(catalog, "fine")->unmeasurable);
    assert_null(metric_named(catalog, "u")->unmeasurable);
    assert_int_equal(metric_named(catalog, "c")->constraint, CONSTRAINT_NO_GROUP);
    assert_non_null(strstr(metric_named(catalog, "needs")->unmeasurable, "whose entry is wrong"));
    assert_non_null(metric_named(catalog, "x")->unmeasurable);
    assert_int_equal(catalog_find_event(catalog, "BAD"), -1);
    catalog_free(catalog);
}

static void test_a_cpu_without_a_tree_is_refused(void **state) {
    (void)state;
    const struct perf_json_request request = {.cpuid = "Acme-1-2-3", .trees = TREES};
    struct errors errors = {.n = 0};
    struct catalog *catalog = NULL;
    assert_int_equal(perf_json_parse(&request, "made-up.json", "[]", 2, &errors, &catalog), -ENOENT);
    assert_non_null(strstr(errors.items[0].text, "has no tree for the CPU Acme-1-2-3"));
    assert_null(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_an_entry_become_bits),
        cmocka_unit_test(test_names_in_formulas_become_events),
        cmocka_unit_test(test_what_cannot_be_measured_is_kept_with_its_reason),
        cmocka_unit_test(test_wrong_entries_are_reported_and_cost_what_needs_them),
        cmocka_unit_test(test_a_cpu_without_a_tree_is_refused),
        cmocka_unit_test(test_every_metric_of_linux_is_measurable_or_has_its_reason),
        cmocka_unit_test(test_what_a_catalog_computes_is_what_the_files_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
