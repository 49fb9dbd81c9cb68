// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/doctor/doctor_parts.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"
#include "exporters/health/health.h"

// A running daemon is asked whether it counts, and where it listens (`status`, daemon/run/control.h). Only where it
// does not say is an address tried: one that is taken may be another program's.

enum { PATIENCE_S = 10, ADDRESS_MAX = 64 };

pid_t doctor_find_daemon(const struct options *options) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof peer;
    char *path = ask_path(options);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (path && fd >= 0 && strlen(path) < sizeof address.sun_path) {
        memcpy(address.sun_path, path, strlen(path) + 1);
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
        else if (errno == EACCES)
            peer.pid = DOCTOR_NOT_ALLOWED;
    }
    if (fd >= 0)
        (void)close(fd);
    free(path);
    return peer.pid;
}

static void say_daemon(pid_t daemon, struct findings *findings) {
    if (daemon == DOCTOR_NOT_ALLOWED) {
        findings_add(findings, FINDING_NOT_CHECKED, "daemon",
                     "whether topdownd is running: this user may not ask at its control socket");
        findings_remedy(findings, "run this command as root, or as a member of the group topdownd");
    } else if (daemon > 0)
        findings_add(findings, FINDING_OK, "daemon", "topdownd is running, process %ld", (long)daemon);
    else
        findings_add(findings, FINDING_OK, "daemon", "topdownd is not running");
}

// Whether the address can be listened to: 0 or an errno.
static int try_address(const struct config_listen *listen) {
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)listen->port);
    if (getaddrinfo(listen->address, port, &hints, &found) != 0)
        return EADDRNOTAVAIL;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    int r = fd < 0 ? errno : 0;
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        r = bind(fd, found->ai_addr, found->ai_addrlen) < 0 ? errno : 0; // fails where somebody listens
        (void)close(fd);
    }
    freeaddrinfo(found);
    return r;
}

// ---- what the daemon says ----

// The answer to `status` behind its "ok". Returns 0, -EPROTO where the daemon does not know the request, as one of
// before, or another negative errno. The caller frees *status.
static int ask_status(const struct options *options, char **status) {
    static const char OK[] = "ok\n";
    char *path = ask_path(options), *answer = malloc(CONTROL_ANSWER_MAX);
    int r = path && answer ? ask_quietly(path, "status\n", PATIENCE_S, answer, CONTROL_ANSWER_MAX) : -ENOMEM;
    free(path);
    if (r == 0 && strncmp(answer, OK, sizeof OK - 1) != 0)
        r = -EPROTO;
    if (r == 0) {
        memmove(answer, answer + sizeof OK - 1, strlen(answer) - (sizeof OK - 1) + 1);
        *status = answer;
        return 0;
    }
    free(answer);
    return r;
}

// An address of which the daemon says something.
struct told {
    char address[ADDRESS_MAX];
    unsigned port;
    bool listens;
    char why[FINDING_TEXT_MAX]; // it does not
};

// The next one, from *at on. False: there is none.
static bool next_told(const char **at, struct told *told) {
    for (const char *line = *at; *line != '\0'; line = *at) {
        size_t length = strcspn(line, "\n");
        char text[FINDING_TEXT_MAX + ADDRESS_MAX], word[8] = "";
        int end = 0;
        *at = line + length + (line[length] == '\n');
        (void)snprintf(text, sizeof text, "%.*s", (int)length, line);
        if (sscanf(text, "%7s %63s %u%n", word, told->address, &told->port, &end) != 3)
            continue;
        told->listens = strcmp(word, "listens") == 0;
        (void)snprintf(told->why, sizeof told->why, "%s", text + end + (text[end] == ' '));
        if (told->listens || strcmp(word, "awaits") == 0)
            return true;
    }
    return false;
}

static bool is_any(const char *address) { return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0; }

// Whether `a` is `b`, or stands for all addresses of its kind.
static bool covers(const char *a, const char *b) {
    bool same_kind = (strchr(a, ':') != NULL) == (strchr(b, ':') != NULL);
    return strcmp(a, b) == 0 || (is_any(a) && same_kind);
}

