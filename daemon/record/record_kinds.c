// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/record_kinds.h"

#include <stdio.h>
#include <string.h>

// The kind's place; n if it is not there.
static size_t place_of(const struct record_kinds *kinds, const char *pmu) {
    size_t i = 0;
    while (i < kinds->n && strncmp(kinds->items[i].pmu, pmu, TOPOLOGY_PMU_MAX - 1) != 0)
        i++;
    return i;
}

bool record_kinds_fit(const struct record_kinds *kinds, const struct recording_header *header) {
    size_t i = place_of(kinds, header->pmu);
    return i < kinds->n ? kinds->items[i].hash == header->catalog.hash : i < RECORD_KINDS_MAX;
}

void record_kinds_note(struct record_kinds *kinds, const struct recording_header *header) {
    size_t i = place_of(kinds, header->pmu);
    if (i == RECORD_KINDS_MAX)
        return;
    (void)snprintf(kinds->items[i].pmu, TOPOLOGY_PMU_MAX, "%.*s", TOPOLOGY_PMU_MAX - 1, header->pmu);
    kinds->items[i].hash = header->catalog.hash;
    kinds->n += i == kinds->n;
}
