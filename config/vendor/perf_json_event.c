// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/vendor/perf_json_private.h"

// Events: an entry's fields become the terms that perf's own build makes of them (tools/perf/pmu-events/jevents.py). A
// formula's event (NAME, pmu@terms@, NAME@terms@, NAME:modifiers) becomes a catalog event under the name used in the
// formula.

// ---- terms ----

struct terms {
    char text[PERF_TERMS_MAX];
    bool cut; // too long
};

__attribute__((format(printf, 2, 3))) static void append(struct terms *terms, const char *format, ...) {
    size_t length = strlen(terms->text);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(terms->text + length, sizeof terms->text - length, format, arguments);
    va_end(arguments);
    terms->cut = terms->cut || n < 0 || (size_t)n >= sizeof terms->text - length;
}

// Length of the name before '=' of the term that begins here, and of the whole term.
static size_t name_length(const char *term) { return strcspn(term, "=,"); }
static size_t term_length(const char *term) { return strcspn(term, ","); }

static const char *next_term(const char *term) {
    size_t length = term_length(term);
    return term[length] == ',' ? term + length + 1 : term + length;
}

static bool has_term(const char *terms, const char *name, size_t length) {
    for (const char *term = terms; *term != '\0'; term = next_term(term))
        if (name_length(term) == length && strncmp(term, name, length) == 0)
            return true;
    return false;
}

// Writes the terms of `base` that `over` does not replace, then those of `over`.
static void merge(const char *base, const char *over, struct terms *out) {
    *out = (struct terms){.text = ""};
    for (const char *term = base; *term != '\0'; term = next_term(term))
        if (!has_term(over, term, name_length(term)))
            append(out, "%s%.*s", out->text[0] != '\0' ? "," : "", (int)term_length(term), term);
    if (*over != '\0')
        append(out, "%s%s", out->text[0] != '\0' ? "," : "", over);
}

// Reads the number at the start of a list such as "0xB7, 0xBB"; false if there is none.
static bool first_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return isdigit((unsigned char)text[0]) && errno == 0 && end > text && strchr(", ", *end);
}

static bool add_field(const struct perf_entry *entry, struct terms *terms, enum perf_field field, const char *term,
                      struct fault *fault) {
    const char *text = entry->fields[field];
    uint64_t value;
    if (!text)
        return true;
    if (!first_number(text, &value)) {
        (void)fault_set(fault, "'%.40s' is not the value of %s", text, term);
        return false;
    }
    if (value != 0)
        append(terms, ",%s=0x%llx", term, (unsigned long long)value);
    return true;
}

// MSRIndex selects the register of MSRValue; the tree names its term.
static bool add_register(const struct perf_reader *reader, const struct perf_entry *entry, struct terms *terms,
                         struct fault *fault) {
    const char *index = entry->fields[PERF_MSR_INDEX], *value = entry->fields[PERF_MSR_VALUE];
    uint64_t number;
    char key[24];
    if (!index || !value || !first_number(index, &number) || number == 0)
        return true;
    (void)snprintf(key, sizeof key, "0x%llx", (unsigned long long)number);
    const char *term = perf_tree_text(reader, "msrs", key);
    if (term)
        return add_field(entry, terms, PERF_MSR_VALUE, term, fault);
    (void)fault_set(fault, "which term sets the register MSRIndex %.30s is not known", index);
    return false;
}

