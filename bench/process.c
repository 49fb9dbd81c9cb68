// SPDX-License-Identifier: Apache-2.0
//
// Measures what the whole daemon costs a host: its CPU time, all threads, by the kernel's clock, on this host's own
// CPUs and the kernel's software events.
//
// Two daemons run side by side with the least that a program must do for the same: one counts all the time, as shipped,
// beside one plain group read a second and CPU; the other one must rotate, because its spec says that two of the events
// fit at once, beside a bare loop of as many calls in as many wake-ups. Both of these serve a page of the same length
// that never changes. All are scraped at the same moments, in an order that changes, or not at all; windows with and
// without scrapes take turns, and the cheapest window of each counts. node_exporter's perf collector runs beside them
// where it is installed. Afterwards strace counts system calls.

#include <cjson/cJSON.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/process/least.h"
#include "bench/process/program.h"

enum { STANDING, LEAST, ROTATING, BARE, EXPORTER, PROGRAMS_N };
#define BUSY_SHARE 0.2 // of the CPUs' time, in the quietest window: from there on limits are wider,
#define BUSY_WIDER 1.5 // so many times

enum {
    WINDOWS = 5,
    WINDOWS_MAX = 9,
    WINDOW_SECONDS = 10,
    WARM_SECONDS = 4,
    PROBE_SECONDS = 10,
    STRACE_SECONDS = 5,
    PAGE_MAX = 1 << 18
};
enum { ROTATING_GROUPS = 3, EXPORTER_PORT = 19100 };

static const char CONFIG[] = "listen: [\"127.0.0.1:0\"]\nprofiles: {default: {groups: [stage_1]}}\n";

struct window {
    double cpu, wakeups; // a minute
};
struct contest {
    struct program programs[PROGRAMS_N];
    struct window windows[PROGRAMS_N][2][WINDOWS_MAX]; // without scrapes, and with one a second
    int n_windows;
    double busy_share; // of the CPUs' time in the quietest window
};

static void fail(const char *what) {
    (void)fprintf(stderr, "bench_process: %s\n", what);
    exit(EXIT_FAILURE);
}

// ---- a host whose software events must share ----

// Two events share a value of a register that holds one: three event groups.
static char *make_rotating_spec(const char *path) {
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(path, "re");
    if (!text || !in || fread(text, 1, (1 << 20) - 1, in) == 0)
        fail("run it from the source folder: specs/software.json cannot be read");
    fclose(in);
    cJSON *spec = cJSON_Parse(text), *ours = cJSON_GetObjectItem(spec, "topdownd"), *event;
    free(text);
    cJSON *format = cJSON_AddObjectToObject(ours, "format");
    cJSON_AddStringToObject(format, "event", "config:0-63");
    cJSON_AddStringToObject(format, "turn", "config2:0-7");
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(ours, "shared_registers"), "turn", 1);
    int i = 0;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(spec, "events"))
        cJSON_AddNumberToObject(cJSON_GetObjectItem(event, "topdownd"), "turn", 1 + i++ % ROTATING_GROUPS);
    char *made = cJSON_PrintUnformatted(spec);
    cJSON_Delete(spec);
    return made;
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "we");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        fail("a temporary file cannot be written");
}

// Makes a data folder with that spec, and the configuration.
static void make_folder(char *folder) {
    static const char NO_CPUS[] = "{\"cpus\": []}\n", NO_KINDS[] = "{\"kinds\": []}\n";
    char path[PATH_MAX], uncore[PATH_MAX + sizeof "/uncore"];
    (void)snprintf(path, sizeof path, "%s/specs", mkdtemp(folder) ? folder : "");
    (void)snprintf(uncore, sizeof uncore, "%s/uncore", path);
    if (mkdir(path, 0755) < 0 || mkdir(uncore, 0755) < 0)
        fail("no temporary folder");
    write_file(folder, "specs/cpus.json", NO_CPUS);
    write_file(folder, "specs/uncore/kinds.json", NO_KINDS);
    char *spec = make_rotating_spec("specs/software.json");
    write_file(folder, "specs/software.json", spec);
    free(spec);
    write_file(folder, "topdownd.yaml", CONFIG);
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk) {
    (void)status, (void)flag, (void)walk;
    return remove(path);
}

// ---- programs ----

static struct program start_daemon(const char *name, const char *daemon, const char *data, const char *folder) {
    char config[PATH_MAX];
    (void)snprintf(config, sizeof config, "%s/topdownd.yaml", folder);
    return program_start(
        name, 0, (const char *const[]){daemon, "--path.data", data, "--config", config, "--pmu", "linux", NULL});
}

