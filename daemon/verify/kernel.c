// SPDX-License-Identifier: Apache-2.0
#include "daemon/verify/kernel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/host/host_file.h"

// The compiler must neither leave an operation out nor fold it with others.
#define KEEP(variable) __asm__ volatile("" : "+r"(variable))

enum { MIB = 1 << 20, CODE_BLOCKS = 1 << 16, FAULT_PAGES = 64, STREAM_DOUBLES = 4096 };

static bool goes_on(const struct kernel_shared *shared) {
    return !atomic_load_explicit(&shared->stop, memory_order_relaxed);
}

static void count(struct kernel_shared *shared, uint64_t n) {
    atomic_fetch_add_explicit(&shared->iterations, n, memory_order_relaxed);
}

// ---- memory ----

// Four times the last cache, so that it holds little of it, within what a host can spare.
static size_t memory_bytes(void) {
    char text[32] = "";
    unsigned long kib = 0;
    for (unsigned level = 2; level <= 3; level++)
        if (host_file_read(level == 2 ? "/sys/devices/system/cpu/cpu0/cache/index2/size"
                                      : "/sys/devices/system/cpu/cpu0/cache/index3/size",
                           text, sizeof text) > 0)
            kib = strtoul(text, NULL, 10);
    size_t bytes = (size_t)kib * 1024 * 4,
           spare = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4;
    bytes = bytes < 64 * (size_t)MIB ? 64 * (size_t)MIB : bytes;
    bytes = bytes > 1024 * (size_t)MIB ? 1024 * (size_t)MIB : bytes;
    return bytes > spare ? spare : bytes;
}

static void *take_memory(size_t bytes, struct kernel_shared *shared) {
    void *memory =
        bytes > 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (memory != MAP_FAILED)
        return memory;
    atomic_store(&shared->failed, ENOMEM);
    return NULL;
}

// ---- kernels ----

// Each load needs the one before: a walk through lines of a cache in random order, along a single cycle (Sattolo).
static void run_chase(struct kernel_shared *shared) {
    struct line {
        struct line *next;
        char rest[56];
    };
    size_t n = memory_bytes() / sizeof(struct line);
    struct line *lines = take_memory(n * sizeof *lines, shared);
    uint32_t *order = malloc(n * sizeof *order);
    if (!lines || !order)
        return;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t other = (size_t)random() % i;
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < n; i++)
        lines[i].next = &lines[order[i]];
    free(order);
    for (struct line *at = lines; goes_on(shared); count(shared, 1)) {
        for (unsigned i = 0; i < 64; i++) {
            at = at->next;
            KEEP(at);
        }
    }
}

// Eight decisions an iteration that depend on random bits.
static void run_branches(struct kernel_shared *shared) {
    uint64_t random_bits = 88172645463325252U, sum = 0;
    for (; goes_on(shared); count(shared, 64))
        for (unsigned n = 0; n < 64; n++) {
            random_bits ^= random_bits << 13;
            random_bits ^= random_bits >> 7;
            random_bits ^= random_bits << 17;
            for (unsigned bit = 0; bit < 8; bit++) {
                if (random_bits >> (8 * bit + 3) & 1) {
                    sum += 3;
                    KEEP(sum);
                } else {
                    sum ^= 5;
                    KEEP(sum);
                }
            }
        }
}

// Eight chains of additions that do not wait for one another.
static void run_arithmetic(struct kernel_shared *shared) {
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    for (; goes_on(shared); count(shared, 256))
        for (unsigned n = 0; n < 256; n++)
            for (unsigned k = 0; k < 8; k++) {
                a += 1, b += 3, c += 5, d += 7, e += 9, f += 11, g += 13, h += 15;
                __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
            }
}

static void run_code(struct kernel_shared *shared) {
    void *code;
    size_t bytes;
    int r = kernel_code_new(CODE_BLOCKS, &code, &bytes);
    if (r < 0) {
        atomic_store(&shared->failed, -r);
        return;
    }
    void (*call)(void);
    memcpy(&call, &code, sizeof call);
    for (; goes_on(shared); count(shared, 1))
        call();
}

