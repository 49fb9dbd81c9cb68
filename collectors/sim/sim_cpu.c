// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/sim_cpu.h"

// The kernel's scheduling of event groups on one CPU, as the emulated test bed showed it. A group that wants the
// counters stands in the queue of its rank. It is scheduled as a whole or not at all:
// - when it is enabled, if it fits beside the running groups; groups of weaker ranks make way at once, and return if
//   they still fit;
// - at a tick, if any group waits: the queues rotate by one, and all groups are fitted in anew, strongest rank first.
// Taking a group off frees its counters, but no group takes them before the next tick.
//
// Nothing happens between calls unless a group waits for a tick or a rival comes or goes, so sim_cpu_run jumps from
// one such moment to the next. It also skips ticks that could only repeat the last one (no waiting group can take
// turns): a task that waits for hours costs nothing.
//
// Siblings that share registers or have exclusive events advance together, since what fits on one depends on what runs
// on the others.
//
// Invariant: on every CPU and core, what runs fits.

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

// More than can be on the counters at once: general ones, fixed ones, and values of shared registers.
enum { HELD_MAX = EVENT_COUNTERS_MAX + EVENT_FIXED_MAX + 128 };

struct held {
    struct event_need needs[HELD_MAX];
    unsigned places[HELD_MAX]; // 0, 1, 2 ...
    size_t n;
    bool too_many;
};

static void hold_nothing(struct held *held) { // without clearing it all
    held->n = 0;
    held->too_many = false;
}

// An event with neither a counter nor a register blocks nothing.
static void hold(struct held *held, const struct event_need *need) {
    if (need->free && need->reg == 0)
        return;
    if (held->n == HELD_MAX) {
        held->too_many = true;
        return;
    }
    held->needs[held->n] = *need;
    held->places[held->n] = (unsigned)held->n;
    held->n++;
}

static void hold_group(struct held *held, const struct sim_group *group) {
    for (size_t i = 0; i < group->n_needs; i++)
        hold(held, &group->needs[i]);
}

// Adds what the groups down to rank `weakest` hold.
static void hold_ranks(struct held *held, const struct sim_cpu *cpu, enum sim_rank weakest) {
    for (unsigned rank = SIM_PINNED; rank <= weakest; rank++) {
        const struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (group->on)
                hold_group(held, group);
        }
    }
}

// Adds what the siblings hold of the registers shared with this CPU, each value once.
static void hold_siblings(struct held *held, const struct sim_cpu *cpu) {
    for (const struct sim_cpu *sibling = cpu->sibling; sibling != cpu; sibling = sibling->sibling) {
        struct held theirs;
        hold_nothing(&theirs);
        hold_ranks(&theirs, sibling, SIM_TASK);
        for (size_t i = 0; i < theirs.n; i++) {
            bool known = theirs.needs[i].reg == 0;
            for (size_t j = 0; j < held->n && !known; j++)
                known =
                    held->needs[j].reg == theirs.needs[i].reg && held->needs[j].reg_value == theirs.needs[i].reg_value;
            theirs.needs[i].free = true;
            if (!known)
                hold(held, &theirs.needs[i]);
        }
    }
}

static bool held_fits(const struct fit_pmu *pmu, const struct held *held) {
    return !held->too_many && fit_check(pmu, held->needs, held->places, held->n, NULL);
}

// How many general counters a CPU uses, and how many of these count exclusive events.
struct use {
    unsigned used, exclusive;
};

static struct use use_of(const struct sim_cpu *cpu, const struct held *held) {
    struct use use = {.used = fit_used(&cpu->pmu, held->needs, held->places, held->n)};
    for (size_t i = 0; i < held->n; i++)
        use.exclusive += fit_is_exclusive(&cpu->pmu, &held->needs[i]);
    return use;
}

// An exclusive event's counter stays unused on the sibling, which may use half of its counters beside it.
static bool siblings_permit(const struct sim_cpu *cpu, const struct held *held) {
    struct use ours = use_of(cpu, held);
    for (const struct sim_cpu *sibling = cpu->sibling; sibling != cpu && cpu->pmu.hardware > 0;
         sibling = sibling->sibling) {
        struct held running;
        hold_nothing(&running);
        hold_ranks(&running, sibling, SIM_TASK);
        struct use theirs = use_of(sibling, &running);
        if ((theirs.exclusive > 0 && ours.used > fit_exclusive_limit(&cpu->pmu)) ||
            theirs.exclusive + ours.used > cpu->pmu.general || ours.exclusive + theirs.used > cpu->pmu.general)
            return false;
    }
    return true;
}

