// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/loop.h"

#include <systemd/sd-daemon.h>

#include "daemon/base/clocks.h"

int loop_prepare_again(sd_event *loop, struct loop_waiting *waiting) {
    int r = waiting->prepared ? sd_event_wait(loop, 0) : 0;
    waiting->prepared = false;
    return r > 0 ? sd_event_dispatch(loop) : r;
}

int loop_wait(sd_event *loop, struct loop_waiting *waiting, uint64_t timeout_us) {
    int r = 0;
    if (!waiting->prepared) {
        r = sd_event_prepare(loop);
        *waiting = (struct loop_waiting){.prepared = r == 0, .fd = sd_event_get_fd(loop)};
    }
    if (waiting->prepared && clocks_wait_for(waiting->fd, timeout_us)) {
        waiting->prepared = false;
        r = sd_event_wait(loop, 0);
    }
    return r > 0 ? sd_event_dispatch(loop) : r;
}

bool loop_is_over(sd_event *loop, const struct loop_waiting *waiting) {
    return !waiting->prepared && sd_event_get_state(loop) == SD_EVENT_FINISHED;
}

int loop_watchdog_open(struct loop_watchdog *watchdog) { return sd_watchdog_enabled(0, &watchdog->us); }

void loop_watchdog_feed(struct loop_watchdog *watchdog, uint64_t now_ns) {
    uint64_t now_us = now_ns / 1000;
    if (watchdog->us == 0 || now_us - watchdog->fed_us < watchdog->us / 4)
        return;
    (void)sd_notify(0, "WATCHDOG=1");
    watchdog->fed_us = now_us;
}

uint64_t loop_wake_us(const struct loop_watchdog *watchdog, uint64_t deadline_ns) {
    uint64_t due_us = deadline_ns / 1000 + 1;
    if (watchdog->us == 0)
        return due_us;
    uint64_t feed_us = clocks_now_ns() / 1000 + watchdog->us / 4;
    return feed_us < due_us ? feed_us : due_us;
}
