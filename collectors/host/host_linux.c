// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_linux.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/host/host_places.h"
#include "core/spec/kernel_pmu.h"

// Every file read here is small; text beyond the buffer is ignored.

enum { FILE_BYTES = 16384, PATH_BYTES = 512, ENTRY_BYTES = 256, EVENTS_MAX = 1024 };

static long long cpu_number(const struct host_roots *roots, unsigned cpu, const char *file, long long otherwise) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/%s", roots->sysfs, cpu, file);
    return host_file_number(path, otherwise);
}

enum online { ONLINE_KNOWN, ONLINE_NO_LIST };

// Returns what the file holds, or a negative errno. `path` has PATH_BYTES.
static int read_online(const struct host_roots *roots, char *path, struct cpuset *out) {
    char text[FILE_BYTES];
    (void)snprintf(path, PATH_BYTES, "%s/devices/system/cpu/online", roots->sysfs);
    ssize_t length = host_file_read_kept(roots->kept, path, text, sizeof text);
    if (length < 0)
        return (int)length;
    return cpuset_parse(text, out) < 0 || cpuset_is_empty(out) ? ONLINE_NO_LIST : ONLINE_KNOWN;
}

static int find_online(const struct host_roots *roots, struct errors *errors, struct cpuset *out) {
    char path[PATH_BYTES];
    int r = read_online(roots, path, out);
    if (r < 0)
        return error_passes(r)
                   ? errors_add_failure(errors, path, "cannot read which CPUs are online", r)
                   : errors_add(errors, path, 0, 0,
                                "cannot read which CPUs are online: %s; mount sysfs, or say where it is with "
                                "--path.sysfs",
                                strerror(-r));
    if (r == ONLINE_NO_LIST)
        return errors_add(errors, path, 1, 0, "is not a list of CPUs such as 0-3,8 (at most %d CPUs)", CPUSET_MAX);
    return 0;
}

// Returns the lowest online CPU of the physical core, which identifies the core on the whole host: a core_id is unique
// only within its die or cluster. -1 if the kernel does not say.
static int first_sibling(const struct host_roots *roots, unsigned cpu) {
    static const char *const files[] = {"core_cpus_list", "thread_siblings_list"}; // the second before Linux 5.3
    char path[PATH_BYTES], text[FILE_BYTES];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct cpuset siblings;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/%s", roots->sysfs, cpu, files[i]);
        if (host_file_read(path, text, sizeof text) < 0 || cpuset_parse(text, &siblings) < 0 ||
            !cpuset_has(&siblings, cpu))
            continue;
        int first = 0;
        while (!cpuset_has(&siblings, (unsigned)first))
            first++;
        return first;
    }
    return -1;
}

static struct topology_source describe_cpu(const struct host_roots *roots, unsigned cpu, bool selected) {
    long long package = cpu_number(roots, cpu, "topology/physical_package_id", 0);
    return (struct topology_source){.id = cpu,
                                    .core = first_sibling(roots, cpu),
                                    .package = package < 0 || package > INT_MAX ? 0 : (int)package,
                                    .selected = selected};
}

// The CPU's entry in `known`, or NULL.
static const struct topology_cpu *find_cpu(const struct topology *known, unsigned id) {
    int i = known ? topology_find_cpu(known, id) : -1;
    return i >= 0 ? &known->cpus[i] : NULL;
}

static bool is_selected(const struct host_choice *choice, unsigned cpu) {
    return (!choice->selected || cpuset_has(choice->selected, cpu)) && (!choice->own || cpuset_has(choice->own, cpu));
}

static bool is_isolated(const struct host_choice *choice, unsigned cpu) {
    return choice->isolated && cpuset_has(choice->isolated, cpu);
}

// Of the CPUs that are left out, counts those that are isolated by themselves.
static void count_isolated(const struct host_choice *choice, const struct topology_source *cpus, size_t n,
                           struct topology *topology) {
    for (size_t i = 0; i < n; i++) {
        if (cpus[i].selected || !is_isolated(choice, cpus[i].id))
            continue;
        struct topology_socket *socket = topology->sockets;
        while (socket->id != (unsigned)cpus[i].package)
            socket++;
        socket->excluded--;
        socket->isolated++;
    }
}

