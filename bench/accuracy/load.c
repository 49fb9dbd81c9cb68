// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/load.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/random.h"

const double load_mix_busy[MIX_N] = {0.9, 0.5, 0.95, 0.02, 0};

const struct load_kind load_kinds[] = {
    {.name = "steady, noise", .shape = LOAD_STEADY, .on = MIX_WEB, .off = MIX_WEB, .noise = 0.02},
    {"bursts 5 ms", LOAD_BURSTS, 0.005, 0.005, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"bursts 50 ms", LOAD_BURSTS, 0.05, 0.05, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"bursts 500 ms", LOAD_BURSTS, 0.5, 0.5, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"bursts 5 s", LOAD_BURSTS, 5, 5, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"beat, our round", LOAD_PERIODIC, 0, 0, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"beat, rival's cycle", LOAD_PERIODIC, 0, 0, MIX_WEB, MIX_DATABASE, 0.002, false, true, 0, false},
    {"ramp", LOAD_RAMP, 0, 0, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"mostly idle", LOAD_BURSTS, 0.02, 0.98, MIX_WEB, MIX_IDLE, 0.002, false, false, 0, false},
    {"migrating", LOAD_MIGRATING, 1, 0, MIX_DATABASE, MIX_IDLE, 0.002, false, false, 8, false},
    {"one hot CPU of 64", LOAD_HOT, 0.5, 0.5, MIX_BATCH, MIX_IDLE, 0.002, false, false, 64, false},
    {"contended", LOAD_BURSTS, 0.05, 0.05, MIX_WEB, MIX_DATABASE, 0.002, true, false, 0, false},
};
const size_t load_n_kinds = sizeof load_kinds / sizeof *load_kinds;

