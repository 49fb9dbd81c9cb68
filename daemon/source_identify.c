// SPDX-License-Identifier: Apache-2.0
#include "daemon/source_identify.h"

#include <string.h>

#include "collectors/host_cpu.h"

static bool has_pmu(const void *context, const char *pattern) {
    const struct host_roots *roots = context;
    char name[HOST_TEXT_MAX];
    uint32_t type;
    return host_cpu_find_pmu(roots, pattern, name, sizeof name, &type) == 0;
}

// Arm cores say for each CPU what they are; all x86 CPUs of a host are one by their CPUID.
static const struct cpu_row *row_of_cpu(const struct source *source, unsigned cpu) {
    struct cpu_identity identity = {.cpuid = source->cpuid[0] != '\0' ? source->cpuid : NULL,
                                    .vendor = source->cpu.vendor,
                                    .has_pmu = has_pmu,
                                    .context = &source->roots};
    identity.has_midr = !identity.cpuid && host_linux_midr(&source->roots, cpu, &identity.midr) == 0;
    return cpu_map_choose(source->cpus, &identity);
}

void source_identify(struct source *source, const struct specs *specs) {
    struct cpuset online;
    source->cpus = &specs->cpus;
    host_cpu_describe(&source->roots, &source->cpu);
    if (!host_cpu_online(&source->roots, &online))
        return;
    for (unsigned cpu = 0; cpu < CPUSET_MAX && !source->row; cpu++) {
        source->row = cpuset_has(&online, cpu) ? row_of_cpu(source, cpu) : NULL;
        source->first_cpu = cpu;
    }
    if (source->row)
        return;
    source->first_cpu = 0;
    if (host_cpu_cpuid(&source->roots, source->cpuid, sizeof source->cpuid) == 0)
        source->row = row_of_cpu(source, 0);
}

static void keep_cpus(struct cpuset *set, const struct cpuset *kept, bool inverted) {
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        set->words[w] &= inverted ? ~kept->words[w] : kept->words[w];
}

// All CPUs that are selected; without a selection all that nobody wants left alone.
static void find_wanted(const struct source *source, const struct cpuset *selected, struct cpuset *out) {
    struct cpuset left_alone;
    host_linux_left_alone(&source->roots, &left_alone);
    memset(out, 0xff, sizeof *out);
    keep_cpus(out, selected ? selected : &left_alone, selected == NULL);
}

void source_choose_cpus(const struct source *source, const struct cpuset *selected, struct cpuset *out) {
    struct cpuset of_pmu;
    find_wanted(source, selected, out);
    if (host_linux_pmu_cpus(&source->roots, source->pmu_name, &of_pmu) == 0)
        keep_cpus(out, &of_pmu, false);
}

// Another spec, or of the vendor's files those of another core: implementer and part are not the same.
static bool is_other_core(const struct source *source, unsigned cpu) {
    static const uint32_t core = 0xff00fff0;
    uint32_t first, midr;
    if (source->vendors)
        return host_linux_midr(&source->roots, source->first_cpu, &first) == 0 &&
               host_linux_midr(&source->roots, cpu, &midr) == 0 && ((first ^ midr) & core) != 0;
    const struct cpu_row *row = row_of_cpu(source, cpu);
    return row && strcmp(row->spec, source->row->spec) != 0;
}

// What is offline does not say what it is, and stays.
void source_remove_other_cores(const struct source *source, struct cpuset *set) {
    if ((!source->row && !source->vendors) || source->cpuid[0] != '\0')
        return;
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        if (cpuset_has(set, cpu) && is_other_core(source, cpu))
            set->words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
    }
}

size_t source_count_other_cores(const struct source *source, const struct cpuset *selected, const struct cpuset *ours) {
    struct cpuset online, wanted;
    if (!host_cpu_online(&source->roots, &online))
        return 0;
    find_wanted(source, selected, &wanted);
    keep_cpus(&online, &wanted, false);
    keep_cpus(&online, ours, true);
    return cpuset_count(&online);
}
