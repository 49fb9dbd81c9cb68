// SPDX-License-Identifier: Apache-2.0
#include "exporters/health/health.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/tally/blind.h"

static const struct {
    const char *name, *remedy;
} REASONS[HEALTH_REASON_N] = {
    [HEALTH_FINE] = {"none", ""},
    [HEALTH_STARTING] = {"starting", "ask again when the first round has ended"},
    [HEALTH_STALE] = {"stale", "see the journal and the load of the host, then restart topdownd"},
    [HEALTH_NOT_ALLOWED] = {"not_allowed", "give the service CAP_PERFMON, as the shipped unit does, or lower "
                                           "kernel.perf_event_paranoid"},
    [HEALTH_FAILED] = {"failed", "/api/v1/status and the log name the event and the kernel's error"},
    [HEALTH_STARVED] = {"starved", "end the programs that hold the counters: 'topdownd doctor', as root, names them"},
    [HEALTH_OFFLINE] = {"offline", "bring a CPU that is to be measured online, or name others (cpus)"},
    [HEALTH_SILENT] = {"silent", "the PMU counts nothing: see the hypervisor's settings for virtual PMUs"},
    [HEALTH_FILTERED] = {"filtered", "let the hypervisor pass these events to the guest (KVM's PMU event filter)"},
    [HEALTH_NOT_PLANNABLE] = {"not_plannable", "name metric groups that this host can measure (groups): "
                                               "'topdownd explain' says why it cannot measure the others"},
};

const char *health_reason_name(enum health_reason reason) { return REASONS[reason].name; }
const char *health_remedy(enum health_reason reason) { return REASONS[reason].remedy; }

static const char STARTING[] = "Nothing has been measured yet: the first round has not ended.\n";
static const char STALE[] = "No snapshot has been made for more than three snapshot intervals: the daemon was "
                            "stopped, hangs, or is overloaded.\n";

static const char SILENT[] =
    "all events of the PMU have counted 0, although they had the counters: something may filter "
    "them, such as a hypervisor";

// ---- one part ----

// How much a metric tells of why nothing is counted: a filter most, then what events that must count do, then windows
// without counts; what this host cannot measure at all tells nothing of the rest.
static int tells(const struct view *view, const struct snapshot *snapshot, size_t metric) {
    uint8_t absent = snapshot->absent[snapshot_state(view->layout, 0, metric)];
    return !view_exported(view, metric)                                                      ? 0
           : !view_plannable(view, metric)                                                   ? 1
           : absent == ABSENT_FILTERED                                                       ? 5
           : absent == ABSENT_STALLED                                                        ? 4
           : absent == ABSENT_FAILED || absent == ABSENT_STARVED || absent == ABSENT_OFFLINE ? 3
                                                                                             : 2;
}

// The first metric of those that tell most. The number of metrics: none is shown.
static size_t choose_metric(const struct view *view, const struct snapshot *snapshot) {
    size_t best = view->layout->n_metrics;
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        if (tells(view, snapshot, m) > (best < view->layout->n_metrics ? tells(view, snapshot, best) : 0))
            best = m;
    return best;
}

// The newest trouble of the part's own PMU stands last, and tells more than what follows from it.
static const struct view_pmu_error *newest_error(const struct view *view) {
    for (size_t i = view->n_pmu_errors; i-- > 0;)
        if (view->layout->topology->boxes || !view->pmu_errors[i].uncore)
            return &view->pmu_errors[i];
    return NULL;
}

static enum health_reason reason_of_absent(uint8_t absent) {
    static const enum health_reason reasons[ABSENT_N] = {
        [ABSENT_NOT_PLANNABLE] = HEALTH_NOT_PLANNABLE,
        [ABSENT_STARVED] = HEALTH_STARVED,
        [ABSENT_OFFLINE] = HEALTH_OFFLINE,
        [ABSENT_UNDEFINED] = HEALTH_SILENT,
        [ABSENT_STALLED] = HEALTH_SILENT,
        [ABSENT_FILTERED] = HEALTH_FILTERED,
    };
    return reasons[absent] != HEALTH_FINE ? reasons[absent] : HEALTH_FAILED;
}

