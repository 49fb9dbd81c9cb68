// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"
#include "tests/simulation/sim_host.h"

// Probing for general counters, on hosts with a known answer.

enum { CPUS = 8 };

static struct pipeline load(unsigned counters) {
    struct pipeline p;
    pipeline_load(&p, "tests/data/scenarios/steady.json");
    assert_int_equal(p.topology->n_cpus, CPUS);
    p.scenario->general_counters = counters;
    return p;
}

struct answer {
    unsigned counters;
    int error;
    uint64_t took_ns;
};

// Probes twice on the same host: the first leaves nothing behind that the second would notice.
static struct answer probe(struct pipeline *p) {
    const char *unknown;
    struct answer answers[2];
    struct pmu *pmu;
    uint64_t now_ns = EPOCH_NS;
    assert_int_equal(pmu_sim_new(p->scenario, p->catalog, EPOCH_NS, &unknown, &pmu), 0);
    for (int i = 0; i < 2; i++) {
        uint64_t begin_ns = now_ns;
        struct probe *made = pipeline_probe(p, pmu, &now_ns);
        answers[i] = (struct answer){probe_counters(made), probe_error(made), now_ns - begin_ns};
        probe_free(made);
    }
    assert_int_equal(answers[0].counters, answers[1].counters);
    assert_int_equal(answers[0].error, answers[1].error);
    assert_true(answers[0].counters == 0 || answers[0].error == 0);
    pmu->ops->free(pmu);
    pipeline_stop(p);
    return answers[0];
}

static void test_one_to_twenty_counters_are_found(void **state) {
    (void)state;
    for (unsigned counters = 1; counters <= 20; counters++) {
        struct pipeline p = load(counters);
        assert_int_equal(probe(&p).counters, counters);
    }
}

static void test_events_that_are_choosy_about_counters_do_not_mislead(void **state) {
    (void)state;
    static const char *const specs[] = {"nehalem-ep", "sandy-bridge-ep", "sapphire-rapids", "zen3"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct pipeline p;
        pipeline_load_spec(&p, specs[i], 1);
        unsigned counters = p.catalog->general_counters;
        assert_int_equal(probe(&p).counters, counters);
    }
}

static void test_a_pmu_that_validates_nothing_does_not_deceive(void **state) {
    (void)state;
    const unsigned counters[] = {2, 6, 20};
    for (size_t i = 0; i < 3; i++) {
        struct pipeline p = load(counters[i]);
        p.scenario->validates_nothing = true;
        assert_int_equal(probe(&p).counters, counters[i]);
    }
}

static void test_a_surplus_member_that_opens_and_never_runs_does_not_deceive(void **state) {
    (void)state;
    const unsigned counters[] = {2, 6, 20};
    for (size_t i = 0; i < 3; i++) {
        struct pipeline p = load(counters[i]);
        p.scenario->surplus = true;
        // without the cycle counter, every leader needs a general counter
        int cycles = catalog_find_event(p.catalog, "CPU_CYCLES");
        p.support[cycles] = PLAN_UNSUPPORTED;
        assert_int_equal(probe(&p).counters, counters[i]);
    }
}

static void test_what_a_pinned_rival_holds_is_not_found(void **state) {
    (void)state;
    struct pipeline p = load(6);
    pipeline_add_rival(&p, RIVAL_PINNED, 4);
    assert_int_equal(probe(&p).counters, 2);
    p = load(6);
    pipeline_add_rival(&p, RIVAL_PINNED, 6);
    struct answer answer = probe(&p);
    assert_int_equal(answer.counters, 0);
    assert_int_equal(answer.error, 0); // others hold them: no error
}

static void test_a_watchdog_on_the_cycle_counter_costs_one_general_counter(void **state) {
    (void)state;
    struct pipeline p = load(6);
    pipeline_add_rival(&p, RIVAL_PINNED, 0)->cycles = true;
    assert_int_equal(probe(&p).counters, 5);
}

static void test_flexible_rivals_take_turns_and_take_nothing_away(void **state) {
    (void)state;
    struct pipeline p = load(6);
    pipeline_add_rival(&p, RIVAL_FLEXIBLE, 6);
    assert_int_equal(probe(&p).counters, 6);
    p = load(6);
    pipeline_add_rival(&p, RIVAL_TASK, 6);
    assert_int_equal(probe(&p).counters, 6);
}

// Who waits gets in at the next tick, 4 ms away at most: a trial lasts longer, whenever in the tick it begins.
static void test_a_counter_that_is_free_at_the_next_tick_is_found_whenever_the_probe_begins(void **state) {
    (void)state;
    for (uint64_t begin_ns = 0; begin_ns < 4000000; begin_ns += 250000) {
        struct pipeline p;
        struct pmu *pmu;
        const char *unknown;
        pipeline_load(&p, "tests/data/scenarios/steady.json");
        topology_free(p.topology);
        p.scenario->sockets = p.scenario->cores_per_socket = 1; // no other CPU whose tick comes sooner
        assert_int_equal(pmu_sim_topology(p.scenario, NULL, &p.topology), 0);
        pipeline_add_rival(&p, RIVAL_FLEXIBLE, 6);
        assert_int_equal(pmu_sim_new(p.scenario, p.catalog, EPOCH_NS, &unknown, &pmu), 0);
        uint64_t now_ns = EPOCH_NS + begin_ns;
        struct probe *made = pipeline_probe(&p, pmu, &now_ns);
        assert_int_equal(probe_counters(made), 6);
        probe_free(made);
        pmu->ops->free(pmu);
        pipeline_stop(&p);
    }
}

