// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/vendor/metric_list.h"
#include "config/vendor/perfmon_files.h"
#include "config/vendor/perfmon_formula.h"
#include "tests/build/vendor.h"

// intel/perfmon's own files become the catalogs that Linux' files of the same CPU become, which are made of them; and a
// small made-up file shows each rule.

#define PERFMON "../shared/telemetry/intel/perfmon"
#define LINUX "../shared/telemetry/linux/arch"
#define TREES "specs/perf/trees.json"

// ---- formulas ----

static bool write_plainly(void *context, const char *name, size_t length, bool one, struct perfmon_text *out,
                          struct fault *fault) {
    (void)context;
    if (one) {
        (void)fault_set(fault, "one of several");
        return false;
    }
    perfmon_write_name(name, length, out);
    return true;
}

static void check_formula(const char *text, const char *expected) {
    const struct perfmon_scope scope = {.write = write_plainly};
    struct perfmon_text out = {.n = 0};
    struct fault fault;
    assert_int_equal(perfmon_formula_write(text, &scope, &out, &fault), 0);
    assert_string_equal(out.data, expected);
    free(out.data);
}

static void check_refused(const char *text, const char *reason) {
    const struct perfmon_scope scope = {.write = write_plainly};
    struct perfmon_text out = {.n = 0};
    struct fault fault = {.text = ""};
    assert_int_equal(perfmon_formula_write(text, &scope, &out, &fault), -EINVAL);
    if (!strstr(fault.text, reason))
        fail_msg("%s: %s", text, fault.text);
    free(out.data);
}

static void test_a_formula_is_written_in_the_language_of_ours(void **state) {
    (void)state;
    check_formula("100 * ( a/b )", "100 * (a / b)");
    check_formula("a if smt_on else ( b )", "a if smt_on else (b)");
    check_formula("1 if a >= 2 * b else 0", "1 if (1 - (a < 2 * b)) else 0");
    check_formula("( a <= b ) && c || d", "((1 - (a > b))) & c | d");
    check_formula("min( max( a , 0 ) , 1e9 )", "min(max(a, 0), 1e9)");
    check_formula("a * 5.5e-3", "a * (5.5 / 1e3)");
    check_formula("- - a - -b", "a - -b");
    check_formula("x.y:c1:e1 + z:opc=0x182", "x.y:c1:e1 + z:opc\\=0x182");
}

static void test_what_is_no_formula_is_refused_with_the_place(void **state) {
    (void)state;
    check_refused("#NA", "#NA");
    check_refused("a[0] / b", "one of several");
    check_refused("a +", "has no value");
    check_refused("( a", "lacks a ')'");
    check_refused("a b", "cannot be read at 'b'");
    check_refused("a == b", "cannot be read at '== b'");
    check_refused("max( a )", "lacks the second value");
    check_refused("max( a, b, c )", "more than two values");
    check_refused("a if b", "lacks an 'else'");
    check_refused("0x10", "has no value");
    check_refused("", "has no value");
}

// ---- a made-up file ----

