// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/resident_catalog.h"

#include <errno.h>
#include <math.h>

#include "core/derive.h"

// Metrics of metrics and the resident group, from readings made by hand.

#define SECOND_NS UINT64_C(1000000000)

enum { CPUS = 2, CYCLES = 1, A, B, C, D };

struct host {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot;
    uint8_t support[32];
    bool split; // CPU 1 has a sibling that is not measured
};

static struct catalog *plain_catalog(void) {
    static const char *const events[] = {"CYCLES", "A", "B", "C", "D"};
    return catalog_of(events, N_OF(events));
}

// Measures the catalog's only group on two CPUs with a socket each; what the PMU supports is in `support`.
static void host_start(struct host *host, unsigned counters) {
    const struct plan_selection selection = {.group = 0, .weight = 1};
    const struct plan_request request = {.catalog = host->catalog,
                                         .general_counters = counters,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SECOND_NS,
                                         .support = host->support};
    const struct topology_source cpus[] = {{.id = 0, .core = 0, .package = 0, .selected = true},
                                           {.id = 1, .core = 1, .package = 1, .selected = true},
                                           {.id = 2, .core = 1, .package = 1}};
    struct plan *plan;
    struct topology *topology;
    assert_true(host->catalog->n_events <= N_OF(host->support));
    assert_int_equal(plan_new(&request, &plan), 0);
    assert_int_equal(topology_new(cpus, host->split ? CPUS + 1 : CPUS, 0, &topology), 0);
    host->layout = snapshot_layout_new(plan, topology);
    assert_non_null(host->layout);
    host->derive = derive_new(host->layout);
    host->readings = readings_new(host->layout->plan, host->layout->topology);
    assert_true(host->derive && host->readings);
    readings_begin(host->readings, 0, SECOND_NS);
}

static void host_init(struct host *host, struct catalog *catalog) {
    *host = (struct host){.catalog = catalog};
    memset(host->support, PLAN_SUPPORTED, sizeof host->support);
}

static void host_deinit(struct host *host) {
    snapshot_unref(host->snapshot);
    readings_free(host->readings);
    derive_free(host->derive);
    snapshot_layout_unref(host->layout);
    catalog_free(host->catalog);
}

// A window of a second; `counts` are by catalog event.
static struct window *window_of(struct host *host, unsigned cpu, unsigned group, const uint64_t *counts) {
    const struct plan_group *of = &host->layout->plan->groups[group];
    struct window *window = readings_add(host->readings, cpu, group, of->n_events);
    window->result = WINDOW_COMPLETE;
    window->enabled_ns = window->running_ns = SECOND_NS;
    for (size_t i = 0; i < of->n_events; i++)
        window->counts[i] = counts[of->events[i]];
    return window;
}

// A window of each event group, one after the other.
static void windows_of(struct host *host, unsigned cpu, const uint64_t *counts) {
    for (unsigned g = 0; g < host->layout->plan->n_groups; g++)
        (void)window_of(host, cpu, g, counts);
}

static void fail_window(struct window *window, enum window_result result, int error) {
    window->result = result;
    window->error = error;
    window->running_ns = 0;
}

static void end_round(struct host *host, unsigned seconds) {
    struct readings *readings = host->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    snapshot_unref(host->snapshot);
    host->snapshot = snapshot_new(host->layout);
    assert_non_null(host->snapshot);
    derive_round(host->derive, readings, host->snapshot);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

static size_t metric_place(const struct host *host, const char *name) {
    const struct plan *plan = host->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strcmp(host->catalog->metrics[plan->metrics[m].metric].name, name) == 0)
            return m;
    fail_msg("%s is not planned", name);
    return 0;
}

static unsigned group_with(const struct host *host, unsigned event) {
    const struct plan *plan = host->layout->plan;
    for (unsigned g = 0; g < plan->n_groups; g++)
        for (size_t i = 0; i < plan->groups[g].n_events; i++)
            if (plan->groups[g].events[i] == event && (int)g != plan->resident_group)
                return g;
    fail_msg("no rotating group has event %u", event);
    return 0;
}

static void near(const char *what, double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s: %.17g, should be %.17g", what, value, wanted);
}

static void expect(const struct host *host, size_t scope, const char *name, double wanted) {
    size_t m = metric_place(host, name);
    assert_int_equal(host->snapshot->absent[scope * host->layout->n_metrics + m], ABSENT_NOT);
    near(name, host->snapshot->values[snapshot_metric(host->layout, scope, m)], wanted);
}

