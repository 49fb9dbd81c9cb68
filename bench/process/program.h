// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_PROCESS_PROGRAM_H
#define TOPDOWND_BENCH_PROCESS_PROGRAM_H

// A program that runs beside others, is scraped, and whose cost the kernel tells.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct program {
    const char *name;
    pid_t pid; // 0: it could not be started
    int log_fd, connection;
    uint16_t port;
};

// Starts it. If `port` is 0, waits until it says where it listens. Ends the benchmark if it fails; children die with
// it.
struct program program_start(const char *name, uint16_t port, const char *const *arguments);
void program_stop(struct program *program);

// Its CPU time so far, all threads; and how often they went to sleep and woke.
double program_cpu_seconds(const struct program *program);
double program_wakeups(const struct program *program);

// Counts its system calls from now on, for so long, by strace: it is slow meanwhile. The second function waits for the
// end of that and returns how many there were; NaN where there is no strace.
FILE *program_trace(const struct program *program, int seconds);
double program_traced_calls(FILE *trace);

// Fetches a page on the connection that it keeps, as Prometheus does. Returns the length of the body; `body`, of `size`
// bytes, gets its beginning, terminated.
size_t program_fetch(struct program *program, const char *path, char *body, size_t size);

void bench_sleep_until(double seconds); // CLOCK_MONOTONIC
double bench_now(void);

#endif
