// SPDX-License-Identifier: Apache-2.0
#include "tests/build/shipped.h"
#include "tests/unit/exporter_host.h"
#include "tests/unit/plan_check.h"

#include "config/spec/spec_json.h"
#include "daemon/source/selection.h"
#include "exporters/prometheus/prometheus.h"

// What every CPU measures by default: the metric groups that its spec recommends, and the software events.

enum { SERIES_MAX = 300, SELECTIONS_MAX = 16, BOUNDS_MAX = 20 };

// What a default has if the spec has it, by exported name.
static const char *const WANTED[] = {"ipc",
                                     "frequency_hertz",
                                     "branch_mpki",
                                     "branch_miss_ratio",
                                     "l1i_cache_mpki",
                                     "l1i_cache_miss_ratio",
                                     "l1d_cache_mpki",
                                     "l1d_cache_miss_ratio",
                                     "l2_cache_mpki",
                                     "l2_cache_miss_ratio",
                                     "ll_cache_mpki",
                                     "ll_cache_miss_ratio",
                                     "itlb_mpki",
                                     "itlb_miss_ratio",
                                     "dtlb_mpki",
                                     "dtlb_miss_ratio"};

// The vendors' groups of level 2; TopdownL2 is Topdown_L2 too.
static const char *const LEVEL2[][2] = {
    {"TopdownL2"}, {"Topdown_Frontend", "Topdown_Backend"}, {"Topdown_Bad_Speculation"}};

static size_t select_defaults(const struct catalog *catalog, struct plan_selection *selections) {
    unsigned n = 0;
    for (int group; (group = catalog_default_group(catalog, n + 1)) >= 0; n++) {
        assert_true(n + 4 < SELECTIONS_MAX);
        selections[n] = (struct plan_selection){.group = (unsigned)group};
    }
    assert_true(n > 0);
    selections[n++] = (struct plan_selection){.group = (unsigned)catalog_find_group(catalog, "Software")};
    return n;
}

static struct plan *plan_selected(const struct catalog *catalog, const struct plan_selection *selections, size_t n) {
    return build_plan(&(struct plan_request){.catalog = catalog,
                                             .general_counters = catalog->general_counters,
                                             .selections = selections,
                                             .n_selections = n,
                                             .slot_ns = SLOT_NS,
                                             .idle = 0.1});
}

static struct plan *default_plan(const struct catalog *catalog) {
    struct plan_selection selections[SELECTIONS_MAX];
    size_t n = select_defaults(catalog, selections);
    return plan_selected(catalog, selections, n);
}

// ---- what is in it ----

static bool is_default(const struct plan *plan, size_t metric) {
    return plan->place[metric] >= 0 && plan_metric_planned(&plan->metrics[plan->place[metric]]);
}

static void check_complete(struct catalog *catalog) {
    struct plan *plan = default_plan(catalog);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        for (size_t i = 0; i < N_OF(WANTED); i++)
            if (catalog->metrics[m].stands_for < 0 && strcmp(catalog->metrics[m].export_name, WANTED[i]) == 0 &&
                !is_default(plan, m))
                fail_msg("%s has %s, but not by default", catalog->product.spec, WANTED[i]);
    assert_true(!catalog->level1.present || plan->level1_unit >= 0);
    plan_free(plan);
}

static void test_every_cpu_has_the_neutral_metrics_of_its_spec_by_default(void **state) {
    (void)state;
    shipped_for_every_cpu(check_complete);
}

// ---- "Defaults" in a profile ----

enum { MISSING_MAX = 100 };

// The selections of a profile's groups and weights, as "group:weight ", and what is missing.
static void assert_selects(const struct catalog *catalog, const char *profile, const char *expected,
                           const char *expected_missing) {
    char yaml[200], text[400] = "", missing[MISSING_MAX];
    struct errors errors = {0};
    struct config *config;
    struct plan_selection *selections;
    int length = snprintf(yaml, sizeof yaml, "profiles: {default: {%s}}", profile);
    if (config_parse("test", yaml, (size_t)length, &errors, &config) != 0)
        fail_msg("%s", errors.items[0].text);
    int n = selection_make(&config->profiles[0], catalog, false, &selections, missing, sizeof missing);
    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s:%u ", catalog->groups[selections[i].group].name,
                       selections[i].weight);
    }
    assert_string_equal(text, expected);
    assert_string_equal(missing, expected_missing);
    free(selections);
    config_free(config);
}

