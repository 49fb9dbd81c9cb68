// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_FETCHED_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_FETCHED_H

// What is fetched for the verdict (core/adapt/evidence.h): what the host has left for it, and what the log says of it.

#include "daemon/engine/measure_plan.h"

// So many files may be opened for what is fetched, those of the present plan among them.
size_t measure_fetched_files(const struct measure *m);

// Logs what the present plan fetches that `before` did not, what it no longer fetches, and for what there is no room.
void measure_log_fetched(struct measure *m, const struct plan *before);

#endif
