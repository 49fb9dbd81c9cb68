// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_ALARM_H
#define TOPDOWND_CORE_BASE_ALARM_H

// Tells whether a fluctuating rate deserves a message. The alarm goes on once the rate has been above its threshold for
// a while, and off once it has been below half of it for as long. In between nothing changes, so a rate near the
// threshold is reported once.

#include <stdbool.h>
#include <stdint.h>

enum { ALARM_SECONDS = 10 };

struct alarm {
    bool on;
    double seconds; // without a break, in which the rate called for a change of `on`
};

// Takes the rate of the next `seconds`; NaN (no rate) is not a break. Returns true if `on` has just changed.
static inline bool alarm_update(struct alarm *alarm, double rate, double threshold, double seconds) {
    if (!(rate >= 0))
        return false;
    bool change = alarm->on ? rate < threshold / 2 : rate > threshold;
    alarm->seconds = change ? alarm->seconds + seconds : 0;
    if (alarm->seconds < ALARM_SECONDS)
        return false;
    *alarm = (struct alarm){.on = !alarm->on};
    return true;
}

#endif
