// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/spec/catalog_private.h"
#include "core/spec/family.h"

// Metrics: what their formulas refer to, and what they are called outside.

enum { LOOKUP_NAME_MAX = 512 };

void catalog_free_metric(struct catalog_metric *metric) {
    free(metric->rate_advice);
    free(metric->meaning);
    formula_free(metric->threshold);
    free(metric->threshold_text);
    free(metric->unmeasurable);
    formula_free(metric->formula);
    free(metric->formula_text);
    free(metric->units);
    free(metric->help);
    free(metric->title);
    free(metric->export_name);
    free(metric->name);
}

int catalog_find_metric(const struct catalog *catalog, const char *name) {
    return name_index_find(&catalog->metric_index, name, strlen(name), false);
}

// ---- what a formula's names stand for ----

struct lookup {
    struct catalog *catalog;
    const char *self; // the metric that is being compiled; NULL: none
    bool threshold;   // metrics stand for their values, counts too
    struct fault *fault;
    bool explained; // *fault says what is wrong
    bool asked;     // the formula names something
};

static struct formula_symbol number(double value) {
    return (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = value};
}

// What a metric stands for: its value, or its formula. One that no host can measure is named, not put in place, so that
// what needs it can say so, unless its worth is known.
static struct formula_symbol metric_symbol(const struct lookup *lookup, unsigned index) {
    const struct catalog_metric *metric = &lookup->catalog->metrics[index];
    const struct formula *formula = metric->formula;
    bool constant = formula->n_variables == 0 && formula->n_metrics == 0;
    if (metric->unmeasurable && !isnan(metric->constant))
        return number(metric->constant);
    if (lookup->threshold || metric->unmeasurable || (formula->scale_free && !constant))
        return (struct formula_symbol){.kind = FORMULA_SYMBOL_METRIC, .index = index};
    return (struct formula_symbol){.kind = FORMULA_SYMBOL_INLINE, .formula = formula};
}

// Looks for a metric, then for an event. A metric's own name means the event: it is not there yet.
static int lookup_added(const struct lookup *lookup, const char *name, bool any_case, struct formula_symbol *out) {
    const struct catalog *catalog = lookup->catalog;
    int metric = name_index_find(&catalog->metric_index, name, strlen(name), any_case);
    int event = metric < 0 ? name_index_find(&catalog->event_index, name, strlen(name), any_case) : -1;
    if (metric >= 0)
        *out = metric_symbol(lookup, (unsigned)metric);
    else if (event >= 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)event};
    return metric >= 0 || event >= 0 ? 0 : -ENOENT;
}

// The event of this kind, which no PMU counts: added when a formula first names it.
static int special_event(struct catalog *catalog, const char *name, enum catalog_event_kind kind, int *event,
                         struct formula_symbol *out) {
    if (*event < 0) {
        int added = catalog_append_event(catalog, &(struct catalog_event_text){.name = name, .terms = ""}, kind);
        if (added < 0)
            return added;
        *event = added;
    }
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)*event};
    return 0;
}

// Has the loader add what the name stands for, where it is not there yet.
static int resolve(struct lookup *lookup, const char *name) {
    struct catalog *catalog = lookup->catalog;
    if (!catalog->resolver || (lookup->self && strcasecmp(lookup->self, name) == 0))
        return 0;
    int r = -EINVAL;
    catalog->depth++;
    if (catalog->depth > CATALOG_DEPTH_MAX)
        (void)fault_set(lookup->fault, "uses metrics of metrics more than %d deep, against the order of the file",
                        CATALOG_DEPTH_MAX);
    else
        r = catalog->resolver->resolve(catalog->resolver->context, name, lookup->fault);
    catalog->depth--;
    lookup->explained = r == -EINVAL;
    return r;
}

static int lookup_id(struct lookup *lookup, const char *name, struct formula_symbol *out) {
    struct catalog *catalog = lookup->catalog;
    int r = resolve(lookup, name);
    if (r < 0 || lookup_added(lookup, name, false, out) == 0 || lookup_added(lookup, name, true, out) == 0)
        return r;
    if (strcasecmp(name, "duration_time") == 0)
        return special_event(catalog, "duration_time", EVENT_DURATION, &catalog->duration_event, out);
    int event = catalog_add_modified(catalog, name);
    if (event >= 0)
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)event};
    return event < 0 ? event : 0;
}

