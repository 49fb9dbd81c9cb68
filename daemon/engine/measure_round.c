// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_round.h"

#include <errno.h>
#include <math.h>

#include "daemon/base/log.h"
#include "daemon/engine/measure_kept.h"

// Reports once that the kernel refuses event groups, and once that it no longer does.
static void note_open_error(struct measure *m) {
    size_t n_failed;
    int error = sampler_open_error(collector_sampler(m->collector), &n_failed);
    if (error == -ENODEV) // the kernel moves a box's events when its CPU goes: what is not there is the box
        error = m->type->topology->boxes ? -ENXIO : 0;
    if (source_note_open_error(m->type->source, error, n_failed,
                               source_files(m->type->source, m->stage.layout->plan, m->type->topology->n_cpus)))
        measure_refresh_view(m);
}

// A plan without event groups does not use the PMU, so the PMU's state is unknown.
static void fill_self(struct measure *m, struct snapshot *snapshot) {
    self_fill(m->self, &m->type->source->roots, snapshot);
    snapshot->engine.pmu = (struct status_pmu){
        .used = m->stage.layout->plan->n_units > 0,
        .up = m->blind.pmu_up,
        .kernel_bytes = (double)collector_pmu(m->collector)->n_events * PMU_EVENT_KERNEL_BYTES,
    };
}

static void note_counts(struct measure *m, const struct readings *readings, const struct snapshot *snapshot) {
    blind_interval(&m->blind, m->stage.layout->plan, readings, snapshot);
    if (m->type->topology->boxes)
        return; // whether the host is measured is a matter of its cores
    if (m->blind.pmu_up || !core_type_wants_counts(m->type))
        self_note_counted(m->self);
}

static void show_round(struct measure *m, const struct readings *readings, struct snapshot *snapshot) {
    snapshot->blind = blind_is(&m->blind, core_type_wants_counts(m->type));
    snapshot->never_counted = !m->blind.ever;
    fill_self(m, snapshot);
    record_round(m->record, readings, snapshot->taken_seconds);
    record_fill(m->record, snapshot);
    measure_go_on_with_kept(m, snapshot);
    diagnosis_round(m->stage.diagnosis, snapshot);
    verdict_log_round(&m->told, &(struct shown_type){m->stage.view, snapshot}, measure_prefix(m));
    if (readings->round_over && m->adapt && adapt_round(m->adapt, m->stage.diagnosis, snapshot))
        m->due.adapt = true;
    if (readings->round_over && m->evidence && evidence_round(m->evidence, snapshot))
        m->due.evidence = true;
    watch_round(m->stage.watch, snapshot, sampler_round_error(collector_sampler(m->collector)));
}

struct snapshot *measure_end_round(struct measure *m, uint64_t now_ns) {
    const struct readings *readings = sampler_readings(collector_sampler(m->collector));
    struct snapshot *snapshot = snapshot_new(m->stage.layout);
    if (m->readers && m->type->topology->n_cpus > MEASURE_INTERVALS_CPUS)
        derive_want_cpus(m->stage.derive, readers_of_cpus(m->readers, now_ns));
    derive_round(m->stage.derive, readings, snapshot);
    note_counts(m, readings, snapshot);
    follow_round(&m->follow, readings);
    if (m->dead && dead_round(m->dead, m->stage.layout->plan, readings))
        m->due.dead = true;
    if (!m->follow.starving)
        measure_note_none_free(m, false);
    note_open_error(m);
    if (snapshot) {
        show_round(m, readings, snapshot);
    } else {
        record_round(m->record, readings, self_realtime_seconds(m->self));
        log_error("no memory for a snapshot: this round is in the totals, but not shown");
    }
    return snapshot;
}

struct snapshot *measure_present(struct measure *m) {
    struct snapshot *snapshot = snapshot_new(m->stage.layout);
    if (!snapshot)
        return NULL;
    stage_fill(&m->stage, snapshot);
    if (m->state == MEASURE_YIELDED) {
        stage_mark_yielded(snapshot);
        self_note_counted(m->self);
    }
    fill_self(m, snapshot);
    record_fill(m->record, snapshot);
    return snapshot;
}
