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

// Makes the slots of the longest plan so short that a round takes that time.
static int shorten_slots(struct setup *setup, double round_ns, struct errors *errors) {
    double slot_ns = 0;
    for (size_t i = 0; i < setup->n_types; i++) {
        struct plan *plan;
        int r = setup_plan_stated(setup, &setup->types[i], errors, &plan);
        if (r < 0)
            return r;
        double shorter = (double)plan->slot_ns * round_ns / (double)plan->round_ns;
        if (plan_n_rotating(plan) > 0 && (double)plan->round_ns > round_ns && (slot_ns == 0 || shorter < slot_ns))
            slot_ns = shorter;
        plan_free(plan);
    }
    if (slot_ns > 0)
        config_adjust_slot(setup->config, setup->profile, (uint64_t)fmax(slot_ns, SLOT_NS_MIN));
    return 0;
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