static bool add_code(const struct perf_entry *entry, struct terms *terms, struct fault *fault) {
    uint64_t code = 0, extended = 0;
    const char *text = entry->fields[PERF_EVENT_CODE], *term = "event";
    if (!text && entry->fields[PERF_CONFIG_CODE]) {
        text = entry->fields[PERF_CONFIG_CODE];
        term = "config";
    } else if (!text && entry->fields[PERF_LEGACY_CODE]) {
        text = entry->fields[PERF_LEGACY_CODE];
        term = "legacy-hardware-config";
    } else if (!text && entry->fields[PERF_EVENTID_CODE]) {
        text = entry->fields[PERF_EVENTID_CODE];
        term = "eventid";
    }
    if ((text && !first_number(text, &code)) ||
        (entry->fields[PERF_EXT_SEL] && !first_number(entry->fields[PERF_EXT_SEL], &extended))) {
        (void)fault_set(fault, "'%.40s' is not an event code", text ? text : "");
        return false;
    }
    append(terms, "%s=0x%llx", term, (unsigned long long)(code | extended << 8));
    return true;
}

// Writes an entry's terms in perf's form.
static int entry_terms(const struct perf_reader *reader, const struct perf_entry *entry, struct terms *out,
                       struct fault *fault) {
    static const struct {
        enum perf_field field;
        const char *term;
    } fields[] = {{PERF_ANY_THREAD, "any"},          {PERF_PORT_MASK, "ch_mask"},
                  {PERF_COUNTER_MASK, "cmask"},      {PERF_EDGE_DETECT, "edge"},
                  {PERF_FC_MASK, "fc_mask"},         {PERF_INVERT, "inv"},
                  {PERF_NODE_TYPE, "type"},          {PERF_RD_WR_MASK, "rdwrmask"},
                  {PERF_EN_ALL_CORES, "enallcores"}, {PERF_EN_ALL_SLICES, "enallslices"},
                  {PERF_SLICE_ID, "sliceid"},        {PERF_THREAD_MASK, "threadmask"}};
    *out = (struct terms){.text = ""};
    const char *known =
        !reader->request->boxes && perf_is_core(reader, entry->fields[PERF_UNIT]) && entry->fields[PERF_EVENT_NAME]
            ? perf_tree_text_any(reader, "terms", entry->fields[PERF_EVENT_NAME])
            : NULL;
    if (known) { // perf's build replaces these as a whole
        append(out, "%s", known);
        return 0;
    }
    uint64_t umask = 0, extended = 0;
    const char *low = entry->fields[PERF_UMASK], *high = entry->fields[PERF_UMASK_EXT];
    bool good = add_code(entry, out, fault);
    if (good && ((low && !first_number(low, &umask)) || (high && !first_number(high, &extended))))
        return fault_set(fault, "'%.40s' is not the value of umask", low ? low : high);
    if (umask != 0 || extended != 0)
        append(out, ",umask=0x%llx", (unsigned long long)(umask | extended << 8));
    for (size_t i = 0; i < sizeof fields / sizeof *fields && good; i++)
        good = add_field(entry, out, fields[i].field, fields[i].term, fault);
    good = good && add_register(reader, entry, out, fault);
    if (good && entry->fields[PERF_FILTER])
        append(out, ",%s", entry->fields[PERF_FILTER]);
    if (good && out->cut)
        return fault_set(fault, "the event has too many terms");
    return good ? 0 : -EINVAL;
}

// ---- counters ----

// Reads "0,1,2,3" as one bit each, "Fixed counter 1" into *fixed. Any other text means any counter.
static void read_counter(const char *text, uint64_t *mask, unsigned *fixed) {
    static const char word[] = "Fixed counter ";
    if (text && strncasecmp(text, word, sizeof word - 1) == 0) {
        *fixed = 1 + ((unsigned)atoi(text + sizeof word - 1) & 31);
        return;
    }
    for (const char *c = text; c && isdigit((unsigned char)*c); c += *c == ',') {
        char *end;
        unsigned long counter = strtoul(c, &end, 10);
        *mask |= counter < 64 ? UINT64_C(1) << counter : 0;
        c = end;
    }
}

static bool is_sampled(const struct perf_reader *reader, const char *terms) {
    for (size_t i = 0; i < reader->sampling_terms.n; i++)
        if (has_term(terms, reader->sampling_terms.texts[i], strlen(reader->sampling_terms.texts[i])))
            return true;
    return false;
}

