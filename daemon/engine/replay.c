// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording/recording_memory.h"
#include "core/tally/blind.h"
#include "daemon/base/log.h"
#include "daemon/engine/stage.h"
#include "daemon/engine/stepper.h"
#include "daemon/source/source_recording.h"

// Records are read one at a time; a round or a pause waits until it is due. A step ends with each snapshot, at full
// speed too: the history has all of them, and requests and signals are handled meanwhile.

static const uint64_t IDLE_NS = UINT64_C(3600000000000); // between steps at the end, which do nothing

// What waits until it is due.
struct waiting {
    struct readings *readings; // NULL: none
    double readings_seconds;
    bool pausing;
    struct recording_pause pause;
    bool leaving; // boxes are not measured from here on
};

struct replay;

struct leading {
    struct replay *led[SETUP_TYPES_MAX];
    size_t n;
    uint64_t allowed_ns;  // until when they may play
    uint64_t deadline_ns; // when the leader goes on
};

struct peeked {
    struct recording_record record; // if `looked`
    int is;                         // tape_next's result for it
    bool looked;
};

struct replay {
    struct engine engine; // first
    const struct setup *setup;
    struct core_type *type;
    struct self *self;
    struct tape *tape;
    struct peeked next;
    struct stage stage;
    struct recording_facts facts; // of the current plan, or of the next one
    struct adapt_report *report;  // NULL: the schedule was fixed
    struct host_memory *memory;   // NULL: not known
    uint64_t begun_ns, first_ns;  // when the first round began, now and then
    bool begun, over;
    struct stepper stepper;
    unsigned long long rounds;
    struct blind blind;
    double timestamp_seconds; // of the newest round
    double counted_seconds;   // of the newest one with counts; at first of the first

    uint64_t played_ns; // the end of the newest round
    struct waiting waiting;
    bool gone;             // the next plan is that of boxes that begin anew
    struct replay *leader; // of boxes; NULL: it leads
    struct leading leading;
};

static struct replay *of(struct engine *engine) { return (struct replay *)engine; }

// ---- snapshots ----

static void fill_self(struct replay *replay, struct snapshot *snapshot) {
    self_fill(replay->self, &replay->type->source->roots, snapshot);
    snapshot->engine.pmu = (struct status_pmu){.used = true, .up = replay->blind.pmu_up, .kernel_bytes = NAN};
    snapshot->taken_seconds = replay->timestamp_seconds;
    snapshot->engine.counted_seconds = replay->counted_seconds;
}

static struct snapshot *present_snapshot(struct engine *engine) {
    struct replay *replay = of(engine);
    struct snapshot *snapshot = snapshot_new(replay->stage.layout);
    if (!snapshot)
        return NULL;
    stage_fill(&replay->stage, snapshot);
    fill_self(replay, snapshot);
    snapshot->memory = host_memory_ref(replay->memory);
    return snapshot;
}

static void note_counts(struct replay *replay) {
    blind_interval(&replay->blind, replay->stage.layout->plan, replay->waiting.readings, NULL);
    if (replay->blind.pmu_up || replay->stage.layout->plan->n_units == 0 || isnan(replay->counted_seconds))
        replay->counted_seconds = replay->timestamp_seconds;
}

static void play_round(struct replay *replay, struct snapshot **out) {
    struct snapshot *snapshot = snapshot_new(replay->stage.layout);
    derive_round(replay->stage.derive, replay->waiting.readings, snapshot);
    replay->timestamp_seconds = replay->waiting.readings_seconds;
    note_counts(replay);
    replay->played_ns = replay->waiting.readings->end_ns;
    replay->waiting.readings = readings_free(replay->waiting.readings);
    replay->rounds++;
    if (snapshot) {
        fill_self(replay, snapshot);
        diagnosis_round(replay->stage.diagnosis, snapshot);
    }
    snapshot_unref(*out);
    *out = snapshot;
}

