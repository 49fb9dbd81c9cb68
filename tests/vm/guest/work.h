// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_VM_GUEST_WORK_H
#define TOPDOWND_TESTS_VM_GUEST_WORK_H

// What the test machine's processes do besides the daemon. Each runs in a child of its own and answers on `out`: a line
// "ok" or "error TEXT", then what it has to say. Times are of CLOCK_MONOTONIC.

#include <stdint.h>

uint64_t work_now_ns(void);

// Keeps a CPU busy; returns 0 or a negative errno.
int work_burn(double seconds, unsigned cpu);

// Takes `general` counters of each CPU that is online, all that there are where it is negative, and then the cycle
// counter too, with pinned events. Answers how many events hold a counter, on all CPUs together, closes `out`, and
// stays until it is killed.
_Noreturn void work_pin(int general, int out);

// Runs a program as `perf stat -e '{cycles,instructions}'` does, on one CPU, and answers "elapsed_ns enabled_ns
// running_ns cycles instructions".
void work_task_group(double seconds, unsigned cpu, int out);

#endif
