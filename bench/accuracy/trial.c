// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/trial_state.h"
#include "core/base/random.h"

// Noise belongs to the load, counted or not. Its parts are independent and normal, so the truth of a stretch is the
// exact count, plus the noise of its windows, plus one draw for the rest.

static const double TICK = 1.0 / LOAD_TICKS_A_SECOND, RATE_SPREAD = 0.03;

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        abort();
    return made;
}

static bool counts_in(const struct plan_group *group, unsigned event) {
    for (size_t i = 0; i < group->n_events; i++)
        if (group->events[i] == event)
            return true;
    return false;
}

// An event of a composite: its count in its own parts in the round, divided by these parts' share of the reference's
// count, as core/counts/composites.c joins them. `counts` is [part][event of the unit].
static double join_parts(const struct trial *t, const struct plan_unit *unit, const double *counts, size_t event) {
    double counted = 0, measured = 0, whole = 0;
    for (size_t p = 0; p < unit->n_groups; p++) {
        const double *part = counts + p * unit->n_events;
        double by = 1;
        for (size_t i = 0; i < unit->n_events; i++)
            by = (int)unit->events[i] == unit->reference ? part[i] : by;
        whole += by;
        if (counts_in(&t->plan->groups[unit->first_group + p], unit->events[event])) {
            counted += part[event];
            measured += by;
        }
    }
    return measured > 0 ? counted / measured * whole : 0;
}

// Adds a window of a composite, its parts one after the other, to the round's sums. A starved part ends it.
static void take_parts(struct trial *t, size_t cpu, unsigned u, double from, double to) {
    const struct plan_unit *unit = &t->plan->units[u];
    const struct load *load = &t->loads[cpu];
    double *values = cells_values(t->counted, cpu, u), *truth = cells_values(t->truth, cpu, u);
    double *counts = array(unit->n_groups * unit->n_events, sizeof *counts), length = (to - from) / unit->n_groups;
    bool whole = true;
    for (size_t p = 0; p < unit->n_groups; p++) {
        double on, off, begin = from + (double)p * length;
        trial_running(load, begin, begin + length, &on, &off);
        whole = whole && on + off > 0;
        t->on_left[cpu * t->plan->n_units + u] -= on;
        t->off_left[cpu * t->plan->n_units + u] -= off;
        cells_at(t->counted, cpu, u)->running_seconds += (on + off) / unit->n_groups;
        for (size_t i = 0; i < unit->n_events; i++) {
            double noise = trial_noise(t, load->kind, unit->events[i], on, off);
            truth[1 + i] += noise;
            counts[p * unit->n_events + i] =
                on + off > 0 ? (trial_count(t, load->kind, unit->events[i], on, off) + noise) * length / (on + off) : 0;
        }
    }
    values[0] += whole ? to - from : 0;
    for (size_t i = 0; i < unit->n_groups * unit->n_events && whole; i++)
        t->parts[cpu * t->n_parts + i] += counts[i];
    free(counts);
}

// Joins all composites of the round.
static void join_round(struct trial *t) {
    for (unsigned u = 0; u < t->plan->n_units; u++)
        for (size_t cpu = 0; cpu < t->n_cpus && t->plan->units[u].n_groups > 1; cpu++)
            for (size_t i = 0; i < t->plan->units[u].n_events; i++)
                cells_values(t->counted, cpu, u)[1 + i] =
                    join_parts(t, &t->plan->units[u], t->parts + cpu * t->n_parts, i);
}

static void take_window(struct trial *t, size_t cpu, unsigned u, double from, double to) {
    const struct plan_unit *unit = &t->plan->units[u];
    const struct load *load = &t->loads[cpu];
    if (unit->n_groups > 1) {
        take_parts(t, cpu, u, from, to);
        return;
    }
    double counts[PLAN_GROUP_EVENTS_MAX];
    double on, off, *values = cells_values(t->counted, cpu, u), *truth = cells_values(t->truth, cpu, u);
    trial_running(load, from, to, &on, &off);
    if (!(on + off > 0))
        return; // starved
    double scale = (to - from) / (on + off);
    values[0] += to - from;
    cells_at(t->counted, cpu, u)->running_seconds += on + off;
    t->on_left[cpu * t->plan->n_units + u] -= on;
    t->off_left[cpu * t->plan->n_units + u] -= off;
    for (size_t i = 0; i < unit->n_events; i++) {
        double noise = trial_noise(t, load->kind, unit->events[i], on, off);
        counts[i] = trial_count(t, load->kind, unit->events[i], on, off) + noise;
        truth[1 + i] += noise;
    }
    trial_round_fields(t, unit->events, unit->n_events, counts);
    for (size_t i = 0; i < unit->n_events; i++)
        values[1 + i] += counts[i] * scale;
}

