// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "collectors/host/host_counting.h"
#include "collectors/host/host_file.h"
#include "core/base/decimal.h"
#include "daemon/doctor/doctor_parts.h"

enum { SHOWN_PROGRAMS = 8, VMSTAT_SIZE = 32768 };
static const double MAJOR_FAULTS_NORMAL = 100; // a second; the events of specs/software.json warn from here on

// ---- who else counts ----

static bool takes_counters(const struct setup *setup) {
    for (size_t i = 0; i < setup->n_types; i++)
        if (setup->types[i].source->takes_counters)
            return true;
    return false;
}

static void check_counting(const struct setup *setup, pid_t daemon, struct findings *findings) {
    struct host_counting found[SHOWN_PROGRAMS + 1];
    char list[FINDING_TEXT_MAX / 2] = "";
    size_t n_hidden, length = 0, others = 0;
    int n = host_counting_find(&setup->types[0].source->roots, found, SHOWN_PROGRAMS + 1, &n_hidden);
    for (int i = 0; i < n && length < sizeof list; i++) {
        if ((pid_t)found[i].process == daemon)
            continue;
        others++;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s (process %u, %zu event%s)",
                                   length > 0 ? ", " : "", found[i].program, found[i].process, found[i].n_events,
                                   found[i].n_events == 1 ? "" : "s");
    }
    if (n < 0) {
        findings_add(findings, FINDING_NOT_CHECKED, "counting", "who else counts: %s", strerror(-n));
    } else if (others > 0 && !takes_counters(setup)) {
        findings_add(findings, FINDING_OK, "counting",
                     "other programs count as well: %s; topdownd takes no counters from them on this host", list);
    } else if (others > 0) {
        findings_add(findings, FINDING_WARNING, "counting", "other programs count as well: %s", list);
        findings_remedy(findings, "they share the counters with topdownd; those that count all year take some away for "
                                  "good: reserve them (counters: {reserve: 1}) or end the program");
    } else if (n_hidden > 0) {
        findings_add(findings, FINDING_NOT_CHECKED, "counting",
                     "nobody else counts, as far as can be seen: the files of "
                     "%zu processes are hidden",
                     n_hidden);
        findings_remedy(findings, "run this command as root");
    } else {
        findings_add(findings, FINDING_OK, "counting", "nobody else counts");
    }
}

// ---- what event groups take ----

static size_t files_needed(const struct setup *setup) {
    size_t files = 0;
    for (size_t i = 0; i < setup->n_types + setup->n_boxes; i++) {
        const struct core_type *type = &setup->types[i];
        struct errors errors = {0};
        struct plan *plan;
        if (setup_plan_stated(setup, type, &errors, &plan) < 0)
            continue;
        files += source_files(type->source, plan, type->topology->n_cpus);
        plan_free(plan);
    }
    return files;
}

static void check_files(const struct setup *setup, struct findings *findings) {
    struct rlimit limit;
    size_t files = files_needed(setup);
    char size[DECIMAL_SIZE_MAX];
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    bool enough = limit.rlim_max == RLIM_INFINITY || files < limit.rlim_max;
    findings_add(findings, enough ? FINDING_OK : FINDING_WARNING, "files",
                 "%zu files are needed, one for each event and CPU%s, and about %s of the kernel's memory; the "
                 "limit is %llu",
                 files, setup->n_boxes > 0 ? " or box" : "",
                 decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size), (unsigned long long)limit.rlim_max);
    if (!enough)
        findings_remedy(findings, "the service has a limit of its own (LimitNOFILE= in its unit); here 'ulimit -n' "
                                  "raises it, and fewer metric groups or CPUs need less");
}

// ---- the platform ----

// The facts, each on a line, that explain what one sees in the numbers.
static const enum platform_key SHOWN[] = {PLATFORM_VIRTUAL_MACHINE, PLATFORM_SMT,      PLATFORM_NUMA_NODES,
                                          PLATFORM_ISOLATED_CPUS,   PLATFORM_GOVERNOR, PLATFORM_CLOCK_SOURCE,
                                          PLATFORM_PREFETCHERS,     PLATFORM_KERNEL};

