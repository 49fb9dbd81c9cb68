// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_WAITS_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_WAITS_H

// What a scope lacks that waits for memory (core/diagnosis/waits.h): joins its verdict and what its memory moves, which
// are two engines' snapshots, and says so in words.

#include "core/diagnosis/waits.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// "bandwidth", "latency"; NULL: it is open.
const char *view_waits_lack_name(enum waits_lack lack);

struct view_waits {
    double bytes;          // a second, of all memory of the scope
    double peak;           // likewise; NaN: unknown
    double share_of_peak;  // NaN: unknown
    bool beyond;           // a socket moved more than its stated peak, which must be wrong
    const char *peak_from; // as in struct view_memory, of the first socket
    bool withheld;         // a socket's peak is unknown because boxes are left out
    enum waits_lack lack;
};

// Judges a scope of a snapshot by its verdict. The memory of a CPU is that of its socket; the host lacks what
// all its sockets lack. `shown` may be NULL. False: the scope's bottleneck says nothing of memory, or nothing tells
// what its memory moves.
bool view_waits_judge(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                      size_t scope, struct view_waits *out);

// The verdict without a cause that the memory contradicts. Prefetchers hide misses, and many cores count those of loads
// alone: where the memory moves nearly its peak, few misses do not tell that the back end waits for execution.
struct verdict view_waits_settle(const struct shown *shown, const struct snapshot *snapshot,
                                 const struct verdict *verdict, size_t scope);

// Appends what view_waits_judge finds as a sentence after a space, or nothing: " The memory moves 267.4 GB/s, 87 % of
// its peak and near it: bandwidth." Where sockets lack different things, one for each. Where more was moved than the
// peak: " The memory moves 92.0 GB/s, more than its stated peak of 50.0 GB/s, so that peak (uncore.peak) must be
// wrong."
void view_waits_text(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                     size_t scope, struct text *out);

// Appends ", its memory at 87 % of its peak: bandwidth", or words for a peak that must be wrong, or nothing.
void view_waits_words(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                      size_t scope, struct text *out);

// Appends "more than its stated peak of 50.0 GB/s, so that peak (uncore.peak) must be wrong". `peak_from` may be NULL.
void view_waits_put_beyond(double peak, const char *peak_from, struct text *out);

#endif
