// SPDX-License-Identifier: Apache-2.0
#include "core/history/margin.h"

#include <math.h>

static const double LEAST_EXPONENT = -14, STEPS_A_DOUBLING = 16, FIRST = 2, LAST = 255;

uint8_t margin_encode(double margin) {
    if (isnan(margin))
        return MARGIN_NONE;
    if (margin <= 0)
        return MARGIN_EXACT;
    double code = FIRST + ceil((log2(margin) - LEAST_EXPONENT) * STEPS_A_DOUBLING - 1e-9);
    return (uint8_t)fmin(fmax(code, FIRST), LAST);
}

double margin_decode(uint8_t code) {
    if (code <= MARGIN_EXACT)
        return code == MARGIN_EXACT ? 0 : NAN;
    return exp2(((double)code - FIRST) / STEPS_A_DOUBLING + LEAST_EXPONENT);
}
