// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json_private.h"
#include "core/host/identify.h"

// Events, and the counters they need. An event's code and the terms in its topdownd object become terms in perf's form,
// which the catalog encodes in the spec's format.

enum { COUNTERS_MAX = 64 };

static bool read_code(const struct json_node *event, uint64_t *code) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(event->value, "code");
    if (!value || cJSON_IsNull(value)) {
        json_fail(event, "has no code");
        return false;
    }
    const double exact_max = 9007199254740992.0; // 2^53: above it doubles skip whole numbers
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= exact_max &&
        floor(value->valuedouble) == value->valuedouble) {
        *code = (uint64_t)value->valuedouble;
        return true;
    }
    if (cJSON_IsString(value) && spec_parse_code(value->valuestring, code))
        return true;
    const struct json_node node = json_child(event, value, 0);
    json_fail(&node, "is not an event code: write it as \"0x0011\" or 17");
    return false;
}

// By default an event can be counted; the schema's private events have only a code.
static bool can_be_counted(const struct json_node *event) {
    const char **accesses;
    size_t n;
    if (!json_get_texts(event, "accesses", JSON_OPTIONAL, SPEC_LIST_MAX, &accesses, &n))
        return true;
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || strcmp(accesses[i], "PMU") == 0;
    free(accesses);
    return found;
}

// Reads the bits of each term of one PMU; `pmu` is NULL for the core PMU.
static void read_fields(struct spec_reader *spec, const char *pmu, const struct json_node *format) {
    struct fault fault;
    const cJSON *value;
    cJSON_ArrayForEach(value, format->value) {
        const struct json_node field = json_child(format, value, 0);
        if (!cJSON_IsString(value)) {
            json_fail(&field, "must be bits in quotes, such as \"config:0-7,32-35\"");
            continue;
        }
        const char *name = value->string, *bits = value->valuestring;
        spec_take(&field,
                  pmu ? catalog_builder_add_pmu_format(spec->builder, pmu, name, bits, &fault)
                      : catalog_builder_add_format(spec->builder, name, bits, &fault),
                  &fault);
    }
}

// By default, without a format of the core PMU in the spec, the code is the number itself.
void spec_read_format(struct spec_reader *spec, const struct json_node *root, const struct json_node *ours) {
    struct json_node format, formats;
    struct fault fault;
    const cJSON *value;
    if (ours->value && json_get_object(ours, "format", JSON_OPTIONAL, &format)) {
        read_fields(spec, NULL, &format);
        if (!cJSON_HasObjectItem(format.value, "event"))
            spec->code_term = cJSON_HasObjectItem(format.value, "eventid") ? "eventid" // Arm's meshes
                              : cJSON_HasObjectItem(format.value, "mask")  ? "mask"    // CXL devices
                                                                           : NULL;
    } else
        spec_take(root, catalog_builder_add_format(spec->builder, "event", "config:0-63", &fault), &fault);
    if (!ours->value || !json_get_object(ours, "pmu_formats", JSON_OPTIONAL, &formats))
        return;
    cJSON_ArrayForEach(value, formats.value) {
        const struct json_node pmu = json_child(&formats, value, 0);
        if (json_is_object(&pmu))
            read_fields(spec, value->string, &pmu);
    }
}

static bool is_ours(const char *key) {
    static const char *const keys[] = {"counters",   "takes",   "pmu",         "sampling_only",
                                       "must_count", "dead_on", "may_be_zero", "known_as"};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

// True for a valid name of a term, which becomes part of a text.
static bool is_term(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length < EVENT_FORMAT_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == length;
}

static bool is_register(const struct catalog *catalog, const char *term) {
    bool found = false;
    for (size_t i = 0; i < catalog->n_registers; i++)
        found = found || strcmp(catalog->registers[i].term, term) == 0;
    return found;
}

// Appends ",name=value" for each term in the event's topdownd object. A value of 0 matters in a shared register alone.
static void append_terms(const struct catalog *catalog, const struct json_node *ours, char *terms, size_t size) {
    const cJSON *value;
    cJSON_ArrayForEach(value, ours->value) {
        const struct json_node term = json_child(ours, value, 0);
        uint64_t number = 0;
        if (is_ours(value->string))
            continue;
        if (!is_term(value->string)) {
            json_fail(&term, "is not the name of a term: letters, digits, '_', '-' and '.', at most %d",
                      EVENT_FORMAT_NAME_MAX - 1);
            continue;
        }
        if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= UINT32_MAX &&
            floor(value->valuedouble) == value->valuedouble) {
            number = (uint64_t)value->valuedouble;
        } else if (!cJSON_IsString(value) || !spec_parse_code(value->valuestring, &number)) {
            json_fail(&term, "is not the value of a term: write it as \"0x01\" or 1");
            continue;
        }
        size_t length = strlen(terms);
        if (number == 0 && !is_register(catalog, value->string))
            continue;
        int more = snprintf(terms + length, size - length, ",%s=0x%llx", value->string, (unsigned long long)number);
        if (more < 0 || (size_t)more >= size - length) {
            json_fail(ours, "has more terms than any PMU: %zu characters of them at most", size - 1);
            return;
        }
    }
}

