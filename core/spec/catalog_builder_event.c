// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/catalog_builder_private.h"
#include "core/spec/kernel_pmu.h"

// Events: their codes in the format of their PMU, and the counters they need.

int builder_append_event(struct catalog_builder *builder, const struct catalog_event_text *text,
                         enum catalog_event_kind kind) {
    struct catalog *catalog = builder->catalog;
    struct catalog_event *event = catalog_entry_grow((void **)&catalog->events, catalog->n_events, sizeof *event);
    if (!event)
        return -ENOMEM;
    *event = (struct catalog_event){.kind = kind,
                                    .name = catalog_entry_copy(text->name),
                                    .title = catalog_entry_copy(text->title),
                                    .terms = catalog_entry_copy(text->terms),
                                    .need = {.counters = text->counters, .takes = text->takes, .fixed = -1},
                                    .known_dead = text->known_dead ? catalog_entry_copy(text->known_dead) : NULL,
                                    .sampling_only = text->sampling_only,
                                    .must_count = text->must_count,
                                    .may_be_zero = text->may_be_zero};
    event->need.free = kind != EVENT_COUNTED || text->takes == 0;
    event->fixed = text->fixed > 0;
    event->need.fixed = (int)text->fixed - 1;
    if (!event->name || !event->title || !event->terms || (text->known_dead && !event->known_dead) ||
        name_index_add(&catalog->names.events, event->name, (unsigned)catalog->n_events) < 0) {
        catalog_entry_free_event(event);
        return -ENOMEM;
    }
    return (int)catalog->n_events++;
}

int catalog_builder_add_format(struct catalog_builder *builder, const char *field, const char *bits,
                               struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    struct fault reason;
    int r = catalog->format ? 0 : event_format_new(&catalog->format);
    if (r == 0)
        r = event_format_add(catalog->format, field, bits, &reason);
    return r == -EINVAL ? fault_set(fault, "the format of %.40s: %s", field, reason.text) : r;
}

// The PMU's index among the formats of other PMUs; n_pmu_formats if there is none.
static size_t format_place(const struct catalog_builder *builder, const char *pmu) {
    size_t i = 0;
    while (i < builder->n_pmu_formats && strcmp(builder->pmu_formats[i].pmu, pmu) != 0)
        i++;
    return i;
}

bool catalog_builder_has_pmu_format(const struct catalog_builder *builder, const char *pmu) {
    return format_place(builder, pmu) < builder->n_pmu_formats;
}

int catalog_builder_add_pmu_format(struct catalog_builder *builder, const char *pmu, const char *field,
                                   const char *bits, struct fault *fault) {
    struct fault reason;
    size_t i = format_place(builder, pmu);
    if (i == CATALOG_PMUS_MAX)
        return fault_set(fault, "there are formats of more than %d PMUs", CATALOG_PMUS_MAX);
    if (i == builder->n_pmu_formats) {
        struct builder_pmu_format *added = catalog_entry_grow((void **)&builder->pmu_formats, i, sizeof *added);
        if (!added || !(added->pmu = catalog_entry_copy(pmu)))
            return -ENOMEM;
        builder->n_pmu_formats++;
    }
    struct builder_pmu_format *known = &builder->pmu_formats[i];
    int r = known->format ? 0 : event_format_new(&known->format);
    if (r == 0)
        r = event_format_add(known->format, field, bits, &reason);
    return r == -EINVAL ? fault_set(fault, "the format of %.40s: %s", field, reason.text) : r;
}

int catalog_builder_add_register(struct catalog_builder *builder, const char *term, unsigned values,
                                 struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    if (catalog->n_registers == EVENT_REGISTERS_MAX)
        return fault_set(fault, "there are more than %d shared registers", EVENT_REGISTERS_MAX);
    if (catalog->format && !event_format_find(catalog->format, term))
        return fault_set(fault, "the shared register %.40s is no term of the format", term);
    char *copied = catalog_entry_copy(term);
    if (!copied)
        return -ENOMEM;
    catalog->registers[catalog->n_registers++] = (struct catalog_register){.term = copied, .values = values};
    return 0;
}

