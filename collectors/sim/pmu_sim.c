// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/pmu_sim.h"

// The simulated host as a PMU: handles for event groups, and the clock.
//
// advance() only stores the time; a CPU catches up when a call concerns it. Callers cannot notice, since what happens
// on a CPU depends only on its own past. So a thousand CPUs cost no more than those in use.

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "collectors/host/busy_clock.h"
#include "collectors/sim/sim_cpu.h"

struct pmu_sim {
    struct pmu pmu;
    struct busy_clock busy_clock;
    const struct scenario *scenario;
    const struct catalog *catalog;
    uint64_t epoch_ns, now_ns; // now_ns is counted from the epoch
    struct sim_load **loads;   // the scenario's, then idleness
    bool *filtered;            // by event: it happens, and is never counted
    struct sim_cpu *cpus;
    size_t n_cpus;
    struct awake {
        uint64_t until_ns; // from the epoch
        double seconds;
    } * awake; // [cpu]
    struct handle {
        struct sim_group *group; // NULL: free
        struct sim_cpu *cpu;
    } * handles;
    size_t n_handles, first_free; // no handle below first_free is free
};

static struct pmu_sim *of_pmu(struct pmu *pmu) { return (struct pmu_sim *)pmu; }

static void sim_advance(struct pmu *pmu, uint64_t now_ns) {
    struct pmu_sim *sim = of_pmu(pmu);
    assert(now_ns >= sim->epoch_ns + sim->now_ns);
    sim->now_ns = now_ns - sim->epoch_ns;
}

// The lowest free handle, or -ENOMEM.
static int find_free_handle(struct pmu_sim *sim) {
    while (sim->first_free < sim->n_handles && sim->handles[sim->first_free].group)
        sim->first_free++;
    if (sim->first_free < sim->n_handles)
        return (int)sim->first_free;
    size_t n = sim->n_handles ? 2 * sim->n_handles : 64;
    struct handle *handles = n <= INT32_MAX ? reallocarray(sim->handles, n, sizeof *handles) : NULL;
    if (!handles)
        return -ENOMEM;
    for (size_t i = sim->n_handles; i < n; i++)
        handles[i] = (struct handle){0};
    sim->handles = handles;
    sim->n_handles = n;
    return (int)sim->first_free;
}

static int sim_open(struct pmu *pmu, unsigned id, const struct pmu_event *events, size_t n) {
    struct pmu_sim *sim = of_pmu(pmu);
    if (id >= sim->n_cpus)
        return -ENODEV;
    if (!scenario_has_cpu(sim->scenario, id))
        return -ENOENT; // as the kernel answers for another core type's PMU
    if (n == 0)
        return -EINVAL;
    struct sim_cpu *cpu = &sim->cpus[id];
    sim_cpu_run(cpu, sim->now_ns);
    if (cpu->refusing)
        return -EMFILE;
    int handle = find_free_handle(sim);
    if (handle < 0)
        return handle;
    struct sim_group *group;
    int r = sim_group_new(sim->catalog, events, n, &group);
    if (r < 0)
        return r;
    r = cpu->offline ? -ENODEV : sim_cpu_accepts(cpu, group) ? 0 : -EINVAL;
    if (r < 0) {
        sim_group_free(group);
        return r;
    }
    sim_cpu_add(cpu, group);
    sim->handles[handle] = (struct handle){.group = group, .cpu = cpu};
    pmu->n_events += n;
    return handle;
}

// The handle's entry, after its CPU has caught up; NULL if the handle is not open.
static struct handle *find_handle(struct pmu_sim *sim, int handle) {
    if (handle < 0 || (size_t)handle >= sim->n_handles || !sim->handles[handle].group)
        return NULL;
    struct handle *found = &sim->handles[handle];
    sim_cpu_run(found->cpu, sim->now_ns);
    return found;
}

static int sim_enable(struct pmu *pmu, int handle, bool enabled) {
    struct handle *found = find_handle(of_pmu(pmu), handle);
    if (!found)
        return -EBADF;
    found->cpu->interrupts += sim_cpu_interrupted_by(found->cpu, found->group, enabled ? SIM_ENABLE : SIM_DISABLE);
    if (enabled)
        sim_cpu_enable(found->cpu, found->group);
    else
        sim_cpu_disable(found->cpu, found->group);
    return 0;
}

