// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/top.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/base/options_error.h"
#include "daemon/run/service.h"

enum { EXIT_WRONG = 2, PORT = 10813, TEXT_MAX = 64, SOURCE_MAX = 300, WORDS_MAX = 32 };

// How the view is called.
struct call {
    char program[PATH_MAX];
    char url[TEXT_MAX], source[SOURCE_MAX], child[TEXT_MAX], log[TEXT_MAX], steps[TEXT_MAX], speed[TEXT_MAX];
    const char *words[WORDS_MAX];
    size_t n;
};

// What the process that measures for the view gets, and what the view keeps.
struct aside {
    int listener, log, steps[2]; // -1: not made
    uint16_t port;
};

int top_check(const struct options *options) {
    bool own = options->pmu != PMU_AUTO || options->config_given;
    if (options->top.url && own)
        return options_say("--url does not go with --pmu, --replay and --config: the daemon there has its own");
    if (!options->top.url && (options->top.cacert || options->top.user || options->top.password_file))
        return options_say("--cacert, --user and --password-file go with --url");
    if (options->replay.speed_given && options->pmu != PMU_REPLAY)
        return options_say("--speed goes with --replay FILE: what is measured takes its time");
    if (options->spec && options->pmu != PMU_REPLAY)
        return options_say("--spec goes with --replay FILE");
    return 0;
}

// ---- the view ----

static int find_view(struct call *call) {
    static const char *const beside[] = {"../libexec/topdownd/topdownd-top", "topdownd-top"};
    char folder[PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length > 0) {
        folder[length] = '\0';
        *strrchr(folder, '/') = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            (void)snprintf(call->program, sizeof call->program, "%s/%s", folder, beside[i]);
            if (access(call->program, X_OK) == 0)
                return 0;
        }
    }
    return options_say("topdownd-top is missing, which draws: install the package topdownd-top ('apt install "
                       "topdownd-top'), or open the page of the daemon in a browser");
}

static void add(struct call *call, const char *name, const char *value) {
    if (!value || call->n + 3 > WORDS_MAX)
        return;
    call->words[call->n++] = name;
    if (value[0] != '\0')
        call->words[call->n++] = value;
}

static int show(struct call *call, const struct options *options) {
    add(call, "topdownd-top", "");
    add(call, "--url", options->top.url ? options->top.url : call->url);
    add(call, "--source", call->source[0] != '\0' ? call->source : NULL);
    add(call, "--cacert", options->top.cacert);
    add(call, "--user", options->top.user);
    add(call, "--password-file", options->top.password_file);
    add(call, "--child", call->child[0] != '\0' ? call->child : NULL);
    add(call, "--child-log", call->log[0] != '\0' ? call->log : NULL);
    add(call, "--steps", call->steps[0] != '\0' ? call->steps : NULL);
    add(call, "--speed", call->speed[0] != '\0' ? call->speed : NULL);
    add(call, "--once", options->top.once ? "" : NULL);
    (void)execv(call->program, (char *const *)call->words);
    (void)fprintf(stderr, "topdownd: %s: %s\n", call->program, strerror(errno));
    return EXIT_FAILURE;
}

// ---- the daemon that is there ----

static bool daemon_answers(void) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answers = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    return answers;
}

// ---- a process of its own ----

static int open_listener(struct aside *aside) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    aside->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (aside->listener < 0 || bind(aside->listener, (const struct sockaddr *)&address, length) < 0 ||
        listen(aside->listener, SOMAXCONN) < 0 ||
        getsockname(aside->listener, (struct sockaddr *)&address, &length) < 0)
        return -errno;
    aside->port = ntohs(address.sin_port);
    return 0;
}

