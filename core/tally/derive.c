// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/tally/derive_state.h"

// Making, a round from beginning to end, and going on under another plan.

static const double NS = 1e-9;

// ---- making ----

static size_t composite_parts(const struct plan *plan) {
    return plan->level1_unit >= 0 ? plan->units[plan->level1_unit].n_groups : 0;
}

static int allocate_round(struct derive *d) {
    const struct snapshot_layout *layout = d->layout;
    size_t cpus = derive_n_cpus(d), scopes = layout->n_scopes, units = derive_n_units(d);
    d->windows = calloc(cpus * d->row + 1, sizeof *d->windows);
    d->sums = calloc(scopes * d->row + 1, sizeof *d->sums);
    d->data = calloc(scopes * units + 1, sizeof *d->data);
    d->running = calloc(cpus * units + 1, sizeof *d->running);
    d->n_windows = calloc(cpus * units + 1, sizeof *d->n_windows);
    d->bases = calloc(scopes * units + 1, sizeof *d->bases);
    d->trouble = calloc(cpus * units + 1, sizeof *d->trouble);
    d->offline = calloc(cpus, sizeof *d->offline);
    d->level1_slots = calloc(cpus * layout->n_level1 + 1, sizeof *d->level1_slots);
    d->level1_seconds = calloc(cpus, sizeof *d->level1_seconds);
    d->level1_increase = calloc(scopes * layout->n_level1 + 1, sizeof *d->level1_increase);
    d->stalled = calloc(layout->n_metrics + 1, sizeof *d->stalled);
    d->stalled_use = calloc(layout->catalog->n_events, sizeof *d->stalled_use);
    d->dense = calloc(layout->catalog->n_events, sizeof *d->dense);
    d->values = calloc(layout->catalog->n_metrics + 1, sizeof *d->values);
    d->window = calloc(d->row + 1, sizeof *d->window);
    d->joined = calloc(d->row + 1, sizeof *d->joined);
    return d->windows && d->sums && d->data && d->running && d->n_windows && d->bases && d->trouble && d->offline &&
                   d->level1_slots && d->level1_seconds && d->level1_increase && d->stalled && d->stalled_use &&
                   d->dense && d->values && d->window && d->joined
               ? 0
               : -1;
}

static int allocate_kept(struct derive *d) {
    const struct snapshot_layout *layout = d->layout;
    size_t cpus = derive_n_cpus(d), parts = composite_parts(layout->plan);
    d->counted = calloc(layout->catalog->n_events, sizeof *d->counted);
    d->planned = calloc(layout->n_metrics + 1, sizeof *d->planned);
    d->unit_spans = calloc(cpus * derive_n_units(d) + 1, sizeof *d->unit_spans);
    d->level1_spans = calloc(cpus, sizeof *d->level1_spans);
    d->event_spans = calloc(cpus * layout->n_events + 1, sizeof *d->event_spans);
    d->debts = calloc(cpus, sizeof *d->debts);
    d->parts_done = calloc(cpus, sizeof *d->parts_done);
    d->parts_running = calloc(cpus, sizeof *d->parts_running);
    d->n_parts = parts > 1 ? parts * d->units[layout->plan->level1_unit].n : 0;
    d->parts = calloc(cpus * d->n_parts + 1, sizeof *d->parts);
    d->parts_sums = calloc(cpus * d->n_parts + 1, sizeof *d->parts_sums);
    d->place = calloc(layout->catalog->n_metrics + 1, sizeof *d->place);
    d->events = calloc(layout->n_events + 1, sizeof *d->events);
    d->places = calloc(d->row + 1, sizeof *d->places); // an event of a unit is one event of the layout
    d->ratios = calloc(layout->n_metrics + 1, sizeof *d->ratios);
    d->totals = calloc(layout->n_scopes * d->n_totals, sizeof *d->totals);
    d->group_totals = calloc(derive_n_group_totals(d) + 1, sizeof *d->group_totals);
    d->estimate = estimate_new(layout->plan, layout->topology, ESTIMATE_MEMORY_ROUNDS);
    return d->counted && d->planned && d->unit_spans && d->level1_spans && d->event_spans && d->debts &&
                   d->parts_done && d->parts_running && d->parts && d->parts_sums && d->place && d->events &&
                   d->places && d->ratios && d->totals && d->group_totals && d->estimate
               ? 0
               : -1;
}

