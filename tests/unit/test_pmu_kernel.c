// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collectors/pmu/pmu_linux.h"

// The driver's requests to the kernel, down to the last bit. This program has its own syscall(), ioctl() and
// clock_gettime(), which take precedence over the C library's: a fake kernel that opens any event as an empty file in
// memory and records the requests. So these tests need neither a PMU nor permissions.

enum { OPENED_MAX = 32, CONTROLS_MAX = 16, TYPE = 42 };

static struct {
    struct opened {
        struct perf_event_attr attr;
        int pid, cpu, leader, fd;
        unsigned long flags;
    } opened[OPENED_MAX];
    struct control {
        int fd;
        unsigned long request, argument;
    } controls[CONTROLS_MAX];
    size_t n_opened, n_controls;
    size_t refused;      // the open, counted from 1, that fails with EBUSY; 0: none
    uint64_t now_ns;     // the clock
    uint64_t call_ns;    // how long each ioctl takes
    uint64_t enabled_ns; // of all slots so far
} kernel;

long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    const struct perf_event_attr *attr = va_arg(arguments, const struct perf_event_attr *);
    struct opened opened = {.attr = *attr};
    opened.pid = va_arg(arguments, int);
    opened.cpu = va_arg(arguments, int);
    opened.leader = va_arg(arguments, int);
    opened.flags = va_arg(arguments, unsigned long);
    va_end(arguments);
    assert_int_equal(number, SYS_perf_event_open);
    assert_true(kernel.n_opened < OPENED_MAX);
    if (kernel.n_opened + 1 == kernel.refused) {
        errno = EBUSY;
        return -1;
    }
    opened.fd = memfd_create("event", MFD_CLOEXEC);
    assert_true(opened.fd >= 0);
    kernel.opened[kernel.n_opened++] = opened;
    return opened.fd;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    unsigned long argument = (unsigned long)va_arg(arguments, int);
    va_end(arguments);
    assert_true(kernel.n_controls < CONTROLS_MAX);
    kernel.controls[kernel.n_controls++] = (struct control){fd, request, argument};
    kernel.now_ns += kernel.call_ns;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    *now = (struct timespec){.tv_sec = (time_t)(kernel.now_ns / 1000000000),
                             .tv_nsec = (long)(kernel.now_ns % 1000000000)};
    return 0;
}

static struct pmu *new_pmu(uint32_t type, bool exclude_guest) {
    struct pmu *pmu;
    memset(&kernel, 0, sizeof kernel);
    assert_int_equal(pmu_linux_new(&type, 1, exclude_guest, &pmu), 0);
    return pmu;
}

static const struct pmu_event EVENTS[] = {{.config = 0x11}, {.config = 0x8}, {.config = 0x1b}};

// Every field that is not named is 0: nothing pinned, exclusive, inherited, sampled, or left out of the count.
static void expect_attr(const struct perf_event_attr *attr, uint32_t type, uint64_t config, bool leads,
                        bool exclude_guest) {
    struct perf_event_attr wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = type;
    wanted.size = sizeof wanted;
    wanted.config = config;
    wanted.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    wanted.disabled = leads;
    wanted.exclude_guest = exclude_guest;
    assert_memory_equal(attr, &wanted, sizeof wanted);
}

static void test_a_group_is_opened_with_its_leader_stopped_and_all_else_left_to_the_kernel(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        bool asked, excluded;
    } cases[] = {{TYPE, false, false}, {TYPE, true, true}, {PERF_TYPE_SOFTWARE, true, false}};
    for (size_t c = 0; c < 3; c++) {
        struct pmu *pmu = new_pmu(cases[c].type, cases[c].asked);
        assert_true(pmu->ops->open(pmu, 7, EVENTS, 3) >= 0);
        assert_int_equal(kernel.n_opened, 3);
        for (size_t i = 0; i < 3; i++) {
            const struct opened *opened = &kernel.opened[i];
            expect_attr(&opened->attr, cases[c].type, EVENTS[i].config, i == 0, cases[c].excluded);
            assert_int_equal(opened->pid, -1); // of all processes
            assert_int_equal(opened->cpu, 7);
            assert_int_equal(opened->leader, i == 0 ? -1 : kernel.opened[0].fd);
            assert_int_equal(opened->flags, PERF_FLAG_FD_CLOEXEC);
        }
        assert_int_equal(kernel.n_controls, 0);
        pmu->ops->free(pmu);
    }
}

