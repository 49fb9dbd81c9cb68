// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/around.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/diagnosis/where.h"

struct around {
    size_t n_cpus;
    struct where *where; // owned
    double *cycles;      // total of clock cycles, by CPU, when cores last ended a round
    double *ran;         // share of the busiest CPU's clock cycles since the round before, by CPU; NaN: not known
    double *busy_total;  // that the kernel saw, in the snapshot before, by CPU; CPU seconds
    double *busy_share;  // of the time since then, by CPU; NaN: not known
    double busy_of_host; // likewise, of the CPUs that are online
    double busy_sum;     // total of the host, then
    uint64_t end_ns;     // of the last snapshot that told it; 0: there was none
    bool alone;          // no snapshot was before, and totals are of its own time
    double *awake;       // share of the time, or of those cycles, by CPU; NaN: neither is known
    // places of these metrics in the plan; -1: not measured
    int busy, hertz;
    int ipc;         // whose denominator is clock cycles
    bool idle, slow; // as in the snapshot before
};

// ---- metrics ----

static double value_of(const struct snapshot *snapshot, size_t scope, int place) {
    return place >= 0 ? snapshot->values[snapshot_metric(snapshot->layout, scope, (size_t)place)] : NAN;
}

static double of_cpu(const struct snapshot *snapshot, size_t cpu, int place) {
    return value_of(snapshot, snapshot_scope_cpu(snapshot->layout, cpu), place);
}

// ---- how busy, how fast ----

// Where no metric tells for how long CPUs sleep, their clock cycles tell which of them do next to nothing.
static void note_cycles(struct around *around, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    double most = 0;
    if (around->ipc < 0)
        return;
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        size_t scope = snapshot_scope_cpu(layout, c);
        double total = snapshot->values[snapshot_denominator(layout, scope, (size_t)around->ipc)];
        around->ran[c] = total - around->cycles[c];
        around->cycles[c] = isnan(total) ? around->cycles[c] : total;
        most = fmax(most, around->ran[c]);
    }
    for (size_t c = 0; c < layout->topology->n_cpus; c++)
        around->ran[c] = most > 0 ? around->ran[c] / most : (double)NAN;
}

static size_t n_online(const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    size_t n = layout->topology->n_cpus;
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        double offline = snapshot->values[snapshot_offline(layout, s)];
        n -= offline > 0 ? (size_t)offline : 0;
    }
    return n;
}

// What the kernel saw since the last snapshot that told it, or in the time of one that is alone. Its clock has steps of
// 10 ms, so a share may seem to be a little more than all. Totals that stand still tell nothing new, but for a while.
static void note_busy(struct around *around, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    double of_host = snapshot->values[snapshot_busy(layout, 0)];
    if (!around->alone && of_host == around->busy_sum && snapshot->end_ns - around->end_ns < AROUND_TOLD_NS)
        return;
    around->busy_sum = of_host;
    uint64_t begin_ns = around->alone ? snapshot->start_ns : around->end_ns;
    double seconds = begin_ns > 0 && snapshot->end_ns > begin_ns ? (double)(snapshot->end_ns - begin_ns) * 1e-9 : NAN;
    double sum = 0;
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        double total = snapshot->values[snapshot_busy(layout, snapshot_scope_cpu(layout, c))];
        double share = (total - around->busy_total[c]) / seconds;
        around->busy_share[c] = share > 1 ? 1 : share;
        sum += around->busy_share[c];
        around->busy_total[c] = total;
    }
    around->busy_of_host = sum / (double)n_online(snapshot);
    around->end_ns = snapshot->end_ns;
}

// A CPU's share of the time awake, as the PMU counts it, else the kernel.
static double busy_of(const struct around *around, const struct snapshot *snapshot, size_t cpu) {
    double counted = of_cpu(snapshot, cpu, around->busy);
    return isnan(counted) ? around->busy_share[cpu] : counted;
}

static void find_awake(struct around *around, const struct snapshot *snapshot) {
    for (size_t c = 0; c < around->n_cpus; c++) {
        double busy = busy_of(around, snapshot, c);
        around->awake[c] = isnan(busy) ? around->ran[c] : busy;
    }
}

