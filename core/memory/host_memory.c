// SPDX-License-Identifier: Apache-2.0
#include "core/memory/host_memory.h"

#include <math.h>
#include <stdlib.h>

const char *const host_memory_counts[HOST_MEMORY_COUNTS_N] = {
    [HOST_MEMORY_HIT] = "numa_hit",         [HOST_MEMORY_MISS] = "numa_miss",
    [HOST_MEMORY_FOREIGN] = "numa_foreign", [HOST_MEMORY_INTERLEAVE] = "interleave_hit",
    [HOST_MEMORY_OWN] = "local_node",       [HOST_MEMORY_OTHER] = "other_node",
};

static const char *const KINDS[] = {
    [HOST_MEMORY_OF_CPUS] = "cpus",
    [HOST_MEMORY_CXL] = "cxl",
    [HOST_MEMORY_PERSISTENT] = "persistent",
    [HOST_MEMORY_SPECIAL] = "special",
    [HOST_MEMORY_WITHOUT_CPUS] = "without_cpus",
};

struct words {
    const char *name, *text;
};

static const struct words STATES[RESCTRL_STATES_N] = {
    [RESCTRL_NOT_ASKED] = {"off", "resctrl is not read: the configuration has it off, or this is not the host itself"},
    [RESCTRL_NOT_MOUNTED] = {"not_mounted", "resctrl is not mounted; topdownd never mounts it, and reads it where "
                                            "somebody else does (mount -t resctrl resctrl /sys/fs/resctrl)"},
    [RESCTRL_NOT_COUNTING] = {"no_bandwidth", "resctrl is mounted and counts no bytes: the CPU or the kernel has no "
                                              "bandwidth monitoring, or no counter is assigned to it"},
    [RESCTRL_TOO_MANY] = {"too_many_groups", "resctrl has too many control groups or domains to read all of them, "
                                             "and a sum without some would be wrong"},
    [RESCTRL_COUNTING] = {"counting", "resctrl counts"},
    [RESCTRL_OTHER_EVENTS] = {"other_events", "resctrl counts part of the bytes: somebody has chosen other events for "
                                              "mbm_total_bytes than all (info/L3_MON), so none are shown"},
};

static const struct words GAPS[RESCTRL_GAPS_N] = {
    [RESCTRL_GAP_NONE] = {NULL, NULL},
    [RESCTRL_GAP_GROUPS] = {"groups_changed", "a group came or went, and what it moved meanwhile is not known"},
    [RESCTRL_GAP_UNAVAILABLE] = {"unavailable", "a group began or ceased to have a number"},
    [RESCTRL_GAP_UNASSIGNED] = {"unassigned", "a group lost its hardware counter"},
    [RESCTRL_GAP_FELL] = {"fell", "a group's count fell, as when it was set back"},
    [RESCTRL_GAP_IMPLAUSIBLE] = {"implausible", "a group's count grew by more than the memory can move"},
};

const char *resctrl_gap_name(enum resctrl_gap gap) { return GAPS[gap].name; }

const char *resctrl_gap_text(enum resctrl_gap gap) { return GAPS[gap].text; }

const char *host_memory_kind_name(enum host_memory_kind kind) { return KINDS[kind]; }

const char *resctrl_state_name(enum resctrl_state state) { return STATES[state].name; }

const char *resctrl_state_text(enum resctrl_state state) { return STATES[state].text; }

struct host_memory *host_memory_new(void) {
    struct host_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    atomic_init(&memory->references, 1);
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        memory->totals[i] = memory->totals_before[i] = NAN;
    return memory;
}

struct host_memory *host_memory_ref(struct host_memory *memory) {
    if (memory)
        atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
    return memory;
}

struct host_memory *host_memory_unref(struct host_memory *memory) {
    if (memory && atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) == 1) {
        free(memory->parts);
        free(memory->groups);
        free(memory);
    }
    return NULL;
}

// ---- sockets ----

// The place of a socket among those in ascending order, added if it is new. NULL: there is no room.
static struct host_memory_socket *find_socket(struct host_memory *memory, unsigned id) {
    size_t i = 0;
    while (i < memory->n_sockets && memory->sockets[i].id < id)
        i++;
    if (i < memory->n_sockets && memory->sockets[i].id == id)
        return &memory->sockets[i];
    if (memory->n_sockets == HOST_MEMORY_SOCKETS_MAX)
        return NULL;
    for (size_t k = memory->n_sockets++; k > i; k--)
        memory->sockets[k] = memory->sockets[k - 1];
    static const struct host_memory_bytes unknown = {NAN, NAN, NAN};
    memory->sockets[i] = (struct host_memory_socket){.id = id, .bytes = unknown, .before = unknown};
    return &memory->sockets[i];
}

