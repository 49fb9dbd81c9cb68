// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_sample.h"

#include <inttypes.h>
#include <string.h>

#include "core/spec/kernel_pmu.h"

// The nearest node from the metric upwards that names events; NULL: none.
static const struct catalog_node *find_node(const struct catalog *catalog, unsigned metric) {
    for (int m = (int)metric; m >= 0; m = catalog->metrics[m].parent)
        for (size_t i = 0; i < catalog->n_nodes; i++)
            if (catalog->nodes[i].metric == (unsigned)m && catalog->nodes[i].n_samples > 0)
                return &catalog->nodes[i];
    return NULL;
}

// The PMU's name on this host. A spec may state only its beginning, because hosts number it: without a host, NULL.
static const char *pmu_of(const struct view *view, const struct catalog_event *event) {
    const char *pmu = view->layout->catalog->pmus[event->code.pmu];
    if (event->code.pmu == 0 && !view->simulated && !view->replayed)
        return view->pmu;
    return strchr(pmu, '*') ? NULL : pmu;
}

// Appends the events that this host can encode. False if there are none.
static bool add_events(const struct view *view, const struct catalog_node *node, struct text *out) {
    bool any = false;
    for (size_t i = 0; node && i < node->n_samples; i++) {
        const struct catalog_event *event = &view->layout->catalog->events[node->samples[i]];
        uint32_t type;
        if (event->uncoded || kernel_pmu_type(view->layout->catalog->pmus[event->code.pmu], &type))
            continue; // the kernel's own names have no PMU that perf could be told
        const char *pmu = pmu_of(view, event);
        if (pmu)
            text_format(out, " -e %s/%s,name=%s/P", pmu, event->terms, event->name);
        else
            text_format(out, " -e r%" PRIx64 ":P", event->code.config);
        any = true;
    }
    return any;
}

void view_sample_command(const struct view *view, unsigned metric, struct text *out) {
    text_string(out, "perf record -a -g -F 199");
    const struct catalog *catalog = view->layout->catalog;
    if (!add_events(view, find_node(catalog, catalog_metric_named(catalog, metric)), out))
        text_string(out, " -e cycles:P");
    text_string(out, " -- sleep 10");
}
