// SPDX-License-Identifier: Apache-2.0
#include "core/counts/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static const double OTHER_WORK_STEPS = 8; // 3 points of another field

static void lay_out(void *self, struct block *block) {
    struct neighbours *neighbours = self;
    neighbours->is_field = block_take(block, neighbours->n_events, sizeof *neighbours->is_field);
    neighbours->cpus = block_take(block, neighbours->n_events > 0 ? neighbours->n_cpus : 0, sizeof *neighbours->cpus);
    neighbours->events = block_take(block, neighbours->n_cpus * neighbours->n_events, sizeof *neighbours->events);
}

struct neighbours *neighbours_new(const struct rows *rows, size_t n_cpus) {
    const struct plan *plan = rows->plan;
    const struct plan_unit *unit = plan->common_unit >= 0 ? &plan->units[plan->common_unit] : NULL;
    struct neighbours neighbours = {.rows = rows, .n_cpus = n_cpus, .leader = -1};
    neighbours.n_events = unit ? unit->n_events : 0;
    struct neighbours *made = block_new(&neighbours, sizeof neighbours, lay_out);
    for (size_t i = 0; made && i < neighbours.n_events; i++) {
        made->is_field[i] = plan_is_field(plan, unit->events[i]);
        if (plan->catalog->n_topdown > 0 && unit->events[i] == plan->catalog->topdown[0])
            made->leader = (int)i;
    }
    return made;
}

struct neighbours *neighbours_free(struct neighbours *neighbours) {
    free(neighbours);
    return NULL;
}

void neighbours_begin(struct neighbours *neighbours, size_t cpu) {
    if (neighbours->n_events == 0)
        return;
    neighbours->cpus[cpu] = (struct neighbours_cpu){0};
    for (size_t i = 0; i < neighbours->n_events; i++)
        neighbours->events[cpu * neighbours->n_events + i] = (struct neighbours_event){0};
}

// The largest difference among the fields' readings, but for one field.
static double largest_change(const struct neighbours *neighbours, const struct neighbours_event *events, size_t but) {
    double largest = 0;
    for (size_t i = 0; i < neighbours->n_events; i++)
        if (neighbours->is_field[i] && i != but)
            largest = fmax(largest, fabs(events[i].now - events[i].last[0]));
    return largest;
}

static void compare_readings(const struct neighbours *neighbours, struct neighbours_event *events, double weight) {
    for (size_t i = 0; i < neighbours->n_events; i++) {
        double steps = fabs(events[i].now - events[i].last[0]);
        if (!neighbours->is_field[i])
            continue;
        events[i].equal += steps < 0.5 ? weight : 0;
        if (steps >= 0.5 && steps < 1.5)
            events[i].adjacent += largest_change(neighbours, events, i) < OTHER_WORK_STEPS ? weight : 0;
    }
}

static void compare_rates(const struct neighbours *neighbours, struct neighbours_event *events, bool far) {
    for (size_t i = 0; i < neighbours->n_events; i++) {
        double near_by = events[i].now - events[i].last[0], far_off = far ? events[i].now - events[i].last[1] : 0;
        events[i].near += near_by * near_by;
        events[i].far += far_off * far_off;
    }
}

static void read_window(const struct neighbours *neighbours, struct neighbours_event *events, const double *values,
                        double slots) {
    for (size_t i = 0; i < neighbours->n_events; i++) {
        double by = neighbours->is_field[i] ? slots / NEIGHBOURS_FIELD_STEPS : values[0];
        events[i].last[1] = events[i].last[0];
        events[i].last[0] = events[i].now;
        events[i].now = values[1 + i] / by;
    }
}

void neighbours_take(struct neighbours *neighbours, size_t cpu, const double *values) {
    double slot = (double)neighbours->rows->plan->slot_ns * 1e-9;
    if (neighbours->n_events == 0)
        return;
    struct neighbours_cpu *of = &neighbours->cpus[cpu];
    struct neighbours_event *events = &neighbours->events[cpu * neighbours->n_events];
    double slots = values && neighbours->leader >= 0 ? values[1 + neighbours->leader] : 0;
    if (values)
        read_window(neighbours, events, values, slots);
    if (slots > 0 && of->slots > 0) {
        double weight = fmin(slots, of->slots) / fmax(slots, of->slots);
        compare_readings(neighbours, events, weight);
        of->n_read += weight;
    }
    of->slots = slots;
    of->in_row = values && fabs(values[0] - slot) <= WINDOWS_DIFFER * slot ? of->in_row + 1 : 0;
    if (of->in_row < 2)
        return;
    compare_rates(neighbours, events, of->in_row > 2);
    of->n_near++;
    of->n_far += of->in_row > 2;
}
