// SPDX-License-Identifier: Apache-2.0
//
// The pieces of text of a thousand CPUs fit a cache, because series share them: each CPU has its labels once, not once
// a family.

#include "exporters/series/series_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "exporters/health/health.h"

static const struct text_escape LABEL_ESCAPES[] = {{'\\', "\\\\"}, {'"', "\\\""}, {'\n', "\\n"}, {0, NULL}};
// OpenMetrics has another escape for a quotation mark than format 0.0.4, so no help has one.
static const struct text_escape HELP_ESCAPES[] = {{'\\', "\\\\"}, {'\n', "\\n"}, {'"', "'"}, {0, NULL}};

// The text added to the pool since `begin`; a pool that outgrows its indexes has failed.
static struct series_part pool_since(struct series *series, size_t begin) {
    if (series->pool.failed || series->pool.length > UINT32_MAX)
        series->failed = true;
    return (struct series_part){(uint32_t)begin, (uint32_t)(series->pool.length - begin)};
}

// The length of the base unit in which the first `length` bytes of a name end; 0: none.
static uint32_t find_unit(const char *name, size_t length) {
    static const char *const units[] = {"seconds", "bytes", "ratio", "hertz"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i]);
        if (length > n + 1 && name[length - n - 1] == '_' && memcmp(name + length - n, units[i], n) == 0)
            return (uint32_t)n;
    }
    return 0;
}

void series_begin_named(struct series *series, const char *name, const char *type, const char *help) {
    struct series_family *families =
        series->failed ? NULL : array_grow(series->families, series->n_families, sizeof *families);
    if (!families) {
        series->failed = true;
        return;
    }
    series->families = families;
    struct series_family *family = &series->families[series->n_families++];
    *family = (struct series_family){.type = type, .first = series->n_lines};
    size_t begin = series->pool.length;
    text_string(&series->pool, name);
    family->name = pool_since(series, begin);
    begin = series->pool.length;
    text_escaped(&series->pool, help, HELP_ESCAPES);
    family->help = pool_since(series, begin);
    if (series->failed)
        return; // the name has no length
    size_t end = strcmp(type, "counter") == 0 ? strlen("_total") : strcmp(type, "info") == 0 ? strlen("_info") : 0;
    family->stem = family->name.length - (uint32_t)end;
    family->unit = find_unit(name, family->stem);
}

static void add_label(struct series *series, char *separator, const char *name, const char *value) {
    text_append(&series->pool, separator, 1);
    *separator = ',';
    text_string(&series->pool, name);
    text_string(&series->pool, "=\"");
    text_escaped(&series->pool, value, LABEL_ESCAPES);
    text_string(&series->pool, "\"");
}

static void add_labels(struct series *series, char *separator, const struct series_label *labels, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_label(series, separator, labels[i].name, labels[i].value);
}

// Adds the labels that all series have, and ends the text before the number.
static void end_labels(struct series *series, char separator) {
    if (series->core_type)
        add_label(series, &separator, "core_type", series->core_type);
    if (series->simulated)
        add_label(series, &separator, "simulated", "true");
    if (series->replayed)
        add_label(series, &separator, "replay", "true");
    text_string(&series->pool, separator == '{' ? " " : "} ");
}

static void add_series(struct series *series, struct series_line line) {
    struct series_line *room = series->failed ? NULL : array_grow(series->lines, series->n_lines, sizeof *room);
    series->failed = !room;
    if (!room)
        return;
    struct series_family *family = &series->families[series->n_families - 1];
    series->lines = room;
    line.source = (uint16_t)series->source;
    series->lines[series->n_lines++] = line;
    family->n++;
    series->lines_bytes += family->name.length + line.head.length + line.tail.length;
}

void series_add(struct series *series, const char *suffix, const struct series_label *labels, size_t n_labels,
                enum series_kind kind, size_t value) {
    size_t begin = series->pool.length;
    char separator = '{';
    text_string(&series->pool, suffix);
    add_labels(series, &separator, labels, n_labels);
    end_labels(series, separator);
    add_series(series, (struct series_line){
                           .head = pool_since(series, begin), .value = (uint32_t)value, .kind = (uint16_t)kind});
}

void series_add_engine(struct series *series, const struct series_label *labels, size_t n_labels, enum series_kind kind,
                       enum status_engine_number number) {
    size_t type = series->source;
    series->source = FROM_ENGINES + type;
    series_add(series, "", labels, n_labels, kind, number);
    series->source = type;
}

