// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_PUBLISHER_H
#define TOPDOWND_DAEMON_RUN_PUBLISHER_H

// Where the service's snapshots go: to the pages of the HTTP server, the text file, systemd's status and the log, each
// with what the kernel counts of memory.

#include "daemon/engine/engines.h"
#include "daemon/engine/newest.h"
#include "daemon/memory/memory_watch.h"
#include "daemon/run/listening.h"
#include "daemon/run/summary.h"
#include "daemon/run/textfile.h"

struct publisher {
    struct engines *engines; // borrowed, like the next two
    struct listening *listening;
    struct self *self;
    struct newest newest;      // what was published last
    struct textfile *textfile; // NULL: none
    struct memory_watch *memory;
    struct summary_host status; // systemd's
};

// What it is given is borrowed. Returns 0 or a negative errno; even then the caller must call publisher_close.
int publisher_open(struct publisher *publisher, const struct setup *setup, struct engines *engines,
                   struct listening *listening, struct self *self);
void publisher_close(struct publisher *publisher); // also if it was never opened

// Goes on as another set-up says.
void publisher_change(struct publisher *publisher, const struct setup *setup);

// Publishes a snapshot of the engine's present view, of a type of the set-up in force.
void publisher_put(struct publisher *publisher, const struct setup *setup, size_t type, struct snapshot *snapshot);

// Shows all engines: on the first pages of the HTTP server, or (renew) on those of other engines than before. Returns 0
// or a negative errno.
int publisher_show(struct publisher *publisher, const struct setup *setup, bool renew);

// The page before a change of plan, of which `before` is the view, stays until the next snapshot. Where that comes so
// late that the page would be too old, this shows the totals alone meanwhile.
void publisher_show_totals(struct publisher *publisher, const struct setup *setup, size_t type,
                           const struct view *before);

// Logs what a configuration that comes into force means, at the start or (starts: false) later. `sockets`: those of
// systemd listen.
void publisher_summarize(struct publisher *publisher, const struct setup *setup, bool starts, bool sockets);

#endif
