// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_memory.h"

#include <math.h>
#include <string.h>

#include "exporters/view/view_boxes.h"

#define GIGABYTE 1e9
#define MEGABYTE 1e6

// Bytes a second of all boxes of the socket: the metric is that of one box.
static double rate_of(const struct view *view, const struct snapshot *snapshot, size_t socket, size_t metric) {
    size_t scope = snapshot_scope_socket(socket);
    return snapshot->values[snapshot_metric(view->layout, scope, metric)] * view_boxes_factor(view, scope, metric);
}

int view_memory_peak_metric(const struct view *view) {
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        if (view_metric(view, m)->traffic == TRAFFIC_MEMORY_PEAK && view_plannable(view, m))
            return (int)m;
    return -1;
}

double view_memory_peak_stated(const struct view *view, size_t socket) {
    const struct topology_socket *of = &view->layout->topology->sockets[socket];
    bool measured = view_memory_peak_metric(view) >= 0 && of->excluded == 0;
    return of->peak == TOPOLOGY_PEAK_FIRMWARE && measured ? 0 : of->memory_bytes_per_second;
}

double view_memory_peak(const struct view *view, const struct snapshot *snapshot, size_t socket) {
    double stated = view_memory_peak_stated(view, socket);
    int metric = view->layout->topology->sockets[socket].excluded > 0 ? -1 : view_memory_peak_metric(view);
    double measured = metric < 0 || stated > 0 ? NAN : rate_of(view, snapshot, socket, (size_t)metric);
    return stated > 0 ? stated : measured > 0 ? measured : NAN;
}

const char *view_memory_peak_source(const struct view *view, const struct snapshot *snapshot, size_t socket) {
    static const char *const names[TOPOLOGY_PEAKS_N] = {[TOPOLOGY_PEAK_HOST] = "host",
                                                        [TOPOLOGY_PEAK_CONFIGURED] = "configuration",
                                                        [TOPOLOGY_PEAK_FIRMWARE] = "firmware"};
    if (view_memory_peak_stated(view, socket) > 0)
        return names[view->layout->topology->sockets[socket].peak];
    return isfinite(view_memory_peak(view, snapshot, socket)) ? "clock" : NULL;
}

// The same for people.
static const char *peak_words(const struct view *view, const struct snapshot *snapshot, size_t socket) {
    static const struct {
        const char *source, *words;
    } table[] = {
        {"configuration", "uncore.peak"},
        {"clock", "from the clock of its channels; uncore.peak can state another"},
        {"firmware", "the firmware's rating; uncore.peak can state another"},
        {"host", "from its channels and their speed; uncore.peak can state another"},
    };
    const char *source = view_memory_peak_source(view, snapshot, socket), *words = NULL;
    for (size_t i = 0; source && i < sizeof table / sizeof *table; i++)
        if (strcmp(source, table[i].source) == 0)
            words = table[i].words;
    return source && view->simulated && strcmp(source, "host") == 0 ? "the scenario's; uncore.peak can state another"
                                                                    : words;
}

static bool add_metric(const struct shown_type *kind, size_t socket, size_t metric, struct view_memory *out) {
    if (!view_plannable(kind->view, metric))
        return false;
    switch (view_metric(kind->view, metric)->traffic) {
    case TRAFFIC_MEMORY_READ:
        out->read = rate_of(kind->view, kind->snapshot, socket, metric);
        return true;
    case TRAFFIC_MEMORY_WRITE:
        out->write = rate_of(kind->view, kind->snapshot, socket, metric);
        return true;
    case TRAFFIC_MEMORY_ALL:
        out->all = rate_of(kind->view, kind->snapshot, socket, metric);
        return true;
    default:
        return false;
    }
}

static bool add_kind(const struct shown_type *kind, unsigned id, struct view_memory *out) {
    const struct topology *topology = kind->view->layout->topology;
    bool found = false;
    for (size_t s = 0; s < topology->n_sockets; s++) {
        bool tells = false;
        if (topology->sockets[s].id != id)
            continue;
        for (size_t m = 0; m < kind->view->layout->n_metrics; m++)
            tells = add_metric(kind, s, m, out) || tells;
        double peak = view_memory_peak(kind->view, kind->snapshot, s);
        if (isfinite(peak)) {
            out->peak = peak;
            out->peak_from = peak_words(kind->view, kind->snapshot, s);
        }
        out->boxes += tells ? topology->sockets[s].measured + topology->sockets[s].excluded : 0;
        out->left_out += tells ? topology->sockets[s].excluded : 0;
        found = found || tells;
    }
    return found;
}

bool view_memory_of(const struct shown *shown, unsigned socket, struct view_memory *out) {
    struct view_memory memory = {.read = NAN, .write = NAN, .all = NAN, .peak = NAN};
    bool found = false;
    for (size_t i = shown->n; i < shown_all(shown); i++)
        found = add_kind(&shown->types[i], socket, &memory) || found;
    if (!isfinite(memory.all))
        memory.all = memory.read + memory.write;
    if (found)
        *out = memory;
    return found;
}

void view_memory_put_rate(double bytes_per_second, struct text *out) {
    static const double LEAST = 0.05 * GIGABYTE; // less would be 0.0 GB/s
    if (bytes_per_second < LEAST && bytes_per_second > 0)
        text_format(out, "%.1f MB/s", bytes_per_second / MEGABYTE);
    else
        text_format(out, "%.1f GB/s", bytes_per_second / GIGABYTE);
}
