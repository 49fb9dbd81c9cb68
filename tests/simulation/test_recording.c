// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "core/recording.h"
#include "tests/simulation/pipeline.h"

// A simulated host is measured and recorded; the recording alone, with a catalog read anew, must give every value of
// every snapshot again, bit by bit.

enum { SNAPSHOTS_MAX = 64 };

struct taped {
    struct recording_buffer bytes;
    struct snapshot *live[SNAPSHOTS_MAX];
    size_t n_live;
};

static void put_plan(struct taped *taped, const struct pipeline *p, bool again) {
    assert_int_equal(recording_put_plan(&taped->bytes, p->layout, 6, 6, again), 0);
}

static void put_header(struct taped *taped, const struct pipeline *p) {
    struct recording_header header = {.spec_hash = p->catalog->product.hash, .id = 7, .simulated = true};
    (void)snprintf(header.spec, sizeof header.spec, "%s", p->catalog->product.spec);
    assert_int_equal(recording_put_header(&taped->bytes, &header), 0);
}

static void begin(struct taped *taped, const struct pipeline *p) {
    *taped = (struct taped){0};
    put_header(taped, p);
    put_plan(taped, p, false);
}

// Runs and records rounds; readings are those of the plan that was in force during the round.
static void tape(struct taped *taped, struct pipeline *p, unsigned rounds) {
    while (rounds > 0) {
        size_t plans = p->n_plans;
        struct sampler *sampler = p->sampler;
        bool follows = p->follows;
        p->follows = false; // so that the readings are still there
        bool over = pipeline_step(p, 0);
        p->follows = follows;
        if (!over)
            continue;
        rounds--;
        assert_int_equal(
            recording_put_round(&taped->bytes, sampler_readings(sampler), p->plan, (double)p->now_ns * 1e-9), 0);
        assert_true(taped->n_live < SNAPSHOTS_MAX);
        taped->live[taped->n_live++] = snapshot_ref(p->snapshot);
        if (follows)
            pipeline_follow(p);
        if (p->n_plans != plans)
            put_plan(taped, p, false);
    }
}

static void taped_end(struct taped *taped) {
    for (size_t i = 0; i < taped->n_live; i++)
        snapshot_unref(taped->live[i]);
    recording_buffer_deinit(&taped->bytes);
}

// ---- replaying ----

struct deck {
    struct catalog *catalog; // read anew
    struct snapshot_layout *layout;
    struct derive *derive;
    size_t n_rounds, n_plans;
    int end; // of recording_next
};

static void deck_plan(struct deck *deck, const struct recording_record *record) {
    char missing[RECORDING_TEXT_MAX + 1];
    struct recording_plan plan;
    assert_int_equal(recording_get_plan(record, deck->catalog, missing, &plan), 0);
    if (plan.again && deck->layout) {
        topology_free(plan.topology);
        plan_free(plan.plan);
        return;
    }
    struct snapshot_layout *layout = snapshot_layout_new(plan.plan, plan.topology);
    assert_non_null(layout);
    struct derive *derive = derive_new(layout);
    assert_non_null(derive);
    if (deck->derive)
        assert_int_equal(derive_continue(derive, deck->derive), 0);
    derive_free(deck->derive);
    snapshot_layout_unref(deck->layout);
    deck->derive = derive;
    deck->layout = layout;
    deck->n_plans++;
}

static void assert_same_values(const struct snapshot *live, const struct snapshot *replayed, size_t round) {
    assert_int_equal(live->layout->n_values, replayed->layout->n_values);
    size_t n = snapshot_self(live->layout, (enum self_value)0); // what follows is about the daemon
    for (size_t i = 0; i < n; i++)
        if (memcmp(&live->values[i], &replayed->values[i], sizeof(double)) != 0)
            fail_msg("round %zu, value %zu: live %.17g, replayed %.17g", round, i, live->values[i],
                     replayed->values[i]);
    assert_memory_equal(live->absent, replayed->absent, live->layout->n_scopes * live->layout->n_metrics);
    assert_int_equal(live->sequence, replayed->sequence);
    assert_int_equal(live->start_ns, replayed->start_ns);
    assert_int_equal(live->end_ns, replayed->end_ns);
}

static void deck_round(struct deck *deck, const struct recording_record *record, const struct taped *taped) {
    struct readings *readings;
    double seconds;
    assert_int_equal(recording_get_round(record, deck->layout->plan, deck->layout->topology, &seconds, &readings), 0);
    struct snapshot *snapshot = snapshot_new(deck->layout);
    derive_round(deck->derive, readings, snapshot);
    assert_true(seconds == (double)readings->end_ns * 1e-9);
    assert_true(deck->n_rounds < taped->n_live);
    assert_same_values(taped->live[deck->n_rounds], snapshot, deck->n_rounds);
    deck->n_rounds++;
    snapshot_unref(snapshot);
    readings_free(readings);
}

// Plays so many bytes of it.
static struct deck play(const struct taped *taped, const struct pipeline *p, size_t n) {
    char path[256];
    struct errors errors = {0};
    struct deck deck = {.n_rounds = 0};
    (void)snprintf(path, sizeof path, "specs/%s.json", p->scenario->spec);
    assert_int_equal(spec_json_load(path, NULL, &errors, &deck.catalog), 0);
    size_t at = 0;
    struct recording_record record;
    while ((deck.end = recording_next(taped->bytes.bytes, n, &at, &record)) > 0) {
        struct recording_pause pause;
        struct recording_header header;
        if (record.kind == RECORDING_HEADER) {
            assert_int_equal(recording_get_header(&record, &header), 0);
            assert_string_equal(header.spec, p->scenario->spec);
            assert_true(header.spec_hash == deck.catalog->product.hash);
        } else if (record.kind == RECORDING_PLAN) {
            deck_plan(&deck, &record);
        } else if (record.kind == RECORDING_ROUND) {
            deck_round(&deck, &record, taped);
        } else {
            assert_int_equal(recording_get_pause(&record, &pause), 0);
            derive_pause(deck.derive, pause.until_ns, pause.reason);
        }
    }
    derive_free(deck.derive);
    snapshot_layout_unref(deck.layout);
    catalog_free(deck.catalog);
    return deck;
}

