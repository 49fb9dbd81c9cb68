// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_PMU_BOXES_H
#define TOPDOWND_COLLECTORS_UNCORE_PMU_BOXES_H

// The kernel's PMUs outside the cores as one PMU: box i takes the place of CPU i, and each event group is opened on the
// PMU of its box, on the CPU that reads it and on no other. (The kernel accepts any CPU and moves the event, so opening
// on each would count everything as many times.)
//
// When that CPU goes offline, the kernel moves the box's events to another one, and they go on counting, unlike those
// of a core. Only what is opened from then on has to know: the CPU is looked up again then.

#include "collectors/host/host_linux.h"
#include "collectors/pmu/pmu.h"
#include "core/uncore/uncore.h"

// Events of all boxes are of the catalog's first PMU. The boxes are copied; the roots' paths are borrowed. -ENOMEM.
int pmu_boxes_new(const struct host_roots *roots, const struct uncore_boxes *boxes, struct pmu **out);

// The CPU that reads a box now: of its PMU's cpumask the one on the box's socket, else the first one; the box's own
// where the mask cannot be read.
unsigned pmu_boxes_cpu(const struct host_roots *roots, const struct uncore_box *box);

#endif
