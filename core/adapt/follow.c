// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/follow.h"

#include <string.h>

#include "core/base/hash.h"

void follow_init(struct follow *follow, unsigned stated) {
    *follow = (struct follow){.counters = stated, .most_counters = stated, .probe = backoff_begin(0)};
}

static void note_windows(struct follow *follow, const struct readings *readings) {
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        uint64_t bit = UINT64_C(1) << (window->group % 64);
        if (window->group < FOLLOW_GROUPS_MAX && window->running_ns > 0)
            follow->round_ran[window->group / 64] |= bit;
        else if (window->group < FOLLOW_GROUPS_MAX && window->result == WINDOW_STARVED)
            follow->round_starved[window->group / 64] |= bit;
    }
}

// Takes the windows noted since the last time: those of event groups that were open on a CPU.
static void take_windows(struct follow *follow) {
    for (size_t w = 0; w < FOLLOW_WORDS; w++) {
        uint64_t starved = follow->round_starved[w], ran = follow->round_ran[w], known = starved | ran;
        follow->starved[w] = (follow->starved[w] & ~known) | (starved & ~ran);
        follow->ran[w] = (follow->ran[w] & ~known) | ran;
        follow->round_starved[w] = follow->round_ran[w] = 0;
    }
}

void follow_plan_changed(struct follow *follow) {
    memset(follow->starved, 0, sizeof follow->starved);
    memset(follow->ran, 0, sizeof follow->ran);
    memset(follow->round_starved, 0, sizeof follow->round_starved);
    memset(follow->round_ran, 0, sizeof follow->round_ran);
    follow->starving = false;
    follow->starving_groups = 0;
}

bool follow_some_run(const struct follow *follow, const struct plan *plan) {
    bool some = false;
    for (unsigned g = 0; g < plan->n_groups && g < FOLLOW_GROUPS_MAX && !some; g++)
        some = !plan_group_stands(plan, g) && (follow->ran[g / 64] >> (g % 64) & 1) != 0;
    return some;
}

// Other event groups than at the last probe, or after a calm time: others have taken counters just now.
static bool is_news(const struct follow *follow, uint64_t now_ns) {
    return follow->starving_groups != follow->probed_groups || now_ns - follow->starved_ns > backoff_ns(follow->probe);
}

void follow_round(struct follow *follow, const struct readings *readings) {
    note_windows(follow, readings);
    if (readings->by_core && !readings->round_over)
        return;
    take_windows(follow);
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
