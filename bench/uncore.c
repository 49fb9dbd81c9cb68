// SPDX-License-Identifier: Apache-2.0
//
// Measures what PMUs outside the cores cost a host: CPU time of the daemon with memory controllers, which is what
// ships, and with all boxes, less that of a daemon without any, beside a bare loop of the same reads in the same time.
//
// The boxes are those of a large host of two sockets: eight memory channels, sixty cache slices and four links each.
// Their files are made up, and the kernel's CPU clock counts in their place: so all calls are the kernel's own, with
// the interrupts that a read on another CPU takes. The cheapest window counts.

#include <errno.h>
#include <ftw.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/process/program.h"

enum { WITHOUT, MEMORY, LOOP_MEMORY, ALL, LOOP_ALL, PROGRAMS_N };
enum { SOCKETS = 2, CHANNELS = 8, SLICES = 60, LINKS = 4, EVENTS_MAX = 4 };
enum { WARM_SECONDS = 3, WINDOWS = 3, WINDOW_SECONDS = 4, TRIES = 3, PAGE_MAX = 1 << 18, SKIPPED = 77 };

#define BOXES_MEMORY (SOCKETS * CHANNELS)
#define BOXES_ALL (SOCKETS * (CHANNELS + SLICES + LINKS))

static const char FORM[] = "listen: [\"127.0.0.1:0\"]\ninterval: 1s\nuncore: {%s}\n";

struct contest {
    struct program programs[PROGRAMS_N];
    double cpu[PROGRAMS_N];               // a second, in the cheapest window
    double interrupts[PROGRAMS_N];        // a second, which the daemon says that it causes,
    double interrupt_seconds[PROGRAMS_N]; // and their CPU time
};

static void fail(const char *what) {
    (void)fprintf(stderr, "bench_uncore: %s\n", what);
    exit(EXIT_FAILURE);
}

// ---- a host with boxes ----

static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            fail("no temporary folder");
        *slash = '/';
    }
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    make_folders(path);
    FILE *out = fopen(path, "we");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        fail("a temporary file cannot be written");
}

static void write_cpu(const char *folder, unsigned cpu) {
    char name[128], text[16];
    (void)snprintf(text, sizeof text, "%u\n", cpu);
    static const char *const files[] = {"core_cpus_list", "package_cpus_list", "physical_package_id"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/%s", cpu, files[i]);
        write_file(folder, name, text);
    }
}

// Each PMU has a box on both sockets. Its event numbers are where they change nothing: config is 0, the CPU clock.
static void write_boxes(const char *folder, const char *kind, unsigned n) {
    static const struct {
        const char *name, *text;
    } files[] = {
        {"type", "1\n"}, {"cpumask", "0-1\n"}, {"format/event", "config1:0-7\n"}, {"format/umask", "config2:0-7\n"}};
    char name[128];
    for (unsigned i = 0; i < n; i++) {
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            (void)snprintf(name, sizeof name, "bus/event_source/devices/uncore_%s_%u/%s", kind, i, files[f].name);
            write_file(folder, name, files[f].text);
        }
    }
}

static void write_host(const char *folder) {
    char cpuinfo[160];
    (void)snprintf(cpuinfo, sizeof cpuinfo,
                   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: %d\nstepping\t: 8\n", 0x8f);
    write_file(folder, "cpuinfo", cpuinfo);
    write_file(folder, "devices/system/cpu/online", "0-1\n");
    write_file(folder, "devices/system/cpu/present", "0-1\n");
    write_file(folder, "bus/event_source/devices/software/type", "1\n");
    for (unsigned cpu = 0; cpu < SOCKETS; cpu++)
        write_cpu(folder, cpu);
    write_boxes(folder, "imc", CHANNELS);
    write_boxes(folder, "cha", SLICES);
    write_boxes(folder, "upi", LINKS);
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk) {
    (void)status, (void)flag, (void)walk;
    return remove(path);
}

// ---- a bare loop ----

static int open_group(int cpu, size_t n_events) {
    int leader = -1;
    for (size_t i = 0; i < n_events; i++) {
        struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attr,
                                       .config = PERF_COUNT_SW_CPU_CLOCK,
                                       .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                      PERF_FORMAT_TOTAL_TIME_RUNNING};
        int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
            exit(SKIPPED);
        leader = leader < 0 ? fd : leader;
    }
    return leader;
}

// Opens what the daemon opens, and reads it once a second until it is killed.
static _Noreturn void run_loop(bool all) {
    struct rlimit limit;
    int leaders[BOXES_ALL];
    size_t n = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int cpu = 0; cpu < SOCKETS; cpu++) {
        for (int i = 0; i < CHANNELS + (all ? LINKS : 0); i++)
            leaders[n++] = open_group(cpu, 2);
        for (int i = 0; i < SLICES && all; i++)
            leaders[n++] = open_group(cpu, EVENTS_MAX);
    }
    for (struct timespec second = {.tv_sec = 1};; nanosleep(&second, NULL)) {
        uint64_t counts[3 + EVENTS_MAX];
        for (size_t i = 0; i < n; i++)
            if (read(leaders[i], counts, sizeof counts) <= 0)
                fail("a group cannot be read");
    }
}

// ---- windows ----

static struct program start_daemon(const char *name, const char *daemon, const char *folder, const char *uncore) {
    char config[512], text[sizeof FORM + 128];
    (void)snprintf(text, sizeof text, FORM, uncore);
    write_file(folder, "topdownd.yaml", text);
    (void)snprintf(config, sizeof config, "%s/topdownd.yaml", folder);
    return program_start(name, 0,
                         (const char *const[]){daemon, "--path.data", ".", "--path.sysfs", folder, "--path.procfs",
                                               folder, "--config", config, NULL});
}

