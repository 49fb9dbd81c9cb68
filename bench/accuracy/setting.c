// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "bench/accuracy/trial_state.h"

static unsigned most_cpus(void) {
    unsigned most = 0;
    for (size_t i = 0; i < load_n_kinds; i++)
        most = load_kinds[i].cpus > most ? load_kinds[i].cpus : most;
    return most;
}

static struct snapshot_layout *make_layout(struct plan *plan, size_t n_cpus) {
    struct snapshot_layout *layout = snapshot_layout_new(plan, trial_topology(n_cpus));
    if (!layout)
        abort();
    return layout;
}

void setting_init(struct setting *setting, struct plan *(*make_plan)(const void *context), const void *context) {
    setting->layouts[0] = make_layout(make_plan(context), setting->n_cpus);
    setting->plan = setting->layouts[0]->plan;
    if (setting->n_cpus > 1 && setting->n_cpus < most_cpus())
        setting->layouts[1] = make_layout(make_plan(context), most_cpus());
}

void setting_deinit(struct setting *setting) {
    for (size_t i = 0; i < SETTING_LAYOUTS_MAX; i++)
        snapshot_layout_unref(setting->layouts[i]);
}

struct snapshot_layout *setting_layout(const struct setting *setting, size_t n_cpus) {
    for (size_t i = 0; i < SETTING_LAYOUTS_MAX; i++)
        if (setting->layouts[i] && setting->layouts[i]->topology->n_cpus == n_cpus)
            return setting->layouts[i];
    abort();
}
