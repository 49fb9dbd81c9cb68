// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/measure_fetched.h"
#include "daemon/source/source_continue.h"

// What measuring continues with.
struct measure_next {
    struct engine_change to;
    bool same;                   // the source is what it was: collector, trials and dead events stay
    struct collector *collector; // unless it stays, like the next one
    struct trials *trials;
    struct dead *dead;
    struct record *record; // NULL: none, or the present one goes on
    bool keeps_record;
    struct adapt *adapt;
    struct evidence *evidence;
    struct follow follow;
    struct stage stage;
};

// ---- making ----

// The number of counters is known where the PMU is what it was. Elsewhere it is what the spec says until event groups
// starve.
static struct follow make_follow(const struct measure *m, const struct source *source, bool same) {
    struct follow follow = m->follow;
    unsigned stated = source->general_counters > 0 ? source->general_counters : 1;
    if (!same && !(source->takes_counters && m->follow.counters > 0 &&
                   source->general_counters == m->type->source->general_counters))
        follow_init(&follow, source->takes_counters ? stated : 0);
    return follow;
}

static int make_adapt(struct measure_next *next, const struct measure *m) {
    const struct core_type *type = next->to.type;
    if (next->to.setup->profile->settings.mode != CONFIG_MODE_ADAPTIVE || type->topology->boxes)
        return 0;
    int r = adapt_new(type->source->catalog, type->selections, type->n_selections, &next->adapt);
    if (r == 0 && m->adapt)
        adapt_continue(next->adapt, m->adapt);
    else if (r == 0)
        adapt_count_on(next->adapt, m->ended.causes);
    return r;
}

static int make_evidence(struct measure_next *next, const struct measure *m) {
    const struct core_type *type = next->to.type;
    if (!setup_fetches(next->to.setup, type))
        return 0;
    int r = evidence_new(type->source->catalog, &next->evidence);
    if (r == 0 && m->evidence)
        evidence_continue(next->evidence, m->evidence);
    return r;
}

struct record *measure_record(const struct measure *m) {
    return m->next && !m->next->keeps_record ? m->next->record : m->record;
}

static int make_record_of_boxes(struct measure_next *next, const struct measure *m) {
    struct record *first = measure_record((const struct measure *)next->to.first);
    next->keeps_record = first && m->record && record_is_of(m->record, first);
    return first && !next->keeps_record ? record_new_boxes(first, next->to.setup, next->to.type, m->seed, &next->record)
                                        : 0;
}

static int make_record(struct measure_next *next, const struct measure *m, struct errors *errors) {
    const struct setup *setup = next->to.setup;
    if (next->to.type->topology->boxes)
        return make_record_of_boxes(next, m);
    next->keeps_record = m->record && record_is_at(m->record, setup, next->to.type);
    if (!setup->record_path || next->keeps_record)
        return 0;
    int r = record_new(setup, next->to.type, m->seed, m->self->clocks, errors, &next->record);
    if (r == 0)
        record_continue(next->record, m->record ? record_totals(m->record) : m->ended.record);
    return r;
}

static int make_collector(struct measure_next *next, const struct measure *m, struct errors *errors) {
    struct source *source = next->to.type->source;
    const struct collector_request request = {.source = source,
                                              .self = m->self,
                                              .interval_ns = setup_interval_ns(next->to.setup),
                                              .told_pause_ns = setup_told_pause_ns(next->to.setup),
                                              .seed = m->seed,
                                              .now_ns = next->to.now_ns};
    int r = collector_new(&request, errors, &next->collector);
    if (r == 0 && source->takes_counters)
        r = trials_new(source->catalog, &next->trials);
    return r == 0 && source->takes_counters ? dead_new(source->catalog, &next->dead) : r;
}

