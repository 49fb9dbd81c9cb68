// SPDX-License-Identifier: Apache-2.0
//
// The pages of a host with two core types: a type's part equals its own page, except for the label.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdio.h>

#include "exporters/history/shown_history.h"
#include "exporters/html/html.h"
#include "exporters/http/http_page.h"
#include "exporters/prometheus/prometheus.h"
#include "exporters/view/view_types.h"
#include "http_check.h"

static const char *const TYPES[] = {"big", "little"};
enum { TYPES_N = 2, LINES_MAX = 4096 };
// of the daemon or the host
static const char *const WITHOUT[] = {"topdownd_rotation_duration_seconds",
                                      "topdownd_collection_seconds",
                                      "topdownd_pmu_calls",
                                      "topdownd_interrupt",
                                      "topdownd_budget_used_ratio",
                                      "topdownd_build_info",
                                      "topdownd_config_",
                                      "process_",
                                      "topdownd_not_ready"};

// The types have 4 and 2 general counters: one lacks metrics that the other has.
struct two {
    struct exporter_host hosts[TYPES_N];
    struct snapshot *snapshots[TYPES_N];
    struct shown shown;
};

static void two_init(struct two *two, bool labelled, size_t fewer) {
    *two = (struct two){.shown.n = TYPES_N};
    for (size_t i = 0; i < TYPES_N; i++) {
        host_init_with(&two->hosts[i], host_catalog(), i == fewer ? 2 : 4);
        two->hosts[i].view.core_type = labelled ? TYPES[i] : NULL;
        two->snapshots[i] = host_snapshot(&two->hosts[i]);
        two->shown.types[i] = (struct shown_type){.view = &two->hosts[i].view, .snapshot = two->snapshots[i]};
    }
}

static void two_deinit(struct two *two) {
    for (size_t i = 0; i < TYPES_N; i++) {
        snapshot_unref(two->snapshots[i]);
        host_deinit(&two->hosts[i]);
    }
}

static char *render_metrics(const struct shown *shown, bool per_cpu) {
    struct series *series = series_new(shown, per_cpu);
    struct text text = {0};
    assert_non_null(series);
    assert_int_equal(prometheus_render(series, shown, &text), 0);
    text_append(&text, "", 1);
    series_free(series);
    return text.data;
}

// Splits the text, which it changes.
static size_t split(char *text, char **lines) {
    size_t n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(n < LINES_MAX);
        lines[n++] = line;
    }
    return n;
}

static bool is_without(const char *line) {
    for (size_t i = 0; i < sizeof WITHOUT / sizeof *WITHOUT; i++)
        if (strncmp(line, WITHOUT[i], strlen(WITHOUT[i])) == 0)
            return true;
    return false;
}

// Takes core_type="..." out of a series. False where it has none, or another.
static bool strip_label(const char *line, const char *type, char *out, size_t size) {
    char label[64];
    (void)snprintf(label, sizeof label, "core_type=\"%s\"", type);
    const char *at = strstr(line, label);
    if (!at)
        return false;
    const char *rest = at + strlen(label);
    size_t before = (size_t)(at - line);
    assert_true(line[before - 1] == '{' || line[before - 1] == ',');
    if (line[before - 1] == ',' || *rest == '}')
        before--; // with the comma in front, or the only label
    if (line[before] == '{' && *rest == '}')
        rest++;
    (void)snprintf(out, size, "%.*s%s", (int)before, line, rest);
    return true;
}

static bool has_line(char *const *lines, size_t n, const char *wanted) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(lines[i], wanted) == 0)
            return true;
    return false;
}

// The page of all types has every series of the type's own page and no others of this type.
static void check_type(char *const *lines, size_t n, const struct shown_type *type, const char *name, bool per_cpu) {
    static char *own_lines[LINES_MAX];
    char *own = render_metrics(&(struct shown){.n = 1, .types = {*type}}, per_cpu), stripped[1024];
    size_t n_own = split(own, own_lines), n_series = 0, n_found = 0;
    for (size_t i = 0; i < n; i++) {
        if (!strip_label(lines[i], name, stripped, sizeof stripped))
            continue;
        n_found++;
        assert_false(is_without(lines[i]));
        if (!has_line(own_lines, n_own, stripped))
            fail_msg("%s is not on the page of %s alone", stripped, name);
    }
    for (size_t i = 0; i < n_own; i++)
        n_series += own_lines[i][0] != '#' && !is_without(own_lines[i]);
    assert_true(n_found > 0);
    assert_int_equal(n_found, n_series);
    free(own);
}