static enum series_kind find_scale(struct series *series, double scale) {
    size_t i = 0;
    while (i < series->n_scales && series->scales[i] != scale)
        i++;
    assert(i < SERIES_SCALES_MAX);
    series->scales[i] = scale;
    series->n_scales += i == series->n_scales;
    return (enum series_kind)(SERIES_SCALED + i);
}

void series_add_scaled(struct series *series, const struct series_label *labels, size_t n_labels, double scale,
                       size_t value) {
    series_add(series, "", labels, n_labels, find_scale(series, scale), value);
}

void series_add_fixed(struct series *series, const struct series_label *labels, size_t n_labels, double number) {
    size_t begin = series->pool.length;
    char separator = '{', digits[TEXT_NUMBER_MAX];
    add_labels(series, &separator, labels, n_labels);
    end_labels(series, separator);
    text_append(&series->pool, digits, text_number(digits, number));
    add_series(series, (struct series_line){.head = pool_since(series, begin), .kind = SERIES_FIXED});
}

// ---- series of types and scopes ----

const struct view *series_begin_type(struct series *series, size_t type) {
    const struct view *view = series->shown->types[type].view;
    struct series_memo *memo = &series->memos[type];
    series->source = type;
    series->core_type = view->core_type;
    if (!memo->scopes)
        memo->scopes = calloc(view->layout->n_scopes, sizeof *memo->scopes);
    series->failed = series->failed || !memo->scopes;
    return view;
}

void series_begin_source(struct series *series, enum series_source source) {
    series->source = source;
    series->core_type = NULL;
}

void series_end(struct series *series) {
    while (series->n_memos > 0) {
        const struct series_memo *memo = &series->memos[--series->n_memos];
        free(memo->tails);
        free(memo->scopes);
    }
    free(series->memos);
    series->memos = NULL;
}

static struct series_part find_scope(struct series *series, const struct series_labels *scope) {
    const struct series_label labels[] = {{"socket", scope->socket}, {"cpu", scope->cpu}};
    if (series->failed)
        return (struct series_part){0};
    struct series_part *part = &series->memos[series->source].scopes[scope->scope];
    if (part->length > 0)
        return *part;
    size_t begin = series->pool.length;
    char separator = '{';
    add_labels(series, &separator, labels, scope->n);
    return *part = pool_since(series, begin);
}

static struct series_part add_tail(struct series *series, const struct series_label *label) {
    struct series_memo *memo = &series->memos[series->source];
    struct series_tail *tails = array_grow(memo->tails, memo->n_tails, sizeof *tails);
    if (!tails) {
        series->failed = true;
        return (struct series_part){0};
    }
    size_t begin = series->pool.length;
    char separator = ',';
    memo->tails = tails;
    add_labels(series, &separator, label, label->name != NULL);
    end_labels(series, separator);
    tails[memo->n_tails] = (struct series_tail){label->name, label->value, pool_since(series, begin)};
    return tails[memo->n_tails++].part;
}

static struct series_part find_tail(struct series *series, const struct series_label *label) {
    struct series_memo *memo = &series->memos[series->source];
    for (size_t i = 0; i < memo->n_tails; i++) {
        size_t at = memo->next < memo->n_tails ? memo->next : 0;
        memo->next = at + 1;
        if (memo->tails[at].name == label->name && memo->tails[at].value == label->value)
            return memo->tails[at].part;
    }
    memo->next = 0;
    return add_tail(series, label);
}

void series_add_scoped(struct series *series, const struct series_labels *scope, const char *name, const char *value,
                       enum series_kind kind, size_t index) {
    if (series->failed)
        return;
    const struct series_label label = {name, value};
    struct series_part head = find_scope(series, scope), tail = find_tail(series, &label);
    add_series(series,
               (struct series_line){.head = head, .tail = tail, .value = (uint32_t)index, .kind = (uint16_t)kind});
}

struct series *series_free(struct series *series) {
    if (series) {
        series_end(series);
        free(series->lines);
        free(series->families);
        text_free(&series->pool);
        free(series);
    }
    return NULL;
}

size_t series_count(const struct series *series) { return series->n_lines; }

size_t series_count_usual(const struct series *series) { return series->n_lines - series->n_rare; }

double series_value_beside(const struct shown *shown, const struct series_line *line) {
    switch ((enum series_source)line->source) {
    case FROM_MEMORY:
        return host_memory_series(shown->memory, line->value);
    case FROM_HEALTH:
        return health_series(shown, (enum health_reason)line->value);
    case FROM_STATUS:
        return status_series(&shown->types[0].snapshot->status, line->value);
    case FROM_ENGINES:
        break;
    }
    return status_engine_series(&shown->types[line->source - FROM_ENGINES].snapshot->engine, line->value);
}
