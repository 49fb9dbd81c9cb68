// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/history/marks.h"
#include "daemon/base/clocks.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"

// The control socket with real clients in one process and the daemon's own event loop: requests, answers, and no client
// leaves a file descriptor behind. Nothing waits: the loop runs until it has nothing more to do.

struct fixture {
    char folder[64];
    sd_event *loop;
    struct control *control;
    double asked; // the last request; -1: none
    int answer;   // of the yield, or of the reload
    size_t n_reloads, n_marks;
    char marked[MARK_TEXT_MAX]; // the last one
    size_t n_warned;            // looks at what a configuration leaves to wish, which find something
    size_t n_files;             // open before anything was
};

static size_t count_files(void) {
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    assert_int_equal(closedir(folder), 0);
    return n;
}

static int on_yield(double seconds, void *context) {
    struct fixture *f = context;
    f->asked = seconds;
    return f->answer;
}

static int on_reload(struct errors *errors, void *context) {
    struct fixture *f = context;
    f->n_reloads++;
    return f->answer == -EINVAL ? errors_add(errors, "/etc/x.yaml", 3, 7, "no such key") : f->answer;
}

static void on_warn(struct errors *warnings, void *context) {
    struct fixture *f = context;
    if (f->n_warned > 0 && f->n_warned--)
        (void)errors_add(warnings, "/etc/x.yaml", 3, 0, "the port is taken");
}

static int on_status(struct text *out, void *context) {
    const struct fixture *f = context;
    text_string(out, "listens 127.0.0.1 10813\n");
    return f->answer;
}

static int on_mark(const char *text, const char **why, void *context) {
    struct fixture *f = context;
    *why = marks_refuse_text(text);
    if (*why)
        return -EINVAL;
    f->n_marks++;
    (void)snprintf(f->marked, sizeof f->marked, "%s", text);
    return f->answer;
}

static void run_loop(const struct fixture *f) {
    for (int idle = 0; idle < 3;) // an accept and the first bytes are two turns
        idle = sd_event_run(f->loop, 0) > 0 ? 0 : idle + 1;
}

static int connect_client(const struct fixture *f) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", f->folder, CONTROL_NAME);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    const char *folder = getenv("TMPDIR");
    struct errors errors = {0};
    assert_non_null(f);
    f->asked = -1;
    (void)snprintf(f->folder, sizeof f->folder, "%.40s/topdownd-XXXXXX", folder ? folder : P_tmpdir);
    assert_non_null(mkdtemp(f->folder));
    f->n_files = count_files();
    assert_true(sd_event_new(&f->loop) >= 0);
    assert_int_equal(control_new(f->loop, f->folder,
                                 &(struct control_requests){on_yield, on_reload, on_warn, on_status, on_mark, f},
                                 &errors, &f->control),
                     0);
    assert_non_null(f->control);
    assert_int_equal(control_start(f->control), 0);
    int first = connect_client(f); // the loop makes its timer's file with the first client, and keeps it
    run_loop(f);
    assert_int_equal(close(first), 0);
    run_loop(f);
    *state = f;
    return 0;
}

