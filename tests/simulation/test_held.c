// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/taped.h"

#include <time.h>

// Cores that sleep are held on their event group, so that nothing wakes them; their counts are right all the same
// (core/plan/schedule.h).

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char *const DEFAULT_GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
static const uint64_t SLOT_NS = SECOND_NS / 5, CLOCK_STEP_NS = SECOND_NS / 100;
static const double RAMP_SECONDS = 1e-6;
static const double BURSTS_END = 240; // random ones, so that nothing is on its way when all has been counted

enum { CORES = 16, BURSTS_MAX = 4096 };

// A core is busy from begin to end of each burst, in every period anew.
struct bursts {
    double period_seconds, begin[BURSTS_MAX], end[BURSTS_MAX];
    size_t n;
};

struct held {
    struct busy_clock clock; // first
    struct pipeline p;
    struct bursts *bursts; // [core]
    size_t n_reads;
    size_t unknown_every;              // of all reads, so many-th are not known; 0: all are
    const struct scenario_rival *away; // these CPUs are offline; NULL: none
};

// ---- loads ----

static double random_unit(uint64_t *random) { return (double)(random_next(random) >> 11) * 0x1p-53; }

static void add_burst(struct bursts *bursts, double begin, double end) {
    assert_true(bursts->n < BURSTS_MAX);
    bursts->begin[bursts->n] = begin;
    bursts->end[bursts->n++] = end;
}

static void sleep_always(struct bursts *bursts) { *bursts = (struct bursts){.period_seconds = 1000}; }

static void busy_always(struct bursts *bursts) {
    *bursts = (struct bursts){.period_seconds = 1000};
    add_burst(bursts, 0, 1000);
}

// Bursts from half to three halves of burst_seconds, and pauses at random, so that it is busy for a share of the time.
static void random_bursts(struct bursts *bursts, double burst_seconds, double share, uint64_t *random) {
    *bursts = (struct bursts){.period_seconds = 300};
    double at = 0;
    for (;;) {
        double length = burst_seconds * (0.5 + random_unit(random));
        at += burst_seconds * (1 - share) / share * -log(1 - random_unit(random)) + 10 * RAMP_SECONDS;
        if (at + length >= BURSTS_END)
            return;
        add_burst(bursts, at, at + length);
        at += length;
    }
}

static void add_keyframe(struct scenario_load *load, const struct scenario_keyframe *like, double at, double rate,
                         bool slower) {
    struct scenario_keyframe *keyframe = &load->keyframes[load->n_keyframes++];
    *keyframe = (struct scenario_keyframe){.at_seconds = at, .n_rates = like->n_rates};
    keyframe->rates = calloc(like->n_rates, sizeof *keyframe->rates);
    assert_non_null(keyframe->rates);
    for (size_t i = 0; i < like->n_rates; i++) {
        bool less = slower && strcmp(like->rates[i].event, "CPU_CYCLES") != 0;
        keyframe->rates[i] =
            (struct scenario_rate){strdup(like->rates[i].event), like->rates[i].per_second * rate * (less ? 0.5 : 1)};
    }
}

// Every other burst of a core does half as much in a cycle.
static void make_load(struct scenario_load *load, const struct scenario_keyframe *like, const struct bursts *bursts) {
    *load = (struct scenario_load){.name = strdup("bursts"), .period_seconds = bursts->period_seconds};
    load->keyframes = calloc(4 * bursts->n + 2, sizeof *load->keyframes);
    assert_true(load->name && load->keyframes);
    bool all = bursts->n == 1 && bursts->begin[0] == 0 && bursts->end[0] == bursts->period_seconds;
    add_keyframe(load, like, 0, all ? 1 : 0, false);
    for (size_t i = 0; i < bursts->n && !all; i++) {
        add_keyframe(load, like, bursts->begin[i] - RAMP_SECONDS, 0, i % 2 == 0);
        add_keyframe(load, like, bursts->begin[i], 1, i % 2 == 0);
        add_keyframe(load, like, bursts->end[i], 1, i % 2 == 0);
        add_keyframe(load, like, bursts->end[i] + RAMP_SECONDS, 0, i % 2 == 0);
    }
}

