// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_json.h"
#include "core/spec/opportunity.h"
#include "tests/build/shipped.h"

// The vendor's own files, which are beside the repository and not part of it: every file loads, and every metric has
// the value that Python computes for its formula. The shipped specs of Arm's cores agree, in different words.

#define ARM_FOLDER "../shared/telemetry/arm/cpu"
#define COMMON_EVENTS "../shared/telemetry/linux/arch/arm64/common-and-microarch.json"
#define TOLERANCE 1e-12

enum { TRIALS = 40, FILES_MIN = 19 };

struct random {
    uint64_t state;
};

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t random_next(struct random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// Whole counts of every magnitude up to 2^40, and every eighth of them 0.
static double random_count(struct random *random) {
    uint64_t bits = random_next(random);
    return bits % 8 == 0 ? 0 : (double)(random_next(random) >> (24 + bits / 8 % 40));
}

static struct random random_begin(void) {
    const char *given = getenv("SEED");
    struct random random = {given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL)};
    print_message("seed %llu (repeat with SEED=)\n", (unsigned long long)random.state);
    return random;
}

static struct catalog *load(const char *path) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    memset(&errors, 0, sizeof errors);
    if (spec_json_load(path, NULL, &errors, &catalog) != 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return catalog;
}

// [trial * n_events + event]; in the first trial all are 0.
static double *random_counts(struct random *random, const struct catalog *catalog) {
    double *counts = calloc(TRIALS * catalog->n_events, sizeof *counts);
    assert_non_null(counts);
    for (size_t i = catalog->n_events; i < TRIALS * catalog->n_events; i++)
        counts[i] = random_count(random);
    return counts;
}

