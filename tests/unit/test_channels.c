// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "collectors/pmu/channels.h"
#include "collectors/pmu/standing.h"

// A plan's event groups on CPUs (collectors/pmu/channels.h), over a PMU whose counts, times and errors the test sets.

#define SECOND_NS UINT64_C(1000000000)

enum { GROUPS = 32, CPUS = 2 };

struct group {
    bool open, enabled;
    unsigned cpu;
    struct pmu_times times;
    uint64_t count; // of each of its events
};

struct set_pmu {
    struct pmu pmu; // first
    struct group groups[GROUPS];
    size_t n;
    int error[CPUS]; // of a CPU's calls to open and read; 0: none
};

static struct set_pmu *set_of(struct pmu *pmu) { return (struct set_pmu *)pmu; }

static void set_advance(struct pmu *pmu, uint64_t now_ns) {
    (void)pmu;
    (void)now_ns;
}

static int set_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct set_pmu *set = set_of(pmu);
    (void)events;
    (void)n;
    assert_true(set->n < GROUPS && cpu < CPUS);
    if (set->error[cpu] < 0)
        return set->error[cpu];
    set->groups[set->n] = (struct group){.open = true, .cpu = cpu};
    return (int)set->n++;
}

static int set_enable(struct pmu *pmu, int handle, bool enabled) {
    set_of(pmu)->groups[handle].enabled = enabled;
    return 0;
}

static int set_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    const struct group *group = &set_of(pmu)->groups[handle];
    assert_true(group->open);
    if (set_of(pmu)->error[group->cpu] < 0)
        return set_of(pmu)->error[group->cpu];
    *times = group->times;
    for (size_t i = 0; i < n; i++)
        counts[i] = group->count;
    return 0;
}

static void set_close(struct pmu *pmu, int handle) {
    assert_true(set_of(pmu)->groups[handle].open);
    set_of(pmu)->groups[handle].open = false;
}

// ---- a host ----

struct host {
    struct set_pmu set;
    struct catalog *catalog;
    struct plan *plan, *standing_plan; // one event group of two events: it rotates, or counts all the time
    struct topology *topology;
    struct channels *channels;
    struct readings *readings;
    uint64_t now_ns;
};

static struct plan *plan_that(const struct host *host, bool stands) {
    struct plan *plan =
        build_plan(&(struct plan_request){.catalog = host->catalog, .general_counters = 4, .boxes = stands});
    assert_int_equal(plan->n_groups, 1);
    assert_int_equal(plan_n_rotating(plan), stands ? 0 : 1);
    return plan;
}

