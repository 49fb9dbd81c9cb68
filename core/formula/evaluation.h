// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_EVALUATION_H
#define TOPDOWND_CORE_FORMULA_EVALUATION_H

// Evaluates metrics over given counts, without a catalog: events need not be known, and metrics need not be measurable.
// Its purpose is to compare a spec's formulas with those of other tools.
//
// A name in a formula is the unscaled value of the metric of that name on the same PMU, ignoring case. A metric's own
// name, and every other name, is an event. A metric has no value if an event of its formula has no count, a literal has
// no value, or a metric that it uses is without one for that reason: perf's rules would make max(event, 0) a 0. A
// branch that constants rule out needs nothing.

#include <stddef.h>

#include "core/base/name_index.h"
#include "core/formula/formula.h"

// Counts by name as in formulas, without backslashes; also "#literal", "has_event(E)", "source_count(E)", "aggr_nr(E)"
// and "strcmp_cpuid_str(ID)". All zero at first.
struct evaluation_counts {
    char **names;
    double *values;
    size_t n;
    struct name_index index;
};

// A name that is already there keeps its value; names are copied. Returns 0 or -ENOMEM.
int evaluation_counts_add(struct evaluation_counts *counts, const char *name, double value);
void evaluation_counts_deinit(struct evaluation_counts *counts);

struct evaluation_metric {
    const char *name, *pmu, *text;   // pmu "": the spec's own
    double value;                    // NaN: none
    char error[FAULT_TEXT_MAX + 40]; // "" if it could be evaluated
    // for the evaluation
    struct formula *formula;
    bool missing;
    unsigned char state;
};

// Sets value and error of each metric. Of several metrics with the same name and PMU, formulas refer to the first.
// `cpuid` is in perf's form; NULL: strcmp_cpuid_str matches no CPU. Returns 0 or -ENOMEM.
int evaluation_run(struct evaluation_metric *metrics, size_t n, const struct evaluation_counts *counts,
                   const char *cpuid);

#endif