static void expect_absent(const struct host *host, size_t scope, const char *name, enum absent reason) {
    size_t m = metric_place(host, name);
    assert_true(isnan(host->snapshot->values[snapshot_metric(host->layout, scope, m)]));
    assert_string_equal(absent_text(host->snapshot->absent[scope * host->layout->n_metrics + m]), absent_text(reason));
}

static size_t cpu_scope(const struct host *host, size_t cpu) { return snapshot_scope_cpu(host->layout, cpu); }

// ---- metrics of metrics ----

// part and other take turns; combined needs both, mixed all and a window of its own.
static void combined_init(struct host *host) {
    host_init(host, plain_catalog());
    metric_of(host->catalog, "part", "A / CYCLES", NULL);
    metric_of(host->catalog, "other", "B / CYCLES", NULL);
    metric_of(host->catalog, "combined", "part * other", NULL);
    metric_of(host->catalog, "mixed", "combined * C / D", NULL);
    group_of(host->catalog, "G", "mixed");
}

static const uint64_t FIRST[] = {0, 100, 50, 20, 6, 3}, SECOND[] = {0, 300, 30, 90, 12, 4};

static void test_a_combined_value_is_of_the_scopes_own_sums(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host_start(&host, 2);
    assert_int_equal(host.layout->plan->n_groups, 3);
    windows_of(&host, 0, FIRST);
    windows_of(&host, 1, SECOND);
    end_round(&host, 3);
    const double first = 0.5 * 0.2, second = 0.1 * 0.3, all = (80.0 / 400) * (110.0 / 400);
    expect(&host, cpu_scope(&host, 0), "combined", first);
    expect(&host, cpu_scope(&host, 1), "combined", second);
    expect(&host, snapshot_scope_socket(0), "combined", first);
    expect(&host, snapshot_scope_socket(1), "combined", second);
    expect(&host, 0, "combined", all); // not the mean of the two, 0.065
    expect(&host, cpu_scope(&host, 0), "mixed", first * 2);
    expect(&host, cpu_scope(&host, 1), "mixed", second * 3);
    expect(&host, 0, "mixed", all * 18 / 7);
    host_deinit(&host);
}

static void test_without_a_part_there_is_no_whole_and_the_reason_is_the_parts(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host_start(&host, 2);
    windows_of(&host, 0, FIRST);
    (void)window_of(&host, 1, group_with(&host, A), SECOND);
    fail_window(window_of(&host, 1, group_with(&host, B), SECOND), WINDOW_STARVED, 0);
    (void)window_of(&host, 1, group_with(&host, C), SECOND);
    end_round(&host, 3);
    expect(&host, cpu_scope(&host, 1), "part", 0.1);
    expect_absent(&host, cpu_scope(&host, 1), "other", ABSENT_STARVED);
    expect_absent(&host, cpu_scope(&host, 1), "combined", ABSENT_STARVED);
    expect_absent(&host, cpu_scope(&host, 1), "mixed", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "combined", 0.1);
    expect(&host, 0, "combined", 80.0 / 400 * 20 / 100); // other: of the CPU that has it
    host_deinit(&host);
}

static void test_what_divides_by_zero_may_not_be_needed(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_catalog());
    metric_of(host.catalog, "never", "C / D", NULL);
    metric_of(host.catalog, "part", "A / CYCLES", NULL);
    metric_of(host.catalog, "choice", "never if part > 10 else part", NULL);
    metric_of(host.catalog, "sum", "never + part", NULL);
    group_of(host.catalog, "G", "choice sum");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "never", ABSENT_UNDEFINED);
    expect(&host, 0, "choice", 0.5);
    expect_absent(&host, 0, "sum", ABSENT_UNDEFINED);
    host_deinit(&host);
}

static void test_the_larger_of_no_value_and_zero_is_no_value(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_catalog());
    metric_of(host.catalog, "never", "C / D", NULL);
    metric_of(host.catalog, "part", "A / CYCLES", NULL);
    metric_of(host.catalog, "rest", "max(1 - (never + part), 0)", NULL);
    metric_of(host.catalog, "least", "min(never, part)", NULL);
    metric_of(host.catalog, "most", "max(0, part)", NULL);
    group_of(host.catalog, "G", "rest least most");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "rest", ABSENT_UNDEFINED);
    expect_absent(&host, 0, "least", ABSENT_UNDEFINED);
    expect(&host, 0, "most", 0.5);
    host_deinit(&host);
}

