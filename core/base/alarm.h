// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_ALARM_H
#define TOPDOWND_CORE_BASE_ALARM_H

// Whether a rate that goes up and down needs a word: it does when it has been above its threshold for a while, and no
// longer when it has been below half of it for as long. In between nothing changes, so a rate about the threshold is
// mentioned once.

#include <stdbool.h>
#include <stdint.h>

enum { ALARM_SECONDS = 10 };

struct alarm {
    bool on;
    double seconds; // without a break, in which the rate said that `on` should change
};

// Takes the rate of the next `seconds`; NaN, no rate, is no break. Returns true where `on` has just changed.
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
