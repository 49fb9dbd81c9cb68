// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/taped.h"

// A simulated host is measured and recorded; the recording alone, with a newly read catalog, must reproduce every value
// of every snapshot bit by bit.

// ---- the tests ----

static void test_a_recording_of_each_load_gives_the_live_values_bit_by_bit(void **state) {
    (void)state;
    static const char *const scenarios[] = {"tests/data/scenarios/steady.json", "tests/data/scenarios/changing.json",
                                            "tests/data/scenarios/rivals.json",
                                            "tests/data/scenarios/steady-software.json", "scenarios/demo.json"};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct pipeline p;
        struct taped taped;
        pipeline_load(&p, scenarios[i]);
        pipeline_start(&p, 50000000, 11, NULL);
        taped_begin(&taped, &p);
        taped_run(&taped, &p, 20);
        taped_assert_plays(&taped, 20);
        size_t windows = sampler_readings(p.sampler)->n_windows;
        print_message("%s: %zu bytes a window\n", scenarios[i], taped.bytes.n / 20 / (windows > 0 ? windows : 1));
        taped_end(&taped);
        pipeline_stop(&p);
    }
}

static void assert_load_plays(struct pipeline *p, const char *const *groups) {
    struct taped taped;
    pipeline_start(p, 50000000, 11, groups);
    taped_begin(&taped, p);
    taped_run(&taped, p, 12);
    taped_assert_plays(&taped, 12);
    taped_end(&taped);
}

static void test_groups_led_by_slots_are_replayed(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "MPKI", NULL};
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 3);
    assert_load_plays(&p, groups);
    assert_true(p.plan->common_unit >= 0);
    pipeline_stop(&p);
}

static void test_a_composite_is_replayed(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "tests/data/scenarios/changing.json");
    p.scenario->general_counters = 2;
    assert_load_plays(&p, NULL);
    assert_true(p.plan->units[p.plan->level1_unit].n_groups > 1);
    pipeline_stop(&p);
}

static void test_contended_starved_and_failed_windows_are_replayed(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "tests/data/scenarios/steady.json");
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    rival->period_seconds = 0.1;
    rival->on_seconds = 0.03;
    rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    rival->from_seconds = 5;
    rival->until_seconds = 8;
    rival = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    assert_int_equal(cpuset_parse("3", &rival->cpus), 0);
    rival->from_seconds = 3;
    rival->until_seconds = 10;
    assert_load_plays(&p, NULL);
    assert_true(pipeline_windows(&p, WINDOW_CONTENDED) > 0 && pipeline_windows(&p, WINDOW_STARVED) > 0 &&
                pipeline_windows(&p, WINDOW_FAILED) > 0);
    pipeline_stop(&p);
}

static void test_changes_of_plan_and_a_pause_are_replayed(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    pipeline_load(&p, "tests/data/scenarios/steady.json");
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 3);
    rival->from_seconds = 10;
    pipeline_start_following(&p, 50000000, 3, NULL);
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 30);
    taped_yield(&taped, &p, 3);
    taped_run(&taped, &p, 15);
    struct taped_replay replay = taped_play(&taped, taped.bytes.n);
    assert_int_equal(replay.n_rounds, 45);
    assert_true(replay.n_plans > 1);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_a_repeated_plan_in_the_next_file_changes_nothing(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    pipeline_load(&p, "tests/data/scenarios/changing.json");
    pipeline_start(&p, 50000000, 5, NULL);
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 5);
    taped_header(&taped, &p);
    taped_plan(&taped, &p, true);
    taped_run(&taped, &p, 5);
    taped_assert_plays(&taped, 10);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void small(struct pipeline *p, struct taped *taped) {
    static const char *const groups[] = {"stage_1", NULL};
    pipeline_load(p, "tests/data/scenarios/steady.json");
    pipeline_start(p, 200000000, 5, groups);
    taped_begin(taped, p);
    taped_run(taped, p, 4);
}

static void assert_same_list(const unsigned *a, size_t n_a, const unsigned *b, size_t n_b) {
    assert_int_equal(n_a, n_b);
    assert_memory_equal(a, b, n_a * sizeof *a);
}