static void assert_plays(const struct taped *taped, const struct pipeline *p, size_t rounds) {
    struct deck deck = play(taped, p, taped->bytes.n);
    assert_int_equal(deck.end, 0);
    assert_int_equal(deck.n_rounds, rounds);
}

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
        begin(&taped, &p);
        tape(&taped, &p, 20);
        assert_plays(&taped, &p, 20);
        size_t windows = sampler_readings(p.sampler)->n_windows;
        print_message("%s: %zu bytes a window\n", scenarios[i], taped.bytes.n / 20 / (windows > 0 ? windows : 1));
        taped_end(&taped);
        pipeline_stop(&p);
    }
}

static void assert_load_plays(struct pipeline *p, const char *const *groups) {
    struct taped taped;
    pipeline_start(p, 50000000, 11, groups);
    begin(&taped, p);
    tape(&taped, p, 12);
    assert_plays(&taped, p, 12);
    taped_end(&taped);
}

static void test_a_resident_group_is_replayed(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "MPKI", NULL};
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 3);
    assert_load_plays(&p, groups);
    assert_true(p.plan->resident_group >= 0);
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
    begin(&taped, &p);
    tape(&taped, &p, 30);
    struct recording_pause pause = {.until_ns = p.now_ns + 3 * SECOND_NS, .reason = UNCOVERED_YIELDED};
    pipeline_yield(&p, 3);
    assert_int_equal(recording_put_pause(&taped.bytes, &pause), 0);
    tape(&taped, &p, 15);
    struct deck deck = play(&taped, &p, taped.bytes.n);
    assert_int_equal(deck.n_rounds, 45);
    assert_true(deck.n_plans > 1);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_a_repeated_plan_in_the_next_file_changes_nothing(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    pipeline_load(&p, "tests/data/scenarios/changing.json");
    pipeline_start(&p, 50000000, 5, NULL);
    begin(&taped, &p);
    tape(&taped, &p, 5);
    put_header(&taped, &p);
    put_plan(&taped, &p, true);
    tape(&taped, &p, 5);
    assert_plays(&taped, &p, 10);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void small(struct pipeline *p, struct taped *taped) {
    static const char *const groups[] = {"stage_1", NULL};
    pipeline_load(p, "tests/data/scenarios/steady.json");
    pipeline_start(p, 200000000, 5, groups);
    begin(taped, p);
    tape(taped, p, 4);
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
    assert_memory_equal(a->sockets, b->sockets, a->n_sockets * sizeof *a->sockets);
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
    pipeline_start(&p, 50000000, 5, NULL);
    assert_int_equal(recording_put_plan(&taped.bytes, p.layout, 7, 6, false), 0);
    assert_int_equal(recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record), 1);
    assert_int_equal(recording_get_plan(&record, p.catalog, missing, &plan), 0);
    assert_same_plan(p.layout, plan.plan);
    assert_same_topology(p.topology, plan.topology);
    assert_int_equal(plan.counters_total, 7);
    assert_int_equal(plan.counters_usable, 6);
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
    assert_int_equal(n, 6); // header, plan, four rounds
    for (size_t cut = ends[3]; cut <= taped.bytes.n; cut++) {
        end += cut == ends[end + 4];
        struct deck deck;
        if (cut < ends[3] + 40 || cut + 40 > ends[4] || cut == ends[end + 3]) { // all of it is slow: the edges
            deck = play(&taped, &p, cut);
            assert_int_equal(deck.n_rounds, 2 + end);
            assert_int_equal(deck.end, cut == ends[3 + end] ? 0 : -ENODATA);
        }
        at = 0; // and every byte without deriving
        int r;
        size_t records = 0;
        while ((r = recording_next(taped.bytes.bytes, cut, &at, &record)) > 0)
            records++;
        assert_int_equal(records, 4 + end);
        assert_int_equal(r, cut == ends[3 + end] ? 0 : -ENODATA);
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
        assert_true(records < 6);
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
    assert_int_equal(recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record), 1);
    assert_int_equal(recording_next(taped.bytes.bytes, taped.bytes.n, &at, &record), 1);
    assert_int_equal(recording_get_plan(&record, software, missing, &plan), -ENOENT);
    assert_int_equal(catalog_find_event(software, missing), -1);
    assert_true(catalog_find_event(p.catalog, missing) >= 0);
    catalog_free(software);
    taped_end(&taped);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_recording_of_each_load_gives_the_live_values_bit_by_bit),
        cmocka_unit_test(test_a_resident_group_is_replayed),
        cmocka_unit_test(test_a_composite_is_replayed),
        cmocka_unit_test(test_contended_starved_and_failed_windows_are_replayed),
        cmocka_unit_test(test_changes_of_plan_and_a_pause_are_replayed),
        cmocka_unit_test(test_a_repeated_plan_in_the_next_file_changes_nothing),
        cmocka_unit_test(test_a_plan_and_its_cpus_come_back_as_they_were),
        cmocka_unit_test(test_cut_at_every_byte_it_plays_up_to_the_last_full_record),
        cmocka_unit_test(test_a_flipped_bit_anywhere_is_noticed),
        cmocka_unit_test(test_an_event_that_the_spec_lacks_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
