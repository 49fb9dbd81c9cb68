// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_scale.h"

#include <math.h>

#include "collectors/uncore/uncore_find.h"

static const double SAME = 1e-6; // relative: the kernel writes its scales with ten digits or more

// True if the kernel's event of this name contradicts the spec, which is noted.
static bool contradicts(struct source *source, const struct uncore_box *box, unsigned event, const char *name) {
    double ours, kernels;
    if (uncore_traffic(source->catalog, event, &ours) == TRAFFIC_NONE ||
        uncore_find_bytes(&source->roots, box->pmu, name, &kernels) < 0 || fabs(kernels / ours - 1) < SAME)
        return false;
    source_note(source, source->pmu_name, "scale",
                "the kernel says that a count of %s is %.10g bytes (events/%s.scale and .unit of %s), and spec %s says "
                "%.10g: bytes are counted as the spec says, so one of the two is wrong. Please report it",
                name, kernels, name, box->pmu, source->catalog->product.spec, ours);
    return true;
}

void uncore_note_scale(struct source *source, const struct uncore_box *box) {
    const struct catalog *catalog = source->catalog;
    bool noted = false;
    for (unsigned e = 0; e < catalog->n_events && !noted; e++)
        noted = catalog->events[e].kind == EVENT_COUNTED && contradicts(source, box, e, catalog->events[e].name);
    for (size_t a = 0; a < catalog->names.n_aliases && !noted; a++) {
        int event = catalog_find_event(catalog, catalog->names.aliases[a]);
        noted = event >= 0 && contradicts(source, box, (unsigned)event, catalog->names.aliases[a]);
    }
}
