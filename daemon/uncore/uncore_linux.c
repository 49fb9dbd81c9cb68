// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_linux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
               x->boxes[i].left_out == y->boxes[i].left_out && x->boxes[i].gone == y->boxes[i].gone;
    return same;
}

static bool same_numbers(const struct uncore_boxes *a, const struct uncore_boxes *b) {
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = strcmp(a->boxes[i].pmu, b->boxes[i].pmu) == 0 && a->boxes[i].package == b->boxes[i].package;
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

int uncore_linux_continue(struct source *source, const struct source *before) {
    if (source->driver != &DRIVER || before->driver != &DRIVER)
        return 0;
    const struct uncore_boxes *old = &((const struct uncore_linux *)before)->boxes;
    if (same_numbers(&of(source)->boxes, old))
        return 0;
    int r = uncore_boxes_continue(&of(source)->boxes, old);
    return r < 0 ? r : 1;
}
