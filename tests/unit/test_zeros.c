// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <glob.h>

#include "config/spec/earlier_json.h"
#include "config/spec/spec_json.h"
#include "core/counts/zeros.h"
#include "core/host/identify.h"
#include "core/plan/plan_alternative.h"

// What a spec knows of zeros, what follows from it, and what earlier versions' specs said.

enum { CYCLES = 1, BRANCHES, MISSES, FAR_MISSES, RARE, NAMED, ELSEWHERE, DEAD_HERE };

static const char SPEC[] =
    "{\"product_configuration\": {\"product_name\": \"Toy\"}, \"events\": {"
    "\"CYCLES\": {\"code\": \"0x11\", \"topdownd\": {\"must_count\": true}},"
    "\"BRANCHES\": {\"code\": \"0x21\", \"topdownd\": {\"must_count\": true}},"
    "\"MISSES\": {\"code\": \"0x03\", \"topdownd\": {\"must_count\": true}},"
    "\"FAR_MISSES\": {\"code\": \"0x37\", \"topdownd\": {\"must_count\": true}},"
    "\"RARE\": {\"code\": \"0x70\"},"
    "\"NAMED\": {\"code\": 3, \"topdownd\": {\"pmu\": \"hw_cache\"}},"
    "\"ELSEWHERE\": {\"code\": 1, \"topdownd\": {\"pmu\": \"msr\"}},"
    "\"DEAD_HERE\": {\"code\": \"0x71\", \"topdownd\": {\"dead_on\": ["
    "{\"cpus\": [\"0x410fd0c0\"], \"why\": \"an erratum\", \"source\": \"A-1\"},"
    "{\"cpus\": [\"0x411fd0c0/0xfffffff0\", \"GenuineIntel-6-55-[01234]\"], \"why\": \"another\", \"source\": "
    "\"A-2\"}]}}},"
    "\"metrics\": {"
    "\"far\": {\"title\": \"F\", \"formula\": \"FAR_MISSES / CYCLES\", \"units\": \"per cycle\", \"topdownd\": "
    "{\"definition\": \"far\","
    "\"alternatives\": [{\"formula\": \"MISSES / CYCLES\", \"definition\": \"near\"}]}},"
    "\"dying\": {\"title\": \"D\", \"formula\": \"DEAD_HERE / CYCLES\", \"units\": \"per cycle\", \"topdownd\": "
    "{\"definition\": \"one\","
    "\"alternatives\": [{\"formula\": \"RARE / CYCLES\", \"definition\": \"other\"}]}},"
    "\"taken\": {\"title\": \"B\", \"formula\": \"BRANCHES / CYCLES\", \"units\": \"per cycle\"},"
    "\"users\": {\"title\": \"U\", \"formula\": \"BRANCHES:u / CYCLES\", \"units\": \"per cycle\"}},"
    "\"groups\": {\"metrics\": {\"General\": {\"metrics\": [\"far\", \"dying\", \"taken\", \"users\"]}}},"
    "\"topdownd\": {\"vendor\": \"Arm\", \"pmu\": \"armv*\", \"counters\": {\"general\": 6}}}";

static struct catalog *load_for(const char *cpuid) {
    struct environment environment;
    struct errors errors = {0};
    struct catalog *catalog;
    environment_init(&environment);
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", cpuid);
    if (spec_json_parse("toy.json", SPEC, sizeof SPEC - 1, &environment, &errors, &catalog) < 0)
        fail_msg("%s", errors.items[0].text);
    return catalog;
}

// ---- what must count ----

static const uint8_t *unknown(void) {
    static const uint8_t support[32]; // PLAN_SUPPORT_UNKNOWN
    return support;
}

static void note(struct zeros *zeros, unsigned event, uint64_t count, uint64_t cycles) {
    zeros_note(zeros, (const unsigned[]){CYCLES, event}, (const uint64_t[]){cycles, count}, 2);
    zeros_judge(zeros);
}

static void test_a_zero_is_a_zero_but_of_what_must_count(void **state) {
    (void)state;
    struct catalog *catalog = load_for("");
    struct zeros *zeros = zeros_new(catalog);
    assert_non_null(zeros);
    note(zeros, RARE, 0, UINT64_MAX / 4);
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_TRUE);
    assert_false(zeros_dead(zeros, unknown(), RARE));
    assert_int_equal(zeros_of(zeros, unknown(), BRANCHES), ZERO_SILENT); // from the first moment on
    assert_false(zeros_dead(zeros, unknown(), BRANCHES));
    note(zeros, BRANCHES, 0, ZEROS_BESIDE - 1);
    assert_false(zeros_dead(zeros, unknown(), BRANCHES));
    note(zeros, BRANCHES, 0, 1);
    assert_true(zeros_dead(zeros, unknown(), BRANCHES));
    int user = catalog_find_event(catalog, "BRANCHES:u"); // a host may run guests and the kernel alone
    assert_true(user > 0);
    assert_false(catalog->events[user].must_count);
    zeros_free(zeros);
    catalog_free(catalog);
}