// ---- the clock ----

static double busy_seconds(const struct bursts *bursts, double at) {
    double periods = floor(at / bursts->period_seconds), sum = 0, all = 0;
    double in_period = at - periods * bursts->period_seconds;
    for (size_t i = 0; i < bursts->n; i++) {
        all += bursts->end[i] - bursts->begin[i];
        sum += fmax(fmin(in_period, bursts->end[i]) - bursts->begin[i], 0);
    }
    return periods * all + sum;
}

static bool is_away(const struct held *held, unsigned cpu, uint64_t now_ns) {
    double seconds = (double)(now_ns - EPOCH_NS) * 1e-9;
    return held->away && cpuset_has(&held->away->cpus, cpu) && seconds >= held->away->from_seconds &&
           seconds < held->away->until_seconds;
}

// In steps of 10 ms, as the kernel's.
static bool read_clock(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns, uint64_t *busy_ns) {
    struct held *held = (struct held *)clock;
    held->n_reads++;
    if (held->unknown_every > 0 && held->n_reads % held->unknown_every == 0)
        return false;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        const struct bursts *bursts = &held->bursts[topology->cpus[cpu].id % CORES];
        uint64_t ns = (uint64_t)(busy_seconds(bursts, (double)(now_ns - EPOCH_NS) * 1e-9) * 1e9);
        busy_ns[cpu] =
            is_away(held, topology->cpus[cpu].id, now_ns) ? BUSY_CLOCK_OFFLINE : ns / CLOCK_STEP_NS * CLOCK_STEP_NS;
    }
    return true;
}

// ---- a host of 16 cores ----

static void held_load(struct held *held) {
    memset(held, 0, sizeof *held);
    held->clock.read = read_clock;
    held->bursts = calloc(CORES, sizeof *held->bursts);
    assert_non_null(held->bursts);
    pipeline_load(&held->p, STEADY);
    struct pipeline *p = &held->p;
    p->scenario->cores_per_socket = CORES / 2;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    p->busy_clock = &held->clock;
    for (size_t core = 0; core < CORES; core++)
        sleep_always(&held->bursts[core]);
}

// Gives each core its load.
static void held_give_loads(struct held *held) {
    struct scenario *scenario = held->p.scenario;
    struct scenario_load *loads = realloc(scenario->loads, (CORES + 1) * sizeof *loads);
    free(scenario->assignments);
    scenario->assignments = calloc(CORES, sizeof *scenario->assignments);
    assert_true(loads && scenario->assignments);
    scenario->loads = loads;
    for (unsigned core = 0; core < CORES; core++) {
        make_load(&loads[1 + core], &loads[0].keyframes[0], &held->bursts[core]);
        scenario->assignments[core] = (struct scenario_assignment){.load = 1 + core};
        for (unsigned cpu = core; cpu < scenario_n_cpus(scenario); cpu += CORES)
            cpuset_add(&scenario->assignments[core].cpus, cpu);
    }
    scenario->n_loads = scenario->n_assignments = CORES;
    scenario->n_loads++;
}

static void held_start(struct held *held, uint64_t seed) {
    held_give_loads(held);
    pipeline_start(&held->p, SLOT_NS, seed, DEFAULT_GROUPS);
}

static void held_stop(struct held *held) {
    pipeline_stop(&held->p);
    free(held->bursts);
}

// Calls of a kind for a CPU, one after the other: the next one from *at on, or NULL.
static const struct call *next_call(const struct pipeline *p, unsigned cpu, enum call_kind kind, size_t *at) {
    while (*at < p->recorder.n_calls) {
        const struct call *call = &p->recorder.calls[(*at)++];
        if (call->kind == kind && p->recorder.cpu_of[call->handle] == cpu)
            return call;
    }
    return NULL;
}

// ---- interrupts ----

