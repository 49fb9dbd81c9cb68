// SPDX-License-Identifier: Apache-2.0
#include "core/formula/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/array.h"
#include "core/host/environment.h"

// All formulas are compiled first. Literals and functions are constants, as for perf, so a branch that they rule out is
// dropped with the metrics that it names. The rest is evaluated depth first.

enum { KEY_MAX = 1024 };
enum evaluation_state { STATE_NEW, STATE_ENTERED, STATE_DONE };

struct evaluation {
    struct evaluation_metric *metrics;
    size_t n, self;
    const struct evaluation_counts *counts;
    const char *cpuid;
    struct name_index index; // of PMU and name, see make_key
    char **keys;
    double *events; // the counts, and a NaN
    double *values; // of the metrics
};

int evaluation_counts_add(struct evaluation_counts *counts, const char *name, double value) {
    if (name_index_find(&counts->index, name, strlen(name), false) >= 0)
        return 0;
    char **names = array_grow(counts->names, counts->n, sizeof *names);
    if (!names)
        return -ENOMEM;
    counts->names = names;
    double *values = array_grow(counts->values, counts->n, sizeof *values);
    if (!values)
        return -ENOMEM;
    counts->values = values;
    char *copied = strdup(name);
    if (!copied || name_index_add(&counts->index, copied, (unsigned)counts->n) < 0) {
        free(copied);
        return -ENOMEM;
    }
    counts->names[counts->n] = copied;
    counts->values[counts->n++] = value;
    return 0;
}

void evaluation_counts_deinit(struct evaluation_counts *counts) {
    name_index_deinit(&counts->index);
    for (size_t i = 0; i < counts->n; i++)
        free(counts->names[i]);
    free(counts->names);
    free(counts->values);
    *counts = (struct evaluation_counts){.n = 0};
}

// An exact match, else one that ignores case; -1 if there is none.
static int find_count(const struct evaluation_counts *counts, const char *name, size_t length) {
    int found = name_index_find(&counts->index, name, length, false);
    return found >= 0 ? found : name_index_find(&counts->index, name, length, true);
}

// Writes the key of a metric and returns its length; 0 if it is too long for a key.
static size_t make_key(char *out, const char *pmu, const char *name, size_t length) {
    int n = snprintf(out, KEY_MAX, "%s\n%.*s", pmu, (int)length, name);
    return n > 0 && n < KEY_MAX ? (size_t)n : 0;
}

// The metric to which a name in another metric's formula refers; -1 if it is an event.
static int find_metric(const struct evaluation *e, const char *name, size_t length) {
    char key[KEY_MAX];
    const struct evaluation_metric *self = &e->metrics[e->self];
    if (strlen(self->name) == length && strncasecmp(self->name, name, length) == 0)
        return -1;
    size_t n = length < KEY_MAX ? make_key(key, self->pmu, name, length) : 0;
    int found = n > 0 ? name_index_find(&e->index, key, n, false) : -1;
    return found >= 0 || n == 0 ? found : name_index_find(&e->index, key, n, true);
}

// The value of a literal or a function: from the counts, else its default.
static double constant(const struct evaluation *e, enum formula_name_kind kind, const char *name, size_t length) {
    static const char *const formats[] = {
        "%.*s", "#%.*s", "has_event(%.*s)", "source_count(%.*s)", "aggr_nr(%.*s)", "strcmp_cpuid_str(%.*s)"};
    char key[KEY_MAX];
    int n = length < KEY_MAX ? snprintf(key, sizeof key, formats[kind], (int)length, name) : 0;
    int given = n > 0 && n < KEY_MAX ? find_count(e->counts, key, (size_t)n) : -1;
    if (given >= 0)
        return e->counts->values[given];
    struct environment environment;
    switch (kind) {
    case FORMULA_HAS_EVENT:
        return find_count(e->counts, name, length) >= 0;
    case FORMULA_SOURCE_COUNT:
    case FORMULA_AGGR_NR:
        return 1;
    case FORMULA_CPUID:
        environment_init(&environment);
        (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", e->cpuid ? e->cpuid : "");
        (void)snprintf(key, sizeof key, "%.*s", (int)(length < KEY_MAX ? length : 0), name);
        return environment_is_cpu(&environment, key);
    default:
        return NAN;
    }
}

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    const struct evaluation *e = context;
    double number = kind == FORMULA_ID ? NAN : constant(e, kind, name, length);
    if (!isnan(number)) {
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = number};
        return 0;
    }
    // a literal without a value is as missing as an event without a count
    int metric = kind == FORMULA_ID ? find_metric(e, name, length) : -1;
    int count = kind == FORMULA_ID ? find_count(e->counts, name, length) : -1;
    if (metric >= 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = (unsigned)metric};
    else
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT,
                                       .index = count >= 0 ? (unsigned)count : (unsigned)e->counts->n};
    return 0;
}

