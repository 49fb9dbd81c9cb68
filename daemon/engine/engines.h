// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_ENGINES_H
#define TOPDOWND_DAEMON_ENGINE_ENGINES_H

// The engines of a host, which are stepped together: of each core type, then of each kind of box. Each is measured by
// itself, in steps of its own.

#include "daemon/base/clocks.h"
#include "daemon/engine/engine.h"

struct engines {
    struct engine *of[SETUP_TYPES_MAX];
    uint64_t deadlines_ns[SETUP_TYPES_MAX]; // when each is due
    size_t n;
};

// Makes the engines of the setup's types, which share the cost in `self` and what they know of one another in `newest`,
// which may be NULL. All are due. Everything is borrowed, `errors` only until all have a plan. Returns 0, -EINVAL with
// the reason in `errors`, -ENOMEM or another negative errno; even then the caller must call engines_deinit.
int engines_init(struct engines *engines, struct setup *setup, struct self *self, const struct shown *newest,
                 uint64_t now_ns, struct errors *errors);
void engines_deinit(struct engines *engines);

// Takes a snapshot that engine `i` has made, borrowed. Returns 0; 1 to step the engine once more before the others, if
// it is due already; or a negative errno, which ends the pass.
typedef int engines_take(size_t i, struct snapshot *snapshot, void *context);

// Runs the engines that are due, one after the other, each at the time that its turn comes. *next_ns is the next
// deadline. Returns 0 or a negative errno: of a step (engine.h), or of `take`.
int engines_step(struct engines *engines, const struct clocks *clocks, engines_take *take, void *context,
                 uint64_t *next_ns);

// Makes all due.
void engines_wake(struct engines *engines);

// The view of engine `i`, borrowed until its next step; NULL: it has no plan yet.
struct view *engines_view(const struct engines *engines, size_t i);
bool engines_have_plans(const struct engines *engines);

// Makes the readers those of all engines.
void engines_attend(struct engines *engines, struct readers *readers);

// Appends a line of what is wrong with the daemon itself to the answer to `status` (daemon/run/control.h).
void engines_tell_trouble(const char *name, const char *text, const char *remedy, struct text *out);

// Appends what is wrong with the daemon itself as its engines know it, as lines of the control socket's `status`
// (daemon/run/control.h). `n` are the core types. Returns 0 or -ENOMEM.
int engines_tell(const struct engines *engines, size_t n, struct text *out);

// Hands the counters of all engines over for so long from now; 0 takes them back. Returns 0 or a negative errno.
int engines_yield(struct engines *engines, double seconds);

// Shows the set-up's present platform on all pages that can change.
void engines_refresh(struct engines *engines);

#endif