// Snapshots from the time without counters have no gauges.
static void play_pause(struct replay *replay, struct snapshot **out) {
    derive_pause(replay->stage.derive, replay->waiting.pause.until_ns, replay->waiting.pause.reason);
    replay->waiting.pausing = false;
    if (isnan(replay->waiting.pause.timestamp_seconds))
        return;
    blind_excuse(&replay->blind);
    replay->timestamp_seconds = replay->counted_seconds = replay->waiting.pause.timestamp_seconds;
    snapshot_unref(*out);
    *out = present_snapshot(&replay->engine);
    if (*out && replay->waiting.pause.reason == UNCOVERED_YIELDED)
        stage_mark_yielded(*out);
}

// From here on these boxes were not measured: totals stay, and gauges are gone. Where they are measured again, totals
// begin anew, as they did then.
static void play_gone(struct replay *replay, struct snapshot **out) {
    replay->waiting.leaving = false;
    replay->gone = true;
    snapshot_unref(*out);
    *out = present_snapshot(&replay->engine);
}

// ---- records ----

static int explain(const struct replay *replay, int r, const char *missing) {
    struct errors errors = {0};
    r = tape_explain_plan(replay->tape, r, missing, &errors);
    log_errors(&errors);
    return r;
}

static struct stage_request request_of(const struct replay *replay, const struct recording_plan *plan) {
    return (struct stage_request){.setup = replay->setup,
                                  .type = replay->type,
                                  .seed = replay->tape->header.seed,
                                  .replayed = plan,
                                  .facts = &replay->facts,
                                  .report = replay->report};
}

static int play_facts(struct replay *replay, const struct recording_record *record) {
    struct adapt_report *report;
    char missing[RECORDING_TEXT_MAX + 1];
    int r = recording_get_facts(record, replay->tape->catalog, missing, &replay->facts, &report);
    if (r < 0)
        return explain(replay, r, missing);
    adapt_report_free(replay->report);
    replay->report = report;
    struct stage_request request = request_of(replay, NULL);
    if (replay->stage.layout)
        stage_refresh_view(&replay->stage, &request);
    return 1;
}

static int play_memory(struct replay *replay, const struct recording_record *record) {
    struct host_memory *memory;
    int r = recording_get_memory(record, &memory);
    if (r < 0)
        return r;
    host_memory_unref(replay->memory);
    replay->memory = memory;
    return 1;
}

static int play_plan(struct replay *replay, const struct recording_record *record) {
    struct errors errors = {0};
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    int r = recording_get_plan(record, replay->tape->catalog, missing, &plan);
    if (r < 0)
        return explain(replay, r, missing);
    plan.plan->added_up = replay->tape->added_up;
    bool fits = plan.topology->boxes == (replay->leader != NULL);
    if (!fits || (plan.again && replay->stage.layout)) {
        topology_free(plan.topology);
        plan_free(plan.plan);
        return fits ? 0 : -EBADMSG;
    }
    struct stage stage, none = {.layout = NULL};
    struct stage_request request = request_of(replay, &plan);
    r = stage_init(&stage, &request, replay->stage.layout && !replay->gone ? &replay->stage : &none, &errors);
    if (r < 0)
        return r;
    replay->gone = false;
    stage_deinit(&replay->stage);
    replay->stage = stage;
    return 1;
}

// Converts a recorded time to the time at which it is due; the first one is due at once.
static uint64_t due_ns(struct replay *replay, uint64_t recorded_ns, uint64_t now_ns) {
    if (!replay->begun) {
        replay->begun = true;
        replay->begun_ns = now_ns;
        replay->first_ns = replay->waiting.readings ? replay->waiting.readings->start_ns : recorded_ns;
    }
    double speed = replay->setup->speed;
    if (speed == 0 || recorded_ns <= replay->first_ns || stepper_is_asked(&replay->stepper))
        return now_ns;
    return replay->begun_ns + (uint64_t)((double)(recorded_ns - replay->first_ns) / speed);
}

// ---- leading ----