// True if the group fits beside the running groups down to rank `weakest`.
static bool fits(const struct sim_cpu *cpu, const struct sim_group *group, enum sim_rank weakest) {
    if (cpu->pmu.general == 0)
        return true;
    struct held held;
    hold_nothing(&held);
    hold_ranks(&held, cpu, weakest);
    hold_group(&held, group);
    if (!held_fits(&cpu->pmu, &held) || !siblings_permit(cpu, &held))
        return false;
    hold_siblings(&held, cpu);
    return held_fits(&cpu->pmu, &held);
}

void sim_cpu_account(const struct sim_cpu *cpu, struct sim_group *group) {
    uint64_t elapsed_ns = cpu->now_ns - group->accounted_ns;
    if (group->on && !cpu->guest) {
        uint64_t from_ns = cpu->load_phase_ns + group->accounted_ns;
        sim_load_count(cpu->load, from_ns, from_ns + elapsed_ns, group->events, group->n_events, group->counts);
    }
    if (group->on && !cpu->mediated)
        group->running_ns += elapsed_ns;
    if (group->enabled)
        *(cpu->mediated ? &group->guest_ns : &group->enabled_ns) += elapsed_ns;
    group->accounted_ns = cpu->now_ns;
}

static void put_on(struct sim_cpu *cpu, struct sim_group *group) {
    sim_cpu_account(cpu, group);
    group->on = true;
}

