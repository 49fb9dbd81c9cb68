// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/channels.h"
#include "collectors/pmu/pace.h"
#include "collectors/pmu/sampler_core.h"
#include "collectors/pmu/standing.h"

// All cores see the same edges between ticks, so that one step changes them all. An edge with an idle piece is two: the
// old groups stop at its beginning and are read, the new ones start at its end. If the caller is late by more than a
// quarter of a slot, all future edges move back by as much, so that no slot is lost; a smaller delay shortens the next
// slot.
//
// The sampler opens groups at the pace of collectors/pmu/pace.h. The first round begins when all groups are open; later
// the sampler reopens groups beside the rotation.

struct sampler {
    const struct plan *plan;
    const struct topology *topology;
    struct busy_clock *busy_clock;  // NULL: not known
    struct busy_clock *guest_clock; // NULL: nobody asks
    struct busy_clock *told_clock;  // NULL: nobody asks
    struct schedule schedule;
    struct channels *channels;
    struct sampler_core *cores;
    unsigned *core_cpus, *orders; // memory of the cores' arrays
    uint64_t *busy_ns;            // [cpu]: at the last edge; then at this one; then at the last change
    bool busy_known;              // at the last edge
    uint64_t *told_ns;            // [cpu]: at the last look for readings; then at this one
    bool told_known;              // at the last look
    uint64_t told_at_ns, begun_ns, told_pause_ns;
    struct readings *readings;
    uint64_t tick;              // counted from the beginning of round 0
    uint64_t edge_ns, piece_ns; // the next edge; the idle piece that ends there, 0: a tick ends
    bool whole_rounds;          // no window goes on from one round into the next
    bool started, readings_over;
    int error; // of the last readings
};

// ---- making ----

static int make_cores(struct sampler *s) {
    const struct topology *topology = s->topology;
    unsigned *cpus = s->core_cpus;
    for (size_t c = 0; c < topology->n_cores; c++)
        s->cores[c] = (struct sampler_core){.order = s->orders + c * s->plan->n_round, .group = SAMPLER_IDLE};
    for (unsigned i = 0; i < topology->n_cpus; i++)
        s->cores[topology->cpus[i].core].n_cpus++;
    for (size_t c = 0; c < topology->n_cores; c++) {
        s->cores[c].cpus = cpus;
        cpus += s->cores[c].n_cpus;
        s->cores[c].windows = readings_new_core(s->plan, s->cores[c].n_cpus);
        s->cores[c].n_cpus = 0;
        if (!s->cores[c].windows)
            return -ENOMEM;
    }
    for (unsigned i = 0; i < topology->n_cpus; i++) {
        struct sampler_core *core = &s->cores[topology->cpus[i].core];
        core->cpus[core->n_cpus++] = i;
    }
    return 0;
}

int sampler_new(const struct sampler_request *request, struct sampler **out) {
    const struct plan *plan = request->plan;
    const struct topology *topology = request->topology;
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct sampler){.plan = plan, .topology = topology, .whole_rounds = request->interval_ns == 0};
    s->schedule = schedule_of(plan, topology->n_cores, request->interval_ns, request->seed);
    if (schedule_may_hold(&s->schedule) && topology->n_cores >= SAMPLER_BUSY_CLOCK_CORES)
        s->busy_clock = request->busy_clock;
    s->guest_clock = request->guests ? request->busy_clock : NULL;
    s->told_clock = request->told_clock;
    s->told_pause_ns = request->told_pause_ns;
    s->tick = request->first_round * s->schedule.n_ticks;
    s->cores = calloc(topology->n_cores, sizeof *s->cores);
    s->core_cpus = calloc(topology->n_cpus, sizeof *s->core_cpus);
    s->orders = calloc(topology->n_cores * plan->n_round, sizeof *s->orders);
    s->busy_ns = calloc(3 * topology->n_cpus, sizeof *s->busy_ns);
    s->told_ns = calloc(2 * topology->n_cpus, sizeof *s->told_ns);
    s->channels = channels_new(plan, topology, request->pmu);
    s->readings = readings_new(plan, topology);
    if (!s->cores || !s->core_cpus || !s->orders || !s->busy_ns || !s->told_ns || !s->channels || !s->readings ||
        make_cores(s) < 0) {
        sampler_free(s);
        return -ENOMEM;
    }
    readings_begin(s->readings, request->first_round, 0);
    *out = s;
    return 0;
}

static uint64_t round_of(const struct sampler *s) { return s->tick / s->schedule.n_ticks; }

uint64_t sampler_next_round(const struct sampler *s) { return round_of(s) + s->started; }

