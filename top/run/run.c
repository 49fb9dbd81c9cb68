// SPDX-License-Identifier: Apache-2.0
#include "top/run/run.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top/run/args.h"
#include "top/run/play.h"
#include "top/run/program_child.h"
#include "top/terminal/tty.h"

enum { EXIT_WRONG = 2, ONCE_SECONDS = 60, ONCE_ROWS = 200, ONCE_COLUMNS = 100, LINE_BYTES = 4 * GRID_SIDE_MAX };

struct top {
    struct args args;
    struct feed feed;
    struct play play;
    struct screen_state view;
    struct tty *tty; // NULL: one screen is printed
    bool ended;      // a key, or the terminal is gone
    bool child_gone;
    int status;
};

static double clock_seconds(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double monotonic(void) { return clock_seconds(CLOCK_MONOTONIC); }

static struct screen_data data_of(const struct top *top) {
    const struct feed *feed = &top->feed;
    const struct timeline *timeline = &feed->timeline;
    return (struct screen_data){.frame = timeline_shown(timeline),
                                .host = feed->host,
                                .past = feed->past,
                                .source = top->args.source,
                                .gone = feed->gone[0] != '\0' ? feed->gone : NULL,
                                .now_seconds = clock_seconds(CLOCK_REALTIME),
                                .recording = top->play.fd >= 0,
                                .paused = top->play.paused,
                                .over = top->play.over,
                                .speed = top->play.speed,
                                .behind = timeline->n > 0 ? timeline->n - 1 - timeline->at : 0};
}

// ---- the terminal ----

static void draw(struct top *top) {
    struct grid grid;
    if (tty_grid(top->tty, &grid) < 0)
        return;
    const struct screen_data data = data_of(top);
    screen_draw(&top->view, &data, &grid);
    tty_show(top->tty, &grid);
    grid_deinit(&grid);
}

// Takes all keys that wait. True: the screen changes.
static bool take_keys(struct top *top) {
    bool changed = false;
    for (int key; (key = tty_key(top->tty)) != 0; changed = true) {
        const struct screen_data data = data_of(top);
        enum screen_action action = key == TTY_CHANGED ? SCREEN_NOTHING : screen_press(&top->view, &data, key);
        top->ended = top->ended || action == SCREEN_QUIT;
        if (action != SCREEN_NOTHING)
            play_act(&top->play, &top->feed, action, monotonic());
    }
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)))
        top->ended = true; // nobody is there any more
    return changed;
}

static void wait_for_more(struct top *top) {
    double now = monotonic();
    int fds[2] = {STDIN_FILENO, top->play.fd}, ms = feed_wait_ms(&top->feed, now);
    bool heard = top->play.fd >= 0 && top->play.asked;
    ms = play_wait_ms(&top->play, &top->feed, now, ms);
    if (top->tty)
        fetch_wait(top->feed.fetch, fds, heard ? 2 : 1, ms);
    else
        fetch_wait(top->feed.fetch, fds + 1, heard ? 1 : 0, ms);
}

static void run_screen(struct top *top) {
    double drawn = 0;
    bool changed = true;
    while (!top->ended && !top->child_gone) {
        double now = monotonic();
        if (changed || now >= drawn + 1) { // ages grow
            draw(top);
            drawn = now;
        }
        wait_for_more(top);
        now = monotonic();
        changed = take_keys(top);
        changed = feed_work(&top->feed, &top->view, top->play.paused, now) || changed;
        changed = play_work(&top->play, &top->feed, now) || changed;
        top->child_gone = program_child_has_ended(top->args.child, &top->status);
    }
}

// ---- one screen as text ----

