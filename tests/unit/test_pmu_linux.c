// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/pmu/pmu_linux.h"

// The kernel's software events are real data on every machine: these tests count page faults that the test itself
// makes.

enum { TYPE_SOFTWARE = 1, MINOR_FAULTS = 5, CONTEXT_SWITCHES = 3, PAGES = 3000 };

static const uint32_t TYPE = TYPE_SOFTWARE;
static const struct pmu_event EVENTS[] = {{.config = MINOR_FAULTS}, {.config = CONTEXT_SWITCHES}};

static size_t count_fds(void) {
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void touch_pages(void) {
    size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        memory[i * (size_t)sysconf(_SC_PAGESIZE)] = 1;
    munmap(memory, size);
}

// Runs this test on one CPU and returns its number.
static unsigned stay_on_one_cpu(void) {
    int cpu = sched_getcpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
    return (unsigned)cpu;
}

static struct pmu *open_pmu(void) {
    struct pmu *pmu;
    assert_int_equal(pmu_linux_new(&TYPE, 1, false, &pmu), 0);
    int handle = pmu->ops->open(pmu, 0, EVENTS, 2);
    if (handle == -EACCES || handle == -EPERM) {
        pmu->ops->free(pmu);
        print_message("skipped: perf_event_open is not allowed here\n");
        skip();
    }
    assert_true(handle >= 0);
    pmu->ops->close(pmu, handle);
    return pmu;
}

static void test_an_enabled_group_counts_and_a_disabled_one_does_not(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    struct pmu_times before, times;
    uint64_t counts[2];
    int handle = pmu->ops->open(pmu, stay_on_one_cpu(), EVENTS, 2);
    assert_true(handle >= 0);
    touch_pages();
    assert_int_equal(pmu->ops->read(pmu, handle, &times, counts, 2), 0);
    assert_int_equal(counts[0], 0);
    assert_int_equal(times.enabled_ns, 0);
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    touch_pages();
    assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
    assert_int_equal(pmu->ops->read(pmu, handle, &before, counts, 2), 0);
    assert_true(counts[0] >= PAGES);
    assert_true(before.enabled_ns > 0 && before.running_ns == before.enabled_ns);
    uint64_t faults = counts[0];
    touch_pages();
    assert_int_equal(pmu->ops->read(pmu, handle, &times, counts, 2), 0);
    assert_int_equal(counts[0], faults);
    assert_int_equal(times.enabled_ns, before.enabled_ns);
    pmu->ops->close(pmu, handle);
    pmu->ops->free(pmu);
}

// Faults that the group counts while pages are touched `times` times.
static uint64_t faults_in_slot(struct pmu *pmu, int handle, size_t n, int times) {
    struct pmu_times unused;
    uint64_t before[2], after[2];
    assert_int_equal(pmu->ops->read(pmu, handle, &unused, before, n), 0);
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    while (times-- > 0)
        touch_pages();
    assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
    assert_int_equal(pmu->ops->read(pmu, handle, &unused, after, n), 0);
    return after[0] - before[0];
}

// Everybody's faults on this CPU count, so a quiet moment is waited for.
static void test_two_groups_count_their_own_slots(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    unsigned cpu = stay_on_one_cpu();
    int a = pmu->ops->open(pmu, cpu, EVENTS, 2), b = pmu->ops->open(pmu, cpu, EVENTS, 1);
    assert_true(a >= 0 && b >= 0 && a != b);
    touch_pages(); // a sanitizer's own pages
    bool quiet = false;
    for (int attempt = 0; attempt < 50 && !quiet; attempt++) {
        uint64_t once = faults_in_slot(pmu, a, 2, 1), twice = faults_in_slot(pmu, b, 1, 2);
        assert_true(once >= PAGES && twice >= 2 * PAGES);
        quiet = (double)twice > 1.9 * (double)once && (double)twice < 2.1 * (double)once;
    }
    assert_true(quiet);
    pmu->ops->free(pmu); // with both still open
}

static void test_what_cannot_be_opened_is_an_errno_and_leaves_nothing_open(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    size_t before = count_fds();
    const struct pmu_event unknown[] = {{.config = MINOR_FAULTS}, {.config = 0xffff}};
    assert_true(pmu->ops->open(pmu, 0, unknown, 2) < 0);          // the second is no event
    assert_true(pmu->ops->open(pmu, 1 << 20, EVENTS, 2) < 0);     // no such CPU
    assert_int_equal(pmu->ops->open(pmu, 0, EVENTS, 0), -EINVAL); // no event
    assert_int_equal(count_fds(), before);
    pmu->ops->free(pmu);
}

static void test_closing_gives_back_every_file_descriptor(void **state) {
    (void)state;
    size_t before = count_fds();
    struct pmu *pmu = open_pmu();
    for (int i = 0; i < 100; i++) {
        int handle = pmu->ops->open(pmu, 0, EVENTS, 2);
        assert_true(handle >= 0);
        if (i % 2)
            pmu->ops->close(pmu, handle);
    }
    assert_int_equal(count_fds(), before + 100);
    pmu->ops->free(pmu);
    assert_int_equal(count_fds(), before);
}

// When the CPU that reads a box goes offline, its driver moves the events of its own PMU to another CPU
// (perf_pmu_migrate_context). A software event beside them would stay behind, and the kernel would take their group
// apart. So only a group of one event that does not move has the dummy event beside it.
static void test_nothing_is_added_to_events_that_move(void **state) {
    (void)state;
    struct pmu *first = open_pmu(); // skips where events cannot be opened
    first->ops->free(first);
    for (size_t n = 1; n <= 2; n++) {
        for (int moving = 0; moving < 2; moving++) {
            struct pmu *pmu;
            size_t before = count_fds();
            assert_int_equal(moving ? pmu_linux_new_moving(&TYPE, 1, &pmu) : pmu_linux_new(&TYPE, 1, false, &pmu), 0);
            assert_true(pmu->ops->open(pmu, 0, EVENTS, n) >= 0);
            assert_int_equal(count_fds() - before, n == 1 && !moving ? 2 : n);
            assert_int_equal(pmu->n_events, n == 1 && !moving ? 2 : n);
            pmu->ops->free(pmu);
        }
    }
}

// ---- in which order a group is closed ----

// A leader that is closed first leaves siblings behind that count for themselves, and hold counters. Which is closed
// first only the system calls tell, so a child is traced.

enum { CLOSES_MAX = 64 };

// Opens two groups and closes one by itself and the other with the PMU, between two stops; all in a child.
static void close_groups_in_child(void) {
    struct pmu *pmu;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || pmu_linux_new(&TYPE, 1, false, &pmu) < 0)
        _exit(1);
    int first = pmu->ops->open(pmu, 0, EVENTS, 2), second = pmu->ops->open(pmu, 0, EVENTS, 2);
    if (first < 0 || second < 0 || raise(SIGSTOP) != 0)
        _exit(1);
    pmu->ops->close(pmu, first);
    pmu->ops->free(pmu);
    _exit(0);
}

