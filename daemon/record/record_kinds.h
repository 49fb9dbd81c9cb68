// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RECORD_RECORD_KINDS_H
#define TOPDOWND_DAEMON_RECORD_RECORD_KINDS_H

// The kinds of boxes that a recording has. Each has one catalog in all of its files, which its replay takes from the
// first of them: a kind that comes back with another one begins another recording.

#include "core/recording/recording.h"
#include "daemon/source/setup.h"

enum { RECORD_KINDS_MAX = 2 * SETUP_TYPES_MAX };

struct record_kinds {
    struct record_kind {
        char pmu[TOPOLOGY_PMU_MAX];
        uint64_t hash; // of the catalog
    } items[RECORD_KINDS_MAX];
    size_t n;
};

// True if the recording can hold the kind with this header: it has it with the same catalog, or has room for it.
bool record_kinds_fit(const struct record_kinds *kinds, const struct recording_header *header);
void record_kinds_note(struct record_kinds *kinds, const struct recording_header *header);

#endif
