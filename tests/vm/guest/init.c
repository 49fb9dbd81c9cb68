// SPDX-License-Identifier: Apache-2.0

// The first process of the test machine. It mounts what a program expects, loads the modules that the network needs,
// and then does what the test on the host asks for, one connection for each request:
//
//     the host sends one line, for `write` also a file's text, and ends its side;
//     the guest answers "ok" or "error TEXT", then what was asked for, and ends its side.
//
//     read FILE                  the file's text
//     write FILE                 into an existing file (sysfs) or a new one
//     start ARGUMENT...          the daemon; what it says goes to /log
//     unit ARGUMENT...           the same with the rights that the systemd unit gives: a user with CAP_PERFMON alone
//     kill NUMBER                sends the daemon a signal
//     status                     "running", "none", or how the daemon ended
//     clock                      CLOCK_MONOTONIC in nanoseconds
//     open TYPE CONFIG PID CPU   an event as perf_event_open does, and closes it
//     burn SECONDS CPU           keeps a CPU busy, and answers then
//     pin [GENERAL]              see work.h; `unpin` ends it
//     taskgroup SECONDS CPU      see work.h
//     run PROGRAM ARGUMENT...    to its end; what it says, and as the last line how it ended
//
// What takes time runs in a child, which inherits the connection and answers when it is done; meanwhile the next
// request is served. The machine is switched off by ending the emulator.

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vm/guest/work.h"

enum { PORT = 1000, REQUEST_MAX = 65536, WORDS_MAX = 32, FILES_SOFT = 1024, FILES_HARD = 524288, UNIT_USER = 1000 };

static const char DAEMON[] = "/usr/sbin/topdownd";

struct guest {
    pid_t daemon, pinner; // 0: none
    int daemon_status;    // of waitpid
    bool daemon_ended;
};

static void complain(const char *what) { (void)printf("init: %s: %s\n", what, strerror(errno)); }

static void mount_all(void) {
    static const struct {
        const char *type, *path;
    } mounts[] = {{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/run"}};
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        mkdir(mounts[i].path, 0755);
        if (mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL) < 0)
            complain(mounts[i].path);
    }
}

static void load_modules(void) {
    struct dirent **names;
    int n = scandir("/modules", &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[512];
        (void)snprintf(path, sizeof path, "/modules/%s", names[i]->d_name);
        int fd = names[i]->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && syscall(SYS_finit_module, fd, "", 0) < 0)
            complain(path);
        if (fd >= 0)
            close(fd);
    }
}

static void set_address(int fd, struct ifreq *request, unsigned long number, const char *address) {
    struct sockaddr_in in = {.sin_family = AF_INET};
    inet_pton(AF_INET, address, &in.sin_addr);
    memcpy(&request->ifr_addr, &in, sizeof in);
    if (ioctl(fd, number, request) < 0)
        complain(request->ifr_name);
}

static void interface_up(const char *name, const char *address, const char *mask) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {0};
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    set_address(fd, &request, SIOCSIFADDR, address);
    set_address(fd, &request, SIOCSIFNETMASK, mask);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        complain(name);
    close(fd);
}

static int channel_open(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 16) < 0)
        complain("listening");
    return fd;
}

// Sends the result, an errno or 0, as the answer's first line.
static void answer(int out, int error) {
    if (error == 0)
        (void)dprintf(out, "ok\n");
    else
        (void)dprintf(out, "error %s\n", strerror(error));
}

static void do_read(const char *path, int out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    answer(out, fd < 0 ? errno : 0);
    char bytes[4096];
    for (ssize_t n; fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, (size_t)n) != n)
            break;
    if (fd >= 0)
        close(fd);
}

static void do_write(const char *path, const char *text, int out) {
    size_t length = strlen(text);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t n = fd < 0 ? -1 : write(fd, text, length);
    answer(out, n < 0 ? errno : (size_t)n < length ? ENOSPC : 0);
    if (fd >= 0)
        close(fd);
}

// Becomes a user that has no capability but CAP_PERFMON.
static bool become_the_units_user(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {0};
    uint32_t mask = CAP_TO_MASK(CAP_PERFMON);
    rights[CAP_TO_INDEX(CAP_PERFMON)] =
        (struct __user_cap_data_struct){.effective = mask, .permitted = mask, .inheritable = mask};
    return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setgid(UNIT_USER) == 0 && setuid(UNIT_USER) == 0 &&
           syscall(SYS_capset, &header, rights) == 0 &&
           prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_PERFMON, 0, 0) == 0;
}

static void exec_daemon(char **words) {
    int log = open("/log", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const struct rlimit files = {.rlim_cur = FILES_SOFT, .rlim_max = FILES_HARD}; // as systemd sets them
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0)
        _exit(126);
    if (strcmp(words[0], "unit") == 0 && !become_the_units_user())
        _exit(126);
    (void)signal(SIGPIPE, SIG_DFL);
    char *environment[] = {NULL};
    words[0] = (char *)DAEMON;
    execve(DAEMON, words, environment);
    _exit(127);
}

static void do_start(struct guest *guest, char **words, int out) {
    if (guest->daemon != 0) {
        answer(out, EBUSY);
        return;
    }
    guest->daemon_ended = false;
    guest->daemon = fork();
    if (guest->daemon == 0)
        exec_daemon(words);
    answer(out, guest->daemon < 0 ? errno : 0);
}

