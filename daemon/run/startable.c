// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/startable.h"

static const uint64_t ROUND_NS_MAX = UINT64_C(43200000000000); // half a day

// A value needs a few rounds: nobody waits days for it.
static int check_rounds(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX], struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < setup->n_types; i++)
        if (plans[i] && plans[i]->round_ns >= ROUND_NS_MAX)
            r = errors_add(errors, NULL, 0, 0,
                           "profile %s: a round takes %.0f hours: make slot or idle smaller, or name fewer groups",
                           setup_profile_name(setup), (double)plans[i]->round_ns / 3600e9);
    return r;
}

int startable_make_plans(const struct setup *setup, struct errors *errors, struct plan *plans[SETUP_TYPES_MAX]) {
    int r = 0;
    for (size_t i = 0; i < setup->n_types && r >= 0; i++) {
        if (!setup->types[i].source->past.plan)
            r = setup_plan_stated(setup, &setup->types[i], errors, &plans[i]);
    }
    return r < 0 ? r : check_rounds(setup, plans, errors);
}

void startable_free_plans(struct plan *plans[SETUP_TYPES_MAX]) {
    for (size_t i = 0; i < SETUP_TYPES_MAX; i++)
        plan_free(plans[i]);
}

int startable_check(const struct setup *setup, struct errors *errors) {
    struct plan *plans[SETUP_TYPES_MAX] = {0};
    int r = startable_make_plans(setup, errors, plans);
    startable_free_plans(plans);
    return r;
}
