// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_EVALUATION_H
#define TOPDOWND_CORE_FORMULA_EVALUATION_H

// Evaluates metrics over given counts, without a catalog: no event has to be known, no metric to be measurable. It is
// for comparing a spec's formulas with those of others.
//
// A name in a formula is the metric of that name of the same PMU, in any case of its letters, by its unscaled value;
// a metric's own name, and every other name, is an event. What is not among the counts is NaN.

#include <stddef.h>

#include "core/base/name_index.h"
#include "core/formula/formula.h"

// Counts by name as formulas write it, without backslashes; also "#literal", "has_event(E)", "source_count(E)",
// "aggr_nr(E)" and "strcmp_cpuid_str(ID)". All zero at the beginning.
struct evaluation_counts {
    char **names;
    double *values;
    size_t n;
    struct name_index index;
};

// A name that stands there already keeps its value; names are copied. Returns 0 or -ENOMEM.
int evaluation_counts_add(struct evaluation_counts *counts, const char *name, double value);
void evaluation_counts_deinit(struct evaluation_counts *counts);

struct evaluation_metric {
    const char *name, *pmu, *text;   // pmu "": the spec's own
    double value;                    // NaN where it has none
    char error[FAULT_TEXT_MAX + 40]; // "" where it could be evaluated
    // of the evaluation
    struct formula *formula;
    unsigned char state;
};

// Sets value and error of each metric. Of metrics of one name and PMU the first is what formulas mean. `cpuid` as perf
// writes it, NULL: no CPU that strcmp_cpuid_str would know. Returns 0 or -ENOMEM.
int evaluation_run(struct evaluation_metric *metrics, size_t n, const struct evaluation_counts *counts,
                   const char *cpuid);

#endif
