// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/base_unit.h"
#include "core/spec/catalog_builder_private.h"
#include "core/spec/family.h"

// Metrics: their exported names, and the needs of their formulas and thresholds.

// ---- names and units ----

static bool cut_suffix(char *name, const char *suffix) {
    size_t length = strlen(name), cut = strlen(suffix);
    if (length <= cut || strcmp(name + length - cut, suffix) != 0)
        return false;
    name[length - cut] = '\0';
    return true;
}

// The default exported name: in lower case, and for per cent the field's words instead of "percentage".
static void export_name_default(const char *name, bool percent, enum metric_domain domain, char *out, size_t size) {
    size_t length = 0;
    for (; name[length] != '\0' && length + 32 < size; length++)
        out[length] = isalnum((unsigned char)name[length]) ? (char)tolower((unsigned char)name[length]) : '_';
    out[length] = '\0';
    if (!percent)
        return;
    if (!cut_suffix(out, "_percentage") && !cut_suffix(out, "_ratio") && domain == METRIC_CLOCKS)
        cut_suffix(out, "_cycles");
    strcat(out, domain == METRIC_CLOCKS ? "_clocks_ratio" : domain == METRIC_STALLS ? "_stalls_ratio" : "_ratio");
}

// An exported name, or the key of a definition.
static bool word_is_sound(const char *name) {
    return strlen(name) <= CATALOG_NAME_MAX && name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

// An alternative has the exported name of the metric that it stands for.
static int export_name_check(const struct catalog_builder *builder, const char *name, int stands_for,
                             struct fault *fault) {
    if (!word_is_sound(name))
        return fault_set(fault, "the export name '%.60s' is not made of a-z, 0-9 and _", name);
    if (family_collides(name))
        return fault_set(fault, "topdownd_%s is a family of the daemon's own: give the metric another name", name);
    int other = name_index_find(&builder->export_index, name, strlen(name), false);
    return other == stands_for
               ? 0
               : fault_set(fault, "metric %s is exported as topdownd_%s already: give one of them another name",
                           builder->catalog->metrics[other].name, name);
}

static enum metric_domain domain_of(const char *units) {
    const char *of = strncmp(units, "percent of ", 11) == 0 ? units + 11
                     : strncmp(units, "share of ", 9) == 0  ? units + 9
                                                            : "";
    if (strcmp(of, "slots") == 0)
        return METRIC_PIPELINE_SLOTS;
    if (strstr(of, "stall"))
        return METRIC_STALLS;
    return strstr(of, "cycles") ? METRIC_CLOCKS : METRIC_OTHER;
}

// ---- adding ----

// "percent of" is 0 to 100, "share of" is 0 to 1.
static bool is_share(const char *units) {
    return strncmp(units, "percent", 7) == 0 || strncmp(units, "share of ", 9) == 0;
}

static int copy_texts(struct catalog_metric *metric, const struct catalog_metric_text *text, const char *export_name) {
    metric->name = catalog_entry_copy(text->name);
    metric->vendor = catalog_entry_copy(text->vendor);
    metric->export_name = catalog_entry_copy(export_name);
    metric->title = catalog_entry_copy(text->title);
    metric->help = catalog_entry_copy(text->help);
    metric->units = catalog_entry_copy(text->units);
    metric->formula_text = catalog_entry_copy(text->formula);
    metric->meaning = catalog_entry_copy(text->meaning);
    metric->threshold_text = catalog_entry_copy("");
    metric->rate_advice = catalog_entry_copy(text->rate_advice);
    metric->definition = catalog_entry_copy(text->definition);
    return metric->name && metric->vendor && metric->export_name && metric->title && metric->help && metric->units &&
                   metric->formula_text && metric->meaning && metric->threshold_text && metric->rate_advice &&
                   metric->definition
               ? 0
               : -ENOMEM;
}

// Sets all of a metric except its formula.
static int metric_init(const struct catalog_builder *builder, struct catalog_metric *metric,
                       const struct catalog_metric_text *text, int stands_for, struct fault *fault) {
    const char *units = text->units ? text->units : "";
    double scale = strncmp(units, "percent", 7) == 0 ? 0.01 : 1;
    const struct base_unit *other = base_unit_find(units);
    char export_name[CATALOG_NAME_MAX + 64];
    metric->domain = domain_of(units);
    metric->export_scale = (text->export_scale > 0 ? text->export_scale : scale) * (other ? other->factor : 1);
    if (text->made_scale > 0)
        metric->export_scale = text->made_scale;
    metric->rate_threshold = text->rate_threshold;
    metric->constraint = text->constraint;
    metric->waits = text->waits;
    metric->parent = metric->included_in = metric->alternative = -1;
    metric->stands_for = stands_for;
    if (text->export_name)
        (void)snprintf(export_name, sizeof export_name, "%s", text->export_name);
    else
        export_name_default(text->name, is_share(units), metric->domain, export_name, sizeof export_name);
    if (!text->export_name && other)
        strcat(export_name, other->suffix); // export_name_default leaves room
    int r = export_name_check(builder, export_name, stands_for, fault);
    if (r == 0 && text->definition && !word_is_sound(text->definition))
        r = fault_set(fault, "its definition '%.60s' is not made of a-z, 0-9 and _", text->definition);
    return r < 0 ? r : copy_texts(metric, text, export_name);
}

static int append_metric(struct catalog_builder *builder, struct catalog_metric *made) {
    struct catalog *catalog = builder->catalog;
    struct catalog_metric *metric = catalog_entry_grow((void **)&catalog->metrics, catalog->n_metrics, sizeof *metric);
    if (!metric || name_index_make_room(&catalog->names.metrics) < 0 ||
        name_index_make_room(&builder->export_index) < 0)
        return -ENOMEM;
    (void)name_index_add(&catalog->names.metrics, made->name, (unsigned)catalog->n_metrics);
    if (made->stands_for < 0)
        (void)name_index_add(&builder->export_index, made->export_name, (unsigned)catalog->n_metrics);
    *metric = *made;
    return (int)catalog->n_metrics++;
}

static int check_metric(const struct catalog *catalog, const char *name, struct fault *fault) {
    int r = catalog_entry_check_name("metric", name, catalog_find_metric(catalog, name) >= 0, fault);
    return r == 0 && catalog->n_metrics == CATALOG_METRICS_MAX
               ? fault_set(fault, "there are more than %d metrics", CATALOG_METRICS_MAX)
               : r;
}

// Compiles the formula first: it may add other metrics.
static int add_measurable(struct catalog_builder *builder, const struct catalog_metric_text *text, int stands_for,
                          struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    struct catalog_metric metric = {0};
    int r = check_metric(catalog, text->name, fault);
    if (r == 0)
        r = builder_compile(builder, text->formula, text->name, &metric.formula, fault);
    if (r == 0) // compilation may have added others
        r = check_metric(catalog, text->name, fault);
    if (r == 0)
        r = metric_init(builder, &metric, text, stands_for, fault);
    if (r == 0 && text->rate_threshold > 0 && !metric.formula->is_ratio)
        r = fault_set(fault, "a rate threshold needs a formula of the form k A/B");
    if (r == 0)
        r = append_metric(builder, &metric);
    if (r < 0)
        catalog_entry_free_metric(&metric);
    return r;
}

int catalog_builder_add_metric(struct catalog_builder *builder, const struct catalog_metric_text *text,
                               struct fault *fault) {
    return add_measurable(builder, text, -1, fault);
}

static int check_alternative(const struct catalog *catalog, unsigned metric, const char *definition,
                             struct fault *fault) {
    bool known = !definition || !word_is_sound(definition);
    for (int m = (int)metric; m >= 0 && !known; m = catalog->metrics[m].alternative)
        known = catalog->metrics[m].definition[0] == '\0' || strcmp(catalog->metrics[m].definition, definition) == 0;
    return known ? fault_set(fault, "an alternative needs a definition of its own, and so does the metric") : 0;
}

int catalog_builder_add_alternative(struct catalog_builder *builder, unsigned metric,
                                    const struct catalog_metric_text *text, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    const struct catalog_metric of = catalog->metrics[metric]; // its strings stay where they are
    char name[2 * CATALOG_NAME_MAX + 2];
    int r = check_alternative(catalog, metric, text->definition, fault);
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof name, "%s.%s", of.name, text->definition);
    struct catalog_metric_text all = {.name = name,
                                      .vendor = of.vendor,
                                      .export_name = of.export_name,
                                      .title = text->title ? text->title : of.title,
                                      .help = text->help ? text->help : of.help,
                                      .units = of.units,
                                      .formula = text->formula,
                                      .meaning = of.meaning,
                                      .waits = of.waits,
                                      .rate_threshold = of.rate_threshold,
                                      .rate_advice = of.rate_advice,
                                      .definition = text->definition};
    r = add_measurable(builder, &all, (int)metric, fault);
    unsigned last = metric;
    while (catalog->metrics[last].alternative >= 0)
        last = (unsigned)catalog->metrics[last].alternative;
    if (r >= 0)
        catalog->metrics[last].alternative = r;
    return r;
}