static void test_each_event_goes_to_its_pmu_with_all_its_numbers_and_only_the_core_s_exclude_guests(void **state) {
    (void)state;
    enum { MSR = 9 };
    static const struct pmu_event events[] = {
        {.config = 0xc2, .config1 = 0x3fff, .config2 = 7, .exclude = PMU_EXCLUDE_USER},
        {.pmu = 1},
        {.config = 0xb7, .exclude = PMU_EXCLUDE_KERNEL | PMU_EXCLUDE_HYPERVISOR},
        {.pmu = 2}};
    struct pmu *pmu;
    memset(&kernel, 0, sizeof kernel);
    {
        uint32_t types[] = {TYPE, MSR}; // copied
        assert_int_equal(pmu_linux_new(types, 2, true, &pmu), 0);
        memset(types, 0, sizeof types);
    }
    assert_true(pmu->ops->open(pmu, 0, events, 3) >= 0);
    assert_int_equal(kernel.n_opened, 3);
    const struct perf_event_attr *core = &kernel.opened[0].attr, *tsc = &kernel.opened[1].attr;
    assert_int_equal(core->type, TYPE);
    assert_true(core->config == 0xc2 && core->config1 == 0x3fff && core->config2 == 7);
    assert_true(core->exclude_user && !core->exclude_kernel && !core->exclude_hv && core->exclude_guest);
    expect_attr(tsc, MSR, 0, false, false);
    const struct perf_event_attr *user = &kernel.opened[2].attr;
    assert_true(!user->exclude_user && user->exclude_kernel && user->exclude_hv && user->exclude_guest);
    assert_true(user->config == 0xb7 && user->config1 == 0 && user->config2 == 0);
    assert_int_equal(pmu->ops->open(pmu, 0, &events[3], 1), -ENOENT); // a PMU that is not known here
    assert_int_equal(kernel.n_opened, 3);
    pmu->ops->free(pmu);
}

static void test_generic_events_of_both_types_exclude_guests(void **state) {
    (void)state;
    static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE};
    static const struct pmu_event events[] = {{.config = PERF_COUNT_HW_INSTRUCTIONS}, {.pmu = 1, .config = 0x10003}};
    for (int exclude = 0; exclude < 2; exclude++) {
        struct pmu *pmu;
        memset(&kernel, 0, sizeof kernel);
        assert_int_equal(pmu_linux_new(types, 2, exclude, &pmu), 0);
        assert_true(pmu->ops->open(pmu, 0, events, 2) >= 0);
        expect_attr(&kernel.opened[0].attr, PERF_TYPE_HARDWARE, 1, true, exclude);
        expect_attr(&kernel.opened[1].attr, PERF_TYPE_HW_CACHE, 0x10003, false, exclude);
        pmu->ops->free(pmu);
    }
}

static void test_starting_and_stopping_is_one_ioctl_on_the_leader_and_nothing_is_reset(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, false);
    struct pmu_times times;
    uint64_t counts[3];
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    pmu->ops->advance(pmu, 1);
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
    (void)pmu->ops->read(pmu, handle, &times, counts, 3);
    pmu->ops->close(pmu, handle);
    pmu->ops->free(pmu);
    assert_int_equal(kernel.n_controls, 2);
    assert_true(kernel.controls[0].request == PERF_EVENT_IOC_ENABLE);
    assert_true(kernel.controls[1].request == PERF_EVENT_IOC_DISABLE);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(kernel.controls[i].fd, kernel.opened[0].fd);
        assert_int_equal(kernel.controls[i].argument, 0);
    }
}

static void test_a_group_is_read_at_once_from_its_leader(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, false);
    static const uint64_t given[] = {3, 1000, 700, 11, 22, 33}; // how many, enabled, running, counts
    struct pmu_times times;
    uint64_t counts[3];
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    assert_int_equal(pwrite(kernel.opened[0].fd, given, sizeof given, 0), sizeof given);
    assert_int_equal(pmu->ops->read(pmu, handle, &times, counts, 3), 0);
    assert_int_equal(times.enabled_ns, 1000);
    assert_int_equal(times.running_ns, 700);
    assert_memory_equal(counts, given + 3, sizeof counts);
    pmu->ops->free(pmu);
}

