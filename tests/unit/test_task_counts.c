// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "daemon/measure/task_counts.h"

// What a command's event groups come to (daemon/measure/task_counts.h), over counters that the test sets in the place
// of the kernel's (collectors/pmu/pmu_linux_tasks.h).

#define SECOND_NS UINT64_C(1000000000)

enum { GROUPS = 2, BY_GROUP = 2 };

struct pmu_linux_tasks {
    int errors[GROUPS]; // of a group's opening; 0: none
    int n;              // opened
    struct pmu_times times[GROUPS];
    uint64_t counts[GROUPS]; // of each event
    bool freed;
};

int pmu_linux_tasks_open(struct pmu_linux_tasks *tasks, const struct pmu_event *events, size_t n) {
    (void)events;
    assert_int_equal(n, BY_GROUP);
    int group = tasks->n++;
    return tasks->errors[group] < 0 ? tasks->errors[group] : group;
}

int pmu_linux_tasks_read(const struct pmu_linux_tasks *tasks, int handle, struct pmu_times *times, uint64_t *counts,
                         size_t n) {
    *times = tasks->times[handle];
    for (size_t i = 0; i < n; i++)
        counts[i] = tasks->counts[handle];
    return 0;
}

struct pmu_linux_tasks *pmu_linux_tasks_free(struct pmu_linux_tasks *tasks) {
    tasks->freed = true;
    return NULL;
}

// ---- a command ----

struct command {
    struct pmu_linux_tasks tasks;
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct task_counts *counts;
};

static void begin(struct command *command, int second_error) {
    static const char *const events[] = {"A", "B", "C", "D"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    int error;
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "All", "ab cd");
    *command = (struct command){.tasks.errors = {0, second_error}, .catalog = catalog_builder_finish(builder)};
    command->plan = build_plan(&(struct plan_request){.catalog = command->catalog, .general_counters = BY_GROUP});
    assert_int_equal(command->plan->n_groups, GROUPS);
    command->topology = build_cpus(0, 1, 1);
    assert_int_equal(task_counts_new(&command->tasks, command->plan, command->topology, &command->counts), 0);
    assert_int_equal(task_counts_open(command->counts, &error), second_error ? 1 : 2);
    assert_int_equal(error, second_error);
}

static void end(struct command *command) {
    task_counts_free(command->counts);
    assert_true(command->tasks.freed);
    topology_free(command->topology);
    plan_free(command->plan);
    catalog_free(command->catalog);
}

// The tasks run for so long, for such shares of which the groups are on counters, at 1,000 of each event a second.
static const struct readings *run(struct command *command, uint64_t ns, double first, double second) {
    const double shares[GROUPS] = {first, second};
    for (size_t g = 0; g < GROUPS; g++) {
        command->tasks.times[g].enabled_ns += ns;
        command->tasks.times[g].running_ns += (uint64_t)(shares[g] * (double)ns);
        command->tasks.counts[g] += (uint64_t)(shares[g] * (double)ns * 1e-6);
    }
    return task_counts_read(command->counts);
}

static void expect_window(const struct readings *readings, size_t group, double seconds, uint64_t count) {
    const struct window *window = &readings->windows[group];
    assert_int_equal(window->group, group);
    assert_int_equal(window->result, WINDOW_COMPLETE);
    assert_int_equal(window->enabled_ns, window->running_ns);
    assert_in_range(window->running_ns, (uint64_t)(seconds * 1e9), (uint64_t)(seconds * 1e9) + 2);
    for (size_t e = 0; e < BY_GROUP; e++)
        assert_int_equal(window->counts[e], count);
}

static void test_each_round_has_what_was_counted_in_it(void **state) {
    (void)state;
    struct command command;
    begin(&command, 0);
    for (uint64_t round = 0; round < 3; round++) {
        const struct readings *readings = run(&command, (round + 1) * SECOND_NS, 1, 1);
        assert_non_null(readings);
        assert_int_equal(readings->round, round);
        assert_true(readings->no_gaps); // of all threads together, so it may last longer than the clock says
        assert_int_equal(readings->end_ns - readings->start_ns, (round + 1) * SECOND_NS);
        for (size_t g = 0; g < GROUPS; g++)
            expect_window(readings, g, (double)round + 1, (round + 1) * 1000);
    }
    assert_true(task_counts_seconds(command.counts) == 6);
    end(&command);
}

// Where groups take turns, each is a sample of the time as it was on counters in this round, whatever it had before:
// the time that it was not is missing from its window, and its counts are not scaled up in it.
static void test_groups_that_take_turns_have_windows_as_long_as_their_turns(void **state) {
    static const double shares[][GROUPS] = {{0.75, 0.25}, {0.25, 0.75}, {0.5, 0.5}, {1, 1}};
    (void)state;
    struct command command;
    begin(&command, 0);
    for (size_t i = 0; i < N_OF(shares); i++) {
        const struct readings *readings = run(&command, SECOND_NS, shares[i][0], shares[i][1]);
        for (size_t g = 0; g < GROUPS; g++)
            expect_window(readings, g, shares[i][g], (uint64_t)(1000 * shares[i][g]));
    }
    end(&command);
}

static void test_a_group_that_was_never_on_counters_has_no_data(void **state) {
    (void)state;
    struct command command;
    begin(&command, 0);
    const struct readings *readings = run(&command, SECOND_NS, 1, 0);
    expect_window(readings, 0, 1, 1000);
    assert_int_equal(readings->windows[1].result, WINDOW_STARVED);
    end(&command);
}

static void test_a_group_that_cannot_be_opened_leaves_the_other(void **state) {
    (void)state;
    struct command command;
    begin(&command, -EINVAL);
    const struct readings *readings = run(&command, SECOND_NS, 1, 1);
    expect_window(readings, 0, 1, 1000);
    assert_int_equal(readings->windows[1].result, WINDOW_FAILED);
    assert_int_equal(readings->windows[1].error, -EINVAL);
    assert_null(run(&command, 0, 1, 1)); // no task has run since then
    end(&command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_round_has_what_was_counted_in_it),
        cmocka_unit_test(test_groups_that_take_turns_have_windows_as_long_as_their_turns),
        cmocka_unit_test(test_a_group_that_was_never_on_counters_has_no_data),
        cmocka_unit_test(test_a_group_that_cannot_be_opened_leaves_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
