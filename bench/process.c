// SPDX-License-Identifier: Apache-2.0
//
// Measures what the whole daemon costs a host: its CPU time, all threads, by the kernel's clock, on this host's own
// CPUs and the kernel's software events.
//
// Two daemons run side by side with the least that a program must do for the same: one counts all the time, as shipped,
// beside one plain group read a second and CPU; the other one must rotate, because its spec says that two of the events
// fit at once, beside a bare loop of as many calls in as many wake-ups, whose pace follows the daemon's from window to
// window. Both of these serve a page of the same length that never changes. All are scraped at the same moments, in an
// order that changes and turns round, or not at all. Windows with and without scrapes take turns, on a host at work
// (bench/process/work.h). What others on the host disturb they disturb for all, so two programs are compared window by
// window, and the median counts. node_exporter's perf collector runs beside them where it is installed. Afterwards
// strace counts system calls.

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
#include "bench/process/work.h"

enum { STANDING, LEAST, ROTATING, BARE, EXPORTER, PROGRAMS_N };
#define BUSY_SHARE 0.2 // of the CPUs' time, in the quietest window: from there on limits are wider,
#define BUSY_WIDER 1.5 // so many times

enum {
    WINDOWS = 3,
    WINDOWS_MAX = 9,
    WINDOW_SECONDS = 10,
    WARM_SECONDS = 4,
    PROBE_SECONDS = 10,
    STRACE_SECONDS = 5,
    PAGE_MAX = 1 << 18
};
enum { ROTATING_GROUPS = 3, EXPORTER_PORT = 19100 };

// On two CPUs, slots of 200 ms would exceed the budget: the daemon would make them longer at some time of the run.
static const char CONFIG[] = "listen: [\"127.0.0.1:0\"]\nslot: 300ms\nprofiles: {default: {groups: [stage_1]}}\n";

struct window {
    double cpu, wakeups; // a minute
    double calls;        // a minute to the PMU, of those that rotate
};
struct contest {
    struct program programs[PROGRAMS_N];
    struct window windows[PROGRAMS_N][2][WINDOWS_MAX]; // without scrapes, and with one a second
    int n_windows;
    struct least_pace *pace; // of BARE
    double busy_share;       // of the CPUs' time in the quietest window
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

static struct program start_least(const char *name, const char *folder, const char *pace, size_t n_groups,
                                  size_t page_bytes) {
    char path[PATH_MAX], groups[32], bytes[32];
    (void)snprintf(path, sizeof path, "%s/%s", folder, pace);
    (void)snprintf(groups, sizeof groups, "%zu", n_groups);
    (void)snprintf(bytes, sizeof bytes, "%zu", page_bytes);
    return program_start(name, 0, (const char *const[]){"/proc/self/exe", "--least", path, groups, bytes, NULL});
}

static struct least_pace *make_pace(const char *folder, const char *name, double wakeups_a_second) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    struct least_pace *pace = least_pace_map(path);
    if (!pace)
        fail("a temporary file cannot be mapped");
    pace->wakeups_a_second = wakeups_a_second;
    return pace;
}

static double value_of(const char *page, const char *name) {
    char start[128];
    (void)snprintf(start, sizeof start, "\n%s ", name);
    const char *found = strstr(page, start);
    return found ? strtod(found + strlen(start), NULL) : NAN;
}

// What the rotating daemon has done, by its newest snapshot.
struct rotation {
    double seconds, steps, calls;
};

static struct rotation read_rotation(struct program *daemon) {
    static char page[PAGE_MAX];
    program_fetch(daemon, "/metrics", page, sizeof page);
    return (struct rotation){value_of(page, "topdownd_last_snapshot_timestamp_seconds"),
                             value_of(page, "topdownd_rotation_duration_seconds_count"),
                             value_of(page, "topdownd_pmu_calls_total")};
}

