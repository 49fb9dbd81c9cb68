// SPDX-License-Identifier: Apache-2.0
#include "core/uncore/uncore.h"

#include <errno.h>
#include <stdlib.h>

void uncore_boxes_deinit(struct uncore_boxes *boxes) {
    free(boxes->boxes);
    *boxes = (struct uncore_boxes){0};
}

// A box on a CPU of unknown socket counts for the first one, as the CPU does.
int uncore_topology(const struct uncore_boxes *boxes, struct topology **out) {
    struct topology_source *sources = boxes->n > 0 ? calloc(boxes->n, sizeof *sources) : NULL;
    if (!sources)
        return boxes->n > 0 ? -ENOMEM : -EINVAL;
    for (size_t i = 0; i < boxes->n; i++)
        sources[i] = (struct topology_source){
            .id = (unsigned)i, .core = (int)i, .package = boxes->boxes[i].package, .selected = !boxes->boxes[i].left_out};
    int r = topology_new(sources, boxes->n, 0, out);
    free(sources);
    if (r == 0)
        (*out)->boxes = true;
    return r;
}