static bool waits(const struct replay *replay) {
    return replay->waiting.readings || replay->waiting.pausing || replay->waiting.leaving;
}

// When the round or the pause that waits was over.
static uint64_t recorded_ns(const struct replay *replay) {
    return replay->waiting.readings  ? replay->waiting.readings->end_ns
           : replay->waiting.pausing ? replay->waiting.pause.until_ns
                                     : replay->played_ns;
}

// Lets the led ones play up to the moment that the leader shows next. True if they have.
static bool lead(struct replay *replay, uint64_t until_ns) {
    bool are_there = true;
    replay->leading.allowed_ns = until_ns;
    for (size_t i = 0; i < replay->leading.n; i++) {
        const struct replay *led = replay->leading.led[i];
        are_there = are_there && (led->over || (waits(led) && recorded_ns(led) > until_ns));
    }
    return are_there;
}

// ---- the tape ----

static void finish(struct replay *replay, const char *how) {
    replay->over = true;
    replay->leading.allowed_ns = UINT64_MAX;
    if (!replay->setup->quiet && !replay->leader)
        log_info("%s: all %llu rounds have been replayed%s; the last one stays to be looked at", replay->tape->path,
                 replay->rounds, how);
}

// Peeks at the next record; returns the same as tape_next.
static int look(struct replay *replay) {
    if (!replay->next.looked)
        replay->next.is = tape_next(replay->tape, &replay->next.record);
    replay->next.looked = true;
    return replay->next.is;
}

// Takes the next record. Returns 1 if something has happened or waits, 0 at the end of the tape, or a negative errno.
static int take_record(struct replay *replay) {
    const struct tape *tape = replay->tape;
    int r = look(replay);
    const struct recording_record record = replay->next.record;
    replay->next.looked = false;
    if (r < 0 && r != -EBADMSG && r != -ENODATA)
        return r;
    if (r <= 0) {
        if (r == -EBADMSG && !replay->leader)
            log_warning("%s: the record at byte %llu is damaged: what follows is not replayed", tape->path,
                        (unsigned long long)tape_at(tape));
        finish(replay, r == -ENODATA ? ", up to the last full record" : "");
        return 0;
    }
    r = 0;
    if (record.kind == RECORDING_PLAN)
        r = play_plan(replay, &record);
    else if (record.kind == RECORDING_FACTS)
        r = play_facts(replay, &record);
    else if (record.kind == RECORDING_MEMORY)
        r = play_memory(replay, &record);
    else if ((record.kind == RECORDING_ROUND || record.kind == RECORDING_CORES) && replay->stage.layout)
        r = recording_get_round(&record, replay->stage.layout->plan, replay->stage.layout->topology, tape_is_log(tape),
                                &replay->waiting.readings_seconds, &replay->waiting.readings);
    else if (record.kind == RECORDING_PAUSE && replay->stage.layout)
        replay->waiting.pausing = (r = recording_get_pause(&record, &replay->waiting.pause)) == 0;
    else if (record.kind == RECORDING_GONE && replay->stage.layout)
        replay->waiting.leaving = true;
    if (r == -EBADMSG)
        log_warning("%s: the record at byte %llu makes no sense: it is left out", tape->path,
                    (unsigned long long)tape_at(tape));
    else if (r < 0)
        return r;
    return 1;
}

// A reading of the kernel's counts of memory was made after what it follows, and shown together with that. Returns 0 or
// a negative errno.
static int take_memory(struct replay *replay, struct snapshot *snapshot) {
    while (look(replay) == 1 && replay->next.record.kind == RECORDING_MEMORY) {
        int r = take_record(replay);
        if (r < 0)
            return r;
    }
    if (snapshot) {
        host_memory_unref(snapshot->memory);
        snapshot->memory = host_memory_ref(replay->memory);
    }
    return 0;
}

