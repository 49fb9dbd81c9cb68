// SPDX-License-Identifier: Apache-2.0
#include "core/catalog.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/catalog_level1.h"
#include "core/family.h"
#include "core/name.h"

// Arrays grow by one entry at a time: a spec has hundreds of entries and is read once.

enum { NAME_LENGTH_MAX = 120 };

const char *category_name(enum category category) {
    static const char *const names[CATEGORY_N] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound",
                                                  "smt_contention"};
    return names[category];
}

int catalog_fail(struct catalog_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

static char *copy(const char *text) { return strdup(text ? text : ""); }

static void event_deinit(struct catalog_event *event) {
    free(event->title);
    free(event->name);
}

static void metric_deinit(struct catalog_metric *metric) {
    free(metric->rate_advice);
    formula_free(metric->formula);
    free(metric->formula_text);
    free(metric->units);
    free(metric->help);
    free(metric->title);
    free(metric->export_name);
    free(metric->name);
}

static void group_deinit(struct catalog_group *group) {
    free(group->metrics);
    free(group->help);
    free(group->title);
    free(group->name);
}

struct catalog *catalog_free(struct catalog *catalog) {
    if (!catalog)
        return NULL;
    formula_free(catalog->level1.pipeline_slots);
    free(catalog->level1.pipeline_slots_text);
    for (size_t i = 0; i < catalog->n_groups; i++)
        group_deinit(&catalog->groups[i]);
    free(catalog->groups);
    for (size_t i = 0; i < catalog->n_metrics; i++)
        metric_deinit(&catalog->metrics[i]);
    free(catalog->metrics);
    for (size_t i = 0; i < catalog->n_events; i++)
        event_deinit(&catalog->events[i]);
    free(catalog->events);
    free(catalog->product.midrs);
    free(catalog->product.pmu);
    free(catalog->product.microarchitecture);
    free(catalog->product.name);
    free(catalog->product.vendor);
    free(catalog->product.spec);
    free(catalog);
    return NULL;
}

// Room for one more item in an array of n; NULL where memory is short.
static void *grow(void **array, size_t n, size_t size) {
    void *larger = realloc(*array, (n + 1) * size);
    if (!larger)
        return NULL;
    *array = larger;
    void *item = (char *)larger + n * size;
    memset(item, 0, size);
    return item;
}

static int event_append(struct catalog *catalog, const char *name, const char *title, uint64_t config) {
    struct catalog_event *event = grow((void **)&catalog->events, catalog->n_events, sizeof *event);
    if (!event)
        return -ENOMEM;
    *event = (struct catalog_event){.name = copy(name), .title = copy(title), .config = config};
    if (!event->name || !event->title) {
        event_deinit(event);
        return -ENOMEM;
    }
    return (int)catalog->n_events++;
}

int catalog_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture, const char *pmu,
                struct catalog **out) {
    struct catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return -ENOMEM;
    catalog->product = (struct catalog_product){.spec = copy(spec),
                                                .vendor = copy(vendor),
                                                .name = copy(name),
                                                .microarchitecture = copy(microarchitecture),
                                                .pmu = copy(pmu)};
    const struct catalog_product *product = &catalog->product;
    if (!product->spec || !product->vendor || !product->name || !product->microarchitecture || !product->pmu ||
        event_append(catalog, "cpu_seconds", "CPU time measured", 0) < 0) {
        catalog_free(catalog);
        return -ENOMEM;
    }
    *out = catalog;
    return 0;
}

int catalog_add_midr(struct catalog *catalog, uint32_t midr, struct catalog_error *error) {
    struct catalog_product *product = &catalog->product;
    // every core with 64 bits has 0xf in the architecture field, so this finds short forms such as 0x41d49
    if ((midr >> 16 & 0xf) != 0xf)
        return catalog_fail(
            error, "0x%08x is not a whole MIDR_EL1: its fifth hexadecimal digit from the right must be f", midr);
    for (size_t i = 0; i < product->n_midrs; i++)
        if (product->midrs[i] == midr)
            return catalog_fail(error, "the MIDR 0x%08x stands twice: remove one", midr);
    if (product->n_midrs == CATALOG_MIDRS_MAX)
        return catalog_fail(error, "there are more than %d MIDRs", CATALOG_MIDRS_MAX);
    uint32_t *item = grow((void **)&product->midrs, product->n_midrs, sizeof *item);
    if (!item)
        return -ENOMEM;
    *item = midr;
    return (int)product->n_midrs++;
}

void catalog_set_generic(struct catalog *catalog) { catalog->product.generic = true; }

int catalog_find_event(const struct catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->n_events; i++)
        if (strcmp(catalog->events[i].name, name) == 0)
            return (int)i;
    return -1;
}