int catalog_builder_add_unmeasurable(struct catalog_builder *builder, const struct catalog_metric_text *text,
                                     const char *reason, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    struct catalog_metric metric = {0};
    int r = check_metric(catalog, text->name, fault);
    if (r == 0)
        r = builder_compile_nothing(&metric.formula);
    if (r == 0)
        r = metric_init(builder, &metric, text, -1, fault);
    if (r == 0 && !(metric.unmeasurable = catalog_entry_copy(reason)))
        r = -ENOMEM;
    if (r == 0)
        r = append_metric(builder, &metric);
    if (r < 0)
        catalog_entry_free_metric(&metric);
    return r;
}

int catalog_builder_set_unmeasurable(struct catalog_builder *builder, unsigned metric, const char *reason) {
    struct catalog *catalog = builder->catalog;
    struct formula *nothing;
    char *copied = catalog_entry_copy(reason);
    int r = copied ? builder_compile_nothing(&nothing) : -ENOMEM;
    if (r < 0) {
        free(copied);
        return r;
    }
    struct catalog_metric *made = &catalog->metrics[metric];
    formula_free(made->formula);
    free(made->unmeasurable);
    made->formula = nothing;
    made->unmeasurable = copied;
    return 0;
}

int catalog_builder_set_parent(struct catalog_builder *builder, unsigned metric, const char *parent,
                               struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int index = builder_find_metric(catalog, parent);
    if (index < 0)
        return fault_set(fault, "its parent %.60s is no metric of the spec", parent);
    for (int above = index; above >= 0; above = catalog->metrics[above].parent)
        if (above == (int)metric)
            return fault_set(fault, "its parent %.60s is below it in the tree", parent);
    catalog->metrics[metric].parent = index;
    return 0;
}

