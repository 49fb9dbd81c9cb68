// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_TERMINAL_TERMINAL_H
#define TOPDOWND_TOP_TERMINAL_TERMINAL_H

// The terminal: shows a grid, and reads keys. Owner of ncurses.

#include "top/screen/grid.h"

struct terminal; // private

// Takes standard input and output over. Colours only where the terminal has them and NO_COLOR is not set. Returns 0;
// -EINVAL: no program can draw on a terminal of this type (TERM); -ENOMEM.
int terminal_open(struct terminal **out);

// Gives them back as they were.
struct terminal *terminal_close(struct terminal *terminal);

// Makes a grid of the terminal's size. Returns 0 or -ENOMEM.
int terminal_grid(const struct terminal *terminal, struct grid *grid);

void terminal_show(struct terminal *terminal, const struct grid *grid);

// The next key, as enum screen_key or a character; 0: none waits; TERMINAL_CHANGED: the size has changed.
enum { TERMINAL_CHANGED = -1 };
int terminal_key(struct terminal *terminal);

// Whether the locale has no characters but ASCII. It must be set.
bool terminal_is_ascii(void);

#endif