int catalog_find_metric(const struct catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->n_metrics; i++)
        if (strcmp(catalog->metrics[i].name, name) == 0)
            return (int)i;
    return -1;
}

int catalog_find_group(const struct catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->n_groups; i++)
        if (name_equal(catalog->groups[i].name, name))
            return (int)i;
    return -1;
}

// Names end up in labels, paths of messages and family names: printable ASCII without quotes and backslashes.
static bool name_is_sound(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > NAME_LENGTH_MAX)
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c) || *c == '"' || *c == '\\')
            return false;
    return true;
}

static int name_check(const char *kind, const char *name, bool exists, struct catalog_error *error) {
    if (!name_is_sound(name))
        return catalog_fail(
            error, "the %s name '%.40s' is empty, too long or has characters other than printable ASCII", kind, name);
    if (exists)
        return catalog_fail(error, "the %s %s stands twice: remove one", kind, name);
    return 0;
}

int catalog_add_event(struct catalog *catalog, const char *name, const char *title, uint64_t config,
                      struct catalog_error *error) {
    int r = name_check("event", name, catalog_find_event(catalog, name) >= 0, error);
    if (r < 0)
        return r;
    if (catalog->n_events == CATALOG_EVENTS_MAX)
        return catalog_fail(error, "there are more than %d events", CATALOG_EVENTS_MAX);
    return event_append(catalog, name, title, config);
}

int catalog_set_counters(struct catalog *catalog, unsigned general, const char *const *fixed_events, size_t n_fixed,
                         struct catalog_error *error) {
    for (size_t i = 0; i < n_fixed; i++) {
        int event = catalog_find_event(catalog, fixed_events[i]);
        if (event <= CATALOG_CPU_SECONDS)
            return catalog_fail(error, "the fixed counter's event %.60s is not among the events", fixed_events[i]);
        catalog->events[event].fixed = true;
    }
    catalog->general_counters = general;
    return 0;
}

static int lookup_event(void *context, enum formula_name_kind kind, const char *name, size_t length,
                        struct formula_symbol *out) {
    const struct catalog *catalog = context;
    for (size_t i = 0; i < catalog->n_events && kind == FORMULA_ID; i++)
        if (strlen(catalog->events[i].name) == length && memcmp(catalog->events[i].name, name, length) == 0) {
            *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = (unsigned)i};
            return 0;
        }
    return -ENOENT;
}

int catalog_compile(struct catalog *catalog, const char *text, struct formula **out, struct catalog_error *error) {
    const struct formula_scope scope = {.lookup = lookup_event, .context = catalog};
    struct formula_error formula_error;
    int r = formula_compile(text, &scope, out, &formula_error);
    if (r == -EINVAL)
        return catalog_fail(error, "formula, column %zu: %s", formula_error.column, formula_error.text);
    if (r == 0 && (*out)->n_variables == 0) {
        *out = formula_free(*out);
        return catalog_fail(error, "the formula names no event");
    }
    return r;
}

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
    return strlen(name) <= NAME_LENGTH_MAX && name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static int export_name_check(const struct catalog *catalog, const char *name, struct catalog_error *error) {
    if (!export_name_is_sound(name))
        return catalog_fail(error, "the export name '%.60s' is not made of a-z, 0-9 and _", name);
    if (family_collides(name))
        return catalog_fail(error, "topdownd_%s is a family of the daemon's own: give the metric another name", name);
    for (size_t i = 0; i < catalog->n_metrics; i++)
        if (strcmp(catalog->metrics[i].export_name, name) == 0)
            return catalog_fail(error, "metric %s is exported as topdownd_%s already: give one of them another name",
                                catalog->metrics[i].name, name);
    return 0;
}

static enum metric_domain domain_of(const char *units) {
    if (strncmp(units, "percent of ", 11) != 0)
        return METRIC_OTHER;
    if (strcmp(units + 11, "slots") == 0)
        return METRIC_PIPELINE_SLOTS;
    return strstr(units, "cycles") ? METRIC_CLOCKS : METRIC_OTHER;
}

static int metric_init(struct catalog *catalog, struct catalog_metric *metric, const struct catalog_metric_text *text,
                       struct catalog_error *error) {
    const char *units = text->units ? text->units : "";
    bool percent = strncmp(units, "percent", 7) == 0;
    metric->domain = domain_of(units);
    metric->export_scale = percent ? 0.01 : 1;
    metric->rate_threshold = text->rate_threshold;
    char export_name[NAME_LENGTH_MAX + 32];
    if (text->export_name)
        (void)snprintf(export_name, sizeof export_name, "%s", text->export_name);
    else
        export_name_default(text->name, percent, metric->domain, export_name, sizeof export_name);
    int r = export_name_check(catalog, export_name, error);
    if (r < 0)
        return r;
    metric->name = copy(text->name);
    metric->export_name = copy(export_name);
    metric->title = copy(text->title);
    metric->help = copy(text->help);
    metric->units = copy(units);
    metric->formula_text = copy(text->formula);
    metric->rate_advice = copy(text->rate_advice);
    if (!metric->name || !metric->export_name || !metric->title || !metric->help || !metric->units ||
        !metric->formula_text || !metric->rate_advice)
        return -ENOMEM;
    return catalog_compile(catalog, text->formula, &metric->formula, error);
}

