// SPDX-License-Identifier: Apache-2.0
#include "core/compare/stretch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BATCH_NS = 500000000; // at first: a quarter of the usual interval between snapshots

struct stretch *stretch_new(enum stretch_scope finest) {
    struct stretch *stretch = calloc(1, sizeof *stretch);
    if (stretch)
        *stretch = (struct stretch){.finest = finest, .batch_ns = BATCH_NS};
    return stretch;
}

struct stretch *stretch_free(struct stretch *stretch) {
    if (stretch) {
        for (size_t i = 0; i < stretch->n; i++) {
            free(stretch->series[i].name);
            free(stretch->series[i].units);
            free(stretch->series[i].definition);
        }
        free(stretch->series);
        for (size_t i = 0; i < STRETCH_SOURCES_MAX; i++)
            snapshot_layout_unref(stretch->layouts[i]);
        host_memory_unref(stretch->memory);
        free(stretch);
    }
    return NULL;
}

// ---- which series there are ----

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

// Level 1 and instructions a cycle say by themselves what is better; misses and stalls are never wanted. Our own names
// tell them (docs/metrics.md).
static enum stretch_better judge(const struct snapshot_layout *layout, size_t metric, const char *name) {
    static const char *const unwanted[] = {"_mpki", "_miss_ratio", "_misprediction_ratio", "_mispredict_ratio"};
    size_t category = snapshot_category_of(layout, metric);
    if (category < layout->n_level1)
        return layout->catalog->level1.categories[category].category == CATEGORY_RETIRING ? STRETCH_HIGHER_IS_BETTER
                                                                                          : STRETCH_LOWER_IS_BETTER;
    if (strcmp(name, "ipc") == 0)
        return STRETCH_HIGHER_IS_BETTER;
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        if (ends_with(name, unwanted[i]))
            return STRETCH_LOWER_IS_BETTER;
    return STRETCH_NEITHER;
}

static bool is_same(const struct stretch_series *a, const struct stretch_series *b) {
    return a->scope == b->scope && a->id == b->id && strcmp(a->name, b->name) == 0;
}

const struct stretch_series *stretch_find(const struct stretch *stretch, const struct stretch_series *like) {
    for (size_t i = 0; i < stretch->n; i++)
        if (is_same(&stretch->series[i], like))
            return &stretch->series[i];
    return NULL;
}

// Two kinds of boxes may have a metric of the same name, at different times.
static struct stretch_series *find_own(struct stretch *stretch, const struct stretch_series *like) {
    for (size_t i = 0; i < stretch->n; i++)
        if (stretch->series[i].source == like->source && is_same(&stretch->series[i], like))
            return &stretch->series[i];
    return NULL;
}

