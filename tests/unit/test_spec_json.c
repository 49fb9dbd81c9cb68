// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_json.h"

// A small spec in pieces, so that each test can put one invalid piece into an otherwise valid file.
#define PRODUCT "\"product_configuration\": {\"product_name\": \"Test Core\", \"implementer\": \"0x41\"}"
#define EVENTS                                                                                                         \
    "\"events\": {\"CYCLES\": {\"code\": \"0x0011\", \"title\": \"Cycles\", \"accesses\": [\"PMU\", \"ETE\"]},"        \
    "\"WORK\": {\"code\": 8}, \"SLOTS_A\": {\"code\": \"61\"}, \"SLOTS_B\": {\"code\": \"0x3E\"},"                     \
    "\"TRACE_ONLY\": {\"code\": \"0x99\", \"accesses\": [\"ETE\"]}}"
#define METRIC(name, formula, units)                                                                                   \
    "\"" name "\": {\"title\": \"T\", \"description\": \"D\", \"formula\": \"" formula "\", \"units\": \"" units "\"}"
#define METRICS                                                                                                        \
    "\"metrics\": {" METRIC("ipc", "WORK / CYCLES", "per cycle") "," METRIC(                                           \
        "part_a", "100 * SLOTS_A / (CYCLES * 8)",                                                                      \
        "percent of slots") "," METRIC("part_b", "100 * SLOTS_B / (CYCLES * 8)", "percent of slots") "}"
#define GROUPS                                                                                                         \
    "\"groups\": {\"metrics\": {\"Split\": {\"title\": \"S\", \"metrics\": [\"part_a\", \"part_b\"]},"                 \
    "\"General\": {\"title\": \"G\", \"metrics\": [\"ipc\"]}}}"
#define STAGES                                                                                                         \
    "\"methodologies\": {\"topdown_methodology\": {\"metric_grouping\": {\"stage_1\": [\"Split\", \"General\"],"       \
    "\"stage_2\": [\"General\"]}}}"

static struct errors errors;

// Reads `text`; the errors are in `errors`.
static int read_spec(const char *text, struct catalog **catalog) {
    memset(&errors, 0, sizeof errors);
    *catalog = NULL;
    return spec_json_parse("folder/test.json", text, strlen(text), NULL, &errors, catalog);
}

static struct catalog *expect_good(const char *text) {
    struct catalog *catalog;
    int r = read_spec(text, &catalog);
    for (size_t i = 0; i < errors.n; i++)
        print_error("%s\n", errors.items[i].text);
    assert_int_equal(r, 0);
    assert_int_equal(errors.n, 0);
    return catalog;
}

// The text is refused, and the first error says `wanted`.
static void expect_error(const char *text, const char *wanted) {
    struct catalog *catalog;
    assert_int_equal(read_spec(text, &catalog), -EINVAL);
    assert_null(catalog);
    assert_true(errors.n > 0);
    assert_string_equal(errors.items[0].file, "folder/test.json");
    if (!strstr(errors.items[0].text, wanted))
        fail_msg("got \"%s\", wanted \"%s\"", errors.items[0].text, wanted);
}

static void test_a_small_spec_becomes_a_catalog(void **state) {
    (void)state;
    struct catalog *catalog = expect_good("{" PRODUCT "," EVENTS "," METRICS "," GROUPS "," STAGES "}");
    assert_string_equal(catalog->product.spec, "test");
    assert_string_equal(catalog->product.vendor, "Arm");
    assert_string_equal(catalog->product.name, "Test Core");
    assert_string_equal(catalog->product.microarchitecture, "test-core");
    assert_string_equal(catalog->product.pmu, "armv*");
    assert_int_equal(catalog->general_counters, 0);
    assert_false(catalog->level1.present);
    assert_int_equal(catalog->n_events, 5);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "CYCLES")].code.config, 0x11);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "WORK")].code.config, 8);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "SLOTS_A")].code.config, 61);
    assert_int_equal(catalog_find_event(catalog, "TRACE_ONLY"), -1);
    assert_string_equal(catalog->metrics[0].title, "T");
    assert_string_equal(catalog->metrics[0].help, "D");
    catalog_free(catalog);
}