static void assert_same_plan(const struct snapshot_layout *layout, const struct plan *b) {
    const struct plan *a = layout->plan;
    for (size_t e = 0; e < layout->n_events; e++)
        assert_int_equal(a->support[layout->events[e]], b->support[layout->events[e]]);
    assert_int_equal(a->n_groups, b->n_groups);
    for (size_t g = 0; g < a->n_groups; g++) {
        assert_string_equal(a->groups[g].name, b->groups[g].name);
        assert_int_equal(a->groups[g].unit, b->groups[g].unit);
        assert_same_list(a->groups[g].events, a->groups[g].n_events, b->groups[g].events, b->groups[g].n_events);
    }
    assert_int_equal(a->n_units, b->n_units);
    for (size_t u = 0; u < a->n_units; u++) {
        assert_int_equal(a->units[u].first_group, b->units[u].first_group);
        assert_int_equal(a->units[u].slots, b->units[u].slots);
        assert_int_equal(a->units[u].reference, b->units[u].reference);
        assert_same_list(a->units[u].events, a->units[u].n_events, b->units[u].events, b->units[u].n_events);
    }
    assert_int_equal(a->n_metrics, b->n_metrics);
    for (size_t m = 0; m < a->n_metrics; m++) {
        assert_int_equal(a->metrics[m].metric, b->metrics[m].metric);
        assert_int_equal(a->metrics[m].unit, b->metrics[m].unit);
        assert_int_equal(a->metrics[m].auxiliary, b->metrics[m].auxiliary);
        assert_string_equal(a->metrics[m].reason, b->metrics[m].reason);
    }
    assert_same_list(a->evaluation, a->n_metrics, b->evaluation, b->n_metrics);
    assert_same_list(a->round, a->n_round, b->round, b->n_round);
    assert_true(a->slot_ns == b->slot_ns && a->idle_ns == b->idle_ns && a->round_ns == b->round_ns);
    assert_int_equal(a->n_windows, b->n_windows);
    assert_int_equal(a->general_counters, b->general_counters);
}

static void assert_same_topology(const struct topology *a, const struct topology *b) {
    assert_int_equal(a->n_cpus, b->n_cpus);
    assert_int_equal(a->n_cores, b->n_cores);
    assert_int_equal(a->n_sockets, b->n_sockets);
    assert_true(a->maximum_frequency_hz == b->maximum_frequency_hz);
    assert_memory_equal(a->cpus, b->cpus, a->n_cpus * sizeof *a->cpus);
    for (size_t s = 0; s < a->n_sockets; s++) {
        const struct topology_socket *x = &a->sockets[s], *y = &b->sockets[s];
        assert_true(x->id == y->id && x->cores == y->cores && x->measured == y->measured);
        assert_true(x->excluded == y->excluded && x->whole_cores == y->whole_cores);
    }
}

static void test_a_plan_and_its_cpus_come_back_as_they_were(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped = {.n_live = 0};
    struct recording_record record;
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    size_t at = 0;
    pipeline_load(&p, "tests/data/scenarios/steady.json");
    for (size_t e = 1; e < p.catalog->n_events; e++)
        p.support[e] = (uint8_t)(e % 3); // unknown, supported, unsupported
    p.topology->sockets[0].excluded = 3;
    p.topology->sockets[0].whole_cores = false; // the other one's are
    pipeline_start(&p, 50000000, 5, NULL);
    assert_int_equal(recording_put_plan(&taped.bytes, p.layout, false), 0);
    assert_int_equal(recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record), 1);
    assert_int_equal(recording_get_plan(&record, p.catalog, missing, &plan), 0);
    assert_same_plan(p.layout, plan.plan);
    assert_same_topology(p.topology, plan.topology);
    plan_free(plan.plan);
    topology_free(plan.topology);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_cut_at_every_byte_it_plays_up_to_the_last_full_record(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    small(&p, &taped);
    size_t at = 0, ends[16], n = 0, end = 0;
    struct recording_record record;
    while (recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record) > 0)
        ends[n++] = at;
    assert_int_equal(n, 7); // header, facts, plan, four rounds
    for (size_t cut = ends[4]; cut <= taped.bytes.n; cut++) {
        end += cut == ends[end + 5];
        struct taped_replay replay = taped_play(&taped, cut);
        assert_int_equal(replay.n_rounds, 2 + end);
        assert_int_equal(replay.end, cut == ends[4 + end] ? 0 : -ENODATA);
    }
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_a_flipped_bit_anywhere_is_noticed(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    small(&p, &taped);
    for (size_t i = 0; i < taped.bytes.n; i++) {
        taped.bytes.bytes[i] ^= (uint8_t)(1 << (i % 8));
        size_t at = 0, records = 0;
        struct recording_record record;
        int r;
        while ((r = recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record)) > 0)
            records++;
        assert_true(r == -EBADMSG || r == -ENODATA); // a length may point beyond the end
        assert_true(records < 7);
        taped.bytes.bytes[i] ^= (uint8_t)(1 << (i % 8));
    }
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_an_event_that_the_spec_lacks_is_named(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    struct catalog *software;
    struct errors errors = {0};
    char missing[RECORDING_TEXT_MAX + 1] = "";
    small(&p, &taped);
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &software), 0);
    size_t at = 0;
    struct recording_record record;
    struct recording_plan plan;
    do
        assert_int_equal(recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record), 1);
    while (record.kind != RECORDING_PLAN);
    assert_int_equal(recording_get_plan(&record, software, missing, &plan), -ENOENT);
    assert_int_equal(catalog_find_event(software, missing), -1);
    assert_true(catalog_find_event(p.catalog, missing) >= 0);
    catalog_free(software);
    taped_end(&taped);
    pipeline_stop(&p);
}