static void test_defaults_stand_for_the_groups_of_the_cpus_spec(void **state) {
    (void)state;
    struct catalog *v3 = shipped_load("specs/neoverse-v3.json"), *spr = shipped_load("specs/sapphire-rapids.json");
    assert_selects(v3, "", "Topdown_L1:0 General:0 Clock:0 MPKI:0 Miss_Ratio:0 Software:0 ", "");
    assert_selects(spr, "groups: [defaults]", "stage_1:0 TopdownL2:0 General:0 Frequency:0 MPKI:0 Miss_Ratio:0 ", "");
    // each group once, where it comes first; weights of all of them, of one by its name, of one that is not there
    assert_selects(v3, "groups: [MPKI, Defaults], weights: {Defaults: 2, topdown-l1: 3, MPKI: 4, stage_1: 9}",
                   "MPKI:4 Topdown_L1:3 General:2 Clock:2 Miss_Ratio:2 ", "");
    catalog_free(v3);
    catalog_free(spr);
}

static void test_without_groups_of_the_spec_defaults_are_the_usual_ones(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog *software;
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &software), 0);
    assert_int_equal(catalog_default_group(software, 1), -1);
    assert_selects(software, "", "stage_1:0 Software:0 ", "General, MPKI, Miss_Ratio");
    catalog_free(software);
}

// ---- how many series ----

static struct snapshot *any_snapshot(const struct exporter_host *host) {
    struct snapshot *snapshot = snapshot_new(host->layout);
    assert_non_null(snapshot);
    for (size_t s = 0; s < host->layout->n_scopes; s++)
        host_fill_scope(host, snapshot, s);
    for (size_t s = 0; s < host->topology->n_sockets; s++) {
        snapshot->values[snapshot_offline(host->layout, s)] = 0;
        snapshot->values[snapshot_measured(host->layout, s)] = 2;
        size_t scope = snapshot_scope_socket(s);
        snapshot->values[snapshot_busy(host->layout, scope)] = 1;
        snapshot->values[snapshot_verdict(host->layout, scope, 0)] = 1; // one of the metrics
        snapshot->values[snapshot_verdict_since(host->layout, scope)] = 1;
        snapshot->values[snapshot_verdict_certain(host->layout, scope)] = 1;
    }
    for (size_t g = 0; g < host->plan->n_groups; g++) {
        for (int r = 0; r < WINDOW_RESULT_N; r++)
            snapshot->values[snapshot_windows(host->layout, g, (enum window_result)r)] = r;
        snapshot->values[snapshot_enabled(host->layout, g)] = 1;
        snapshot->values[snapshot_running(host->layout, g)] = 1;
    }
    host_fill_self(snapshot);
    return snapshot;
}

// Beside the limit for what cores count are bounds of actions, ten a socket at most, and the kernel's times.
static size_t count_series(struct exporter_host *host) {
    static const char bound[] = "topdownd_opportunity_", busy[] = "topdownd_busy_cpu_seconds_total{";
    struct snapshot *snapshot = any_snapshot(host);
    snapshot->sequence = 1;
    const struct shown shown = {.n = 1, .types = {{.view = &host->view, .snapshot = snapshot}}};
    struct series *series = series_new(&shown, false);
    struct text text = {0};
    size_t n = 0, n_bounds = 0;
    assert_int_equal(prometheus_render(series, &shown, &text), 0);
    for (const char *line = text.data; line < text.data + text.length;
         line = (char *)memchr(line, '\n', (size_t)(text.data + text.length - line)) + 1) {
        bool is_bound = strncmp(line, bound, sizeof bound - 1) == 0;
        n_bounds += is_bound;
        n += *line != '#' && !is_bound && strncmp(line, busy, sizeof busy - 1) != 0;
    }
    assert_true(n_bounds <= BOUNDS_MAX);
    text_free(&text);
    series_free(series);
    snapshot_unref(snapshot);
    return n;
}