static void test_the_stages_of_the_methodology_become_groups(void **state) {
    (void)state;
    struct catalog *catalog = expect_good("{" PRODUCT "," EVENTS "," METRICS "," GROUPS "," STAGES "}");
    assert_int_equal(catalog->n_groups, 4);
    const struct catalog_group *stage = &catalog->groups[catalog_find_group(catalog, "stage_1")];
    assert_int_equal(stage->n_metrics, 3);
    assert_string_equal(catalog->metrics[stage->metrics[0]].name, "part_a");
    assert_string_equal(catalog->metrics[stage->metrics[2]].name, "ipc");
    catalog_free(catalog);
}

static void test_a_group_called_like_a_stage_stays_what_it_is(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(
        "{" PRODUCT "," EVENTS "," METRICS
        ", \"groups\": {\"metrics\": {\"Stage1\": {\"metrics\": [\"ipc\"]}, \"Split\": {\"metrics\": [\"part_a\"]}, "
        "\"General\": {\"metrics\": [\"ipc\"]}}}," STAGES "}");
    const struct catalog_group *stage = &catalog->groups[catalog_find_group(catalog, "stage_1")];
    assert_string_equal(stage->name, "Stage1");
    assert_int_equal(stage->n_metrics, 1);
    catalog_free(catalog);
}

#define OURS_SPLIT "\"split\": [[\"CYCLES\", \"SLOTS_A\"], [\"CYCLES\", \"SLOTS_B\"]]"
#define OURS(level1_more)                                                                                              \
    "\"topdownd\": {\"vendor\": \"Acme\", \"microarchitecture\": \"anvil\", \"pmu\": \"cpu\","                         \
    "\"counters\": {\"general\": 2, \"fixed\": [\"CYCLES\"]},"                                                         \
    "\"level1\": {\"pipeline_slots\": \"CYCLES * 8\", \"width\": 8,"                                                   \
    "\"categories\": {\"retiring\": \"part_a\", \"frontend_bound\": \"part_b\"}" level1_more "}}"

static void test_our_extensions_are_read(void **state) {
    (void)state;
    struct catalog *catalog = expect_good("{" PRODUCT "," EVENTS "," METRICS "," GROUPS "," OURS("," OURS_SPLIT) "}");
    assert_string_equal(catalog->product.vendor, "Acme");
    assert_string_equal(catalog->product.microarchitecture, "anvil");
    assert_string_equal(catalog->product.pmu, "cpu");
    assert_int_equal(catalog->general_counters, 2);
    assert_true(catalog->events[catalog_find_event(catalog, "CYCLES")].fixed);
    assert_false(catalog->events[catalog_find_event(catalog, "WORK")].fixed);
    assert_true(catalog->level1.present);
    assert_true(catalog->level1.width == 8);
    assert_int_equal(catalog->level1.n_categories, 2);
    assert_int_equal(catalog->level1.n_parts, 2);
    catalog_free(catalog);
}

// Then nothing is known of the most slots that there can be.
static void test_level_1_needs_no_width(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                    ", \"topdownd\": {\"level1\": {\"pipeline_slots\": \"CYCLES * 8\", \"categories\": "
                    "{\"retiring\": \"part_a\", \"frontend_bound\": \"part_b\"}}}}");
    assert_true(catalog->level1.present && catalog->level1.width == 0);
    catalog_free(catalog);
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                 ", \"topdownd\": {\"level1\": {\"pipeline_slots\": \"CYCLES * 8\", \"width\": 0, \"categories\": "
                 "{\"retiring\": \"part_a\", \"frontend_bound\": \"part_b\"}}}}",
                 "topdownd.level1.width: must be between 1 and 64");
}

static void test_a_spec_does_not_say_which_cpus_it_is_for(void **state) {
    (void)state; // specs/cpus.json does
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"match\": {\"generic\": true}}}",
                 "topdownd.match: there is no such key");
}

