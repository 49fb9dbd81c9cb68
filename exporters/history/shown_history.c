// SPDX-License-Identifier: Apache-2.0
#include "exporters/history/shown_history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/json/json_history.h"
#include "exporters/text/gzip.h"

// Series of a kind of PMU outside the cores; kinds that are no longer measured, whose past is kept.
enum { BOX_SERIES_MAX = 32, GONE_MAX = 8 };

void shown_history_init(struct shown_history *history) {
    *history = (struct shown_history){0};
    pthread_mutex_init(&history->lock, NULL);
}

void shown_history_deinit(struct shown_history *history) {
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++) {
        history_free(history->places[i].history);
        view_marks_deinit(&history->places[i].marks);
        free(history->places[i].kind);
    }
    kept_histories_deinit(&history->kept);
    history_memory_free(history->memory);
    pthread_mutex_destroy(&history->lock);
}

// ---- places ----

static struct shown_history_place *find_kind(struct shown_history *history, const char *kind) {
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        if (history->places[i].kind && strcmp(history->places[i].kind, kind) == 0)
            return &history->places[i];
    return NULL;
}

// A place after those of core types: a free one, or that of a kind that is gone where enough of these wait.
static struct shown_history_place *find_place(struct shown_history *history, size_t n_cores) {
    struct shown_history_place *free_one = NULL, *gone = NULL;
    size_t n_gone = 0;
    for (size_t i = n_cores; i < SHOWN_TYPES_MAX; i++) {
        struct shown_history_place *place = &history->places[i];
        free_one = free_one || place->kind ? free_one : place;
        gone = !gone && place->gone ? place : gone;
        n_gone += place->gone;
    }
    return n_gone >= GONE_MAX || !free_one ? gone : free_one;
}

// NULL: out of memory.
static struct shown_history_place *add_kind(struct shown_history *history, size_t n_cores, const char *kind) {
    struct shown_history_place *place = find_place(history, n_cores);
    char *copy = place ? strdup(kind) : NULL;
    if (!copy)
        return NULL;
    free(place->kind);
    place->history = history_free(place->history);
    place->kind = copy;
    place->gone = false;
    return place;
}

void shown_history_renew(struct shown_history *history, size_t n_cores, struct view *const *views, size_t n) {
    pthread_mutex_lock(&history->lock);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        history->places[i].gone = history->places[i].kind != NULL;
    for (size_t i = n_cores; i < n; i++) {
        struct shown_history_place *place = find_kind(history, views[i]->pmu);
        if (place)
            place->gone = false;
    }
    pthread_mutex_unlock(&history->lock);
}

// ---- beyond the end of the process ----

void shown_history_restore(struct shown_history *history, struct kept_histories *kept) {
    pthread_mutex_lock(&history->lock);
    kept_histories_deinit(&history->kept);
    history->kept = *kept;
    pthread_mutex_unlock(&history->lock);
    kept->n = 0;
}

static const char *kept_name(const struct view *view) {
    if (view->layout->topology->boxes)
        return view->pmu;
    return view->core_type ? view->core_type : "";
}

// The one that is kept of this kind and name, for the caller; NULL: none.
static struct kept_history *steal_kept(struct kept_histories *kept, enum kept_kind kind, const char *of) {
    for (size_t i = 0; i < kept->n; i++)
        if (kept->all[i]->kind == kind && strcmp(kept->all[i]->of, of) == 0) {
            struct kept_history *found = kept->all[i];
            kept->all[i] = kept->all[--kept->n];
            return found;
        }
    return NULL;
}

// A new history goes on with the one that is kept under its name.
static void go_on(struct shown_history *history, struct history *made, const struct view *view) {
    enum kept_kind kind = view->layout->topology->boxes ? KEPT_BOXES : KEPT_CORES;
    struct kept_history *kept = steal_kept(&history->kept, kind, kept_name(view));
    if (kept)
        history_restore(made, kept);
}

// What a history has not taken in yet is kept on.
static void keep(const struct kept_history *waiting, struct kept_history *made, struct recording_buffer *out) {
    if (waiting || made)
        kept_put_history(out, waiting ? waiting : made);
    kept_history_free(made);
}

static void keep_place(const struct shown_history_place *place, struct recording_buffer *out) {
    struct kept_history *made = history_keep(place->history);
    if (made) {
        made->kind = place->kind ? KEPT_BOXES : KEPT_CORES;
        strcpy(made->of, place->kept_as);
    }
    keep(history_kept(place->history), made, out);
}

void shown_history_keep(struct shown_history *history, struct recording_buffer *out) {
    pthread_mutex_lock(&history->lock);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        if (history->places[i].history)
            keep_place(&history->places[i], out);
    if (history->memory)
        keep(history_memory_kept(history->memory), history_memory_keep(history->memory), out);
    for (size_t i = 0; i < history->kept.n; i++) // those that have no place yet
        kept_put_history(out, history->kept.all[i]);
    pthread_mutex_unlock(&history->lock);
}

