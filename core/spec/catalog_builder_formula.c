// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/spec/catalog_builder_private.h"

// Resolves the names of a formula: events and metrics added so far, literals of the host, and what a resolver adds on
// demand.

enum { LOOKUP_NAME_MAX = 512 };

struct lookup {
    struct catalog_builder *builder;
    const char *self; // the metric being compiled; NULL: none
    bool threshold;   // metrics, even counts, stand for their values
    struct fault *fault;
    bool explained; // *fault is filled
    bool asked;     // the formula names something
};

static struct formula_symbol number(double value) {
    return (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = value};
}

// A metric's meaning: its value, or its formula. An unmeasurable one is referred to by name, not included, so that the
// metric that needs it can report this.
static struct formula_symbol metric_symbol(const struct lookup *lookup, unsigned index) {
    const struct catalog_metric *metric = &lookup->builder->catalog->metrics[index];
    const struct formula *formula = metric->formula;
    bool constant = formula->n_variables == 0 && formula->n_metrics == 0;
    if (lookup->threshold || metric->unmeasurable || (formula->scale_free && !constant))
        return (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = index};
    return (struct formula_symbol){.kind = FORMULA_SYMBOL_INLINE, .formula = formula};
}

// Looks for a metric, then for an event. A metric's own name means the event: the metric does not exist yet.
static int lookup_added(const struct lookup *lookup, const char *name, bool any_case, struct formula_symbol *out) {
    const struct catalog *catalog = lookup->builder->catalog;
    int metric = name_index_find(&catalog->names.metrics, name, strlen(name), any_case);
    int event = metric < 0 ? name_index_find(&catalog->names.events, name, strlen(name), any_case) : -1;
    if (metric >= 0)
        *out = metric_symbol(lookup, (unsigned)metric);
    else if (event >= 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)event};
    return metric >= 0 || event >= 0 ? 0 : -ENOENT;
}

// The event of this kind, which no PMU counts; added when a formula first names it.
static int special_event(struct catalog_builder *builder, const char *name, enum catalog_event_kind kind, int *event,
                         struct formula_symbol *out) {
    if (*event < 0) {
        int added = builder_append_event(builder, &(struct catalog_event_text){.name = name, .terms = ""}, kind);
        if (added < 0)
            return added;
        *event = added;
    }
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)*event};
    return 0;
}

// Asks the loader to add the name's metric or event unless it exists.
static int resolve(struct lookup *lookup, const char *name) {
    struct catalog_builder *builder = lookup->builder;
    if (!builder->resolver || (lookup->self && strcasecmp(lookup->self, name) == 0))
        return 0;
    int r = -EINVAL;
    builder->depth++;
    if (builder->depth > CATALOG_DEPTH_MAX)
        (void)fault_set(lookup->fault, "uses metrics of metrics more than %d deep, against the order of the file",
                        CATALOG_DEPTH_MAX);
    else
        r = builder->resolver->resolve(builder->resolver->context, name, lookup->fault);
    builder->depth--;
    lookup->explained = r == -EINVAL;
    return r;
}

static int lookup_id(struct lookup *lookup, const char *name, struct formula_symbol *out) {
    struct catalog_builder *builder = lookup->builder;
    int r = resolve(lookup, name);
    if (r < 0 || lookup_added(lookup, name, false, out) == 0 || lookup_added(lookup, name, true, out) == 0)
        return r;
    if (strcasecmp(name, "duration_time") == 0)
        return special_event(builder, "duration_time", EVENT_DURATION, &builder->catalog->duration_event, out);
    for (int i = 0; i < CORE_SLOTS_N; i++)
        if (strcasecmp(name, catalog_core_slots_name((enum catalog_core_slots)i)) == 0)
            return special_event(builder, catalog_core_slots_name((enum catalog_core_slots)i), EVENT_CORE_SLOTS,
                                 &builder->catalog->core_slots[i], out);
    int event = builder_add_modified(builder, name);
    if (event >= 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)event};
    return event < 0 ? event : 0;
}

