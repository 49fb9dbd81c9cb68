// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/vendor/perf_json_private.h"
#include "core/spec/family.h"

// Metrics, each added after those that it uses (struct catalog_resolver). Unmeasurable ones are kept with their reason.
// If a condition that the host decides rules out a branch, the branch's needs do not count.

enum { DEPTH_MAX = 256, UNITS_MAX = 160, EXPORT_NAME_MAX = 128 };

static int read_metric(struct perf_reader *reader, struct perf_item *item);

// ---- names in formulas ----

// struct catalog_resolver
static int resolve(void *context, const char *name, struct fault *fault) {
    struct perf_reader *reader = context;
    int i = name_index_find(&reader->metrics, name, strlen(name), true);
    if (i < 0)
        return catalog_find_metric(reader->catalog, name) >= 0 || catalog_is_special_name(name)
                   ? 0
                   : perf_event_resolve(reader, name, fault);
    struct perf_item *item = &reader->items[i];
    const char *wrong = NULL;
    if (item->metric_state == PERF_UNREAD && reader->depth < DEPTH_MAX) {
        int r = read_metric(reader, item);
        if (r < 0)
            return r;
    }
    if (item->metric_state == PERF_BEING_READ)
        wrong = "leads back to itself";
    else if (item->metric_state == PERF_UNREAD)
        wrong = "is nested too deeply";
    else if (item->metric_state == PERF_WRONG)
        wrong = "is wrong";
    if (!wrong)
        return 0;
    reader->report = true;
    return fault_set(fault, "uses the metric %.100s, which %s", name, wrong);
}

// ---- units ----

// Converts "100%" to "share of the whole" and the export factor; `out` gets the units. A level's shares are of slots,
// though a file may say that the slots are filled with ops.
static void read_units(const struct perf_reader *reader, const struct perf_entry *entry, bool of_slots, char *out,
                       double *scale) {
    const char *text = entry->fields[PERF_SCALE_UNIT], *unit = "";
    *scale = 1;
    if (text && !perf_scale_unit(text, scale, &unit)) {
        perf_entry_fail(entry, reader->errors, "its ScaleUnit '%.40s' does not begin with a number: it is ignored",
                        text);
        *scale = 1;
        unit = "";
    }
    bool sign = unit[0] == '%', word = strncmp(unit, "percent of ", 11) == 0;
    if (!sign && !word) {
        (void)snprintf(out, UNITS_MAX, "%.100s", unit);
        return;
    }
    const char *whole = of_slots ? "slots" : word ? unit + 11 : unit[1] != '\0' ? unit + 1 : "the whole";
    bool percent = *scale == 1; // the formula itself gives 0 to 100
    *scale /= 100;
    (void)snprintf(out, UNITS_MAX, "%s of %.100s", percent ? "percent" : "share", whole);
}

static bool in_group(const char *groups, const char *name) {
    size_t length = strlen(name);
    for (const char *at = groups; at && *at != '\0'; at += strcspn(at, ";"), at += *at == ';')
        if (strncmp(at, name, length) == 0 && strchr("; ", at[length]))
            return true;
    return false;
}

// True if one of the metric's groups is a level whose shares are of pipeline slots.
static bool is_of_slots(const struct perf_reader *reader, const struct perf_entry *entry) {
    for (size_t i = 0; i < reader->slots_groups.n; i++)
        if (in_group(entry->fields[PERF_METRIC_GROUP], reader->slots_groups.texts[i]))
            return true;
    return false;
}