static int open_aside(const struct options *options, struct aside *aside) {
    *aside = (struct aside){.listener = -1, .log = -1, .steps = {-1, -1}};
    int r = open_listener(aside);
    if (r == 0)
        aside->log = memfd_create("topdownd-top", 0);
    if (r == 0 && aside->log < 0)
        r = -errno;
    if (r == 0 && options->pmu == PMU_REPLAY && socketpair(AF_UNIX, SOCK_STREAM, 0, aside->steps) < 0)
        r = -errno;
    return r;
}

// The new process: measures until the view ends. It gets its socket as systemd would pass it.
static int run_aside(const struct options *options, struct aside *aside, pid_t view) {
    char number[TEXT_MAX];
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid(); // keys such as Ctrl-C are for the view
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != view || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(aside->log, STDOUT_FILENO) < 0 || dup2(aside->log, STDERR_FILENO) < 0)
        return EXIT_FAILURE;
    int steps = options->pmu == PMU_REPLAY ? fcntl(aside->steps[1], F_DUPFD_CLOEXEC, SD_LISTEN_FDS_START + 1) : 0;
    int listener = fcntl(aside->listener, F_DUPFD_CLOEXEC, SD_LISTEN_FDS_START + 1);
    if (steps < 0 || listener < 0 || dup2(listener, SD_LISTEN_FDS_START) < 0)
        return EXIT_FAILURE;
    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    (void)setenv("LISTEN_PID", number, 1);
    (void)setenv("LISTEN_FDS", "1", 1);
    for (size_t i = 0; i < 3; i++) // of whoever started the view
        (void)unsetenv((const char *const[]){"NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM"}[i]);
    struct options alone = *options;
    alone.web = (struct options_web){.systemd_socket = true};
    alone.replay.speed = 1;
    alone.aside.on = true;
    alone.aside.steps_fd = steps;
    return service_run(&alone);
}

static int start_aside(const struct options *options, struct call *call) {
    struct aside aside;
    pid_t view = getpid();
    int r = open_aside(options, &aside);
    pid_t child = r == 0 ? fork() : -1;
    if (child == 0)
        exit(run_aside(options, &aside, view));
    if (child < 0) {
        (void)fprintf(stderr, "topdownd: cannot start to measure: %s\n", strerror(r < 0 ? -r : errno));
        return -EIO;
    }
    (void)close(aside.listener);
    if (aside.steps[1] >= 0)
        (void)close(aside.steps[1]);
    (void)snprintf(call->url, sizeof call->url, "http://127.0.0.1:%u", aside.port);
    (void)snprintf(call->child, sizeof call->child, "%d", (int)child);
    (void)snprintf(call->log, sizeof call->log, "%d", aside.log);
    if (options->pmu == PMU_REPLAY) {
        (void)snprintf(call->steps, sizeof call->steps, "%d", aside.steps[0]);
        (void)snprintf(call->speed, sizeof call->speed, "%.10g", options->replay.speed);
        (void)snprintf(call->source, sizeof call->source, "recording %.200s", options->replay.path);
    } else
        (void)snprintf(call->source, sizeof call->source, "%s, measured for this view",
                       options->pmu == PMU_SIM ? "a simulated host" : "this host");
    return 0;
}

int top_run(const struct options *options) {
    struct call call = {.n = 0};
    bool choose = !options->top.url && options->pmu == PMU_AUTO && !options->config_given;
    if (!options->top.once && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
        (void)options_say("top needs a terminal: 'topdownd top --once' prints one screen, 'topdownd measure' a report");
        return EXIT_WRONG;
    }
    if (find_view(&call) < 0)
        return EXIT_WRONG;
    if (options->top.url)
        (void)snprintf(call.source, sizeof call.source, "%.200s", options->top.url);
    else if (choose && daemon_answers()) {
        (void)snprintf(call.url, sizeof call.url, "http://127.0.0.1:%d", PORT);
        (void)snprintf(call.source, sizeof call.source, "this host's daemon, 127.0.0.1:%d", PORT);
    } else if (start_aside(options, &call) < 0)
        return EXIT_FAILURE;
    return show(&call, options);
}
