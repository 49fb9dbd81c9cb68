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

#include "config/spec/spec_json.h"

// The keys of "topdownd" objects, and the references of formulas and the tree: each is read, and refused if invalid.

#define PRODUCT "\"product_configuration\": {\"product_name\": \"Core\", \"implementer\": \"0x41\"}"
#define FORMAT                                                                                                         \
    "\"format\": {\"event\": \"config:0-7\", \"umask\": \"config:8-15\", \"cmask\": \"config:24-31\", "                \
    "\"offcore_rsp\": \"config1:0-63\"}"
#define METRIC(name, formula, more)                                                                                    \
    "\"" name "\": {\"title\": \"T\", \"units\": \"share of slots\", \"formula\": \"" formula "\"" more "}"
#define OURS(text) ", \"topdownd\": {" text "}"
#define EVENTS "\"A\": {\"code\": 1}, \"B\": {\"code\": 2}"
#define METRICS METRIC("m", "A / B", "") "," METRIC("n", "B / A", "")

static struct errors errors;

static int read_text(const char *text, struct catalog **catalog) {
    memset(&errors, 0, sizeof errors);
    *catalog = NULL;
    return spec_json_parse("test.json", text, strlen(text), NULL, &errors, catalog);
}

// A whole spec of these parts, each the inside of an object. For free().
static char *spec_of(const char *top, const char *events, const char *metrics, const char *methodology) {
    char *text;
    assert_true(
        asprintf(&text,
                 "{" PRODUCT ", \"topdownd\": {%s}, \"events\": {%s}, \"metrics\": {%s}, \"groups\": "
                 "{\"metrics\": {\"G\": {\"metrics\": []}}}, \"methodologies\": {\"topdown_methodology\": {%s}}}",
                 top, events, metrics, methodology) > 0);
    return text;
}

static struct catalog *good(const char *top, const char *events, const char *metrics, const char *methodology) {
    struct catalog *catalog;
    char *text = spec_of(top, events, metrics, methodology);
    if (read_text(text, &catalog) < 0)
        fail_msg("%s", errors.items[0].text);
    free(text);
    return catalog;
}

static void wrong(const char *top, const char *events, const char *metrics, const char *methodology,
                  const char *wanted) {
    struct catalog *catalog;
    char *text = spec_of(top, events, metrics, methodology);
    assert_int_equal(read_text(text, &catalog), -EINVAL);
    free(text);
    assert_null(catalog);
    assert_true(errors.n > 0);
    if (!strstr(errors.items[0].text, wanted))
        fail_msg("got \"%s\", wanted \"%s\"", errors.items[0].text, wanted);
}

static const struct catalog_event *event_of(const struct catalog *catalog, const char *name) {
    int event = catalog_find_event(catalog, name);
    assert_true(event >= 0);
    return &catalog->events[event];
}

static void test_terms_go_where_the_format_has_them_and_zero_is_left_out(void **state) {
    (void)state;
    struct catalog *catalog =
        good(FORMAT,
             "\"E\": {\"code\": \"0x0E\"" OURS(
                 "\"umask\": \"0x01\", \"cmask\": 3, "
                 "\"offcore_rsp\": \"0x3F803C0001\"") "}, "
                                                      "\"Z\": {\"code\": 7" OURS("\"umask\": 0") "}",
             "", "");
    assert_string_equal(event_of(catalog, "E")->terms, "event=0xe,umask=0x1,cmask=0x3,offcore_rsp=0x3f803c0001");
    assert_int_equal(event_of(catalog, "E")->code.config, 0x0300010e);
    assert_int_equal(event_of(catalog, "E")->code.config1, 0x3f803c0001);
    assert_string_equal(event_of(catalog, "Z")->terms, "event=0x7");
    catalog_free(catalog);
}