static void check_pages(bool per_cpu, size_t fewer) {
    static char *lines[LINES_MAX];
    struct two labelled, plain;
    two_init(&labelled, true, fewer);
    two_init(&plain, false, fewer);
    char *page = render_metrics(&labelled.shown, per_cpu);
    size_t n = split(page, lines);
    for (size_t i = 0; i < TYPES_N; i++)
        check_type(lines, n, &plain.shown.types[i], TYPES[i], per_cpu);
    for (size_t i = 0; i < n; i++)
        if (lines[i][0] != '#' && !strstr(lines[i], "core_type="))
            assert_true(is_without(lines[i]));
    free(page);
    two_deinit(&plain);
    two_deinit(&labelled);
}

static void test_a_types_series_are_those_of_its_own_page_with_a_label(void **state) {
    (void)state;
    for (size_t fewer = 0; fewer < TYPES_N; fewer++) {
        check_pages(false, fewer);
        check_pages(true, fewer);
    }
}

static void test_each_family_stands_once_with_all_its_series(void **state) {
    (void)state;
    static char *lines[LINES_MAX];
    struct two two;
    two_init(&two, true, 1);
    for (int per_cpu = 0; per_cpu < 2; per_cpu++) {
        char *page = render_metrics(&two.shown, per_cpu);
        size_t n = split(page, lines);
        const char *family = "";
        for (size_t i = 0; i < n; i++) {
            if (strncmp(lines[i], "# ", 2) == 0) {
                family = lines[i] + 7;
                for (size_t j = 0; j < i; j++) // the same kind of line with the same name
                    assert_true(strncmp(lines[j], lines[i], 7 + strcspn(family, " ") + 1) != 0);
                continue;
            }
            assert_int_equal(strncmp(lines[i], family, strcspn(family, " ")), 0);
            size_t length = (size_t)(strrchr(lines[i], ' ') - lines[i]); // name and labels
            for (size_t j = 0; j < i; j++)
                assert_true(strncmp(lines[j], lines[i], length + 1) != 0);
        }
        free(page);
    }
    two_deinit(&two);
}

static void test_an_error_of_the_host_is_not_of_a_type(void **state) {
    (void)state;
    const struct view_pmu_error errors[] = {{.pmu = "p", .reason = "absent", .text = ""},
                                            {.pmu = "p", .reason = "other_cores", .text = "", .of_host = true}};
    struct two two;
    two_init(&two, true, 1);
    two.hosts[0].view.pmu_errors = errors;
    two.hosts[0].view.n_pmu_errors = 2;
    char *page = render_metrics(&two.shown, false);
    assert_non_null(strstr(page, "topdownd_pmu_error{pmu=\"p\",reason=\"absent\",core_type=\"big\"} 1\n"));
    assert_non_null(strstr(page, "topdownd_pmu_error{pmu=\"p\",reason=\"other_cores\"} 1\n"));
    free(page);
    two_deinit(&two);
}

static cJSON *render_json(enum http_page page, const struct shown *shown) {
    struct http_templates templates = {0};
    struct text text = {0};
    assert_int_equal(http_page_render(page, &templates, shown, &text), 0);
    text_append(&text, "", 1);
    cJSON *document = cJSON_Parse(text.data);
    assert_non_null(document);
    text_free(&text);
    http_templates_deinit(&templates);
    return document;
}

