// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_VM_GUEST_WORK_H
#define TOPDOWND_TESTS_VM_GUEST_WORK_H

// The work of the test machine's processes besides the daemon. Each runs in a child of its own and answers on `out`: a
// line "ok" or "error TEXT", then its results. Times are CLOCK_MONOTONIC.

#include <stdint.h>

uint64_t work_now_ns(void);

// Opens and closes an event: its type, its config, a task (0: the caller, -1: all) and a CPU (-1: any). Returns 0 or a
// negative errno.
int work_open(char *const words[4]);

// Keeps a CPU busy; returns 0 or a negative errno.
int work_burn(double seconds, unsigned cpu);

// Takes `general` counters of each online CPU with pinned events; if negative, all of them and the cycle counter.
// Answers the number of events that hold a counter, over all CPUs, closes `out`, and stays until killed.
_Noreturn void work_pin(int general, int out);

// Counts a task on one CPU like `perf stat -e '{cycles,instructions}'`, and answers "elapsed_ns enabled_ns running_ns
// cycles instructions".
void work_task_group(double seconds, unsigned cpu, int out);

#endif
