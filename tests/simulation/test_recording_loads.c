// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/taped.h"

// Every load of bench/accuracy that a simulated host can run, and all that can happen meanwhile, is recorded and
// replayed: values, error bars and the schedule's decisions, bit by bit.

enum { CORES = 4, MOMENTS_MAX = 8, PARTS_MAX = 3 };

// ---- loads ----

// What a load does from a moment on; the last moment is the end of its period. A jump takes a microsecond.
struct moment {
    double at_seconds;
    const char *mix; // a load of the scenario's
};

struct part {
    struct moment moments[MOMENTS_MAX]; // a NULL mix ends them
    bool ramps;                         // in a straight line from each to the next
    const char *cpus;                   // a list that a load runs on
    double stagger_seconds;
};

static const struct shape {
    const char *name;
    struct part parts[PARTS_MAX];
    bool contended;
} SHAPES[] = {
    {"steady", {{{{0, "web"}, {1, NULL}}, false, "0-3", 0}}, false},
    {"bursts of 5 ms", {{{{0, "web"}, {0.005, "database"}, {0.011, NULL}}, false, "0-3", 0.0017}}, false},
    {"bursts of 500 ms", {{{{0, "web"}, {0.55, "database"}, {1.03, NULL}}, false, "0-3", 0.21}}, false},
    {"beat", {{{{0, "web"}, {0.5, "database"}, {1, NULL}}, false, "0-3", 0}}, false}, // a round takes a second or two
    {"ramp", {{{{0, "web"}, {60, "database"}, {60.1, NULL}}, true, "0-3", 0}}, false},
    {"mostly idle", {{{{0, "web"}, {0.02, "idle"}, {1, NULL}}, false, "0-3", 0.31}}, false},
    {"migrating", {{{{0, "database"}, {1, "idle"}, {4, NULL}}, false, "0-3", 1}}, false},
    {"one hot CPU",
     {{{{0, "idle"}, {1, NULL}}, false, "0-3", 0}, {{{0, "batch"}, {0.6, "idle"}, {1.1, NULL}}, false, "2", 0}},
     false},
    {"contended", {{{{0, "web"}, {0.05, "database"}, {0.1, NULL}}, false, "0-3", 0.013}}, true},
};

static const struct scenario_load *find_mix(const struct scenario *scenario, const char *name) {
    for (size_t i = 0; i < scenario->n_loads; i++)
        if (strcmp(scenario->loads[i].name, name) == 0)
            return &scenario->loads[i];
    fail_msg("no mix %s", name);
    return NULL;
}

static struct scenario_keyframe keyframe(const struct scenario *scenario, const char *mix, double at_seconds) {
    const struct scenario_keyframe *of = &find_mix(scenario, mix)->keyframes[0];
    struct scenario_keyframe frame = {
        .at_seconds = at_seconds, .rates = calloc(of->n_rates, sizeof *frame.rates), .n_rates = of->n_rates};
    assert_non_null(frame.rates);
    for (size_t i = 0; i < of->n_rates; i++)
        frame.rates[i] = (struct scenario_rate){strdup(of->rates[i].event), of->rates[i].per_second};
    return frame;
}

static struct scenario_load make_load(const struct scenario *scenario, const struct part *part) {
    struct scenario_load load = {.name = strdup("shape"), .keyframes = calloc(2 * MOMENTS_MAX, sizeof *load.keyframes)};
    const struct moment *moment = part->moments;
    assert_non_null(load.keyframes);
    for (; moment->mix; moment++) {
        load.keyframes[load.n_keyframes++] = keyframe(scenario, moment->mix, moment->at_seconds);
        if (!part->ramps)
            load.keyframes[load.n_keyframes++] = keyframe(scenario, moment->mix, moment[1].at_seconds - 1e-6);
    }
    load.period_seconds = moment->at_seconds;
    return load;
}

// The mixes stay behind the new loads, so that they are freed with the scenario.
static void set_shape(struct pipeline *p, const struct shape *shape) {
    struct scenario *scenario = p->scenario;
    struct scenario_load *loads = calloc(scenario->n_loads + PARTS_MAX, sizeof *loads);
    struct scenario_assignment *assignments = calloc(PARTS_MAX, sizeof *assignments);
    size_t n = 0;
    assert_true(loads && assignments);
    for (; n < PARTS_MAX && shape->parts[n].cpus; n++) {
        loads[n] = make_load(scenario, &shape->parts[n]);
        assignments[n] =
            (struct scenario_assignment){.load = (unsigned)n, .stagger_seconds = shape->parts[n].stagger_seconds};
        assert_int_equal(cpuset_parse(shape->parts[n].cpus, &assignments[n].cpus), 0);
    }
    memcpy(loads + n, scenario->loads, scenario->n_loads * sizeof *loads);
    free(scenario->loads);
    free(scenario->assignments);
    scenario->loads = loads;
    scenario->n_loads += n;
    scenario->assignments = assignments;
    scenario->n_assignments = n;
    if (shape->contended) { // others have two counters every other tick
        struct scenario_rival *rival = pipeline_add_rival(p, RIVAL_PINNED, 2);
        rival->period_seconds = 0.008;
        rival->on_seconds = 0.004;
    }
}