static void note_planned(struct derive *d) {
    d->n_planned = d->n_not_plannable = 0;
    for (size_t m = 0; m < d->layout->n_metrics; m++) {
        bool now = d->layout->plan->metrics[m].unit >= 0;
        d->planned[m] = d->planned[m] || now;
        d->n_planned += d->planned[m];
        d->n_not_plannable += d->planned[m] && !now;
    }
}

static bool is_common(const struct plan *plan, unsigned event) {
    const struct plan_unit *common = plan->common_unit >= 0 ? &plan->units[plan->common_unit] : NULL;
    for (size_t i = 0; common && i < common->n_events; i++)
        if (common->events[i] == event)
            return true;
    return false;
}

// A raw event counts in every event group that holds it: all its windows together are its sample. The common unit has
// those of all groups.
static void find_event_places(struct derive *d, size_t e, size_t *n) {
    const struct snapshot_layout *layout = d->layout;
    struct derive_event *event = &d->events[e];
    bool common = is_common(layout->plan, layout->events[e]);
    event->first_place = *n;
    for (size_t u = 0; u < derive_n_units(d); u++) {
        const struct plan_unit *unit = &layout->plan->units[u];
        for (size_t i = 0; i < unit->n_events; i++) {
            if (unit->events[i] != layout->events[e])
                continue;
            event->planned = true;
            if (!common || layout->plan->common_unit == (int)u)
                d->places[(*n)++] = (struct derive_place){d->units[u].first + 1 + i, d->units[u].first};
        }
    }
    event->n_places = *n - event->first_place;
}

static void find_ratios(struct derive *d, size_t u, size_t *n) {
    const struct plan *plan = d->layout->plan;
    d->units[u].first_ratio = *n;
    for (unsigned m = 0; m < plan->n_metrics; m++)
        if (plan->metrics[m].unit == (int)u && plan->catalog->metrics[plan->metrics[m].metric].formula->is_ratio)
            d->ratios[(*n)++] = m;
    d->units[u].n_ratios = *n - d->units[u].first_ratio;
}

static void find_places(struct derive *d) {
    size_t n_places = 0, n_ratios = 0;
    for (size_t e = 0; e < d->layout->n_events; e++)
        find_event_places(d, e, &n_places);
    for (size_t u = 0; u < derive_n_units(d); u++)
        find_ratios(d, u, &n_ratios);
    const struct snapshot_layout *layout = d->layout;
    for (size_t m = 0; m < layout->catalog->n_metrics; m++)
        d->place[m] = -1;
    for (size_t m = 0; m < layout->n_metrics; m++)
        d->place[layout->plan->metrics[m].metric] = (int)m;
}

struct derive *derive_new(struct snapshot_layout *layout) {
    struct derive *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->layout = snapshot_layout_ref(layout);
    d->units = calloc(derive_n_units(d) + 1, sizeof *d->units);
    if (!d->units)
        return derive_free(d);
    for (size_t u = 0; u < derive_n_units(d); u++) {
        d->units[u] = (struct derive_unit){.first = d->row, .n = 1 + layout->plan->units[u].n_events};
        d->row += d->units[u].n;
    }
    d->first_total = snapshot_numerator(layout, 0, 0);
    d->n_totals = layout->scope_stride - d->first_total;
    if (allocate_round(d) < 0 || allocate_kept(d) < 0)
        return derive_free(d);
    find_places(d);
    note_planned(d);
    return d;
}

struct derive *derive_free(struct derive *d) {
    if (!d)
        return NULL;
    estimate_free(d->estimate);
    free(d->past_groups);
    free(d->group_totals);
    free(d->totals);
    free(d->ratios);
    free(d->places);
    free(d->events);
    free(d->place);
    free(d->parts_sums);
    free(d->parts);
    free(d->parts_running);
    free(d->parts_done);
    free(d->debts);
    free(d->event_spans);
    free(d->level1_spans);
    free(d->unit_spans);
    free(d->planned);
    free(d->counted);
    free(d->joined);
    free(d->window);
    free(d->values);
    free(d->dense);
    free(d->stalled_use);
    free(d->stalled);
    free(d->level1_increase);
    free(d->level1_seconds);
    free(d->level1_slots);
    free(d->offline);
    free(d->trouble);
    free(d->bases);
    free(d->n_windows);
    free(d->running);
    free(d->data);
    free(d->sums);
    free(d->windows);
    free(d->units);
    snapshot_layout_unref(d->layout);
    free(d);
    return NULL;
}

