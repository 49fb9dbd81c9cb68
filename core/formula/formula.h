// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_FORMULA_FORMULA_H
#define TOPDOWND_CORE_FORMULA_FORMULA_H

// A metric's formula, compiled once and evaluated every round.
//
// The language is that of Linux perf's metric expressions (tools/perf/util/expr.y); Arm's formulas are a subset.
// Loosest to tightest: `X if C else Y` (from right to left; a conditional as X or C needs parentheses), |, ^, &, < >, +
// -, * / %, unary minus; within a level left to right. Functions: min(a, b), max(a, b), d_ratio(a, b), has_event(E),
// source_count(E), aggr_nr(E), strcmp_cpuid_str(ID). Operands: decimal numbers, NaN, literals (#smt_on, case ignored)
// and names. A name is the longest run of 0-9 A-Z a-z _ . : @ ? and of backslashes with the character after them;
// between two '@' also of = and ','. A name that is entirely a number is a number.
//
// The caller's scope resolves a name to a number, an event (values[index] at evaluation), another metric's value, or
// another formula that replaces it.
//
// NaN is "no value". a / 0 and a % 0 are NaN, d_ratio(a, 0) is 0. A condition counts as true unless it is 0, so NaN is
// true. min(a, b) is a < b ? a : b, max with >; < and > are 0 if a side is NaN. & | ^ are logical and give 0 or 1; they
// give NaN if the known sides do not decide: 0 & NaN is 0 and 1 | NaN is 1, the others NaN. a % b truncates both to
// whole numbers. These are perf's rules. Exported values use the known rules, where NaN is an unknown number: a result
// that depends on it is NaN. A comparison, min or max with NaN is NaN; so is a conditional with a NaN condition, unless
// X and Y are the same.
//
// Compilation folds constants: branches that are never taken, the X of 0 & X and 1 | X, and constant parts are dropped
// together with their inputs. This never changes a value. Evaluation allocates nothing and cannot fail.

#include <stdbool.h>
#include <stddef.h>

#include "core/base/fault.h"
#include "core/base/lanes.h"

// STEPS_MAX bounds the result of inlining small texts; STACK_MAX the pending values in evaluation.
enum { FORMULA_STACK_MAX = 256, FORMULA_STEPS_MAX = 65536, FORMULA_NESTING_MAX = 62, FORMULA_LENGTH_MAX = 131072 };

enum formula_name_kind {
    FORMULA_ID,           // an event or a metric
    FORMULA_LITERAL,      // "#smt_on": the name is without '#' and in lower case
    FORMULA_HAS_EVENT,    // these four: the function's argument
    FORMULA_SOURCE_COUNT, // number of PMUs over which the event was summed
    FORMULA_AGGR_NR,      // number of CPUs
    FORMULA_CPUID         // strcmp_cpuid_str: 1 if the argument describes this CPU
};

enum formula_symbol_kind { FORMULA_SYMBOL_NUMBER, FORMULA_SYMBOL_EVENT, FORMULA_SYMBOL_METRIC, FORMULA_SYMBOL_INLINE };

struct formula;

// The meaning of a name.
struct formula_symbol {
    enum formula_symbol_kind kind;
    double number;                 // NUMBER
    unsigned index;                // EVENT: of events[]; METRIC: of metrics[]
    const struct formula *formula; // INLINE: replaces the name; read only during compilation
};

// Looks up `name`, which has no escapes and is not terminated. Returns 0 with *out filled, -ENOENT if there is no such
// name, -ELOOP if it leads back to itself, or another negative errno, which ends the compilation.
struct formula_scope {
    int (*lookup)(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out);
    void *context;
};

// A sum of coefficient * events[variable]: a count of something, which only grows. Negative coefficients take off what
// is counted twice or does not belong (cycles asleep).
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
    bool scale_free; // multiplying all counts by the same positive number keeps its value: ratios of counts
    bool is_sum;     // of counts
    bool is_ratio;   // formula == scale * numerator / denominator, both sums of counts, if denominator is not 0
    double scale;
    struct formula_sum numerator, denominator; // if is_ratio
    bool has_difference;                       // one of them has negative coefficients
};

// Compiles `text`. Returns 0 and a formula for formula_free; -EINVAL if the text is invalid, -ENOMEM, or the lookup's
// error; all except -ENOMEM with *fault filled, of kind FAULT_FORMULA and with its column.
int formula_compile(const char *text, const struct formula_scope *scope, struct formula **out, struct fault *fault);

struct formula *formula_free(struct formula *formula);

// The formula's value by perf's rules; NaN if it has none or is not finite. `metrics` may be NULL if n_metrics is 0.
double formula_evaluate(const struct formula *formula, const double *events, const double *metrics);

// The same by the known rules: a value other than NaN is the same for any numbers in place of NaN inputs. On an idle
// CPU max(1 - parts, 0) is then not 0, and 0 / 0 is not below its limit: no part is known.
double formula_evaluate_known(const struct formula *formula, const double *events, const double *metrics);

double formula_sum_evaluate(const struct formula_sum *sum, const double *events);

// formula_evaluate_known and formula_sum_evaluate in all lanes.
struct lanes formula_evaluate_lanes(const struct formula *formula, const struct lanes *events,
                                    const struct lanes *metrics);
struct lanes formula_sum_evaluate_lanes(const struct formula_sum *sum, const struct lanes *events);

// Room for a step's value, and for the formula's derivative by it.
struct formula_node {
    struct lanes value, slope;
    size_t begin; // the first step of its operand
};

// Writes the formula's derivatives in all lanes to `slopes`: by each of formula->variables, then by each of
// formula->metrics. At a kink (min, max) it is the mean of both sides. The derivative by an input that is 0 is 0: an
// event that never happened does not vary. Returns formula_evaluate_lanes; where that is NaN, `slopes` are 0. `nodes`
// is room for formula->n_steps.
struct lanes formula_slopes_lanes(const struct formula *formula, const struct lanes *events,
                                  const struct lanes *metrics, struct formula_node *nodes, struct lanes *slopes);

#endif
