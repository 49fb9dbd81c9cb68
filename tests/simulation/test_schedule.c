// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// Rules 7 and 8 of docs/ARCHITECTURE.md: a guest in the house, and how event groups rotate; and that sums do not depend
// on the order of CPUs.

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char *const DEFAULT_GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
static const uint64_t SLOT_NS = SECOND_NS / 5;

static void start(struct pipeline *p, unsigned threads_per_core, uint64_t seed) {
    pipeline_load(p, STEADY);
    p->scenario->threads_per_core = threads_per_core;
    p->scenario->cores_per_socket /= threads_per_core;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    pipeline_start(p, SLOT_NS, seed, DEFAULT_GROUPS);
}

// The event group that a handle stands for: groups are opened CPU by CPU in order.
static unsigned group_of(const struct pipeline *p, int handle) {
    return (unsigned)handle % (unsigned)p->plan->n_groups;
}

// Calls of one CPU, without those that open.
static size_t calls_of(const struct pipeline *p, unsigned cpu, struct call *out) {
    size_t n = 0;
    for (size_t i = 0; i < p->recorder.n_calls; i++)
        if (p->recorder.calls[i].kind != CALL_OPEN && p->recorder.cpu_of[p->recorder.calls[i].handle] == cpu)
            out[n++] = p->recorder.calls[i];
    return n;
}

static void test_a_slot_edge_is_disable_enable_read(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 1, 1);
    pipeline_run(&p, 10);
    struct call *calls = calloc(CALLS_MAX, sizeof *calls);
    for (unsigned cpu = 0; cpu < p.topology->n_cpus; cpu++) {
        size_t n = calls_of(&p, cpu, calls);
        int on = -1, to_read = -1;
        for (size_t i = 0; i < n; i++) {
            switch (calls[i].kind) {
            case CALL_DISABLE: // what counts, and nothing waits to be read
                assert_int_equal(calls[i].handle, on);
                assert_int_equal(to_read, -1);
                to_read = on;
                on = -1;
                break;
            case CALL_ENABLE: // only after the old one is off, and before it is read, at the same edge
                assert_int_equal(on, -1);
                if (to_read >= 0)
                    assert_true(calls[i].at_ns == calls[i - 1].at_ns);
                else // out of the idle slot: nothing happened at this edge yet, no read either
                    assert_true(i == 0 || calls[i].at_ns > calls[i - 1].at_ns);
                on = calls[i].handle;
                break;
            case CALL_READ: // the one just disabled; or the one that goes on over the end of a round
                assert_int_equal(calls[i].handle, to_read >= 0 ? to_read : on);
                to_read = -1;
                break;
            default:
                fail();
            }
        }
    }
    free(calls);
    pipeline_stop(&p);
}

static void test_rotating_costs_no_counting_time(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 1, 2);
    pipeline_run(&p, 20);
    for (size_t g = 0; g < p.plan->n_groups; g++) {
        double enabled = p.snapshot->values[snapshot_enabled(p.layout, g)];
        double running = p.snapshot->values[snapshot_running(p.layout, g)];
        assert_true(enabled > 0 &&
                    enabled == running); // enabling before disabling costs up to a tick of 4 ms each time
    }
    pipeline_stop(&p);
}

static void test_every_event_group_has_its_slots_in_every_round_of_every_cpu(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 1, 3);
    for (int round = 0; round < 10; round++) {
        pipeline_run(&p, 1);
        const struct readings *readings = sampler_readings(p.sampler);
        for (unsigned cpu = 0; cpu < p.topology->n_cpus; cpu++) {
            for (unsigned g = 0; g < p.plan->n_groups; g++) {
                uint64_t enabled_ns = 0;
                for (size_t i = 0; i < readings->n_windows; i++)
                    if (readings->windows[i].cpu == cpu && readings->windows[i].group == g)
                        enabled_ns += readings->windows[i].enabled_ns;
                assert_true(enabled_ns == p.plan->units[p.plan->groups[g].unit].slots * SLOT_NS);
            }
        }
        assert_true(readings->end_ns - readings->start_ns == p.plan->round_ns);
    }
    pipeline_stop(&p);
}

