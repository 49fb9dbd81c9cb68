// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_SIM_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_SIM_H

// A simulated host's boxes: a kind is a scenario like a core type's, and a box a core with one thread.

#include "core/host/scenario.h"
#include "core/uncore/uncore.h"
#include "daemon/source/setup.h"

// Adds the kinds of a simulated host, of which the set-up's first source is one. As uncore_setup.
int uncore_sim_setup(struct setup *setup, const struct options *options, struct errors *errors);

// How many boxes of a scenario's kind have a name that the shell pattern matches: "imc_[0-3]".
size_t uncore_sim_match(const struct scenario *kind, const char *pattern);

// A box of a kind: its name, the CPU of the host that reads it, and its socket.
struct uncore_box uncore_sim_box(const struct scenario *host, const struct scenario *kind, size_t box);

// Bytes a second that the memory of a socket can move at most, as the scenario states it; 0: it does not. The source is
// that of a simulated kind.
double uncore_sim_peak(const struct source *kind);

#endif