static struct program start_loop(const char *name, const char *what) {
    return program_start(name, 1, (const char *const[]){"/proc/self/exe", what, NULL});
}

static double value_of(const char *page, const char *name) {
    char start[128];
    (void)snprintf(start, sizeof start, "\n%s ", name);
    const char *found = strstr(page, start);
    return found ? strtod(found + strlen(start), NULL) : NAN;
}

// What the daemons say of themselves.
static void read_pages(struct contest *contest, double seconds, bool begins) {
    static char page[PAGE_MAX];
    for (int i = 0; i < PROGRAMS_N; i++) {
        if (i == LOOP_MEMORY || i == LOOP_ALL)
            continue;
        program_fetch(&contest->programs[i], "/metrics", page, sizeof page);
        double interrupts = value_of(page, "topdownd_interrupts_total") / seconds,
               cpu = value_of(page, "topdownd_interrupt_seconds_total") / seconds;
        contest->interrupts[i] = begins ? interrupts : interrupts - contest->interrupts[i];
        contest->interrupt_seconds[i] = begins ? cpu : cpu - contest->interrupt_seconds[i];
    }
}

// All at once, so that all see the same host. It ends before the budget's first period does, in which the daemon reads
// as often as the configuration says.
static void run_windows(struct contest *contest) {
    double before[PROGRAMS_N], all = (double)WINDOWS * WINDOW_SECONDS;
    for (int i = 0; i < PROGRAMS_N; i++)
        contest->cpu[i] = INFINITY;
    bench_sleep_until(bench_now() + WARM_SECONDS);
    read_pages(contest, all, true);
    for (int window = 0; window < WINDOWS; window++) {
        double begun = bench_now();
        for (int i = 0; i < PROGRAMS_N; i++)
            before[i] = program_cpu_seconds(&contest->programs[i]);
        bench_sleep_until(begun + WINDOW_SECONDS);
        for (int i = 0; i < PROGRAMS_N; i++)
            contest->cpu[i] =
                fmin(contest->cpu[i], (program_cpu_seconds(&contest->programs[i]) - before[i]) / (bench_now() - begun));
    }
    read_pages(contest, all, false);
}

// ---- results ----

struct goal {
    const char *what;
    int ours, loop, boxes;
    double cpu, interrupts; // of one CPU; a second
};
static const struct goal GOALS[] = {
    {"memory controllers, which is the default", MEMORY, LOOP_MEMORY, BOXES_MEMORY, 0.0003, 20},
    {"all boxes", ALL, LOOP_ALL, BOXES_ALL, 0.003, INFINITY}};

static bool judge(const struct contest *contest, const struct goal *goal, bool print) {
    double cpu = contest->cpu[goal->ours] - contest->cpu[WITHOUT], loop = contest->cpu[goal->loop];
    double interrupts = contest->interrupts[goal->ours] - contest->interrupts[WITHOUT];
    double on_others = contest->interrupt_seconds[goal->ours] - contest->interrupt_seconds[WITHOUT];
    bool within = cpu <= goal->cpu && interrupts <= goal->interrupts;
    if (print)
        (void)printf("%s, %d at 1 Hz: %.4f %% of a CPU, at most %.2f %%; a bare loop %.4f %%, ratio %.2f; %.1f "
                     "interrupts a second, "
                     "with %.4f %% of a CPU: %s\n",
                     goal->what, goal->boxes, cpu * 100, goal->cpu * 100, loop * 100, cpu / loop, interrupts,
                     on_others * 100, within ? "ok" : "OVER THE LIMIT");
    return within;
}

static bool run_contest(const char *daemon, const char *folder, bool last) {
    struct contest contest = {.programs = {
                                  [WITHOUT] = start_daemon("topdownd without boxes", daemon, folder, "enabled: off"),
                                  [MEMORY] = start_daemon("topdownd", daemon, folder, "enabled: auto"),
                                  [LOOP_MEMORY] = start_loop("a bare loop", "--memory"),
                                  [ALL] = start_daemon("topdownd with all boxes", daemon, folder,
                                                       "groups: [memory, remote, llc, interconnect]"),
                                  [LOOP_ALL] = start_loop("a bare loop", "--all"),
                              }};
    bool within = true;
    run_windows(&contest);
    for (size_t i = 0; i < sizeof GOALS / sizeof *GOALS; i++)
        within = judge(&contest, &GOALS[i], false) && within;
    for (size_t i = 0; i < sizeof GOALS / sizeof *GOALS && (within || last); i++)
        (void)judge(&contest, &GOALS[i], true);
    for (int i = 0; i < PROGRAMS_N; i++)
        program_stop(&contest.programs[i]);
    return within;
}

int main(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--memory") == 0 || strcmp(argv[1], "--all") == 0))
        run_loop(strcmp(argv[1], "--all") == 0);
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_uncore DAEMON\n");
        return 2;
    }
    if (sysconf(_SC_NPROCESSORS_ONLN) < SOCKETS) {
        (void)printf("skipped: this host has one CPU\n");
        return SKIPPED;
    }
    char folder[] = "/tmp/bench_uncore.XXXXXX";
    if (!mkdtemp(folder))
        fail("no temporary folder");
    write_host(folder);
    bool within = false;
    for (int i = 1; i <= TRIES && !within; i++)
        within = run_contest(argv[1], folder, i == TRIES);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
