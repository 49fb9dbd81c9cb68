// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_identify.h"

#include <stdio.h>
#include <string.h>

#include "collectors/host/host_isolated.h"

static void keep_cpus(struct cpuset *set, const struct cpuset *kept, bool inverted) {
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        set->words[w] &= inverted ? ~kept->words[w] : kept->words[w];
}

// The selected CPUs; by default all except those that the administrator wants undisturbed.
static void find_wanted(const struct source_host *host, const struct cpuset *selected, struct cpuset *isolated,
                        struct cpuset *out) {
    memset(isolated, 0, sizeof *isolated);
    if (!selected)
        host_isolated_cpus(&host->source.roots, isolated);
    memset(out, 0xff, sizeof *out);
    keep_cpus(out, selected ? selected : isolated, selected == NULL);
}

// Offline CPUs do not identify themselves, and stay.
static void remove_other_cores(const struct source_host *host, struct cpuset *set) {
    for (unsigned cpu = 0; host->cores.midr != 0 && cpu < CPUSET_MAX; cpu++)
        if (cpuset_has(set, cpu) &&
            !host_cores_has(&host->source.roots, host->cpus, host->source.vendors, &host->cores, cpu))
            set->words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

void source_choose_cpus(const struct source_host *host, const struct cpuset *selected, bool ask,
                        struct source_cpus *out) {
    const struct source *source = &host->source;
    if (!source->takes_counters || host_linux_pmu_cpus(&source->roots, source->pmu_name, &out->own) < 0)
        memset(&out->own, 0xff, sizeof out->own);
    if (ask)
        remove_other_cores(host, &out->own);
    find_wanted(host, selected, &out->isolated, &out->selected);
    keep_cpus(&out->selected, &out->own, false);
    keep_cpus(&out->isolated, &out->own, false);
    out->choice = (struct host_choice){
        .selected = &out->selected, .own = source->several ? &out->own : NULL, .isolated = &out->isolated};
}

size_t source_count_other_cores(const struct source_host *const *hosts, size_t n, const struct cpuset *selected) {
    struct cpuset online, wanted, isolated;
    if (!host_cpu_online(&hosts[0]->source.roots, &online))
        return 0;
    find_wanted(hosts[0], selected, &isolated, &wanted);
    keep_cpus(&online, &wanted, false);
    for (size_t i = 0; i < n; i++) {
        struct source_cpus cpus;
        source_choose_cpus(hosts[i], selected, true, &cpus);
        keep_cpus(&online, &cpus.selected, true);
    }
    return cpuset_count(&online);
}
