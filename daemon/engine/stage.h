// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_STAGE_H
#define TOPDOWND_DAEMON_ENGINE_STAGE_H

// A plan and everything that belongs to it: made together, and replaced together when another plan fits better. Only
// totals, the diagnosis's memory, and the record of what was logged pass to the next stage.

#include "core/adapt/adapt.h"
#include "core/adapt/evidence.h"
#include "core/adapt/follow.h"
#include "core/diagnosis/diagnosis.h"
#include "core/recording/recording.h"
#include "core/tally/derive.h"
#include "daemon/engine/watch.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct stage {
    struct snapshot_layout *layout; // NULL: no stage yet
    struct view *view;
    struct derive *derive;
    struct diagnosis *diagnosis;
    struct watch *watch;
};

// The inputs of a plan.
struct stage_request {
    const struct setup *setup;
    const struct core_type *type;
    uint64_t seed;
    struct follow follow;            // the number of general counters
    bool none_free;                  // others hold all of them
    double slot_factor;              // slot length relative to the configured one
    const struct adapt *adapt;       // NULL: the schedule is fixed
    const struct evidence *evidence; // NULL: nothing is fetched
    size_t fetched_files;            // may be opened for what is fetched
    const bool *dead;                // events that run and never count; NULL: none
    const uint8_t *findings;         // of trials, enum plan_finding by catalog metric; NULL: none
    const char *recording;           // the file recorded to, borrowed by the view; NULL: none
    // Of a replay, else NULL; takes ownership of its plan and topology, even on failure
    const struct recording_plan *replayed;
    const struct recording_facts *facts;
    const struct adapt_report *report; // NULL: the schedule was fixed
};

// Makes the plan of the request alone. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int stage_plan(const struct stage_request *request, struct errors *errors, struct plan **out);

// Makes a plan that continues from `before` (all NULL: none). Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int stage_init(struct stage *stage, const struct stage_request *request, const struct stage *before,
               struct errors *errors);
void stage_deinit(struct stage *stage);

// Shows the new facts of `request` under the same plan. If out of memory, the old ones stay: the log has the news.
void stage_refresh_view(struct stage *stage, const struct stage_request *request);

// Fills in a snapshot that is of no round: it has totals, no gauges, and no verdict.
void stage_fill(struct stage *stage, struct snapshot *snapshot);

// Marks a snapshot of stage_fill as made while the counters are yielded.
void stage_mark_yielded(struct snapshot *snapshot);

// Logs the decisions of the last change, each with its reason.
void stage_log_decisions(const struct source *source, const struct plan *plan, const struct adapt_report *report);

// Logs the metrics that another definition has taken the place of, with the event that is dead.
void stage_log_definitions(const struct source *source, const struct plan *before, const struct plan *after,
                           const bool *dead);

// Logs the metrics that a change of plan loses or brings back.
void stage_log_change(const struct source *source, const struct plan *before, const struct plan *after);

#endif
