// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_RECORDING_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_RECORDING_H

// A recording or a log of perf: a source of one core type, and of the boxes that were recorded with it.

#include "daemon/source/source.h"
#include "daemon/source/tape.h"

int source_recording_find(const struct source_request *request, struct errors *errors,
                          struct source *out[SOURCE_TYPES_MAX], size_t *n);

// A source of what boxes counted, beside the core type's tape `of` (tape_boxes). Takes ownership of the catalog.
// Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int source_recording_boxes(const struct tape *of, const struct recording_header *header, struct catalog *catalog,
                           struct errors *errors, struct source **out);

// The tape of a replayed source.
struct tape *source_recording_tape(struct source *source);

#endif
