// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/stopper.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/base/clocks.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);

int stopper_init(struct stopper *stopper) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigset_t set;
    *stopper = (struct stopper){.fd = -1};
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void)sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, &stopper->before) < 0)
        return -errno;
    stopper->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return stopper->fd < 0 ? -errno : 0;
}

void stopper_deinit(struct stopper *stopper) {
    if (stopper->fd >= 0)
        (void)close(stopper->fd);
    (void)sigprocmask(SIG_SETMASK, &stopper->before, NULL);
}

bool stopper_wait(struct stopper *stopper, uint64_t until_ns) {
    struct pollfd input = {.fd = stopper->fd, .events = POLLIN};
    uint64_t now_ns = clocks_now_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec timeout = {.tv_sec = (time_t)(left_ns / SECOND_NS), .tv_nsec = (long)(left_ns % SECOND_NS)};
    struct signalfd_siginfo info;
    bool came = false;
    if (ppoll(&input, 1, &timeout, NULL) <= 0)
        return false;
    while (read(stopper->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        came = true;
        if (info.ssi_signo != SIGCHLD)
            stopper->signal = (int)info.ssi_signo;
    }
    return came;
}
