// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_ENGINE_H
#define TOPDOWND_DAEMON_ENGINE_ENGINE_H

// An engine makes the snapshots of one core type: by measuring (daemon/engine/measure.h), or by playing a recording
// (daemon/engine/replay.h). The event loop knows only engines.

#include "core/base/error.h"
#include "core/diagnosis/kept_verdicts.h"
#include "core/tally/snapshot.h"
#include "daemon/base/self.h"
#include "daemon/engine/readers.h"
#include "daemon/source/setup.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

struct engine;

// The set-up that measuring is to go on under, of the same core type.
struct engine_change {
    const struct setup *setup;
    struct core_type *type;
    struct engine *first; // the first core type's, which is prepared and changed before the others
    uint64_t now_ns;
};

struct engine_ops {
    // Does what is due at now_ns (monotonic); *deadline_ns is the time of the next call. *out is the snapshot of new
    // values, a reference owned by the caller, or NULL. Returns 0 or a negative errno that ends the daemon: -EINVAL,
    // with the reason in the errors given at creation, if there is no first plan; else out of memory.
    int (*step)(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out);
    // The view of the current plan and of the last step's snapshot; borrowed until the next step. NULL before there is
    // a plan.
    struct view *(*view)(const struct engine *engine);
    // A snapshot of the current totals without gauges, for the time before the first round and while the counters are
    // yielded. Requires a view. NULL if out of memory.
    struct snapshot *(*snapshot)(struct engine *engine);
    // Yields all counters for `seconds`: they are free when it returns. A later call replaces the time; 0 takes the
    // counters back in the next step. Returns 0, -EOPNOTSUPP if the engine holds no counters, -EAGAIN if there is no
    // plan yet.
    int (*yield)(struct engine *engine, uint64_t now_ns, double seconds);
    // Shows the set-up's present platform from the next step on. NULL: the engine's platform never changes.
    void (*refresh)(struct engine *engine);
    // Makes the intervals of single CPUs only for these readers, which are borrowed; until it is called, somebody reads
    // them. NULL: the engine always makes them.
    void (*attend)(struct engine *engine, struct readers *readers);
    // Records what the kernel counts of memory, unless it is recorded already; NULL: nothing is read. NULL: the engine
    // records nothing.
    void (*record_memory)(struct engine *engine, struct host_memory *memory);
    // Prepares to go on under another set-up, which is borrowed: does all that can fail. Returns 0; -EAGAIN while the
    // engine looks for counters; -EINVAL with the reason in `errors`, -ENOMEM or another negative errno, and nothing
    // has changed. NULL, like the next two: the engine shows the past.
    int (*prepare)(struct engine *engine, const struct engine_change *change, struct errors *errors);
    // Gives up what was prepared, or puts it into force: the next step goes on under it, and the old set-up is no
    // longer used. Nothing may happen between prepare and these. Returns 0, or a negative errno that ends the daemon.
    void (*abandon)(struct engine *engine);
    int (*change)(struct engine *engine, uint64_t now_ns);
    // Appends the lasting verdicts, which outlive the process; goes on with those of an earlier one, which are borrowed
    // until the first snapshot. NULL: the engine shows the past.
    void (*keep)(const struct engine *engine, struct kept_verdicts *out);
    void (*restore)(struct engine *engine, const struct kept_verdicts *kept);
    struct engine *(*free)(struct engine *engine); // returns NULL
};

// The first member of every engine's own struct.
struct engine {
    const struct engine_ops *ops;
};

// Makes the engine of one of the setup's types, which is no replay; as engines_init (engines.h). `first` is that of the
// first core type, NULL for itself. `newest` may be NULL.
int engine_new(struct setup *setup, struct core_type *type, struct self *self, const struct shown *newest,
               struct engine *first, uint64_t now_ns, struct errors *errors, struct engine **out);

#endif
