// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_SERIES_SERIES_PRIVATE_H
#define TOPDOWND_EXPORTERS_SERIES_SERIES_PRIVATE_H

// How the series are made. series_table.c says which there are, series_rows.c loops over views and scopes, series.c
// keeps the text. Other files add the series of a subject: metrics, the verdict, PMUs outside the cores, what the
// kernel counts of memory, the platform, single CPUs.

#include "core/spec/family.h"
#include "exporters/series/series.h"

enum { SERIES_NUMBER_MAX = TEXT_NUMBER_MAX };

struct series_label {
    const char *name, *value;
};

// A scope's own labels: {socket} or {socket,cpu}.
struct series_labels {
    size_t n;
    size_t index; // of the socket or CPU in its topology
    size_t scope; // of the snapshot
    char socket[SERIES_NUMBER_MAX], cpu[SERIES_NUMBER_MAX];
};

// ---- a row of a table of families ----

// For which views a row's series are added.
enum series_each {
    EACH_ONCE, // the first one: series of the host or the daemon
    EACH_CORE_TYPE,
    EACH_KIND, // of PMUs outside the cores
    EACH_TYPE, // core types, then kinds
};

// For which scopes of such a view. Families that run through something else first, and through sockets for each of it,
// are OF_NOTHING and loop themselves: the order of series is a part of the page.
enum series_scope { OF_NOTHING, OF_SOCKETS, OF_CPUS };

struct series_row {
    enum family family; // rows of one family stand together
    enum series_each each;
    enum series_scope scope;
    bool rare;                                                     // most of the time its series have no value
    bool (*where)(struct series *series, const struct view *view); // NULL: in every view
    // What adds series, one of three: of a view,
    void (*add_view)(struct series *series, const struct view *view);
    // of each scope of a view,
    void (*add_scope)(struct series *series, const struct view *view, const struct series_labels *scope);
    // or one without labels: a number about the daemon, or in rows of each type about its engine.
    struct series_own {
        unsigned number; // of core/status/status.h
        enum series_kind kind;
    } own;
};

// Adds the families of the rows, in their order.
void series_add_rows(struct series *series, const struct series_row *rows, size_t n);

// The sockets or CPUs of a view.
size_t series_n_scopes(const struct view *view, enum series_scope of);
struct series_labels series_scope(const struct view *view, enum series_scope of, size_t i);

// ---- single series ----

// The parts that a core type's series have so far.
struct series_memo {
    struct series_part *scopes; // by scope; length 0: not yet
    struct series_tail {
        const char *name, *value; // the same pointers have the same text
        struct series_part part;
    } * tails;
    size_t n_tails;
    size_t next; // the tail that probably comes next: each scope has the same ones
};

// Begins a family of core/spec/family.h; the series that follow belong to it.
void series_begin_family(struct series *series, enum family family);

// The same for one that is not of that table. `type` is borrowed for the life of the series.
void series_begin_named(struct series *series, const char *name, const char *type, const char *help);

// Makes later series this core type's, or this kind's. Returns its view.
const struct view *series_begin_type(struct series *series, size_t type);

// The same with numbers of another source, which have no core type.
void series_begin_source(struct series *series, enum series_source source);

// Ends: what only making them needs is freed.
void series_end(struct series *series);

// Adds a series of the family; its name is the family's and `suffix`.
void series_add(struct series *series, const char *suffix, const struct series_label *labels, size_t n_labels,
                enum series_kind kind, size_t value);

// The same for a whole number that is a value times `scale`. There are few scales.
void series_add_scaled(struct series *series, const struct series_label *labels, size_t n_labels, double scale,
                       size_t value);

// The same as series_add for a scope of the view, with one more label unless `name` is NULL. It shares its parts with
// the scope's other series, and with other scopes'. Both texts are borrowed until series_end.
void series_add_scoped(struct series *series, const struct series_labels *scope, const char *name, const char *value,
                       enum series_kind kind, size_t index);

// The same as series_add for a number of the core type's engine (core/status/status.h).
void series_add_engine(struct series *series, const struct series_label *labels, size_t n_labels, enum series_kind kind,
                       enum status_engine_number number);

// The same as series_add for a number about the core type's engine.
void series_add_engine(struct series *series, const struct series_label *labels, size_t n_labels, enum series_kind kind,
                       enum status_engine_number number);

// A series whose number never changes.
void series_add_fixed(struct series *series, const struct series_label *labels, size_t n_labels, double number);

// ---- rows' functions ----

void series_add_categories(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_contention(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_opportunities(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_covered(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_uncovered(struct series *series, const struct view *view, const struct series_labels *scope);
bool series_lacks_utilization(struct series *series, const struct view *view);
void series_add_busy(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_guest(struct series *series, const struct view *view, const struct series_labels *scope);

void series_add_numerators(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_denominators(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_metric_infos(struct series *series, const struct view *view);
void series_add_standard_errors(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_ipc_error(struct series *series, const struct view *view);

// The verdict: the path, since when, and how certain.
void series_add_bounds(struct series *series, const struct view *view);
void series_add_bound_since(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_bound_unseen(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_bound_certain(struct series *series, const struct view *view, const struct series_labels *scope);
bool series_has_tree(struct series *series, const struct view *view);

// PMUs outside the cores. Traffic is that of the family being added.
void series_add_traffic(struct series *series, const struct view *view);
void series_add_memory_peak(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_uncore_events(struct series *series, const struct view *view);
void series_add_uncore_up(struct series *series, const struct view *view);
void series_add_uncore_errors(struct series *series, const struct view *view);

// What the kernel counts of memory: the host's series of the family being added, and resctrl's.
void series_add_host_memory(struct series *series, const struct view *view);
void series_add_resctrl(struct series *series, const struct view *view);

void series_add_platform(struct series *series, const struct view *view);

// ---- families that are rows of no table ----

// Adds a family for each metric of any type, by socket or by CPU.
void series_add_gauges(struct series *series, enum series_scope of);

// Adds all families of /metrics/cpu, which has a table of its own (series_cpu.c).
void series_add_cpus(struct series *series);

#endif