static void test_a_core_that_sleeps_is_interrupted_a_tenth_as_often_and_not_by_idle_pieces(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    for (size_t core = 0; core < 4; core++)
        busy_always(&held.bursts[core]);
    held_start(&held, 1);
    pipeline_run_until(&held.p, 300);
    double busy = 0, asleep = 0;
    for (unsigned cpu = 0; cpu < CORES; cpu++)
        *(cpu < 4 ? &busy : &asleep) += (double)pmu_sim_interrupts(held.p.recorder.inner, cpu) / (cpu < 4 ? 4 : 12);
    assert_true(busy > 300 * 2 * 4); // four edges a second, a start and a stop each
    if (!(asleep <= 0.11 * busy && asleep >= 0.05 * busy))
        fail_msg("%g interrupts asleep, %g busy", asleep, busy);
    for (unsigned cpu = 4; cpu < CORES; cpu++) {
        size_t at = 0;
        const struct call *before = NULL, *call;
        while ((call = next_call(&held.p, cpu, CALL_DISABLE, &at)) != NULL) {
            assert_true(!before || call->at_ns - before->at_ns >= 5 * SLOT_NS);
            before = call;
        }
    }
    held_stop(&held);
}

static void test_a_core_that_wakes_goes_on_at_the_next_tick(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    held.bursts[5] = (struct bursts){.period_seconds = 1000};
    add_burst(&held.bursts[5], 60, 90);
    held_start(&held, 2);
    pipeline_run_until(&held.p, 120);
    size_t at = 0, n_busy = 0, n_asleep = 0;
    const struct call *call;
    uint64_t woken_ns = EPOCH_NS + 60 * SECOND_NS, asleep_ns = EPOCH_NS + 90 * SECOND_NS, first_ns = 0;
    while ((call = next_call(&held.p, 5, CALL_DISABLE, &at)) != NULL) {
        first_ns = first_ns == 0 && call->at_ns > woken_ns ? call->at_ns : first_ns;
        n_busy += call->at_ns > woken_ns && call->at_ns <= asleep_ns;
        n_asleep += call->at_ns > asleep_ns + SECOND_NS;
    }
    // within a tick that ends too early for a quarter of a slot, the next tick, and a piece
    assert_in_range(first_ns, woken_ns + SLOT_NS / 4, woken_ns + SLOT_NS * 5 / 4 + SECOND_NS / 10);
    uint64_t tick_ns = SLOT_NS * 10 / 9; // with its part of the idle pieces; some go on with the same event group
    assert_in_range(n_busy, 30 * SECOND_NS / tick_ns * 8 / 10, 30 * SECOND_NS / tick_ns + 2);
    assert_in_range(n_asleep, 29 / 3, 29);
    held_stop(&held);
}

static void test_the_clock_is_not_asked_where_that_saves_nothing(void **state) {
    (void)state;
    struct held held;
    held_load(&held); // level 1 of three event groups with two counters: a composite's parts follow one another
    held.p.scenario->general_counters = 2;
    held_start(&held, 3);
    pipeline_run_until(&held.p, 60);
    assert_int_equal(held.n_reads, 0);
    held_stop(&held);
    held_load(&held); // few cores
    held.p.scenario->cores_per_socket = 3;
    topology_free(held.p.topology);
    assert_int_equal(pmu_sim_topology(held.p.scenario, NULL, &held.p.topology), 0);
    held_start(&held, 3);
    pipeline_run_until(&held.p, 30);
    assert_int_equal(held.n_reads, 0);
    held_stop(&held);
}

static void test_what_no_clock_tells_is_treated_as_busy(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    held.unknown_every = 1;
    held_start(&held, 4);
    pipeline_run_until(&held.p, 60);
    uint64_t first = pmu_sim_interrupts(held.p.recorder.inner, 0);
    assert_true(first > 60 * 2 * 4);
    for (unsigned cpu = 1; cpu < CORES; cpu++)
        assert_in_range(pmu_sim_interrupts(held.p.recorder.inner, cpu), first - first / 10, first + first / 10);
    assert_all_accounted(&held.p, 1e-9);
    held_stop(&held);
}

// ---- counts ----