static void test_a_condition_without_a_value_gives_none(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_catalog());
    metric_of(host.catalog, "never", "C / D", NULL);
    metric_of(host.catalog, "part", "A / CYCLES", NULL);
    metric_of(host.catalog, "likely", "100 * part if never < 0.5 else 0", NULL);
    metric_of(host.catalog, "above", "never > 0.1", NULL);
    metric_of(host.catalog, "both", "(never > 0.1) & (part > 0.6)", NULL);
    metric_of(host.catalog, "either", "part if never < 0.5 else part", NULL);
    group_of(host.catalog, "G", "likely above both either");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "likely", ABSENT_UNDEFINED);
    expect_absent(&host, 0, "above", ABSENT_UNDEFINED);
    expect(&host, 0, "both", 0);
    expect(&host, 0, "either", 0.5);
    host_deinit(&host);
}

static void test_what_needs_a_stalled_metric_is_stalled(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host.support[B] = PLAN_SUPPORT_UNKNOWN;
    host_start(&host, 2);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 6, 3});
    end_round(&host, 3);
    expect(&host, 0, "part", 0.5);
    expect_absent(&host, 0, "other", ABSENT_STALLED);
    expect_absent(&host, 0, "combined", ABSENT_STALLED);
    expect_absent(&host, 0, "mixed", ABSENT_STALLED);
    // other and mixed, of three with events
    near("stalled", host.snapshot->values[snapshot_uncovered(host.layout, cpu_scope(&host, 0), UNCOVERED_STALLED)], 2);
    windows_of(&host, 0, FIRST);
    end_round(&host, 3);
    expect(&host, 0, "mixed", 0.2);
    host_deinit(&host);
}

static void test_a_metric_that_is_not_plannable_takes_those_that_need_it_along(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host.support[B] = PLAN_UNSUPPORTED;
    host_start(&host, 2);
    end_round(&host, 1);
    expect_absent(&host, 0, "mixed", ABSENT_NOT_PLANNABLE);
    expect_absent(&host, 0, "combined", ABSENT_NOT_PLANNABLE);
    host_deinit(&host);
}

// ---- time, and whole cores ----

static void test_time_passes_once_for_all_cpus(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_catalog());
    metric_of(host.catalog, "rate", "A / duration_time", NULL);
    metric_of(host.catalog, "share", "A / CYCLES", NULL);
    metric_of(host.catalog, "busy", "share * cpu_seconds / duration_time", NULL);
    group_of(host.catalog, "G", "rate busy");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    windows_of(&host, 1, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 2); // a second of two was counted
    expect(&host, 0, "rate", 100);
    expect(&host, cpu_scope(&host, 1), "rate", 50);
    expect(&host, 0, "busy", 0.5 * 2);
    expect(&host, snapshot_scope_socket(1), "busy", 0.5);
    expect(&host, cpu_scope(&host, 0), "busy", 0.5);
    size_t m = metric_place(&host, "rate");
    assert_true(isnan(host.snapshot->values[snapshot_numerator(host.layout, 0, m)]));
    assert_true(isnan(host.snapshot->values[snapshot_denominator(host.layout, 0, m)]));
    host_deinit(&host);
}

static void wide_start(struct host *host, bool split) {
    host_init(host, plain_catalog());
    host->split = split;
    metric_of(host->catalog, "wide", "A / CYCLES if #core_wide < 1 else B / CYCLES", NULL);
    group_of(host->catalog, "G", "wide");
    host_start(host, 4);
    windows_of(host, 0, FIRST);
    windows_of(host, 1, SECOND);
    end_round(host, 1);
}

static void test_a_sum_without_a_sibling_is_not_core_wide(void **state) {
    (void)state;
    struct host whole, split;
    wide_start(&whole, false);
    wide_start(&split, true); // CPU 1 has a sibling that is not measured
    size_t first = snapshot_scope_socket(0), second = snapshot_scope_socket(1);
    size_t m = metric_place(&whole, "wide"), n = metric_place(&split, "wide");
    double by_b = whole.snapshot->values[snapshot_metric(whole.layout, second, m)];
    double by_a = split.snapshot->values[snapshot_metric(split.layout, second, n)];
    assert_true(by_a == whole.snapshot->values[snapshot_metric(whole.layout, cpu_scope(&whole, 1), m)]);
    assert_true(by_a != by_b);
    assert_true(whole.snapshot->values[snapshot_metric(whole.layout, first, m)] ==
                split.snapshot->values[snapshot_metric(split.layout, first, n)]);
    assert_true(whole.snapshot->values[snapshot_metric(whole.layout, 0, m)] !=
                split.snapshot->values[snapshot_metric(split.layout, 0, n)]);
    host_deinit(&split);
    host_deinit(&whole);
}