static struct history_memory *begin_memory(struct shown_history *history) {
    struct history_memory *memory = history_memory_new();
    struct kept_history *kept = memory ? steal_kept(&history->kept, KEPT_MEMORY, "") : NULL;
    if (kept)
        history_memory_restore(memory, kept);
    return memory;
}

// The first core type's snapshots have the kernel's counts. A host with one node and without resctrl has none.
static void take_memory(struct shown_history *history, const struct snapshot *snapshot) {
    const struct host_memory *memory = snapshot->memory;
    if (!history->memory && memory && (memory->n_nodes > 1 || memory->n_sockets > 0))
        history->memory = begin_memory(history);
    if (history->memory)
        history_memory_take(history->memory, snapshot);
}

// Marks are those of core types: what happens to a host happens to them.
void shown_history_take(struct shown_history *history, size_t type, size_t n_cores, struct view *view,
                        const struct snapshot *snapshot) {
    bool boxes = view->layout->topology->boxes;
    pthread_mutex_lock(&history->lock);
    struct shown_history_place *place = boxes ? find_kind(history, view->pmu) : &history->places[type];
    if (!place)
        place = add_kind(history, n_cores, view->pmu);
    if (place && !place->history) {
        place->history = history_new(boxes ? BOX_SERIES_MAX : HISTORY_SERIES_MAX / n_cores);
        (void)snprintf(place->kept_as, sizeof place->kept_as, "%s", kept_name(view));
        if (place->history)
            go_on(history, place->history, view);
    }
    if (place && place->history) {
        if (!boxes)
            view_marks_take(&place->marks, view, snapshot, history_marks(place->history));
        if (snapshot->end_ns > 0) // else it has totals alone: nothing is measured yet, or others have the counters
            history_take(place->history, snapshot);
    }
    if (type == 0)
        history->n_nodes = snapshot->memory ? snapshot->memory->n_nodes : 0;
    if (type == 0 && snapshot->end_ns > 0)
        take_memory(history, snapshot);
    pthread_mutex_unlock(&history->lock);
}

int shown_history_mark(struct shown_history *history, int64_t at_ns, const char *text) {
    pthread_mutex_lock(&history->lock);
    struct history *first = history->places[0].history;
    if (first)
        marks_add(history_marks(first), at_ns, MARK_USER, text);
    pthread_mutex_unlock(&history->lock);
    return first ? 0 : -EAGAIN;
}

// ---- a query ----

// Looking names up takes time, and one client must not keep the others waiting.
enum { NAMES_BYTES_MAX = 4000 };
static const char NAMES_BYTES_TEXT[] = "4000";

struct query {
    enum memory_scope scope;
    bool coarse;
    bool has_from;
    double from;         // seconds since the epoch; below 0: before now
    const char *metrics; // separated by commas; NULL: the level-1 categories
};

static int refuse(char *error, size_t size, const char *text, const char *value) {
    (void)snprintf(error, size, text, value);
    return -EINVAL;
}

static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

static int read_query(const struct shown_history_query *asked, struct query *query, char *error, size_t size) {
    double step = 0;
    *query = (struct query){.metrics = asked->metric};
    while (asked->scope && strcmp(asked->scope, memory_scope_name(query->scope)) != 0)
        if (++query->scope == MEMORY_SCOPES)
            return refuse(error, size, "there is no history of scope %s: choose host, socket or node", asked->scope);
    if (asked->metric && strlen(asked->metric) > NAMES_BYTES_MAX)
        return refuse(error, size, "metric has more than %s characters", NAMES_BYTES_TEXT);
    query->has_from = asked->from != NULL;
    if (asked->from && !read_number(asked->from, &query->from))
        return refuse(error, size, "from is %s: give seconds since the epoch, or -SECONDS before now", asked->from);
    if (asked->step && (!read_number(asked->step, &step) || (step != 10 && step != 300)))
        return refuse(error, size, "step is %s: choose 10 (the last hour) or 300 (the last day)", asked->step);
    query->coarse = step == 300;
    return 0;
}

// ---- the answer ----

// True if `name` is one of the names in `list`.
static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strcspn(p, ",") == length && strncmp(p, name, length) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct query *query, const struct view *view, size_t metric) {
    return view_exported(view, metric) &&
           (query->metrics ? is_listed(query->metrics, view_metric(view, metric)->export_name)
                           : snapshot_category_of(view->layout, metric) < view->layout->n_level1);
}

