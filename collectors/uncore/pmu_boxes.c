// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/pmu_boxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pmu_linux.h"
#include "collectors/uncore/pmu_mask.h"

enum { EVENTS_MAX = 64 };

struct pmu_boxes {
    struct pmu pmu;          // first
    struct host_roots roots; // no file is kept open
    struct uncore_box *boxes;
    size_t n;
    struct pmu *linux_pmu; // whose PMU i is that of box i
};

static struct pmu_boxes *of(struct pmu *pmu) { return (struct pmu_boxes *)pmu; }

int pmu_boxes_cpu(const struct host_roots *roots, const struct uncore_box *box) {
    struct uncore_mask mask;
    struct cpuset cpus;
    if (pmu_mask_read(roots, box->pmu, (int)box->cpu, &cpus) < 0 || cpuset_has(&cpus, box->cpu) ||
        pmu_mask_look(roots, &cpus, &mask) < 0)
        return (int)box->cpu;
    int cpu = uncore_box_reader(box, &mask);
    uncore_mask_deinit(&mask);
    return cpu;
}

static void boxes_advance(struct pmu *pmu, uint64_t now_ns) {
    struct pmu *linux_pmu = of(pmu)->linux_pmu;
    linux_pmu->ops->advance(linux_pmu, now_ns);
}

static int boxes_open(struct pmu *pmu, unsigned box, const struct pmu_event *events, size_t n) {
    struct pmu_boxes *b = of(pmu);
    struct pmu_event own[EVENTS_MAX];
    if (box >= b->n || n > EVENTS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        own[i] = events[i];
        own[i].pmu = box;
    }
    int cpu = pmu_boxes_cpu(&b->roots, &b->boxes[box]);
    if (cpu < 0)
        return -ENODEV;
    b->boxes[box].cpu = (unsigned)cpu;
    int handle = b->linux_pmu->ops->open(b->linux_pmu, b->boxes[box].cpu, own, n);
    pmu->n_events = b->linux_pmu->n_events;
    return handle;
}

static int boxes_enable(struct pmu *pmu, int handle, bool enabled) {
    struct pmu *linux_pmu = of(pmu)->linux_pmu;
    return linux_pmu->ops->enable(linux_pmu, handle, enabled);
}

static int boxes_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    struct pmu *linux_pmu = of(pmu)->linux_pmu;
    return linux_pmu->ops->read(linux_pmu, handle, times, counts, n);
}

static void boxes_close(struct pmu *pmu, int handle) {
    struct pmu *linux_pmu = of(pmu)->linux_pmu;
    linux_pmu->ops->close(linux_pmu, handle);
    pmu->n_events = linux_pmu->n_events;
}

static void boxes_free(struct pmu *pmu) {
    struct pmu_boxes *b = of(pmu);
    if (b->linux_pmu)
        b->linux_pmu->ops->free(b->linux_pmu);
    free(b->boxes);
    free(b);
}

int pmu_boxes_new(const struct host_roots *roots, const struct uncore_boxes *boxes, struct pmu **out) {
    static const struct pmu_ops ops = {.advance = boxes_advance,
                                       .open = boxes_open,
                                       .enable = boxes_enable,
                                       .read = boxes_read,
                                       .close = boxes_close,
                                       .free = boxes_free};
    struct pmu_boxes *b = calloc(1, sizeof *b);
    uint32_t *types = calloc(boxes->n + 1, sizeof *types);
    int r = b && types ? 0 : -ENOMEM;
    if (r == 0) {
        *b = (struct pmu_boxes){.pmu.ops = &ops,
                                .roots = {.sysfs = roots->sysfs, .procfs = roots->procfs},
                                .boxes = calloc(boxes->n + 1, sizeof *b->boxes),
                                .n = boxes->n};
        r = b->boxes ? 0 : -ENOMEM;
    }
    for (size_t i = 0; r == 0 && i < boxes->n; i++) {
        b->boxes[i] = boxes->boxes[i];
        types[i] = boxes->boxes[i].type;
    }
    if (r == 0)
        r = pmu_linux_new_moving(types, boxes->n, &b->linux_pmu);
    free(types);
    if (r == 0)
        *out = &b->pmu;
    else if (b)
        boxes_free(&b->pmu);
    return r;
}
