// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_alternative.h"
#include "core/recording/recording.h"
#include "core/recording/recording_bytes.h"
#include "core/recording/recording_resident.h"
#include "core/recording/recording_topology.h"

// A plan with its CPUs, stored by names: the reader looks events and metrics up in the current catalog. derive trusts a
// plan, so a plan from a file is checked: every index, all sizes, and that a unit has the events that its event groups
// count. Whether it has what its metrics count is not checked: such a file gives wrong values, not wrong accesses.

enum { CELLS_MAX = 1 << 25 };
enum { METRIC_AUXILIARY = 1, METRIC_FETCHED = 2 }; // flags

// Indexes of the record's own table of events.
struct event_table {
    unsigned *events; // of the catalog
    int *index;       // by catalog event; -1: not in the table
    size_t n;
};

static int table_init(struct event_table *table, const struct catalog *catalog) {
    *table = (struct event_table){.events = calloc(catalog->n_events, sizeof *table->events),
                                  .index = malloc(catalog->n_events * sizeof *table->index)};
    for (size_t e = 0; table->index && e < catalog->n_events; e++)
        table->index[e] = -1;
    return table->events && table->index ? 0 : -ENOMEM;
}

static void table_deinit(struct event_table *table) {
    free(table->index);
    free(table->events);
}

static void table_add(struct event_table *table, unsigned event) {
    if (table->index[event] >= 0)
        return;
    table->index[event] = (int)table->n;
    table->events[table->n++] = event;
}

// ---- writing ----

static void put_events(struct recording_buffer *out, const struct event_table *table, const struct plan *plan) {
    bytes_put_varint(out, table->n);
    for (size_t e = 0; e < table->n; e++) {
        bytes_put_text(out, plan->catalog->events[table->events[e]].name);
        bytes_put_varint(out, plan->support[table->events[e]]);
    }
}

static void put_list(struct recording_buffer *out, const struct event_table *table, const unsigned *events, size_t n) {
    bytes_put_varint(out, n);
    for (size_t i = 0; i < n; i++)
        bytes_put_varint(out, (uint64_t)table->index[events[i]]);
}

static void put_units(struct recording_buffer *out, const struct event_table *table, const struct plan *plan) {
    bytes_put_varint(out, plan->n_units);
    for (size_t u = 0; u < plan->n_units; u++) {
        const struct plan_unit *unit = &plan->units[u];
        bytes_put_varint(out, unit->slots);
        bytes_put_double(out, unit->baseline_share);
        bytes_put_varint(out, unit->reference < 0 ? 0 : 1 + (uint64_t)table->index[unit->reference]);
        put_list(out, table, unit->events, unit->n_events);
        bytes_put_varint(out, unit->n_groups);
        for (size_t g = unit->first_group; g < unit->first_group + unit->n_groups; g++) {
            bytes_put_text(out, plan->groups[g].name);
            put_list(out, table, plan->groups[g].events, plan->groups[g].n_events);
        }
    }
    bytes_put_signed(out, plan->level1_unit);
    bytes_put_signed(out, -1); // version 1: the resident event group
}

static uint64_t metric_flags(const struct plan_metric *metric) {
    return (metric->auxiliary ? METRIC_AUXILIARY : 0U) | (metric->fetched ? METRIC_FETCHED : 0U);
}

static void put_metrics(struct recording_buffer *out, const struct plan *plan) {
    bytes_put_varint(out, plan->n_metrics);
    for (size_t m = 0; m < plan->n_metrics; m++) {
        bytes_put_text(out, plan->catalog->metrics[plan->metrics[m].metric].name);
        bytes_put_varint(out, metric_flags(&plan->metrics[m]));
        bytes_put_signed(out, plan->metrics[m].unit);
        bytes_put_text(out, plan->metrics[m].reason);
    }
    bytes_put_varint(out, plan->level1_selected);
}