static void test_what_cannot_be_opened_is_an_error_and_no_number(void **state) {
    (void)state;
    struct pipeline p = load(6);
    pipeline_add_rival(&p, RIVAL_REFUSE, 0);
    struct answer answer = probe(&p);
    assert_int_equal(answer.counters, 0);
    assert_int_equal(answer.error, -EMFILE);
}

static void test_cpus_that_are_offline_do_not_count(void **state) {
    (void)state;
    struct pipeline p = load(6);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    (void)cpuset_parse("0-4,6-7", &rival->cpus);
    assert_int_equal(probe(&p).counters, 6);
    p = load(6);
    pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    struct answer answer = probe(&p);
    assert_int_equal(answer.counters, 0);
    assert_int_equal(answer.error, -ENODEV);
    // one is there, and somebody holds its counters: that is no error
    p = load(6);
    rival = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    (void)cpuset_parse("0-6", &rival->cpus);
    pipeline_add_rival(&p, RIVAL_PINNED, 6);
    answer = probe(&p);
    assert_int_equal(answer.counters, 0);
    assert_int_equal(answer.error, 0);
}

static void test_a_cpu_without_file_descriptors_says_nothing_about_counters(void **state) {
    (void)state;
    struct pipeline p = load(6);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_REFUSE, 0);
    (void)cpuset_parse("0-5", &rival->cpus); // more than half
    assert_int_equal(probe(&p).counters, 6);
}

static void test_one_disturbed_cpu_of_eight_does_not_shrink_the_answer_and_five_do(void **state) {
    (void)state;
    struct pipeline p = load(6);
    struct scenario_rival *rival = pipeline_add_rival(&p, RIVAL_PINNED, 6);
    (void)cpuset_parse("5", &rival->cpus);
    assert_int_equal(probe(&p).counters, 6);
    p = load(6);
    rival = pipeline_add_rival(&p, RIVAL_PINNED, 3);
    (void)cpuset_parse("0-4", &rival->cpus);
    assert_int_equal(probe(&p).counters, 3);
}

// What others hold when the probe begins, they release before it ends, at any millisecond: the answer is what was free
// at first only where they release it in the last trial, too late to be seen.
static void test_counters_that_are_released_meanwhile_are_found(void **state) {
    (void)state;
    for (unsigned held = 1; held <= 6; held++) {
        for (unsigned released_ms = 1; released_ms <= 60; released_ms++) {
            struct pipeline p = load(6);
            const char *unknown;
            struct pmu *pmu;
            uint64_t now_ns = EPOCH_NS;
            pipeline_add_rival(&p, RIVAL_PINNED, held)->until_seconds = released_ms * 1e-3;
            assert_int_equal(pmu_sim_new(p.scenario, p.catalog, EPOCH_NS, &unknown, &pmu), 0);
            struct probe *made = pipeline_probe(&p, pmu, &now_ns);
            bool too_late = EPOCH_NS + (released_ms + 6) * UINT64_C(1000000) > now_ns; // the wait for a tick, closing
            unsigned found = probe_counters(made);
            if (found != 6 && !(too_late && found == 6 - held))
                fail_msg("%u held until %u ms: %u found after %g ms", held, released_ms, found,
                         (double)(now_ns - EPOCH_NS) * 1e-6);
            probe_free(made);
            pmu->ops->free(pmu);
            pipeline_stop(&p);
        }
    }
}

static void test_probing_a_small_host_takes_an_eighth_of_a_second_at_most(void **state) {
    (void)state;
    for (unsigned counters = 1; counters <= 32; counters++) {
        struct pipeline p = load(counters);
        assert_true(probe(&p).took_ns <= SECOND_NS / 8);
    }
}

// Steps through a probe of a host of 64 CPUs and ends it after `steps` of them.
static size_t count_steps(size_t steps) {
    struct pipeline p;
    const char *unknown;
    pipeline_load(&p, "scenarios/demo.json");
    struct pmu *pmu;
    struct probe *made;
    bool usable[CATALOG_EVENTS_MAX];
    memset(usable, true, sizeof usable);
    assert_int_equal(pmu_sim_new(p.scenario, p.catalog, EPOCH_NS, &unknown, &pmu), 0);
    assert_int_equal(probe_new(p.catalog, usable, p.topology, pmu, &made), 0);
    uint64_t now_ns = EPOCH_NS, deadline_ns = now_ns;
    size_t n = 0;
    while (n < steps && probe_step(made, now_ns, &deadline_ns) == 0) {
        assert_true(deadline_ns >= now_ns + SECOND_NS / 1000);
        now_ns = deadline_ns;
        n++;
    }
    probe_free(
        made); // before the answer: closes what is open, else the PMU's memory would show up as a leak of handles
    assert_int_equal(pmu->ops->open(pmu, 0, &p.catalog->events[1].code, 1), 0); // the lowest handle is free
    pmu->ops->free(pmu);
    pipeline_stop(&p);
    return n;
}

