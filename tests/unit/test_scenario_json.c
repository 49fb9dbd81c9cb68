// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/scenario/scenario_json.h"
#include "config/spec/spec_json.h"

static struct errors errors;

static int read_scenario(const char *text, struct scenario **scenario) {
    memset(&errors, 0, sizeof errors);
    *scenario = NULL;
    return scenario_json_parse("test.json", text, strlen(text), &errors, scenario);
}

static struct scenario *load_good(const char *path) {
    struct scenario *scenario = NULL;
    memset(&errors, 0, sizeof errors);
    int r = scenario_json_load(path, &errors, &scenario);
    for (size_t i = 0; i < errors.n; i++)
        print_error("%s: %s\n", path, errors.items[i].text);
    assert_int_equal(r, 0);
    return scenario;
}

// A valid file with one piece replaced.
#define HOST "\"spec\": \"s\", \"sockets\": 2, \"cores_per_socket\": 2, \"general_counters\": 6"
#define LOADS                                                                                                          \
    "\"loads\": {\"web\": {\"period_seconds\": 10, \"keyframes\": [{\"at_seconds\": 0, \"rates\": {\"E\": 5}}]}}"
#define LOAD(body) "{" HOST ", \"loads\": {\"web\": " body "}}"
#define KEYFRAME(body) LOAD("{\"period_seconds\": 10, \"keyframes\": [" body "]}")
#define ASSIGN(body) "{" HOST "," LOADS ", \"assignments\": [" body "]}"
#define RIVAL(body) "{" HOST "," LOADS ", \"rivals\": [" body "]}"

static void test_a_scenario_is_read_and_its_mixes_become_rates(void **state) {
    (void)state;
    struct scenario *s = load_good("tests/data/scenarios/changing.json");
    assert_string_equal(s->name, "changing");
    assert_string_equal(s->spec, "neoverse-v2");
    assert_int_equal(scenario_n_cpus(s), 8);
    assert_int_equal(s->threads_per_core, 2);
    assert_int_equal(s->general_counters, 4);
    assert_true(s->maximum_frequency_hz == 3e9);
    assert_int_equal(s->n_loads, 2);
    const struct scenario_load *load = &s->loads[0];
    assert_string_equal(load->name, "alternating");
    assert_true(load->period_seconds == 8);
    assert_int_equal(load->n_keyframes, 3);
    assert_int_equal(load->keyframes[0].n_rates, 2);
    assert_string_equal(load->keyframes[0].rates[1].event, "INST_RETIRED");
    assert_true(load->keyframes[0].rates[1].per_second == 6e9); // 3 a cycle at 2 GHz
    assert_true(load->keyframes[1].at_seconds == 3);
    assert_string_equal(load->keyframes[1].rates[2].event, "L1D_CACHE_REFILL");
    assert_true(fabs(load->keyframes[1].rates[2].per_second - 1e7) < 1e-6); // 0.01 a cycle at 2 GHz, half of the time
    assert_true(load->keyframes[2].rates[0].per_second == 12);
    assert_int_equal(s->loads[1].keyframes[0].n_rates, 0);
    assert_int_equal(s->assignments[0].load, 0);
    assert_int_equal(cpuset_count(&s->assignments[0].cpus), 5);
    assert_true(cpuset_has(&s->assignments[0].cpus, 6));
    assert_true(s->assignments[0].offset_seconds == 1);
    assert_true(s->assignments[0].stagger_seconds == 0.5);
    scenario_free(s);
}

static void test_rivals_of_every_kind_are_read(void **state) {
    (void)state;
    struct scenario *s = load_good("tests/data/scenarios/rivals.json");
    const enum scenario_rival_kind kinds[] = {RIVAL_PINNED, RIVAL_FLEXIBLE, RIVAL_TASK, RIVAL_REFUSE, RIVAL_OFFLINE};
    assert_int_equal(s->n_rivals, 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(s->rivals[i].kind, kinds[i]);
        assert_true(cpuset_has(&s->rivals[i].cpus, i));
    }
    assert_int_equal(s->rivals[2].counters, 4);
    assert_true(s->rivals[0].from_seconds == 10 && s->rivals[0].until_seconds == 20);
    assert_true(s->rivals[1].period_seconds == 0.2 && s->rivals[1].on_seconds == 0.06);
    assert_true(s->rivals[4].until_seconds == 0);
    assert_int_equal(s->threads_per_core, 1);
    scenario_free(s);
}