static void test_json_is_an_array_of_each_types_own_document(void **state) {
    (void)state;
    struct two labelled, plain;
    two_init(&labelled, true, 1);
    two_init(&plain, false, 1);
    for (enum http_page page = HTTP_PAGE_SNAPSHOT_HOST; page < HTTP_PAGE_N; page++) {
        cJSON *document = render_json(page, &labelled.shown);
        const cJSON *types = cJSON_GetObjectItem(document, "core_types");
        bool answers = page == HTTP_PAGE_TOPDOWN_HOST;
        assert_int_equal(cJSON_GetArraySize(document), answers ? 2 : 1);
        assert_true(!answers || cJSON_IsString(cJSON_GetObjectItem(document, "bound_text")));
        assert_int_equal(cJSON_GetArraySize(types), TYPES_N);
        for (int i = 0; i < TYPES_N; i++) {
            cJSON *type = cJSON_GetArrayItem(types, i);
            assert_string_equal(type->child->string, "core_type"); // before all else
            assert_string_equal(type->child->valuestring, TYPES[i]);
            cJSON_DeleteItemFromObject(type, "core_type");
            cJSON *own = render_json(page, &(struct shown){.n = 1, .types = {plain.shown.types[i]}});
            bool outside = page == HTTP_PAGE_SNAPSHOT_SOCKET;                // what is outside the cores is told once
            bool data = page == HTTP_PAGE_CATALOG || page == HTTP_PAGE_PLAN; // these have the array in all documents
            assert_int_equal(cJSON_HasObjectItem(type, "uncore"), data || (outside && i == 0));
            assert_int_equal(cJSON_HasObjectItem(own, "uncore"), data || outside);
            if (i > 0 && !data)
                cJSON_DeleteItemFromObject(own, "uncore");
            assert_true(cJSON_Compare(type, own, true));
            cJSON_Delete(own);
        }
        cJSON_Delete(document);
    }
    two_deinit(&plain);
    two_deinit(&labelled);
}

static void set_shares(struct two *two, size_t type, double frontend, double retiring, double backend) {
    const struct exporter_host *host = &two->hosts[type];
    struct snapshot *snapshot = (struct snapshot *)(uintptr_t)two->shown.types[type].snapshot;
    const char *const names[] = {"frontend_bound", "retiring", "backend_bound", "bad_speculation"};
    const double values[] = {frontend, retiring, backend, 0.01};
    for (size_t i = 0; i < 4; i++)
        snapshot->values[snapshot_metric(host->layout, 0, host_metric(host, names[i]))] = values[i];
    host_judge(snapshot);
}

