// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of collection beyond its system calls.
//
//     bench_collect [--spec FILE] [--rounds N]
//
// topdownd's path (the sampler on real event groups on all CPUs, readings, derive, snapshots) runs through thousands of
// slots back to back: time is an argument, so it jumps from slot edge to slot edge without sleeping. The events are the
// kernel's software events unless FILE names another spec and so another PMU. One run records the system calls; a bare
// loop then makes the same calls in the same order on event groups of its own. Both are timed in turns, the fastest
// repetition of each counts, and topdownd's CPU time may be at most RATIO_MAX times that of the bare loop. A slot may
// take CALLS_MAX system calls on each CPU.
//
// There are two plans: the default metric groups with the spec's counters (software events then make one event group,
// which alternates with the idle slot), and the same with only two counters, so that several event groups rotate.
// Events that the PMU lacks are opened all the same: they run, count nothing, and cost the same as others. On other
// CPUs a system call's interrupt hides most other costs. So, for information, both run once more on their own CPU
// alone, where calls are cheapest and topdownd's part is largest.

#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_linux.h"
#include "collectors/pmu/pmu_linux.h"
#include "collectors/pmu/sampler.h"
#include "config/spec/spec_json.h"
#include "core/plan/schedule.h"
#include "core/tally/derive.h"

#define RATIO_MAX 1.5
#define CALLS_MAX 3.0

enum { SKIPPED = 77, REPETITIONS = 11, ROUNDS = 400, ROUNDS_MAX = 1000000, EVENTS_MAX = 64, SEED = 7 };
enum { SLOT_NS = 200000000 };

struct options {
    const char *spec;
    unsigned long rounds;
};

// The measured objects and all that they depend on.
struct rig {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct topology *topology; // the layout's
    struct plan *plan;         // the layout's
    uint32_t type;             // perf_event_attr.type
    unsigned long rounds;
};

enum call_kind { CALL_DISABLE, CALL_ENABLE, CALL_READ, CALL_N };

// The system calls of all rounds, in order, by the handle of the event group.
struct trace {
    struct call {
        int handle;
        enum call_kind kind;
    } * calls;
    size_t n, capacity;
    size_t by_kind[CALL_N];
};

static void collect_fail(const char *what, int error) {
    (void)fprintf(stderr, "bench_collect: %s: %s\n", what, strerror(-error));
    exit(EXIT_FAILURE);
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---- a PMU that records the calls to another ----

struct noting_pmu {
    struct pmu pmu; // first
    struct pmu *real;
    struct trace *trace;
};

static struct noting_pmu *noting(struct pmu *pmu) { return (struct noting_pmu *)pmu; }

static void note(struct pmu *pmu, int handle, enum call_kind kind) {
    struct trace *trace = noting(pmu)->trace;
    if (trace->n == trace->capacity) {
        trace->capacity = trace->capacity ? 2 * trace->capacity : 4096;
        trace->calls = realloc(trace->calls, trace->capacity * sizeof *trace->calls);
        if (!trace->calls)
            collect_fail("trace", -ENOMEM);
    }
    trace->calls[trace->n++] = (struct call){.handle = handle, .kind = kind};
    trace->by_kind[kind]++;
}

static void noting_advance(struct pmu *pmu, uint64_t now_ns) {
    noting(pmu)->real->ops->advance(noting(pmu)->real, now_ns);
}

static int noting_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    return noting(pmu)->real->ops->open(noting(pmu)->real, cpu, events, n);
}

static int noting_enable(struct pmu *pmu, int handle, bool enabled) {
    note(pmu, handle, enabled ? CALL_ENABLE : CALL_DISABLE);
    return noting(pmu)->real->ops->enable(noting(pmu)->real, handle, enabled);
}

static int noting_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    note(pmu, handle, CALL_READ);
    return noting(pmu)->real->ops->read(noting(pmu)->real, handle, times, counts, n);
}

static void noting_close(struct pmu *pmu, int handle) { noting(pmu)->real->ops->close(noting(pmu)->real, handle); }

static const struct pmu_ops noting_ops = {.advance = noting_advance,
                                          .open = noting_open,
                                          .enable = noting_enable,
                                          .read = noting_read,
                                          .close = noting_close};