struct sampler *sampler_free(struct sampler *s) {
    if (!s)
        return NULL;
    readings_free(s->readings);
    free(s->told_ns);
    free(s->busy_ns);
    free(s->orders);
    free(s->core_cpus);
    for (size_t c = 0; s->cores && c < s->topology->n_cores; c++)
        readings_free(s->cores[c].windows);
    free(s->cores);
    channels_free(s->channels);
    free(s);
    return NULL;
}

// ---- a core at an edge ----

// Siblings take each step together: a shared register that one still holds would keep another's new group off the
// counters until a tick of the kernel.
static void stop_core(struct sampler *s, const struct sampler_core *core) {
    for (size_t i = 0; core->group != SAMPLER_IDLE && i < core->n_cpus; i++)
        channels_stop(s->channels, core->cpus[i], (unsigned)core->group);
}

static void start_core(struct sampler *s, struct sampler_core *core, int group) {
    core->group = group;
    for (size_t i = 0; group != SAMPLER_IDLE && i < core->n_cpus; i++)
        channels_start(s->channels, core->cpus[i], (unsigned)group);
}

static void read_core(struct sampler *s, struct sampler_core *core, int group) {
    if (group == SAMPLER_IDLE)
        return;
    core->offline = false;
    for (size_t i = 0; i < core->n_cpus; i++) {
        const struct window *window = channels_read(s->channels, core->cpus[i], (unsigned)group, core->windows);
        readings_note_window(s->readings, window);
        core->offline = core->offline || window->error == -ENODEV;
    }
}

// Disable, enable, read: in this order the new group finds the counters free, and the read interrupts no CPU.
static void change_core(struct sampler *s, struct sampler_core *core, int to) {
    int from = core->group;
    stop_core(s, core);
    start_core(s, core, to);
    read_core(s, core, from);
}

// Goes on to the core's next slot, at once or after an idle piece.
static void advance_core(struct sampler *s, size_t c, bool piece, bool round_ends) {
    struct sampler_core *core = &s->cores[c];
    sampler_core_next(core, &s->schedule, c);
    int to = piece ? SAMPLER_IDLE : sampler_core_group(core, s->plan);
    core->in_piece = piece;
    if (to != core->group)
        change_core(s, core, to);
    else if (round_ends)
        read_core(s, core, to);
}

static void read_standing(struct sampler *s, const struct sampler_core *core, uint64_t now_ns) {
    for (size_t i = 0; i < core->n_cpus; i++)
        standing_read(s->channels, s->plan, core->cpus[i], now_ns, s->readings);
}

static void end_core_round(struct sampler *s, size_t c, uint64_t now_ns) {
    struct sampler_core *core = &s->cores[c];
    struct core_round round = sampler_core_end_round(core, c, now_ns);
    readings_add_core(s->readings, &round);
    readings_append(s->readings, core->windows);
    read_standing(s, core, now_ns);
    readings_begin(core->windows, 0, now_ns);
}

// Reads what counts all the time on the cores whose rounds go on.
static void read_between_rounds(struct sampler *s, uint64_t now_ns) {
    const struct readings *readings = s->readings;
    for (size_t c = 0, ended = 0; c < s->topology->n_cores; c++) {
        if (ended < readings->n_cores && readings->cores[ended].core == c)
            ended++;
        else
            read_standing(s, &s->cores[c], now_ns);
    }
}

// A core that is held is left alone: its window goes on into the next round, unless rounds are to be whole.
static void pass_core(struct sampler *s, size_t c, bool busy_known, bool piece, uint64_t now_ns) {
    struct sampler_core *core = &s->cores[c];
    bool ends = schedule_cohort_tick(&s->schedule, schedule_cohort(&s->schedule, c)) == s->tick % s->schedule.n_ticks;
    bool begins = ends && !core->begun;
    if (!core->begun && !begins)
        return;
    bool held = sampler_core_end_tick(core, &s->schedule, c, busy_known && !begins, s->tick, now_ns);
    if (ends)
        sampler_core_begin_round(core, &s->schedule, c, round_of(s));
    if (!held)
        advance_core(s, c, piece, ends);
    else if (ends && s->whole_rounds)
        read_core(s, core, core->group);
    for (size_t i = 0; !held && i < core->n_cpus; i++)
        s->busy_ns[2 * s->topology->n_cpus + core->cpus[i]] = s->busy_ns[core->cpus[i]];
    if (begins)
        core->start_ns = now_ns;
    else if (ends)
        end_core_round(s, c, now_ns);
    core->begun = true;
}

// ---- one sampler after another ----