static int add_series(struct stretch *stretch, const struct stretch_series *like) {
    if (stretch->n == stretch->capacity) {
        size_t capacity = stretch->capacity > 0 ? 2 * stretch->capacity : 64;
        struct stretch_series *grown = reallocarray(stretch->series, capacity, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        stretch->series = grown;
        stretch->capacity = capacity;
    }
    struct stretch_series *series = &stretch->series[stretch->n++];
    *series = *like;
    series->name = strdup(like->name);
    series->units = strdup(like->units);
    series->definition = strdup(like->definition);
    return series->name && series->units && series->definition ? 0 : -ENOMEM;
}

// What the boxes of a scope move is one number on every vendor, however many they are.
static void describe_sum(const struct topology *topology, const struct catalog_metric *entry, size_t scope,
                         struct stretch_series *like) {
    const struct traffic_info *info = &traffic_table[entry->traffic];
    if (entry->traffic != TRAFFIC_NONE) {
        like->definition = entry->definition[0] != '\0' ? entry->definition : (char *)info->name;
        like->units = "bytes per second";
    }
    like->boxes = scope == 0 ? (double)topology->n_cpus : (double)topology->sockets[scope - 1].measured;
}

// Joins a metric of the layout with its series, which is made if there is none.
static int match(struct stretch *stretch, const struct stretch_series *of, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = stretch->layouts[of->source];
    const struct catalog_metric *entry = &layout->catalog->metrics[layout->plan->metrics[metric].metric];
    size_t category = snapshot_category_of(layout, metric);
    char unit[CATALOG_UNIT_MAX];
    catalog_metric_unit(entry, unit, sizeof unit);
    struct stretch_series like = {.source = of->source,
                                  .scope = of->scope,
                                  .id = of->id,
                                  .name = entry->export_name,
                                  .units = unit,
                                  .definition = entry->definition,
                                  .k = 1,
                                  .boxes = 1,
                                  .a = NAN,
                                  .b = NAN};
    if (category < layout->n_level1) {
        like.numerator = snapshot_category(layout, scope, category);
        like.denominator = snapshot_pipeline_slots(layout, scope);
    } else if (catalog_metric_ratio(entry, &like.k)) {
        like.numerator = snapshot_numerator(layout, scope, metric);
        like.denominator = snapshot_denominator(layout, scope, metric);
    } else {
        return 0;
    }
    if (catalog_metric_adds(layout->catalog, entry))
        describe_sum(layout->topology, entry, scope, &like);
    like.better = judge(layout, metric, like.name);
    like.outcome = like.better == STRETCH_HIGHER_IS_BETTER;
    struct stretch_series *series = find_own(stretch, &like);
    if (!series)
        return add_series(stretch, &like);
    series->numerator = like.numerator;
    series->denominator = like.denominator;
    series->boxes = like.boxes;
    return 0;
}

static int match_scope(struct stretch *stretch, const struct stretch_series *of, size_t scope) {
    const struct plan *plan = stretch->layouts[of->source]->plan;
    int r = 0;
    for (size_t m = 0; m < plan->n_metrics && r == 0; m++)
        if (!plan->metrics[m].auxiliary && plan_metric_planned(&plan->metrics[m]))
            r = match(stretch, of, scope, m);
    return r;
}

static int match_layout(struct stretch *stretch, size_t source, struct snapshot_layout *layout) {
    const struct topology *topology = layout->topology;
    struct stretch_series of = {.source = source, .scope = STRETCH_HOST};
    snapshot_layout_unref(stretch->layouts[source]);
    stretch->layouts[source] = snapshot_layout_ref(layout);
    for (size_t i = 0; i < stretch->n; i++)
        if (stretch->series[i].source == source)
            stretch->series[i].numerator = SIZE_MAX;
    if (layout->plan->round_ns > stretch->round_ns)
        stretch->round_ns = layout->plan->round_ns;
    int r = match_scope(stretch, &of, 0);
    of.scope = STRETCH_SOCKET;
    for (size_t s = 0; s < topology->n_sockets && stretch->finest >= STRETCH_SOCKET && r == 0; s++) {
        of.id = topology->sockets[s].id;
        r = match_scope(stretch, &of, snapshot_scope_socket(s));
    }
    of.scope = STRETCH_CPU;
    for (size_t c = 0; c < topology->n_cpus && stretch->finest >= STRETCH_CPU && !topology->boxes && r == 0; c++) {
        of.id = topology->cpus[c].id;
        r = match_scope(stretch, &of, snapshot_scope_cpu(layout, c));
    }
    return r;
}

// ---- batches ----

// Makes one batch of each `k` in a row.
static void join(struct stretch *stretch, size_t k) {
    size_t n = (stretch->n_batches + k - 1) / k;
    for (size_t i = 0; i < stretch->n; i++) {
        struct stretch_batch *batches = stretch->series[i].batches;
        for (size_t from = 0; from < stretch->n_batches; from++) {
            struct stretch_batch batch = batches[from];
            batches[from] = (struct stretch_batch){0, 0};
            batches[from / k].a += batch.a;
            batches[from / k].b += batch.b;
        }
    }
    stretch->n_batches = n;
    stretch->batch_ns *= k;
}

// The batch that a snapshot's end falls into; begins it if it is a new one.
static size_t batch_of(struct stretch *stretch, uint64_t end_ns) {
    while ((end_ns - stretch->begin_ns) / stretch->batch_ns >= STRETCH_BATCHES_MAX)
        join(stretch, 2);
    size_t batch = (size_t)((end_ns - stretch->begin_ns) / stretch->batch_ns);
    if (batch >= stretch->n_batches)
        stretch->n_batches = batch + 1;
    return batch;
}

// Adds what a series has grown by to its batch; SIZE_MAX: the stretch has not begun.
static void grow(struct stretch_series *series, const struct snapshot *snapshot, size_t batch) {
    double a = snapshot->values[series->numerator], b = snapshot->values[series->denominator];
    if (batch != SIZE_MAX && isfinite(series->a) && isfinite(a) && b > series->b) {
        series->batches[batch].a += (a - series->a) * series->boxes;
        series->batches[batch].b += b - series->b;
    }
    series->a = a;
    series->b = b;
}

// What is shared with other nodes is never wanted; more or less traffic is not better by itself.
static int grow_counted(struct stretch *stretch, enum memory_metric metric, enum memory_scope scope, size_t place,
                        size_t batch) {
    const struct memory_metric_words *words = &memory_metrics[metric];
    struct memory_growth growth = memory_metric_growth(stretch->memory, metric, scope, place);
    struct stretch_series like = {
        .source = STRETCH_KERNEL,
        .scope = scope == MEMORY_HOST ? STRETCH_HOST : STRETCH_SOCKET,
        .id = memory_scope_id(stretch->memory, scope, place),
        .name = (char *)words->name,
        .units = (char *)words->unit,
        .definition = (char *)words->definition,
        .better = strncmp(words->unit, "ratio", strlen("ratio")) == 0 ? STRETCH_LOWER_IS_BETTER : STRETCH_NEITHER,
        .k = 1,
        .numerator = SIZE_MAX};
    struct stretch_series *series = find_own(stretch, &like);
    int r = series ? 0 : add_series(stretch, &like);
    series = series ? series : &stretch->series[stretch->n - 1];
    if (r == 0 && growth.denominator > 0) {
        series->batches[batch].a += growth.numerator;
        series->batches[batch].b += growth.denominator;
    }
    return r;
}

// A reading that began before the stretch says nothing of it alone.
static int take_memory(struct stretch *stretch, const struct snapshot *snapshot, size_t batch) {
    if (snapshot->memory == stretch->memory)
        return 0;
    host_memory_unref(stretch->memory);
    stretch->memory = host_memory_ref(snapshot->memory);
    double since_begin = (double)(snapshot->end_ns - stretch->begin_ns) * 1e-9;
    int r = 0;
    if (!stretch->memory || batch == SIZE_MAX || stretch->memory->seconds > since_begin)
        return 0;
    for (int scope = MEMORY_HOST; scope <= (stretch->finest >= STRETCH_SOCKET ? MEMORY_SOCKET : MEMORY_HOST); scope++)
        for (size_t place = 0; place < memory_scope_count(stretch->memory, (enum memory_scope)scope); place++)
            for (int metric = 0; metric < MEMORY_METRICS_N && r == 0; metric++)
                if (memory_metric_told(stretch->memory, (enum memory_metric)metric, (enum memory_scope)scope, place))
                    r = grow_counted(stretch, (enum memory_metric)metric, (enum memory_scope)scope, place, batch);
    return r;
}

int stretch_take(struct stretch *stretch, size_t source, const struct snapshot *snapshot) {
    uint64_t end_ns = snapshot->end_ns;
    int r = snapshot->layout != stretch->layouts[source] ? match_layout(stretch, source, snapshot->layout) : 0;
    if (r < 0)
        return r;
    if (source == 0 && !stretch->begun) {
        stretch->begun = true;
        stretch->begin_ns = stretch->end_ns = end_ns;
    }
    size_t batch = SIZE_MAX;
    if (stretch->begun && end_ns >= stretch->begin_ns) {
        batch = batch_of(stretch, end_ns > stretch->begin_ns ? end_ns - 1 : end_ns);
        stretch->end_ns = end_ns > stretch->end_ns ? end_ns : stretch->end_ns;
    }
    for (size_t i = 0; i < stretch->n; i++)
        if (stretch->series[i].source == source && stretch->series[i].numerator != SIZE_MAX)
            grow(&stretch->series[i], snapshot, batch);
    return source == 0 ? take_memory(stretch, snapshot, batch) : 0;
}

void stretch_end(struct stretch *stretch, size_t batches_max) {
    if (!stretch->begun)
        return;
    size_t by_number = (stretch->n_batches + batches_max - 1) / batches_max;
    size_t by_rounds = (size_t)((2 * stretch->round_ns + stretch->batch_ns - 1) / stretch->batch_ns);
    size_t k = by_number > by_rounds ? by_number : by_rounds;
    join(stretch, k > 0 ? k : 1);
    uint64_t rest_ns = (stretch->end_ns - stretch->begin_ns) % stretch->batch_ns;
    if (rest_ns > 0 && rest_ns < stretch->batch_ns / 2)
        stretch->n_batches--;
}
