// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_LOOP_H
#define TOPDOWND_DAEMON_RUN_LOOP_H

// What systemd is to the loop: its events, and its watchdog.
//
// Mostly nothing has happened: the engines' time has come. So the loop stays prepared meanwhile (its timers change in
// its own callbacks only), and waiting for its descriptor is all that a slot costs: the library is not even asked for
// its state.

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

// Begins as zero.
struct loop_waiting {
    bool prepared; // it only waits for its descriptor
    int fd;        // this one
};

// Waits at most so long, and runs what has happened. Returns 0 or more, or a negative errno.
int loop_wait(sd_event *loop, struct loop_waiting *waiting, uint64_t timeout_us);

// Takes the loop out of its preparation, which does not know of timers that were set since.
int loop_prepare_again(sd_event *loop, struct loop_waiting *waiting);

bool loop_is_over(sd_event *loop, const struct loop_waiting *waiting);

// The watchdog, which must be fed while topdownd is well.
struct loop_watchdog {
    uint64_t us, fed_us; // us 0: it is off
};
int loop_watchdog_open(struct loop_watchdog *watchdog); // 0 or more, or a negative errno
void loop_watchdog_feed(struct loop_watchdog *watchdog, uint64_t now_ns);

// The time to wake for a deadline, but in time for the watchdog if slots are long.
uint64_t loop_wake_us(const struct loop_watchdog *watchdog, uint64_t deadline_ns);

#endif
