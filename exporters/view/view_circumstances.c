// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_circumstances.h"

#include "exporters/view/view_bound.h"

static const double GIGA = 1e9;

// ---- CPUs that differ ----

static void put_outliers(const struct snapshot *snapshot, struct text *out) {
    const struct circumstances *circumstances = &snapshot->circumstances;
    for (size_t i = 0; i < circumstances->n_outliers; i++) {
        bool rest = circumstances->rest_is_fine && i + 1 == circumstances->n_outliers;
        view_bound_outliers(snapshot, &circumstances->outliers[i], out);
        text_string(out, rest ? "; the rest is fine. " : ". ");
    }
    if (circumstances->n_outliers > 0)
        text_string(out, "All CPUs together: ");
}

// ---- all CPUs ----

static void put_slow(const struct circumstances *circumstances, double maximum_hz, struct text *out) {
    text_format(out,
                "The clock is slow: the CPUs are %.0f %% busy and run at %.2f GHz of at most %.2f GHz. Look at power "
                "and temperature limits, and at the frequency governor.",
                100 * circumstances->utilisation, circumstances->hertz / GIGA, maximum_hz / GIGA);
}

static void put_crowded(const struct circumstances *circumstances, struct text *out) {
    text_format(out,
                "Each thread loses %.3g %% of its pipeline slots to its sibling of the same core (SMT): fewer threads "
                "would make each one faster. Whether all of them together then do as much, only a trial tells.",
                100 * circumstances->siblings);
}

static bool stands_out(const struct snapshot *snapshot) { return verdict_high(&snapshot->verdicts[0].now); }

// True if cores do as much as they can: else siblings use what would be empty.
static bool is_full(const struct snapshot *snapshot) {
    const struct catalog_level1 *level1 = &snapshot->layout->catalog->level1;
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    for (size_t i = 0; i < level1->n_categories; i++)
        if (level1->categories[i].category == CATEGORY_RETIRING && verdict->path[0] == level1->categories[i].metric)
            return stands_out(snapshot);
    return false;
}

// ---- before ----

static void put_root(const struct snapshot *snapshot, int metric, struct text *out) {
    text_string(out, metric >= 0 ? view_title(&snapshot->layout->catalog->metrics[metric]) : "nothing that stands out");
}

static void put_span(double seconds, struct text *out) {
    if (seconds < 120)
        text_format(out, "%.0f s", seconds);
    else
        text_format(out, "%.0f minutes", seconds / 60);
}

// By what the verdict that follows begins.
static int root_of(const struct snapshot *snapshot) {
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    return stands_out(snapshot) ? (int)verdict->path[0] : verdict->n > 0 ? VERDICT_NOTHING_HIGH : VERDICT_NOT_KNOWN;
}

static void put_phases(const struct snapshot *snapshot, struct text *out) {
    const struct verdict_phases *phases = &snapshot->circumstances.phases;
    if (phases->swings) {
        text_string(out, "It swings: ");
        put_root(snapshot, phases->usual, out);
        text_format(out, " in %.0f %% of the last ", 100 * phases->usual_share);
        put_span(phases->seconds, out);
        text_string(out, ", ");
        put_root(snapshot, phases->other, out);
        text_format(out, " in %.0f %%, with a change about every ", 100 * phases->other_share);
        put_span(phases->seconds / (phases->changes + 1), out);
        text_string(out, ". A mean describes neither. ");
    } else if (phases->now != phases->usual && phases->now == root_of(snapshot) && phases->usual_share > 0.5) {
        text_string(out, "Mostly ");
        put_root(snapshot, phases->usual, out);
        text_format(out, " (%.0f %% of the last ", 100 * phases->usual_share);
        put_span(phases->seconds, out);
        text_string(out, "); for ");
        put_span(phases->now_seconds, out);
        text_string(out, ": ");
    }
}

void view_circumstances_before(const struct snapshot *snapshot, struct text *out) {
    const struct circumstances *circumstances = &snapshot->circumstances;
    if (circumstances->idle)
        text_format(out, "%.2g %% busy: nothing to fix here. What runs: ", 100 * circumstances->utilisation);
    else
        put_outliers(snapshot, out);
    if (circumstances->slow && !stands_out(snapshot)) {
        put_slow(circumstances, snapshot->layout->topology->maximum_frequency_hz, out);
        text_string(out, " ");
    }
    put_phases(snapshot, out);
}

void view_circumstances_after(const struct snapshot *snapshot, struct text *out) {
    const struct circumstances *circumstances = &snapshot->circumstances;
    if (circumstances->slow && stands_out(snapshot)) {
        text_string(out, " ");
        put_slow(circumstances, snapshot->layout->topology->maximum_frequency_hz, out);
    }
    if (circumstances->crowded && !circumstances->idle && is_full(snapshot)) {
        text_string(out, " ");
        put_crowded(circumstances, out);
    }
}
