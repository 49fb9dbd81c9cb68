// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tally/derive_private.h"

// Creates a derive, and runs a round from beginning to end.

// ---- making ----

static bool make_parts(struct derive *d) {
    struct snapshot_layout *layout = d->layout;
    size_t first_total = snapshot_numerator(layout, 0, 0), n_cpus = derive_n_cpus(d);
    d->cells = cells_new(d->rows, n_cpus);
    d->composites = composites_new(d->rows, n_cpus);
    d->window = calloc(d->rows->n_values + 1, sizeof *d->window);
    d->core_slots = core_slots_new(d->rows, layout->topology);
    d->sums = sums_new(d->rows, d->scopes);
    d->at = operands_new(d->rows);
    d->in = operand_lanes_new(d->rows);
    d->level1 = level1_cpus_new(d->rows, d->scopes);
    d->totals = totals_new(d->scopes, first_total, layout->scope_stride - first_total);
    d->amounts = calloc(layout->scope_stride - first_total, sizeof *d->amounts);
    d->groups = group_totals_new(layout->plan);
    d->events = derive_events_new(d->rows, layout->events, layout->n_events, n_cpus);
    d->metrics = derive_metrics_new(layout->plan, n_cpus);
    d->bounds = derive_bounds_new(layout);
    d->core_rounds = calloc(layout->topology->n_cores + 1, sizeof *d->core_rounds);
    d->ended = calloc(n_cpus + 1, sizeof *d->ended);
    d->read = calloc(n_cpus + 1, sizeof *d->read);
    d->end_ns = calloc(n_cpus + 1, sizeof *d->end_ns);
    d->standing_end_ns = calloc(n_cpus + 1, sizeof *d->standing_end_ns);
    d->estimate = estimate_new(layout->plan, layout->topology, ESTIMATE_MEMORY_ROUNDS);
    return d->cells && d->composites && d->window && d->core_slots && d->sums && d->at && d->in && d->level1 &&
           d->totals && d->amounts && d->groups && d->events && d->metrics && d->bounds && d->core_rounds && d->ended &&
           d->read && d->end_ns && d->standing_end_ns && d->estimate;
}

struct derive *derive_new(struct snapshot_layout *layout) {
    struct derive *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->layout = snapshot_layout_ref(layout);
    d->rows = rows_new(layout->plan);
    d->scopes = scopes_new(layout->topology);
    return d->rows && d->scopes && make_parts(d) ? d : derive_free(d);
}

struct derive *derive_free(struct derive *d) {
    if (!d)
        return NULL;
    estimate_free(d->estimate);
    free(d->standing_end_ns);
    free(d->end_ns);
    free(d->read);
    free(d->ended);
    free(d->core_rounds);
    derive_bounds_free(d->bounds);
    derive_metrics_free(d->metrics);
    derive_events_free(d->events);
    group_totals_free(d->groups);
    free(d->amounts);
    derive_past_deinit(&d->past);
    totals_free(d->totals);
    level1_cpus_free(d->level1);
    operand_lanes_free(d->in);
    operands_free(d->at);
    sums_free(d->sums);
    core_slots_free(d->core_slots);
    free(d->window);
    composites_free(d->composites);
    cells_free(d->cells);
    scopes_free(d->scopes);
    rows_free(d->rows);
    snapshot_layout_unref(d->layout);
    free(d);
    return NULL;
}

void derive_want_cpus(struct derive *d, bool wanted) { estimate_want_cpus(d->estimate, wanted); }

void derive_tell_many(struct derive *d) { d->tells_many = true; }

// ---- a round ----

static void begin_cpu(struct derive *d, const struct readings *readings, size_t cpu) {
    const struct core_round *round = d->core_rounds[d->layout->topology->cpus[cpu].core];
    cells_begin_round(d->cells, cpu);
    cells_begin_contrast(d->cells, cpu, readings->by_core ? round->end_ns : readings->end_ns);
    composites_begin_round(d->composites, cpu);
    level1_cpus_begin_round(d->level1, cpu);
}

