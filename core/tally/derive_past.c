// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- what is the same ----

static const char *metric_name(const struct snapshot_layout *layout, size_t metric) {
    return layout->catalog->metrics[layout->plan->metrics[metric].metric].export_name;
}

static const char *event_name(const struct snapshot_layout *layout, size_t event) {
    return layout->catalog->events[layout->events[event]].name;
}

// Plans usually have most of their metrics at the same places, so the search begins there.
static int find_name(const struct snapshot_layout *layout, size_t n,
                     const char *name_of(const struct snapshot_layout *layout, size_t i), const char *name,
                     size_t likely) {
    for (size_t i = 0; i < n; i++) {
        size_t at = (likely + i) % n;
        if (strcmp(name_of(layout, at), name) == 0)
            return (int)at;
    }
    return -1;
}

static int find_category(const struct snapshot_layout *layout, enum category category) {
    for (size_t i = 0; i < layout->n_level1; i++)
        if (layout->catalog->level1.categories[i].category == category)
            return (int)i;
    return -1;
}

int derive_match_init(struct derive_match *match, const struct snapshot_layout *to,
                      const struct snapshot_layout *from) {
    *match = (struct derive_match){.metrics = calloc(to->n_metrics + 1, sizeof *match->metrics),
                                   .events = calloc(to->n_events + 1, sizeof *match->events),
                                   .categories = calloc(to->n_level1 + 1, sizeof *match->categories)};
    if (!match->metrics || !match->events || !match->categories) {
        derive_match_deinit(match);
        return -ENOMEM;
    }
    for (size_t m = 0; m < to->n_metrics; m++)
        match->metrics[m] = find_name(from, from->n_metrics, metric_name, metric_name(to, m), m);
    for (size_t e = 0; e < to->n_events; e++)
        match->events[e] = find_name(from, from->n_events, event_name, event_name(to, e), e);
    for (size_t i = 0; i < to->n_level1; i++)
        match->categories[i] = find_category(from, to->catalog->level1.categories[i].category);
    return 0;
}

void derive_match_deinit(struct derive_match *match) {
    free(match->categories);
    free(match->events);
    free(match->metrics);
    *match = (struct derive_match){0};
}

int derive_match_socket(const struct topology *topology, unsigned id) {
    for (size_t s = 0; s < topology->n_sockets; s++)
        if (topology->sockets[s].id == id)
            return (int)s;
    return -1;
}

// ---- copying ----

struct copying {
    struct derive_totals *to;
    const struct derive_totals *from;
    size_t scope, from_scope;
};

// Copies n fields of a scope, run by run of those that follow one another in both plans.
static void copy_fields(const struct copying *c, size_t field, size_t from_field, const int *match, size_t n) {
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && match[next] == match[i] + (int)(next - i);)
            next++;
        if (match[i] >= 0)
            totals_copy(c->to->totals, c->scope, field + i, c->from->totals, c->from_scope,
                        from_field + (size_t)match[i], next - i);
        else
            next = i + 1;
    }
}

static void copy_scope(const struct copying *c, const struct derive_match *match) {
    const struct snapshot_layout *to = c->to->layout, *from = c->from->layout;
    copy_fields(c, snapshot_numerator(to, 0, 0), snapshot_numerator(from, 0, 0), match->metrics, to->n_metrics);
    copy_fields(c, snapshot_denominator(to, 0, 0), snapshot_denominator(from, 0, 0), match->metrics, to->n_metrics);
    copy_fields(c, snapshot_category(to, 0, 0), snapshot_category(from, 0, 0), match->categories, to->n_level1);
    copy_fields(c, snapshot_event(to, 0, 0), snapshot_event(from, 0, 0), match->events, to->n_events);
    totals_copy(c->to->totals, c->scope, snapshot_pipeline_slots(to, 0), c->from->totals, c->from_scope,
                snapshot_pipeline_slots(from, 0), snapshot_event(to, 0, 0) - snapshot_pipeline_slots(to, 0));
    totals_copy(c->to->totals, c->scope, snapshot_covered(to, 0), c->from->totals, c->from_scope,
                snapshot_covered(from, 0), snapshot_busy(to, 0) + 1 - snapshot_covered(to, 0));
}

