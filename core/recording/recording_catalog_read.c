// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording/recording_bytes.h"
#include "core/recording/recording_catalog.h"
#include "core/spec/catalog_builder.h"

// Reads a catalog's record through the builder, which checks each entry as it does those of a spec.

enum { // bytes of an entry, at least
    EVENT_LEAST = 16,
    METRIC_LEAST = 33,
    GROUP_LEAST = 5,
    NODE_LEAST = 4,
    CATEGORY_LEAST = 2,
    CONCLUSION_LEAST = 2
};

struct reader {
    struct bytes_cursor in;
    struct catalog_builder *builder;
    const struct catalog *catalog; // built so far
    struct fault fault;            // why the builder refuses an entry
    char *texts;                   // room for all texts of the record
    size_t n_texts;
    const char **names; // of one list
    char **pmus;        // beside the first
    size_t n_pmus;
    bool conclusions; // follow level 1
    int status;       // 0, -EBADMSG, -ENOMEM
};

// Takes what the builder returns. False: reading is over.
static bool take(struct reader *reader, int r) {
    if (r < 0)
        reader->status = r == -ENOMEM ? r : -EBADMSG;
    return reader->status == 0;
}

static bool fine(struct reader *reader) { return take(reader, reader->in.bad ? -EBADMSG : 0); }

// Texts need less room than the record: there is a byte of its length for each.
static const char *get_text(struct reader *reader) {
    struct bytes_cursor *in = &reader->in;
    size_t n = bytes_get_count(in, 1);
    char *text = reader->texts + reader->n_texts;
    if (in->bad)
        return "";
    for (size_t i = 0; i < n; i++)
        in->bad = in->bad || (in->at[i] < ' ' && in->at[i] != '\n' && in->at[i] != '\t') || in->at[i] == 0x7f;
    memcpy(text, in->at, n);
    text[n] = '\0';
    in->at += n;
    reader->n_texts += n + 1;
    return text;
}

static const char *text_or_null(const char *text) { return text[0] != '\0' ? text : NULL; }

// The place of one of n entries.
static unsigned get_index(struct reader *reader, size_t n) {
    unsigned index = (unsigned)bytes_get_varint(&reader->in, CATALOG_EVENTS_MAX);
    reader->in.bad = reader->in.bad || index >= n;
    return reader->in.bad ? 0 : index;
}

// The same, or -1.
static int get_index_or_none(struct reader *reader, size_t n) {
    int64_t index = bytes_get_signed(&reader->in);
    reader->in.bad = reader->in.bad || index < -1 || index >= (int64_t)n;
    return reader->in.bad ? -1 : (int)index;
}

// Reads a list of at most `max` metrics or events into reader->names. Returns their number.
static size_t get_names(struct reader *reader, bool events, size_t max) {
    const struct catalog *catalog = reader->catalog;
    size_t n = bytes_get_count(&reader->in, 1), known = events ? catalog->n_events : catalog->n_metrics;
    reader->in.bad = reader->in.bad || n > max;
    for (size_t i = 0; i < n && !reader->in.bad; i++) {
        unsigned index = get_index(reader, known);
        if (!reader->in.bad)
            reader->names[i] = events ? catalog->events[index].name : catalog->metrics[index].name;
    }
    return reader->in.bad ? 0 : n;
}

