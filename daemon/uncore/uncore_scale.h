// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_SCALE_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_SCALE_H

// Compares the bytes that the spec takes a count for with those that the kernel states in an event's files `scale` and
// `unit`. The spec's are used either way.

#include "core/uncore/uncore.h"
#include "daemon/source/source.h"

// Notes the first event of which the two say different things. Most events have no such files: then there is nothing to
// compare.
void uncore_note_scale(struct source *source, const struct uncore_box *box);

#endif
