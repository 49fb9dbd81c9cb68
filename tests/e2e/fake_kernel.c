// SPDX-License-Identifier: Apache-2.0
//
// A made-up kernel for tests of the program on made-up hosts: a library that is loaded before all others and answers
// perf_event_open, and reads and ioctls of what it opened, from a table. Everything else is the real kernel's.
//
// What it does is what Linux does (kernel/events/core.c, arch/x86/events, drivers/perf):
// - An event of a PMU outside the cores counts the box that serves the CPU it is opened on. When that CPU goes offline
//   it moves to another CPU of the box and goes on; if none is left it stands still for good.
// - An event of a PMU of the cores stands still for good once its CPU is offline, and its group reads as one event.
// - No event is opened on a CPU that is offline (ENODEV), nor of a PMU that is not there (ENOENT).
// - Where guests have the PMU for themselves (the mediated vPMU), an event that excludes guests loses their time from
// its
//   enabled and its running time, and one that includes them is refused while a guest exists (EOPNOTSUPP). Elsewhere an
//   event that excludes guests does not count their work, and its times go on.
//
// FAKE_KERNEL names a folder. Its file `table`, read again whenever it has been replaced, has lines of
//   online LIST                   CPUs, as in sysfs
//   pmu TYPE box LIST...          the CPUs that each box serves
//   pmu TYPE core COUNTERS        a PMU of the cores; more events than that are no group (EINVAL)
//   pmu TYPE software             the kernel's own
//   denies TYPE ERRNO             every event, with this error
//   starves TYPE                  its events are never on the counters, which others hold
//   hangs                         every call waits until the table is another one
//   refuses TYPE                  any exclude bit (EINVAL), as drivers with PERF_PMU_CAP_NO_EXCLUDE
//   rate TYPE CONFIG|* COUNTS     a nanosecond; times 1, 2, 3 ... on the PMU's boxes
//   guest CPU SHARE               of the CPU's time is a guest's
//   mediated                      guests have the PMU for themselves
// Its file `log` gets a line for each event that is opened, refused, moved, stopped for good, or closed.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CPUS = 1024, PMUS = 256, BOXES = 512, RATES = 4096, FDS = 1 << 17, MEMBERS = 128 };

struct set {
    uint64_t bits[CPUS / 64];
};

struct fake_pmu {
    uint32_t type;
    enum { BOX, CORE, SOFTWARE } kind;
    bool refuses, starves;
    int counters, denies;
    struct set boxes[BOXES];
    int n_boxes;
};

struct event {
    struct perf_event_attr attr;
    int fd, cpu, leader; // fd of the leader
    bool enabled, dead;
    double count;
    uint64_t enabled_ns, running_ns, seen_ns;
    int members[MEMBERS], n_members; // of a leader, itself first
};

static struct {
    ino_t read; // a table that changes is a new file
    struct set online;
    struct fake_pmu *pmus;
    int n_pmus, n_rates;
    struct rate {
        uint32_t type;
        bool any;
        uint64_t config;
        double counts;
    } rates[RATES];
    double guest[CPUS];
    bool mediated, hangs;
} table;

static struct event *events[FDS];
static int n_fds; // no event has this one or a higher one
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static bool has(const struct set *set, int cpu) {
    return cpu >= 0 && cpu < CPUS && set->bits[cpu / 64] >> cpu % 64 & 1;
}

static struct set parse_list(const char *text) {
    struct set set = {{0}};
    for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        long first = strtol(text, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (; first <= last && first < CPUS; first++)
            set.bits[first / 64] |= UINT64_C(1) << first % 64;
    }
    return set;
}

static void make_path(const char *name, char *out, size_t size) {
    const char *folder = getenv("FAKE_KERNEL");
    (void)snprintf(out, size, "%s/%s", folder ? folder : "/nonexistent", name);
}

static void note(const char *format, ...) {
    char path[512], line[256];
    va_list values;
    make_path("log", path, sizeof path);
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        abort();
    REAL(close)(fd);
}

// ---- the table ----

static struct fake_pmu *find_pmu(uint32_t type) {
    for (int i = 0; i < table.n_pmus; i++)
        if (table.pmus[i].type == type)
            return &table.pmus[i];
    return NULL;
}

static void take_pmu(char *words) {
    char *rest = words;
    uint32_t type = (uint32_t)strtoul(strsep(&rest, " "), NULL, 0);
    struct fake_pmu *pmu = &table.pmus[table.n_pmus++];
    const char *kind = strsep(&rest, " ");
    *pmu = (struct fake_pmu){.type = type, .kind = kind[0] == 'b' ? BOX : kind[0] == 'c' ? CORE : SOFTWARE};
    if (pmu->kind == CORE)
        pmu->counters = atoi(rest);
    for (char *word; pmu->kind == BOX && (word = strsep(&rest, " "));)
        pmu->boxes[pmu->n_boxes++] = parse_list(word);
}

