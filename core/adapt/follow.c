// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/follow.h"

static const uint64_t STARVED_PROBE_NS = UINT64_C(10000000000);
static const uint64_t GROW_PROBE_NS = UINT64_C(60000000000);

void follow_init(struct follow *follow, unsigned stated) {
    *follow = (struct follow){.counters = stated, .most_counters = stated};
}

static bool group_starved(unsigned group, const struct readings *readings) {
    bool starved = false;
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        if (window->group == group && window->running_ns > 0)
            return false;
        starved = starved || (window->group == group && window->result == WINDOW_STARVED);
    }
    return starved;
}

void follow_round(struct follow *follow, const struct plan *plan, const struct readings *readings) {
    follow->starving = false;
    for (unsigned g = 0; g < plan->n_groups && !follow->starving; g++)
        follow->starving = group_starved(g, readings);
}

bool follow_should_probe(const struct follow *follow, uint64_t now_ns) {
    if (follow->counters == 0)
        return false;
    return (follow->starving && now_ns - follow->probed_ns > STARVED_PROBE_NS) ||
           (follow->counters < follow->most_counters && now_ns - follow->probed_ns > GROW_PROBE_NS);
}

bool follow_answer(struct follow *follow, int counters, uint64_t now_ns) {
    follow->probed_ns = now_ns;
    if (counters <= 0 || (unsigned)counters == follow->counters)
        return false;
    follow->counters = (unsigned)counters;
    if (follow->counters > follow->most_counters)
        follow->most_counters = follow->counters;
    return true;
}
