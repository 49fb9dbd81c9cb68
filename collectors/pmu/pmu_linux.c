// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/pmu_linux.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/array.h"

// A handle is an index into a table of open event groups. The leader is opened stopped, its siblings enabled: siblings
// follow their leader, so one ioctl on one file descriptor starts or stops them all. Events are never pinned, so other
// users of the counters keep their share. There is no RESET: the reader subtracts totals.
//
// When a CPU goes offline the kernel dissolves its groups for good. A read of the leader then returns one count alone,
// which tells, except in a group of one event. There times tell little: once the CPU is back, ENABLE may let the
// enabled time grow again, as if others held the counters. So such a group gets a second event, PERF_COUNT_SW_DUMMY,
// which counts nothing and takes no counter. It costs a file descriptor, and groups of one event are rare.

// Events that exclude guests are off the counters while a guest has these for itself (the mediated virtual PMU), and
// their enabled and running times do not go on (kernel/events/core.c: perf_event_context.timeguest). How long that was
// shows the clock: at least as long as passed between the end of the call that started the group and the beginning of
// the one that stopped or read it, less its enabled time. Calls that take long make it seem shorter, never longer. A
// group without a dummy event whose CPU went offline would look the same, so nothing is said of it.

enum { EVENTS_MAX = 512 };
enum { CLOCKS_DIFFER_NS = 1000000, CLOCKS_DIFFER_PART = 512 }; // two clocks: by so much, and by this part of the time

struct linux_group {
    int *fds;           // [0] leads; NULL: free entry
    size_t n;           // with the dummy event
    bool watched;       // for guests: it excludes them
    uint64_t begun_ns;  // when it was started, or last read since; 0: it is stopped
    uint64_t passed_ns; // while it was started, since it was last read
    struct pmu_times times;
};

struct pmu_linux {
    struct pmu pmu;  // first
    uint32_t *types; // indexed by pmu_event.pmu
    size_t n_types;
    bool exclude_guest;
    bool moving; // events move to another CPU: none is taken off, and what does not move must not be in their groups
    struct linux_group *groups;
    size_t n_groups;
    size_t n_free, first_free; // free entries; none is before first_free
};

static struct pmu_linux *of(struct pmu *pmu) { return (struct pmu_linux *)pmu; }

static int perf_event_open(struct perf_event_attr *attr, int cpu, int leader) {
    long fd = syscall(SYS_perf_event_open, attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static uint64_t clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// Adds the time since the group was started, before the call that stops or reads it.
static void note_passed(struct linux_group *group, uint64_t now_ns) {
    if (group->begun_ns > 0 && now_ns > group->begun_ns)
        group->passed_ns += now_ns - group->begun_ns;
}

// Takes the times that were read, and how much of what has passed since the last read was a guest's.
static void take_times(struct linux_group *group, uint64_t enabled_ns, uint64_t running_ns) {
    uint64_t counted_ns = enabled_ns - group->times.enabled_ns;
    uint64_t may_differ_ns = CLOCKS_DIFFER_NS + group->passed_ns / CLOCKS_DIFFER_PART;
    if (enabled_ns >= group->times.enabled_ns && group->passed_ns > counted_ns + may_differ_ns)
        group->times.guest_ns += group->passed_ns - counted_ns;
    group->times.enabled_ns = enabled_ns;
    group->times.running_ns = running_ns;
    group->passed_ns = 0;
}

static void linux_advance(struct pmu *pmu, uint64_t now_ns) {
    (void)pmu;
    (void)now_ns;
}

// Free entries are used again: a daemon opens event groups all year.
static int table_add(struct pmu_linux *l, struct linux_group group) {
    if (l->n_free > 0) {
        while (l->groups[l->first_free].fds)
            l->first_free++;
        l->n_free--;
        l->groups[l->first_free] = group;
        return (int)l->first_free++;
    }
    struct linux_group *groups = array_grow(l->groups, l->n_groups, sizeof *groups);
    if (!groups)
        return -ENOMEM;
    l->groups = groups;
    l->groups[l->n_groups] = group;
    return (int)l->n_groups++;
}

static void group_deinit(struct linux_group *group) {
    while (group->n > 0)
        close(group->fds[--group->n]);
    free(group->fds);
    group->fds = NULL;
}

// Adds the dummy event. A kernel that refuses it goes without.
static void group_watch(struct linux_group *group, unsigned cpu) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY};
    int fd = perf_event_open(&attr, (int)cpu, group->fds[0]);
    if (fd >= 0)
        group->fds[group->n++] = fd;
}

// The kernel's generic events count there too, whatever their PMU is called.
static bool counts_on_core(const struct pmu_linux_types *types, unsigned pmu) {
    return pmu == 0 || types->types[pmu] == PERF_TYPE_HARDWARE || types->types[pmu] == PERF_TYPE_HW_CACHE;
}

