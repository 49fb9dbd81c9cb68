// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/uncore/uncore.h"

static void errors_free(struct view_pmu_error *errors, size_t n) {
    for (size_t i = 0; errors && i < n; i++) {
        free((char *)(uintptr_t)errors[i].text);
        free((char *)(uintptr_t)errors[i].reason);
        free((char *)(uintptr_t)errors[i].pmu);
    }
    free(errors);
}

static struct view_pmu_error *errors_copy(const struct view_pmu_error *errors, size_t n) {
    struct view_pmu_error *copy = calloc(n + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = (struct view_pmu_error){.pmu = strdup(errors[i].pmu),
                                          .reason = strdup(errors[i].reason),
                                          .text = strdup(errors[i].text),
                                          .of_host = errors[i].of_host,
                                          .uncore = errors[i].uncore};
        if (!copy[i].pmu || !copy[i].reason || !copy[i].text) {
            errors_free(copy, n);
            return NULL;
        }
    }
    return copy;
}

enum { TEXTS_N = 11 };

// The strings that a view has copies of.
static void find_texts(struct view *view, const char **texts[TEXTS_N]) {
    const char **const all[TEXTS_N] = {&view->hostname,       &view->core_type,       &view->pmu,
                                       &view->cpu_vendor,     &view->cpu_model,       &view->cpu_microarchitecture,
                                       &view->profile,        &view->files.recording, &view->files.textfile,
                                       &view->files.recorder, &view->files.elsewhere};
    memcpy(texts, all, sizeof(all));
}

// Replaces the view's strings by copies in one block of memory. False if out of memory.
static bool texts_copy(struct view *view) {
    const char **texts[TEXTS_N];
    size_t size = 1;
    find_texts(view, texts);
    for (size_t i = 0; i < TEXTS_N; i++)
        size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    char *at = view->texts = malloc(size);
    for (size_t i = 0; at && i < TEXTS_N; i++) {
        if (!*texts[i])
            continue;
        size_t length = strlen(*texts[i]) + 1;
        *texts[i] = memcpy(at, *texts[i], length);
        at += length;
    }
    return view->texts;
}

struct view *view_new(const struct view *facts) {
    struct view *view = malloc(sizeof(*view));
    struct view_pmu_error *errors = errors_copy(facts->pmu_errors, facts->n_pmu_errors);
    struct adapt_report *adapt = facts->adapt ? adapt_report_copy(facts->adapt) : NULL;
    if (view)
        memcpy(view, facts, sizeof(*view));
    if (!view || !errors || (facts->adapt && !adapt) || !texts_copy(view)) {
        adapt_report_free(adapt);
        errors_free(errors, facts->n_pmu_errors);
        free(view);
        return NULL;
    }
    atomic_init(&view->references, 1);
    snapshot_layout_ref(view->layout);
    if (view->platform)
        platform_ref(view->platform);
    view->pmu_errors = errors;
    view->adapt = adapt;
    return view;
}

struct view *view_ref(struct view *view) {
    atomic_fetch_add_explicit(&view->references, 1, memory_order_relaxed);
    return view;
}

struct view *view_unref(struct view *view) {
    if (view && atomic_fetch_sub_explicit(&view->references, 1, memory_order_acq_rel) == 1) {
        errors_free((struct view_pmu_error *)(uintptr_t)view->pmu_errors, view->n_pmu_errors);
        adapt_report_free((struct adapt_report *)(uintptr_t)view->adapt);
        platform_unref(view->platform);
        snapshot_layout_unref(view->layout);
        free(view->texts);
        free(view);
    }
    return NULL;
}

bool view_stale(const struct view *view, uint64_t age_ms) {
    return !view->replayed && age_ms > VIEW_STALE_INTERVALS * view->interval_ns / 1000000 + VIEW_STALE_MS;
}

bool view_composite(const struct view *view) {
    int unit = view->layout->plan->level1_unit;
    return unit >= 0 && view->layout->plan->units[unit].n_groups > 1;
}

bool view_plannable(const struct view *view, size_t metric) {
    return plan_metric_planned(&view->layout->plan->metrics[metric]);
}

const char VIEW_NOT_SELECTED[] = "not selected: no metric group of the profile in force has it";

bool view_exported(const struct view *view, size_t metric) { return !view->layout->plan->metrics[metric].auxiliary; }

bool view_has_series(const struct view *view, size_t metric) {
    return view_exported(view, metric) && !view->layout->plan->metrics[metric].fetched;
}

static bool counts(const struct formula *formula, unsigned event) {
    for (size_t i = 0; i < formula->n_variables; i++)
        if (formula->variables[i] == event)
            return true;
    return false;
}

