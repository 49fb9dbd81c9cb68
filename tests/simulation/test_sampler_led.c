// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// The sampler on a CPU with PERF_METRICS, where slots leads every event group: when one is started, stopped and read.

static const uint64_t SLOT_NS = SECOND_NS / 5;

static void start(struct pipeline *p) {
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_load_spec(p, "sapphire-rapids", 7);
    p->raw = true;
    pipeline_start(p, SLOT_NS, 1, groups);
    assert_true(p->plan->common_unit >= 0 && p->plan->n_groups > 2);
}

// Until a CPU has been away, event groups are opened CPU by CPU in order.
static int group_of(const struct pipeline *p, int handle) { return handle % (int)p->plan->n_groups; }

static unsigned core_of(const struct pipeline *p, unsigned cpu) { return cpu % p->scenario->cores_per_socket; }

// What one core was asked at one time.
struct edge {
    const struct call *calls[64];
    size_t n;
};

// The calls of a core from *from on, up to the next time.
static struct edge next_edge(const struct pipeline *p, unsigned core, size_t *from) {
    struct edge edge = {.n = 0};
    for (; *from < p->recorder.n_calls; ++*from) {
        const struct call *call = &p->recorder.calls[*from];
        if (call->kind == CALL_OPEN || core_of(p, p->recorder.cpu_of[call->handle]) != core)
            continue;
        if (edge.n > 0 && call->at_ns != edge.calls[0]->at_ns)
            break;
        assert_true(edge.n < 64);
        edge.calls[edge.n++] = call;
    }
    return edge;
}

static void expect_call(const struct pipeline *p, const struct edge *edge, size_t *i, enum call_kind kind, unsigned cpu,
                        int group) {
    assert_true(*i < edge->n);
    assert_int_equal(edge->calls[*i]->kind, kind);
    assert_int_equal(p->recorder.cpu_of[edge->calls[*i]->handle], cpu);
    assert_int_equal(group_of(p, edge->calls[*i]->handle), group);
    ++*i;
}

// From one event group to another, -1 for the idle slot: each call on both siblings, and no more calls.
static void expect_edge(const struct pipeline *p, const struct edge *edge, unsigned core, int from, int to) {
    unsigned cpus[] = {core, core + p->scenario->cores_per_socket};
    size_t i = 0;
    for (size_t c = 0; c < 2 && from >= 0 && from != to; c++)
        expect_call(p, edge, &i, CALL_DISABLE, cpus[c], from);
    for (size_t c = 0; c < 2 && to >= 0 && from != to; c++)
        expect_call(p, edge, &i, CALL_ENABLE, cpus[c], to);
    for (size_t c = 0; c < 2 && from >= 0; c++)
        expect_call(p, edge, &i, CALL_READ, cpus[c], from);
    assert_int_equal(i, edge->n);
}

// The event group that is on after this edge.
static int group_after(const struct pipeline *p, const struct edge *edge, int before) {
    for (size_t i = 0; i < edge->n; i++) {
        int group = group_of(p, edge->calls[i]->handle);
        if (edge->calls[i]->kind == CALL_ENABLE)
            return group;
        if (edge->calls[i]->kind == CALL_DISABLE)
            before = -1;
    }
    return before;
}

static void test_an_edge_is_disable_enable_read_and_idleness_holds_nothing(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    struct pipeline p;
    start(&p);
    pipeline_run(&p, ROUNDS);
    unsigned pieces = schedule_of(p.plan, p.topology->n_cores, PLAN_INTERVAL_NS, p.seed).n_pieces;
    for (unsigned core = 0; core < p.scenario->cores_per_socket; core++) {
        int on = -1;
        unsigned idle = 0, kept = 0;
        size_t at = 0;
        for (struct edge edge = next_edge(&p, core, &at); edge.n > 0; edge = next_edge(&p, core, &at)) {
            int next = group_after(&p, &edge, on);
            expect_edge(&p, &edge, core, on, next);
            idle += next < 0;
            kept += next == on;
            on = next;
        }
        assert_true(idle >= ROUNDS * pieces - 1 && idle <= ROUNDS * pieces); // the first may be before the first slot
        assert_true(kept < ROUNDS); // only the end of a round reads what goes on
    }
    pipeline_stop(&p);
}