int catalog_add_metric(struct catalog *catalog, const struct catalog_metric_text *text, struct catalog_error *error) {
    int r = name_check("metric", text->name, catalog_find_metric(catalog, text->name) >= 0, error);
    if (r < 0)
        return r;
    if (catalog->n_metrics == CATALOG_METRICS_MAX)
        return catalog_fail(error, "there are more than %d metrics", CATALOG_METRICS_MAX);
    struct catalog_metric *metric = grow((void **)&catalog->metrics, catalog->n_metrics, sizeof *metric);
    if (!metric)
        return -ENOMEM;
    r = metric_init(catalog, metric, text, error);
    if (r == 0 && metric->rate_threshold > 0 && !metric->formula->is_ratio)
        r = catalog_fail(error, "a rate threshold needs a formula of the form k A/B");
    if (r < 0) {
        metric_deinit(metric);
        return r;
    }
    return (int)catalog->n_metrics++;
}

// Adds a group; metrics that stand in it already are left out.
static int group_append(struct catalog *catalog, const char *name, const char *title, const char *help,
                        const unsigned *metrics, size_t n) {
    struct catalog_group *group = grow((void **)&catalog->groups, catalog->n_groups, sizeof *group);
    if (!group)
        return -ENOMEM;
    *group = (struct catalog_group){
        .name = copy(name), .title = copy(title), .help = copy(help), .metrics = calloc(n + 1, sizeof *metrics)};
    if (!group->name || !group->title || !group->help || !group->metrics) {
        group_deinit(group);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < group->n_metrics && group->metrics[j] != metrics[i])
            j++;
        if (j == group->n_metrics)
            group->metrics[group->n_metrics++] = metrics[i];
    }
    return (int)catalog->n_groups++;
}

static int group_check(const struct catalog *catalog, const char *name, struct catalog_error *error) {
    if (catalog->n_groups == CATALOG_GROUPS_MAX)
        return catalog_fail(error, "there are more than %d metric groups", CATALOG_GROUPS_MAX);
    return name_check("metric group", name, catalog_find_group(catalog, name) >= 0, error);
}

int catalog_add_group(struct catalog *catalog, const char *name, const char *title, const char *help,
                      const char *const *metrics, size_t n_metrics, struct catalog_error *error) {
    int r = group_check(catalog, name, error);
    if (r < 0)
        return r;
    unsigned *indexes = calloc(n_metrics + 1, sizeof *indexes);
    if (!indexes)
        return -ENOMEM;
    for (size_t i = 0; i < n_metrics && r == 0; i++) {
        int metric = catalog_find_metric(catalog, metrics[i]);
        if (metric < 0)
            r = catalog_fail(error, "metric group %s names the metric %.60s, which the spec does not have", name,
                             metrics[i]);
        else
            indexes[i] = (unsigned)metric;
    }
    if (r == 0)
        r = group_append(catalog, name, title, help, indexes, n_metrics);
    free(indexes);
    return r;
}

int catalog_add_union(struct catalog *catalog, const char *name, const char *const *groups, size_t n_groups,
                      struct catalog_error *error) {
    int r = group_check(catalog, name, error);
    if (r < 0)
        return r;
    size_t n = 0, room = 1;
    for (size_t i = 0; i < n_groups; i++) {
        int group = catalog_find_group(catalog, groups[i]);
        if (group < 0)
            return catalog_fail(error, "%s names the metric group %.60s, which the spec does not have", name,
                                groups[i]);
        room += catalog->groups[group].n_metrics;
    }
    unsigned *indexes = calloc(room, sizeof *indexes);
    if (!indexes)
        return -ENOMEM;
    for (size_t i = 0; i < n_groups; i++) {
        const struct catalog_group *group = &catalog->groups[catalog_find_group(catalog, groups[i])];
        memcpy(indexes + n, group->metrics, group->n_metrics * sizeof *indexes);
        n += group->n_metrics;
    }
    r = group_append(catalog, name, name, "", indexes, n);
    free(indexes);
    return r;
}

bool catalog_metric_ratio(const struct catalog_metric *metric, double *k) {
    if (metric->formula->is_ratio)
        *k = metric->formula->scale * metric->export_scale;
    return metric->formula->is_ratio;
}