static void test_a_tenth_of_every_round_nothing_is_held(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 1, 4);
    pipeline_run(&p, 10);
    struct call *calls = calloc(CALLS_MAX, sizeof *calls);
    uint64_t elapsed_ns = p.snapshot->end_ns - p.start_ns;
    for (unsigned cpu = 0; cpu < p.topology->n_cpus; cpu++) {
        size_t n = calls_of(&p, cpu, calls);
        uint64_t idle_ns = 0, off_ns = p.start_ns;
        bool on = false;
        for (size_t i = 0; i < n; i++) {
            if (calls[i].kind == CALL_ENABLE) {
                idle_ns += on ? 0 : calls[i].at_ns - off_ns;
                on = true;
            } else if (calls[i].kind == CALL_DISABLE) {
                on = false;
                off_ns = calls[i].at_ns;
            }
        }
        idle_ns += on ? 0 : p.snapshot->end_ns - off_ns;
        assert_near((double)idle_ns / (double)elapsed_ns, 0.1, 1e-6, "idle share");
    }
    free(calls);
    pipeline_stop(&p);
}

static void test_a_tasks_group_counts_in_the_idle_slot(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    pipeline_add_rival(&p, RIVAL_TASK, 6);
    pipeline_start(&p, SLOT_NS, 5, DEFAULT_GROUPS);
    pipeline_run(&p, 100);
    for (unsigned cpu = 0; cpu < p.topology->n_cpus; cpu++) {
        double share = pmu_sim_rival_share(p.recorder.inner, 0, cpu);
        // a tenth, less the wait for the tick of 4 ms after each idle slot of 156 ms begins
        assert_true(share > 0.095 && share <= 0.1);
    }
    pipeline_stop(&p);
}

static void test_smt_siblings_always_count_the_same_event_group(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 2, 6);
    assert_int_equal(p.topology->n_cpus, 8);
    assert_int_equal(p.topology->n_cores, 4);
    pipeline_run(&p, 10);
    struct call *calls = calloc(CALLS_MAX, sizeof *calls), *others = calloc(CALLS_MAX, sizeof *others);
    for (unsigned a = 0; a < 8; a++) {
        for (unsigned b = a + 1; b < 8; b++) {
            if (p.topology->cpus[a].core != p.topology->cpus[b].core)
                continue;
            size_t n = calls_of(&p, a, calls);
            assert_int_equal(calls_of(&p, b, others), n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(calls[i].kind, others[i].kind);
                assert_int_equal(group_of(&p, calls[i].handle), group_of(&p, others[i].handle));
                assert_true(calls[i].at_ns == others[i].at_ns);
            }
        }
    }
    free(others);
    free(calls);
    pipeline_stop(&p);
}

// The order of groups in one round of one CPU, as text.
static void order_of(const struct pipeline *p, unsigned cpu, char *out, size_t size) {
    const struct readings *readings = sampler_readings(p->sampler);
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < readings->n_windows && length < size; i++)
        if (readings->windows[i].cpu == cpu)
            length += (size_t)snprintf(out + length, size - length, "%u ", readings->windows[i].group);
}

static void test_orders_differ_between_cores_and_rounds_and_repeat_with_the_seed(void **state) {
    (void)state;
    enum { ROUNDS = 5, CPUS = 8 };
    char orders[2][ROUNDS][CPUS][128];
    for (int run = 0; run < 2; run++) {
        struct pipeline p;
        start(&p, 1, 7);
        for (int round = 0; round < ROUNDS; round++) {
            pipeline_run(&p, 1);
            for (unsigned cpu = 0; cpu < CPUS; cpu++)
                order_of(&p, cpu, orders[run][round][cpu], sizeof orders[run][round][cpu]);
        }
        pipeline_stop(&p);
    }
    assert_memory_equal(orders[0][0][0], orders[1][0][0], strlen(orders[0][0][0]) + 1);
    int same_round = 0, same_cpu = 0, pairs = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
            assert_string_equal(orders[0][round][cpu], orders[1][round][cpu]);
            same_round += strcmp(orders[0][round][cpu], orders[0][round][(cpu + 1) % CPUS]) == 0;
            same_cpu += strcmp(orders[0][round][cpu], orders[0][(round + 1) % ROUNDS][cpu]) == 0;
            pairs++;
        }
    }
    assert_true(same_round < pairs / 8 && same_cpu < pairs / 8);
}