// Index of a PMU, which is added if new.
static int find_pmu(struct catalog *catalog, const char *name, struct fault *fault) {
    for (size_t i = 0; i < catalog->n_pmus; i++)
        if (strcmp(catalog->pmus[i], name) == 0)
            return (int)i;
    if (catalog->n_pmus == CATALOG_PMUS_MAX)
        return fault_set(fault, "there are more than %d PMUs", CATALOG_PMUS_MAX);
    char *copied = catalog_entry_copy(name);
    if (!copied)
        return -ENOMEM;
    catalog->pmus[catalog->n_pmus] = copied;
    return (int)catalog->n_pmus++;
}

// True if one of the terms is `name`; *value is its value. The terms are valid, since they have been encoded.
static bool term_value(const char *terms, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    for (const char *term = terms; term; term = strchr(term, ',') ? strchr(term, ',') + 1 : NULL) {
        if (strncmp(term, name, length) != 0 || term[length] != '=')
            continue;
        *value = strtoull(term + length + 1, NULL, 0);
        return true;
    }
    return false;
}

// Finds the shared register that an event of the core PMU programs, if any.
static void find_register(const struct catalog *catalog, struct catalog_event *event) {
    for (unsigned i = 0; i < catalog->n_registers; i++) {
        uint64_t value;
        if (!term_value(event->terms, catalog->registers[i].term, &value))
            continue;
        event->need.reg = i + 1;
        event->need.reg_value = value;
    }
}

int catalog_builder_add_exclusive(struct catalog_builder *builder, uint64_t code, struct fault *fault) {
    if (code >= CATALOG_EXCLUSIVE_MAX)
        return fault_set(fault, "the exclusive event's code 0x%llx is above 0x%x", (unsigned long long)code,
                         CATALOG_EXCLUSIVE_MAX - 1);
    builder->exclusive[code / 64] |= UINT64_C(1) << (code % 64);
    return 0;
}

static bool is_exclusive(const struct catalog_builder *builder, const char *terms) {
    uint64_t code;
    return term_value(terms, "event", &code) && code < CATALOG_EXCLUSIVE_MAX &&
           (builder->exclusive[code / 64] >> (code % 64) & 1) != 0;
}

// The known format of a PMU other than the core's, or NULL.
static const struct event_format *find_pmu_format(const struct catalog_builder *builder, const char *pmu) {
    for (size_t i = 0; i < builder->n_pmu_formats; i++) {
        const char *name = builder->pmu_formats[i].pmu;
        size_t length = strlen(name);
        bool prefix = length > 0 && name[length - 1] == '*';
        if (prefix ? strncmp(name, pmu, length - 1) == 0 : strcmp(name, pmu) == 0)
            return builder->pmu_formats[i].format;
    }
    return NULL;
}

// Encodes an event of another PMU, or sets the reason why it cannot.
static int encode_other(const struct catalog_builder *builder, const struct catalog_event_text *text,
                        struct pmu_event *code, char **uncoded) {
    struct fault reason;
    const struct event_format *format = find_pmu_format(builder, text->pmu);
    if (format && event_format_encode(format, text->terms, code, &reason) == 0)
        return 0;
    if (!format)
        (void)fault_set(&reason, "the format of the PMU %.60s is not known without a host that has it", text->pmu);
    (void)term_value(text->terms, "event", &code->config);
    *uncoded = catalog_entry_copy(reason.text);
    return *uncoded ? 0 : -ENOMEM;
}

// Encodes an event of the core PMU, whose format is known.
static int encode_core(const struct catalog *catalog, const struct catalog_event_text *text, struct pmu_event *code,
                       struct fault *fault) {
    struct fault reason;
    int r = catalog->format ? event_format_encode(catalog->format, text->terms, code, &reason) : 0;
    return r == -EINVAL ? fault_set(fault, "the event %s: %s", text->name, reason.text) : r;
}