// ---- the addresses ----

static void say_unused(const struct config_listen *listen, struct findings *findings) {
    findings_add(findings, FINDING_WARNING, "port", "%s: nobody listens, although topdownd is running", listen->text);
    findings_remedy(findings, "it may run with another configuration: 'topdownd reload' makes it read this one");
}

static void say_used(const struct config_listen *listen, struct findings *findings) {
    findings_add(findings, FINDING_OK, "port", "%s is in use, as it should be", listen->text);
}

static void say_refused(const char *check, const struct config_listen *listen, int error, struct findings *findings) {
    findings_add(findings, FINDING_FAILURE, check, "%s cannot be listened to: %s", listen->text, strerror(error));
    if (error == EADDRINUSE)
        findings_remedy(findings,
                        "'ss -ltnp' shows who has the port; end that program or choose another port (listen)");
    else if (error == EADDRNOTAVAIL)
        findings_remedy(findings, "this host does not have the address: 'ip address' shows those that it has");
}

// What the daemon says of the address. False: nothing.
static bool say_told(const struct config_listen *listen, const char *status, struct findings *findings) {
    struct told told;
    for (const char *at = status; next_told(&at, &told);) {
        if (told.port != listen->port && listen->port != 0) // 0: any free one
            continue;
        if (told.listens && covers(told.address, listen->address)) {
            say_used(listen, findings);
            return true;
        }
        if (told.listens && covers(listen->address, told.address)) {
            findings_add(findings, FINDING_WARNING, "port", "%s: topdownd listens to %s alone", listen->text,
                         told.address);
            findings_remedy(findings, "'topdownd reload' makes it read this configuration");
            return true;
        }
        if (!told.listens && strcmp(told.address, listen->address) == 0) {
            findings_add(findings, FINDING_FAILURE, "port", "%s: topdownd waits until it can listen there",
                         listen->text);
            findings_remedy(findings, "%s", told.why);
            return true;
        }
    }
    return false;
}

static void say_not_told(const struct config_listen *listen, struct findings *findings) {
    findings_add(findings, FINDING_NOT_CHECKED, "port",
                 "%s is in use; whether by topdownd, the one that is running does not say", listen->text);
    findings_remedy(findings, "restart topdownd if it is older than this command; 'ss -ltnp' shows who has the port");
}

void doctor_check_free(const char *check, const struct config_listen *listen, struct findings *findings) {
    int r = try_address(listen);
    if (r == 0)
        findings_add(findings, FINDING_OK, check, "%s is free", listen->text);
    else
        say_refused(check, listen, r, findings);
}

// `status` is NULL where the daemon does not say it, or none is running.
static void check_address(const struct config_listen *listen, pid_t daemon, const char *status,
                          struct findings *findings) {
    if (status && say_told(listen, status, findings))
        return;
    int r = try_address(listen);
    if (r == 0 && daemon > 0)
        say_unused(listen, findings);
    else if (r == 0)
        findings_add(findings, FINDING_OK, "port", "%s is free", listen->text);
    else if (r == EADDRINUSE && daemon == DOCTOR_NOT_ALLOWED)
        findings_add(findings, FINDING_NOT_CHECKED, "port", "%s is in use, perhaps by topdownd", listen->text);
    else if (r == EADDRINUSE && daemon > 0 && !status)
        say_not_told(listen, findings);
    else
        say_refused("port", listen, r, findings);
}

// ---- what is wrong with the daemon ----

static void say_trouble(char *name, struct findings *findings) {
    static const char *const names[] = {"configuration", "recording", "textfile", "web_configuration",
                                        "password_without_tls"}; // that a finding may borrow
    char *text = strchr(name, '\t'), *remedy = text ? strchr(text + 1, '\t') : NULL;
    if (!remedy)
        return;
    *text = *remedy = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            findings_add(findings, FINDING_WARNING, names[i], "%s", text + 1);
            findings_remedy(findings, "%s", remedy + 1);
        }
}

