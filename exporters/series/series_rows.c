// SPDX-License-Identifier: Apache-2.0
//
// The loops over views and scopes, so that whoever adds series has one scope before them.

#include "exporters/series/series_private.h"

#include <assert.h>

void series_begin_family(struct series *series, enum family family) {
    const struct family_info *info = &family_table[family];
    series->family = family;
    series_begin_named(series, info->name, info->type, info->help);
}

size_t series_n_scopes(const struct view *view, enum series_scope of) {
    const struct topology *topology = view->layout->topology;
    return of == OF_CPUS ? topology->n_cpus : of == OF_SOCKETS ? topology->n_sockets : 0;
}

static void number_text(char out[SERIES_NUMBER_MAX], unsigned number) { out[text_number(out, number)] = '\0'; }

struct series_labels series_scope(const struct view *view, enum series_scope of, size_t i) {
    const struct topology *topology = view->layout->topology;
    bool cpu = of == OF_CPUS;
    struct series_labels labels = {
        .n = cpu ? 2 : 1, .index = i, .scope = cpu ? snapshot_scope_cpu(view->layout, i) : snapshot_scope_socket(i)};
    number_text(labels.socket, topology->sockets[cpu ? topology->cpus[i].socket : i].id);
    if (cpu)
        number_text(labels.cpu, topology->cpus[i].id);
    return labels;
}

static void add_own(struct series *series, const struct series_row *row) {
    assert(row->own.kind != SERIES_FIXED);
    if (row->each != EACH_ONCE) {
        series_add_engine(series, NULL, 0, row->own.kind, (enum status_engine_number)row->own.number);
        return;
    }
    series_begin_source(series, FROM_STATUS);
    series_add(series, "", NULL, 0, row->own.kind, row->own.number);
}

static void add_of(struct series *series, const struct view *view, const struct series_row *row) {
    if (row->where && !row->where(series, view))
        return;
    if (row->add_view)
        row->add_view(series, view);
    else if (!row->add_scope)
        add_own(series, row);
    else
        for (size_t i = 0; i < series_n_scopes(view, row->scope); i++) {
            struct series_labels scope = series_scope(view, row->scope, i);
            row->add_scope(series, view, &scope);
        }
}

static void add_row(struct series *series, const struct series_row *row) {
    const struct shown *shown = series->shown;
    size_t first = row->each == EACH_KIND ? shown->n : 0;
    size_t end = row->each == EACH_ONCE ? 1 : row->each == EACH_CORE_TYPE ? shown->n : shown_all(shown);
    for (size_t type = first; type < end; type++) {
        const struct view *view = series_begin_type(series, type);
        size_t before = series->n_lines;
        if (row->each == EACH_ONCE)
            series->core_type = NULL;
        add_of(series, view, row);
        series->n_rare += row->rare ? series->n_lines - before : 0;
    }
}

void series_add_rows(struct series *series, const struct series_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i].family != rows[i - 1].family)
            series_begin_family(series, rows[i].family);
        add_row(series, &rows[i]);
    }
}
