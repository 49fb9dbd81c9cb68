// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/readers.h"

bool readers_of_cpus(struct readers *readers, uint64_t now_ns) {
    if (readers->cpus_read(readers->context))
        readers->cpus_ns = now_ns;
    return readers->cpus_ns > 0 && now_ns - readers->cpus_ns < READERS_KEPT_NS;
}