// Leaves no file descriptor, and no socket in the folder.
static int teardown(void **state) {
    struct fixture *f = *state;
    control_free(f->control);
    sd_event_unref(f->loop);
    assert_int_equal(count_files(), f->n_files);
    assert_int_equal(rmdir(f->folder), 0);
    free(f);
    return 0;
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

// Asks, and checks the answer and that the connection is then closed.
static void ask(const struct fixture *f, const char *request, const char *wanted) {
    char answer[CONTROL_ANSWER_MAX + 1] = "";
    int fd = connect_client(f);
    say(fd, request);
    run_loop(f);
    ssize_t n = recv(fd, answer, CONTROL_ANSWER_MAX, MSG_DONTWAIT);
    assert_true(n >= 0);
    if (strncmp(answer, wanted, strlen(wanted)) != 0)
        fail_msg("\"%s\" is answered with \"%s\"", request, answer);
    assert_int_equal(recv(fd, answer, 1, MSG_DONTWAIT), 0);
    assert_int_equal(close(fd), 0);
}

static void test_a_request_is_answered_and_its_connection_closed(void **state) {
    struct fixture *f = *state;
    size_t files = count_files();
    ask(f, "yield 12.5\n", "ok 12.5\n");
    assert_true(f->asked == 12.5);
    ask(f, "yield 0\n", "ok 0\n");
    assert_true(f->asked == 0);
    f->answer = -EOPNOTSUPP;
    ask(f, "yield 5\n", "error Operation not supported\n");
    assert_int_equal(count_files(), files);
}

// All clients are this process here, so there is one lease.
static void test_the_longest_of_a_lease_and_a_yield_wins(void **state) {
    struct fixture *f = *state;
    ask(f, "yield 3600\n", "ok 3600\n");
    ask(f, "lease 15\n", "ok 15\n");
    assert_true(f->asked > 3590 && f->asked <= 3600);
    ask(f, "lease 15\n", "ok 15\n");
    ask(f, "lease 0\n", "ok 0\n");
    assert_true(f->asked > 3590 && f->asked <= 3600); // it was not the lease's to end
    ask(f, "yield 0\n", "ok 0\n");
    assert_true(f->asked == 0);
    ask(f, "lease 15\n", "ok 15\n");
    assert_true(f->asked == 15);
    ask(f, "yield 2\n", "ok 2\n");
    assert_true(f->asked > 14 && f->asked <= 15);
    ask(f, "lease 0\n", "ok 0\n");
    assert_true(f->asked > 1 && f->asked <= 2);
    ask(f, "lease 15\n", "ok 15\n");
    ask(f, "yield 0\n", "ok 0\n"); // takes all back
    assert_true(f->asked == 0);
    ask(f, "lease 0\n", "ok 0\n");
    assert_true(f->asked == 0);
}

static void test_a_refused_wish_leaves_the_others_as_they_were(void **state) {
    struct fixture *f = *state;
    ask(f, "lease 15\n", "ok 15\n");
    f->answer = -EOPNOTSUPP;
    ask(f, "yield 100\n", "error Operation not supported\n");
    ask(f, "yield 0\n", "error Operation not supported\n");
    ask(f, "lease 100\n", "error Operation not supported\n");
    f->answer = 0;
    ask(f, "yield 2\n", "ok 2\n");
    assert_true(f->asked > 14 && f->asked <= 15);
}

static void test_what_is_no_request_is_refused_and_nothing_is_handed_over(void **state) {
    struct fixture *f = *state;
    static const char *const wrong[] = {"yield 0.5\n", "yield 3601\n", "yield -1\n",   "yield 5 \n", "yield\n",
                                        "\n",          "take 5\n",     "lease 3601\n", "lease\n"};
    size_t files = count_files();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ask(f, wrong[i], "error ");
    char longer[CONTROL_REQUEST_MAX + 1];
    memset(longer, 'y', CONTROL_REQUEST_MAX);
    longer[CONTROL_REQUEST_MAX] = '\0';
    ask(f, longer, "error the request is too long\n");
    assert_true(f->asked == -1);
    assert_int_equal(count_files(), files);
}

static void test_a_mark_is_set_as_it_is_said_and_one_that_cannot_be_shown_is_refused(void **state) {
    struct fixture *f = *state;
    char longest[CONTROL_REQUEST_MAX] = "mark ";
    ask(f, "mark deploy db 4.2\n", "ok\n");
    assert_string_equal(f->marked, "deploy db 4.2");
    ask(f, "mark <b>Grüße</b> & 'quotes'\n", "ok\n");
    assert_string_equal(f->marked, "<b>Grüße</b> & 'quotes'");
    memset(longest + 5, 'x', MARK_TEXT_MAX - 1);
    longest[5 + MARK_TEXT_MAX - 1] = '\n';
    ask(f, longest, "ok\n");
    assert_int_equal(strlen(f->marked), MARK_TEXT_MAX - 1);
    assert_int_equal(f->n_marks, 3);
    memset(longest + 5, 'x', MARK_TEXT_MAX);
    longest[5 + MARK_TEXT_MAX] = '\n';
    ask(f, longest, "error the text of a mark has at most 119 bytes\n");
    ask(f, "mark  \n", "error a mark needs a text");
    ask(f, "mark\n", "error there is no such request");
    ask(f, "mark a\tb\n", "error the text of a mark is one line");
    ask(f, "mark \xc3(\n", "error the text of a mark is UTF-8");
    ask(f,
        "mark a\xe2\x80\xae"
        "b\n",
        "error the text of a mark is one line"); // turns the direction of writing
    assert_int_equal(f->n_marks, 3);
    f->answer = -EAGAIN;
    ask(f, "mark too early\n", "error Resource temporarily unavailable\n");
}

static void test_clients_that_vanish_leave_nothing_open(void **state) {
    struct fixture *f = *state;
    size_t files = count_files();
    for (int i = 0; i < 40; i++) { // below what is accepted in a second
        int fd = connect_client(f);
        if (i % 2)
            say(fd, "yield 5"); // without an end
        run_loop(f);
        assert_int_equal(close(fd), 0);
        run_loop(f);
        assert_int_equal(count_files(), files);
    }
    assert_true(f->asked == -1);
}

static void test_clients_that_say_nothing_keep_a_bounded_number_of_files_and_go_with_the_daemon(void **state) {
    struct fixture *f = *state;
    size_t files = count_files();
    int fds[12];
    for (size_t i = 0; i < 12; i++) { // the last four wait in the kernel's queue
        fds[i] = connect_client(f);
        run_loop(f);
    }
    assert_int_equal(count_files(), files + 12 + 8); // our own ends, and those of 8 that are served at a time
    assert_int_equal(close(fds[0]), 0);
    run_loop(f);
    assert_int_equal(count_files(), files + 11 + 8); // the next one's turn
    control_free(f->control);
    f->control = NULL;
    assert_int_equal(count_files(), files + 11 - 1); // and the socket itself
    for (size_t i = 1; i < 12; i++)
        assert_int_equal(close(fds[i]), 0);
}

static void test_a_socket_that_a_dead_daemon_left_is_replaced_and_that_of_a_live_one_is_not(void **state) {
    struct fixture *f = *state;
    struct errors errors = {0};
    struct control *second = NULL;
    size_t files = count_files();
    assert_int_equal(control_new(f->loop, f->folder,
                                 &(struct control_requests){on_yield, on_reload, on_warn, on_status, on_mark, f},
                                 &errors, &second),
                     -EINVAL);
    assert_non_null(strstr(errors.items[0].text, "another topdownd listens there"));
    assert_null(second);
    assert_int_equal(count_files(), files);
    ask(f, "yield 1\n", "ok 1\n"); // and it still does
    // a socket that nobody listens at
    char path[128], stale[128];
    (void)snprintf(path, sizeof path, "%s/%s", f->folder, CONTROL_NAME);
    (void)snprintf(stale, sizeof stale, "%s/stale", f->folder);
    assert_int_equal(rename(path, stale), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s", path);
    int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(dead, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(close(dead), 0);
    assert_int_equal(control_new(f->loop, f->folder,
                                 &(struct control_requests){on_yield, on_reload, on_warn, on_status, on_mark, f},
                                 &errors, &second),
                     0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0660);
    control_free(second);
    assert_int_equal(rename(stale, path), 0);
    assert_int_equal(count_files(), files);
}

// Sends `request` and runs the loop; returns the client's end.
static int begin(const struct fixture *f, const char *request) {
    int fd = connect_client(f);
    say(fd, request);
    run_loop(f);
    return fd;
}

// More clients than there are places connect and say nothing: who has asked stays.
static void press(const struct fixture *f) {
    int idle[12];
    for (size_t i = 0; i < 12; i++)
        idle[i] = begin(f, "");
    ask(f, "yield 5\n", "ok 5\n");
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(close(idle[i]), 0);
    run_loop(f);
}

static void expect_answer(int fd, const char *wanted) {
    char answer[CONTROL_ANSWER_MAX + 1] = "";
    assert_true(recv(fd, answer, CONTROL_ANSWER_MAX, MSG_DONTWAIT) >= 0);
    assert_string_equal(answer, wanted);
    assert_int_equal(recv(fd, answer, 1, MSG_DONTWAIT), 0);
    assert_int_equal(close(fd), 0);
}

static void test_a_reload_is_answered_when_it_has_ended(void **state) {
    struct fixture *f = *state;
    struct errors errors = {0};
    char byte;
    size_t files = count_files();
    int first = begin(f, "reload\n"), second = begin(f, "reload\n"), gone = begin(f, "reload\n");
    assert_int_equal(f->n_reloads, 3);
    assert_int_equal(recv(first, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(close(gone), 0);
    run_loop(f);
    ask(f, "yield 5\n", "ok 5\n"); // others are served meanwhile
    control_end_reload(f->control, 0, &errors);
    expect_answer(first, "ok\n");
    expect_answer(second, "ok\n");
    assert_int_equal(count_files(), files);
    control_end_reload(f->control, 0, &errors); // nobody waits
    int third = begin(f, "reload\n");
    press(f);
    (void)errors_add(&errors, "/etc/y.yaml", 4, 0, "the address is taken");
    (void)errors_add(&errors, NULL, 0, 0, "and another mistake");
    control_end_reload(f->control, -EINVAL, &errors);
    expect_answer(third, "error /etc/y.yaml:4: the address is taken\nerror and another mistake\n");
    assert_int_equal(count_files(), files);
}

static void test_a_reload_that_cannot_begin_is_answered_with_its_mistakes(void **state) {
    struct fixture *f = *state;
    f->answer = -EINVAL;
    expect_answer(begin(f, "reload\n"), "error /etc/x.yaml:3:7: no such key\n");
    f->answer = -ENOMEM;
    expect_answer(begin(f, "reload\n"), "error Cannot allocate memory\n");
    assert_int_equal(f->n_reloads, 2);
    ask(f, "reload \n", "error ");
    ask(f, "reload now\n", "error ");
    assert_int_equal(f->n_reloads, 2);
}

// Runs the loop until the client has an answer.
static void wait_for_answer(const struct fixture *f, int fd) {
    char byte;
    while (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0)
        assert_true(sd_event_run(f->loop, UINT64_MAX) >= 0);
}

static void test_what_a_configuration_in_force_leaves_to_wish_is_told_if_it_stays(void **state) {
    struct fixture *f = *state;
    const struct errors none = {0};
    char byte;
    size_t files = count_files();
    f->n_warned = 2;
    int client = begin(f, "reload\n");
    control_end_reload(f->control, 0, &none);
    assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), -1);
    int later = begin(f, "reload\n"), gone = begin(f, "reload\n");
    control_end_reload(f->control, -ENOMEM, &none); // of the later ones alone
    expect_answer(later, "error Cannot allocate memory\n");
    expect_answer(gone, "error Cannot allocate memory\n");
    assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), -1);
    press(f);
    wait_for_answer(f, client);
    expect_answer(client, "ok\nwarning /etc/x.yaml:3: the port is taken\n");
    f->n_warned = 1; // it passes
    client = begin(f, "reload\n");
    assert_int_equal(usleep(600000), 0); // the loop's own time is that of its last event, and does not count
    uint64_t ended_ns = clocks_now_ns();
    control_end_reload(f->control, 0, &none);
    wait_for_answer(f, client);
    assert_true(clocks_now_ns() - ended_ns > UINT64_C(400000000));
    expect_answer(client, "ok\n");
    f->n_warned = 1;
    gone = begin(f, "reload\n");
    control_end_reload(f->control, 0, &none);
    assert_int_equal(close(gone), 0);
    run_loop(f);
    assert_int_equal(count_files(), files);
}

static void test_the_status_is_ok_and_lines_or_an_error(void **state) {
    struct fixture *f = *state;
    expect_answer(begin(f, "status\n"), "ok\nlistens 127.0.0.1 10813\n");
    f->answer = -ENOMEM;
    expect_answer(begin(f, "status\n"), "error Cannot allocate memory\n");
    ask(f, "status now\n", "error ");
}

static struct sockaddr_un address_of(const struct fixture *f, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", f->folder, name);
    return address;
}

static void test_sixty_that_come_at_once_wait_and_the_last_one_is_answered(void **state) {
    struct fixture *f = *state;
    const struct sockaddr_un address = address_of(f, CONTROL_NAME);
    int fds[60];
    enum { N = sizeof fds / sizeof *fds };
    for (size_t i = 0; i < N; i++) { // the loop does not run meanwhile
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fds[i], (const struct sockaddr *)&address, sizeof address), 0);
    }
    char byte;
    say(fds[N - 1], "yield 5\n");
    for (ssize_t n = -1; n < 0; n = recv(fds[N - 1], &byte, 1, MSG_DONTWAIT | MSG_PEEK)) // so many a second
        assert_true(sd_event_run(f->loop, UINT64_MAX) >= 0);
    expect_answer(fds[N - 1], "ok 5\n");
    for (size_t i = 0; i < N - 1; i++)
        assert_int_equal(close(fds[i]), 0);
    run_loop(f);
}

