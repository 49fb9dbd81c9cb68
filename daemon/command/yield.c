// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/yield.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/ask.h"
#include "daemon/run/control.h"

enum { TIMEOUT_S = 10 };

static int yield_fail(const char *path, const char *text) {
    (void)fprintf(stderr, "topdownd: %s: %s\n", path, text);
    return EXIT_FAILURE;
}

static int say_answer(const char *path, char *answer, double seconds) {
    answer[strcspn(answer, "\n")] = '\0';
    if (strncmp(answer, "error ", 6) == 0)
        return yield_fail(path, answer + 6);
    if (strncmp(answer, "ok ", 3) != 0)
        return yield_fail(path, "the answer is not topdownd's: is this its control socket?");
    if (seconds > 0)
        (void)printf("all counters are free for %.10g s\n", seconds);
    else
        (void)puts("topdownd measures again");
    return EXIT_SUCCESS;
}

int yield_run(const struct options *options) {
    char request[CONTROL_REQUEST_MAX], answer[CONTROL_ANSWER_MAX];
    char *path = ask_path(options);
    if (!path)
        return yield_fail("yield", "out of memory");
    (void)snprintf(request, sizeof request, "yield %.10g\n", options->yield.seconds);
    int r = ask_daemon(path, request, TIMEOUT_S, answer, sizeof answer);
    int status = r < 0 ? EXIT_FAILURE : say_answer(path, answer, options->yield.seconds);
    free(path);
    return status;
}
