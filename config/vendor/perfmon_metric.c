// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perfmon_metric.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/vendor/perf_files.h"
#include "config/vendor/perfmon_formula.h"

struct converter {
    const struct perfmon_metrics_request *request;
    struct errors *errors;
    char **names; // of each metric's entry
    size_t n;
    struct name_index by_name, by_legacy_name; // to places in `names`
    const cJSON **metrics;                     // likewise
    const cJSON *metric;                       // being converted
};

static const char *text_of(const cJSON *object, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

static const cJSON *rule(const struct converter *of, const char *key) {
    return of->request->rules ? cJSON_GetObjectItemCaseSensitive(of->request->rules, key) : NULL;
}

// A member of one of the rules' objects, ignoring the case of the key; NULL: none.
static const char *rule_text(const struct converter *of, const char *object, const char *key, size_t length) {
    const cJSON *child;
    cJSON_ArrayForEach(child, rule(of, object)) {
        if (child->string && strlen(child->string) == length && strncasecmp(child->string, key, length) == 0)
            return cJSON_GetStringValue(child);
    }
    return NULL;
}

static const char *prefix_of(const struct converter *of, const cJSON *metric) {
    const char *category = text_of(metric, "Category");
    return rule_text(of, "prefixes", category, strlen(category));
}

// True if the formula over other metrics is taken, which gives shares where the other gives per cents.
static bool is_nested(const struct converter *of, const cJSON *metric) {
    return prefix_of(of, metric) && text_of(metric, "BaseFormula")[0] != '\0';
}

static bool is_percent(const cJSON *metric) { return strcmp(text_of(metric, "UnitOfMeasure"), "percent") == 0; }

// ---- names in formulas ----

static void write_text(struct perfmon_text *out, const char *text) { perfmon_text_add(out, text, strlen(text)); }

static bool is_number(const char *text) {
    char *end;
    (void)strtod(text, &end);
    return isdigit((unsigned char)text[0]) && *end == '\0' && strspn(text, "0123456789.eE") == strlen(text);
}

// Reads "c12", "u0x80" or "ocr_msr_val=0x1" as a term with its value.
static const char *term_of(const struct converter *of, const char *part, size_t length, size_t *value) {
    size_t name = 0;
    while (name < length && part[name] != '=' && !isdigit((unsigned char)part[name]))
        name++;
    *value = name + (name < length && part[name] == '=');
    if (*value < length && isdigit((unsigned char)part[*value]))
        return rule_text(of, "terms", part, name);
    name = strcspn(part, "=:"); // a name with digits
    *value = name + 1;
    return name < length && isdigit((unsigned char)part[name + 1]) ? rule_text(of, "terms", part, name) : NULL;
}

// NAME:c1:e1 becomes NAME@cmask=1,edge=1@, NAME:SUP becomes NAME:k. What has another modifier stays as it is: no event
// is found for it, and the reason names it.
static void write_event(const struct converter *of, const char *name, struct perfmon_text *out) {
    const char *known = rule_text(of, "events", name, strlen(name)), *modifier = NULL;
    size_t base = strcspn(name, ":"), begin = out->n, value;
    if (known) {
        write_text(out, known);
        return;
    }
    perfmon_write_name(name, base, out);
    bool termed = false;
    for (const char *part = name + base; *part != '\0';) {
        size_t length = strcspn(++part, ":");
        const char *term = term_of(of, part, length, &value), *letter = rule_text(of, "modifiers", part, length);
        if (!term && !letter) {
            out->n = begin;
            perfmon_write_name(name, strlen(name), out);
            return;
        }
        if (term) {
            write_text(out, termed ? "," : "@");
            write_text(out, term);
            write_text(out, "=");
            perfmon_text_add(out, part + value, length - value);
        }
        termed = termed || term;
        modifier = term ? modifier : letter;
        part += length;
    }
    if (termed)
        write_text(out, "@");
    else if (modifier)
        write_text(out, ":");
    if (modifier)
        write_text(out, modifier);
}

static void write_constant(const struct converter *of, const char *name, struct perfmon_text *out) {
    const char *known = rule_text(of, "constants", name, strlen(name));
    if (known || is_number(name))
        write_text(out, known ? known : name);
    else
        perfmon_write_name(name, strlen(name), out);
}

// The name behind an alias of the metric's events or constants; NULL: none.
static const char *aliased(const cJSON *metric, const char *list, const char *alias, size_t length) {
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(metric, list)) {
        const char *one = text_of(item, "Alias");
        if (strlen(one) == length && memcmp(one, alias, length) == 0)
            return text_of(item, "Name");
    }
    return NULL;
}

// The spelling of an event in the metric's list.
static const char *spelled(const cJSON *metric, const char *name, size_t length) {
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(metric, "Events")) {
        const char *one = text_of(item, "Name");
        if (strlen(one) == length && strncasecmp(one, name, length) == 0)
            return one;
    }
    return NULL;
}