int catalog_builder_add_event_text(struct catalog_builder *builder, const struct catalog_event_text *text,
                                   struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int r = catalog_entry_check_name("event", text->name, catalog_find_event(catalog, text->name) >= 0, fault);
    if (r < 0)
        return r;
    if (catalog->n_events == CATALOG_EVENTS_MAX)
        return fault_set(fault, "there are more than %d events", CATALOG_EVENTS_MAX);
    int pmu = text->pmu ? find_pmu(catalog, text->pmu, fault) : 0;
    if (pmu < 0)
        return pmu;
    struct pmu_event code = {.pmu = (unsigned)pmu};
    char *uncoded = NULL;
    r = pmu == 0 ? encode_core(catalog, text, &code, fault) : encode_other(builder, text, &code, &uncoded);
    int index = r < 0 ? r : builder_append_event(builder, text, EVENT_COUNTED);
    if (index < 0) {
        free(uncoded);
        return index;
    }
    catalog->events[index].code = code;
    catalog->events[index].uncoded = uncoded;
    uint32_t ignored;
    bool elsewhere = pmu != 0 && !text->beside && !kernel_pmu_type(catalog->pmus[pmu], &ignored);
    catalog->events[index].need.free = catalog->events[index].need.free || elsewhere;
    if (pmu == 0) {
        find_register(catalog, &catalog->events[index]);
        catalog->events[index].need.exclusive = is_exclusive(builder, text->terms);
    }
    return index;
}

// Where the catalog keeps the event of a kind that it has once; NULL: it has any number of them.
static int *place_of(struct catalog *catalog, const struct catalog_event *event) {
    for (int i = 0; event->kind == EVENT_CORE_SLOTS && i < CORE_SLOTS_N; i++)
        if (strcmp(event->name, catalog_core_slots_name((enum catalog_core_slots)i)) == 0)
            return &catalog->core_slots[i];
    return event->kind == EVENT_DURATION    ? &catalog->duration_event
           : event->kind == EVENT_CORE_WIDE ? &catalog->core_wide_event
                                            : NULL;
}

int catalog_builder_add_event_as(struct catalog_builder *builder, const struct catalog_event *event, const char *pmu,
                                 struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int *place = place_of(catalog, event);
    int r = catalog_entry_check_name("event", event->name, catalog_find_event(catalog, event->name) >= 0, fault);
    if (r == 0 && (catalog->n_events == CATALOG_EVENTS_MAX || (place ? *place >= 0 : event->kind != EVENT_COUNTED)))
        r = fault_set(fault, "the event %s is one too many of its kind", event->name);
    int found = r == 0 && pmu ? find_pmu(catalog, pmu, fault) : r;
    char *uncoded = found >= 0 && event->uncoded ? catalog_entry_copy(event->uncoded) : NULL;
    if (found < 0 || (event->uncoded && !uncoded))
        return found < 0 ? found : -ENOMEM;
    const struct catalog_event_text text = {
        .name = event->name, .title = event->title, .terms = event->terms, .known_dead = event->known_dead};
    int index = builder_append_event(builder, &text, event->kind);
    if (index < 0) {
        free(uncoded);
        return index;
    }
    struct catalog_event *made = &catalog->events[index];
    made->code = event->code;
    made->code.pmu = (unsigned)found;
    made->uncoded = uncoded;
    made->need = event->need;
    made->fixed = event->fixed;
    made->sampling_only = event->sampling_only;
    made->must_count = event->must_count;
    made->may_be_zero = event->may_be_zero;
    if (place)
        *place = index;
    return index;
}

// perf's modifiers select what is counted: u user space, k the kernel, h the hypervisor (perf-list(1)). -1: not a list
// of modifiers.
static int exclude_of(const char *modifiers) {
    int counted = 0;
    for (const char *c = modifiers; *c != '\0'; c++) {
        int one = *c == 'u'   ? PMU_EXCLUDE_USER
                  : *c == 'k' ? PMU_EXCLUDE_KERNEL
                  : *c == 'h' ? PMU_EXCLUDE_HYPERVISOR
                              : 0;
        if (one == 0 || (counted & one) != 0)
            return -1;
        counted |= one;
    }
    return counted == 0 ? -1 : (PMU_EXCLUDE_USER | PMU_EXCLUDE_KERNEL | PMU_EXCLUDE_HYPERVISOR) & ~counted;
}