static void test_a_metric_can_have_a_name_a_definition_a_threshold_and_advice(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good("{" PRODUCT "," EVENTS ", \"metrics\": {\"work\": {\"title\": \"T\", \"formula\": \"WORK / "
                    "cpu_seconds\", \"units\": \"u\", \"topdownd\": "
                    "{\"name\": \"work_per_second\", \"definition\": \"retired\", \"rate_threshold\": 100, "
                    "\"rate_advice\": \"look\"}}},"
                    "\"groups\": {\"metrics\": {}}}");
    assert_string_equal(catalog->metrics[0].export_name, "work_per_second");
    assert_true(catalog->metrics[0].rate_threshold == 100);
    assert_string_equal(catalog->metrics[0].rate_advice, "look");
    assert_string_equal(catalog->metrics[0].definition, "retired");
    assert_int_equal(catalog->metrics[0].formula->variables[0], CATALOG_CPU_SECONDS);
    catalog_free(catalog);
}

static void test_fields_that_a_vendor_adds_are_ignored_and_ours_are_not(void **state) {
    (void)state;
    catalog_free(expect_good("{" PRODUCT ", \"news\": [1, {\"x\": null}]," EVENTS "," METRICS "," GROUPS "}"));
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"vendr\": \"x\"}}",
                 "topdownd.vendr: there is no such key; did you mean vendor?");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"counters\": {\"genral\": 1, "
                 "\"general\": 2}}}",
                 "topdownd.counters.genral: there is no such key; did you mean general?");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS "," OURS(", \"parts\": []") "}",
                 "topdownd.level1.parts: there is no such key");
    expect_error("{" PRODUCT "," EVENTS ", \"metrics\": {\"m\": {\"title\": \"\", \"formula\": \"WORK\", \"units\": "
                 "\"\", \"topdownd\": {\"nam\": \"x\"}}}," GROUPS "}",
                 "metrics.m.topdownd.nam: there is no such key; did you mean name?");
}

static void test_an_unknown_event_is_named_with_metric_and_suggestion(void **state) {
    (void)state;
    expect_error("{" PRODUCT "," EVENTS ", \"metrics\": {" METRIC("m", "WORK / CYCLS", "u") "}," GROUPS "}",
                 "metrics.m.formula: needs the event CYCLS, which is not among the events; did you mean CYCLES?");
}

static void test_an_event_that_no_pmu_counts_is_left_out_and_explained(void **state) {
    (void)state;
    expect_error("{" PRODUCT "," EVENTS ", \"metrics\": {" METRIC("m", "TRACE_ONLY / CYCLES", "u") "}," GROUPS "}",
                 "metrics.m.formula: needs the event TRACE_ONLY, which no PMU counts");
}