// ---- CPUs ----

static const struct host {
    const char *name, *scenario;
    bool drop_topdown;
} HOSTS[] = {{"Neoverse V2", "bench/accuracy/neoverse-v2.json", false},
             {"Sapphire Rapids", "bench/accuracy/sapphire-rapids.json", false},
             {"Sapphire Rapids without PERF_METRICS", "bench/accuracy/sapphire-rapids.json", true}};

// As pipeline_load, with CORES cores and formulas that are compiled for them; both is data of the recording.
static void load(struct pipeline *p, const struct host *host) {
    pipeline_load(p, host->scenario);
    struct environment environment = {.facts = p->catalog->environment};
    struct catalog_builder *builder;
    char path[256];
    p->scenario->cores_per_socket = CORES / 2;
    p->scenario->sockets = 2;
    environment.facts.literals[LITERAL_SMT_ON] = 0;
    environment.facts.literals[LITERAL_NUM_CPUS] = environment.facts.literals[LITERAL_NUM_CPUS_ONLINE] = CORES;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    (void)snprintf(path, sizeof path, "specs/%s.json", p->scenario->spec);
    catalog_free(p->catalog);
    assert_int_equal(spec_json_read(path, &environment, &p->errors, &builder), 0);
    if (host->drop_topdown)
        catalog_builder_drop_topdown(builder);
    p->catalog = catalog_builder_finish(builder);
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    free(p->support);
    p->support = calloc(p->catalog->n_events, sizeof *p->support);
    assert_non_null(p->support);
}

static bool has_error_bars(const struct taped *taped) {
    const struct snapshot *last = taped->live[taped->n_live - 1];
    for (size_t m = 0; m < last->layout->n_metrics; m++)
        if (last->values[snapshot_standard_error(last->layout, 0, m)] > 0)
            return true;
    return false;
}

// ---- the tests ----

static void test_each_load_on_each_cpu_is_replayed_bit_by_bit(void **state) {
    (void)state;
    for (size_t h = 0; h < sizeof HOSTS / sizeof *HOSTS; h++) {
        for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
            struct pipeline p;
            struct taped taped;
            print_message("%s, %s\n", HOSTS[h].name, SHAPES[i].name);
            load(&p, &HOSTS[h]);
            set_shape(&p, &SHAPES[i]);
            pipeline_start(&p, SECOND_NS / 10, 21 + i, NULL);
            assert_true((p.plan->common_unit >= 0) == (h == 1));
            taped_begin(&taped, &p);
            taped_run(&taped, &p, 5);
            taped_assert_plays(&taped, 5);
            assert_true(has_error_bars(&taped));
            assert_true((pipeline_windows(&p, WINDOW_CONTENDED) + pipeline_windows(&p, WINDOW_STARVED) > 0) ==
                        SHAPES[i].contended);
            taped_end(&taped);
            pipeline_stop(&p);
        }
    }
}

static void test_what_the_adaptive_schedule_decides_is_replayed(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "Branch_Effectiveness",   "L1D_Cache_Effectiveness",
                                         "General", "L2_Cache_Effectiveness", NULL};
    struct pipeline p;
    struct taped taped;
    pipeline_load(&p, "tests/data/scenarios/bottleneck.json");
    p.scenario->general_counters = 4;
    pipeline_start(&p, SECOND_NS / 5, 7, groups);
    pipeline_adapt(&p);
    taped_begin(&taped, &p);
    while ((double)(p.now_ns - EPOCH_NS) < 500e9) // it waits for data for five minutes
        taped_run(&taped, &p, 1);
    taped_assert_plays(&taped, taped.n_live);
    const struct adapt_report *report = adapt_report(p.adapt);
    assert_true(report->n_decisions >= 2); // raised, and given back
    assert_true(taped_play(&taped, taped.bytes.n).n_plans >= 3);
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_an_adaptive_schedule_of_each_cpu_is_replayed(void **state) {
    (void)state;
    for (size_t h = 0; h < sizeof HOSTS / sizeof *HOSTS; h++) {
        struct pipeline p;
        struct taped taped;
        load(&p, &HOSTS[h]);
        set_shape(&p, &SHAPES[0]);
        pipeline_start(&p, SECOND_NS / 10, 3, NULL);
        pipeline_adapt(&p);
        taped_begin(&taped, &p);
        taped_run(&taped, &p, 14);
        taped_assert_plays(&taped, 14);
        print_message("%s: %zu decisions\n", HOSTS[h].name, adapt_report(p.adapt)->n_decisions);
        taped_end(&taped);
        pipeline_stop(&p);
    }
}

