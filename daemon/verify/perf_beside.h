// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_VERIFY_PERF_BESIDE_H
#define TOPDOWND_DAEMON_VERIFY_PERF_BESIDE_H

// `perf stat` beside a measurement, on the same CPU.

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct perf_beside {
    const char *cpu, *path; // the file of what it says
    pid_t process;          // 0: none
};

enum { PERF_EVENTS = 5 };

struct perf_count {
    const char *event;  // perf's name
    const char *metric; // whose total it is
    bool denominator;
    double per_second; // NaN: not counted
};

// Starts it for so long. Where there is no perf, the file stays empty.
void perf_beside_start(struct perf_beside *perf, double seconds);
// Waits for its end, and reads what it says. False if there is no perf, or it counted nothing.
bool perf_beside_end(struct perf_beside *perf, struct perf_count out[PERF_EVENTS]);

// Reads what `perf stat -x,` says.
bool perf_beside_read(const char *text, struct perf_count out[PERF_EVENTS]);

#endif
