// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/evidence.h"

#include <errno.h>
#include <stdlib.h>

#include "core/diagnosis/next.h"
#include "core/plan/plan_possible.h"

// How important something is that a verdict asks for: what comes first has the smaller one.
enum { RANK_CHILDREN, RANK_GRANDCHILDREN, RANK_GROUPS, RANK_ABOVE, RANK_N };

struct asked {
    uint64_t last_ns;    // of the last snapshot that asked for it; 0: none has
    uint64_t verdict_ns; // of the last snapshot in which a verdict ended with it
    unsigned group;
    unsigned rank;   // then
    bool wanted;     // part of evidence_wanted
    bool impossible; // under the present plan
};

struct evidence {
    const struct catalog *catalog;
    struct asked *asked;         // by catalog metric
    struct plan_fetched *wanted; // room for all metrics
    size_t n_wanted;
    const struct plan *plan; // for which `impossible` is known; only compared
    uint64_t rounds;         // so far
    bool changed;
    uint64_t changed_ns; // if `changed`
};

// ---- what a verdict asks for ----

struct question {
    struct evidence *evidence;
    const struct plan *plan;
    uint64_t now_ns;
};

static bool is_of_level1(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_metrics; i++)
        if (catalog->level1.metrics[i] == metric)
            return true;
    return false;
}

// True if the profile selects the metric, or nobody can measure it here.
static bool is_settled(const struct question *q, unsigned metric, struct asked *asked) {
    int place = q->plan->place[metric];
    if (place >= 0)
        return !q->plan->metrics[place].auxiliary && !q->plan->metrics[place].fetched;
    asked->impossible = asked->impossible || is_of_level1(q->plan->catalog, metric) ||
                        (asked->last_ns == 0 && !plan_metric_possible(q->plan, metric));
    return asked->impossible;
}

static void ask(const struct question *q, unsigned metric, int group, unsigned rank) {
    struct asked *asked = &q->evidence->asked[metric];
    if (group < 0 || is_settled(q, metric, asked))
        return;
    if (asked->last_ns != q->now_ns || rank < asked->rank) {
        asked->rank = rank;
        asked->group = (unsigned)group;
    }
    asked->last_ns = q->now_ns;
}

static void ask_metric(const struct question *q, unsigned metric, unsigned rank) {
    ask(q, metric, next_group_of(q->plan->catalog, metric), rank);
}

static void ask_group(const struct question *q, unsigned group, unsigned rank) {
    const struct catalog_group *of = &q->plan->catalog->groups[group];
    for (size_t i = 0; i < of->n_metrics; i++)
        ask(q, of->metrics[i], (int)group, rank);
}

// What the decision tree names after a metric: its metrics, and its metric groups unless `groups` is RANK_N.
static void ask_steps(const struct question *q, unsigned metric, unsigned metrics, unsigned groups) {
    const struct catalog *catalog = q->plan->catalog;
    for (size_t k = 0; k < catalog->n_nodes; k++)
        for (size_t i = 0; catalog->nodes[k].metric == metric && i < catalog->nodes[k].n_next; i++) {
            const struct catalog_step *step = &catalog->nodes[k].next[i];
            if (step->metric >= 0)
                ask_metric(q, (unsigned)step->metric, metrics);
            else if (step->group >= 0 && groups < RANK_N)
                ask_group(q, (unsigned)step->group, groups);
        }
}

static void ask_below(const struct question *q, unsigned metric, unsigned rank) {
    const struct catalog *catalog = q->plan->catalog;
    for (unsigned m = 0; m < catalog->n_metrics; m++) {
        if (catalog->metrics[m].parent != (int)metric)
            continue;
        ask_metric(q, m, rank);
        if (rank != RANK_CHILDREN)
            continue;
        ask_steps(q, m, RANK_GRANDCHILDREN, RANK_N);
        ask_below(q, m, RANK_GRANDCHILDREN);
    }
}

static void ask_for(const struct question *q, int metric) {
    const struct catalog *catalog = q->plan->catalog;
    if (metric < 0)
        return;
    unsigned last = catalog_metric_hidden(catalog, catalog_metric_named(catalog, (unsigned)metric));
    if (q->evidence->asked[last].verdict_ns == q->now_ns)
        return; // another scope's verdict is the same
    q->evidence->asked[last].verdict_ns = q->now_ns;
    ask_below(q, last, RANK_CHILDREN);
    ask_steps(q, last, RANK_CHILDREN, RANK_GROUPS);
    for (int above = catalog->metrics[last].parent; above >= 0; above = catalog->metrics[above].parent) {
        ask_below(q, (unsigned)above, RANK_ABOVE);
        ask_steps(q, (unsigned)above, RANK_ABOVE, RANK_N);
    }
}

static void ask_all(const struct question *q, const struct snapshot *snapshot) {
    const struct circumstances *around = &snapshot->circumstances;
    bool at_once = q->evidence->rounds <= EVIDENCE_ROUNDS_AT_ONCE;
    for (size_t scope = 0; scope <= snapshot->layout->topology->n_sockets; scope++) {
        const struct verdict_scope *of = &snapshot->verdicts[scope];
        ask_for(q, at_once ? verdict_metric(&of->now) : of->lasting.metric);
        if (verdict_high(&of->now))
            ask_for(q, of->now.close);
    }
    for (size_t i = 0; i < around->n_outliers; i++)
        ask_for(q, (int)around->outliers[i].last);
}