static void test_a_core_that_sleeps_has_no_ratios_and_covered_time(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held_start(&held, 5);
    struct pipeline *p = &held.p;
    for (unsigned i = 0; i < 100; i++) {
        pipeline_run(p, 1);
        for (size_t cpu = 1; cpu < CORES; cpu++) {
            size_t scope = snapshot_scope_cpu(p->layout, cpu);
            assert_true(isnan(pipeline_gauge(p, scope, "ipc")));
            assert_true(isnan(pipeline_gauge(p, scope, "branch_mpki")));
        }
        size_t hot = snapshot_scope_cpu(p->layout, 0);
        assert_true(isnan(pipeline_gauge(p, hot, "ipc")) || fabs(pipeline_gauge(p, hot, "ipc") - 1.5) < 1e-3);
    }
    assert_near(pipeline_gauge(p, 0, "ipc"), 1.5, 1e-3, "ipc of the host");
    assert_all_accounted(p, 1e-9);
    assert_near(p->snapshot->values[snapshot_covered(p->layout, 0)],
                CORES * (double)(p->snapshot->end_ns - p->start_ns) * 1e-9, 1e-9, "covered time");
    held_stop(&held);
}

enum kind { HOT, SHORT_1, SHORT_5, BURSTS_60, BURSTS_500, ASLEEP, KIND_N };
static const char *const KIND_NAMES[KIND_N] = {"hot",   "1 % of the time", "5 % of the time",
                                               "60 ms", "500 ms",          "asleep"};

static enum kind kind_of(size_t core) {
    return core == 7   ? HOT
           : core < 3  ? SHORT_1
           : core < 6  ? SHORT_5
           : core < 10 ? BURSTS_60
           : core < 13 ? BURSTS_500
                       : ASLEEP;
}

static void make_bursts(struct bursts *bursts, enum kind kind, uint64_t *random) {
    switch (kind) {
    case HOT:
        busy_always(bursts);
        return;
    case SHORT_1:
        random_bursts(bursts, 0.01, 0.01, random);
        return;
    case SHORT_5:
        random_bursts(bursts, 0.02, 0.05, random);
        return;
    case BURSTS_60:
        random_bursts(bursts, 0.06, 0.1, random);
        return;
    case BURSTS_500:
        random_bursts(bursts, 0.5, 0.1, random);
        return;
    default:
        sleep_always(bursts);
    }
}

// A total of all CPUs of a kind, and its truth.
struct total {
    double is[KIND_N], truth[KIND_N];
};

enum { FIRST_CATEGORY = 3, TOTALS = FIRST_CATEGORY + 2 };
static const char *const TOTAL_NAMES[TOTALS] = {"INST_RETIRED", "BR_MIS_PRED_RETIRED", "L1D_CACHE_REFILL",
                                                "frontend_bound", "backend_bound"};

static size_t event_place(const struct pipeline *p, const char *name) {
    for (size_t e = 0; e < p->layout->n_events; e++)
        if (strcmp(p->catalog->events[p->layout->events[e]].name, name) == 0)
            return e;
    fail_msg("no event %s", name);
    return 0;
}

static size_t category_place(const struct pipeline *p, const char *name) {
    const struct catalog_level1 *level1 = &p->catalog->level1;
    for (size_t i = 0; i < level1->n_categories; i++)
        if (strcmp(p->catalog->metrics[level1->categories[i].metric].name, name) == 0)
            return i;
    fail_msg("no category %s", name);
    return 0;
}

// Both are sums of events, so that the truth does not depend on which windows there were.
static double true_category(const struct pipeline *p, size_t scope, const char *name) {
    size_t m = 0;
    while (strcmp(p->catalog->metrics[p->plan->metrics[m].metric].name, name) != 0)
        m++;
    double share = pipeline_truth(p, scope, m, p->start_ns, p->snapshot->end_ns);
    double slots = 0;
    for (size_t cpu = 0; cpu < CORES; cpu++)
        if (scope == snapshot_scope_cpu(p->layout, cpu))
            slots =
                8 * pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id,
                                  p->layout->events[event_place(p, "CPU_CYCLES")], p->start_ns, p->snapshot->end_ns);
    return slots > 0 ? share * slots : 0;
}

