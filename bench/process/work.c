// SPDX-License-Identifier: Apache-2.0
#include "bench/process/work.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MEMORY_BYTES = 4 << 20, LINE_BYTES = 64 };

static _Noreturn void work(void) {
    volatile unsigned char *memory = calloc(1, MEMORY_BYTES);
    while (memory)
        for (size_t i = 0; i < MEMORY_BYTES; i += LINE_BYTES)
            memory[i]++;
    _exit(EXIT_FAILURE);
}

// In /proc/stat the time is that of nice processes.
static bool start(size_t cpu) {
    const struct sched_param priority = {.sched_priority = 0};
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pid_t pid = fork();
    if (pid != 0)
        return pid > 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && sched_setaffinity(0, sizeof cpus, &cpus) == 0 && nice(19) != -1 &&
        sched_setscheduler(0, SCHED_IDLE, &priority) == 0)
        work();
    _exit(EXIT_FAILURE);
}

bool work_start(void) {
    cpu_set_t cpus;
    bool started = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && started; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            started = start(cpu);
    return started;
}
