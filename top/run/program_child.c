// SPDX-License-Identifier: Apache-2.0
#include "top/run/program_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool program_child_has_ended(int child, int *status) {
    int how;
    if (child <= 0 || waitpid(child, &how, WNOHANG) != child)
        return false;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_FAILURE;
    return true;
}

void program_child_print_log(int log) {
    char text[4096];
    off_t at = 0;
    ssize_t n;
    while (log >= 0 && (n = pread(log, text, sizeof text, at)) > 0) {
        (void)fwrite(text, 1, (size_t)n, stderr);
        at += n;
    }
}

void program_child_end(int child) {
    if (child <= 0)
        return;
    (void)kill(child, SIGTERM);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}
