// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "collectors/uncore/pmu_joined.h"

// Boxes of several PMUs as one PMU (collectors/uncore/pmu_joined.h), over a PMU whose counts the test sets: two
// packages with three boxes of uncore_cha and two of uncore_m2m each.

#define SECOND_NS UINT64_C(1000000000)

enum { BOXES = 10, GROUPS = 40, EVENTS = 4, CHA = 0, M2M = 1, CPU = 2 };

struct group {
    bool open, enabled;
    unsigned box;
    size_t n;
    struct pmu_event events[EVENTS];
    uint64_t counts[EVENTS];
    struct pmu_times times;
};

struct set_pmu {
    struct pmu pmu; // first
    struct group groups[GROUPS];
    size_t n;
    size_t takes;     // events of a group at once; 0: any number
    unsigned refuses; // a box that cannot be opened, counted from 1
    bool freed;
};

static struct set_pmu *set_of(struct pmu *pmu) { return (struct set_pmu *)pmu; }

static void set_advance(struct pmu *pmu, uint64_t now_ns) {
    (void)pmu;
    (void)now_ns;
}

static int set_open(struct pmu *pmu, unsigned box, const struct pmu_event *events, size_t n) {
    struct set_pmu *set = set_of(pmu);
    assert_true(set->n < GROUPS && n <= EVENTS && box < BOXES);
    if (set->refuses == box + 1)
        return -ENODEV;
    if (set->takes > 0 && n > set->takes)
        return -EINVAL;
    struct group *group = &set->groups[set->n];
    *group = (struct group){.open = true, .box = box, .n = n};
    memcpy(group->events, events, n * sizeof *events);
    pmu->n_events += n;
    return (int)set->n++;
}

static int set_enable(struct pmu *pmu, int handle, bool enabled) {
    set_of(pmu)->groups[handle].enabled = enabled;
    return 0;
}

static int set_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    const struct group *group = &set_of(pmu)->groups[handle];
    assert_true(group->open && group->n == n);
    *times = group->times;
    memcpy(counts, group->counts, n * sizeof *counts);
    return 0;
}

static void set_close(struct pmu *pmu, int handle) {
    struct group *group = &set_of(pmu)->groups[handle];
    assert_true(group->open);
    group->open = false;
    pmu->n_events -= group->n;
}

static void set_free(struct pmu *pmu) { set_of(pmu)->freed = true; }

// ---- a host ----

struct host {
    struct set_pmu set;
    struct pmu *joined;
    struct pmu_joined_total cores; // of package 1
    bool told;
    uint64_t now_ns;
};

static bool read_cores(const void *context, int package, const struct pmu_event *event, struct pmu_joined_total *out) {
    const struct host *host = context;
    assert_int_equal(package, 1);
    assert_int_equal(event->config, 0xc0);
    *out = host->cores;
    return host->told;
}

static char *const PMUS[] = {"uncore_cha", "uncore_m2m", "cpu"};

static void begin(struct host *host) {
    static const struct pmu_ops ops = {.advance = set_advance,
                                       .open = set_open,
                                       .enable = set_enable,
                                       .read = set_read,
                                       .close = set_close,
                                       .free = set_free};
    struct uncore_box parts[BOXES],
        packages[] = {{.pmu = "both", .place.package = 0}, {.pmu = "both", .place.package = 1}};
    size_t n = 0;
    for (int package = 0; package < 2; package++)
        for (int i = 0; i < 5; i++) {
            parts[n] = (struct uncore_box){.place.package = package};
            (void)snprintf(parts[n++].pmu, UNCORE_NAME_MAX, "%s_%d", PMUS[i < 3 ? CHA : M2M], i < 3 ? i : i - 3);
        }
    *host = (struct host){.set.pmu.ops = &ops, .now_ns = SECOND_NS};
    const struct uncore_boxes all = {parts, n}, two = {packages, 2};
    assert_int_equal(pmu_joined_new(&(struct pmu_joined_request){.boxes = &host->set.pmu,
                                                                 .packages = &two,
                                                                 .parts = &all,
                                                                 .pmus = PMUS,
                                                                 .n_pmus = N_OF(PMUS),
                                                                 .cores = {read_cores, host}},
                                    &host->joined),
                     0);
    host->joined->ops->advance(host->joined, host->now_ns);
}

static void end(struct host *host) {
    host->joined->ops->free(host->joined);
    assert_true(host->set.freed);
    assert_int_equal(host->set.pmu.n_events, 0);
}

