// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/guest/work.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CPUS_MAX = 1024, LEADERLESS = -1, ITSELF = 0, ALL_TASKS = -1, ANY_CPU = -1, BLOCKS = 4000, TURN_NS = 2000000 };

// Codes of the Arm PMU architecture; PERF_TYPE_RAW uses them unchanged.
enum { INST_RETIRED = 0x08, CPU_CYCLES = 0x11 };

uint64_t work_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int stay_on(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) < 0 ? -errno : 0;
}

// Runs a quarter of a million instructions, which is a turn (see work_burn). The emulator is fastest at long blocks
// without branches, and slowest at reading the clock.
static void spin_shortly(void) {
    for (unsigned i = 0; i < BLOCKS; i++)
        __asm__ volatile(".rept 64\n\tnop\n\t.endr");
}

static void spin(double seconds) {
    uint64_t end = work_now_ns() + (uint64_t)(seconds * 1e9);
    while (work_now_ns() < end)
        spin_shortly();
}

// The emulator runs one CPU at a time until the machine's next timer is due. While this CPU spins, a call to another
// CPU would wait for the kernel's tick. A timer that is always due soon keeps the turns shorter than that, but not
// much: each end of a turn costs the emulator more than the two milliseconds of instructions in between.
int work_burn(double seconds, unsigned cpu) {
    static const struct itimerspec turn = {.it_interval.tv_nsec = TURN_NS, .it_value.tv_nsec = TURN_NS};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int r = timer < 0 || timerfd_settime(timer, 0, &turn, NULL) < 0 ? -errno : stay_on(cpu);
    uint64_t end = work_now_ns() + (uint64_t)(seconds * 1e9), expired;
    while (r == 0 && work_now_ns() < end) {
        (void)!read(timer, &expired, sizeof expired); // arms it again
        spin_shortly();
    }
    if (timer >= 0)
        close(timer);
    return r;
}

static int event_open(uint64_t config, bool pinned, bool disabled, pid_t pid, int cpu, int leader) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_RAW,
        .size = sizeof attr,
        .config = config,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .pinned = pinned,
        .disabled = disabled,
    };
    long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

int work_open(char *const words[4]) {
    struct perf_event_attr attr = {
        .type = (uint32_t)atoi(words[0]), .size = sizeof attr, .config = strtoull(words[1], NULL, 0)};
    long fd = syscall(SYS_perf_event_open, &attr, atoi(words[2]), atoi(words[3]), LEADERLESS, PERF_FLAG_FD_CLOEXEC);
    int r = fd < 0 ? -errno : 0;
    if (fd >= 0)
        close((int)fd);
    return r;
}

// A pinned event without a counter is in the error state and reads as end of file.
static bool take_counter(uint64_t config, int cpu) {
    int fd = event_open(config, true, false, ALL_TASKS, cpu, LEADERLESS);
    if (fd < 0)
        return false;
    uint64_t values[4];
    if (read(fd, values, sizeof values) > 0)
        return true; // and stays open
    close(fd);
    return false;
}

// The first cycles event gets the cycle counter, and all others need a general one.
static unsigned take_counters(int general, int cpu) {
    unsigned taken = general < 0 && take_counter(CPU_CYCLES, cpu);
    for (int i = 0; (general < 0 || i < general) && take_counter(INST_RETIRED, cpu); i++)
        taken++;
    return taken;
}

_Noreturn void work_pin(int general, int out) {
    unsigned taken = 0;
    for (int cpu = 0; cpu < CPUS_MAX; cpu++)
        taken += take_counters(general, cpu);
    (void)dprintf(out, "ok\n%u\n", taken);
    close(out);
    for (;;)
        pause();
}

void work_task_group(double seconds, unsigned cpu, int out) {
    int r = stay_on(cpu);
    int leader = r < 0 ? r : event_open(CPU_CYCLES, false, true, ITSELF, ANY_CPU, LEADERLESS);
    int member = leader < 0 ? leader : event_open(INST_RETIRED, false, false, ITSELF, ANY_CPU, leader);
    if (member < 0) {
        (void)dprintf(out, "error %s\n", strerror(-member));
        return;
    }
    struct {
        uint64_t n, enabled_ns, running_ns, cycles, instructions;
    } group;
    uint64_t begin = work_now_ns();
    ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
    spin(seconds);
    ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
    uint64_t elapsed_ns = work_now_ns() - begin;
    if (read(leader, &group, sizeof group) != sizeof group)
        (void)dprintf(out, "error the group cannot be read\n");
    else
        (void)dprintf(out, "ok\n%lu %lu %lu %lu %lu\n", elapsed_ns, group.enabled_ns, group.running_ns, group.cycles,
                      group.instructions);
    close(member);
    close(leader);
}
