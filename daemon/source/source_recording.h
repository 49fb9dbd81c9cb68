// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_RECORDING_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_RECORDING_H

// A recording or a log of perf: a source of one core type.

#include "daemon/source/source.h"
#include "daemon/source/tape.h"

int source_recording_find(const struct source_request *request, struct errors *errors,
                          struct source *out[SOURCE_TYPES_MAX], size_t *n);

// The tape of a replayed source.
struct tape *source_recording_tape(struct source *source);

#endif