static void test_windows_follow_one_another_and_lack_the_idle_slot(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    for (int round = 0; round < 5; round++) {
        pipeline_run(&p, 1);
        const struct readings *readings = sampler_readings(p.sampler);
        uint64_t sum_ns[4] = {0};
        for (size_t i = 0; i < readings->n_windows; i++) {
            assert_true(readings->windows[i].result == WINDOW_COMPLETE);
            sum_ns[readings->windows[i].cpu] += readings->windows[i].enabled_ns;
        }
        for (size_t cpu = 0; cpu < 4; cpu++)
            assert_true(sum_ns[cpu] == p.plan->round_ns - p.plan->idle_ns);
    }
    pipeline_stop(&p);
}

static void test_an_edge_interrupts_twice_and_every_call_is_counted(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    pipeline_run(&p, 5);
    bool on[HANDLES_MAX] = {false};
    uint64_t calls = 0, interrupts = 0, switches = 0, round_ends = 0;
    for (size_t i = 0; i < p.recorder.n_calls; i++) {
        const struct call *call = &p.recorder.calls[i];
        calls += call->kind == CALL_OPEN ? call->n_events : 1;
        interrupts +=
            call->kind == CALL_ENABLE || call->kind == CALL_DISABLE || (call->kind == CALL_READ && on[call->handle]);
        if (call->kind == CALL_ENABLE || call->kind == CALL_DISABLE)
            on[call->handle] = call->kind == CALL_ENABLE;
        switches += call->kind == CALL_ENABLE || call->kind == CALL_DISABLE;
        round_ends += call->kind == CALL_READ && on[call->handle];
    }
    assert_true(p.recorder.n_calls < CALLS_MAX);
    assert_true(round_ends <= 5 * p.topology->n_cpus); // what goes on over the end of a round is read while it counts
    assert_int_equal(interrupts, switches + round_ends);
    assert_int_equal(sampler_calls(p.sampler), calls);
    assert_int_equal(sampler_interrupts(p.sampler), interrupts);
    uint64_t truly = 0;
    for (unsigned cpu = 0; cpu < p.topology->n_cpus; cpu++)
        truly += pmu_sim_interrupts(p.recorder.inner, p.topology->cpus[cpu].id);
    assert_int_equal(interrupts, truly);
    pipeline_stop(&p);
}

// How many windows of CPU 1 of the last round had each result.
static void count_results(const struct pipeline *p, unsigned results[WINDOW_RESULT_N]) {
    const struct readings *readings = sampler_readings(p->sampler);
    memset(results, 0, WINDOW_RESULT_N * sizeof *results);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        if (p->topology->cpus[window->cpu].id != 1)
            assert_int_equal(window->result, WINDOW_COMPLETE);
        else
            ++results[window->result];
        assert_true(window->result != WINDOW_FAILED || window->error == -ENODEV);
    }
}