static int compile(struct evaluation *e, size_t i) {
    const struct formula_scope scope = {.lookup = lookup, .context = e};
    struct evaluation_metric *metric = &e->metrics[i];
    struct fault fault;
    e->self = i;
    metric->error[0] = '\0';
    metric->value = NAN;
    metric->missing = false;
    metric->state = STATE_NEW;
    int r = formula_compile(metric->text, &scope, &metric->formula, &fault);
    if (r != -EINVAL)
        return r;
    (void)snprintf(metric->error, sizeof metric->error, "formula, column %zu: %s", fault.column, fault.text);
    return 0;
}

static bool lacks_an_input(const struct evaluation *e, const struct formula *formula) {
    for (size_t v = 0; v < formula->n_variables; v++)
        if (isnan(e->events[formula->variables[v]]))
            return true;
    for (size_t m = 0; m < formula->n_metrics; m++)
        if (e->metrics[formula->metrics[m]].missing)
            return true;
    return false;
}

// A chain of metrics is at most as long as the number of metrics, which a thread's stack can hold.
static void evaluate(struct evaluation *e, size_t i) {
    struct evaluation_metric *metric = &e->metrics[i];
    metric->state = STATE_ENTERED;
    for (size_t m = 0; metric->formula && m < metric->formula->n_metrics && metric->error[0] == '\0'; m++) {
        struct evaluation_metric *used = &e->metrics[metric->formula->metrics[m]];
        if (used->state == STATE_NEW)
            evaluate(e, metric->formula->metrics[m]);
        if (used->state == STATE_ENTERED)
            (void)snprintf(metric->error, sizeof metric->error, "uses the metric %.100s, which leads back to itself",
                           used->name);
        else if (used->error[0] != '\0')
            (void)snprintf(metric->error, sizeof metric->error, "uses the metric %.100s, which is wrong", used->name);
    }
    metric->missing = metric->formula && lacks_an_input(e, metric->formula);
    if (metric->formula && metric->error[0] == '\0' && !metric->missing)
        metric->value = formula_evaluate(metric->formula, e->events, e->values);
    e->values[i] = metric->value;
    metric->state = STATE_DONE;
}

static int evaluation_init(struct evaluation *e) {
    char key[KEY_MAX];
    e->keys = calloc(e->n + 1, sizeof *e->keys);
    e->events = calloc(e->counts->n + 1, sizeof *e->events);
    e->values = calloc(e->n + 1, sizeof *e->values);
    if (!e->keys || !e->events || !e->values)
        return -ENOMEM;
    for (size_t i = 0; i < e->counts->n; i++)
        e->events[i] = e->counts->values[i];
    e->events[e->counts->n] = NAN;
    for (size_t i = 0; i < e->n; i++) {
        const struct evaluation_metric *metric = &e->metrics[i];
        if (make_key(key, metric->pmu, metric->name, strlen(metric->name)) == 0)
            continue;
        e->keys[i] = strdup(key);
        if (!e->keys[i] || name_index_add(&e->index, e->keys[i], (unsigned)i) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void evaluation_deinit(struct evaluation *e) {
    name_index_deinit(&e->index);
    for (size_t i = 0; i < e->n; i++) {
        e->metrics[i].formula = formula_free(e->metrics[i].formula);
        if (e->keys)
            free(e->keys[i]);
    }
    free(e->keys);
    free(e->events);
    free(e->values);
}

int evaluation_run(struct evaluation_metric *metrics, size_t n, const struct evaluation_counts *counts,
                   const char *cpuid) {
    struct evaluation e = {.metrics = metrics, .n = n, .counts = counts, .cpuid = cpuid};
    for (size_t i = 0; i < n; i++)
        metrics[i].formula = NULL;
    int r = evaluation_init(&e);
    for (size_t i = 0; i < n && r == 0; i++)
        r = compile(&e, i);
    for (size_t i = 0; i < n && r == 0; i++)
        if (metrics[i].state == STATE_NEW)
            evaluate(&e, i);
    evaluation_deinit(&e);
    return r;
}
