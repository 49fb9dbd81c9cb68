// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_VIEW_SCREEN_PARTS_H
#define TOPDOWND_TOP_VIEW_SCREEN_PARTS_H

// The screens: each draws itself from `row` to before the last row, and says what its list has. Private to top/view.

#include "top/view/screen.h"

// Rows of the overview's list: the tree, then what is in no tree.
struct screen_row {
    const struct frame_node *node; // NULL: a metric
    size_t column;                 // of the host's values
};
enum { SCREEN_ROWS_MAX = FRAME_NODES_MAX + FRAME_METRICS_MAX };

// Fills `rows` and returns how many there are. A node below a closed one is left out.
size_t screen_overview_rows(const struct screen_state *view, const struct frame_type *type,
                            struct screen_row rows[static SCREEN_ROWS_MAX]);
// Whether the node's children are shown, and the change of that by hand.
bool screen_overview_is_open(const struct screen_state *view, const struct frame_node *node);
void screen_overview_toggle(struct screen_state *view, const struct frame_node *node);
void screen_overview_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);

// The order of the CPUs or sockets on the screen: places in `units`.
void screen_units_sort(const struct screen_state *view, const struct frame_units *units, size_t *order);
// Chooses another metric to sort by: `by` columns on.
void screen_units_turn(struct screen_state *view, const struct frame_units *units, int by);
void screen_units_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);

void screen_unit_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);
void screen_node_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);
void screen_events_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);
void screen_bottlenecks_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid,
                             unsigned row);
void screen_memory_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row);
// Its rows: the metrics of the host that have values.
size_t screen_memory_rows(const struct frame_memory *memory, enum memory_metric rows[static MEMORY_METRICS_N]);

void screen_help_draw(struct grid *grid, unsigned row);

// How many rows the list of the screen has.
size_t screen_rows(const struct screen_state *view, const struct screen_data *data);

#endif