// The kernel dissolves groups when their CPU goes offline, and only the number of counts in a read tells.
static void test_a_group_of_one_event_has_a_dummy_beside_it_that_tells_when_it_is_dissolved(void **state) {
    (void)state;
    static const uint64_t whole[] = {2, 1000, 700, 11, 0}, dissolved[] = {1, 1000, 700, 11};
    struct perf_event_attr dummy;
    struct pmu_times times;
    uint64_t count;
    struct pmu *pmu = new_pmu(TYPE, true);
    int handle = pmu->ops->open(pmu, 7, EVENTS, 1);
    assert_true(handle >= 0);
    assert_int_equal(kernel.n_opened, 2);
    expect_attr(&kernel.opened[0].attr, TYPE, EVENTS[0].config, true, true);
    memset(&dummy, 0, sizeof dummy);
    dummy.type = PERF_TYPE_SOFTWARE;
    dummy.size = sizeof dummy;
    dummy.config = PERF_COUNT_SW_DUMMY;
    assert_memory_equal(&kernel.opened[1].attr, &dummy, sizeof dummy);
    assert_int_equal(kernel.opened[1].cpu, 7);
    assert_int_equal(kernel.opened[1].leader, kernel.opened[0].fd);
    assert_int_equal(pwrite(kernel.opened[0].fd, whole, sizeof whole, 0), sizeof whole);
    assert_int_equal(pmu->ops->read(pmu, handle, &times, &count, 1), 0);
    assert_true(count == 11 && times.enabled_ns == 1000 && times.running_ns == 700);
    assert_int_equal(ftruncate(kernel.opened[0].fd, 0) | lseek(kernel.opened[0].fd, 0, SEEK_SET), 0);
    assert_int_equal(pwrite(kernel.opened[0].fd, dissolved, sizeof dissolved, 0), sizeof dissolved);
    assert_int_equal(pmu->ops->read(pmu, handle, &times, &count, 1), -ENODEV);
    pmu->ops->close(pmu, handle);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(fcntl(kernel.opened[i].fd, F_GETFD), -1);
    pmu->ops->free(pmu);
}

static void test_a_group_of_one_event_goes_without_a_dummy_that_is_refused(void **state) {
    (void)state;
    static const uint64_t given[] = {1, 1000, 700, 11};
    struct pmu_times times;
    uint64_t count;
    struct pmu *pmu = new_pmu(TYPE, false);
    kernel.refused = 2;
    int handle = pmu->ops->open(pmu, 7, EVENTS, 1);
    assert_true(handle >= 0);
    assert_int_equal(kernel.n_opened, 1);
    assert_int_equal(pwrite(kernel.opened[0].fd, given, sizeof given, 0), sizeof given);
    assert_int_equal(pmu->ops->read(pmu, handle, &times, &count, 1), 0);
    assert_true(count == 11);
    pmu->ops->free(pmu);
}

static void test_a_member_that_is_refused_closes_the_others(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, false);
    kernel.refused = 3;
    assert_int_equal(pmu->ops->open(pmu, 0, EVENTS, 3), -EBUSY);
    assert_int_equal(kernel.n_opened, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(fcntl(kernel.opened[i].fd, F_GETFD), -1);
    pmu->ops->free(pmu);
}

static int open_two(struct pmu *pmu) { return pmu->ops->open(pmu, 0, EVENTS, 2); }

// Event groups come and go all year: the table of handles grows with what is open, not with what ever was.
static void test_handles_of_closed_groups_are_used_again(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, false);
    for (int i = 0; i < 4; i++)
        assert_int_equal(open_two(pmu), i);
    pmu->ops->close(pmu, 2);
    pmu->ops->close(pmu, 0);
    pmu->ops->close(pmu, 3);
    assert_int_equal(open_two(pmu), 0);
    assert_int_equal(open_two(pmu), 2);
    pmu->ops->close(pmu, 1);
    assert_int_equal(open_two(pmu), 1);
    assert_int_equal(open_two(pmu), 3);
    assert_int_equal(open_two(pmu), 4);
    pmu->ops->free(pmu);
}

static void test_what_is_open_is_counted_a_dummy_too(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, false);
    int three = pmu->ops->open(pmu, 0, EVENTS, 3);
    assert_int_equal(pmu->n_events, 3);
    int one = pmu->ops->open(pmu, 0, EVENTS, 1);
    assert_int_equal(pmu->n_events, 5);
    pmu->ops->close(pmu, three);
    assert_int_equal(pmu->n_events, 2);
    pmu->ops->close(pmu, one);
    assert_int_equal(pmu->n_events, 0);
    kernel.refused = kernel.n_opened + 2;
    assert_int_equal(pmu->ops->open(pmu, 0, EVENTS, 3), -EBUSY);
    assert_int_equal(pmu->n_events, 0);
    pmu->ops->free(pmu);
}

// ---- guests that have the counters for themselves ----

