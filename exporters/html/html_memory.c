// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counts of memory: the NUMA nodes of a host with several, and resctrl's bytes beside those of the
// memory controllers. Shares are those since the reading before.

#include <math.h>
#include <string.h>

#include "core/base/decimal.h"
#include "exporters/html/html_parts.h"
#include "exporters/view/view_memory.h"

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

static double share_of(const struct host_memory *memory, enum host_memory_total part, enum host_memory_total rest) {
    return host_memory_share(memory->totals[part], memory->totals_before[part], memory->totals[rest],
                             memory->totals_before[rest]);
}

static double share_on(const struct host_memory_node *node, enum host_memory_count part, enum host_memory_count rest) {
    return host_memory_share(node->counts[part], node->before[part], node->counts[rest], node->before[rest]);
}

static void put_sentence(const struct host_memory *memory, struct text *out) {
    double remote = share_of(memory, HOST_MEMORY_REMOTE, HOST_MEMORY_LOCAL);
    double hints = share_of(memory, HOST_MEMORY_HINT_REMOTE, HOST_MEMORY_HINT_LOCAL);
    if (isfinite(remote)) {
        text_format(out, "<p>In %.0f s, ", memory->seconds);
        html_put_share(out, remote);
        text_string(out, " of all allocations were on another node than the CPU that asked for them.\n");
    }
    if (isfinite(hints)) {
        text_string(out, "<p>NUMA balancing found ");
        html_put_share(out, hints);
        text_string(out, " of the pages that it sampled on another node than the CPU that used them.\n");
    }
}

static bool knows_access(const struct host_memory *memory) {
    for (size_t i = 0; i < memory->n_nodes; i++)
        if (isfinite(memory->nodes[i].access.read_seconds))
            return true;
    return false;
}

static void put_node(const struct host_memory_node *node, bool access, struct text *out) {
    text_format(out, "<tr><th class=\"nb\">Node %u", node->id);
    put_cell_number(node->socket, out);
    text_string(out, "<td>");
    text_string(out, host_memory_kind_text(node->kind));
    put_cell_number(node->tier, out);
    put_cell_size(node->bytes, out);
    put_cell_size(node->free_bytes, out);
    put_cell_share(share_on(node, HOST_MEMORY_OTHER, HOST_MEMORY_OWN), out);
    put_cell_share(share_on(node, HOST_MEMORY_MISS, HOST_MEMORY_HIT), out);
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
        put_node(&memory->nodes[i], access, out);
    text_string(out, "</table></div>\n");
}

static void put_resctrl_socket(const struct shown *shown, const struct host_memory_socket *socket, struct text *out) {
    const struct host_memory_bytes *bytes = &socket->bytes, *before = &socket->before;
    struct view_memory controllers = {.all = NAN};
    double rate = host_memory_rate(bytes, before, shown->memory->seconds);
    text_format(out, "<tr><th class=\"nb\">Socket %u<td class=\"nb\">", socket->id);
    if (isfinite(rate))
        text_format(out, "%.1f GB/s", rate / 1e9);
    put_cell_share(host_memory_share(bytes->remote, before->remote, bytes->local, before->local), out);
    text_string(out, "<td>");
    if (view_memory_of(shown, socket->id, &controllers) && isfinite(controllers.all)) {
        text_format(out, "%.1f GB/s", controllers.all / 1e9);
        if (isfinite(rate) && controllers.all > 0)
            text_format(out, " (resctrl %+.0f %%)", 100 * (rate / controllers.all - 1));
    }
    text_string(out, "\n");
}

static void put_resctrl(const struct shown *shown, struct text *out) {
    text_string(out, "<h2>Memory bandwidth by resctrl</h2>\n<div class=\"wide\"><table>\n"
                     "<tr><th><th>Between caches and memory<th>Of other nodes<th>Memory controllers\n");
    for (size_t i = 0; i < shown->memory->n_sockets; i++)
        put_resctrl_socket(shown, &shown->memory->sockets[i], out);
    text_string(out, "</table></div>\n");
}

void html_memory_render(const struct shown *shown, struct text *out) {
    if (shown->memory && shown->memory->n_nodes > 1)
        put_nodes(shown->memory, out);
    if (shown->memory && shown->memory->n_sockets > 0)
        put_resctrl(shown, out);
}

void html_misses_put(const struct shown *shown, unsigned socket, struct text *out) {
    struct view_misses misses;
    if (!view_misses_of(shown, socket, &misses) || misses.local + misses.remote <= 0)
        return;
    double remote = misses.remote / (misses.local + misses.remote);
    text_string(out, "<p class=\"memory\">");
    html_put_share(out, remote);
    text_format(out,
                " of what the last-level cache missed came from other nodes\n<div class=\"bar\"><span "
                "class=\"mw\" style=\"width:%.2f%%\"></span></div>\n",
                100 * remote);
}

static bool is_latency(const struct view *view, size_t metric) {
    static const char seconds[] = "seconds per ";
    char unit[CATALOG_UNIT_MAX];
    catalog_metric_unit(view_metric(view, metric), unit, sizeof unit);
    return view_exported(view, metric) && view_plannable(view, metric) &&
           strncmp(unit, seconds, sizeof seconds - 1) == 0 && !view->layout->catalog->product.chosen;
}

static void put_latencies(const struct shown_type *kind, size_t socket, struct text *out) {
    const struct snapshot_layout *layout = kind->view->layout;
    for (size_t m = 0; m < layout->n_metrics; m++) {
        if (!is_latency(kind->view, m))
            continue;
        double seconds = kind->snapshot->values[snapshot_metric(layout, snapshot_scope_socket(socket), m)];
        text_string(out, "<p class=\"memory\">");
        html_put(out, view_title(view_metric(kind->view, m)));
        if (isfinite(seconds))
            text_format(out, ": <span class=\"nb\">%.0f ns</span> ", seconds * 1e9);
        else
            text_string(out, ": no value ");
        html_put_history_link(out, kind->view, view_metric(kind->view, m), "latency", socket, "Its history");
        text_string(out, "\n");
    }
}

void html_latency_put(const struct shown *shown, unsigned socket, struct text *out) {
    for (size_t i = shown->n; i < shown_all(shown); i++) {
        const struct topology *topology = shown->types[i].view->layout->topology;
        for (size_t s = 0; s < topology->n_sockets; s++)
            if (topology->sockets[s].id == socket)
                put_latencies(&shown->types[i], s, out);
    }
}