static const char MADE_UP[] =
    "{\"Header\": {}, \"Events\": ["
    "{\"EventName\": \"INST_RETIRED.ANY\", \"EventCode\": \"0xc0\", \"UMask\": \"0x00\"},"
    "{\"EventName\": \"CPU_CLK_UNHALTED.THREAD\", \"EventCode\": \"0x3c\", \"UMask\": \"0x00\", \"Filter\": \"na\"},"
    "{\"EventName\": \"UOPS.ANY\", \"EventCode\": \"0x0e\", \"UMask\": \"0x01\", \"CounterMask\": \"0\"}],"
    "\"Metrics\": ["
    "{\"MetricName\": \"Deep_Bound\", \"LegacyName\": \"metric_Deep(%)\", \"Level\": 2, \"Category\": \"TMA\","
    " \"UnitOfMeasure\": \"percent\", \"ParentCategory\": \"Whole_Bound\", \"MetricGroup\": \"Mem; Other\","
    " \"Events\": [{\"Name\": \"UOPS.ANY:c2:i1\", \"Alias\": \"a\"}, {\"Name\": \"CPU_CLK_UNHALTED.THREAD\","
    " \"Alias\": \"b\"}], \"Constants\": [], \"Formula\": \"100 * ( a / b )\","
    " \"BaseFormula\": \"uops.any:c2:i1 / tma_info_clks\","
    " \"Threshold\": {\"Formula\": \"a > 20 & b > 0.5\", \"ThresholdMetrics\": ["
    "  {\"Alias\": \"a\", \"Value\": \"metric_Deep(%)\"}, {\"Alias\": \"b\", \"Value\": \"metric_IPC\"}]}},"
    "{\"MetricName\": \"Info_CLKS\", \"Level\": 1, \"Category\": \"TMA\", \"Events\": [{\"Name\":"
    " \"CPU_CLK_UNHALTED.THREAD\", \"Alias\": \"a\"}], \"Formula\": \"a\", \"BaseFormula\": "
    "\"cpu_clk_unhalted.thread\"},"
    "{\"MetricName\": \"ipc\", \"LegacyName\": \"metric_IPC\", \"Category\": \"CPI\", \"UnitOfMeasure\": \"per cycle\","
    " \"Events\": [{\"Name\": \"INST_RETIRED.ANY\", \"Alias\": \"a\"}, {\"Name\": \"CPU_CLK_UNHALTED.THREAD\","
    " \"Alias\": \"b\"}], \"Formula\": \"a / b if smt >= 1 else 2 * a / b\","
    " \"Constants\": [{\"Name\": \"HYPERTHREADING_ON\", \"Alias\": \"smt\"}]},"
    "{\"MetricName\": \"kernel\", \"Category\": \"Util\", \"UnitOfMeasure\": \"percent\", \"Events\": [{\"Name\":"
    " \"UOPS.ANY:SUP\", \"Alias\": \"a\"}, {\"Name\": \"UOPS.ANY\", \"Alias\": \"b\"}], \"Constants\": ["
    " {\"Name\": \"20\", \"Alias\": \"weight\"}], \"Formula\": \"weight * a / b\"},"
    "{\"MetricName\": \"unknown\", \"Category\": \"X\", \"Events\": [{\"Name\": \"UOPS.ANY:one_unit\", \"Alias\":"
    " \"a\"}], \"Formula\": \"a / b\", \"Constants\": [{\"Name\": \"CHAS\", \"Alias\": \"b\"}]},"
    "{\"MetricName\": \"unit\", \"Category\": \"X\", \"Events\": [{\"Name\": \"UOPS.ANY\", \"Alias\": \"a\"}],"
    " \"Formula\": \"a[0] / a\"},"
    "{\"MetricName\": \"none\", \"Category\": \"X\", \"Events\": [], \"Formula\": \"#NA\"}]}";

static struct perf_files parse_made_up(const char *trees, struct errors *errors) {
    struct perf_files files;
    assert_int_equal(perfmon_files_parse("made-up.json", MADE_UP, sizeof MADE_UP - 1, trees, errors, &files), 0);
    return files;
}

static void find_metric(const struct perf_files *files, const char *name, struct perf_entry *entry) {
    struct perf_cursor cursor = {.next = NULL};
    struct errors errors = {.n = 0};
    while (perf_files_next(files, &cursor, &errors, entry))
        if (entry->fields[PERF_METRIC_NAME] && strcmp(entry->fields[PERF_METRIC_NAME], name) == 0)
            return;
    fail_msg("no metric %s", name);
}

static void test_a_metric_becomes_an_entry_like_linux_makes_it(void **state) {
    (void)state;
    struct errors errors = {.n = 0};
    struct perf_files files = parse_made_up(TREES, &errors);
    struct perf_entry entry;
    find_metric(&files, "tma_deep_bound", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR], "UOPS.ANY@cmask=2,inv=1@ / tma_info_clks");
    assert_string_equal(entry.fields[PERF_METRIC_THRESHOLD], "(100 * tma_deep_bound) > 20 & ipc > 0.5");
    assert_string_equal(entry.fields[PERF_METRIC_GROUP], "Mem;Other;TopdownL2;tma_L2_group;tma_whole_bound_group");
    assert_string_equal(entry.fields[PERF_SCALE_UNIT], "100%");
    find_metric(&files, "ipc", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR],
                        "INST_RETIRED.ANY / CPU_CLK_UNHALTED.THREAD if (1 - (#smt_on < 1)) else 2 * INST_RETIRED.ANY / "
                        "CPU_CLK_UNHALTED.THREAD");
    assert_string_equal(entry.fields[PERF_SCALE_UNIT], "1per cycle");
    find_metric(&files, "kernel", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR], "20 * UOPS.ANY:k / UOPS.ANY");
    assert_string_equal(entry.fields[PERF_SCALE_UNIT], "1%");
    assert_int_equal(errors.n, 2);
    assert_non_null(strstr(errors.items[0].text, "entry 6 (unit): its formula takes the count of one of several"));
    assert_non_null(strstr(errors.items[1].text, "entry 7 (none): its formula is #NA"));
    perf_files_close(&files);
}