static void say_troubles(char *status, struct findings *findings) {
    static const char TROUBLE[] = "trouble ";
    for (char *line; (line = strsep(&status, "\n"));)
        if (strncmp(line, TROUBLE, sizeof TROUBLE - 1) == 0)
            say_trouble(line + sizeof TROUBLE - 1, findings);
}

// ---- its health ----

enum { WORD_MAX = 32 };

// What the daemon says of its health. False: nothing, as one of before.
struct told_health {
    bool ready;
    char reason[WORD_MAX];
    char why[FINDING_TEXT_MAX]; // each part that does not count, one after the other
};
static bool find_health(char *status, struct told_health *told) {
    static const char BECAUSE[] = "because ";
    char word[WORD_MAX];
    bool found = false;
    *told = (struct told_health){.ready = false};
    for (char *line; (line = strsep(&status, "\n"));) {
        size_t length = strlen(told->why);
        if (strncmp(line, BECAUSE, sizeof BECAUSE - 1) == 0)
            (void)snprintf(told->why + length, sizeof told->why - length, "%s%s", length > 0 ? " " : "",
                           line + sizeof BECAUSE - 1);
        else if (sscanf(line, "%31s", word) == 1 && (strcmp(word, "ready") == 0 || strcmp(word, "not_ready") == 0)) {
            found = sscanf(line, "%*s %31s", told->reason) == 1;
            told->ready = word[0] == 'r';
        }
    }
    return found;
}

static const char *remedy_of(const char *reason) {
    for (int i = 0; i < HEALTH_REASON_N; i++)
        if (strcmp(reason, health_reason_name((enum health_reason)i)) == 0)
            return health_remedy((enum health_reason)i);
    return "'curl localhost:10813/-/ready' says the same; see its log";
}

static void say_health(char *status, struct findings *findings) {
    struct told_health told;
    if (!find_health(status, &told))
        return;
    bool fine = told.why[0] == '\0', starting = strcmp(told.reason, health_reason_name(HEALTH_STARTING)) == 0;
    enum finding_state state = fine         ? FINDING_OK
                               : starting   ? FINDING_NOT_CHECKED
                               : told.ready ? FINDING_WARNING
                                            : FINDING_FAILURE;
    findings_add(findings, state, "health", "%s%s",
                 fine         ? "topdownd counts what it is configured to count"
                 : told.ready ? "topdownd does not count all that it is configured to count. "
                              : "topdownd is not ready. ",
                 told.why);
    if (!fine)
        findings_remedy(findings, "%s", remedy_of(told.reason));
}

static void say_silent(pid_t daemon, struct findings *findings) {
    findings_add(findings, FINDING_FAILURE, "health", "topdownd, process %ld, has not answered for %d seconds",
                 (long)daemon, PATIENCE_S);
    findings_remedy(findings, "%s", health_remedy(HEALTH_STALE));
}

// A copy, as it is cut into lines. Where there is no memory for it nothing is said.
static void say_status(const char *status, void (*say)(char *, struct findings *), struct findings *findings) {
    char *copy = strdup(status);
    if (copy)
        say(copy, findings);
    free(copy);
}

void doctor_check_daemon(const struct setup *setup, const struct options *options, pid_t daemon,
                         struct findings *findings, char **status) {
    int r = daemon > 0 ? ask_status(options, status) : -ENOENT;
    say_daemon(daemon, findings);
    if (r == -EAGAIN)
        say_silent(daemon, findings);
    if (r < 0)
        return;
    say_status(*status, say_health, findings);
    if (strstr(*status, "not_ready"))
        doctor_check_running_rights(setup, daemon, findings);
    say_status(*status, say_troubles, findings);
}

void doctor_check_ports(const struct setup *setup, pid_t daemon, const char *status, struct findings *findings) {
    for (size_t i = 0; i < setup->config->n_listen; i++)
        check_address(&setup->config->listen[i], daemon, status, findings);
}
