// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_cpu.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "collectors/host/host_file.h"
#include "collectors/host/host_pmu.h"

// /proc/cpuinfo describes one CPU after the other, with different keys on x86 and Arm; the first CPU is enough. The
// CPUID instruction is used only if these files describe this very CPU, so that a simulated file tree never shows facts
// of the real machine.

enum { FILE_BYTES = 16384, PATH_BYTES = 512 };

// Reads the beginning of /proc/cpuinfo; "" if there is none.
static void read_cpuinfo(const struct host_roots *roots, char *text, size_t size) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/cpuinfo", roots->procfs);
    if (host_file_read(path, text, size) < 0)
        text[0] = '\0';
}

// Copies the value of a "key : value" line, printable ASCII only. False if there is no such line.
static bool cpuinfo_value(const char *text, const char *key, char *out, size_t size) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *c = line + length + strspn(line + length, " \t");
        if (*c != ':')
            continue;
        c += 1 + strspn(c + 1, " \t");
        size_t n = 0;
        for (; *c != '\0' && *c != '\n' && n + 1 < size; c++)
            out[n++] = isprint((unsigned char)*c) ? *c : '?';
        out[n] = '\0';
        return n > 0;
    }
    return false;
}

void host_cpu_describe(const struct host_roots *roots, struct host_cpu *out) {
    char text[FILE_BYTES];
    read_cpuinfo(roots, text, sizeof text);
    // x86 names vendor and model; Arm gives the fields of MIDR_EL1
    if (!cpuinfo_value(text, "vendor_id", out->vendor, sizeof out->vendor) &&
        !cpuinfo_value(text, "CPU implementer", out->vendor, sizeof out->vendor))
        (void)snprintf(out->vendor, sizeof out->vendor, "unknown");
    if (!cpuinfo_value(text, "model name", out->model, sizeof out->model) &&
        !cpuinfo_value(text, "CPU part", out->model, sizeof out->model))
        (void)snprintf(out->model, sizeof out->model, "unknown");
}

// A whole number below 65536.
static bool cpuinfo_number(const char *text, const char *key, unsigned *out) {
    char value[16], *end;
    if (!cpuinfo_value(text, key, value, sizeof value) || !isdigit((unsigned char)value[0]))
        return false;
    unsigned long number = strtoul(value, &end, 10);
    *out = (unsigned)number;
    return *end == '\0' && number < 65536;
}

int host_cpu_cpuid(const struct host_roots *roots, char *out, size_t size) {
    char text[FILE_BYTES], vendor[16];
    unsigned family, model, stepping;
    read_cpuinfo(roots, text, sizeof text);
    if (!cpuinfo_value(text, "vendor_id", vendor, sizeof vendor) || strlen(vendor) > 12 || strchr(vendor, '-') ||
        !cpuinfo_number(text, "cpu family", &family) || !cpuinfo_number(text, "model", &model) ||
        !cpuinfo_number(text, "stepping", &stepping))
        return -ENOENT;
    (void)snprintf(out, size, "%s-%u-%X-%X", vendor, family, model, stepping);
    return 0;
}

bool host_cpu_nmi_watchdog(const struct host_roots *roots) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/sys/kernel/nmi_watchdog", roots->procfs);
    return host_file_number(path, 0) == 1;
}

// ---- the time stamp counter's frequency ----

static double frequency_of_text(const char *model) {
    const char *at = strrchr(model, '@');
    char *end;
    if (!at)
        return NAN;
    double value = strtod(at + 1, &end); // "@ 2.10GHz"
    double unit = strncmp(end, "GHz", 3) == 0 ? 1e9 : strncmp(end, "MHz", 3) == 0 ? 1e6 : NAN;
    return value > 0 && value < 1e5 ? value * unit : NAN;
}

#if defined(__x86_64__) || defined(__i386__)
// This machine's own CPU, written as host_cpu_cpuid does (Intel's and AMD's manuals, CPUID leaves 0 and 1).
static bool describe_own(char *out, size_t size, unsigned *leaves) {
    unsigned a, b, c, d, signature;
    char vendor[13] = "";
    if (!__get_cpuid(0, leaves, &b, &c, &d))
        return false;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    if (!__get_cpuid(1, &signature, &b, &c, &a))
        return false;
    unsigned family = signature >> 8 & 15, model = signature >> 4 & 15;
    if (family >= 6)
        model += (signature >> 16 & 15) << 4;
    if (family == 15)
        family += signature >> 20 & 255;
    (void)snprintf(out, size, "%s-%u-%X-%X", vendor, family, model, signature & 15);
    return true;
}