// Of core types and boxes.
static size_t find_planned(const struct query *query, const struct shown *shown, struct view_history_series *out,
                           size_t max) {
    bool sockets = query->scope == MEMORY_SOCKET;
    size_t n = 0;
    for (size_t type = 0; type < shown_all(shown) && query->scope != MEMORY_NODE; type++) {
        const struct view *view = shown->types[type].view;
        const struct topology *topology = view->layout->topology;
        for (size_t s = 0; s < (sockets ? topology->n_sockets : 1); s++)
            for (size_t m = 0; m < view->layout->n_metrics; m++)
                if (is_wanted(query, view, m) && n++ < max)
                    out[n - 1] = (struct view_history_series){
                        .view = view, .metric = m, .id = sockets ? (long)topology->sockets[s].id : HISTORY_HOST};
    }
    return n;
}

// Lists those of the kernel's counts of memory: at most HISTORY_MEMORY_SERIES_MAX. Nodes have nothing else, so that
// nobody needs to name it. Returns how many there are.
static size_t find_counted(const struct shown_history *history, const struct query *query,
                           struct view_history_series *out) {
    struct history_memory_series all[HISTORY_MEMORY_SERIES_MAX];
    const struct history_memory *memory = history->memory;
    size_t n = 0, n_all = memory ? history_memory_list(memory, query->scope, all, HISTORY_MEMORY_SERIES_MAX) : 0;
    for (size_t i = 0; i < n_all; i++) {
        bool wanted = query->metrics ? is_listed(query->metrics, memory_metrics[all[i].metric].name)
                                     : query->scope == MEMORY_NODE;
        if (wanted)
            out[n++] = (struct view_history_series){.metric = all[i].metric,
                                                    .id = query->scope == MEMORY_HOST ? HISTORY_HOST : (long)all[i].id};
    }
    return n;
}

static struct history *history_of(struct shown_history *history, const struct shown *shown, const struct view *view) {
    if (view->layout->topology->boxes) {
        struct shown_history_place *place = find_kind(history, view->pmu);
        return place ? place->history : NULL;
    }
    for (size_t type = 0; type < shown->n; type++)
        if (shown->types[type].view == view)
            return history->places[type].history;
    return NULL;
}

static void join_range(struct steps_range range, struct view_history *answer, int64_t *end) {
    answer->step_ns = range.step_ns;
    if (range.n > 0 && range.first < answer->first)
        answer->first = range.first;
    if (range.n > 0 && range.first + (int64_t)range.n > *end)
        *end = range.first + (int64_t)range.n;
}

// The steps asked for, of all types. The default is the last hour, or for long steps all.
static void find_range(const struct shown_history *history, const struct query *query, struct view_history *answer) {
    int64_t end = INT64_MIN;
    answer->first = INT64_MAX;
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++) {
        const struct history *of = history->places[i].history;
        if (!of || history->places[i].gone)
            continue;
        join_range(history_range(of, query->coarse), answer, &end);
        if (answer->wall_offset_ns == 0)
            answer->wall_offset_ns = history_wall_offset_ns(of);
    }
    if (end == INT64_MIN) { // nothing has been measured yet
        answer->first = 0;
        return;
    }
    double step_s = (double)answer->step_ns * 1e-9, begin = -INFINITY;
    if (query->has_from && query->from < 0)
        begin = (double)end + query->from / step_s;
    else if (query->has_from)
        begin = (query->from - (double)answer->wall_offset_ns * 1e-9) / step_s;
    if (begin > (double)answer->first)
        answer->first = begin < (double)end ? (int64_t)floor(begin) : end;
    answer->n_steps = end > answer->first ? (size_t)(end - answer->first) : 0;
}

static void copy_series(struct shown_history *history, const struct query *query, const struct shown *shown,
                        const struct view_history *answer, const struct view_history_series *series, double *values,
                        double *margins) {
    const struct history *of = series->view ? history_of(history, shown, series->view) : NULL;
    if (of) {
        const char *name = view_metric(series->view, series->metric)->export_name;
        history_read(of, series->id, name, query->coarse, answer->first, answer->n_steps, values);
        history_read_margins(of, series->id, name, query->coarse, answer->first, answer->n_steps, values, margins);
        return;
    }
    struct history_memory_series counted = {.metric = (enum memory_metric)series->metric,
                                            .scope = query->scope,
                                            .id = series->id == HISTORY_HOST ? 0 : (unsigned)series->id};
    if (!series->view)
        history_memory_read(history->memory, &counted, query->coarse, answer->first, answer->n_steps, values);
    for (size_t step = 0; step < answer->n_steps; step++) {
        margins[step] = NAN;
        if (series->view)
            values[step] = NAN;
    }
}