static struct program start_least(const char *name, const struct least *least, size_t page_bytes) {
    char wakeups[32], calls[32], groups[32], bytes[32];
    (void)snprintf(wakeups, sizeof wakeups, "%.6f", least->wakeups_a_second);
    (void)snprintf(calls, sizeof calls, "%.6f", least->calls_a_wakeup);
    (void)snprintf(groups, sizeof groups, "%zu", least->n_groups);
    (void)snprintf(bytes, sizeof bytes, "%zu", page_bytes);
    return program_start(name, 0,
                         (const char *const[]){"/proc/self/exe", "--least", wakeups, calls, groups, bytes, NULL});
}

static double value_of(const char *page, const char *name) {
    char start[128];
    (void)snprintf(start, sizeof start, "\n%s ", name);
    const char *found = strstr(page, start);
    return found ? strtod(found + strlen(start), NULL) : NAN;
}

// The calls that the rotating daemon makes, and in how many steps: those of the loop that it is compared with.
static struct least probe(struct program *daemon, size_t *page_bytes) {
    static char page[PAGE_MAX];
    static const char STEPS[] = "topdownd_rotation_duration_seconds_count", CALLS[] = "topdownd_pmu_calls_total";
    bench_sleep_until(bench_now() + WARM_SECONDS);
    program_fetch(daemon, "/metrics", page, sizeof page);
    double steps = value_of(page, STEPS), calls = value_of(page, CALLS);
    bench_sleep_until(bench_now() + PROBE_SECONDS);
    *page_bytes = program_fetch(daemon, "/metrics", page, sizeof page);
    steps = value_of(page, STEPS) - steps;
    calls = value_of(page, CALLS) - calls;
    if (!(steps > PROBE_SECONDS))
        fail("the daemon does not rotate");
    return (struct least){
        .wakeups_a_second = steps / PROBE_SECONDS, .calls_a_wakeup = calls / steps, .n_groups = ROTATING_GROUPS};
}

static void start_all(struct contest *contest, const char *daemon, const char *folder) {
    struct program *programs = contest->programs;
    size_t bytes;
    programs[ROTATING] = start_daemon("topdownd, rotating", daemon, folder, folder);
    const struct least bare = probe(&programs[ROTATING], &bytes), least = {.wakeups_a_second = 1, .n_groups = 1};
    programs[BARE] = start_least("a bare loop of the same calls and a page", &bare, bytes);
    programs[STANDING] = start_daemon("topdownd", daemon, ".", folder);
    programs[LEAST] = start_least("a plain read a second and CPU and a page", &least,
                                  program_fetch(&programs[STANDING], "/metrics", NULL, 0));
    (void)printf("the rotating daemon makes %.1f calls to the PMU a second, in %.1f steps\n",
                 bare.calls_a_wakeup * bare.wakeups_a_second, bare.wakeups_a_second);
    if (system("command -v prometheus-node-exporter >/dev/null") == 0)
        programs[EXPORTER] = program_start(
            "node_exporter's perf collector", EXPORTER_PORT,
            (const char *const[]){"prometheus-node-exporter", "--collector.disable-defaults", "--collector.perf",
                                  "--web.disable-exporter-metrics", "--web.listen-address=127.0.0.1:19100", NULL});
    else
        (void)printf("without node_exporter: it is not installed here\n");
}

// ---- windows ----

struct host_ticks {
    double all, idle;
};

static struct host_ticks read_ticks(void) {
    double ticks[8] = {0}, all = 0; // user, nice, system, idle, waiting for I/O, interrupts, stolen
    FILE *file = fopen("/proc/stat", "re");
    if (!file || fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                        &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != 8)
        fail("/proc/stat cannot be read");
    fclose(file);
    for (size_t i = 0; i < 8; i++)
        all += ticks[i];
    return (struct host_ticks){all, ticks[3] + ticks[4]};
}

static void note_busy(struct contest *contest, struct host_ticks before) {
    struct host_ticks now = read_ticks();
    contest->busy_share = fmin(contest->busy_share, 1 - (now.idle - before.idle) / (now.all - before.all));
}

static void run_window(struct contest *contest, bool scraped, int number) {
    struct window before[PROGRAMS_N] = {{0}};
    struct host_ticks ticks = read_ticks();
    double begun = bench_now();
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest->programs[i].pid > 0)
            before[i] =
                (struct window){program_cpu_seconds(&contest->programs[i]), program_wakeups(&contest->programs[i])};
    for (int second = 1; second <= WINDOW_SECONDS; second++) {
        bench_sleep_until(begun + second);
        for (int i = 0; i < PROGRAMS_N && scraped; i++) {
            struct program *program = &contest->programs[(i + second) % PROGRAMS_N];
            if (program->pid > 0)
                program_fetch(program, "/metrics", NULL, 0);
        }
    }
    double minutes = (bench_now() - begun) / 60;
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest->programs[i].pid > 0)
            contest->windows[i][scraped][number] =
                (struct window){(program_cpu_seconds(&contest->programs[i]) - before[i].cpu) / minutes,
                                (program_wakeups(&contest->programs[i]) - before[i].wakeups) / minutes};
    note_busy(contest, ticks);
}