// Leaf 0x15: crystal clock and its ratio to the counter; leaf 0x16: the base frequency in MHz, which it runs at.
static double frequency_of_instruction(const char *cpuid) {
    char own[HOST_CPUID_MAX];
    unsigned a = 0, b = 0, c = 0, d = 0, leaves;
    if (!describe_own(own, sizeof own, &leaves) || strcmp(own, cpuid) != 0)
        return NAN;
    if (leaves >= 0x15 && __get_cpuid_count(0x15, 0, &a, &b, &c, &d) && a > 0 && b > 0 && c > 0)
        return (double)c * b / a;
    if (leaves >= 0x16 && __get_cpuid_count(0x16, 0, &a, &b, &c, &d) && (a & 0xffff) > 0)
        return (double)(a & 0xffff) * 1e6;
    return NAN;
}

// The first leaf of the hypervisor: twelve characters that it chose.
bool host_cpu_hypervisor(const struct host_roots *roots, char *out, size_t size) {
    static const struct {
        const char *signature, *name;
    } known[] = {{"KVMKVMKVM", "KVM"},       {"Linux KVM Hv", "KVM"}, {"Microsoft Hv", "Hyper-V"},
                 {"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"},
                 {"bhyve bhyve ", "bhyve"},  {"ACRNACRNACRN", "ACRN"}};
    char own[HOST_CPUID_MAX], files[HOST_CPUID_MAX], signature[13] = "";
    unsigned a, b, c, d, leaves;
    if (!describe_own(own, sizeof own, &leaves) || host_cpu_cpuid(roots, files, sizeof files) < 0 ||
        strcmp(own, files) != 0 || host_cpu_flag(roots, "hypervisor") != 1)
        return false;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(signature, &b, 4);
    memcpy(signature + 4, &c, 4);
    memcpy(signature + 8, &d, 4);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(signature, known[i].signature) == 0) {
            (void)snprintf(out, size, "%s", known[i].name);
            return true;
        }
    (void)snprintf(out, size, "%s", signature);
    return signature[0] != '\0';
}
#else
static double frequency_of_instruction(const char *cpuid) {
    (void)cpuid;
    return NAN;
}

bool host_cpu_hypervisor(const struct host_roots *roots, char *out, size_t size) {
    (void)roots;
    (void)out;
    (void)size;
    return false;
}
#endif

