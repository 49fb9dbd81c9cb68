// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/diagnosis.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/around.h"
#include "core/diagnosis/bound.h"
#include "core/diagnosis/phases.h"

// A time in which the scope had one verdict.
struct spell {
    int metric; // that of verdict_metric()
    struct verdict_since since;
};

static const struct spell NO_SPELL = {.metric = VERDICT_NOT_KNOWN, .since = {.seconds = NAN, .unwatched_seconds = NAN}};

// The history of one scope.
struct course {
    struct spell held, rival; // of the lasting verdict; of another one, seen for `rounds` rounds in a row
    unsigned rounds;
    uint64_t known_ns; // last time with a verdict
    bool unseen;       // it is not known what came before the next verdict
};

// A node of the decision tree, for the host.
struct node {
    bool judged; // it has successors in the decision tree and can be judged
    bool high;
    unsigned rounds_high, rounds_low; // in a row
    double value;                     // the last known one, as exported
};

struct diagnosis {
    struct snapshot_layout *layout; // a reference
    struct tree *tree;
    struct around *around;
    struct node *nodes;     // by catalog metric
    struct course *courses; // the host's, then each socket's
    struct phases phases;   // of the host
};

static size_t n_courses(const struct diagnosis *diagnosis) { return 1 + diagnosis->layout->topology->n_sockets; }

// ---- since when ----

static void course_begin(struct course *course) {
    *course = (struct course){.held = NO_SPELL, .rival = NO_SPELL, .unseen = true};
}

// A verdict that begins with this snapshot.
static struct spell begin_spell(int metric, const struct snapshot *snapshot, bool unseen) {
    return (struct spell){.metric = metric, .since = {.seconds = snapshot->taken_seconds, .at_least = unseen}};
}

// Takes the verdict of a round, and returns since when it holds.
static struct verdict_since course_take(struct course *course, int metric, const struct snapshot *snapshot) {
    if (metric == VERDICT_NOT_KNOWN)
        return NO_SPELL.since;
    if (snapshot->start_ns > course->known_ns && snapshot->start_ns - course->known_ns > DIAGNOSIS_FORGET_NS)
        course_begin(course);
    bool unseen = course->unseen;
    course->known_ns = snapshot->end_ns;
    course->unseen = false;
    if (metric == course->held.metric) {
        course->rival.metric = VERDICT_NOT_KNOWN;
        return course->held.since;
    }
    if (metric != course->rival.metric) {
        course->rival = begin_spell(metric, snapshot, unseen);
        course->rounds = 0;
    }
    struct spell rival = course->rival;
    if (++course->rounds == DIAGNOSIS_ROUNDS_HIGH || course->held.metric == VERDICT_NOT_KNOWN) {
        course->held = rival;
        course->rival.metric = VERDICT_NOT_KNOWN;
    }
    return rival.since;
}

// The same for a verdict that was found within a round: the round decides whether it lasts.
static struct verdict_since course_look(const struct course *course, int metric, const struct snapshot *snapshot) {
    if (metric == VERDICT_NOT_KNOWN)
        return NO_SPELL.since;
    if (metric == course->held.metric)
        return course->held.since;
    return metric == course->rival.metric ? course->rival.since : begin_spell(metric, snapshot, course->unseen).since;
}

// ---- the lasting verdict ----

// True if the intervals leave no doubt of the scope's verdict: another value within them gives the same one.
static bool certain(const struct tree *tree, const struct verdict *verdict) {
    if (verdict->close >= 0 || verdict->high == JUDGE_UNKNOWN)
        return false;
    bool nothing = verdict->high == JUDGE_NO;
    for (size_t i = 0; nothing && i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].category == tree->nodes[0].category && judge_can(tree->judge, tree->nodes[i].metric) &&
            judge_certain(tree->judge, tree->nodes[i].metric) != JUDGE_YES)
            return false;
    for (size_t i = 0; !nothing && i < verdict->n; i++)
        if (judge_certain(tree->judge, verdict->path[i]) != JUDGE_YES)
            return false;
    return true;
}