static void begin(struct host *host) {
    static const struct pmu_ops ops = {
        .advance = set_advance, .open = set_open, .enable = set_enable, .read = set_read, .close = set_close};
    static const char *const events[] = {"A", "B"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    metric_of(builder, "ab", "A / B", NULL);
    group_of(builder, "All", "ab");
    *host = (struct host){
        .set.pmu.ops = &ops, .catalog = catalog_builder_finish(builder), .topology = build_cpus(0, CPUS, 1)};
    host->plan = plan_that(host, false);
    host->standing_plan = plan_that(host, true);
    host->readings = readings_new_sized(CPUS, GROUPS, 2 * GROUPS);
    assert_non_null(host->readings);
}

static void end(struct host *host) {
    channels_free(host->channels);
    for (size_t i = 0; i < host->set.n; i++)
        assert_false(host->set.groups[i].open);
    readings_free(host->readings);
    topology_free(host->topology);
    plan_free(host->standing_plan);
    plan_free(host->plan);
    catalog_free(host->catalog);
}

static void open_all(struct host *host) {
    channels_retry(host->channels);
    channels_open(host->channels);
    assert_false(channels_opening(host->channels));
}

static struct host *begin_plan(struct host *host, bool stands) {
    begin(host);
    host->channels = channels_new(stands ? host->standing_plan : host->plan, host->topology, &host->set.pmu);
    assert_non_null(host->channels);
    channels_begin_step(host->channels, host->now_ns = 100 * SECOND_NS);
    open_all(host);
    return host;
}

// So much time passes, for part of which what is enabled counts, at 1,000,000 of each event a second.
static void pass(struct host *host, uint64_t ns, uint64_t counted_ns) {
    channels_begin_step(host->channels, host->now_ns += ns);
    for (size_t i = 0; i < host->set.n; i++) {
        struct group *group = &host->set.groups[i];
        if (!group->enabled)
            continue;
        group->times.enabled_ns += counted_ns;
        group->times.running_ns += counted_ns;
        group->count += counted_ns / 1000;
    }
}

// A slot of a second on the first CPU.
static struct window *slot(struct host *host) {
    channels_start(host->channels, 0, 0);
    pass(host, SECOND_NS, SECOND_NS);
    channels_stop(host->channels, 0, 0);
    return channels_read(host->channels, 0, 0, host->readings);
}

static void expect_second(const struct window *window) {
    assert_int_equal(window->result, WINDOW_COMPLETE);
    assert_int_equal(window->enabled_ns, SECOND_NS);
    assert_int_equal(window->counts[0], 1000000);
    assert_int_equal(window->counts[1], 1000000);
}

// ---- a CPU that goes and comes back ----

// What the kernel opens begins at 0: it neither goes on from the last group's counts nor is doubted because of them.
static void test_a_group_that_is_opened_anew_is_believed_whatever_the_last_one_counted(void **state) {
    (void)state;
    struct host host, *h = begin_plan(&host, false);
    expect_second(slot(h));
    expect_second(slot(h));
    h->set.groups[0].count = 0; // the hardware was reset
    assert_int_equal(slot(h)->result, WINDOW_IMPLAUSIBLE);
    h->set.error[0] = -ENODEV; // the CPU goes offline
    struct window *lost = slot(h);
    assert_true(lost->result == WINDOW_FAILED && lost->error == -ENODEV);
    h->set.error[0] = 0;
    open_all(h);
    expect_second(slot(h));
    end(h);
}

// A slot that ended while its round was over is read only to be forgotten. This read may be the first one that says
// that the kernel has dissolved the group.
static void test_a_group_that_is_gone_when_it_is_only_read_to_be_forgotten_is_opened_anew(void **state) {
    (void)state;
    struct host host, *h = begin_plan(&host, false);
    expect_second(slot(h));
    h->set.error[0] = -ENODEV;
    channels_rebase(h->channels, 0, 0);
    assert_false(h->set.groups[0].open);
    h->set.error[0] = 0; // back before anybody read again
    open_all(h);
    expect_second(slot(h));
    end(h);
}

// An offline CPU is usual and heals by itself. That the limit of open files is too low does not, and must be said.
static void test_offline_cpus_do_not_hide_why_others_are_not_counted(void **state) {
    static const int errors[][CPUS] = {{-ENODEV, -EMFILE}, {-EMFILE, -ENODEV}};
    (void)state;
    for (size_t i = 0; i < N_OF(errors); i++) {
        struct host host, *h = begin_plan(&host, false);
        size_t n_failed;
        assert_int_equal(channels_open_error(h->channels, &n_failed), 0);
        assert_int_equal(n_failed, 0);
        memcpy(h->set.error, errors[i], sizeof h->set.error);
        channels_free(h->channels);
        h->channels = channels_new(h->plan, h->topology, &h->set.pmu);
        channels_begin_step(h->channels, h->now_ns);
        open_all(h);
        assert_int_equal(channels_open_error(h->channels, &n_failed), -EMFILE);
        assert_int_equal(n_failed, 2);
        end(h);
    }
}

// ---- from one plan to the next ----

static struct channels *take_over(struct host *h, const struct plan *plan) {
    struct channels *channels = channels_new(plan, h->topology, &h->set.pmu);
    assert_non_null(channels);
    channels_begin_step(channels, h->now_ns);
    channels_inherit(channels, h->channels);
    channels_free(h->channels);
    return channels;
}

// Of a group that stood still since its slot the time since then is not a window.
static void test_a_group_that_rotated_is_not_taken_for_one_that_counted_all_the_time(void **state) {
    (void)state;
    struct host host, *h = begin_plan(&host, false);
    expect_second(slot(h));
    pass(h, SECOND_NS / 4, 0);
    h->channels = take_over(h, h->standing_plan);
    open_all(h);
    standing_start(h->channels, h->standing_plan, h->topology);
    pass(h, SECOND_NS, SECOND_NS);
    standing_read(h->channels, h->standing_plan, 0, h->now_ns, h->readings);
    expect_second(&h->readings->windows[h->readings->n_windows - 1]);
    end(h);
}

static void test_the_next_plan_takes_over_what_it_has_in_common(void **state) {
    (void)state;
    for (int stands = 0; stands < 2; stands++) {
        struct host host, *h = begin_plan(&host, stands);
        size_t opened = h->set.n;
        h->channels = take_over(h, stands ? h->standing_plan : h->plan);
        open_all(h);
        assert_int_equal(h->set.n, opened);
        end(h);
    }
}

// ---- what counts all the time ----

// The kernel's times of a group that counted all the time are off by the moment of a read: a tenth of a second and an
// eighth of the time. If they lack more, it was not on the counters, or not on its CPU, and did not count.
static void test_a_group_that_did_not_count_for_all_of_the_time_has_its_own_time(void **state) {
    static const struct {
        unsigned tenths;
        bool all;
    } cases[] = {{10, true}, {9, true}, {8, true}, {7, false}, {6, false}, {5, false}};
    (void)state;
    struct host host, *h = begin_plan(&host, true);
    standing_start(h->channels, h->standing_plan, h->topology);
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint64_t counted_ns = cases[i].tenths * SECOND_NS / 10;
        pass(h, SECOND_NS, counted_ns);
        standing_read(h->channels, h->standing_plan, 0, h->now_ns, h->readings);
        const struct window *window = &h->readings->windows[h->readings->n_windows - 1];
        assert_int_equal(window->result, WINDOW_COMPLETE);
        assert_int_equal(window->running_ns, cases[i].all ? SECOND_NS : counted_ns);
        assert_int_equal(window->enabled_ns, window->running_ns);
        assert_int_equal(window->counts[0], counted_ns / 1000);
    }
    end(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_that_is_opened_anew_is_believed_whatever_the_last_one_counted),
        cmocka_unit_test(test_a_group_that_is_gone_when_it_is_only_read_to_be_forgotten_is_opened_anew),
        cmocka_unit_test(test_offline_cpus_do_not_hide_why_others_are_not_counted),
        cmocka_unit_test(test_a_group_that_rotated_is_not_taken_for_one_that_counted_all_the_time),
        cmocka_unit_test(test_the_next_plan_takes_over_what_it_has_in_common),
        cmocka_unit_test(test_a_group_that_did_not_count_for_all_of_the_time_has_its_own_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
