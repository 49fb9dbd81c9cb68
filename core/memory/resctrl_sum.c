// SPDX-License-Identifier: Apache-2.0
#include "core/memory/resctrl_sum.h"

#include <math.h>

static double above_zero(double value) { return value > 0 ? value : 0; } // of NaN, too

static const struct host_memory_bytes UNKNOWN = {NAN, NAN, NAN};

void resctrl_sum_init(struct resctrl_sum *sum) { *sum = (struct resctrl_sum){.bytes = UNKNOWN}; }

void resctrl_sum_begin(struct resctrl_sum *sum) {
    sum->known = !isnan(sum->bytes.local) || !isnan(sum->bytes.all);
    sum->interval = (struct host_memory_bytes){0, 0, 0};
    sum->gap = RESCTRL_GAP_NONE;
}

static void grow(double *total, double by) { *total = isnan(*total) ? by : *total + by; }

// What is not local is the rest of the sums, not the sum of the rests: the two files of a group are read one after the
// other, and errors of both signs would only add up.
void resctrl_sum_add(struct resctrl_sum *sum, const struct resctrl_growth *growth, bool told_apart) {
    resctrl_sum_note(sum, growth->gap);
    if (!told_apart) {
        grow(&sum->bytes.all, growth->total);
        sum->interval.all += growth->interval_total;
        return;
    }
    sum->apart += growth->total;
    grow(&sum->bytes.local, growth->local);
    sum->bytes.remote = fmax(sum->bytes.remote, above_zero(sum->apart - sum->bytes.local));
    sum->interval.local += growth->interval_local;
    sum->interval.remote += growth->interval_total - growth->interval_local;
}

void resctrl_sum_note(struct resctrl_sum *sum, enum resctrl_gap gap) {
    if (sum->gap == RESCTRL_GAP_NONE)
        sum->gap = gap;
}

static double above_or_unknown(double bytes, double by) { return isnan(bytes) ? NAN : above_zero(bytes - by); }

struct host_memory_bytes resctrl_sum_before(const struct resctrl_sum *sum) {
    if (!sum->known || sum->gap != RESCTRL_GAP_NONE)
        return UNKNOWN;
    return (struct host_memory_bytes){above_or_unknown(sum->bytes.local, sum->interval.local),
                                      above_or_unknown(sum->bytes.remote, above_zero(sum->interval.remote)),
                                      above_or_unknown(sum->bytes.all, sum->interval.all)};
}