// Ends some connections without an answer, as a daemon does that many ask; then answers one.
static void serve_late(int listener, int unanswered) {
    char request[CONTROL_REQUEST_MAX];
    for (int i = 0; i < unanswered; i++)
        (void)close(accept(listener, NULL, NULL));
    int client = accept(listener, NULL, NULL);
    _exit(recv(client, request, sizeof request, 0) > 0 && send(client, "ok 5\n", 5, 0) == 5 ? 0 : 1);
}

static void test_who_gets_no_answer_asks_again(void **state) {
    const struct fixture *f = *state;
    const struct sockaddr_un address = address_of(f, "late.sock");
    char answer[CONTROL_ANSWER_MAX];
    int status = -1, listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 8), 0);
    pid_t child = fork();
    if (child == 0)
        serve_late(listener, 3);
    assert_true(child > 0);
    assert_int_equal(ask_quietly(address.sun_path, "yield 5\n", 60, answer, sizeof answer), 0);
    assert_string_equal(answer, "ok 5\n");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(close(listener), 0); // and where nobody listens any more, it says so at once
    assert_int_equal(ask_quietly(address.sun_path, "yield 5\n", 60, answer, sizeof answer), -ECONNREFUSED);
    assert_int_equal(unlink(address.sun_path), 0);
}