// The arguments of the child's close calls from its stop to its end; a negative number where it could not be traced.
static int trace_closes(pid_t child, uint64_t closed[CLOSES_MAX]) {
    int status, n = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
        return -1;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0)
        return -1;
    while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           !WIFEXITED(status)) {
        struct __ptrace_syscall_info info;
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
            return -1;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) < 0)
            return -1;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_close && n < CLOSES_MAX)
            closed[n++] = info.entry.args[0];
    }
    return n;
}

static void test_a_group_is_closed_from_its_last_event_to_its_leader(void **state) {
    (void)state;
    uint64_t closed[CLOSES_MAX];
    struct pmu *pmu = open_pmu(); // skips where events cannot be opened
    pmu->ops->free(pmu);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        close_groups_in_child();
    int n = trace_closes(child, closed);
    if (n < 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        print_message("skipped: a child cannot be traced here\n");
        skip();
    }
    assert_int_equal(n, 4);
    assert_true(closed[0] == closed[1] + 1); // the leader was opened first, and has the lower number
    assert_true(closed[2] == closed[3] + 1);
}

static void test_a_read_of_another_size_says_that_the_group_is_gone(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    struct pmu_times times;
    uint64_t counts[3];
    int handle = pmu->ops->open(pmu, 0, EVENTS, 2);
    assert_int_equal(pmu->ops->read(pmu, handle, &times, counts, 3), -ENODEV); // short, as after hot-unplug
    pmu->ops->free(pmu);
}

// The time-stamp counter of Intel's and AMD's msr PMU: a PMU beside the kernel's software one that refuses every event
// with exclude_guest, and so tells whether it was asked.
static uint32_t msr_type(void) {
    unsigned type = 0;
    FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "re");
    if (!file) {
        print_message("skipped: no msr PMU here\n");
        skip();
    }
    int n = fscanf(file, "%u", &type);
    (void)fclose(file);
    assert_int_equal(n, 1);
    return type;
}

static int open_one(uint32_t type, bool exclude_guest, uint64_t config) {
    struct pmu *pmu;
    assert_int_equal(pmu_linux_new(&type, 1, exclude_guest, &pmu), 0);
    int handle = pmu->ops->open(pmu, 0, &(struct pmu_event){.config = config}, 1);
    pmu->ops->free(pmu);
    return handle;
}

static void test_guests_are_excluded_only_where_asked(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    pmu->ops->free(pmu);
    uint32_t type = msr_type();
    assert_true(open_one(type, false, 0) >= 0);
    assert_int_equal(open_one(type, true, 0), -EINVAL);
}

static void test_software_events_never_exclude_guests(void **state) {
    (void)state;
    struct pmu *pmu = open_pmu();
    pmu->ops->free(pmu);
    assert_true(open_one(TYPE_SOFTWARE, true, MINOR_FAULTS) >= 0);
}

