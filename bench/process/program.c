// SPDX-License-Identifier: Apache-2.0
#include "bench/process/program.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77, TIMEOUT_SECONDS = 30, LOG_MAX = 16384 };

static void fail(const struct program *program, const char *what) {
    (void)fprintf(stderr, "bench_process: %s: %s\n", program->name, what);
    exit(EXIT_FAILURE);
}

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void bench_sleep_until(double seconds) {
    const struct timespec until = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

// ---- starting and ending ----

// Reads the program's output until it prints its address.
static uint16_t read_port(const struct program *program) {
    static const char WORDS[] = "http://127.0.0.1:";
    char log[LOG_MAX + 1] = "";
    size_t length = 0;
    for (double end = bench_now() + TIMEOUT_SECONDS; length < LOG_MAX && bench_now() < end;) {
        struct pollfd wait = {.fd = program->log_fd, .events = POLLIN};
        if (poll(&wait, 1, 1000) <= 0)
            continue;
        ssize_t n = read(program->log_fd, log + length, LOG_MAX - length);
        if (n <= 0)
            break;
        length += (size_t)n;
        log[length] = '\0';
        const char *found = strstr(log, WORDS);
        if (found && strchr(found + strlen(WORDS), '/'))
            return (uint16_t)strtoul(found + strlen(WORDS), NULL, 10);
    }
    int status;
    if (waitpid(program->pid, &status, 0) == program->pid && WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        (void)printf("skipped: the kernel does not let this user count software events\n");
        exit(SKIPPED);
    }
    (void)fprintf(stderr, "%s", log);
    fail(program, "does not say where it listens");
    return 0;
}

struct program program_start(const char *name, uint16_t port, const char *const *arguments) {
    struct program program = {.name = name, .connection = -1, .port = port};
    int fds[2];
    if (pipe(fds) < 0 || (program.pid = fork()) < 0)
        fail(&program, "cannot be started");
    if (program.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        unsetenv("NOTIFY_SOCKET");
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(fds[1]);
    program.log_fd = fds[0];
    if (port == 0)
        program.port = read_port(&program);
    return program;
}

void program_stop(struct program *program) {
    if (program->pid == 0)
        return;
    kill(program->pid, SIGKILL);
    waitpid(program->pid, NULL, 0);
    close(program->log_fd);
    if (program->connection >= 0)
        close(program->connection);
    program->pid = 0;
}

// ---- cost ----

double program_cpu_seconds(const struct program *program) {
    clockid_t clock;
    struct timespec cpu;
    if (clock_getcpuclockid(program->pid, &clock) != 0 || clock_gettime(clock, &cpu) < 0)
        fail(program, "has no CPU clock");
    return (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9;
}

static double wakeups_of_thread(const struct program *program, const char *thread) {
    char path[64 + 256], line[256];
    double n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)program->pid, thread);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "voluntary_ctxt_switches: %lf", &n) == 1)
            break;
    if (file)
        fclose(file);
    return n;
}

double program_wakeups(const struct program *program) {
    char path[64];
    double n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)program->pid);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            n += wakeups_of_thread(program, entry->d_name);
    if (threads)
        closedir(threads);
    return n;
}

FILE *program_trace(const struct program *program, int seconds) {
    char command[128];
    (void)snprintf(command, sizeof command, "timeout -s INT %d strace -f -c -U calls,name -p %d 2>&1", seconds,
                   (int)program->pid);
    return popen(command, "re");
}

double program_traced_calls(FILE *trace) {
    char line[256];
    double calls = NAN;
    while (trace && fgets(line, sizeof line, trace))
        if (strstr(line, " total"))
            calls = strtod(line, NULL);
    if (trace)
        pclose(trace);
    return calls;
}

// ---- HTTP ----

static int connect_to(const struct program *program) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(program->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    for (double end = bench_now() + TIMEOUT_SECONDS; bench_now() < end; bench_sleep_until(bench_now() + 0.1)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        close(fd);
    }
    fail(program, "does not answer");
    return -1;
}

// True if the response is whole, by its length or by its last chunk; *header is the length of its header then.
static bool is_whole(const char *response, size_t length, size_t *header) {
    static const char LENGTH[] = "Content-Length: ", LAST_CHUNK[] = "\r\n0\r\n\r\n";
    const char *end = strstr(response, "\r\n\r\n"), *stated = strstr(response, LENGTH);
    size_t last = strlen(LAST_CHUNK);
    if (!end)
        return false;
    *header = (size_t)(end + 4 - response);
    if (stated && stated < end)
        return length >= *header + strtoul(stated + strlen(LENGTH), NULL, 10);
    return length >= last && memcmp(response + length - last, LAST_CHUNK, last) == 0;
}

// Receives a response; 0 if the connection has ended before it.
static size_t receive(const struct program *program, char *response, size_t size, size_t *header) {
    size_t length = 0;
    do {
        ssize_t r = recv(program->connection, response + length, size - 1 - length, 0);
        if (r <= 0 && length == 0)
            return 0;
        if (r <= 0)
            fail(program, "ends the connection in an answer");
        length += (size_t)r;
        response[length] = '\0';
    } while (!is_whole(response, length, header));
    return length;
}

// A connection that was idle for long may have been ended: then on a new one.
size_t program_fetch(struct program *program, const char *path, char *body, size_t size) {
    static char response[4 << 20];
    char request[128];
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    size_t length = 0, header = 0;
    for (int tries = 0; tries < 2 && length == 0; tries++) {
        if (tries > 0)
            close(program->connection);
        if (tries > 0 || program->connection < 0)
            program->connection = connect_to(program);
        if (send(program->connection, request, (size_t)n, MSG_NOSIGNAL) == n)
            length = receive(program, response, sizeof response, &header);
    }
    if (length == 0)
        fail(program, "does not answer");
    if (body)
        (void)snprintf(body, size, "%s", response + header);
    return length - header;
}
