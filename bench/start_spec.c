// SPDX-License-Identifier: Apache-2.0
//
// Measures the CPU time from the start of the program to a plan with the slowest of the shipped specs, on simulated
// hosts. `topdownd check-config` does everything before the first slot except probing for counters, whose time depends
// on the kernel's rotation. The cheapest of several runs counts, including the program's exit.

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 20, RUNS = 10, SPECS = 3, SPECS_MAX = 128 };

static void give_up(const char *what) {
    (void)fprintf(stderr, "bench/start_spec: %s\n", what);
    exit(1);
}

static void run_program(const char *program, const char *scenario) {
    char pmu[96];
    (void)snprintf(pmu, sizeof pmu, "sim:%s", scenario);
    const char *arguments[] = {program, "check-config", "--path.data", ".", "--pmu", pmu, NULL};
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
        (void)dup2(null, STDOUT_FILENO);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

// The CPU time that it takes: others' work on the machine does not count.
static double run_once(const char *program, const char *scenario) {
    struct rusage used;
    int status;
    pid_t pid = fork();
    if (pid == 0)
        run_program(program, scenario);
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0 || status != 0)
        give_up("the daemon cannot be run, or refuses the scenario");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
}

// Writes a scenario of four idle cores of the spec.
static void write_scenario(const char *path, const char *spec) {
    FILE *file = fopen(path, "we");
    if (!file)
        give_up("cannot write a scenario");
    (void)fprintf(file,
                  "{\"spec\": \"%s\", \"sockets\": 1, \"cores_per_socket\": 4, \"threads_per_core\": 2, "
                  "\"general_counters\": 8, \"loads\": {\"idle\": {\"period_seconds\": 1, \"keyframes\": "
                  "[{\"at_seconds\": 0, \"rates\": {}}]}}, \"assignments\": []}\n",
                  spec);
    (void)fclose(file);
}

// A spec may have most of its entries from its family, so the size of its file says little.
struct candidate {
    char spec[64];
    double took; // ms, in one run
};

static int compare_times(const void *a, const void *b) {
    double x = ((const struct candidate *)a)->took, y = ((const struct candidate *)b)->took;
    return (x < y) - (x > y);
}

// Runs each spec once, and puts the slowest first. Returns their number.
static size_t find_slowest(const char *program, const char *scenario, struct candidate *found, size_t max) {
    glob_t files;
    size_t n = 0;
    if (glob("specs/*.json", 0, NULL, &files) != 0)
        return 0;
    for (size_t i = 0; i < files.gl_pathc && n < max; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        if (strcmp(name, "cpus.json") == 0) // which spec is for which CPU
            continue;
        (void)snprintf(found[n].spec, sizeof found[n].spec, "%.*s", (int)(strlen(name) - strlen(".json")), name);
        write_scenario(scenario, found[n].spec);
        found[n].took = run_once(program, scenario);
        n++;
    }
    globfree(&files);
    qsort(found, n, sizeof *found, compare_times);
    return n;
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/topdownd-bench-XXXXXX", scenario[64];
    struct candidate specs[SPECS_MAX];
    double worst = 0;
    if (argc != 2 || !mkdtemp(folder))
        give_up("usage: bench_start_spec DAEMON, in the source folder");
    (void)snprintf(scenario, sizeof scenario, "%s/start.json", folder);
    if (find_slowest(argv[1], scenario, specs, SPECS_MAX) < SPECS)
        give_up("there are too few specs: start from the source folder");
    for (size_t i = 0; i < SPECS; i++) {
        double best = specs[i].took;
        write_scenario(scenario, specs[i].spec);
        for (int run = 0; run < RUNS; run++) {
            double took = run_once(argv[1], scenario);
            best = took < best ? took : best;
        }
        (void)printf("bench/start_spec: %s: %.1f ms\n", specs[i].spec, best);
        worst = best > worst ? best : worst;
    }
    (void)unlink(scenario);
    (void)rmdir(folder);
    bool good = worst <= LIMIT_MS;
    (void)printf("bench/start_spec: ratio %.2f of the limit of %d ms: %s\n", worst / LIMIT_MS, LIMIT_MS,
                 good ? "ok" : "OVER THE LIMIT");
#ifdef __OPTIMIZE__
    return good ? 0 : 1;
#else
    return 0;
#endif
}