static enum metric_constraint read_constraint(const struct perf_reader *reader, const struct perf_entry *entry) {
    static const struct {
        const char *name;
        enum metric_constraint constraint;
    } known[] = {{"NO_GROUP_EVENTS", CONSTRAINT_NO_GROUP},
                 {"NO_GROUP_EVENTS_NMI", CONSTRAINT_NO_GROUP_NMI},
                 {"NO_NMI_WATCHDOG", CONSTRAINT_NO_GROUP_NMI},
                 {"NO_GROUP_EVENTS_SMT", CONSTRAINT_NO_GROUP_SMT},
                 {"NO_THRESHOLD_AND_NMI", CONSTRAINT_NO_THRESHOLD_AND_NMI}};
    const char *text = entry->fields[PERF_METRIC_CONSTRAINT];
    if (!text || text[0] == '\0')
        return CONSTRAINT_NONE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, text) == 0)
            return known[i].constraint;
    perf_entry_fail(entry, reader->errors, "its MetricConstraint %.40s is not known: its events are not grouped", text);
    return CONSTRAINT_NO_GROUP;
}

// Prefixes a vendor's name with "perf_" if its exported name would collide with one of the daemon's own families; NULL:
// it does not.
static const char *other_export_name(const char *name, const char *units, char *out) {
    size_t length = (size_t)snprintf(out, EXPORT_NAME_MAX, "perf_%.100s", name);
    for (size_t i = 0; i < length; i++)
        out[i] = isalnum((unsigned char)out[i]) ? (char)tolower((unsigned char)out[i]) : '_';
    bool share = strncmp(units, "share of ", 9) == 0 || strncmp(units, "percent of ", 11) == 0;
    if (share)
        (void)snprintf(out + length, EXPORT_NAME_MAX - length, "_ratio");
    return family_collides(out + 5) ? out : NULL;
}

// ---- adding ----

static bool counts_here(const struct perf_reader *reader, unsigned pmu) {
    if (reader->request->boxes)
        return perf_boxes_have(reader, reader->catalog->pmus[pmu]);
    return pmu == 0 || cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(reader->root.value, "cpu_pmus"),
                                           reader->catalog->pmus[pmu]);
}

// Events of PMUs outside the cores have no window in common with these. A kind of such PMUs measures the metric.
static void tell_elsewhere(struct perf_reader *reader, const struct catalog_event *event, const char *formula,
                           struct fault *out) {
    char kind[PERF_JOINED_NAME_MAX];
    struct perf_json_joined needed;
    const char *pmu = reader->catalog->pmus[event->code.pmu];
    bool group = !reader->request->boxes && (strncmp(pmu, "uncore_", 7) == 0 || strncmp(pmu, "amd_", 4) == 0) &&
                 perf_boxes_needed(reader, formula, &needed);
    if (group)
        perf_json_joined_name(&needed, kind);
    (void)fault_set_kind(out, FAULT_EVENT, 0, "needs %.80s of the PMU %.60s, which %s%s%.90s%s", event->name, pmu,
                         reader->request->boxes ? "does not count with these" : "does not count by CPU",
                         group ? ": 'uncore: {groups: [" : "", group ? kind : "",
                         !group          ? ""
                         : needed.n == 1 ? "]}' measures metrics of that PMU alone"
                                         : "]}' measures metrics of these PMUs together");
}

// Finds the reason why no host can measure the inputs of a formula, which was made of `text`; false if none is known.
static bool find_obstacle(struct perf_reader *reader, const struct formula *formula, const char *text,
                          struct fault *out) {
    const struct catalog *catalog = reader->catalog;
    for (size_t i = 0; i < formula->n_variables; i++) {
        const struct catalog_event *event = &catalog->events[formula->variables[i]];
        bool elsewhere = event->kind == EVENT_COUNTED && !counts_here(reader, event->code.pmu);
        if (!elsewhere && !event->sampling_only)
            continue;
        if (elsewhere)
            tell_elsewhere(reader, event, text, out);
        else
            (void)fault_set_kind(out, FAULT_EVENT, 0, "needs %.100s, which can only be sampled", event->name);
        return true;
    }
    for (size_t i = 0; i < formula->n_metrics; i++) {
        const struct catalog_metric *used = &catalog->metrics[formula->metrics[i]];
        if (!used->unmeasurable)
            continue;
        (void)fault_set(out, "uses %.80s, which cannot be measured: %.180s", used->name, used->unmeasurable);
        return true;
    }
    return false;
}

