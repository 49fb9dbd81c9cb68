// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_find.h"

#include "daemon/source/source_host.h"
#include "daemon/source/source_recording.h"
#include "daemon/source/source_sim.h"

int source_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                size_t *n) {
    static source_filler *const fillers[] = {[PMU_AUTO] = source_host_find,
                                             [PMU_LINUX] = source_host_find,
                                             [PMU_SIM] = source_sim_find,
                                             [PMU_REPLAY] = source_recording_find};
    *n = 0;
    int r = fillers[request->options->pmu](request, errors, out, n);
    if (r == 0 && out[0]->several)
        source_name_types(out, *n);
    return r;
}