// All events of a core happen in the same bursts, half of which have other rates.
static void add_totals(const struct pipeline *p, struct total *totals) {
    const double *values = p->snapshot->values;
    for (size_t cpu = 0; cpu < CORES; cpu++) {
        enum kind kind = kind_of(cpu);
        size_t scope = snapshot_scope_cpu(p->layout, cpu);
        for (size_t i = 0; i < FIRST_CATEGORY; i++) {
            size_t e = event_place(p, TOTAL_NAMES[i]);
            totals[i].is[kind] += values[snapshot_event(p->layout, scope, e)];
            totals[i].truth[kind] += pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, p->layout->events[e],
                                                   p->start_ns, p->snapshot->end_ns);
        }
        for (size_t i = FIRST_CATEGORY; i < TOTALS; i++) {
            totals[i].is[kind] += values[snapshot_category(p->layout, scope, category_place(p, TOTAL_NAMES[i]))];
            totals[i].truth[kind] += true_category(p, scope, TOTAL_NAMES[i]);
        }
    }
}

// Sums of all seeds, and of their squares, so that their spread is the bound.
struct bias {
    double sum, squares;
    size_t n;
};

static void add_bias(struct bias *bias, double is, double truth) {
    double relative = is / truth - 1;
    bias->sum += relative;
    bias->squares += relative * relative;
    bias->n++;
}

// The mean of relative errors is within 4.5 of its standard errors, which are small enough to tell.
static void check_bias(const struct bias *bias, double most, const char *kind, const char *what) {
    double n = (double)bias->n, mean = bias->sum / n;
    double error = sqrt(fmax(bias->squares / n - mean * mean, 0) / (n - 1));
    print_message("  %-20s %-22s bias %+.4f +/- %.4f\n", kind, what, mean, error);
    if (error > most)
        fail_msg("%s, %s: the standard error of %g shows nothing", kind, what, error);
    if (!(fabs(mean) <= 4.5 * error + 0.002))
        fail_msg("%s, %s: biased by %g +/- %g", kind, what, mean, error);
}

static uint64_t seed_begin(void) {
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %llu (repeat with SEED=)\n", (unsigned long long)seed);
    return seed;
}

enum { SEEDS = 24, SECONDS = 270 };

static void test_totals_are_unbiased_whatever_sleeps_and_wakes(void **state) {
    (void)state;
    static const double most[KIND_N] = {0.01, 0.06, 0.04, 0.03, 0.03, 0};
    static struct bias biases[TOTALS][KIND_N], host[TOTALS];
    uint64_t random = seed_begin();
    memset(biases, 0, sizeof biases);
    memset(host, 0, sizeof host);
    for (int i = 0; i < SEEDS; i++) {
        struct held held;
        struct total totals[TOTALS] = {0};
        held_load(&held);
        for (size_t core = 0; core < CORES; core++)
            make_bursts(&held.bursts[core], kind_of(core), &random);
        held_start(&held, random_next(&random));
        pipeline_run_until(&held.p, SECONDS);
        assert_all_accounted(&held.p, 1e-9);
        add_totals(&held.p, totals);
        for (size_t t = 0; t < TOTALS; t++) {
            double is = 0, truth = 0;
            for (size_t kind = 0; kind < KIND_N; kind++) {
                is += totals[t].is[kind];
                truth += totals[t].truth[kind];
                if (kind == ASLEEP)
                    assert_true(totals[t].is[kind] == 0); // nothing is invented
                else
                    add_bias(&biases[t][kind], totals[t].is[kind], totals[t].truth[kind]);
            }
            add_bias(&host[t], is, truth);
        }
        held_stop(&held);
    }
    for (size_t t = 0; t < TOTALS; t++) {
        for (size_t kind = 0; kind < ASLEEP; kind++)
            check_bias(&biases[t][kind], most[kind], KIND_NAMES[kind], TOTAL_NAMES[t]);
        check_bias(&host[t], 0.02, "the host", TOTAL_NAMES[t]);
    }
}

