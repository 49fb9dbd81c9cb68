// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clocks.h"

enum { EXIT_NOT_FOUND = 127, OUTPUT_MAX = 1 << 20, CHUNK = 4096 };

void spawn_word(struct spawn_words *words, const char *word) {
    if (word && words->n + 1 < SPAWN_WORDS_MAX) {
        words->words[words->n++] = word;
        words->words[words->n] = NULL;
    }
}

void spawn_option(struct spawn_words *words, const char *name, const char *value) {
    if (!value)
        return;
    spawn_word(words, name);
    spawn_word(words, value);
}

void spawn_command(struct spawn_words *words, const char *command, const struct options *options, bool asks) {
    static const char *const kinds[] = {[PMU_AUTO] = "auto", [PMU_LINUX] = "linux", [PMU_SIM] = "sim"};
    words->n = 0;
    (void)snprintf(words->pmu, sizeof words->pmu, "%s%s%s", kinds[options->pmu], options->scenario ? ":" : "",
                   options->scenario ? options->scenario : "");
    spawn_word(words, "/proc/self/exe");
    spawn_word(words, command);
    spawn_option(words, "--pmu", words->pmu);
    spawn_option(words, "--config", options->config_given ? options->config : NULL);
    spawn_option(words, "--hostname", options->paths.hostname);
    spawn_option(words, "--path.sysfs", options->paths.sysfs);
    spawn_option(words, "--path.procfs", options->paths.procfs);
    spawn_option(words, "--path.data", options->paths.data);
    spawn_option(words, "--path.run", asks ? options->paths.run : NULL);
    spawn_option(words, "--socket", asks ? options->paths.socket : NULL);
}

pid_t spawn_start(const struct spawn_words *words, int fd, int closed) {
    pid_t child = fork();
    if (child < 0)
        return -errno;
    if (child > 0)
        return child;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), out = fd >= 0 ? fd : nowhere;
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (closed >= 0)
        (void)close(closed);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        _exit(EXIT_NOT_FOUND);
    (void)unsetenv("JOURNAL_STREAM");
    (void)unsetenv("NOTIFY_SOCKET");
    (void)setenv("NO_COLOR", "1", 1);
    (void)execvp(words->words[0], (char *const *)(uintptr_t)words->words);
    _exit(EXIT_NOT_FOUND);
}

// Until the end of the output, or the time. Returns 0 or -ETIME.
static int read_all(int fd, uint64_t end_ns, struct text *out) {
    char chunk[CHUNK];
    for (;;) {
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        uint64_t now_ns = clocks_now_ns();
        if (now_ns >= end_ns)
            return -ETIME;
        if (poll(&waited, 1, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
            continue;
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        if (n > 0 && out->length < OUTPUT_MAX)
            text_append(out, chunk, (size_t)n);
    }
}

int spawn_run(const struct spawn_words *words, unsigned seconds, struct text *out) {
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t child = spawn_start(words, ends[1], ends[0]);
    (void)close(ends[1]);
    int r = child < 0 ? child : read_all(ends[0], clocks_now_ns() + seconds * UINT64_C(1000000000), out);
    (void)close(ends[0]);
    if (child < 0)
        return r;
    if (r < 0)
        (void)kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (r < 0)
        return r;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
    return code == EXIT_NOT_FOUND ? -ENOENT : code;
}