static void take_rate(char *words) {
    struct rate *rate = &table.rates[table.n_rates++];
    char *rest = words;
    rate->type = (uint32_t)strtoul(strsep(&rest, " "), NULL, 0);
    const char *config = strsep(&rest, " ");
    rate->any = config[0] == '*';
    rate->config = rate->any ? 0 : strtoull(config, NULL, 0);
    rate->counts = strtod(rest, NULL);
}

static void take_line(char *line) {
    char *rest = line;
    const char *key = strsep(&rest, " \n");
    if (rest && strlen(rest) > 0 && rest[strlen(rest) - 1] == '\n')
        rest[strlen(rest) - 1] = '\0';
    if (strcmp(key, "online") == 0)
        table.online = parse_list(rest);
    else if (strcmp(key, "pmu") == 0)
        take_pmu(rest);
    else if (strcmp(key, "refuses") == 0)
        find_pmu((uint32_t)strtoul(rest, NULL, 0))->refuses = true;
    else if (strcmp(key, "denies") == 0)
        find_pmu((uint32_t)strtoul(rest, NULL, 0))->denies = atoi(strchr(rest, ' '));
    else if (strcmp(key, "starves") == 0)
        find_pmu((uint32_t)strtoul(rest, NULL, 0))->starves = true;
    else if (strcmp(key, "hangs") == 0)
        table.hangs = true;
    else if (strcmp(key, "rate") == 0)
        take_rate(rest);
    else if (strcmp(key, "guest") == 0)
        table.guest[atoi(rest)] = strtod(strchr(rest, ' '), NULL);
    else if (strcmp(key, "mediated") == 0)
        table.mediated = true;
}

static void read_table(void) {
    char path[512], *line = NULL;
    size_t size = 0;
    make_path("table", path, sizeof path);
    struct stat now;
    FILE *file = stat(path, &now) == 0 && now.st_ino != table.read ? fopen(path, "re") : NULL;
    if (!file)
        return;
    table.read = now.st_ino;
    if (!table.pmus)
        table.pmus = calloc(PMUS, sizeof *table.pmus);
    memset(&table.online, 0, sizeof table.online);
    memset(table.guest, 0, sizeof table.guest);
    table.n_pmus = table.n_rates = 0;
    table.mediated = table.hangs = false;
    while (getline(&line, &size, file) > 0)
        take_line(line);
    free(line);
    (void)fclose(file);
}

// ---- counting ----

static uint64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int box_of(const struct fake_pmu *pmu, int cpu) {
    for (int i = 0; i < pmu->n_boxes; i++)
        if (has(&pmu->boxes[i], cpu))
            return i;
    return -1;
}

static double rate_of(const struct fake_pmu *pmu, const struct event *event) {
    double rate = 0;
    for (int i = 0; i < table.n_rates; i++)
        if (table.rates[i].type == pmu->type && (table.rates[i].any || table.rates[i].config == event->attr.config))
            rate = table.rates[i].counts; // the last one wins
    return pmu->kind == BOX ? rate * (box_of(pmu, event->cpu) + 1) : rate;
}

static void advance(struct event *event, uint64_t now, bool enabled) {
    const struct fake_pmu *pmu = find_pmu(event->attr.type);
    uint64_t passed = now - event->seen_ns;
    event->seen_ns = now;
    if (!pmu || !enabled || event->dead)
        return;
    double guest = pmu->kind == CORE && event->attr.exclude_guest ? table.guest[event->cpu] : 0;
    uint64_t ours = table.mediated ? (uint64_t)((double)passed * (1 - guest)) : passed;
    event->enabled_ns += ours;
    if (pmu->starves)
        return;
    event->running_ns += ours;
    event->count += rate_of(pmu, event) * (double)passed * (1 - guest);
}

// Of a group that its CPU has left.
static void leave(struct event *event) {
    const struct fake_pmu *pmu = find_pmu(event->attr.type);
    int other = -1, box = pmu && pmu->kind == BOX ? box_of(pmu, event->cpu) : -1;
    for (int cpu = CPUS - 1; box >= 0 && cpu >= 0 && other < 0; cpu--)
        other = has(&pmu->boxes[box], cpu) && has(&table.online, cpu) ? cpu : -1;
    if (other >= 0) {
        event->cpu = other;
        note("move %d %d\n", event->fd, other);
    } else {
        event->dead = true;
        note("dead %d\n", event->fd);
    }
}

static void look(void) {
    const struct timespec moment = {.tv_nsec = 20000000};
    for (read_table(); table.hangs; read_table())
        (void)nanosleep(&moment, NULL);
    uint64_t now = now_ns();
    for (int fd = 0; fd < n_fds; fd++) {
        struct event *event = events[fd];
        if (!event)
            continue;
        const struct event *leader = events[event->leader];
        advance(event, now, leader && leader->enabled);
        if (!event->dead && !has(&table.online, event->cpu))
            leave(event);
    }
}