static void begin_round(struct trial *t, double from, double to) {
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
        cells_begin_round(t->counted, cpu);
        cells_begin_round(t->truth, cpu);
    }
    memset(t->parts, 0, t->n_cpus * t->n_parts * sizeof *t->parts);
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
        double on = load_on(&t->loads[cpu], to) - load_on(&t->loads[cpu], from);
        for (size_t u = 0; u < t->plan->n_units; u++) {
            t->on_left[cpu * t->plan->n_units + u] = on;
            t->off_left[cpu * t->plan->n_units + u] = to - from - on;
        }
    }
}

static void find_truth(struct trial *t, double from, double to) {
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
        const struct load *load = &t->loads[cpu];
        double on = load_on(load, to) - load_on(load, from), off = to - from - on;
        for (size_t u = 0; u < t->plan->n_units; u++) {
            double *truth = cells_values(t->truth, cpu, u);
            size_t at = cpu * t->plan->n_units + u;
            truth[0] = to - from;
            for (size_t i = 0; i < t->plan->units[u].n_events; i++) {
                unsigned event = t->plan->units[u].events[i];
                truth[1 + i] += trial_count(t, load->kind, event, on, off) +
                                trial_noise(t, load->kind, event, fmax(t->on_left[at], 0), fmax(t->off_left[at], 0));
            }
        }
    }
}

// Adds a round over the judged CPUs with data to `values`, extrapolated, and its truth over all of them to `truth`.
static void add_round(const struct trial *t, double seconds, double *values, double *truth) {
    for (size_t cpu = 0; cpu < trial_n_judged(t); cpu++) {
        for (size_t u = 0; u < t->plan->n_units; u++) {
            const double *counted = cells_values(t->counted, cpu, u), *is = cells_values(t->truth, cpu, u);
            size_t first = rows_first(t->rows, u);
            double scale = counted[0] > 0 ? seconds / counted[0] : 0;
            for (size_t i = 0; i < rows_n(t->rows, u); i++) {
                values[first + i] += counted[i] * scale;
                truth[first + i] += is[i];
            }
        }
    }
}

static bool in_round(const struct plan *plan, unsigned unit) {
    for (size_t i = 0; i < plan->n_round; i++)
        if (plan->round[i] == unit)
            return true;
    return false;
}

// Runs whole event groups in turns of `slot` seconds; each CPU starts at a random place.
static void run_groups(struct trial *t, double slot, struct outcome *outcome) {
    double seconds = t->setting->seconds;
    unsigned *units = array(t->plan->n_units, sizeof *units);
    size_t n = 0;
    for (unsigned u = 0; u < t->plan->n_units; u++)
        if (in_round(t->plan, u))
            units[n++] = u;
    begin_round(t, 0, seconds);
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
        size_t turn = (size_t)random_below(&t->state, n);
        for (size_t i = 0; (double)i * slot < seconds - slot / 2; i++)
            take_window(t, cpu, units[(i + turn) % n], (double)i * slot, ((double)i + 1) * slot);
    }
    for (size_t cpu = 0; cpu < t->n_cpus && t->plan->common_unit >= 0; cpu++)
        for (double at = 0; at < seconds - 0.5; at++) // read once a second
            take_window(t, cpu, (unsigned)t->plan->common_unit, at, at + 1);
    join_round(t);
    find_truth(t, 0, seconds);
    add_round(t, seconds, t->all_values, t->all_truth);
    trial_evaluate(t, t->all_values, outcome->value);
    outcome->rotations = 1 / slot;
    free(units);
}

static bool measured(const struct plan *plan, unsigned unit) {
    return in_round(plan, unit) || plan->common_unit == (int)unit;
}

// True if the event counts all the time: it has a counter of its own or needs none.
static bool counts_always(const struct plan *plan, unsigned event) {
    return plan->needs[event].fixed >= 0 || plan->needs[event].free;
}