static void run_windows(struct contest *contest) {
    run_window(contest, true, contest->n_windows);
    run_window(contest, false, contest->n_windows++);
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median_cpu(const struct contest *contest, int program, bool scraped) {
    double values[WINDOWS_MAX];
    for (int w = 0; w < contest->n_windows; w++)
        values[w] = contest->windows[program][scraped][w].cpu;
    qsort(values, (size_t)contest->n_windows, sizeof *values, compare);
    return values[contest->n_windows / 2];
}

// ---- results ----

static void report(const struct contest *contest, int i) {
    const struct program *program = &contest->programs[i];
    double wakeups[2] = {0};
    for (int w = 0; w < contest->n_windows; w++)
        for (int scraped = 0; scraped < 2; scraped++)
            wakeups[scraped] += contest->windows[i][scraped][w].wakeups / 60 / contest->n_windows;
    (void)printf(
        "%-42s %6.1f ms a minute, %5.1f wake-ups a second; scraped once a second %6.1f ms, %5.1f; %5.1f system "
        "calls a second\n",
        program->name, median_cpu(contest, i, false) * 1e3, wakeups[0], median_cpu(contest, i, true) * 1e3, wakeups[1],
        program_calls_a_second(program, STRACE_SECONDS));
}

// The window that others on the host disturbed least; `each`: for each wake-up.
static double least_cpu(const struct contest *contest, int program, bool scraped, bool each) {
    double least = INFINITY;
    for (int w = 0; w < contest->n_windows; w++) {
        const struct window *window = &contest->windows[program][scraped][w];
        least = fmin(least, window->cpu / (each ? window->wakeups : 1));
    }
    return least;
}

// What is wanted, and where a regression of a quarter fails.
struct comparison {
    int ours, least;
    bool scraped;
    double goal, limit;
};
static const struct comparison COMPARISONS[] = {{STANDING, LEAST, false, 1.4, 1.8},
                                                {STANDING, LEAST, true, 1.4, 1.85},
                                                {ROTATING, BARE, true, 1.15, 1.6},
                                                {STANDING, EXPORTER, true, 1.0 / 3, 0.45}};

// The budget may make the daemon's slots longer after the bare loop has got its rate: these two are compared by what a
// wake-up costs.
static bool judge(const struct contest *contest, const struct comparison *comparison, bool print) {
    const struct program *ours = &contest->programs[comparison->ours], *least = &contest->programs[comparison->least];
    bool each = comparison->ours == ROTATING, scraped = comparison->scraped;
    double limit = comparison->limit * (contest->busy_share > BUSY_SHARE ? BUSY_WIDER : 1);
    double ratio =
        least_cpu(contest, comparison->ours, scraped, each) / least_cpu(contest, comparison->least, scraped, each);
    bool within = ratio <= limit;
    if (print)
        (void)printf("%s to %s%s: %.2f, goal %.2f, at most %.2f: %s\n", ours->name, least->name,
                     scraped ? ", scraped" : "", ratio, comparison->goal, limit, within ? "ok" : "OVER THE LIMIT");
    return within;
}

static bool judge_all(const struct contest *contest, bool print) {
    bool within = true;
    for (size_t i = 0; i < sizeof COMPARISONS / sizeof *COMPARISONS; i++)
        if (contest->programs[COMPARISONS[i].least].pid > 0)
            within = judge(contest, &COMPARISONS[i], print) && within;
    return within;
}

static bool run_contest(const char *daemon, const char *folder) {
    static struct contest contest = {.busy_share = INFINITY};
    start_all(&contest, daemon, folder);
    bench_sleep_until(bench_now() + WARM_SECONDS);
    while (contest.n_windows < WINDOWS || (contest.n_windows < WINDOWS_MAX && !judge_all(&contest, false)))
        run_windows(&contest);
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest.programs[i].pid > 0)
            report(&contest, i);
    (void)printf("%d windows; in the quietest, %.0f %% of the CPUs' time was busy\n", 2 * contest.n_windows,
                 contest.busy_share * 100);
    bool within = judge_all(&contest, true);
    for (int i = 0; i < PROGRAMS_N; i++)
        program_stop(&contest.programs[i]);
    return within;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "--least") == 0)
        return least_run(&(struct least){.wakeups_a_second = strtod(argv[2], NULL),
                                         .calls_a_wakeup = strtod(argv[3], NULL),
                                         .n_groups = (size_t)strtoul(argv[4], NULL, 10)},
                         (size_t)strtoul(argv[5], NULL, 10));
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_process DAEMON\n");
        return 2;
    }
    char folder[] = "/tmp/bench_process.XXXXXX";
    make_folder(folder);
    bool within = run_contest(argv[1], folder);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
