// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_CHOICE_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_CHOICE_H

// Which of a host's kinds the configuration selects, and why it leaves the others out.

#include "daemon/uncore/uncore_source.h"

// True if the configuration selects the kind's group, or a metric group that it may have. Else the kind is noted as not
// measured. *r is 0 or -ENOMEM.
bool uncore_choice_wants(struct setup *setup, const struct uncore_kind *kind, size_t n_boxes, int *r);

// As uncore_add, of a kind that belongs to `group` (NULL: to none, and it is always measured). If it is not added, it
// is noted as not measured.
int uncore_choice_add(struct setup *setup, struct source *source, struct topology *boxes, const char *group);

// Notes a kind with so many boxes as not measured. Returns 0 or -ENOMEM.
int uncore_choice_note(struct setup *setup, const char *name, size_t n_boxes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The same of a kind whose boxes the configuration leaves out, all of them; `wanted`: although it selects the kind.
int uncore_choice_none_left(struct setup *setup, const char *name, size_t n_boxes, bool wanted);

#endif
