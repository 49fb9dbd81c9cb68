// SPDX-License-Identifier: Apache-2.0
#include "core/uncore/uncore_place.h"

#include <stdlib.h>

static bool same(int a, int b) { return a >= 0 && a == b; }

bool uncore_place_same(const struct uncore_place *a, const struct uncore_place *b, enum uncore_part part) {
    switch (part) {
    case UNCORE_PART_PACKAGE:
        return same(a->package, b->package);
    case UNCORE_PART_DIE:
        return same(a->package, b->package) && same(a->die, b->die);
    case UNCORE_PART_NODE:
        return same(a->node, b->node);
    case UNCORE_PART_CACHE:
        return same(a->package, b->package) && same(a->cache, b->cache);
    case UNCORE_PART_CORE:
        return same(a->package, b->package) && a->die == b->die && same(a->core, b->core);
    case UNCORE_PART_HOST:
    case UNCORE_PARTS_N:
        break;
    }
    return true;
}

static bool are_apart(const struct uncore_mask *mask, enum uncore_part part) {
    bool apart = true;
    for (size_t i = 0; i < mask->n && apart; i++) {
        apart = uncore_place_same(&mask->places[i], &mask->places[i], part); // it is known
        for (size_t k = 0; k < i && apart; k++)
            apart = !uncore_place_same(&mask->places[i], &mask->places[k], part);
    }
    return apart;
}

static bool has_all(const struct cpuset *set, const struct cpuset *cpus) {
    bool all = true;
    for (size_t i = 0; i < sizeof set->words / sizeof *set->words; i++)
        all = all && (cpus->words[i] & ~set->words[i]) == 0;
    return all;
}

enum uncore_part uncore_mask_part(const struct uncore_mask *mask, const struct cpuset *online) {
    for (int part = UNCORE_PARTS_N - 1; part > UNCORE_PART_HOST && !cpuset_is_empty(online); part--)
        if (are_apart(mask, (enum uncore_part)part) && has_all(&mask->around[part], online))
            return (enum uncore_part)part;
    for (int part = UNCORE_PART_PACKAGE; mask->n > 1 && part < UNCORE_PARTS_N; part++)
        if (are_apart(mask, (enum uncore_part)part))
            return (enum uncore_part)part;
    return UNCORE_PART_HOST;
}

void uncore_mask_deinit(struct uncore_mask *mask) {
    free(mask->cpus);
    free(mask->places);
    *mask = (struct uncore_mask){0};
}