// Makes the bare loop's pace that of the daemon since `before`. Returns the daemon's calls a second.
static double follow_pace(struct least_pace *pace, struct program *daemon, struct rotation before) {
    struct rotation now = read_rotation(daemon);
    double seconds = now.seconds - before.seconds, steps = now.steps - before.steps, calls = now.calls - before.calls;
    if (!(steps > seconds))
        fail("the daemon does not rotate");
    pace->wakeups_a_second = steps / seconds;
    pace->calls_a_wakeup = calls / steps;
    return calls / seconds;
}

static void start_all(struct contest *contest, const char *daemon, const char *folder) {
    struct program *programs = contest->programs;
    programs[ROTATING] = start_daemon("topdownd, rotating", daemon, folder, folder);
    bench_sleep_until(bench_now() + WARM_SECONDS);
    struct rotation begun = read_rotation(&programs[ROTATING]);
    bench_sleep_until(bench_now() + PROBE_SECONDS);
    contest->pace = make_pace(folder, "bare", 1);
    (void)follow_pace(contest->pace, &programs[ROTATING], begun);
    programs[BARE] = start_least("a bare loop of the same calls and a page", folder, "bare", ROTATING_GROUPS,
                                 program_fetch(&programs[ROTATING], "/metrics", NULL, 0));
    programs[STANDING] = start_daemon("topdownd", daemon, ".", folder);
    (void)make_pace(folder, "least", 1);
    programs[LEAST] = start_least("a plain read a second and CPU and a page", folder, "least", 1,
                                  program_fetch(&programs[STANDING], "/metrics", NULL, 0));
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
    double all, idle; // what bench/process/work.h uses is idle
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
    return (struct host_ticks){all, ticks[1] + ticks[3] + ticks[4]};
}

static void note_busy(struct contest *contest, struct host_ticks before) {
    struct host_ticks now = read_ticks();
    contest->busy_share = fmin(contest->busy_share, 1 - (now.idle - before.idle) / (now.all - before.all));
}

static void look(const struct contest *contest, struct window *windows) {
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest->programs[i].pid > 0)
            windows[i] = (struct window){program_cpu_seconds(&contest->programs[i]),
                                         program_wakeups(&contest->programs[i]), i == BARE ? contest->pace->calls : 0};
}

// The daemon's page is asked for before and after the window, in which that costs nothing.
static void run_window(struct contest *contest, bool scraped, int number) {
    struct window before[PROGRAMS_N] = {{0}}, after[PROGRAMS_N] = {{0}};
    struct rotation rotation = read_rotation(&contest->programs[ROTATING]);
    struct host_ticks ticks = read_ticks();
    double begun = bench_now();
    look(contest, before);
    for (int second = 1; second <= WINDOW_SECONDS; second++) {
        bench_sleep_until(begun + second);
        for (int i = 0; i < PROGRAMS_N && scraped; i++) {
            int place = second % 2 == 0 ? i : PROGRAMS_N - 1 - i; // who comes second finds the kernel's way warm
            struct program *program = &contest->programs[(place + second) % PROGRAMS_N];
            if (program->pid > 0)
                program_fetch(program, "/metrics", NULL, 0);
        }
    }
    look(contest, after);
    double minutes = (bench_now() - begun) / 60;
    for (int i = 0; i < PROGRAMS_N; i++)
        contest->windows[i][scraped][number] =
            (struct window){(after[i].cpu - before[i].cpu) / minutes, (after[i].wakeups - before[i].wakeups) / minutes,
                            (after[i].calls - before[i].calls) / minutes};
    note_busy(contest, ticks);
    contest->windows[ROTATING][scraped][number].calls =
        60 * follow_pace(contest->pace, &contest->programs[ROTATING], rotation);
}