// ---- ours ----

// Opens all event groups, a few per step, and begins the first round. Returns the end of its first slot.
static uint64_t start_ns(struct sampler *sampler) {
    uint64_t now_ns = 1, next_ns = 1;
    while (next_ns - now_ns < SLOT_NS / 2) {
        now_ns = next_ns;
        sampler_step(sampler, now_ns, &next_ns);
    }
    return next_ns;
}

// Runs all rounds and returns their CPU time, without the time to open the event groups.
static double run_ours(const struct rig *rig, struct pmu *pmu, struct trace *trace) {
    struct sampler *sampler;
    const struct sampler_request request = {
        .plan = rig->plan, .topology = rig->topology, .pmu = pmu, .interval_ns = SCHEDULE_INTERVAL_NS, .seed = SEED};
    int r = sampler_new(&request, &sampler);
    struct derive *derive = derive_new(rig->layout);
    if (r < 0 || !derive)
        collect_fail("sampler", -ENOMEM);
    uint64_t now_ns = start_ns(sampler);
    size_t n_failed;
    r = sampler_open_error(sampler, &n_failed);
    if (r == -EACCES || r == -EPERM) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(r, 0, remedy, sizeof remedy);
        (void)printf("skipped: %s\n", remedy);
        exit(SKIPPED);
    }
    if (r < 0)
        collect_fail("opening event groups", r);
    if (trace)
        *trace = (struct trace){.calls = trace->calls, .capacity = trace->capacity};
    double begin = cpu_seconds();
    for (unsigned long round = 0; round < rig->rounds;) {
        if (sampler_step(sampler, now_ns, &now_ns) == 0)
            continue;
        struct snapshot *snapshot = snapshot_new(rig->layout);
        derive_round(derive, sampler_readings(sampler), snapshot);
        snapshot_unref(snapshot);
        round++;
    }
    double seconds = cpu_seconds() - begin;
    if (sampler_round_error(sampler) < 0)
        collect_fail("collecting", sampler_round_error(sampler));
    derive_free(derive);
    sampler_free(sampler);
    return seconds;
}

static double time_ours(const struct rig *rig) {
    struct pmu *pmu;
    int r = pmu_linux_new(&rig->type, 1, false, &pmu);
    if (r < 0)
        collect_fail("pmu", r);
    double seconds = run_ours(rig, pmu, NULL);
    pmu->ops->free(pmu);
    return seconds;
}

static void record(const struct rig *rig, struct trace *trace) {
    struct pmu *pmu;
    int r = pmu_linux_new(&rig->type, 1, false, &pmu);
    if (r < 0)
        collect_fail("pmu", r);
    struct noting_pmu noting_pmu = {.pmu = {.ops = &noting_ops}, .real = pmu, .trace = trace};
    (void)run_ours(rig, &noting_pmu.pmu, trace);
    pmu->ops->free(pmu);
}

// ---- the bare loop ----

static int open_event(uint32_t type, uint64_t config, unsigned cpu, int leader) {
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = config,
                                   .disabled = leader < 0,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        collect_fail("perf_event_open", -errno);
    return fd;
}

// Opens the same event groups in the order of the sampler's handles: CPU by CPU, group by group.
static size_t open_bare(const struct rig *rig, int (*fds)[EVENTS_MAX]) {
    size_t n = 0;
    for (size_t cpu = 0; cpu < rig->topology->n_cpus; cpu++) {
        for (size_t g = 0; g < rig->plan->n_groups; g++, n++) {
            const struct plan_group *group = &rig->plan->groups[g];
            for (size_t e = 0; e < group->n_events; e++)
                fds[n][e] = open_event(rig->type, rig->catalog->events[group->events[e]].code.config,
                                       rig->topology->cpus[cpu].id, e == 0 ? -1 : fds[n][0]);
        }
    }
    return n;
}

static void close_bare(const struct rig *rig, int (*fds)[EVENTS_MAX], size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t e = rig->plan->groups[i % rig->plan->n_groups].n_events; e > 0; e--)
            close(fds[i][e - 1]);
}