static void test_what_is_missing_or_of_a_wrong_type_is_named_by_its_path(void **state) {
    (void)state;
    const struct {
        const char *text, *wanted;
    } cases[] = {
        {"{" EVENTS "," METRICS "," GROUPS "}", "product_configuration: is missing"},
        {"{\"product_configuration\": {\"implementer\": \"0x41\"}}", "product_configuration.product_name: is missing"},
        {"{\"product_configuration\": {\"product_name\": \"x\"}}", "product_configuration: has no implementer"},
        {"{\"product_configuration\": {\"product_name\": \"x\", \"implementer\": \"y\", \"major_revision\": []}}",
         "product_configuration.major_revision: must be text in quotes or a number"},
        {"{" PRODUCT "}", "events: is missing"},
        {"{" PRODUCT ", \"events\": []}", "events: must be an object"},
        {"{" PRODUCT ", \"events\": {\"A\": 1}}", "events.A: must be an object"},
        {"{" PRODUCT ", \"events\": {\"A\": {}}}", "events.A: has no code"},
        {"{" PRODUCT ", \"events\": {\"A\": {\"code\": null}}}", "events.A: has no code"},
        {"{" PRODUCT ", \"events\": {\"A\": {\"code\": 1, \"accesses\": \"PMU\"}}}",
         "events.A.accesses: must be a list"},
        {"{" PRODUCT ", \"events\": {\"A\": {\"code\": 1, \"accesses\": [\"PMU\", 1]}}}",
         "events.A.accesses[1]: must be text in quotes"},
        {"{" PRODUCT "," EVENTS "}", "metrics: is missing"},
        {"{" PRODUCT "," EVENTS ", \"metrics\": {\"m\": {\"title\": \"\", \"units\": \"\"}}}",
         "metrics.m.formula: is missing"},
        {"{" PRODUCT "," EVENTS ", \"metrics\": {\"m\": {\"title\": 1, \"formula\": \"WORK\", \"units\": \"\"}}}",
         "metrics.m.title: must be text in quotes"},
        {"{" PRODUCT "," EVENTS "," METRICS "}", "groups: is missing"},
        {"{" PRODUCT "," EVENTS "," METRICS ", \"groups\": {}}", "groups.metrics: is missing"},
        {"{" PRODUCT "," EVENTS "," METRICS ", \"groups\": {\"metrics\": {\"G\": {}}}}",
         "groups.metrics.G.metrics: is missing"},
        {"{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"counters\": {\"general\": 1.5}}}",
         "topdownd.counters.general: must be a whole number"},
        {"{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"counters\": {\"general\": 1e999}}}",
         "topdownd.counters.general: must be a number"},
        {"{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"counters\": {\"general\": -1}}}",
         "topdownd.counters.general: must be between 0 and 64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, cases[i].wanted);
}

static void test_codes_are_hexadecimal_or_decimal_and_nothing_else(void **state) {
    (void)state;
    const char *const wrong[] = {
        "\"\"",    "\"0x\"", "\"0xG1\"", "\"-1\"", "\" 1\"", "\"1 \"", "\"0x1FFFFFFFFFFFFFFFF\"",
        "\"1e3\"", "-1",     "1.5",      "true",   "[]",     "1e300"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "{" PRODUCT ", \"events\": {\"A\": {\"code\": %s}}}", wrong[i]);
        expect_error(text, "events.A.code: is not an event code");
    }
    struct catalog *catalog =
        expect_good("{" PRODUCT ", \"events\": {\"A\": {\"code\": \"0xFFFFFFFFFFFFFFFF\"}, \"B\": "
                    "{\"code\": 0}}, \"metrics\": {}, \"groups\": {\"metrics\": {}}}");
    assert_true(catalog->events[1].code.config == UINT64_MAX);
    assert_true(catalog->events[2].code.config == 0);
    catalog_free(catalog);
}

static void test_duplicates_are_refused_wherever_they_stand(void **state) {
    (void)state;
    expect_error("{" PRODUCT "," PRODUCT "," EVENTS "," METRICS "," GROUPS "}",
                 "the key \"product_configuration\" stands twice");
    expect_error("{" PRODUCT ", \"events\": {\"A\": {\"code\": 1}, \"B\": {\"code\": 2}, \"A\": {\"code\": 3}}}",
                 "events: the key \"A\" stands twice");
    expect_error("{" PRODUCT ", \"x\": [1, [{\"a\": 1, \"a\": 2}]]}", "x[1][0]: the key \"a\" stands twice");
    expect_error("{" PRODUCT "," EVENTS "," METRICS
                 ", \"groups\": {\"metrics\": {\"G\": {\"metrics\": [\"ipc\", \"part_a\", \"ipc\"]}}}}",
                 "groups.metrics.G.metrics: \"ipc\" stands twice");
    expect_error("{" PRODUCT "," EVENTS "," METRICS
                 ", \"groups\": {\"metrics\": {\"Top_Down\": {\"metrics\": [\"ipc\"]}, \"topdown\": {\"metrics\": "
                 "[\"ipc\"]}}}}",
                 "groups.metrics.topdown: ");
}

static void test_several_errors_are_shown_at_once(void **state) {
    (void)state;
    expect_error("{" PRODUCT ", \"events\": {\"A\": {\"code\": \"x\"}, \"B\": {}, \"C\": {\"code\": 1, \"title\": 4}}}",
                 "events.A.code");
    assert_int_equal(errors.n, 3);
    assert_string_equal(errors.items[1].text, "events.B: has no code");
    assert_string_equal(errors.items[2].text, "events.C.title: must be text in quotes");
}

static void test_wrong_references_are_refused(void **state) {
    (void)state;
    expect_error("{" PRODUCT "," EVENTS "," METRICS ", \"groups\": {\"metrics\": {\"G\": {\"metrics\": [\"nope\"]}}}}",
                 "nope");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                 ", \"methodologies\": {\"topdown_methodology\": {\"metric_grouping\": {\"stage_1\": [\"Nope\"]}}}}",
                 "Nope");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                 ", \"topdownd\": {\"counters\": {\"general\": 1, \"fixed\": [\"NOPE\"]}}}",
                 "NOPE");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                 "," OURS(", \"split\": [[\"CYCLES\"], [\"CYCLES\"]]") "}",
                 "SLOTS_");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS ", \"topdownd\": {\"defaults\": [\"Nope\"]}}",
                 "topdownd: defaults names the metric group Nope, which the spec does not have");
    expect_error("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                 ", \"topdownd\": {\"level1\": {\"pipeline_slots\": \"CYCLES * 8\", \"width\": 8, \"categories\": "
                 "{\"retirin\": \"part_a\"}}}}",
                 "topdownd.level1.categories.retirin: there is no such key; did you mean retiring?");
}