static bool is_whole(const struct json_node *node, double min, double max) {
    if (!json_is_number(node, min, max))
        return false;
    if (floor(node->value->valuedouble) != node->value->valuedouble)
        json_fail(node, "must be a whole number");
    return floor(node->value->valuedouble) == node->value->valuedouble;
}

// Reads a list of counters as one bit each.
static void read_counter_list(const struct json_node *ours, uint64_t *out) {
    struct json_node list;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_array(ours, "counters", JSON_OPTIONAL, COUNTERS_MAX, &list))
        return;
    cJSON_ArrayForEach(value, list.value) {
        const struct json_node node = json_child(&list, value, index++);
        if (is_whole(&node, 0, COUNTERS_MAX - 1))
            *out |= UINT64_C(1) << (unsigned)value->valuedouble;
    }
    if (index == 0)
        json_fail(&list, "lists no counter: leave it out where any will do");
}

// True if an entry of `dead_on` names the CPU for which the catalog is made.
static bool names_cpu(const struct json_node *entry, const char *cpuid) {
    const char **cpus;
    size_t n = 0;
    struct fault fault;
    bool named = false;
    if (!json_get_texts(entry, "cpus", JSON_REQUIRED, SPEC_LIST_MAX, &cpus, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cpu_check_entry(cpus[i], &fault) < 0)
            json_fail(entry, "cpus: %s", fault.text);
        named = named || cpu_is_listed(cpus[i], cpuid);
    }
    free(cpus);
    return named;
}

// Reads on which CPUs the event is known to be dead. False: not on the one for which the catalog is made.
static bool read_dead(const struct spec_reader *spec, const struct json_node *ours, char out[SPEC_DEAD_MAX]) {
    static const char *const keys[] = {"cpus", "why", "source"};
    const char *cpuid = spec->environment ? spec->environment->facts.cpuid : "";
    struct json_node list;
    const cJSON *value;
    size_t index = 0;
    bool dead = false;
    if (!json_get_array(ours, "dead_on", JSON_OPTIONAL, SPEC_LIST_MAX, &list))
        return false;
    cJSON_ArrayForEach(value, list.value) {
        const struct json_node entry = json_child(&list, value, index++);
        const char *why = "", *source = "";
        if (!json_is_object(&entry))
            continue;
        json_check_keys(&entry, keys, COUNT(keys));
        (void)json_get_text(&entry, "why", JSON_REQUIRED, &why);
        (void)json_get_text(&entry, "source", JSON_REQUIRED, &source);
        bool all = !cJSON_HasObjectItem(value, "cpus");
        if (dead || !(all || names_cpu(&entry, cpuid)))
            continue;
        dead = true;
        (void)snprintf(out, SPEC_DEAD_MAX, "%s (%s)", why, source);
    }
    return dead;
}

// PMUs that only sample, such as AMD's ibs_op and Arm's arm_spe_0, have no term for the code: other terms say it all.
static void drop_code(char *terms) {
    const char *rest = strchr(terms, ',');
    if (rest)
        memmove(terms, rest + 1, strlen(rest));
}

bool spec_read_event(struct spec_reader *spec, const struct json_node *event, struct catalog_event_text *text,
                     struct spec_event_texts *texts) {
    char *terms = texts->terms;
    struct json_node ours = {0};
    uint64_t code;
    *text = (struct catalog_event_text){.name = event->key, .takes = 1, .pmu = spec->pmu, .terms = terms};
    (void)json_get_text(event, "title", JSON_OPTIONAL, &text->title);
    if (!read_code(event, &code))
        return false;
    (void)snprintf(terms, SPEC_TERMS_MAX, "%s=0x%llx", spec->code_term ? spec->code_term : "event",
                   (unsigned long long)code);
    if (json_get_object(event, "topdownd", JSON_OPTIONAL, &ours)) {
        append_terms(spec->catalog, &ours, terms, SPEC_TERMS_MAX);
        (void)json_get_text(&ours, "pmu", JSON_OPTIONAL, &text->pmu);
        if (text->pmu && code == 0)
            drop_code(terms);
        (void)json_get_count(&ours, "takes", JSON_OPTIONAL, 0, 2, &text->takes);
        (void)json_get_bool(&ours, "sampling_only", JSON_OPTIONAL, &text->sampling_only);
        (void)json_get_bool(&ours, "must_count", JSON_OPTIONAL, &text->must_count);
        (void)json_get_bool(&ours, "may_be_zero", JSON_OPTIONAL, &text->may_be_zero); // in specs of earlier versions
        text->known_dead = read_dead(spec, &ours, texts->known_dead) ? texts->known_dead : NULL;
        read_counter_list(&ours, &text->counters);
    }
    return true;
}