// Finds the CPUs whose rounds have ended, and begins these rounds.
static void begin_rounds(struct derive *d, const struct readings *readings) {
    d->scaled = readings->scaled;
    d->no_gaps = readings->no_gaps;
    for (size_t core = 0; core < d->layout->topology->n_cores; core++)
        d->core_rounds[core] = NULL;
    for (size_t i = 0; i < readings->n_cores; i++)
        d->core_rounds[readings->cores[i].core] = &readings->cores[i];
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        d->ended[cpu] = !readings->by_core || d->core_rounds[d->layout->topology->cpus[cpu].core];
        if (d->ended[cpu])
            begin_cpu(d, readings, cpu);
    }
    derive_begin_standing(d, readings);
}

// A CPU's round begins at the end of its previous one, so that no time is lost between two plans.
static struct derive_round_time time_of(struct derive *d, const struct readings *readings, size_t cpu) {
    const struct core_round *round = d->core_rounds[d->layout->topology->cpus[cpu].core];
    uint64_t begun_ns = readings->by_core ? round->start_ns : readings->start_ns;
    uint64_t end_ns = readings->by_core ? round->end_ns : readings->end_ns;
    uint64_t start_ns = d->end_ns[cpu] > 0 ? d->end_ns[cpu] : begun_ns;
    if (end_ns < start_ns)
        end_ns = start_ns; // only in a recording that is wrong: the round stands for no time
    struct derive_round_time time = derive_time_between(d, start_ns, end_ns);
    cells_end_round(d->cells, cpu, time.seconds);
    if (readings->by_core) {
        d->cells->times[cpu].held = round->held;
        d->cells->times[cpu].idle_share = round->idle_share;
    }
    d->end_ns[cpu] = d->cells->times[cpu].end_ns = end_ns;
    return time;
}

// Ends a CPU's round. Returns its time.
static double end_round(struct derive *d, const struct readings *readings, size_t cpu) {
    struct derive_round_time time = time_of(d, readings, cpu);
    derive_advance_cpu(d, cpu, &time);
    derive_end_standing(d, readings, cpu, d->end_ns[cpu]);
    derive_forget_gaps(d, cpu, &time);
    return time.seconds;
}

// Ends the rounds that the readings tell of. Returns the time of the last one.
static double end_rounds(struct derive *d, const struct readings *readings) {
    double seconds = d->seconds;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        if (!d->ended[cpu] && !d->read[cpu])
            continue;
        memset(d->amounts, 0, derive_n_amounts(d) * sizeof *d->amounts);
        if (d->ended[cpu])
            seconds = end_round(d, readings, cpu);
        else
            derive_end_standing(d, readings, cpu, readings->end_ns);
        totals_add_amounts(d->totals, cpu, d->totals->first_field, derive_n_amounts(d), d->amounts);
    }
    if (!(seconds > 0)) // no round has ended so far
        for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
            seconds = fmax(seconds, d->cells->times[cpu].standing_seconds);
    return seconds;
}

// Takes the CPUs' rounds in for error bars, of which estimate_take_batch makes estimates.
static void take_cpus(struct derive *d, bool round_over) {
    estimate_take_cpus(d->estimate, d->cells, round_over ? d->seconds : 0);
    for (size_t cpu = 0; cpu < derive_n_cpus(d) && round_over; cpu++)
        d->cells->times[cpu].fresh = false;
}

// A round that ended before a gap is no gauge, while the one around the gap goes on.
static void forget_old_rounds(struct derive *d, uint64_t now_ns) {
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        if (d->end_ns[cpu] < now_ns && derive_time_between(d, d->end_ns[cpu], now_ns).gap_seconds > 0)
            d->cells->times[cpu].seconds = 0;
}