// The scope's verdict that lasts: a single noisy round does not show. Not known if the round has none, or if a new plan
// does not have its metric.
static struct verdict_lasting lasting_of(const struct diagnosis *diagnosis, size_t scope, const struct verdict *now) {
    const struct spell *held = &diagnosis->courses[scope].held;
    struct verdict_lasting none = verdict_unknown(-1).lasting;
    if (verdict_metric(now) == VERDICT_NOT_KNOWN || held->metric == VERDICT_NOT_KNOWN ||
        (held->metric >= 0 && diagnosis->layout->plan->place[held->metric] < 0))
        return none;
    return (struct verdict_lasting){.metric = held->metric,
                                    .since = held->since,
                                    .certain = verdict_metric(now) == held->metric && certain(diagnosis->tree, now)};
}

// The lasting verdict among the values, for pages that are made of these alone.
static void write_lasting(const struct verdict_lasting *lasting, size_t scope, struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    bool known = lasting->metric != VERDICT_NOT_KNOWN;
    for (size_t m = 0; m <= layout->n_metrics; m++)
        snapshot->values[snapshot_verdict(layout, scope, m)] = NAN;
    if (known) {
        int place = lasting->metric >= 0 ? layout->plan->place[lasting->metric] : (int)layout->n_metrics;
        snapshot->values[snapshot_verdict(layout, scope, (size_t)place)] = 1;
    }
    snapshot->values[snapshot_verdict_since(layout, scope)] = lasting->since.seconds;
    snapshot->values[snapshot_verdict_unseen(layout, scope)] =
        lasting->since.at_least && !isnan(lasting->since.seconds) ? 1 : (double)NAN;
    snapshot->values[snapshot_verdict_certain(layout, scope)] = known ? (double)lasting->certain : (double)NAN;
}

// ---- the verdicts of a snapshot ----

static void judge_scope(struct diagnosis *diagnosis, struct snapshot *snapshot, size_t scope, bool settles) {
    struct course *course = &diagnosis->courses[scope];
    struct verdict_scope *verdict = &snapshot->verdicts[scope];
    tree_evaluate(diagnosis->tree, snapshot, scope);
    verdict->now = bound_find(diagnosis->tree);
    int metric = verdict_metric(&verdict->now);
    verdict->now.since = settles ? course_take(course, metric, snapshot) : course_look(course, metric, snapshot);
    verdict->lasting = lasting_of(diagnosis, scope, &verdict->now);
    write_lasting(&verdict->lasting, scope, snapshot);
}

void diagnosis_look(struct diagnosis *diagnosis, struct snapshot *snapshot) {
    assert(snapshot->layout == diagnosis->layout);
    around_fill(diagnosis->around, diagnosis->tree, snapshot, false);
    for (size_t scope = 0; scope < n_courses(diagnosis); scope++)
        judge_scope(diagnosis, snapshot, scope, false);
    snapshot->circumstances.phases = phases_tell(&diagnosis->phases);
}

// ---- what stays high ----

// Thresholds may look for values that are too small or too large, so both directions are tried.
static void node_take(struct node *node, struct judge *judge, unsigned metric) {
    enum judge_answer now = judge_high(judge, metric);
    if (now == JUDGE_UNKNOWN)
        return;
    enum judge_answer larger = judge_high_scaled(judge, metric, 1 / DIAGNOSIS_LOW_SHARE),
                      smaller = judge_high_scaled(judge, metric, DIAGNOSIS_LOW_SHARE);
    if (!isnan(judge_value(judge, metric)))
        node->value = judge_value(judge, metric);
    node->rounds_high = now == JUDGE_YES ? node->rounds_high + 1 : 0;
    if (now == JUDGE_NO && larger == JUDGE_NO && smaller == JUDGE_NO)
        node->rounds_low++;
    else if (now == JUDGE_YES || larger == JUDGE_YES || smaller == JUDGE_YES)
        node->rounds_low = 0;
    if (node->rounds_high >= DIAGNOSIS_ROUNDS_HIGH)
        node->high = true;
    else if (node->rounds_low >= DIAGNOSIS_ROUNDS_LOW)
        node->high = false;
}

