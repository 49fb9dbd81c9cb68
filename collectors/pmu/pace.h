// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_PACE_H
#define TOPDOWND_COLLECTORS_PMU_PACE_H

// The pace of opening and closing: steps of about a millisecond of work. An event costs up to 18 us to open and 21 us
// to close on another CPU, so a thousand CPUs take seconds. In between, the event loop does what else is due.

#include <stdint.h>

enum { PACE_EVENTS = 64 };               // opened or closed in a step
static const uint64_t PACE_NS = 1000000; // between two steps

#endif