// Package 1's event group, which counts from now on.
static int open_group(struct host *host, const struct pmu_event *events, size_t n) {
    int handle = host->joined->ops->open(host->joined, 1, events, n);
    assert_true(handle >= 0);
    assert_int_equal(host->joined->ops->enable(host->joined, handle, true), 0);
    return handle;
}

// A second passes, in which each box counts so much of each event, and box 5 is on its counters for such a share.
static void count(struct host *host, uint64_t of_box, double share) {
    host->now_ns += SECOND_NS;
    host->joined->ops->advance(host->joined, host->now_ns);
    for (size_t i = 0; i < host->set.n; i++) {
        struct group *group = &host->set.groups[i];
        double part = group->box == 5 ? share : 1;
        group->times.enabled_ns += SECOND_NS;
        group->times.running_ns += (uint64_t)(part * (double)SECOND_NS);
        for (size_t e = 0; e < group->n; e++)
            group->counts[e] += (uint64_t)((double)of_box * part);
    }
}

static struct pmu_times read_group(struct host *host, int handle, uint64_t *counts, size_t n) {
    struct pmu_times times;
    assert_int_equal(host->joined->ops->read(host->joined, handle, &times, counts, n), 0);
    return times;
}

static const struct pmu_event TWO[] = {{.pmu = CHA, .config = 1}, {.pmu = M2M, .config = 2}, {.pmu = CHA, .config = 3}};
static const struct pmu_event PER_INSTRUCTION[] = {{.pmu = CHA, .config = 1}, {.pmu = CPU, .config = 0xc0}};

// ---- tests ----

static void test_a_box_is_of_the_pmu_whose_name_it_has(void **state) {
    (void)state;
    static const struct {
        const char *box;
        int of;
    } known[] = {{"uncore_cha_12", 0},  {"uncore_cha", 0},    {"uncore_m2m_0", 1}, {"cpu", 2},
                 {"uncore_chat_0", -1}, {"uncore_cha_x", -1}, {"12", -1},          {"", -1}};
    for (size_t i = 0; i < N_OF(known); i++)
        assert_int_equal(pmu_joined_part_of(known[i].box, PMUS, N_OF(PMUS)), known[i].of);
}

static void test_each_box_counts_its_events_and_a_package_adds_them_up(void **state) {
    (void)state;
    struct host host;
    uint64_t counts[N_OF(TWO)];
    begin(&host);
    int handle = open_group(&host, TWO, N_OF(TWO));
    assert_int_equal(host.set.n, 5);
    for (size_t i = 0; i < host.set.n; i++) {
        const struct group *group = &host.set.groups[i];
        assert_true(group->box >= 5 && group->enabled && group->n == (group->box < 8 ? 2 : 1));
        assert_int_equal(group->events[0].config, group->box < 8 ? 1 : 2);
    }
    assert_int_equal(host.joined->n_events, 8);
    count(&host, 100, 1);
    struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
    assert_true(counts[0] == 300 && counts[1] == 200 && counts[2] == 300);
    assert_true(times.enabled_ns == SECOND_NS && times.running_ns == SECOND_NS);
    assert_int_equal(host.joined->more_calls, 5 + 4 + 4); // 8 events of which 3 are counted; enabling; a read
    assert_int_equal(host.joined->ops->enable(host.joined, handle, false), 0);
    assert_false(host.set.groups[0].enabled);
    host.joined->ops->close(host.joined, handle);
    assert_int_equal(host.joined->n_events, 0);
    end(&host);
}

static void test_a_box_that_shares_its_counters_is_scaled_by_its_own_time(void **state) {
    (void)state;
    struct host host;
    uint64_t counts[N_OF(TWO)];
    begin(&host);
    int handle = open_group(&host, TWO, N_OF(TWO));
    count(&host, 100, 0.5);
    struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
    double scale = (double)times.enabled_ns / (double)times.running_ns;
    assert_true(times.enabled_ns == SECOND_NS &&
                times.running_ns == SECOND_NS / 10 * 9); // one of five, half of the time
    assert_true(fabs((double)counts[0] * scale - 300) < 2);
    assert_true(fabs((double)counts[1] * scale - 200) < 2);
    end(&host);
}