int builder_add_modified(struct catalog_builder *builder, const char *name) {
    struct catalog *catalog = builder->catalog;
    const char *colon = strrchr(name, ':'), *at = strrchr(name, '@');
    int exclude = colon ? exclude_of(colon + 1) : at ? exclude_of(at + 1) : -1;
    size_t length = colon ? (size_t)(colon - name) : at ? (size_t)(at + 1 - name) : 0;
    if (exclude < 0 || catalog->n_events == CATALOG_EVENTS_MAX)
        return -ENOENT;
    int base = name_index_find(&catalog->names.events, name, length, true);
    if (base < 0 || catalog->events[base].kind != EVENT_COUNTED)
        return -ENOENT;
    struct catalog_event of = catalog->events[base];
    const struct catalog_event_text text = {// it need not count in these modes: a host may run guests alone
                                            .name = name,
                                            .title = of.title,
                                            .terms = of.terms,
                                            .takes = of.need.takes,
                                            .known_dead = of.known_dead};
    int index = builder_append_event(builder, &text, EVENT_COUNTED);
    if (index < 0)
        return index;
    struct catalog_event *event = &catalog->events[index];
    if (of.uncoded && !(event->uncoded = catalog_entry_copy(of.uncoded)))
        return -ENOMEM;
    event->code = of.code;
    event->code.exclude = (unsigned)exclude;
    event->need = of.need;
    event->fixed = of.fixed;
    event->sampling_only = of.sampling_only;
    event->may_be_zero = of.may_be_zero;
    return index;
}

void catalog_builder_set_may_be_zero(struct catalog_builder *builder, const char *const *names, size_t n, bool mark) {
    struct catalog *catalog = builder->catalog;
    for (size_t e = 0; !names && e < catalog->n_events; e++)
        catalog->events[e].may_be_zero = mark && catalog->events[e].kind == EVENT_COUNTED;
    for (size_t i = 0; names && i < n; i++) {
        int event = catalog_find_event(catalog, names[i]);
        if (event >= 0)
            catalog->events[event].may_be_zero = mark;
    }
}

void catalog_doubt_zeros(struct catalog *catalog) {
    catalog->doubts_zeros = true;
    for (size_t e = 0; e < catalog->n_events; e++)
        catalog->events[e].must_count = catalog->events[e].kind == EVENT_COUNTED && !catalog->events[e].may_be_zero;
}

int catalog_builder_add_alias(struct catalog_builder *builder, const char *name, unsigned event, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int r = catalog_entry_check_name("event", name, catalog_find_event(catalog, name) >= 0, fault);
    if (r < 0)
        return r;
    char **alias = catalog_entry_grow((void **)&catalog->names.aliases, catalog->names.n_aliases, sizeof *alias);
    if (!alias || !(*alias = catalog_entry_copy(name)))
        return -ENOMEM;
    catalog->names.n_aliases++;
    return name_index_add(&catalog->names.events, *alias, event);
}

int catalog_builder_add_event(struct catalog_builder *builder, const char *name, const char *title, uint64_t config,
                              struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    char terms[40];
    (void)snprintf(terms, sizeof terms, "config=0x%llx", (unsigned long long)config);
    int index = catalog_builder_add_event_text(
        builder, &(struct catalog_event_text){.name = name, .title = title, .terms = terms, .takes = 1}, fault);
    if (index >= 0)
        catalog->events[index].code.config = config;
    return index;
}

int catalog_builder_encode(struct catalog_builder *builder, unsigned pmu, const struct event_format *format,
                           bool *cannot) {
    struct catalog *catalog = builder->catalog;
    struct fault ignored;
    for (size_t e = 0; e < catalog->n_events; e++) {
        struct catalog_event *event = &catalog->events[e];
        if (event->kind != EVENT_COUNTED || event->code.pmu != pmu)
            continue;
        struct pmu_event code = {0};
        int r = event_format_encode(format, event->terms, &code, &ignored);
        if (r == -ENOMEM)
            return r;
        code.pmu = pmu;
        code.exclude = event->code.exclude;
        cannot[e] = r < 0;
        if (r < 0)
            continue;
        event->code = code;
        free(event->uncoded);
        event->uncoded = NULL;
    }
    return 0;
}

