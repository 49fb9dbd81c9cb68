// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEMORY_MEMORY_WATCH_H
#define TOPDOWND_DAEMON_MEMORY_MEMORY_WATCH_H

// When the kernel's counts of memory are read: in no thread of their own, and so seldom that nobody notices.
//
// A reading is made with a snapshot, every MEMORY_WATCH_SECONDS at most. On a large host the kernel adds up the counts
// of each CPU for it, and resctrl's files make other CPUs answer. So the next reading waits until this one took less
// CPU time than a MEMORY_WATCH_SHARE-th of the time in between, until MEMORY_WATCH_INTERRUPTS a second would not be
// exceeded, and, where another CPU was slow to answer, until measuring stood still for less than a
// MEMORY_WATCH_WAIT_SHARE-th. A host with one node and without resctrl has nothing that is counted, and is only looked
// at every MEMORY_WATCH_IDLE_SECONDS, in case that changes.

#include "core/memory/host_memory.h"
#include "daemon/base/self.h"
#include "daemon/source/setup.h"

enum {
    MEMORY_WATCH_SECONDS = 10,
    MEMORY_WATCH_IDLE_SECONDS = 60,
    MEMORY_WATCH_SHARE = 10000,
    MEMORY_WATCH_WAIT_SHARE = 100,
    MEMORY_WATCH_INTERRUPTS = 10
};

struct memory_watch;

// `self` is borrowed and pays for the readings. Returns 0 or -ENOMEM.
int memory_watch_new(const struct setup *setup, struct self *self, struct memory_watch **out);
struct memory_watch *memory_watch_free(struct memory_watch *watch); // returns NULL, takes NULL

// The newest reading for a set-up, after another one if it is due: borrowed until the next call. NULL: there is none,
// because the set-up's host is another one, its configuration wants none, or memory is short.
struct host_memory *memory_watch_look(struct memory_watch *watch, const struct setup *setup, uint64_t now_ns);

// Gives the reading to a snapshot that nobody else has yet and that has none; takes NULL.
void memory_watch_attach(struct memory_watch *watch, const struct setup *setup, uint64_t now_ns,
                         struct snapshot *snapshot);

// A single reading for a set-up, for commands; the caller owns it. NULL as above.
struct host_memory *memory_watch_once(const struct setup *setup);

#endif