// Builds a topology of the online CPUs and of those in `known` (may be NULL) that are now offline, whose cores are no
// longer known.
static int build_topology(const struct host_roots *roots, const struct cpuset *online, const struct host_choice *choice,
                          const struct topology *known, struct topology **out) {
    size_t n = 0;
    struct topology_source *cpus = calloc(cpuset_count(online) + (known ? known->n_cpus : 0), sizeof *cpus);
    if (!cpus)
        return -ENOMEM;
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        const struct topology_cpu *away = find_cpu(known, cpu);
        if (cpuset_has(online, cpu) && choice->own && !cpuset_has(choice->own, cpu))
            continue;
        if (cpuset_has(online, cpu))
            cpus[n++] = describe_cpu(roots, cpu, is_selected(choice, cpu));
        else if (away && !is_isolated(choice, cpu))
            cpus[n++] = (struct topology_source){
                .id = cpu, .core = -1, .package = (int)known->sockets[away->socket].id, .selected = true};
    }
    long long kilohertz = n > 0 ? cpu_number(roots, cpus[0].id, "cpufreq/cpuinfo_max_freq", 0) : 0;
    int r = topology_new(cpus, n, kilohertz > 0 ? (double)kilohertz * 1e3 : 0, out);
    if (r == 0) {
        count_isolated(choice, cpus, n, *out);
        r = host_places_read(roots, *out);
        *out = r < 0 ? topology_free(*out) : *out;
    }
    free(cpus);
    return r;
}

int host_linux_topology(const struct host_roots *roots, const struct host_choice *choice, struct errors *errors,
                        struct topology **out) {
    struct cpuset online;
    int r = find_online(roots, errors, &online);
    if (r < 0)
        return r;
    r = build_topology(roots, &online, choice, NULL, out);
    return r == -EINVAL ? errors_add(errors, NULL, 0, 0, "none of the CPUs that `cpus` names is online") : r;
}

// True if a CPU came online that should be measured, or one that is measured became isolated. This is asked every few
// seconds, so it goes over words of the sets.
static bool cpus_changed(const struct cpuset *online, const struct host_choice *choice, const struct topology *known) {
    struct cpuset measured = {0};
    bool changed = false;
    for (size_t i = 0; i < known->n_cpus; i++)
        cpuset_add(&measured, known->cpus[i].id);
    for (size_t w = 0; w < CPUSET_MAX / 64 && !changed; w++) {
        uint64_t selected = (choice->selected ? choice->selected->words[w] : UINT64_MAX) &
                            (choice->own ? choice->own->words[w] : UINT64_MAX);
        uint64_t isolated = choice->isolated ? choice->isolated->words[w] : 0;
        uint64_t comes = online->words[w] & selected & ~measured.words[w], goes = measured.words[w] & isolated;
        changed = (comes | goes) != 0;
    }
    return changed;
}

int host_linux_topology_update(const struct host_roots *roots, const struct host_choice *choice,
                               const struct topology *known, struct topology **out) {
    struct cpuset online;
    char path[PATH_BYTES];
    if (read_online(roots, path, &online) != ONLINE_KNOWN || !cpus_changed(&online, choice, known))
        return 0; // an unreadable file says nothing new about the CPUs
    int r = build_topology(roots, &online, choice, known, out);
    return r == 0 ? 1 : r;
}

int host_linux_pmu_type(const struct host_roots *roots, const char *pmu, uint32_t *out) {
    char path[PATH_BYTES], text[64];
    if (kernel_pmu_type(pmu, out))
        return 0;
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/type", roots->sysfs, pmu);
    long long type = host_file_number(path, -1);
    ssize_t length = type < 0 ? host_file_read(path, text, sizeof text) : 0;
    if (length < 0 && error_passes((int)length))
        return (int)length;
    if (type < 0 || type > UINT32_MAX)
        return -ENOENT;
    *out = (uint32_t)type;
    return 0;
}