static void test_wrong_formats_and_terms_are_refused(void **state) {
    (void)state;
    wrong("\"format\": {\"event\": \"config:0-64\"}", EVENTS, METRICS, "",
          "topdownd.format.event: the format of event");
    wrong("\"format\": {\"event\": 8}", EVENTS, METRICS, "", "topdownd.format.event: must be bits in quotes");
    wrong(FORMAT, "\"E\": {\"code\": 256}", "", "", "events.E: the event E: event=0x100 is more than its 8 bits");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"unmask\": 1") "}", "", "", "the PMU has no term \"unmask\"");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"umask\": \"1x\"") "}", "", "",
          "events.E.topdownd.umask: is not the value");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"umask\": 0.5") "}", "", "",
          "events.E.topdownd.umask: is not the value");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"event\": 2") "}", "", "", "the term \"event\" is there twice");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"umask=1,cmask\": 2") "}", "", "", "is not the name of a term");
    wrong(FORMAT, "\"E\": {\"code\": 1" OURS("\"a_name_as_long_as_no_kernel_has_one\": 2") "}", "", "",
          "is not the name of a term");
}

static void test_more_terms_than_fit_are_refused_and_never_cut(void **state) {
    (void)state;
    char event[2048] = "\"E\": {\"code\": 1, \"topdownd\": {\"pmu\": \"other\"";
    for (unsigned i = 0; i < 30; i++) {
        size_t length = strlen(event);
        (void)snprintf(event + length, sizeof event - length, ", \"term_number_%02u\": 4294967295", i);
    }
    strcat(event, "}}");
    wrong("", event, "", "", "events.E.topdownd: has more terms than any PMU");
}

static void test_what_an_event_needs_of_the_counters_is_read(void **state) {
    (void)state;
    struct catalog *catalog = good(
        FORMAT,
        "\"E\": {\"code\": 1" OURS(
            "\"counters\": [0, 3], \"takes\": 2") "}, "
                                                  "\"F\": {\"code\": 2" OURS(
                                                      "\"takes\": 0") "}, "
                                                                      "\"S\": {\"code\": 3" OURS(
                                                                          "\"sampling_only\": true") "}, "
                                                                                                     "\"T\": "
                                                                                                     "{\"code\": "
                                                                                                     "0" OURS(
                                                                                                         "\"pmu\": "
                                                                                                         "\"msr\"") "}",
        "", "");
    assert_int_equal(event_of(catalog, "E")->need.counters, 0x9);
    assert_int_equal(event_of(catalog, "E")->need.takes, 2);
    assert_false(event_of(catalog, "E")->need.free || event_of(catalog, "E")->sampling_only);
    assert_true(event_of(catalog, "F")->need.free);
    assert_true(event_of(catalog, "S")->sampling_only);
    assert_true(event_of(catalog, "T")->need.free);
    assert_string_equal(catalog->pmus[event_of(catalog, "T")->code.pmu], "msr");
    catalog_free(catalog);
    wrong("", "\"E\": {\"code\": 1" OURS("\"counters\": [64]") "}", "", "", "counters[0]: must be between 0 and 63");
    wrong("", "\"E\": {\"code\": 1" OURS("\"counters\": [1.5]") "}", "", "", "counters[0]: must be a whole number");
    wrong("", "\"E\": {\"code\": 1" OURS("\"counters\": []") "}", "", "", "counters: lists no counter");
    wrong("", "\"E\": {\"code\": 1" OURS("\"takes\": 3") "}", "", "", "takes: must be between 0 and 2");
    wrong("", "\"E\": {\"code\": 1" OURS("\"sampling_only\": 1") "}", "", "", "sampling_only: must be true or false");
    wrong("", "\"E\": {\"code\": 1" OURS("\"pmu\": 1") "}", "", "", "pmu: must be text");
}

static void test_an_event_has_further_names_in_formulas(void **state) {
    (void)state;
    struct catalog *catalog =
        good("", "\"E\": {\"code\": 1" OURS("\"known_as\": [\"e-e\", \"F\"]") "}", METRIC("m", "F / E", ""), "");
    assert_int_equal(catalog_find_event(catalog, "e-e"), catalog_find_event(catalog, "E"));
    assert_int_equal(catalog->n_events, 2); // E and the measured time
    catalog_free(catalog);
    wrong("", EVENTS ", \"E\": {\"code\": 3" OURS("\"known_as\": [\"A\"]") "}", "", "", "topdownd: the event A");
    wrong("", "\"E\": {\"code\": 3" OURS("\"known_as\": \"A\"") "}", "", "", "known_as");
}

