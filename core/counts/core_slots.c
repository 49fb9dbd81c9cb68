// SPDX-License-Identifier: Apache-2.0
#include "core/counts/core_slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

#define CORE_MEMORY_SECONDS 3600. // of measured time, after which the fastest clock weighs 1/e
#define CORE_CLOCK_LEAST 0.75     // of the maximum frequency

// ---- a core ----

// Of all threads together.
struct core_sum {
    double all, longest; // slots of the threads' cycles: their sum, and the largest
    double used, own, contention;
    double front;       // of `own`
    double want;        // product of the shares of time in which each wants a slot
    double independent; // product of the shares of the usual clock in which each is asleep
};

static double own_of(const struct core_thread *thread) {
    return fmax(thread->slots[THREAD_SLOTS_FRONTEND], 0) + fmax(thread->slots[THREAD_SLOTS_BACKEND], 0);
}

static struct core_sum sum_of(const struct core_thread *threads, size_t n, const struct core_clock *clock) {
    struct core_sum sum = {.want = 1, .independent = 1};
    for (size_t i = 0; i < n; i++) {
        double all = threads[i].slots[THREAD_SLOTS_ALL];
        sum.all += all;
        sum.longest = fmax(sum.longest, all);
        sum.used += threads[i].slots[THREAD_SLOTS_USED];
        sum.own += own_of(&threads[i]);
        sum.front += fmax(threads[i].slots[THREAD_SLOTS_FRONTEND], 0);
        sum.contention += threads[i].contention;
        sum.want *= all > 0 ? 1 - fmin(own_of(&threads[i]) / all, 1) : 1;
    }
    double usual = fmax(clock->usual, sum.longest);
    for (size_t i = 0; i < n; i++)
        sum.independent *= usual > 0 ? 1 - threads[i].slots[THREAD_SLOTS_ALL] / usual : 1;
    sum.independent = usual * (1 - sum.independent);
    return sum;
}

// Standard error of an estimate whose true value lies anywhere between two bounds with equal probability.
static double error_between(double low, double estimate, double high) {
    double above = high - estimate, below = estimate - low;
    return high > low ? sqrt((above * above * above + below * below * below) / (3 * (high - low))) : 0;
}

// How many of the threads' slots are the same ones.
struct core_overlap {
    double slots, error; // estimate, and its standard error
};

static struct core_overlap overlap_of(const struct core_sum *sum, size_t n, const struct core_clock *clock) {
    double high = fmax(sum->all - fmax(sum->longest, sum->used), 0);
    double low = fmin(fmax(sum->contention, sum->all - clock->most), high);
    if (n == 1)
        return (struct core_overlap){fmin(sum->contention, fmax(sum->all - sum->used, 0)), 0};
    if (n == 2 && sum->contention > 0 && sum->want > 0)
        high = fmax(fmin(high, sum->contention / sum->want), low);
    double slots = fmin(fmax(sum->all - sum->independent, low), high), error = error_between(low, slots, high);
    // shares are inverse to the core's slots, so with fewer slots they are off by more than in proportion
    return (struct core_overlap){slots, error > 0 ? error * (sum->all - slots) / (sum->all - high) : 0};
}

// Unused slots of a core's threads are in proportion to those of the core; with none of their own, to their cycles.
void core_slots_divide(const struct core_thread *threads, size_t n, const struct core_clock *clock,
                       struct core_share *shares) {
    struct core_sum sum = sum_of(threads, n, clock);
    struct core_overlap overlap = overlap_of(&sum, n, clock);
    double unused = fmax(sum.all - overlap.slots - sum.used, 0), split = 0;
    if (n > 1 && sum.own > unused)
        split = error_between(fmax(unused - (sum.own - sum.front), 0), unused * sum.front / sum.own,
                              fmin(sum.front, unused));
    for (size_t i = 0; i < n; i++) {
        const double *slots = threads[i].slots;
        double front = sum.own > 0 ? fmax(slots[THREAD_SLOTS_FRONTEND], 0) / sum.own : 0;
        double back = sum.own > 0 ? fmax(slots[THREAD_SLOTS_BACKEND], 0) / sum.own : 0;
        double part = sum.own > 0 ? front + back : sum.all > 0 ? slots[THREAD_SLOTS_ALL] / sum.all : 0;
        shares[i] =
            (struct core_share){.slots = {slots[THREAD_SLOTS_USED] + unused * part, unused * front, unused * back},
                                .errors = {overlap.error * front, overlap.error * back, split * part}};
    }
}

// ---- windows ----

static void lay_out(void *self, struct block *block) {
    struct core_slots *core_slots = self;
    size_t n_cpus = core_slots->n_values > 0 ? core_slots->topology->n_cpus : 0;
    core_slots->cpus = block_take(block, n_cpus, sizeof *core_slots->cpus);
    core_slots->first = block_take(block, core_slots->topology->n_cores + 1, sizeof *core_slots->first);
    core_slots->values = block_take(block, n_cpus * core_slots->n_values, sizeof *core_slots->values);
    core_slots->waiting = block_take(block, n_cpus, sizeof *core_slots->waiting);
    core_slots->threads = block_take(block, n_cpus, sizeof *core_slots->threads);
    core_slots->shares = block_take(block, n_cpus, sizeof *core_slots->shares);
}

static void find_cpus(struct core_slots *core_slots) {
    const struct topology *topology = core_slots->topology;
    size_t *first = core_slots->first;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        first[topology->cpus[cpu].core]++;
    for (size_t core = 1; core <= topology->n_cores; core++) // where each core's end
        first[core] += first[core - 1];
    for (size_t cpu = topology->n_cpus; cpu-- > 0;) // then where they begin
        core_slots->cpus[--first[topology->cpus[cpu].core]] = (unsigned)cpu;
}

