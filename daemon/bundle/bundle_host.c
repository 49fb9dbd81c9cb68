// SPDX-License-Identifier: Apache-2.0
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "daemon/bundle/bundle_parts.h"

enum {
    PATH_BYTES_MAX = 512,
    VALUE_BYTES_MAX = 4096,
    CPUINFO_BYTES_MAX = 4 << 20,
    KINDS_MAX = 16,
    KIND_BYTES_MAX = 256
};

// Below sysfs. What identifies a machine (serial numbers, UUIDs) is not among them.
static const char *const SYSFS[] = {
    "bus/event_source/devices/*/type",
    "bus/event_source/devices/*/cpu*",
    "bus/event_source/devices/*/perf_event_mux_interval_ms",
    "bus/event_source/devices/*/format/*",
    "bus/event_source/devices/*/events/*",
    "bus/event_source/devices/*/caps/*",
    "devices/system/cpu/online",
    "devices/system/cpu/possible",
    "devices/system/cpu/present",
    "devices/system/cpu/isolated",
    "devices/system/cpu/nohz_full",
    "devices/system/cpu/smt/*",
    "devices/system/cpu/cpu[0-9]*/topology/*_list",
    "devices/system/cpu/cpu[0-9]*/topology/*_id",
    "devices/system/cpu/cpu[0-9]*/regs/identification/midr_el1",
    "devices/system/cpu/cpu0/cache/index*/[lstw]*",
    "devices/system/cpu/cpufreq/policy*/scaling_governor",
    "devices/system/cpu/cpufreq/policy*/scaling_driver",
    "devices/system/cpu/cpufreq/policy*/cpuinfo_*_freq",
    "devices/system/node/online",
    "devices/system/node/node*/cpulist",
    "devices/system/clocksource/clocksource0/*_clocksource",
    "hypervisor/type",
    "class/dmi/id/sys_vendor",
    "class/dmi/id/product_name",
    "fs/cgroup/cpuset.cpus.*",
    "fs/cgroup/cgroup.controllers",
    "module/kvm*/parameters/enable_pmu",
};

// Below procfs.
static const char *const PROCFS[] = {
    "sys/kernel/perf_*",         "sys/kernel/nmi_watchdog", "sys/kernel/osrelease",
    "sys/kernel/numa_balancing", "sys/fs/file-max",         "sys/fs/nr_open",
};

static void put_file(const char *path, size_t root, struct text *out) {
    char value[VALUE_BYTES_MAX];
    ssize_t n = host_file_read(path, value, sizeof value);
    if (n < 0)
        return; // a folder, or what only some may read
    while (n > 0 && value[n - 1] == '\n')
        n--;
    text_format(out, "%s: ", path + root + 1);
    for (ssize_t i = 0; i < n; i++)
        text_append(out, value[i] == '\n' ? " | " : value[i] >= ' ' ? &value[i] : "?", value[i] == '\n' ? 3 : 1);
    text_string(out, "\n");
}

