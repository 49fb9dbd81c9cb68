// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_outside.h"

#include <math.h>

#include "daemon/report/report_table.h"
#include "exporters/view/view_boxes.h"
#include "exporters/view/view_waits.h"

enum { INDENT = 2 };

static int indent_of(enum report_scope scope) { return scope == REPORT_HOST ? INDENT : 2 * INDENT; }

// ---- what passed ----

static const struct passage {
    const char *title;
    bool requested; // as home agents tell misses (core/spec/traffic.h)
    struct {
        enum traffic traffic;
        const char *word;
    } parts[3];
} PASSAGES[] = {
    {"Memory",
     false,
     {{TRAFFIC_MEMORY_READ, "read"}, {TRAFFIC_MEMORY_WRITE, "written"}, {TRAFFIC_MEMORY_ALL, "moved"}}},
    {"HBM", false, {{TRAFFIC_HBM_READ, "read"}, {TRAFFIC_HBM_WRITE, "written"}}},
    {"Persistent memory", false, {{TRAFFIC_PERSISTENT_READ, "read"}, {TRAFFIC_PERSISTENT_WRITE, "written"}}},
    {"CXL memory", false, {{TRAFFIC_CXL_READ, "read"}, {TRAFFIC_CXL_WRITE, "written"}}},
    {"Last-level cache misses", false, {{TRAFFIC_LLC_MISS_LOCAL, "local"}, {TRAFFIC_LLC_MISS_REMOTE, "remote"}}},
    {"Requests for memory",
     true,
     {{TRAFFIC_LLC_MISS_LOCAL, "by its own socket"}, {TRAFFIC_LLC_MISS_REMOTE, "by other sockets"}}},
    {"Interconnect", false, {{TRAFFIC_INTERCONNECT_IN, "in"}, {TRAFFIC_INTERCONNECT_OUT, "out"}}},
    {"PCIe devices", false, {{TRAFFIC_IO_IN, "in"}, {TRAFFIC_IO_OUT, "out"}}},
    {"Devices behind C2C", false, {{TRAFFIC_C2C_IN, "in"}, {TRAFFIC_C2C_OUT, "out"}}},
};

static void put_rate(const struct report_row *row, const char *word, const struct screen *screen, struct text *out) {
    static const double GIGA = 1e-9, WHOLE_TENTHS = 10;
    double value = GIGA * row->value, half = GIGA * (row->high - row->low) / 2;
    int decimals = value >= WHOLE_TENTHS ? 1 : value >= 1 ? 2 : 3;
    if (!isfinite(value)) {
        text_format(out, " %s not known: %s", word, row->reason);
        return;
    }
    text_format(out, " %.*f", decimals, value);
    if (half > 0)
        text_format(out, " %s%.*f", report_number_plus_minus(screen), decimals, half);
    text_format(out, " GB/s %s", word);
}

// What passes in a scope, from whichever report tells it; nothing where none does.
static void put_passage(const struct passage *passage, const struct report_outside *outside, enum report_scope scope,
                        unsigned id, struct text *out) {
    double peak = NAN, sum = 0;
    struct text words = {0};
    for (size_t i = 0; i < sizeof passage->parts / sizeof *passage->parts && passage->parts[i].word; i++)
        for (size_t r = 0; r < outside->n; r++) {
            const struct report *report = &outside->reports[r];
            const struct report_row *row = report_find_traffic(report, passage->parts[i].traffic, scope, id);
            if (!row || traffic_is_requested(row->metric->definition) != passage->requested)
                continue;
            text_string(&words, words.length > 0 ? "," : ":");
            put_rate(row, passage->parts[i].word, outside->screen, &words);
            sum += row->value;
            peak = fmax(peak, report_memory_peak(report, scope, id));
        }
    if (waits_bus(sum, peak) == WAITS_BUS_BEYOND) {
        text_string(&words, " (");
        view_waits_put_beyond(peak, NULL, &words);
        text_string(&words, ")");
    } else if (isfinite(sum / peak))
        text_format(&words, " (%.0f %% of the peak of %.0f GB/s)", 100 * sum / peak, 1e-9 * peak);
    if (words.length > 0) {
        text_format(out, "%*s%s", indent_of(scope), "", passage->title);
        text_append(out, words.data, words.length);
        text_string(out, "\n");
    }
    out->failed = out->failed || words.failed;
    text_free(&words);
}

// ---- how long it took ----

static bool is_latency(const struct report *report, const struct report_row *row) {
    return row->metric && view_boxes_is_latency(report->view->layout->catalog, row->metric);
}

static void put_latency(const struct report_row *row, const struct screen *screen, struct text *out) {
    static const double NANO = 1e9;
    double value = NANO * row->value, half = NANO * (row->high - row->low) / 2;
    text_format(out, "%*s%s: ", indent_of(row->scope), "", view_title(row->metric));
    if (!isfinite(value)) {
        text_format(out, "not known: %s\n", row->reason);
        return;
    }
    text_format(out, "%.1f", value);
    if (half > 0)
        text_format(out, " %s%.1f", report_number_plus_minus(screen), half);
    text_string(out, " ns\n");
}

static void put_scope(const struct report_outside *outside, enum report_scope scope, unsigned id, struct text *out) {
    for (size_t i = 0; i < sizeof PASSAGES / sizeof *PASSAGES; i++)
        put_passage(&PASSAGES[i], outside, scope, id, out);
    for (size_t r = 0; r < outside->n; r++)
        for (size_t i = 0; i < outside->reports[r].n_rows; i++) {
            const struct report_row *row = &outside->reports[r].rows[i];
            if (row->scope == scope && row->id == id && is_latency(&outside->reports[r], row))
                put_latency(row, outside->screen, out);
        }
}

// ---- all else ----

// Boxes are not told one by one: the JSON and CSV of a measurement have them.
static bool is_of_table(const struct report *report, const struct report_row *row) {
    return row->scope != REPORT_CPU && row->metric && row->metric->traffic == TRAFFIC_NONE && !is_latency(report, row);
}

static void put_rest(const struct report_outside *outside, struct text *out) {
    struct report_table table;
    report_table_init(&table, outside->screen, outside->sockets);
    for (size_t r = 0; r < outside->n; r++)
        for (size_t i = 0; i < outside->reports[r].n_rows; i++)
            if (is_of_table(&outside->reports[r], &outside->reports[r].rows[i]))
                report_table_add(&table, &outside->reports[r], &outside->reports[r].rows[i]);
    report_table_end(&table, out);
}

// ---- all of it ----

// The first report with most sockets has those of all.
static const struct topology *widest(const struct report_outside *outside) {
    const struct topology *found = outside->reports[0].view->layout->topology;
    for (size_t i = 1; i < outside->n; i++)
        if (outside->reports[i].view->layout->topology->n_sockets > found->n_sockets)
            found = outside->reports[i].view->layout->topology;
    return found;
}

void report_outside(const struct report_outside *outside, struct text *out) {
    const struct topology *topology = widest(outside);
    put_scope(outside, REPORT_HOST, 0, out);
    for (size_t s = 0; s < topology->n_sockets && outside->sockets; s++) {
        text_format(out, "%*ssocket %u\n", INDENT, "", topology->sockets[s].id);
        put_scope(outside, REPORT_SOCKET, topology->sockets[s].id, out);
    }
    put_rest(outside, out);
}
