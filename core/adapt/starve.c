// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/starve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct starve {
    const struct catalog *catalog;
    uint8_t *findings;     // enum plan_finding by catalog metric
    uint8_t *asked;        // by catalog metric, with which the trial's plan is made
    bool *questioned;      // by catalog metric: the trial is about it
    bool again;            // the last trial leaves another way to try at once
    uint64_t tried_groups; // follow.starving_groups at the last trial
    struct backoff backoff;
};

int starve_new(const struct catalog *catalog, struct starve **out) {
    struct starve *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct starve){.catalog = catalog, .backoff = backoff_begin(0)};
    s->findings = calloc(catalog->n_metrics + 1, sizeof *s->findings);
    s->asked = calloc(catalog->n_metrics + 1, sizeof *s->asked);
    s->questioned = calloc(catalog->n_metrics + 1, sizeof *s->questioned);
    if (!s->findings || !s->asked || !s->questioned) {
        starve_free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

struct starve *starve_free(struct starve *s) {
    if (s) {
        free(s->questioned);
        free(s->asked);
        free(s->findings);
        free(s);
    }
    return NULL;
}

static bool some_found(const struct starve *s) {
    bool found = false;
    for (size_t m = 0; m < s->catalog->n_metrics; m++)
        found = found || s->findings[m] != PLAN_FINDING_NONE;
    return found;
}

bool starve_is_due(const struct starve *s, const struct follow *follow, const struct plan *plan, uint64_t now_ns) {
    bool same_answer =
        follow->starving && follow_some_run(follow, plan) && follow->probed_groups == follow->starving_groups;
    if (same_answer && s->tried_groups != follow->starving_groups)
        return true;
    return (same_answer || some_found(s)) && (s->again || backoff_is_over(s->backoff, now_ns));
}

static bool unit_starves(const struct follow *follow, const struct plan *plan, int unit) {
    bool starves = false;
    for (unsigned i = 0; unit >= 0 && i < plan->units[unit].n_groups; i++)
        starves = starves || follow_group_starves(follow, plan->units[unit].first_group + i);
    return starves;
}

static bool is_category(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return true;
    return false;
}

// The finding that the next trial is to confirm. Level 1 that did not run in one event group is tried in parts.
static enum plan_finding next_finding(const struct starve *s, unsigned metric) {
    bool splits = is_category(s->catalog, metric) && s->catalog->level1.n_parts > 0;
    if (!splits || s->findings[metric] == PLAN_FINDING_SPLIT)
        return splits ? PLAN_FINDING_SPLIT : PLAN_FINDING_APART;
    return s->again ? PLAN_FINDING_SPLIT : PLAN_FINDING_APART;
}

// The metric is measured, and no event group starves: it may go back to where it was.
static bool is_calm(const struct starve *s, const struct follow *follow, unsigned metric) {
    return !follow->starving && s->findings[metric] != PLAN_FINDING_NONE && s->findings[metric] != PLAN_FINDING_NEVER;
}

const uint8_t *starve_ask(struct starve *s, const struct follow *follow, const struct plan *plan) {
    memcpy(s->asked, s->findings, s->catalog->n_metrics);
    for (size_t m = 0; m < s->catalog->n_metrics; m++)
        s->questioned[m] =
            s->findings[m] == PLAN_FINDING_NEVER || (s->findings[m] != PLAN_FINDING_NONE && !follow->starving);
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (unit_starves(follow, plan, plan->metrics[i].unit))
            s->questioned[plan->metrics[i].metric] = true;
    for (unsigned m = 0; m < s->catalog->n_metrics; m++)
        if (s->questioned[m])
            s->asked[m] = (uint8_t)(is_calm(s, follow, m) ? PLAN_FINDING_NONE : next_finding(s, m));
    return s->asked;
}

bool starve_asks_unit(const struct starve *s, const struct plan *trial, unsigned unit) {
    bool asks = false;
    for (size_t i = 0; i < trial->n_metrics; i++)
        asks = asks || (trial->metrics[i].unit == (int)unit && s->questioned[trial->metrics[i].metric]);
    return asks;
}

// All groups of the unit together, or those that starved: one that did not run spoils it.
static enum starve_answer answer_of(const struct plan *plan, int unit, const struct follow *starved,
                                    const enum starve_answer *answers) {
    enum starve_answer worst = STARVE_UNKNOWN;
    for (unsigned i = 0; unit >= 0 && i < plan->units[unit].n_groups; i++) {
        unsigned group = plan->units[unit].first_group + i;
        if (starved && !follow_group_starves(starved, group))
            continue;
        if (answers[group] == STARVE_UNKNOWN)
            return STARVE_UNKNOWN;
        worst = answers[group] > worst ? answers[group] : worst;
    }
    return worst;
}

static int unit_of(const struct plan *plan, unsigned metric) {
    return plan->place[metric] >= 0 ? plan->metrics[plan->place[metric]].unit : PLAN_NOT_PLANNABLE;
}

// True if level 1 did not run in one event group, and its split has not been tried.
static bool may_be_split(const struct starve *s, unsigned metric) {
    return s->asked[metric] == PLAN_FINDING_APART && is_category(s->catalog, metric) && s->catalog->level1.n_parts > 0;
}

// True if all metrics that may go back would run there: some of them alone would make event groups that nobody tried.
static bool all_may_go_back(const struct starve *s, const struct plan *trial, const enum starve_answer *answers) {
    bool all = true;
    for (unsigned m = 0; m < s->catalog->n_metrics; m++)
        if (s->questioned[m] && s->asked[m] == PLAN_FINDING_NONE)
            all = all && answer_of(trial, unit_of(trial, m), NULL, answers) == STARVE_RAN;
    return all;
}

bool starve_take(struct starve *s, const struct follow *follow, const struct plan *plan,
                 const enum starve_answer *answers, const struct plan *trial, const enum starve_answer *trial_answers,
                 uint64_t now_ns) {
    bool changed = false, again = false, back = all_may_go_back(s, trial, trial_answers);
    for (unsigned m = 0; m < s->catalog->n_metrics; m++) {
        uint8_t before = s->findings[m];
        if (!s->questioned[m] || answer_of(plan, unit_of(plan, m), follow, answers) == STARVE_RAN)
            continue;
        enum starve_answer answer = answer_of(trial, unit_of(trial, m), NULL, trial_answers);
        if (s->asked[m] == PLAN_FINDING_NONE)
            s->findings[m] = back ? PLAN_FINDING_NONE : before;
        else if (answer == STARVE_RAN)
            s->findings[m] = s->asked[m];
        else if (answer == STARVE_DID_NOT_RUN && may_be_split(s, m))
            again = true;
        else if (answer == STARVE_DID_NOT_RUN)
            s->findings[m] = PLAN_FINDING_NEVER;
        changed = changed || s->findings[m] != before;
    }
    s->again = again && !s->again;
    s->tried_groups = follow->starving_groups;
    s->backoff = changed ? backoff_begin(now_ns) : backoff_again(s->backoff, now_ns);
    return changed;
}

void starve_forget(struct starve *s) {
    memset(s->findings, PLAN_FINDING_NONE, s->catalog->n_metrics);
    s->tried_groups = 0;
    s->again = false;
    s->backoff = backoff_begin(s->backoff.looked_ns);
}

const uint8_t *starve_findings(const struct starve *s) { return s->findings; }