#define WITH_CONTROL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_CONTROL(test_a_request_is_answered_and_its_connection_closed),
        WITH_CONTROL(test_the_longest_of_a_lease_and_a_yield_wins),
        WITH_CONTROL(test_a_refused_wish_leaves_the_others_as_they_were),
        WITH_CONTROL(test_a_reload_is_answered_when_it_has_ended),
        WITH_CONTROL(test_a_reload_that_cannot_begin_is_answered_with_its_mistakes),
        WITH_CONTROL(test_what_a_configuration_in_force_leaves_to_wish_is_told_if_it_stays),
        WITH_CONTROL(test_the_status_is_ok_and_lines_or_an_error),
        WITH_CONTROL(test_sixty_that_come_at_once_wait_and_the_last_one_is_answered),
        WITH_CONTROL(test_who_gets_no_answer_asks_again),
        WITH_CONTROL(test_a_mark_is_set_as_it_is_said_and_one_that_cannot_be_shown_is_refused),
        WITH_CONTROL(test_what_is_no_request_is_refused_and_nothing_is_handed_over),
        WITH_CONTROL(test_clients_that_vanish_leave_nothing_open),
        WITH_CONTROL(test_clients_that_say_nothing_keep_a_bounded_number_of_files_and_go_with_the_daemon),
        WITH_CONTROL(test_a_socket_that_a_dead_daemon_left_is_replaced_and_that_of_a_live_one_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