static bool get_product(struct reader *reader, const struct environment *environment) {
    const char *spec = get_text(reader), *vendor = get_text(reader), *name = get_text(reader),
               *microarchitecture = get_text(reader), *pmu = get_text(reader);
    unsigned group_events = (unsigned)bytes_get_varint(&reader->in, UINT8_MAX);
    bool chosen = bytes_get_varint(&reader->in, 1) == 1;
    if (!fine(reader) ||
        !take(reader, catalog_builder_new(spec, vendor, name, microarchitecture, pmu, &reader->builder)))
        return false;
    reader->catalog = catalog_builder_catalog(reader->builder);
    catalog_builder_set_environment(reader->builder, environment);
    catalog_builder_set_group_events(reader->builder, group_events);
    if (chosen)
        catalog_builder_set_chosen(reader->builder);
    reader->n_pmus = bytes_get_count(&reader->in, 1);
    reader->in.bad = reader->in.bad || reader->n_pmus >= CATALOG_PMUS_MAX;
    for (size_t i = 0; i < reader->n_pmus && !reader->in.bad; i++)
        reader->pmus[i] = (char *)get_text(reader);
    size_t n = bytes_get_count(&reader->in, 2);
    for (size_t i = 0; i < n && fine(reader); i++) {
        const char *term = get_text(reader);
        unsigned values = (unsigned)bytes_get_varint(&reader->in, UINT16_MAX);
        if (fine(reader))
            (void)take(reader, catalog_builder_add_register(reader->builder, term, values, &reader->fault));
    }
    return fine(reader);
}

static void get_need(struct reader *reader, struct catalog_event *event) {
    struct bytes_cursor *in = &reader->in;
    event->need.counters = bytes_get_varint(in, UINT64_MAX);
    event->need.takes = (unsigned)bytes_get_varint(in, EVENT_COUNTERS_MAX);
    event->need.fixed = get_index_or_none(reader, EVENT_FIXED_MAX);
    event->need.reg = (unsigned)bytes_get_varint(in, reader->catalog->n_registers);
    event->need.reg_value = bytes_get_varint(in, UINT64_MAX);
    unsigned flags = (unsigned)bytes_get_varint(in, RECORDING_EVENT_FLAGS);
    event->need.free = (flags & RECORDING_EVENT_FREE) != 0;
    event->need.exclusive = (flags & RECORDING_EVENT_EXCLUSIVE) != 0;
    event->fixed = (flags & RECORDING_EVENT_FIXED) != 0;
    event->sampling_only = (flags & RECORDING_EVENT_SAMPLING_ONLY) != 0;
    event->may_be_zero = (flags & RECORDING_EVENT_MAY_BE_ZERO) != 0;
    event->must_count = (flags & RECORDING_EVENT_MUST_COUNT) != 0;
    if (flags & RECORDING_EVENT_DEAD)
        event->known_dead = (char *)get_text(reader);
}

// Its texts are the reader's; the builder copies them.
static void get_event(struct reader *reader) {
    struct bytes_cursor *in = &reader->in;
    struct catalog_event event = {.kind = (enum catalog_event_kind)bytes_get_varint(in, EVENT_CORE_SLOTS)};
    event.name = (char *)get_text(reader);
    event.title = (char *)get_text(reader);
    event.terms = (char *)get_text(reader);
    event.uncoded = (char *)text_or_null(get_text(reader));
    unsigned pmu = get_index(reader, reader->n_pmus + 1);
    event.code.config = bytes_get_varint(in, UINT64_MAX);
    event.code.config1 = bytes_get_varint(in, UINT64_MAX);
    event.code.config2 = bytes_get_varint(in, UINT64_MAX);
    event.code.exclude = (unsigned)bytes_get_varint(in, PMU_EXCLUDE_USER | PMU_EXCLUDE_KERNEL | PMU_EXCLUDE_HYPERVISOR);
    get_need(reader, &event);
    if (fine(reader))
        (void)take(reader, catalog_builder_add_event_as(reader->builder, &event, pmu > 0 ? reader->pmus[pmu - 1] : NULL,
                                                        &reader->fault));
}