static void test_without_a_catalog_a_metric_keeps_the_names_of_the_file(void **state) {
    (void)state;
    struct errors errors = {.n = 0};
    struct perf_files files = parse_made_up(NULL, &errors);
    struct perf_entry entry;
    find_metric(&files, "Deep_Bound", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR], "100 * (UOPS.ANY:c2:i1 / CPU_CLK_UNHALTED.THREAD)");
    find_metric(&files, "unit", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR], "UOPS.ANY / UOPS.ANY");
    find_metric(&files, "kernel", &entry);
    assert_string_equal(entry.fields[PERF_METRIC_EXPR], "20 * UOPS.ANY:SUP / UOPS.ANY");
    assert_int_equal(errors.n, 1); // "none"
    perf_files_close(&files);
}

static void test_what_cannot_be_measured_says_why(void **state) {
    (void)state;
    const struct perf_json_request request = {.perfmon = true, .cpuid = "GenuineIntel-6-8F-4", .trees = TREES};
    struct errors errors = {.n = 0};
    struct catalog *catalog;
    assert_int_equal(perf_json_parse(&request, "made-up.json", MADE_UP, sizeof MADE_UP - 1, &errors, &catalog), 0);
    const struct catalog_metric *unknown = &catalog->metrics[catalog_find_metric(catalog, "unknown")];
    assert_non_null(unknown->unmeasurable);
    assert_non_null(strstr(unknown->unmeasurable, "one_unit"));
    assert_null(catalog->metrics[catalog_find_metric(catalog, "tma_deep_bound")].unmeasurable);
    assert_true(catalog_find_metric(catalog, "unit") < 0);
    catalog_free(catalog);
}

static void test_a_file_of_something_else_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } files[] = {{"{\"Data\": {}}", "is no file of intel/perfmon"},
                 {"[]", "is no file of intel/perfmon"},
                 {"{\"Events\": []}", "holds no metrics"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct errors errors = {.n = 0};
        struct perf_files out;
        assert_int_equal(perfmon_files_parse("other.json", files[i].text, strlen(files[i].text), NULL, &errors, &out),
                         -EINVAL);
        assert_non_null(strstr(errors.items[0].text, files[i].reason));
    }
}

// ---- the published files ----

static const struct cpu {
    const char *cpuid, *pmu;
    size_t same_min, differing_max; // metrics of both that have the same values, and others
} CPUS[] = {{"GenuineIntel-6-8F-4", NULL, 200, 12}, {"GenuineIntel-6-97-2", "cpu_core", 150, 12}};

static struct catalog *load(const struct cpu *cpu, bool perfmon) {
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 1;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    environment.facts.literals[LITERAL_NUM_CPUS_ONLINE] = 4;
    const struct perf_json_request request = {.path = perfmon ? PERFMON : LINUX,
                                              .perfmon = perfmon,
                                              .cpuid = cpu->cpuid,
                                              .trees = TREES,
                                              .pmu = cpu->pmu,
                                              .environment = &environment};
    struct errors errors = {.n = 0};
    struct catalog *catalog = NULL;
    int r = vendor_load_perf(&request, &errors, &catalog);
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors.n; i++) {
        error_format(&errors.items[i], line, sizeof line);
        print_message("%s\n", line);
    }
    assert_int_equal(r, 0);
    assert_int_equal(errors.n, 0);
    return catalog;
}

// A count that depends on what the event counts alone: the same encoding has the same count in both catalogs.
static double count_of(const struct catalog_event *event, unsigned trial) {
    uint64_t x = event->code.config * 0x9e3779b97f4a7c15 ^ event->code.config1 * 0xbf58476d1ce4e5b9 ^
                 event->code.config2 * 31 ^ event->code.exclude * 977 ^ (trial + 1) * 0x94d049bb133111eb;
    for (const char *c = event->kind == EVENT_COUNTED ? "" : event->name; *c != '\0'; c++)
        x = x * 131 + (uint64_t)*c;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 32;
    return (double)(1000 + x % 1000000);
}