struct core_slots *core_slots_new(const struct rows *rows, const struct topology *topology) {
    size_t n_values = rows->core_unit >= 0 ? rows_n(rows, (size_t)rows->core_unit) : 0;
    struct core_slots core_slots = {.rows = rows,
                                    .topology = topology,
                                    .n_values = n_values,
                                    .infers = n_values > 0 && !rows_count_contention(rows)};
    struct core_slots *made = block_new(&core_slots, sizeof core_slots, lay_out);
    if (!made || n_values == 0)
        return made;
    find_cpus(made);
    made->window = operands_new(rows);
    return made->window ? made : core_slots_free(made);
}

struct core_slots *core_slots_free(struct core_slots *core_slots) {
    if (core_slots)
        operands_free(core_slots->window);
    free(core_slots);
    return NULL;
}

void core_slots_continue(struct core_slots *core_slots, const struct core_slots *old) {
    core_slots->fastest = old->fastest;
}

static struct scope_cpus cpus_of(const struct core_slots *core_slots, size_t cpu) {
    unsigned core = core_slots->topology->cpus[cpu].core;
    size_t first = core_slots->first[core];
    return (struct scope_cpus){core_slots->cpus + first, core_slots->first[core + 1] - first};
}

bool core_slots_take(struct core_slots *core_slots, size_t cpu, const double *values) {
    struct scope_cpus core = cpus_of(core_slots, cpu);
    double *to = core_slots_values(core_slots, cpu);
    bool all = true;
    if (values)
        memcpy(to, values, core_slots->n_values * sizeof *to);
    else
        to[0] = 0;
    core_slots->waiting[cpu] = values ? CORE_WAITS : CORE_WAITS_WITHOUT_DATA;
    for (size_t i = 0; i < core.n; i++)
        all = all && core_slots_waits(core_slots, core.cpus[i]);
    return all;
}

static struct core_thread thread_of(const struct core_slots *core_slots, const double *values) {
    const struct rows *rows = core_slots->rows;
    const struct catalog *catalog = rows->plan->catalog;
    struct operands *window = core_slots->window;
    struct core_thread thread;
    operands_begin(window, values[0], 0);
    operands_fill(window, (size_t)rows->core_unit, values, 1);
    for (int i = 0; i < THREAD_SLOTS_N; i++)
        thread.slots[i] = formula_evaluate_known(catalog->level1.thread[i], window->counts, NULL);
    double share = formula_evaluate_known(catalog->metrics[catalog->level1.contention].formula, window->counts, NULL);
    thread.contention = share > 0 ? share * thread.slots[THREAD_SLOTS_ALL] : 0;
    if (core_slots->infers) { // others may have counted cycles at other times than the rest
        double known = thread.slots[THREAD_SLOTS_USED] + own_of(&thread);
        thread.slots[THREAD_SLOTS_ALL] = fmax(thread.slots[THREAD_SLOTS_ALL], known);
        thread.contention = thread.slots[THREAD_SLOTS_ALL] - known;
    }
    return thread;
}

// The clock is at least that of the fastest thread of late, and at most the host's maximum, unless it is proven faster.
// A server's cores under load run at three quarters of their maximum or more.
static struct core_clock clock_of(struct core_slots *core_slots, const struct core_thread *threads, size_t n,
                                  double seconds) {
    const struct topology *topology = core_slots->topology;
    double maximum = core_slots->rows->plan->catalog->level1.width * topology->maximum_frequency_hz;
    core_slots->fastest *= 1 - fmin(seconds / (CORE_MEMORY_SECONDS * (double)topology->n_cores), 1);
    for (size_t i = 0; i < n && seconds > 0; i++)
        core_slots->fastest = fmax(core_slots->fastest, threads[i].slots[THREAD_SLOTS_ALL] / seconds);
    double most = maximum > 0 ? fmax(maximum, core_slots->fastest) * seconds : INFINITY;
    return (struct core_clock){fmax(core_slots->fastest, CORE_CLOCK_LEAST * maximum) * seconds, most};
}

struct scope_cpus core_slots_finish(struct core_slots *core_slots, size_t cpu) {
    struct scope_cpus core = cpus_of(core_slots, cpu);
    size_t place = rows_core_slots(core_slots->rows), n = 0;
    double seconds = 0;
    for (size_t i = 0; i < core.n; i++) {
        const double *values = core_slots_values(core_slots, core.cpus[i]);
        if (core_slots->waiting[core.cpus[i]] == CORE_WAITS) {
            core_slots->threads[n++] = thread_of(core_slots, values);
            seconds = fmax(seconds, values[0]);
        }
    }
    struct core_clock clock = clock_of(core_slots, core_slots->threads, n, seconds);
    core_slots_divide(core_slots->threads, n, &clock, core_slots->shares);
    n = 0;
    for (size_t i = 0; i < core.n; i++) {
        double *values = core_slots_values(core_slots, core.cpus[i]);
        uint8_t *waiting = &core_slots->waiting[core.cpus[i]];
        if (*waiting == CORE_WAITS) {
            const struct core_share *share = &core_slots->shares[n++];
            memcpy(values + place, share->slots, sizeof share->slots);
            memcpy(values + place + CORE_SLOTS_N, share->errors, sizeof share->errors);
        } else {
            values[0] = 0;
        }
        *waiting = CORE_WAITS_NOT;
    }
    return core;
}