#define SHARED(ours)                                                                                                   \
    "{" PRODUCT "," EVENTS ", \"groups\": {\"metrics\": {}}, \"metrics\": {"                                           \
    "\"user\": {\"title\": \"U\", \"formula\": \"2 * misses\", \"units\": \"\"},"                                      \
    "\"misses\": {\"title\": \"T\", \"formula\": \"SLOTS_A / CYCLES\", \"units\": \"per cycle\", \"topdownd\": {" ours \
    "}}}}"

static void test_a_metric_may_have_alternatives_under_its_name(void **state) {
    (void)state;
    struct catalog *catalog =
        expect_good(SHARED("\"definition\": \"a\", \"threshold\": \"misses > 2\", \"alternatives\": ["
                           "{\"formula\": \"SLOTS_B / CYCLES\", \"definition\": \"b\", \"title\": \"Other\"},"
                           "{\"formula\": \"WORK / CYCLES\", \"definition\": \"c\"}]"));
    int first = catalog_find_metric(catalog, "misses"), user = catalog_find_metric(catalog, "user");
    int second = catalog->metrics[first].alternative, third = catalog->metrics[second].alternative;
    assert_string_equal(catalog->metrics[second].name, "misses.b");
    assert_string_equal(catalog->metrics[third].name, "misses.c");
    assert_int_equal(catalog->metrics[third].alternative, -1);
    assert_true(first < second && second < third && third < user); // before what uses any of them
    assert_string_equal(catalog->metrics[second].title, "Other");
    for (int m = second; m >= 0; m = catalog->metrics[m].alternative) {
        assert_int_equal(catalog->metrics[m].stands_for, first);
        assert_string_equal(catalog->metrics[m].export_name, "misses");
        assert_string_equal(catalog->metrics[m].units, "per cycle");
        assert_string_equal(catalog->metrics[m].threshold_text, "misses > 2");
        assert_int_equal(catalog_metric_named(catalog, (unsigned)m), first);
    }
    assert_string_equal(catalog->metrics[third].title, "T");
    assert_int_equal(catalog_metric_named(catalog, (unsigned)user), user);
    catalog_free(catalog);
}

static void test_alternatives_need_definitions_of_their_own(void **state) {
    (void)state;
    expect_error(SHARED("\"alternatives\": [{\"formula\": \"WORK / CYCLES\", \"definition\": \"b\"}]"),
                 "metrics.misses.topdownd.alternatives[0]: an alternative needs a definition of its own, and so does");
    expect_error(SHARED("\"definition\": \"a\", \"alternatives\": [{\"formula\": \"WORK / CYCLES\", "
                        "\"definition\": \"a\"}]"),
                 "an alternative needs a definition of its own");
    expect_error(SHARED("\"definition\": \"a\", \"alternatives\": [{\"formula\": \"WORK / CYCLES\"}]"),
                 "metrics.misses.topdownd.alternatives[0].definition: is missing");
    expect_error(SHARED("\"definition\": \"a\", \"alternatives\": [{\"formula\": \"WRK / CYCLES\", "
                        "\"definition\": \"b\"}]"),
                 "did you mean WORK?");
    expect_error(SHARED("\"definition\": \"a\", \"alternatives\": [{\"formula\": \"user / CYCLES\", "
                        "\"definition\": \"b\"}]"),
                 "leads back to itself");
}

