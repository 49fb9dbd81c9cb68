// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_PMU_JOINED_H
#define TOPDOWND_COLLECTORS_UNCORE_PMU_JOINED_H

// Boxes of several PMUs as one PMU, for metrics that need events of more than one: requests at the home agents per
// instruction, or what two kinds of boxes do together. Each box of this PMU is a package: a count of its event is the
// sum over all boxes of that package that have the event, so that a window of it holds all events of a metric.
//
// An event group is opened on each of these boxes with the events that are its PMU's. Where a box takes them only one
// by one (they need one filter register, which only its driver knows), each is a group of its own, and the kernel lets
// them take turns. Shares of time are worked in where boxes are added up: the sum is scaled for each box by its own.
// The times that a read returns are those of the package, and the mean share of its boxes.
//
// Events of the cores' PMU are not opened: whoever measures the cores counts them already, and tells their totals.
//
// A quotient must be of one time. The cores' totals go on when a round of theirs ends, later than the boxes' counts. So
// both wait, each with the time that it is of, and at each read as much time of both goes on as has passed, or as there
// is: about a round of the cores late. What boxes counted while most of the cores' time was not measured is left out.

#include "collectors/pmu/pmu.h"
#include "core/uncore/uncore.h"

// Of the cores of a package, since whenever: what they counted of an event, and how much time was measured and was not,
// as the mean of its CPUs.
struct pmu_joined_total {
    double count, covered_seconds, uncovered_seconds;
};

// What is told of the cores. False: nobody counts the event, or not yet.
struct pmu_joined_cores {
    bool (*read)(const void *context, int package, const struct pmu_event *event, struct pmu_joined_total *out);
    const void *context; // borrowed
};

struct pmu_joined_request {
    struct pmu *boxes;                   // of `parts`: box i is that of number i. Taken over, even on failure
    const struct uncore_boxes *packages; // the boxes of this PMU
    const struct uncore_boxes *parts;    // all boxes of their PMUs
    // The catalog's PMUs. pmu_event.pmu is the place of one; a box of it has its name, or that and a number. Events of
    // a PMU without a box are the cores'.
    char *const *pmus;
    size_t n_pmus;
    struct pmu_joined_cores cores;
};

// What is not said to be borrowed or taken over is copied. -ENOMEM.
int pmu_joined_new(const struct pmu_joined_request *request, struct pmu **out);

// Which of the PMUs a box is of; -1: none.
int pmu_joined_part_of(const char *box, char *const *pmus, size_t n_pmus);

#endif