void derive_totals_copy(struct derive_totals *to, const struct derive_totals *from, const struct derive_match *match) {
    const struct topology *topology = to->layout->topology, *before = from->layout->topology;
    copy_scope(&(struct copying){to, from, 0, 0}, match);
    for (size_t s = 0; s < topology->n_sockets; s++) {
        int old = derive_match_socket(before, topology->sockets[s].id);
        if (old >= 0)
            copy_scope(&(struct copying){to, from, scope_of_socket(s), scope_of_socket((size_t)old)}, match);
    }
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        int old = topology_find_cpu(before, topology->cpus[cpu].id);
        if (old >= 0)
            copy_scope(&(struct copying){to, from, scope_of_cpu(topology, cpu), scope_of_cpu(before, (size_t)old)},
                       match);
    }
}

// ---- what is lacking ----

static bool all_there(const int *match, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (match[i] < 0)
            return false;
    return true;
}

static bool scopes_there(const struct topology *topology, const struct topology *past) {
    bool there = true;
    for (size_t s = 0; s < past->n_sockets; s++)
        there = there && derive_match_socket(topology, past->sockets[s].id) >= 0;
    for (size_t cpu = 0; cpu < past->n_cpus; cpu++)
        there = there && topology_find_cpu(topology, past->cpus[cpu].id) >= 0;
    return there;
}

// Whether the past plan has totals that the present one lacks. Returns 1, 0 or -ENOMEM.
static int has_more(const struct snapshot_layout *past, const struct snapshot_layout *present) {
    struct derive_match match; // of the past plan's, so the other way round
    if (past == present)
        return 0;
    int r = derive_match_init(&match, past, present);
    if (r < 0)
        return r;
    bool there = all_there(match.metrics, past->n_metrics) && all_there(match.events, past->n_events) &&
                 all_there(match.categories, past->n_level1) && scopes_there(present->topology, past->topology);
    derive_match_deinit(&match);
    return !there;
}

// ---- keeping ----

static void totals_drop(struct derive_totals *kept) {
    totals_free(kept->totals);
    scopes_free(kept->scopes);
    snapshot_layout_unref(kept->layout);
    *kept = (struct derive_totals){0};
}

// Keeps a copy, in the place of the oldest if there is no other.
static int keep(struct derive_past *past, const struct derive_totals *from) {
    struct derive_totals copy = {.layout = snapshot_layout_ref(from->layout),
                                 .scopes = scopes_new(from->layout->topology)};
    const struct totals *totals = from->totals;
    copy.totals = copy.scopes ? totals_new(copy.scopes, totals->first_field, totals->n_fields) : NULL;
    if (!copy.totals) {
        totals_drop(&copy);
        return -ENOMEM;
    }
    for (size_t scope = 0; scope < from->layout->n_scopes; scope++)
        totals_copy(copy.totals, scope, totals->first_field, totals, scope, totals->first_field, totals->n_fields);
    if (past->n == DERIVE_PAST_MAX) {
        totals_drop(&past->kept[0]);
        memmove(past->kept, past->kept + 1, --past->n * sizeof *past->kept);
    }
    past->kept[past->n++] = copy;
    return 0;
}

// Takes over one plan's totals, which are newer than those before.
static int take(struct derive_past *past, struct derive_totals *to, const struct derive_totals *from) {
    struct derive_match match;
    int r = derive_match_init(&match, to->layout, from->layout);
    if (r < 0)
        return r;
    derive_totals_copy(to, from, &match);
    derive_match_deinit(&match);
    r = has_more(from->layout, to->layout);
    return r > 0 ? keep(past, from) : r;
}

int derive_past_continue(struct derive_past *past, struct derive_totals *to, const struct derive_past *before,
                         const struct derive_totals *from) {
    int r = 0;
    for (size_t i = 0; i < before->n && r == 0; i++)
        r = take(past, to, &before->kept[i]);
    return r == 0 ? take(past, to, from) : r;
}

void derive_past_deinit(struct derive_past *past) {
    while (past->n > 0)
        totals_drop(&past->kept[--past->n]);
}
