// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/quick_setup.h"

#include <math.h>

#include "config/yaml/config_adjust.h"
#include "daemon/measure/session.h"
#include "daemon/run/load.h"

static const double SECOND_NS = 1e9, SNAPSHOT_MIN = 0.2, SNAPSHOT_MAX = 2; // seconds
static const double SLOT_NS_MIN = 20e6;                                    // a shorter one costs more than it tells

// How long a round may be.
static double round_seconds(const struct options *options) {
    double seconds = options->measure.seconds > 0 ? options->measure.seconds : SESSION_SECONDS;
    double round = fmin(fmax(seconds / SESSION_ROUNDS, SNAPSHOT_MIN), SNAPSHOT_MAX);
    double interval = options->measure.interval_seconds;
    return interval > 0 ? interval / ceil(interval / round) : round; // intervals end with rounds
}

struct longest {
    double round_ns, idle_ns, slot_ns; // 0: nothing rotates
};

// The longest round of the types' plans.
static int longest_round(const struct setup *setup, struct errors *errors, struct longest *longest) {
    *longest = (struct longest){0};
    for (size_t i = 0; i < setup->n_types; i++) {
        struct plan *plan;
        int r = setup_plan_stated(setup, &setup->types[i], errors, &plan);
        if (r < 0)
            return r;
        if (plan_n_rotating(plan) > 0 && (double)plan->round_ns > longest->round_ns)
            *longest = (struct longest){(double)plan->round_ns, (double)plan->idle_ns, (double)plan->slot_ns};
        plan_free(plan);
    }
    return 0;
}

// Makes the longest round last as long as is wanted: as many times all event groups as fit in, in slots that fill it.
// It lasts longer only where slots would be too short. The second that a daemon's rounds last at least is not for those
// who wait for an answer.
static int fit_rounds(struct setup *setup, double wanted_ns, struct errors *errors) {
    struct longest longest;
    setup->round_least_ns = 1;
    int r = longest_round(setup, errors, &longest);
    if (r < 0 || longest.round_ns == 0)
        return r;
    double times = fmax(floor(wanted_ns / longest.round_ns), 1);
    double slot_ns = fmax(longest.slot_ns * wanted_ns / times / longest.round_ns, SLOT_NS_MIN);
    double busy_ns = (longest.round_ns - longest.idle_ns) * slot_ns / longest.slot_ns;
    config_adjust_slot(setup->config, setup->profile, (uint64_t)slot_ns);
    setup->round_least_ns = (uint64_t)(busy_ns * (times - 0.5)); // a round may have a few slots more or less
    return 0;
}

int quick_setup_new(const struct options *options, struct errors *errors, struct setup **out) {
    struct options own = *options;
    struct setup *setup;
    own.measure.snapshot_seconds = round_seconds(options);
    int r = load_setup(&own, errors, &setup);
    if (r < 0)
        return r;
    setup_write_nothing(setup);
    setup->quiet = true;
    setup->whole_rounds = options->measure.interval_seconds > 0; // an interval is what was counted in it
    setup->many_rounds = setup->chosen_only = true;
    r = fit_rounds(setup, own.measure.snapshot_seconds * SECOND_NS, errors);
    if (r < 0)
        load_free(setup);
    else
        *out = setup;
    return r;
}

void quick_setup_groups(const struct setup *setup, struct text *out) {
    for (size_t i = 0; i < setup->profile->n_groups; i++)
        if (!setup->profile->groups[i].weight_only)
            text_format(out, "%s%s", out->length > 0 ? "," : "", setup->profile->groups[i].name);
}