static void expect_answer(const struct shown *shown, const char *expected) {
    struct text text = {0};
    view_types_text(shown, &text);
    text_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void test_all_types_have_one_answer(void **state) {
    (void)state;
    struct two two;
    two_init(&two, true, 1);
    set_shares(&two, 0, 0.5, 0.3, 0.1);
    set_shares(&two, 1, 0.4, 0.3, 0.1);
    expect_answer(&two.shown, "All core types: frontend_bound (big 50 %, little 40 %).");
    set_shares(&two, 1, 0.1, 0.3, 0.6);
    expect_answer(&two.shown,
                  "big: frontend_bound, 50 % of pipeline slots; little: backend_bound, 60 % of pipeline slots.");
    set_shares(&two, 1, 0.1, 0.6, 0.1);
    expect_answer(&two.shown, "big: frontend_bound, 50 % of pipeline slots; little: nothing stands out.");
    set_shares(&two, 0, 0.1, 0.6, 0.1);
    expect_answer(&two.shown, "All core types: nothing stands out.");
    two_deinit(&two);
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void test_the_page_has_a_part_for_each_type(void **state) {
    (void)state;
    struct two two;
    struct text text = {0};
    two_init(&two, true, 1);
    assert_int_equal(html_render(&two.shown, &text), 0);
    text_append(&text, "", 1);
    assert_int_equal(count(text.data, "<b>topdownd on "), 1);
    assert_int_equal(count(text.data, "<h2>Core type big</h2>"), 1);
    assert_int_equal(count(text.data, "<h2>Core type little</h2>"), 1);
    assert_int_equal(count(text.data, "<h2>What this host is bound by</h2>"), 1);
    assert_int_equal(count(text.data, "<h2>More</h2>"), 1);
    text_free(&text);
    two_deinit(&two);
}

static int read_last_hour(struct shown_history *history, const struct shown *shown, struct view_history *answer) {
    return shown_history_read(history, &(struct shown_history_query){.from = "-3600"}, shown, answer, NULL, 0);
}

static void test_marks_of_all_types_are_oldest_first(void **state) {
    (void)state;
    struct two two;
    struct shown_history history;
    struct view_history answer;
    two_init(&two, true, 1);
    two.snapshots[0]->end_ns = two.snapshots[1]->end_ns + 2000000000; // the second type began earlier
    shown_history_init(&history);
    for (size_t i = 0; i < TYPES_N; i++) {
        two.shown.types[i].view = view_new(&two.hosts[i].view);
        shown_history_take(&history, i, TYPES_N, two.shown.types[i].view, two.snapshots[i]);
    }
    assert_int_equal(read_last_hour(&history, &two.shown, &answer), 0);
    assert_true(answer.n_marks >= TYPES_N);
    assert_ptr_equal(answer.marks[0].view, two.shown.types[1].view);
    for (size_t i = 0; i + 1 < answer.n_marks; i++)
        assert_true(answer.marks[i].mark.at_ns <= answer.marks[i + 1].mark.at_ns);
    view_history_deinit(&answer);
    shown_history_deinit(&history);
    for (size_t i = 0; i < TYPES_N; i++)
        view_unref(two.shown.types[i].view);
    two_deinit(&two);
}

// ---- the server with types that publish at different times ----

struct served {
    struct two two;
    struct fixture f; // its server and clock
    struct http_published published[TYPES_N];
};

static int served_setup(void **state) {
    struct served *s = calloc(1, sizeof *s);
    struct errors errors = {0};
    assert_non_null(s);
    two_init(&s->two, true, 1);
    for (size_t i = 0; i < TYPES_N; i++)
        s->published[i] = (struct http_published){view_new(&s->two.hosts[i].view), s->two.snapshots[i]};
    assert_int_equal(http_server_new(&LOOPBACK, 1, &s->f.server), 0);
    assert_int_equal(http_server_listen(s->f.server, 0, &LOOPBACK, &errors), 0);
    http_server_use_clock(s->f.server, fixture_clock, &s->f);
    assert_int_equal(http_server_start(s->f.server, s->published, TYPES_N), 0);
    *state = s;
    return 0;
}

static int served_teardown(void **state) {
    struct served *s = *state;
    http_server_free(s->f.server);
    for (size_t i = 0; i < TYPES_N; i++) {
        assert_int_equal(atomic_load(&s->published[i].view->references), 1); // the server has released its reference
        assert_int_equal(atomic_load(&s->published[i].snapshot->references), 1);
        view_unref(s->published[i].view);
    }
    two_deinit(&s->two);
    free(s);
    return 0;
}

static void expect_page(const struct served *s, const char *target, const char *part, bool there) {
    char *answer = ask(&s->f, "GET", target);
    if ((strstr(answer, part) != NULL) != there)
        fail_msg("%s %s '%s'", target, there ? "has not" : "has", part);
    free(answer);
}

static const char *const IPC[] = {"\ntopdownd_ipc{socket=\"0\",core_type=\"big\"}",
                                  "\ntopdownd_ipc{socket=\"0\",core_type=\"little\"}"};

static void test_it_is_ready_when_every_type_has_had_a_round(void **state) {
    const struct served *s = *state;
    expect_page(s, "/-/ready", "topdownd is ready", true);
    for (size_t type = 0; type < TYPES_N; type++) {
        struct snapshot *first = snapshot_new(s->two.hosts[type].layout);
        http_server_publish(s->f.server, type, &(struct http_published){s->published[type].view, first});
        snapshot_unref(first);
        expect_page(s, "/-/ready", "the first round has not ended", true);
        expect_page(s, "/metrics", IPC[type], false);
        expect_page(s, "/metrics", IPC[!type], true);
        http_server_publish(s->f.server, type, &s->published[type]);
        expect_page(s, "/-/ready", "topdownd is ready", true);
        expect_page(s, "/metrics", IPC[type], true);
    }
}

// One core type that counts is enough; the page still says of the other one why it does not.
static void test_a_blind_type_beside_one_that_counts_is_ready_and_explained(void **state) {
    struct served *s = *state;
    struct snapshot *blind[TYPES_N];
    for (size_t type = 0; type < TYPES_N; type++) {
        blind[type] = host_snapshot(&s->two.hosts[type]);
        blind[type]->blind = true;
        http_server_publish(s->f.server, type, &(struct http_published){s->published[type].view, blind[type]});
        expect_page(s, "/-/ready", "topdownd is ready.\n", type == 0);
        expect_page(s, "/-/ready", "200", type == 0);
        expect_page(s, "/-/ready", "big: Nothing has been counted for 3 snapshot intervals: ", true);
        expect_page(s, "/-/ready", "little: Nothing has been counted for 3 snapshot intervals: ", type == 1);
    }
    for (size_t type = 0; type < TYPES_N; type++) {
        http_server_publish(s->f.server, type, &s->published[type]);
        snapshot_unref(blind[type]);
    }
    expect_page(s, "/-/ready", "Nothing", false);
}

static void test_a_type_that_no_round_follows_loses_its_own_gauges_only(void **state) {
    struct served *s = *state;
    for (size_t type = 0; type < TYPES_N; type++) {
        atomic_store(&s->f.now_ms, (type + 1) * 3600000);
        http_server_publish(s->f.server, type, &s->published[type]);
        expect_page(s, "/metrics", IPC[type], true);
        expect_page(s, "/metrics", IPC[!type], false);
        expect_page(s, "/-/ready", "No snapshot has been made", true);
        http_server_publish(s->f.server, !type, &s->published[!type]);
        expect_page(s, "/metrics", IPC[!type], true);
        expect_page(s, "/-/ready", "topdownd is ready", true);
    }
}

static void expect_usable(const struct served *s, unsigned big, unsigned little) {
    const unsigned usable[] = {big, little};
    for (size_t type = 0; type < TYPES_N; type++) {
        char line[128];
        (void)snprintf(line, sizeof line,
                       "topdownd_pmu_counters{pmu=\"toy_pmu_0\",state=\"usable\",core_type=\"%s\"} %u\n", TYPES[type],
                       usable[type]);
        expect_page(s, "/metrics", line, true);
    }
}

static void test_a_new_plan_of_one_type_makes_the_page_anew(void **state) {
    struct served *s = *state;
    expect_usable(s, 5, 3);
    for (size_t type = 0; type < TYPES_N; type++) {
        struct view facts = s->two.hosts[type].view;
        facts.counters.usable = 1;
        struct view *view = view_new(&facts);
        http_server_publish(s->f.server, type, &(struct http_published){view, s->published[type].snapshot});
        expect_usable(s, type == 0 ? 1 : 5, type == 1 ? 1 : 3);
        expect_page(s, "/api/v1/plan", "\"counters_usable\":\t1,", true);
        http_server_publish(s->f.server, type, &s->published[type]);
        view_unref(view);
        expect_usable(s, 5, 3); // and releases the other view
    }
}

static void publish_kind(struct shown_history *history, struct two *two, struct view *view, size_t type,
                         uint64_t end_ns) {
    two->snapshots[1]->start_ns = end_ns - 1000000000;
    two->snapshots[1]->end_ns = end_ns;
    shown_history_take(history, type, 1, view, two->snapshots[1]);
}

static size_t count_values(struct shown_history *history, const struct shown *shown, const struct view *view) {
    struct view_history answer;
    size_t n = 0;
    assert_int_equal(read_last_hour(history, shown, &answer), 0);
    for (size_t i = 0; i < answer.n_series; i++)
        for (size_t step = 0; step < answer.n_steps; step++)
            n += answer.series[i].view == view && isfinite(answer.series[i].values[step]);
    view_history_deinit(&answer);
    return n;
}

// A reload may put a kind at the place that another one had.
static void test_the_past_of_a_kind_of_boxes_is_its_own_wherever_it_stands(void **state) {
    (void)state;
    struct two two;
    struct shown_history history;
    struct view *views[TYPES_N + 1];
    two_init(&two, false, 0);
    two.hosts[1].topology->boxes = true;
    shown_history_init(&history);
    views[0] = view_new(&two.hosts[0].view);
    two.hosts[1].view.pmu = "cha";
    views[1] = view_new(&two.hosts[1].view);
    two.hosts[1].view.pmu = "imc";
    views[2] = view_new(&two.hosts[1].view);
    struct view *const only[] = {views[0], views[2]};
    const struct shown_type cores = {views[0], two.snapshots[0]}, cha = {views[1], two.snapshots[1]},
                            imc = {views[2], two.snapshots[1]};
    const struct shown both = {.n = 1, .n_boxes = 2, .types = {cores, cha, imc}},
                       one = {.n = 1, .n_boxes = 1, .types = {cores, imc}};
    shown_history_renew(&history, 1, views, 3);
    shown_history_take(&history, 0, 1, views[0], two.snapshots[0]);
    const uint64_t begun_ns = two.snapshots[0]->end_ns;
    for (uint64_t step = 1; step <= 4; step++)
        publish_kind(&history, &two, views[2], 2, begun_ns + step * 10000000000); // imc alone has a past
    size_t past = count_values(&history, &both, views[2]);
    assert_true(past > 0);
    assert_int_equal(count_values(&history, &both, views[1]), 0);
    shown_history_renew(&history, 1, only, 2); // cha is removed
    assert_int_equal(count_values(&history, &one, views[2]), past);
    publish_kind(&history, &two, views[2], 1, begun_ns + 50000000000);
    size_t more = count_values(&history, &one, views[2]);
    assert_true(more > past);
    shown_history_renew(&history, 1, views, 3); // and comes to the place that imc had
    assert_int_equal(count_values(&history, &both, views[1]), 0);
    assert_int_equal(count_values(&history, &both, views[2]), more);
    shown_history_deinit(&history);
    for (size_t i = 0; i < 3; i++)
        view_unref(views[i]);
    two_deinit(&two);
}

// Hosts may have many kinds, and some come and go: the past of eight that are gone is kept, which bounds the memory.
static void test_the_past_of_eight_kinds_that_are_gone_is_kept(void **state) {
    (void)state;
    static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "new"};
    enum { N = sizeof names / sizeof *names, GONE = N - 1 };
    struct two two;
    struct shown_history history;
    struct view *views[N + 1];
    two_init(&two, false, 0);
    two.hosts[1].topology->boxes = true;
    shown_history_init(&history);
    views[0] = view_new(&two.hosts[0].view);
    for (size_t i = 0; i < N; i++) {
        two.hosts[1].view.pmu = names[i];
        views[i + 1] = view_new(&two.hosts[1].view);
    }
    shown_history_renew(&history, 1, views, 1 + GONE);
    for (size_t i = 0; i < GONE; i++)
        for (uint64_t step = 1; step <= 3; step++)
            publish_kind(&history, &two, views[1 + i], 1 + i, two.snapshots[0]->end_ns + step * 10000000000);
    struct shown shown = {.n = 1, .n_boxes = GONE, .types = {{views[0], two.snapshots[0]}}};
    for (size_t i = 0; i < GONE; i++)
        shown.types[1 + i] = (struct shown_type){views[1 + i], two.snapshots[1]};
    for (size_t i = 0; i < GONE; i++)
        assert_true(count_values(&history, &shown, views[1 + i]) > 0);
    shown_history_renew(&history, 1, views, 1);
    publish_kind(&history, &two, views[N], 1, two.snapshots[0]->end_ns + 40000000000);
    shown_history_renew(&history, 1, views, 1 + GONE); // they come back
    assert_int_equal(count_values(&history, &shown, views[1]), 0);
    for (size_t i = 1; i < GONE; i++)
        assert_true(count_values(&history, &shown, views[1 + i]) > 0);
    shown_history_deinit(&history);
    for (size_t i = 0; i <= N; i++)
        view_unref(views[i]);
    two_deinit(&two);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, served_setup, served_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_types_series_are_those_of_its_own_page_with_a_label),
        cmocka_unit_test(test_each_family_stands_once_with_all_its_series),
        cmocka_unit_test(test_an_error_of_the_host_is_not_of_a_type),
        cmocka_unit_test(test_json_is_an_array_of_each_types_own_document),
        cmocka_unit_test(test_all_types_have_one_answer),
        cmocka_unit_test(test_the_page_has_a_part_for_each_type),
        cmocka_unit_test(test_marks_of_all_types_are_oldest_first),
        cmocka_unit_test(test_the_past_of_a_kind_of_boxes_is_its_own_wherever_it_stands),
        cmocka_unit_test(test_the_past_of_eight_kinds_that_are_gone_is_kept),
        SERVED(test_it_is_ready_when_every_type_has_had_a_round),
        SERVED(test_a_blind_type_beside_one_that_counts_is_ready_and_explained),
        SERVED(test_a_type_that_no_round_follows_loses_its_own_gauges_only),
        SERVED(test_a_new_plan_of_one_type_makes_the_page_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
