// SPDX-License-Identifier: Apache-2.0
#include "top/terminal/terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "top/view/screen.h"

// Blue, cyan, magenta and yellow are told apart by people who cannot tell red from green.

struct terminal {
    SCREEN *screen;
    attr_t attributes[STYLES];
    short pairs[STYLES];
};

bool terminal_is_ascii(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") != 0; }

static bool wants_colour(void) {
    const char *off = getenv("NO_COLOR");
    return (!off || off[0] == '\0') && has_colors();
}

static void choose_colours(struct terminal *terminal) {
    static const struct {
        enum style style;
        short colour;
    } colours[] = {{STYLE_FRONTEND, COLOR_CYAN},
                   {STYLE_SPECULATION, COLOR_YELLOW},
                   {STYLE_RETIRING, COLOR_BLUE},
                   {STYLE_BACKEND, COLOR_MAGENTA},
                   {STYLE_WARNING, COLOR_YELLOW}};
    terminal->attributes[STYLE_STRONG] = A_BOLD;
    terminal->attributes[STYLE_WARNING] = A_BOLD;
    terminal->attributes[STYLE_BAR] = A_REVERSE;
    terminal->attributes[STYLE_CHOSEN] = A_REVERSE;
    if (!wants_colour() || start_color() == ERR)
        return;
    (void)use_default_colors();
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (init_pair((short)(i + 1), colours[i].colour, -1) == OK ||
            init_pair((short)(i + 1), colours[i].colour, 0) == OK)
            terminal->pairs[colours[i].style] = (short)(i + 1);
    terminal->attributes[STYLE_FAINT] = A_DIM;
}

int terminal_open(struct terminal **out) {
    struct terminal *terminal = calloc(1, sizeof *terminal);
    if (!terminal)
        return -ENOMEM;
    terminal->screen = newterm(NULL, stdout, stdin);
    if (!terminal->screen) {
        free(terminal);
        return -EINVAL;
    }
    (void)set_term(terminal->screen);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(50);
    (void)curs_set(0);
    choose_colours(terminal);
    *out = terminal;
    return 0;
}

struct terminal *terminal_close(struct terminal *terminal) {
    if (!terminal)
        return NULL;
    (void)endwin();
    delscreen(terminal->screen);
    free(terminal);
    return NULL;
}

int terminal_grid(const struct terminal *terminal, struct grid *grid) {
    (void)terminal;
    return grid_init(grid, LINES > 0 ? (unsigned)LINES : 1, COLS > 0 ? (unsigned)COLS : 1, terminal_is_ascii());
}

void terminal_show(struct terminal *terminal, const struct grid *grid) {
    for (unsigned row = 0; row < grid->rows; row++)
        for (unsigned column = 0; column < grid->columns; column++) {
            const struct grid_cell *cell = &grid->cells[(size_t)row * grid->columns + column];
            const wchar_t text[2] = {(wchar_t)cell->code, L'\0'};
            cchar_t character;
            if (setcchar(&character, text, terminal->attributes[cell->style], terminal->pairs[cell->style], NULL) == OK)
                (void)mvadd_wch((int)row, (int)column, &character);
        }
    (void)refresh();
}

int terminal_key(struct terminal *terminal) {
    static const struct {
        int key, means;
    } keys[] = {{KEY_UP, SCREEN_KEY_UP},         {KEY_DOWN, SCREEN_KEY_DOWN},
                {KEY_LEFT, SCREEN_KEY_LEFT},     {KEY_RIGHT, SCREEN_KEY_RIGHT},
                {KEY_PPAGE, SCREEN_KEY_PAGE_UP}, {KEY_NPAGE, SCREEN_KEY_PAGE_DOWN},
                {KEY_HOME, SCREEN_KEY_HOME},     {KEY_END, SCREEN_KEY_END},
                {KEY_ENTER, SCREEN_KEY_ENTER},   {'\r', SCREEN_KEY_ENTER},
                {'\n', SCREEN_KEY_ENTER},        {KEY_BACKSPACE, SCREEN_KEY_BACK},
                {127, SCREEN_KEY_BACK},          {8, SCREEN_KEY_BACK},
                {27, SCREEN_KEY_BACK},           {KEY_RESIZE, TERMINAL_CHANGED}};
    (void)terminal;
    int key = getch();
    if (key == ERR)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key)
            return keys[i].means;
    return key > 0 && key < 128 ? key : 0;
}