static double limit_hertz(const struct snapshot_layout *layout) {
    double maximum = layout->topology->maximum_frequency_hz;
    double steady = layout->catalog->environment.literals[LITERAL_SYSTEM_TSC_FREQ];
    if (!(maximum > 0))
        return NAN;
    return fmax(AROUND_MAXIMUM * maximum, steady < maximum ? AROUND_NOMINAL * steady : 0);
}

// By how much limits are wider for what holds already.
static double held(bool before) { return before ? AROUND_HELD : 1; }

static void find_times(struct around *around, const struct snapshot *snapshot, struct circumstances *out) {
    const struct snapshot_layout *layout = snapshot->layout;
    int contention = layout->catalog->level1.contention;
    double counted = value_of(snapshot, 0, around->busy);
    out->kernels = isnan(counted) && isfinite(around->busy_of_host);
    out->utilisation = out->kernels ? around->busy_of_host : counted;
    out->busiest = NAN;
    for (size_t c = 0; c < layout->topology->n_cpus; c++)
        out->busiest = fmax(out->busiest, busy_of(around, snapshot, c));
    out->hertz = value_of(snapshot, 0, around->hertz);
    out->limit_hertz = limit_hertz(layout);
    out->siblings = contention >= 0 ? value_of(snapshot, 0, layout->plan->place[contention]) : (double)NAN;
    out->idle =
        out->utilisation < AROUND_IDLE * held(around->idle) && !(out->busiest > AROUND_BUSY * held(around->idle));
    out->slow =
        out->utilisation * held(around->slow) > AROUND_BUSY && out->hertz < out->limit_hertz * held(around->slow);
    around->idle = out->idle;
    around->slow = out->slow;
    out->crowded = out->siblings > AROUND_CROWDED;
}

// ---- all of it ----

static void lay_out(void *self, struct block *block) {
    struct around *around = self;
    around->cycles = block_take(block, around->n_cpus, sizeof *around->cycles);
    around->busy_total = block_take(block, around->n_cpus, sizeof *around->busy_total);
    around->busy_share = block_take(block, around->n_cpus, sizeof *around->busy_share);
    around->ran = block_take(block, around->n_cpus, sizeof *around->ran);
    around->awake = block_take(block, around->n_cpus, sizeof *around->awake);
}

struct around *around_new(const struct snapshot_layout *layout, bool alone) {
    struct around around = {.n_cpus = layout->topology->n_cpus,
                            .alone = alone,
                            .busy_of_host = NAN,
                            .busy = snapshot_layout_place(layout, CATALOG_UTILIZATION),
                            .hertz = snapshot_layout_place(layout, CATALOG_FREQUENCY),
                            .ipc = snapshot_layout_place(layout, CATALOG_IPC)};
    struct around *made = block_new(&around, sizeof around, lay_out);
    if (!made)
        return NULL;
    made->where = where_new(layout, alone);
    if (!made->where)
        return around_free(made);
    for (size_t c = 0; c < around.n_cpus; c++)
        made->ran[c] = made->busy_share[c] = NAN;
    return made;
}

struct around *around_free(struct around *around) {
    if (around) {
        where_free(around->where);
        free(around);
    }
    return NULL;
}

void around_continue(struct around *around, const struct around *old) {
    around->idle = old->idle;
    around->slow = old->slow;
    if (around->n_cpus == old->n_cpus) {
        memcpy(around->busy_total, old->busy_total, around->n_cpus * sizeof *around->busy_total);
        memcpy(around->busy_share, old->busy_share, around->n_cpus * sizeof *around->busy_share);
        around->busy_of_host = old->busy_of_host;
        around->busy_sum = old->busy_sum;
        around->end_ns = old->end_ns;
    }
    where_continue(around->where, old->where);
}

void around_fill(struct around *around, struct tree *tree, struct snapshot *snapshot, bool round) {
    struct circumstances *out = &snapshot->circumstances;
    *out = circumstances_unknown();
    if (round)
        note_cycles(around, snapshot);
    note_busy(around, snapshot);
    find_times(around, snapshot, out);
    if (snapshot->layout->topology->boxes || tree->n == 0)
        return;
    find_awake(around, snapshot);
    if (round)
        where_take(around->where, tree, snapshot, around->awake);
    where_tell(around->where, tree, snapshot, around->awake, out);
}