static int make_stage(struct measure_next *next, const struct measure *m, struct errors *errors) {
    const struct stage_request request = {.setup = next->to.setup,
                                          .type = next->to.type,
                                          .seed = m->seed,
                                          .follow = next->follow,
                                          .none_free = m->none_free && next->same,
                                          .slot_factor = measure_slot_factor(m),
                                          .adapt = next->adapt,
                                          .evidence = next->evidence,
                                          .fetched_files = measure_fetched_files(m),
                                          .dead = next->same ? dead_events(m->dead) : NULL,
                                          .findings = next->same ? trials_findings(m->trials) : NULL,
                                          .recording = record_path(next->keeps_record ? m->record : next->record)};
    return stage_init(&next->stage, &request, &m->stage, errors);
}

static int make_all(struct measure_next *next, const struct measure *m, struct errors *errors) {
    int r = make_adapt(next, m);
    if (r == 0)
        r = make_evidence(next, m);
    if (r == 0 && !next->same)
        r = make_collector(next, m, errors);
    if (r == 0)
        r = make_record(next, m, errors);
    next->follow = make_follow(m, next->to.type->source, next->same);
    return r == 0 ? make_stage(next, m, errors) : r;
}

int measure_prepare(struct measure *m, const struct engine_change *change, struct errors *errors) {
    if (m->state == MEASURE_FINDING || m->state == MEASURE_PROBING)
        return -EAGAIN; // a probe is over soon
    struct measure_next *next = calloc(1, sizeof *next);
    if (!next)
        return -ENOMEM;
    next->to = *change;
    next->same = source_same(change->type->source, m->type->source);
    if (next->same)
        source_exchange(change->type->source, m->type->source);
    source_continue(change->type->source, m->type->source);
    m->next = next;
    self_step_begin(m->self);
    int r = make_all(next, m, errors);
    self_change_end(m->self, 0, 0);
    if (r < 0)
        measure_abandon(m);
    return r;
}

static void free_next(struct measure_next *next) {
    stage_deinit(&next->stage);
    record_free(next->record);
    dead_free(next->dead);
    trials_free(next->trials);
    collector_free(next->collector);
    evidence_free(next->evidence);
    adapt_free(next->adapt);
    free(next);
}

void measure_abandon(struct measure *m) {
    struct measure_next *next = m->next;
    if (!next)
        return;
    m->next = NULL;
    if (next->same)
        source_exchange(next->to.type->source, m->type->source);
    free_next(next);
}

// ---- taking over ----

// Exchanges members, so that `next` is left with what is to be freed.
#define EXCHANGE(a, b)                                                                                                 \
    do {                                                                                                               \
        __typeof__(a) kept = (a);                                                                                      \
        (a) = (b);                                                                                                     \
        (b) = kept;                                                                                                    \
    } while (0)

void measure_take_over(struct measure *m) {
    struct measure_next *next = m->next;
    const struct setup *setup = next->to.setup;
    trials_stop(m->trials);
    collector_stop(m->collector);
    if (next->same) {
        collector_change(m->collector, next->to.type->source, setup_interval_ns(setup));
    } else {
        EXCHANGE(m->collector, next->collector);
        EXCHANGE(m->trials, next->trials);
        EXCHANGE(m->dead, next->dead);
        m->due.dead = false;
        m->none_free = false;
        m->told = (struct verdict_log){.newest = m->told.newest}; // its metric is one of the other catalog
    }
    if (m->record)
        m->ended.record = record_totals(m->record);
    if (m->adapt)
        memcpy(m->ended.causes, adapt_report(m->adapt)->causes, sizeof m->ended.causes);
    if (next->keeps_record)
        record_change(m->record, setup, next->to.type);
    else
        EXCHANGE(m->record, next->record);
    EXCHANGE(m->adapt, next->adapt);
    EXCHANGE(m->evidence, next->evidence);
    EXCHANGE(m->stage, next->stage);
    m->setup = setup;
    m->type = next->to.type;
    m->follow = next->follow;
    follow_plan_changed(&m->follow);
    m->due.adapt = m->due.evidence = false;
    m->pace.slot_factor = measure_slot_factor(m);
    record_plan(m->record, m->stage.view);
    m->next = NULL;
    free_next(next);
}
