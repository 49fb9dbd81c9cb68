// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/loop.h"

#include <poll.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "daemon/base/clocks.h"

int loop_prepare_again(sd_event *loop) {
    int r = sd_event_get_state(loop) == SD_EVENT_ARMED ? sd_event_wait(loop, 0) : 0;
    return r > 0 ? sd_event_dispatch(loop) : r;
}

int loop_wait(sd_event *loop, uint64_t timeout_us) {
    struct pollfd events = {.fd = sd_event_get_fd(loop), .events = POLLIN};
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000),
                                     .tv_nsec = (long)(timeout_us % 1000000 * 1000)};
    int r = sd_event_get_state(loop) == SD_EVENT_ARMED ? 0 : sd_event_prepare(loop);
    if (r == 0 && ppoll(&events, 1, &timeout, NULL) > 0)
        r = sd_event_wait(loop, 0);
    return r > 0 ? sd_event_dispatch(loop) : r;
}

int loop_watchdog_open(struct loop_watchdog *watchdog) { return sd_watchdog_enabled(0, &watchdog->us); }

void loop_watchdog_feed(struct loop_watchdog *watchdog) {
    uint64_t now_us = clocks_now_ns() / 1000;
    if (watchdog->us == 0 || now_us - watchdog->fed_us < watchdog->us / 4)
        return;
    (void)sd_notify(0, "WATCHDOG=1");
    watchdog->fed_us = now_us;
}

uint64_t loop_wake_us(const struct loop_watchdog *watchdog, uint64_t deadline_ns) {
    uint64_t due_us = deadline_ns / 1000 + 1, feed_us = clocks_now_ns() / 1000 + watchdog->us / 4;
    return watchdog->us > 0 && feed_us < due_us ? feed_us : due_us;
}
