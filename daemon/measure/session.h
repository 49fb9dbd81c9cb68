// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_SESSION_H
#define TOPDOWND_DAEMON_MEASURE_SESSION_H

// Measures the system for a while: the engines of the daemon without its service.
//
// Slots are as long as lets about SESSION_ROUNDS rounds end in the time, so that each value has an interval. What is
// told of an interval is what was counted in it: whole rounds of all cores. Once the values say what the host is bound
// by, the metric groups that this leads to are measured as well. A simulated host runs on a time of its own, as fast as
// it goes.

#include "core/base/error.h"
#include "daemon/base/options.h"
#include "daemon/measure/output.h"
#include "daemon/measure/stopper.h"

enum { SESSION_ROUNDS = 8 };
#define SESSION_SECONDS 10 // where no duration is given

// What happens beside it.
struct session_request {
    const struct options *options;
    const char *how;         // see daemon/report/report_json.h
    struct stopper *stopper; // ends it early
    struct output *output;
    void (*tick)(void *context); // called every second or more often; NULL: nothing
    void *context;
};

// Returns 0 if something was measured; 1 if nothing was, after printing why; or -EINVAL with the reason in `errors`,
// -ENOMEM or another negative errno.
int session_run(const struct session_request *request, struct errors *errors);

#endif