static void describe(const struct platform_fact *fact, enum platform_unit unit, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < fact->n_values && length < size; i++) {
        const struct platform_value *value = &fact->values[i];
        length += (size_t)snprintf(out + length, size - length, "%s", i > 0 ? "; " : "");
        if (length < size && unit == PLATFORM_TEXT)
            length += (size_t)snprintf(out + length, size - length, "%s", value->text);
        else if (length < size)
            length += (size_t)snprintf(out + length, size - length, "%.10g", value->number);
        if (length < size && value->cpus[0] != '\0')
            length += (size_t)snprintf(out + length, size - length, " (CPUs %s)", value->cpus);
    }
}

// A clock source that takes microseconds to read makes every slot edge dear.
static bool is_slow_clock(const struct platform_fact *fact) {
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies"};
    for (size_t i = 0; fact->n_values > 0 && i < sizeof slow / sizeof *slow; i++)
        if (strcmp(fact->values[0].text, slow[i]) == 0)
            return true;
    return false;
}

static void check_platform(const struct platform *platform, struct findings *findings) {
    char text[FINDING_TEXT_MAX / 2];
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++) {
        const struct platform_name *name = &platform_names[SHOWN[i]];
        const struct platform_fact *fact = &platform->facts[SHOWN[i]];
        describe(fact, name->unit, text, sizeof text);
        if (!fact->values)
            findings_add(findings, FINDING_NOT_CHECKED, name->key, "%s: %s", name->title, fact->reason);
        else if (SHOWN[i] == PLATFORM_CLOCK_SOURCE && is_slow_clock(fact)) {
            findings_add(findings, FINDING_WARNING, name->key, "%s: %s, which is slow to read", name->title, text);
            findings_remedy(findings,
                            "see why the kernel gave up the CPU's own clock ('journalctl -k -g clocksource')");
        } else
            findings_add(findings, FINDING_OK, name->key, "%s: %s", name->title, text);
    }
}

// ---- memory ----

// Major page faults since the start of the host; NaN if the kernel does not say.
static double major_faults(const char *procfs) {
    char path[512], *text = malloc(VMSTAT_SIZE);
    double faults = NAN;
    (void)snprintf(path, sizeof path, "%s/vmstat", procfs);
    if (text && host_file_read(path, text, VMSTAT_SIZE) > 0) {
        const char *line = strstr(text, "\npgmajfault ");
        faults = line ? strtod(line + strlen("\npgmajfault "), NULL) : NAN;
    }
    free(text);
    return faults;
}

static void check_faults(const struct setup *setup, struct findings *findings) {
    const char *procfs = setup->types[0].source->roots.procfs;
    const struct timespec second = {.tv_sec = 1};
    double before = major_faults(procfs);
    (void)nanosleep(&second, NULL);
    double rate = major_faults(procfs) - before;
    if (isnan(rate)) {
        findings_add(findings, FINDING_NOT_CHECKED, "page_faults",
                     "the kernel does not say how many page faults read "
                     "from a disk");
        return;
    }
    findings_add(findings, rate > MAJOR_FAULTS_NORMAL ? FINDING_WARNING : FINDING_OK, "page_faults",
                 "%.0f page faults a second read from a disk", rate);
    if (rate > MAJOR_FAULTS_NORMAL)
        findings_remedy(findings, "the host is short of memory, and waits for disks more than for its CPUs: find out "
                                  "who needs it ('ps aux --sort=-rss')");
}

void doctor_check_host(const struct setup *setup, pid_t daemon, struct findings *findings) {
    check_counting(setup, daemon, findings);
    check_files(setup, findings);
    check_faults(setup, findings);
    check_platform(setup->platform, findings);
}