// Seconds in and outside the load's first mix while the event at `place` in a list of n counts: the kernel rotates the
// list by one each tick, and the first events count, as many as there are counters.
static void run_ticks(const struct trial *t, const struct load *load, size_t place, size_t n, double *on, double *off) {
    size_t ticks = (size_t)(t->setting->seconds * LOAD_TICKS_A_SECOND + 0.5), width = t->setting->n_counters;
    for (size_t tick = 0; tick < ticks;) {
        size_t turn = (place + tick) % n, length = n <= width ? ticks : width - turn;
        if (n <= width || turn < width) {
            double a, b, end = (double)(tick + length < ticks ? tick + length : ticks) * TICK;
            trial_running(load, (double)tick * TICK, end, &a, &b);
            *on += a;
            *off += b;
            tick += length;
        } else {
            tick += n - turn;
        }
    }
}

// An event that counts all the time: read once a second, and then rounded if it is a field. Returns its count.
static double run_always(struct trial *t, const struct load *load, unsigned event, double *on, double *off,
                         double *noise) {
    const struct catalog *catalog = t->plan->catalog;
    double sum = 0;
    for (double at = 0; at < t->setting->seconds - 0.5; at++) {
        double a, b;
        trial_running(load, at, fmin(at + 1, t->setting->seconds), &a, &b);
        double own = trial_noise(t, load->kind, event, a, b), count = trial_count(t, load->kind, event, a, b) + own;
        if (trial_is_field(t->plan, event))
            count = trial_round_field(count, trial_count(t, load->kind, catalog->topdown[0], a, b));
        sum += count;
        *noise += own;
        *on += a;
        *off += b;
    }
    return sum;
}

// Runs each event by itself.
static void run_event(struct trial *t, size_t cpu, unsigned u, size_t i, size_t place, size_t n) {
    unsigned event = t->plan->units[u].events[i];
    const struct load *load = &t->loads[cpu];
    double on = 0, off = 0, noise = 0, count, *values = cells_values(t->counted, cpu, u);
    double seconds = t->setting->seconds, all = load_on(load, seconds);
    if (counts_always(t->plan, event)) {
        count = run_always(t, load, event, &on, &off, &noise);
    } else {
        run_ticks(t, load, place, n, &on, &off);
        noise = trial_noise(t, load->kind, event, on, off);
        count = trial_count(t, load->kind, event, on, off) + noise;
    }
    values[0] = seconds;
    values[1 + i] = on + off > 0 ? count * seconds / (on + off) : 0;
    double left = fmax(all - on, 0);
    cells_values(t->truth, cpu, u)[1 + i] = noise + trial_count(t, load->kind, event, all, seconds - all) +
                                            trial_noise(t, load->kind, event, left, fmax(seconds - all - off, 0));
}

// Finds the place of each event in the kernel's list; an event of several event groups appears once.
static size_t list_events(const struct trial *t, size_t *place) {
    size_t n = 0;
    for (size_t e = 0; e < t->n_events; e++)
        place[e] = SIZE_MAX;
    for (unsigned u = 0; u < t->plan->n_units; u++)
        for (size_t i = 0; i < t->plan->units[u].n_events && measured(t->plan, u); i++) {
            unsigned event = t->plan->units[u].events[i];
            if (place[event] == SIZE_MAX)
                place[event] = counts_always(t->plan, event) ? 0 : n++;
        }
    return n;
}

static void run_events(struct trial *t, struct outcome *outcome) {
    size_t *place = array(t->n_events, sizeof *place), n = list_events(t, place);
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
        size_t turn = (size_t)random_below(&t->state, n);
        for (unsigned u = 0; u < t->plan->n_units; u++)
            for (size_t i = 0; i < t->plan->units[u].n_events && measured(t->plan, u); i++)
                run_event(t, cpu, u, i, place[t->plan->units[u].events[i]] + turn, n);
    }
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++)
        for (size_t u = 0; u < t->plan->n_units; u++)
            cells_values(t->truth, cpu, u)[0] = t->setting->seconds;
    add_round(t, t->setting->seconds, t->all_values, t->all_truth);
    trial_evaluate(t, t->all_values, outcome->value);
    outcome->rotations = LOAD_TICKS_A_SECOND;
    free(place);
}