// When what waits is due. A step that waits for a request looks for it again later.
static uint64_t leader_due_ns(struct replay *replay, uint64_t now_ns) {
    return stepper_is_asked(&replay->stepper) && !stepper_may(&replay->stepper)
               ? now_ns + STEPPER_LOOK_NS
               : due_ns(replay, recorded_ns(replay), now_ns);
}

static uint64_t led_due_ns(const struct replay *replay, uint64_t now_ns) {
    const struct replay *leader = replay->leader;
    return leader->leading.deadline_ns > now_ns && recorded_ns(replay) > leader->leading.allowed_ns
               ? leader->leading.deadline_ns
               : now_ns;
}

// False until the others have come as far; they are stepped at once.
static bool may_go_on(struct replay *replay) {
    return replay->leader ? recorded_ns(replay) <= replay->leader->leading.allowed_ns
                          : lead(replay, recorded_ns(replay));
}

static void play(struct replay *replay, struct snapshot **out) {
    if (replay->waiting.readings)
        play_round(replay, out);
    else if (replay->waiting.pausing)
        play_pause(replay, out);
    else
        play_gone(replay, out);
}

static int step_until(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out) {
    struct replay *replay = of(engine);
    const struct clocks *clocks = replay->self->clocks;
    *out = NULL;
    stepper_answer(&replay->stepper);
    while (!replay->over) {
        if (waits(replay)) {
            *deadline_ns = replay->leader ? led_due_ns(replay, now_ns) : leader_due_ns(replay, now_ns);
            if (*deadline_ns > now_ns || !may_go_on(replay))
                return 0;
            play(replay, out);
            int r = take_memory(replay, *out);
            if (r < 0)
                return r;
        }
        struct snapshot_layout *layout = replay->stage.layout;
        *deadline_ns = now_ns = clocks->monotonic_ns(clocks->context);
        replay->stepper.made = *out && stepper_is_asked(&replay->stepper);
        if (*out)
            return 0;
        int r = take_record(replay);
        if (r < 0)
            return r;
        if (!layout && replay->stage.layout)
            return take_memory(replay, NULL); // the first plan must be served
    }
    *deadline_ns = now_ns + IDLE_NS;
    if (stepper_is_asked(&replay->stepper)) {
        stepper_end(&replay->stepper);
        *deadline_ns = now_ns + STEPPER_LOOK_NS;
    }
    return 0;
}

static int step(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out) {
    int r = step_until(engine, now_ns, deadline_ns, out);
    of(engine)->leading.deadline_ns = *deadline_ns;
    return r;
}

bool replay_is_over(const struct engine *engine) { return ((const struct replay *)engine)->over; }

// A replay holds no counters.
static int yield_counters(struct engine *engine, uint64_t now_ns, double seconds) {
    (void)engine;
    (void)now_ns;
    (void)seconds;
    return -EOPNOTSUPP;
}

static struct view *present_view(const struct engine *engine) { return ((const struct replay *)engine)->stage.view; }

// ---- making ----

static struct engine *free_replay(struct engine *engine) {
    struct replay *replay = of(engine);
    readings_free(replay->waiting.readings);
    stage_deinit(&replay->stage);
    adapt_report_free(replay->report);
    host_memory_unref(replay->memory);
    free(replay);
    return NULL;
}

int replay_new(const struct setup *setup, struct core_type *type, struct self *self, struct engine *leader,
               struct engine **out) {
    static const struct engine_ops ops = {
        .step = step, .view = present_view, .snapshot = present_snapshot, .yield = yield_counters, .free = free_replay};
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return -ENOMEM;
    *replay = (struct replay){.engine.ops = &ops,
                              .setup = setup,
                              .type = type,
                              .self = self,
                              .tape = source_recording_tape(type->source),
                              .stepper.fd = leader ? 0 : setup->steps_fd,
                              .timestamp_seconds = NAN,
                              .counted_seconds = NAN,
                              .leader = leader ? of(leader) : NULL};
    if (leader) {
        struct leading *leading = &of(leader)->leading;
        leading->led[leading->n++] = replay;
    }
    *out = &replay->engine;
    return 0;
}
