// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_CPU_H
#define TOPDOWND_COLLECTORS_SIM_SIM_CPU_H

// One CPU of a simulated host: its counters, the event groups that want them, and the kernel that schedules them.
// core/plan/fit.h decides what fits on the CPU's counters and on the registers that it shares with its SMT siblings.
// An exclusive event keeps its counter from the siblings and leaves each of them half of theirs, as the kernel rules.
// All times are nanoseconds since the host began and never go back.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "collectors/sim/sim_group.h"
#include "collectors/sim/sim_load.h"
#include "collectors/sim/sim_time.h"

enum { SIM_TICK_NS = 4000000 };

TAILQ_HEAD(sim_queue, sim_group);

struct sim_rival {
    size_t index; // in the scenario
    enum scenario_rival_kind kind;
    struct sim_window window;
    bool present;           // since its last edge
    int64_t by;             // of kind JUMP
    struct sim_group group; // unused for kind REFUSE, OFFLINE or JUMP
};

struct sim_cpu {
    struct fit_pmu pmu;
    struct sim_cpu *sibling; // the next hardware thread of its core, in a ring; itself if it shares nothing
    bool validates_nothing, surplus;
    const struct sim_load *load;
    uint64_t load_phase_ns; // the load's phase when the host began
    uint64_t now_ns, tick_phase_ns, next_edge_ns;
    struct sim_queue queues[SIM_RANK_N]; // enabled groups, in the order of their turns
    bool steady;                         // another tick would change nothing
    bool offline, refusing;
    bool guest, mediated; // one runs; one runs that has the counters for itself
    unsigned generation;  // grows whenever the CPU goes offline: earlier groups are dead
    struct sim_rival *rivals;
    size_t n_rivals;
    uint64_t interrupts; // caused by calls for its groups
};

// A CPU with the rivals that `scenario` puts on it, at time 0, and the registers of the catalog. The load is borrowed,
// and may be replaced before the first group is added. Returns 0 or -ENOMEM.
int sim_cpu_init(struct sim_cpu *cpu, const struct scenario *scenario, const struct catalog *catalog, unsigned id,
                 const struct sim_load *load);

// Makes `cpu` and `other` hardware threads of one core. Call it before anything happens on either.
void sim_cpu_join(struct sim_cpu *cpu, struct sim_cpu *other);

// Every group that was added must be disabled before.
void sim_cpu_deinit(struct sim_cpu *cpu);

// Simulates up to now_ns, on its siblings too. Later calls act at that time.
void sim_cpu_run(struct sim_cpu *cpu, uint64_t now_ns);

// Introduces a new group, disabled.
void sim_cpu_add(const struct sim_cpu *cpu, struct sim_group *group);

// The kernel's check when a group is opened: would it fit if nothing else were on the counters? The scenario can make
// the answer wrong.
bool sim_cpu_accepts(const struct sim_cpu *cpu, const struct sim_group *group);

// True if the call would interrupt the CPU. A call that changes nothing does not, nor does reading a disabled group.
enum sim_call { SIM_ENABLE, SIM_DISABLE, SIM_READ };
bool sim_cpu_interrupted_by(const struct sim_cpu *cpu, const struct sim_group *group, enum sim_call call);

// Both do nothing if the group already has that state or is dead.
void sim_cpu_enable(struct sim_cpu *cpu, struct sim_group *group);
void sim_cpu_disable(struct sim_cpu *cpu, struct sim_group *group);

// False if the CPU has been offline since the group was added: the group is dead for good.
bool sim_cpu_alive(const struct sim_cpu *cpu, const struct sim_group *group);

// Brings the group's times and counts up to now.
void sim_cpu_account(const struct sim_cpu *cpu, struct sim_group *group);

#endif