static void put_off(struct sim_cpu *cpu, struct sim_group *group) {
    sim_cpu_account(cpu, group);
    if (group->on)
        sim_group_look(group);
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

static bool needs_counters(const struct sim_group *group) {
    for (size_t i = 0; i < group->n_needs; i++)
        if (!group->needs[i].free)
            return true;
    return false;
}

// Schedules every group that fits. After the first flexible group that does not fit it tries no other that needs
// counters: smaller groups must not overtake forever (Linux, kernel/events/core.c, group_can_go_on).
static void put_on_ranks(struct sim_cpu *cpu, unsigned strongest) {
    for (unsigned rank = strongest; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        bool full = false;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (group->on || (full && needs_counters(group)))
                continue;
            if (fits(cpu, group, SIM_TASK))
                put_on(cpu, group);
            else
                full = rank != SIM_PINNED;
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

// True if a group of this rank waits and others of the same rank could make way.
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
    if (cpu->surplus && fit_width(&cpu->pmu, &group->needs[0]) > 0) {
        validated.needs++;
        validated.n_needs--;
    }
    struct fit_pmu knows = cpu->pmu; // nothing of exclusive events
    knows.hardware = 0;
    struct held held;
    hold_nothing(&held);
    hold_group(&held, &validated);
    return cpu->validates_nothing || cpu->pmu.general == 0 || held_fits(&knows, &held);
}

// Notes that another tick may change something again, on siblings too: one may wait for a register.
static void unsettle(struct sim_cpu *cpu) {
    cpu->steady = false;
    for (struct sim_cpu *sibling = cpu->sibling; sibling != cpu; sibling = sibling->sibling)
        sibling->steady = false;
}

// Only the CPU itself can change one of its live groups or read one that is counting, so calls from other CPUs
// interrupt it.
bool sim_cpu_interrupted_by(const struct sim_cpu *cpu, const struct sim_group *group, enum sim_call call) {
    if (!sim_cpu_alive(cpu, group))
        return false;
    return call == SIM_READ ? group->on : group->enabled != (call == SIM_ENABLE);
}

void sim_cpu_enable(struct sim_cpu *cpu, struct sim_group *group) {
    if (group->enabled || !sim_cpu_alive(cpu, group))
        return;
    sim_cpu_account(cpu, group);
    group->enabled = true;
    unsettle(cpu);
    TAILQ_INSERT_TAIL(&cpu->queues[group->rank], group, queued);
    if (fits(cpu, group, SIM_TASK)) {
        put_on(cpu, group);
    } else if (fits(cpu, group, group->rank)) {
        put_off_ranks(cpu, group->rank + 1);
        put_on(cpu, group);
        put_on_ranks(cpu, group->rank + 1);
    }
}

void sim_cpu_disable(struct sim_cpu *cpu, struct sim_group *group) {
    if (!group->enabled)
        return;
    put_off(cpu, group);
    group->enabled = false;
    TAILQ_REMOVE(&cpu->queues[group->rank], group, queued);
    unsettle(cpu);
}

// The CPU goes offline: every group on it dissolves.
static void go_offline(struct sim_cpu *cpu) {
    for (unsigned rank = 0; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        while ((group = TAILQ_FIRST(&cpu->queues[rank])))
            sim_cpu_disable(cpu, group);
    }
    cpu->generation++;
}

// The hardware is reset under the running groups, or the like: their counts jump.
static void jump(struct sim_cpu *cpu, int64_t by) {
    for (unsigned rank = 0; rank < SIM_RANK_N; rank++) {
        struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) {
            if (!group->on)
                continue;
            sim_cpu_account(cpu, group);
            sim_group_jump(group, by);
        }
    }
}

// A guest begins or ends to run.
static void meet_guests(struct sim_cpu *cpu, bool guest, bool mediated) {
    for (unsigned rank = 0; rank < SIM_RANK_N && (guest != cpu->guest || mediated != cpu->mediated); rank++) {
        struct sim_group *group;
        TAILQ_FOREACH(group, &cpu->queues[rank], queued) { sim_cpu_account(cpu, group); }
    }
    cpu->guest = guest;
    cpu->mediated = mediated;
}

static bool has_group(const struct sim_rival *rival) {
    return rival->kind == RIVAL_PINNED || rival->kind == RIVAL_FLEXIBLE || rival->kind == RIVAL_TASK;
}

// Rivals come and go as the current time demands. After the CPU was offline, rivals open their groups anew.
static void meet_rivals(struct sim_cpu *cpu) {
    bool offline = false, refusing = false, guest = false, mediated = false;
    cpu->next_edge_ns = UINT64_MAX;
    for (size_t i = 0; i < cpu->n_rivals; i++) {
        struct sim_rival *rival = &cpu->rivals[i];
        bool active = sim_window_active(&rival->window, cpu->now_ns);
        if (rival->kind == RIVAL_JUMP && active && !rival->present)
            jump(cpu, rival->by);
        rival->present = active;
        offline |= active && rival->kind == RIVAL_OFFLINE;
        refusing |= active && rival->kind == RIVAL_REFUSE;
        mediated |= active && rival->kind == RIVAL_MEDIATED;
        guest |= mediated || (active && rival->kind == RIVAL_GUEST);
        uint64_t next_ns = sim_window_next_ns(&rival->window, cpu->now_ns);
        cpu->next_edge_ns = next_ns < cpu->next_edge_ns ? next_ns : cpu->next_edge_ns;
    }
    if (offline && !cpu->offline)
        go_offline(cpu);
    cpu->offline = offline;
    cpu->refusing = refusing;
    meet_guests(cpu, guest, mediated);
    for (size_t i = 0; i < cpu->n_rivals; i++) {
        struct sim_rival *rival = &cpu->rivals[i];
        if (!has_group(rival))
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

static uint64_t next_ns(const struct sim_cpu *cpu) {
    uint64_t tick_ns = next_tick_ns(cpu);
    return tick_ns < cpu->next_edge_ns ? tick_ns : cpu->next_edge_ns;
}

// Carries out what is due at `now_ns`.
static void act(struct sim_cpu *cpu, uint64_t now_ns) {
    bool ticks = next_tick_ns(cpu) == now_ns;
    cpu->now_ns = now_ns;
    if (cpu->next_edge_ns == now_ns)
        meet_rivals(cpu);
    if (ticks)
        tick(cpu);
}

void sim_cpu_run(struct sim_cpu *cpu, uint64_t now_ns) {
    assert(now_ns >= cpu->now_ns);
    for (;;) {
        struct sim_cpu *first = cpu;
        for (struct sim_cpu *sibling = cpu->sibling; sibling != cpu; sibling = sibling->sibling)
            first = next_ns(sibling) < next_ns(first) ? sibling : first;
        if (next_ns(first) > now_ns)
            break;
        act(first, next_ns(first));
    }
    cpu->now_ns = now_ns;
    for (struct sim_cpu *sibling = cpu->sibling; sibling != cpu; sibling = sibling->sibling)
        sibling->now_ns = now_ns;
}

static enum sim_rank rank_of(enum scenario_rival_kind kind) {
    return kind == RIVAL_PINNED ? SIM_PINNED : kind == RIVAL_TASK ? SIM_TASK : SIM_FLEXIBLE;
}

// The fixed counter that a rival's cycles event uses: that of the watchdog's event, else the first.
static int cycles_fixed(const struct catalog *catalog) {
    return catalog->watchdog_event >= 0 ? catalog->events[catalog->watchdog_event].need.fixed : 0;
}

// The fixed counter of the slots event that leads the fields of PERF_METRICS; -1: there is none.
static int slots_fixed(const struct catalog *catalog) {
    return catalog->n_topdown > 0 ? catalog->events[catalog->topdown[0]].need.fixed : -1;
}

// A rival that wants more counters than there are takes them all.
static int rival_init(struct sim_rival *rival, const struct scenario_rival *source, size_t index, unsigned general,
                      const struct catalog *catalog) {
    bool all = general > 0 && source->counters > general;
    *rival = (struct sim_rival){
        .index = index, .kind = source->kind, .window = sim_window_of(source), .by = (int64_t)source->by};
    return sim_group_init_rival(&rival->group, rank_of(source->kind), all ? general : source->counters,
                                source->cycles ? cycles_fixed(catalog) : -1, source->slots ? slots_fixed(catalog) : -1);
}

static int make_rivals(struct sim_cpu *cpu, const struct scenario *scenario, const struct catalog *catalog,
                       unsigned id) {
    size_t n = 0;
    for (size_t i = 0; i < scenario->n_rivals; i++)
        n += cpuset_has(&scenario->rivals[i].cpus, id);
    cpu->rivals = calloc(n ? n : 1, sizeof *cpu->rivals);
    int r = cpu->rivals ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < scenario->n_rivals; i++) {
        if (!cpuset_has(&scenario->rivals[i].cpus, id))
            continue;
        r = rival_init(&cpu->rivals[cpu->n_rivals], &scenario->rivals[i], i, scenario->general_counters, catalog);
        cpu->n_rivals += r == 0;
    }
    return r;
}

int sim_cpu_init(struct sim_cpu *cpu, const struct scenario *scenario, const struct catalog *catalog, unsigned id,
                 const struct sim_load *load) {
    *cpu =
        (struct sim_cpu){.pmu.general = scenario->general_counters,
                         .pmu.hardware = scenario->threads_per_core > 1 ? scenario->general_counters : 0,
                         .sibling = cpu,
                         .validates_nothing = scenario->validates_nothing,
                         .surplus = scenario->surplus,
                         .load = load,
                         .tick_phase_ns = (id * UINT64_C(2472136) + 1234567) % SIM_TICK_NS}; // as far apart as possible
    for (size_t i = 0; i < catalog->n_registers; i++)
        cpu->pmu.registers[i + 1] = catalog->registers[i].values;
    for (unsigned rank = 0; rank < SIM_RANK_N; rank++)
        TAILQ_INIT(&cpu->queues[rank]);
    int r = make_rivals(cpu, scenario, catalog, id);
    if (r < 0) {
        sim_cpu_deinit(cpu);
        return r;
    }
    meet_rivals(cpu);
    return 0;
}

void sim_cpu_join(struct sim_cpu *cpu, struct sim_cpu *other) {
    struct sim_cpu *next = cpu->sibling;
    cpu->sibling = other->sibling;
    other->sibling = next;
}

void sim_cpu_deinit(struct sim_cpu *cpu) {
    for (size_t i = 0; i < cpu->n_rivals; i++)
        sim_group_deinit_rival(&cpu->rivals[i].group);
    free(cpu->rivals);
    cpu->rivals = NULL;
    cpu->n_rivals = 0;
}