static void test_counts_wait_for_a_box_that_was_never_on_its_counters(void **state) {
    (void)state;
    struct host host;
    uint64_t counts[N_OF(TWO)];
    begin(&host);
    int handle = open_group(&host, TWO, N_OF(TWO));
    count(&host, 100, 0);
    struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
    assert_true(counts[0] == 0 && counts[1] == 0 && times.enabled_ns == SECOND_NS && times.running_ns == 0);
    end(&host);
}

// As the kernel does for a driver's bug, or for halves of a counter that are read one after the other.
static void test_counts_that_fall_and_come_back_are_no_data(void **state) {
    static const uint64_t HALF = UINT64_C(1) << 32;
    struct host host;
    uint64_t before[3], counts[3];
    (void)state;
    begin(&host);
    int handle = open_group(&host, TWO, N_OF(TWO));
    for (int i = 0; i < 2; i++)
        count(&host, HALF, 1);
    struct pmu_times first = read_group(&host, handle, before, N_OF(TWO));
    for (int back = 0; back < 2; back++) {
        count(&host, 1000, 1);
        host.set.groups[1].counts[0] += back ? HALF : -HALF;
        struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
        assert_int_equal(times.running_ns, first.running_ns);
        assert_memory_equal(counts, before, sizeof counts);
    }
    count(&host, 1000, 1);
    struct pmu_times last = read_group(&host, handle, counts, N_OF(TWO));
    assert_int_equal(last.running_ns - first.running_ns, SECOND_NS);
    assert_int_equal(counts[0] - before[0], 3 * 1000);
    assert_int_equal(counts[1] - before[1], 2 * 1000);
    end(&host);
}

// A driver's times may fall as well, while its counts go on: what a box counted in them is not known.
static void test_times_that_fall_are_no_data(void **state) {
    (void)state;
    for (int running = 0; running < 2; running++) {
        struct host host;
        uint64_t before[3], counts[3];
        begin(&host);
        int handle = open_group(&host, TWO, N_OF(TWO));
        for (int i = 0; i < 2; i++)
            count(&host, 1000, 1);
        struct pmu_times first = read_group(&host, handle, before, N_OF(TWO));
        count(&host, 1000, 1);
        struct pmu_times *of = &host.set.groups[1].times;
        *(running ? &of->running_ns : &of->enabled_ns) -= SECOND_NS + SECOND_NS / 2;
        struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
        assert_int_equal(times.enabled_ns - first.enabled_ns, SECOND_NS);
        assert_int_equal(times.running_ns, first.running_ns);
        assert_memory_equal(counts, before, sizeof counts);
        for (int i = 0; i < 2; i++) {
            count(&host, 1000, 1);
            times = read_group(&host, handle, counts, N_OF(TWO));
        }
        assert_int_equal(times.running_ns - first.running_ns, SECOND_NS); // of the last read alone
        assert_int_equal(counts[0] - before[0], 3 * 1000);
        end(&host);
    }
}

// What went on since the last read.
struct gone {
    double boxes, cores;
};

static struct gone read_gone(struct host *host, int handle, uint64_t before[2]) {
    uint64_t counts[2];
    struct pmu_times times = read_group(host, handle, counts, 2);
    assert_true(times.enabled_ns == times.running_ns);
    struct gone gone = {(double)(counts[0] - before[0]), (double)(counts[1] - before[1])};
    memcpy(before, counts, sizeof counts);
    return gone;
}

// So many seconds more of the cores' time, of which such a part was measured, at 1,000 instructions a second.
static void tell(struct host *host, double seconds, double covered) {
    host->told = true;
    host->cores.count += 1000 * seconds * covered;
    host->cores.covered_seconds += seconds * covered;
    host->cores.uncovered_seconds += seconds * (1 - covered);
}

static void test_counts_of_the_cores_and_of_boxes_go_on_together(void **state) {
    (void)state;
    struct host host;
    struct gone gone;
    uint64_t before[2] = {0};
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    assert_int_equal(host.joined->n_events, 3); // none is opened for the cores
    for (int second = 0; second < 3; second++) {
        if (second == 1)
            tell(&host, 5, 1); // both begin here; then there is no news
        count(&host, 100, 1);
        gone = read_gone(&host, handle, before);
        assert_true(gone.boxes == 0 && gone.cores == 0);
    }
    tell(&host, 2, 1);
    count(&host, 100, 1);
    gone = read_gone(&host, handle, before); // two seconds wait, one has passed
    assert_true(gone.boxes == 337 && gone.cores == 1125);
    tell(&host, 1, 0.75); // a quarter was not measured
    count(&host, 100, 1);
    gone = read_gone(&host, handle, before);
    assert_true(fabs(gone.boxes - 0.3 * gone.cores) < 1);
    end(&host);
}

