// SPDX-License-Identifier: Apache-2.0
#include "core/plan/schedule.h"

#include "core/base/random.h"

uint64_t schedule_slot_ns(size_t n_cores) {
    static const struct {
        size_t cores;
        uint64_t slot_ns;
    } points[] = {{32, 200000000}, {128, 375000000}, {256, 750000000}};
    size_t i = 0, n = sizeof points / sizeof *points;
    while (i < n && points[i].cores < n_cores)
        i++;
    if (i == 0 || i == n)
        return points[i == 0 ? 0 : n - 1].slot_ns;
    uint64_t more_ns = points[i].slot_ns - points[i - 1].slot_ns;
    return points[i - 1].slot_ns + more_ns * (n_cores - points[i - 1].cores) / (points[i].cores - points[i - 1].cores);
}

int schedule_make_plan(const struct plan_request *request, size_t n_cores, double longer, struct plan **out) {
    struct plan_request own = *request;
    struct plan *plan;
    uint64_t slot_ns = schedule_slot_ns(n_cores), least_ns = schedule_slot_ns(1);
    own.slot_ns = (uint64_t)((double)slot_ns * longer);
    int r = plan_new(&own, &plan);
    if (r < 0)
        return r;
    double shorter = (double)SCHEDULE_ROUND_NS_MAX * longer / (double)plan->round_ns;
    if (plan_slots(plan) > 0 && shorter < 1 && slot_ns > least_ns) {
        slot_ns = (uint64_t)((double)slot_ns * shorter);
        own.slot_ns = (uint64_t)((double)(slot_ns > least_ns ? slot_ns : least_ns) * longer);
        plan_free(plan);
        r = plan_new(&own, &plan);
        if (r < 0)
            return r;
    }
    *out = plan;
    return 0;
}

// n of something of total_ns in pieces of about piece_ns, from 1 to most.
static unsigned divide(uint64_t total_ns, uint64_t piece_ns, unsigned most) {
    uint64_t n = (total_ns + piece_ns / 2) / piece_ns;
    return n < 1 ? 1 : n > most ? most : (unsigned)n;
}

struct schedule schedule_of(const struct plan *plan, size_t n_cores, uint64_t interval_ns, uint64_t seed) {
    struct schedule schedule = {.plan = plan, .seed = seed, .n_cores = n_cores, .n_ticks = plan_slots(plan)};
    if (schedule.n_ticks == 0) { // nothing rotates: a round is one tick
        schedule.n_ticks = schedule.n_intervals = schedule.n_cohorts = 1;
        schedule.tick_ns = plan->round_ns;
        return schedule;
    }
    schedule.n_entries = (unsigned)plan->n_round - (plan->idle_ns > 0);
    schedule.tick_ns = plan->slot_ns;
    schedule.n_pieces = plan->idle_ns > 0 ? divide(plan->round_ns, SCHEDULE_PIECE_NS, schedule.n_ticks) : 0;
    schedule.n_intervals = interval_ns > 0 ? divide(plan->round_ns, interval_ns, schedule.n_ticks) : 1;
    size_t most = n_cores / SCHEDULE_COHORT_CORES;
    schedule.n_cohorts = most < 1 ? 1 : most < schedule.n_intervals ? (unsigned)most : schedule.n_intervals;
    return schedule;
}

// An independent stream of random numbers for each purpose, round and place.
static uint64_t stream(uint64_t seed, uint64_t purpose, uint64_t round, uint64_t place) {
    uint64_t state = seed + purpose;
    state = random_next(&state) ^ place;
    state = random_next(&state) ^ round;
    return state;
}
enum { PIECES, ORDERS, OFFSETS, HOLDS };

static void shuffle(uint64_t state, unsigned *order, size_t n) {
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)random_below(&state, i);
        unsigned swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

uint64_t schedule_piece_ns(const struct schedule *schedule, uint64_t tick) {
    if (schedule->n_pieces == 0)
        return 0;
    uint64_t n = schedule->n_pieces, ticks = schedule->n_ticks, at = tick % ticks, idle_ns = schedule->plan->idle_ns;
    uint64_t part = at * n / ticks; // this part's ticks are those with the same quotient
    uint64_t first = (part * ticks + n - 1) / n, next = ((part + 1) * ticks + n - 1) / n;
    uint64_t state = stream(schedule->seed, PIECES, tick / ticks, part);
    if (at != first + random_below(&state, next - first))
        return 0;
    return idle_ns * (part + 1) / n - idle_ns * part / n;
}

unsigned schedule_cohort(const struct schedule *schedule, size_t core) {
    return (unsigned)(core % schedule->n_cohorts);
}

// The tick of a round at which its interval begins.
static unsigned interval_tick(const struct schedule *schedule, unsigned interval) {
    return interval * schedule->n_ticks / schedule->n_intervals;
}

unsigned schedule_cohort_tick(const struct schedule *schedule, unsigned cohort) {
    return interval_tick(schedule, cohort * schedule->n_intervals / schedule->n_cohorts);
}

bool schedule_interval_begins(const struct schedule *schedule, uint64_t tick) {
    unsigned at = (unsigned)(tick % schedule->n_ticks), n = schedule->n_intervals;
    unsigned interval = (at * n + schedule->n_ticks - 1) / schedule->n_ticks;
    return interval < n && interval_tick(schedule, interval) == at;
}

uint64_t schedule_interval_ns(const struct schedule *schedule) {
    uint64_t ticks = (schedule->n_ticks + schedule->n_intervals - 1) / schedule->n_intervals;
    return schedule->n_ticks == 1 ? schedule->tick_ns : schedule->plan->round_ns * ticks / schedule->n_ticks;
}

static void reverse(unsigned *order, size_t from, size_t to) {
    while (from + 1 < to) {
        unsigned swap = order[from];
        order[from++] = order[--to];
        order[to] = swap;
    }
}

// Makes the entry at `by` the first one.
static void rotate(unsigned *order, size_t n, size_t by) {
    reverse(order, 0, by);
    reverse(order, by, n);
    reverse(order, 0, n);
}

void schedule_order(const struct schedule *schedule, size_t core, uint64_t round, unsigned *order) {
    size_t n = schedule->n_entries;
    if (n == 0)
        return;
    size_t in_cohort = core / schedule->n_cohorts, block = in_cohort / n;
    uint64_t place = (uint64_t)block * schedule->n_cohorts + schedule_cohort(schedule, core);
    shuffle(stream(schedule->seed, OFFSETS, round, place), order, n);
    size_t offset = order[in_cohort % n];
    shuffle(stream(schedule->seed, ORDERS, round, place), order, n);
    rotate(order, n, offset);
}

uint64_t schedule_hold_ns(const struct schedule *schedule, size_t core, uint64_t tick) {
    uint64_t state = stream(schedule->seed, HOLDS, tick, core), ns = SCHEDULE_HELD_SLOTS * schedule->tick_ns;
    return ns / 2 + random_below(&state, ns + 1);
}

bool schedule_may_hold(const struct schedule *schedule) {
    for (size_t u = 0; u < schedule->plan->n_units; u++)
        if (schedule->plan->units[u].n_groups > 1)
            return false;
    return schedule->n_entries > 0;
}