static FILE *start_python(const char *path, const struct catalog *catalog, const double *counts, char *input) {
    int fd = mkstemp(input);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", path);
    for (size_t event = 1; event < catalog->n_events; event++) {
        fprintf(file, "%s", catalog->events[event].name);
        for (size_t trial = 0; trial < TRIALS; trial++)
            fprintf(file, " %.17g", counts[trial * catalog->n_events + event]);
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
    char command[256];
    (void)snprintf(command, sizeof command, "python3 tests/unit/evaluate_arm.py < %s", input);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    return python;
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= TOLERANCE * fabs(b); }

// One line of Python's answer: a metric's name and its values. Adds the number of NaNs to *n_nan.
static void compare_metric(const struct catalog *catalog, const double *counts, char *line, size_t *n_nan) {
    char *rest = NULL, *name = strtok_r(line, " \n", &rest);
    int metric = catalog_find_metric(catalog, name);
    assert_true(metric >= 0);
    for (size_t trial = 0; trial < TRIALS; trial++) {
        const char *word = strtok_r(NULL, " \n", &rest);
        assert_non_null(word);
        double wanted = strtod(word, NULL);
        double got = formula_evaluate(catalog->metrics[metric].formula, counts + trial * catalog->n_events, NULL);
        *n_nan += isnan(wanted) ? 1 : 0;
        if (!same(got, wanted))
            fail_msg("%s, trial %zu: %.17g, Python says %.17g", name, trial, got, wanted);
    }
}

static void compare_file(const char *path, struct random *random) {
    struct catalog *catalog = load(path);
    double *counts = random_counts(random, catalog);
    char input[] = P_tmpdir "/test_arm_specs.XXXXXX", *line = NULL;
    size_t size = 0, n_metrics = 0, n_nan = 0;
    FILE *python = start_python(path, catalog, counts, input);
    while (getline(&line, &size, python) > 0) {
        compare_metric(catalog, counts, line, &n_nan);
        n_metrics++;
    }
    assert_int_equal(pclose(python), 0);
    unlink(input);
    assert_int_equal(n_metrics, catalog->n_metrics);
    assert_true(n_nan >= n_metrics && n_nan < n_metrics * TRIALS / 2); // the trial of zeros, and no flood
    print_message("%s: %zu metrics, %d trials\n", strrchr(path, '/') + 1, n_metrics, TRIALS);
    free(line);
    free(counts);
    catalog_free(catalog);
}

static void test_every_metric_of_every_vendor_file_agrees_with_python(void **state) {
    (void)state;
    struct random random = random_begin();
    glob_t files;
    assert_int_equal(glob(ARM_FOLDER "/*.json", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= FILES_MIN);
    for (size_t i = 0; i < files.gl_pathc; i++)
        compare_file(files.gl_pathv[i], &random);
    globfree(&files);
}

// Shipped specs of cores that Arm describes too, some with one file per revision. The figures are Arm's.
static const struct core {
    const char *name, *arm;
    size_t n_events, n_metrics, n_groups; // in formulas; metrics; groups without the stages
    bool own_l2;                          // we add l2_cache_mpki and l2_cache_miss_ratio, a group of the two
    bool own_frequency;                   // and frequency and utilization, their group, and Clock or Misses
    bool own_memory;                      // and backend_mem_stalled, its group, and a node for it
    size_t own_events;                    // ours need this many of Arm's events that Arm's formulas do not
    size_t n_alternatives;                // definitions for hosts on which an event is dead
} cores[] = {
    {"neoverse-n1", "neoverse-n1", 31, 31, 12, false, false, false, 2, 4},
    {"neoverse-n2", "neoverse-n2-r0p0", 38, 36, 13, false, true, true, 2, 0},
    {"neoverse-n2", "neoverse-n2-r0p1", 38, 36, 13, false, true, true, 2, 0},
    {"neoverse-n2", "neoverse-n2", 38, 36, 13, false, true, true, 2, 0},
    {"neoverse-n2-r0p3", "neoverse-n2-r0p3", 38, 36, 13, false, true, true, 2, 0},
    {"neoverse-v1", "neoverse-v1", 38, 36, 13, false, true, true, 4, 4},
    {"neoverse-v2", "neoverse-v2", 50, 47, 16, false, true, true, 2, 0},
    {"neoverse-n3", "neoverse-n3", 66, 67, 18, false, true, false, 1, 0},
    {"neoverse-v3", "neoverse-v3", 67, 67, 18, false, true, false, 1, 0},
    {"c1-nano", "arm-c1-nano-r0p0-pmu", 123, 119, 27, true, true, false, 1, 0},
    {"c1-pro", "arm-c1-pro-r0p0-pmu", 150, 144, 30, true, true, false, 2, 0},
    {"c1-pro", "arm-c1-pro-r1p1-pmu", 150, 144, 30, true, true, false, 2, 0},
    {"c1-pro", "arm-c1-pro-r1p2-pmu", 150, 144, 30, true, true, false, 2, 0},
    {"c1-premium", "arm-c1-premium-r0p0-pmu", 149, 145, 30, true, true, false, 2, 0},
    {"c1-ultra", "arm-c1-ultra-r0p0-pmu", 149, 145, 30, true, true, false, 2, 0},
};
enum { CORES = sizeof cores / sizeof *cores };

static const char *const own_l2[] = {"l2_cache_mpki", "l2_cache_miss_ratio"};
enum { OWN_L2 = 2, OWN_FREQUENCY = 2 };

// The number of the group's metrics that the vendor lacks.
static size_t own_in_group(const struct core *core, const char *group) {
    if (strcmp(group, "stage_2") == 0)
        return (core->own_l2 ? (size_t)OWN_L2 : 0) + (core->own_frequency ? (size_t)OWN_FREQUENCY : 0) +
               core->own_memory;
    if (!core->own_l2 || strcmp(group, "stage_1") == 0)
        return 0;
    return strcmp(group, "MPKI") == 0 || strcmp(group, "Miss_Ratio") == 0 ? 1 : 0;
}

static bool group_has(const struct catalog *catalog, const struct catalog_group *group, const char *metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (strcmp(catalog->metrics[group->metrics[i]].name, metric) == 0)
            return true;
    return false;
}

struct pair {
    struct catalog *ours, *arm;
};

static struct pair pair_load(const char *our_name, const char *arm_name) {
    char ours[128], arm[128];
    (void)snprintf(ours, sizeof ours, "specs/%s.json", our_name);
    (void)snprintf(arm, sizeof arm, ARM_FOLDER "/%s.json", arm_name);
    return (struct pair){load(ours), load(arm)};
}

static void pair_free(struct pair *pair) {
    catalog_free(pair->arm);
    catalog_free(pair->ours);
}

static void test_our_specs_have_the_vendors_events_and_codes(void **state) {
    (void)state;
    for (size_t c = 0; c < CORES; c++) {
        struct pair pair = pair_load(cores[c].name, cores[c].arm);
        size_t sampled = 0; // by PMUs of their own, of which the vendor's files have nothing
        for (size_t i = 1; i < pair.ours->n_events; i++) {
            sampled += pair.ours->events[i].sampling_only;
            if (pair.ours->events[i].sampling_only)
                continue;
            int event = catalog_find_event(pair.arm, pair.ours->events[i].name);
            assert_true(event > 0);
            assert_true(pair.arm->events[event].code.config == pair.ours->events[i].code.config);
        }
        assert_int_equal(pair.ours->n_events - sampled, 1 + cores[c].n_events + cores[c].own_events);
        pair_free(&pair);
    }
}

static void test_our_specs_have_the_vendors_groups(void **state) {
    (void)state;
    for (size_t c = 0; c < CORES; c++) {
        struct pair pair = pair_load(cores[c].name, cores[c].arm);
        assert_int_equal(pair.arm->n_groups, cores[c].n_groups + 2); // and the two stages
        bool bounds = catalog_find_group(pair.ours, "Opportunities") >= 0,
             headings = catalog_find_group(pair.ours, BOTTLENECK_GROUP) >= 0;
        assert_int_equal(pair.ours->n_groups, pair.arm->n_groups + cores[c].own_l2 + 2 * cores[c].own_frequency +
                                                  cores[c].own_memory + bounds + headings);
        for (size_t i = 0; i < pair.arm->n_groups; i++) {
            const struct catalog_group *theirs = &pair.arm->groups[i];
            int index = catalog_find_group(pair.ours, theirs->name);
            assert_true(index >= 0);
            const struct catalog_group *ours = &pair.ours->groups[index];
            assert_string_equal(ours->name, theirs->name);
            assert_int_equal(ours->n_metrics, theirs->n_metrics + own_in_group(&cores[c], theirs->name));
            for (size_t m = 0; m < theirs->n_metrics; m++)
                assert_true(group_has(pair.ours, ours, pair.arm->metrics[theirs->metrics[m]].name));
        }
        pair_free(&pair);
    }
}

// Every shipped metric has the value of Arm's metric of the same name for the same counts. The test below covers
// metrics that Arm lacks.
static void compare_formulas(const struct pair *pair, struct random *random) {
    double *counts = random_counts(random, pair->arm), *same_counts = calloc(pair->ours->n_events, sizeof *same_counts);
    assert_non_null(same_counts);
    for (size_t trial = 0; trial < TRIALS; trial++) {
        const double *theirs = counts + trial * pair->arm->n_events;
        for (size_t i = 1; i < pair->ours->n_events; i++) {
            int event = catalog_find_event(pair->arm, pair->ours->events[i].name);
            same_counts[i] = event >= 0 ? theirs[event] : NAN; // events that are only sampled, of SPE, are of no metric
        }
        for (size_t i = 0; i < pair->ours->n_metrics; i++) {
            int metric = catalog_find_metric(pair->arm, pair->ours->metrics[i].name);
            if (metric < 0)
                continue;
            if (pair->ours->metrics[i].domain == METRIC_STALLS) // Arm says cycles; test_domains.py has what it is
                assert_int_equal(strncmp(pair->arm->metrics[metric].units, "percent of ", 11), 0);
            else
                assert_string_equal(pair->ours->metrics[i].units, pair->arm->metrics[metric].units);
            assert_true(same(formula_evaluate(pair->ours->metrics[i].formula, same_counts, NULL),
                             formula_evaluate(pair->arm->metrics[metric].formula, theirs, NULL)));
        }
    }
    free(same_counts);
    free(counts);
}

static void test_our_specs_have_the_vendors_formulas(void **state) {
    (void)state;
    struct random random = random_begin();
    for (size_t c = 0; c < CORES; c++) {
        struct pair pair = pair_load(cores[c].name, cores[c].arm);
        size_t n_same = 0, n_bounds = 0;
        for (size_t i = 0; i < pair.ours->n_metrics; i++) {
            n_same += catalog_find_metric(pair.arm, pair.ours->metrics[i].name) >= 0;
            n_bounds += opportunity_of(&pair.ours->metrics[i]) != OPPORTUNITY_N;
        }
        assert_int_equal(n_same, cores[c].n_metrics);
        assert_int_equal(pair.arm->n_metrics, cores[c].n_metrics);
        assert_int_equal(pair.ours->n_metrics, n_same + n_bounds + cores[c].n_alternatives +
                                                   (cores[c].own_l2 ? OWN_L2 : 0) +
                                                   (cores[c].own_frequency ? OWN_FREQUENCY : 0) + cores[c].own_memory);
        compare_formulas(&pair, &random);
        pair_free(&pair);
    }
}

static double value_of(const struct catalog *catalog, const char *metric, const double *counts) {
    int index = catalog_find_metric(catalog, metric);
    assert_true(index >= 0);
    return formula_evaluate(catalog->metrics[index].formula, counts, NULL);
}

static double count_of(const struct catalog *catalog, const char *event, const double *counts) {
    int index = catalog_find_event(catalog, event);
    assert_true(index >= 0);
    return counts[index];
}

// Reads of data and code, without prefetches; C1-Nano counts lines to write apart.
static void compare_own_l2(const struct catalog *ours, struct random *random) {
    double *counts = random_counts(random, ours);
    bool writes_apart = catalog_find_event(ours, "L2D_CACHE_RW") >= 0;
    for (size_t trial = 1; trial < TRIALS; trial++) {
        const double *count = counts + trial * ours->n_events;
        double misses = count_of(ours, "L2D_CACHE_REFILL_RD", count) + count_of(ours, "L2I_CACHE_REFILL", count) +
                        (writes_apart ? count_of(ours, "L2D_CACHE_REFILL_WR", count) : 0);
        double looked_up =
            count_of(ours, writes_apart ? "L2D_CACHE_RW" : "L2D_CACHE_RD", count) + count_of(ours, "L2I_CACHE", count);
        double instructions = count_of(ours, "INST_RETIRED", count);
        assert_true(same(value_of(ours, own_l2[0], count), instructions == 0 ? NAN : misses / instructions * 1000));
        assert_true(same(value_of(ours, own_l2[1], count), looked_up == 0 ? NAN : misses / looked_up));
    }
    free(counts);
}

// C1 cores count second-level misses of data and code separately; the vendor-neutral metrics cover both.
static void test_our_own_l2_metrics_are_those_of_data_and_code_together(void **state) {
    (void)state;
    struct random random = random_begin();
    for (size_t c = 0; c < CORES; c++) {
        struct pair pair = pair_load(cores[c].name, cores[c].arm);
        for (size_t i = 0; i < OWN_L2 && cores[c].own_l2; i++)
            assert_true(catalog_find_metric(pair.arm, own_l2[i]) < 0);
        if (cores[c].own_l2)
            compare_own_l2(pair.ours, &random);
        pair_free(&pair);
    }
}

// The architecture's event of cycles in which the back end is stalled with a miss of the core's last cache open (Arm's
// manual, STALL_BACKEND_MEM): such a cycle has no slot that is used. Arm's files for these cores have no metric of it.
static void test_the_wait_for_memory_is_a_part_of_the_back_end(void **state) {
    (void)state;
    struct random random = random_begin();
    for (size_t c = 0; c < CORES; c++) {
        if (!cores[c].own_memory)
            continue;
        struct pair pair = pair_load(cores[c].name, cores[c].arm);
        assert_int_equal(pair.arm->events[catalog_find_event(pair.arm, "STALL_BACKEND_MEM")].code.config, 0x4005);
        double *counts = random_counts(&random, pair.ours);
        int memory = catalog_find_metric(pair.ours, "backend_mem_stalled");
        assert_int_equal(pair.ours->metrics[memory].parent, catalog_find_metric(pair.ours, "backend_bound"));
        for (size_t trial = 1; trial < TRIALS; trial++) {
            const double *count = counts + trial * pair.ours->n_events;
            double share = count_of(pair.ours, "STALL_BACKEND_MEM", count) / count_of(pair.ours, "CPU_CYCLES", count);
            if (isfinite(share))
                assert_true(same(value_of(pair.ours, "backend_mem_stalled", count), share < 1 ? 100 * share : 100));
        }
        free(counts);
        pair_free(&pair);
    }
}

// Linux's list of the architecture's events.
static cJSON *read_json(const char *path) {
    static struct errors errors;
    char *text;
    size_t length;
    assert_int_equal(json_read_file(path, SPEC_FILE_MAX, &errors, &text, &length), 0);
    cJSON *json = cJSON_ParseWithLength(text, length);
    free(text);
    assert_non_null(json);
    return json;
}

static uint64_t common_event(const cJSON *list, const char *name) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        const cJSON *item_name = cJSON_GetObjectItem(item, "EventName"), *code = cJSON_GetObjectItem(item, "EventCode");
        if (code && strcmp(item_name->valuestring, name) == 0)
            return strtoull(code->valuestring, NULL, 16);
    }
    fail_msg("%s is no event of the architecture", name);
    return 0;
}