static int copy_values(struct shown_history *history, const struct query *query, const struct shown *shown,
                       struct view_history *answer) {
    answer->values = calloc(2 * answer->n_series * answer->n_steps + 1, sizeof *answer->values);
    if (!answer->values)
        return -ENOMEM;
    for (size_t i = 0; i < answer->n_series; i++) {
        double *values = answer->values + 2 * i * answer->n_steps, *margins = values + answer->n_steps;
        answer->series[i].values = values;
        answer->series[i].margins = margins;
        copy_series(history, query, shown, answer, &answer->series[i], values, margins);
    }
    return 0;
}

static int compare_marks(const void *a, const void *b) {
    const struct mark *first = &((const struct view_history_mark *)a)->mark,
                      *second = &((const struct view_history_mark *)b)->mark;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return (first->kind > second->kind) - (first->kind < second->kind); // a start comes before what follows from it
}

// Those of all core types, oldest first.
static int copy_marks(const struct shown_history *history, const struct shown *shown, struct view_history *answer) {
    answer->marks = calloc(shown->n * MARKS_MAX, sizeof *answer->marks);
    if (!answer->marks)
        return -ENOMEM;
    for (size_t type = 0; type < shown->n; type++) {
        struct history *of = history->places[type].history;
        const struct marks *marks = of ? history_marks(of) : NULL;
        for (size_t i = 0; marks && i < marks_count(marks); i++)
            if (steps_step(marks_get(marks, i)->at_ns, answer->step_ns) >= answer->first)
                answer->marks[answer->n_marks++] =
                    (struct view_history_mark){shown->types[type].view, *marks_get(marks, i)};
    }
    qsort(answer->marks, answer->n_marks, sizeof *answer->marks, compare_marks);
    return 0;
}

// Of nodes only the kernel tells something, if there are several.
static int refuse_nodes(const struct query *query, size_t n, char *error, size_t size) {
    size_t length = 0;
    char names[200] = "";
    bool known = !query->metrics;
    for (enum memory_metric m = 0; m < MEMORY_METRICS_N; m++) {
        if (!memory_metric_of(m, MEMORY_NODE) || length >= sizeof names)
            continue;
        known = known || is_listed(query->metrics, memory_metrics[m].name);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                                   memory_metrics[m].name);
    }
    if (n > 1 && !known)
        (void)snprintf(error, size, "no metric of a NUMA node has the name %s: choose among %s", query->metrics, names);
    else
        (void)snprintf(error, size, "there is no history of scope %s: %s", memory_scope_name(MEMORY_NODE),
                       n == 1   ? "this host has one NUMA node"
                       : n == 0 ? "/api/v1/memory says why (reason)"
                                : "/api/v1/memory has no values of its nodes yet");
    return -EINVAL;
}

// With the lock held. The series of plans are known.
static int copy(struct shown_history *history, const struct query *query, const struct shown *shown,
                struct view_history *answer, char *error, size_t size) {
    answer->n_series += find_counted(history, query, answer->series + answer->n_series);
    if (answer->n_series == 0 && query->scope == MEMORY_NODE)
        return refuse_nodes(query, history->n_nodes, error, size);
    if (answer->n_series == 0 && query->metrics)
        return refuse(error, size,
                      "no metric is measured under the name %s: /api/v1/snapshot?scope=socket lists the names, and "
                      "/api/v1/memory (values) those of the kernel's counts",
                      query->metrics);
    find_range(history, query, answer);
    int r = copy_values(history, query, shown, answer);
    return r == 0 && answer->step_ns > 0 ? copy_marks(history, shown, answer) : r;
}

int shown_history_read(struct shown_history *history, const struct shown_history_query *asked,
                       const struct shown *shown, struct view_history *answer, char *error, size_t size) {
    struct query query;
    *answer = (struct view_history){.view = shown->types[0].view};
    int r = read_query(asked, &query, error, size);
    if (r < 0)
        return r;
    answer->scope = query.scope;
    answer->n_series = find_planned(&query, shown, NULL, 0);
    answer->series = calloc(answer->n_series + HISTORY_MEMORY_SERIES_MAX, sizeof *answer->series);
    if (!answer->series)
        return -ENOMEM;
    (void)find_planned(&query, shown, answer->series, answer->n_series);
    pthread_mutex_lock(&history->lock);
    r = copy(history, &query, shown, answer, error, size);
    pthread_mutex_unlock(&history->lock);
    return r;
}

// ---- as JSON ----

static int compress(struct text *text) {
    struct text plain = *text;
    *text = (struct text){0};
    int r = gzip_text(&plain, text);
    text_free(&plain);
    return r;
}

int shown_history_render(struct shown_history *history, const struct shown_history_query *asked,
                         const struct shown *shown, bool gzip, struct text *out, char *error, size_t size) {
    struct view_history answer;
    int r = shown_history_read(history, asked, shown, &answer, error, size);
    if (r == 0)
        r = json_render_history(&answer, out);
    view_history_deinit(&answer);
    if (r == 0 && gzip)
        r = compress(out);
    if (r < 0)
        text_free(out);
    return r;
}
