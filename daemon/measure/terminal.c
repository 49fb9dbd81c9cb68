// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_USUAL = 80, WIDTH_LEAST = 40, WIDTH_MOST = 160 };

// Of the environment's locale; the program's own stays "C", so that numbers have points.
static bool is_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

struct terminal terminal_of(int fd) {
    struct winsize size;
    const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
    struct terminal terminal = {.width = WIDTH_USUAL, .is = isatty(fd) == 1, .utf8 = is_utf8()};
    bool dumb = !kind || strcmp(kind, "dumb") == 0;
    terminal.colour = terminal.is && !dumb && (!no_colour || no_colour[0] == '\0');
    if (terminal.is && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col > WIDTH_MOST ? WIDTH_MOST : size.ws_col;
    return terminal;
}

void terminal_show_progress(const char *what, double seconds, double total_seconds) {
    if (seconds < TERMINAL_PATIENCE_SECONDS || isatty(STDERR_FILENO) != 1)
        return;
    if (total_seconds > 0)
        (void)fprintf(stderr, "\r%s: %.0f of %.0f s", what, seconds, total_seconds);
    else
        (void)fprintf(stderr, "\r%s: %.0f s", what, seconds);
}

void terminal_end_progress(void) {
    if (isatty(STDERR_FILENO) == 1)
        (void)fprintf(stderr, "\r\033[K");
}