int pmu_linux_describe(const struct pmu_linux_types *types, const struct pmu_event *event,
                       struct perf_event_attr *out) {
    if (event->pmu >= types->n)
        return -ENOENT;
    bool hardware = types->types[0] != PERF_TYPE_SOFTWARE; // some kernels refuse exclude_guest for these
    *out = (struct perf_event_attr){
        .type = types->types[event->pmu],
        .size = sizeof *out,
        .config = event->config,
        .config1 = event->config1,
        .config2 = event->config2,
        .exclude_user = (event->exclude & PMU_EXCLUDE_USER) != 0,
        .exclude_kernel = (event->exclude & PMU_EXCLUDE_KERNEL) != 0,
        .exclude_hv = (event->exclude & PMU_EXCLUDE_HYPERVISOR) != 0,
        .exclude_guest = types->exclude_guest && hardware && counts_on_core(types, event->pmu),
    };
    return 0;
}

static int group_open(const struct pmu_linux *l, unsigned cpu, const struct pmu_event *events, size_t n,
                      struct linux_group *group) {
    const struct pmu_linux_types types = {l->types, l->n_types, l->exclude_guest};
    for (; group->n < n; group->n++) {
        struct perf_event_attr attr;
        int r = pmu_linux_describe(&types, &events[group->n], &attr);
        if (r < 0)
            return r;
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        attr.disabled = group->n == 0;
        int fd = perf_event_open(&attr, (int)cpu, group->n == 0 ? -1 : group->fds[0]);
        if (fd < 0)
            return fd;
        group->fds[group->n] = fd;
        group->watched = group->watched || attr.exclude_guest;
    }
    return 0;
}

static int linux_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct pmu_linux *l = of(pmu);
    if (n == 0 || n > EVENTS_MAX)
        return -EINVAL;
    struct linux_group group = {.fds = calloc(n + 1, sizeof *group.fds)};
    if (!group.fds)
        return -ENOMEM;
    int r = group_open(l, cpu, events, n, &group);
    if (r == 0 && n == 1 && !l->moving)
        group_watch(&group, cpu);
    group.watched = group.watched && group.n > 1;
    if (r == 0)
        r = table_add(l, group);
    if (r < 0)
        group_deinit(&group);
    else
        pmu->n_events += group.n;
    return r;
}

static int linux_enable(struct pmu *pmu, int handle, bool enabled) {
    struct linux_group *group = &of(pmu)->groups[handle];
    if (group->begun_ns > 0 && !enabled)
        note_passed(group, clock_ns());
    int r = ioctl(group->fds[0], enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
    group->begun_ns = group->watched && enabled && r == 0 ? clock_ns() : 0;
    return r;
}

// What read(2) returns with this read_format, see perf_event_open(2).
struct read_buffer {
    uint64_t n, enabled_ns, running_ns, counts[EVENTS_MAX];
};

static int linux_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    struct read_buffer buffer;
    struct linux_group *group = &of(pmu)->groups[handle];
    size_t members = n == 1 ? group->n : n;
    size_t wanted = offsetof(struct read_buffer, counts) + members * sizeof *counts;
    if (group->begun_ns > 0)
        note_passed(group, clock_ns());
    ssize_t length = read(group->fds[0], &buffer, wanted);
    if (length < 0)
        return -errno;
    if ((size_t)length != wanted || buffer.n != members)
        return -ENODEV; // the kernel dissolved the group: its CPU went offline
    take_times(group, buffer.enabled_ns, buffer.running_ns);
    if (group->begun_ns > 0)
        group->begun_ns = clock_ns();
    *times = group->times;
    for (size_t i = 0; i < n; i++)
        counts[i] = buffer.counts[i];
    return 0;
}

static void linux_close(struct pmu *pmu, int handle) {
    struct pmu_linux *l = of(pmu);
    pmu->n_events -= l->groups[handle].n;
    group_deinit(&l->groups[handle]);
    if (l->n_free == 0 || (size_t)handle < l->first_free)
        l->first_free = (size_t)handle;
    l->n_free++;
}

static void linux_free(struct pmu *pmu) {
    struct pmu_linux *l = of(pmu);
    for (size_t i = 0; i < l->n_groups; i++)
        group_deinit(&l->groups[i]);
    free(l->groups);
    free(l->types);
    free(l);
}

int pmu_linux_new(const uint32_t *types, size_t n_types, bool exclude_guest, struct pmu **out) {
    static const struct pmu_ops ops = {.advance = linux_advance,
                                       .open = linux_open,
                                       .enable = linux_enable,
                                       .read = linux_read,
                                       .close = linux_close,
                                       .free = linux_free};
    struct pmu_linux *l = calloc(1, sizeof *l);
    if (!l)
        return -ENOMEM;
    l->types = calloc(n_types ? n_types : 1, sizeof *l->types);
    if (!l->types) {
        free(l);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n_types; i++)
        l->types[i] = types[i];
    l->pmu.ops = &ops;
    l->n_types = n_types;
    l->exclude_guest = exclude_guest;
    *out = &l->pmu;
    return 0;
}

int pmu_linux_new_moving(const uint32_t *types, size_t n_types, struct pmu **out) {
    int r = pmu_linux_new(types, n_types, false, out);
    if (r == 0)
        of(*out)->moving = true;
    return r;
}

int pmu_linux_probe_hardware(void) {
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .disabled = 1,
                                   .exclude_guest = 1}; // the probe works even if a guest owns the PMU
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC); // for this process, on any CPU
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

