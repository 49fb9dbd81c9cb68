// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/taped.h"

// ---- recording ----

void taped_plan(struct taped *taped, const struct pipeline *p, bool again) {
    const struct recording_facts facts = {.counters_total = 7,
                                          .counters_usable = 6,
                                          .troubles = {{"pmu", "no_slots", "of the type", false, true},
                                                       {"pmu", "other_cores", "of the host", true, false}},
                                          .n_troubles = 2};
    const struct adapt_report *report = p->adapt ? adapt_report(p->adapt) : NULL;
    assert_int_equal(recording_put_facts(&taped->bytes, p->catalog, &facts, report), 0);
    assert_int_equal(recording_put_plan(&taped->bytes, p->layout, again), 0);
    taped->n_plans = p->n_plans;
}

void taped_header(struct taped *taped, const struct pipeline *p) {
    struct recording_header header = {.id = 7, .simulated = true, .core_type = "little"};
    struct recording_catalog *catalog = &header.catalog;
    catalog->hash = catalog_hash(p->catalog);
    catalog->topdown_dropped = p->catalog->n_topdown == 0; // where there is none, nothing is dropped
    memcpy(catalog->literals, p->catalog->environment.literals, sizeof catalog->literals);
    (void)snprintf(catalog->cpuid, sizeof catalog->cpuid, "%s", p->catalog->environment.cpuid);
    (void)snprintf(catalog->spec, sizeof catalog->spec, "%s", p->catalog->product.spec);
    assert_int_equal(recording_put_header(&taped->bytes, &header), 0);
}

static void take_round(struct pipeline *p, void *context) {
    struct taped *taped = context;
    assert_int_equal(
        recording_put_round(&taped->bytes, sampler_readings(p->sampler), p->plan, (double)p->now_ns * 1e-9), 0);
    assert_true(taped->n_live < TAPED_MAX);
    // as the daemon: the diagnosis and adapting are told of the time by the snapshot
    p->snapshot->taken_seconds = (double)p->now_ns * 1e-9;
    taped->reports[taped->n_live] = p->adapt ? adapt_report_copy(adapt_report(p->adapt)) : NULL;
    taped->live[taped->n_live++] = snapshot_ref(p->snapshot);
}

void taped_begin(struct taped *taped, struct pipeline *p) {
    *taped = (struct taped){0};
    taped_header(taped, p);
    taped_plan(taped, p, false);
    p->on_round = take_round;
    p->context = taped;
}

void taped_run(struct taped *taped, struct pipeline *p, unsigned rounds) {
    for (size_t end = taped->n_live + rounds; taped->n_live < end;) {
        if (p->n_plans != taped->n_plans)
            taped_plan(taped, p, false);
        (void)pipeline_step(p, 0);
    }
    if (p->n_plans != taped->n_plans)
        taped_plan(taped, p, false);
}

void taped_yield(struct taped *taped, struct pipeline *p, double seconds) {
    pipeline_yield(p, seconds);
    const struct recording_pause pause = {.until_ns = p->now_ns, .reason = UNCOVERED_YIELDED, .timestamp_seconds = 7};
    assert_int_equal(recording_put_pause(&taped->bytes, &pause), 0);
}

void taped_end(struct taped *taped) {
    for (size_t i = 0; i < taped->n_live; i++) {
        snapshot_unref(taped->live[i]);
        adapt_report_free(taped->reports[i]);
    }
    catalog_free(taped->catalog);
    recording_buffer_deinit(&taped->bytes);
}

// ---- replaying ----

struct deck {
    const struct taped *taped;
    const struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
    struct diagnosis *diagnosis;
    struct adapt_report *report;
    struct taped_replay replay;
};

static struct catalog *read_catalog(const struct recording_header *header) {
    struct catalog_builder *builder;
    struct environment environment;
    struct errors errors = {0};
    char path[RECORDING_TEXT_MAX + 32];
    recording_environment(header, &environment);
    (void)snprintf(path, sizeof path, "specs/%s.json", header->catalog.spec);
    assert_int_equal(spec_json_read(path, &environment, &errors, &builder), 0);
    if (header->catalog.topdown_dropped)
        catalog_builder_drop_topdown(builder);
    return catalog_builder_finish(builder);
}

static void play_header(struct deck *deck, struct taped *taped, const struct recording_record *record) {
    struct recording_header *header = calloc(1, sizeof *header);
    assert_non_null(header);
    assert_int_equal(recording_get_header(record, header), 0);
    assert_string_equal(header->core_type, "little");
    if (!taped->catalog)
        taped->catalog = read_catalog(header);
    deck->catalog = taped->catalog;
    assert_true(header->catalog.hash == catalog_hash(deck->catalog));
    free(header);
}

static void play_facts(struct deck *deck, const struct recording_record *record) {
    char missing[RECORDING_TEXT_MAX + 1];
    struct recording_facts facts;
    adapt_report_free(deck->report);
    assert_int_equal(recording_get_facts(record, deck->catalog, missing, &facts, &deck->report), 0);
    assert_int_equal(facts.counters_total, 7);
    assert_int_equal(facts.counters_usable, 6);
    assert_int_equal(facts.n_troubles, 2);
    assert_string_equal(facts.troubles[1].text, "of the host");
    assert_true(!facts.troubles[0].of_host && facts.troubles[1].of_host);
    assert_true(facts.troubles[0].uncore && !facts.troubles[1].uncore);
}