// A socket's only CPU has the socket's formula where its sibling is not measured, and so the same error bar.
static void test_error_bars_know_sums_without_a_sibling(void **state) {
    (void)state;
    struct host hosts[2];
    double errors[2][2]; // of the CPU and of its socket
    for (int split = 0; split < 2; split++) {
        struct host *host = &hosts[split];
        wide_start(host, split);
        for (int round = 0; round < 3; round++) {
            windows_of(host, 1, round % 2 ? SECOND : FIRST);
            end_round(host, 3); // a third of it was counted
        }
        size_t m = metric_place(host, "wide");
        errors[split][0] = host->snapshot->values[snapshot_standard_error(host->layout, cpu_scope(host, 1), m)];
        errors[split][1] = host->snapshot->values[snapshot_standard_error(host->layout, snapshot_scope_socket(1), m)];
        host_deinit(host);
    }
    assert_true(errors[1][0] > 0 && errors[1][0] == errors[0][0]);
    assert_true(errors[1][1] == errors[1][0]);
    assert_true(errors[0][1] > 0 && errors[0][1] != errors[0][0]);
}

static void test_core_wide_holds_for_sums_and_not_for_one_cpu(void **state) {
    (void)state;
    struct host host;
    wide_start(&host, false);
    expect(&host, cpu_scope(&host, 0), "wide", 0.5);
    expect(&host, cpu_scope(&host, 1), "wide", 0.1);
    expect(&host, snapshot_scope_socket(1), "wide", 0.3);
    expect(&host, 0, "wide", 110.0 / 400);
    host_deinit(&host);
}

// ---- the resident group ----

// Two counters, one of them DROP's: A and B take turns, each read together with the resident group.
static void resident_init(struct host *host) {
    host_init(host, resident_catalog());
    metric_of(host->catalog, "a", "A / INST", NULL);
    metric_of(host->catalog, "b", "B / INST", NULL);
    metric_of(host->catalog, "ipc", "INST / SLOTS", NULL);
    group_of(host->catalog, "G", "frontend_bound backend_bound a b ipc");
    host_start(host, 2);
    assert_true(host->layout->plan->resident_group >= 0);
}

static const uint64_t SLOT_A[R_N] = {[R_SLOTS] = 1000, [R_RET] = 3, [R_FE] = 1, [R_INST] = 100, [R_A] = 50};
static const uint64_t SLOT_B[R_N] = {[R_SLOTS] = 3000, [R_RET] = 1, [R_FE] = 1, [R_INST] = 400, [R_B] = 100};

static struct window *resident_window(struct host *host, const uint64_t *counts) {
    return window_of(host, 0, (unsigned)host->layout->plan->resident_group, counts);
}

static void expect_total(const struct host *host, size_t place, double wanted) {
    near("total", host->snapshot->values[place], wanted);
}

static void expect_basis(const struct host *host, const char *metric, double windows, double share) {
    size_t scope = cpu_scope(host, 0), m = metric_place(host, metric);
    near("windows", host->snapshot->values[snapshot_metric_windows(host->layout, scope, m)], windows);
    near("share", host->snapshot->values[snapshot_share_of_time(host->layout, scope, m)], share);
}

static void test_a_rotating_group_is_read_with_the_resident_one_of_its_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)resident_window(&host, SLOT_B);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_round(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect(&host, cpu_scope(&host, 0), "b", 0.25);
    expect(&host, cpu_scope(&host, 0), "ipc", 500.0 / 4000); // of both slots
    expect_basis(&host, "a", 1, 0.5);
    expect_basis(&host, "ipc", 2, 1);
    // totals: a stands for both seconds
    expect_total(&host, snapshot_numerator(host.layout, 0, metric_place(&host, "a")), 100);
    expect_total(&host, snapshot_denominator(host.layout, 0, metric_place(&host, "a")), 200);
    expect_total(&host, snapshot_numerator(host.layout, 0, metric_place(&host, "ipc")), 500);
    // level 1: 1/4 of 1000 and 1/2 of 3000
    expect_total(&host, snapshot_category(host.layout, 0, 0), 1750);
    expect_total(&host, snapshot_category(host.layout, 0, 1), 2250);
    expect_total(&host, snapshot_pipeline_slots(host.layout, 0), 4000);
    for (size_t e = 0; e < host.layout->n_events; e++) // each of its events counts once
        if (host.layout->events[e] == R_INST)
            expect_total(&host, snapshot_event(host.layout, 0, e), 500);
    expect_total(&host, snapshot_covered(host.layout, cpu_scope(&host, 0)), 2);
    host_deinit(&host);
}