static void test_a_mistake_of_syntax_has_its_line_and_column(void **state) {
    (void)state;
    const struct {
        const char *text;
        unsigned line, column;
        const char *wanted;
    } cases[] = {
        {"", 1, 1, "is not JSON"},
        {"{\n  \"a\": nul\n}", 2, 8, "is not JSON"},
        {"{\n\"a\": 1,\n}", 3, 1, "is not JSON"},
        {"{} x", 1, 4, "more after the end"},
        {"{}\n{}", 2, 1, "more after the end"},
        {"{\"a\": \"b", 1, 9, "the file ends within a string"},
        {"{\"a\": \"\xc3\x28\"}", 1, 8, "is not valid UTF-8"},
        {"{\"a\": \"\xed\xa0\x80\"}", 1, 8, "is not valid UTF-8"},
        {"{\"a\": \"b\nc\"}", 1, 9, "control character"},
        {"{\"a\": \"b\\u0000c\"}", 1, 9, "\\u0000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_error(cases[i].text, cases[i].wanted);
        assert_int_equal(errors.items[0].line, cases[i].line);
        assert_int_equal(errors.items[0].column, cases[i].column);
    }
    expect_error("[]", "must be an object");
}

static void test_text_beyond_ascii_is_kept(void **state) {
    (void)state;
    struct catalog *catalog = expect_good(
        "{\"product_configuration\": {\"product_name\": \"K\xc3\xa4rn \xf0\x9f\x98\x80 \\u00e9 \\\\u0000\", "
        "\"implementer\": \"0x42\"}," EVENTS "," METRICS "," GROUPS "}");
    assert_string_equal(catalog->product.name, "K\xc3\xa4rn \xf0\x9f\x98\x80 \xc3\xa9 \\u0000");
    assert_string_equal(catalog->product.vendor, "0x42");
    catalog_free(catalog);
}

// Brackets inside strings do not nest.
static void test_nesting_is_bounded_before_the_parser_sees_it(void **state) {
    (void)state;
    const size_t deep = 1000000;
    char *text = malloc(deep + 1);
    assert_non_null(text);
    memset(text, '[', deep);
    text[deep] = '\0';
    expect_error(text, "nested too deeply");
    assert_int_equal(errors.items[0].column, SPEC_DEPTH_MAX + 1);
    free(text);

    catalog_free(
        expect_good("{" PRODUCT "," EVENTS "," METRICS "," GROUPS
                    ", \"x\": \"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[\"}"));
}

static void test_the_number_of_values_is_bounded(void **state) {
    (void)state;
    size_t n = JSON_VALUES_MAX + 2;
    char *text = malloc(2 * n + 2);
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < n; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    text[2 * n + 1] = '\0';
    expect_error(text, "too many values");
    free(text);
}

static void test_every_cut_of_a_spec_is_refused(void **state) {
    (void)state;
    const char *whole = "{" PRODUCT "," EVENTS "," METRICS "," GROUPS "," STAGES "," OURS("," OURS_SPLIT) "}";
    for (size_t length = 0; length < strlen(whole); length++) {
        char *cut = malloc(length + 1); // its own allocation, so that reading beyond is seen
        assert_non_null(cut);
        memcpy(cut, whole, length);
        struct catalog *catalog = NULL;
        memset(&errors, 0, sizeof errors);
        assert_int_equal(spec_json_parse("test.json", cut, length, NULL, &errors, &catalog), -EINVAL);
        assert_true(errors.n > 0);
        free(cut);
    }
}

static void test_hostile_text_cannot_forge_log_lines(void **state) {
    (void)state;
    expect_error("{" PRODUCT ", \"events\": {\"A\\nroot: all is well\\u001b[2J\": 1}}",
                 "events.A?root: all is well?[2J");
}

static void test_unreadable_files_are_refused_in_words(void **state) {
    (void)state;
    char folder[] = P_tmpdir "/test_spec_json.XXXXXX", path[64], text[ERROR_LINE_MAX];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/none.json", folder);
    struct catalog *catalog;
    memset(&errors, 0, sizeof errors);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), -EINVAL);
    error_format(&errors.items[0], text, sizeof text);
    assert_non_null(strstr(text, "none.json: cannot be opened: No such file or directory"));
    assert_int_equal(spec_json_load(folder, NULL, &errors, &catalog), -EINVAL);
    assert_string_equal(errors.items[1].text, "is not a regular file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), -EINVAL);
    assert_string_equal(errors.items[2].text, "is not a regular file");
    unlink(path);
    FILE *huge = fopen(path, "w");
    assert_non_null(huge);
    assert_int_equal(ftruncate(fileno(huge), SPEC_FILE_MAX + 1), 0);
    fclose(huge);
    assert_int_equal(spec_json_load(path, NULL, &errors, &catalog), -EINVAL);
    assert_string_equal(errors.items[3].text, "is larger than 16777216 bytes");
    unlink(path);
    rmdir(folder);
}

