// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_bind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_pmu.h"

enum { PMU_NAME_MAX = 256 };

static const struct catalog_event *core_event(const struct catalog *catalog, size_t e) {
    const struct catalog_event *event = &catalog->events[e];
    return event->kind == EVENT_COUNTED && event->code.pmu == 0 ? event : NULL;
}

// ---- the core PMU ----

// Encodes a PMU's events in the host's format and marks those it cannot encode as unsupported. -ENOENT if the host
// shows no format.
static int encode(const struct host_roots *roots, const char *pmu, struct catalog_builder *builder, unsigned index,
                  struct host_binding *binding) {
    size_t n_events = catalog_builder_catalog(builder)->n_events;
    struct event_format *format;
    int r = host_pmu_format(roots, pmu, &format);
    if (r < 0)
        return r;
    bool *cannot = calloc(n_events, sizeof *cannot);
    r = cannot ? catalog_builder_encode(builder, index, format, cannot) : -ENOMEM;
    for (size_t e = 0; e < n_events && r == 0; e++) {
        if (!cannot[e])
            continue;
        binding->support[e] = PLAN_UNSUPPORTED;
        binding->n_cannot += !catalog_builder_catalog(builder)->events[e].sampling_only; // no metric needs those
    }
    free(cannot);
    event_format_free(format);
    return r;
}

// Marks the events that an Arm PMU rules out as unsupported. Events that the PMU advertises need not count: a driver
// may advertise events that the machine below it never counts (core/counts/zeros.h).
static int rule_out(const struct host_roots *roots, const char *pmu, const struct catalog *catalog,
                    struct host_binding *binding) {
    struct host_pmu_events events = {0};
    int r = host_linux_pmu_events(roots, pmu, &events);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    for (size_t e = 0; e < catalog->n_events; e++)
        if (core_event(catalog, e) && host_pmu_events_rule_out(&events, catalog->events[e].code.config))
            binding->support[e] = PLAN_UNSUPPORTED;
    host_pmu_events_deinit(&events);
    return 0;
}

// ---- other PMUs ----

// What the events of another PMU are to this host. A PMU with a `cpumask` file counts for a socket or a die, so its
// counts belong to no single CPU; what can only be sampled needs the PMU itself.
static enum plan_support support_elsewhere(const struct catalog_event *event, bool there) {
    return event->sampling_only && !there ? PLAN_UNSUPPORTED : PLAN_ELSEWHERE;
}

// Encodes events that topdownd never opens, for the lists of events. Several PMUs of a kind (uncore_imc_0 ...) share a
// format.
static int encode_unopened(const struct host_roots *roots, struct catalog_builder *builder, unsigned pmu) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    char pattern[PMU_NAME_MAX], name[PMU_NAME_MAX];
    struct event_format *format;
    uint32_t type;
    (void)snprintf(pattern, sizeof pattern, "%s_*", catalog->pmus[pmu]);
    int r = host_pmu_format(roots, catalog->pmus[pmu], &format);
    if (r == -ENOENT && host_linux_find_pmu(roots, pattern, "", name, sizeof name, &type) == 0)
        r = host_pmu_format(roots, name, &format);
    if (r < 0)
        return r;
    bool *cannot = calloc(catalog->n_events, sizeof *cannot);
    r = cannot ? catalog_builder_encode(builder, pmu, format, cannot) : -ENOMEM;
    free(cannot);
    event_format_free(format);
    return r;
}

static int bind_other(const struct host_roots *roots, struct catalog_builder *builder, unsigned pmu,
                      struct host_binding *binding) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    bool there = host_linux_pmu_type(roots, catalog->pmus[pmu], &binding->types[pmu]) == 0;
    bool counts = there && !host_pmu_has_cpumask(roots, catalog->pmus[pmu]);
    for (size_t e = 0; e < catalog->n_events; e++)
        if (catalog->events[e].kind == EVENT_COUNTED && catalog->events[e].code.pmu == pmu && !counts)
            binding->support[e] = (uint8_t)support_elsewhere(&catalog->events[e], there);
    int r = counts ? encode(roots, catalog->pmus[pmu], builder, pmu, binding) : encode_unopened(roots, builder, pmu);
    return r == -ENOENT ? 0 : r;
}

// ---- topdown counters ----

void host_bind_drop_topdown(struct catalog_builder *builder, struct host_binding *binding) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    for (size_t i = 0; i < catalog->n_topdown; i++)
        if (i == 0 || catalog->events[catalog->topdown[i]].need.free)
            binding->support[catalog->topdown[i]] = PLAN_UNSUPPORTED;
    catalog_builder_drop_topdown(builder);
    binding->topdown_dropped = true;
}

// The kernel has its own names for the fields. If the PMU lacks one of these events, as in most virtual
// machines, none of the fields counts. The kernel shows the leader beside them, but a vendor's files may use another
// name for it.
static void bind_topdown(const struct host_roots *roots, const char *pmu, struct catalog_builder *builder,
                         struct host_binding *binding) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    char ignored[1024];
    bool whole = true, fields = false;
    for (size_t i = 0; i < catalog->n_topdown; i++) {
        const struct catalog_event *event = &catalog->events[catalog->topdown[i]];
        fields = fields || event->need.free;
        if (event->need.free)
            whole = whole && host_pmu_alias(roots, pmu, event->name, ignored, sizeof ignored) != -ENOENT;
    }
    if (!fields && catalog->n_topdown > 0)
        whole =
            host_pmu_alias(roots, pmu, catalog->events[catalog->topdown[0]].name, ignored, sizeof ignored) != -ENOENT;
    if (!whole)
        host_bind_drop_topdown(builder, binding);
}

int host_bind(const struct host_roots *roots, const char *pmu, uint32_t type, struct catalog_builder *builder,
              struct host_binding *out) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct host_binding binding = {.support = calloc(catalog->n_events, sizeof *binding.support), .types = {type}};
    if (!binding.support)
        return -ENOMEM;
    memset(binding.support, PLAN_SUPPORT_UNKNOWN, catalog->n_events);
    int r = encode(roots, pmu, builder, 0, &binding);
    if (r == 0 || r == -ENOENT)
        r = rule_out(roots, pmu, catalog, &binding);
    for (unsigned i = 1; i < catalog->n_pmus && r == 0; i++)
        r = bind_other(roots, builder, i, &binding);
    if (r < 0) {
        host_binding_deinit(&binding);
        return r;
    }
    bind_topdown(roots, pmu, builder, &binding);
    *out = binding;
    return 0;
}

void host_binding_deinit(struct host_binding *binding) {
    free(binding->support);
    binding->support = NULL;
}
