// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_cores.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/host/host_pmu.h"

// On Arm each CPU identifies its own core type. On x86 all CPUs of a host report the same CPUID, so only the kernel's
// PMUs tell the core types apart; so they do on all other CPUs, of which nothing else is known.

static const uint32_t MIDR_CORE = 0xff00fff0; // implementer and part

static bool has_pmu(const void *context, const char *pattern) {
    struct host_core_pmu first;
    return host_cores_pmus(context, pattern, &first, 1) > 0;
}

static bool shows(const void *context, const char *pmu, const char *event) {
    char terms[256];
    return host_pmu_alias(context, pmu, event, terms, sizeof terms) != -ENOENT;
}

static const struct cpu_row *choose_row(const struct host_roots *roots, const struct cpu_map *map,
                                        const struct cpu_identity *known) {
    struct cpu_identity identity = *known;
    identity.has_pmu = has_pmu;
    identity.shows = shows;
    identity.context = roots;
    return cpu_map_choose(map, &identity);
}

// ---- PMUs ----

static size_t add_pmu(const struct host_roots *roots, const char *pattern, const char *after,
                      struct host_core_pmu *out) {
    if (host_linux_find_pmu(roots, pattern, after, out->name, sizeof out->name, &out->type) < 0)
        return 0;
    out->replaces = false;
    if (host_linux_pmu_cpus(roots, out->name, &out->cpus) < 0)
        memset(&out->cpus, 0xff, sizeof out->cpus);
    return 1;
}

size_t host_cores_pmus(const struct host_roots *roots, const char *pattern, struct host_core_pmu *out, size_t max) {
    static const char *const hybrid[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    size_t n = 0;
    while (n < max && add_pmu(roots, pattern, n > 0 ? out[n - 1].name : "", &out[n]) > 0)
        n++;
    bool divided = n == 0 && strcmp(pattern, "cpu") == 0;
    for (size_t i = 0; divided && i < sizeof hybrid / sizeof *hybrid && n < max; i++)
        if (add_pmu(roots, hybrid[i], "", &out[n]) > 0)
            out[n++].replaces = true;
    return n;
}

// Finds the PMUs of the first generic row that has any. Before a spec is known, this is how topdownd recognises a core
// PMU.
static size_t find_pmus(const struct host_roots *roots, const struct cpu_map *map, struct host_core_pmu *out) {
    size_t n = 0;
    for (size_t i = 0; i < map->n && n == 0; i++)
        if (map->rows[i].pmu)
            n = host_cores_pmus(roots, map->rows[i].pmu, out, HOST_CORES_MAX);
    return n;
}

// The index of the PMU that counts on the CPU; n if there is none.
static size_t pmu_of(const struct host_core_pmu *pmus, size_t n, unsigned cpu) {
    size_t i = 0;
    while (i < n && !cpuset_has(&pmus[i].cpus, cpu))
        i++;
    return i;
}

static void set_pmu(struct host_cores *cores, const struct host_core_pmu *pmus, size_t n, unsigned cpu) {
    size_t i = pmu_of(pmus, n, cpu);
    if (i == n)
        return;
    memcpy(cores->pmu, pmus[i].name, sizeof cores->pmu);
    cores->pmu_replaces = pmus[i].replaces;
}

// ---- kinds ----

static const char *spec_of(const struct cpu_row *row) { return row ? row->spec : ""; }

static bool same_kind(const struct host_cores *a, const struct host_cores *b, bool by_core) {
    return strcmp(spec_of(a->row), spec_of(b->row)) == 0 && strcmp(a->pmu, b->pmu) == 0 &&
           (!by_core || ((a->midr ^ b->midr) & MIDR_CORE) == 0);
}

static bool differ(const struct host_cores *a, const struct host_cores *b, bool by_core) {
    return !same_kind(a, b, by_core) &&
           (strcmp(spec_of(a->row), spec_of(b->row)) != 0 || (a->pmu[0] != '\0' && b->pmu[0] != '\0'));
}

static void add_cpu(struct host_kinds *out, const struct host_cores *cores, bool by_core, unsigned cpu) {
    size_t kind = 0;
    while (kind < out->n && !same_kind(&out->kinds[kind], cores, by_core))
        kind++;
    if (kind == HOST_CORES_MAX)
        return;
    if (kind == out->n) {
        out->kinds[out->n++] = *cores;
        out->kinds[kind].first_cpu = cpu;
    }
    cpuset_add(&out->kinds[kind].cpus, cpu);
    out->several = out->several || differ(&out->kinds[0], cores, by_core);
}

// /proc/cpuinfo calls the vendor "implementer".
static bool describe_arm(const struct host_roots *roots, const struct cpu_map *map, unsigned cpu,
                         struct host_cores *out) {
    char vendor[8];
    if (host_linux_midr(roots, cpu, &out->midr) < 0)
        return false;
    (void)snprintf(vendor, sizeof vendor, "0x%02x", out->midr >> 24);
    out->row = choose_row(roots, map, &(struct cpu_identity){.has_midr = true, .midr = out->midr, .vendor = vendor});
    return true;
}

static void find_arm(const struct host_roots *roots, const struct cpu_map *map, bool by_core,
                     const struct cpuset *online, struct host_kinds *out) {
    struct host_core_pmu pmus[HOST_CORES_MAX];
    size_t n = find_pmus(roots, map, pmus);
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        struct host_cores cores = {0};
        if (!cpuset_has(online, cpu) || !describe_arm(roots, map, cpu, &cores))
            continue;
        set_pmu(&cores, pmus, n, cpu);
        if (cores.row || by_core)
            add_cpu(out, &cores, by_core, cpu);
    }
}

