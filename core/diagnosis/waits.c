// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/waits.h"

enum waits_bus waits_bus(double bytes, double peak) {
    double share = bytes / peak;
    return share > WAITS_BEYOND  ? WAITS_BUS_BEYOND
           : share >= WAITS_NEAR ? WAITS_BUS_NEAR
           : share < WAITS_FAR   ? WAITS_BUS_FAR
                                 : WAITS_BUS_BETWEEN; // also NaN
}

enum waits_lack waits_judge(enum catalog_waits waits, double bytes, double peak) {
    enum waits_bus bus = waits_bus(bytes, peak);
    if (waits == WAITS_NONE || bus == WAITS_BUS_BETWEEN || bus == WAITS_BUS_BEYOND)
        return WAITS_LACK_OPEN;
    if (bus == WAITS_BUS_NEAR)
        return WAITS_LACK_BANDWIDTH;
    return waits == WAITS_BACK_END ? WAITS_LACK_OPEN : WAITS_LACK_LATENCY; // it may be execution
}