// Reads further names of the event that was added last.
static void read_aliases(struct spec_reader *spec, const struct json_node *event) {
    struct json_node ours;
    const char **names;
    size_t n;
    struct fault fault;
    if (!json_get_object(event, "topdownd", JSON_OPTIONAL, &ours) ||
        !json_get_texts(&ours, "known_as", JSON_OPTIONAL, SPEC_LIST_MAX, &names, &n))
        return;
    for (size_t i = 0; i < n; i++)
        spec_take(&ours,
                  catalog_builder_add_alias(spec->builder, names[i], (unsigned)spec->catalog->n_events - 1, &fault),
                  &fault);
    free(names);
}

static void add_event(struct spec_reader *spec, const struct json_node *event) {
    struct catalog_event_text text;
    struct spec_event_texts texts;
    struct fault fault;
    if (!spec_read_event(spec, event, &text, &texts))
        return;
    int r = catalog_builder_add_event_text(spec->builder, &text, &fault);
    spec_take(event, r, &fault);
    if (r >= 0)
        read_aliases(spec, event);
}

static void read_registers(struct spec_reader *spec, const struct json_node *ours) {
    struct json_node registers;
    struct fault fault;
    const cJSON *value;
    if (!ours->value || !json_get_object(ours, "shared_registers", JSON_OPTIONAL, &registers))
        return;
    cJSON_ArrayForEach(value, registers.value) {
        const struct json_node node = json_child(&registers, value, 0);
        if (is_whole(&node, 1, COUNTERS_MAX))
            spec_take(&node,
                      catalog_builder_add_register(spec->builder, value->string, (unsigned)value->valuedouble, &fault),
                      &fault);
    }
}

// Reads the codes of events that leave half of the counters while SMT is on.
static void read_exclusive(struct spec_reader *spec, const struct json_node *ours) {
    const char **codes;
    size_t n;
    uint64_t code;
    if (!ours->value || !json_get_texts(ours, "exclusive_events", JSON_OPTIONAL, CATALOG_EXCLUSIVE_MAX, &codes, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        struct fault fault;
        if (spec_parse_code(codes[i], &code))
            spec_take(ours, catalog_builder_add_exclusive(spec->builder, code, &fault), &fault);
        else
            json_fail(ours, "has an exclusive event '%.40s' that is not an event code: write it as \"0xd0\"", codes[i]);
    }
    free(codes);
}

void spec_read_events(struct spec_reader *spec, const struct json_node *root) {
    struct json_node events, ours = {0};
    if (!json_get_object(root, "events", JSON_REQUIRED, &events))
        return;
    (void)json_get_object(root, "topdownd", JSON_OPTIONAL, &ours);
    read_registers(spec, &ours);
    read_exclusive(spec, &ours);
    spec->uncountable.names = calloc((size_t)cJSON_GetArraySize(events.value) + 1, sizeof *spec->uncountable.names);
    if (!spec->uncountable.names) {
        json_fail_memory(root);
        return;
    }
    const cJSON *value;
    cJSON_ArrayForEach(value, events.value) {
        const struct json_node event = json_child(&events, value, 0);
        if (json_is_object(&event) && can_be_counted(&event))
            add_event(spec, &event);
        else if (cJSON_IsObject(value))
            spec->uncountable.names[spec->uncountable.n++] = value->string;
        json_forgive(&spec->reader);
    }
}

static void read_topdown(struct spec_reader *spec, const struct json_node *ours) {
    const char **events;
    size_t n;
    struct fault fault;
    if (!json_get_texts(ours, "resident", JSON_OPTIONAL, CATALOG_TOPDOWN_MAX, &events, &n))
        return;
    spec_take(ours, catalog_builder_set_topdown(spec->builder, events, n, &fault), &fault);
    free(events);
}

void spec_read_counters(struct spec_reader *spec, const struct json_node *ours) {
    static const char *const keys[] = {"general", "group", "fixed", "nmi_watchdog"};
    struct json_node counters;
    unsigned general, group;
    const char **fixed = NULL, *watchdog;
    size_t n = 0;
    if (!ours->value)
        return;
    if (json_get_object(ours, "counters", JSON_OPTIONAL, &counters)) {
        json_check_keys(&counters, keys, COUNT(keys));
        (void)json_get_texts(&counters, "fixed", JSON_OPTIONAL, COUNTERS_MAX, &fixed, &n);
        if (spec->reader.lenient)
            n = spec_known_names(spec, &counters, fixed, n, catalog_find_event);
        json_forgive(&spec->reader);
        struct fault fault;
        if (json_get_count(&counters, "general", JSON_REQUIRED, 0, COUNTERS_MAX, &general))
            spec_take(&counters, catalog_builder_set_counters(spec->builder, general, fixed, n, &fault), &fault);
        if (json_get_count(&counters, "group", JSON_OPTIONAL, 1, COUNTERS_MAX, &group))
            catalog_builder_set_group_events(spec->builder, group);
        if (json_get_text(&counters, "nmi_watchdog", JSON_OPTIONAL, &watchdog) && spec->reader.status == 0)
            spec_take(&counters, catalog_builder_set_watchdog(spec->builder, watchdog, &fault), &fault);
        free(fixed);
    }
    read_topdown(spec, ours);
}