static void put_schedule(struct recording_buffer *out, const struct plan *plan) {
    bytes_put_varint(out, plan->general_counters);
    bytes_put_varint(out, plan->reserved_counters);
    bytes_put_varint(out, plan->slot_ns);
    bytes_put_varint(out, plan->idle_ns);
    bytes_put_varint(out, plan->round_ns);
    bytes_put_varint(out, plan->n_windows);
    bytes_put_varint(out, plan->n_round);
    for (size_t i = 0; i < plan->n_round; i++)
        bytes_put_varint(out, plan->round[i]);
}

int recording_put_plan(struct recording_buffer *out, const struct snapshot_layout *layout, bool again) {
    const struct plan *plan = layout->plan;
    struct event_table table;
    if (table_init(&table, plan->catalog) < 0) {
        table_deinit(&table);
        return -ENOMEM;
    }
    for (size_t e = 0; e < layout->n_events; e++)
        table_add(&table, layout->events[e]);
    for (size_t u = 0; u < plan->n_units; u++)
        for (size_t i = 0; i < plan->units[u].n_events; i++)
            table_add(&table, plan->units[u].events[i]);
    for (size_t g = 0; g < plan->n_groups; g++)
        for (size_t i = 0; i < plan->groups[g].n_events; i++)
            table_add(&table, plan->groups[g].events[i]);
    size_t begin = bytes_begin(out, RECORDING_PLAN);
    bytes_put_varint(out, again);
    recording_put_topology(out, layout->topology);
    put_events(out, &table, plan);
    put_units(out, &table, plan);
    put_metrics(out, plan);
    put_schedule(out, plan);
    if (layout->topology->boxes)
        recording_put_topology_boxes(out, layout->topology);
    table_deinit(&table);
    return bytes_end(out, begin);
}

// ---- reading ----

struct reader {
    struct bytes_cursor in;
    const struct catalog *catalog;
    struct event_table table;
    char *missing;
    int status; // 0, -ENOENT, -ENOMEM
};

static void *new_array(struct reader *reader, size_t n, size_t size) {
    void *array = calloc(n + 1, size);
    if (!array) {
        reader->status = -ENOMEM;
        reader->in.bad = true;
    }
    return array;
}

static void lacks(struct reader *reader, const char *name) {
    if (reader->status == 0) {
        memcpy(reader->missing, name, strlen(name) + 1);
        reader->status = -ENOENT;
    }
    reader->in.bad = true;
}

static void get_events(struct reader *reader, struct plan *plan) {
    struct bytes_cursor *in = &reader->in;
    size_t n = bytes_get_count(in, 2);
    for (size_t e = 0; e < n && !in->bad; e++) {
        char name[RECORDING_TEXT_MAX + 1];
        bytes_get_text(in, name);
        uint8_t support = (uint8_t)bytes_get_varint(in, PLAN_SUPPORT_LAST);
        int event = in->bad ? -1 : catalog_find_event(reader->catalog, name);
        if (event < 0 && !in->bad) {
            lacks(reader, name);
        } else if (in->bad || reader->table.index[event] >= 0) {
            in->bad = true;
        } else {
            table_add(&reader->table, (unsigned)event);
            plan->support[event] = support;
        }
    }
}

// A list of events, none twice.
static unsigned *get_list(struct reader *reader, size_t *n) {
    struct bytes_cursor *in = &reader->in;
    *n = bytes_get_count(in, 1);
    if (*n > PLAN_GROUP_EVENTS_MAX || reader->table.n == 0)
        in->bad = in->bad || *n > 0;
    unsigned *events = in->bad ? NULL : new_array(reader, *n, sizeof *events);
    for (size_t i = 0; i < *n && !in->bad; i++) {
        events[i] = reader->table.events[bytes_get_varint(in, reader->table.n - 1)];
        for (size_t j = 0; j < i; j++)
            in->bad = in->bad || events[j] == events[i];
    }
    return events;
}