static void put_files(const char *root, const char *const *patterns, size_t n, struct text *out) {
    for (size_t i = 0; i < n; i++) {
        char pattern[PATH_BYTES_MAX];
        glob_t found = {0};
        (void)snprintf(pattern, sizeof pattern, "%s/%s", root, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                put_file(found.gl_pathv[k], strlen(root), out);
        globfree(&found);
    }
}

// ---- cpuinfo ----

// What makes a kind of CPU, of the lines of one CPU.
static void find_kind(const char *lines, size_t length, char out[KIND_BYTES_MAX]) {
    static const char *const keys[] = {"vendor_id",  "cpu family",  "model",    "stepping",    "CPU implementer",
                                       "model name", "CPU variant", "CPU part", "CPU revision"};
    size_t n = 0;
    out[0] = '\0';
    for (size_t at = 0; at < length;) {
        const char *line = lines + at;
        size_t size = strcspn(line, "\n"), key = strcspn(line, "\t:");
        for (size_t i = 0; i < sizeof keys / sizeof *keys && n < KIND_BYTES_MAX; i++)
            if (strlen(keys[i]) == key && strncmp(line, keys[i], key) == 0)
                n += (size_t)snprintf(out + n, KIND_BYTES_MAX - n, "%.*s;", (int)size, line);
        at += size + 1;
    }
}

static void put_without_serial(const char *lines, size_t length, struct text *out) {
    for (size_t at = 0; at < length;) {
        size_t size = strcspn(lines + at, "\n") + 1;
        if (strncasecmp(lines + at, "serial", strlen("serial")) != 0)
            text_append(out, lines + at, size);
        at += size;
    }
    text_string(out, "\n");
}

// The first CPU of each kind.
static void put_cpuinfo(const char *root, struct text *out) {
    char path[PATH_BYTES_MAX], kinds[KINDS_MAX][KIND_BYTES_MAX], kind[KIND_BYTES_MAX];
    char *all = malloc(CPUINFO_BYTES_MAX);
    size_t n_kinds = 0;
    (void)snprintf(path, sizeof path, "%s/cpuinfo", root);
    ssize_t n = all ? host_file_read(path, all, CPUINFO_BYTES_MAX) : -1;
    for (ssize_t at = 0; at < n && n_kinds < KINDS_MAX;) {
        const char *end = strstr(all + at, "\n\n");
        size_t length = end ? (size_t)(end - (all + at)) + 1 : (size_t)(n - at);
        bool known = false;
        find_kind(all + at, length, kind);
        for (size_t i = 0; i < n_kinds; i++)
            known = known || strcmp(kinds[i], kind) == 0;
        if (!known && kind[0] != '\0') {
            memcpy(kinds[n_kinds++], kind, sizeof kind);
            put_without_serial(all + at, length, out);
        }
        at += (ssize_t)length + 1;
    }
    free(all);
}

// ---- the rest ----

// Words of the kernel's command line that bear on measuring; the others may name disks and hosts.
static void put_command_line(const char *root, struct text *out) {
    static const char *const words[] = {"isolcpus=", "nohz_full=",  "rcu_nocbs=", "nmi_watchdog=", "mitigations=",
                                        "nosmt",     "maxcpus=",    "nr_cpus=",   "clocksource=",  "tsc=",
                                        "idle=",     "intel_idle.", "processor.", "intel_pstate=", "amd_pstate=",
                                        "tsx=",      "hugepages=",  "perf",       "cgroup_",       "systemd.unified_"};
    char path[PATH_BYTES_MAX], line[VALUE_BYTES_MAX], *rest = NULL;
    (void)snprintf(path, sizeof path, "%s/cmdline", root);
    if (host_file_read(path, line, sizeof line) < 0)
        return;
    text_string(out, "cmdline:");
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(word, words[i], strlen(words[i])) == 0)
                text_format(out, " %s", word);
    text_string(out, "\n");
}

static void put_process(struct text *out) {
    static const char *const keys[] = {"CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed_list:"};
    char status[VALUE_BYTES_MAX], *rest = NULL;
    if (host_file_read("/proc/self/status", status, sizeof status) < 0)
        return;
    for (char *line = strtok_r(status, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                text_format(out, "doctor's own %s\n", line);
    text_format(out, "container: %s\n",
                access("/.dockerenv", F_OK) == 0          ? "docker"
                : access("/run/.containerenv", F_OK) == 0 ? "podman"
                : getenv("KUBERNETES_SERVICE_HOST")       ? "kubernetes"
                : getenv("container")                     ? getenv("container")
                                                          : "none seen");
}

void bundle_add_host(struct bundle *bundle) {
    const struct options *options = bundle->request->options;
    const char *sysfs = options->paths.sysfs ? options->paths.sysfs : "/sys";
    const char *procfs = options->paths.procfs ? options->paths.procfs : "/proc";
    struct text text = {0};
    struct utsname kernel;
    put_cpuinfo(procfs, &text);
    bundle_add_text(bundle, "host/cpuinfo.txt", "the first CPU of each kind, as the kernel describes it", &text);
    if (uname(&kernel) == 0)
        text_format(&text, "kernel: %s %s, %s\n", kernel.sysname, kernel.release, kernel.machine);
    put_files(procfs, PROCFS, sizeof PROCFS / sizeof *PROCFS, &text);
    put_command_line(procfs, &text);
    put_process(&text);
    bundle_add_text(bundle, "host/kernel.txt", "the kernel, its settings of perf, and what this process may do", &text);
    put_files(sysfs, SYSFS, sizeof SYSFS / sizeof *SYSFS, &text);
    bundle_add_text(bundle, "host/sysfs.txt", "PMUs with their formats and events; CPUs, caches and nodes", &text);
}
