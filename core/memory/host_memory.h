// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_MEMORY_HOST_MEMORY_H
#define TOPDOWND_CORE_MEMORY_HOST_MEMORY_H

// What the kernel itself counts of a host's memory: where pages were allocated, by NUMA node; what moves between nodes
// and tiers; and, where somebody has mounted resctrl, the bytes that its monitoring domains moved. No counter of a PMU
// is needed for it, so it belongs to no plan. One reading, immutable and shared by reference counting once it is made.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// Totals of the host, which only grow. NaN: the kernel does not tell, or the host has one node.
enum host_memory_total {
    HOST_MEMORY_LOCAL,        // allocations on the node of the CPU that asked
    HOST_MEMORY_REMOTE,       // on any other node
    HOST_MEMORY_MISSED,       // on another node than wanted, because that had no room
    HOST_MEMORY_HINT_LOCAL,   // faults of NUMA balancing on pages of the CPU's own node
    HOST_MEMORY_HINT_REMOTE,  // on those of others
    HOST_MEMORY_PROMOTED,     // bytes moved to a faster tier
    HOST_MEMORY_DEMOTED,      // to a slower one
    HOST_MEMORY_BALANCED,     // bytes that NUMA balancing moved to another node
    HOST_MEMORY_MIGRATED,     // pages moved for any reason
    HOST_MEMORY_NOT_MIGRATED, // pages that could not be moved
    HOST_MEMORY_TOTALS_N
};

// A node's own counts, as its file numastat has them.
enum host_memory_count {
    HOST_MEMORY_HIT,        // allocated here as wanted
    HOST_MEMORY_MISS,       // allocated here, wanted elsewhere
    HOST_MEMORY_FOREIGN,    // wanted here, allocated elsewhere
    HOST_MEMORY_INTERLEAVE, // allocated here as a policy of interleaving wanted
    HOST_MEMORY_OWN,        // allocated here by a CPU of this node
    HOST_MEMORY_OTHER,      // allocated here by a CPU of another node
    HOST_MEMORY_COUNTS_N
};
extern const char *const host_memory_counts[HOST_MEMORY_COUNTS_N]; // the kernel's names

// What a node's memory is, as far as the kernel tells it.
enum host_memory_kind {
    HOST_MEMORY_OF_CPUS,     // the node has CPUs: their DRAM
    HOST_MEMORY_CXL,         // of a CXL region
    HOST_MEMORY_PERSISTENT,  // of an NVDIMM
    HOST_MEMORY_SPECIAL,     // that the firmware keeps apart, such as HBM, or CXL that it has set up itself
    HOST_MEMORY_WITHOUT_CPUS // none of these is known
};
const char *host_memory_kind_name(enum host_memory_kind kind); // for programs

// What the firmware says of the way from the nearest CPUs to a node (HMAT). NaN: it does not.
struct host_memory_access {
    double read_bytes_per_second, write_bytes_per_second;
    double read_seconds, write_seconds; // latency
    bool direct; // the nearest CPUs are the node's own, and no other memory caches this one; not recorded
};

struct host_memory_node {
    unsigned id;
    int socket; // of its CPUs; -1: it has none, or that is not known
    int tier;   // the kernel's number, less is faster; -1: not known
    enum host_memory_kind kind;
    double bytes, free_bytes; // NaN: not known
    double counts[HOST_MEMORY_COUNTS_N], before[HOST_MEMORY_COUNTS_N];
    struct host_memory_access access;
};

// Bytes that a last-level cache fetched and wrote back, as resctrl counts them. `all` where local ones are not told
// apart, else `local` and `remote`; NaN: not known.
struct host_memory_bytes {
    double local, remote, all;
};

// Why bytes that resctrl should have counted since the reading before are missing, or are of another time.
enum resctrl_gap {
    RESCTRL_GAP_NONE,
    RESCTRL_GAP_GROUPS,      // groups came or went, or a control group's monitoring groups are others
    RESCTRL_GAP_UNAVAILABLE, // a group began or ceased to have a number
    RESCTRL_GAP_UNASSIGNED,  // a group has no hardware counter any more
    RESCTRL_GAP_FELL,        // a count fell
    RESCTRL_GAP_IMPLAUSIBLE, // a count grew by more than the memory can move
    RESCTRL_GAPS_N
};
const char *resctrl_gap_name(enum resctrl_gap gap); // for programs; NULL: none
const char *resctrl_gap_text(enum resctrl_gap gap); // for people; NULL: none