const struct load_kind load_correlated[] = {
    {"step", LOAD_STEP, 0, 0, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"lockstep 500 ms", LOAD_LOCKSTEP, 0.5, 0.5, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
    {"lockstep 5 s", LOAD_LOCKSTEP, 5, 5, MIX_WEB, MIX_DATABASE, 0.002, false, false, 0, false},
};
const size_t load_n_correlated = sizeof load_correlated / sizeof *load_correlated;

const struct load_kind load_sleepers[] = {
    {"1 % in 5 ms", LOAD_BURSTS, 0.005, 0.495, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
    {"5 % in 5 ms", LOAD_BURSTS, 0.005, 0.095, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
    {"10 % in 60 ms", LOAD_BURSTS, 0.06, 0.54, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
    {"10 % in 500 ms", LOAD_BURSTS, 0.5, 4.5, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
    {"30 % in 1 s", LOAD_BURSTS, 1, 2.3, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
    {"5 %, 60 ms in step", LOAD_LOCKSTEP, 0.06, 1.14, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, true},
};
const size_t load_n_sleepers = sizeof load_sleepers / sizeof *load_sleepers;
static const struct load_kind busy_neighbour = {
    .name = "busy", .shape = LOAD_STEADY, .on = MIX_BATCH, .off = MIX_BATCH, .noise = 0.002};

const struct load_kind load_bottlenecks[] = {
    {"backend, noise", LOAD_STEADY, 0, 0, MIX_DATABASE, MIX_DATABASE, 0.02, false, false, 0, false},
    {"backend, 50 ms", LOAD_BURSTS, 0.05, 0.05, MIX_DATABASE, MIX_BATCH, 0.002, false, false, 0, false},
    {"backend, 500 ms", LOAD_BURSTS, 0.5, 0.5, MIX_DATABASE, MIX_BATCH, 0.002, false, false, 0, false},
    {"backend, 5 s", LOAD_BURSTS, 5, 5, MIX_DATABASE, MIX_BATCH, 0.002, false, false, 0, false},
    {"phases of a minute", LOAD_BURSTS, 60, 60, MIX_WEB, MIX_BATCH, 0.002, false, false, 0, false},
};
const size_t load_n_bottlenecks = sizeof load_bottlenecks / sizeof *load_bottlenecks;

double load_uniform(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

double load_normal(uint64_t *state) { // Box and Muller, "A note on the generation of random normal deviates", 1958
    double u = load_uniform(state) + 0x1p-54, v = load_uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void add(struct load *load, double begin, double end) {
    if (load->n == load->capacity) {
        load->capacity = load->capacity > 0 ? 2 * load->capacity : 64;
        load->edges = realloc(load->edges, load->capacity * sizeof(double));
        load->ends = realloc(load->ends, load->capacity * sizeof(double));
        load->on_before = realloc(load->on_before, load->capacity * sizeof(double));
        if (!load->edges || !load->ends || !load->on_before)
            abort();
    }
    size_t n = load->n++;
    load->edges[n] = begin;
    load->ends[n] = end;
    load->on_before[n] = n > 0 ? load->on_before[n - 1] + load->ends[n - 1] - load->edges[n - 1] : 0;
}

static void draw_bursts(struct load *load, uint64_t *state) {
    const struct load_kind *kind = load->kind;
    double at = -load_uniform(state) * (kind->on_seconds + kind->off_seconds);
    while (at < load->seconds) {
        double end = at + kind->on_seconds * (0.5 + load_uniform(state));
        if (end > 0)
            add(load, fmax(at, 0), end);
        at = end + kind->off_seconds * (0.5 + load_uniform(state));
    }
}

// Draws the thread's way over the CPUs, the same for all CPUs.
static void draw_way(struct load *load, uint64_t *state, unsigned cpu, unsigned n_cpus) {
    double at = 0;
    while (at < load->seconds) {
        double end = at + load->kind->on_seconds * (0.5 + load_uniform(state));
        if (random_below(state, n_cpus) == cpu)
            add(load, at, end);
        at = end;
    }
}

void load_init(struct load *load, const struct load_kind *kind, double seconds, double beat_seconds, uint64_t seed,
               unsigned cpu, unsigned n_cpus) {
    if (kind->half && cpu % 2 != 0)
        kind = &busy_neighbour;
    uint64_t shared = seed, own = seed ^ (UINT64_C(0x51ed270b) * (cpu + 1));
    random_next(&own);
    *load = (struct load){.kind = kind, .seconds = seconds, .seed = own};
    load->period = kind->on_seconds > 0 ? kind->on_seconds + kind->off_seconds : beat_seconds;
    load->phase = load_uniform(&shared) * load->period; // the same on all CPUs: the worst case
    if (kind->shape == LOAD_BURSTS || (kind->shape == LOAD_HOT && cpu == 0))
        draw_bursts(load, &own);
    else if (kind->shape == LOAD_MIGRATING)
        draw_way(load, &shared, cpu, n_cpus > kind->cpus ? n_cpus : kind->cpus);
    else if (kind->shape == LOAD_LOCKSTEP)
        draw_bursts(load, &shared);
    else if (kind->shape == LOAD_STEP)
        add(load, load_uniform(&shared) * seconds, seconds);
}

void load_free(struct load *load) {
    free(load->edges);
    free(load->ends);
    free(load->on_before);
}

double load_on(const struct load *load, double at) {
    if (load->kind->shape == LOAD_STEADY)
        return at;
    if (load->kind->shape == LOAD_RAMP)
        return at * at / (2 * load->seconds);
    if (load->kind->shape == LOAD_PERIODIC) {
        double from = at + load->phase, whole = floor(from / load->period);
        return whole * load->period / 2 + fmin(from - whole * load->period, load->period / 2);
    }
    size_t low = 0, high = load->n; // the first on-time that begins after `at`
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (load->edges[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    return load->on_before[low - 1] + fmin(at, load->ends[low - 1]) - load->edges[low - 1];
}

bool load_tick_ours(const struct load *load, uint64_t tick) {
    uint64_t state = load->seed ^ tick;
    return !load->kind->contended || (random_next(&state) & 1) != 0;
}