#define FAMILY(more, first, second)                                                                                    \
    FORMAT ", \"shared_registers\": {\"offcore_rsp\": 1}, \"composed_events\": {\"O\": {\"code\": \"0xB7\", "          \
           "\"term\": \"offcore_rsp\", \"topdownd\": {\"umask\": 1}, " more "\"first\": {" first                       \
           "}, \"second\": {" second "}}}"
#define PART(name, bits) "\"" name "\": {\"bits\": \"" bits "\", \"title\": \"the " name "\"}"

static void test_events_are_composed_of_two_parts(void **state) {
    (void)state;
    struct catalog *catalog =
        good(FAMILY("\"known_as\": [\"O_0\"], ", PART("R", "0x1") "," PART("S", "0x2"),
                    PART("L", "0x100") "," PART("M", "0x4000")),
             "\"A\": {\"code\": 1}, \"O.S.L\": {\"code\": 9}", METRIC("m", "O_0.S.M / O.R.L", ""), "");
    const struct catalog_event *pair = event_of(catalog, "O.S.M");
    assert_string_equal(pair->title, "the S the M");
    assert_string_equal(pair->terms, "event=0xb7,umask=0x1,offcore_rsp=0x4002");
    assert_true(pair->code.config == 0x01b7 && pair->code.config1 == 0x4002);
    assert_true(pair->need.reg == 1 && pair->need.reg_value == 0x4002);
    assert_ptr_equal(event_of(catalog, "O_0.S.M"), pair);
    assert_int_equal(event_of(catalog, "O.R.L")->code.config1, 0x101);
    assert_int_equal(event_of(catalog, "O.S.L")->code.config, 9); // an event of its own wins
    assert_int_equal(catalog->n_events, 1 + 2 + 3);
    catalog_free(catalog);
    wrong(FAMILY("", PART("R", "x"), PART("L", "0x100")), EVENTS, METRICS, "", "composed_events.O.first.R: has bits");
    wrong(FAMILY("", PART("R", "0"), PART("L", "0x100")), EVENTS, METRICS, "", "composed_events.O.first.R: has bits");
    wrong(FAMILY("", "\"R\": {\"bits\": \"1\"}", PART("L", "0x100")), EVENTS, METRICS, "", "title: is missing");
    wrong(FAMILY("\"more\": 1, ", PART("R", "1"), PART("L", "0x100")), EVENTS, METRICS, "", "O.more");
    wrong(FORMAT ", \"composed_events\": {\"O\": {\"code\": 1, \"first\": {}, \"second\": {}}}", EVENTS, METRICS, "",
          "O.term: is missing");
    wrong(FORMAT ", \"composed_events\": {\"O\": {\"code\": 1, \"term\": \"umsk\", \"first\": {" PART(
              "R", "1") "}, \"second\": {" PART("L", "2") "}}}",
          EVENTS, METRICS, "", "the PMU has no term");
}

static void test_counters_registers_and_watchdog_are_read(void **state) {
    (void)state;
    struct catalog *catalog = good(FORMAT ", \"counters\": {\"general\": 4, \"fixed\": [\"A\", \"B\"], "
                                          "\"nmi_watchdog\": \"B\"}, \"shared_registers\": {\"offcore_rsp\": 2}",
                                   EVENTS ", \"O\": {\"code\": 3" OURS("\"offcore_rsp\": 5") "}", METRICS, "");
    assert_int_equal(catalog->general_counters, 4);
    assert_int_equal(event_of(catalog, "A")->need.fixed, 0);
    assert_int_equal(event_of(catalog, "B")->need.fixed, 1);
    assert_int_equal(catalog->watchdog_event, catalog_find_event(catalog, "B"));
    assert_string_equal(catalog->registers[0].term, "offcore_rsp");
    assert_int_equal(catalog->registers[0].values, 2);
    assert_int_equal(event_of(catalog, "O")->need.reg, 1);
    assert_int_equal(event_of(catalog, "O")->need.reg_value, 5);
    assert_false(event_of(catalog, "O")->need.exclusive);
    catalog_free(catalog);
    catalog = good(FORMAT ", \"exclusive_events\": [\"0x3\", \"0xd0\"]",
                   EVENTS ", \"O\": {\"code\": 3" OURS("\"offcore_rsp\": 5") "}", METRICS, "");
    assert_true(event_of(catalog, "O")->need.exclusive && !event_of(catalog, "A")->need.exclusive);
    catalog_free(catalog);
    wrong(FORMAT ", \"exclusive_events\": [\"0x100\"]", EVENTS, METRICS, "", "code 0x100 is above 0xff");
    wrong(FORMAT ", \"exclusive_events\": [\"d0\"]", EVENTS, METRICS, "", "'d0' that is not an event code");
    wrong(FORMAT ", \"exclusive_events\": 3", EVENTS, METRICS, "", "exclusive_events");
    wrong("\"counters\": {\"general\": 4, \"nmi_watchdog\": \"A\"}", EVENTS, METRICS, "", "A has no fixed counter");
    wrong("\"counters\": {\"general\": 4, \"fixed\": [\"C\"]}", EVENTS, METRICS, "", "C is not among the events");
    wrong(FORMAT ", \"shared_registers\": {\"frontend\": 1}", EVENTS, METRICS, "", "frontend is no term of the format");
    wrong(FORMAT ", \"shared_registers\": {\"offcore_rsp\": 0}", EVENTS, METRICS, "", "must be between 1 and 64");
    wrong(FORMAT ", \"shared_registers\": {\"offcore_rsp\": 1.5}", EVENTS, METRICS, "", "must be a whole number");
}

