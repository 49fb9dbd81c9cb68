// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_within.h"

#include "core/plan/schedule.h"

static const double DEGREES_DRAWN = 4; // at least, of one round's that is drawn to a mean

// The variance between units. That of many rounds has as many fewer degrees of freedom as few rounds make it: as many
// as one round has if it makes all. The last round's own is known, with few of them: it is drawn to the mean of all,
// the more the less rounds differ from what chance makes of equal ones (as CPUs are: estimate_shared.h).
struct estimate_freedom estimate_within_of(const struct estimate_spread *spread, size_t l, bool one_round) {
    double mean = spread->within.of[l], own = spread->within_degrees.of[l], n = 1 / spread->weights2.of[l];
    if (!(mean > 0))
        return (struct estimate_freedom){0, INFINITY};
    double even = mean * mean / spread->within2.of[l], usual = own / (own + 2), part = (even - 1 / n) / (usual - 1 / n);
    double rounds = n * usual > 1 ? 1 + (n - 1) * (part < 1 ? lanes_max(part, 0) : 1) : 1;
    if (!one_round)
        return (struct estimate_freedom){mean, own * rounds};
    double differ = lanes_max(usual / even - 1, 0), drawn = differ / (differ + 2 / own * (1 + differ));
    double degrees = lanes_max(drawn * rounds > 1 ? own / drawn : own * rounds, DEGREES_DRAWN);
    return (struct estimate_freedom){drawn * spread->within_now.of[l] + (1 - drawn) * mean, degrees};
}

// The degrees of freedom of the sum of two variances (Satterthwaite 1946).
double estimate_freedom_of(double variance, double degrees, const struct estimate_freedom *other) {
    double both = variance + other->variance, part = other->variance * other->variance / other->degrees;
    return other->variance > 0 ? both * both / (variance * variance / degrees + part) : degrees;
}

// How many times as short an idle piece is as a slot.
double estimate_shorter_of(const struct plan *plan) {
    double piece_ns = (double)schedule_usual_piece_ns(plan);
    return piece_ns > 0 ? lanes_max((double)plan->slot_ns / piece_ns, 1) : 1;
}

// The variance of a round by what idle pieces hide of the event that units share, which cores do in step. If
// neighbouring slots are as different as any, the load may change within slots as well: then pieces, which are shorter,
// differ by as much more. If they are alike, it is slow, and slots are as different as pieces.
double estimate_hidden_of(const struct estimate_together *together, size_t l, double shorter) {
    double paired = lanes_max(together->hidden[CELL_PAIRED].of[l], 0), single = together->hidden[CELL_SINGLE].of[l];
    double fast = paired < single ? paired / single : 1;
    return paired * (1 + (shorter - 1) * fast * fast);
}
