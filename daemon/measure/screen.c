// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "daemon/base/terminal.h"

enum { WIDTH_LEAST = 40, WIDTH_MOST = 160 };

// Of the environment's locale; the program's own stays "C", so that numbers have points.
static bool is_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

struct screen screen_of(int fd) {
    int width = terminal_columns(fd);
    return (struct screen){.width = width < WIDTH_LEAST  ? WIDTH_LEAST
                                    : width > WIDTH_MOST ? WIDTH_MOST
                                                         : width,
                           .colour = terminal_has_colour(fd),
                           .utf8 = is_utf8()};
}
