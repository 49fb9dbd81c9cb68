// SPDX-License-Identifier: Apache-2.0
#include "daemon/verify/judged.h"

#include <math.h>
#include <string.h>

#include "exporters/text/text.h"

// perf counts a part of the time, and other programs run meanwhile: counts differ by some per cent where all is well.
static const double ODD = 0.15, WRONG = 0.5;
// Rates below this say nothing of a kernel.
static const double RATE_MIN = 1000;

static const char REPORT[] = "send what 'topdownd doctor --verify --bundle FILE' collects to topdownd's maintainers";

static const struct measured_share *largest(const struct measured *measured) {
    const struct measured_share *found = &measured->level1[0];
    for (size_t i = 1; i < measured->n_level1; i++)
        if (measured->level1[i].share > found->share)
            found = &measured->level1[i];
    return found;
}

void judged_verdict(const struct kernel *kernel, const struct measured *measured, struct findings *findings) {
    if (!kernel->category)
        return;
    if (measured->n_level1 == 0) {
        findings_add(findings, FINDING_NOT_CHECKED, "verify_verdict", "%s: level 1 has no values here: %s",
                     kernel->name, measured->reason);
        return;
    }
    const struct measured_share *found = largest(measured);
    bool same = strcmp(found->name, kernel->category) == 0;
    bool agrees = strcmp(measured->bound, kernel->category) == 0 || measured->bound[0] == '\0';
    findings_add(findings,
                 !same    ? FINDING_FAILURE
                 : agrees ? FINDING_OK
                          : FINDING_WARNING,
                 "verify_verdict", "%s (%s): expected %s to be the largest, seen %s with %.0f %%; the verdict is %s",
                 kernel->name, kernel->what, kernel->category, found->name, found->share * 100,
                 measured->bound[0] != '\0' ? measured->bound : "that nothing stands out");
    if (!same || !agrees)
        findings_remedy(findings, "%s", REPORT);
}

static const struct measured_total *find_total(const struct measured *measured, const char *metric, bool denominator) {
    for (const struct measured_total *total = measured->totals; total->metric; total++)
        if (strcmp(total->metric, metric) == 0 && total->denominator == denominator && isfinite(total->count))
            return total;
    return NULL;
}

// Where the kernel counts, other programs on the CPU can add, but nothing takes away.
void judged_counts(const struct kernel *kernel, const struct measured *measured, struct findings *findings) {
    for (size_t i = 0; i < KERNEL_COUNTS_MAX && kernel->counts[i].metric; i++) {
        const struct kernel_count *expected = &kernel->counts[i];
        const struct measured_total *total = find_total(measured, expected->metric, expected->denominator);
        if (!total || measured->iterations <= 0) {
            if (measured->counters || !kernel->category)
                findings_add(findings, FINDING_NOT_CHECKED, "verify_counts", "%s: %s are not measured here",
                             kernel->name, expected->what);
            continue;
        }
        double each = total->count / measured->iterations;
        bool within = each >= expected->least * (1 - ODD) && each <= expected->most * (1 + ODD);
        bool near = each >= expected->least * (1 - WRONG) && each <= expected->most * (1 + WRONG);
        findings_add(findings,
                     within ? FINDING_OK
                     : near ? FINDING_WARNING
                            : FINDING_FAILURE,
                     "verify_counts", "%s: %.4g %s an iteration, %.4g to %.4g expected (%.0f iterations in %.1f s)",
                     kernel->name, each, expected->what, expected->least, expected->most, measured->iterations,
                     measured->seconds);
        if (!within)
            findings_remedy(findings, "try again while CPU %s has nothing else to do; if it stays, %s", measured->cpu,
                            REPORT);
    }
}

void judged_perf(const struct kernel *kernel, const struct measured *measured,
                 const struct perf_count counts[PERF_EVENTS], struct findings *findings) {
    for (size_t i = 0; i < PERF_EVENTS; i++) {
        const struct measured_total *total = find_total(measured, counts[i].metric, counts[i].denominator);
        double own = total ? total->count / measured->seconds : NAN, other = counts[i].per_second;
        if (!isfinite(own) || !isfinite(other) || fmax(own, other) < RATE_MIN)
            continue;
        double apart = fabs(own - other) / fmax(own, other);
        findings_add(findings,
                     apart <= ODD     ? FINDING_OK
                     : apart <= WRONG ? FINDING_WARNING
                                      : FINDING_FAILURE,
                     "verify_perf", "%s: %.4g %s a second, and perf counts %.4g", kernel->name, own, counts[i].event,
                     other);
        if (apart > ODD)
            findings_remedy(findings, "try again while CPU %s has nothing else to do; if it stays, %s", measured->cpu,
                            REPORT);
    }
}