bool view_event_has_series(const struct view *view, size_t event) {
    const struct plan *plan = view->layout->plan;
    bool fetched = false, selected = false;
    for (size_t m = 0; m < view->layout->n_metrics && !selected; m++)
        if (counts(view_metric(view, m)->formula, view->layout->events[event])) {
            fetched = fetched || plan->metrics[m].fetched;
            selected = !plan->metrics[m].fetched;
        }
    for (size_t i = 0; fetched && plan->level1_unit >= 0 && i < plan->units[plan->level1_unit].n_events; i++)
        selected = selected || plan->units[plan->level1_unit].events[i] == view->layout->events[event];
    return selected || !fetched; // level 1 needs events that no metric has
}

const char *view_domain_text(enum metric_domain domain) {
    static const char *const texts[] = {[METRIC_OTHER] = "other",
                                        [METRIC_PIPELINE_SLOTS] = "pipeline slots",
                                        [METRIC_CLOCKS] = "clock cycles",
                                        [METRIC_STALLS] = "stall cycles"};
    return texts[domain];
}

const char *view_whole(const struct catalog_metric *metric) {
    const char *of = metric->domain == METRIC_STALLS ? strstr(metric->units, " of ") : NULL;
    return of                                     ? of + strlen(" of ")
           : catalog_metric_of_operations(metric) ? "operations"
                                                  : view_domain_text(metric->domain);
}

const char *view_title(const struct catalog_metric *metric) { return metric->title[0] ? metric->title : metric->name; }

const struct catalog_metric *view_metric(const struct view *view, size_t metric) {
    return &view->layout->catalog->metrics[view->layout->plan->metrics[metric].metric];
}

enum event_trouble view_trouble(const struct view *view, const struct snapshot *snapshot, size_t event) {
    int trouble = 0;
    while (trouble < EVENT_TROUBLE_N &&
           !(snapshot->values[snapshot_trouble(view->layout, event, (enum event_trouble)trouble)] > 0))
        trouble++;
    return (enum event_trouble)trouble;
}

const char *view_trouble_text(const struct view *view, size_t event, enum event_trouble trouble) {
    static const char *const texts[EVENT_TROUBLE_N] = {
        [EVENT_STALLED] =
            "runs and has never counted, though what it is compared with does: its metrics are not believed",
        [EVENT_FILTERED] =
            "has never counted, and a filter is likely (hypervisor, emulator): what must count has not either",
        [EVENT_DEAD] = "is known not to count on this CPU, or not rightly",
        [EVENT_UNSUPPORTED] = "this CPU's PMU does not have it",
        [EVENT_STARVED] = "never got the counters in the last round: others hold them",
    };
    const char *known = view->layout->catalog->events[view->layout->events[event]].known_dead;
    return trouble == EVENT_DEAD && known ? known : texts[trouble];
}

double view_offline(const struct view *view, const struct snapshot *snapshot) {
    double offline = 0;
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++)
        offline += snapshot->values[snapshot_offline(view->layout, s)];
    return offline;
}

const char *view_absent_text(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric) {
    if (!view_plannable(view, metric))
        return view->layout->plan->metrics[metric].reason;
    return absent_text(snapshot->absent[snapshot_state(view->layout, scope, metric)]);
}

// ---- what was counted all the time ----

// Of what rotates, which rests in idle pieces, and is rounded by perf.
static const double ALL_THE_TIME = 0.9999;
// Of what never rotates: the rest is what reading one CPU after another takes.
static const double ALL_BUT_READING = 0.99;

static bool counts_all_the_time(const struct snapshot *snapshot, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    const struct plan *plan = layout->plan;
    const struct plan_metric *planned = &plan->metrics[metric];
    const struct formula *formula = layout->catalog->metrics[planned->metric].formula;
    double share = snapshot->values[snapshot_share_of_time(layout, scope, metric)];
    bool stands = planned->unit >= 0 && plan_unit_stands(plan, (unsigned)planned->unit),
         all = planned->unit < 0 || share >= (stands ? ALL_BUT_READING : ALL_THE_TIME);
    for (size_t i = 0; i < formula->n_metrics && all; i++)
        all = counts_all_the_time(snapshot, scope, (size_t)plan->place[formula->metrics[i]]);
    return all;
}

bool view_exact(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = view->layout;
    bool software = !layout->topology->boxes && plan_n_rotating(layout->plan) == 0; // takes no counter from anybody
    return snapshot->values[snapshot_low(layout, scope, metric)] ==
               snapshot->values[snapshot_high(layout, scope, metric)] &&
           (software || counts_all_the_time(snapshot, scope, metric));
}

const char *view_interval_reason(const struct view *view, const struct snapshot *snapshot, size_t scope,
                                 size_t metric) {
    const struct snapshot_layout *layout = view->layout;
    if (!isfinite(snapshot->values[snapshot_metric(layout, scope, metric)]) ||
        isfinite(snapshot->values[snapshot_high(layout, scope, metric)]))
        return NULL;
    if (view->replayed && !view->files.recorder) // a log of perf
        return "perf took turns with its events, and how far off that is shows only where intervals of the log (perf "
               "stat -I) differ";
    if (layout->topology->boxes && uncore_needs_cores(layout->catalog, view_metric(view, metric)->formula))
        return "it takes counts of the cores, whose error is not known here";
    switch (snapshot_doubt(snapshot, snapshot_state(layout, scope, metric))) {
    case ESTIMATE_FEW_ROUNDS:
        return "it shows from the second round of a plan on";
    case ESTIMATE_SLEPT:
        return "the core slept most of the time, and fewer than three windows carry the counts";
    case ESTIMATE_FEW_WINDOWS:
        return "fewer than two windows carry the counts";
    default:
        return "it shows from the second round of a plan on, where two windows or more carry the counts";
    }
}

