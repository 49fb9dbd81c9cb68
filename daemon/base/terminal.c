// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/base/clocks.h"

enum { COLUMNS_USUAL = 80, LINE_MAX_BYTES = 512 };

static const uint64_t FIRST_AFTER_NS = UINT64_C(2000000000), EVERY_NS = UINT64_C(200000000);

static bool is_terminal(int fd) {
    const char *term = getenv("TERM");
    return isatty(fd) && term && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool terminal_has_colour(int fd) {
    const char *none = getenv("NO_COLOR");
    return is_terminal(fd) && (!none || none[0] == '\0');
}

int terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS_USUAL;
}

// ---- progress ----

void terminal_progress_show(struct terminal_progress *progress, const char *format, ...) {
    uint64_t now_ns = clocks_now_ns();
    char line[LINE_MAX_BYTES];
    va_list arguments;
    if (progress->begun_ns == 0)
        progress->begun_ns = now_ns;
    if (now_ns < progress->begun_ns + FIRST_AFTER_NS || now_ns < progress->shown_ns + EVERY_NS ||
        !is_terminal(STDERR_FILENO))
        return;
    progress->shown_ns = now_ns;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++) // names come from the command line
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    (void)fprintf(stderr, "\r%.*s\033[K", terminal_columns(STDERR_FILENO) - 1, line);
    (void)fflush(stderr);
}

void terminal_progress_end(struct terminal_progress *progress) {
    if (progress->shown_ns > 0)
        (void)fputs("\r\033[K", stderr);
    *progress = (struct terminal_progress){.begun_ns = 0};
}

// ---- output ----

// Where SIGPIPE is ignored, a write to a pipe without a reader fails with EPIPE, and nobody needs to know.
static bool reader_has_gone(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// `error` 0: unknown.
static int say_lost(int error) {
    if (error == EPIPE || reader_has_gone())
        return 0;
    (void)fprintf(stderr, "topdownd: cannot write the output: %s\n",
                  error > 0 ? strerror(error) : "a part of it is lost");
    return TERMINAL_LOST;
}

int terminal_flush(void) {
    bool lost = ferror(stdout) != 0; // at an earlier flush, whose errno is gone
    int r = fflush(stdout) != 0 ? say_lost(errno) : lost ? say_lost(0) : 0;
    clearerr(stdout);
    return r;
}

int terminal_print(const struct text *text) {
    if (text->failed)
        return -ENOMEM;
    if (fwrite(text->data, 1, text->length, stdout) == text->length)
        return terminal_flush();
    int r = say_lost(errno);
    clearerr(stdout);
    return r;
}
