// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/diagnosis.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/bound.h"

// In place of a metric: no node is high; nothing is known.
enum { NOTHING_HIGH = -1, NOTHING_KNOWN = -2 };

struct verdict {
    int metric; // of the catalog: the last node of the path, which identifies the path
    double since_seconds;
    double unwatched_seconds; // of the time since then, in which topdownd did not run
    bool at_least;            // its beginning was not seen
};

static const struct verdict NO_VERDICT = {.metric = NOTHING_KNOWN, .since_seconds = NAN};

// The history of one scope.
struct course {
    struct verdict held, rival; // the lasting verdict; another one seen for `rounds` rounds in a row
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
    struct node *nodes;     // by catalog metric
    struct course *courses; // the host's, then each socket's
};

static size_t n_courses(const struct diagnosis *diagnosis) { return 1 + diagnosis->layout->topology->n_sockets; }

// ---- since when ----

static int verdict_of(const struct tree *tree, const struct bound *bound) {
    if (bound->n == 0)
        return NOTHING_KNOWN;
    return bound->exceeded == JUDGE_YES ? (int)tree->nodes[bound->path[bound->n - 1]].metric : NOTHING_HIGH;
}

static int verdict_now(const struct tree *tree) {
    struct bound bound = bound_find(tree);
    return verdict_of(tree, &bound);
}

static void course_begin(struct course *course) {
    *course = (struct course){.held = NO_VERDICT, .rival = NO_VERDICT, .unseen = true};
}

static double now_of(const struct snapshot *snapshot) {
    return snapshot->values[snapshot_self(snapshot->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)];
}

// Takes the verdict of a round, and returns it with the time since which it holds.
static struct verdict course_take(struct course *course, int metric, const struct snapshot *snapshot) {
    if (metric == NOTHING_KNOWN)
        return NO_VERDICT;
    if (snapshot->start_ns > course->known_ns && snapshot->start_ns - course->known_ns > DIAGNOSIS_FORGET_NS)
        course_begin(course);
    bool unseen = course->unseen;
    course->known_ns = snapshot->end_ns;
    course->unseen = false;
    if (metric == course->held.metric) {
        course->rival.metric = NOTHING_KNOWN;
        return course->held;
    }
    if (metric != course->rival.metric) {
        course->rival = (struct verdict){.metric = metric, .since_seconds = now_of(snapshot), .at_least = unseen};
        course->rounds = 0;
    }
    struct verdict rival = course->rival;
    if (++course->rounds == DIAGNOSIS_ROUNDS_HIGH || course->held.metric == NOTHING_KNOWN) {
        course->held = rival;
        course->rival.metric = NOTHING_KNOWN;
    }
    return rival;
}

// The same for a verdict that was found within a round: the round decides whether it lasts.
static struct verdict course_look(const struct course *course, int metric, const struct snapshot *snapshot) {
    if (metric == NOTHING_KNOWN)
        return NO_VERDICT;
    if (metric == course->held.metric)
        return course->held;
    return metric == course->rival.metric
               ? course->rival
               : (struct verdict){.metric = metric, .since_seconds = now_of(snapshot), .at_least = course->unseen};
}

// Writes since when the scope has the verdict of this round.
static void write_since(const struct verdict *verdict, size_t scope, struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    bool known = !isnan(verdict->since_seconds);
    snapshot->values[snapshot_bound_since(layout, scope)] = verdict->since_seconds;
    snapshot->values[snapshot_bound_at_least(layout, scope)] = known ? (double)verdict->at_least : (double)NAN;
    snapshot->values[snapshot_bound_unwatched(layout, scope)] = known ? verdict->unwatched_seconds : (double)NAN;
}

// ---- the lasting verdict ----

// True if the intervals leave no doubt of the scope's verdict: another value within them gives the same one.
static bool certain(const struct tree *tree, const struct bound *bound) {
    if (bound->close < tree->n || bound->exceeded == JUDGE_UNKNOWN)
        return false;
    bool nothing = bound->exceeded == JUDGE_NO;
    for (size_t i = 0; nothing && i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].category == tree->nodes[0].category && judge_can(tree->judge, tree->nodes[i].metric) &&
            judge_certain(tree->judge, tree->nodes[i].metric) != JUDGE_YES)
            return false;
    for (size_t i = 0; !nothing && i < bound->n; i++)
        if (judge_certain(tree->judge, tree->nodes[bound->path[i]].metric) != JUDGE_YES)
            return false;
    return true;
}