// Enables the group of each CPU's first slot, which was enabled before the trace begins.
static void enable_first(const struct trace *trace, int (*fds)[EVENTS_MAX], size_t n) {
    for (size_t handle = 0; handle < n; handle++) {
        for (size_t i = 0; i < trace->n; i++) {
            if (trace->calls[i].handle != (int)handle || trace->calls[i].kind == CALL_READ)
                continue;
            if (trace->calls[i].kind == CALL_DISABLE)
                ioctl(fds[handle][0], PERF_EVENT_IOC_ENABLE, 0);
            break;
        }
    }
}

// Checks that every event group ran: one that never does costs less.
static void check_ran(int (*fds)[EVENTS_MAX], size_t n) {
    struct {
        uint64_t n, enabled_ns, running_ns, counts[EVENTS_MAX];
    } group;
    for (size_t i = 0; i < n; i++) {
        if (read(fds[i][0], &group, sizeof group) < 0)
            collect_fail("an event group's times", -errno);
        if (group.running_ns == 0)
            collect_fail("an event group was never on the counters", -EBUSY);
    }
}

static double time_bare(const struct rig *rig, const struct trace *trace) {
    int(*fds)[EVENTS_MAX] = calloc(rig->topology->n_cpus * rig->plan->n_groups, sizeof *fds);
    if (!fds)
        collect_fail("file descriptors", -ENOMEM);
    size_t n = open_bare(rig, fds);
    enable_first(trace, fds, n);
    uint64_t buffer[3 + EVENTS_MAX];
    double begin = cpu_seconds();
    for (size_t i = 0; i < trace->n; i++) {
        int fd = fds[trace->calls[i].handle][0];
        long r;
        if (trace->calls[i].kind == CALL_READ)
            r = read(fd, buffer, sizeof buffer);
        else
            r = ioctl(fd, trace->calls[i].kind == CALL_ENABLE ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
        if (r < 0)
            collect_fail("bare loop", -errno);
    }
    double seconds = cpu_seconds() - begin;
    check_ran(fds, n);
    close_bare(rig, fds, n);
    free(fds);
    return seconds;
}

// ---- the whole ----

static void show_errors(const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        (void)fprintf(stderr, "bench_collect: %s\n", line);
    }
    exit(EXIT_FAILURE);
}

// Pins the program to one CPU, the only one to measure.
static struct cpuset only_own_cpu(void) {
    int cpu = sched_getcpu();
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)cpu, &cpus);
    if (cpu < 0 || sched_setaffinity(0, sizeof cpus, &cpus) < 0)
        collect_fail("staying on one CPU", -errno);
    struct cpuset own = {0};
    cpuset_add(&own, (unsigned)cpu);
    return own;
}

// Plans the metric groups of the daemon's default profile, as far as the spec has them.
static void make_plan(struct rig *rig, unsigned general_counters) {
    static const char *const names[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    struct plan_selection selections[sizeof names / sizeof *names];
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int group = catalog_find_group(rig->catalog, names[i]);
        if (group >= 0)
            selections[n++] = (struct plan_selection){.group = (unsigned)group};
    }
    const struct plan_request request = {.catalog = rig->catalog,
                                         .general_counters = general_counters,
                                         .selections = selections,
                                         .n_selections = n,
                                         .slot_ns = SLOT_NS,
                                         .idle = 0.1};
    int r = plan_new(&request, &rig->plan);
    if (r < 0)
        collect_fail("plan", r);
    if (rig->plan->n_groups == 0)
        collect_fail("a plan without event groups", -ENOENT);
}

// general_counters 0: the spec's number; `cpus` NULL: all.
static void rig_init(struct rig *rig, const struct options *options, unsigned general_counters,
                     const struct cpuset *cpus) {
    static const struct host_roots roots = {.sysfs = "/sys", .procfs = "/proc"};
    static struct errors errors; // far too large for a stack
    if (spec_json_load(options->spec, NULL, &errors, &rig->catalog) < 0 ||
        host_linux_topology(&roots, &(struct host_choice){.selected = cpus}, &errors, &rig->topology) < 0)
        show_errors(&errors);
    char name[HOST_TEXT_MAX];
    int r = host_linux_find_pmu(&roots, rig->catalog->product.pmu, "", name, sizeof name, &rig->type);
    if (r < 0)
        collect_fail("the spec's PMU", r);
    rig->rounds = options->rounds;
    make_plan(rig, general_counters > 0 ? general_counters : rig->catalog->general_counters);
    rig->layout = snapshot_layout_new(rig->plan, rig->topology);
    if (!rig->layout)
        collect_fail("layout", -ENOMEM);
}

