// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_EVAL_H
#define TOPDOWND_DAEMON_COMMAND_EVAL_H

// `topdownd eval`: every metric of a vendor's file over given counts, for comparing with what others compute.

#include "daemon/base/options.h"

// Prints one JSON object, metric name to number, on standard output. A name that metrics of several PMUs have is the
// first one's, and each is there as NAME@PMU too; another metric of the same name and PMU is NAME#2, unless its formula
// is the same. Returns the exit status: 0; 1 where an entry is wrong or a metric cannot be evaluated, with the reason
// on standard error; 2 where nothing could be read.
int eval_run(const struct options *options);

#endif