static int lookup_literal(struct catalog *catalog, const char *name, size_t length, struct formula_symbol *out) {
    int literal = environment_find_literal(name, length);
    if (literal < 0)
        return -ENOENT;
    // without SMT a CPU is a core
    if (literal == LITERAL_CORE_WIDE && catalog->environment.literals[LITERAL_SMT_ON] != 0 &&
        isnan(catalog->environment.literals[LITERAL_CORE_WIDE]))
        return special_event(catalog, "#core_wide", EVENT_CORE_WIDE, &catalog->core_wide_event, out);
    *out = number(literal == LITERAL_CORE_WIDE && isnan(catalog->environment.literals[literal])
                      ? 1
                      : catalog->environment.literals[literal]);
    return 0;
}

static double has_event(const struct catalog *catalog, const char *name) {
    const struct environment *environment = &catalog->environment;
    if (environment->has_event)
        return environment->has_event(environment->context, name);
    return name_index_find(&catalog->event_index, name, strlen(name), true) >= 0;
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
        return lookup_literal(lookup->catalog, name, length, out);
    case FORMULA_HAS_EVENT:
        *out = number(has_event(lookup->catalog, text));
        return 0;
    case FORMULA_SOURCE_COUNT: // an event of a core PMU has one source on each CPU
    case FORMULA_AGGR_NR:
        *out = number(1);
        return 0;
    case FORMULA_CPUID:
        *out = number(environment_is_cpu(&lookup->catalog->environment, text));
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

int catalog_compile(struct catalog *catalog, const char *text, const char *self, struct formula **out,
                    struct fault *fault) {
    struct lookup lookup = {.catalog = catalog, .self = self, .fault = fault};
    struct formula *formula;
    int r = compile(&lookup, text, &formula);
    if (r < 0)
        return r;
    if (!lookup.asked) { // what this host decides may come to nothing but a number; a number in the file is a mistake
        formula_free(formula);
        return fault_set(fault, "the formula names no event");
    }
    // what is the same for one CPU and for many cannot be summed, so there is no numerator and denominator
    for (size_t i = 0; i < formula->n_variables; i++) {
        enum catalog_event_kind kind = catalog->events[formula->variables[i]].kind;
        formula->is_ratio = formula->is_ratio && kind != EVENT_DURATION && kind != EVENT_CORE_WIDE;
    }
    *out = formula;
    return 0;
}

// ---- names and units ----

static bool cut_suffix(char *name, const char *suffix) {
    size_t length = strlen(name), cut = strlen(suffix);
    if (length <= cut || strcmp(name + length - cut, suffix) != 0)
        return false;
    name[length - cut] = '\0';
    return true;
}

// The exported name where the spec gives none: lower case, and for per cent the words of the field instead of
// "percentage".
static void export_name_default(const char *name, bool percent, enum metric_domain domain, char *out, size_t size) {
    size_t length = 0;
    for (; name[length] != '\0' && length + 20 < size; length++)
        out[length] = isalnum((unsigned char)name[length]) ? (char)tolower((unsigned char)name[length]) : '_';
    out[length] = '\0';
    if (!percent)
        return;
    if (!cut_suffix(out, "_percentage") && !cut_suffix(out, "_ratio") && domain == METRIC_CLOCKS)
        cut_suffix(out, "_cycles");
    strcat(out, domain == METRIC_CLOCKS ? "_clocks_ratio" : "_ratio");
}

static bool export_name_is_sound(const char *name) {
    return strlen(name) <= CATALOG_NAME_MAX && name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static int export_name_check(const struct catalog *catalog, const char *name, struct fault *fault) {
    if (!export_name_is_sound(name))
        return fault_set(fault, "the export name '%.60s' is not made of a-z, 0-9 and _", name);
    if (family_collides(name))
        return fault_set(fault, "topdownd_%s is a family of the daemon's own: give the metric another name", name);
    int other = name_index_find(&catalog->export_index, name, strlen(name), false);
    return other < 0 ? 0
                     : fault_set(fault, "metric %s is exported as topdownd_%s already: give one of them another name",
                                 catalog->metrics[other].name, name);
}

static enum metric_domain domain_of(const char *units) {
    const char *of = strncmp(units, "percent of ", 11) == 0 ? units + 11
                     : strncmp(units, "share of ", 9) == 0  ? units + 9
                                                            : "";
    if (strcmp(of, "slots") == 0)
        return METRIC_PIPELINE_SLOTS;
    return strstr(of, "cycles") ? METRIC_CLOCKS : METRIC_OTHER;
}

// ---- adding ----

// "percent of" is 0 to 100, "share of" is 0 to 1.
static bool is_share(const char *units) {
    return strncmp(units, "percent", 7) == 0 || strncmp(units, "share of ", 9) == 0;
}

static int copy_texts(struct catalog_metric *metric, const struct catalog_metric_text *text, const char *export_name) {
    metric->name = catalog_copy(text->name);
    metric->export_name = catalog_copy(export_name);
    metric->title = catalog_copy(text->title);
    metric->help = catalog_copy(text->help);
    metric->units = catalog_copy(text->units);
    metric->formula_text = catalog_copy(text->formula);
    metric->meaning = catalog_copy(text->meaning);
    metric->threshold_text = catalog_copy("");
    metric->rate_advice = catalog_copy(text->rate_advice);
    return metric->name && metric->export_name && metric->title && metric->help && metric->units &&
                   metric->formula_text && metric->meaning && metric->threshold_text && metric->rate_advice
               ? 0
               : -ENOMEM;
}

// All of a metric but its formula.
static int metric_init(struct catalog *catalog, struct catalog_metric *metric, const struct catalog_metric_text *text,
                       struct fault *fault) {
    const char *units = text->units ? text->units : "";
    double scale = strncmp(units, "percent", 7) == 0 ? 0.01 : 1;
    char export_name[CATALOG_NAME_MAX + 32];
    metric->domain = domain_of(units);
    metric->export_scale = text->export_scale > 0 ? text->export_scale : scale;
    metric->rate_threshold = text->rate_threshold;
    metric->constraint = text->constraint;
    metric->parent = -1;
    if (text->export_name)
        (void)snprintf(export_name, sizeof export_name, "%s", text->export_name);
    else
        export_name_default(text->name, is_share(units), metric->domain, export_name, sizeof export_name);
    int r = export_name_check(catalog, export_name, fault);
    return r < 0 ? r : copy_texts(metric, text, export_name);
}

static int append_metric(struct catalog *catalog, struct catalog_metric *made) {
    struct catalog_metric *metric = catalog_grow((void **)&catalog->metrics, catalog->n_metrics, sizeof *metric);
    if (!metric || name_index_make_room(&catalog->metric_index) < 0 || name_index_make_room(&catalog->export_index) < 0)
        return -ENOMEM;
    (void)name_index_add(&catalog->metric_index, made->name, (unsigned)catalog->n_metrics);
    (void)name_index_add(&catalog->export_index, made->export_name, (unsigned)catalog->n_metrics);
    *metric = *made;
    return (int)catalog->n_metrics++;
}

static int check_metric(const struct catalog *catalog, const char *name, struct fault *fault) {
    int r = catalog_check_name("metric", name, catalog_find_metric(catalog, name) >= 0, fault);
    return r == 0 && catalog->n_metrics == CATALOG_METRICS_MAX
               ? fault_set(fault, "there are more than %d metrics", CATALOG_METRICS_MAX)
               : r;
}

// The formula first: it may add other metrics.
int catalog_add_metric(struct catalog *catalog, const struct catalog_metric_text *text, struct fault *fault) {
    struct catalog_metric metric = {0};
    int r = check_metric(catalog, text->name, fault);
    if (r == 0)
        r = catalog_compile(catalog, text->formula, text->name, &metric.formula, fault);
    if (r == 0) // it may have added others
        r = check_metric(catalog, text->name, fault);
    if (r == 0)
        r = metric_init(catalog, &metric, text, fault);
    if (r == 0 && text->rate_threshold > 0 && !metric.formula->is_ratio)
        r = fault_set(fault, "a rate threshold needs a formula of the form k A/B");
    if (r == 0)
        r = append_metric(catalog, &metric);
    if (r < 0)
        catalog_free_metric(&metric);
    return r;
}

// What the environment makes of a formula without events; NaN where that is nothing.
static double constant_of(struct catalog *catalog, const struct catalog_metric_text *text) {
    struct fault ignored;
    struct lookup lookup = {.catalog = catalog, .self = text->name, .fault = &ignored};
    struct formula *formula;
    if (compile(&lookup, text->formula, &formula) < 0)
        return NAN;
    double value =
        formula->n_variables == 0 && formula->n_metrics == 0 ? formula_evaluate_known(formula, NULL, NULL) : NAN;
    formula_free(formula);
    return value;
}

int catalog_add_unmeasurable(struct catalog *catalog, const struct catalog_metric_text *text, const char *reason,
                             struct fault *fault) {
    struct catalog_metric metric = {0};
    struct lookup lookup = {.catalog = catalog, .fault = fault};
    int r = check_metric(catalog, text->name, fault);
    if (r == 0) {
        metric.constant = constant_of(catalog, text);
        r = compile(&lookup, "NaN", &metric.formula);
    }
    if (r == 0)
        r = metric_init(catalog, &metric, text, fault);
    if (r == 0 && !(metric.unmeasurable = catalog_copy(reason)))
        r = -ENOMEM;
    if (r == 0)
        r = append_metric(catalog, &metric);
    if (r < 0)
        catalog_free_metric(&metric);
    return r;
}

int catalog_set_unmeasurable(struct catalog *catalog, unsigned metric, const char *reason) {
    struct fault fault;
    struct lookup lookup = {.catalog = catalog, .fault = &fault};
    struct formula *nothing;
    char *copied = catalog_copy(reason);
    int r = copied ? compile(&lookup, "NaN", &nothing) : -ENOMEM;
    if (r < 0) {
        free(copied);
        return r;
    }
    struct catalog_metric *made = &catalog->metrics[metric];
    formula_free(made->formula);
    free(made->unmeasurable);
    made->formula = nothing;
    made->unmeasurable = copied;
    made->constant = NAN;
    return 0;
}

int catalog_set_parent(struct catalog *catalog, unsigned metric, const char *parent, struct fault *fault) {
    int index = catalog_find_metric(catalog, parent);
    if (index < 0)
        return fault_set(fault, "its parent %.60s is no metric of the spec", parent);
    for (int above = index; above >= 0; above = catalog->metrics[above].parent)
        if (above == (int)metric)
            return fault_set(fault, "its parent %.60s is below it in the tree", parent);
    catalog->metrics[metric].parent = index;
    return 0;
}

int catalog_set_threshold(struct catalog *catalog, unsigned metric, const char *text, struct fault *fault) {
    struct lookup lookup = {.catalog = catalog, .threshold = true, .fault = fault};
    struct formula *formula;
    int r = compile(&lookup, text, &formula);
    if (r < 0)
        return r;
    for (size_t i = 0; i < formula->n_variables && r == 0; i++)
        r = fault_set(fault, "the threshold names %s, which is no metric", catalog->events[formula->variables[i]].name);
    char *copied = r == 0 ? catalog_copy(text) : NULL;
    if (r == 0 && !copied)
        r = -ENOMEM;
    if (r < 0) {
        formula_free(formula);
        return r;
    }
    formula_free(catalog->metrics[metric].threshold);
    free(catalog->metrics[metric].threshold_text);
    catalog->metrics[metric].threshold = formula;
    catalog->metrics[metric].threshold_text = copied;
    return 0;
}

bool catalog_metric_ratio(const struct catalog_metric *metric, double *k) {
    if (metric->formula->is_ratio)
        *k = metric->formula->scale * metric->export_scale;
    return metric->formula->is_ratio;
}
