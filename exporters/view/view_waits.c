// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_waits.h"

#include <math.h>
#include <stdio.h>

#include "exporters/view/view_memory.h"

#define GIGABYTE 1e9

const char *view_waits_lack_name(enum waits_lack lack) {
    static const char *const names[] = {NULL, "bandwidth", "latency"};
    return names[lack];
}

// What follows from both, of each node and bus. Between the limits nothing follows, nor beyond the peak.
static const char *const WORDS[WAITS_N][WAITS_BUS_N] = {
    [WAITS_BACK_END] = {[WAITS_BUS_NEAR] = "bandwidth, as far as the cores wait for data",
                        [WAITS_BUS_FAR] = "not bandwidth, but latency or execution"},
    [WAITS_MEMORY] = {[WAITS_BUS_NEAR] = "bandwidth", [WAITS_BUS_FAR] = "latency, of caches or memory"},
    [WAITS_DRAM] = {[WAITS_BUS_NEAR] = "bandwidth", [WAITS_BUS_FAR] = "latency"},
    [WAITS_DRAM_BANDWIDTH] = {[WAITS_BUS_NEAR] = "bandwidth",
                              [WAITS_BUS_FAR] = "not its bandwidth is short, but the misses that a core can have open"},
    [WAITS_DRAM_LATENCY] = {[WAITS_BUS_NEAR] = "bandwidth, whose queues make the latency", [WAITS_BUS_FAR] = "latency"},
};

// ---- of which scope ----

static enum catalog_waits waits_of(const struct snapshot *snapshot, const struct verdict *verdict) {
    if (!verdict_high(verdict))
        return WAITS_NONE;
    enum catalog_waits waits = snapshot->layout->catalog->metrics[verdict_metric(verdict)].waits;
    return waits == WAITS_NOTHING ? WAITS_NONE : waits;
}

// The sockets whose memory the scope has: from *first, and how many.
static size_t sockets_of(const struct topology *topology, size_t scope, size_t *first) {
    *first = scope == 0                     ? 0
             : scope <= topology->n_sockets ? scope - snapshot_scope_socket(0)
                                            : topology->cpus[scope - scope_of_cpu(topology, 0)].socket;
    return scope == 0 ? topology->n_sockets : 1;
}

static bool judge_socket(const struct shown *shown, const struct topology *topology, enum catalog_waits waits,
                         size_t socket, struct view_waits *out) {
    struct view_memory memory;
    if (!view_memory_of(shown, topology->sockets[socket].id, &memory) || !isfinite(memory.all))
        return false;
    *out = (struct view_waits){.bytes = memory.all,
                               .peak = memory.peak,
                               .share_of_peak = memory.all / memory.peak,
                               .beyond = waits_bus(memory.all, memory.peak) == WAITS_BUS_BEYOND,
                               .peak_from = memory.peak_from,
                               .withheld = !isfinite(memory.peak) && memory.left_out > 0};
    out->lack = waits_judge(waits, out->bytes, out->peak);
    return true;
}

static enum waits_bus bus_of(const struct view_waits *of) { return waits_bus(of->bytes, of->peak); }

static bool follow_alike(const struct view_waits *a, const struct view_waits *b) {
    return bus_of(a) == bus_of(b) && (!a->beyond || a->peak_from == b->peak_from);
}

// A scope is all its sockets; *alike tells whether the same follows for each.
static bool judge(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                  size_t scope, struct view_waits *out, bool *alike) {
    enum catalog_waits waits = waits_of(snapshot, verdict);
    size_t first, n = sockets_of(snapshot->layout->topology, scope, &first);
    struct view_waits all = {.bytes = 0};
    *alike = true;
    if (!shown)
        return false;
    for (size_t s = first; s < first + n; s++) {
        struct view_waits each;
        if (!judge_socket(shown, snapshot->layout->topology, waits, s, &each))
            return false;
        *alike = *alike && (s == first || follow_alike(&each, &all));
        all.bytes += each.bytes;
        all.peak += each.peak;
        all.share_of_peak = all.bytes / all.peak;
        all.beyond = all.beyond || each.beyond;
        all.withheld = all.withheld || each.withheld;
        all.peak_from = s == first ? each.peak_from : all.peak_from;
        all.lack = s == first || all.lack == each.lack ? each.lack : WAITS_LACK_OPEN;
    }
    *out = all;
    return n > 0;
}