static bool list_has(const unsigned *events, size_t n, unsigned event) {
    for (size_t i = 0; i < n; i++)
        if (events[i] == event)
            return true;
    return false;
}

static bool has_event(const struct plan_unit *unit, unsigned event) {
    return list_has(unit->events, unit->n_events, event);
}

static void get_group(struct reader *reader, struct plan *plan, unsigned unit) {
    struct plan_group *group = &plan->groups[plan->n_groups++];
    char name[RECORDING_TEXT_MAX + 1];
    bytes_get_text(&reader->in, name);
    if (strlen(name) >= sizeof group->name)
        reader->in.bad = true;
    else
        memcpy(group->name, name, strlen(name) + 1);
    group->unit = unit;
    group->events = get_list(reader, &group->n_events);
}

static void get_unit(struct reader *reader, struct plan *plan, size_t groups_max) {
    struct bytes_cursor *in = &reader->in;
    struct plan_unit *unit = &plan->units[plan->n_units++];
    unit->slots = (unsigned)bytes_get_varint(in, UINT16_MAX);
    unit->baseline_share = bytes_get_double(in);
    uint64_t reference = bytes_get_varint(in, reader->table.n);
    unit->reference = reference == 0 ? -1 : (int)reader->table.events[reference - 1];
    unit->events = get_list(reader, &unit->n_events);
    unit->first_group = (unsigned)plan->n_groups;
    size_t n = bytes_get_count(in, 2); // 0: the common unit
    bool spread = unit->slots == 0;    // of boxes alone, which get_all checks
    if (n > (spread ? unit->n_events + 1 : CATALOG_SPLIT_MAX) || plan->n_groups + n > groups_max)
        in->bad = true;
    if (!in->bad && n > 1 && !spread)
        in->bad = unit->reference < 0 || !has_event(unit, (unsigned)unit->reference);
    unit->n_groups = (unsigned)n;
    for (size_t g = 0; g < n && !in->bad; g++)
        get_group(reader, plan, (unsigned)(plan->n_units - 1));
}

// A unit without event groups is the common one, which every event group must carry.
static void find_common(struct reader *reader, struct plan *plan) {
    plan->common_unit = -1;
    for (int u = 0; u < (int)plan->n_units; u++) {
        if (plan->units[u].n_groups > 0)
            continue;
        reader->in.bad = reader->in.bad || plan->common_unit >= 0;
        plan->common_unit = u;
    }
}

// Every event of a group must be its unit's or the common unit's, whose events every group carries that rotates.
static void check_group(struct reader *reader, const struct plan *plan, const struct plan_group *group) {
    const struct plan_unit *unit = &plan->units[group->unit];
    const struct plan_unit *common = plan->common_unit >= 0 ? &plan->units[plan->common_unit] : NULL;
    bool whole = true;
    for (size_t i = 0; i < group->n_events; i++)
        whole = whole && (has_event(unit, group->events[i]) || (common && has_event(common, group->events[i])));
    for (size_t i = 0; common && !plan_unit_stands(plan, group->unit) && i < common->n_events; i++)
        whole = whole && list_has(group->events, group->n_events, common->events[i]);
    reader->in.bad = reader->in.bad || !whole;
}

static int get_index(struct bytes_cursor *in, size_t n) {
    int64_t index = bytes_get_signed(in);
    if (index < -1 || index >= (int64_t)n)
        in->bad = true;
    return in->bad ? -1 : (int)index;
}

