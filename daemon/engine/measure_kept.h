// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_KEPT_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_KEPT_H

// What of measuring outlives the process.

#include "daemon/engine/measure_plan.h"

// As engine_ops.keep and .restore.
void measure_keep(const struct measure *m, struct kept_verdicts *out);
void measure_restore(struct measure *m, const struct kept_verdicts *kept);

// Goes on with what is kept, once: at the first snapshot with values, before the diagnosis takes it.
void measure_go_on_with_kept(struct measure *m, const struct snapshot *snapshot);

#endif
