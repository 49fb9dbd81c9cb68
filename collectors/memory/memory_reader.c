// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/memory_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/memory/memory_nodes.h"
#include "collectors/memory/resctrl.h"
#include "core/uncore/uncore_most.h"

struct memory_reader {
    const struct host_roots *roots;
    struct resctrl *resctrl;
    struct host_memory *last; // NULL: none yet
    uint64_t last_ns;
    double counted[HOST_MEMORY_TOTALS_N]; // by the kernel, when it last told; NaN: it never has
    double total[HOST_MEMORY_TOTALS_N];   // what was shown then
};

struct memory_reader *memory_reader_new(const struct host_roots *roots) {
    struct memory_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->roots = roots;
    reader->resctrl = resctrl_new(roots);
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        reader->counted[i] = NAN;
    return reader->resctrl ? reader : memory_reader_free(reader);
}

struct memory_reader *memory_reader_free(struct memory_reader *reader) {
    if (reader) {
        host_memory_unref(reader->last);
        resctrl_free(reader->resctrl);
    }
    free(reader);
    return NULL;
}

// The kernel's count, except that what falls goes on from where it was.
static void continue_totals(struct memory_reader *reader, double totals[HOST_MEMORY_TOTALS_N]) {
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++) {
        double now = totals[i];
        if (isnan(now))
            continue;
        if (isnan(reader->counted[i]))
            reader->total[i] = now;
        else if (now > reader->counted[i])
            reader->total[i] += now - reader->counted[i];
        reader->counted[i] = now;
        totals[i] = reader->total[i];
    }
}

static const struct host_memory_node *find_node(const struct host_memory *memory, unsigned id) {
    for (size_t i = 0; i < memory->n_nodes; i++)
        if (memory->nodes[i].id == id)
            return &memory->nodes[i];
    return NULL;
}

static void set_before(struct host_memory *memory, const struct host_memory *last) {
    memcpy(memory->totals_before, last->totals, sizeof memory->totals_before);
    for (size_t i = 0; i < memory->n_nodes; i++) {
        const struct host_memory_node *node = find_node(last, memory->nodes[i].id);
        if (node)
            memcpy(memory->nodes[i].before, node->counts, sizeof node->counts);
    }
}

// The reading before had nothing of resctrl: then its bytes are of no interval.
static void forget_before(struct host_memory *memory) {
    static const struct host_memory_bytes unknown = {NAN, NAN, NAN};
    for (size_t i = 0; i < memory->n_domains; i++)
        memory->domains[i].before = unknown;
    for (size_t i = 0; i < memory->n_parts; i++)
        memory->parts[i].before = unknown;
}

// A count that cannot be comes from hardware that was set back, or from a driver's bug (core/uncore/uncore_most.h).
static struct resctrl_moment moment_of(const struct memory_reader *reader, struct memory_reader_choice choice,
                                       struct memory_reader_time time) {
    double peak = choice.memory_bytes_per_second;
    return (struct resctrl_moment){.seconds = (double)time.now_ns * 1e-9,
                                   .last_seconds = reader->last ? (double)reader->last_ns * 1e-9 : 0,
                                   .most_per_second = peak > 0 ? UNCORE_MOST_PEAKS * peak : UNCORE_MOST_BYTES_A_SECOND};
}

struct host_memory *memory_reader_read(struct memory_reader *reader, struct memory_reader_choice choice,
                                       struct memory_reader_time time, unsigned *interrupts) {
    struct host_memory *memory = host_memory_new();
    *interrupts = 0;
    if (!memory)
        return NULL;
    memory->timestamp_seconds = time.seconds;
    if (choice.nodes) {
        memory_nodes_read(reader->roots, memory);
        memory_nodes_read_totals(reader->roots, memory);
        continue_totals(reader, memory->totals);
    }
    if (choice.resctrl)
        *interrupts = resctrl_read(reader->resctrl, moment_of(reader, choice, time), memory);
    if (reader->last) {
        set_before(memory, reader->last);
        memory->seconds = (double)(time.now_ns - reader->last_ns) * 1e-9;
    }
    if (reader->last && reader->last->n_domains == 0)
        forget_before(memory);
    host_memory_sum_sockets(memory);
    host_memory_unref(reader->last);
    reader->last = host_memory_ref(memory);
    reader->last_ns = time.now_ns;
    return memory;
}
