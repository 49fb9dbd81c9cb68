// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_EVAL_H
#define TOPDOWND_DAEMON_COMMAND_EVAL_H

// `topdownd eval`: evaluates every metric of a vendor's file over given counts, for comparison with other tools.

#include "daemon/base/options.h"

// Prints one JSON object, metric name to number, on standard output. If metrics of several PMUs share a name, it
// belongs to the first, and each also appears as NAME@PMU. Another metric of the same name and PMU is NAME#2, unless
// its formula is the same. Returns the exit status: 0; 1 if an entry is invalid or a metric cannot be evaluated, with
// the reason on standard error; 2 if nothing could be read.
int eval_run(const struct options *options);

#endif