static void run_windows(struct contest *contest) {
    run_window(contest, true, contest->n_windows);
    run_window(contest, false, contest->n_windows++);
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

static double median_cpu(const struct contest *contest, int program, bool scraped) {
    double values[WINDOWS_MAX];
    for (int w = 0; w < contest->n_windows; w++)
        values[w] = contest->windows[program][scraped][w].cpu;
    return median(values, contest->n_windows);
}

// ---- results ----

static void report(const struct contest *contest, int i, double calls_a_second) {
    const struct program *program = &contest->programs[i];
    double wakeups[2] = {0};
    for (int w = 0; w < contest->n_windows; w++)
        for (int scraped = 0; scraped < 2; scraped++)
            wakeups[scraped] += contest->windows[i][scraped][w].wakeups / 60 / contest->n_windows;
    (void)printf(
        "%-42s %6.1f ms a minute, %5.1f wake-ups a second; scraped once a second %6.1f ms, %5.1f; %5.1f system "
        "calls a second\n",
        program->name, median_cpu(contest, i, false) * 1e3, wakeups[0], median_cpu(contest, i, true) * 1e3, wakeups[1],
        calls_a_second);
}

static void report_all(const struct contest *contest) {
    FILE *traces[PROGRAMS_N] = {NULL};
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest->programs[i].pid > 0)
            traces[i] = program_trace(&contest->programs[i], STRACE_SECONDS);
    for (int i = 0; i < PROGRAMS_N; i++)
        if (contest->programs[i].pid > 0)
            report(contest, i, program_traced_calls(traces[i]) / STRACE_SECONDS);
}

// What is wanted, and where a regression of a quarter fails. Runs of one program differ by a tenth on a machine that
// does nothing else, where the least program is cheaper than beside others.
struct comparison {
    int ours, least;
    bool scraped;
    double goal, limit;
};
static const struct comparison COMPARISONS[] = {{STANDING, LEAST, false, 1.4, 2.5},
                                                {STANDING, LEAST, true, 1.4, 2.4},
                                                {ROTATING, BARE, true, 1.15, 1.75},
                                                {STANDING, EXPORTER, true, 1.0 / 3, 0.42}};

// The median over windows of what one program costs by what another one does; `each`: for each call to the PMU.
static double median_ratio(const struct contest *contest, const struct comparison *comparison, bool each) {
    double ratios[WINDOWS_MAX];
    for (int w = 0; w < contest->n_windows; w++) {
        const struct window *ours = &contest->windows[comparison->ours][comparison->scraped][w],
                            *least = &contest->windows[comparison->least][comparison->scraped][w];
        ratios[w] = ours->cpu / least->cpu / (each ? ours->calls / least->calls : 1);
    }
    return median(ratios, contest->n_windows);
}

// The daemon's orders are random, so its calls differ a little from window to window, and the bare loop has the pace of
// the window before: these two are compared by what a call costs, with all that belongs to it.
static bool judge(const struct contest *contest, const struct comparison *comparison, bool print) {
    const struct program *ours = &contest->programs[comparison->ours], *least = &contest->programs[comparison->least];
    double limit = comparison->limit * (contest->busy_share > BUSY_SHARE ? BUSY_WIDER : 1);
    double ratio = median_ratio(contest, comparison, comparison->ours == ROTATING);
    bool within = ratio <= limit;
    if (print)
        (void)printf("%s to %s%s: %.2f, goal %.2f, at most %.2f: %s\n", ours->name, least->name,
                     comparison->scraped ? ", scraped" : "", ratio, comparison->goal, limit,
                     within ? "ok" : "OVER THE LIMIT");
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
    report_all(&contest);
    (void)printf("%d windows; in the quietest, %.0f %% of the CPUs' time was busy\n", 2 * contest.n_windows,
                 contest.busy_share * 100);
    bool within = judge_all(&contest, true);
    for (int i = 0; i < PROGRAMS_N; i++)
        program_stop(&contest.programs[i]);
    return within;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "--least") == 0)
        return least_run(least_pace_map(argv[2]), (size_t)strtoul(argv[3], NULL, 10),
                         (size_t)strtoul(argv[4], NULL, 10));
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_process DAEMON\n");
        return 2;
    }
    if (!work_start())
        fail("no process of lowest priority");
    char folder[] = "/tmp/bench_process.XXXXXX";
    make_folder(folder);
    bool within = run_contest(argv[1], folder);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return within ? EXIT_SUCCESS : EXIT_FAILURE;
}
