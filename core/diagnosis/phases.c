// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/phases.h"

#include <math.h>

#include "core/diagnosis/diagnosis.h"

static int root_of(const struct verdict *verdict) {
    return verdict_high(verdict) ? (int)verdict->path[0] : VERDICT_NOTHING_HIGH;
}

// True if the round leaves no doubt that the spell of `before` is over.
static bool is_clear(struct tree *tree, int before, int now) {
    if (before < 0)
        return judge_high_scaled(tree->judge, (unsigned)now, DIAGNOSIS_LOW_SHARE) == JUDGE_YES;
    if (now < 0)
        return judge_high_scaled(tree->judge, (unsigned)before, 1 / DIAGNOSIS_LOW_SHARE) == JUDGE_NO;
    return judge_value(tree->judge, (unsigned)now) >= judge_value(tree->judge, (unsigned)before) + PHASES_LARGER;
}

static struct phases_spell *newest_of(struct phases *phases) {
    return phases->n > 0 ? &phases->spells[phases->newest] : NULL;
}

void phases_watch(struct phases *phases, const struct verdict *verdict, uint64_t start_ns, uint64_t end_ns) {
    if (phases->n > 0 && verdict_metric(verdict) != VERDICT_NOT_KNOWN && start_ns <= phases->watched_ns)
        phases->watched_ns = end_ns;
}

static void begin_spell(struct phases *phases, const struct phases_spell *spell) {
    phases->newest = phases->n == 0 ? 0 : (phases->newest + 1) % PHASES_SPELLS;
    phases->n += phases->n < PHASES_SPELLS;
    phases->spells[phases->newest] = *spell;
}

void phases_take(struct phases *phases, struct tree *tree, const struct verdict *verdict, uint64_t start_ns,
                 uint64_t end_ns) {
    struct phases_spell *newest = newest_of(phases);
    struct phases_spell next = {.metric = root_of(verdict), .begun_ns = start_ns, .ended_ns = end_ns};
    if (verdict_metric(verdict) == VERDICT_NOT_KNOWN)
        return;
    bool gap = newest && start_ns > phases->watched_ns;
    bool forgotten = gap && start_ns - newest->ended_ns > DIAGNOSIS_FORGET_NS;
    phases->watched_ns = end_ns;
    if (newest && !forgotten && (newest->metric == next.metric || !is_clear(tree, newest->metric, next.metric))) {
        if (!gap) {
            newest->ended_ns = end_ns;
            return;
        }
        next.metric = newest->metric;
        next.resumed = true;
    } else if (newest && !gap) {
        next.begun_ns = newest->ended_ns;
    }
    begin_spell(phases, &next);
}

// The i-th last spell.
static const struct phases_spell *spell_of(const struct phases *phases, size_t i) {
    return &phases->spells[(phases->newest + PHASES_SPELLS - i) % PHASES_SPELLS];
}

static uint64_t length_of(const struct phases_spell *spell, uint64_t from_ns) {
    return spell->ended_ns - (spell->begun_ns > from_ns ? spell->begun_ns : from_ns);
}

static uint64_t time_of(const struct phases *phases, size_t n, int metric, uint64_t from_ns) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < n; i++)
        sum_ns += spell_of(phases, i)->metric == metric ? length_of(spell_of(phases, i), from_ns) : 0;
    return sum_ns;
}

// The metric that was longest, other than `but`.
static int longest_of(const struct phases *phases, size_t n, uint64_t from_ns, int but, uint64_t *ns) {
    int found = VERDICT_NOT_KNOWN;
    *ns = 0;
    for (size_t i = 0; i < n; i++) {
        int metric = spell_of(phases, i)->metric;
        uint64_t each_ns = time_of(phases, n, metric, from_ns);
        if (metric != but && each_ns > *ns) {
            found = metric;
            *ns = each_ns;
        }
    }
    return found;
}

// For how long the newest one has held, of the time with a verdict.
static uint64_t newest_ns(const struct phases *phases) {
    uint64_t sum_ns = length_of(spell_of(phases, 0), 0);
    for (size_t i = 0; i + 1 < phases->n && spell_of(phases, i)->resumed; i++)
        sum_ns += length_of(spell_of(phases, i + 1), 0);
    return sum_ns;
}

// How often another root took over.
static unsigned changes_of(const struct phases *phases, size_t n) {
    unsigned changes = 0;
    for (size_t i = 0; i + 1 < n; i++)
        changes += spell_of(phases, i)->metric != spell_of(phases, i + 1)->metric;
    return changes;
}

struct verdict_phases phases_tell(const struct phases *phases) {
    struct verdict_phases told = verdict_phases_unknown();
    if (phases->n == 0)
        return told;
    const struct phases_spell *newest = spell_of(phases, 0);
    uint64_t from_ns = newest->ended_ns > PHASES_NS ? newest->ended_ns - PHASES_NS : 0, usual_ns, other_ns, all_ns = 0;
    size_t n = 1;
    while (n < phases->n && spell_of(phases, n)->ended_ns > from_ns)
        n++;
    for (size_t i = 0; i < n; i++)
        all_ns += length_of(spell_of(phases, i), from_ns);
    told.usual = longest_of(phases, n, from_ns, VERDICT_NOT_KNOWN, &usual_ns);
    told.other = longest_of(phases, n, from_ns, told.usual, &other_ns);
    told.now = newest->metric;
    told.seconds = (double)all_ns * 1e-9;
    told.now_seconds = (double)newest_ns(phases) * 1e-9;
    told.usual_share = (double)usual_ns / (double)all_ns;
    told.other_share = (double)other_ns / (double)all_ns;
    told.changes = changes_of(phases, n);
    told.swings = told.changes >= PHASES_CHANGES && told.other_share >= PHASES_SWINGS;
    return told;
}
