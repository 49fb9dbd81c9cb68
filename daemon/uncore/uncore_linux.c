// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_linux.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectors/uncore/pmu_boxes.h"
#include "daemon/uncore/uncore_source.h"

static struct uncore_linux *of(struct source *source) { return (struct uncore_linux *)source; }

static int linux_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    (void)now_ns;
    (void)errors;
    return pmu_boxes_new(&source->roots, &((const struct uncore_linux *)source)->boxes, out);
}

// The CPU that reads a box may have changed: the PMU looks it up again.
static bool linux_same(const struct source *a, const struct source *b) {
    const struct uncore_boxes *x = &((const struct uncore_linux *)a)->boxes,
                              *y = &((const struct uncore_linux *)b)->boxes;
    bool same = x->n == y->n;
    for (size_t i = 0; same && i < x->n; i++)
        same = x->boxes[i].type == y->boxes[i].type && x->boxes[i].package == y->boxes[i].package &&
               x->boxes[i].left_out == y->boxes[i].left_out;
    return same;
}

static void linux_deinit(struct source *source) { uncore_boxes_deinit(&of(source)->boxes); }

static const struct source_driver DRIVER = {.pmu = linux_pmu, .same = linux_same, .deinit = linux_deinit};

struct uncore_linux *uncore_linux_new(const char *name, struct uncore_boxes *boxes, const struct options *options) {
    struct uncore_linux *kind = calloc(1, sizeof *kind);
    if (!kind) {
        uncore_boxes_deinit(boxes);
        return NULL;
    }
    kind->source.driver = &DRIVER;
    kind->boxes = *boxes;
    *boxes = (struct uncore_boxes){0};
    (void)snprintf(kind->name, sizeof kind->name, "%s", name);
    uncore_describe(&kind->source, kind->name, options);
    return kind;
}
