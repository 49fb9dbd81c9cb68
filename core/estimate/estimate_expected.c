// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_expected.h"

#include <math.h>

#include "core/estimate/estimate.h"
#include "core/plan/schedule.h"

static const double HALF_OF_95 = 1.96; // of a normal distribution, in standard errors
static const double MINUTE_NS = 60e9;

static unsigned windows_of(const struct plan *plan, unsigned unit) {
    return plan->common_unit == (int)unit ? plan_slots(plan) : plan->units[unit].slots;
}

static unsigned worst_unit(const struct plan *plan) {
    unsigned worst = 0;
    for (unsigned u = 1; u < plan->n_units; u++)
        if (!plan_unit_stands(plan, u) &&
            (plan_unit_stands(plan, worst) || windows_of(plan, u) < windows_of(plan, worst)))
            worst = u;
    return worst;
}

struct estimate_expected estimate_expected_of(const struct plan *plan, int unit) {
    unsigned of = unit < 0 ? worst_unit(plan) : (unsigned)unit;
    struct estimate_expected expected = {.seen = 1,
                                         .windows = windows_of(plan, of),
                                         .idle = plan_idle_share(plan),
                                         .pieces = schedule_usual_pieces(plan),
                                         .rounds_a_minute = MINUTE_NS / (double)plan->round_ns};
    if (!plan_unit_stands(plan, of)) // each event of a composite counts in its own part
        expected.seen = expected.windows * (double)plan->slot_ns / (double)plan->round_ns;
    return expected;
}

double estimate_expected_error(const struct estimate_expected *expected, size_t n_cores, double rounds,
                               double deviation) {
    double unseen = 1 - expected->seen;
    if (unseen <= 0)
        return 0;
    double error = deviation * sqrt(unseen / (expected->windows * (double)n_cores * rounds));
    double resolution = ESTIMATE_PIECE_RELATIVE * expected->idle / sqrt(expected->pieces * rounds);
    return HALF_OF_95 * (n_cores > 1 && unseen > expected->idle / 2 ? fmax(error, resolution) : error);
}