#define LEVEL1(key)                                                                                                    \
    "\"" key "\": {\"pipeline_slots\": \"A\", \"width\": 4, \"categories\": {\"retiring\": \"m\", "                    \
    "\"backend_bound\": \"n\"}}"

static void test_topdown_events_and_the_level_1_without_them_are_read(void **state) {
    (void)state;
    struct catalog *catalog = good(
        "\"resident\": [\"B\", \"A\"], " LEVEL1("level1") ", " LEVEL1("level1_without_resident"), EVENTS, METRICS, "");
    assert_int_equal(catalog->n_topdown, 2);
    assert_int_equal(catalog->topdown[0], catalog_find_event(catalog, "B"));
    assert_true(event_of(catalog, "A")->topdown);
    assert_true(catalog->level1.present);
    catalog_free(catalog);
    wrong("\"resident\": [\"C\"]", EVENTS, METRICS, "", "topdownd: the resident event C is not among");
    wrong("\"resident\": [\"A\", \"A\"]", EVENTS, METRICS, "", "\"A\" stands twice");
    wrong(LEVEL1("level1_without_resident"), EVENTS, METRICS, "", "but there are no such events");
}

static void test_metrics_may_stand_in_any_order(void **state) {
    (void)state;
    struct catalog *catalog =
        good("", EVENTS,
             METRIC("top", "middle * 2", "") "," METRIC("middle", "low + 1", "") "," METRIC("low", "A / B", ""), "");
    assert_string_equal(catalog->metrics[0].name, "low"); // each after those it uses
    assert_string_equal(catalog->metrics[1].name, "middle");
    assert_string_equal(catalog->metrics[2].name, "top");
    assert_int_equal(catalog->metrics[2].formula->metrics[0], 1);
    catalog_free(catalog);
}

static void test_of_names_that_differ_in_case_the_exact_one_is_meant(void **state) {
    (void)state;
    struct catalog *catalog =
        good("", EVENTS,
             METRIC("user", "x + A / B", "") "," METRIC("X", "B / A", OURS("\"name\": \"y\"")) "," METRIC(
                 "x", "A / B", "") "," METRIC("a", "x * 3", ""),
             "");
    const struct catalog_metric *user = &catalog->metrics[catalog_find_metric(catalog, "user")];
    assert_int_equal(user->formula->n_metrics, 1);
    assert_int_equal(user->formula->metrics[0], catalog_find_metric(catalog, "x"));
    assert_int_equal(user->formula->n_variables, 2); // A is the event, not metric a
    catalog_free(catalog);
}

static void test_metrics_that_lead_back_to_themselves_are_refused(void **state) {
    (void)state;
    wrong("", EVENTS, METRIC("p", "q * 2", "") "," METRIC("q", "A / B + p", ""), "",
          "metrics.q: uses the metric p, which leads back to itself");
    wrong("", EVENTS, METRIC("p", "q * 2", "") "," METRIC("q", "A / ", ""), "", "metrics.q: formula, column 5");
    assert_int_equal(errors.n, 2);
    assert_string_equal(errors.items[1].text, "metrics.p: uses the metric q, which is wrong");
    wrong("", EVENTS, METRIC("p", "p * 2", ""), "", "metrics.p: formula, column 1"); // its own name is an event's
}

