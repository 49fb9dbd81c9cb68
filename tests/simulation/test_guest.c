// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// How soon a task's event group gets counters beside topdownd: rule 7 of docs/measurement.md. A task that needs every
// counter waits on each CPU all the time; what it has got by then is written down every five milliseconds. So each of
// these moments stands for a task that begins then.

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char *const DEFAULT_GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
static const uint64_t SLOT_NS = SECOND_NS / 5, STEP_NS = SECOND_NS / 200;
enum { STEPS_A_SECOND = 200, EVERY_COUNTER = 6 };

static void start(struct pipeline *p, const char *const *groups, uint64_t slot_ns, struct busy_clock *clock,
                  uint64_t seed) {
    pipeline_load(p, STEADY);
    p->busy_clock = clock;
    pipeline_add_rival(p, RIVAL_TASK, EVERY_COUNTER);
    pipeline_start(p, slot_ns, seed, groups);
    pipeline_run(p, 2);
}

// Runs one step and returns how long the CPU's task has had counters so far, in seconds.
static double step(struct pipeline *p, unsigned cpu, uint64_t at_ns) {
    while (p->deadline_ns <= at_ns)
        pipeline_step(p, 0);
    p->recorder.pmu.ops->advance(&p->recorder.pmu, at_ns);
    return pmu_sim_rival_share(p->recorder.inner, 0, cpu) * (double)(at_ns - EPOCH_NS) * 1e-9;
}

static bool got_any(const double *got, size_t from, size_t to) { return got[to] > got[from] + 1e-6; }

// The share of tasks of so many seconds that get any counters.
static double share_of_tasks(const double *got, size_t n, double seconds) {
    size_t length = (size_t)(seconds * STEPS_A_SECOND), lucky = 0;
    for (size_t i = 0; i + length < n; i++)
        lucky += got_any(got, i, i + length);
    return (double)lucky / (double)(n - length);
}

static void check_busy_core(const char *const *groups, uint64_t slot_ns) {
    enum { STEPS = 120 * STEPS_A_SECOND };
    struct pipeline p;
    double *got = calloc(STEPS, sizeof *got);
    assert_non_null(got);
    start(&p, groups, slot_ns, NULL, 11);
    uint64_t at_ns = p.now_ns;
    for (size_t i = 0; i < STEPS; i++)
        got[i] = step(&p, 1, at_ns += STEP_NS);
    double quarter = share_of_tasks(got, STEPS, 0.25), half = share_of_tasks(got, STEPS, 0.5),
           one = share_of_tasks(got, STEPS, 1), two = share_of_tasks(got, STEPS, 2);
    print_message("rounds of %.1f s, slots of %.3f s: of tasks of 0.25, 0.5, 1, 2 s %.0f, %.0f, %.0f, %.0f %%\n",
                  (double)p.plan->round_ns * 1e-9, (double)slot_ns * 1e-9, 100 * quarter, 100 * half, 100 * one,
                  100 * two);
    assert_true(one >= 0.95 && two == 1);
    assert_true(got[STEPS - 1] - got[0] >= 0.08 * STEPS / STEPS_A_SECOND); // a tenth, less waits for ticks of 4 ms
    free(got);
    pipeline_stop(&p);
}

static void test_a_task_of_a_second_gets_counters_on_a_busy_core_whatever_the_round(void **state) {
    (void)state;
    check_busy_core(DEFAULT_GROUPS, SLOT_NS);
    check_busy_core(NULL, SLOT_NS);
    check_busy_core(NULL, 375 * (SECOND_NS / 1000));
    check_busy_core(NULL, 750 * (SECOND_NS / 1000));
}

// All cores are busy for a fiftieth of the time. The first one is busy altogether while a task of ours runs on it.
struct sleepers {
    struct busy_clock clock; // first
    uint64_t from_ns;        // of the task that runs; UINT64_MAX: none does
    uint64_t before_ns;      // what earlier tasks took
};

static bool read_sleepers(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns,
                          uint64_t *busy_ns) {
    const struct sleepers *sleepers = (const struct sleepers *)clock;
    uint64_t step_ns = SECOND_NS / 100, task_ns = now_ns > sleepers->from_ns ? now_ns - sleepers->from_ns : 0;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        busy_ns[cpu] = (now_ns / 50 + (cpu == 0 ? sleepers->before_ns + task_ns : 0)) / step_ns * step_ns;
    return true;
}

static void check_sleeping_core(uint64_t slot_ns) {
    enum { TASKS = 200, STEPS = 2 * STEPS_A_SECOND };
    struct sleepers sleepers = {.clock.read = read_sleepers, .from_ns = UINT64_MAX};
    struct pipeline p;
    uint64_t random = 3;
    start(&p, DEFAULT_GROUPS, slot_ns, &sleepers.clock, 12);
    uint64_t at_ns = p.now_ns;
    size_t lucky_in_one = 0, lucky_in_two = 0;
    for (size_t task = 0; task < TASKS; task++) {
        double got[STEPS + 1];
        at_ns += (2000 + random_below(&random, 10000)) * (SECOND_NS / 1000); // it sleeps
        got[0] = step(&p, 0, at_ns);
        sleepers.from_ns = at_ns;
        for (size_t i = 1; i <= STEPS; i++)
            got[i] = step(&p, 0, at_ns += STEP_NS);
        sleepers.before_ns += at_ns - sleepers.from_ns;
        sleepers.from_ns = UINT64_MAX;
        lucky_in_one += got_any(got, 0, STEPS / 2);
        lucky_in_two += got_any(got, 0, STEPS);
    }
    print_message("on a core that slept, slots of %.3f s: %zu %% within a second, %zu %% within two\n",
                  (double)slot_ns * 1e-9, 100 * lucky_in_one / TASKS, 100 * lucky_in_two / TASKS);
    assert_true(lucky_in_two >= TASKS * 9 / 10);
    pipeline_stop(&p);
}

static void test_a_task_of_two_seconds_gets_counters_on_a_core_that_slept(void **state) {
    (void)state;
    check_sleeping_core(SLOT_NS);
    check_sleeping_core(375 * (SECOND_NS / 1000));
    check_sleeping_core(750 * (SECOND_NS / 1000));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_task_of_a_second_gets_counters_on_a_busy_core_whatever_the_round),
        cmocka_unit_test(test_a_task_of_two_seconds_gets_counters_on_a_core_that_slept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