// ---- what comes between ----

static void test_a_cpu_that_goes_away_while_its_core_is_held_is_uncovered_and_counts_again(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held.bursts[9] = (struct bursts){.period_seconds = 1000};
    add_burst(&held.bursts[9], 130, 300);
    struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 9);
    away->from_seconds = 30;
    away->until_seconds = 90;
    held_start(&held, 6);
    struct pipeline *p = &held.p;
    pipeline_run_until(p, 120);
    double offline = pipeline_uncovered(p, UNCOVERED_OFFLINE);
    // found when the slot ends on which it is held, at most 15 slots later; found again at the end of a round
    double late = 15 * 0.2 + 3 * (double)p->plan->round_ns * 1e-9;
    if (!(offline >= 60 - late && offline <= 60 + late))
        fail_msg("offline for %g s", offline);
    assert_all_accounted(p, 1e-9);
    pipeline_run_until(p, 260);
    assert_all_accounted(p, 1e-9);
    assert_near(p->snapshot->values[snapshot_event(p->layout, snapshot_scope_cpu(p->layout, 9),
                                                   event_place(p, "INST_RETIRED"))],
                pmu_sim_truth(p->recorder.inner, 9, p->layout->events[event_place(p, "INST_RETIRED")], p->start_ns,
                              p->snapshot->end_ns),
                0.1, "instructions after that");
    held_stop(&held);
}

// The clock tells that a CPU has gone: its core goes on at the next tick, and finds out with its next event group.
static void test_a_cpu_that_goes_away_while_its_core_is_held_is_noticed_within_an_interval(void **state) {
    (void)state;
    for (unsigned cpu = 1; cpu < CORES; cpu++) {
        struct held held;
        held_load(&held);
        struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
        away->cpus = (struct cpuset){0};
        cpuset_add(&away->cpus, cpu);
        away->from_seconds = 30;
        away->until_seconds = 60;
        held.away = away;
        held_start(&held, cpu);
        struct pipeline *p = &held.p;
        pipeline_run_until(p, 29.5);
        size_t n_open = p->recorder.n_open;
        pipeline_run_until(p, 32);
        assert_true(p->recorder.n_open < n_open);
        pipeline_run_until(p, 90);
        assert_int_equal(p->recorder.n_open, n_open);
        double offline = pipeline_uncovered(p, UNCOVERED_OFFLINE), round = (double)p->plan->round_ns * 1e-9;
        // each of its event groups counts again when the core, which sleeps, comes to it
        if (!(offline >= 30 - 2 * round && offline <= 30 + 2 * 15 * 0.2 + 3 * round))
            fail_msg("CPU %u was offline for %g s", cpu, offline);
        held_stop(&held);
    }
}

// An event group that cannot be opened has no windows to tell of zeros.
static void test_what_cannot_be_opened_is_uncovered_also_where_cores_sleep(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    busy_always(&held.bursts[0]);
    held_give_loads(&held);
    for (size_t e = 0; e < held.p.catalog->n_events; e++)
        if (strcmp(held.p.catalog->events[e].name, "L1D_CACHE_REFILL") == 0)
            held.p.recorder.refused_config = held.p.catalog->events[e].code.config;
    pipeline_start(&held.p, SLOT_NS, 7, DEFAULT_GROUPS);
    pipeline_run_until(&held.p, 400);
    assert_all_accounted(&held.p, 1e-9);
    const struct snapshot *snapshot = held.p.snapshot;
    const struct snapshot_layout *layout = held.p.layout;
    double busy = snapshot->values[snapshot_uncovered(layout, snapshot_scope_cpu(layout, 0), UNCOVERED_FAILED)];
    assert_true(busy > 10);
    for (size_t cpu = 1; cpu < CORES; cpu++) { // from its first window on
        double asleep = snapshot->values[snapshot_uncovered(layout, snapshot_scope_cpu(layout, cpu), UNCOVERED_FAILED)];
        if (!(asleep >= 0.75 * busy && asleep <= busy * 1.01))
            fail_msg("CPU %zu: uncovered for %g s, a busy one for %g s", cpu, asleep, busy);
    }
    held_stop(&held);
}

