// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"
#include "tests/unit/core_check.h"

// Days of the daemon's measuring in seconds: for any happenings on the host, totals only grow, nothing is left open,
// and after recovery the shown values are right again. measuring_step checks after each step what its state holds.

static const char STEADY[] = "tests/data/scenarios/steady.json"; // 8 CPUs, 6 general counters
static const char YAML[] = "slot: 2s\nprofiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";
static const double HOUR = 3600, DAY = 86400, RIVALS = 18 * 3600;

static double total(const struct measuring *m, size_t place) { return m->snapshot->values[place]; }

static double covered(const struct measuring *m) { return total(m, snapshot_covered(m->snapshot->layout, 0)); }

static double all_uncovered(const struct measuring *m) {
    double sum = 0;
    for (unsigned reason = 0; reason < UNCOVERED_N; reason++)
        sum += total(m, snapshot_uncovered(m->snapshot->layout, 0, (enum uncovered)reason));
    return sum;
}

static double ipc(const struct measuring *m) {
    const struct snapshot_layout *layout = m->snapshot->layout;
    for (size_t i = 0; i < layout->n_metrics; i++)
        if (strcmp(layout->catalog->metrics[layout->plan->metrics[i].metric].export_name, "ipc") == 0)
            return m->snapshot->values[snapshot_metric(layout, 0, i)];
    return NAN;
}

static void test_a_quiet_day_is_covered_to_the_last_second_and_silent(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, STEADY, YAML);
    measuring_start(&m);
    measuring_run_until(&m, 10);
    measuring_forget(&m);
    measuring_run_until(&m, DAY);
    assert_true(all_uncovered(&m) == 0);
    assert_near(covered(&m), 8 * DAY, 1e-4, "covered");
    assert_near(ipc(&m), 1.5, 1e-6, "ipc");
    assert_int_equal(m.n_plans, 1);
    assert_int_equal(m.n_probes, 0);
    size_t verdict = measuring_said(&m, "what this host is bound by: ") + measuring_said(&m, "next, look at ");
    assert_true(verdict <= 2);
    assert_int_equal(measuring_said(&m, "\n"), verdict); // else a steady state is silent
    measuring_stop(&m);
}

// Takes turns between quiet and expensive hours.
static void test_half_a_day_whose_hours_cost_differently_ends_with_the_configured_slots(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, STEADY, YAML);
    measuring_start(&m);
    uint64_t longest_ns = 0;
    for (int hour = 1; hour <= 12; hour++) {
        m.step_cost_ns = hour % 4 == 0 ? 4000000 : 40000;
        measuring_run_until(&m, hour * HOUR);
        uint64_t slot_ns = measuring_plan(&m)->slot_ns;
        longest_ns = slot_ns > longest_ns ? slot_ns : longest_ns;
        assert_true(hour % 4 == 0 || slot_ns == 2 * SECOND_NS);
        assert_true(m.snapshot->status.cost.budget_used < 1); // within an hour it is kept
    }
    assert_true(longest_ns > 4 * SECOND_NS);
    assert_near(covered(&m), 8 * DAY / 2, 5e-3, "covered");
    measuring_stop(&m);
}

static double between(uint64_t *random, double from, double to) { return from + random_unit(random) * (to - from); }

// Rivals of all kinds, coming and going for the first three quarters of the day.
static void add_rivals(struct measuring *m, uint64_t *random) {
    static const enum scenario_rival_kind kinds[] = {RIVAL_PINNED,  RIVAL_PINNED, RIVAL_FLEXIBLE, RIVAL_TASK,
                                                     RIVAL_OFFLINE, RIVAL_REFUSE, RIVAL_OFFLINE};
    for (size_t i = 0; i < N_OF(kinds); i++) {
        char cpus[8];
        unsigned first = kinds[i] == RIVAL_PINNED ? 0 : (unsigned)between(random, 0, 7); // on all: counters are missed
        (void)snprintf(cpus, sizeof cpus, "%u-7", first);
        unsigned counters =
            (unsigned)between(random, i == 0 ? 4 : 1, 7); // the first one is missed whatever the others do
        struct scenario_rival *rival =
            measuring_add_rival(m, kinds[i], counters, cpus, between(random, 0, HOUR), RIVALS);
        rival->period_seconds = between(random, 600, 7200);
        rival->on_seconds = between(random, i == 0 ? 0.1 : 0.01, 0.3) * rival->period_seconds;
    }
}

struct seen {
    double covered, uncovered;
    uint64_t sequence;
};

static void assert_grows(const struct measuring *m, struct seen *before) {
    if (!m->snapshot)
        return;
    struct seen now = {covered(m), all_uncovered(m), m->snapshot->sequence};
    assert_true(now.covered >= before->covered && now.uncovered >= before->uncovered);
    assert_true(now.sequence >= before->sequence);
    *before = now;
}

static void test_a_day_of_rivals_absences_refusals_yields_and_late_steps(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct measuring m;
    struct seen seen = {0};
    measuring_load(&m, STEADY, YAML);
    add_rivals(&m, &random);
    measuring_start(&m);
    double next_yield = between(&random, 0, HOUR);
    while (measuring_seconds(&m) < RIVALS) {
        bool late = random_unit(&random) < 0.02;
        assert_int_equal(measuring_step_late(&m, late ? (uint64_t)between(&random, 0, 20e9) : 0), 0);
        assert_grows(&m, &seen);
        // time is accounted for from the first round on, so a yield before it would not be
        if (measuring_seconds(&m) > next_yield && seen.sequence > 0) {
            bool gives = random_unit(&random) < 0.7;
            assert_int_equal(measuring_yield(&m, gives ? between(&random, 1, 300) : 0), 0);
            next_yield = measuring_seconds(&m) + between(&random, 0, gives ? HOUR : 60);
        }
    }
    assert_true(m.n_probes > 1); // whether another plan follows depends on how many counters are ever left
    // all are gone: who was refused is tried again, who was missed is found, what did not run is tried within an hour
    measuring_run_until(&m, RIVALS + HOUR + 600);
    assert_grows(&m, &seen);
    double lost = all_uncovered(&m);
    measuring_run_until(&m, DAY);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_int_equal(m.recorder.n_open, measuring_plan(&m)->n_groups * 8);
    assert_near(ipc(&m), 1.5, 1e-6, "ipc");
    assert_true(all_uncovered(&m) == lost);
    assert_near(covered(&m) + all_uncovered(&m), 8 * DAY, 1e-3, "all time");
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_quiet_day_is_covered_to_the_last_second_and_silent),
        cmocka_unit_test(test_half_a_day_whose_hours_cost_differently_ends_with_the_configured_slots),
        cmocka_unit_test(test_a_day_of_rivals_absences_refusals_yields_and_late_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
