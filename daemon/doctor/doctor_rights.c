// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/pmu/pmu_linux.h"
#include "daemon/base/clocks.h"
#include "daemon/doctor/doctor_parts.h"

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

// The effective capabilities of a process, as its file `status` says them. False: it does not.
static bool capabilities_of(const char *procfs, pid_t process, unsigned long long *out) {
    char path[512], line[256];
    (void)snprintf(path, sizeof path, "%s/%ld/status", procfs, (long)process);
    FILE *file = fopen(path, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "CapEff: %llx", out) == 1;
    if (file)
        (void)fclose(file);
    return found;
}

void doctor_check_running_rights(const struct setup *setup, pid_t daemon, struct findings *findings) {
    static const unsigned long long enough = 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;
    unsigned long long has;
    if (!capabilities_of(setup->types[0].source->roots.procfs, daemon, &has) || (has & enough))
        return;
    findings_add(findings, FINDING_WARNING, "daemon_rights", "topdownd, process %ld, runs without CAP_PERFMON",
                 (long)daemon);
    findings_remedy(findings, "'systemctl cat topdownd' shows which drop-in takes it away (AmbientCapabilities, "
                              "CapabilityBoundingSet); in a container, add the capability");
}
