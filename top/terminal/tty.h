// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_TERMINAL_TTY_H
#define TOPDOWND_TOP_TERMINAL_TTY_H

// The terminal: shows a grid, and reads keys. Owner of ncurses.

#include "top/screen/grid.h"

struct tty; // private

// Takes standard input and output over. Colours only where the terminal has them and NO_COLOR is not set. Returns 0;
// -EINVAL: no program can draw on a terminal of this type (TERM); -ENOMEM.
int tty_open(struct tty **out);

// Gives them back as they were.
struct tty *tty_close(struct tty *tty);

// Makes a grid of the terminal's size. Returns 0 or -ENOMEM.
int tty_grid(const struct tty *tty, struct grid *grid);

void tty_show(struct tty *tty, const struct grid *grid);

// The next key, as enum screen_key or a character; 0: none waits; TTY_CHANGED: the size has changed.
enum { TTY_CHANGED = -1 };
int tty_key(struct tty *tty);

// Whether the locale has no characters but ASCII. It must be set.
bool tty_is_ascii(void);

#endif