static void test_nothing_is_pinned_or_reset_and_groups_stay_open(void **state) {
    (void)state;
    // The PMU's interface has no way to pin or to reset; what is left to check is that nothing is opened or closed on
    // the way.
    struct pipeline p;
    start(&p, 1, 8);
    pipeline_run(&p, 10);
    size_t opened = 0;
    for (size_t i = 0; i < p.recorder.n_calls; i++) {
        opened += p.recorder.calls[i].kind == CALL_OPEN;
        assert_int_not_equal(p.recorder.calls[i].kind, CALL_CLOSE);
        assert_true(p.recorder.calls[i].kind != CALL_OPEN || p.recorder.calls[i].at_ns <= p.start_ns);
    }
    assert_int_equal(opened, p.topology->n_cpus * p.plan->n_groups);
    pipeline_stop(&p);
}

// Opens of one step between two times: at most 64 events, and the next step is a millisecond later. Returns how many.
static size_t check_opening(const struct pipeline *p, uint64_t from_ns, uint64_t until_ns) {
    size_t events = 0, opens = 0;
    uint64_t step_ns = 0;
    for (size_t i = 0; i < p->recorder.n_calls; i++) {
        const struct call *call = &p->recorder.calls[i];
        if (call->kind != CALL_OPEN || call->at_ns < from_ns || call->at_ns > until_ns)
            continue;
        if (call->at_ns != step_ns) {
            assert_true(step_ns == 0 || call->at_ns == step_ns + SECOND_NS / 1000);
            step_ns = call->at_ns;
            events = 0;
        }
        events += call->n_events;
        assert_true(events <= 64);
        opens++;
    }
    return opens;
}

static void test_event_groups_are_opened_a_few_at_a_time_and_measuring_begins_behind_the_last(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "scenarios/demo.json");
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    (void)cpuset_parse("0-31", &rival->cpus);
    rival->from_seconds = 10;
    rival->until_seconds = 20;
    pipeline_start(&p, SLOT_NS, 11, DEFAULT_GROUPS);
    pipeline_run(&p, 2);
    size_t all = p.topology->n_cpus * p.plan->n_groups;
    assert_int_equal(check_opening(&p, EPOCH_NS, p.start_ns), all);
    for (size_t i = 0; i < p.recorder.n_calls; i++)
        assert_true(p.recorder.calls[i].kind == CALL_OPEN || p.recorder.calls[i].at_ns >= p.start_ns);
    while (pipeline_windows(&p, WINDOW_COMPLETE) == 0 || p.now_ns < EPOCH_NS + 20 * SECOND_NS)
        pipeline_step(&p, 0);
    while (!pipeline_step(&p, 0)) // to the end of the round in which they came back
        ;
    uint64_t back_ns = p.now_ns;
    pipeline_run(&p, 1);
    assert_int_equal(check_opening(&p, back_ns, p.now_ns - 1), all / 2);
    pipeline_stop(&p);
}

static void test_calls_and_interrupts_are_counted(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 1, 12);
    pipeline_run(&p, 5);
    uint64_t opened = 0, others = 0, of_stopped = 0;
    bool *on = calloc(HANDLES_MAX, sizeof *on);
    for (size_t i = 0; i < p.recorder.n_calls; i++) {
        const struct call *call = &p.recorder.calls[i];
        opened += call->n_events;
        others += call->kind != CALL_OPEN;
        of_stopped += call->kind == CALL_READ && !on[call->handle];
        if (call->kind == CALL_ENABLE || call->kind == CALL_DISABLE)
            on[call->handle] = call->kind == CALL_ENABLE;
    }
    free(on);
    assert_true(sampler_calls(p.sampler) == opened + others);
    assert_true(of_stopped > 0 && sampler_interrupts(p.sampler) == others - of_stopped);
    pipeline_stop(&p);
}

// The same readings with the CPUs of each socket in reverse order: the same sums. Standard errors depend a little on
// which cores run the same order, because these tell whether the cores are in step.
static void permute(struct readings *readings) {
    for (size_t i = 0; i < readings->n_windows; i++)
        readings->windows[i].cpu = readings->windows[i].cpu / 32 * 32 + 31 - readings->windows[i].cpu % 32;
}

// Whether a field of scope 0 is a difference of nearly equal numbers: the deviation, and the ends of intervals.
static bool is_difference(const struct snapshot_layout *layout, size_t place) {
    return place == snapshot_deviation(layout, 0) ||
           (place >= snapshot_low(layout, 0, 0) && place < snapshot_metric_windows(layout, 0, 0));
}