static void test_a_filter_is_seen_by_what_must_count_and_does_not_beside_others(void **state) {
    (void)state;
    struct catalog *catalog = load_for("");
    struct zeros *zeros = zeros_new(catalog);
    assert_non_null(zeros);
    note(zeros, BRANCHES, 0, 0); // an idle host is no evidence
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_TRUE);
    note(zeros, FAR_MISSES, 0, ZEROS_EVIDENCE); // nor is what the spec's next definition does without
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_TRUE);
    note(zeros, BRANCHES, 0, ZEROS_EVIDENCE - 1); // nor is a moment
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_TRUE);
    note(zeros, BRANCHES, 0, 1);
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_FILTERED);
    note(zeros, RARE, 0, ZEROS_BESIDE);
    assert_true(zeros_dead(zeros, unknown(), RARE)); // so that another definition may take its metric's place
    uint8_t support[32] = {[RARE] = PLAN_SUPPORTED};
    assert_int_equal(zeros_of(zeros, support, RARE), ZERO_TRUE);
    struct zeros *next = zeros_new(catalog); // another plan knows it
    assert_non_null(next);
    zeros_continue(next, zeros);
    assert_int_equal(zeros_of(next, unknown(), RARE), ZERO_FILTERED);
    note(next, BRANCHES, 1, 1000);
    assert_int_equal(zeros_of(next, unknown(), RARE), ZERO_TRUE);
    zeros_free(next);
    zeros_free(zeros);
    catalog_free(catalog);
}

// Events that the kernel names count on the core's own counters; the events of another PMU have a filter of their own.
static void test_a_filter_is_that_of_a_pmu_and_of_the_events_that_the_kernel_names_there(void **state) {
    (void)state;
    struct catalog *catalog = load_for("");
    struct zeros *zeros = zeros_new(catalog);
    assert_non_null(zeros);
    assert_string_equal(catalog->events[NAMED].name, "NAMED");
    assert_true(catalog->events[NAMED].code.pmu > 0 && catalog->events[ELSEWHERE].code.pmu > 0);
    note(zeros, BRANCHES, 0, ZEROS_EVIDENCE);
    assert_int_equal(zeros_of(zeros, unknown(), RARE), ZERO_FILTERED);
    assert_int_equal(zeros_of(zeros, unknown(), NAMED), ZERO_FILTERED);
    assert_int_equal(zeros_of(zeros, unknown(), ELSEWHERE), ZERO_TRUE);
    zeros_free(zeros);
    catalog_free(catalog);
}

// ---- what is known to be dead ----

static const char *dead_on(const char *cpuid, char out[64]) {
    struct catalog *catalog = load_for(cpuid);
    const char *known = catalog->events[DEAD_HERE].known_dead;
    (void)snprintf(out, 64, "%s", known ? known : "");
    int metric = catalog_find_metric(catalog, "dying");
    const struct catalog_metric *chosen =
        &catalog->metrics[plan_alternative_choose(catalog, (unsigned)metric, unknown(), NULL)];
    assert_string_equal(chosen->definition, known ? "other" : "one");
    catalog_free(catalog);
    return out;
}

static void test_an_event_is_dead_on_the_cpus_that_its_entries_name(void **state) {
    (void)state;
    char text[64];
    assert_string_equal(dead_on("0x00000000410fd0c0", text), "an erratum (A-1)");
    assert_string_equal(dead_on("0x00000000410fd0c1", text), ""); // the next revision
    assert_string_equal(dead_on("0x00000000411fd0c0", text), "another (A-2)");
    assert_string_equal(dead_on("0x00000000411fd0c7", text), "another (A-2)"); // every revision of that variant
    assert_string_equal(dead_on("0x00000000412fd0c0", text), "");
    assert_string_equal(dead_on("0x00000000411fd0d0", text), "");
    assert_string_equal(dead_on("GenuineIntel-6-55-4", text), "another (A-2)");
    assert_string_equal(dead_on("GenuineIntel-6-55-5", text), "");
    assert_string_equal(dead_on("", text), "");
}