// What a person must find in the remedy of each errno, and the word for the label.
static const struct {
    int error;
    const char *reason, *remedy[6];
} KNOWN[] = {
    {-EACCES,
     "not_allowed",
     {"CAP_PERFMON", "CAP_SYS_ADMIN", "perf_event_paranoid is 3", "Debian", "/remedies/90-topdownd.conf",
      "/remedies/cap-sys-admin.conf"}},
    {-EPERM, "not_allowed", {"seccomp", "CAP_PERFMON"}},
    {-ENOENT, "absent", {"virtual machine", "kernel"}},
    {-ENOSYS, "absent", {"CONFIG_PERF_EVENTS"}},
    {-ENODEV, "offline", {"offline", "next round"}},
    {-EINVAL, "refused", {"does not take", "guests: share"}},
    {-EOPNOTSUPP, "refused", {"guests: auto"}},
    {-EBUSY, "busy", {"exclusive", "end that program"}},
    {-EMFILE, "too_many_files", {"LimitNOFILE", "ulimit -n"}},
    {-ENFILE, "too_many_files", {"fs.file-max"}},
    {-ENOMEM, "failed", {"memory"}},
    {-EIO, "failed", {"perf_event_open(2)"}},
};
enum { KNOWN_N = sizeof KNOWN / sizeof *KNOWN };

static void test_every_errno_has_one_clear_message(void **state) {
    (void)state;
    char texts[KNOWN_N][PMU_LINUX_REMEDY_MAX + 64];
    for (size_t i = 0; i < KNOWN_N; i++) {
        pmu_linux_remedy(KNOWN[i].error, 0, texts[i], sizeof texts[i]);
        assert_string_equal(pmu_linux_reason(KNOWN[i].error), KNOWN[i].reason);
        assert_in_range(strlen(texts[i]), 20, PMU_LINUX_REMEDY_MAX - 64); // fits, also with a number of files in front
        for (size_t j = 0; j < 6 && KNOWN[i].remedy[j]; j++)
            if (!strstr(texts[i], KNOWN[i].remedy[j]))
                fail_msg("\"%s\" does not say \"%s\"", texts[i], KNOWN[i].remedy[j]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(texts[i], texts[j]);
    }
}

static void test_too_few_files_say_how_many_are_needed(void **state) {
    (void)state;
    char text[PMU_LINUX_REMEDY_MAX], cut[20];
    pmu_linux_remedy(-EMFILE, 7680, text, sizeof text);
    assert_ptr_equal(strstr(text, "7680 file descriptors are needed"), text);
    assert_non_null(strstr(text, "LimitNOFILE"));
    pmu_linux_remedy(-ENFILE, 7680, text, sizeof text);
    assert_non_null(strstr(text, "7680"));
    pmu_linux_remedy(-EINVAL, 7680, text, sizeof text);
    assert_null(strstr(text, "7680"));
    memset(cut, 'x', sizeof cut);
    pmu_linux_remedy(-EMFILE, 7680, cut, sizeof cut - 1);
    assert_string_equal(cut, "7680 file descript");
    assert_int_equal(cut[sizeof cut - 1], 'x');
}

// What counts at that frequency; 0: the test does not know how to read it here.
static uint64_t clock_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

static uint64_t now_ns(void) {
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void test_the_clocks_frequency_is_that_of_its_ticks(void **state) {
    (void)state;
    double told = pmu_linux_clock_frequency(), found = 0;
    if (isnan(told) || clock_ticks() == 0) {
        print_message("skipped: the kernel does not tell the clock's frequency here\n");
        skip();
    }
    for (int i = 0; i < 20 && fabs(found - told) > 0.01 * told; i++) { // others may run between two reads
        uint64_t begin_ns = now_ns(), begin = clock_ticks();
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        uint64_t end_ns = now_ns(), end = clock_ticks();
        found = (double)(end - begin) * 1e9 / (double)(end_ns - begin_ns);
    }
    assert_true(fabs(found - told) <= 0.01 * told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_enabled_group_counts_and_a_disabled_one_does_not),
        cmocka_unit_test(test_two_groups_count_their_own_slots),
        cmocka_unit_test(test_what_cannot_be_opened_is_an_errno_and_leaves_nothing_open),
        cmocka_unit_test(test_closing_gives_back_every_file_descriptor),
        cmocka_unit_test(test_nothing_is_added_to_events_that_move),
        cmocka_unit_test(test_a_group_is_closed_from_its_last_event_to_its_leader),
        cmocka_unit_test(test_a_read_of_another_size_says_that_the_group_is_gone),
        cmocka_unit_test(test_guests_are_excluded_only_where_asked),
        cmocka_unit_test(test_software_events_never_exclude_guests),
        cmocka_unit_test(test_every_errno_has_one_clear_message),
        cmocka_unit_test(test_too_few_files_say_how_many_are_needed),
        cmocka_unit_test(test_the_clocks_frequency_is_that_of_its_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
