// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_HELD_HOST_H
#define TOPDOWND_TESTS_SIMULATION_HELD_HOST_H

// A host of 16 cores, each with bursts of its own, and the clock that tells which of them sleep.

#include "tests/simulation/taped.h"

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

static inline double random_unit(uint64_t *random) { return (double)(random_next(random) >> 11) * 0x1p-53; }

static inline void add_burst(struct bursts *bursts, double begin, double end) {
    assert_true(bursts->n < BURSTS_MAX);
    bursts->begin[bursts->n] = begin;
    bursts->end[bursts->n++] = end;
}

static inline void sleep_always(struct bursts *bursts) { *bursts = (struct bursts){.period_seconds = 1000}; }

static inline void busy_always(struct bursts *bursts) {
    *bursts = (struct bursts){.period_seconds = 1000};
    add_burst(bursts, 0, 1000);
}

// Bursts from half to three halves of burst_seconds, and pauses at random, so that it is busy for a share of the time.
static inline void random_bursts(struct bursts *bursts, double burst_seconds, double share, uint64_t *random) {
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

static inline void add_keyframe(struct scenario_load *load, const struct scenario_keyframe *like, double at,
                                double rate, bool slower) {
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
static inline void make_load(struct scenario_load *load, const struct scenario_keyframe *like,
                             const struct bursts *bursts) {
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

static inline double busy_seconds(const struct bursts *bursts, double at) {
    double periods = floor(at / bursts->period_seconds), sum = 0, all = 0;
    double in_period = at - periods * bursts->period_seconds;
    for (size_t i = 0; i < bursts->n; i++) {
        all += bursts->end[i] - bursts->begin[i];
        sum += fmax(fmin(in_period, bursts->end[i]) - bursts->begin[i], 0);
    }
    return periods * all + sum;
}

static inline bool is_away(const struct held *held, unsigned cpu, uint64_t now_ns) {
    double seconds = (double)(now_ns - EPOCH_NS) * 1e-9;
    return held->away && cpuset_has(&held->away->cpus, cpu) && seconds >= held->away->from_seconds &&
           seconds < held->away->until_seconds;
}

// In steps of 10 ms, as the kernel's.
static inline bool read_clock(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns,
                              uint64_t *busy_ns) {
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

static inline void held_load(struct held *held) {
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
static inline void held_give_loads(struct held *held) {
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

static inline void held_start(struct held *held, uint64_t seed) {
    held_give_loads(held);
    pipeline_start(&held->p, SLOT_NS, seed, DEFAULT_GROUPS);
}

static inline void held_stop(struct held *held) {
    pipeline_stop(&held->p);
    free(held->bursts);
}

static inline size_t event_place(const struct pipeline *p, const char *name) {
    for (size_t e = 0; e < p->layout->n_events; e++)
        if (strcmp(p->catalog->events[p->layout->events[e]].name, name) == 0)
            return e;
    fail_msg("no event %s", name);
    return 0;
}

// ---- kinds of cores ----

enum kind { HOT, SHORT_1, SHORT_5, BURSTS_60, BURSTS_500, ASLEEP, KIND_N };
static const char *const KIND_NAMES[KIND_N] = {"hot",   "1 % of the time", "5 % of the time",
                                               "60 ms", "500 ms",          "asleep"};

static inline enum kind kind_of(size_t core) {
    return core == 7   ? HOT
           : core < 3  ? SHORT_1
           : core < 6  ? SHORT_5
           : core < 10 ? BURSTS_60
           : core < 13 ? BURSTS_500
                       : ASLEEP;
}

static inline void make_bursts(struct bursts *bursts, enum kind kind, uint64_t *random) {
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

#endif