static void test_counts_that_fall_leave_nothing_beside_those_of_the_cores(void **state) {
    enum { SECONDS = 30, FALL = 10 };
    struct host host;
    uint64_t before[2] = {0};
    (void)state;
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    for (int second = 0; second < SECONDS; second++) {
        uint64_t counts[2];
        tell(&host, 1, 1);
        count(&host, 10000, 1);
        if (second == FALL)
            host.set.groups[0].counts[0] = 0;
        (void)read_group(&host, handle, counts, 2);
        assert_true(counts[0] - before[0] <= 2 * 30000); // three boxes, and what waited
        memcpy(before, counts, sizeof counts);
    }
    end(&host);
}

// What both have counted until a group is stopped goes on, as its read comes after that.
static void test_the_time_until_a_group_is_stopped_is_not_lost(void **state) {
    (void)state;
    struct host host;
    uint64_t before[2] = {0};
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    tell(&host, 1, 1);
    count(&host, 1000, 1);
    (void)read_gone(&host, handle, before); // both begin here
    tell(&host, 1, 1);
    count(&host, 1000, 1);
    assert_int_equal(host.joined->ops->enable(host.joined, handle, false), 0);
    struct gone gone = read_gone(&host, handle, before);
    assert_true(gone.cores > 0 && fabs(gone.boxes - 3 * gone.cores) <= 3);
    end(&host);
}

// No time has passed for a group that is stopped, so it has not waited for counters either: what the cores have counted
// until then is not of its time, and the second that follows goes on.
static void test_a_read_of_a_stopped_group_is_where_boxes_and_cores_begin(void **state) {
    static const struct pmu_event events[] = {
        {.pmu = CHA, .config = 1}, {.pmu = CHA, .config = 3}, {.pmu = CPU, .config = 0xc0}};
    struct host host;
    uint64_t counts[3];
    (void)state;
    begin(&host);
    tell(&host, 5, 1);
    int handle = host.joined->ops->open(host.joined, 1, events, N_OF(events));
    assert_true(handle >= 0);
    struct pmu_times times = read_group(&host, handle, counts, N_OF(events));
    assert_true(times.enabled_ns == 0 && counts[0] == 0 && counts[2] == 0);
    assert_int_equal(host.joined->ops->enable(host.joined, handle, true), 0);
    tell(&host, 1, 1);
    count(&host, 1000, 1);
    times = read_group(&host, handle, counts, N_OF(events));
    assert_true(times.running_ns == SECOND_NS);
    assert_true(counts[2] > 500 && counts[0] == counts[1]);
    assert_true(fabs((double)counts[0] - 3 * (double)counts[2]) <= 3); // three boxes, 1,000 instructions a second
    end(&host);
}

static void test_rounds_of_the_cores_are_longer_than_an_interval(void **state) {
    (void)state;
    enum { SECONDS = 100, ROUND = 3 };
    struct host host;
    struct gone all = {0};
    uint64_t before[2] = {0};
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    tell(&host, 1, 1);
    for (int second = 0; second < SECONDS; second++) {
        if (second % ROUND == 0)
            tell(&host, ROUND, 1);
        count(&host, 100, 1);
        struct gone gone = read_gone(&host, handle, before);
        if (second > ROUND) // there is always something, and both are of one time
            assert_true(gone.cores > 100 && fabs(gone.boxes - 0.3 * gone.cores) <= 1);
        all.boxes += gone.boxes;
        all.cores += gone.cores;
    }
    assert_true(all.cores > 1000 * (SECONDS - 3 * ROUND));
    assert_true(fabs(all.boxes / all.cores / 0.3 - 1) < 1e-4);
    end(&host);
}

static void test_of_less_time_than_has_passed_a_part_stays_for_the_next_read(void **state) {
    (void)state;
    struct host host;
    uint64_t before[2] = {0};
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    tell(&host, 1, 1);
    count(&host, 1000, 1);
    (void)read_gone(&host, handle, before); // what both begin with
    tell(&host, 0.5, 1);
    count(&host, 1000, 1);
    struct gone first = read_gone(&host, handle, before);
    assert_true(fabs(first.cores - 375) <= 1 && fabs(first.boxes - 3 * 375) <= 1);
    count(&host, 1000, 1); // the cores have told nothing since
    struct gone second = read_gone(&host, handle, before);
    assert_true(fabs(second.cores - 94) <= 1 && fabs(second.boxes - 3 * 94) <= 3);
    end(&host);
}