#define MS UINT64_C(1000000)

// What a read of the group gives next.
static void give(size_t leader, uint64_t n, uint64_t enabled_ns, uint64_t running_ns) {
    uint64_t given[OPENED_MAX] = {n, enabled_ns, running_ns};
    int fd = kernel.opened[leader].fd;
    size_t size = (3 + n) * sizeof *given;
    assert_int_equal(ftruncate(fd, 0) | lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(pwrite(fd, given, size, 0), size);
}

static struct pmu_times read_times(struct pmu *pmu, int handle, size_t n) {
    struct pmu_times times;
    uint64_t counts[3];
    assert_int_equal(pmu->ops->read(pmu, handle, &times, counts, n), 0);
    return times;
}

// A slot of the group that begins now and lasts so long; enabled_ns of it the group was enabled.
static struct pmu_times slot(struct pmu *pmu, int handle, uint64_t lasts_ns, uint64_t enabled_ns) {
    kernel.enabled_ns += enabled_ns;
    kernel.n_controls = 0;
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    kernel.now_ns += lasts_ns;
    assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
    kernel.now_ns += 700 * MS; // others' slots
    give(0, 3, kernel.enabled_ns, kernel.enabled_ns);
    return read_times(pmu, handle, 3);
}

static void test_what_a_guest_took_is_the_time_of_the_slot_less_the_enabled_time(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, true);
    kernel.now_ns = 5000 * MS;
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    assert_true(slot(pmu, handle, 200 * MS, 0).guest_ns == 200 * MS); // all of it
    assert_true(slot(pmu, handle, 200 * MS, 20 * MS).guest_ns == 380 * MS);
    assert_true(slot(pmu, handle, 200 * MS, 200 * MS).guest_ns == 380 * MS); // no guest
    struct pmu_times times = slot(pmu, handle, 200 * MS, 150 * MS);
    assert_true(times.guest_ns == 430 * MS && times.enabled_ns == 370 * MS && times.running_ns == 370 * MS);
    pmu->ops->free(pmu);
}

// The kernel's clock for events and the monotonic one may differ, and calls take long: such time is no guest's.
static void test_neither_clocks_that_differ_nor_slow_calls_are_guests(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, true);
    kernel.now_ns = 5000 * MS;
    kernel.call_ns = 30 * MS;
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    assert_true(slot(pmu, handle, 200 * MS, 201 * MS).guest_ns == 0); // enabled early in the call, stopped late
    assert_true(slot(pmu, handle, 200 * MS, 259 * MS).guest_ns == 0);
    assert_true(slot(pmu, handle, 200 * MS, 199 * MS).guest_ns == 0);
    assert_true(slot(pmu, handle, 100000 * MS, 99900 * MS).guest_ns == 0); // 0.1 %
    assert_true(slot(pmu, handle, 200 * MS, 198 * MS).guest_ns == 2 * MS);
    pmu->ops->free(pmu);
}

// Such times are no times: whoever reads them sees that they fell.
static void test_of_times_that_fall_nothing_is_a_guests(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, true);
    kernel.now_ns = 5000 * MS;
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    assert_true(slot(pmu, handle, 200 * MS, 200 * MS).guest_ns == 0);
    kernel.enabled_ns -= 5;
    struct pmu_times times = slot(pmu, handle, 200 * MS, 0);
    assert_true(times.guest_ns == 0 && times.enabled_ns == 200 * MS - 5);
    pmu->ops->free(pmu);
}

// A group that counts all the time, or is held, is read while it counts.
static void test_a_group_that_is_read_while_it_counts_tells_of_guests_since_the_last_read(void **state) {
    (void)state;
    struct pmu *pmu = new_pmu(TYPE, true);
    kernel.now_ns = 5000 * MS;
    int handle = pmu->ops->open(pmu, 0, EVENTS, 3);
    kernel.now_ns += 9000 * MS; // open and not started
    give(0, 3, 0, 0);
    assert_true(read_times(pmu, handle, 3).guest_ns == 0);
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    kernel.now_ns += 100 * MS;
    give(0, 3, 40 * MS, 40 * MS);
    assert_true(read_times(pmu, handle, 3).guest_ns == 60 * MS);
    kernel.now_ns += 100 * MS;
    give(0, 3, 140 * MS, 140 * MS);
    assert_true(read_times(pmu, handle, 3).guest_ns == 60 * MS);
    kernel.now_ns += 100 * MS;
    assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
    kernel.now_ns += 100 * MS;
    assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
    kernel.now_ns += 50 * MS; // two pieces, one read
    give(0, 3, 150 * MS, 150 * MS);
    assert_true(read_times(pmu, handle, 3).guest_ns == 200 * MS);
    pmu->ops->free(pmu);
}