static void test_a_yield_while_cores_are_held_is_uncovered_and_counts_nothing(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    for (size_t core = 0; core < 3; core++)
        busy_always(&held.bursts[core]);
    add_burst(&held.bursts[8], 40, 41); // while the counters are handed over
    held_start(&held, 8);
    struct pipeline *p = &held.p;
    while (p->now_ns < EPOCH_NS + 37 * SECOND_NS + SECOND_NS / 3)
        pipeline_step(p, 0);
    pipeline_yield(p, 20);
    pipeline_run_until(p, 120);
    assert_all_accounted(p, 1e-9);
    double yielded = pipeline_uncovered(p, UNCOVERED_YIELDED), longest = 20 + 2 * (double)p->plan->round_ns * 1e-9;
    assert_true(yielded >= CORES * 20 && yielded <= CORES * longest); // with the rounds that it cut off
    assert_true(p->snapshot->values[snapshot_event(p->layout, snapshot_scope_cpu(p->layout, 8),
                                                   event_place(p, "INST_RETIRED"))] == 0);
    held_stop(&held);
}

static void test_a_clock_that_fails_now_and_then_loses_no_time(void **state) {
    (void)state;
    struct held held;
    uint64_t random = 9;
    held_load(&held);
    for (size_t core = 0; core < CORES; core++)
        make_bursts(&held.bursts[core], kind_of(core), &random);
    held.unknown_every = 7;
    held_start(&held, 9);
    for (int i = 0; i < 600; i++)
        (void)pipeline_step(&held.p, random_below(&random, 10) == 0 ? random_below(&random, 3 * SECOND_NS) : 0);
    assert_all_accounted(&held.p, 1e-9);
    held_stop(&held);
}

// ---- replay ----

static void test_a_recording_of_cores_that_were_held_gives_the_live_values_bit_by_bit(void **state) {
    (void)state;
    struct held held;
    struct taped taped;
    uint64_t random = 10;
    held_load(&held);
    for (size_t core = 0; core < CORES; core++)
        make_bursts(&held.bursts[core], kind_of(core), &random);
    struct scenario_rival *away = pipeline_add_rival(&held.p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 11);
    away->from_seconds = 30;
    away->until_seconds = 50;
    held_start(&held, 10);
    taped_begin(&taped, &held.p);
    taped_run(&taped, &held.p, 30);
    taped_yield(&taped, &held.p, 5);
    taped_run(&taped, &held.p, 20);
    taped_assert_plays(&taped, 50);
    taped_end(&taped);
    held_stop(&held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_core_that_sleeps_is_interrupted_a_tenth_as_often_and_not_by_idle_pieces),
        cmocka_unit_test(test_a_core_that_wakes_goes_on_at_the_next_tick),
        cmocka_unit_test(test_the_clock_is_not_asked_where_that_saves_nothing),
        cmocka_unit_test(test_what_no_clock_tells_is_treated_as_busy),
        cmocka_unit_test(test_a_core_that_sleeps_has_no_ratios_and_covered_time),
        cmocka_unit_test(test_totals_are_unbiased_whatever_sleeps_and_wakes),
        cmocka_unit_test(test_a_cpu_that_goes_away_while_its_core_is_held_is_uncovered_and_counts_again),
        cmocka_unit_test(test_a_cpu_that_goes_away_while_its_core_is_held_is_noticed_within_an_interval),
        cmocka_unit_test(test_what_cannot_be_opened_is_uncovered_also_where_cores_sleep),
        cmocka_unit_test(test_a_yield_while_cores_are_held_is_uncovered_and_counts_nothing),
        cmocka_unit_test(test_a_clock_that_fails_now_and_then_loses_no_time),
        cmocka_unit_test(test_a_recording_of_cores_that_were_held_gives_the_live_values_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
