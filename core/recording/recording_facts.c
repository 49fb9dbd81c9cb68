// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording/recording.h"
#include "core/recording/recording_bytes.h"

// The facts shown beside the values: counters, failing PMUs, and the adaptive schedule's decisions. Metrics and metric
// groups are stored by name, as in a plan.

// ---- writing ----

static void put_group(struct recording_buffer *out, const struct catalog *catalog, const struct adapt_group *group) {
    bytes_put_text(out, catalog->groups[group->group].name);
    bytes_put_varint(out, group->raised);
    if (group->raised) {
        bytes_put_text(out, catalog->metrics[group->metric].name);
        bytes_put_double(out, group->value);
    }
    bytes_put_double(out, group->since_seconds);
}

static void put_report(struct recording_buffer *out, const struct catalog *catalog, const struct adapt_report *report) {
    bytes_put_varint(out, report->n_groups);
    for (size_t i = 0; i < report->n_groups; i++)
        put_group(out, catalog, &report->groups[i]);
    bytes_put_varint(out, report->n_decisions);
    for (size_t i = 0; i < report->n_decisions; i++) {
        const struct adapt_decision *decision = &report->decisions[i];
        bytes_put_text(out, catalog->groups[decision->group].name);
        bytes_put_text(out, catalog->metrics[decision->metric].name);
        bytes_put_varint(out, decision->raised);
        bytes_put_double(out, decision->value);
        bytes_put_double(out, decision->at_seconds);
    }
    bytes_put_varint(out, report->n_new);
    for (size_t i = 0; i < ADAPT_CAUSES_N; i++) {
        bytes_put_double(out, report->causes[i].high);
        bytes_put_double(out, report->causes[i].fell);
    }
}

int recording_put_facts(struct recording_buffer *out, const struct catalog *catalog,
                        const struct recording_facts *facts, const struct adapt_report *adapt) {
    size_t begin = bytes_begin(out, RECORDING_FACTS);
    bytes_put_varint(out, facts->counters_total);
    bytes_put_varint(out, facts->counters_usable);
    bytes_put_varint(out, facts->n_troubles);
    for (size_t i = 0; i < facts->n_troubles; i++) {
        bytes_put_text(out, facts->troubles[i].pmu);
        bytes_put_text(out, facts->troubles[i].reason);
        bytes_put_text(out, facts->troubles[i].text);
        bytes_put_varint(out, facts->troubles[i].of_host + 2U * facts->troubles[i].uncore);
    }
    bytes_put_varint(out, adapt != NULL);
    if (adapt)
        put_report(out, catalog, adapt);
    return bytes_end(out, begin);
}

// ---- reading ----

struct reader {
    struct bytes_cursor in;
    const struct catalog *catalog;
    char *missing;
    int status; // 0, -ENOENT, -ENOMEM
};

// Reads a name and looks it up with `find`; 0 if that fails.
static unsigned get_name(struct reader *reader, int (*find)(const struct catalog *catalog, const char *name)) {
    char name[RECORDING_TEXT_MAX + 1];
    bytes_get_text(&reader->in, name);
    int found = reader->in.bad ? 0 : find(reader->catalog, name);
    if (found >= 0)
        return (unsigned)found;
    memcpy(reader->missing, name, strlen(name) + 1);
    reader->status = -ENOENT;
    reader->in.bad = true;
    return 0;
}

static void get_group(struct reader *reader, struct adapt_group *group) {
    group->group = get_name(reader, catalog_find_group);
    group->raised = bytes_get_varint(&reader->in, 1) != 0;
    if (group->raised) {
        group->metric = get_name(reader, catalog_find_metric);
        group->value = bytes_get_double(&reader->in);
    }
    group->since_seconds = bytes_get_double(&reader->in);
}

static void get_decision(struct reader *reader, struct adapt_decision *decision) {
    decision->group = get_name(reader, catalog_find_group);
    decision->metric = get_name(reader, catalog_find_metric);
    decision->raised = bytes_get_varint(&reader->in, 1) != 0;
    decision->value = bytes_get_double(&reader->in);
    decision->at_seconds = bytes_get_double(&reader->in);
}

static void get_report(struct reader *reader, struct adapt_report *report) {
    struct bytes_cursor *in = &reader->in;
    size_t n = bytes_get_count(in, 10);
    report->groups = in->bad ? NULL : calloc(n + 1, sizeof *report->groups);
    if (!report->groups) {
        reader->status = in->bad ? 0 : -ENOMEM;
        in->bad = true;
    }
    for (; report->n_groups < n && !in->bad; report->n_groups++)
        get_group(reader, &report->groups[report->n_groups]);
    n = bytes_get_count(in, 19);
    if (n > ADAPT_DECISIONS_MAX)
        in->bad = true;
    for (; report->n_decisions < n && !in->bad; report->n_decisions++)
        get_decision(reader, &report->decisions[report->n_decisions]);
    report->n_new = (size_t)bytes_get_varint(in, report->n_decisions);
    for (size_t i = 0; i < ADAPT_CAUSES_N && !in->bad; i++) {
        report->causes[i].high = bytes_get_double(in);
        report->causes[i].fell = bytes_get_double(in);
    }
}

static void get_troubles(struct bytes_cursor *in, struct recording_facts *facts) {
    size_t n = bytes_get_count(in, 4);
    if (n > RECORDING_TROUBLES_MAX)
        in->bad = true;
    for (; facts->n_troubles < n && !in->bad; facts->n_troubles++) {
        struct recording_trouble *trouble = &facts->troubles[facts->n_troubles];
        bytes_get_text(in, trouble->pmu);
        bytes_get_text(in, trouble->reason);
        bytes_get_text(in, trouble->text);
        uint64_t of = bytes_get_varint(in, 3); // before version 5: 1 at most
        trouble->of_host = of % 2 != 0;
        trouble->uncore = of / 2 != 0;
    }
}

int recording_get_facts(const struct recording_record *record, const struct catalog *catalog, char *missing,
                        struct recording_facts *out, struct adapt_report **adapt) {
    struct reader reader = {
        .in = {.at = record->bytes, .end = record->bytes + record->n}, .catalog = catalog, .missing = missing};
    struct recording_facts *facts = calloc(1, sizeof *facts);
    struct adapt_report *report = NULL;
    if (!facts)
        return -ENOMEM;
    facts->counters_total = (unsigned)bytes_get_varint(&reader.in, UINT8_MAX);
    facts->counters_usable = (unsigned)bytes_get_varint(&reader.in, UINT8_MAX);
    get_troubles(&reader.in, facts);
    bool adaptive = bytes_get_varint(&reader.in, 1) != 0;
    if (adaptive && !reader.in.bad) {
        report = calloc(1, sizeof *report);
        if (report)
            get_report(&reader, report);
        else
            reader.status = -ENOMEM;
    }
    int r = reader.status < 0 ? reader.status : bytes_done(&reader.in) ? 0 : -EBADMSG;
    if (r == 0) {
        *out = *facts;
        *adapt = report;
        report = NULL;
    }
    adapt_report_free(report);
    free(facts);
    return r;
}