static bool get_events(struct reader *reader) {
    size_t n = bytes_get_count(&reader->in, EVENT_LEAST);
    for (size_t e = 0; e < n && fine(reader); e++)
        get_event(reader);
    n = bytes_get_count(&reader->in, 2);
    for (size_t i = 0; i < n && fine(reader); i++) {
        const char *name = get_text(reader);
        unsigned event = get_index(reader, reader->catalog->n_events);
        if (fine(reader))
            (void)take(reader, catalog_builder_add_alias(reader->builder, name, event, &reader->fault));
    }
    unsigned general = (unsigned)bytes_get_varint(&reader->in, UINT8_MAX);
    if (fine(reader))
        (void)take(reader, catalog_builder_set_counters(reader->builder, general, NULL, 0, &reader->fault));
    n = get_names(reader, true, CATALOG_TOPDOWN_MAX);
    if (fine(reader))
        (void)take(reader, catalog_builder_set_topdown(reader->builder, reader->names, n, &reader->fault));
    int watchdog = get_index_or_none(reader, reader->catalog->n_events);
    if (fine(reader) && watchdog >= 0)
        (void)take(reader, catalog_builder_set_watchdog(reader->builder, reader->catalog->events[watchdog].name,
                                                        &reader->fault));
    return fine(reader);
}

// ---- metrics ----

struct metric_rest { // what is set once all metrics are there
    const char *threshold;
    int parent, included_in;
    enum traffic traffic;
};

static void add_metric(struct reader *reader, const struct catalog_metric_text *text, int stands_for,
                       const char *unmeasurable) {
    struct catalog_builder *builder = reader->builder;
    int r = stands_for >= 0 ? catalog_builder_add_alternative(builder, (unsigned)stands_for, text, &reader->fault)
            : unmeasurable  ? catalog_builder_add_unmeasurable(builder, text, unmeasurable, &reader->fault)
                            : catalog_builder_add_metric(builder, text, &reader->fault);
    if (r >= 0 && stands_for >= 0 && unmeasurable)
        r = catalog_builder_set_unmeasurable(builder, (unsigned)r, unmeasurable);
    (void)take(reader, r);
}

static void get_metric(struct reader *reader, size_t n_metrics, struct metric_rest *rest) {
    struct bytes_cursor *in = &reader->in;
    struct catalog_metric_text text = {.name = get_text(reader)};
    text.vendor = get_text(reader);
    text.export_name = get_text(reader);
    text.title = get_text(reader);
    text.help = get_text(reader);
    text.units = get_text(reader);
    text.formula = get_text(reader);
    const char *unmeasurable = text_or_null(get_text(reader));
    rest->threshold = text_or_null(get_text(reader));
    text.definition = text_or_null(get_text(reader));
    text.meaning = get_text(reader);
    text.rate_advice = get_text(reader);
    text.made_scale = bytes_get_double(in);
    text.rate_threshold = bytes_get_double(in);
    rest->parent = get_index_or_none(reader, n_metrics);
    int stands_for = get_index_or_none(reader, reader->catalog->n_metrics);
    uint64_t constraint = bytes_get_varint(in, RECORDING_METRIC_INCLUDED + CONSTRAINT_NO_THRESHOLD_AND_NMI);
    text.constraint = (enum metric_constraint)(constraint % RECORDING_METRIC_INCLUDED);
    in->bad = in->bad || text.constraint > CONSTRAINT_NO_THRESHOLD_AND_NMI;
    rest->included_in = constraint >= RECORDING_METRIC_INCLUDED ? (int)get_index(reader, n_metrics) : -1;
    text.waits = (enum catalog_waits)bytes_get_varint(in, WAITS_N - 1);
    rest->traffic = (enum traffic)bytes_get_varint(in, TRAFFIC_N - 1);
    in->bad = in->bad || !(text.made_scale > 0 && text.made_scale < HUGE_VAL) ||
              !(text.rate_threshold >= 0 && text.rate_threshold < HUGE_VAL) ||
              (stands_for >= 0 && reader->catalog->metrics[stands_for].stands_for >= 0);
    if (fine(reader))
        add_metric(reader, &text, stands_for, unmeasurable);
}

static void set_rest(struct reader *reader, unsigned metric, const struct metric_rest *rest) {
    struct catalog_builder *builder = reader->builder;
    int r = 0;
    if (rest->parent >= 0)
        r = catalog_builder_set_parent(builder, metric, reader->catalog->metrics[rest->parent].name, &reader->fault);
    if (r >= 0 && rest->threshold)
        r = catalog_builder_set_threshold(builder, metric, rest->threshold, &reader->fault);
    if (r >= 0 && rest->traffic != TRAFFIC_NONE)
        r = catalog_builder_set_traffic(builder, metric, traffic_table[rest->traffic].name, &reader->fault);
    (void)take(reader, r);
}