static void print_screen(struct top *top) {
    struct grid grid;
    char line[LINE_BYTES + 8];
    const char *columns = getenv("COLUMNS");
    long wanted = columns ? strtol(columns, NULL, 10) : 0;
    unsigned width = wanted >= SCREEN_COLUMNS_MIN && wanted <= GRID_SIDE_MAX ? (unsigned)wanted : ONCE_COLUMNS;
    if (grid_init(&grid, ONCE_ROWS, width, tty_is_ascii()) < 0)
        return;
    const struct screen_data data = data_of(top);
    screen_draw(&top->view, &data, &grid);
    unsigned rows = grid.rows - 1; // without the keys
    for (grid_line(&grid, rows - 1, line, sizeof line); rows > 0 && line[0] == '\0';)
        if (--rows > 0)
            grid_line(&grid, rows - 1, line, sizeof line);
    for (unsigned row = 0; row < rows; row++) {
        grid_line(&grid, row, line, sizeof line);
        (void)puts(line);
    }
    grid_deinit(&grid);
}

// Whether a measured moment, the host and the past are there.
static bool is_complete(const struct top *top) {
    const struct frame *frame = timeline_newest(&top->feed.timeline);
    return frame && frame->sequence > 0 && top->feed.host && top->feed.past;
}

static void run_once(struct top *top) {
    play_to_end(&top->play);
    double until = monotonic() + ONCE_SECONDS;
    bool refused = false;
    while (!is_complete(top) && !top->child_gone && !refused && monotonic() < until) {
        wait_for_more(top);
        (void)feed_work(&top->feed, &top->view, false, monotonic());
        (void)play_work(&top->play, &top->feed, monotonic());
        top->child_gone = program_child_has_ended(top->args.child, &top->status);
        refused = top->feed.gone[0] != '\0' && top->args.child == 0;
    }
    if (is_complete(top))
        print_screen(top);
    else if (!top->child_gone) {
        (void)fprintf(stderr, "topdownd: %s\n",
                      top->feed.gone[0] != '\0' ? top->feed.gone : "nothing was measured within a minute");
        top->status = EXIT_FAILURE;
    }
}

// ---- the program ----

static int open_terminal(struct top *top) {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        (void)fputs("topdownd: no terminal is there: 'topdownd top --once' prints one screen\n", stderr);
        return EXIT_WRONG;
    }
    int r = tty_open(&top->tty);
    if (r == -EINVAL) {
        const char *type = getenv("TERM");
        (void)fprintf(stderr,
                      "topdownd: nothing is known of the terminal type '%.60s': set TERM, such as TERM=xterm or "
                      "TERM=vt100, or print one screen with 'topdownd top --once'\n",
                      type ? type : "");
    }
    return r == 0 ? EXIT_SUCCESS : r == -EINVAL ? EXIT_WRONG : EXIT_FAILURE;
}

static int open_source(struct top *top) {
    char why[FETCH_WHY_MAX] = "out of memory";
    int r = fetch_new(&top->args.from, &top->feed.fetch, why);
    if (r < 0)
        (void)fprintf(stderr, "topdownd: %s\n", why);
    top->feed.source = top->args.source;
    top->feed.page = FEED_NONE;
    top->feed.once = top->args.once && top->args.child == 0;
    top->feed.stepped = top->feed.everything = top->args.steps >= 0;
    top->play = (struct play){.fd = top->args.steps, .speed = top->args.speed};
    return r == 0 ? EXIT_SUCCESS : r == -EINVAL ? EXIT_WRONG : EXIT_FAILURE;
}

static void run(struct top *top) {
    top->status = open_source(top);
    if (top->status == EXIT_SUCCESS && !top->args.once)
        top->status = open_terminal(top);
    if (top->status == EXIT_SUCCESS)
        top->args.once ? run_once(top) : run_screen(top);
    top->tty = tty_close(top->tty);
    if (!top->child_gone)
        program_child_end(top->args.child);
    else {
        program_child_print_log(top->args.child_log);
        top->status = top->status == EXIT_SUCCESS ? EXIT_FAILURE : top->status;
    }
    feed_deinit(&top->feed);
}

int run_top(int argc, char **argv) {
    struct top *top = calloc(1, sizeof *top);
    (void)setlocale(LC_ALL, "");
    (void)setlocale(LC_NUMERIC, "C");
    if (!top)
        return EXIT_FAILURE;
    int status = EXIT_WRONG;
    screen_init(&top->view);
    if (args_read(argc, argv, &top->args) == 0) {
        run(top);
        status = top->status;
    }
    free(top);
    return status;
}
