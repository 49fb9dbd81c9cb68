// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_VIEW_LINES_H
#define TOPDOWND_TOP_VIEW_LINES_H

// Words and numbers that several screens write. Private to top/view.

#include "top/view/screen.h"

enum { LINES_TEXT_MAX = 64 };

// A value in its unit: "43.6 %", "2.81 G", "1.57"; "-" if there is none.
void lines_value(char out[static LINES_TEXT_MAX], float value, const char *unit);

// Half the width of its interval, "±0.5"; "" if there is none.
void lines_interval(char out[static LINES_TEXT_MAX], const struct frame_value *value, const char *unit);

// The unit as it is written behind a value: "of cycles" for shares, else "per cycle" and the like.
const char *lines_unit(const char *unit);
bool lines_is_share(const char *unit);

// Local time of day, with the date where that is not today's; "unknown".
void lines_time(char out[static LINES_TEXT_MAX], double seconds, double now_seconds);

// "19 min", "3 h", "12 s".
void lines_span(char out[static LINES_TEXT_MAX], double seconds);

// The style of a level-1 category's metric; STYLE_PLAIN for others.
enum style lines_category(const char *metric);

// The chosen core type; NULL: nothing has been read.
const struct frame_type *lines_type(const struct screen_state *view, const struct screen_data *data);

// Which rows of a list of `n` are seen in `rows`, so that the chosen one is.
void lines_scroll(struct screen_list *list, size_t n, unsigned rows);

// The first row says which host and when, the last one what keys do. Returns the row after the first ones.
unsigned lines_frame(const struct screen_data *data, struct grid *grid, const char *keys);

#endif