static void test_a_larger_host_is_probed_in_steps_and_nothing_stays_open_whenever_it_ends(void **state) {
    (void)state;
    size_t all = count_steps(SIZE_MAX);
    assert_true(all > 5 * 2 * 8); // five sizes, each opened and closed on 64 CPUs, a few at a time
    for (size_t steps = 0; steps < all; steps += 7)
        assert_int_equal(count_steps(steps), steps);
}

// ---- which events it asks with ----

// A PMU on which everything opens and runs; remembers what it was asked.
struct asked {
    struct pmu pmu; // first
    uint64_t configs[256];
    size_t n;
};

static void asked_advance(struct pmu *pmu, uint64_t now_ns) {
    (void)pmu;
    (void)now_ns;
}

static int asked_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct asked *asked = (struct asked *)pmu;
    (void)cpu;
    for (size_t i = 0; i < n && asked->n < 256; i++)
        asked->configs[asked->n++] = events[i].config;
    return 0;
}

static int asked_enable(struct pmu *pmu, int handle, bool enabled) {
    (void)pmu;
    (void)enabled;
    return handle;
}

static int asked_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    (void)pmu;
    *times = (struct pmu_times){.enabled_ns = 1, .running_ns = 1};
    for (size_t i = 0; i < n; i++)
        counts[i] = 1;
    return handle;
}

static void asked_close(struct pmu *pmu, int handle) {
    (void)pmu;
    (void)handle;
}

static size_t times_asked(const struct asked *asked, uint64_t config) {
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        n += asked->configs[i] == config;
    return n;
}

static void test_only_events_that_any_counter_can_count_tell_how_many_there_are(void **state) {
    (void)state;
    static const struct pmu_ops ops = {asked_advance, asked_open, asked_enable, asked_read, asked_close, NULL};
    struct asked asked = {.pmu.ops = &ops};
    struct host host;
    bool usable[HOST_EVENTS];
    uint64_t now_ns = 0, deadline_ns;
    struct probe *probe;
    host_init(&host, 1, 8);
    struct catalog_event *events = host.catalog->events;
    memset(usable, true, sizeof usable);
    usable[G1] = false;
    events[G2].need.counters = 3; // the first two only
    events[G3].need.takes = 2;
    events[G4].need.reg = 1;
    events[G5].code.pmu = 1;
    events[G6].sampling_only = true;
    events[G7].topdown = true;
    events[G8].fixed = true; // the fixed counter of CYCLES, with modifiers: one of the two is enough
    events[G8].need.fixed = events[CYCLES].need.fixed;
    struct topology *topology = build_cpus(0, 1, 1);
    assert_int_equal(probe_new(host.catalog, usable, topology, &asked.pmu, &probe), 0);
    while (!probe_step(probe, now_ns, &deadline_ns))
        now_ns = deadline_ns;
    assert_int_equal(probe_counters(probe), 1); // G9 alone
    assert_true(times_asked(&asked, host_config(CYCLES)) > 0);
    assert_true(times_asked(&asked, host_config(G9)) > 0);
    for (unsigned event = G1; event <= G8; event++)
        assert_int_equal(times_asked(&asked, host_config(event)), 0);
    probe_free(probe);
    topology_free(topology);
    catalog_free(host.catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_to_twenty_counters_are_found),
        cmocka_unit_test(test_events_that_are_choosy_about_counters_do_not_mislead),
        cmocka_unit_test(test_a_pmu_that_validates_nothing_does_not_deceive),
        cmocka_unit_test(test_a_surplus_member_that_opens_and_never_runs_does_not_deceive),
        cmocka_unit_test(test_what_a_pinned_rival_holds_is_not_found),
        cmocka_unit_test(test_a_watchdog_on_the_cycle_counter_costs_one_general_counter),
        cmocka_unit_test(test_flexible_rivals_take_turns_and_take_nothing_away),
        cmocka_unit_test(test_a_counter_that_is_free_at_the_next_tick_is_found_whenever_the_probe_begins),
        cmocka_unit_test(test_what_cannot_be_opened_is_an_error_and_no_number),
        cmocka_unit_test(test_cpus_that_are_offline_do_not_count),
        cmocka_unit_test(test_a_cpu_without_file_descriptors_says_nothing_about_counters),
        cmocka_unit_test(test_one_disturbed_cpu_of_eight_does_not_shrink_the_answer_and_five_do),
        cmocka_unit_test(test_counters_that_are_released_meanwhile_are_found),
        cmocka_unit_test(test_probing_a_small_host_takes_an_eighth_of_a_second_at_most),
        cmocka_unit_test(test_a_larger_host_is_probed_in_steps_and_nothing_stays_open_whenever_it_ends),
        cmocka_unit_test(test_only_events_that_any_counter_can_count_tell_how_many_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
