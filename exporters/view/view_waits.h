// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_WAITS_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_WAITS_H

// What a scope lacks that waits for memory. The cores' counters tell how long they wait, the memory's how much it
// moves: near its peak, bandwidth is short; far from it, each access takes its time (latency). docs/measurement.md has
// the reasons for the two limits.

#include "core/diagnosis/bound.h"
#include "exporters/view/shown.h"
#include "exporters/view/text.h"

#define VIEW_WAITS_NEAR 0.7 // of the peak and more: bandwidth
#define VIEW_WAITS_FAR 0.4  // below: latency

enum view_waits_lack { VIEW_WAITS_OPEN, VIEW_WAITS_BANDWIDTH, VIEW_WAITS_LATENCY };
// "bandwidth", "latency"; NULL: it is open.
const char *view_waits_lack_name(enum view_waits_lack lack);

struct view_waits {
    double bytes;         // a second, of all memory of the scope
    double peak;          // likewise; NaN: unknown
    double share_of_peak; // NaN: unknown
    enum view_waits_lack lack;
};

// Judges the scope in which the tree was last evaluated. The memory of a CPU is that of its socket; the host lacks what
// all its sockets lack. `shown` may be NULL. False: the scope's bottleneck says nothing of memory, or nothing tells
// what its memory moves.
bool view_waits_judge(const struct shown *shown, const struct tree *tree, const struct bound *bound, size_t scope,
                      struct view_waits *out);

// Appends the same as a sentence after a space, or nothing: " The memory moves 267.4 GB/s, 87 % of its peak and near
// it: bandwidth." Where sockets lack different things, one for each.
void view_waits_text(const struct shown *shown, const struct tree *tree, const struct bound *bound, size_t scope,
                     struct text *out);

// Appends ", its memory at 87 % of its peak: bandwidth", or nothing.
void view_waits_words(const struct shown *shown, const struct tree *tree, const struct bound *bound, size_t scope,
                      struct text *out);

#endif
