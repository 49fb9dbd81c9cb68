// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_BUSY_H
#define TOPDOWND_COLLECTORS_HOST_HOST_BUSY_H

#include "collectors/host/busy_clock.h"

// A busy clock that reads /proc/stat below `procfs`: the time since `base` in which a CPU was neither idle nor waiting
// for I/O. The kernel brings the idle time of sleeping CPUs up to date for each reader, without waking them
// (fs/proc/stat.c: get_idle_time, get_iowait_time); its unit is USER_HZ, 10 ms. Returns 0, -ENOMEM, or another negative
// errno if there is no such file.
int host_busy_new(const char *procfs, struct busy_clock **out);
struct busy_clock *host_busy_free(struct busy_clock *clock); // returns NULL, takes NULL

#endif
