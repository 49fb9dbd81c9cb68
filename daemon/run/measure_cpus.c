// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "daemon/base/log.h"
#include "daemon/run/measure_plan.h"

// CPUs that come online, become isolated, or are no longer isolated, while the daemon measures.

static const uint64_t CPUS_NS = UINT64_C(5000000000); // between two checks

enum { LIST_MAX = 200 };

int measure_find_cpus(struct measure *m, uint64_t now_ns, struct topology **out) {
    const struct config_settings *settings = &m->setup->profile->settings;
    if (now_ns - m->cpus_ns < CPUS_NS)
        return 0;
    m->cpus_ns = now_ns;
    int r =
        source_topology_update(m->type->source, settings->cpus_all ? NULL : &settings->cpus, m->type->topology, out);
    if (r == -EINVAL && !m->all_isolated)
        log_warning("%sall CPUs are isolated: those that were not are measured on until topdownd is restarted",
                    measure_prefix(m));
    m->all_isolated = r == -EINVAL;
    return r == -EINVAL ? 0 : r;
}

// Lists the CPUs of a topology that another one lacks, such as "3-5,9"; "..." where there is no room. Returns their
// number.
static size_t list_missing(const struct topology *of, const struct topology *from, char list[LIST_MAX]) {
    size_t n = 0, length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < of->n_cpus; i++) {
        unsigned first = of->cpus[i].id, last = first;
        if (topology_find_cpu(from, first) >= 0)
            continue;
        n++;
        for (; i + 1 < of->n_cpus && of->cpus[i + 1].id == last + 1 && topology_find_cpu(from, last + 1) < 0; i++, n++)
            last++;
        char text[32];
        int size = first == last ? snprintf(text, sizeof text, "%s%u", length > 0 ? "," : "", first)
                                 : snprintf(text, sizeof text, "%s%u-%u", length > 0 ? "," : "", first, last);
        if (length + (size_t)size + 4 < LIST_MAX)
            length += (size_t)snprintf(list + length, LIST_MAX - length, "%s", text);
        else if (list[length - 1] != '.')
            length += (size_t)snprintf(list + length, LIST_MAX - length, "...");
    }
    return n;
}

static unsigned count_isolated(const struct topology *topology) {
    unsigned n = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        n += topology->sockets[s].isolated;
    return n;
}

static void log_change(const struct measure *m, const struct topology *before, const struct topology *now) {
    char list[LIST_MAX];
    if (list_missing(before, now, list) > 0)
        log_info("%s%zu CPUs are measured instead of %zu: isolated CPUs are left alone (%s)", measure_prefix(m),
                 now->n_cpus, before->n_cpus, list);
    if (list_missing(now, before, list) > 0)
        log_info("%s%zu CPUs are measured instead of %zu: some %s (%s)", measure_prefix(m), now->n_cpus, before->n_cpus,
                 count_isolated(now) < count_isolated(before) ? "are no longer isolated" : "have come online", list);
}

int measure_follow_cpus(struct measure *m, struct topology *topology) {
    struct topology *before = m->type->topology;
    struct errors errors = {0};
    m->type->topology = topology;
    int r = measure_change_plan(m, &errors);
    log_errors(&errors);
    if (r < 0) {
        m->type->topology = before;
        topology_free(topology);
        return r == -EINVAL ? 0 : r;
    }
    log_change(m, before, topology);
    topology_free(before);
    return 0;
}