// m0 uses m1, which uses m2, and so on: the file is in the worst order.
static void test_a_long_way_against_the_order_of_the_file_is_refused(void **state) {
    (void)state;
    char *metrics = NULL;
    size_t size;
    FILE *stream = open_memstream(&metrics, &size);
    for (unsigned i = 0; i < 8000; i++)
        (void)fprintf(stream, METRIC("m%u", "m%u * 2", "") ",", i, i + 1);
    (void)fprintf(stream, METRIC("m8000", "A / B", ""));
    assert_int_equal(fclose(stream), 0);
    wrong("", EVENTS, metrics, "", "more than 64 deep");
    free(metrics);
}

static void test_an_unknown_name_is_told_with_the_nearest(void **state) {
    (void)state;
    wrong("", "\"CYCLES\": {\"code\": 1}, \"WORK\": {\"code\": 2}", METRIC("m", "WORK / CYCLE", ""), "",
          "metrics.m.formula: needs the event CYCLE, which is not among the events; did you mean CYCLES?");
}

static void test_modifiers_are_read(void **state) {
    (void)state;
    struct catalog *catalog = good("", EVENTS, METRIC("kernel", "A:k / A", ""), "");
    assert_int_equal(event_of(catalog, "A:k")->code.exclude, PMU_EXCLUDE_USER | PMU_EXCLUDE_HYPERVISOR);
    assert_int_equal(event_of(catalog, "A:k")->code.config, 1);
    catalog_free(catalog);
    wrong("", EVENTS, METRIC("kernel", "A:kk / A", ""), "", "metrics.kernel: formula, column 1");
}

static void test_what_a_metric_says_of_itself_is_read(void **state) {
    (void)state;
    struct catalog *catalog = good(
        "", EVENTS,
        METRIC("child", "A / B",
               OURS("\"parent\": \"top\", \"threshold\": \"child > 0.1 & top > 0.2\", \"meaning\": \"Look.\", "
                    "\"constraint\": \"NO_GROUP_EVENTS_SMT\", \"waits_for\": \"dram\"")) "," METRIC("top", "B / A", ""),
        "");
    const struct catalog_metric *child = &catalog->metrics[catalog_find_metric(catalog, "child")];
    assert_int_equal(child->parent, catalog_find_metric(catalog, "top")); // which stands further down
    assert_string_equal(child->meaning, "Look.");
    assert_string_equal(child->threshold_text, "child > 0.1 & top > 0.2");
    assert_int_equal(child->threshold->n_metrics, 2);
    assert_int_equal(child->constraint, CONSTRAINT_NO_GROUP_SMT);
    assert_int_equal(child->waits, WAITS_DRAM);
    assert_int_equal(catalog->metrics[child->parent].waits, WAITS_NONE);
    assert_string_equal(child->export_name, "child_ratio");
    assert_int_equal(child->domain, METRIC_PIPELINE_SLOTS);
    assert_true(child->export_scale == 1);
    catalog_free(catalog);
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"parent\": \"none\"")), "",
          "metrics.m.topdownd.parent: its parent none is no metric");
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"parent\": \"m\"")), "", "its parent m is below it");
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"threshold\": \"m > 0.1 & A > 5\"")), "",
          "metrics.m.topdownd.threshold: the threshold names A, which is no metric");
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"threshold\": \"mm > 0.1\"")), "",
          "metrics.m.topdownd.threshold: needs");
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"constraint\": \"NO_GROUP_EVENTS_SMTT\"")), "",
          "there is no such constraint; did you mean NO_GROUP_EVENTS_SMT?");
    wrong("", EVENTS, METRIC("m", "A / B", OURS("\"waits_for\": \"memroy\"")), "",
          "nothing that can be waited for has this name; did you mean memory?");
}

#define UNDER "\"parent\": \"top\""
#define SIBLINGS(a, b, c)                                                                                              \
    METRIC("top", "B / A", "")                                                                                         \
    "," METRIC("a", "A / B", OURS(a)) "," METRIC("b", "A / B", OURS(b)) "," METRIC("c", "A / B", OURS(c))