// Longer slots, as the budget asks for.
static void change_slots(struct pipeline *p, uint64_t slot_ns) {
    p->slot_ns = slot_ns;
    pipeline_replan(p);
}

// As when CPUs come online: scopes change, so the test of sums begins anew.
static void change_cpus(struct pipeline *p, const char *list) {
    struct cpuset cpus;
    assert_int_equal(cpuset_parse(list, &cpus), 0);
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, &cpus, &p->topology), 0);
    p->snapshot = snapshot_unref(p->snapshot);
    pipeline_replan(p);
}

static void test_whatever_changes_the_plan_or_interrupts_it_is_replayed(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    struct cpuset some;
    load(&p, &HOSTS[0]);
    set_shape(&p, &SHAPES[2]);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 3); // changes the plan by counters
    rival->from_seconds = 100;
    rival->until_seconds = 160;
    assert_int_equal(cpuset_parse("0-2", &some), 0);
    topology_free(p.topology);
    assert_int_equal(pmu_sim_topology(p.scenario, &some, &p.topology), 0);
    pipeline_start_following(&p, SECOND_NS / 10, 3, NULL);
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 5);
    change_slots(&p, SECOND_NS / 5);
    taped_run(&taped, &p, 5);
    change_cpus(&p, "0-3");
    taped_run(&taped, &p, 5);
    taped_yield(&taped, &p, 7);
    taped_run(&taped, &p, 5);
    (void)pipeline_step(&p, 40 * SECOND_NS); // a gap
    taped_run(&taped, &p, 5);
    assert_true(pipeline_uncovered(&p, UNCOVERED_GAP) > 0 && pipeline_uncovered(&p, UNCOVERED_YIELDED) > 0);
    while ((double)(p.now_ns - EPOCH_NS) < 200e9)
        taped_run(&taped, &p, 1);
    taped_assert_plays(&taped, taped.n_live);
    assert_true(taped_play(&taped, taped.bytes.n).n_plans >= 5); // slots, CPUs, counters taken and let go
    taped_end(&taped);
    pipeline_stop(&p);
}

static void test_what_formulas_asked_of_the_host_comes_back(void **state) {
    (void)state;
    struct recording_header *header = calloc(1, sizeof *header), *read = calloc(1, sizeof *read);
    struct recording_buffer bytes = {0};
    struct recording_record record;
    struct environment environment;
    size_t at = 0;
    assert_true(header && read);
    for (size_t i = 0; i < LITERAL_N; i++)
        header->catalog.literals[i] = i == LITERAL_SLOTS ? NAN : (double)i + 0.5;
    (void)snprintf(header->catalog.cpuid, sizeof header->catalog.cpuid, "GenuineIntel-6-8F-4");
    header->catalog.answers.n = 2;
    header->catalog.answers.items[0] = (struct environment_answer){"cycles-t", true};
    header->catalog.answers.items[1] = (struct environment_answer){"el-start", false};
    assert_int_equal(recording_put_header(&bytes, header), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    assert_int_equal(recording_get_header(&record, read), 0);
    recording_environment(read, &environment);
    for (size_t i = 0; i < LITERAL_N; i++)
        assert_true(i == LITERAL_SLOTS ? isnan(environment.facts.literals[i])
                                       : environment.facts.literals[i] == (double)i + 0.5);
    assert_string_equal(environment.facts.cpuid, "GenuineIntel-6-8F-4");
    assert_true(environment.has_event(environment.context, "cycles-t"));
    assert_false(environment.has_event(environment.context, "el-start"));
    assert_false(environment.has_event(environment.context, "nobody-asked"));
    recording_buffer_deinit(&bytes);
    free(header);
    free(read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_load_on_each_cpu_is_replayed_bit_by_bit),
        cmocka_unit_test(test_what_the_adaptive_schedule_decides_is_replayed),
        cmocka_unit_test(test_an_adaptive_schedule_of_each_cpu_is_replayed),
        cmocka_unit_test(test_whatever_changes_the_plan_or_interrupts_it_is_replayed),
        cmocka_unit_test(test_what_formulas_asked_of_the_host_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