// Of when the last rounds are that gauges are of.
static void write_ages(struct derive *d, const struct readings *readings, struct snapshot *out) {
    double begun = NAN, ended = NAN;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        const struct cell_time *time = &d->cells->times[cpu];
        if (!(time->seconds > 0) || readings->end_ns < time->end_ns)
            continue;
        double age = (double)(readings->end_ns - time->end_ns) * 1e-9;
        begun = fmax(begun, age + time->seconds); // the other one, where one is NaN
        ended = fmin(ended, age);
    }
    out->values[snapshot_gauges_begun(d->layout)] = begun;
    out->values[snapshot_gauges_ended(d->layout)] = ended;
    d->gauges_age = d->gauges_age || ended > 0;
    if (d->gauges_age)
        out->values[snapshot_gauges_age(d->layout)] = ended;
}

static void take_guests(struct derive *d, const struct readings *readings) {
    d->guests_known = d->guests_known || readings->guests_known;
    for (size_t cpu = 0; cpu < derive_n_cpus(d) && readings->guests_known; cpu++)
        totals_add(d->totals, cpu, snapshot_guest(d->layout, 0), (double)readings->guest_ns[cpu] * 1e-9);
}

static void take_busy(struct derive *d, const struct readings *readings) {
    d->busy_known = d->busy_known || readings->busy_known;
    for (size_t cpu = 0; cpu < derive_n_cpus(d) && readings->busy_known; cpu++)
        totals_add(d->totals, cpu, snapshot_busy(d->layout, 0), (double)readings->busy_ns[cpu] * 1e-9);
}

void derive_round(struct derive *d, const struct readings *readings, struct snapshot *out) {
    begin_rounds(d, readings);
    take_guests(d, readings);
    take_busy(d, readings);
    for (size_t i = 0; i < readings->n_windows; i++)
        derive_take_window(d, &readings->windows[i]);
    derive_join_composites(d);
    derive_end_windows(d);
    level1_siblings_lend(d->level1, d->ended);
    derive_metrics_find_stalled(d->metrics);
    d->seconds = end_rounds(d, readings);
    take_cpus(d, readings->round_over);
    d->rounds += d->rounds > 0 || !readings->by_core || readings->n_cores > 0;
    if (!out) {
        for (size_t batch = 0, n = scope_batches(d->layout->topology); batch < n; batch++)
            estimate_take_batch(d->estimate, batch);
        return;
    }
    if (d->tells_many)
        snapshot_tell_many(out);
    forget_old_rounds(d, readings->end_ns);
    derive_write_totals(d, out);
    derive_write_gauges(d, out);
    derive_bounds_take(d->bounds, d->totals, out, readings->end_ns,
                       derive_time_between(d, readings->start_ns, readings->end_ns).limit_seconds);
    write_ages(d, readings, out);
    out->sequence = d->rounds;
    out->within_round = !readings->round_over;
    out->start_ns = readings->start_ns;
    out->end_ns = readings->end_ns;
}

void derive_pause(struct derive *d, uint64_t until_ns, enum uncovered reason) {
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        d->cells->times[cpu] = (struct cell_time){0}; // no gauge shows afterwards what was counted before
        if (d->end_ns[cpu] == 0 && d->standing_end_ns[cpu] > 0 && d->standing_end_ns[cpu] < until_ns)
            d->standing_end_ns[cpu] = until_ns; // in its first round
        if (d->end_ns[cpu] == 0 || until_ns <= d->end_ns[cpu] || d->metrics->n_planned == 0)
            continue;
        totals_add(d->totals, cpu, snapshot_uncovered(d->layout, 0, reason), derive_pause_cpu(d, cpu, until_ns));
        estimate_forget_cpu(d->estimate, cpu);
    }
}

void derive_initial(const struct derive *d, struct snapshot *out) {
    derive_write_totals(d, out);
    derive_bounds_write(d->bounds, d->totals, out);
    derive_write_states(d, out, false);
    out->sequence = d->rounds;
}
