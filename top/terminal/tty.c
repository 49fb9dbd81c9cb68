// SPDX-License-Identifier: Apache-2.0
#include "top/terminal/tty.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "top/view/screen.h"

// Blue, cyan, magenta and yellow are told apart by people who cannot tell red from green.

struct tty {
    SCREEN *screen;
    attr_t attributes[STYLES];
    short pairs[STYLES];
};

bool tty_is_ascii(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") != 0; }

static bool wants_colour(void) {
    const char *off = getenv("NO_COLOR");
    return (!off || off[0] == '\0') && has_colors();
}

static void choose_colours(struct tty *tty) {
    static const struct {
        enum style style;
        short colour;
    } colours[] = {{STYLE_FRONTEND, COLOR_CYAN},
                   {STYLE_SPECULATION, COLOR_YELLOW},
                   {STYLE_RETIRING, COLOR_BLUE},
                   {STYLE_BACKEND, COLOR_MAGENTA},
                   {STYLE_WARNING, COLOR_YELLOW}};
    tty->attributes[STYLE_STRONG] = A_BOLD;
    tty->attributes[STYLE_WARNING] = A_BOLD;
    tty->attributes[STYLE_BAR] = A_REVERSE;
    tty->attributes[STYLE_CHOSEN] = A_REVERSE;
    if (!wants_colour() || start_color() == ERR)
        return;
    (void)use_default_colors();
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (init_pair((short)(i + 1), colours[i].colour, -1) == OK ||
            init_pair((short)(i + 1), colours[i].colour, 0) == OK)
            tty->pairs[colours[i].style] = (short)(i + 1);
    tty->attributes[STYLE_FAINT] = A_DIM;
}

int tty_open(struct tty **out) {
    struct tty *tty = calloc(1, sizeof *tty);
    if (!tty)
        return -ENOMEM;
    tty->screen = newterm(NULL, stdout, stdin);
    if (!tty->screen) {
        free(tty);
        return -EINVAL;
    }
    (void)set_term(tty->screen);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(50);
    (void)curs_set(0);
    choose_colours(tty);
    *out = tty;
    return 0;
}

struct tty *tty_close(struct tty *tty) {
    if (!tty)
        return NULL;
    (void)endwin();
    delscreen(tty->screen);
    free(tty);
    return NULL;
}

int tty_grid(const struct tty *tty, struct grid *grid) {
    (void)tty;
    return grid_init(grid, LINES > 0 ? (unsigned)LINES : 1, COLS > 0 ? (unsigned)COLS : 1, tty_is_ascii());
}

void tty_show(struct tty *tty, const struct grid *grid) {
    for (unsigned row = 0; row < grid->rows; row++)
        for (unsigned column = 0; column < grid->columns; column++) {
            const struct grid_cell *cell = &grid->cells[(size_t)row * grid->columns + column];
            const wchar_t text[2] = {(wchar_t)cell->code, L'\0'};
            cchar_t character;
            if (setcchar(&character, text, tty->attributes[cell->style], tty->pairs[cell->style], NULL) == OK)
                (void)mvadd_wch((int)row, (int)column, &character);
        }
    (void)refresh();
}

int tty_key(struct tty *tty) {
    static const struct {
        int key, means;
    } keys[] = {{KEY_UP, SCREEN_KEY_UP},         {KEY_DOWN, SCREEN_KEY_DOWN},
                {KEY_LEFT, SCREEN_KEY_LEFT},     {KEY_RIGHT, SCREEN_KEY_RIGHT},
                {KEY_PPAGE, SCREEN_KEY_PAGE_UP}, {KEY_NPAGE, SCREEN_KEY_PAGE_DOWN},
                {KEY_HOME, SCREEN_KEY_HOME},     {KEY_END, SCREEN_KEY_END},
                {KEY_ENTER, SCREEN_KEY_ENTER},   {'\r', SCREEN_KEY_ENTER},
                {'\n', SCREEN_KEY_ENTER},        {KEY_BACKSPACE, SCREEN_KEY_BACK},
                {127, SCREEN_KEY_BACK},          {8, SCREEN_KEY_BACK},
                {27, SCREEN_KEY_BACK},           {KEY_RESIZE, TTY_CHANGED}};
    (void)tty;
    int key = getch();
    if (key == ERR)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key)
            return keys[i].means;
    return key > 0 && key < 128 ? key : 0;
}
