// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_UNCORE_UNCORE_MOST_H
#define TOPDOWND_CORE_UNCORE_UNCORE_MOST_H

// How much a box can count at most: what it counts is bytes or energy, and both have limits. A count above them comes
// from hardware that was reset, or from a driver's bug (core/tally/plausible.h).

#include "core/host/topology.h"
#include "core/spec/catalog.h"

// A memory moves no more than its peak, where its modules' data say it. They may be wrong in a way that half of it is
// missing; what a box counts beyond twice the peak of its socket cannot be. What the firmware rates and what the
// configuration says are not used: these are opinions, and one that is too low is to be told (core/diagnosis, the
// memory's verdict), not to cost the host its counts.
enum { UNCORE_MOST_PEAKS = 2 };
// No box of today moves more: eight stacks of HBM3E, 1.2 TB/s each, are 10 TB/s behind all boxes of a socket together.
#define UNCORE_MOST_BYTES_A_SECOND 16e12
// Nor does a package, or a whole board, take more.
#define UNCORE_MOST_WATTS 20e3

// Counts a second of an event of the catalog, on a box of this socket. INFINITY: no limit is known.
double uncore_most(const struct catalog *catalog, unsigned event, const struct topology_socket *socket);

#endif
