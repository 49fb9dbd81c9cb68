// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_PMU_NAMED_H
#define TOPDOWND_COLLECTORS_UNCORE_PMU_NAMED_H

// Events that the kernel itself names: the files of a PMU's folder `events` in sysfs, NAME with the event's terms,
// NAME.unit and NAME.scale with what a count of it is. That is enough to measure PMUs outside the cores that no spec
// knows.

#include "collectors/host/host_linux.h"

enum { PMU_NAMED_MAX = 64, PMU_NAMED_TERMS_MAX = 512 };

// What a count of the event is, in base units: factor 64 and unit "bytes". -ENOENT if the kernel states no unit,
// -EINVAL if the unit has no base unit here, or the scale is no number above 0.
struct pmu_named_unit {
    double factor;
    const char *name; // "bytes", "joules", "seconds"; a literal
};
int pmu_named_unit(const struct host_roots *roots, const char *pmu, const char *event, struct pmu_named_unit *out);

struct pmu_named_event {
    char terms[PMU_NAMED_TERMS_MAX]; // in perf's form
    struct pmu_named_unit unit;
    const char *unusable; // why it cannot be chosen, with the remedy; NULL: it can
};
// Returns 0, or -ENOENT if the PMU has no event of this name.
int pmu_named_event(const struct host_roots *roots, const char *pmu, const char *event, struct pmu_named_event *out);

// Why no event of the PMU can be chosen, with the remedy; NULL: nothing is known against it. `pmu` is the kernel's.
const char *pmu_named_unusable(const struct host_roots *roots, const char *pmu);

// The names of events ("events") or of terms ("format") of the PMU, in byte order; free(*out). Returns their number,
// -ENOENT if it has none, -ENOMEM.
int pmu_named_list(const struct host_roots *roots, const char *pmu, const char *folder, char (**out)[PMU_NAMED_MAX]);

// The text of a term, as in "config:0-7". Returns 0, -ENOENT, or -EINVAL if it is longer than `size`.
int pmu_named_term(const struct host_roots *roots, const char *pmu, const char *term, char *out, size_t size);

#endif