// Once every metric has its parent.
static void set_included(struct reader *reader, unsigned metric, const struct metric_rest *rest) {
    if (rest->included_in < 0)
        return;
    const char *sibling = reader->catalog->metrics[rest->included_in].name;
    (void)take(reader, catalog_builder_set_included(reader->builder, metric, sibling, &reader->fault));
}

static bool get_metrics(struct reader *reader) {
    size_t n = bytes_get_count(&reader->in, METRIC_LEAST);
    struct metric_rest *rests = reader->in.bad ? NULL : calloc(n + 1, sizeof *rests);
    if (!rests)
        return take(reader, reader->in.bad ? -EBADMSG : -ENOMEM);
    for (size_t m = 0; m < n && fine(reader); m++)
        get_metric(reader, n, &rests[m]);
    for (size_t m = 0; m < n && fine(reader); m++)
        set_rest(reader, (unsigned)m, &rests[m]);
    for (size_t m = 0; m < n && fine(reader); m++)
        set_included(reader, (unsigned)m, &rests[m]);
    free(rests);
    return fine(reader);
}

// ---- groups, the decision tree, level 1 ----

static bool get_groups(struct reader *reader) {
    const char *defaults[CATALOG_GROUPS_MAX] = {NULL};
    size_t n = bytes_get_count(&reader->in, GROUP_LEAST), n_defaults = 0;
    for (size_t g = 0; g < n && fine(reader); g++) {
        const char *name = get_text(reader), *title = get_text(reader), *help = get_text(reader);
        size_t n_metrics = get_names(reader, false, CATALOG_METRICS_MAX);
        size_t place = (size_t)bytes_get_varint(&reader->in, CATALOG_GROUPS_MAX);
        if (!fine(reader) || !take(reader, catalog_builder_add_group(reader->builder, name, title, help, reader->names,
                                                                     n_metrics, &reader->fault)))
            return false;
        if (place > 0)
            defaults[place - 1] = name;
        n_defaults += place > 0;
    }
    for (size_t i = 0; i < n_defaults; i++) // their places are without gaps
        reader->in.bad = reader->in.bad || !defaults[i];
    return fine(reader) &&
           take(reader, catalog_builder_set_defaults(reader->builder, defaults, n_defaults, &reader->fault));
}

static bool get_node(struct reader *reader) {
    unsigned metric = get_index(reader, reader->catalog->n_metrics);
    bool root = bytes_get_varint(&reader->in, 1) == 1;
    size_t n = bytes_get_count(&reader->in, 1);
    reader->in.bad = reader->in.bad || n > CATALOG_METRICS_MAX;
    for (size_t i = 0; i < n && !reader->in.bad; i++)
        reader->names[i] = get_text(reader);
    if (!fine(reader))
        return false;
    int node = catalog_builder_add_node(reader->builder, reader->catalog->metrics[metric].name, root, reader->names, n,
                                        &reader->fault);
    n = take(reader, node) ? get_names(reader, true, CATALOG_METRICS_MAX) : 0;
    for (size_t i = 0; i < n && fine(reader); i++)
        (void)take(reader,
                   catalog_builder_add_sample(reader->builder, (unsigned)node, reader->names[i], &reader->fault));
    return fine(reader);
}

static bool get_nodes(struct reader *reader) {
    size_t n = bytes_get_count(&reader->in, NODE_LEAST);
    for (size_t i = 0; i < n && fine(reader); i++)
        (void)get_node(reader);
    return fine(reader);
}

static void set_category(struct reader *reader, enum category category, unsigned metric) {
    if (fine(reader))
        (void)take(reader, catalog_builder_set_category(reader->builder, LEVEL1_USUAL, category,
                                                        reader->catalog->metrics[metric].name, &reader->fault));
}

