// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_LOAD_H
#define TOPDOWND_BENCH_ACCURACY_LOAD_H

// Loads whose truth is known: at each moment a CPU runs one of two mixes of work, and the time of each mix between two
// times is exact. Every event has a rate in each mix, so all counts follow.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MIX_WEB, MIX_DATABASE, MIX_BATCH, MIX_IDLE, MIX_SLEEP, MIX_N }; // MIX_SLEEP: nothing happens
extern const double
    load_mix_busy[MIX_N];           // the share of time in which the CPU does not sleep: `utilisation` in the files
enum { LOAD_TICKS_A_SECOND = 250 }; // the kernel shares counters in ticks of 4 ms

enum load_shape {
    LOAD_STEADY,    // `on` all the time
    LOAD_BURSTS,    // on and off for random times from 0.5 to 1.5 times the given ones
    LOAD_PERIODIC,  // the same without randomness
    LOAD_RAMP,      // linear from off to on
    LOAD_MIGRATING, // one thread, on one of the CPUs at a time
    LOAD_HOT,       // bursts on the first CPU, off on all others
    LOAD_LOCKSTEP,  // bursts, at the same times on all CPUs
    LOAD_STEP       // off until a random time, then on, on all CPUs at once
};

struct load_kind {
    const char *name;
    enum load_shape shape;
    double on_seconds, off_seconds; // PERIODIC: 0 means half the caller's own period
    unsigned on, off;               // mixes
    double noise;                   // standard deviation of a second's count, relative
    bool contended;                 // others hold the counters in half of the ticks
    bool beats_with_rival;
    unsigned cpus; // minimum
    bool half;     // on every second CPU; the others are busy with other work all the time
};
extern const struct load_kind load_kinds[];
extern const size_t load_n_kinds;

// Loads that change on all CPUs at once, so that errors of CPUs do not average out unless their schedules differ.
extern const struct load_kind load_correlated[];
extern const size_t load_n_correlated;

// Loads of CPUs that sleep most of the time, beside busy ones: if a schedule that spares sleeping CPUs miscounts these,
// the shares of all together shift.
extern const struct load_kind load_sleepers[];
extern const size_t load_n_sleepers;

// Loads with one bottleneck at a time, so that an adaptive schedule has a choice.
extern const struct load_kind load_bottlenecks[];
extern const size_t load_n_bottlenecks;

static inline bool load_is_periodic(const struct load_kind *kind) { return kind->shape == LOAD_PERIODIC; }

// One CPU's load from 0 to `seconds`.
struct load {
    const struct load_kind *kind;
    double seconds, period, phase;
    double *edges, *on_before; // of each on-time: its start, and the total time on before; of shapes with random times
    double *ends;
    size_t n, capacity;
    uint64_t seed;
};

void load_init(struct load *load, const struct load_kind *kind, double seconds, double beat_seconds, uint64_t seed,
               unsigned cpu, unsigned n_cpus);
void load_free(struct load *load);

// The seconds it was on until `at`.
double load_on(const struct load *load, double at);

// False if others hold the counters in this tick.
bool load_tick_ours(const struct load *load, uint64_t tick);

// Uniform from 0 to 1, and standard normal.
double load_uniform(uint64_t *state);
double load_normal(uint64_t *state);

#endif