// True for a field of PERF_METRICS: any event of the tree's list without a counter of its own, except the leader.
static bool is_field(const struct perf_reader *reader, const char *name) {
    for (size_t i = 1; i < reader->topdown.n; i++)
        if (strcmp(reader->topdown.texts[i], name) == 0)
            return true;
    return false;
}

static bool must_count(const struct perf_reader *reader, const char *name) {
    for (size_t i = 0; i < reader->must_count.n; i++)
        if (strcasecmp(reader->must_count.texts[i], name) == 0)
            return true;
    return false;
}

// Adds an event of the core PMU with the counter needs of an entry (NULL: none known).
static int add_core_event(struct perf_reader *reader, const char *name, const char *terms,
                          const struct perf_entry *entry, struct fault *fault) {
    struct catalog_event_text text = {.name = name, .terms = terms, .takes = is_field(reader, name) ? 0 : 1};
    if (entry) {
        text.title = entry->fields[PERF_BRIEF];
        read_counter(entry->fields[PERF_COUNTER], &text.counters, &text.fixed);
    }
    text.sampling_only = is_sampled(reader, terms);
    text.must_count = !reader->request->boxes && must_count(reader, name); // a box may have nothing to do
    int r = catalog_builder_add_event_text(reader->builder, &text, fault);
    return r < 0 ? r : 0;
}

static int add_other_event(struct perf_reader *reader, const char *name, const char *pmu, const char *terms,
                           const char *title, struct fault *fault) {
    // beside boxes, the cores' own catalog counts their events
    bool joined = reader->request->boxes && perf_boxes_have(reader, pmu);
    const struct catalog_event_text text = {.name = name,
                                            .title = title,
                                            .terms = terms,
                                            .pmu = pmu,
                                            .takes = joined && strcmp(pmu, "cpu") == 0 ? 0 : 1,
                                            .beside = joined};
    int r = catalog_builder_add_event_text(reader->builder, &text, fault);
    return r < 0 ? r : 0;
}

static int add_entry(struct perf_reader *reader, struct perf_item *item, struct fault *fault) {
    char name[PERF_GROUP_NAME_MAX];
    struct terms terms;
    struct perf_entry entry;
    perf_item_read(reader, item, &entry);
    const char *unit = entry.fields[PERF_UNIT];
    int r = entry_terms(reader, &entry, &terms, fault);
    if (r == 0 && perf_is_core(reader, unit))
        r = add_core_event(reader, item->event, terms.text, &entry, fault);
    else if (r == 0)
        r = add_other_event(reader, item->event, perf_pmu_of_unit(reader, unit, name, sizeof name), terms.text,
                            entry.fields[PERF_BRIEF], fault);
    item->event_state = r == 0 ? PERF_READ : PERF_WRONG;
    if (r == -EINVAL)
        perf_entry_fail(&entry, reader->errors, "%s", fault->text);
    return r;
}

int perf_events_read(struct perf_reader *reader) {
    struct fault fault;
    int r = 0;
    for (size_t i = 0; i < reader->n && r != -ENOMEM; i++)
        if (reader->items[i].event && reader->items[i].event_state == PERF_UNREAD)
            r = add_entry(reader, &reader->items[i], &fault);
    return r == -ENOMEM ? r : 0;
}

// ---- events as formulas name them ----

static int find_item(const struct perf_reader *reader, const char *name, size_t length) {
    int item = name_index_find(&reader->events, name, length, true);
    return item >= 0 && reader->items[item].event_state != PERF_WRONG ? item : -1;
}

// What the kernel itself calls an event of a core. NULL: nothing, or the catalog is of boxes.
static const char *kernels_event(const struct perf_reader *reader, const char *name) {
    return reader->request->boxes ? NULL : perf_tree_text_any(reader, "events", name);
}

