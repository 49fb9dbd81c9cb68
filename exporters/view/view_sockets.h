// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_SOCKETS_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_SOCKETS_H

// Whether the host's bottleneck is its sockets' too. A mean over sockets that do different work describes neither.

#include "core/diagnosis/bound.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// True if two sockets are bound by different nodes, neither of them below the other, and if the 95 % intervals tell the
// sockets apart in one of these nodes. Evaluates the tree in the host's scope at the end.
bool view_sockets_differ(struct tree *tree, const struct snapshot *snapshot);

// Appends what the topology's socket `socket` is bound by, and what it lacks if that is memory (view_waits.h, which
// says what `shown` is for). Leaves the tree evaluated in the socket's scope. Returns the last node of its path, -1 if
// nothing is high or known.
int view_sockets_answer(const struct shown *shown, struct tree *tree, const struct snapshot *snapshot, size_t socket,
                        struct text *out);

// Appends what each socket is bound by, as a sentence. Evaluates the tree in the host's scope at the end.
void view_sockets_text(const struct shown *shown, struct tree *tree, const struct snapshot *snapshot, struct text *out);

// Appends the whole answer for the host: what it is bound by (the tree has been evaluated there, and `bound` found),
// what it lacks if that is memory, and where sockets differ, what each of them is bound by. Returns whether they
// differ.
bool view_sockets_verdict(const struct shown *shown, const struct shown_type *type, struct tree *tree,
                          const struct bound *bound, struct text *out);

#endif