// ---- when that changes the plan ----

static bool is_recent(const struct asked *asked, uint64_t now_ns) {
    return asked->last_ns > 0 && now_ns - asked->last_ns <= EVIDENCE_KEEP_NS;
}

// Something is asked for that nobody looked for yet; or for which there was no room, and something else has the room
// that has not been asked for lately.
static bool is_missing(const struct evidence *e, const struct plan *plan, uint64_t now_ns) {
    bool refused = false, unused = false;
    for (size_t m = 0; m < e->catalog->n_metrics; m++) {
        const struct asked *asked = &e->asked[m];
        if (asked->last_ns == now_ns && !asked->wanted)
            return true;
        refused = refused || (asked->last_ns == now_ns && plan->place[m] < 0);
        unused = unused || (asked->wanted && plan->place[m] >= 0 && now_ns - asked->last_ns > EVIDENCE_CHANGE_NS);
    }
    return refused && unused;
}

static bool is_leaving(const struct evidence *e, uint64_t now_ns) {
    for (size_t m = 0; m < e->catalog->n_metrics; m++)
        if (e->asked[m].wanted && !is_recent(&e->asked[m], now_ns))
            return true;
    return false;
}

static int compare(const void *a, const void *b, void *context) {
    const struct evidence *e = context;
    const struct plan_fetched *x = a, *y = b;
    const struct asked *p = &e->asked[x->metric], *q = &e->asked[y->metric];
    if (p->last_ns != q->last_ns)
        return p->last_ns > q->last_ns ? -1 : 1;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

static void choose(struct evidence *e, uint64_t now_ns) {
    e->n_wanted = 0;
    for (unsigned m = 0; m < e->catalog->n_metrics; m++) {
        struct asked *asked = &e->asked[m];
        asked->wanted = is_recent(asked, now_ns);
        if (asked->wanted)
            e->wanted[e->n_wanted++] = (struct plan_fetched){.metric = m, .group = asked->group};
        else
            asked->last_ns = 0;
    }
    qsort_r(e->wanted, e->n_wanted, sizeof *e->wanted, compare, e);
}

bool evidence_round(struct evidence *e, const struct snapshot *snapshot) {
    const struct plan *plan = snapshot->layout->plan;
    const struct question question = {.evidence = e, .plan = plan, .now_ns = snapshot->end_ns};
    uint64_t now_ns = snapshot->end_ns;
    e->rounds++;
    for (size_t m = 0; m < e->catalog->n_metrics && e->plan != plan; m++)
        e->asked[m].impossible = false;
    e->plan = plan;
    if (!snapshot->circumstances.idle && plan->level1_selected == e->catalog->level1.present)
        ask_all(&question, snapshot);
    bool missing = is_missing(e, plan, now_ns), soon = missing && e->rounds <= EVIDENCE_ROUNDS_AT_ONCE;
    if (!soon && ((!missing && !is_leaving(e, now_ns)) || (e->changed && now_ns - e->changed_ns < EVIDENCE_CHANGE_NS)))
        return false;
    e->changed = true;
    e->changed_ns = now_ns;
    choose(e, now_ns);
    return true;
}

const struct plan_fetched *evidence_wanted(const struct evidence *e, size_t *n) {
    *n = e->n_wanted;
    return e->wanted;
}

bool evidence_asks(const struct evidence *e, unsigned metric) {
    return e->changed && e->asked[metric].last_ns == e->changed_ns;
}

// ---- making ----

int evidence_new(const struct catalog *catalog, struct evidence **out) {
    struct evidence *e = calloc(1, sizeof *e);
    if (!e)
        return -ENOMEM;
    *e = (struct evidence){.catalog = catalog,
                           .asked = calloc(catalog->n_metrics + 1, sizeof *e->asked),
                           .wanted = calloc(catalog->n_metrics + 1, sizeof *e->wanted)};
    if (!e->asked || !e->wanted) {
        evidence_free(e);
        return -ENOMEM;
    }
    *out = e;
    return 0;
}

void evidence_continue(struct evidence *e, const struct evidence *old) {
    e->rounds = old->rounds;
    e->changed = old->changed;
    e->changed_ns = old->changed_ns;
    for (size_t i = 0; i < old->n_wanted; i++) {
        const struct plan_fetched *was = &old->wanted[i];
        int metric = catalog_find_metric(e->catalog, old->catalog->metrics[was->metric].name),
            group = catalog_find_group(e->catalog, old->catalog->groups[was->group].name);
        if (metric < 0 || group < 0 || e->asked[metric].wanted)
            continue;
        e->asked[metric] = old->asked[was->metric];
        e->asked[metric].group = (unsigned)group;
        e->wanted[e->n_wanted++] = (struct plan_fetched){.metric = (unsigned)metric, .group = (unsigned)group};
    }
}

struct evidence *evidence_free(struct evidence *e) {
    if (e) {
        free(e->wanted);
        free(e->asked);
        free(e);
    }
    return NULL;
}
