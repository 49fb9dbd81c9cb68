// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/follow.h"

#include "core/base/hash.h"

void follow_init(struct follow *follow, unsigned stated) {
    *follow = (struct follow){.counters = stated, .most_counters = stated, .probe = backoff_begin(0)};
}

bool follow_group_starved(unsigned group, const struct readings *readings) {
    bool starved = false;
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        if (window->group == group && window->running_ns > 0)
            return false;
        starved = starved || (window->group == group && window->result == WINDOW_STARVED);
    }
    return starved;
}

// Other event groups than at the last probe, or after a calm time: others have taken counters just now.
static bool is_news(const struct follow *follow, uint64_t now_ns) {
    return follow->starving_groups != follow->probed_groups || now_ns - follow->starved_ns > backoff_ns(follow->probe);
}

void follow_round(struct follow *follow, const struct plan *plan, const struct readings *readings) {
    uint64_t groups = HASH_BEGIN;
    follow->starving = false;
    for (unsigned g = 0; g < plan->n_groups; g++) {
        if (!follow_group_starved(g, readings))
            continue;
        follow->starving = true;
        groups = hash_bytes(groups, &g, sizeof g);
    }
    follow->starving_groups = follow->starving ? groups : 0;
    if (!follow->starving)
        return;
    if (is_news(follow, readings->end_ns))
        follow->probe = backoff_begin(follow->probe.looked_ns);
    follow->starved_ns = readings->end_ns;
}

bool follow_should_probe(const struct follow *follow, uint64_t now_ns) {
    bool missed = follow->starving || follow->counters < follow->most_counters;
    return follow->counters > 0 && missed && backoff_is_over(follow->probe, now_ns);
}

bool follow_answer(struct follow *follow, int counters, uint64_t now_ns) {
    bool changed = counters > 0 && (unsigned)counters != follow->counters;
    follow->probe = changed ? backoff_begin(now_ns) : backoff_again(follow->probe, now_ns);
    follow->probed_groups = follow->starving_groups;
    if (!changed)
        return false;
    follow->counters = (unsigned)counters;
    if (follow->counters > follow->most_counters)
        follow->most_counters = follow->counters;
    return true;
}