static void rig_deinit(struct rig *rig) {
    snapshot_layout_unref(rig->layout);
    catalog_free(rig->catalog);
}

// The parts of a composite have a slot each.
static size_t slots_of_round(const struct plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n_round; i++)
        n += plan->round[i] < plan->n_units ? plan->units[plan->round[i]].n_groups : 1;
    return n;
}

static double least(double a, double b) { return a < b ? a : b; }

// topdownd's cost: CPU time as a multiple of the bare loop's, and system calls per slot and CPU.
struct result {
    double ratio, calls;
};

static struct result compare(const struct options *options, const char *name, unsigned general_counters,
                             const struct cpuset *cpus) {
    struct rig rig = {0};
    struct trace trace = {0};
    rig_init(&rig, options, general_counters, cpus);
    record(&rig, &trace);
    double ours = 1e9, bare = 1e9;
    for (int i = 0; i < REPETITIONS; i++) {
        bare = least(bare, time_bare(&rig, &trace));
        ours = least(ours, time_ours(&rig));
    }
    size_t n_slots = slots_of_round(rig.plan);
    double slots = (double)n_slots * (double)rig.rounds * (double)rig.topology->n_cpus;
    (void)printf("%s, %zu CPU%s, %lu rounds of %zu slots, event groups: %zu\n", name, rig.topology->n_cpus,
                 rig.topology->n_cpus == 1 ? "" : "s", rig.rounds, n_slots, rig.plan->n_groups);
    (void)printf("  system calls per slot and CPU: %.2f (disable %.2f, enable %.2f, read %.2f)\n",
                 (double)trace.n / slots, (double)trace.by_kind[CALL_DISABLE] / slots,
                 (double)trace.by_kind[CALL_ENABLE] / slots, (double)trace.by_kind[CALL_READ] / slots);
    (void)printf("  CPU time per slot and CPU: ours %.0f ns, bare loop %.0f ns: ratio %.2f\n", ours / slots * 1e9,
                 bare / slots * 1e9, ours / bare);
    struct result result = {ours / bare, (double)trace.n / slots};
    free(trace.calls);
    rig_deinit(&rig);
    return result;
}

static struct options parse(int n_words, char **words) {
    static const struct option known[] = {
        {"spec", required_argument, NULL, 's'}, {"rounds", required_argument, NULL, 'r'}, {0}};
    struct options options = {.spec = "specs/software.json", .rounds = ROUNDS};
    for (int option; (option = getopt_long(n_words, words, "", known, NULL)) != -1;) {
        if (option == 's')
            options.spec = optarg;
        else if (option == 'r')
            options.rounds = strtoul(optarg, NULL, 10);
        if ((option != 's' && option != 'r') || options.rounds == 0 || options.rounds > ROUNDS_MAX) {
            (void)fprintf(stderr, "usage: bench_collect [--spec FILE] [--rounds N]\n");
            exit(EXIT_FAILURE);
        }
    }
    return options;
}

int main(int n_words, char **words) {
    const struct options options = parse(n_words, words);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    struct result shipped = compare(&options, "as shipped", 0, NULL),
                  rotating = compare(&options, "as if there were two counters", 2, NULL);
    double ratio = fmax(shipped.ratio, rotating.ratio), calls = fmax(shipped.calls, rotating.calls);
    struct cpuset own = only_own_cpu();
    (void)compare(&options, "for information: as shipped, on the own CPU", 0, &own);
    (void)compare(&options, "for information: as if there were two counters, on the own CPU", 2, &own);
    bool within = ratio <= RATIO_MAX && calls <= CALLS_MAX;
    (void)printf("bench/collect: ratio %.2f, at most %.1f; %.2f system calls per slot and CPU, at most %.0f: %s\n",
                 ratio, RATIO_MAX, calls, CALLS_MAX, within ? "ok" : "OVER THE LIMIT");
    return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
