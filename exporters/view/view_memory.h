// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_MEMORY_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_MEMORY_H

// What the memory of a socket moved in the last round, and the most that it can move: two engines' data meet here.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

struct view_memory {
    double read, write;       // bytes a second; NaN: unknown, or the PMU does not tell them apart
    double all;               // NaN: unknown
    double peak;              // NaN: unknown
    const char *peak_from;    // for people: what states it, and what can correct it; NULL: unknown
    unsigned boxes, left_out; // of the socket, that tell it; the configuration leaves out the latter
};

// The metric whose rate is the most that the DRAM of a kind's boxes can move; -1: they have no such counter, or it is
// not in the plan.
int view_memory_peak_metric(const struct view *view);

// The most bytes a second that the DRAM of the kind's socket can move: what the configuration says or the channels and
// their speed make, or else what the boxes measured in the last round, or else what the firmware rates it at. NaN:
// unknown, as where boxes are left out.
double view_memory_peak(const struct view *view, const struct snapshot *snapshot, size_t socket);
// The same as far as it does not change; 0: unknown, or the boxes measure it.
double view_memory_peak_stated(const struct view *view, size_t socket);
// Where it is from: "host", "configuration", "clock" or "firmware"; NULL: it is unknown.
const char *view_memory_peak_source(const struct view *view, const struct snapshot *snapshot, size_t socket);

// Of the socket with the kernel's number `socket`. False: no PMU of this host measures its memory.
bool view_memory_of(const struct shown *shown, unsigned socket, struct view_memory *out);

// Appends "307.2 GB/s", or "1.0 MB/s" where that would be 0.0 GB/s.
void view_memory_put_rate(double bytes_per_second, struct text *out);

#endif