static void test_where_guests_are_counted_or_nothing_tells_of_the_cpu_no_time_is_theirs(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        bool exclude_guest;
        size_t n, refused;
    } cases[] = {{TYPE, false, 3, 0},              // guests are counted
                 {PERF_TYPE_SOFTWARE, true, 3, 0}, // they always are
                 {TYPE, true, 1, 2}};              // a CPU that went offline would look the same
    for (size_t c = 0; c < 3; c++) {
        struct pmu *pmu = new_pmu(cases[c].type, cases[c].exclude_guest);
        kernel.now_ns = 5000 * MS;
        kernel.refused = cases[c].refused;
        int handle = pmu->ops->open(pmu, 0, EVENTS, cases[c].n);
        assert_int_equal(pmu->ops->enable(pmu, handle, true), 0);
        kernel.now_ns += 100 * MS;
        assert_int_equal(pmu->ops->enable(pmu, handle, false), 0);
        give(0, cases[c].n, 10 * MS, 10 * MS);
        assert_true(read_times(pmu, handle, cases[c].n).guest_ns == 0);
        pmu->ops->free(pmu);
    }
}

// While one that includes them is open, no guest could be made that has the counters for itself.
static void test_questions_exclude_guests(void **state) {
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    assert_int_equal(pmu_linux_probe_event(TYPE, 0x11, 3), 0);
    assert_int_equal(pmu_linux_probe_hardware(), 0);
    assert_int_equal(kernel.n_opened, 2);
    assert_true(kernel.opened[0].attr.exclude_guest && kernel.opened[0].attr.disabled);
    assert_true(kernel.opened[1].attr.exclude_guest && kernel.opened[1].attr.disabled);
}

static void test_the_question_for_hardware_counters_counts_nothing(void **state) {
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    assert_int_equal(pmu_linux_probe_hardware(), 0);
    assert_int_equal(kernel.n_opened, 1);
    assert_int_equal(kernel.opened[0].attr.type, PERF_TYPE_HARDWARE);
    assert_int_equal(kernel.opened[0].attr.disabled, 1);
    assert_int_equal(kernel.opened[0].attr.pinned, 0);
    assert_int_equal(kernel.opened[0].pid, 0); // itself
    assert_int_equal(kernel.opened[0].cpu, -1);
    assert_int_equal(fcntl(kernel.opened[0].fd, F_GETFD), -1);
    memset(&kernel, 0, sizeof kernel);
    kernel.refused = 1;
    assert_int_equal(pmu_linux_probe_hardware(), -EBUSY);
    assert_int_equal(kernel.n_controls, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_is_opened_with_its_leader_stopped_and_all_else_left_to_the_kernel),
        cmocka_unit_test(test_each_event_goes_to_its_pmu_with_all_its_numbers_and_only_the_core_s_exclude_guests),
        cmocka_unit_test(test_generic_events_of_both_types_exclude_guests),
        cmocka_unit_test(test_starting_and_stopping_is_one_ioctl_on_the_leader_and_nothing_is_reset),
        cmocka_unit_test(test_a_group_is_read_at_once_from_its_leader),
        cmocka_unit_test(test_a_group_of_one_event_has_a_dummy_beside_it_that_tells_when_it_is_dissolved),
        cmocka_unit_test(test_a_group_of_one_event_goes_without_a_dummy_that_is_refused),
        cmocka_unit_test(test_a_member_that_is_refused_closes_the_others),
        cmocka_unit_test(test_handles_of_closed_groups_are_used_again),
        cmocka_unit_test(test_what_is_open_is_counted_a_dummy_too),
        cmocka_unit_test(test_what_a_guest_took_is_the_time_of_the_slot_less_the_enabled_time),
        cmocka_unit_test(test_neither_clocks_that_differ_nor_slow_calls_are_guests),
        cmocka_unit_test(test_of_times_that_fall_nothing_is_a_guests),
        cmocka_unit_test(test_a_group_that_is_read_while_it_counts_tells_of_guests_since_the_last_read),
        cmocka_unit_test(test_where_guests_are_counted_or_nothing_tells_of_the_cpu_no_time_is_theirs),
        cmocka_unit_test(test_questions_exclude_guests),
        cmocka_unit_test(test_the_question_for_hardware_counters_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