static void test_the_software_spec_measures_the_kernels_events(void **state) {
    (void)state;
    struct catalog *catalog;
    memset(&errors, 0, sizeof errors);
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &catalog), 0);
    assert_string_equal(catalog->product.spec, "software");
    assert_string_equal(catalog->product.pmu, "software");
    assert_int_equal(catalog->general_counters, 0);
    const struct {
        const char *name;
        uint64_t code; // PERF_COUNT_SW_* of linux/perf_event.h
    } events[] = {{"CONTEXT_SWITCHES", 3}, {"CPU_MIGRATIONS", 4},   {"MINOR_FAULTS", 5},
                  {"MAJOR_FAULTS", 6},     {"ALIGNMENT_FAULTS", 7}, {"EMULATION_FAULTS", 8}};
    for (size_t i = 0; i < 6; i++)
        assert_true(catalog->events[catalog_find_event(catalog, events[i].name)].code.config == events[i].code);
    const struct catalog_group *stage = &catalog->groups[catalog_find_group(catalog, "stage_1")];
    assert_int_equal(stage->n_metrics, 6);
    const struct catalog_metric *faults = &catalog->metrics[catalog_find_metric(catalog, "major_faults")];
    assert_string_equal(faults->export_name, "major_faults_per_second");
    assert_true(faults->rate_threshold == 100);
    assert_true(strlen(faults->rate_advice) > 0);
    const double counts[] = {20, 0, 0, 0, 50, 0, 0}; // 20 CPU seconds
    assert_true(formula_evaluate(faults->formula, counts, NULL) == 2.5);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_spec_becomes_a_catalog),
        cmocka_unit_test(test_the_stages_of_the_methodology_become_groups),
        cmocka_unit_test(test_a_group_called_like_a_stage_stays_what_it_is),
        cmocka_unit_test(test_our_extensions_are_read),
        cmocka_unit_test(test_level_1_needs_no_width),
        cmocka_unit_test(test_a_spec_does_not_say_which_cpus_it_is_for),
        cmocka_unit_test(test_a_metric_can_have_a_name_a_definition_a_threshold_and_advice),
        cmocka_unit_test(test_fields_that_a_vendor_adds_are_ignored_and_ours_are_not),
        cmocka_unit_test(test_an_unknown_event_is_named_with_metric_and_suggestion),
        cmocka_unit_test(test_an_event_that_no_pmu_counts_is_left_out_and_explained),
        cmocka_unit_test(test_what_is_missing_or_of_a_wrong_type_is_named_by_its_path),
        cmocka_unit_test(test_codes_are_hexadecimal_or_decimal_and_nothing_else),
        cmocka_unit_test(test_duplicates_are_refused_wherever_they_stand),
        cmocka_unit_test(test_several_errors_are_shown_at_once),
        cmocka_unit_test(test_wrong_references_are_refused),
        cmocka_unit_test(test_a_metric_may_have_alternatives_under_its_name),
        cmocka_unit_test(test_alternatives_need_definitions_of_their_own),
        cmocka_unit_test(test_a_mistake_of_syntax_has_its_line_and_column),
        cmocka_unit_test(test_text_beyond_ascii_is_kept),
        cmocka_unit_test(test_nesting_is_bounded_before_the_parser_sees_it),
        cmocka_unit_test(test_the_number_of_values_is_bounded),
        cmocka_unit_test(test_every_cut_of_a_spec_is_refused),
        cmocka_unit_test(test_hostile_text_cannot_forge_log_lines),
        cmocka_unit_test(test_unreadable_files_are_refused_in_words),
        cmocka_unit_test(test_the_software_spec_measures_the_kernels_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
