// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_identify.h"

#include <stdio.h>
#include <string.h>

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

// What is offline does not say what it is, and stays.
static void remove_other_cores(const struct source *source, struct cpuset *set) {
    for (unsigned cpu = 0; source->cores.midr != 0 && cpu < CPUSET_MAX; cpu++)
        if (cpuset_has(set, cpu) && !host_cores_has(&source->roots, source->cpus, source->vendors, &source->cores, cpu))
            set->words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

void source_choose_cpus(const struct source *source, const struct cpuset *selected, bool ask, struct source_cpus *out) {
    if (host_linux_pmu_cpus(&source->roots, source->pmu_name, &out->own) < 0)
        memset(&out->own, 0xff, sizeof out->own);
    if (ask)
        remove_other_cores(source, &out->own);
    find_wanted(source, selected, &out->selected);
    keep_cpus(&out->selected, &out->own, false);
    out->choice = (struct host_choice){.selected = &out->selected, .own = source->several ? &out->own : NULL};
}

size_t source_count_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected) {
    struct cpuset online, wanted;
    if (!host_cpu_online(&sources[0]->roots, &online))
        return 0;
    find_wanted(sources[0], selected, &wanted);
    keep_cpus(&online, &wanted, false);
    for (size_t i = 0; i < n; i++) {
        struct source_cpus cpus;
        source_choose_cpus(sources[i], selected, true, &cpus);
        keep_cpus(&online, &cpus.selected, true);
    }
    return cpuset_count(&online);
}

// ---- names ----

enum { NAME_SPEC, NAME_PMU, NAME_CPU, NAME_N };

static void type_name(const struct source *source, int kind, char *out, size_t size) {
    const struct cpu_row *row = source->cores.row;
    if (kind == NAME_SPEC && source->scenario)
        (void)snprintf(out, size, "%s", source->scenario->spec);
    else if (kind == NAME_SPEC && row && !row->pmu)
        (void)snprintf(out, size, "%s", row->spec);
    else if (kind == NAME_CPU)
        (void)snprintf(out, size, "%.100s_cpu%u", source->pmu_name, source->cores.first_cpu);
    else
        (void)snprintf(out, size, "%s", source->pmu_name);
}

static bool is_unique(struct source *const *sources, size_t n, size_t i, int kind) {
    char name[HOST_TEXT_MAX], other[HOST_TEXT_MAX];
    bool unique = true;
    type_name(sources[i], kind, name, sizeof name);
    for (size_t j = 0; j < n && unique; j++) {
        type_name(sources[j], kind, other, sizeof other);
        unique = i == j || strcmp(name, other) != 0;
    }
    return unique;
}

void source_name_type(struct source *source, const char *name) {
    (void)snprintf(source->core_type, sizeof source->core_type, "%s", name);
    (void)snprintf(source->prefix, sizeof source->prefix, "core type %s: ", source->core_type);
}

void source_name_types(struct source *const *sources, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int kind = NAME_SPEC;
        while (kind + 1 < NAME_N && !is_unique(sources, n, i, kind))
            kind++;
        char name[HOST_TEXT_MAX];
        type_name(sources[i], kind, name, sizeof name);
        source_name_type(sources[i], name);
    }
}