// Writes the scope's verdict, the one that lasts: a single noisy round does not show. Nothing where the round has none.
static void write_verdict(const struct diagnosis *diagnosis, size_t scope, struct snapshot *snapshot) {
    const struct snapshot_layout *layout = diagnosis->layout;
    const struct verdict *held = &diagnosis->courses[scope].held;
    struct bound bound = bound_find(diagnosis->tree);
    int now = verdict_of(diagnosis->tree, &bound);
    size_t place = layout->n_metrics;
    for (size_t m = 0; m <= layout->n_metrics; m++)
        snapshot->values[snapshot_verdict(layout, scope, m)] = NAN;
    snapshot->values[snapshot_verdict_since(layout, scope)] = NAN;
    snapshot->values[snapshot_verdict_unseen(layout, scope)] = NAN;
    snapshot->values[snapshot_verdict_certain(layout, scope)] = NAN;
    if (held->metric >= 0 && layout->plan->place[held->metric] < 0)
        return; // a new plan does not have it
    if (now == NOTHING_KNOWN || held->metric == NOTHING_KNOWN)
        return;
    if (held->metric >= 0)
        place = (size_t)layout->plan->place[held->metric];
    snapshot->values[snapshot_verdict(layout, scope, place)] = 1;
    snapshot->values[snapshot_verdict_since(layout, scope)] = held->since_seconds;
    if (held->at_least && !isnan(held->since_seconds))
        snapshot->values[snapshot_verdict_unseen(layout, scope)] = 1;
    snapshot->values[snapshot_verdict_certain(layout, scope)] =
        now == held->metric && certain(diagnosis->tree, &bound) ? 1 : 0;
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
    const struct snapshot_layout *layout = diagnosis->layout;
    assert(snapshot->layout == layout);
    for (size_t scope = n_courses(diagnosis); scope-- > 0;) { // the host last: its nodes are used below
        tree_evaluate(diagnosis->tree, snapshot, scope);
        struct course *course = &diagnosis->courses[scope];
        int metric = verdict_now(diagnosis->tree);
        struct verdict verdict =
            snapshot->within_round ? course_look(course, metric, snapshot) : course_take(course, metric, snapshot);
        write_since(&verdict, scope, snapshot);
        write_verdict(diagnosis, scope, snapshot);
    }
    if (snapshot->within_round)
        return;
    for (unsigned m = 0; m < layout->catalog->n_metrics; m++)
        if (diagnosis->nodes[m].judged)
            node_take(&diagnosis->nodes[m], diagnosis->tree->judge, m);
}

const struct tree *diagnosis_tree(const struct diagnosis *diagnosis) { return diagnosis->tree; }

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
    diagnosis->nodes = calloc(catalog->n_metrics + 1, sizeof *diagnosis->nodes);
    diagnosis->courses = calloc(n_courses(diagnosis), sizeof *diagnosis->courses);
    if (!diagnosis->tree || !diagnosis->nodes || !diagnosis->courses)
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
static struct verdict continue_verdict(struct verdict verdict, const struct catalog *before,
                                       const struct catalog *catalog) {
    int metric = verdict.metric < 0 ? verdict.metric : same_metric(before, (unsigned)verdict.metric, catalog);
    if (verdict.metric >= 0 && metric < 0)
        return NO_VERDICT;
    verdict.metric = metric;
    return verdict;
}

static void continue_course(struct course *course, const struct course *old, const struct catalog *before,
                            const struct catalog *catalog) {
    *course = *old;
    course->held = continue_verdict(old->held, before, catalog);
    course->rival = continue_verdict(old->rival, before, catalog);
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
    continue_course(&diagnosis->courses[0], &old->courses[0], old_catalog, catalog);
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
        const struct verdict *held = &course->held;
        if (held->metric == NOTHING_KNOWN || isnan(held->since_seconds) || strlen(type) >= KEPT_TYPE_MAX ||
            strlen(name_of(catalog, held->metric)) >= KEPT_METRIC_MAX)
            continue;
        struct kept_verdict *kept = &out->all[out->n++];
        *kept = (struct kept_verdict){.socket = scope > 0 ? (long)diagnosis->layout->topology->sockets[scope - 1].id
                                                          : KEPT_HOST,
                                      .since_seconds = held->since_seconds,
                                      .unwatched_seconds = held->unwatched_seconds,
                                      .at_least = held->at_least,
                                      .known_ns = course->known_ns};
        strcpy(kept->type, type);
        strcpy(kept->metric, name_of(catalog, held->metric));
    }
}

// What is of another time than the time before this snapshot is not believed.
static void restore_course(struct course *course, const struct catalog *catalog, const struct kept_verdict *kept,
                           const struct snapshot *snapshot) {
    int metric = kept->metric[0] ? catalog_find_metric(catalog, kept->metric) : NOTHING_HIGH;
    bool past =
        kept->known_ns <= snapshot->start_ns && kept->since_seconds >= 0 && kept->since_seconds <= now_of(snapshot);
    if (course->held.metric != NOTHING_KNOWN || (kept->metric[0] && metric < 0) || !past ||
        snapshot->start_ns - kept->known_ns > DIAGNOSIS_KEEP_NS)
        return;
    course->held = (struct verdict){.metric = metric,
                                    .since_seconds = kept->since_seconds,
                                    .unwatched_seconds =
                                        kept->unwatched_seconds + (double)(snapshot->start_ns - kept->known_ns) * 1e-9,
                                    .at_least = kept->at_least};
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