static void test_the_generic_spec_needs_common_events_only(void **state) {
    (void)state;
    struct random random = random_begin();
    struct pair pair = pair_load("armv8-pmuv3", "neoverse-n1");
    cJSON *list = read_json(COMMON_EVENTS);
    for (size_t i = 1; i < pair.ours->n_events; i++) {
        uint64_t code = common_event(list, pair.ours->events[i].name);
        assert_int_equal(pair.ours->events[i].code.config, code);
        assert_true(code <= 0x3f || (code >= 0x4000 && code <= 0x403f));
    }
    cJSON_Delete(list);
    static const char *const groups[] = {"stage_1", "Cycle_Accounting", "General", "MPKI", "Miss_Ratio"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int ours = catalog_find_group(pair.ours, groups[i]), theirs = catalog_find_group(pair.arm, groups[i]);
        assert_true(ours >= 0);
        assert_int_equal(pair.ours->groups[ours].n_metrics, pair.arm->groups[theirs].n_metrics);
    }
    compare_formulas(&pair, &random);
    pair_free(&pair);
}

// Sentences of titles, descriptions and meanings, folded to lower case.
struct sentences {
    char **texts;
    size_t n;
};

static void add_sentence(struct sentences *sentences, const char *text, size_t length) {
    while (length > 0 && (isspace((unsigned char)text[length - 1]) || text[length - 1] == '.'))
        length--;
    if (length == 0)
        return;
    sentences->texts = realloc(sentences->texts, (sentences->n + 1) * sizeof *sentences->texts);
    assert_non_null(sentences->texts);
    char *folded = strndup(text, length);
    assert_non_null(folded);
    for (char *c = folded; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    sentences->texts[sentences->n++] = folded;
}

static void collect_sentences(struct sentences *sentences, const cJSON *json) {
    if (cJSON_IsString(json) && json->string &&
        (strcmp(json->string, "title") == 0 || strcmp(json->string, "meaning") == 0 ||
         strcasestr(json->string, "description"))) {
        const char *text = json->valuestring;
        while (*text != '\0') {
            size_t length = strcspn(text, ".\n;:");
            while (text[length] == '.' && text[length + 1] != ' ' && text[length + 1] != '\0')
                length += 1 + strcspn(text + length + 1, ".\n;:");
            add_sentence(sentences, text, length);
            text += length + (text[length] != '\0');
            text += strspn(text, " \n");
        }
    }
    const cJSON *child;
    cJSON_ArrayForEach(child, json) collect_sentences(sentences, child);
}

static struct sentences sentences_of(const char *path) {
    struct sentences sentences = {0};
    cJSON *json = strncmp(path, "specs/", 6) == 0 ? shipped_json(path) : read_json(path);
    collect_sentences(&sentences, json);
    cJSON_Delete(json);
    return sentences;
}

static void sentences_free(struct sentences *sentences) {
    for (size_t i = 0; i < sentences->n; i++)
        free(sentences->texts[i]);
    free(sentences->texts);
}

static void expect_no_shared_sentence(const struct sentences *ours, const char *path) {
    struct sentences theirs = sentences_of(path);
    assert_true(theirs.n > 100);
    for (size_t i = 0; i < ours->n; i++)
        for (size_t j = 0; j < theirs.n; j++)
            if (strcmp(ours->texts[i], theirs.texts[j]) == 0)
                fail_msg("%s: both say \"%s\"", path, ours->texts[i]);
    sentences_free(&theirs);
}

static void test_our_specs_share_no_sentence_with_the_vendor(void **state) {
    (void)state;
    for (size_t c = 0; c < CORES; c++) {
        char path[128];
        (void)snprintf(path, sizeof path, "specs/%s.json", cores[c].name);
        struct sentences ours = sentences_of(path);
        assert_true(ours.n > 2 * (cores[c].n_events + cores[c].n_metrics + cores[c].n_groups));
        (void)snprintf(path, sizeof path, ARM_FOLDER "/%s.json", cores[c].arm);
        expect_no_shared_sentence(&ours, path);
        sentences_free(&ours);
    }
}

static void test_the_generic_spec_shares_no_sentence_with_the_vendor_or_linux(void **state) {
    (void)state;
    struct sentences ours = sentences_of("specs/armv8-pmuv3.json");
    assert_true(ours.n > 100);
    expect_no_shared_sentence(&ours, ARM_FOLDER "/neoverse-n1.json");
    expect_no_shared_sentence(&ours, COMMON_EVENTS);
    sentences_free(&ours);
}

int main(void) {
    if (access(ARM_FOLDER, R_OK) != 0 || access(COMMON_EVENTS, R_OK) != 0) {
        printf("skipped: " ARM_FOLDER " or " COMMON_EVENTS " is not there\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_metric_of_every_vendor_file_agrees_with_python),
        cmocka_unit_test(test_our_specs_have_the_vendors_events_and_codes),
        cmocka_unit_test(test_our_specs_have_the_vendors_groups),
        cmocka_unit_test(test_our_specs_have_the_vendors_formulas),
        cmocka_unit_test(test_our_own_l2_metrics_are_those_of_data_and_code_together),
        cmocka_unit_test(test_the_wait_for_memory_is_a_part_of_the_back_end),
        cmocka_unit_test(test_the_generic_spec_needs_common_events_only),
        cmocka_unit_test(test_our_specs_share_no_sentence_with_the_vendor),
        cmocka_unit_test(test_the_generic_spec_shares_no_sentence_with_the_vendor_or_linux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
