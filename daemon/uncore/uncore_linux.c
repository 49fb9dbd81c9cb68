// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_linux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/uncore/pmu_boxes.h"
#include "daemon/uncore/uncore_cores.h"
#include "daemon/uncore/uncore_source.h"

static struct uncore_linux *of(struct source *source) { return (struct uncore_linux *)source; }

static int linux_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    const struct uncore_linux *kind = (const struct uncore_linux *)source;
    struct pmu *parts;
    (void)now_ns;
    (void)errors;
    if (kind->parts.n == 0)
        return pmu_boxes_new(&source->roots, &kind->boxes, out);
    int r = pmu_boxes_new(&source->roots, &kind->parts, &parts);
    const struct pmu_joined_request request = {.boxes = parts,
                                               .packages = &kind->boxes,
                                               .parts = &kind->parts,
                                               .pmus = source->catalog->pmus,
                                               .n_pmus = source->catalog->n_pmus,
                                               .cores = {.read = uncore_cores_read, .context = source->newest}};
    return r < 0 ? r : pmu_joined_new(&request, out);
}

// Where several PMUs are one kind, an event is opened on the boxes that have it.
static size_t linux_files(const struct source *source, const struct plan *plan, size_t n_boxes) {
    const struct uncore_linux *kind = (const struct uncore_linux *)source;
    const struct catalog *catalog = source->catalog;
    size_t n = 0;
    if (kind->parts.n == 0)
        return plan_n_opened(plan) * n_boxes;
    for (size_t i = 0; i < kind->parts.n; i++) {
        int part = pmu_joined_part_of(kind->parts.boxes[i].pmu, catalog->pmus, catalog->n_pmus);
        for (size_t g = 0; g < plan->n_groups; g++)
            for (size_t e = 0; e < plan->groups[g].n_events; e++)
                n += (int)catalog->events[plan->groups[g].events[e]].code.pmu == part;
    }
    return n;
}

// The CPU that reads a box may have changed: the PMU looks it up again.
static bool same_boxes(const struct uncore_boxes *x, const struct uncore_boxes *y) {
    bool same = x->n == y->n;
    for (size_t i = 0; same && i < x->n; i++)
        same = x->boxes[i].type == y->boxes[i].type && uncore_box_same(&x->boxes[i], &y->boxes[i]) &&
               x->boxes[i].left_out == y->boxes[i].left_out && x->boxes[i].gone == y->boxes[i].gone;
    return same;
}

static bool linux_same(const struct source *a, const struct source *b) {
    const struct uncore_linux *x = (const struct uncore_linux *)a, *y = (const struct uncore_linux *)b;
    return same_boxes(&x->boxes, &y->boxes) && same_boxes(&x->parts, &y->parts);
}

static bool same_numbers(const struct uncore_boxes *a, const struct uncore_boxes *b) {
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = uncore_box_same(&b->boxes[i], &a->boxes[i]);
    return same;
}

static void linux_deinit(struct source *source) {
    uncore_boxes_deinit(&of(source)->parts);
    uncore_boxes_deinit(&of(source)->boxes);
}

static const struct source_driver DRIVER = {
    .pmu = linux_pmu, .files = linux_files, .same = linux_same, .deinit = linux_deinit};

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

// Events of all PMUs of a kind over several are its own.
static void support_parts(struct source *source) {
    for (size_t e = 0; e < source->catalog->n_events; e++)
        if (source->support[e] == PLAN_ELSEWHERE)
            source->support[e] = source->catalog->events[e].uncoded ? PLAN_UNSUPPORTED : PLAN_SUPPORT_UNKNOWN;
}

int uncore_linux_bind(struct uncore_linux *kind, struct catalog_builder *builder) {
    struct source *source = &kind->source;
    const struct uncore_box *first = kind->parts.n > 0 ? &kind->parts.boxes[0] : &kind->boxes.boxes[0];
    struct host_binding binding;
    int r = host_bind(&source->roots, first->pmu, first->type, builder, &binding);
    if (r < 0) {
        catalog_builder_free(builder);
        return r;
    }
    source->catalog = catalog_builder_finish(builder);
    source->support = binding.support; // takes ownership
    source->microarchitecture = source->catalog->product.microarchitecture;
    if (kind->parts.n > 0)
        support_parts(source);
    return 0;
}

// A box that no CPU can read at the moment is still a box of this host.
static bool is_there(const struct uncore_linux *kind, const struct uncore_box *box,
                     const struct config_uncore *config) {
    uint32_t type;
    bool any = false;
    for (size_t i = 0; i < kind->parts.n && !any; i++)
        any = kind->parts.boxes[i].place.package == box->place.package;
    return any || (host_linux_pmu_type(&kind->source.roots, box->pmu, &type) == 0 && type == box->type &&
                   !config_uncore_leaves_out(config, box->pmu));
}

// Returns 0; 1: boxes have other numbers now; -ENOMEM.
static int continue_boxes(const struct uncore_linux *kind, struct uncore_boxes *boxes,
                          const struct uncore_boxes *before, const struct config_uncore *config) {
    if (same_numbers(boxes, before))
        return 0;
    int r = uncore_boxes_continue(boxes, before);
    for (size_t i = 0; r == 0 && i < boxes->n; i++)
        boxes->boxes[i].gone = boxes->boxes[i].gone && !is_there(kind, &boxes->boxes[i], config);
    return r < 0 ? r : 1;
}

// Parts have no totals, so they need no numbers.
static int continue_parts(struct uncore_linux *kind, const struct uncore_boxes *before,
                          const struct config_uncore *config) {
    struct uncore_boxes parts = kind->parts;
    kind->parts.n = 0; // is_there asks for those that are known
    int r = continue_boxes(kind, &parts, before, config);
    kind->parts.boxes = parts.boxes;
    for (size_t i = 0; i < parts.n; i++)
        if (!parts.boxes[i].gone)
            kind->parts.boxes[kind->parts.n++] = parts.boxes[i];
    return r < 0 ? r : 0;
}

int uncore_linux_continue(struct source *source, const struct source *before, const struct config_uncore *config) {
    if (source->driver != &DRIVER || before->driver != &DRIVER)
        return 0;
    struct uncore_linux *kind = of(source);
    const struct uncore_linux *old = (const struct uncore_linux *)before;
    int r = continue_parts(kind, &old->parts, config);
    return r < 0 ? r : continue_boxes(kind, &kind->boxes, &old->boxes, config);
}