static void play_plan(struct deck *deck, const struct recording_record *record) {
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
    struct diagnosis *diagnosis = diagnosis_new(layout);
    assert_non_null(diagnosis);
    if (deck->diagnosis)
        diagnosis_continue(diagnosis, deck->diagnosis);
    diagnosis_free(deck->diagnosis);
    derive_free(deck->derive);
    snapshot_layout_unref(deck->layout);
    deck->diagnosis = diagnosis;
    deck->derive = derive;
    deck->layout = layout;
    deck->replay.n_plans++;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void assert_same_values(const struct snapshot *live, const struct snapshot *replayed, size_t round) {
    const struct snapshot_layout *layout = live->layout;
    assert_int_equal(layout->n_values, replayed->layout->n_values);
    for (size_t i = 0; i < layout->n_values; i++)
        if (!same_bits(live->values[i], replayed->values[i]))
            fail_msg("round %zu, value %zu: live %.17g, replayed %.17g", round, i, live->values[i],
                     replayed->values[i]);
    assert_memory_equal(live->absent, replayed->absent, snapshot_n_states(layout));
    assert_memory_equal(live->trust, replayed->trust, snapshot_n_states(layout));
    assert_int_equal(live->sequence, replayed->sequence);
    assert_int_equal(live->start_ns, replayed->start_ns);
    assert_int_equal(live->end_ns, replayed->end_ns);
}

// What the plan's page shows: shares of metric groups now and without raising, who raised them, and why.
static void assert_same_shares(const struct plan *live, const struct plan *replayed, unsigned group) {
    struct adapt_share a = adapt_share(live, group), b = adapt_share(replayed, group);
    assert_true(same_bits(a.now, b.now) && same_bits(a.baseline, b.baseline));
}

static void assert_same_report(const struct adapt_report *live, const struct adapt_report *replayed) {
    assert_int_equal(live->n_groups, replayed->n_groups);
    for (size_t i = 0; i < live->n_groups; i++) {
        const struct adapt_group *a = &live->groups[i], *b = &replayed->groups[i];
        assert_true(a->group == b->group && a->raised == b->raised && same_bits(a->since_seconds, b->since_seconds));
        if (a->raised)
            assert_true(a->metric == b->metric && same_bits(a->value, b->value));
    }
    assert_int_equal(live->n_decisions, replayed->n_decisions);
    assert_int_equal(live->n_new, replayed->n_new);
    for (size_t i = 0; i < live->n_decisions; i++) {
        const struct adapt_decision *a = &live->decisions[i], *b = &replayed->decisions[i];
        assert_true(a->group == b->group && a->metric == b->metric && a->raised == b->raised);
        assert_true(same_bits(a->value, b->value) && same_bits(a->at_seconds, b->at_seconds));
    }
    assert_memory_equal(live->causes, replayed->causes, sizeof live->causes);
}

static void assert_same_schedule(const struct deck *deck, const struct snapshot *live, size_t round) {
    const struct adapt_report *report = deck->taped->reports[round];
    assert_int_equal(report != NULL, deck->report != NULL);
    if (!report)
        return;
    assert_same_report(report, deck->report);
    for (size_t i = 0; i < report->n_groups; i++)
        assert_same_shares(live->layout->plan, deck->layout->plan, report->groups[i].group);
}

static void play_round(struct deck *deck, const struct recording_record *record) {
    struct readings *readings;
    double seconds;
    size_t round = deck->replay.n_rounds++;
    assert_int_equal(
        recording_get_round(record, deck->layout->plan, deck->layout->topology, false, &seconds, &readings), 0);
    struct snapshot *snapshot = snapshot_new(deck->layout);
    derive_round(deck->derive, readings, snapshot);
    snapshot->taken_seconds = seconds;
    diagnosis_round(deck->diagnosis, snapshot);
    assert_true(round < deck->taped->n_live);
    const struct snapshot *live = deck->taped->live[round];
    assert_true(same_bits(seconds, live->taken_seconds));
    assert_same_values(live, snapshot, round);
    assert_same_schedule(deck, live, round);
    snapshot_unref(snapshot);
    readings_free(readings);
}

static void play_pause(struct deck *deck, const struct recording_record *record) {
    struct recording_pause pause;
    assert_int_equal(recording_get_pause(record, &pause), 0);
    assert_true(pause.timestamp_seconds == 7);
    derive_pause(deck->derive, pause.until_ns, pause.reason);
}

struct taped_replay taped_play(struct taped *taped, size_t n) {
    struct deck deck = {.taped = taped};
    struct recording_record record;
    size_t at = 0;
    while ((deck.replay.end = recording_next(taped->bytes.bytes, n, &at, &record)) > 0) {
        if (record.kind == RECORDING_HEADER)
            play_header(&deck, taped, &record);
        else if (record.kind == RECORDING_FACTS)
            play_facts(&deck, &record);
        else if (record.kind == RECORDING_PLAN)
            play_plan(&deck, &record);
        else if (record.kind == RECORDING_ROUND || record.kind == RECORDING_CORES)
            play_round(&deck, &record);
        else
            play_pause(&deck, &record);
    }
    adapt_report_free(deck.report);
    diagnosis_free(deck.diagnosis);
    derive_free(deck.derive);
    snapshot_layout_unref(deck.layout);
    return deck.replay;
}

void taped_assert_plays(struct taped *taped, size_t rounds) {
    struct taped_replay replay = taped_play(taped, taped->bytes.n);
    assert_int_equal(replay.end, 0);
    assert_int_equal(replay.n_rounds, rounds);
}
