// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_MEMORY_READER_H
#define TOPDOWND_COLLECTORS_MEMORY_MEMORY_READER_H

// Reads what the kernel counts of memory, again and again: each reading knows the one before, and totals only grow.

#include "collectors/host/host_linux.h"
#include "core/memory/host_memory.h"

struct memory_reader;

struct memory_reader_choice {
    bool nodes, resctrl;            // what is read
    double memory_bytes_per_second; // the most that the memory of the host can move; 0: not known
};

// `roots` are borrowed. NULL if out of memory.
struct memory_reader *memory_reader_new(const struct host_roots *roots);
struct memory_reader *memory_reader_free(struct memory_reader *reader); // returns NULL, takes NULL

// The time of a reading: monotonic, and by the wall clock.
struct memory_reader_time {
    uint64_t now_ns;
    double seconds; // since the epoch
};

// A new reading, of which the caller owns a reference; NULL if out of memory. *interrupts is the number of times that
// another CPU had to answer.
struct host_memory *memory_reader_read(struct memory_reader *reader, struct memory_reader_choice choice,
                                       struct memory_reader_time time, unsigned *interrupts);

#endif
