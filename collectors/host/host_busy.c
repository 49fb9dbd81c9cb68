// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_busy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The clock must never run backwards, nor may steps of 10 ms add up: a CPU's busy time is the time of day less its idle
// time, and no less than it was.

enum { LINE_MAX_BYTES = 160, BEFORE_CPUS = 256 }; // of a CPU's line; of the line for all CPUs

struct host_busy {
    struct busy_clock clock; // first
    int fd;
    double tick_ns;
    char *text;
    size_t size;
    double *guest; // [CPU's number]: ticks when they were last taken; negative: not yet
    size_t n_guest;
};

// The fields of a line "cpuN user nice system idle iowait irq softirq steal guest guest_nice" (proc(5)) that are used.
enum { IDLE = 3, IOWAIT = 4, GUEST = 8, GUEST_NICE = 9, FIELDS_N };

// Reads the first `n` fields of a line, after its number; false if there are less.
static bool read_fields(char *at, unsigned long long *fields, size_t n) {
    const char *line_end = strchr(at, '\n');
    for (size_t i = 0; i < n; i++) {
        char *end;
        fields[i] = strtoull(at, &end, 10);
        if (end == at || !line_end || end > line_end)
            return false;
        at = end;
    }
    return true;
}

// Reads as much of the file as may hold the CPUs up to `last`. False if it is not readable.
static bool read_text(struct host_busy *busy, unsigned last) {
    size_t size = BEFORE_CPUS + ((size_t)last + 2) * LINE_MAX_BYTES;
    if (size > busy->size) {
        char *text = realloc(busy->text, size);
        if (!text)
            return false;
        busy->text = text;
        busy->size = size;
    }
    ssize_t n = pread(busy->fd, busy->text, busy->size - 1, 0);
    if (n <= 0)
        return false;
    busy->text[n] = '\0';
    return true;
}

static void note_busy(uint64_t *busy_ns, uint64_t is_ns) {
    *busy_ns = is_ns > *busy_ns || *busy_ns == BUSY_CLOCK_OFFLINE ? is_ns : *busy_ns;
}

// Lines of CPUs ascend; those of CPUs that are offline are missing. Some CPU must be there.
static bool busy_read(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns, uint64_t *busy_ns) {
    struct host_busy *busy = (struct host_busy *)clock;
    size_t cpu = 0;
    bool known = false;
    if (!read_text(busy, topology->cpus[topology->n_cpus - 1].id))
        return false;
    for (char *line = strstr(busy->text, "\ncpu"); line && cpu < topology->n_cpus; line = strstr(line + 1, "\ncpu")) {
        char *end;
        unsigned long long id = strtoull(line + 4, &end, 10);
        unsigned long long fields[FIELDS_N];
        while (cpu < topology->n_cpus && topology->cpus[cpu].id < id)
            busy_ns[cpu++] = BUSY_CLOCK_OFFLINE;
        if (cpu == topology->n_cpus || topology->cpus[cpu].id != id)
            continue;
        if (end == line + 4 || !read_fields(end, fields, IOWAIT + 1))
            return false;
        double idle_ns = ((double)fields[IDLE] + (double)fields[IOWAIT]) * busy->tick_ns, now = (double)now_ns;
        note_busy(&busy_ns[cpu++], now > idle_ns ? (uint64_t)(now - idle_ns) : 0);
        known = true;
    }
    bool complete = strstr(busy->text, "\nintr") != NULL; // the line after those of CPUs
    while (known && complete && cpu < topology->n_cpus)
        busy_ns[cpu++] = BUSY_CLOCK_OFFLINE;
    return known;
}

// Makes room for the CPUs up to `last`.
static bool make_guests(struct host_busy *busy, unsigned last) {
    size_t n = (size_t)last + 1;
    double *guest = n > busy->n_guest ? realloc(busy->guest, n * sizeof *guest) : busy->guest;
    if (!guest)
        return false;
    for (; busy->n_guest < n; busy->n_guest++)
        guest[busy->n_guest] = -1;
    busy->guest = guest;
    return true;
}

// Lines of CPUs ascend.
static bool busy_take_guests(struct busy_clock *clock, const struct topology *topology, uint64_t *guest_ns) {
    struct host_busy *busy = (struct host_busy *)clock;
    unsigned last = topology->cpus[topology->n_cpus - 1].id;
    size_t cpu = 0;
    bool known = false;
    memset(guest_ns, 0, topology->n_cpus * sizeof *guest_ns);
    if (!read_text(busy, last) || !make_guests(busy, last))
        return false;
    for (char *line = strstr(busy->text, "\ncpu"); line && cpu < topology->n_cpus; line = strstr(line + 1, "\ncpu")) {
        char *end;
        unsigned long long id = strtoull(line + 4, &end, 10), fields[FIELDS_N];
        while (cpu < topology->n_cpus && topology->cpus[cpu].id < id)
            cpu++;
        if (cpu == topology->n_cpus || topology->cpus[cpu].id != id || end == line + 4 ||
            !read_fields(end, fields, FIELDS_N))
            continue;
        double now = (double)fields[GUEST] + (double)fields[GUEST_NICE], before = busy->guest[id];
        if (before >= 0 && now > before)
            guest_ns[cpu] = (uint64_t)((now - before) * busy->tick_ns);
        if (now > before)
            busy->guest[id] = now;
        known = known || before >= 0; // of the time before the first look nothing is known
    }
    return known;
}

int host_busy_new(const char *procfs, struct busy_clock **out) {
    char path[4096];
    struct host_busy *busy = calloc(1, sizeof *busy);
    if (!busy)
        return -ENOMEM;
    (void)snprintf(path, sizeof path, "%s/stat", procfs);
    *busy = (struct host_busy){.clock = {busy_read, busy_take_guests}, .tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK)};
    busy->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (busy->fd < 0) {
        int r = -errno;
        free(busy);
        return r;
    }
    *out = &busy->clock;
    return 0;
}

struct busy_clock *host_busy_free(struct busy_clock *clock) {
    struct host_busy *busy = (struct host_busy *)clock;
    if (!busy)
        return NULL;
    close(busy->fd);
    free(busy->guest);
    free(busy->text);
    free(busy);
    return NULL;
}
