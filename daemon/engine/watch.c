// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/watch.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alarm.h"
#include "core/plan/plan_turns.h"
#include "daemon/base/log.h"
#include "exporters/text/text.h"

enum { NAMES_MAX = 4 };
static const double LESS = 0.9; // of the time that a group should have: the rest is the moments of reading

struct watch {
    const struct snapshot_layout *layout;
    const char *prefix;
    double (*windows)[WINDOW_RESULT_N]; // totals by event group
    bool (*trouble)[WINDOW_RESULT_N];   // the last round had such windows
    struct {
        double enabled, running;
    } * seconds;          // totals by event group, over all CPUs
    uint8_t *stalled;     // by catalog event: 1 + the state of which was said that it is not believed; 0: none
    struct alarm *alarms; // by catalog metric: its rate needs a cause
    double gap_seconds;
    int error, round_error; // of the last whole round, or newer; of the round so far; 0: none
};

static void continue_states(struct watch *watch, const struct watch *before) {
    const struct catalog *catalog = watch->layout->catalog, *old = before->layout->catalog;
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        int metric = catalog == old ? (int)m : catalog_find_metric(old, catalog->metrics[m].name);
        if (metric >= 0)
            watch->alarms[m] = before->alarms[metric];
    }
    for (size_t e = 0; e < catalog->n_events; e++) {
        int event = catalog == old ? (int)e : catalog_find_event(old, catalog->events[e].name);
        watch->stalled[e] = event >= 0 && before->stalled[event];
    }
}

// 1 + the state for which an event's 0 is not believed; 0: it is.
static uint8_t stalled_state(const struct watch *watch, const struct snapshot *snapshot, size_t event) {
    static const enum event_trouble states[] = {EVENT_STALLED, EVENT_FILTERED};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (snapshot->values[snapshot_trouble(watch->layout, event, states[i])] > 0)
            return (uint8_t)(1 + states[i]);
    return 0;
}

static void note_seconds(struct watch *watch, const struct snapshot *snapshot) {
    for (size_t g = 0; g < watch->layout->plan->n_groups; g++) {
        watch->seconds[g].enabled = snapshot->values[snapshot_enabled(watch->layout, g)];
        watch->seconds[g].running = snapshot->values[snapshot_running(watch->layout, g)];
    }
}

struct watch *watch_new(const struct snapshot_layout *layout, const char *prefix, const struct snapshot *now,
                        const struct watch *before) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->layout = layout;
    watch->prefix = prefix;
    watch->windows = calloc(layout->plan->n_groups + 1, sizeof *watch->windows);
    watch->trouble = calloc(layout->plan->n_groups + 1, sizeof *watch->trouble);
    watch->seconds = calloc(layout->plan->n_groups + 1, sizeof *watch->seconds);
    watch->stalled = calloc(layout->catalog->n_events + 1, sizeof *watch->stalled);
    watch->alarms = calloc(layout->catalog->n_metrics + 1, sizeof *watch->alarms);
    if (!watch->windows || !watch->trouble || !watch->seconds || !watch->stalled || !watch->alarms)
        return watch_free(watch);
    if (before)
        continue_states(watch, before);
    for (size_t g = 0; g < layout->plan->n_groups; g++)
        memcpy(watch->windows[g], now->values + snapshot_windows(layout, g, 0), sizeof watch->windows[g]);
    note_seconds(watch, now);
    watch->gap_seconds = now->values[snapshot_uncovered(layout, 0, UNCOVERED_GAP)];
    return watch;
}

struct watch *watch_free(struct watch *watch) {
    if (watch) {
        free(watch->alarms);
        free(watch->stalled);
        free(watch->seconds);
        free(watch->trouble);
        free(watch->windows);
        free(watch);
    }
    return NULL;
}

// Where topdownd's own event groups take turns on boxes, all windows are contended. Then others are there only if the
// groups together have less time, by the kernel's own times, than the turns give them: which of them has more, chance
// says.
static bool others_share(const struct watch *watch, const struct snapshot *snapshot, size_t group) {
    const struct plan *plan = watch->layout->plan;
    double expected = 0, running = 0;
    for (size_t g = 0; g < plan->n_groups; g++) {
        double enabled = snapshot->values[snapshot_enabled(watch->layout, g)] - watch->seconds[g].enabled;
        expected += plan_turns_share(plan, plan->groups[g].unit) * enabled;
        running += snapshot->values[snapshot_running(watch->layout, g)] - watch->seconds[g].running;
    }
    return plan_turns_share(plan, plan->groups[group].unit) == 1 || running < LESS * expected;
}

static const char *trouble_text(const struct watch *watch, enum window_result result) {
    switch (result) {
    case WINDOW_CONTENDED:
        return watch->layout->topology->boxes ? "shares the counters of its PMUs with other users, or with another "
                                                "kind that topdownd counts there: its counts are scaled"
                                              : "shares the counters with other users: its counts are scaled";
    case WINDOW_STARVED:
        return "gets no counters: other users hold them (perf, a guest's PMU, the NMI watchdog), or the PMU cannot "
               "count its events together";
    case WINDOW_IMPLAUSIBLE:
        return watch->layout->topology->boxes
                   ? "gave counts that cannot be: they fell, or were more than the boxes can move. They are left out. "
                     "A suspend or a driver's bug does that; so do data of the memory's modules that tell less than "
                     "half of its peak ('topdownd memory')"
                   : "gave counts that cannot be, such as counts that fell: they are left out. A live migration, a "
                     "suspend or a driver's bug does that";
    default:
        return "cannot be read or opened";
    }
}

