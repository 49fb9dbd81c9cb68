// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/task_command.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ, WRITE, ENDS };

// In the new process: waits for a byte, and becomes the command. If the other end closes instead, nothing is to happen.
static _Noreturn void become(char *const *command, const sigset_t *mask, int go, int failed) {
    char byte;
    ssize_t n;
    do
        n = read(go, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 1) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execvp(command[0], command);
        int error = errno;
        (void)!write(failed, &error, sizeof error);
    }
    _exit(TASK_COMMAND_NOT_FOUND);
}

int task_command_new(struct task_command *child, char *const *command, const sigset_t *mask) {
    int go[ENDS], failed[ENDS];
    *child = (struct task_command){.go = -1, .failed = -1};
    if (pipe2(go, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(failed, O_CLOEXEC) < 0) {
        int r = -errno;
        (void)close(go[READ]);
        (void)close(go[WRITE]);
        return r;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go[WRITE]); // else it would never see it close
        become(command, mask, go[READ], failed[WRITE]);
    }
    int r = pid < 0 ? -errno : 0;
    (void)close(go[READ]);
    (void)close(failed[WRITE]);
    *child = (struct task_command){.pid = pid > 0 ? pid : 0, .go = go[WRITE], .failed = failed[READ]};
    return r;
}

static void close_end(int *end) {
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

int task_command_begin(struct task_command *child) {
    int error = 0;
    ssize_t n = write(child->go, "", 1);
    close_end(&child->go);
    if (n == 1)
        do
            n = read(child->failed, &error, sizeof error); // execve closes it
        while (n < 0 && errno == EINTR);
    close_end(&child->failed);
    if (n == (ssize_t)sizeof error)
        return -error;
    return n < 0 ? -errno : 0;
}

static void take_status(struct task_command *child, int status) {
    child->over = true;
    child->status = WIFSIGNALED(status) ? TASK_COMMAND_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

bool task_command_is_over(struct task_command *child) {
    int status;
    if (!child->over && waitpid(child->pid, &status, WNOHANG) == child->pid)
        take_status(child, status);
    return child->over;
}

void task_command_signal(const struct task_command *child, int signal) {
    if (child->pid > 0 && !child->over)
        (void)kill(child->pid, signal);
}

void task_command_wait(struct task_command *child) {
    int status;
    pid_t pid = 0;
    while (child->pid > 0 && !child->over && (pid == 0 || (pid < 0 && errno == EINTR))) {
        pid = waitpid(child->pid, &status, 0);
        if (pid == child->pid)
            take_status(child, status);
    }
}

void task_command_deinit(struct task_command *child) {
    bool waits = child->go >= 0;
    close_end(&child->go);
    close_end(&child->failed);
    if (waits)
        task_command_wait(child);
}