// Takes the plan.
static size_t count_series_of(struct catalog *catalog, struct plan *plan) {
    const struct topology_source cpus[] = {
        {0, 0, 0, true}, {1, 0, 0, true}, {2, 1, 1, true}, {3, 1, 1, true}}; // id, core, package, selected
    struct topology *topology;
    assert_int_equal(topology_new(cpus, 4, 2e9, &topology), 0);
    struct snapshot_layout *layout = build_layout(plan, topology);
    struct exporter_host host = {.catalog = catalog, .layout = layout, .plan = layout->plan, .topology = topology};
    struct platform *platform = platform_new("not known here");
    assert_non_null(platform);
    host.view = (struct view){.layout = layout,
                              .version = "1",
                              .hostname = "host",
                              .pmu = "cpu",
                              .cpu_vendor = "vendor",
                              .cpu_model = "model",
                              .cpu_microarchitecture = "microarchitecture",
                              .profile = "default",
                              .platform = platform,
                              .counters.total = 8,
                              .counters.usable = 8};
    size_t n = count_series(&host);
    platform_unref(platform);
    snapshot_layout_unref(layout);
    return n;
}

static void check_series(struct catalog *catalog) {
    struct plan *plan = default_plan(catalog);
    size_t n_groups = plan->n_groups, n = count_series_of(catalog, plan);
    print_message("%-18s %3zu series, %zu event groups\n", catalog->product.spec, n, n_groups);
    if (n > SERIES_MAX)
        fail_msg("%s has %zu series by default", catalog->product.spec, n);
}

static void test_the_default_of_every_cpu_is_within_300_series_on_two_sockets(void **state) {
    (void)state;
    shipped_for_every_cpu(check_series);
}

// ---- level 2 ----

static bool is_one_of(int group, const int groups[2]) { return group == groups[0] || group == groups[1]; }

// Level 2 is among the defaults if and only if it takes no event group more and fits the number of series.
static void check_level2_groups(struct catalog *catalog, const char *const names[2]) {
    struct plan_selection with[SELECTIONS_MAX], without[SELECTIONS_MAX];
    size_t n_with = 0, n_defaults = select_defaults(catalog, without), n_without = 0;
    int level2[2] = {-1, -1};
    for (size_t i = 0; i < 2 && names[i]; i++)
        level2[i] = catalog_find_group(catalog, names[i]);
    for (size_t i = 0; i < n_defaults; i++)
        if (!is_one_of((int)without[i].group, level2))
            with[n_with++] = without[n_without++] = without[i];
    for (size_t i = 0; i < 2; i++)
        if (level2[i] >= 0)
            with[n_with++] = (struct plan_selection){.group = (unsigned)level2[i]};
    if (n_with == n_without)
        return; // there is none
    struct plan *both = plan_selected(catalog, with, n_with), *alone = plan_selected(catalog, without, n_without);
    size_t n_alone = plan_n_rotating(alone), n_both = plan_n_rotating(both), n = count_series_of(catalog, both);
    bool is_free = n_both == n_alone && n <= SERIES_MAX, by_default = n_without < n_defaults;
    if (is_free != by_default)
        fail_msg("%s: with %s it has %zu event groups instead of %zu, %zu series, and that is %sthe default",
                 catalog->product.spec, names[0], n_both, n_alone, n, by_default ? "" : "not ");
    plan_free(alone);
}

static void check_level2(struct catalog *catalog) {
    for (size_t i = 0; i < N_OF(LEVEL2) && catalog->level1.present; i++)
        check_level2_groups(catalog, LEVEL2[i]);
}

static void test_level_2_is_measured_by_default_where_it_takes_no_event_group_and_fits_the_series(void **state) {
    (void)state;
    shipped_for_every_cpu(check_level2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cpu_has_the_neutral_metrics_of_its_spec_by_default),
        cmocka_unit_test(test_defaults_stand_for_the_groups_of_the_cpus_spec),
        cmocka_unit_test(test_without_groups_of_the_spec_defaults_are_the_usual_ones),
        cmocka_unit_test(test_level_2_is_measured_by_default_where_it_takes_no_event_group_and_fits_the_series),
        cmocka_unit_test(test_the_default_of_every_cpu_is_within_300_series_on_two_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