static void get_units(struct reader *reader, struct plan *plan) {
    size_t n = bytes_get_count(&reader->in, 4);
    if (n > PLAN_UNITS_MAX)
        reader->in.bad = true;
    if (reader->in.bad)
        return;
    plan->units = new_array(reader, n, sizeof *plan->units);
    size_t groups_max = n + CATALOG_SPLIT_MAX + reader->table.n; // boxes: each event may have a group of its own
    plan->groups = new_array(reader, groups_max, sizeof *plan->groups);
    for (size_t u = 0; u < n && !reader->in.bad; u++)
        get_unit(reader, plan, groups_max);
    plan->level1_unit = get_index(&reader->in, plan->n_units);
    int resident_group = get_index(&reader->in, plan->n_groups);
    find_common(reader, plan);
    for (size_t g = 0; g < plan->n_groups && !reader->in.bad; g++)
        check_group(reader, plan, &plan->groups[g]);
    if (!reader->in.bad && resident_group >= 0)
        reader->in.bad = plan->common_unit >= 0 || !recording_resident_plan(plan, resident_group);
    if (plan->level1_unit >= 0 && !reader->catalog->level1.present)
        reader->in.bad = true;
    if (plan->level1_unit >= 0 && plan_unit_stands(plan, (unsigned)plan->level1_unit))
        reader->in.bad = true;
}

// Only level 1 is measured in parts, and it rotates. What boxes count all the time may be in several groups.
static bool is_whole(const struct plan *plan, bool boxes) {
    bool whole = true;
    for (unsigned u = 0; u < plan->n_units; u++)
        whole = whole &&
                (plan->units[u].n_groups < 2 || (int)u == plan->level1_unit || (boxes && plan_unit_stands(plan, u)));
    return whole;
}

static void get_metric(struct reader *reader, struct plan *plan) {
    struct bytes_cursor *in = &reader->in;
    struct plan_metric *metric = &plan->metrics[plan->n_metrics++];
    char name[RECORDING_TEXT_MAX + 1], reason[RECORDING_TEXT_MAX + 1];
    bytes_get_text(in, name);
    uint64_t flags = bytes_get_varint(in, METRIC_AUXILIARY | METRIC_FETCHED);
    metric->auxiliary = (flags & METRIC_AUXILIARY) != 0;
    metric->fetched = (flags & METRIC_FETCHED) != 0;
    int64_t unit = bytes_get_signed(in);
    bytes_get_text(in, reason);
    if (unit < PLAN_COMBINED || unit >= (int64_t)plan->n_units || strlen(reason) >= sizeof metric->reason)
        in->bad = true;
    if (in->bad)
        return;
    memcpy(metric->reason, reason, strlen(reason) + 1);
    metric->unit = (int)unit;
    int found = catalog_find_metric(reader->catalog, name);
    if (found < 0) {
        lacks(reader, name);
        return;
    }
    metric->metric = (unsigned)found;
    if (plan->place[found] >= 0 || plan->place[catalog_metric_named(reader->catalog, (unsigned)found)] >= 0)
        in->bad = true; // a duplicate
    plan_alternative_place(plan, (unsigned)(metric - plan->metrics));
}

// Orders metrics by catalog, so that each comes after those it needs.
static void order_metrics(struct reader *reader, struct plan *plan) {
    for (unsigned m = 0; m < plan->n_metrics; m++) {
        const struct plan_metric *metric = &plan->metrics[m];
        const struct formula *formula = reader->catalog->metrics[metric->metric].formula;
        for (size_t i = 0; i < formula->n_metrics; i++)
            if (plan->place[formula->metrics[i]] < 0)
                lacks(reader, reader->catalog->metrics[formula->metrics[i]].name);
        size_t at = m;
        for (; at > 0 && plan->metrics[plan->evaluation[at - 1]].metric > metric->metric; at--)
            plan->evaluation[at] = plan->evaluation[at - 1];
        plan->evaluation[at] = m;
    }
}

static void get_metrics(struct reader *reader, struct plan *plan) {
    size_t n = bytes_get_count(&reader->in, 4);
    if (n > CATALOG_METRICS_MAX)
        reader->in.bad = true;
    if (reader->in.bad)
        return;
    plan->metrics = new_array(reader, n, sizeof *plan->metrics);
    plan->evaluation = new_array(reader, n, sizeof *plan->evaluation);
    plan->place = new_array(reader, reader->catalog->n_metrics, sizeof *plan->place);
    for (size_t m = 0; plan->place && m < reader->catalog->n_metrics; m++)
        plan->place[m] = -1;
    for (size_t m = 0; m < n && !reader->in.bad; m++)
        get_metric(reader, plan);
    if (!reader->in.bad)
        order_metrics(reader, plan);
    plan->level1_selected = bytes_get_varint(&reader->in, 1) != 0;
    if (plan->level1_selected && !reader->catalog->level1.present)
        reader->in.bad = true;
}

