// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

void view_bound_cpus(const struct snapshot *snapshot, const struct outliers *of, struct text *out) {
    text_string(out, of->n == 1 ? "CPU" : "CPUs");
    for (size_t i = 0; i < of->n_ranges; i++) {
        const struct outliers_range *range = &of->ranges[i];
        bool last = i + 1 == of->n_ranges && !of->more;
        text_string(out, i == 0 ? " " : last ? " and " : ", ");
        if (range->first == range->last)
            text_format(out, "%u", range->first);
        else
            text_format(out, "%u to %u", range->first, range->last);
    }
    if (of->more)
        text_format(out, " and others, %zu in all,", of->n);
    if (of->socket >= 0)
        text_format(out, " of socket %u", snapshot->layout->topology->sockets[of->socket].id);
}