static int sim_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    const struct pmu_sim *sim = of_pmu(pmu);
    struct handle *found = find_handle(of_pmu(pmu), handle);
    if (!found)
        return -EBADF;
    struct sim_group *group = found->group;
    if (!sim_cpu_alive(found->cpu, group) && group->n_events > 1) // of one event nothing is missing
        return -ENODEV;
    if (n != group->n_events)
        return -EINVAL;
    found->cpu->interrupts += sim_cpu_interrupted_by(found->cpu, group, SIM_READ);
    sim_cpu_account(found->cpu, group);
    sim_group_look(group);
    *times = (struct pmu_times){
        .enabled_ns = group->enabled_ns, .running_ns = group->running_ns, .guest_ns = group->guest_ns};
    for (size_t i = 0; i < n; i++)
        counts[i] = sim->filtered[group->events[i]] ? 0 : sim_group_count(group, i);
    return 0;
}

static void sim_close(struct pmu *pmu, int handle) {
    struct pmu_sim *sim = of_pmu(pmu);
    struct handle *found = find_handle(sim, handle);
    if (!found)
        return;
    sim_cpu_disable(found->cpu, found->group);
    pmu->n_events -= found->group->n_events;
    found->group = sim_group_free(found->group);
    if ((size_t)handle < sim->first_free)
        sim->first_free = (size_t)handle;
}

static void sim_free(struct pmu *pmu) {
    struct pmu_sim *sim = of_pmu(pmu);
    if (!sim)
        return;
    for (size_t i = 0; i < sim->n_handles; i++)
        sim_group_free(sim->handles[i].group);
    free(sim->handles);
    for (size_t i = 0; i < sim->n_cpus; i++)
        sim_cpu_deinit(&sim->cpus[i]);
    free(sim->cpus);
    free(sim->awake);
    free(sim->filtered);
    for (size_t i = 0; sim->loads && i <= sim->scenario->n_loads; i++)
        sim_load_free(sim->loads[i]);
    free(sim->loads);
    free(sim);
}

static const struct pmu_ops ops = {
    .advance = sim_advance,
    .open = sim_open,
    .enable = sim_enable,
    .read = sim_read,
    .close = sim_close,
    .free = sim_free,
};

static int make_loads(struct pmu_sim *sim, const char **unknown_event) {
    const struct scenario *scenario = sim->scenario;
    sim->loads = calloc(scenario->n_loads + 1, sizeof(struct sim_load *));
    if (!sim->loads)
        return -ENOMEM;
    int r = sim_load_new(NULL, sim->catalog, unknown_event, &sim->loads[scenario->n_loads]);
    for (size_t i = 0; r == 0 && i < scenario->n_loads; i++)
        r = sim_load_new(&scenario->loads[i], sim->catalog, unknown_event, &sim->loads[i]);
    return r;
}

// Marks what the scenario filters. A filter knows codes, not names.
static int mark_filtered(struct pmu_sim *sim, const char **unknown_event) {
    const struct catalog *catalog = sim->catalog;
    sim->filtered = calloc(catalog->n_events, sizeof *sim->filtered);
    for (size_t i = 0; sim->filtered && i < sim->scenario->n_filtered; i++) {
        int event = catalog_find_event(catalog, sim->scenario->filtered[i]);
        if (event <= CATALOG_CPU_SECONDS) {
            *unknown_event = sim->scenario->filtered[i];
            return -EINVAL;
        }
        for (size_t e = 0; e < catalog->n_events; e++)
            if (sim_group_same_code(&catalog->events[e].code, &catalog->events[event].code))
                sim->filtered[e] = true;
    }
    return sim->filtered ? 0 : -ENOMEM;
}

// Gives every CPU its load. The last assignment that names a CPU applies.
static void assign_loads(struct pmu_sim *sim) {
    const struct scenario *scenario = sim->scenario;
    for (size_t i = 0; i < scenario->n_assignments; i++) {
        const struct scenario_assignment *assignment = &scenario->assignments[i];
        assert(assignment->load < scenario->n_loads);
        const struct sim_load *load = sim->loads[assignment->load];
        double ahead_seconds = assignment->offset_seconds;
        for (unsigned id = 0; id < sim->n_cpus; id++) {
            if (!cpuset_has(&assignment->cpus, id))
                continue;
            sim->cpus[id].load = load;
            sim->cpus[id].load_phase_ns = sim_load_phase_ns(load, ahead_seconds);
            ahead_seconds += assignment->stagger_seconds;
        }
    }
}

static bool has_exclusive(const struct catalog *catalog) {
    bool has = false;
    for (size_t e = 0; e < catalog->n_events; e++)
        has = has || catalog->events[e].need.exclusive;
    return has;
}