static void test_windows_of_unequal_length_are_brought_to_the_rotating_ones(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    struct window *resident = resident_window(&host, SLOT_A);
    resident->enabled_ns = 2 * SECOND_NS; // it began earlier and counted half as much a second
    resident->running_ns = SECOND_NS;     // and shared its counters
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    end_round(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 50.0 / (100 * 2 / 2));
    expect_basis(&host, "a", 1, 0.25); // half of it was not counted together
    host_deinit(&host);
}

static void test_a_starved_resident_group_starves_what_needs_it_in_that_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    fail_window(resident_window(&host, SLOT_B), WINDOW_STARVED, 0);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_round(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "ipc", 0.1); // of the other slot
    assert_true(host.snapshot->values[snapshot_denominator(host.layout, 0, metric_place(&host, "b"))] == 0);
    // one metric of five was not covered; the next round may still make up for it
    expect_total(&host, snapshot_covered(host.layout, cpu_scope(&host, 0)), 2 * 4.0 / 5);
    host_deinit(&host);
}

static void test_what_the_resident_group_counted_is_in_the_totals_once(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)resident_window(&host, SLOT_B);
    fail_window(window_of(&host, 0, group_with(&host, R_B), SLOT_B), WINDOW_STARVED, 0);
    end_round(&host, 2);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "ipc", 500.0 / 4000);
    bool found = false;
    for (size_t e = 0; e < host.layout->n_events; e++) {
        if (host.layout->events[e] != R_INST)
            continue;
        expect_total(&host, snapshot_event(host.layout, 0, e), 500);
        found = true;
    }
    assert_true(found);
    host_deinit(&host);
}

static void test_a_resident_window_is_good_for_one_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B); // without one
    end_round(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_FAILED);
    (void)resident_window(&host, SLOT_B); // of the round before
    end_round(&host, 1);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_round(&host, 1);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_FAILED);
    host_deinit(&host);
}

static void test_a_cpu_that_is_away_is_offline_in_both_groups(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    fail_window(resident_window(&host, SLOT_A), WINDOW_FAILED, -ENODEV);
    fail_window(window_of(&host, 0, group_with(&host, R_A), SLOT_A), WINDOW_FAILED, -ENODEV);
    end_round(&host, 2);
    expect_absent(&host, cpu_scope(&host, 0), "a", ABSENT_OFFLINE);
    expect_absent(&host, cpu_scope(&host, 0), "ipc", ABSENT_OFFLINE);
    expect_total(&host, snapshot_offline(host.layout, 0), 1);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_combined_value_is_of_the_scopes_own_sums),
        cmocka_unit_test(test_without_a_part_there_is_no_whole_and_the_reason_is_the_parts),
        cmocka_unit_test(test_what_divides_by_zero_may_not_be_needed),
        cmocka_unit_test(test_the_larger_of_no_value_and_zero_is_no_value),
        cmocka_unit_test(test_a_condition_without_a_value_gives_none),
        cmocka_unit_test(test_what_needs_a_stalled_metric_is_stalled),
        cmocka_unit_test(test_a_metric_that_is_not_plannable_takes_those_that_need_it_along),
        cmocka_unit_test(test_time_passes_once_for_all_cpus),
        cmocka_unit_test(test_a_sum_without_a_sibling_is_not_core_wide),
        cmocka_unit_test(test_error_bars_know_sums_without_a_sibling),
        cmocka_unit_test(test_core_wide_holds_for_sums_and_not_for_one_cpu),
        cmocka_unit_test(test_a_rotating_group_is_read_with_the_resident_one_of_its_slot),
        cmocka_unit_test(test_windows_of_unequal_length_are_brought_to_the_rotating_ones),
        cmocka_unit_test(test_a_starved_resident_group_starves_what_needs_it_in_that_slot),
        cmocka_unit_test(test_what_the_resident_group_counted_is_in_the_totals_once),
        cmocka_unit_test(test_a_resident_window_is_good_for_one_slot),
        cmocka_unit_test(test_a_cpu_that_is_away_is_offline_in_both_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