static void test_a_pmus_traps_are_read_and_absent_by_default(void **state) {
    (void)state;
    const struct {
        const char *keys;
        bool validates_nothing, surplus;
    } cases[] = {{"", false, false},
                 {"\"validates\": true, \"surplus\": false,", false, false},
                 {"\"validates\": false,", true, false},
                 {"\"surplus\": true,", false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct scenario *s;
        (void)snprintf(text, sizeof text, "{%s %s, %s, \"rivals\": [%s, %s]}", cases[i].keys, HOST, LOADS,
                       "{\"kind\": \"pinned\", \"cpus\": \"0\", \"counters\": 0, \"cycles\": true, \"slots\": true}",
                       "{\"kind\": \"pinned\", \"cpus\": \"0\", \"counters\": 1}");
        assert_int_equal(read_scenario(text, &s), 0);
        assert_int_equal(s->validates_nothing, cases[i].validates_nothing);
        assert_int_equal(s->surplus, cases[i].surplus);
        assert_true(s->rivals[0].cycles && !s->rivals[1].cycles);
        assert_true(s->rivals[0].slots && !s->rivals[1].slots);
        scenario_free(s);
    }
}

static void test_what_a_host_filters_is_a_list_of_events(void **state) {
    (void)state;
    struct scenario *s;
    char text[1024];
    (void)snprintf(text, sizeof text, "{\"filtered\": [\"A\", \"B\"], %s, %s}", HOST, LOADS);
    assert_int_equal(read_scenario(text, &s), 0);
    assert_int_equal(s->n_filtered, 2);
    assert_string_equal(s->filtered[1], "B");
    scenario_free(s);
    (void)snprintf(text, sizeof text, "{\"filtered\": \"A\", %s, %s}", HOST, LOADS);
    assert_int_equal(read_scenario(text, &s), -EINVAL);
}

static void test_a_jump_of_counts_says_by_how_much(void **state) {
    (void)state;
    struct scenario *s;
    char text[1024];
    (void)snprintf(text, sizeof text, "{%s, %s, \"rivals\": [%s]}", HOST, LOADS,
                   "{\"kind\": \"jump\", \"cpus\": \"0\", \"by\": -4294967296, \"from_seconds\": 3}");
    assert_int_equal(read_scenario(text, &s), 0);
    assert_int_equal(s->rivals[0].kind, RIVAL_JUMP);
    assert_true(s->rivals[0].by == -4294967296.0 && s->rivals[0].from_seconds == 3);
    scenario_free(s);
}

static void test_mistakes_are_refused_with_their_path(void **state) {
    (void)state;
    const struct {
        const char *text, *wanted;
    } cases[] = {
        {"{\"sockets\": 1}", "spec: is missing"},
        {"{" HOST ", \"socket\": 1," LOADS "}", "socket: there is no such key; did you mean sockets?"},
        {"{\"spec\": \"s\", \"sockets\": 64, \"cores_per_socket\": 65, \"general_counters\": 6," LOADS "}",
         "the host has 4160 CPUs; the limit is 4096"},
        {"{\"spec\": \"s\", \"sockets\": 0, \"cores_per_socket\": 1, \"general_counters\": 6," LOADS "}",
         "sockets: must be between 1 and 4096"},
        {"{" HOST "}", "loads: is missing"},
        {LOAD("1"), "loads.web: must be an object"},
        {LOAD("{\"keyframes\": [{\"at_seconds\": 0, \"rates\": {}}]}"), "loads.web.period_seconds: is missing"},
        {LOAD("{\"period_seconds\": 0, \"keyframes\": []}"), "loads.web.period_seconds: must be between"},
        {LOAD("{\"period_seconds\": 1e999, \"keyframes\": []}"), "loads.web.period_seconds: must be a number"},
        {LOAD("{\"period_seconds\": 1, \"keyframes\": []}"), "loads.web.keyframes: needs at least one keyframe"},
        {KEYFRAME("{\"at_seconds\": 1, \"rates\": {}}"), "loads.web.keyframes: the first keyframe must be"},
        {KEYFRAME("{\"at_seconds\": 0, \"rates\": {}}, {\"at_seconds\": 0, \"rates\": {}}"),
         "loads.web.keyframes: keyframe 1 is not later"},
        {KEYFRAME("{\"at_seconds\": 0, \"rates\": {}}, {\"at_seconds\": 10, \"rates\": {}}"),
         "loads.web.keyframes: the last keyframe must be before period_seconds"},
        {KEYFRAME("{\"at_seconds\": 0}"), "loads.web.keyframes[0]: needs either rates, or mix and utilisation"},
        {KEYFRAME("{\"at_seconds\": 0, \"rates\": {\"E\": -1}}"), "loads.web.keyframes[0].rates.E: must be between"},
        {KEYFRAME("{\"at_seconds\": 0, \"rates\": {\"E\": 1.1e12}}"),
         "loads.web.keyframes[0].rates.E: must be between 0 and 1e+12"},
        {KEYFRAME("{\"at_seconds\": 0, \"rates\": {\"E\": true}}"), "loads.web.keyframes[0].rates.E: must be a number"},
        {KEYFRAME("{\"at_seconds\": 0, \"mix\": \"busy\", \"utilisation\": 1}"),
         "loads.web.keyframes[0]: there is no mix \"busy\""},
        {ASSIGN("{\"cpus\": \"0-4\", \"load\": \"web\"}"),
         "assignments[0]: cpus names CPU 4, and the host's are 0 to 3"},
        {ASSIGN("{\"cpus\": \"x\", \"load\": \"web\"}"), "assignments[0]: cpus is not a list of CPUs"},
        {ASSIGN("{\"cpus\": \"\", \"load\": \"web\"}"), "assignments[0]: cpus is not a list of CPUs"},
        {ASSIGN("{\"cpus\": \"0\", \"load\": \"wep\"}"), "assignments[0]: there is no load \"wep\"; did you mean web?"},
        {RIVAL("{\"kind\": \"pined\", \"cpus\": \"0\", \"counters\": 1}"),
         "rivals[0]: kind is none of pinned, flexible, task, refuse, offline, jump; did you mean pinned?"},
        {"{\"validates\": 0, " HOST "," LOADS "}", "validates: must be true or false"},
        {RIVAL("{\"kind\": \"task\", \"cpus\": \"0\", \"counters\": 1, \"cycles\": 1}"),
         "rivals[0].cycles: must be true or false"},
        {RIVAL("{\"kind\": \"task\", \"cpus\": \"0\"}"), "rivals[0].counters: is missing"},
        {RIVAL("{\"kind\": \"task\", \"cpus\": \"0\", \"counters\": 1, \"from_seconds\": 5, \"until_seconds\": 5}"),
         "rivals[0]: until_seconds must be later"},
        {RIVAL("{\"kind\": \"offline\", \"cpus\": \"0\", \"period_seconds\": 5}"),
         "rivals[0]: period_seconds and on_seconds go together"},
        {RIVAL("{\"kind\": \"offline\", \"cpus\": \"0\", \"period_seconds\": 5, \"on_seconds\": 6}"),
         "rivals[0]: on_seconds is more than period_seconds"},
        {"{\"x\": ", "is not JSON from here on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *scenario;
        assert_int_equal(read_scenario(cases[i].text, &scenario), -EINVAL);
        assert_null(scenario);
        if (errors.n == 0 || !strstr(errors.items[0].text, cases[i].wanted))
            fail_msg("got \"%s\", wanted \"%s\"", errors.items[0].text, cases[i].wanted);
    }
}

// Two core types on four CPUs of one socket.
#define CORES(spec, cpus, more)                                                                                        \
    "{\"spec\": \"" spec "\", \"cpus\": \"" cpus "\", \"general_counters\": 4" more                                    \
    ", \"loads\": {\"l\": {\"period_seconds\": 1, \"keyframes\": [{\"at_seconds\": 0, \"rates\": {\"E\": 7}}]}}}"
#define HYBRID(types) "{\"sockets\": 1, \"cores_per_socket\": 4, \"core_types\": [" types "]}"

static void test_core_types_are_scenarios_in_a_list(void **state) {
    (void)state;
    struct scenario *s;
    assert_int_equal(
        read_scenario(HYBRID(CORES("big", "0,3", ", \"assignments\": [{\"cpus\": \"3\", \"load\": \"l\"}]") ", " CORES(
                          "small", "1-2", ", \"maximum_frequency_hz\": 5")),
                      &s),
        0);
    const struct scenario *small = s->next;
    assert_non_null(small);
    assert_null(small->next);
    assert_string_equal(s->spec, "big");
    assert_string_equal(small->spec, "small");
    assert_int_equal(scenario_n_cpus(s), 4);
    assert_int_equal(scenario_n_cpus(small), 4);
    for (unsigned cpu = 0; cpu < 6; cpu++) {
        assert_int_equal(scenario_has_cpu(s, cpu), cpu == 0 || cpu == 3);
        assert_int_equal(scenario_has_cpu(small, cpu), cpu == 1 || cpu == 2);
    }
    assert_int_equal(s->n_assignments, 1);
    assert_int_equal(small->n_assignments, 0);
    assert_true(s->maximum_frequency_hz == 0 && small->maximum_frequency_hz == 5);
    assert_null(scenario_free(s));
}

static void test_mistakes_in_core_types_are_refused(void **state) {
    (void)state;
    const struct {
        const char *text, *wanted;
    } cases[] = {
        {HYBRID(""), "core_types: needs at least two core types"},
        {HYBRID(CORES("big", "0-3", "")), "core_types: needs at least two core types"},
        {HYBRID(CORES("big", "0-1", "") "," CORES("big", "2-3", "")), "core_types[1]: has the spec of another core"},
        {HYBRID(CORES("big", "0-1", "") "," CORES("small", "1-3", "")), "core_types[1]: CPU 1 is of two core types"},
        {HYBRID(CORES("big", "0-1", "") "," CORES("small", "2-4", "")), "core_types[1]: cpus names CPU 4, and the"},
        {HYBRID(CORES("big", "0-1", ", \"assignments\": [{\"cpus\": \"2\", \"load\": \"l\"}]") "," CORES("small", "2",
                                                                                                         "")),
         "core_types[0].assignments[0]: cpus names CPU 2, which is not of this core type"},
        {HYBRID(CORES("big", "0-1", ", \"sockets\": 2") "," CORES("small", "2", "")),
         "core_types[0].sockets: there is no such key"},
        {"{\"spec\": \"s\", \"sockets\": 1, \"cores_per_socket\": 4, \"core_types\": []}",
         "spec: there is no such key"},
        {HYBRID("1, 2"), "core_types[0]: must be an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *scenario;
        assert_int_equal(read_scenario(cases[i].text, &scenario), -EINVAL);
        assert_null(scenario);
        if (errors.n == 0 || !strstr(errors.items[0].text, cases[i].wanted))
            fail_msg("got \"%s\", wanted \"%s\"", errors.items[0].text, cases[i].wanted);
    }
}

static void test_the_shipped_hybrid_host_has_three_core_types(void **state) {
    (void)state;
    static const char *const specs[] = {"c1-ultra", "c1-pro", "c1-nano"};
    static const unsigned cpus[] = {2, 4, 2};
    struct scenario *first = load_good("scenarios/hybrid.json");
    size_t n = 0;
    for (const struct scenario *type = first; type; type = type->next, n++) {
        assert_true(n < 3);
        assert_string_equal(type->spec, specs[n]);
        assert_int_equal(cpuset_count(&type->cpus), cpus[n]);
        assert_int_equal(type->n_assignments, 1);
    }
    assert_int_equal(n, 3);
    scenario_free(first);
}

#define BOXES(body) "{" HOST "," LOADS ", \"uncore\": [" body "]}"
#define IMC "\"kind\": \"imc\", \"spec\": \"imc-ice-lake\""

static void test_boxes_are_cores_with_one_thread(void **state) {
    (void)state;
    struct scenario *scenario;
    int r = read_scenario(BOXES("{" IMC ", \"boxes_per_socket\": 4, \"peak\": 1e11, " LOADS
                                ", \"assignments\": [{\"cpus\": \"0-7\", \"load\": \"web\"}]}"),
                          &scenario);
    assert_int_equal(r, 0);
    const struct scenario *kind = scenario->uncore;
    assert_string_equal(kind->name, "imc");
    assert_string_equal(kind->spec, "imc-ice-lake");
    assert_int_equal(scenario_n_cpus(kind), 8);
    assert_true(kind->memory_bytes_per_second == 1e11);
    assert_null(kind->next);
    scenario_free(scenario);
    static const char *const wrong[] = {
        BOXES("{" IMC ", " LOADS "}"),
        BOXES("{" IMC ", \"boxes_per_socket\": 0, " LOADS "}"),
        BOXES("{" IMC ", \"boxes_per_socket\": 4, \"sockets\": 1, " LOADS "}"),
        BOXES("{" IMC ", \"boxes_per_socket\": 4, " LOADS ", \"assignments\": [{\"cpus\": \"8\", \"load\": \"web\"}]}"),
        BOXES("4"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_scenario(wrong[i], &scenario), -EINVAL);
}

static void test_a_mix_needs_a_frequency_and_sane_numbers(void **state) {
    (void)state;
    struct scenario *scenario;
#define MIX(more, value)                                                                                               \
    "{" HOST more ", \"mixes\": {\"busy\": {\"E\": " value "}}, \"loads\": {\"l\": {\"period_seconds\": 1, "           \
    "\"keyframes\": [{\"at_seconds\": 0, \"mix\": \"busy\", \"utilisation\": 0.5}]}}}"
    assert_int_equal(read_scenario(MIX("", "1"), &scenario), -EINVAL);
    assert_string_equal(errors.items[0].text,
                        "loads.l.keyframes[0]: needs frequency_hz at the top level: a mix is per cycle");
    assert_int_equal(read_scenario(MIX(", \"frequency_hz\": 1e9", "1001"), &scenario), -EINVAL);
    assert_string_equal(errors.items[0].text, "mixes.busy.E: must be between 0 and 1000");
    assert_int_equal(read_scenario(MIX(", \"frequency_hz\": 1e11", "100"), &scenario), -EINVAL);
    assert_non_null(strstr(errors.items[0].text, "mixes.busy.E: makes 5e+12 events a second"));
    assert_int_equal(read_scenario(MIX(", \"frequency_hz\": 1e9", "4"), &scenario), 0);
    assert_true(scenario->loads[0].keyframes[0].rates[0].per_second == 2e9);
    scenario_free(scenario);
}

// A mix of 500 events in 200 keyframes of each of 2 loads would be 200,000 rates.
static void test_expanding_mixes_is_bounded(void **state) {
    (void)state;
    struct scenario *scenario;
    size_t size = 200000, length = 0;
    char *text = malloc(size);
    assert_non_null(text);
    length += (size_t)snprintf(text, size, "{" HOST ", \"frequency_hz\": 1, \"mixes\": {\"m\": {");
    for (int i = 0; i < 500; i++)
        length += (size_t)snprintf(text + length, size - length, "%s\"E%d\": 1", i > 0 ? "," : "", i);
    length += (size_t)snprintf(text + length, size - length, "}}, \"loads\": {");
    for (int load = 0; load < 2; load++) {
        length += (size_t)snprintf(text + length, size - length,
                                   "%s\"l%d\": {\"period_seconds\": 1000, \"keyframes\": [", load > 0 ? "," : "", load);
        for (int i = 0; i < 200; i++)
            length +=
                (size_t)snprintf(text + length, size - length,
                                 "%s{\"at_seconds\": %d, \"mix\": \"m\", \"utilisation\": 1}", i > 0 ? "," : "", i);
        length += (size_t)snprintf(text + length, size - length, "]}");
    }
    (void)snprintf(text + length, size - length, "}}");
    assert_int_equal(read_scenario(text, &scenario), -EINVAL);
    assert_string_equal(errors.items[0].text,
                        "mixes.m: has too many events: 512 in a keyframe, and 131072 in all, are the limit");
    free(text);
}

// Checks what a mix means on the catalog's own formulas.
static void check_keyframe(const struct catalog *catalog, const struct scenario_keyframe *keyframe) {
    double counts[CATALOG_EVENTS_MAX] = {[CATALOG_CPU_SECONDS] = 1}, values[CATALOG_METRICS_MAX] = {0};
    for (size_t i = 0; i < keyframe->n_rates; i++) {
        int event = catalog_find_event(catalog, keyframe->rates[i].event);
        if (event < 0)
            fail_msg("%s is not in the spec", keyframe->rates[i].event);
        counts[event] = keyframe->rates[i].per_second;
    }
    for (size_t i = 0; i < catalog->n_metrics; i++) {
        const struct catalog_metric *metric = &catalog->metrics[i];
        if (strchr(metric->formula_text, '#')) // needs a fact that a simulated host lacks
            continue;
        values[i] = formula_evaluate(metric->formula, counts, values); // those that it is made of come before it
        double value = values[i] * metric->export_scale;
        bool is_share = strstr(metric->export_name, "ratio") != NULL;
        double most = is_share ? 1 : strstr(metric->export_name, "mpki") ? 100 : 8;
        if (!(isfinite(value) && value > 0 && value < most))
            fail_msg("%s is %g", metric->name, value);
    }
    double sum = 0;
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        sum += formula_evaluate(catalog->metrics[catalog->level1.categories[i].metric].formula, counts, NULL) / 100;
    assert_int_equal(catalog->level1.n_categories, 4);
    assert_true(fabs(sum - 1) < 1e-9);
}

// Halves of a pair that must not be larger than the other: what misses has looked up first.
static void check_hierarchy(const struct scenario_keyframe *keyframe) {
    static const char *const pairs[][2] = {
        {"OP_RETIRED", "OP_SPEC"},
        {"INST_RETIRED", "INST_SPEC"},
        {"BR_MIS_PRED_RETIRED", "BR_RETIRED"},
        {"BR_MIS_PRED_RETIRED", "BR_MIS_PRED"},
        {"L1D_CACHE_REFILL", "L1D_CACHE"},
        {"L1I_CACHE_REFILL", "L1I_CACHE"},
        {"L2D_CACHE_REFILL", "L2D_CACHE"},
        {"LL_CACHE_RD", "L2D_CACHE_REFILL"},
        {"LL_CACHE_MISS_RD", "LL_CACHE_RD"},
        {"L1D_TLB_REFILL", "L1D_TLB"},
        {"L1I_TLB_REFILL", "L1I_TLB"},
        {"L2D_TLB_REFILL", "L2D_TLB"},
        {"DTLB_WALK", "L1D_TLB_REFILL"},
        {"ITLB_WALK", "L1I_TLB_REFILL"},
        {"STALL_FRONTEND", "CPU_CYCLES"},
        {"STALL_BACKEND", "CPU_CYCLES"},
    };
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        double values[2] = {-1, -1};
        for (size_t i = 0; i < keyframe->n_rates; i++)
            for (size_t half = 0; half < 2; half++)
                if (strcmp(keyframe->rates[i].event, pairs[p][half]) == 0)
                    values[half] = keyframe->rates[i].per_second;
        if (!(values[0] >= 0 && values[0] <= values[1]))
            fail_msg("%s %g, %s %g", pairs[p][0], values[0], pairs[p][1], values[1]);
    }
}

static void check_against_spec(const char *path, size_t n_events) {
    struct scenario *scenario = load_good(path);
    struct catalog *catalog = NULL;
    assert_int_equal(spec_json_load("specs/neoverse-v2.json", NULL, &errors, &catalog), 0);
    assert_string_equal(scenario->spec, catalog->product.spec);
    for (size_t i = 0; i < scenario->n_loads; i++)
        for (size_t k = 0; k < scenario->loads[i].n_keyframes; k++) {
            assert_int_equal(scenario->loads[i].keyframes[k].n_rates, n_events);
            check_keyframe(catalog, &scenario->loads[i].keyframes[k]);
            check_hierarchy(&scenario->loads[i].keyframes[k]);
        }
    catalog_free(catalog);
    scenario_free(scenario);
}

static void test_a_missing_or_huge_file_is_refused_in_words(void **state) {
    (void)state;
    char path[] = P_tmpdir "/test_scenario_json.XXXXXX";
    struct scenario *scenario = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (4 << 20) + 1), 0);
    close(fd);
    memset(&errors, 0, sizeof errors);
    assert_int_equal(scenario_json_load(path, &errors, &scenario), -EINVAL);
    assert_string_equal(errors.items[0].text, "is larger than 4194304 bytes");
    unlink(path);
    assert_int_equal(scenario_json_load(path, &errors, &scenario), -EINVAL);
    assert_string_equal(errors.items[1].text, "cannot be opened: No such file or directory");
    assert_null(scenario);
}

static void test_the_demos_mixes_are_plausible_on_every_metric(void **state) {
    (void)state;
    check_against_spec("scenarios/demo.json", 52);
    struct scenario *demo = load_good("scenarios/demo.json");
    assert_int_equal(scenario_n_cpus(demo), 64);
    assert_int_equal(demo->sockets, 2);
    struct cpuset all = {0};
    for (size_t i = 0; i < demo->n_assignments; i++)
        for (unsigned cpu = 0; cpu < 64; cpu++)
            if (cpuset_has(&demo->assignments[i].cpus, cpu))
                cpuset_add(&all, cpu);
    assert_int_equal(cpuset_count(&all), 64);
    scenario_free(demo);
}

static void test_the_steady_load_has_the_values_that_its_description_says(void **state) {
    (void)state;
    check_against_spec("tests/data/scenarios/steady.json", 52);
    struct scenario *steady = load_good("tests/data/scenarios/steady.json");
    struct catalog *catalog = NULL;
    assert_int_equal(spec_json_load("specs/neoverse-v2.json", NULL, &errors, &catalog), 0);
    double counts[CATALOG_EVENTS_MAX] = {0};
    const struct scenario_keyframe *keyframe = &steady->loads[0].keyframes[0];
    for (size_t i = 0; i < keyframe->n_rates; i++)
        counts[catalog_find_event(catalog, keyframe->rates[i].event)] = keyframe->rates[i].per_second;
    const struct {
        const char *metric;
        double value;
    } wanted[] = {{"ipc", 1.5},        {"frontend_bound", 24},  {"bad_speculation", 7.75},
                  {"retiring", 33.75}, {"backend_bound", 34.5}, {"l1d_cache_mpki", 10}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int metric = catalog_find_metric(catalog, wanted[i].metric);
        assert_true(fabs(formula_evaluate(catalog->metrics[metric].formula, counts, NULL) - wanted[i].value) < 1e-9);
    }
    assert_int_equal(scenario_n_cpus(steady), 8);
    assert_int_equal(steady->general_counters, 6);
    catalog_free(catalog);
    scenario_free(steady);
}

static void test_the_steady_software_load_names_the_software_specs_events(void **state) {
    (void)state;
    struct scenario *scenario = load_good("tests/data/scenarios/steady-software.json");
    struct catalog *catalog = NULL;
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &catalog), 0);
    assert_string_equal(scenario->spec, catalog->product.spec);
    const struct scenario_keyframe *keyframe = &scenario->loads[0].keyframes[0];
    assert_int_equal(keyframe->n_rates, 6);
    for (size_t i = 0; i < keyframe->n_rates; i++)
        assert_true(catalog_find_event(catalog, keyframe->rates[i].event) > CATALOG_CPU_SECONDS);
    catalog_free(catalog);
    scenario_free(scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_scenario_is_read_and_its_mixes_become_rates),
        cmocka_unit_test(test_rivals_of_every_kind_are_read),
        cmocka_unit_test(test_a_pmus_traps_are_read_and_absent_by_default),
        cmocka_unit_test(test_what_a_host_filters_is_a_list_of_events),
        cmocka_unit_test(test_a_jump_of_counts_says_by_how_much),
        cmocka_unit_test(test_mistakes_are_refused_with_their_path),
        cmocka_unit_test(test_core_types_are_scenarios_in_a_list),
        cmocka_unit_test(test_mistakes_in_core_types_are_refused),
        cmocka_unit_test(test_the_shipped_hybrid_host_has_three_core_types),
        cmocka_unit_test(test_boxes_are_cores_with_one_thread),
        cmocka_unit_test(test_a_mix_needs_a_frequency_and_sane_numbers),
        cmocka_unit_test(test_expanding_mixes_is_bounded),
        cmocka_unit_test(test_a_missing_or_huge_file_is_refused_in_words),
        cmocka_unit_test(test_the_demos_mixes_are_plausible_on_every_metric),
        cmocka_unit_test(test_the_steady_load_has_the_values_that_its_description_says),
        cmocka_unit_test(test_the_steady_software_load_names_the_software_specs_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
