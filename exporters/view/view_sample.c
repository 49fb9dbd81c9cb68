// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_sample.h"

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

// A spec names its PMU by the beginning of its name where hosts number it. Where there is no host, the first one's
// number stands for all.
static void add_pmu(const struct view *view, const struct catalog_event *event, struct text *out) {
    const char *pmu = view->layout->catalog->pmus[event->code.pmu];
    bool of_host = event->code.pmu == 0 && !view->simulated && !view->replayed;
    size_t length = strcspn(pmu, "*");
    if (of_host)
        text_string(out, view->pmu);
    else
        text_format(out, "%.*s%s", (int)length, pmu, pmu[length] == '*' ? "0" : "");
}

// Appends the events that this host can encode. False if there are none.
static bool add_events(const struct view *view, const struct catalog_node *node, struct text *out) {
    bool any = false;
    for (size_t i = 0; node && i < node->n_samples; i++) {
        const struct catalog_event *event = &view->layout->catalog->events[node->samples[i]];
        uint32_t type;
        if (event->uncoded || kernel_pmu_type(view->layout->catalog->pmus[event->code.pmu], &type))
            continue; // the kernel's own names have no PMU that perf could be told
        text_string(out, " -e ");
        add_pmu(view, event, out);
        text_format(out, "/%s,name=%s/P", event->terms, event->name);
        any = true;
    }
    return any;
}

void view_sample_command(const struct view *view, unsigned metric, struct text *out) {
    text_string(out, "perf record -a -g -F 199");
    if (!add_events(view, find_node(view->layout->catalog, metric), out))
        text_string(out, " -e cycles:P");
    text_string(out, " -- sleep 10");
}
