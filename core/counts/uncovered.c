// SPDX-License-Identifier: Apache-2.0
#include "core/counts/uncovered.h"

const char *uncovered_name(enum uncovered reason) {
    static const char *const names[UNCOVERED_N] = {"starved",       "failed",  "offline", "stalled",
                                                   "not_plannable", "yielded", "gap"};
    return names[reason];
}