static void test_what_a_sibling_includes_is_read(void **state) {
    (void)state;
    struct catalog *catalog =
        good("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"c\"", UNDER ", \"included_in\": \"c\"", UNDER), "");
    int whole = catalog_find_metric(catalog, "c"); // which stands further down
    assert_int_equal(catalog->metrics[catalog_find_metric(catalog, "a")].included_in, whole);
    assert_int_equal(catalog->metrics[catalog_find_metric(catalog, "b")].included_in, whole);
    assert_int_equal(catalog->metrics[whole].included_in, -1);
    catalog_free(catalog);
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"d\"", UNDER, UNDER), "",
          "metrics.a.topdownd.included_in: d, which is to include it, is no metric");
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"top\"", UNDER, UNDER), "", "top is no sibling of it");
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"a\"", UNDER, UNDER), "", "a is no sibling of it");
    wrong("", EVENTS, SIBLINGS("\"included_in\": \"b\"", "\"meaning\": \"B.\"", UNDER), "", "b is no sibling of it");
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"b\"", UNDER ", \"included_in\": \"a\"", UNDER), "",
          "a is itself included in b");
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"b\"", UNDER, UNDER ", \"included_in\": \"a\""), "",
          "a is itself included in b: name that one");
    wrong("", EVENTS, SIBLINGS(UNDER ", \"included_in\": \"b\"", UNDER ", \"included_in\": \"c\"", UNDER), "",
          "it includes a itself: let a be included in c instead");
}

#define TREE(roots, metrics) "\"decision_tree\": {\"root_nodes\": [" roots "], \"metrics\": [" metrics "]}"

static void test_the_decision_tree_is_read(void **state) {
    (void)state;
    struct catalog *catalog = good("", EVENTS, METRICS,
                                   TREE("\"m\"", "{\"name\": \"m\", \"group\": \"G\", \"next_items\": [\"n\", \"G\"]}, "
                                                 "{\"name\": \"n\", \"next_items\": []}"));
    assert_int_equal(catalog->n_nodes, 2);
    assert_true(catalog->nodes[0].root);
    assert_false(catalog->nodes[1].root);
    assert_int_equal(catalog->nodes[0].n_next, 2);
    assert_string_equal(catalog->nodes[0].next[1].name, "G");
    catalog_free(catalog);
    wrong("", EVENTS, METRICS, TREE("\"m\"", "{\"name\": \"o\"}"), "decision_tree.metrics[0]: the decision tree names");
    wrong("", EVENTS, METRICS, TREE("\"m\"", "{\"name\": \"m\", \"next_items\": [\"o\"]}"), "leads from m to o");
    wrong("", EVENTS, METRICS, TREE("\"o\"", "{\"name\": \"m\"}"), "root_nodes names the metric o");
    wrong("", EVENTS, METRICS, TREE("1", ""), "root_nodes[0]: must be text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_go_where_the_format_has_them_and_zero_is_left_out),
        cmocka_unit_test(test_wrong_formats_and_terms_are_refused),
        cmocka_unit_test(test_more_terms_than_fit_are_refused_and_never_cut),
        cmocka_unit_test(test_what_an_event_needs_of_the_counters_is_read),
        cmocka_unit_test(test_an_event_has_further_names_in_formulas),
        cmocka_unit_test(test_events_are_composed_of_two_parts),
        cmocka_unit_test(test_counters_registers_and_watchdog_are_read),
        cmocka_unit_test(test_topdown_events_and_the_level_1_without_them_are_read),
        cmocka_unit_test(test_metrics_may_stand_in_any_order),
        cmocka_unit_test(test_of_names_that_differ_in_case_the_exact_one_is_meant),
        cmocka_unit_test(test_metrics_that_lead_back_to_themselves_are_refused),
        cmocka_unit_test(test_a_long_way_against_the_order_of_the_file_is_refused),
        cmocka_unit_test(test_an_unknown_name_is_told_with_the_nearest),
        cmocka_unit_test(test_modifiers_are_read),
        cmocka_unit_test(test_what_a_metric_says_of_itself_is_read),
        cmocka_unit_test(test_what_a_sibling_includes_is_read),
        cmocka_unit_test(test_the_decision_tree_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
