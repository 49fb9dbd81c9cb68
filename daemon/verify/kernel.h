// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_VERIFY_KERNEL_H
#define TOPDOWND_DAEMON_VERIFY_KERNEL_H

// Small programs of which it is known what a CPU is bound by while it runs them, and how much they count. Each runs in
// a process of its own, on one CPU, and says in shared memory how far it is.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What one iteration counts: a total of the metric, between two bounds.
struct kernel_count {
    const char *what;   // for people
    const char *metric; // by its name in Prometheus, without topdownd_; NULL ends the list
    bool denominator;   // its denominator; else its numerator
    double least, most;
};

enum { KERNEL_COUNTS_MAX = 4 };

struct kernel_shared {
    _Atomic uint64_t iterations;
    _Atomic int failed; // errno: it cannot run here
    _Atomic bool stop;
};

struct kernel {
    const char *name, *what;
    const char
        *category; // the part of level 1 that must be the largest; NULL: the kernel's software events alone count
    struct kernel_count counts[KERNEL_COUNTS_MAX];
    void (*run)(struct kernel_shared *shared); // until it is to stop
};

extern const struct kernel kernels[];
extern const size_t n_kernels;

// Starts it on the CPU. It ends with this process. Returns the process or a negative errno.
pid_t kernel_start(const struct kernel *kernel, unsigned cpu, struct kernel_shared *shared);
void kernel_stop(pid_t process, struct kernel_shared *shared);

// Shared with the processes that are started later; NULL if out of memory.
struct kernel_shared *kernel_shared_new(void);
struct kernel_shared *kernel_shared_free(struct kernel_shared *shared); // returns NULL, takes NULL

// kernel_code.c: jumps over a large code, written at run time. -EOPNOTSUPP where its instructions are not known.
enum { KERNEL_CODE_INSTRUCTIONS = 5 }; // of a block, the last of which jumps
int kernel_code_new(size_t blocks, void **code, size_t *bytes);

#endif