int pmu_linux_probe_event(uint32_t type, uint64_t config, unsigned cpu) {
    struct perf_event_attr attr = {.type = type, .size = sizeof attr, .config = config, .disabled = 1};
    attr.exclude_guest = 1; // else no guest that gets the PMU for itself could be made meanwhile
    int fd = perf_event_open(&attr, (int)cpu, -1);
    attr.exclude_guest = 0; // some drivers take no such bit
    if (fd < 0)
        fd = perf_event_open(&attr, (int)cpu, -1);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

// Reads the factor between the clock's ticks and nanoseconds, which the kernel shows beside an open event.
static double read_frequency(const volatile struct perf_event_mmap_page *page) {
    uint32_t sequence, factor;
    uint16_t shift;
    bool known;
    do {
        sequence = page->lock;
        atomic_signal_fence(memory_order_seq_cst);
        known = page->cap_user_time;
        factor = page->time_mult;
        shift = page->time_shift;
        atomic_signal_fence(memory_order_seq_cst);
    } while (page->lock != sequence);
    return known && factor > 0 ? ldexp(1e9 / factor, shift) : NAN;
}

double pmu_linux_clock_frequency(void) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .disabled = 1,
                                   .exclude_kernel = 1, // for any user
                                   .exclude_hv = 1};
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC); // for this process
    if (fd < 0)
        return NAN;
    void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, (int)fd, 0);
    double frequency = NAN;
    if (page != MAP_FAILED) {
        frequency = read_frequency(page);
        munmap(page, size);
    }
    close((int)fd);
    return frequency;
}

const char *pmu_linux_reason(int error) {
    switch (error) {
    case -EACCES:
    case -EPERM:
        return "not_allowed";
    case -ENOENT:
    case -ENOSYS:
        return "absent";
    case -ENODEV:
    case -ENXIO:
        return "offline";
    case -EMFILE:
    case -ENFILE:
        return "too_many_files";
    case -EBUSY:
        return "busy";
    case -EINVAL:
    case -EOPNOTSUPP:
        return "refused";
    default:
        return "failed";
    }
}

// The files with the two remedies where CAP_PERFMON is not enough.
#define REMEDIES TOPDOWND_DATADIR "/remedies"

static const char *remedy_of(int error) {
    switch (error) {
    case -EACCES:
        return "counting on all CPUs needs CAP_PERFMON, which the systemd unit gives, or root; where "
               "kernel.perf_event_paranoid is 3 or more, as Debian sets it, only CAP_SYS_ADMIN is enough. As root, one "
               "of "
               "'cp " REMEDIES "/90-topdownd.conf /etc/sysctl.d/ && sysctl -p /etc/sysctl.d/90-topdownd.conf' and "
               "'install -Dm644 -t /etc/systemd/system/topdownd.service.d " REMEDIES "/cap-sys-admin.conf && "
               "systemctl daemon-reload && systemctl restart topdownd'";
    case -EPERM:
        return "a security policy forbids perf_event_open, such as a container's seccomp profile: allow it there, and "
               "give the daemon CAP_PERFMON";
    case -ENOENT:
        return "the kernel does not offer these counters: most virtual machines hide the CPU's PMU, and a hypervisor "
               "may have a setting for a virtual one; or the kernel is too old for this CPU";
    case -ENOSYS:
        return "the kernel is built without perf events: use one with CONFIG_PERF_EVENTS";
    case -ENODEV:
        return "the CPU is offline: bring it back, and it is measured from the next round on";
    case -ENXIO: // of a PMU outside the cores
        return "the PMU is gone: its driver has been unloaded, or no CPU that could read it is online. Its totals "
               "stand "
               "still until it is back, and the others go on";
    case -EINVAL:
        return "the kernel does not take such an event, or so many at once, on this PMU: use a newer kernel, or name "
               "other metric groups; where guests is auto, try guests: share";
    case -EBUSY:
        return "somebody has the PMU for himself (an exclusive event, a debugger, another profiler's driver): end that "
               "program";
    case -EOPNOTSUPP:
        return "the PMU cannot do this, or guests that have it for themselves are running: with guests: auto the "
               "daemon keeps out of their way";
    case -EMFILE:
        return "raise the limit of open files (LimitNOFILE= in the systemd unit, ulimit -n in a shell), or measure "
               "fewer CPUs or metric groups";
    case -ENFILE:
        return "the whole host has no file left: raise fs.file-max (sysctl), or find out who holds them";
    case -ENOMEM:
        return "the kernel has no memory left for events: free some, or measure fewer CPUs or metric groups";
    default:
        return "see perf_event_open(2) for this error";
    }
}

void pmu_linux_remedy(int error, size_t files, char *out, size_t size) {
    int length = 0;
    if ((error == -EMFILE || error == -ENFILE) && files > 0)
        length = snprintf(out, size, "%zu file descriptors are needed, one for each event and CPU: ", files);
    if (length >= 0 && (size_t)length < size)
        (void)snprintf(out + length, size - (size_t)length, "%s", remedy_of(error));
}
