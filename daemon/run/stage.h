// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_STAGE_H
#define TOPDOWND_DAEMON_RUN_STAGE_H

// A plan and all that belongs to it: they are made together, and go together when another plan fits better. Only
// totals, what the diagnosis remembers, and what has been said in the log, go over to the next stage.

#include "core/adapt/adapt.h"
#include "core/adapt/follow.h"
#include "core/diagnosis/diagnosis.h"
#include "core/recording/recording.h"
#include "core/tally/derive.h"
#include "daemon/run/watch.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct stage {
    struct snapshot_layout *layout; // NULL: there is no stage yet
    struct view *view;
    struct derive *derive;
    struct diagnosis *diagnosis;
    struct watch *watch;
};

// What a plan follows from.
struct stage_request {
    const struct setup *setup;
    const struct core_type *type;
    uint64_t seed;
    struct follow follow;      // how many general counters there are
    bool none_free;            // others hold all of them
    double slot_factor;        // by which slots are longer than configured
    const struct adapt *adapt; // NULL: the schedule is fixed
    const char *recording;     // the file that is recorded to, borrowed by the view; NULL: to none
    // Of a replay, else NULL; a plan is taken over with its topology, also where that fails
    const struct recording_plan *replayed;
    const struct recording_facts *facts;
    const struct adapt_report *report; // NULL: the schedule was fixed
};

// Makes a plan; it goes on where `before` (all NULL: there was none) is. Returns 0, -EINVAL with the reason in
// `errors`, -ENOMEM.
int stage_init(struct stage *stage, const struct stage_request *request, const struct stage *before,
               struct errors *errors);
void stage_deinit(struct stage *stage);

// Tells the new facts of `request` under the same plan. Where memory is short the old ones stay: the log has the news.
void stage_refresh_view(struct stage *stage, const struct stage_request *request);

// A snapshot of derive_initial while the counters are handed over.
void stage_mark_yielded(struct snapshot *snapshot);

// Logs the decisions of the last change, each with its reason.
void stage_log_decisions(const struct source *source, const struct adapt_report *report);

// Logs which metrics a change of plan loses or brings back.
void stage_log_change(const struct source *source, const struct plan *before, const struct plan *after);

#endif
