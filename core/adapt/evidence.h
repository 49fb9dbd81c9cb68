// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_EVIDENCE_H
#define TOPDOWND_CORE_ADAPT_EVIDENCE_H

// The evidence: metrics that the profile does not select, fetched while a verdict asks for them, so that the next
// question is measured already.
//
// A verdict of the host or a socket, one that cannot be told apart from it, or that of outliers asks for what the
// vendor's methodology looks at next: the metrics below the last one of its path, two levels deep, then the metric
// groups that the decision tree names there, then what is below the metrics above. The plan takes as much of it as it
// has room for, in this order (core/plan/plan_fetch.h). What was asked for last comes first.
//
// In the first EVIDENCE_ROUNDS_AT_ONCE rounds of a process every verdict is believed at once; later only the lasting
// one, which a noisy round does not change, and there is at most one change of plan in EVIDENCE_CHANGE_NS. What nothing
// has asked for during EVIDENCE_KEEP_NS leaves. A host on which so little runs that nothing is to be gained asks for
// nothing.
//
// No clock and no I/O: snapshots carry the time. The caller makes the plans.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan/plan.h"
#include "core/spec/catalog.h"
#include "core/tally/snapshot.h"

enum { EVIDENCE_ROUNDS_AT_ONCE = 8 };
#define EVIDENCE_CHANGE_NS UINT64_C(60000000000)
#define EVIDENCE_KEEP_NS UINT64_C(900000000000)

struct evidence; // private

// Creates it, with nothing asked for. The catalog is borrowed. Returns 0 or -ENOMEM.
int evidence_new(const struct catalog *catalog, struct evidence **out);
struct evidence *evidence_free(struct evidence *evidence); // returns NULL, takes NULL

// Takes over what `old` was asked for, under another configuration or version of the spec, by the names of metrics.
// Called once, on a new one.
void evidence_continue(struct evidence *evidence, const struct evidence *old);

// Takes a round's snapshot with its verdicts. True if evidence_wanted has just changed, so that a new plan is due.
bool evidence_round(struct evidence *evidence, const struct snapshot *snapshot);

// For the `fetched` of a plan_request: what is asked for, the most important first.
const struct plan_fetched *evidence_wanted(const struct evidence *evidence, size_t *n);

// True if a verdict asked for the metric when evidence_wanted changed last.
bool evidence_asks(const struct evidence *evidence, unsigned metric);

#endif