// Without a row of the map, CPUs that no file of a vendor's can be about are not worth a kind.
static void find_others(const struct host_roots *roots, const struct cpu_map *map, bool by_core,
                        const struct cpuset *online, struct host_kinds *out) {
    struct host_core_pmu pmus[HOST_CORES_MAX];
    const struct cpu_row *rows[HOST_CORES_MAX + 1]; // the last one: of CPUs without a PMU
    struct host_cpu described;
    bool x86 = host_cpu_cpuid(roots, out->cpuid, sizeof out->cpuid) == 0;
    host_cpu_describe(roots, &described);
    struct cpu_identity identity = {.cpuid = x86 ? out->cpuid : NULL, .vendor = described.vendor};
    size_t n = find_pmus(roots, map, pmus);
    for (size_t i = 0; i <= n; i++) {
        identity.core = i < n ? pmus[i].name : NULL;
        rows[i] = choose_row(roots, map, &identity);
    }
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        struct host_cores cores = {.row = rows[pmu_of(pmus, n, cpu)]};
        set_pmu(&cores, pmus, n, cpu);
        if (cpuset_has(online, cpu) && (cores.row || (by_core && x86)))
            add_cpu(out, &cores, false, cpu);
    }
}

void host_cores_find(const struct host_roots *roots, const struct cpu_map *map, bool by_core, struct host_kinds *out) {
    struct cpuset online;
    memset(out, 0, sizeof *out);
    if (!host_cpu_online(roots, &online))
        return;
    find_arm(roots, map, by_core, &online, out);
    if (out->n == 0)
        find_others(roots, map, by_core, &online, out);
}

bool host_cores_has(const struct host_roots *roots, const struct cpu_map *map, bool by_core,
                    const struct host_cores *kind, unsigned cpu) {
    struct host_cores cores = {0};
    if (kind->midr == 0)
        return true; // its PMU lists its CPUs
    if (!describe_arm(roots, map, cpu, &cores))
        return true;
    if (by_core)
        return ((cores.midr ^ kind->midr) & MIDR_CORE) == 0;
    return !cores.row || strcmp(spec_of(cores.row), spec_of(kind->row)) == 0;
}
