// SPDX-License-Identifier: Apache-2.0
#include "daemon/verify/verify.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/terminal.h"
#include "daemon/verify/judged.h"

// Seven kernels take about a minute and a half, the time to look for counters included.
static const double KERNEL_SECONDS = 8, PERF_SHARE = 0.7;

struct verification {
    const struct options *options;
    const struct setup *setup;
    const char *folder;
    struct kernel_shared *shared;
    struct findings *findings;
    struct terminal_progress progress;
    bool perf; // it has counted something
};

// The last CPU that this process may use and that is measured: the first one often serves interrupts.
static int choose_cpu(const struct setup *setup) {
    cpu_set_t allowed;
    int found = -1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return -errno;
    for (size_t i = 0; i < setup->types[0].topology->n_cpus; i++) {
        unsigned cpu = setup->types[0].topology->cpus[i].id;
        if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed))
            found = (int)cpu;
    }
    return found < 0 ? -ENODEV : found;
}

// All totals that some kernel or perf asks for.
static void ask_totals(struct measured *measured) {
    static const struct measured_total totals[] = {{.metric = "ipc"},
                                                   {.metric = "branch_miss_ratio"},
                                                   {.metric = "branch_miss_ratio", .denominator = true},
                                                   {.metric = "minor_faults_per_second"},
                                                   {.metric = "context_switches_per_second"}};
    _Static_assert(sizeof totals / sizeof *totals < MEASURED_TOTALS_MAX, "the list has an end");
    memcpy(measured->totals, totals, sizeof totals);
}

static void begin_perf(double seconds, void *context) { perf_beside_start(context, seconds * PERF_SHARE); }

static void judge(struct verification *v, const struct kernel *kernel, const struct measured *measured,
                  struct perf_beside *perf) {
    struct perf_count counts[PERF_EVENTS];
    judged_verdict(kernel, measured, v->findings);
    if (measured->simulated)
        return;
    judged_counts(kernel, measured, v->findings);
    if (!perf_beside_end(perf, counts))
        return;
    v->perf = true;
    judged_perf(kernel, measured, counts, v->findings);
}

static int measure_kernel(struct verification *v, const struct kernel *kernel, unsigned cpu, struct errors *errors) {
    char name[16], recording[2 * VERIFY_FOLDER_MAX], said[2 * VERIFY_FOLDER_MAX];
    bool simulated = v->setup->types[0].source->simulated;
    struct options options = *v->options;
    struct measured measured = {.seconds = 0};
    struct perf_beside perf = {name, said, 0};
    (void)snprintf(name, sizeof name, "%u", cpu);
    (void)snprintf(measured.cpu, sizeof measured.cpu, "%u", cpu);
    (void)snprintf(recording, sizeof recording, "%s/recording.%s", v->folder, kernel->name);
    (void)snprintf(said, sizeof said, "%s/perf.%s.txt", v->folder, kernel->name);
    options.measure.seconds = KERNEL_SECONDS;
    ask_totals(&measured);
    pid_t process = simulated ? 0 : kernel_start(kernel, cpu, v->shared);
    if (process < 0)
        return process;
    const struct measured_request request = {.options = &options,
                                             .cpu = name,
                                             .recording = recording,
                                             .shared = simulated ? NULL : v->shared,
                                             .begun = simulated ? NULL : begin_perf,
                                             .context = &perf};
    int r = measured_take(&request, &measured, errors), failed = simulated ? 0 : atomic_load(&v->shared->failed);
    if (r == 0 && failed == 0)
        judge(v, kernel, &measured, &perf);
    else if (r == 0 || r == -ETIME)
        findings_add(v->findings, FINDING_NOT_CHECKED, "verify_counts", "%s: %s", kernel->name,
                     failed != 0 ? strerror(failed) : "no snapshot came in time");
    if (!simulated)
        kernel_stop(process, v->shared);
    struct perf_count unused[PERF_EVENTS];
    (void)perf_beside_end(&perf, unused);
    return r == -ETIME ? 0 : r;
}

// A simulated host has a CPU for each kernel that needs counters.
static int measure_all(struct verification *v, struct errors *errors) {
    const struct source *source = v->setup->types[0].source;
    const struct topology *topology = v->setup->types[0].topology;
    int cpu = source->simulated ? 0 : choose_cpu(v->setup), r = cpu < 0 ? cpu : 0;
    size_t done = 0;
    for (size_t i = 0; i < n_kernels && r == 0; i++) {
        bool hardware = kernels[i].category != NULL;
        if ((hardware && !source->takes_counters) || (source->simulated && (!hardware || i >= topology->n_cpus)))
            continue;
        terminal_progress_show(&v->progress, "verifying: %s on CPU %u", kernels[i].name,
                               source->simulated ? topology->cpus[i].id : (unsigned)cpu);
        r = measure_kernel(v, &kernels[i], source->simulated ? topology->cpus[i].id : (unsigned)cpu, errors);
        done++;
    }
    terminal_progress_end(&v->progress);
    if (r == 0 && !source->takes_counters)
        findings_add(v->findings, FINDING_NOT_CHECKED, "verify",
                     "verdicts and the CPU's counts: this host has no counters, so only software events were compared");
    if (r == 0 && source->simulated)
        findings_add(v->findings, FINDING_OK, "verify",
                     "SIMULATED: no kernel ran; CPUs 0 to %zu were taken to run them in their order",
                     done - (done > 0));
    if (r == 0 && !source->simulated && !v->perf)
        findings_add(v->findings, FINDING_NOT_CHECKED, "verify_perf",
                     "there is no perf, or it counted nothing: counts were not compared with it");
    return r;
}

// What was found stays beside the recordings.
static void write_report(const struct verification *v) {
    char path[2 * VERIFY_FOLDER_MAX];
    struct text text = {0};
    (void)snprintf(path, sizeof path, "%s/report.txt", v->folder);
    FILE *file = findings_print(v->findings, &text) == 0 ? fopen(path, "wex") : NULL;
    if (file) {
        (void)fwrite(text.data, 1, text.length, file);
        (void)fclose(file);
    }
    text_free(&text);
}

int verify_run(const struct options *options, const struct setup *setup, char folder[VERIFY_FOLDER_MAX],
               struct findings *findings, struct errors *errors) {
    const char *temporary = getenv("TMPDIR");
    struct verification v = {.options = options, .setup = setup, .folder = folder, .findings = findings};
    int n =
        snprintf(folder, VERIFY_FOLDER_MAX, "%s/topdownd-verify-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (n >= VERIFY_FOLDER_MAX)
        return -ENAMETOOLONG;
    if (!mkdtemp(folder))
        return errors_add(errors, folder, 0, 0, "cannot be made for the recordings: %s", strerror(errno));
    v.shared = kernel_shared_new();
    if (!v.shared)
        return -ENOMEM;
    int r = measure_all(&v, errors);
    if (r == 0) {
        findings_add(findings, FINDING_OK, "verify_recordings",
                     "%s has a recording for each kernel, to be looked at "
                     "with 'topdownd --pmu replay:FILE'",
                     folder);
        write_report(&v);
    }
    kernel_shared_free(v.shared);
    return r;
}
