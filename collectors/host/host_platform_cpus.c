// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_platform_cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_file.h"
#include "collectors/host/host_isolated.h"

enum { PATH_BYTES = 512, LINE_BYTES = 1024, FACTS_N = 5 };

// Each file of a CPU holds one line. cpufreq's numbers are kilohertz.
static const struct file {
    enum platform_key key;
    const char *name, *old_name; // before Linux 5.3; NULL: none
    const char *missing;         // what it means if no CPU has the file
} FILES[FACTS_N] = {
    {PLATFORM_GOVERNOR, "cpufreq/scaling_governor", NULL,
     "the kernel has no frequency driver for these CPUs: firmware or a hypervisor chooses"},
    {PLATFORM_FREQUENCY_MINIMUM, "cpufreq/scaling_min_freq", NULL, "the kernel has no frequency driver for these CPUs"},
    {PLATFORM_FREQUENCY_MAXIMUM, "cpufreq/scaling_max_freq", NULL, "the kernel has no frequency driver for these CPUs"},
    {PLATFORM_MICROCODE, "microcode/version", NULL, "the kernel does not tell a microcode version of these CPUs"},
    {PLATFORM_THREADS_PER_CORE, "topology/core_cpus_list", "topology/thread_siblings_list",
     "the kernel does not tell which CPUs share a core"},
};

// The values that were found of a fact.
struct tally {
    struct platform_share shares[PLATFORM_VALUES_MAX];
    size_t n;
    bool others; // CPUs with further values, which there was no room for
    int error;   // negative errno of the last CPU whose file could not be read; 0: none
    bool wrong;  // a file held something else
};

struct host_platform_cpus {
    struct host_roots roots;
    struct cpuset online, isolated;
    unsigned next; // CPU
    size_t n_seen;
    struct tally tallies[FACTS_N];
};

struct host_platform_cpus *host_platform_cpus_new(const struct host_roots *roots) {
    struct host_platform_cpus *pass = calloc(1, sizeof *pass);
    if (!pass)
        return NULL;
    pass->roots = *roots;
    (void)host_cpu_online(roots, &pass->online); // without the list there is nothing to look at
    host_isolated_cpus(roots, &pass->isolated);
    return pass;
}

struct host_platform_cpus *host_platform_cpus_free(struct host_platform_cpus *pass) {
    free(pass);
    return NULL;
}

// ---- one CPU ----

static void take(struct tally *tally, const char *text, double number, unsigned cpu) {
    size_t i = 0;
    while (i < tally->n && (tally->shares[i].number != number || strcmp(tally->shares[i].text, text) != 0))
        i++;
    if (i == PLATFORM_VALUES_MAX) {
        tally->others = true;
        return;
    }
    struct platform_share *share = &tally->shares[i];
    if (i == tally->n) {
        (void)snprintf(share->text, sizeof share->text, "%s", text);
        share->number = number;
        tally->n++;
    }
    cpuset_add(&share->cpus, cpu);
}

// Reads the value of a line. False if it is none.
static bool parse(enum platform_key key, const char *line, char *text, double *number) {
    char *end;
    struct cpuset siblings;
    *number = 0;
    text[0] = '\0';
    switch (key) {
    case PLATFORM_THREADS_PER_CORE:
        *number = cpuset_parse(line, &siblings) == 0 ? (double)cpuset_count(&siblings) : 0;
        return *number > 0;
    case PLATFORM_FREQUENCY_MINIMUM:
    case PLATFORM_FREQUENCY_MAXIMUM:
        *number = strtod(line, &end) * 1000;
        return end != line && *end == '\0' && *number > 0 && *number < 1e12;
    default:
        (void)snprintf(text, PLATFORM_VALUE_MAX, "%.*s", PLATFORM_VALUE_MAX - 1, line);
        return line[0] != '\0';
    }
}

static ssize_t read_line(const struct host_platform_cpus *pass, unsigned cpu, const char *name, char *line) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/%s", pass->roots.sysfs, cpu, name);
    ssize_t length = host_file_read(path, line, LINE_BYTES);
    if (length > 0)
        line[strcspn(line, "\n")] = '\0';
    return length;
}

static void look_at(struct host_platform_cpus *pass, unsigned cpu) {
    for (size_t i = 0; i < FACTS_N; i++) {
        const struct file *file = &FILES[i];
        struct tally *tally = &pass->tallies[i];
        char line[LINE_BYTES] = "", text[PLATFORM_VALUE_MAX];
        double number;
        ssize_t r = read_line(pass, cpu, file->name, line);
        if (r == -ENOENT && file->old_name)
            r = read_line(pass, cpu, file->old_name, line);
        if (r < 0)
            tally->error = (int)r;
        else if (parse(file->key, line, text, &number))
            take(tally, text, number, cpu);
        else
            tally->wrong = true;
    }
    pass->n_seen++;
}

bool host_platform_cpus_look(struct host_platform_cpus *pass, size_t max) {
    for (size_t n = 0; (pass->next = cpuset_next(&pass->online, pass->next)) < CPUSET_MAX; pass->next++) {
        if (n++ == max)
            return false;
        look_at(pass, pass->next);
    }
    return true;
}

int host_platform_cpus_first(const struct host_platform_cpus *pass) {
    int first = -1;
    for (unsigned cpu = 0; (cpu = cpuset_next(&pass->online, cpu)) < CPUSET_MAX; cpu++) {
        if (!cpuset_has(&pass->isolated, cpu))
            return (int)cpu;
        first = first < 0 ? (int)cpu : first;
    }
    return first;
}

// ---- all of them ----

static void finish_fact(const struct host_platform_cpus *pass, size_t i, struct platform *out) {
    const struct tally *tally = &pass->tallies[i];
    const struct file *file = &FILES[i];
    if (tally->others)
        platform_set_unknown(out, file->key, "CPUs have more than %d values: cpu*/%s has them", PLATFORM_VALUES_MAX,
                             file->name);
    else if (tally->n > 0)
        platform_set_shares(out, file->key, tally->shares, tally->n);
    else if (pass->n_seen == 0)
        platform_set_unknown(out, file->key, "the kernel does not tell which CPUs are online");
    else if (tally->wrong)
        platform_set_unknown(out, file->key, "cpu*/%s holds something else", file->name);
    else if (tally->error != -ENOENT)
        platform_set_unknown(out, file->key, "cpu*/%s cannot be read: %s", file->name, strerror(-tally->error));
    else
        platform_set_unknown(out, file->key, "%s", file->missing);
}

// Threads tell whether SMT is on where the kernel has no word of it (before Linux 4.19).
static void finish_smt(const struct tally *threads, struct platform *out) {
    bool on = threads->others;
    for (size_t i = 0; i < threads->n; i++)
        on = on || threads->shares[i].number > 1;
    if (threads->n > 0)
        platform_set_text(out, PLATFORM_SMT, on ? "on" : "off");
}

static void finish_isolated(const struct host_platform_cpus *pass, struct platform *out) {
    char list[PLATFORM_VALUE_MAX];
    cpuset_format(&pass->isolated, list, sizeof list);
    platform_set_text(out, PLATFORM_ISOLATED_CPUS, list[0] != '\0' ? list : "none");
}

void host_platform_cpus_finish(const struct host_platform_cpus *pass, struct platform *out) {
    for (size_t i = 0; i < FACTS_N; i++)
        finish_fact(pass, i, out);
    finish_smt(&pass->tallies[FACTS_N - 1], out);
    finish_isolated(pass, out);
}