// ---- of a round ----

void diagnosis_round(struct diagnosis *diagnosis, struct snapshot *snapshot) {
    if (snapshot->within_round) {
        diagnosis_look(diagnosis, snapshot);
        phases_watch(&diagnosis->phases, &snapshot->verdicts[0].now, snapshot->start_ns, snapshot->end_ns);
        return;
    }
    assert(snapshot->layout == diagnosis->layout);
    around_fill(diagnosis->around, diagnosis->tree, snapshot, true);
    for (size_t scope = n_courses(diagnosis); scope-- > 0;) // the host last: its nodes are used below
        judge_scope(diagnosis, snapshot, scope, true);
    phases_take(&diagnosis->phases, diagnosis->tree, &snapshot->verdicts[0].now, snapshot->start_ns, snapshot->end_ns);
    snapshot->circumstances.phases = phases_tell(&diagnosis->phases);
    for (unsigned m = 0; m < diagnosis->layout->catalog->n_metrics; m++)
        if (diagnosis->nodes[m].judged)
            node_take(&diagnosis->nodes[m], diagnosis->tree->judge, m);
}

bool diagnosis_high(const struct diagnosis *diagnosis, unsigned metric) { return diagnosis->nodes[metric].high; }

double diagnosis_value(const struct diagnosis *diagnosis, unsigned metric) { return diagnosis->nodes[metric].value; }

// ---- making ----

struct diagnosis *diagnosis_new(struct snapshot_layout *layout) {
    const struct catalog *catalog = layout->catalog;
    struct diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
    if (!diagnosis)
        return NULL;
    diagnosis->layout = snapshot_layout_ref(layout);
    diagnosis->tree = tree_new(layout);
    diagnosis->around = around_new(layout, false);
    diagnosis->nodes = calloc(catalog->n_metrics + 1, sizeof *diagnosis->nodes);
    diagnosis->courses = calloc(n_courses(diagnosis), sizeof *diagnosis->courses);
    if (!diagnosis->tree || !diagnosis->around || !diagnosis->nodes || !diagnosis->courses)
        return diagnosis_free(diagnosis);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        diagnosis->nodes[m].value = NAN;
    for (size_t i = 0; i < catalog->n_nodes; i++) {
        unsigned metric = catalog->nodes[i].metric;
        diagnosis->nodes[metric].judged = judge_can(diagnosis->tree->judge, metric);
    }
    for (size_t scope = 0; scope < n_courses(diagnosis); scope++)
        course_begin(&diagnosis->courses[scope]);
    return diagnosis;
}

struct diagnosis *diagnosis_free(struct diagnosis *diagnosis) {
    if (diagnosis) {
        free(diagnosis->courses);
        free(diagnosis->nodes);
        around_free(diagnosis->around);
        tree_free(diagnosis->tree);
        snapshot_layout_unref(diagnosis->layout);
        free(diagnosis);
    }
    return NULL;
}

// The metric of another catalog that is this one's; -1: it has none.
static int same_metric(const struct catalog *catalog, unsigned metric, const struct catalog *other) {
    return catalog == other ? (int)metric : catalog_find_metric(other, catalog->metrics[metric].name);
}

// A verdict on a metric that is no longer there is none.
static struct spell continue_spell(struct spell spell, const struct catalog *before, const struct catalog *catalog) {
    int metric = spell.metric < 0 ? spell.metric : same_metric(before, (unsigned)spell.metric, catalog);
    if (spell.metric >= 0 && metric < 0)
        return NO_SPELL;
    spell.metric = metric;
    return spell;
}

static void continue_course(struct course *course, const struct course *old, const struct catalog *before,
                            const struct catalog *catalog) {
    *course = *old;
    course->held = continue_spell(old->held, before, catalog);
    course->rival = continue_spell(old->rival, before, catalog);
}

