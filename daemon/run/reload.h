// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_RELOAD_H
#define TOPDOWND_DAEMON_RUN_RELOAD_H

// A reload of the configuration, from the request to the moment when it is in force.
//
// Loading takes about as long as at the start, on this thread: slot edges wait for it, and its CPU time is a debt like
// that of any change (core/adapt/budget.h). What is loaded waits until a snapshot ends the rounds, so that none is
// lost, but at most RELOAD_WAIT_NS. Then all engines change at once. Until then a second request replaces what waits.

#include "daemon/base/options.h"
#include "daemon/base/self.h"
#include "daemon/engine/engines.h"
#include "daemon/source/setup.h"

#define RELOAD_WAIT_NS UINT64_C(10000000000)

struct reload {
    struct setup *next; // loaded; NULL: nothing waits
    uint64_t asked_ns;
    bool round_over;  // a snapshot since then has ended the rounds
    bool refused;     // a later configuration was wrong
    bool looked;      // nobody asked: the host has other PMUs than before
    bool other_kinds; // of PMUs outside the cores were or will be measured than before the last change
    struct engine *engines[SETUP_TYPES_MAX]; // prepared: one for each type of what waits, present ones and new ones
    bool made[SETUP_TYPES_MAX];              // this one is new
    struct engine *leaving[SETUP_TYPES_MAX]; // present ones of kinds that will no longer be measured; NULL: none
};

// The engines that run, of the types of a set-up and in their order.
struct reload_engines {
    const struct setup *setup;
    struct self *self;
    const struct shown *newest;
    const struct engines *engines;
};

// Loads what is to follow `present`. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM or another negative
// errno; what waited before still does then.
int reload_load(struct reload *reload, const struct options *options, const struct setup *present, struct self *self,
                struct errors *errors);

// Loads what the host has now, after its PMUs have changed, for the configuration that is in force: where its files
// have changed, nothing happens before somebody asks for it. Logs what becomes of it. Returns 1 if something waits
// then, 0, or a negative errno.
int reload_look(struct reload *reload, const struct options *options, const struct setup *present, struct self *self);

// True if something waits and it is time for it.
bool reload_is_due(const struct reload *reload, uint64_t now_ns);

// Prepares all engines for what waits, and makes those of kinds of PMUs that were not measured so far, which have a
// plan then. Returns 0; -EAGAIN: one of them looks for counters, so it waits again; or as engine_ops .prepare: nothing
// has changed, and what waited is given up.
int reload_prepare(struct reload *reload, const struct reload_engines *present, uint64_t now_ns, struct errors *errors);

// Gives up what was prepared and what waits.
void reload_abandon(struct reload *reload);

// Changes all engines, which are those of the new types then and due, and *setup, whose old one is freed. Returns 0, or
// a negative errno that ends the daemon.
int reload_change(struct reload *reload, struct engines *engines, uint64_t now_ns, struct setup **setup);

void reload_deinit(struct reload *reload);

// Logs what has become of a reload. For a client, `errors` has the reasons; without any r is an errno.
void reload_log_refusal(const struct options *options, int r, const struct errors *errors);
void reload_log_success(const struct options *options, bool looked);

#endif
