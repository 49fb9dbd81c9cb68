// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_MARGIN_H
#define TOPDOWND_CORE_HISTORY_MARGIN_H

// How uncertain a step of the history is, in one byte, so that a series of 5 KiB grows by an eighth and not by a half:
// half the width of its 95 % interval, of shares as it is, of other values relative to the value. From 0.00006 to 3.5,
// in steps of 4.4 %, rounded up.

#include <stdint.h>

enum { MARGIN_NONE, MARGIN_EXACT }; // not known; counted all the time. Others: larger is wider

// Of a margin that is not negative; NaN: none.
uint8_t margin_encode(double margin);
double margin_decode(uint8_t code); // NaN: none

#endif