static void test_permuting_cpus_changes_no_sum(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, "scenarios/demo.json");
    assert_int_equal(p.topology->n_cpus, 64);
    assert_int_equal(p.topology->cpus[31].socket, 0);
    assert_int_equal(p.topology->cpus[32].socket, 1);
    pipeline_start(&p, SLOT_NS, 9, DEFAULT_GROUPS);
    struct derive *permuted = derive_new(p.layout);
    for (int round = 0; round < 50; round++) {
        pipeline_run(&p, 1);
        struct snapshot *snapshot = snapshot_new(p.layout);
        permute((struct readings *)sampler_readings(p.sampler));
        derive_round(permuted, sampler_readings(p.sampler), snapshot);
        for (size_t i = 0; i < snapshot_scope_cpu(p.layout, 0) * p.layout->scope_stride; i++) {
            size_t place = i % p.layout->scope_stride;
            if (is_difference(p.layout, place))
                continue;
            bool error = place >= snapshot_standard_error(p.layout, 0, 0) && place < snapshot_low(p.layout, 0, 0);
            if (!isnan(p.snapshot->values[i]) || !isnan(snapshot->values[i]))
                assert_near(snapshot->values[i], p.snapshot->values[i], error ? 0.05 : 1e-12, "permuted sum");
        }
        snapshot_unref(snapshot);
    }
    derive_free(permuted);
    pipeline_stop(&p);
}

static void test_a_sum_is_a_ratio_of_sums_never_a_mean_of_ratios(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, STEADY);
    // CPU 0 runs ten times slower at a third of the IPC: a mean of ratios would be far off
    struct scenario_load *load = realloc(p.scenario->loads, 2 * sizeof *load);
    assert_non_null(load);
    p.scenario->loads = load;
    load[1] = (struct scenario_load){.name = strdup("slow"), .period_seconds = 1, .n_keyframes = 1};
    load[1].keyframes = calloc(1, sizeof *load[1].keyframes);
    load[1].keyframes[0].rates = calloc(load[0].keyframes[0].n_rates, sizeof *load[1].keyframes[0].rates);
    load[1].keyframes[0].n_rates = load[0].keyframes[0].n_rates;
    for (size_t i = 0; i < load[0].keyframes[0].n_rates; i++) {
        const struct scenario_rate *rate = &load[0].keyframes[0].rates[i];
        double factor = strcmp(rate->event, "INST_RETIRED") == 0 ? 1.0 / 30 : 0.1;
        load[1].keyframes[0].rates[i] = (struct scenario_rate){strdup(rate->event), rate->per_second * factor};
    }
    p.scenario->n_loads = 2;
    struct scenario_assignment *assignments =
        realloc(p.scenario->assignments, (p.scenario->n_assignments + 1) * sizeof *assignments);
    assert_non_null(assignments);
    p.scenario->assignments = assignments;
    assignments[p.scenario->n_assignments] = (struct scenario_assignment){.load = 1};
    cpuset_add(&assignments[p.scenario->n_assignments++].cpus, 0);
    pipeline_start(&p, SLOT_NS, 10, DEFAULT_GROUPS);
    pipeline_run(&p, 3);
    // 7 CPUs with 2e9 cycles and 3e9 instructions, one with 0.2e9 and 0.1e9
    assert_near(pipeline_gauge(&p, 0, "ipc"), (7 * 3.0 + 0.1) / (7 * 2.0 + 0.2), 1e-6, "ipc of the host");
    assert_near(pipeline_gauge(&p, snapshot_scope_cpu(p.layout, 0), "ipc"), 0.5, 1e-6, "ipc of CPU 0");
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slot_edge_is_disable_enable_read),
        cmocka_unit_test(test_rotating_costs_no_counting_time),
        cmocka_unit_test(test_every_event_group_has_its_slots_in_every_round_of_every_cpu),
        cmocka_unit_test(test_a_tenth_of_every_round_nothing_is_held),
        cmocka_unit_test(test_a_tasks_group_counts_in_the_idle_slot),
        cmocka_unit_test(test_smt_siblings_always_count_the_same_event_group),
        cmocka_unit_test(test_orders_differ_between_cores_and_rounds_and_repeat_with_the_seed),
        cmocka_unit_test(test_nothing_is_pinned_or_reset_and_groups_stay_open),
        cmocka_unit_test(test_event_groups_are_opened_a_few_at_a_time_and_measuring_begins_behind_the_last),
        cmocka_unit_test(test_calls_and_interrupts_are_counted),
        cmocka_unit_test(test_permuting_cpus_changes_no_sum),
        cmocka_unit_test(test_a_sum_is_a_ratio_of_sums_never_a_mean_of_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
