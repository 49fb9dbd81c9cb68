// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counts of memory: the NUMA nodes of a host with several, and resctrl's bytes beside those of the
// memory controllers. Shares are those since the reading before.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/memory/memory_metric.h"
#include "exporters/html/html_parts.h"
#include "exporters/view/view_memory.h"

enum { SENTENCE_MAX = 64 };

static void put_cell_share(double share, struct text *out) {
    text_string(out, "<td>");
    if (isfinite(share))
        html_put_share(out, share);
    else
        text_string(out, "<span class=\"soft\">none</span>");
}

static void put_cell_size(double bytes, struct text *out) {
    char size[DECIMAL_SIZE_MAX];
    text_string(out, "<td class=\"nb\">");
    text_string(out, isfinite(bytes) ? decimal_write_size(bytes, size) : "");
}

static void put_cell_number(int number, struct text *out) {
    text_string(out, "<td>");
    if (number >= 0)
        text_format(out, "%d", number);
}

// A link to the history of one of the kernel's counts, of all that have it.
static void put_history(enum memory_metric metric, enum memory_scope scope, struct text *out) {
    const char *name = memory_metrics[metric].name;
    text_format(out,
                "<a class=\"nb\" id=\"counted-%s\" data-metric=\"%s\" href=\"/api/v1/history?scope=%s&amp;metric=%s\">"
                "Its history</a>",
                name, name, memory_scope_name(scope), name);
}

// A sentence about a metric of the host, if it has a value.
static void put_share(const struct host_memory *memory, enum memory_metric metric, const char *before,
                      const char *after, struct text *out) {
    double share = memory_metric_value(memory, metric, MEMORY_HOST, 0);
    if (!isfinite(share))
        return;
    text_string(out, "<p>");
    text_string(out, before);
    html_put_share(out, share);
    text_string(out, after);
    put_history(metric, MEMORY_HOST, out);
    text_string(out, "\n");
}

// What moves between nodes and tiers, where anything does.
static void put_moves(const struct host_memory *memory, struct text *out) {
    static const struct {
        enum memory_metric metric;
        const char *words;
    } moves[] = {{MEMORY_METRIC_BALANCED, "to other nodes by NUMA balancing"},
                 {MEMORY_METRIC_PROMOTED, "to a faster tier"},
                 {MEMORY_METRIC_DEMOTED, "to a slower tier"}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        double bytes = memory_metric_value(memory, moves[i].metric, MEMORY_HOST, 0);
        if (!(bytes > 0))
            continue;
        text_format(out, "<p>%.1f MB/s moved %s. ", bytes / 1e6, moves[i].words);
        put_history(moves[i].metric, MEMORY_HOST, out);
        text_string(out, "\n");
    }
}

static void put_sentence(const struct host_memory *memory, struct text *out) {
    char before[SENTENCE_MAX];
    (void)snprintf(before, sizeof before, "In %.0f s, ", memory->seconds);
    put_share(memory, MEMORY_METRIC_REMOTE, before,
              " of all allocations were on another node than the CPU that asked for them. ", out);
    put_share(memory, MEMORY_METRIC_HINTS, "NUMA balancing found ",
              " of the pages that it sampled on another node than the CPU that used them. ", out);
    put_moves(memory, out);
}

static bool knows_access(const struct host_memory *memory) {
    for (size_t i = 0; i < memory->n_nodes; i++)
        if (isfinite(memory->nodes[i].access.read_seconds))
            return true;
    return false;
}

static void put_node(const struct host_memory *memory, size_t place, bool access, struct text *out) {
    const struct host_memory_node *node = &memory->nodes[place];
    text_format(out, "<tr><th class=\"nb\">Node %u", node->id);
    put_cell_number(node->socket, out);
    text_string(out, "<td>");
    text_string(out, host_memory_kind_text(node->kind));
    put_cell_number(node->tier, out);
    put_cell_size(node->bytes, out);
    put_cell_size(node->free_bytes, out);
    put_cell_share(memory_metric_value(memory, MEMORY_METRIC_REMOTE, MEMORY_NODE, place), out);
    put_cell_share(memory_metric_value(memory, MEMORY_METRIC_MISSED, MEMORY_NODE, place), out);
    if (access) {
        text_string(out, "<td>");
        if (isfinite(node->access.read_seconds))
            text_format(out, "%.0f ns", node->access.read_seconds * 1e9);
        text_string(out, "<td>");
        if (isfinite(node->access.read_bytes_per_second))
            text_format(out, "%.1f GB/s", node->access.read_bytes_per_second / 1e9);
    }
    text_string(out, "\n");
}

static void put_nodes(const struct host_memory *memory, struct text *out) {
    bool access = knows_access(memory);
    text_string(out, "<h2>NUMA nodes</h2>\n");
    put_sentence(memory, out);
    text_string(out, "<div class=\"wide\"><table>\n<tr><th><th>Socket<th>Memory<th>Tier<th>Size<th>Free"
                     "<th>Allocated for CPUs of other nodes<th>Wanted on other nodes");
    text_string(out, access ? "<th>Read latency by the firmware<th>Read bandwidth by the firmware\n" : "\n");
    for (size_t i = 0; i < memory->n_nodes; i++)
        put_node(memory, i, access, out);
    text_string(out, "</table></div>\n");
}

static void put_resctrl_socket(const struct shown *shown, size_t place, struct text *out) {
    const struct host_memory_socket *socket = &shown->memory->sockets[place];
    struct view_memory controllers = {.all = NAN};
    double rate = memory_metric_value(shown->memory, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, place);
    text_format(out, "<tr><th class=\"nb\">Socket %u<td class=\"nb\">", socket->id);
    if (isfinite(rate))
        text_format(out, "%.1f GB/s", rate / 1e9);
    put_cell_share(memory_metric_value(shown->memory, MEMORY_METRIC_RESCTRL_OF, MEMORY_SOCKET, place), out);
    text_string(out, "<td>");
    if (view_memory_of(shown, socket->id, &controllers) && isfinite(controllers.all)) {
        text_format(out, "%.1f GB/s", controllers.all / 1e9);
        if (isfinite(rate) && controllers.all > 0)
            text_format(out, " (resctrl %+.0f %%)", 100 * (rate / controllers.all - 1));
    }
    text_string(out, "\n");
}

// Why a socket has no bandwidth for this interval.
static void put_gap(const struct host_memory *memory, struct text *out) {
    for (size_t i = 0; i < memory->n_domains; i++)
        if (memory->domains[i].gap != RESCTRL_GAP_NONE) {
            text_format(out, "<p class=\"soft\">Not known since the last reading: %s.\n",
                        resctrl_gap_text(memory->domains[i].gap));
            return;
        }
}

static void put_resctrl(const struct shown *shown, struct text *out) {
    text_string(out, "<h2>Memory bandwidth by resctrl</h2>\n<div class=\"wide\"><table>\n"
                     "<tr><th><th>Between caches and memory<th>Of other nodes<th>Memory controllers\n");
    for (size_t i = 0; i < shown->memory->n_sockets; i++)
        put_resctrl_socket(shown, i, out);
    text_string(out, "</table></div>\n");
    put_gap(shown->memory, out);
    text_string(out, "<p>");
    put_history(MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, out);
    text_string(out, "\n");
}

void html_memory_render(const struct shown *shown, struct text *out) {
    if (shown->memory && shown->memory->n_nodes > 1)
        put_nodes(shown->memory, out);
    if (shown->memory && shown->memory->n_sockets > 0)
        put_resctrl(shown, out);
}
