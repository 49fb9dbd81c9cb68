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

// The longest round of the types' plans, and the length of its slots. 0: nothing rotates.
static int longest_round(const struct setup *setup, struct errors *errors, double *round_ns, double *slot_ns) {
    *round_ns = *slot_ns = 0;
    for (size_t i = 0; i < setup->n_types; i++) {
        struct plan *plan;
        int r = setup_plan_stated(setup, &setup->types[i], errors, &plan);
        if (r < 0)
            return r;
        if (plan_n_rotating(plan) > 0 && (double)plan->round_ns > *round_ns) {
            *round_ns = (double)plan->round_ns;
            *slot_ns = (double)plan->slot_ns;
        }
        plan_free(plan);
    }
    return 0;
}

// Makes slots so short that a round takes about that time. It takes a second at least: then it has more slots.
static int shorten_slots(struct setup *setup, double wanted_ns, struct errors *errors) {
    double round_ns, slot_ns;
    int r = longest_round(setup, errors, &round_ns, &slot_ns);
    if (r == 0 && round_ns > wanted_ns)
        config_adjust_slot(setup->config, setup->profile, (uint64_t)fmax(slot_ns * wanted_ns / round_ns, SLOT_NS_MIN));
    return r;
}

int quick_setup_new(const struct options *options, struct errors *errors, struct setup **out) {
    struct options own = *options;
    struct setup *setup;
    own.measure.snapshot_seconds = round_seconds(options);
    int r = load_setup(&own, errors, &setup);
    if (r < 0)
        return r;
    setup->record_path = NULL;
    setup->textfile.folder = NULL;
    setup->quiet = true;
    r = shorten_slots(setup, own.measure.snapshot_seconds * SECOND_NS, errors);
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