// Adds a metric. Returns 0 if it can be measured, 1 with the reason in *fault if it cannot, -EINVAL with the reason if
// it was not added; -ENOMEM.
static int add_metric(struct perf_reader *reader, const struct catalog_metric_text *text, struct fault *fault) {
    int r = catalog_builder_add_metric(reader->builder, text, fault);
    if (r >= 0 && !find_obstacle(reader, reader->catalog->metrics[r].formula, text->formula, fault))
        return 0;
    if (r >= 0) {
        r = catalog_builder_set_unmeasurable(reader->builder, (unsigned)r, fault->text);
    } else if (r == -EINVAL) {
        const struct fault obstacle = *fault;
        r = catalog_builder_add_unmeasurable(reader->builder, text, obstacle.text, fault);
    }
    return r < 0 ? r : 1;
}

// A formula that does not parse is the file's fault; an unknown name may be the host's.
static bool is_mistake(const struct fault *fault) { return fault->kind == FAULT_FORMULA; }

static int read_formula(struct perf_reader *reader, struct perf_item *item, const char *formula) {
    struct fault fault = {.text = ""};
    struct perf_entry entry;
    const char *name = item->metric;
    char units[UNITS_MAX], made[EXPORT_NAME_MAX];
    bool outer = reader->report;
    struct catalog_metric_text text = {.name = name, .title = name, .formula = formula};
    perf_item_read(reader, item, &entry);
    item->metric_state = PERF_BEING_READ;
    reader->report = false;
    read_units(reader, &entry, is_of_slots(reader, &entry), units, &text.export_scale);
    text.units = units;
    text.help = entry.fields[PERF_PUBLIC] ? entry.fields[PERF_PUBLIC] : entry.fields[PERF_BRIEF];
    text.export_name = perf_tree_text(reader, "names", name);
    text.definition = perf_tree_text(reader, "definitions", name);
    if (!text.export_name)
        text.export_name = other_export_name(name, units, made);
    text.constraint = read_constraint(reader, &entry);
    // a metric's own name means the event
    int event = name_index_find(&reader->events, name, strlen(name), true);
    int r = event >= 0 ? perf_event_resolve(reader, name, &fault) : 0;
    reader->depth++;
    if (r != -ENOMEM)
        r = add_metric(reader, &text, &fault);
    reader->depth--;
    item->metric_state = r >= 0 ? PERF_READ : PERF_WRONG;
    if (r == -EINVAL || (r == 1 && (reader->report || is_mistake(&fault))))
        perf_entry_fail(&entry, reader->errors, "%s", fault.text);
    reader->report = outer;
    return r == -ENOMEM ? r : 0;
}

static int read_metric(struct perf_reader *reader, struct perf_item *item) {
    if (!reader->request->boxes)
        return read_formula(reader, item, item->formula);
    char *formula = perf_boxes_formula(reader, item->formula);
    int r = formula ? read_formula(reader, item, formula) : -ENOMEM;
    free(formula);
    return r;
}

