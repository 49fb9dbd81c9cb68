// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_SOCKETS_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_SOCKETS_H

// What a host and its sockets are bound by, in words. Where the sockets differ (core/diagnosis/bound.h), each is named.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends what the topology's socket `socket` is bound by, and what it lacks if that is memory (view_waits.h, which
// says what `shown` is for).
void view_sockets_answer(const struct shown *shown, const struct snapshot *snapshot, size_t socket, struct text *out);

// Appends what each socket is bound by, as a sentence.
void view_sockets_text(const struct shown *shown, const struct snapshot *snapshot, struct text *out);

// Appends the whole answer for the host: what it is bound by, what it lacks if that is memory, and where sockets
// differ, what each of them is bound by. Returns whether they differ.
bool view_sockets_verdict(const struct shown *shown, const struct shown_type *type, struct text *out);

#endif