// Reports how a program ended, from the status of waitpid.
static void say_end(int status, int out) {
    if (WIFEXITED(status))
        (void)dprintf(out, "exit %d\n", WEXITSTATUS(status));
    else
        (void)dprintf(out, "signal %d\n", WTERMSIG(status));
}

static void do_status(const struct guest *guest, int out) {
    answer(out, 0);
    if (guest->daemon != 0)
        (void)dprintf(out, "running\n");
    else if (!guest->daemon_ended)
        (void)dprintf(out, "none\n");
    else
        say_end(guest->daemon_status, out);
}

static void do_unpin(struct guest *guest, int out) {
    if (guest->pinner == 0) {
        answer(out, ESRCH);
        return;
    }
    kill(guest->pinner, SIGKILL);
    waitpid(guest->pinner, NULL, 0);
    guest->pinner = 0;
    answer(out, 0);
}

// Runs a program to its end; answers with its output and how it ended.
static _Noreturn void work_run(char **words, int out) {
    int status;
    answer(out, 0);
    pid_t child = fork();
    if (child == 0) {
        if (dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
            execv(words[0], words);
        _exit(127);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        say_end(status, out);
    _exit(0);
}

// Starts long work in a child. Returns its pid to the parent.
static pid_t work_begin(char **words, size_t n, int out) {
    pid_t child = fork();
    if (child != 0) {
        if (child < 0)
            answer(out, errno);
        return child;
    }
    if (strcmp(words[0], "run") == 0)
        work_run(words + 1, out);
    if (strcmp(words[0], "pin") == 0)
        work_pin(n > 1 ? atoi(words[1]) : -1, out);
    double seconds = strtod(words[1], NULL);
    unsigned cpu = (unsigned)atoi(words[2]);
    if (strcmp(words[0], "burn") == 0)
        answer(out, -work_burn(seconds, cpu));
    else
        work_task_group(seconds, cpu, out);
    _exit(0);
}

static size_t split(char *line, char **words) {
    size_t n = 0;
    for (char *rest = NULL, *word = strtok_r(line, " ", &rest); word && n + 1 < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

static void serve(struct guest *guest, char *line, const char *text, int out) {
    char *words[WORDS_MAX];
    size_t n = split(line, words);
    const char *command = n > 0 ? words[0] : "";
    if (strcmp(command, "read") == 0 && n == 2)
        do_read(words[1], out);
    else if (strcmp(command, "write") == 0 && n == 2)
        do_write(words[1], text, out);
    else if (strcmp(command, "start") == 0 || strcmp(command, "unit") == 0)
        do_start(guest, words, out);
    else if (strcmp(command, "kill") == 0 && n == 2)
        answer(out, guest->daemon == 0 ? ESRCH : kill(guest->daemon, atoi(words[1])) < 0 ? errno : 0);
    else if (strcmp(command, "status") == 0)
        do_status(guest, out);
    else if (strcmp(command, "clock") == 0)
        (void)dprintf(out, "ok\n%lu\n", work_now_ns());
    else if (strcmp(command, "open") == 0 && n == 5)
        answer(out, -work_open(words + 1));
    else if (strcmp(command, "pin") == 0 && guest->pinner == 0)
        guest->pinner = work_begin(words, n, out);
    else if (strcmp(command, "unpin") == 0)
        do_unpin(guest, out);
    else if ((strcmp(command, "burn") == 0 || strcmp(command, "taskgroup") == 0) && n == 3)
        (void)work_begin(words, n, out);
    else if (strcmp(command, "run") == 0 && n > 1)
        (void)work_begin(words, n, out);
    else
        answer(out, EINVAL);
}

static void serve_connection(struct guest *guest, int fd) {
    char *request = malloc(REQUEST_MAX);
    size_t length = 0;
    for (ssize_t n; request && length + 1 < REQUEST_MAX; length += (size_t)n)
        if ((n = read(fd, request + length, REQUEST_MAX - 1 - length)) <= 0)
            break;
    if (request) {
        request[length] = '\0';
        char *end = strchr(request, '\n');
        if (end)
            *end = '\0';
        serve(guest, request, end ? end + 1 : "", fd);
    }
    free(request);
}

static void reap(struct guest *guest) {
    int status;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (child == guest->pinner)
            guest->pinner = 0;
        if (child != guest->daemon)
            continue;
        guest->daemon = 0;
        guest->daemon_status = status;
        guest->daemon_ended = true;
    }
}

int main(void) {
    struct guest guest = {0};
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)signal(SIGPIPE, SIG_IGN); // a host that no longer listens
    mount_all();
    load_modules();
    interface_up("lo", "127.0.0.1", "255.0.0.0");
    interface_up("eth0", "10.0.2.15", "255.255.255.0"); // where the emulator expects its guest
    int channel = channel_open();
    (void)printf("init: ready\n");
    for (;;) {
        int fd = accept4(channel, NULL, NULL, SOCK_CLOEXEC);
        reap(&guest);
        if (fd < 0)
            continue;
        serve_connection(&guest, fd);
        close(fd);
    }
}