void sampler_stop(struct sampler *s) {
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        struct sampler_core *core = &s->cores[c];
        stop_core(s, core);
        for (size_t i = 0; core->group != SAMPLER_IDLE && i < core->n_cpus; i++)
            channels_rebase(s->channels, core->cpus[i], (unsigned)core->group);
        core->group = SAMPLER_IDLE;
    }
}

void sampler_inherit(struct sampler *s, struct sampler *from) { channels_inherit(s->channels, from->channels); }

struct sampler *sampler_release(struct sampler *s, struct closer *closer) {
    if (s)
        channels_release(s->channels, closer);
    return sampler_free(s);
}

// ---- edges ----

// The time that the core was busy between two readings of the clock; siblings are busy together at best. A core of
// which a CPU is offline is busy all the time: it must not be held, but find out.
static uint64_t busy_between(const struct sampler_core *core, const uint64_t *before, const uint64_t *now) {
    uint64_t busy_ns = 0;
    for (size_t i = 0; i < core->n_cpus; i++) {
        unsigned cpu = core->cpus[i];
        uint64_t of_cpu_ns = now[cpu] == BUSY_CLOCK_OFFLINE ? UINT64_MAX : now[cpu] - before[cpu];
        busy_ns = of_cpu_ns > busy_ns ? of_cpu_ns : busy_ns;
    }
    return busy_ns;
}

// Reads how long each core was busy since its last change, and since the last tick began. False if this is not known.
static bool read_busy_clock(struct sampler *s, uint64_t now_ns) {
    size_t n = s->topology->n_cpus;
    uint64_t *before = s->busy_ns, *now = s->busy_ns + n, *changed = s->busy_ns + 2 * n;
    bool known = s->busy_clock && s->busy_clock->read(s->busy_clock, s->topology, now_ns, now), since = s->busy_known;
    s->busy_known = known;
    if (!known)
        return false;
    for (size_t c = 0; since && c < s->topology->n_cores; c++)
        sampler_core_note_busy(&s->cores[c], busy_between(&s->cores[c], changed, now),
                               busy_between(&s->cores[c], before, now), now_ns);
    memcpy(before, now, n * sizeof *now);
    if (!since)
        memcpy(changed, now, n * sizeof *now);
    return since;
}

static void read_guests(struct sampler *s) {
    uint64_t *guest_ns = s->guest_clock ? readings_guests(s->readings, s->topology->n_cpus) : NULL;
    s->readings->guests_known = guest_ns && s->guest_clock->take_guests(s->guest_clock, s->topology, guest_ns);
}

// The clock has been read at this edge where cores are held for it.
static bool read_told_clock(struct sampler *s, uint64_t now_ns, uint64_t *now) {
    size_t n = s->topology->n_cpus;
    if (s->told_clock != s->busy_clock || !s->busy_known)
        return s->told_clock->read(s->told_clock, s->topology, now_ns, now);
    memcpy(now, s->busy_ns, n * sizeof *now);
    return true;
}

static uint64_t whole_steps(uint64_t ns) { return ns - ns % READINGS_BUSY_STEP_NS; }

// A look that nothing else needs is seldom, but at first, when nobody knows yet how busy the host is.
static bool told_is_due(const struct sampler *s, uint64_t now_ns) {
    uint64_t since_ns = now_ns - s->told_at_ns, half_ns = (now_ns - s->begun_ns) / 2;
    return s->told_clock == s->busy_clock || since_ns >= (half_ns < s->told_pause_ns ? half_ns : s->told_pause_ns);
}

// Tells for how long each CPU was busy since this was last told. What is left of a step is told the next time.
static void read_busy(struct sampler *s, uint64_t now_ns) {
    size_t n = s->topology->n_cpus;
    if (!s->told_clock || !told_is_due(s, now_ns))
        return;
    s->told_at_ns = now_ns;
    uint64_t *before = s->told_ns, *now = s->told_ns + n;
    uint64_t *busy_ns = readings_busy(s->readings, n);
    bool known = busy_ns && read_told_clock(s, now_ns, now), since = s->told_known;
    s->told_known = known;
    s->readings->busy_known = known && since;
    for (size_t cpu = 0; cpu < n && known; cpu++) {
        bool online = now[cpu] != BUSY_CLOCK_OFFLINE && before[cpu] != BUSY_CLOCK_OFFLINE;
        busy_ns[cpu] = online && since ? whole_steps(now[cpu]) - whole_steps(before[cpu]) : 0;
    }
    memcpy(before, now, known ? n * sizeof *now : 0);
}

static void end_readings(struct sampler *s, uint64_t now_ns) {
    channels_retry(s->channels);
    read_guests(s);
    read_busy(s, now_ns);
    s->readings->end_ns = now_ns;
    s->readings->round_over = s->tick % s->schedule.n_ticks == 0;
    s->error = channels_take_error(s->channels);
    s->readings_over = true;
}