// ---- calls ----

static int refusal(const struct fake_pmu *pmu, const struct perf_event_attr *attr, int pid, int cpu, int leader) {
    bool excludes = attr->exclude_guest || attr->exclude_host || attr->exclude_kernel || attr->exclude_user;
    if (!pmu)
        return ENOENT;
    if (pmu->denies)
        return pmu->denies;
    if (pid < 0 && !has(&table.online, cpu))
        return ENODEV;
    if (pmu->kind == BOX && (pid >= 0 || box_of(pmu, cpu) < 0))
        return EINVAL;
    if (pmu->refuses && excludes)
        return EINVAL;
    if (pmu->kind == CORE && table.mediated && !attr->exclude_guest)
        for (int i = 0; i < CPUS; i++)
            if (table.guest[i] > 0)
                return EOPNOTSUPP;
    if (pmu->kind == CORE && leader >= 0 && (!events[leader] || events[leader]->n_members >= pmu->counters))
        return EINVAL;
    return 0;
}

static long open_event(const struct perf_event_attr *attr, int pid, int cpu, int leader) {
    look();
    const struct fake_pmu *pmu = find_pmu(attr->type == PERF_TYPE_HARDWARE ? 4 : attr->type);
    int error = refusal(pmu, attr, pid, cpu, leader);
    int fd = error ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= FDS)
        abort();
    note("open %d %u %#llx,%#llx,%#llx %d %d %d %d\n", fd, attr->type, (unsigned long long)attr->config,
         (unsigned long long)attr->config1, (unsigned long long)attr->config2, cpu, leader, (int)attr->exclude_guest,
         error);
    if (error) {
        errno = error;
        return -1;
    }
    struct event *event = calloc(1, sizeof *event);
    *event = (struct event){.attr = *attr, .fd = fd, .cpu = cpu < 0 ? 0 : cpu, .seen_ns = now_ns()};
    event->leader = leader < 0 ? fd : leader;
    event->enabled = !attr->disabled;
    events[fd] = event;
    n_fds = fd < n_fds ? n_fds : fd + 1;
    struct event *first = events[event->leader];
    first->members[first->n_members++] = fd;
    return fd;
}

static ssize_t read_event(const struct event *event, uint64_t *out, size_t size) {
    look();
    size_t n = event->dead ? 1 : (size_t)event->n_members, words = 3;
    if (size < (3 + n) * sizeof *out) {
        errno = ENOSPC;
        return -1;
    }
    out[0] = n;
    out[1] = event->enabled_ns;
    out[2] = event->running_ns;
    for (size_t i = 0; i < n; i++)
        out[words++] = (uint64_t)events[event->members[i]]->count;
    return (ssize_t)(words * sizeof *out);
}

long syscall(long number, ...) {
    long x[6];
    va_list values;
    va_start(values, number);
    for (int i = 0; i < 6; i++)
        x[i] = va_arg(values, long);
    va_end(values);
    if (number != SYS_perf_event_open)
        return REAL(syscall)(number, x[0], x[1], x[2], x[3], x[4], x[5]);
    pthread_mutex_lock(&lock);
    long fd = open_event((const struct perf_event_attr *)x[0], (int)x[1], (int)x[2], (int)x[3]);
    pthread_mutex_unlock(&lock);
    return fd;
}

static bool is_ours(int fd) { return fd >= 0 && fd < FDS && events[fd]; }

ssize_t read(int fd, void *out, size_t size) {
    if (!is_ours(fd))
        return REAL(read)(fd, out, size);
    pthread_mutex_lock(&lock);
    ssize_t length = read_event(events[fd], out, size);
    pthread_mutex_unlock(&lock);
    return length;
}

ssize_t __read_chk(int fd, void *out, size_t size, size_t room);
ssize_t __read_chk(int fd, void *out, size_t size, size_t room) {
    if (size > room)
        abort();
    return read(fd, out, size);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list values;
    va_start(values, request);
    void *argument = va_arg(values, void *);
    va_end(values);
    if (!is_ours(fd))
        return REAL(ioctl)(fd, request, argument);
    pthread_mutex_lock(&lock);
    look();
    if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
        events[fd]->enabled = request == PERF_EVENT_IOC_ENABLE;
    pthread_mutex_unlock(&lock);
    return 0;
}

int close(int fd) {
    if (is_ours(fd)) {
        pthread_mutex_lock(&lock);
        struct event *event = events[fd];
        events[fd] = NULL;
        free(event); // a leader goes last, as its members name it
        note("close %d\n", fd);
        pthread_mutex_unlock(&lock);
    }
    return REAL(close)(fd);
}
