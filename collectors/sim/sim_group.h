// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_GROUP_H
#define TOPDOWND_COLLECTORS_SIM_SIM_GROUP_H

// An event group of a simulated CPU, topdownd's or a rival's: what it counts and which counters it needs.
//
// A field is an event without a counter: the CPU keeps its share of the leader's count in 8 bits (PERF_METRICS). The
// kernel multiplies that share by the leader's count and resets both when the group is read and when it leaves the
// counters. So a field is accurate to 1/255 of the leader's count since then. The leader runs only on its fixed
// counter, so two groups that it leads take turns.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "collectors/sim/sim_load.h"
#include "core/plan/fit.h"

// Scheduling priority, first to last.
enum sim_rank { SIM_PINNED, SIM_FLEXIBLE, SIM_TASK, SIM_RANK_N };

struct sim_field {
    bool is_field;
    uint64_t looked_at; // the count when the kernel last looked
    uint64_t reported;  // the count that the kernel has derived
};

struct sim_group {
    enum sim_rank rank;
    struct event_need *needs; // of our events or a rival's, the leader's first
    size_t n_needs;
    unsigned *events;         // catalog indexes; none for a rival
    struct sim_count *counts; // how often these truly happened while the group was on
    struct sim_field *fields; // of all its events; NULL if none is a field
    size_t n_events;

    // Owned by the CPU from here on.
    TAILQ_ENTRY(sim_group) queued; // while enabled
    bool enabled, on;
    unsigned generation;   // of the CPU when the group was opened
    uint64_t accounted_ns; // times and counts are up to date until here
    uint64_t enabled_ns, running_ns;
    uint64_t guest_ns; // while a guest had the counters for itself
};

// Creates topdownd's event group of these events. -ENOENT: the catalog has no event of such a code; -EINVAL: a group
// with fields breaks a rule (another leader, different modes, further configuration on a field, a field twice, more
// than eight fields); -ENOMEM.
int sim_group_new(const struct catalog *catalog, const struct pmu_event *codes, size_t n, struct sim_group **out);
struct sim_group *sim_group_free(struct sim_group *group);

// Initializes a rival's group: `general` events that any general counter can count, an event on the fixed counter
// `cycles`, which a general one can count too, and an event that only the fixed counter `slots` can count. -1 leaves
// the event of `cycles` or `slots` out. -ENOMEM. Free with sim_group_deinit_rival.
int sim_group_init_rival(struct sim_group *group, enum sim_rank rank, unsigned general, int cycles, int slots);
void sim_group_deinit_rival(struct sim_group *group);

// True if the hardware cannot tell the two events apart.
bool sim_group_same_code(const struct pmu_event *a, const struct pmu_event *b);

// The kernel looks at the counters, whose counts must be up to date.
void sim_group_look(struct sim_group *group);

// All its counts, which must be up to date, change by `by` modulo 2^64.
void sim_group_jump(struct sim_group *group, int64_t by);

// The count that a read returns for an event.
uint64_t sim_group_count(const struct sim_group *group, size_t i);

#endif