const char *view_quality_reason(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric) {
    size_t state = snapshot_state(view->layout, scope, metric);
    return snapshot_quality(snapshot, state) == ESTIMATE_POOR ? estimate_doubt_text(snapshot_doubt(snapshot, state))
                                                              : NULL;
}

bool view_time(double seconds, char out[VIEW_TIME_MAX]) {
    static const double seconds_max = 253402300799; // the end of the year 9999
    if (!(seconds >= 0 && seconds <= seconds_max))  // also false for NaN
        return false;
    time_t time = (time_t)seconds;
    struct tm utc;
    return gmtime_r(&time, &utc) && strftime(out, VIEW_TIME_MAX, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0;
}

bool view_recorded_elsewhere(const struct view *view, char out[VIEW_ELSEWHERE_MAX]) {
    if (view->files.elsewhere)
        (void)snprintf(out, VIEW_ELSEWHERE_MAX, "the recording of this host's core type %.60s holds what there was",
                       view->files.elsewhere);
    return view->files.elsewhere;
}

// What keeps a file from being written wherever it lies.
static const char *write_text(int error) {
    switch (error) {
    case -ENOSPC:
        return "No space left on device: make room on its disk";
    case -EDQUOT:
        return "Disk quota exceeded: raise the quota, or make room";
    case -ENOTDIR:
        return "a part of its path is no folder: name another path";
    default:
        return error_reason(error);
    }
}

const char *view_recording_text(int error) {
    switch (error) {
    case -ENOBUFS:
        return "the disk is too slow: record to a faster one, or fewer metric groups";
    case -EBUSY:
        return "another topdownd writes it: end that one, or name another file";
    case -ETXTBSY:
        return "another topdownd writes a file of this name with a number at its end, as older parts are called: give "
               "one of the two recordings another name";
    case -EFBIG:
        return "File too large: raise the service's limit (LimitFSIZE), or record less than that (record.size)";
    case -ENOENT:
        return "its folder does not exist: make it";
    case -EACCES:
    case -EPERM:
    case -EROFS:
        return "the daemon may not write there: let the user topdownd write to the folder, and open it in the unit "
               "with a drop-in, ReadWritePaths=DIR";
    default:
        return write_text(error);
    }
}

const char *view_textfile_text(int error) {
    switch (error) {
    case -ENOENT:
        return "the folder does not exist: make it, or name the folder that node_exporter reads "
               "(--collector.textfile.directory)";
    case -EACCES:
    case -EPERM:
    case -EROFS:
        return "the daemon may not write there: let the user topdownd write to the folder (setfacl -m u:topdownd:rwx "
               "DIR), and open it in the unit with a drop-in, ReadWritePaths=DIR";
    case -ENOTDIR:
        return "this is no folder: name the folder that node_exporter reads";
    default:
        return write_text(error);
    }
}

// ---- what is wrong with the daemon ----

static void recording_trouble(const char *file, uint64_t lost, struct view_trouble *out) {
    (void)snprintf(out->text, sizeof out->text,
                   lost > 0 ? "%.400s cannot be written, and %" PRIu64 " rounds are lost so far"
                            : "%.400s cannot be written",
                   file, lost);
}

size_t view_troubles(const struct view *view, const struct snapshot *snapshot, size_t type,
                     struct view_trouble out[VIEW_TROUBLES_MAX]) {
    const struct status_recording *recording = &snapshot->engine.recording;
    const struct status_textfile *textfile = &snapshot->status.textfile;
    size_t n = 0;
    if (type == 0 && status_series(&snapshot->status, STATUS_CONFIG_SUCCESSFUL) == 0)
        out[n++] = (struct view_trouble){
            .name = "configuration",
            .text = "the last one that topdownd read is wrong, so the one before it is still in force",
            .remedy = "'topdownd check-config' names each mistake (give it the --web.config.file of the service, if it "
                      "has one): correct the file, then 'topdownd reload'"};
    if (view->files.recording && recording->error < 0) {
        out[n] = (struct view_trouble){.name = "recording", .remedy = view_recording_text(recording->error)};
        recording_trouble(view->files.recording, recording->rounds_lost, &out[n++]);
    }
    if (type == 0 && view->files.textfile && textfile->error < 0) {
        out[n] = (struct view_trouble){.name = "textfile", .remedy = view_textfile_text(textfile->error)};
        (void)snprintf(out[n++].text, sizeof out->text, "the file for Prometheus in %.400s cannot be written",
                       view->files.textfile);
    }
    return n;
}
