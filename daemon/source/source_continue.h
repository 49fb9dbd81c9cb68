// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_CONTINUE_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_CONTINUE_H

// A reload finds the sources anew. Where one is what it was, its PMU runs on with all that is open.

#include "daemon/source/source.h"

// True if both count the same events of the same hardware by the same spec.
bool source_same(const struct source *a, const struct source *b);

// Exchanges what a running PMU, plan or probe borrows of its source, where both are the same; once more takes it back.
void source_exchange(struct source *a, struct source *b);

// Takes over what was learned of the NMI watchdog while the old source was in use.
void source_continue(struct source *source, const struct source *old);

#endif