static double sum(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a + b; }

static double all_of(const struct host_memory_bytes *bytes) { return sum(bytes->local + bytes->remote, bytes->all); }

static void add(struct host_memory_bytes *total, const struct host_memory_bytes *bytes) {
    total->local = sum(total->local, bytes->local);
    total->remote = sum(total->remote, bytes->remote);
    total->all = sum(total->all, bytes->all);
}

struct host_memory_bytes host_memory_group_bytes(const struct host_memory *memory, size_t group, bool *readable) {
    struct host_memory_bytes bytes = {NAN, NAN, NAN};
    bool all = true;
    for (size_t i = 0; i < memory->n_parts; i++) {
        if (memory->parts[i].group != group)
            continue;
        add(&bytes, &memory->parts[i].bytes);
        all = all && memory->parts[i].readable;
    }
    *readable = all;
    return bytes;
}

// True if the domain counts now, and what it had counted at the reading before is not known.
static bool is_new(const struct host_memory_domain *domain) {
    return !isnan(all_of(&domain->bytes)) && isnan(all_of(&domain->before));
}

void host_memory_sum_sockets(struct host_memory *memory) {
    static const struct host_memory_bytes unknown = {NAN, NAN, NAN};
    memory->n_sockets = 0;
    for (size_t i = 0; i < memory->n_domains; i++) {
        const struct host_memory_domain *domain = &memory->domains[i];
        struct host_memory_socket *socket = domain->socket >= 0 ? find_socket(memory, (unsigned)domain->socket) : NULL;
        if (!socket)
            continue;
        add(&socket->bytes, &domain->bytes);
        add(&socket->before, &domain->before);
    }
    for (size_t i = 0; i < memory->n_domains; i++) { // or all that it ever counted would be of this interval
        const struct host_memory_domain *domain = &memory->domains[i];
        struct host_memory_socket *socket =
            domain->socket >= 0 && is_new(domain) ? find_socket(memory, (unsigned)domain->socket) : NULL;
        if (socket)
            socket->before = unknown;
    }
}

// ---- series ----

double host_memory_series(const struct host_memory *memory, size_t series) {
    if (!memory)
        return NAN;
    if (series < HOST_MEMORY_SERIES_TOTALS)
        return memory->totals[series];
    size_t socket = (series - HOST_MEMORY_SERIES_TOTALS) / HOST_MEMORY_SERIES_BYTES;
    if (socket >= memory->n_sockets)
        return NAN;
    const struct host_memory_bytes *bytes = &memory->sockets[socket].bytes;
    const double values[HOST_MEMORY_SERIES_BYTES] = {bytes->local, bytes->remote, bytes->all};
    return values[(series - HOST_MEMORY_SERIES_TOTALS) % HOST_MEMORY_SERIES_BYTES];
}

bool host_memory_same_series(const struct host_memory *a, const struct host_memory *b) {
    size_t n = a ? a->n_sockets : 0;
    if (a == b)
        return true;
    if (n != (b ? b->n_sockets : 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (a->sockets[i].id != b->sockets[i].id)
            return false;
    for (size_t i = 0; i < HOST_MEMORY_SERIES_TOTALS + HOST_MEMORY_SERIES_BYTES * n; i++)
        if (isnan(host_memory_series(a, i)) != isnan(host_memory_series(b, i)))
            return false;
    return true;
}

bool host_memory_tiered(const struct host_memory *memory) {
    for (size_t i = 0; i < memory->n_nodes; i++)
        if (memory->nodes[i].kind != HOST_MEMORY_OF_CPUS || memory->nodes[i].tier != memory->nodes[0].tier)
            return true;
    return false;
}

double host_memory_rated(const struct host_memory *memory, unsigned socket) {
    double sum = 0;
    for (size_t i = 0; i < memory->n_nodes; i++) {
        const struct host_memory_node *node = &memory->nodes[i];
        if (node->kind != HOST_MEMORY_OF_CPUS || node->bytes <= 0 ||
            (node->socket >= 0 && (unsigned)node->socket != socket))
            continue;
        double rated = fmax(node->access.read_bytes_per_second, node->access.write_bytes_per_second);
        if (node->socket < 0 || !node->access.direct || !(rated > 0))
            return 0;
        sum += rated;
    }
    return memory->n_nodes < HOST_MEMORY_NODES_MAX ? sum : 0; // else some may be left out
}
