// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/readers.h"

void readers_step(struct readers *readers, bool cpus_read, uint64_t now_ns, struct engine *const *engines, size_t n) {
    if (cpus_read)
        readers->cpus_ns = now_ns;
    bool kept = readers->cpus_ns > 0 && now_ns - readers->cpus_ns < READERS_KEPT_NS;
    for (size_t i = 0; i < n; i++)
        if (engines[i]->ops->attend)
            engines[i]->ops->attend(engines[i], kept);
}