static void test_a_cpu_that_was_away_has_its_groups_again(void **state) {
    (void)state;
    unsigned results[WINDOW_RESULT_N];
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 7);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    rival->from_seconds = 20;
    rival->until_seconds = 100;
    rival->cpus = (struct cpuset){0};
    cpuset_add(&rival->cpus, 1);
    p.raw = true;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_start(&p, SLOT_NS, 1, groups);
    uint64_t round_ns = p.plan->round_ns;
    while (p.now_ns < EPOCH_NS + 20 * SECOND_NS + round_ns)
        pipeline_step(&p, 0);
    pipeline_run(&p, 1);
    assert_true(p.now_ns < EPOCH_NS + 100 * SECOND_NS); // it was away all through this round
    count_results(&p, results);
    assert_true(results[WINDOW_FAILED] > 0 && results[WINDOW_COMPLETE] == 0);
    while (p.now_ns < EPOCH_NS + 100 * SECOND_NS + round_ns)
        pipeline_step(&p, 0);
    pipeline_run(&p, 2); // opened at the end of the first, in the middle of a slot
    count_results(&p, results);
    assert_true(results[WINDOW_COMPLETE] > 0 && results[WINDOW_FAILED] == 0);
    pipeline_stop(&p);
}

static bool has_event(const struct plan_group *group, unsigned event) {
    for (size_t i = 0; i < group->n_events; i++)
        if (group->events[i] == event)
            return true;
    return false;
}

static void test_one_that_cannot_be_opened_leaves_the_others_and_comes_when_it_can(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 7);
    p.raw = true;
    unsigned refused = (unsigned)catalog_find_event(p.catalog, "BR_MISP_RETIRED.ALL_BRANCHES");
    p.recorder.refused_config = p.catalog->events[refused].code.config;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_start(&p, SLOT_NS, 1, groups);
    pipeline_run(&p, 1);
    const struct readings *readings = sampler_readings(p.sampler);
    size_t n = 0;
    for (size_t i = 0; i < readings->n_windows; i++) {
        bool without = has_event(&p.plan->groups[readings->windows[i].group], refused);
        assert_int_equal(readings->windows[i].result, without ? WINDOW_FAILED : WINDOW_COMPLETE);
        assert_int_equal(readings->windows[i].error, without ? -EINVAL : 0);
        n += without;
    }
    assert_true(n > 0 && n < readings->n_windows);
    p.recorder.refused_config = 0;
    size_t n_failed = 1;
    while (n_failed > 0) { // tried again every minute
        assert_true(p.now_ns < EPOCH_NS + 100 * SECOND_NS);
        pipeline_run(&p, 1);
        (void)sampler_open_error(p.sampler, &n_failed);
    }
    pipeline_run(&p, 1); // they were opened when this round began, and started where its first slot was not idle
    for (size_t i = 0; i < readings->n_windows; i++)
        assert_int_equal(readings->windows[i].result, WINDOW_COMPLETE);
    pipeline_stop(&p);
}

static void test_another_user_of_slots_shares_the_time_of_every_group(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 7);
    pipeline_add_rival(&p, RIVAL_FLEXIBLE, 0)->slots = true;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_start(&p, SLOT_NS, 1, groups);
    pipeline_run(&p, 2);
    const struct readings *readings = sampler_readings(p.sampler);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        assert_int_equal(window->result, WINDOW_CONTENDED);
        assert_true(fabs((double)window->running_ns / (double)window->enabled_ns - 0.5) < 0.05);
    }
    for (size_t c = 0; c < p.layout->n_level1; c++) { // what is left of the time still says the truth
        size_t m = 0;
        while (p.plan->metrics[m].metric != p.catalog->level1.categories[c].metric)
            m++;
        assert_near(p.snapshot->values[snapshot_metric(p.layout, 0, m)],
                    pipeline_truth(&p, 0, m, p.snapshot->start_ns, p.snapshot->end_ns), 0.01, "level 1");
    }
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_edge_is_disable_enable_read_and_idleness_holds_nothing),
        cmocka_unit_test(test_windows_follow_one_another_and_lack_the_idle_slot),
        cmocka_unit_test(test_an_edge_interrupts_twice_and_every_call_is_counted),
        cmocka_unit_test(test_a_cpu_that_was_away_has_its_groups_again),
        cmocka_unit_test(test_another_user_of_slots_shares_the_time_of_every_group),
        cmocka_unit_test(test_one_that_cannot_be_opened_leaves_the_others_and_comes_when_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
