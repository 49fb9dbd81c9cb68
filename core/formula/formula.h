// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_FORMULA_H
#define TOPDOWND_CORE_FORMULA_FORMULA_H

// A metric's formula, compiled once and evaluated every round.
//
// The language is that of Linux perf's metric expressions (tools/perf/util/expr.y); Arm's formulas are a part of it.
// Loosest to tightest: `X if C else Y` (from right to left; a conditional as X or C needs parentheses), |, ^, &, < >,
// + -, * / %, unary minus; within a level left to right. Functions: min(a, b), max(a, b), d_ratio(a, b), has_event(E),
// source_count(E), aggr_nr(E), strcmp_cpuid_str(ID). Operands: decimal numbers, NaN, literals (#smt_on, case ignored)
// and names. A name is the longest run of 0-9 A-Z a-z _ . : @ ? and of backslashes with the character after them;
// between two '@' also of = and ','. What reads as a number from end to end is a number.
//
// The caller's scope says what a name stands for: a number, an event (values[index] at evaluation), another metric's
// value, or another formula that is put in its place.
//
// NaN is "no value". a / 0 and a % 0 are NaN, d_ratio(a, 0) is 0. A condition counts as true unless it is 0, so NaN is
// true. min(a, b) is a < b ? a : b, max with >; < and > are 0 where a side is NaN. & | ^ are logical and give 0 or 1;
// they give NaN where the sides that have a value do not settle it: 0 & NaN is 0 and 1 | NaN is 1, the others NaN.
// a % b is of whole numbers, cut off towards zero. These are perf's rules. By the known rules, for what is exported,
// NaN is a number that nobody knows: what depends on it is NaN. A comparison, min and max with NaN are NaN; a condition
// of NaN settles nothing unless X and Y are the same.
//
// What constants decide is decided when the formula is compiled: a branch that is never taken, the X of 0 & X and
// 1 | X, and constant parts are dropped with what they would have read. This never changes a value. Evaluation
// allocates nothing and cannot fail.

#include <stdbool.h>
#include <stddef.h>

#include "core/base/fault.h"

// STEPS_MAX bounds what inlining can make of small texts; STACK_MAX the values that wait at one time in evaluation.
enum { FORMULA_STACK_MAX = 256, FORMULA_STEPS_MAX = 65536, FORMULA_NESTING_MAX = 62, FORMULA_LENGTH_MAX = 16384 };

enum formula_name_kind {
    FORMULA_ID,           // an event or a metric
    FORMULA_LITERAL,      // "#smt_on": the name is without '#' and in lower case
    FORMULA_HAS_EVENT,    // these four: the function's argument
    FORMULA_SOURCE_COUNT, // over how many PMUs the event was summed
    FORMULA_AGGR_NR,      // over how many CPUs
    FORMULA_CPUID         // strcmp_cpuid_str: 1 where the argument describes this CPU
};

enum formula_symbol_kind { FORMULA_SYMBOL_NUMBER, FORMULA_SYMBOL_EVENT, FORMULA_SYMBOL_METRIC, FORMULA_SYMBOL_INLINE };

struct formula;

// What a name stands for.
struct formula_symbol {
    enum formula_symbol_kind kind;
    double number;                 // NUMBER
    unsigned index;                // EVENT: of events[]; METRIC: of metrics[]
    const struct formula *formula; // INLINE: put in the name's place; only read while the formula is compiled
};

// Looks `name` up, whose escapes are removed and which is not terminated. Returns 0 with *out filled, -ENOENT where
// there is no such name, -ELOOP where it leads back to itself, or another negative errno, which ends the compilation.
struct formula_scope {
    int (*lookup)(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out);
    void *context;
};

// A sum of coefficient * events[variable], all coefficients positive: a count of something, which only grows.
struct formula_sum {
    struct formula_term {
        unsigned variable;
        double coefficient;
    } * terms;
    size_t n;
};

struct formula_step; // private

struct formula {
    struct formula_step *steps;
    size_t n_steps;
    unsigned *variables; // the events that the formula reads, ascending, each once
    size_t n_variables;
    unsigned *metrics; // the metrics that it reads, likewise
    size_t n_metrics;
    bool scale_free; // its value stays when all counts are multiplied with the same positive number: ratios of counts
    bool is_ratio;   // formula == scale * numerator / denominator, both of them sums of counts, where that is not 0
    double scale;
    struct formula_sum numerator, denominator; // where is_ratio
};

// Compiles `text`. Returns 0 and a formula for formula_free; -EINVAL where the text is wrong, -ENOMEM, or what the
// scope's lookup returned; all but -ENOMEM with *fault filled, of kind FAULT_FORMULA and with its column.
int formula_compile(const char *text, const struct formula_scope *scope, struct formula **out, struct fault *fault);

struct formula *formula_free(struct formula *formula);

// The formula's value by perf's rules; NaN where it has none or is not finite. `metrics` may be NULL where n_metrics is
// 0.
double formula_evaluate(const struct formula *formula, const double *events, const double *metrics);

// The same by the known rules: a value that is not NaN stays whatever numbers stand for the inputs that are NaN. On a
// CPU that does nothing max(1 - parts, 0) is not 0, nor is the ratio of nothing below its limit: no part is known.
double formula_evaluate_known(const struct formula *formula, const double *events, const double *metrics);

double formula_sum_evaluate(const struct formula_sum *sum, const double *events);

#endif
