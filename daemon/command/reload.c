// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/ask.h"
#include "daemon/run/control.h"

// A reload waits for the end of a round, but not for long (daemon/run/reload.h), and for a probe.
enum { TIMEOUT_S = 60, EXIT_WRONG = 2 };

// Prints the mistakes, a line for each.
static int say_answer(const char *path, char *answer) {
    static const char error[] = "error ";
    char *rest = answer, *line;
    if (strcmp(answer, "ok\n") == 0) {
        (void)puts("the configuration is in force");
        return EXIT_SUCCESS;
    }
    if (strncmp(answer, error, strlen(error)) != 0) {
        (void)fprintf(stderr, "topdownd: %s: the answer is not topdownd's: is this its control socket?\n", path);
        return EXIT_FAILURE;
    }
    while ((line = strsep(&rest, "\n")))
        if (strncmp(line, error, strlen(error)) == 0)
            (void)fprintf(stderr, "topdownd: %s\n", line + strlen(error));
    (void)fputs("topdownd: nothing has changed: the daemon goes on with the configuration that it had\n", stderr);
    return EXIT_WRONG;
}

int reload_run(const struct options *options) {
    char answer[CONTROL_ANSWER_MAX];
    char *path = ask_path(options);
    if (!path) {
        (void)fputs("topdownd: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    int r = ask_daemon(path, "reload\n", TIMEOUT_S, answer, sizeof answer);
    int status = r < 0 ? EXIT_FAILURE : say_answer(path, answer);
    free(path);
    return status;
}
