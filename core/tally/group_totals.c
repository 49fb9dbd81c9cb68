// SPDX-License-Identifier: Apache-2.0
#include "core/tally/group_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static const double NS = 1e-9;

static void lay_out(void *self, struct block *block) {
    struct group_totals *totals = self;
    totals->totals = block_take(block, totals->plan->n_groups, sizeof *totals->totals);
}

struct group_totals *group_totals_new(const struct plan *plan) {
    return block_new(&(struct group_totals){.plan = plan}, sizeof(struct group_totals), lay_out);
}

struct group_totals *group_totals_free(struct group_totals *totals) {
    if (totals)
        free(totals->past);
    free(totals);
    return NULL;
}

static struct group_total *find_group(const struct group_totals *totals, const char *name) {
    for (size_t g = 0; g < totals->plan->n_groups; g++)
        if (strcmp(totals->plan->groups[g].name, name) == 0)
            return &totals->totals[g];
    return NULL;
}

// Gives an event group's totals to the group of that name, or keeps them until there is one again.
static void continue_group(struct group_totals *totals, const char *name, const struct group_total *total) {
    struct group_total *to = find_group(totals, name);
    if (!to) {
        struct group_past *past = &totals->past[totals->n_past++];
        memcpy(past->name, name, strlen(name) + 1);
        to = &past->total;
    }
    *to = *total;
}

int group_totals_continue(struct group_totals *totals, const struct group_totals *old) {
    totals->past = calloc(old->plan->n_groups + old->n_past + 1, sizeof *totals->past);
    if (!totals->past)
        return -ENOMEM;
    for (size_t g = 0; g < old->plan->n_groups; g++)
        continue_group(totals, old->plan->groups[g].name, &old->totals[g]);
    for (size_t i = 0; i < old->n_past; i++)
        continue_group(totals, old->past[i].name, &old->past[i].total);
    return 0;
}

void group_totals_take(struct group_totals *totals, const struct window *window) {
    struct group_total *total = &totals->totals[window->group];
    total->windows[window->result]++;
    total->enabled_seconds += (double)window->enabled_ns * NS;
    total->running_seconds += (double)window->running_ns * NS;
}

void group_totals_write(const struct group_totals *totals, struct snapshot *out) {
    for (size_t g = 0; g < totals->plan->n_groups; g++) {
        const struct group_total *total = &totals->totals[g];
        for (size_t result = 0; result < WINDOW_RESULT_N; result++)
            out->values[snapshot_windows(out->layout, g, (enum window_result)result)] = total->windows[result];
        out->values[snapshot_enabled(out->layout, g)] = total->enabled_seconds;
        out->values[snapshot_running(out->layout, g)] = total->running_seconds;
    }
}