// The metrics' values over such counts, for free().
static double *evaluate(const struct catalog *catalog, unsigned trial) {
    double *events = calloc(catalog->n_events, sizeof *events), *values = calloc(catalog->n_metrics, sizeof *values);
    for (size_t e = 0; e < catalog->n_events; e++)
        events[e] = count_of(&catalog->events[e], trial);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        values[m] = formula_evaluate(catalog->metrics[m].formula, events, values);
    free(events);
    return values;
}

static bool is_close(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void need_published_files(void) {
    if (access(PERFMON, R_OK) < 0) {
        print_message("skipped: %s is not there\n", PERFMON);
        skip();
    }
}

// A count of 0 must not cost level 1. What must count is known in both.
static void test_the_correction_of_level_1_may_be_0_in_both_dialects(void **state) {
    (void)state;
    need_published_files();
    for (size_t i = 0; i < 2 * sizeof CPUS / sizeof *CPUS; i++) {
        struct catalog *catalog = load(&CPUS[i / 2], i % 2);
        size_t n = 0, others = 0;
        for (size_t e = 0; e < catalog->n_events; e++) {
            bool dropped = strcmp(catalog->events[e].name, "INT_MISC.UOP_DROPPING") == 0;
            n += dropped && !catalog->events[e].must_count;
            others += !dropped && catalog->events[e].must_count;
        }
        assert_int_equal(n, 1);
        assert_true(others >= 2);
        assert_true(catalog->events[catalog_find_event(catalog, "INST_RETIRED.ANY")].must_count);
        catalog_free(catalog);
    }
}

static void test_the_published_files_give_what_linux_makes_of_them(void **state) {
    (void)state;
    need_published_files();
    for (size_t i = 0; i < sizeof CPUS / sizeof *CPUS; i++) {
        struct catalog *theirs = load(&CPUS[i], false), *ours = load(&CPUS[i], true);
        size_t same = 0, differing = 0, thresholds = 0, parents = 0;
        double *a = evaluate(theirs, 0), *b = evaluate(ours, 0), *a2 = evaluate(theirs, 1), *b2 = evaluate(ours, 1);
        for (size_t m = 0; m < ours->n_metrics; m++) {
            int t = catalog_find_metric(theirs, ours->metrics[m].name);
            if (t < 0 || theirs->metrics[t].unmeasurable || ours->metrics[m].unmeasurable)
                continue;
            const double ka = theirs->metrics[t].export_scale, kb = ours->metrics[m].export_scale;
            bool equal = is_close(a[t] * ka, b[m] * kb) && is_close(a2[t] * ka, b2[m] * kb);
            same += equal;
            differing += !equal;
            if (!equal)
                print_message("%s: %s\n  %s\n", ours->metrics[m].name, theirs->metrics[t].formula_text,
                              ours->metrics[m].formula_text);
            thresholds += ours->metrics[m].threshold != NULL;
            parents += ours->metrics[m].parent >= 0;
        }
        print_message("%s: %zu metrics of %zu, %zu the same as Linux', %zu others, %zu thresholds, %zu parents\n",
                      CPUS[i].cpuid, same + differing, ours->n_metrics, same, differing, thresholds, parents);
        assert_true(same >= CPUS[i].same_min && differing <= CPUS[i].differing_max);
        assert_true(ours->level1.present);
        assert_true(thresholds > 100 && parents > 40);
        assert_true(catalog_find_group(ours, "TopdownL1") >= 0 && catalog_find_group(ours, "stage_1") >= 0);
        free(a);
        free(b);
        free(a2);
        free(b2);
        catalog_free(theirs);
        catalog_free(ours);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_formula_is_written_in_the_language_of_ours),
        cmocka_unit_test(test_what_is_no_formula_is_refused_with_the_place),
        cmocka_unit_test(test_a_metric_becomes_an_entry_like_linux_makes_it),
        cmocka_unit_test(test_without_a_catalog_a_metric_keeps_the_names_of_the_file),
        cmocka_unit_test(test_what_cannot_be_measured_says_why),
        cmocka_unit_test(test_a_file_of_something_else_is_refused),
        cmocka_unit_test(test_the_correction_of_level_1_may_be_0_in_both_dialects),
        cmocka_unit_test(test_the_published_files_give_what_linux_makes_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