// What the threads of a core share, or take from each other, joins them.
static void join_siblings(struct pmu_sim *sim) {
    size_t cores = (size_t)sim->scenario->sockets * sim->scenario->cores_per_socket;
    bool joined = sim->catalog->n_registers > 0 || has_exclusive(sim->catalog);
    for (size_t id = cores; joined && id < sim->n_cpus; id++)
        sim_cpu_join(&sim->cpus[id % cores], &sim->cpus[id]);
}

static int make_cpus(struct pmu_sim *sim) {
    size_t n = scenario_n_cpus(sim->scenario);
    sim->cpus = calloc(n ? n : 1, sizeof *sim->cpus);
    if (!sim->cpus)
        return -ENOMEM;
    for (unsigned id = 0; id < n; id++) {
        int r = sim_cpu_init(&sim->cpus[id], sim->scenario, sim->catalog, id, sim->loads[sim->scenario->n_loads]);
        if (r < 0)
            return r;
        sim->n_cpus++;
    }
    assign_loads(sim);
    join_siblings(sim);
    return 0;
}

// The part of a socket that a core lies in, numbered over all sockets; -1: the scenario does not tell.
static int part_of(const struct scenario *scenario, unsigned parts_per_socket, unsigned core) {
    unsigned socket = core / scenario->cores_per_socket, within = core % scenario->cores_per_socket;
    return parts_per_socket == 0
               ? -1
               : (int)(socket * parts_per_socket + within * parts_per_socket / scenario->cores_per_socket);
}

static int tell_places(const struct scenario *scenario, struct topology *topology) {
    struct topology_place *places = calloc(topology->n_cpus, sizeof *places);
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < topology->n_cpus; i++) {
        unsigned core = topology->cpus[i].id % (scenario->sockets * scenario->cores_per_socket);
        places[i] = (struct topology_place){.node = part_of(scenario, scenario->nodes_per_socket, core),
                                            .cache = part_of(scenario, scenario->caches_per_socket, core)};
    }
    int r = topology_set_places(topology, places);
    free(places);
    return r;
}

int pmu_sim_topology(const struct scenario *scenario, const struct cpuset *selected, struct topology **out) {
    size_t n = scenario_n_cpus(scenario), n_sources = 0;
    struct topology_source *sources = calloc(n ? n : 1, sizeof *sources);
    if (!sources)
        return -ENOMEM;
    unsigned cores = scenario->sockets * scenario->cores_per_socket;
    for (unsigned id = 0; id < n; id++) {
        unsigned core = id % cores;
        if (!scenario_has_cpu(scenario, id))
            continue;
        sources[n_sources++] = (struct topology_source){.id = id,
                                                        .core = (int)(core % scenario->cores_per_socket),
                                                        .package = (int)(core / scenario->cores_per_socket),
                                                        .selected = !selected || cpuset_has(selected, id)};
    }
    int r = topology_new(sources, n_sources, scenario->maximum_frequency_hz, out);
    free(sources);
    if (r < 0)
        return r;
    r = tell_places(scenario, *out);
    *out = r < 0 ? topology_free(*out) : *out;
    return r;
}

// Time passes beside a guest, too, and the kernel takes the guest for a task that runs.
static bool hinders(const struct pmu_sim *sim, enum scenario_rival_kind kind, unsigned event) {
    bool guest = kind == RIVAL_GUEST || kind == RIVAL_MEDIATED;
    return kind == RIVAL_OFFLINE ||
           (guest && event != CATALOG_CPU_SECONDS && event != SIM_AWAKE(sim->catalog->n_events));
}

// True if the event cannot happen at `now_ns`, as the CPU is offline or a guest's. *until_ns is the earliest time at
// which that may change.
static bool is_away(const struct pmu_sim *sim, const struct sim_cpu *cpu, unsigned event, uint64_t now_ns,
                    uint64_t *until_ns) {
    bool away = false;
    *until_ns = UINT64_MAX;
    for (size_t i = 0; i < cpu->n_rivals; i++) {
        const struct sim_rival *rival = &cpu->rivals[i];
        if (!hinders(sim, rival->kind, event))
            continue;
        away |= sim_window_active(&rival->window, now_ns);
        uint64_t next_ns = sim_window_next_ns(&rival->window, now_ns);
        *until_ns = next_ns < *until_ns ? next_ns : *until_ns;
    }
    return away;
}

