// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

#include <math.h>

static void put_range(const struct outliers_range *range, struct text *out) {
    if (range->first == range->last)
        text_format(out, "%u", range->first);
    else
        text_format(out, "%u to %u", range->first, range->last);
}

// The ranges from `begin` on that are of one socket. Returns where the next socket's begin.
static size_t put_socket(const struct snapshot *snapshot, const struct outliers *of, size_t begin, struct text *out) {
    const struct topology *topology = snapshot->layout->topology;
    unsigned socket = of->ranges[begin].socket;
    size_t end = begin;
    while (end < of->n_ranges && of->ranges[end].socket == socket)
        end++;
    for (size_t i = begin; i < end; i++) {
        text_string(out, i == begin ? " " : i + 1 == end ? " and " : ", ");
        put_range(&of->ranges[i], out);
    }
    if (topology->n_sockets > 1)
        text_format(out, " of socket %u", topology->sockets[socket].id);
    return end;
}

void view_bound_cpus(const struct snapshot *snapshot, const struct outliers *of, struct text *out) {
    if (of->unit == OUTLIERS_SOCKET) {
        text_format(out, "socket %u", snapshot->layout->topology->sockets[of->ranges[0].socket].id);
        return;
    }
    text_string(out, of->n == 1 ? "CPU" : "CPUs");
    for (size_t i = 0; i < of->n_ranges;) {
        text_string(out, i > 0 ? ", and" : "");
        i = put_socket(snapshot, of, i, out);
    }
    if (of->more)
        text_format(out, " and others, %zu in all", of->n);
    if (of->unit == OUTLIERS_CORE && of->n_units == 1)
        text_string(out, " (all threads of a core)");
    else if (of->unit == OUTLIERS_CORE)
        text_format(out, " (all threads of %zu cores)", of->n_units);
}

static void put_share(const struct outliers *of, const struct catalog_metric *metric, double share, struct text *out) {
    bool one = of->n == 1 || of->unit == OUTLIERS_SOCKET;
    text_format(out, "%s, %.3g %% of %s %s", view_title(metric), 100 * share, one ? "its" : "their",
                view_whole(metric));
}

void view_bound_outliers(const struct snapshot *snapshot, const struct outliers *of, struct text *out) {
    static const char *const units[OUTLIERS_UNIT_N] = {"CPU", "core", "socket"};
    const struct catalog_metric *metrics = snapshot->layout->catalog->metrics;
    size_t begin = out->length;
    view_bound_cpus(snapshot, of, out);
    if (!out->failed && of->unit == OUTLIERS_SOCKET)
        out->data[begin] = 'S';
    text_string(out, ": ");
    put_share(of, &metrics[of->metric], of->share, out);
    text_format(out, " (%.3g %% in the median %s)", 100 * of->usual, units[of->unit]);
    if (of->last == of->metric || !isfinite(of->last_share))
        return;
    text_string(out, ", in it ");
    put_share(of, &metrics[of->last], of->last_share, out);
}
