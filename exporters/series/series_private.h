// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_SERIES_SERIES_PRIVATE_H
#define TOPDOWND_EXPORTERS_SERIES_SERIES_PRIVATE_H

// How the series are made. series_table.c decides which there are; other files add those of metrics, the verdict,
// PMUs outside the cores, what the kernel counts of memory, the platform, and single CPUs.

#include "core/spec/family.h"
#include "exporters/series/series.h"

struct series_label {
    const char *name, *value;
};

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

// Later series are core type `type`'s, which has `n_scopes` scopes.
void series_begin(struct series *series, size_t type, const char *core_type, size_t n_scopes);

// Makes later series this core type's. Returns its view.
const struct view *series_begin_type(struct series *series, const struct shown *shown, size_t type);

// Later series are those of core/memory/host_memory.h, by their numbers in the place of a snapshot's values.
void series_begin_memory(struct series *series);

// Later series are those of exporters/health/health.h, by the reason.
void series_begin_health(struct series *series);

// Ends: what only making them needs is freed.
void series_end(struct series *series);

// Adds a series of the family; its name is the family's and `suffix`.
void series_add(struct series *series, const char *suffix, const struct series_label *labels, size_t n_labels,
                enum series_kind kind, size_t value);

// The same for a whole number that is a value times `scale`. There are few scales.
void series_add_scaled(struct series *series, const struct series_label *labels, size_t n_labels, double scale,
                       size_t value);

// The same as series_add for one of the core type's scopes, which all have the same labels first, and one more label
// unless `more` is NULL. Its name and value are borrowed until series_end.
void series_add_shared(struct series *series, size_t scope, const struct series_label *labels, size_t n_labels,
                       const struct series_label *more, enum series_kind kind, size_t value);

// A series whose number never changes.
void series_add_fixed(struct series *series, const struct series_label *labels, size_t n_labels, double number);

enum { SERIES_NUMBER_MAX = TEXT_NUMBER_MAX };

// A scope's own labels: {socket} or {socket,cpu}.
struct series_labels {
    size_t n;
    size_t scope;
    char socket[SERIES_NUMBER_MAX], cpu[SERIES_NUMBER_MAX];
};
struct series_labels series_socket_labels(const struct view *view, size_t socket);
struct series_labels series_cpu_labels(const struct view *view, size_t cpu);

// Adds a series of a scope, with another label if `name` is not NULL. Both are borrowed until
// series_end.
void series_add_scoped(struct series *series, const struct series_labels *scope, const char *name, const char *value,
                       enum series_kind kind, size_t index);

// Adds a core type's series of the current family.
void series_add_numerators(struct series *series, const struct view *view);
void series_add_denominators(struct series *series, const struct view *view);
void series_add_metric_infos(struct series *series, const struct view *view);
void series_add_standard_errors(struct series *series, const struct view *view);
void series_add_ipc_error(struct series *series, const struct view *view);

// Adds a core type's verdict by socket: the path, since when, and how certain.
void series_add_bounds(struct series *series, const struct view *view);
void series_add_bounds_since(struct series *series, const struct view *view);
void series_add_bounds_unseen(struct series *series, const struct view *view);
void series_add_bounds_certain(struct series *series, const struct view *view);

// Add the series of a socket or CPU.
void series_add_categories(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_contention(struct series *series, const struct view *view, const struct series_labels *scope);
void series_add_uncovered(struct series *series, const struct view *view, const struct series_labels *scope);

// Adds all families of /metrics/cpu.
void series_add_cpus(struct series *series, const struct shown *shown);

// Adds a family for each metric of any type, by socket or by CPU.
void series_add_gauges(struct series *series, const struct shown *shown, bool per_cpu);

// Adds the families of PMUs outside the cores.
void series_add_uncore(struct series *series, const struct shown *shown);

// Adds the families of what the kernel counts of memory.
void series_add_memory(struct series *series, const struct shown *shown);

// Adds the series of a platform.
void series_add_platform(struct series *series, const struct platform *platform);

#endif