// Adds how often the event happened on the CPU between two times from the epoch.
static void count_between(const struct pmu_sim *sim, const struct sim_cpu *cpu, unsigned event, uint64_t from_ns,
                          uint64_t to_ns, struct sim_count *count) {
    uint64_t next_ns;
    for (uint64_t at_ns = from_ns; at_ns < to_ns; at_ns = next_ns) {
        bool away = is_away(sim, cpu, event, at_ns, &next_ns);
        next_ns = next_ns < to_ns ? next_ns : to_ns;
        if (!away)
            sim_load_count(cpu->load, cpu->load_phase_ns + at_ns, cpu->load_phase_ns + next_ns, &event, 1, count);
    }
}

double pmu_sim_truth(const struct pmu *pmu, unsigned cpu, unsigned event, uint64_t from_ns, uint64_t to_ns) {
    const struct pmu_sim *sim = (const struct pmu_sim *)pmu;
    assert(cpu < sim->n_cpus && event < sim->catalog->n_events && from_ns >= sim->epoch_ns && from_ns <= to_ns);
    struct sim_count count = {0};
    count_between(sim, &sim->cpus[cpu], event, from_ns - sim->epoch_ns, to_ns - sim->epoch_ns, &count);
    return (double)count.whole + count.rest;
}

// ---- the kernel's times ----

static bool is_offline(const struct sim_cpu *cpu, uint64_t now_ns) {
    bool offline = false;
    for (size_t i = 0; i < cpu->n_rivals && !offline; i++)
        offline = cpu->rivals[i].kind == RIVAL_OFFLINE && sim_window_active(&cpu->rivals[i].window, now_ns);
    return offline;
}

static bool read_busy(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns, uint64_t *busy_ns) {
    struct pmu_sim *sim = (struct pmu_sim *)((char *)clock - offsetof(struct pmu_sim, busy_clock));
    uint64_t at_ns = now_ns - sim->epoch_ns;
    for (size_t i = 0; i < topology->n_cpus; i++) {
        unsigned id = topology->cpus[i].id;
        struct awake *awake = &sim->awake[id];
        struct sim_count seconds = {0};
        count_between(sim, &sim->cpus[id], SIM_AWAKE(sim->catalog->n_events), awake->until_ns, at_ns, &seconds);
        awake->until_ns = at_ns;
        awake->seconds += (double)seconds.whole + seconds.rest;
        busy_ns[i] = is_offline(&sim->cpus[id], at_ns) ? BUSY_CLOCK_OFFLINE : (uint64_t)(awake->seconds * 1e9);
    }
    return true;
}

static int make_busy_clock(struct pmu_sim *sim) {
    bool told = true;
    for (size_t i = 0; i < sim->scenario->n_loads; i++)
        told = told && sim_load_tells_awake(sim->loads[i]);
    sim->awake = calloc(sim->n_cpus + 1, sizeof *sim->awake);
    sim->busy_clock = (struct busy_clock){.read = read_busy};
    sim->pmu.busy_clock = told ? &sim->busy_clock : NULL;
    return sim->awake ? 0 : -ENOMEM;
}

int pmu_sim_new(const struct scenario *scenario, const struct catalog *catalog, uint64_t epoch_ns,
                const char **unknown_event, struct pmu **out) {
    struct pmu_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return -ENOMEM;
    *sim = (struct pmu_sim){.pmu.ops = &ops, .scenario = scenario, .catalog = catalog, .epoch_ns = epoch_ns};
    int r = make_loads(sim, unknown_event);
    if (r == 0)
        r = mark_filtered(sim, unknown_event);
    if (r == 0)
        r = make_cpus(sim);
    if (r == 0)
        r = make_busy_clock(sim);
    if (r < 0) {
        sim_free(&sim->pmu);
        return r;
    }
    *out = &sim->pmu;
    return 0;
}

uint64_t pmu_sim_interrupts(const struct pmu *pmu, unsigned cpu) {
    const struct pmu_sim *sim = (const struct pmu_sim *)pmu;
    assert(cpu < sim->n_cpus);
    return sim->cpus[cpu].interrupts;
}

double pmu_sim_rival_share(const struct pmu *pmu, size_t rival, unsigned cpu) {
    const struct pmu_sim *sim = (const struct pmu_sim *)pmu;
    assert(cpu < sim->n_cpus && rival < sim->scenario->n_rivals);
    struct sim_cpu *simulated = &sim->cpus[cpu];
    sim_cpu_run(simulated, sim->now_ns); // catching up has no visible effect
    for (size_t i = 0; i < simulated->n_rivals; i++) {
        struct sim_group *group = &simulated->rivals[i].group;
        if (simulated->rivals[i].index != rival)
            continue;
        sim_cpu_account(simulated, group);
        return group->enabled_ns > 0 ? (double)group->running_ns / (double)group->enabled_ns : NAN;
    }
    return NAN;
}