// ---- counters ----

static int find_counted(const struct catalog *catalog, const char *what, const char *name, struct fault *fault) {
    int event = catalog_find_event(catalog, name);
    if (event < 0 || catalog->events[event].kind != EVENT_COUNTED)
        return fault_set(fault, "%s %.60s is not among the events", what, name);
    if (catalog->events[event].code.pmu != 0)
        return fault_set(fault, "%s %.60s is of the PMU %.60s, not of the core's", what, name,
                         catalog->pmus[catalog->events[event].code.pmu]);
    return event;
}

int catalog_builder_set_counters(struct catalog_builder *builder, unsigned general, const char *const *fixed_events,
                                 size_t n_fixed, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    if (n_fixed > EVENT_FIXED_MAX)
        return fault_set(fault, "more than %d fixed counters", EVENT_FIXED_MAX);
    for (size_t i = 0; i < n_fixed; i++) {
        int event = find_counted(catalog, "the fixed counter's event", fixed_events[i], fault);
        if (event < 0)
            return event;
        catalog->events[event].fixed = true;
        catalog->events[event].need.fixed = (int)i;
    }
    catalog->general_counters = general;
    return 0;
}

void catalog_builder_set_group_events(struct catalog_builder *builder, unsigned n) {
    builder->catalog->product.group_events = n;
}

int catalog_builder_set_watchdog(struct catalog_builder *builder, const char *fixed_event, struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    int event = find_counted(catalog, "the watchdog's event", fixed_event, fault);
    if (event < 0)
        return event;
    if (!catalog->events[event].fixed)
        return fault_set(fault, "the watchdog's event %.60s has no fixed counter", fixed_event);
    catalog->watchdog_event = event;
    return 0;
}

int catalog_builder_set_topdown(struct catalog_builder *builder, const char *const *events, size_t n,
                                struct fault *fault) {
    struct catalog *catalog = builder->catalog;
    if (n > CATALOG_TOPDOWN_MAX)
        return fault_set(fault, "there are more than %d resident events", CATALOG_TOPDOWN_MAX);
    if (catalog->n_topdown > 0)
        return fault_set(fault, "there are resident events already");
    for (size_t i = 0; i < n; i++) {
        int event = find_counted(catalog, "the resident event", events[i], fault);
        if (event < 0)
            return event;
        if (catalog->events[event].topdown)
            return fault_set(fault, "the resident event %.60s stands twice", events[i]);
        if (catalog->events[event].sampling_only)
            return fault_set(fault, "the resident event %.60s can only be sampled, not counted", events[i]);
        catalog->events[event].topdown = true;
        catalog->topdown[catalog->n_topdown++] = (unsigned)event;
    }
    return 0;
}

// Whoever selects a category that the host hides gets the one that it has.
static void replace_categories(struct catalog_level1 *level1, const struct catalog_level1 *dropped) {
    for (size_t d = 0; d < dropped->n_categories; d++)
        for (size_t i = 0; i < level1->n_categories; i++)
            if (level1->categories[i].category == dropped->categories[d].category) {
                level1->replaced[level1->n_replaced].metric = dropped->categories[d].metric;
                level1->replaced[level1->n_replaced++].by = level1->categories[i].metric;
            }
}

void catalog_builder_drop_topdown(struct catalog_builder *builder) {
    struct catalog *catalog = builder->catalog;
    struct catalog_level1 dropped = catalog->level1;
    if (catalog->n_topdown == 0)
        return;
    for (size_t i = 0; i < catalog->n_topdown; i++)
        catalog->events[catalog->topdown[i]].topdown = false;
    catalog->n_topdown = 0;
    catalog->level1 = builder->without_topdown;
    replace_categories(&catalog->level1, &dropped);
    builder->without_topdown = dropped; // freed with the builder
}
