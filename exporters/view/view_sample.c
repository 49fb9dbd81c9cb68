// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_sample.h"

#include <inttypes.h>
#include <string.h>

#include "core/spec/kernel_pmu.h"

// The PMU's name on this host. A spec may state only its beginning, because hosts number it: without a host, NULL.
static const char *pmu_of(const struct view *view, const struct catalog_event *event) {
    const char *pmu = view->layout->catalog->pmus[event->code.pmu];
    if (event->code.pmu == 0 && !view->simulated && !view->replayed)
        return view->pmu;
    return strchr(pmu, '*') ? NULL : pmu;
}

// Appends one event. The kernel's own names have no PMU that perf could be told, but perf knows the names. PMUs that
// only sample are precise without being asked to.
static void add_event(const struct view *view, const struct catalog_event *event, struct text *out) {
    const char *pmu = pmu_of(view, event), *precise = event->code.pmu == 0 ? "P" : "";
    uint32_t type;
    if (kernel_pmu_type(view->layout->catalog->pmus[event->code.pmu], &type))
        text_format(out, " -e %s:P", event->name);
    else if (pmu)
        text_format(out, " -e %s/%s,name=%s/%s", pmu, event->terms, event->name, precise);
    else
        text_format(out, " -e r%" PRIx64 ":P", event->code.config);
}

// Appends the events that this host can encode and has the PMU of. False if there are none.
static bool add_events(const struct view *view, const struct catalog_node *node, struct text *out) {
    bool any = false;
    for (size_t i = 0; node && i < node->n_samples; i++) {
        unsigned event = node->samples[i];
        if (view->layout->catalog->events[event].uncoded || view->layout->plan->support[event] == PLAN_UNSUPPORTED)
            continue;
        add_event(view, &view->layout->catalog->events[event], out);
        any = true;
    }
    return any;
}

void view_sample_command(const struct view *view, unsigned metric, struct text *out) {
    text_string(out, "perf record -a -g -F 199");
    if (!add_events(view, catalog_sample_node(view->layout->catalog, metric), out))
        text_string(out, " -e cycles:P");
    text_string(out, " -- sleep 10");
}