bool view_waits_judge(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                      size_t scope, struct view_waits *out) {
    bool alike;
    return judge(shown, snapshot, verdict, scope, out, &alike);
}

struct verdict view_waits_settle(const struct shown *shown, const struct snapshot *snapshot,
                                 const struct verdict *verdict, size_t scope) {
    struct verdict settled = *verdict;
    struct view_waits waits;
    if (verdict->cause.kind == CAUSE_EXECUTION && view_waits_judge(shown, snapshot, verdict, scope, &waits) &&
        waits.lack == WAITS_LACK_BANDWIDTH)
        settled.cause = (struct verdict_cause){.kind = CAUSE_NONE, .metric = -1, .share = NAN};
    return settled;
}

// ---- for people ----

void view_waits_put_beyond(double peak, const char *peak_from, struct text *out) {
    text_string(out, "more than its stated peak of ");
    view_memory_put_rate(peak, out);
    text_format(out, ", so that peak (%s) must be wrong", peak_from ? peak_from : "see uncore.peak");
}

static void put_sentence(const struct view_waits *of, enum catalog_waits waits, const char *whose, struct text *out) {
    const char *words = WORDS[waits][bus_of(of)];
    text_format(out, " The memory%s moves %.1f GB/s", whose, of->bytes / GIGABYTE);
    if (!isfinite(of->share_of_peak))
        text_string(out, of->withheld ? "; no peak is compared with it, as uncore.boxes leaves boxes out."
                                      : "; its peak is not known.");
    else if (of->beyond) {
        text_string(out, ", ");
        view_waits_put_beyond(of->peak, of->peak_from, out);
        text_string(out, ".");
    } else if (words)
        text_format(out, ", %.0f %% of its peak and %s it: %s.", 100 * of->share_of_peak,
                    bus_of(of) == WAITS_BUS_NEAR ? "near" : "far from", words);
    else
        text_format(out, ", %.0f %% of its peak.", 100 * of->share_of_peak);
}

void view_waits_text(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                     size_t scope, struct text *out) {
    const struct topology *topology = snapshot->layout->topology;
    enum catalog_waits waits = waits_of(snapshot, verdict);
    struct view_waits all;
    bool alike;
    if (waits == WAITS_NONE || !judge(shown, snapshot, verdict, scope, &all, &alike))
        return;
    if (alike) {
        put_sentence(&all, waits, "", out);
        return;
    }
    for (size_t s = 0; s < topology->n_sockets; s++) {
        struct view_waits each;
        char whose[sizeof " of socket " + 10];
        (void)snprintf(whose, sizeof whose, " of socket %u", topology->sockets[s].id);
        if (judge_socket(shown, snapshot->layout->topology, waits, s, &each))
            put_sentence(&each, waits, whose, out);
    }
}

void view_waits_words(const struct shown *shown, const struct snapshot *snapshot, const struct verdict *verdict,
                      size_t scope, struct text *out) {
    enum catalog_waits waits = waits_of(snapshot, verdict);
    struct view_waits all;
    bool alike;
    if (waits == WAITS_NONE || !judge(shown, snapshot, verdict, scope, &all, &alike) || !isfinite(all.share_of_peak))
        return;
    const char *words = WORDS[waits][bus_of(&all)];
    if (all.beyond) {
        text_string(out, ", its memory beyond its stated peak, which must be wrong");
        return;
    }
    text_format(out, ", its memory at %.0f %% of its peak", 100 * all.share_of_peak);
    if (words && alike)
        text_format(out, ": %s", words);
}