// Adds the tree's metrics whose events are in the files, unless the files have a metric of that name.
static int read_own(struct perf_reader *reader) {
    struct json_node metrics;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_array(&reader->tree, "metrics", JSON_OPTIONAL, PERF_LIST_MAX, &metrics))
        return reader->trees_reader.status;
    cJSON_ArrayForEach(value, metrics.value) {
        const struct json_node metric = json_child(&metrics, value, index++);
        struct catalog_metric_text text = {.name = NULL};
        const char *needs = NULL;
        struct fault fault;
        if (!json_is_object(&metric) || !json_get_text(&metric, "name", JSON_REQUIRED, &text.name) ||
            !json_get_text(&metric, "formula", JSON_REQUIRED, &text.formula) ||
            !json_get_text(&metric, "title", JSON_REQUIRED, &text.title) ||
            !json_get_text(&metric, "units", JSON_REQUIRED, &text.units) ||
            name_index_find(&reader->metrics, text.name, strlen(text.name), true) >= 0)
            continue;
        if (json_get_text(&metric, "needs", JSON_OPTIONAL, &needs) && catalog_find_event(reader->catalog, needs) < 0)
            continue;
        text.export_name = perf_tree_text(reader, "names", text.name);
        (void)json_get_text(&metric, "definition", JSON_OPTIONAL, &text.definition);
        int r = catalog_builder_add_metric(reader->builder, &text, &fault);
        if (r == -ENOMEM)
            return r;
    }
    return 0;
}

int perf_metrics_read(struct perf_reader *reader) {
    const struct catalog_resolver resolver = {.resolve = resolve, .context = reader};
    int r = 0;
    if (reader->request->boxes)
        perf_boxes_list(reader);
    catalog_builder_set_resolver(reader->builder, &resolver);
    for (size_t i = 0; i < reader->n && r == 0; i++) {
        struct perf_item *item = &reader->items[i];
        if (!item->metric != !item->formula && !reader->request->boxes) {
            struct perf_entry entry;
            perf_item_read(reader, item, &entry);
            perf_entry_fail(&entry, reader->errors,
                            item->metric ? "the metric has no MetricExpr" : "the metric has no MetricName");
        } else if (item->metric && item->metric_state == PERF_UNREAD && (item->listed || !reader->request->boxes)) {
            r = read_metric(reader, item);
        }
    }
    if (r == 0 && !reader->request->boxes)
        r = read_own(reader);
    catalog_builder_set_resolver(reader->builder, NULL);
    return r;
}

// ---- references to other metrics ----

// The metric NAME is the parent of the members of group "NAME_group".
static int find_parent(const struct perf_reader *reader, const char *groups, const char *self) {
    static const char suffix[] = "_group";
    char name[PERF_GROUP_NAME_MAX];
    for (const char *at = groups; at && *at != '\0'; at += strcspn(at, ";"), at += *at == ';') {
        size_t length = strcspn(at, ";"), cut = sizeof suffix - 1;
        if (length <= cut || length >= sizeof name || strncmp(at + length - cut, suffix, cut) != 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - cut), at);
        int parent = catalog_find_metric(reader->catalog, name);
        if (parent >= 0 && strcmp(name, self) != 0)
            return parent;
    }
    return -1;
}

int perf_metrics_refer(struct perf_reader *reader) {
    struct fault fault;
    for (size_t i = 0; i < reader->n; i++) {
        const struct perf_item *item = &reader->items[i];
        int metric = item->metric_state == PERF_READ ? catalog_find_metric(reader->catalog, item->metric) : -1;
        if (metric < 0)
            continue;
        struct perf_entry entry;
        perf_item_read(reader, item, &entry);
        const char *name = item->metric, *threshold = entry.fields[PERF_METRIC_THRESHOLD];
        int parent = find_parent(reader, entry.fields[PERF_METRIC_GROUP], name), r = 0;
        if (parent >= 0)
            r = catalog_builder_set_parent(reader->builder, (unsigned)metric, reader->catalog->metrics[parent].name,
                                           &fault);
        if (r == -EINVAL)
            perf_entry_fail(&entry, reader->errors, "%s", fault.text);
        r = threshold && r != -ENOMEM
                ? catalog_builder_set_threshold(reader->builder, (unsigned)metric, threshold, &fault)
                : r;
        if (r == -ENOMEM)
            return r;
        if (r == -EINVAL && threshold && is_mistake(&fault))
            perf_entry_fail(&entry, reader->errors, "its threshold: %s", fault.text);
    }
    return 0;
}