static void test_what_boxes_count_while_the_cores_are_not_measured_is_left_out(void **state) {
    (void)state;
    struct host host;
    struct gone gone;
    uint64_t before[2] = {0};
    begin(&host);
    int handle = open_group(&host, PER_INSTRUCTION, N_OF(PER_INSTRUCTION));
    tell(&host, 1, 1);
    count(&host, 100, 1);
    (void)read_gone(&host, handle, before);
    tell(&host, 1, 0.4);
    count(&host, 1000, 1);
    gone = read_gone(&host, handle, before);
    assert_true(gone.boxes == 0 && gone.cores == 0);
    tell(&host, 1, 1);
    count(&host, 100, 1);
    gone = read_gone(&host, handle, before);
    assert_true(gone.cores > 0 && fabs(gone.boxes - 0.3 * gone.cores) < 1);
    host.cores = (struct pmu_joined_total){.count = 500, .covered_seconds = 1}; // they begin anew, and so do boxes
    count(&host, 1000, 1);
    gone = read_gone(&host, handle, before);
    assert_true(gone.boxes == 0 && gone.cores == 0);
    tell(&host, 1, 1);
    count(&host, 100, 1);
    gone = read_gone(&host, handle, before);
    assert_true(gone.cores > 0 && fabs(gone.boxes - 0.3 * gone.cores) < 1);
    end(&host);
}

static void test_events_that_a_box_does_not_take_together_are_opened_one_by_one(void **state) {
    (void)state;
    struct host host;
    uint64_t counts[N_OF(TWO)];
    begin(&host);
    host.set.takes = 1;
    int handle = open_group(&host, TWO, N_OF(TWO));
    assert_int_equal(host.set.n, 8);
    count(&host, 100, 0.5);
    struct pmu_times times = read_group(&host, handle, counts, N_OF(TWO));
    double scale = (double)times.enabled_ns / (double)times.running_ns;
    assert_true(fabs((double)counts[0] * scale - 300) < 2);
    assert_true(fabs((double)counts[2] * scale - 300) < 2);
    end(&host);
}

static void test_a_package_whose_boxes_cannot_all_be_opened_leaves_none_open(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    host.set.refuses = 9;
    assert_int_equal(host.joined->ops->open(host.joined, 1, TWO, N_OF(TWO)), -ENODEV);
    assert_int_equal(host.joined->n_events, 0);
    assert_true(host.joined->ops->open(host.joined, 0, TWO, N_OF(TWO)) >= 0);
    const struct pmu_event unknown[] = {{.pmu = 3}};
    assert_int_equal(host.joined->ops->open(host.joined, 0, unknown, 1), -ENOENT);
    assert_int_equal(host.joined->ops->open(host.joined, 2, TWO, N_OF(TWO)), -EINVAL);
    end(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_box_is_of_the_pmu_whose_name_it_has),
        cmocka_unit_test(test_each_box_counts_its_events_and_a_package_adds_them_up),
        cmocka_unit_test(test_a_box_that_shares_its_counters_is_scaled_by_its_own_time),
        cmocka_unit_test(test_counts_wait_for_a_box_that_was_never_on_its_counters),
        cmocka_unit_test(test_counts_that_fall_and_come_back_are_no_data),
        cmocka_unit_test(test_times_that_fall_are_no_data),
        cmocka_unit_test(test_counts_of_the_cores_and_of_boxes_go_on_together),
        cmocka_unit_test(test_counts_that_fall_leave_nothing_beside_those_of_the_cores),
        cmocka_unit_test(test_the_time_until_a_group_is_stopped_is_not_lost),
        cmocka_unit_test(test_a_read_of_a_stopped_group_is_where_boxes_and_cores_begin),
        cmocka_unit_test(test_rounds_of_the_cores_are_longer_than_an_interval),
        cmocka_unit_test(test_of_less_time_than_has_passed_a_part_stays_for_the_next_read),
        cmocka_unit_test(test_what_boxes_count_while_the_cores_are_not_measured_is_left_out),
        cmocka_unit_test(test_events_that_a_box_does_not_take_together_are_opened_one_by_one),
        cmocka_unit_test(test_a_package_whose_boxes_cannot_all_be_opened_leaves_none_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
