// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_TIME_H
#define TOPDOWND_COLLECTORS_SIM_SIM_TIME_H

// Tells when a scenario's rival is present. All times are nanoseconds since the simulated host began.

#include <stdbool.h>
#include <stdint.h>

#include "core/host/scenario.h"

struct sim_window {
    uint64_t from_ns, until_ns;
    uint64_t period_ns, on_ns; // period_ns 0: on from from_ns to until_ns
};

// Seconds as nanoseconds, rounded. A negative value or NaN gives 0; more than 285 years gives 285 years.
uint64_t sim_ns(double seconds);

struct sim_window sim_window_of(const struct scenario_rival *rival);

bool sim_window_active(const struct sim_window *window, uint64_t now_ns);

// The first time after now_ns at which the rival's presence may change; UINT64_MAX: never again.
uint64_t sim_window_next_ns(const struct sim_window *window, uint64_t now_ns);

#endif
