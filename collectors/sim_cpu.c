// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim_cpu.h"

// The kernel's scheduling of event groups on one CPU, as the emulated test bed showed it. Whoever wants the counters
// stands in the queue of its rank. A group is put on as a whole or not at all:
// - on being enabled, where it fits beside what is on; groups of weaker ranks make way at once, and come back where
// they
//   still fit;
// - at a tick, where somebody waits: the queues move on by one and everybody is fitted in anew, strongest rank first.
// Putting a group off frees its counters, but nobody takes them before the next tick.
//
// Nothing happens between calls unless somebody waits for a tick or a rival comes or goes, so sim_cpu_run jumps from
// one such moment to the next. Where a tick could only repeat the last one (nobody waits who could take turns), ticks
// are skipped too: a task that waits for hours costs nothing.
//
// Invariant: the counters held by the groups that are on, and no others, are taken; they are never more than there are.

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct held {
    unsigned general;
    uint64_t fixed;
};

// What groups down to rank `weakest` hold.
static struct held counters_held(const struct sim_cpu *cpu, enum sim_rank weakest) {
    struct held held = {0};
    for (unsigned rank = SIM_PINNED; rank <= weakest; rank++) {
        const struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (!group->on)
                continue;
            held.general += group->held_general;
            held.fixed |= group->held_fixed;
        }
    }
    return held;
}

// General counters that the group needs beside `held`: a fixed counter exists once.
static unsigned general_needed(const struct sim_group *group, struct held held) {
    return group->general + (unsigned)__builtin_popcountll(group->fixed & held.fixed);
}

static bool fits(const struct sim_cpu *cpu, const struct sim_group *group, struct held held) {
    if (cpu->general_counters == 0)
        return true;
    return held.general + general_needed(group, held) <= cpu->general_counters;
}

void sim_cpu_account(const struct sim_cpu *cpu, struct sim_group *group) {
    uint64_t elapsed_ns = cpu->now_ns - group->accounted_ns;
    if (group->on) {
        uint64_t from_ns = cpu->load_phase_ns + group->accounted_ns;
        sim_load_count(cpu->load, from_ns, from_ns + elapsed_ns, group->events, group->n_events, group->counts);
        group->running_ns += elapsed_ns;
    }
    if (group->enabled)
        group->enabled_ns += elapsed_ns;
    group->accounted_ns = cpu->now_ns;
}

static void put_on(struct sim_cpu *cpu, struct sim_group *group, struct held held) {
    sim_cpu_account(cpu, group);
    group->held_general = general_needed(group, held);
    group->held_fixed = group->fixed & ~held.fixed;
    group->on = true;
}

static void put_off(struct sim_cpu *cpu, struct sim_group *group) {
    sim_cpu_account(cpu, group);
    group->on = false;
}

static void put_off_ranks(struct sim_cpu *cpu, unsigned strongest) {
    for (unsigned rank = strongest; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (group->on)
                put_off(cpu, group);
        }
    }
}

// Puts on whoever fits. Behind the first flexible group that does not, none is tried: smaller ones must not overtake
// for ever.
static void put_on_ranks(struct sim_cpu *cpu, unsigned strongest) {
    for (unsigned rank = strongest; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (group->on)
                continue;
            struct held held = counters_held(cpu, SIM_TASK);
            if (fits(cpu, group, held))
                put_on(cpu, group, held);
            else if (rank != SIM_PINNED)
                break;
        }
    }
}

static bool rank_waits(const struct sim_cpu *cpu, unsigned rank) {
    const struct sim_group *group;
    TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
        if (!group->on)
            return true;
    }
    return false;
}

static bool somebody_waits(const struct sim_cpu *cpu) {
    return rank_waits(cpu, SIM_PINNED) || rank_waits(cpu, SIM_FLEXIBLE) || rank_waits(cpu, SIM_TASK);
}

// True where somebody of this rank waits and others of it could make way.
static bool takes_turns(const struct sim_cpu *cpu, unsigned rank) {
    const struct sim_group *first = TAILQ_FIRST(&cpu->queues[rank]);
    return first && TAILQ_NEXT(first, queued) && rank_waits(cpu, rank);
}

static void tick(struct sim_cpu *cpu) {
    for (unsigned rank = SIM_FLEXIBLE; rank < SIM_RANK_N; rank++) {
        if (!takes_turns(cpu, rank))
            continue;
        struct sim_group *first = TAILQ_FIRST(&cpu->queues[rank]);
        TAILQ_REMOVE(&cpu->queues[rank], first, queued);
        TAILQ_INSERT_TAIL(&cpu->queues[rank], first, queued);
    }
    put_off_ranks(cpu, SIM_FLEXIBLE);
    put_on_ranks(cpu, SIM_PINNED);
    cpu->steady = !takes_turns(cpu, SIM_FLEXIBLE) && !takes_turns(cpu, SIM_TASK);
}

bool sim_cpu_alive(const struct sim_cpu *cpu, const struct sim_group *group) {
    return group->generation == cpu->generation;
}

void sim_cpu_add(const struct sim_cpu *cpu, struct sim_group *group) {
    group->generation = cpu->generation;
    group->accounted_ns = cpu->now_ns;
}

bool sim_cpu_accepts(const struct sim_cpu *cpu, const struct sim_group *group) {
    struct sim_group validated = *group;
    if (cpu->surplus && group->general_leader)
        validated.general--;
    return cpu->validates_nothing || fits(cpu, &validated, (struct held){0});
}

