// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_GROUP_H
#define TOPDOWND_COLLECTORS_SIM_SIM_GROUP_H

// An event group of a simulated CPU, ours or a rival's: what it counts, and what it needs of counters.
//
// A field is an event that has no counter: the CPU keeps the share of the leader's count that belongs to it, in 8 bits
// (PERF_METRICS). The kernel multiplies that share with the leader's count and starts both anew whenever it looks: when
// the group is read, and when it leaves the counters. So fields are right to a 255th of the leader's count since then.
// The leader has its fixed counter or none: two groups that it leads take turns.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "collectors/sim/sim_load.h"
#include "core/plan/fit.h"

// Who comes first when counters are short.
enum sim_rank { SIM_PINNED, SIM_FLEXIBLE, SIM_TASK, SIM_RANK_N };

struct sim_group {
    enum sim_rank rank;
    struct event_need *needs; // of its events, or a rival's, the leader's first
    size_t n_needs;
    unsigned *events;         // of the catalog; none for a rival
    struct sim_count *counts; // how often these truly happened while it was on
    bool *is_field;
    uint64_t *looked_at; // counts when the kernel looked last
    uint64_t *reported;  // what it has made of fields
    size_t n_events;

    // What follows is the CPU's.
    TAILQ_ENTRY(sim_group) queued; // while enabled
    bool enabled, on;
    unsigned generation;   // of the CPU when the group was opened
    uint64_t accounted_ns; // times and counts are right up to here
    uint64_t enabled_ns, running_ns;
};

// Our event group of these events. -ENOENT: the catalog has no event of such a code; -EINVAL: a field is in a group
// that its leader does not lead or that counts in other modes, has more than its number, or stands twice, or more than
// eight do; -ENOMEM.
int sim_group_new(const struct catalog *catalog, const struct pmu_event *codes, size_t n, struct sim_group **out);
struct sim_group *sim_group_free(struct sim_group *group);

// The group that a rival opens: so many events that any general counter can count, and where these are not -1 one of
// the fixed counter `cycles`, which a general one can count too, and one of the fixed counter `slots` alone. -ENOMEM.
// To be freed by sim_group_deinit.
int sim_group_init_rival(struct sim_group *group, enum sim_rank rank, unsigned general, int cycles, int slots);
void sim_group_deinit(struct sim_group *group);

// The kernel looks at the counters, which are right up to now.
void sim_group_look(struct sim_group *group);

// What a read gives for an event.
uint64_t sim_group_count(const struct sim_group *group, size_t i);

#endif
