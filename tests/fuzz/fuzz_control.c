// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/history/marks.h"
#include "daemon/run/control.h"

// Any bytes that a client sends to the control socket, in pieces of any size, get an answer of whole lines, or none,
// and never a yield that the socket does not allow. The first byte says how large the pieces are.

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sd_event *loop;
static struct control *control;

static int on_yield(double seconds, void *context) {
    (void)context;
    if (!(seconds == 0 || (seconds >= 1 && seconds <= CONTROL_YIELD_SECONDS_MAX)))
        abort();
    return seconds == 0 ? 0 : -EAGAIN; // what is granted would be logged each time
}

static int on_reload(struct errors *errors, void *context) {
    (void)context;
    return errors_add(errors, NULL, 0, 0, "nothing is reloaded here");
}

static int on_status(struct text *out, void *context) {
    (void)context;
    text_string(out, "awaits 127.0.0.1 10813 why\n");
    return 0;
}

static int on_mark(const char *text, const char **why, void *context) {
    (void)context;
    *why = marks_refuse_text(text);
    if (strpbrk(text, "\n\r") && !*why)
        abort();
    return -EINVAL; // what is set would be logged each time
}

int LLVMFuzzerInitialize(int *n_arguments, char ***arguments) {
    (void)n_arguments;
    (void)arguments;
    struct errors errors = {0};
    char folder[] = "/tmp/topdownd-fuzz-XXXXXX";
    if (!mkdtemp(folder) || sd_event_new(&loop) < 0 ||
        control_new(
            loop, folder,
            &(struct control_requests){.yield = on_yield, .reload = on_reload, .status = on_status, .mark = on_mark},
            &errors, &control) < 0 ||
        !control || control_start(control) < 0)
        abort();
    return 0;
}

static void run_loop(void) {
    for (int idle = 0; idle < 2;) // the bytes and the end are two turns
        idle = sd_event_run(loop, 0) > 0 ? 0 : idle + 1;
}

// Sends all of it unless the daemon ends the connection before.
static void send_all(int fd, const uint8_t *data, size_t size, size_t piece) {
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (send(fd, data + at, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n)
            return;
        run_loop();
    }
}

static void check_answer(int fd) {
    char answer[2 * CONTROL_ANSWER_MAX];
    ssize_t n = recv(fd, answer, sizeof answer - 1, MSG_DONTWAIT);
    if (n <= 0)
        return;
    answer[n] = '\0';
    static const char status[] = "ok\nawaits 127.0.0.1 10813 why\n";
    bool known = strncmp(answer, "ok ", 3) == 0 || strncmp(answer, "error ", 6) == 0;
    if (strcmp(answer, status) != 0 && (!known || strchr(answer, '\n') != answer + n - 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    control_take_client(control, pair[0]);
    size_t piece = data[0] % 8 == 0 ? 1 : data[0] % 8 * 16U;
    send_all(pair[1], data + 1, size - 1, piece);
    (void)shutdown(pair[1], SHUT_WR);
    run_loop();
    check_answer(pair[1]);
    (void)close(pair[1]);
    run_loop();
    return 0;
}