static void test_a_metric_of_a_dead_event_is_not_plannable_and_says_why(void **state) {
    (void)state;
    struct environment environment;
    struct errors errors = {0};
    struct catalog *catalog;
    environment_init(&environment);
    assert_int_equal(spec_json_load("specs/ampereone.json", &environment, &errors, &catalog), 0);
    const struct plan_selection selection = {.group = (unsigned)catalog_find_group(catalog, "Cycle_Accounting")};
    const struct plan_request request = {
        .catalog = catalog, .general_counters = 6, .selections = &selection, .n_selections = 1, .slot_ns = 200000000};
    struct plan *plan;
    assert_int_equal(plan_new(&request, &plan), 0);
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strstr(plan->metrics[m].reason, "STALL_FRONTEND is dead on this CPU: "))
            n += strstr(plan->metrics[m].reason, "erratum AC03_CPU_29") != NULL;
    assert_int_equal(n, 1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_lists_of_cpus_are_checked(void **state) {
    (void)state;
    struct fault fault;
    static const char *const good[] = {"0x410fd0c1", "0x410fd0c0/0xff0ffff0", "GenuineIntel-6-8F",
                                       "AuthenticAMD-25-.*"};
    static const char *const bad[] = {"0x410fd0",    "0x410fd0c1/",     "0x410fd0c1/0xff", "0x410fd0c1/0xff0ffff0",
                                      "0x410fd0c12", "GenuineIntel-6-("};
    for (size_t i = 0; i < N_OF(good); i++)
        assert_int_equal(cpu_check_entry(good[i], &fault), 0);
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(cpu_check_entry(bad[i], &fault), -EINVAL);
    assert_false(cpu_is_listed("0x410fd0c1", "GenuineIntel-6-8F-4"));
    assert_false(cpu_is_listed(".*", "0x00000000410fd0c1"));
}

// ---- the shipped specs ----

// Cycles and instructions, at least, tell on every CPU whether something filters.
static void test_every_spec_of_cores_says_what_must_count(void **state) {
    (void)state;
    glob_t specs;
    assert_int_equal(glob("specs/*.json", 0, NULL, &specs), 0);
    for (size_t i = 0; i < specs.gl_pathc; i++) {
        struct errors errors = {0};
        struct catalog *catalog;
        if (strstr(specs.gl_pathv[i], "/cpus.json") || strstr(specs.gl_pathv[i], "/software.json"))
            continue;
        assert_int_equal(spec_json_load(specs.gl_pathv[i], NULL, &errors, &catalog), 0);
        size_t n = 0;
        for (size_t e = 0; e < catalog->n_events; e++) {
            n += catalog->events[e].must_count;
            assert_false(catalog->events[e].may_be_zero);
        }
        if (n < 5)
            fail_msg("%s: %zu events must count", specs.gl_pathv[i], n);
        catalog_free(catalog);
    }
    globfree(&specs);
}

// ---- earlier versions ----

// Hashes of these catalogs by the version before, whose specs said may_be_zero.
static void test_the_marks_of_earlier_versions_give_their_hashes(void **state) {
    (void)state;
    static const char before[] = "\"umask\":\t\"0x10\", \"may_be_zero\": true", now[] = "\"umask\":\t\"0x10\"";
    struct errors errors = {0};
    struct catalog_builder *builder;
    struct catalog *old;
    char *text;
    assert_int_equal(spec_json_print("specs/sapphire-rapids.json", &errors, &text), 0);
    char *event = strstr(text, "\"INT_MISC.UOP_DROPPING\":\t{"), *place = event ? strstr(event, now) : NULL;
    assert_non_null(place);
    char *changed = calloc(1, strlen(text) + sizeof before);
    assert_non_null(changed);
    memcpy(changed, text, (size_t)(place - text));
    strcat(changed, before);
    strcat(changed, place + strlen(now));
    if (spec_json_parse("sapphire-rapids.json", changed, strlen(changed), NULL, &errors, &old) < 0)
        fail_msg("%s", errors.items[0].text);
    assert_int_equal(spec_json_read("specs/sapphire-rapids.json", NULL, &errors, &builder), 0);
    const struct catalog *catalog = catalog_builder_catalog(builder);
    uint64_t today = catalog_hash(catalog);
    assert_true(catalog_hash(old) != today);
    assert_int_equal(earlier_json_mark("specs/neutral/earlier.json", true, &errors, builder), 0);
    assert_true(catalog_hash(catalog) == catalog_hash(old));
    assert_int_equal(earlier_json_mark("specs/neutral/earlier.json", false, &errors, builder), 0);
    assert_true(catalog_hash(catalog) == today);
    assert_int_equal(earlier_json_mark("specs/neutral/nothing.json", true, &errors, builder), 0);
    assert_true(catalog_hash(catalog) == today);
    catalog_builder_free(builder);
    catalog_free(old);
    free(changed);
    free(text);
}

// Neither what must count nor what is dead is part of the hash: values of what is recorded do not change by it.
static void test_what_a_spec_knows_of_zeros_leaves_its_hash(void **state) {
    (void)state;
    struct catalog *dead = load_for("0x00000000410fd0c0"), *alive = load_for("0x00000000410fd0c1");
    assert_true(catalog_hash(dead) == catalog_hash(alive));
    alive->events[RARE].must_count = true;
    assert_true(catalog_hash(dead) == catalog_hash(alive));
    catalog_free(alive);
    catalog_free(dead);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zero_is_a_zero_but_of_what_must_count),
        cmocka_unit_test(test_a_filter_is_seen_by_what_must_count_and_does_not_beside_others),
        cmocka_unit_test(test_a_filter_is_that_of_a_pmu_and_of_the_events_that_the_kernel_names_there),
        cmocka_unit_test(test_an_event_is_dead_on_the_cpus_that_its_entries_name),
        cmocka_unit_test(test_a_metric_of_a_dead_event_is_not_plannable_and_says_why),
        cmocka_unit_test(test_lists_of_cpus_are_checked),
        cmocka_unit_test(test_every_spec_of_cores_says_what_must_count),
        cmocka_unit_test(test_the_marks_of_earlier_versions_give_their_hashes),
        cmocka_unit_test(test_what_a_spec_knows_of_zeros_leaves_its_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