int host_linux_midr(const struct host_roots *roots, unsigned cpu, uint32_t *out) {
    char path[PATH_BYTES], text[64], *end;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/regs/identification/midr_el1", roots->sysfs, cpu);
    ssize_t length = host_file_read(path, text, sizeof text);
    if (length < 0)
        return -ENOENT;
    errno = 0;
    unsigned long long midr = strtoull(text, &end, 16);
    if (end == text || text[0] != '0' || (*end != '\n' && *end != '\0') || errno != 0 || midr > UINT32_MAX)
        return -EINVAL;
    *out = (uint32_t)midr;
    return 0;
}

static bool pattern_matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(name, pattern, length - 1) == 0;
    return strcmp(name, pattern) == 0;
}

int host_linux_find_pmu(const struct host_roots *roots, const char *pattern, const char *after, char *name, size_t size,
                        uint32_t *type) {
    char path[PATH_BYTES], best[ENTRY_BYTES] = "";
    uint32_t best_type = 0, this_type;
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices", roots->sysfs);
    DIR *folder = opendir(path);
    if (!folder)
        return -ENOENT;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *this = entry->d_name;
        if (this[0] == '.' || strlen(this) >= size || !pattern_matches(pattern, this) || strcmp(this, after) <= 0 ||
            (best[0] != '\0' && strcmp(this, best) > 0) || host_linux_pmu_type(roots, this, &this_type) < 0)
            continue;
        (void)snprintf(best, sizeof best, "%s", this);
        best_type = this_type;
    }
    closedir(folder);
    if (best[0] == '\0')
        return -ENOENT;
    (void)snprintf(name, size, "%s", best);
    *type = best_type;
    return 0;
}

int host_linux_pmu_cpus(const struct host_roots *roots, const char *pmu, struct cpuset *out) {
    static const char *const files[] = {"cpus", "cpumask"};
    char path[PATH_BYTES], text[FILE_BYTES];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/%s", roots->sysfs, pmu, files[i]);
        if (host_file_read(path, text, sizeof text) >= 0)
            return cpuset_parse(text, out) < 0 ? -EINVAL : 0;
    }
    memset(out, 0xff, sizeof *out);
    return 0;
}

// Reads an Arm PMU's form of an event, "event=0x0011"; other PMUs give more than a number.
static bool read_event(const char *path, uint64_t *config) {
    char text[64], *end;
    if (host_file_read(path, text, sizeof text) < 0 || strncmp(text, "event=0x", 8) != 0 ||
        !isxdigit((unsigned char)text[8]))
        return false;
    errno = 0;
    *config = strtoull(text + 8, &end, 16);
    return errno == 0 && (*end == '\n' || *end == '\0');
}

