// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RECORD_RECORD_FACTS_H
#define TOPDOWND_DAEMON_RECORD_RECORD_FACTS_H

// What a recording says of the set-up and the view that are recorded.

#include "core/recording/recording.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

// The header, but for what numbers and dates the file.
void record_facts_header(struct recording_header *header, const struct setup *setup, const struct source *source,
                         uint64_t seed);
// Whether a file with this header begins as one with the other, but for what numbers the files. Out of memory: no.
bool record_facts_same_beginning(const struct recording_header *a, const struct recording_header *b);
// Likewise for a header of boxes: beside the core type's, it only tells what their catalog is.
bool record_facts_same_catalog(const struct recording_header *a, const struct recording_header *b);

// A reference to the catalog where no shipped spec has it, as it is from the vendor's files or from what the
// configuration has chosen, so that the recording holds it. NULL: a shipped spec has it.
const struct catalog *record_facts_catalog(const struct source *source);

void record_facts_of_view(struct recording_facts *out, const struct view *view);

#endif