// A monitoring domain of resctrl: the CPUs of one last-level cache.
struct host_memory_domain {
    unsigned id;
    int socket; // -1: not known
    struct host_memory_bytes bytes, before;
    enum resctrl_gap gap; // the first of those of its groups; then `before` is not known; not recorded
};

// A group of resctrl, by its folder below the mount: "" is the root, "web" a control group, "mon_groups/a" and
// "web/mon_groups/a" are monitoring groups.
enum { HOST_MEMORY_GROUP_MAX = 528 };
struct host_memory_group {
    char name[HOST_MEMORY_GROUP_MAX];
    bool monitoring;
};

// What a group's own tasks moved in a domain, without those of the groups in it.
struct host_memory_part {
    size_t group, domain; // places among the reading's
    struct host_memory_bytes bytes, before;
    enum resctrl_gap gap; // as in a domain
    bool readable;        // it has a number now
};

enum resctrl_state {
    RESCTRL_NOT_ASKED,   // the configuration has it off, or the host is another one
    RESCTRL_NOT_MOUNTED, // or not at a place that topdownd sees
    RESCTRL_NOT_COUNTING,
    RESCTRL_TOO_MANY,
    RESCTRL_COUNTING,
    RESCTRL_OTHER_EVENTS, // it counts part of the bytes, because somebody chose that
    RESCTRL_STATES_N
};
const char *resctrl_state_name(enum resctrl_state state); // for programs
const char *resctrl_state_text(enum resctrl_state state); // for people, with the remedy

enum {
    HOST_MEMORY_NODES_MAX = 64,
    HOST_MEMORY_DOMAINS_MAX = 128,
    HOST_MEMORY_SOCKETS_MAX = 64,
    HOST_MEMORY_PROBLEM_MAX = 384
};

// `before` in nodes, domains and sockets is of the reading before, `seconds` earlier; NaN and 0: there was none.
struct host_memory {
    double totals[HOST_MEMORY_TOTALS_N], totals_before[HOST_MEMORY_TOTALS_N];
    double timestamp_seconds, seconds; // since the epoch; since the reading before
    struct host_memory_node nodes[HOST_MEMORY_NODES_MAX];
    size_t n_nodes; // 0: no reading of nodes was wanted, or the kernel has none
    struct host_memory_domain domains[HOST_MEMORY_DOMAINS_MAX];
    size_t n_domains;
    struct host_memory_group *groups; // of resctrl, those that could be read; not recorded, as the two below
    struct host_memory_part *parts;   // group by group
    size_t n_groups, n_parts;
    double implausible; // how many counts of groups grew by more than the memory can move
    struct host_memory_socket {
        unsigned id;
        struct host_memory_bytes bytes, before; // sums of its domains
    } sockets[HOST_MEMORY_SOCKETS_MAX];
    size_t n_sockets; // 0 unless resctrl counts
    enum resctrl_state resctrl;
    char problem[HOST_MEMORY_PROBLEM_MAX]; // the first file that could not be understood; "": none
    atomic_uint references;
};

// An empty reading with one reference. NULL if out of memory.
struct host_memory *host_memory_new(void);
struct host_memory *host_memory_ref(struct host_memory *memory);   // takes NULL
struct host_memory *host_memory_unref(struct host_memory *memory); // returns NULL, takes NULL

// Sums what a group moved in all domains. *readable: it has a number in each of them.
struct host_memory_bytes host_memory_group_bytes(const struct host_memory *memory, size_t group, bool *readable);

// Sums the domains into sockets, in ascending order.
void host_memory_sum_sockets(struct host_memory *memory);

// The series that a reading has on the page for Prometheus: the first of the totals, then three of each socket.
enum { HOST_MEMORY_SERIES_TOTALS = HOST_MEMORY_DEMOTED + 1, HOST_MEMORY_SERIES_BYTES = 3 };
double host_memory_series(const struct host_memory *memory, size_t series); // NaN: it has none
// True if two readings have the same series. NULL: a reading without any.
bool host_memory_same_series(const struct host_memory *a, const struct host_memory *b);

// True if some memory lies in another tier than the rest, or on a node without CPUs.
bool host_memory_tiered(const struct host_memory *memory);

// Bytes a second that the memory of a socket's own nodes can move together, as the firmware rates it: of each node the
// larger one of its reads and writes, which share the channels. 0: a node of the socket has no rating, or one that says
// nothing of its channels.
double host_memory_rated(const struct host_memory *memory, unsigned socket);

#endif