// The terms of an event of the core PMU or of an entry, by name. For the kernel's own events *entry stays without a
// value.
static int base_terms(const struct perf_reader *reader, const char *name, size_t length, struct terms *out,
                      struct perf_entry *entry, struct fault *fault) {
    char text[PERF_GROUP_NAME_MAX];
    int item = find_item(reader, name, length);
    if (item >= 0) {
        perf_item_read(reader, &reader->items[item], entry);
        return entry_terms(reader, entry, out, fault);
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)length, name);
    const char *alias = kernels_event(reader, text);
    if (!alias)
        return -ENOENT;
    *out = (struct terms){.text = ""};
    append(out, "%s", alias);
    return 0;
}

static int refuse_unknown(const char *name, size_t length, struct fault *fault) {
    return fault_set_kind(fault, FAULT_EVENT, 0,
                          "needs the event %.*s, which is neither in the files nor known of this PMU",
                          (int)(length < 100 ? length : 100), name);
}

// pmu@terms@ of a PMU other than the core's. The terms may name an event of the files, or one that the kernel always
// has.
static int resolve_other(struct perf_reader *reader, const char *name, const char *pmu, const char *terms,
                         struct fault *fault) {
    char made[PERF_GROUP_NAME_MAX + 8];
    struct terms base = {.text = ""}, whole;
    struct perf_entry entry = {.value = NULL};
    const cJSON *known =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->root.value, "cpu_pmus"), pmu);
    size_t first = term_length(terms);
    (void)snprintf(made, sizeof made, "%.*s", (int)first, terms);
    const cJSON *named =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->root.value, "pmu_events"), pmu);
    const char *alias = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(known ? known : named, made));
    bool one;
    if (alias)
        append(&base, "%s", alias);
    else if (find_item(reader, terms, first) >= 0) {
        int r = base_terms(reader, terms, first, &base, &entry, fault);
        if (r < 0)
            return r;
    }
    bool replaces = alias || entry.value;
    merge(base.text, replaces ? next_term(terms) : terms, &whole);
    if (whole.cut)
        return fault_set(fault, "the event %.80s has too many terms", name);
    if (perf_boxes_are(reader, pmu, strlen(pmu), &one))
        return add_core_event(reader, name, whole.text, entry.value ? &entry : NULL, fault);
    (void)snprintf(made, sizeof made, "%s%s", perf_is_named_as_it_is(reader, pmu) ? "" : "uncore_", pmu);
    return add_other_event(reader, name, made, whole.text, NULL, fault);
}

// Adds an alias of an event, such as cpu_core@NAME@: one counter counts both.
static int resolve_alias(struct perf_reader *reader, const char *name, const char *event, size_t length,
                         struct fault *fault) {
    char text[PERF_GROUP_NAME_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)length, event);
    int r = perf_event_resolve(reader, text, fault);
    int found = r == 0 ? catalog_find_event_any_case(reader->catalog, text, strlen(text)) : -1;
    return r < 0 ? r : catalog_builder_add_alias(reader->builder, name, (unsigned)found, fault);
}

// pmu@terms@ of the core PMU, or NAME@terms@.
static int resolve_core(struct perf_reader *reader, const char *name, const char *event, size_t length,
                        const char *terms, struct fault *fault) {
    struct terms base = {.text = ""}, whole;
    struct perf_entry entry = {.value = NULL};
    if (length > 0) {
        int r = base_terms(reader, event, length, &base, &entry, fault);
        if (r == -ENOENT)
            return refuse_unknown(event, length, fault);
        if (r < 0)
            return r;
    }
    if (length > 0 && *terms == '\0')
        return resolve_alias(reader, name, event, length, fault);
    merge(base.text, terms, &whole);
    if (whole.cut)
        return fault_set(fault, "the event %.80s has too many terms", name);
    if (entry.value && !perf_is_core(reader, entry.fields[PERF_UNIT])) {
        char made[PERF_GROUP_NAME_MAX];
        return add_other_event(reader, name, perf_pmu_of_unit(reader, entry.fields[PERF_UNIT], made, sizeof made),
                               whole.text, NULL, fault);
    }
    return add_core_event(reader, name, whole.text, entry.value ? &entry : NULL, fault);
}

