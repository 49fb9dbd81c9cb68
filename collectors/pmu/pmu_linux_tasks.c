// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/pmu_linux_tasks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/pmu/pmu_linux.h"
#include "core/base/array.h"

enum { EVENTS_MAX = 512 };

struct group {
    int *fds; // [0] leads, unless they are apart
    size_t n;
    bool apart;
};

struct pmu_linux_tasks {
    struct pmu_linux_tasks_request request; // with types of its own
    uint32_t *types;
    struct group *groups;
    size_t n_groups;
};

int pmu_linux_tasks_new(const struct pmu_linux_tasks_request *request, struct pmu_linux_tasks **out) {
    struct pmu_linux_tasks *tasks = calloc(1, sizeof *tasks);
    if (!tasks)
        return -ENOMEM;
    tasks->request = *request;
    tasks->types = calloc(request->n_types + 1, sizeof *tasks->types);
    if (!tasks->types) {
        free(tasks);
        return -ENOMEM;
    }
    for (size_t i = 0; i < request->n_types; i++)
        tasks->types[i] = request->types[i];
    tasks->request.types = tasks->types;
    *out = tasks;
    return 0;
}

static void group_deinit(struct group *group) {
    while (group->n > 0)
        (void)close(group->fds[--group->n]);
    free(group->fds);
    group->fds = NULL;
}

struct pmu_linux_tasks *pmu_linux_tasks_free(struct pmu_linux_tasks *tasks) {
    if (!tasks)
        return NULL;
    for (size_t i = 0; i < tasks->n_groups; i++)
        group_deinit(&tasks->groups[i]);
    free(tasks->groups);
    free(tasks->types);
    free(tasks);
    return NULL;
}

static int open_event(const struct pmu_linux_tasks *tasks, const struct pmu_event *event, int leader, bool apart) {
    const struct pmu_linux_tasks_request *request = &tasks->request;
    const struct pmu_linux_types types = {request->types, request->n_types, request->exclude_guest};
    struct perf_event_attr attr;
    int r = pmu_linux_describe(&types, event, &attr);
    if (r < 0)
        return r;
    bool leads = leader < 0;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.read_format |= apart ? 0 : PERF_FORMAT_GROUP;
    attr.inherit = 1;
    attr.disabled = leads;
    attr.enable_on_exec = leads;
    attr.exclude_kernel = attr.exclude_kernel || request->user_only;
    attr.exclude_hv = attr.exclude_hv || request->user_only;
    long fd = syscall(SYS_perf_event_open, &attr, request->pid, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int open_group(const struct pmu_linux_tasks *tasks, const struct pmu_event *events, size_t n,
                      struct group *group) {
    while (group->n < n) {
        bool leads = group->n == 0 || group->apart;
        int fd = open_event(tasks, &events[group->n], leads ? -1 : group->fds[0], group->apart);
        if (fd < 0)
            return fd;
        group->fds[group->n++] = fd;
    }
    return 0;
}

int pmu_linux_tasks_open(struct pmu_linux_tasks *tasks, const struct pmu_event *events, size_t n) {
    if (n == 0 || n > EVENTS_MAX)
        return -EINVAL;
    struct group *groups = array_grow(tasks->groups, tasks->n_groups, sizeof *groups);
    if (!groups)
        return -ENOMEM;
    tasks->groups = groups;
    struct group group = {.fds = calloc(n, sizeof *group.fds), .apart = tasks->request.apart};
    if (!group.fds)
        return -ENOMEM;
    int r = open_group(tasks, events, n, &group);
    if (r == -EINVAL && !group.apart) {
        while (group.n > 0)
            (void)close(group.fds[--group.n]);
        group.apart = true;
        r = open_group(tasks, events, n, &group);
    }
    if (r < 0) {
        group_deinit(&group);
        return r;
    }
    tasks->groups[tasks->n_groups] = group;
    return (int)tasks->n_groups++;
}

// What read(2) returns, see perf_event_open(2).
struct read_group {
    uint64_t n, enabled_ns, running_ns, counts[EVENTS_MAX];
};
struct read_event {
    uint64_t count, enabled_ns, running_ns;
};

static int read_apart(const struct group *group, struct pmu_times *times, uint64_t *counts) {
    struct read_event event;
    for (size_t i = 0; i < group->n; i++) {
        ssize_t length = read(group->fds[i], &event, sizeof event);
        if (length != (ssize_t)sizeof event)
            return length < 0 ? -errno : -EIO;
        if (i == 0)
            *times = (struct pmu_times){.enabled_ns = event.enabled_ns, .running_ns = event.running_ns};
        counts[i] = event.count;
        if (i > 0 && event.running_ns > 0 && event.running_ns != times->running_ns)
            counts[i] = (uint64_t)((double)event.count * (double)times->running_ns / (double)event.running_ns);
    }
    return 0;
}

int pmu_linux_tasks_read(const struct pmu_linux_tasks *tasks, int handle, struct pmu_times *times, uint64_t *counts,
                         size_t n) {
    const struct group *group = &tasks->groups[handle];
    struct read_group buffer;
    if (group->apart)
        return read_apart(group, times, counts);
    size_t wanted = offsetof(struct read_group, counts) + n * sizeof *counts;
    ssize_t length = read(group->fds[0], &buffer, wanted);
    if (length < 0)
        return -errno;
    if ((size_t)length != wanted || buffer.n != n)
        return -EIO;
    *times = (struct pmu_times){.enabled_ns = buffer.enabled_ns, .running_ns = buffer.running_ns};
    for (size_t i = 0; i < n; i++)
        counts[i] = buffer.counts[i];
    return 0;
}

bool pmu_linux_tasks_apart(const struct pmu_linux_tasks *tasks) {
    for (size_t i = 0; i < tasks->n_groups; i++)
        if (tasks->groups[i].apart)
            return true;
    return false;
}
