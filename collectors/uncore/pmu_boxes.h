// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_PMU_BOXES_H
#define TOPDOWND_COLLECTORS_UNCORE_PMU_BOXES_H

// The kernel's PMUs outside the cores as one PMU: box i takes the place of CPU i, and each event group is opened on the
// PMU of its box, on the CPU that reads it and on no other. (The kernel accepts any CPU, and counts the box around it:
// core/uncore/uncore_place.h.)
//
// When that CPU goes offline, the kernel moves the box's events to another one, and they go on counting, unlike those
// of a core. Only what is opened from then on has to know: the CPU is looked up again then. Where no CPU is left that
// could read the box, its events stand still for good, and opening them fails with -ENODEV until one is back.

#include "collectors/host/host_linux.h"
#include "collectors/pmu/pmu.h"
#include "core/uncore/uncore.h"

// Events of all boxes are of the catalog's first PMU. The boxes are copied; the roots' paths are borrowed. -ENOMEM.
int pmu_boxes_new(const struct host_roots *roots, const struct uncore_boxes *boxes, struct pmu **out);

// The CPU that reads a box now (uncore_box_reader); its own where the PMU's mask cannot be read; -1: none does.
int pmu_boxes_cpu(const struct host_roots *roots, const struct uncore_box *box);

#endif