// struct perfmon_scope, of the formula over aliases
static bool write_alias(void *context, const char *name, size_t length, bool one, struct perfmon_text *out,
                        struct fault *fault) {
    const struct converter *of = context;
    const char *event = aliased(of->metric, "Events", name, length);
    const char *constant = event ? NULL : aliased(of->metric, "Constants", name, length);
    if (one && of->request->rules) {
        (void)fault_set(fault, "its formula takes the count of one of several units (%.60s[...])",
                        event      ? event
                        : constant ? constant
                                   : "");
        return false;
    }
    const char *whole = event ? event : constant;
    if (!of->request->rules && whole && is_number(whole))
        write_text(out, whole);
    else if (!of->request->rules)
        perfmon_write_name(whole ? whole : name, whole ? strlen(whole) : length, out);
    else if (event)
        write_event(of, event, out);
    else if (constant)
        write_constant(of, constant, out);
    else if (rule_text(of, "constants", name, length))
        write_text(out, rule_text(of, "constants", name, length));
    else
        perfmon_write_name(name, length, out);
    return true;
}

// struct perfmon_scope, of the formula over other metrics
static bool write_base(void *context, const char *name, size_t length, bool one, struct perfmon_text *out,
                       struct fault *fault) {
    const struct converter *of = context;
    int metric = name_index_find(&of->by_name, name, length, true);
    const char *constant = rule_text(of, "constants", name, length), *event = spelled(of->metric, name, length);
    char text[160];
    if (one || length >= sizeof text) {
        (void)fault_set(fault, "its formula takes the count of one of several units, or a name that is too long");
        return false;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)length, name);
    if (metric >= 0)
        perfmon_write_name(of->names[metric], strlen(of->names[metric]), out);
    else if (constant)
        write_text(out, constant);
    else
        write_event(of, event ? event : text, out);
    return true;
}

// struct perfmon_scope, of a threshold: aliases of other metrics' values, in the scale of their Formula
static bool write_value(void *context, const char *name, size_t length, bool one, struct perfmon_text *out,
                        struct fault *fault) {
    const struct converter *of = context;
    const cJSON *item;
    int metric = -1;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(of->metric, "Threshold"),
                                                              "ThresholdMetrics")) {
        const char *alias = text_of(item, "Alias"), *value = text_of(item, "Value");
        if (strlen(alias) == length && memcmp(alias, name, length) == 0)
            metric = name_index_find(&of->by_legacy_name, value, strlen(value), false);
    }
    if (metric < 0 || one) {
        (void)fault_set(fault, "compares %.*s, which is no metric of the file", (int)(length < 40 ? length : 40), name);
        return false;
    }
    bool scaled = is_percent(of->metrics[metric]) && is_nested(of, of->metrics[metric]);
    write_text(out, scaled ? "(100 * " : "");
    perfmon_write_name(of->names[metric], strlen(of->names[metric]), out);
    write_text(out, scaled ? ")" : "");
    return true;
}

// ---- a metric's other fields ----

static void add_group(struct perfmon_text *out, const char *group, size_t length) {
    if (out->n > 0)
        write_text(out, ";");
    perfmon_text_add(out, group, length);
}

// The file's groups, the level's, and that of what is below the parent.
static void write_groups(const struct converter *of, const char *prefix, struct perfmon_text *out) {
    const char *parent = text_of(of->metric, "ParentCategory"), *name = text_of(of->metric, "MetricName");
    const cJSON *level = cJSON_GetObjectItemCaseSensitive(of->metric, "Level"), *without;
    bool levelled = prefix != NULL && cJSON_IsNumber(level);
    for (const char *at = text_of(of->metric, "MetricGroup"); *at != '\0';) {
        at += strspn(at, "; ");
        size_t length = strcspn(at, "; ");
        if (length > 0)
            add_group(out, at, length);
        at += length;
    }
    cJSON_ArrayForEach(without, rule(of, "without_level")) {
        levelled = levelled && cJSON_IsString(without) &&
                   strncmp(name, without->valuestring, strlen(without->valuestring)) != 0;
    }
    const char *groups =
        levelled ? cJSON_GetStringValue(cJSON_GetArrayItem(rule(of, "levels"), level->valueint - 1)) : NULL;
    if (groups)
        add_group(out, groups, strlen(groups));
    if (!levelled || parent[0] == '\0')
        return;
    add_group(out, prefix, strlen(prefix));
    for (const char *c = parent; *c != '\0'; c++) {
        const char lower = (char)tolower((unsigned char)*c);
        perfmon_text_add(out, &lower, 1);
    }
    write_text(out, "_group");
}

static void add_field(cJSON *entry, const char *key, const char *text, bool *failed) {
    if (text && text[0] != '\0' && !cJSON_AddStringToObject(entry, key, text))
        *failed = true;
}

static void write_scale(const struct converter *of, char *out, size_t size) {
    const char *unit = text_of(of->metric, "UnitOfMeasure");
    if (is_percent(of->metric))
        (void)snprintf(out, size, "%s%%", is_nested(of, of->metric) ? "100" : "1");
    else
        (void)snprintf(out, size, "%s%.100s", unit[0] != '\0' ? "1" : "", unit);
}

