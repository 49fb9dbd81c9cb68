// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/pmu/pmu_linux.h"
#include "daemon/base/clocks.h"
#include "daemon/doctor/doctor_parts.h"
#include "daemon/run/ask.h"

// ---- the daemon ----

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

// ---- the rights ----

enum { NOBODY = 65534, EXIT_NO_RIGHTS = 255 };

// Gives up all rights but CAP_PERFMON, as the service's unit does. False if this process may not do so.
static bool become_service(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3] = {{0}};
    rights[CAP_TO_INDEX(CAP_PERFMON)].permitted = rights[CAP_TO_INDEX(CAP_PERFMON)].effective =
        CAP_TO_MASK(CAP_PERFMON);
    return prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) == 0 && setgroups(0, NULL) == 0 &&
           setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
           syscall(SYS_capset, &header, rights) == 0;
}

// The first event that can be counted at all; NULL: none.
static const struct catalog_event *choose_event(const struct source *source) {
    for (size_t e = 0; e < source->catalog->n_events; e++) {
        const struct catalog_event *event = &source->catalog->events[e];
        if (event->kind == EVENT_COUNTED && source->support[e] != PLAN_UNSUPPORTED)
            return event;
    }
    return NULL;
}

// 0, or a positive errno; EXIT_NO_RIGHTS: this process may not try.
static int try_as_service(const struct core_type *type) {
    const struct catalog_event *event = choose_event(type->source);
    struct errors errors = {0};
    struct pmu *pmu;
    int status = EXIT_NO_RIGHTS;
    if (!event || source_pmu(type->source, clocks_now_ns(), &errors, &pmu) < 0)
        return EXIT_NO_RIGHTS;
    pid_t child = fork();
    if (child == 0) {
        if (!become_service())
            _exit(EXIT_NO_RIGHTS);
        int handle = pmu->ops->open(pmu, type->topology->cpus[0].id, &event->code, 1);
        _exit(handle < 0 ? -handle : 0);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NO_RIGHTS;
    pmu->ops->free(pmu);
    return status;
}

void doctor_check_rights(const struct setup *setup, struct findings *findings) {
    char path[512], remedy[PMU_LINUX_REMEDY_MAX];
    (void)snprintf(path, sizeof path, "%s/sys/kernel/perf_event_paranoid", setup->types[0].source->roots.procfs);
    long long level = host_file_number(path, -1000);
    int tried = try_as_service(&setup->types[0]);
    if (tried == EXIT_NO_RIGHTS) {
        findings_add(findings, FINDING_NOT_CHECKED, "rights",
                     "whether the service may count, as a user with CAP_PERFMON "
                     "alone (kernel.perf_event_paranoid is %lld)",
                     level);
        findings_remedy(findings, "run this command as root, in a container with CAP_PERFMON");
    } else if (tried == 0) {
        findings_add(findings, FINDING_OK, "rights",
                     "the service may count, as a user with CAP_PERFMON alone "
                     "(kernel.perf_event_paranoid is %lld)",
                     level);
    } else {
        pmu_linux_remedy(-tried, 0, remedy, sizeof remedy);
        findings_add(findings, FINDING_FAILURE, "rights",
                     "the service may not count, as a user with CAP_PERFMON alone "
                     "(kernel.perf_event_paranoid is %lld): %s",
                     level, strerror(tried));
        findings_remedy(findings, "%s", remedy);
    }
}

// ---- the service ----

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

static void say_unused(const struct config_listen *listen, struct findings *findings) {
    findings_add(findings, FINDING_WARNING, "port", "%s: nobody listens, although topdownd is running", listen->text);
    findings_remedy(findings, "it may run with another configuration: 'topdownd reload' makes it read this one");
}

static void say_refused(const struct config_listen *listen, int error, struct findings *findings) {
    findings_add(findings, FINDING_FAILURE, "port", "%s cannot be listened to: %s", listen->text, strerror(error));
    if (error == EADDRINUSE)
        findings_remedy(findings,
                        "'ss -ltnp' shows who has the port; end that program or choose another port (listen)");
    else if (error == EADDRNOTAVAIL)
        findings_remedy(findings, "this host does not have the address: 'ip address' shows those that it has");
}

void doctor_check_service(const struct setup *setup, pid_t daemon, struct findings *findings) {
    say_daemon(daemon, findings);
    for (size_t i = 0; i < setup->config->n_listen; i++) {
        const struct config_listen *listen = &setup->config->listen[i];
        int r = try_address(listen);
        if (r == 0 && daemon > 0)
            say_unused(listen, findings);
        else if (r == 0)
            findings_add(findings, FINDING_OK, "port", "%s is free", listen->text);
        else if (r == EADDRINUSE && daemon > 0)
            findings_add(findings, FINDING_OK, "port", "%s is in use, as it should be", listen->text);
        else if (r == EADDRINUSE && daemon == DOCTOR_NOT_ALLOWED)
            findings_add(findings, FINDING_NOT_CHECKED, "port", "%s is in use, perhaps by topdownd", listen->text);
        else
            say_refused(listen, r, findings);
    }
}