static int lookup_literal(struct catalog_builder *builder, const char *name, size_t length,
                          struct formula_symbol *out) {
    int literal = environment_find_literal(name, length);
    if (literal < 0)
        return -ENOENT;
    const double *literals = builder->environment.facts.literals;
    bool core_wide_unknown = literal == LITERAL_CORE_WIDE && isnan(literals[LITERAL_CORE_WIDE]);
    if (core_wide_unknown && literals[LITERAL_SMT_ON] != 0)
        return special_event(builder, "#core_wide", EVENT_CORE_WIDE, &builder->catalog->core_wide_event, out);
    *out = number(core_wide_unknown ? 1 : literals[literal]); // without SMT a CPU is a core
    return 0;
}

static double has_event(const struct catalog_builder *builder, const char *name) {
    const struct environment *environment = &builder->environment;
    if (environment->has_event)
        return environment->has_event(environment->context, name);
    return catalog_find_event_any_case(builder->catalog, name, strlen(name)) >= 0;
}

static int lookup_name(void *context, enum formula_name_kind kind, const char *name, size_t length,
                       struct formula_symbol *out) {
    struct lookup *lookup = context;
    char text[LOOKUP_NAME_MAX];
    lookup->asked = true;
    if (length >= sizeof text)
        return -ENOENT;
    memcpy(text, name, length);
    text[length] = '\0';
    switch (kind) {
    case FORMULA_LITERAL:
        return lookup_literal(lookup->builder, name, length, out);
    case FORMULA_HAS_EVENT:
        *out = number(has_event(lookup->builder, text));
        return 0;
    case FORMULA_SOURCE_COUNT: // a core PMU's event has one source on each CPU
    case FORMULA_AGGR_NR:
        *out = number(1);
        return 0;
    case FORMULA_CPUID:
        *out = number(environment_is_cpu(&lookup->builder->environment, text));
        return 0;
    default:
        return lookup_id(lookup, text, out);
    }
}

static int compile(struct lookup *lookup, const char *text, struct formula **out) {
    const struct formula_scope scope = {.lookup = lookup_name, .context = lookup};
    struct fault wrong;
    int r = formula_compile(text, &scope, out, &wrong);
    if (r == -EINVAL && lookup->explained)
        return r;
    if (r == -EINVAL)
        return fault_set_kind(lookup->fault, wrong.kind, wrong.column, "formula, column %zu: %s", wrong.column,
                              wrong.text);
    return r;
}

int builder_compile(struct catalog_builder *builder, const char *text, const char *self, struct formula **out,
                    struct fault *fault) {
    struct lookup lookup = {.builder = builder, .self = self, .fault = fault};
    struct formula *formula;
    int r = compile(&lookup, text, &formula);
    if (r < 0)
        return r;
    if (!lookup.asked) { // a formula may reduce to a number on this host, but a plain number in the file is a mistake
        formula_free(formula);
        return fault_set(fault, "the formula names no event");
    }
    // values that are the same for one CPU and many cannot be summed, so there is no numerator and denominator
    for (size_t i = 0; i < formula->n_variables; i++) {
        enum catalog_event_kind kind = builder->catalog->events[formula->variables[i]].kind;
        formula->is_ratio = formula->is_ratio && kind != EVENT_DURATION && kind != EVENT_CORE_WIDE;
    }
    *out = formula;
    return 0;
}

int builder_compile_threshold(struct catalog_builder *builder, const char *text, struct formula **out,
                              struct fault *fault) {
    struct lookup lookup = {.builder = builder, .threshold = true, .fault = fault};
    return compile(&lookup, text, out);
}

int builder_compile_nothing(struct formula **out) {
    const struct formula_scope no_names = {.lookup = NULL};
    struct fault ignored;
    return formula_compile("NaN", &no_names, out, &ignored);
}