static bool get_categories(struct reader *reader, bool per_thread) {
    size_t n_metrics = reader->catalog->n_metrics;
    int contention = get_index_or_none(reader, n_metrics);
    reader->in.bad = reader->in.bad || (contention >= 0 && !per_thread);
    size_t n = bytes_get_count(&reader->in, CATEGORY_LEAST);
    reader->in.bad = reader->in.bad || n > CATEGORY_N;
    for (size_t i = 0; i < n && fine(reader); i++) {
        enum category category = (enum category)bytes_get_varint(&reader->in, CATEGORY_N - 1);
        set_category(reader, category, get_index(reader, n_metrics));
    }
    if (contention >= 0)
        set_category(reader, CATEGORY_SMT_CONTENTION, (unsigned)contention);
    return fine(reader);
}

static bool get_level1(struct reader *reader) {
    uint64_t flags = bytes_get_varint(&reader->in, 1 + RECORDING_LEVEL1_CONCLUSIONS);
    reader->conclusions = (flags & RECORDING_LEVEL1_CONCLUSIONS) != 0;
    if ((flags & 1) == 0)
        return fine(reader);
    struct catalog_level1_text text = {.pipeline_slots = get_text(reader)};
    text.width = bytes_get_double(&reader->in);
    bool per_thread = bytes_get_varint(&reader->in, 1) == 1;
    for (size_t i = 0; per_thread && i < THREAD_SLOTS_N; i++)
        text.thread[i] = get_text(reader);
    if (!fine(reader) ||
        !take(reader, catalog_builder_set_level1(reader->builder, LEVEL1_USUAL, &text, &reader->fault)) ||
        !get_categories(reader, per_thread))
        return false;
    size_t n = bytes_get_count(&reader->in, 1);
    for (size_t i = 0; i < n && fine(reader); i++) {
        size_t events = get_names(reader, true, CATALOG_SPLIT_EVENTS_MAX);
        if (fine(reader))
            (void)take(reader,
                       catalog_builder_add_part(reader->builder, LEVEL1_USUAL, reader->names, events, &reader->fault));
    }
    return fine(reader);
}

static bool get_conclusions(struct reader *reader) {
    struct catalog_builder *builder = reader->builder;
    size_t n = reader->conclusions ? bytes_get_count(&reader->in, CONCLUSION_LEAST) : 0;
    for (size_t i = 0; i < n && fine(reader); i++) {
        unsigned place = get_index(reader, BOTTLENECK_N + 1);
        const char *formula = get_text(reader);
        if (!fine(reader))
            return false;
        (void)take(reader, place == 0 ? catalog_builder_set_computes_well(builder, formula, &reader->fault)
                                      : catalog_builder_set_bottleneck(builder, (enum bottleneck)(place - 1), formula,
                                                                       &reader->fault));
    }
    return fine(reader);
}

static void get_all(struct reader *reader, const struct environment *environment) {
    if (get_product(reader, environment) && get_events(reader) && get_metrics(reader) && get_groups(reader) &&
        get_nodes(reader) && get_level1(reader) && get_conclusions(reader))
        (void)take(reader, bytes_done(&reader->in) ? catalog_builder_check(reader->builder, &reader->fault) : -EBADMSG);
}

int recording_get_catalog(const struct recording_record *record, const struct environment *environment,
                          struct catalog **out) {
    struct reader reader = {.in = {.at = record->bytes, .end = record->bytes + record->n},
                            .texts = malloc(record->n + 1),
                            .names = calloc(CATALOG_METRICS_MAX, sizeof *reader.names),
                            .pmus = calloc(CATALOG_PMUS_MAX, sizeof *reader.pmus)};
    if (reader.texts && reader.names && reader.pmus)
        get_all(&reader, environment);
    else
        reader.status = -ENOMEM;
    if (reader.status == 0)
        *out = catalog_builder_finish(reader.builder);
    else
        catalog_builder_free(reader.builder);
    free(reader.pmus);
    free(reader.names);
    free(reader.texts);
    return reader.status;
}
