// SPDX-License-Identifier: Apache-2.0
#include "core/spec/kernel_pmu.h"

#include <stddef.h>
#include <string.h>

bool kernel_pmu_type(const char *pmu, uint32_t *type) {
    static const struct {
        const char *pmu;
        uint32_t type;
    } known[] = {{"hardware", 0}, {"hw_cache", 3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(pmu, known[i].pmu) == 0) {
            *type = known[i].type;
            return true;
        }
    return false;
}