// All units have all events, so a few bytes make many values for each CPU.
static struct plan *wide_plan(const struct catalog *catalog, size_t n_units) {
    struct plan *plan = calloc(1, sizeof *plan);
    assert_non_null(plan);
    *plan = (struct plan){.catalog = catalog, .n_units = n_units, .n_groups = n_units, .level1_unit = -1};
    plan->slot_ns = plan->round_ns = 1;
    plan->support = calloc(catalog->n_events, 1);
    plan->units = calloc(n_units, sizeof *plan->units);
    plan->groups = calloc(n_units, sizeof *plan->groups);
    assert_true(plan->support && plan->units && plan->groups);
    for (unsigned u = 0; u < n_units; u++) {
        unsigned *events = calloc(catalog->n_events, sizeof *events);
        assert_non_null(events);
        for (unsigned e = 1; e < catalog->n_events; e++)
            events[e - 1] = e;
        plan->units[u] = (struct plan_unit){.first_group = u,
                                            .n_groups = 1,
                                            .slots = 1,
                                            .events = events,
                                            .n_events = catalog->n_events - 1,
                                            .reference = -1};
    }
    return plan;
}

// Writes the plan, frees it, and reads it again.
static int read_again(const struct pipeline *p, struct plan *written) {
    const struct snapshot_layout layout = {.plan = written, .topology = p->topology};
    struct recording_buffer bytes = {.n = 0};
    struct recording_record record;
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    size_t at = 0;
    assert_int_equal(recording_put_plan(&bytes, &layout, false), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    int r = recording_get_plan(&record, p->catalog, missing, &plan);
    if (r == 0) {
        plan_free(plan.plan);
        topology_free(plan.topology);
    }
    recording_buffer_deinit(&bytes);
    plan_free(written);
    return r;
}

static void test_a_plan_that_would_take_gigabytes_is_refused(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "tests/data/scenarios/large.json");
    topology_free(p.topology);
    p.scenario->cores_per_socket *= 8; // as many CPUs as a recording may have
    assert_int_equal(pmu_sim_topology(p.scenario, NULL, &p.topology), 0);
    assert_int_equal(p.topology->n_cpus, 8192);
    assert_int_equal(read_again(&p, wide_plan(p.catalog, 4)), 0);
    assert_int_equal(read_again(&p, wide_plan(p.catalog, PLAN_UNITS_MAX)), -EBADMSG);
    pipeline_stop(&p);
}

// The last `n_common` of the plan's units lose their event groups; the first group gets `n_events` of the events.
static struct plan *plan_with_common(const struct catalog *catalog, size_t n_common, size_t n_events) {
    struct plan *plan = wide_plan(catalog, 1 + n_common);
    for (size_t u = 1; u < plan->n_units; u++)
        plan->units[u].n_groups = 0;
    plan->n_groups = 1;
    plan->groups[0].n_events = n_events;
    plan->groups[0].events = calloc(n_events + 1, sizeof *plan->groups[0].events);
    assert_non_null(plan->groups[0].events);
    memcpy(plan->groups[0].events, plan->units[0].events, n_events * sizeof *plan->groups[0].events);
    return plan;
}

static void test_every_event_group_carries_the_common_unit_of_which_there_is_one(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "tests/data/scenarios/steady.json");
    size_t all = p.catalog->n_events - 1;
    assert_int_equal(read_again(&p, plan_with_common(p.catalog, 1, all)), 0);
    assert_int_equal(read_again(&p, plan_with_common(p.catalog, 1, all - 1)), -EBADMSG);
    assert_int_equal(read_again(&p, plan_with_common(p.catalog, 2, all)), -EBADMSG);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_recording_of_each_load_gives_the_live_values_bit_by_bit),
        cmocka_unit_test(test_groups_led_by_slots_are_replayed),
        cmocka_unit_test(test_a_composite_is_replayed),
        cmocka_unit_test(test_contended_starved_and_failed_windows_are_replayed),
        cmocka_unit_test(test_changes_of_plan_and_a_pause_are_replayed),
        cmocka_unit_test(test_a_repeated_plan_in_the_next_file_changes_nothing),
        cmocka_unit_test(test_a_plan_and_its_cpus_come_back_as_they_were),
        cmocka_unit_test(test_cut_at_every_byte_it_plays_up_to_the_last_full_record),
        cmocka_unit_test(test_a_flipped_bit_anywhere_is_noticed),
        cmocka_unit_test(test_an_event_that_the_spec_lacks_is_named),
        cmocka_unit_test(test_a_plan_that_would_take_gigabytes_is_refused),
        cmocka_unit_test(test_every_event_group_carries_the_common_unit_of_which_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
