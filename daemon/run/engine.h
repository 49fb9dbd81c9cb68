// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_ENGINE_H
#define TOPDOWND_DAEMON_RUN_ENGINE_H

// What makes the snapshots of one core type: measuring (daemon/run/measure.h), or playing a recording
// (daemon/run/replay.h). The event loop knows engines alone.

#include "core/base/error.h"
#include "core/tally/snapshot.h"
#include "daemon/base/self.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct engine;

struct engine_ops {
    // Does what is due at now_ns (monotonic); *deadline_ns is when to come again. Where there is something new to show,
    // *out is its snapshot, a reference of the caller's; else NULL. Returns 0 or a negative errno that ends the daemon:
    // -EINVAL with the reason in the errors it was made with where there is no first plan, else memory.
    int (*step)(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out);
    // The view of the present plan, and of the snapshot that the last step has given; borrowed until the next step.
    // NULL before there is a plan.
    struct view *(*view)(const struct engine *engine);
    // Once there is a view: a snapshot of the totals as they are, without gauges; before the first round, and while the
    // counters are handed over. NULL where memory is short.
    struct snapshot *(*snapshot)(struct engine *engine);
    // Hands all counters over for `seconds`, at once: when it returns they are free. Called again: the new time counts;
    // 0 takes them back in the next step. Returns 0, -EOPNOTSUPP where it holds no counters, -EAGAIN where there is no
    // plan yet.
    int (*yield)(struct engine *engine, uint64_t now_ns, double seconds);
    struct engine *(*free)(struct engine *engine); // returns NULL
};

// The first member of every engine's own struct.
struct engine {
    const struct engine_ops *ops;
};

// Makes the engines that the setup's core types need, all of them held against the cost in `self`. All is borrowed, but
// `errors` only until all have a plan. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM or another negative
// errno; what is in `out` is the caller's to free also then.
int engine_new_all(struct setup *setup, struct self *self, uint64_t now_ns, struct errors *errors,
                   struct engine *out[SOURCE_TYPES_MAX], size_t *n);

#endif