int catalog_builder_set_included(struct catalog_builder *builder, unsigned metric, const char *sibling,
                                 struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int whole = builder_find_metric(catalog, sibling), parent = catalog->metrics[metric].parent;
    if (whole < 0)
        return fault_set(fault, "%.60s, which is to include it, is no metric of the spec", sibling);
    if (whole == (int)metric || parent < 0 || catalog->metrics[whole].parent != parent)
        return fault_set(fault, "%.60s is no sibling of it: only metrics with one parent are compared", sibling);
    if (catalog->metrics[whole].included_in >= 0)
        return fault_set(fault, "%.60s is itself included in %.60s: name that one", sibling,
                         catalog->metrics[catalog->metrics[whole].included_in].name);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].included_in == (int)metric)
            return fault_set(fault, "it includes %.60s itself: let %.60s be included in %.60s instead",
                             catalog->metrics[m].name, catalog->metrics[m].name, sibling);
    catalog->metrics[metric].included_in = whole;
    return 0;
}

int catalog_builder_set_threshold(struct catalog_builder *builder, unsigned metric, const char *text,
                                  struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    struct formula *formula;
    int r = builder_compile_threshold(builder, text, &formula, fault);
    if (r < 0)
        return r;
    for (size_t i = 0; i < formula->n_variables && r == 0; i++)
        r = fault_set(fault, "the threshold names %s, which is no metric", catalog->events[formula->variables[i]].name);
    char *copied = r == 0 ? catalog_entry_copy(text) : NULL;
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
    int alternative = catalog->metrics[metric].alternative;
    return alternative >= 0 ? catalog_builder_set_threshold(builder, (unsigned)alternative, text, fault) : 0;
}

// Totals in bytes are its numerator times its factor, so nothing else may scale them.
static bool counts_bytes(const struct catalog_metric *metric) {
    const struct formula *formula = metric->formula;
    return formula->is_ratio && formula->denominator.n == 1 &&
           formula->denominator.terms[0].variable == CATALOG_CPU_SECONDS &&
           formula->denominator.terms[0].coefficient == 1;
}

int catalog_builder_set_traffic(struct catalog_builder *builder, unsigned metric, const char *traffic,
                                struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    enum traffic found = traffic_find(traffic);
    if (found == TRAFFIC_NONE)
        return fault_set(fault, "there is no traffic '%.60s'", traffic);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].traffic == found)
            return fault_set(fault, "metric %s tells this traffic already", catalog->metrics[m].name);
    if (!counts_bytes(&catalog->metrics[metric]))
        return fault_set(fault, "its formula is not bytes times events, per cpu_seconds");
    catalog->metrics[metric].traffic = found;
    return 0;
}
