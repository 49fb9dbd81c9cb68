// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// The sampler with a resident event group, on a CPU with PERF_METRICS: when it is started, stopped and read.

static const uint64_t SLOT_NS = SECOND_NS / 5;

static void start(struct pipeline *p) {
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_load_spec(p, "sapphire-rapids", 7);
    p->raw = true;
    pipeline_start(p, SLOT_NS, 1, groups);
    assert_true(p->plan->resident_group >= 0 && p->plan->n_groups > 2);
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

// From one event group to another, -1 for the idle slot: each call on both siblings, and the resident group is read
// before the other.
static void expect_edge(const struct pipeline *p, const struct edge *edge, unsigned core, int from, int to) {
    unsigned cpus[] = {core, core + p->scenario->cores_per_socket};
    int resident = p->plan->resident_group;
    size_t i = 0;
    for (size_t c = 0; c < 2 && from >= 0 && from != to; c++) {
        expect_call(p, edge, &i, CALL_DISABLE, cpus[c], from);
        if (to < 0)
            expect_call(p, edge, &i, CALL_DISABLE, cpus[c], resident);
    }
    for (size_t c = 0; c < 2 && to >= 0 && from != to; c++) {
        if (from < 0)
            expect_call(p, edge, &i, CALL_ENABLE, cpus[c], resident);
        expect_call(p, edge, &i, CALL_ENABLE, cpus[c], to);
    }
    for (size_t c = 0; c < 2 && from >= 0; c++) {
        expect_call(p, edge, &i, CALL_READ, cpus[c], resident);
        expect_call(p, edge, &i, CALL_READ, cpus[c], from);
    }
    assert_int_equal(i, edge->n);
}

// The rotating group that is on after this edge.
static int group_after(const struct pipeline *p, const struct edge *edge, int before) {
    for (size_t i = 0; i < edge->n; i++) {
        int group = group_of(p, edge->calls[i]->handle);
        if (group == p->plan->resident_group)
            continue;
        if (edge->calls[i]->kind == CALL_ENABLE)
            return group;
        if (edge->calls[i]->kind == CALL_DISABLE)
            before = -1;
    }
    return before;
}

static void test_an_edge_is_disable_enable_and_two_reads_and_idleness_holds_nothing(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    struct pipeline p;
    start(&p);
    pipeline_run(&p, ROUNDS);
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
        assert_true(idle >= ROUNDS - 1 && idle <= ROUNDS); // two idle slots in a row are one
        assert_true(kept < ROUNDS);                        // only the end of a round reads what goes on
    }
    pipeline_stop(&p);
}

static void test_its_windows_are_those_of_the_rotating_groups_and_lack_the_idle_slot(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    for (int round = 0; round < 5; round++) {
        pipeline_run(&p, 1);
        const struct readings *readings = sampler_readings(p.sampler);
        uint64_t sum_ns[4] = {0};
        for (size_t i = 0; i + 1 < readings->n_windows; i += 2) {
            const struct window *resident = &readings->windows[i], *other = &readings->windows[i + 1];
            assert_int_equal(resident->group, p.plan->resident_group);
            assert_int_not_equal(other->group, p.plan->resident_group);
            assert_int_equal(resident->cpu, other->cpu);
            assert_true(resident->result == WINDOW_COMPLETE && other->result == WINDOW_COMPLETE);
            assert_true(resident->enabled_ns == other->enabled_ns);
            sum_ns[resident->cpu] += resident->enabled_ns;
        }
        assert_int_equal(readings->n_windows % 2, 0);
        for (size_t cpu = 0; cpu < 4; cpu++)
            assert_true(sum_ns[cpu] == p.plan->round_ns - p.plan->idle_ns);
    }
    pipeline_stop(&p);
}

static void test_every_call_is_counted_and_whether_it_interrupts(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    pipeline_run(&p, 5);
    bool on[HANDLES_MAX] = {false};
    uint64_t calls = 0, interrupts = 0;
    for (size_t i = 0; i < p.recorder.n_calls; i++) {
        const struct call *call = &p.recorder.calls[i];
        calls += call->kind == CALL_OPEN ? call->n_events : 1;
        interrupts +=
            call->kind == CALL_ENABLE || call->kind == CALL_DISABLE || (call->kind == CALL_READ && on[call->handle]);
        if (call->kind == CALL_ENABLE || call->kind == CALL_DISABLE)
            on[call->handle] = call->kind == CALL_ENABLE;
    }
    assert_true(p.recorder.n_calls < CALLS_MAX);
    assert_int_equal(sampler_calls(p.sampler), calls);
    assert_int_equal(sampler_interrupts(p.sampler), interrupts);
    pipeline_stop(&p);
}

// How many windows of CPU 1 of the last round had each result, the resident group's apart.
static void count_results(const struct pipeline *p, unsigned resident[WINDOW_RESULT_N],
                          unsigned rotating[WINDOW_RESULT_N]) {
    const struct readings *readings = sampler_readings(p->sampler);
    memset(resident, 0, WINDOW_RESULT_N * sizeof *resident);
    memset(rotating, 0, WINDOW_RESULT_N * sizeof *rotating);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        bool is_resident = (int)window->group == p->plan->resident_group;
        assert_int_equal(is_resident, i % 2 == 0);
        if (p->topology->cpus[window->cpu].id != 1)
            assert_int_equal(window->result, WINDOW_COMPLETE);
        else
            ++(is_resident ? resident : rotating)[window->result];
        assert_true(window->result != WINDOW_FAILED || window->error == -ENODEV);
    }
}

static void test_a_cpu_that_was_away_has_both_groups_again(void **state) {
    (void)state;
    unsigned resident[WINDOW_RESULT_N], rotating[WINDOW_RESULT_N];
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
    count_results(&p, resident, rotating);
    assert_true(resident[WINDOW_FAILED] > 0 && resident[WINDOW_COMPLETE] == 0);
    assert_int_equal(resident[WINDOW_FAILED], rotating[WINDOW_FAILED]);
    while (p.now_ns < EPOCH_NS + 100 * SECOND_NS + round_ns)
        pipeline_step(&p, 0);
    pipeline_run(&p, 2); // opened at the end of the first, in the middle of a slot
    count_results(&p, resident, rotating);
    assert_true(resident[WINDOW_COMPLETE] > 0 && resident[WINDOW_FAILED] == 0);
    assert_int_equal(resident[WINDOW_COMPLETE], rotating[WINDOW_COMPLETE]);
    pipeline_stop(&p);
}

static void test_one_that_cannot_be_opened_leaves_the_others_and_comes_when_it_can(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "sapphire-rapids", 7);
    p.raw = true;
    p.recorder.refused_config = p.catalog->events[p.catalog->resident[0]].code.config;
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_start(&p, SLOT_NS, 1, groups);
    pipeline_run(&p, 1);
    const struct readings *readings = sampler_readings(p.sampler);
    for (size_t i = 0; i < readings->n_windows; i++)
        assert_int_equal(readings->windows[i].result, i % 2 == 0 ? WINDOW_FAILED : WINDOW_COMPLETE);
    assert_int_equal(readings->windows[0].error, -EINVAL);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_edge_is_disable_enable_and_two_reads_and_idleness_holds_nothing),
        cmocka_unit_test(test_its_windows_are_those_of_the_rotating_groups_and_lack_the_idle_slot),
        cmocka_unit_test(test_every_call_is_counted_and_whether_it_interrupts),
        cmocka_unit_test(test_a_cpu_that_was_away_has_both_groups_again),
        cmocka_unit_test(test_one_that_cannot_be_opened_leaves_the_others_and_comes_when_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