static void get_schedule(struct reader *reader, struct plan *plan) {
    static const uint64_t YEAR_NS = UINT64_C(365) * 86400 * 1000000000;
    struct bytes_cursor *in = &reader->in;
    plan->general_counters = (unsigned)bytes_get_varint(in, UINT8_MAX);
    plan->reserved_counters = (unsigned)bytes_get_varint(in, plan->general_counters);
    plan->slot_ns = bytes_get_varint(in, YEAR_NS);
    plan->idle_ns = bytes_get_varint(in, YEAR_NS);
    plan->round_ns = bytes_get_varint(in, YEAR_NS);
    plan->n_windows = (size_t)bytes_get_varint(in, UINT32_MAX);
    size_t n = bytes_get_count(in, 1);
    if (plan->slot_ns == 0 || plan->round_ns == 0)
        in->bad = true;
    plan->round = in->bad ? NULL : new_array(reader, n, sizeof *plan->round);
    for (; plan->n_round < n && !in->bad; plan->n_round++)
        plan->round[plan->n_round] = (unsigned)bytes_get_varint(in, plan->n_units);
}

// What a snapshot and derive will need for each CPU; each unit has values of its own.
static size_t values_of_cpu(const struct reader *reader, const struct plan *plan) {
    size_t n = plan->n_metrics + reader->table.n;
    for (size_t u = 0; u < plan->n_units; u++)
        n += 1 + plan->units[u].n_events;
    return n;
}

static void get_all(struct reader *reader, struct recording_plan *out) {
    struct bytes_cursor *in = &reader->in;
    out->again = bytes_get_varint(in, 1) != 0;
    int r = recording_get_topology(in, out->topology);
    get_events(reader, out->plan);
    get_units(reader, out->plan);
    get_metrics(reader, out->plan);
    get_schedule(reader, out->plan);
    if (r == 0 && !in->bad && in->at < in->end)
        r = recording_get_topology_boxes(in, out->topology);
    if (r < 0)
        reader->status = r;
    in->bad = in->bad || !is_whole(out->plan, out->topology->boxes);
    if (values_of_cpu(reader, out->plan) * out->topology->n_cpus > CELLS_MAX)
        in->bad = true;
}

int recording_get_plan(const struct recording_record *record, const struct catalog *catalog, char *missing,
                       struct recording_plan *out) {
    struct reader reader = {
        .in = {.at = record->bytes, .end = record->bytes + record->n}, .catalog = catalog, .missing = missing};
    struct recording_plan made = {.plan = calloc(1, sizeof *made.plan), .topology = calloc(1, sizeof *made.topology)};
    if (table_init(&reader.table, catalog) == 0 && made.plan && made.topology) {
        made.plan->catalog = catalog;
        made.plan->support = new_array(&reader, catalog->n_events, sizeof *made.plan->support);
        made.plan->needs = new_array(&reader, catalog->n_events, sizeof *made.plan->needs);
        for (size_t e = 0; made.plan->needs && e < catalog->n_events; e++)
            made.plan->needs[e] = catalog->events[e].need;
        if (reader.status == 0)
            get_all(&reader, &made);
    } else {
        reader.status = -ENOMEM;
    }
    table_deinit(&reader.table);
    if (reader.status == 0 && !bytes_done(&reader.in))
        reader.status = -EBADMSG;
    if (reader.status < 0) {
        topology_free(made.topology);
        plan_free(made.plan);
        return reader.status;
    }
    *out = made;
    return 0;
}
