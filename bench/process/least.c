// SPDX-License-Identifier: Apache-2.0
#include "bench/process/least.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_N = 6, GROUPS_MAX = 8, SKIPPED = 77 };

static const uint64_t EVENTS[EVENTS_N] = {PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
                                          PERF_COUNT_SW_PAGE_FAULTS_MIN,  PERF_COUNT_SW_PAGE_FAULTS_MAJ,
                                          PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_COUNT_SW_EMULATION_FAULTS};

struct loop {
    struct least_pace *pace;
    size_t n_groups;
    long n_cpus;
    int (*leaders)[GROUPS_MAX]; // [cpu][group]
    size_t *group;              // [cpu]: the one that counts
    size_t call;                // of the cycle: 0 stop, 1 start, 2 read, for each CPU in turn
    uint64_t sum;
};

static int open_event(uint64_t config, long cpu, int leader, bool disabled) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = config,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .disabled = disabled};
    return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

// Splits the events over the groups. False if the kernel refuses.
static bool open_groups(struct loop *loop, long cpu) {
    size_t n = loop->n_groups, each = EVENTS_N / n;
    for (size_t g = 0; g < n; g++) {
        int leader = -1;
        for (size_t e = 0; e < each; e++) {
            int fd = open_event(EVENTS[g * each + e], cpu, leader, e == 0 && g > 0);
            if (fd < 0)
                return false;
            leader = e == 0 ? fd : leader;
        }
        loop->leaders[cpu][g] = leader;
    }
    return true;
}

static void read_group(struct loop *loop, int leader) {
    uint64_t buffer[3 + EVENTS_N] = {0};
    if (read(leader, buffer, sizeof buffer) > 0)
        loop->sum += buffer[3];
}

static void rotate(struct loop *loop) {
    size_t cpu = loop->call / 3 % (size_t)loop->n_cpus, *group = &loop->group[cpu];
    size_t next = (*group + 1) % loop->n_groups;
    loop->pace->calls = (double)(loop->call + 1);
    switch (loop->call++ % 3) {
    case 0:
        ioctl(loop->leaders[cpu][*group], PERF_EVENT_IOC_DISABLE, 0);
        break;
    case 1:
        ioctl(loop->leaders[cpu][next], PERF_EVENT_IOC_ENABLE, 0);
        break;
    default:
        read_group(loop, loop->leaders[cpu][*group]);
        *group = next;
    }
}

static void run(struct loop *loop) {
    struct timespec next;
    double due = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        long period_ns = (long)(1e9 / loop->pace->wakeups_a_second);
        next.tv_nsec += period_ns % 1000000000;
        next.tv_sec += period_ns / 1000000000 + next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
            ;
        for (long cpu = 0; cpu < loop->n_cpus && loop->n_groups == 1; cpu++)
            read_group(loop, loop->leaders[cpu][0]);
        if (loop->n_groups > 1)
            for (due += loop->pace->calls_a_wakeup; due >= 1; due--)
                rotate(loop);
    }
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_length, void **request) {
    static int seen;
    (void)url, (void)method, (void)version, (void)body, (void)body_length;
    if (!*request) { // an answer to the headers alone would end the connection
        *request = &seen;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, context);
}

static bool serve(size_t page_bytes) {
    char *page = malloc(page_bytes + 1);
    if (!page)
        return false;
    memset(page, 'x', page_bytes);
    struct MHD_Response *response = MHD_create_response_from_buffer(page_bytes, page, MHD_RESPMEM_MUST_FREE);
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, NULL, NULL, answer,
                                                 response, MHD_OPTION_END);
    if (!response || !daemon)
        return false;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    (void)fprintf(stderr, "http://127.0.0.1:%u/\n", info->port);
    return true;
}

struct least_pace *least_pace_map(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(struct least_pace)) == 0)
        memory = mmap(NULL, sizeof(struct least_pace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

int least_run(struct least_pace *pace, size_t n_groups, size_t page_bytes) {
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct loop loop = {.pace = pace,
                        .n_groups = n_groups,
                        .n_cpus = n_cpus,
                        .leaders = calloc((size_t)n_cpus, sizeof *loop.leaders),
                        .group = calloc((size_t)n_cpus, sizeof *loop.group)};
    if (!pace || !loop.leaders || !loop.group || n_groups == 0 || n_groups > GROUPS_MAX)
        return EXIT_FAILURE;
    for (long cpu = 0; cpu < n_cpus; cpu++)
        if (!open_groups(&loop, cpu))
            return SKIPPED;
    if (!serve(page_bytes))
        return EXIT_FAILURE;
    run(&loop);
    return EXIT_SUCCESS;
}