// Draws the rates of this trial, each a few percent off, so that trials are not all rounded to the same fields.
static void draw_rates(struct trial *t, uint64_t seed) {
    uint64_t state = ~seed;
    t->rates = array(MIX_N * t->n_events, sizeof(double));
    for (size_t i = 0; i < MIX_N * t->n_events; i++)
        t->rates[i] = t->setting->rates[i] * (1 + RATE_SPREAD * (2 * load_uniform(&state) - 1));
}

void trial_begin(struct trial *t, const struct setting *setting, const struct load_kind *kind, double seconds,
                 uint64_t seed) {
    const struct plan *plan = setting->plan;
    size_t cpus = setting->n_cpus > 1 && kind->cpus > setting->n_cpus ? kind->cpus : setting->n_cpus;
    *t = (struct trial){.setting = setting, .plan = plan, .n_cpus = cpus, .state = seed};
    t->layout = snapshot_layout_ref(setting_layout(setting, cpus));
    t->n_events = plan->catalog->n_events;
    draw_rates(t, seed);
    t->rows = rows_new(plan);
    t->counted = cells_new(t->rows, cpus);
    t->truth = cells_new(t->rows, cpus);
    t->at = operands_new(t->rows);
    t->n_parts =
        plan->level1_unit >= 0 ? plan->units[plan->level1_unit].n_groups * plan->units[plan->level1_unit].n_events : 0;
    t->parts = array(cpus * t->n_parts + 1, sizeof(double));
    t->on_left = array(cpus * plan->n_units, sizeof(double));
    t->off_left = array(cpus * plan->n_units, sizeof(double));
    t->all_values = array(t->rows->n_values, sizeof(double));
    t->all_truth = array(t->rows->n_values, sizeof(double));
    t->loads = array(cpus, sizeof *t->loads);
    size_t *place = array(t->n_events, sizeof *place);
    double beat = kind->beats_with_rival ? (double)list_events(t, place) * TICK : (double)plan->round_ns * 1e-9;
    free(place);
    for (unsigned cpu = 0, alike = setting->siblings > 1 ? setting->siblings : 1; cpu < cpus; cpu++)
        load_init(&t->loads[cpu], kind, seconds, beat, seed, cpu / alike, (unsigned)cpus / alike);
    if (setting->adaptive)
        trial_adapt_begin(t);
}

void trial_end(struct trial *t) {
    for (size_t cpu = 0; cpu < t->n_cpus; cpu++)
        load_free(&t->loads[cpu]);
    diagnosis_free(t->diagnosis);
    adapt_free(t->adapt);
    snapshot_layout_unref(t->layout);
    operands_free(t->at);
    cells_free(t->truth);
    cells_free(t->counted);
    rows_free(t->rows);
    void *arrays[] = {t->loads, t->rates, t->all_truth, t->all_values, t->off_left, t->on_left, t->parts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void weigh(struct trial *t, double *weight) {
    for (size_t m = 0; m < t->plan->n_metrics; m++) {
        const struct plan_metric *metric = &t->plan->metrics[m];
        const struct formula *formula = t->plan->catalog->metrics[metric->metric].formula;
        weight[m] = 0;
        if (metric->unit < 0 || !formula->is_ratio)
            continue;
        operands_fill(t->at, (size_t)metric->unit, t->all_truth + rows_first(t->rows, (size_t)metric->unit), 1);
        weight[m] = formula_sum_evaluate(&formula->denominator, t->at->counts);
    }
}

void trial_run(const struct setting *setting, const struct load_kind *kind, enum method method, uint64_t seed,
               struct outcome *outcome) {
    struct trial t;
    double seconds = setting->seconds + (method == METHOD_OURS ? trial_extra_seconds(setting->plan) : 0);
    trial_begin(&t, setting, kind, seconds, seed);
    if (method == METHOD_OURS)
        trial_run_ours(&t, seed, outcome);
    else if (method == METHOD_EVENTS)
        run_events(&t, outcome);
    else
        run_groups(&t, method == METHOD_GROUPS ? 1 : TICK, outcome);
    trial_evaluate(&t, t.all_truth, outcome->truth);
    weigh(&t, outcome->weight);
    trial_end(&t);
}
