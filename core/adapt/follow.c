// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/follow.h"

#include <string.h>

#include "core/base/hash.h"

void follow_init(struct follow *follow, unsigned stated) {
    *follow = (struct follow){.counters = stated, .most_counters = stated, .probe = backoff_begin(0)};
}

// Sets the bits of event groups that were open on a CPU.
static void take_windows(struct follow *follow, const struct readings *readings) {
    uint64_t starved[FOLLOW_WORDS] = {0}, ran[FOLLOW_WORDS] = {0};
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        uint64_t bit = UINT64_C(1) << (window->group % 64);
        if (window->group < FOLLOW_GROUPS_MAX && window->running_ns > 0)
            ran[window->group / 64] |= bit;
        else if (window->group < FOLLOW_GROUPS_MAX && window->result == WINDOW_STARVED)
            starved[window->group / 64] |= bit;
    }
    for (size_t w = 0; w < FOLLOW_WORDS; w++) {
        uint64_t known = starved[w] | ran[w];
        follow->starved[w] = (follow->starved[w] & ~known) | (starved[w] & ~ran[w]);
        follow->ran[w] = (follow->ran[w] & ~known) | ran[w];
    }
}

void follow_plan_changed(struct follow *follow) {
    memset(follow->starved, 0, sizeof follow->starved);
    memset(follow->ran, 0, sizeof follow->ran);
}

bool follow_some_run(const struct follow *follow) {
    uint64_t ran = 0;
    for (size_t w = 0; w < FOLLOW_WORDS; w++)
        ran |= follow->ran[w];
    return ran != 0;
}

// Other event groups than at the last probe, or after a calm time: others have taken counters just now.
static bool is_news(const struct follow *follow, uint64_t now_ns) {
    return follow->starving_groups != follow->probed_groups || now_ns - follow->starved_ns > backoff_ns(follow->probe);
}

void follow_round(struct follow *follow, const struct readings *readings) {
    take_windows(follow, readings);
    follow->starving = false;
    for (size_t w = 0; w < FOLLOW_WORDS; w++)
        follow->starving = follow->starving || follow->starved[w] != 0;
    uint64_t groups = hash_bytes(HASH_BEGIN, follow->starved, sizeof follow->starved);
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