static void run_stream(struct kernel_shared *shared) {
    size_t n = memory_bytes() / 3 / sizeof(double) / STREAM_DOUBLES * STREAM_DOUBLES;
    double *a = take_memory(3 * n * sizeof *a, shared), *b = a + n, *c = b + n;
    if (!a || n == 0)
        return;
    for (size_t i = 0; i < 3 * n; i++)
        a[i] = 1;
    while (goes_on(shared))
        for (size_t i = 0; i < n && goes_on(shared); i += STREAM_DOUBLES, count(shared, 1))
            for (size_t k = i; k < i + STREAM_DOUBLES; k++)
                a[k] = b[k] + 3 * c[k];
}

static void run_faults(struct kernel_shared *shared) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    while (goes_on(shared)) {
        char *pages = mmap(NULL, FAULT_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return;
        (void)madvise(pages, FAULT_PAGES * page, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < FAULT_PAGES; i++)
            ((volatile char *)pages)[i * page] = 1;
        (void)munmap(pages, FAULT_PAGES * page);
        count(shared, 1);
    }
}

// Waits of a tenth of a millisecond. Each takes two switches: to another program and back.
static void run_switches(struct kernel_shared *shared) {
    const struct timespec pause = {.tv_nsec = 100000};
    for (; goes_on(shared); count(shared, 1))
        (void)nanosleep(&pause, NULL);
}

#define INSTRUCTIONS "instructions", "ipc", false
#define BRANCHES "branches", "branch_miss_ratio", true
#define MISPREDICTED "mispredicted branches", "branch_miss_ratio", false

// The bounds allow for what a compiler adds: loops, and moves between registers.
const struct kernel kernels[] = {
    {"pointer_chase",
     "loads that wait for one another, in more memory than the caches hold",
     "backend_bound_ratio",
     {{INSTRUCTIONS, 64, 300}, {BRANCHES, 1, 66}},
     run_chase},
    {"branches",
     "branches that nothing can predict",
     "bad_speculation_ratio",
     {{INSTRUCTIONS, 30, 120}, {BRANCHES, 8, 26}, {MISPREDICTED, 2.5, 6}},
     run_branches},
    {"arithmetic",
     "additions that do not wait for one another",
     "retiring_ratio",
     {{INSTRUCTIONS, 64, 100}, {BRANCHES, 0.1, 10}},
     run_arithmetic},
    {"code_footprint",
     "jumps over more code than the caches hold",
     "frontend_bound_ratio",
     {{INSTRUCTIONS, KERNEL_CODE_INSTRUCTIONS *(double)CODE_BLOCKS * 0.99,
       KERNEL_CODE_INSTRUCTIONS *(double)CODE_BLOCKS * 1.02},
      {BRANCHES, CODE_BLOCKS * 0.99, CODE_BLOCKS * 1.02}},
     run_code},
    {"stream",
     "sums over arrays that are larger than the caches",
     "backend_bound_ratio",
     {{INSTRUCTIONS, STREAM_DOUBLES * 0.3, STREAM_DOUBLES * 8.0}},
     run_stream},
    {"page_faults",
     "pages that are touched for the first time",
     NULL,
     {{"minor page faults", "minor_faults_per_second", false, FAULT_PAGES, FAULT_PAGES * 1.15}},
     run_faults},
    {"context_switches",
     "waits of a tenth of a millisecond",
     NULL,
     {{"context switches", "context_switches_per_second", false, 1, 2.5}},
     run_switches},
};
const size_t n_kernels = sizeof kernels / sizeof *kernels;

// ---- processes ----

pid_t kernel_start(const struct kernel *kernel, unsigned cpu, struct kernel_shared *shared) {
    cpu_set_t cpus;
    memset((void *)shared, 0, sizeof *shared);
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child < 0 ? -errno : child;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    if (sched_setaffinity(0, sizeof cpus, &cpus) < 0)
        atomic_store(&shared->failed, errno);
    else
        kernel->run(shared);
    _exit(EXIT_SUCCESS);
}

void kernel_stop(pid_t process, struct kernel_shared *shared) {
    int status;
    if (process <= 0)
        return;
    atomic_store(&shared->stop, true);
    (void)kill(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
}

struct kernel_shared *kernel_shared_new(void) {
    void *shared = mmap(NULL, sizeof(struct kernel_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

struct kernel_shared *kernel_shared_free(struct kernel_shared *shared) {
    if (shared)
        (void)munmap(shared, sizeof *shared);
    return NULL;
}