// Adds the event itself; the catalog interprets its modifiers.
static int resolve_modifiers(struct perf_reader *reader, const char *name, const char *colon, struct fault *fault) {
    char base[PERF_TERMS_MAX];
    const char *modifiers = *colon == ':' ? colon + 1 : colon; // pmu@terms@u, EVENT:u
    if (strspn(modifiers, "ukh") == strlen(modifiers) && (size_t)(colon - name) < sizeof base) {
        (void)snprintf(base, sizeof base, "%.*s", (int)(colon - name), name);
        return perf_event_resolve(reader, base, fault);
    }
    if (strchr(colon, 'R'))
        return fault_set_kind(fault, FAULT_EVENT, 0, "needs the retire latency of %.*s (:R), which only sampling gives",
                              (int)(colon - name < 80 ? colon - name : 80), name);
    return fault_set_kind(fault, FAULT_EVENT, 0, "needs %.*s with the modifiers %.10s, which topdownd does not know",
                          (int)(colon - name < 80 ? colon - name : 80), name, colon);
}

static int resolve_terms(struct perf_reader *reader, const char *name, const char *at, struct fault *fault) {
    char head[PERF_GROUP_NAME_MAX], terms[PERF_TERMS_MAX];
    const char *close = strchr(at + 1, '@');
    if (close && close[1] != '\0' && strspn(close + 1, ":ukhRpPGHSDWe") == strlen(close + 1))
        return resolve_modifiers(reader, name, close + 1, fault);
    if ((size_t)(at - name) >= sizeof head || !close || close[1] != '\0' || (size_t)(close - at) > sizeof terms)
        return fault_set_kind(fault, FAULT_EVENT, 0, "needs %.100s, which is not written as pmu@terms@", name);
    (void)snprintf(head, sizeof head, "%.*s", (int)(at - name), name);
    (void)snprintf(terms, sizeof terms, "%.*s", (int)(close - at - 1), at + 1);
    const char *alias = kernels_event(reader, head);
    if (find_item(reader, head, strlen(head)) >= 0 || alias)
        return resolve_core(reader, name, head, strlen(head), terms, fault);
    if (reader->request->boxes || (strcmp(head, reader->pmu) != 0 && strcmp(head, "cpu") != 0))
        return resolve_other(reader, name, head, terms, fault);
    bool named = terms[name_length(terms)] != '='; // the first term is an event
    return named ? resolve_core(reader, name, terms, term_length(terms), next_term(terms), fault)
                 : resolve_core(reader, name, "", 0, terms, fault);
}

int perf_event_resolve(struct perf_reader *reader, const char *name, struct fault *fault) {
    size_t length = strlen(name);
    if (catalog_find_event_any_case(reader->catalog, name, length) >= 0)
        return 0;
    int item = name_index_find(&reader->events, name, length, true);
    if (item >= 0 && reader->items[item].event_state == PERF_WRONG)
        return fault_set_kind(fault, FAULT_EVENT, 0, "needs the event %.80s, whose entry is wrong", name);
    if (item >= 0)
        return add_entry(reader, &reader->items[item], fault);
    const char *at = strchr(name, '@'), *colon = strrchr(name, ':');
    if (at)
        return resolve_terms(reader, name, at, fault);
    if (colon && find_item(reader, name, (size_t)(colon - name)) >= 0)
        return resolve_modifiers(reader, name, colon, fault);
    const char *alias = kernels_event(reader, name);
    return alias ? add_core_event(reader, name, alias, NULL, fault) : refuse_unknown(name, length, fault);
}
