// SPDX-License-Identifier: Apache-2.0
#include "daemon/verify/perf_beside.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "daemon/base/spawn.h"

enum { OUTPUT_MAX = 16384 };

static const struct perf_count EVENTS[PERF_EVENTS] = {{"instructions", "ipc", false, NAN},
                                                      {"branches", "branch_miss_ratio", true, NAN},
                                                      {"branch-misses", "branch_miss_ratio", false, NAN},
                                                      {"minor-faults", "minor_faults_per_second", false, NAN},
                                                      {"context-switches", "context_switches_per_second", false, NAN}};

void perf_beside_start(struct perf_beside *perf, double seconds) {
    struct spawn_words words = {.n = 0};
    char names[128] = "", duration[16];
    size_t length = 0;
    for (size_t i = 0; i < PERF_EVENTS; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? "," : "", EVENTS[i].event);
    (void)snprintf(duration, sizeof duration, "%.2f", seconds);
    int fd = open(perf->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    spawn_word(&words, "perf");
    spawn_word(&words, "stat");
    spawn_word(&words, "-x,");
    spawn_option(&words, "-C", perf->cpu);
    spawn_option(&words, "-e", names);
    spawn_word(&words, "--");
    spawn_option(&words, "sleep", duration);
    perf->process = spawn_start(&words, fd, -1);
    (void)close(fd);
}

bool perf_beside_read(const char *text, struct perf_count out[PERF_EVENTS]) {
    bool any = false;
    memcpy(out, EVENTS, sizeof EVENTS);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        double count, running_ns, percent;
        char event[64];
        if (sscanf(line, "%lf,%*[^,],%63[^,],%lf,%lf", &count, event, &running_ns, &percent) != 4 &&
            sscanf(line, "%lf,,%63[^,],%lf,%lf", &count, event, &running_ns, &percent) != 4)
            continue;
        event[strcspn(event, ":")] = '\0';
        for (size_t i = 0; i < PERF_EVENTS; i++)
            if (strcmp(event, EVENTS[i].event) == 0 && running_ns > 0 && percent > 0) {
                out[i].per_second = count / (running_ns * 100 / percent) * 1e9; // scaled to all the time
                any = true;
            }
    }
    return any;
}

bool perf_beside_end(struct perf_beside *perf, struct perf_count out[PERF_EVENTS]) {
    char text[OUTPUT_MAX];
    int status;
    if (perf->process <= 0)
        return false;
    while (waitpid(perf->process, &status, 0) < 0 && errno == EINTR)
        ;
    perf->process = 0;
    return host_file_read(perf->path, text, sizeof text) > 0 && perf_beside_read(text, out);
}