// ---- a round ----

static void forget_round(struct derive *d) {
    const struct snapshot_layout *layout = d->layout;
    memset(d->windows, 0, derive_n_cpus(d) * d->row * sizeof *d->windows);
    memset(d->sums, 0, layout->n_scopes * d->row * sizeof *d->sums);
    memset(d->data, 0, layout->n_scopes * derive_n_units(d));
    memset(d->running, 0, derive_n_cpus(d) * derive_n_units(d) * sizeof *d->running);
    memset(d->n_windows, 0, derive_n_cpus(d) * derive_n_units(d) * sizeof *d->n_windows);
    memset(d->level1_slots, 0, derive_n_cpus(d) * layout->n_level1 * sizeof *d->level1_slots);
    memset(d->level1_seconds, 0, derive_n_cpus(d) * sizeof *d->level1_seconds);
    memset(d->level1_increase, 0, layout->n_scopes * layout->n_level1 * sizeof *d->level1_increase);
    memset(d->trouble, UNCOVERED_FAILED, derive_n_cpus(d) * derive_n_units(d));
    memset(d->offline, 0, derive_n_cpus(d));
    memset(d->stalled, 0, layout->n_metrics);
    memset(d->parts_sums, 0, derive_n_cpus(d) * d->n_parts * sizeof *d->parts_sums);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        d->parts_done[cpu] = UINT32_MAX;
}

// The round lasts from the end of the one before, so that no time falls between two plans.
static struct derive_round_time time_of(const struct derive *d, const struct readings *readings) {
    double planned = (double)d->layout->plan->round_ns * NS;
    uint64_t start_ns = d->end_ns > 0 ? d->end_ns : readings->start_ns;
    struct derive_round_time time = {.seconds = (double)(readings->end_ns - start_ns) * NS,
                                     .limit_seconds = DERIVE_ROUNDS_MAX * planned};
    if (time.seconds > time.limit_seconds) {
        time.gap_seconds = time.seconds - planned;
        time.seconds = planned;
    }
    return time;
}

void derive_round(struct derive *d, const struct readings *readings, struct snapshot *out) {
    struct derive_round_time time = time_of(d, readings);
    forget_round(d);
    for (size_t i = 0; i < readings->n_windows; i++)
        derive_take_window(d, &readings->windows[i]);
    derive_join_parts(d);
    derive_find_stalled(d);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        derive_advance_cpu(d, cpu, &time);
    derive_take_trust(d, &time);
    d->end_ns = readings->end_ns;
    d->rounds++;
    if (!out)
        return;
    derive_write_totals(d, out);
    derive_write_gauges(d, out, time.seconds);
    out->sequence = d->rounds;
    out->start_ns = readings->start_ns;
    out->end_ns = readings->end_ns;
}

void derive_pause(struct derive *d, uint64_t until_ns, enum uncovered reason) {
    if (d->end_ns == 0 || until_ns <= d->end_ns || d->n_planned == 0)
        return;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        derive_add(d, cpu, snapshot_uncovered(d->layout, 0, reason), (double)(until_ns - d->end_ns) * NS);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        estimate_forget_cpu(d->estimate, cpu);
    d->end_ns = until_ns;
}

void derive_initial(const struct derive *d, struct snapshot *out) {
    derive_write_totals(d, out);
    derive_write_states(d, out, false);
    out->sequence = d->rounds;
}

// ---- another plan ----

static int find_event(const struct snapshot_layout *layout, unsigned event) {
    for (size_t e = 0; e < layout->n_events; e++)
        if (layout->events[e] == event)
            return (int)e;
    return -1;
}