// ---- entries ----

static void report(const struct converter *of, size_t place, const char *what, const char *reason) {
    const struct perf_entry entry = {
        .file = of->request->file, .place = place + 1, .fields = {[PERF_METRIC_NAME] = of->names[place]}};
    perf_entry_fail(&entry, of->errors, "%s%s", what, reason);
}

static int write_formula(struct converter *of, struct perfmon_text *out, struct fault *fault) {
    bool nested = is_nested(of, of->metric);
    const struct perfmon_scope scope = {.write = nested ? write_base : write_alias, .context = of};
    const char *text = text_of(of->metric, nested ? "BaseFormula" : "Formula");
    return text[0] == '\0' ? fault_set(fault, "it has no formula") : perfmon_formula_write(text, &scope, out, fault);
}

static int write_threshold(struct converter *of, struct perfmon_text *out, struct fault *fault) {
    const struct perfmon_scope scope = {.write = write_value, .context = of};
    const char *text = text_of(cJSON_GetObjectItemCaseSensitive(of->metric, "Threshold"), "Formula");
    return text[0] == '\0' || !of->request->rules ? 0 : perfmon_formula_write(text, &scope, out, fault);
}

static int fill_entry(struct converter *of, size_t i, cJSON *entry) {
    struct perfmon_text formula = {.n = 0}, threshold = {.n = 0}, groups = {.n = 0};
    struct fault fault;
    char scale[120];
    bool failed = false;
    int r = write_formula(of, &formula, &fault);
    if (r == -EINVAL)
        report(of, i, "", fault.text);
    if (r == 0) {
        int t = write_threshold(of, &threshold, &fault);
        if (t == -EINVAL)
            report(of, i, "its threshold: ", fault.text);
        write_groups(of, prefix_of(of, of->metric), &groups);
        write_scale(of, scale, sizeof scale);
        add_field(entry, "MetricName", of->names[i], &failed);
        add_field(entry, "MetricExpr", formula.data, &failed);
        add_field(entry, "MetricThreshold", t == 0 ? threshold.data : NULL, &failed);
        add_field(entry, "MetricGroup", groups.data, &failed);
        add_field(entry, "ScaleUnit", scale, &failed);
        add_field(entry, "BriefDescription", text_of(of->metric, "BriefDescription"), &failed);
        add_field(entry, "Unit", of->request->pmu, &failed);
        failed = failed || groups.failed || t == -ENOMEM;
    }
    free(groups.data);
    free(threshold.data);
    free(formula.data);
    return failed || r == -ENOMEM ? -ENOMEM : 0;
}

// Sets the name of each metric's entry, and the indexes.
static int read_names(struct converter *of) {
    const cJSON *metric;
    size_t n = (size_t)cJSON_GetArraySize(of->request->metrics);
    of->names = calloc(n + 1, sizeof *of->names);
    of->metrics = calloc(n + 1, sizeof *of->metrics);
    int r = of->names && of->metrics ? 0 : -ENOMEM;
    if (r < 0)
        return r;
    cJSON_ArrayForEach(metric, of->request->metrics) {
        const char *prefix = prefix_of(of, metric), *name = text_of(metric, "MetricName");
        size_t i = of->n++;
        if (r == 0 && asprintf(&of->names[i], "%s%s", prefix ? prefix : "", name) < 0)
            of->names[i] = NULL;
        for (char *c = of->names[i]; prefix && c && *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
        of->metrics[i] = metric;
        r = r < 0 || !of->names[i] ? -ENOMEM : name_index_find_or_add(&of->by_name, of->names[i], (unsigned)i);
        if (r >= 0 && text_of(metric, "LegacyName")[0] != '\0')
            r = name_index_find_or_add(&of->by_legacy_name, text_of(metric, "LegacyName"), (unsigned)i);
        r = r < 0 ? -ENOMEM : 0;
    }
    return r;
}

int perfmon_metrics_convert(const struct perfmon_metrics_request *request, struct errors *errors, cJSON **out) {
    struct converter of = {.request = request, .errors = errors};
    cJSON *list = cJSON_CreateArray();
    int r = list ? read_names(&of) : -ENOMEM;
    for (size_t i = 0; i < of.n && r == 0; i++) {
        cJSON *entry = cJSON_CreateObject();
        if (!entry || !cJSON_AddItemToArray(list, entry)) {
            cJSON_Delete(entry);
            r = -ENOMEM;
            break;
        }
        of.metric = of.metrics[i];
        if (text_of(of.metric, "MetricName")[0] != '\0')
            r = fill_entry(&of, i, entry);
        else
            report(&of, i, "", "must be a metric, {...}, with a MetricName");
    }
    for (size_t i = 0; i < of.n; i++)
        free(of.names[i]);
    free(of.names);
    free(of.metrics);
    name_index_deinit(&of.by_name);
    name_index_deinit(&of.by_legacy_name);
    if (r < 0)
        cJSON_Delete(list);
    else
        *out = list;
    return r;
}