// Every core goes on to its next slot, at once or after the idle piece that begins now.
static void pass_cores(struct sampler *s, bool busy_known, uint64_t now_ns) {
    s->piece_ns = schedule_piece_ns(&s->schedule, s->tick);
    for (size_t c = 0; c < s->topology->n_cores; c++)
        pass_core(s, c, busy_known, s->piece_ns > 0, now_ns);
}

static void end_tick(struct sampler *s, uint64_t now_ns) {
    bool busy_known = read_busy_clock(s, now_ns);
    s->tick++;
    pass_cores(s, busy_known, now_ns);
    if (!schedule_interval_begins(&s->schedule, s->tick))
        return;
    if (schedule_reads_all(&s->schedule))
        read_between_rounds(s, now_ns);
    end_readings(s, now_ns);
}

// Reads how long the cores that are in the idle piece were busy in it.
static void note_piece(struct sampler *s, uint64_t now_ns) {
    uint64_t *before = s->busy_ns, *now = s->busy_ns + s->topology->n_cpus;
    if (!s->busy_known || !s->busy_clock->read(s->busy_clock, s->topology, now_ns, now))
        return;
    for (size_t c = 0; c < s->topology->n_cores; c++)
        if (s->cores[c].in_piece)
            sampler_core_note_piece(&s->cores[c], busy_between(&s->cores[c], before, now), s->piece_ns);
}

static void end_piece(struct sampler *s, uint64_t now_ns) {
    note_piece(s, now_ns);
    s->piece_ns = 0;
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        struct sampler_core *core = &s->cores[c];
        if (!core->in_piece)
            continue;
        core->in_piece = false;
        start_core(s, core, sampler_core_group(core, s->plan));
    }
}

static void start(struct sampler *s, uint64_t now_ns) {
    s->started = true;
    readings_begin(s->readings, s->readings->round, now_ns);
    s->readings->by_core = true;
    s->begun_ns = s->told_at_ns = now_ns;
    s->told_known = s->told_clock && s->told_clock->read(s->told_clock, s->topology, now_ns, s->told_ns);
    standing_start(s->channels, s->plan, s->topology);
    pass_cores(s, false, now_ns);
    s->edge_ns = now_ns + (s->piece_ns > 0 ? s->piece_ns : s->schedule.tick_ns);
}

// Does what is due at the next edge, which is over.
static void pass_edge(struct sampler *s, uint64_t now_ns) {
    if (now_ns - s->edge_ns > s->plan->slot_ns / 4)
        s->edge_ns = now_ns;
    if (s->piece_ns > 0)
        end_piece(s, now_ns);
    else
        end_tick(s, now_ns);
    s->edge_ns += s->piece_ns > 0 ? s->piece_ns : s->schedule.tick_ns;
}

// ---- steps ----

static uint64_t next_deadline_ns(const struct sampler *s, uint64_t now_ns) {
    uint64_t edge_ns = s->started ? s->edge_ns : UINT64_MAX;
    uint64_t opening_ns = channels_opening(s->channels) ? now_ns + PACE_NS : UINT64_MAX;
    return edge_ns < opening_ns ? edge_ns : opening_ns;
}

int sampler_step(struct sampler *s, uint64_t now_ns, uint64_t *deadline_ns) {
    channels_begin_step(s->channels, now_ns);
    if (s->readings_over) {
        readings_begin(s->readings, round_of(s), s->readings->end_ns);
        s->readings->by_core = true;
    }
    s->readings_over = false;
    while (s->started && s->edge_ns <= now_ns && !(s->readings_over && s->piece_ns == 0))
        pass_edge(s, now_ns);
    channels_open(s->channels);
    if (!s->started && !channels_opening(s->channels))
        start(s, now_ns);
    *deadline_ns = next_deadline_ns(s, now_ns);
    return s->readings_over;
}

bool sampler_is_opening(const struct sampler *s) { return !s->started; }

int sampler_now(const struct sampler *s, size_t core, uint64_t *until_ns) {
    *until_ns = s->edge_ns;
    return s->cores[core].group;
}

const struct readings *sampler_readings(const struct sampler *s) { return s->readings; }

int sampler_round_error(const struct sampler *s) { return s->error; }

int sampler_open_error(const struct sampler *s, size_t *n_failed) {
    *n_failed = 0;
    if (!s->started)
        return 0;
    return channels_open_error(s->channels, n_failed);
}

uint64_t sampler_calls(const struct sampler *s) { return channels_calls(s->channels); }

uint64_t sampler_interrupts(const struct sampler *s) { return channels_interrupts(s->channels); }