static void watch_group(struct watch *watch, const struct snapshot *snapshot, size_t group) {
    double *before = watch->windows[group];
    for (enum window_result result = WINDOW_CONTENDED; result < WINDOW_RESULT_N; result++) {
        double now = snapshot->values[snapshot_windows(watch->layout, group, result)];
        bool trouble = now > before[result];
        const char *name = watch->layout->plan->groups[group].name;
        if (result == WINDOW_CONTENDED && trouble && watch->layout->topology->boxes)
            trouble = others_share(watch, snapshot, group);
        if (trouble && !watch->trouble[group][result])
            log_warning("%sevent group %s %s (%.0f window%s in this round)", watch->prefix, name,
                        trouble_text(watch, result), now - before[result], now - before[result] == 1 ? "" : "s");
        else if (!trouble && watch->trouble[group][result])
            log_info("%sevent group %s: no longer %s", watch->prefix, name, window_result_name(result));
        watch->trouble[group][result] = trouble;
        before[result] = now;
    }
}

static void log_events(const struct watch *watch, uint8_t was, uint8_t is, const struct text *names) {
    int length = (int)names->length;
    const char *prefix = watch->prefix, *list = names->data ? names->data : "";
    if (is == 1 + EVENT_STALLED)
        log_warning(
            "%sthese events have never counted, though what they are compared with does, so that their metrics are "
            "not believed: %.*s",
            prefix, length, list);
    else if (is == 1 + EVENT_FILTERED)
        log_warning("%ssomething filters events here, such as the hypervisor: some that must count in any busy second "
                    "never do. So a 0 of these is not believed either: %.*s",
                    prefix, length, list);
    else if (was == 1 + EVENT_STALLED)
        log_info("%sthese events have now counted for the first time: %.*s", prefix, length, list);
    else
        log_info("%swhat these events count is believed now, also a 0: %.*s", prefix, length, list);
}

// One line for all events that go from one state to another, with a few of their names.
static void watch_events(struct watch *watch, const struct snapshot *snapshot, uint8_t was, uint8_t is) {
    const struct snapshot_layout *layout = watch->layout;
    struct text names = {0};
    size_t n = 0;
    for (size_t e = 0; e < layout->n_events; e++) {
        uint8_t *said = &watch->stalled[layout->events[e]];
        if (*said != was || stalled_state(watch, snapshot, e) != is)
            continue;
        *said = is;
        if (n++ < NAMES_MAX)
            text_format(&names, "%s%s", n > 1 ? ", " : "", layout->catalog->events[layout->events[e]].name);
    }
    if (n > NAMES_MAX)
        text_format(&names, " and %zu more (/api/v1/status lists them)", n - NAMES_MAX);
    if (n > 0)
        log_events(watch, was, is, &names);
    text_free(&names);
}

static void watch_states(struct watch *watch, const struct snapshot *snapshot) {
    static const uint8_t states[] = {0, 1 + EVENT_STALLED, 1 + EVENT_FILTERED};
    for (size_t was = 0; was < sizeof states / sizeof *states; was++)
        for (size_t is = 0; is < sizeof states / sizeof *states; is++)
            if (was != is)
                watch_events(watch, snapshot, states[was], states[is]);
}

static void watch_metric(struct watch *watch, const struct snapshot *snapshot, size_t m) {
    const struct catalog_metric *metric = &watch->layout->catalog->metrics[watch->layout->plan->metrics[m].metric];
    struct alarm *alarm = &watch->alarms[watch->layout->plan->metrics[m].metric];
    double rate = snapshot->values[snapshot_rate_above(watch->layout, 0, m)];
    double seconds = (double)(snapshot->end_ns - snapshot->start_ns) * 1e-9;
    if (metric->rate_threshold <= 0 || watch->layout->plan->metrics[m].auxiliary ||
        !alarm_update(alarm, rate, metric->rate_threshold, seconds))
        return;
    if (alarm->on)
        log_warning("%s%s: %.0f a second on this host, more than %.0f needs a cause. %s", watch->prefix, metric->title,
                    rate, metric->rate_threshold, metric->rate_advice);
    else
        log_info("%s%s: well below %.0f a second again", watch->prefix, metric->title, metric->rate_threshold);
}

// An error that comes back in each round is reported once.
static void watch_error(struct watch *watch, const struct snapshot *snapshot, int error) {
    if (error != 0) {
        if (error != watch->error)
            log_warning("%sreading counters: %s", watch->prefix, strerror(-error));
        watch->error = watch->round_error = error;
    }
    if (snapshot->within_round)
        return;
    watch->error = watch->round_error;
    watch->round_error = 0;
}

void watch_round(struct watch *watch, const struct snapshot *snapshot, int round_error) {
    for (size_t g = 0; !snapshot->within_round && g < watch->layout->plan->n_groups; g++)
        watch_group(watch, snapshot, g); // of the cores' rounds that end between, each has its own troubles
    if (!snapshot->within_round)
        note_seconds(watch, snapshot);
    if (!snapshot->within_round) {
        watch_states(watch, snapshot);
    }
    for (size_t m = 0; m < watch->layout->n_metrics; m++)
        watch_metric(watch, snapshot, m);
    double gap = snapshot->values[snapshot_uncovered(watch->layout, 0, UNCOVERED_GAP)];
    if (gap > watch->gap_seconds)
        log_warning(
            "%smeasured nothing for a while: %.1f CPU seconds are uncovered (the daemon was stopped, or the host "
            "suspended or overloaded)",
            watch->prefix, gap - watch->gap_seconds);
    watch->gap_seconds = gap;
    watch_error(watch, snapshot, round_error);
}