void sim_cpu_enable(struct sim_cpu *cpu, struct sim_group *group) {
    if (group->enabled || !sim_cpu_alive(cpu, group))
        return;
    sim_cpu_account(cpu, group);
    group->enabled = true;
    cpu->steady = false;
    struct held held = counters_held(cpu, SIM_TASK), stronger = counters_held(cpu, group->rank);
    TAILQ_INSERT_TAIL(&cpu->queues[group->rank], group, queued);
    if (fits(cpu, group, held)) {
        put_on(cpu, group, held);
    } else if (fits(cpu, group, stronger)) {
        put_off_ranks(cpu, group->rank + 1);
        put_on(cpu, group, stronger);
        put_on_ranks(cpu, group->rank + 1);
    }
}

void sim_cpu_disable(struct sim_cpu *cpu, struct sim_group *group) {
    if (!group->enabled)
        return;
    put_off(cpu, group);
    group->enabled = false;
    TAILQ_REMOVE(&cpu->queues[group->rank], group, queued);
    cpu->steady = false;
}

// The CPU goes away: every group on it dissolves.
static void go_offline(struct sim_cpu *cpu) {
    for (unsigned rank = 0; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        while ((group = TAILQ_FIRST(&cpu->queues[rank])))
            sim_cpu_disable(cpu, group);
    }
    cpu->generation++;
}

// Rivals come and go as the time is now. Their own groups live through an absence of the CPU: they open them anew.
static void meet_rivals(struct sim_cpu *cpu) {
    bool offline = false, refusing = false;
    cpu->next_edge_ns = UINT64_MAX;
    for (size_t i = 0; i < cpu->n_rivals; i++) {
        const struct sim_rival *rival = &cpu->rivals[i];
        bool active = sim_window_active(&rival->window, cpu->now_ns);
        offline |= active && rival->kind == RIVAL_OFFLINE;
        refusing |= active && rival->kind == RIVAL_REFUSE;
        uint64_t next_ns = sim_window_next_ns(&rival->window, cpu->now_ns);
        cpu->next_edge_ns = next_ns < cpu->next_edge_ns ? next_ns : cpu->next_edge_ns;
    }
    if (offline && !cpu->offline)
        go_offline(cpu);
    cpu->offline = offline;
    cpu->refusing = refusing;
    for (size_t i = 0; i < cpu->n_rivals; i++) {
        struct sim_rival *rival = &cpu->rivals[i];
        if (rival->kind == RIVAL_REFUSE || rival->kind == RIVAL_OFFLINE)
            continue;
        if (!sim_cpu_alive(cpu, &rival->group))
            sim_cpu_add(cpu, &rival->group);
        if (!offline && sim_window_active(&rival->window, cpu->now_ns))
            sim_cpu_enable(cpu, &rival->group);
        else
            sim_cpu_disable(cpu, &rival->group);
    }
}

static uint64_t next_tick_ns(const struct sim_cpu *cpu) {
    if (cpu->steady || !somebody_waits(cpu))
        return UINT64_MAX;
    uint64_t since_ns = (cpu->now_ns + SIM_TICK_NS - cpu->tick_phase_ns) % SIM_TICK_NS;
    return cpu->now_ns + SIM_TICK_NS - since_ns;
}

void sim_cpu_run(struct sim_cpu *cpu, uint64_t now_ns) {
    assert(now_ns >= cpu->now_ns);
    for (;;) {
        uint64_t tick_ns = next_tick_ns(cpu), edge_ns = cpu->next_edge_ns;
        uint64_t next_ns = tick_ns < edge_ns ? tick_ns : edge_ns;
        if (next_ns > now_ns)
            break;
        cpu->now_ns = next_ns;
        if (next_ns == edge_ns)
            meet_rivals(cpu);
        if (next_ns == tick_ns)
            tick(cpu);
    }
    cpu->now_ns = now_ns;
}

static enum sim_rank rank_of(enum scenario_rival_kind kind) {
    return kind == RIVAL_PINNED ? SIM_PINNED : kind == RIVAL_TASK ? SIM_TASK : SIM_FLEXIBLE;
}

// The group that a rival opens. One that wants more counters than there are takes them all.
static struct sim_group rival_group(const struct scenario_rival *rival, unsigned general_counters) {
    bool all = general_counters > 0 && rival->counters > general_counters;
    return (struct sim_group){.rank = rank_of(rival->kind),
                              .general = all ? general_counters : rival->counters,
                              .fixed = rival->cycles ? 1 : 0};
}

int sim_cpu_init(struct sim_cpu *cpu, const struct scenario *scenario, unsigned id, const struct sim_load *load) {
    size_t n = 0;
    for (size_t i = 0; i < scenario->n_rivals; i++)
        n += cpuset_has(&scenario->rivals[i].cpus, id);
    struct sim_rival *rivals = calloc(n ? n : 1, sizeof *rivals);
    if (!rivals)
        return -ENOMEM;
    *cpu = (struct sim_cpu){.general_counters = scenario->general_counters,
                            .validates_nothing = scenario->validates_nothing,
                            .surplus = scenario->surplus,
                            .load = load,
                            .tick_phase_ns = (id * UINT64_C(2472136) + 1234567) % SIM_TICK_NS, // as far apart as can be
                            .rivals = rivals};
    for (unsigned rank = 0; rank < SIM_RANK_N; rank++)
        TAILQ_INIT(&cpu->queues[rank]);
    for (size_t i = 0; i < scenario->n_rivals; i++) {
        const struct scenario_rival *source = &scenario->rivals[i];
        if (!cpuset_has(&source->cpus, id))
            continue;
        rivals[cpu->n_rivals++] = (struct sim_rival){.index = i,
                                                     .kind = source->kind,
                                                     .window = sim_window_of(source),
                                                     .group = rival_group(source, scenario->general_counters)};
    }
    meet_rivals(cpu);
    return 0;
}

void sim_cpu_deinit(struct sim_cpu *cpu) {
    free(cpu->rivals);
    cpu->rivals = NULL;
}
