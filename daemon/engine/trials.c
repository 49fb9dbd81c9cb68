// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/trials.h"

#include <errno.h>
#include <stdlib.h>

#include "collectors/pmu/trial.h"
#include "core/adapt/starve.h"
#include "core/plan/schedule.h"

static const uint64_t GIVE_UP_NS = UINT64_C(60000000000);

struct trials {
    struct starve *starve;
    bool changed;
    unsigned core; // of the next trial

    // the current trial; all NULL: there is none
    struct trial *trial;
    struct follow asked;         // what starved when it began
    struct plan *plan;           // made for it
    struct trial_group *groups;  // the current plan's starving ones, then those of `plan` that it is about
    struct pmu_event *events;    // of these
    enum starve_answer *answers; // by group of the current plan, then by group of `plan`
    uint64_t give_up_ns;
};

int trials_new(const struct catalog *catalog, struct trials **out) {
    struct trials *t = calloc(1, sizeof *t);
    int r = t ? starve_new(catalog, &t->starve) : -ENOMEM;
    if (r < 0) {
        free(t);
        return r;
    }
    *out = t;
    return 0;
}

void trials_stop(struct trials *t) {
    if (!t)
        return;
    t->trial = trial_free(t->trial);
    t->plan = plan_free(t->plan);
    free(t->answers);
    free(t->events);
    free(t->groups);
    t->answers = NULL;
    t->events = NULL;
    t->groups = NULL;
}

struct trials *trials_free(struct trials *t) {
    if (t) {
        trials_stop(t);
        starve_free(t->starve);
        free(t);
    }
    return NULL;
}

const uint8_t *trials_findings(const struct trials *t) { return t ? starve_findings(t->starve) : NULL; }

void trials_forget(struct trials *t) {
    if (t)
        starve_forget(t->starve);
}

bool trials_changed(struct trials *t) {
    bool changed = t && t->changed;
    if (t)
        t->changed = false;
    return changed;
}

// ---- which event groups a trial runs ----

// The trial has the groups that this is true for, in order, the current plan's first.
static bool is_tried(const struct trials *t, const struct plan *plan, unsigned group) {
    return plan == t->plan ? starve_asks_unit(t->starve, plan, plan->groups[group].unit)
                           : follow_group_starves(&t->asked, group);
}

static size_t count_events(const struct trials *t, const struct plan *plan, size_t *n_groups) {
    size_t n_events = 0;
    for (unsigned g = 0; g < plan->n_groups; g++) {
        if (!is_tried(t, plan, g))
            continue;
        n_events += plan->groups[g].n_events;
        ++*n_groups;
    }
    return n_events;
}

static void add_groups(const struct trials *t, const struct plan *plan, struct trial_group **group,
                       struct pmu_event **event) {
    for (unsigned g = 0; g < plan->n_groups; g++) {
        const struct plan_group *from = &plan->groups[g];
        if (!is_tried(t, plan, g))
            continue;
        *(*group)++ = (struct trial_group){.events = *event, .n_events = from->n_events};
        for (size_t e = 0; e < from->n_events; e++)
            *(*event)++ = plan->catalog->events[from->events[e]].code;
    }
}

static int make_trial(struct trials *t, const struct trials_host *host) {
    const struct plan *current = host->layout->plan;
    size_t n = 0, n_events = count_events(t, current, &n) + count_events(t, t->plan, &n);
    t->groups = calloc(n + 1, sizeof *t->groups);
    t->events = calloc(n_events + 1, sizeof *t->events);
    t->answers = calloc(current->n_groups + t->plan->n_groups + 1, sizeof *t->answers);
    if (!t->groups || !t->events || !t->answers)
        return -ENOMEM;
    struct trial_group *group = t->groups;
    struct pmu_event *event = t->events;
    add_groups(t, current, &group, &event);
    add_groups(t, t->plan, &group, &event);
    t->core = (t->core + 1) % (unsigned)host->layout->topology->n_cores;
    return trial_new(host->pmu, host->layout->topology, t->core, t->groups, n, &t->trial);
}

int trials_begin(struct trials *t, const struct trials_host *host, const struct stage_request *request,
                 uint64_t now_ns) {
    if (!t || t->trial || request->none_free || !starve_is_due(t->starve, &request->follow, host->layout->plan, now_ns))
        return 0;
    struct errors errors = {0};
    struct stage_request asked = *request;
    t->asked = request->follow;
    asked.findings = starve_ask(t->starve, &t->asked, host->layout->plan);
    self_step_begin(host->self);
    int r = stage_plan(&asked, &errors, &t->plan);
    if (r == 0)
        r = make_trial(t, host);
    self_change_end(host->self, 0, 0);
    if (r < 0)
        trials_stop(t);
    else
        t->give_up_ns = now_ns + GIVE_UP_NS;
    return r == -EINVAL ? 0 : r; // a plan with more event groups than there may be
}

// ---- the trial ----

// The answers of a plan's groups begin at `at` in the trial.
static size_t take_answers(const struct trials *t, const struct plan *plan, size_t at, enum starve_answer *answers) {
    for (unsigned g = 0; g < plan->n_groups; g++) {
        if (!is_tried(t, plan, g))
            continue;
        int answer = trial_answer(t->trial, at++);
        answers[g] = answer < 0 ? STARVE_UNKNOWN : answer > 0 ? STARVE_RAN : STARVE_DID_NOT_RUN;
    }
    return at;
}

static void finish(struct trials *t, const struct plan *current, uint64_t now_ns) {
    enum starve_answer *answers = t->answers, *of_trial = t->answers + current->n_groups;
    size_t at = take_answers(t, current, 0, answers);
    (void)take_answers(t, t->plan, at, of_trial);
    t->changed = starve_take(t->starve, &t->asked, current, answers, t->plan, of_trial, now_ns);
    trials_stop(t);
}

// How long the core counts nothing that works; now or earlier: it does.
static uint64_t quiet_until_ns(const struct trials *t, const struct trials_host *host) {
    uint64_t until_ns;
    int group = sampler_now(host->sampler, t->core, &until_ns);
    bool short_idle = schedule_usual_piece_ns(host->layout->plan) < 2 * TRIAL_NS;
    return group < 0 || (short_idle && follow_group_starves(&t->asked, (unsigned)group)) ? until_ns : 0;
}

static void step(struct trials *t, const struct trials_host *host, uint64_t now_ns, uint64_t until_ns,
                 uint64_t *deadline_ns) {
    uint64_t calls = trial_calls(t->trial), interrupts = trial_interrupts(t->trial);
    self_step_begin(host->self);
    bool over = trial_step(t->trial, now_ns, until_ns, deadline_ns);
    self_change_end(host->self, trial_calls(t->trial) - calls, trial_interrupts(t->trial) - interrupts);
    if (over || now_ns > t->give_up_ns)
        finish(t, host->layout->plan, now_ns);
}

void trials_end_group(struct trials *t, const struct trials_host *host, uint64_t now_ns) {
    uint64_t ignored;
    if (t && t->trial)
        step(t, host, now_ns, 0, &ignored);
}

void trials_step(struct trials *t, const struct trials_host *host, uint64_t now_ns, uint64_t *deadline_ns) {
    uint64_t end_ns = UINT64_MAX;
    if (t && t->trial)
        step(t, host, now_ns, quiet_until_ns(t, host), &end_ns);
    *deadline_ns = end_ns < *deadline_ns ? end_ns : *deadline_ns;
}
