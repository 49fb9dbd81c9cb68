// SPDX-License-Identifier: Apache-2.0
// What commands show on a terminal. Standard output and standard error are a pseudo-terminal or a pipe of the test.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core_check.h"
#include "daemon/base/clocks.h"
#include "daemon/base/terminal.h"

static const uint64_t SECOND = UINT64_C(1000000000);

struct screen {
    int ours, theirs, kept; // kept: what the descriptor was before
    int fd;
};

// From now on `fd` is a terminal of 40 columns.
static struct screen screen_open(int fd) {
    struct screen screen = {.fd = fd};
    struct winsize size = {.ws_row = 24, .ws_col = 40};
    assert_int_equal(openpty(&screen.ours, &screen.theirs, NULL, NULL, &size), 0);
    assert_int_equal(fcntl(screen.ours, F_SETFL, O_NONBLOCK), 0);
    (void)fflush(NULL);
    screen.kept = dup(fd);
    assert_true(dup2(screen.theirs, fd) >= 0);
    return screen;
}

// The kernel takes what is written to the other side a moment later.
static void screen_read(const struct screen *screen, char *said, size_t size) {
    struct pollfd input = {.fd = screen->ours, .events = POLLIN};
    (void)fflush(NULL);
    (void)poll(&input, 1, 100);
    ssize_t n = read(screen->ours, said, size - 1);
    said[n > 0 ? n : 0] = '\0';
}

static void screen_close(const struct screen *screen) {
    assert_true(dup2(screen->kept, screen->fd) >= 0);
    (void)close(screen->kept);
    (void)close(screen->ours);
    (void)close(screen->theirs);
}

static void test_colour_needs_a_terminal_that_knows_it_and_no_refusal(void **state) {
    (void)state;
    struct screen screen = screen_open(STDERR_FILENO);
    (void)setenv("TERM", "xterm", 1);
    (void)unsetenv("NO_COLOR");
    bool usual = terminal_has_colour(STDERR_FILENO);
    (void)setenv("NO_COLOR", "", 1);
    bool empty = terminal_has_colour(STDERR_FILENO);
    (void)setenv("NO_COLOR", "0", 1);
    bool refused = terminal_has_colour(STDERR_FILENO);
    (void)unsetenv("NO_COLOR");
    (void)setenv("TERM", "dumb", 1);
    bool dumb = terminal_has_colour(STDERR_FILENO);
    (void)unsetenv("TERM");
    bool unknown = terminal_has_colour(STDERR_FILENO);
    (void)setenv("TERM", "xterm", 1);
    int columns = terminal_columns(STDERR_FILENO);
    screen_close(&screen);
    assert_true(usual && empty);
    assert_false(refused || dumb || unknown);
    assert_int_equal(columns, 40);
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_false(terminal_has_colour(file));
    assert_int_equal(terminal_columns(file), 80);
    (void)close(file);
}

static void test_progress_appears_after_two_seconds_and_leaves_nothing(void **state) {
    (void)state;
    char early[512], first[512], soon[512], end[512];
    struct terminal_progress progress = {.begun_ns = 0};
    (void)setenv("TERM", "xterm", 1);
    struct screen screen = screen_open(STDERR_FILENO);
    terminal_progress_show(&progress, "reading");
    screen_read(&screen, early, sizeof early);
    progress.begun_ns = clocks_now_ns() - 3 * SECOND;
    terminal_progress_show(&progress, "reading %s: %d s of a recording that is very long", "a\tb", 7);
    screen_read(&screen, first, sizeof first);
    progress.shown_ns = clocks_now_ns() + SECOND; // however slow this machine is
    terminal_progress_show(&progress, "reading 8");
    screen_read(&screen, soon, sizeof soon);
    terminal_progress_end(&progress);
    screen_read(&screen, end, sizeof end);
    screen_close(&screen);
    assert_string_equal(early, "");
    assert_string_equal(first, "\rreading a?b: 7 s of a recording that is\033[K"); // 39 of 40 columns
    assert_string_equal(soon, "");
    assert_string_equal(end, "\r\033[K");
}

static void test_a_short_command_and_a_dumb_terminal_have_no_progress(void **state) {
    (void)state;
    char said[64];
    struct terminal_progress progress = {.begun_ns = 0};
    struct screen screen = screen_open(STDERR_FILENO);
    terminal_progress_show(&progress, "reading");
    terminal_progress_end(&progress);
    (void)setenv("TERM", "dumb", 1);
    progress.begun_ns = clocks_now_ns() - 3 * SECOND;
    terminal_progress_show(&progress, "reading");
    terminal_progress_end(&progress);
    screen_read(&screen, said, sizeof said);
    screen_close(&screen);
    assert_string_equal(said, "");
}

static void test_a_text_that_could_not_grow_is_not_printed(void **state) {
    (void)state;
    struct text text = {.failed = true};
    assert_int_equal(terminal_print(&text), -ENOMEM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colour_needs_a_terminal_that_knows_it_and_no_refusal),
        cmocka_unit_test(test_progress_appears_after_two_seconds_and_leaves_nothing),
        cmocka_unit_test(test_a_short_command_and_a_dumb_terminal_have_no_progress),
        cmocka_unit_test(test_a_text_that_could_not_grow_is_not_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