static int compare_configs(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_configs(struct host_pmu_events *events) {
    size_t n = 0;
    qsort(events->configs, events->n, sizeof *events->configs, compare_configs);
    for (size_t i = 0; i < events->n; i++)
        if (n == 0 || events->configs[i] != events->configs[n - 1])
            events->configs[n++] = events->configs[i];
    events->n = n;
}

// Linux 5.9 added the names of the newest common events, including the pipeline-slot events. An older kernel does not
// list them even if the hardware has them.
static bool kernel_names_all_events(const struct host_roots *roots) {
    char path[PATH_BYTES], text[64];
    unsigned major, minor;
    (void)snprintf(path, sizeof path, "%s/sys/kernel/osrelease", roots->procfs);
    return host_file_read(path, text, sizeof text) > 0 && sscanf(text, "%3u.%3u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 9));
}

int host_linux_pmu_events(const struct host_roots *roots, const char *pmu, struct host_pmu_events *out) {
    char path[PATH_BYTES + ENTRY_BYTES];
    int length = snprintf(path, PATH_BYTES, "%s/bus/event_source/devices/%s/events", roots->sysfs, pmu);
    DIR *folder = length < PATH_BYTES ? opendir(path) : NULL;
    if (!folder)
        return -ENOENT;
    struct host_pmu_events events = {.configs = calloc(EVENTS_MAX, sizeof *events.configs),
                                     .names_all = kernel_names_all_events(roots)};
    if (!events.configs) {
        closedir(folder);
        return -ENOMEM;
    }
    for (const struct dirent *entry = readdir(folder); entry && events.n < EVENTS_MAX; entry = readdir(folder)) {
        (void)snprintf(path + length, sizeof path - (size_t)length, "/%s", entry->d_name);
        events.n += read_event(path, &events.configs[events.n]);
    }
    closedir(folder);
    sort_configs(&events);
    *out = events;
    return 0;
}

void host_pmu_events_deinit(struct host_pmu_events *events) {
    free(events->configs);
    *events = (struct host_pmu_events){0};
}

static bool names_event(const struct host_pmu_events *events, uint64_t config) {
    return events->n > 0 && bsearch(&config, events->configs, events->n, sizeof config, compare_configs);
}

bool host_pmu_events_rule_out(const struct host_pmu_events *events, uint64_t config) {
    // the events that arch/arm64/kernel/perf_event.c names; not 0x1e (CHAIN), which means nothing alone
    static const struct {
        uint64_t first, last;
        bool old; // named before Linux 5.9 too
    } named[] = {{0x0, 0x1d, true},       {0x1f, 0x30, true},      {0x31, 0x3f, false},    {0x4000, 0x4006, false},
                 {0x4009, 0x400b, false}, {0x4020, 0x4022, false}, {0x4024, 0x4026, false}};
    const uint64_t cycles = 0x11; // every PMU has it: a list without it comes from an emulation and proves nothing
    if (!names_event(events, cycles) || names_event(events, config))
        return false;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (config >= named[i].first && config <= named[i].last && (named[i].old || events->names_all))
            return true;
    return false;
}

static double list_fds(const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return NAN;
    double n = -1; // the file descriptor of this very folder
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

// Since Linux 6.2 the size of the procfs folder is the number of file descriptors. Older kernels require a listing.
static void count_fds(const struct host_roots *roots, uint64_t call, struct host_process *process,
                      struct status_process *out) {
    char path[PATH_BYTES];
    struct statfs system;
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/self/fd", roots->procfs);
    if (call == 0)
        process->is_procfs = statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (process->is_procfs && host_file_stat(roots->kept, path, &status) == 0 && status.st_size > 0)
        out->open_fds = (double)status.st_size;
    else if (call % HOST_FDS_CALLS == 0)
        out->open_fds = list_fds(path);
}

// The host's boot time in seconds since the epoch, from /proc/stat.
static double boot_timestamp(const struct host_roots *roots) {
    char path[PATH_BYTES], line[256];
    double boot = NAN;
    (void)snprintf(path, sizeof path, "%s/stat", roots->procfs);
    FILE *file = fopen(path, "re");
    while (file && isnan(boot) && fgets(line, sizeof line, file))
        if (strncmp(line, "btime ", 6) == 0)
            boot = strtod(line + 6, NULL);
    if (file)
        (void)fclose(file);
    return boot;
}

// Fields 22, 23 and 24 of proc(5); the name in field 2 may contain any character, so counting starts after it.
static void read_stat(const struct host_roots *roots, struct status_process *out) {
    char path[PATH_BYTES], text[2048];
    (void)snprintf(path, sizeof path, "%s/self/stat", roots->procfs);
    const char *fields = host_file_read_kept(roots->kept, path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    unsigned long long start_ticks, virtual_bytes, resident_pages;
    out->virtual_bytes = out->resident_bytes = NAN;
    if (!fields ||
        sscanf(fields, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu",
               &start_ticks, &virtual_bytes, &resident_pages) != 3)
        return;
    out->virtual_bytes = (double)virtual_bytes;
    out->resident_bytes = (double)resident_pages * (double)sysconf(_SC_PAGESIZE);
    if (isnan(out->start_timestamp))
        out->start_timestamp = boot_timestamp(roots) + (double)start_ticks / (double)sysconf(_SC_CLK_TCK);
}

void host_linux_process(const struct host_roots *roots, struct host_process *process, struct status_process *out) {
    if (process->calls == 0)
        out->open_fds = out->start_timestamp = NAN;
    out->cpu_seconds = NAN;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    uint64_t call = process->calls++;
    if (call % HOST_FILE_CALLS != 0)
        return;
    out->max_fds = NAN;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out->max_fds = (double)limit.rlim_cur;
    count_fds(roots, call, process, out);
    read_stat(roots, out);
}