void diagnosis_continue(struct diagnosis *diagnosis, const struct diagnosis *old) {
    const struct topology *topology = diagnosis->layout->topology, *before = old->layout->topology;
    const struct catalog *catalog = diagnosis->layout->catalog, *old_catalog = old->layout->catalog;
    for (unsigned m = 0; m < catalog->n_metrics; m++) {
        int metric = same_metric(catalog, m, old_catalog);
        if (metric < 0)
            continue;
        bool judged = diagnosis->nodes[m].judged;
        diagnosis->nodes[m] = old->nodes[metric];
        diagnosis->nodes[m].judged = judged;
    }
    around_continue(diagnosis->around, old->around);
    continue_course(&diagnosis->courses[0], &old->courses[0], old_catalog, catalog);
    if (old_catalog == catalog)
        diagnosis->phases = old->phases;
    for (size_t s = 0; s < topology->n_sockets; s++)
        for (size_t b = 0; b < before->n_sockets; b++)
            if (before->sockets[b].id == topology->sockets[s].id)
                continue_course(&diagnosis->courses[1 + s], &old->courses[1 + b], old_catalog, catalog);
}

// ---- beyond the end of the process ----

static const char *name_of(const struct catalog *catalog, int metric) {
    return metric >= 0 ? catalog->metrics[metric].name : "";
}

void diagnosis_keep(const struct diagnosis *diagnosis, const char *type, struct kept_verdicts *out) {
    const struct catalog *catalog = diagnosis->layout->catalog;
    for (size_t scope = 0; scope < n_courses(diagnosis) && out->n < KEPT_VERDICTS_MAX; scope++) {
        const struct course *course = &diagnosis->courses[scope];
        const struct spell *held = &course->held;
        if (held->metric == VERDICT_NOT_KNOWN || isnan(held->since.seconds) || strlen(type) >= KEPT_TYPE_MAX ||
            strlen(name_of(catalog, held->metric)) >= KEPT_METRIC_MAX)
            continue;
        struct kept_verdict *kept = &out->all[out->n++];
        *kept = (struct kept_verdict){.socket = scope > 0 ? (long)diagnosis->layout->topology->sockets[scope - 1].id
                                                          : KEPT_HOST,
                                      .since_seconds = held->since.seconds,
                                      .unwatched_seconds = held->since.unwatched_seconds,
                                      .at_least = held->since.at_least,
                                      .known_ns = course->known_ns};
        strcpy(kept->type, type);
        strcpy(kept->metric, name_of(catalog, held->metric));
    }
}

// What is of another time than the time before this snapshot is not believed.
static void restore_course(struct course *course, const struct catalog *catalog, const struct kept_verdict *kept,
                           const struct snapshot *snapshot) {
    int metric = kept->metric[0] ? catalog_find_metric(catalog, kept->metric) : VERDICT_NOTHING_HIGH;
    bool past = kept->known_ns <= snapshot->start_ns && kept->since_seconds >= 0 &&
                kept->since_seconds <= snapshot->taken_seconds;
    if (course->held.metric != VERDICT_NOT_KNOWN || (kept->metric[0] && metric < 0) || !past ||
        snapshot->start_ns - kept->known_ns > DIAGNOSIS_KEEP_NS)
        return;
    double unwatched_ns = (double)(snapshot->start_ns - kept->known_ns);
    course->held = (struct spell){.metric = metric,
                                  .since = {.seconds = kept->since_seconds,
                                            .unwatched_seconds = kept->unwatched_seconds + unwatched_ns * 1e-9,
                                            .at_least = kept->at_least}};
    course->known_ns = snapshot->start_ns;
}

void diagnosis_restore(struct diagnosis *diagnosis, const char *type, const struct kept_verdicts *kept,
                       const struct snapshot *snapshot) {
    const struct topology *topology = diagnosis->layout->topology;
    for (size_t i = 0; i < kept->n; i++)
        for (size_t scope = 0; scope < n_courses(diagnosis); scope++) {
            long socket = scope > 0 ? (long)topology->sockets[scope - 1].id : KEPT_HOST;
            if (kept->all[i].socket == socket && strcmp(kept->all[i].type, type) == 0)
                restore_course(&diagnosis->courses[scope], diagnosis->layout->catalog, &kept->all[i], snapshot);
        }
}