int host_cpu_flag(const struct host_roots *roots, const char *flag) {
    char text[FILE_BYTES], flags[FILE_BYTES];
    size_t length = strlen(flag);
    read_cpuinfo(roots, text, sizeof text);
    if (!cpuinfo_value(text, "flags", flags, sizeof flags)) // x86 has flags, Arm has Features
        return -1;
    for (const char *at = flags; (at = strstr(at, flag)); at++)
        if ((at == flags || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return 1;
    return 0;
}

// ---- the environment of formulas ----

static bool read_cpus(const struct host_roots *roots, const char *file, struct cpuset *out) {
    char path[PATH_BYTES], text[FILE_BYTES];
    struct host_files *kept = strchr(file, '/') ? NULL : roots->kept; // not those of each CPU
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/%s", roots->sysfs, file);
    return host_file_read_kept(kept, path, text, sizeof text) >= 0 && cpuset_parse(text, out) == 0 &&
           !cpuset_is_empty(out);
}

bool host_cpu_online(const struct host_roots *roots, struct cpuset *out) { return read_cpus(roots, "online", out); }

bool host_cpu_present(const struct host_roots *roots, struct cpuset *out) { return read_cpus(roots, "present", out); }

static double count_cpus(const struct host_roots *roots, const char *file) {
    struct cpuset cpus;
    return read_cpus(roots, file, &cpus) ? (double)cpuset_count(&cpus) : NAN;
}

// Counts the sets that a file of each online CPU divides the CPUs into (`old_file` is its former name). *largest is the
// number of CPUs in the largest set. NaN if the files do not say.
static double count_sets(const struct host_roots *roots, const char *file, const char *old_file, size_t *largest) {
    struct cpuset online, seen = {{0}}, set;
    size_t n = 0;
    *largest = 0;
    if (!read_cpus(roots, "online", &online))
        return NAN;
    for (unsigned cpu = 0; (cpu = cpuset_next(&online, cpu)) < CPUSET_MAX; cpu++) {
        char name[96];
        if (cpuset_has(&seen, cpu))
            continue;
        (void)snprintf(name, sizeof name, "cpu%u/topology/%s", cpu, file);
        bool known = read_cpus(roots, name, &set);
        (void)snprintf(name, sizeof name, "cpu%u/topology/%s", cpu, old_file);
        if ((!known && !read_cpus(roots, name, &set)) || !cpuset_has(&set, cpu))
            return NAN;
        for (size_t w = 0; w < CPUSET_MAX / 64; w++)
            seen.words[w] |= set.words[w];
        *largest = cpuset_count(&set) > *largest ? cpuset_count(&set) : *largest;
        n++;
    }
    return (double)n;
}

double host_cpu_sockets(const struct host_roots *roots) {
    size_t ignored;
    return count_sets(roots, "package_cpus_list", "core_siblings_list", &ignored);
}

bool host_cpu_smt_at_boot(const struct host_roots *roots) {
    char path[PATH_BYTES], control[32];
    size_t threads;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/smt/control", roots->sysfs);
    if (host_file_read(path, control, sizeof control) > 0 && strncmp(control, "notimplemented", 14) != 0)
        return strncmp(control, "notsupported", 12) != 0;
    (void)count_sets(roots, "core_cpus_list", "thread_siblings_list", &threads);
    return threads > 1;
}

static void describe_topology(const struct host_roots *roots, double *literals) {
    char path[PATH_BYTES];
    size_t threads, ignored;
    literals[LITERAL_NUM_CPUS] = count_cpus(roots, "present");
    literals[LITERAL_NUM_CPUS_ONLINE] = count_cpus(roots, "online");
    literals[LITERAL_NUM_CORES] = count_sets(roots, "core_cpus_list", "thread_siblings_list", &threads);
    literals[LITERAL_NUM_PACKAGES] = count_sets(roots, "package_cpus_list", "core_siblings_list", &ignored);
    literals[LITERAL_NUM_DIES] = count_sets(roots, "die_cpus_list", "package_cpus_list", &ignored);
    if (isnan(literals[LITERAL_NUM_DIES])) // before Linux 5.3
        literals[LITERAL_NUM_DIES] = literals[LITERAL_NUM_PACKAGES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/smt/active", roots->sysfs);
    long long active = host_file_number(path, -1);
    literals[LITERAL_SMT_ON] = active == 0 || active == 1 ? (double)active : threads > 1;
}

static void describe_cpu(const struct host_roots *roots, unsigned cpu, struct environment *out) {
    struct host_cpu described;
    uint32_t midr;
    if (host_linux_midr(roots, cpu, &midr) == 0) {
        (void)snprintf(out->facts.cpuid, sizeof out->facts.cpuid, "0x%016llx", (unsigned long long)midr);
        return;
    }
    if (host_cpu_cpuid(roots, out->facts.cpuid, sizeof out->facts.cpuid) < 0)
        return;
    host_cpu_describe(roots, &described);
    double frequency = frequency_of_instruction(out->facts.cpuid);
    out->facts.literals[LITERAL_SYSTEM_TSC_FREQ] = isnan(frequency) ? frequency_of_text(described.model) : frequency;
}

void host_cpu_environment(const struct host_events *pmu_events, unsigned cpu, struct environment *out) {
    const struct host_roots *roots = &pmu_events->roots;
    char path[PATH_BYTES];
    uint64_t slots;
    environment_init(out);
    describe_topology(roots, out->facts.literals);
    describe_cpu(roots, cpu, out);
    if (host_pmu_cap(roots, pmu_events->pmu, "slots", &slots) == 0 && slots > 0)
        out->facts.literals[LITERAL_SLOTS] = (double)slots;
    (void)snprintf(path, sizeof path, "%s/firmware/acpi/tables/NFIT", roots->sysfs);
    out->facts.literals[LITERAL_HAS_PMEM] = access(path, F_OK) == 0;
    out->has_event = host_cpu_event;
    out->context = pmu_events;
}

bool host_cpu_event(const void *pmu_events, const char *name) {
    const struct host_events *of = pmu_events;
    char ignored[1024];
    return !strchr(name, '-') || host_pmu_alias(&of->roots, of->pmu, name, ignored, sizeof ignored) != -ENOENT;
}