// Totals of one scope, field by field; both layouts have the same metrics in the same order.
static void continue_scope(struct derive *d, size_t scope, const struct derive *old, size_t old_scope) {
    struct total *to = d->totals + scope * d->n_totals;
    const struct total *from = old->totals + old_scope * old->n_totals;
    size_t base = snapshot_numerator(d->layout, 0, 0);
    size_t before_events = snapshot_event(d->layout, 0, 0) - base;
    memcpy(to, from, before_events * sizeof *to);
    for (size_t e = 0; e < d->layout->n_events; e++) {
        int old_event = find_event(old->layout, d->layout->events[e]);
        if (old_event >= 0)
            to[before_events + e] = from[before_events + (size_t)old_event];
    }
    memcpy(to + (snapshot_covered(d->layout, 0) - base), from + (snapshot_covered(old->layout, 0) - base),
           (1 + UNCOVERED_N) * sizeof *to);
}

// What a CPU's units were still waiting to make up for is given up.
static void give_up_pending(struct derive *d, size_t cpu, const struct derive *old, size_t old_cpu) {
    for (size_t u = 0; u < derive_n_units(old); u++) {
        const struct span *span = &old->unit_spans[old_cpu * derive_n_units(old) + u];
        derive_add(d, cpu, snapshot_uncovered(d->layout, 0, old->trouble[old_cpu * derive_n_units(old) + u]),
                   span->pending_seconds * (double)old->units[u].n_metrics / (double)old->n_planned);
    }
}

static void continue_cpu(struct derive *d, size_t cpu, const struct derive *old, size_t old_cpu) {
    continue_scope(d, snapshot_scope_cpu(d->layout, cpu), old, snapshot_scope_cpu(old->layout, old_cpu));
    d->debts[cpu] = old->debts[old_cpu];
    give_up_pending(d, cpu, old, old_cpu);
}

static int find_group(const struct plan *plan, const char *name) {
    for (size_t g = 0; g < plan->n_groups; g++)
        if (strcmp(plan->groups[g].name, name) == 0)
            return (int)g;
    return -1;
}

// An event group's totals go to the group of that name, or are kept until there is one again.
static void continue_group(struct derive *d, const char *name, const double *totals) {
    int g = find_group(d->layout->plan, name);
    double *to = g >= 0 ? d->group_totals + (size_t)g * DERIVE_GROUP_TOTALS : NULL;
    if (!to) {
        struct derive_past_group *past = &d->past_groups[d->n_past_groups++];
        memcpy(past->name, name, strlen(name) + 1);
        to = past->totals;
    }
    memcpy(to, totals, DERIVE_GROUP_TOTALS * sizeof *to);
}

static void continue_groups(struct derive *d, const struct derive *old) {
    for (size_t g = 0; g < old->layout->plan->n_groups; g++)
        continue_group(d, old->layout->plan->groups[g].name, old->group_totals + g * DERIVE_GROUP_TOTALS);
    for (size_t i = 0; i < old->n_past_groups; i++)
        continue_group(d, old->past_groups[i].name, old->past_groups[i].totals);
}

int derive_continue(struct derive *d, const struct derive *old) {
    const struct topology *topology = d->layout->topology, *old_topology = old->layout->topology;
    d->past_groups = calloc(old->layout->plan->n_groups + old->n_past_groups + 1, sizeof *d->past_groups);
    if (!d->past_groups)
        return -ENOMEM;
    d->rounds = old->rounds;
    d->end_ns = old->end_ns;
    memcpy(d->counted, old->counted, d->layout->catalog->n_events * sizeof *d->counted);
    memcpy(d->planned, old->planned, d->layout->n_metrics * sizeof *d->planned);
    note_planned(d);
    continue_scope(d, 0, old, 0);
    for (size_t s = 0; s < topology->n_sockets; s++)
        for (size_t o = 0; o < old_topology->n_sockets; o++)
            if (topology->sockets[s].id == old_topology->sockets[o].id)
                continue_scope(d, snapshot_scope_socket(s), old, snapshot_scope_socket(o));
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        for (size_t o = 0; o < old_topology->n_cpus; o++)
            if (topology->cpus[cpu].id == old_topology->cpus[o].id)
                continue_cpu(d, cpu, old, o);
    continue_groups(d, old);
    derive_find_stalled(d);
    return 0;
}
