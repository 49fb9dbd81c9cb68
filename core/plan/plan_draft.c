// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_draft.h"

#include <errno.h>

int plan_draft_add(struct plan_draft *draft, struct plan_set *set, unsigned event) {
    if (draft->catalog->events[event].kind != EVENT_COUNTED)
        return 0;
    int *bit = &draft->bit_of[event];
    if (*bit < 0) {
        if (draft->n_events == PLAN_PACK_EVENTS_MAX)
            return -E2BIG;
        *bit = (int)draft->n_events;
        struct event_need *need = &draft->needs[draft->n_events];
        *need = draft->plan->needs[event];
        need->free = need->free || (draft->led && draft->catalog->events[event].topdown);
        draft->event_of[draft->n_events++] = event;
    }
    set->words[*bit / 64] |= UINT64_C(1) << (*bit % 64);
    return 0;
}

bool plan_draft_fits(const struct plan_draft *draft, const struct plan_set *set, struct fit_reason *why) {
    unsigned bits[PLAN_PACK_EVENTS_MAX];
    size_t n = 0;
    for (unsigned bit = 0; bit < draft->n_events; bit++)
        if (plan_set_has(set, bit))
            bits[n++] = bit;
    bool fits = fit_check(&draft->pmu, draft->needs, bits, n, why);
    for (size_t i = 0; !fits && why && i < why->n; i++)
        why->events[i] = draft->event_of[why->events[i]];
    return fits;
}