// Why a part that is blind counts nothing. *text, for people, is borrowed.
static enum health_reason explain(const struct shown_type *type, const char **text) {
    const struct view *view = type->view;
    size_t m = choose_metric(view, type->snapshot);
    if (m == view->layout->n_metrics) {
        *text = "none of the configured metric groups can be measured here";
        return HEALTH_NOT_PLANNABLE;
    }
    uint8_t absent = view_plannable(view, m) ? type->snapshot->absent[snapshot_state(view->layout, 0, m)]
                                             : (uint8_t)ABSENT_NOT_PLANNABLE;
    const struct view_pmu_error *error = absent == ABSENT_FAILED ? newest_error(view) : NULL;
    *text = error ? error->text : absent == ABSENT_UNDEFINED ? SILENT : view_absent_text(view, type->snapshot, 0, m);
    return !error                                      ? reason_of_absent(absent)
           : strcmp(error->reason, "not_allowed") == 0 ? HEALTH_NOT_ALLOWED
                                                       : HEALTH_FAILED;
}

static void put_part(const struct shown_type *type, char *out, size_t size) {
    char since[64] = "since topdownd started";
    const char *text, *kind = type->view->layout->topology->boxes ? type->view->pmu : type->view->core_type;
    size_t length = strlen(out);
    (void)explain(type, &text);
    if (!type->snapshot->never_counted)
        (void)snprintf(since, sizeof since, "for %d snapshot intervals", BLIND_INTERVALS);
    (void)snprintf(out + length, size - length, "%s%sNothing has been counted %s: %s\n", kind ? kind : "",
                   kind ? ": " : "", since, text);
}

// ---- all parts ----

static bool is_starting(const struct shown *shown) {
    for (size_t i = 0; i < shown_all(shown); i++)
        if (shown->types[i].snapshot->sequence == 0)
            return true;
    return false;
}

static bool is_stale(const struct shown *shown, uint64_t stale) {
    for (size_t i = 0; i < shown_all(shown); i++)
        if (shown->types[i].snapshot->stale)
            return true;
    return stale != 0;
}

// Of the parts from `begin` to `end`.
struct count {
    size_t blind;
    size_t counts; // and need counters, if parts of them are the cores
};
static struct count count_parts(const struct shown *shown, size_t begin, size_t end) {
    struct count count = {0};
    for (size_t i = begin; i < end; i++) {
        const struct plan *plan = shown->types[i].snapshot->layout->plan;
        bool blind = shown->types[i].snapshot->blind;
        count.blind += blind;
        count.counts += !blind && (plan->n_units > 0 && (begin > 0 || plan_n_rotating(plan) > 0));
    }
    return count;
}

static bool measures_cores(const struct shown *shown, const struct count *cores) {
    bool any = cores->blind > 0;
    for (size_t i = 0; i < shown->n; i++)
        any = any || shown->types[i].snapshot->layout->plan->n_units > 0;
    return any;
}

struct health health_judge(const struct shown *shown, uint64_t stale) {
    const char *text;
    if (is_starting(shown))
        return (struct health){false, HEALTH_STARTING};
    if (is_stale(shown, stale))
        return (struct health){false, HEALTH_STALE};
    struct count cores = count_parts(shown, 0, shown->n), boxes = count_parts(shown, shown->n, shown_all(shown));
    struct count decides = measures_cores(shown, &cores) ? cores : boxes;
    struct health health = {decides.blind == 0 || decides.counts > 0, HEALTH_FINE};
    for (size_t i = shown_all(shown); i-- > 0;)
        if (shown->types[i].snapshot->blind)
            health.reason = explain(&shown->types[i], &text);
    return health;
}

void health_text(const struct shown *shown, uint64_t stale, char *out, size_t size) {
    struct health health = health_judge(shown, stale);
    bool of_all = health.reason == HEALTH_STARTING || health.reason == HEALTH_STALE;
    (void)snprintf(out, size, "%s", !of_all ? "" : health.reason == HEALTH_STARTING ? STARTING : STALE);
    for (size_t i = 0; i < shown_all(shown) && !of_all; i++)
        if (shown->types[i].snapshot->blind)
            put_part(&shown->types[i], out, size);
}

double health_series(const struct shown *shown, enum health_reason reason) {
    struct health health = health_judge(shown, 0);
    return health.reason == reason ? !health.ready : (double)NAN;
}
