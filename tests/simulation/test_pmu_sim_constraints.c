// SPDX-License-Identifier: Apache-2.0
// What a real CPU asks of event groups, on the simulated host: events that only some counters can count, that take two,
// that have a counter of their own, that program a register which SMT siblings share, exclusive ones, and the fields of
// PERF_METRICS.

#include <stdlib.h>

#include "collectors/sim/pmu_sim.h"
#include "tests/simulation/sim_host.h"

// A CPU of four counters. LOW_n: counters 0 and 1 only; WIDE: two neighbours; OWN, SLOTS: a fixed counter each, OWN's
// is the watchdog's; R1 to R3: one value each of a register that a core has two of; FIELD_n: PERF_METRICS; EXCL_n:
// exclusive.
enum {
    ANY_1 = 1,
    ANY_2,
    ANY_3,
    ANY_4,
    LOW_1,
    LOW_2,
    LOW_3,
    WIDE_1,
    WIDE_2,
    OWN,
    R1,
    R2,
    R3,
    SLOTS,
    FIELD_1,
    FIELD_2,
    FIELD_3,
    FIELD_4,
    FIELD_5,
    FIELD_6,
    FIELD_7,
    FIELD_8,
    FIELD_9,
    EXCL_1,
    EXCL_2,
    EVENTS
};

static const struct {
    const char *name;
    uint64_t counters;
    unsigned takes, value; // of the register
    double rate;
} events[EVENTS] = {
    [ANY_1] = {"ANY_1", 0, 1, 0, 1e6},     [ANY_2] = {"ANY_2", 0, 1, 0, 2e6},   [ANY_3] = {"ANY_3", 0, 1, 0, 3e6},
    [ANY_4] = {"ANY_4", 0, 1, 0, 4e6},     [LOW_1] = {"LOW_1", 3, 1, 0, 1e6},   [LOW_2] = {"LOW_2", 3, 1, 0, 1e6},
    [LOW_3] = {"LOW_3", 3, 1, 0, 1e6},     [WIDE_1] = {"WIDE_1", 0, 2, 0, 1e6}, [WIDE_2] = {"WIDE_2", 0, 2, 0, 1e6},
    [OWN] = {"OWN", 0, 1, 0, 1e9},         [R1] = {"R1", 0, 1, 0x11, 1e6},      [R2] = {"R2", 0, 1, 0x22, 1e6},
    [R3] = {"R3", 0, 1, 0x33, 1e6},        [SLOTS] = {"SLOTS", 0, 1, 0, 1e9},   [FIELD_1] = {"FIELD_1", 0, 0, 0, 3e8},
    [FIELD_2] = {"FIELD_2", 0, 0, 0, 7e8}, [FIELD_3] = {"FIELD_3", 0, 0, 0, 0}, [FIELD_4] = {"FIELD_4", 0, 0, 0, 0},
    [FIELD_5] = {"FIELD_5", 0, 0, 0, 0},   [FIELD_6] = {"FIELD_6", 0, 0, 0, 0}, [FIELD_7] = {"FIELD_7", 0, 0, 0, 0},
    [FIELD_8] = {"FIELD_8", 0, 0, 0, 0},   [FIELD_9] = {"FIELD_9", 0, 0, 0, 0}, [EXCL_1] = {"EXCL_1", 0, 1, 0, 1e6},
    [EXCL_2] = {"EXCL_2", 0, 1, 0, 1e6},
};

static void cpu_init(struct host *host, unsigned cores, unsigned threads) {
    static char load_name[] = "steady", names[EVENTS][8];
    static const char *const fixed[] = {"SLOTS", "OWN"}, *const listed[] = {"SLOTS",   "FIELD_1", "FIELD_2", "FIELD_3",
                                                                            "FIELD_4", "FIELD_5", "FIELD_6", "FIELD_7",
                                                                            "FIELD_8", "FIELD_9"};
    static struct scenario_rate rates[EVENTS];
    struct fault error;
    *host = (struct host){0};
    struct catalog_builder *builder = builder_for("cpu");
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &error), 0);
    assert_int_equal(catalog_builder_add_format(builder, "rsp", "config1:0-15", &error), 0);
    assert_int_equal(catalog_builder_add_register(builder, "rsp", 2, &error), 0);
    for (unsigned e = EXCL_1; e <= EXCL_2; e++)
        assert_int_equal(catalog_builder_add_exclusive(builder, e, &error), 0);
    for (unsigned e = ANY_1; e < EVENTS; e++) {
        char terms[64];
        (void)snprintf(terms, sizeof terms, events[e].value ? "event=0xb7,rsp=0x%x" : "event=0x%x",
                       events[e].value ? events[e].value : e);
        const struct catalog_event_text text = {
            .name = events[e].name, .terms = terms, .counters = events[e].counters, .takes = events[e].takes};
        assert_int_equal(catalog_builder_add_event_text(builder, &text, &error), e);
        (void)snprintf(names[e], sizeof names[e], "%s", events[e].name);
        rates[e - ANY_1] = (struct scenario_rate){names[e], events[e].rate};
    }
    assert_int_equal(catalog_builder_set_counters(builder, 4, fixed, 2, &error), 0);
    assert_int_equal(catalog_builder_set_watchdog(builder, "OWN", &error), 0);
    assert_int_equal(catalog_builder_set_topdown(builder, listed, 10, &error), 0);
    host->catalog = catalog_builder_finish(builder);
    host->keyframe = (struct scenario_keyframe){.rates = rates, .n_rates = EVENTS - ANY_1};
    host->load = (struct scenario_load){load_name, 10, &host->keyframe, 1};
    for (unsigned cpu = 0; cpu < cores * threads; cpu++)
        cpuset_add(&host->assignment.cpus, cpu);
    host->scenario = (struct scenario){.sockets = 1,
                                       .cores_per_socket = cores,
                                       .threads_per_core = threads,
                                       .general_counters = 4,
                                       .loads = &host->load,
                                       .n_loads = 1,
                                       .assignments = &host->assignment,
                                       .n_assignments = 1,
                                       .rivals = host->rivals};
}

static int open_on(struct host *host, unsigned cpu, const unsigned *wanted) {
    struct pmu_event codes[EVENTS];
    size_t n = 0;
    for (; wanted[n] != 0; n++)
        codes[n] = host->catalog->events[wanted[n]].code;
    return host->pmu->ops->open(host->pmu, cpu, codes, n);
}

#define OPEN(host, cpu, ...) open_on(host, cpu, (const unsigned[]){__VA_ARGS__, 0})

static double share_of(struct host *host, int handle, size_t n) { return host_share(host, handle, n); }

static void test_a_group_that_its_own_events_keep_off_the_counters_is_refused(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    assert_true(OPEN(&host, 0, LOW_1, LOW_2, ANY_1, ANY_2) >= 0);
    assert_int_equal(OPEN(&host, 0, LOW_1, LOW_2, LOW_3), -EINVAL); // three on two counters
    assert_true(OPEN(&host, 0, WIDE_1, WIDE_2) >= 0);
    assert_int_equal(OPEN(&host, 0, WIDE_1, WIDE_2, ANY_1), -EINVAL);
    assert_int_equal(OPEN(&host, 0, WIDE_1, ANY_1, ANY_2, ANY_3), -EINVAL);
    assert_true(OPEN(&host, 0, OWN, ANY_1, ANY_2, ANY_3, ANY_4) >= 0); // its own counter is a fifth
    assert_int_equal(OPEN(&host, 0, OWN, OWN, ANY_1, ANY_2, ANY_3, ANY_4), -EINVAL);
    assert_true(OPEN(&host, 0, R1, R2, R1) >= 0);
    assert_int_equal(OPEN(&host, 0, R1, R2, R3), -EINVAL); // three values, two registers
    host_stop(&host);
}

static void test_where_nothing_is_validated_such_a_group_opens_and_never_runs(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host.scenario.validates_nothing = true;
    host_start(&host);
    int low = OPEN(&host, 0, LOW_1, LOW_2, LOW_3), reg = OPEN(&host, 0, R1, R2, R3), fine = OPEN(&host, 0, ANY_1);
    host_enable(&host, low);
    host_enable(&host, fine);
    host_enable(&host, reg);
    host_go_to(&host, 10 * SECOND);
    assert_true(share_of(&host, low, 3) == 0);
    assert_true(share_of(&host, reg, 3) == 0);
    assert_true(share_of(&host, fine, 1) > 0.3); // it only waits where others' turn comes first
    host_stop(&host);
}

static void test_a_choice_of_counters_is_kept_beside_others(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    int any = OPEN(&host, 0, ANY_1, ANY_2), low = OPEN(&host, 0, LOW_1, LOW_2), more = OPEN(&host, 0, LOW_3);
    host_enable(&host, any);
    host_enable(&host, low); // the first two make room for them
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, any, 2) == 1 && share_of(&host, low, 2) == 1);
    host_disable(&host, any);
    host_enable(&host, more); // two counters are free, and neither can count it: turns
    uint64_t before_ns = host_read(&host, more, 1).times.running_ns;
    host_go_to(&host, 11 * SECOND);
    uint64_t ran_ns = host_read(&host, more, 1).times.running_ns - before_ns;
    assert_true(ran_ns > 4900 * MS && ran_ns < 5100 * MS);
    host_stop(&host);
}

static void test_the_watchdog_holds_its_fixed_counter(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_add_rival(&host, RIVAL_PINNED, 0)->cycles = true;
    host_start(&host);
    int five = OPEN(&host, 0, OWN, ANY_1, ANY_2, ANY_3, ANY_4), four = OPEN(&host, 0, OWN, ANY_1, ANY_2, ANY_3);
    int slots = OPEN(&host, 0, SLOTS, ANY_1, ANY_2, ANY_3, ANY_4); // another fixed counter
    host_enable(&host, five);                                      // fits alone, but not beside the watchdog
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, five, 5) == 0);
    host_disable(&host, five);
    host_enable(&host, four);
    host_go_to(&host, 2 * SECOND);
    assert_true(share_of(&host, four, 4) == 1);
    host_disable(&host, four);
    host_enable(&host, slots);
    host_go_to(&host, 3 * SECOND);
    assert_true(share_of(&host, slots, 5) == 1);
    host_stop(&host);
}

static void test_siblings_share_registers_and_cores_do_not(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 2, 2); // CPUs 0 and 2 are one core, 1 and 3 the other
    host_start(&host);
    int two = OPEN(&host, 0, R1, R2), same = OPEN(&host, 2, R2, R1), third = OPEN(&host, 2, R3);
    int elsewhere = OPEN(&host, 1, R3);
    host_enable(&host, two);
    host_enable(&host, same); // the same values
    host_enable(&host, elsewhere);
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, two, 2) == 1 && share_of(&host, same, 2) == 1 && share_of(&host, elsewhere, 1) == 1);
    host_disable(&host, same);
    host_enable(&host, third); // a third value: waits as long as the sibling holds both
    host_go_to(&host, 5 * SECOND);
    assert_true(share_of(&host, third, 1) == 0);
    host_disable(&host, two);
    host_go_to(&host, 5 * SECOND + TICK); // and is on at the next tick
    assert_true(host_read(&host, third, 1).times.running_ns > 0);
    host_go_to(&host, 6 * SECOND);
    assert_true(host_read(&host, third, 1).times.running_ns >= SECOND - TICK);
    host_stop(&host);
}

// The check at open knows nothing of it: such a group starves.
static void test_an_exclusive_event_leaves_half_of_each_siblings_counters(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 2, 2); // CPUs 0 and 2 are one core, 1 and 3 the other
    host_start(&host);
    int three = OPEN(&host, 0, EXCL_1, ANY_1, ANY_2), two = OPEN(&host, 0, EXCL_1, ANY_1, OWN, SLOTS);
    int beside = OPEN(&host, 2, ANY_1, ANY_2, ANY_3), same = OPEN(&host, 2, EXCL_1, EXCL_2);
    int elsewhere = OPEN(&host, 1, ANY_1, ANY_2, ANY_3, ANY_4);
    host_enable(&host, three);
    host_enable(&host, elsewhere);
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, three, 3) == 0 && share_of(&host, elsewhere, 4) == 1);
    host_disable(&host, three);
    host_enable(&host, two); // fixed counters are not concerned
    host_enable(&host, same);
    host_go_to(&host, 2 * SECOND);
    assert_true(share_of(&host, two, 4) == 1 && share_of(&host, same, 2) == 1);
    host_disable(&host, same);
    host_enable(&host, beside); // no exclusive event of its own, but the sibling's
    host_go_to(&host, 3 * SECOND);
    assert_true(share_of(&host, beside, 3) == 0);
    host_disable(&host, two);
    host_go_to(&host, 3 * SECOND + TICK);
    assert_true(host_read(&host, beside, 3).times.running_ns > 0);
    host_stop(&host);
}

// Sibling by sibling the first new group meets the second old one and waits for a tick; in two phases none waits.
static void test_exclusive_groups_are_switched_in_two_phases(void **state) {
    (void)state;
    for (int phases = 1; phases <= 2; phases++) {
        struct host host;
        cpu_init(&host, 1, 2);
        host_start(&host);
        int before[2], after[2];
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            before[cpu] = OPEN(&host, cpu, ANY_1, ANY_2, ANY_3, ANY_4);
            after[cpu] = OPEN(&host, cpu, EXCL_1, EXCL_2);
            host_enable(&host, before[cpu]);
        }
        host_go_to(&host, SECOND);
        host_disable(&host, before[0]);
        if (phases == 2)
            host_disable(&host, before[1]);
        host_enable(&host, after[0]);
        host_disable(&host, before[1]);
        host_enable(&host, after[1]);
        host_go_to(&host, 2 * SECOND);
        uint64_t missed_ns = SECOND - host_read(&host, after[0], 2).times.running_ns;
        assert_true(phases == 2 ? missed_ns == 0 : missed_ns > 0 && missed_ns <= TICK);
        assert_true(host_read(&host, after[1], 2).times.running_ns == SECOND);
        host_stop(&host);
    }
}

// Whether a group gets counters on each of two siblings, on which it is enabled if `on` says so.
static void run_on_siblings(struct host *host, const int handles[2], const bool on[2], size_t n, bool runs[2]) {
    uint64_t before_ns[2];
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        before_ns[cpu] = host_read(host, handles[cpu], n).times.running_ns;
        if (on[cpu])
            host_enable(host, handles[cpu]);
    }
    host_go_to(host, host->now_ns + 3 * TICK);
    for (unsigned cpu = 0; cpu < 2; cpu++)
        host_disable(host, handles[cpu]);
    for (unsigned cpu = 0; cpu < 2; cpu++)
        runs[cpu] = host_read(host, handles[cpu], n).times.running_ns > before_ns[cpu];
}

// Of `cases` random groups on a core on which others hold so many counters. Adds how many of them ran.
static size_t run_random_groups(size_t cases, unsigned taken, unsigned taken_on) {
    struct host host;
    size_t ran = 0;
    cpu_init(&host, 1, 2);
    host.scenario.validates_nothing = true;
    for (unsigned cpu = 0; cpu < taken_on && taken > 0; cpu++)
        host.rivals[host.scenario.n_rivals++] =
            (struct scenario_rival){.kind = RIVAL_PINNED, .counters = taken, .cpus.words[0] = UINT64_C(1) << cpu};
    host_start(&host);
    for (size_t i = 0; i < cases; i++) {
        unsigned group[7] = {0};
        size_t n = 1 + (size_t)rand() % 6;
        for (size_t e = 0; e < n; e++)
            group[e] = rand() % 4 == 0 ? EXCL_1 + (unsigned)rand() % 2 : ANY_1 + (unsigned)rand() % (SLOTS - ANY_1);
        const int handles[2] = {open_on(&host, 0, group), open_on(&host, 1, group)};
        bool first[2], second[2], both[2];
        run_on_siblings(&host, handles, (const bool[]){true, false}, n, first);
        run_on_siblings(&host, handles, (const bool[]){false, true}, n, second);
        run_on_siblings(&host, handles, (const bool[]){true, true}, n, both);
        assert_true(both[0] == first[0] && both[1] == second[1] && !first[1] && !second[0]);
        ran += both[0] && both[1];
        for (unsigned cpu = 0; cpu < 2; cpu++)
            host.pmu->ops->close(host.pmu, handles[cpu]);
    }
    host_stop(&host);
    return ran;
}

// An exclusive event halves its own CPU's counters too, and registers are shared by those who want the same value.
static void test_what_runs_on_one_sibling_runs_on_both_at_once(void **state) {
    (void)state;
    const unsigned seed = 1122;
    print_message("seed %u\n", seed);
    srand(seed);
    size_t ran = 0, cases = 0;
    for (unsigned taken = 0; taken < 4; taken++) {
        for (unsigned taken_on = 1; taken_on <= 2; taken_on++) {
            ran += run_random_groups(300, taken, taken_on);
            cases += 300;
        }
    }
    assert_true(ran > cases / 10 && ran < cases / 2);
}

static void test_where_smt_was_off_at_boot_exclusive_events_are_like_others(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    int four = OPEN(&host, 0, EXCL_1, EXCL_2, ANY_1, ANY_2);
    host_enable(&host, four);
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, four, 4) == 1);
    host_stop(&host);
}

static void test_fields_are_counted_in_a_group_that_their_leader_leads_only(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    assert_true(OPEN(&host, 0, SLOTS, FIELD_1, FIELD_2, ANY_1) >= 0);
    assert_true(OPEN(&host, 0, SLOTS, ANY_1, FIELD_1) >= 0);
    assert_int_equal(OPEN(&host, 0, FIELD_1), -EINVAL);
    assert_int_equal(OPEN(&host, 0, FIELD_1, SLOTS), -EINVAL);
    assert_int_equal(OPEN(&host, 0, ANY_1, SLOTS, FIELD_1), -EINVAL);
    assert_true(OPEN(&host, 0, ANY_1, SLOTS) >= 0); // without fields it may follow
    host_stop(&host);
}

// A group of SLOTS, FIELD_1 and ANY_1 in which the test has changed a code.
static int open_changed(struct host *host, size_t place, const struct pmu_event *change) {
    static const unsigned wanted[] = {SLOTS, FIELD_1, ANY_1};
    struct pmu_event codes[3];
    for (size_t i = 0; i < 3; i++)
        codes[i] = host->catalog->events[wanted[i]].code;
    codes[place].config1 |= change->config1;
    codes[place].config2 |= change->config2;
    codes[place].exclude |= change->exclude;
    codes[place].pmu |= change->pmu;
    return host->pmu->ops->open(host->pmu, 0, codes, 3);
}

static void test_a_field_has_its_number_alone_and_the_modes_of_its_leader(void **state) {
    (void)state;
    static const struct pmu_event changes[] = {{.config1 = 1}, {.config2 = 1}, {.exclude = PMU_EXCLUDE_USER}};
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    assert_true(open_changed(&host, 1, &(struct pmu_event){.pmu = 0}) >= 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(open_changed(&host, 1, &changes[i]), -EINVAL);
    assert_int_equal(open_changed(&host, 0, &changes[2]), -EINVAL); // the leader in other modes than its field
    assert_int_equal(OPEN(&host, 0, SLOTS, FIELD_1, FIELD_1), -EINVAL);
    host_stop(&host);
}

static void test_a_group_has_at_most_eight_fields(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    assert_true(OPEN(&host, 0, SLOTS, FIELD_1, FIELD_2, FIELD_3, FIELD_4, FIELD_5, FIELD_6, FIELD_7, FIELD_8) >= 0);
    assert_int_equal(
        OPEN(&host, 0, SLOTS, FIELD_1, FIELD_2, FIELD_3, FIELD_4, FIELD_5, FIELD_6, FIELD_7, FIELD_8, FIELD_9),
        -EINVAL);
    host_stop(&host);
}

static void test_groups_that_slots_leads_are_open_side_by_side_and_take_turns(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    int one = OPEN(&host, 0, SLOTS, FIELD_1, ANY_1), other = OPEN(&host, 0, SLOTS, FIELD_2, ANY_2);
    host_enable(&host, one);
    host_go_to(&host, SECOND);
    assert_true(share_of(&host, one, 3) == 1);
    host_disable(&host, one);
    host_enable(&host, other); // the counter is free: no tick is lost
    host_go_to(&host, 2 * SECOND);
    assert_true(share_of(&host, other, 3) == 1);
    struct reading before = host_read(&host, other, 3);
    host_enable(&host, one); // there is one such counter, though general ones are free
    host_go_to(&host, 4 * SECOND);
    double share = (double)(host_read(&host, other, 3).times.running_ns - before.times.running_ns) / (2.0 * SECOND);
    assert_true(fabs(share - 0.5) < 0.01);
    host_stop(&host);
}

static void test_a_rival_that_counts_slots_shares_them(void **state) {
    (void)state;
    for (unsigned pinned = 0; pinned < 2; pinned++) {
        struct host host;
        cpu_init(&host, 1, 1);
        struct scenario_rival *rival = &host.rivals[host.scenario.n_rivals++];
        *rival = (struct scenario_rival){.kind = pinned ? RIVAL_PINNED : RIVAL_FLEXIBLE, .slots = true};
        cpuset_add(&rival->cpus, 0);
        host_start(&host);
        int led = OPEN(&host, 0, SLOTS, FIELD_1, ANY_1), other = OPEN(&host, 0, ANY_1, ANY_2);
        host_enable(&host, led);
        host_go_to(&host, 4 * SECOND);
        assert_true(fabs(share_of(&host, led, 3) - (pinned ? 0 : 0.5)) < 0.01);
        host_disable(&host, led);
        host_enable(&host, other);
        host_go_to(&host, 5 * SECOND);
        assert_true(share_of(&host, other, 2) == 1); // it needs no slots
        host_stop(&host);
    }
}

static void test_a_group_that_is_off_is_read_without_an_interrupt(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    int handle = OPEN(&host, 0, SLOTS, FIELD_1, ANY_1);
    host_read(&host, handle, 3);
    host_disable(&host, handle); // changes nothing
    assert_int_equal(pmu_sim_interrupts(host.pmu, 0), 0);
    host_enable(&host, handle);
    assert_int_equal(pmu_sim_interrupts(host.pmu, 0), 1);
    host_go_to(&host, SECOND);
    host_read(&host, handle, 3);
    assert_int_equal(pmu_sim_interrupts(host.pmu, 0), 2); // it counts
    host_disable(&host, handle);
    host_read(&host, handle, 3);
    assert_int_equal(pmu_sim_interrupts(host.pmu, 0), 3);
    host_stop(&host);
}

// 1e9 slots a second, three tenths of them FIELD_1, the rest FIELD_2: 76.5 and 178.5 of 255.
static void test_a_field_is_a_255th_of_its_leader_for_each_interval_between_reads(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    host_start(&host);
    int handle = OPEN(&host, 0, SLOTS, FIELD_1, FIELD_2, ANY_1);
    host_enable(&host, handle);
    host_go_to(&host, SECOND);
    struct reading reading = host_read(&host, handle, 4);
    assert_int_equal(reading.counts[0], 1000000000);
    assert_int_equal(reading.counts[1], 298039215); // 76 of 255: halves become even
    assert_int_equal(reading.counts[2], 698039215); // 178 of 255
    assert_int_equal(reading.counts[3], 1000000);   // has a counter
    host_go_to(&host, 2 * SECOND);
    reading = host_read(&host, handle, 4);
    assert_int_equal(reading.counts[0], 2000000000);
    assert_int_equal(reading.counts[1], 2 * 298039215); // the error does not go away by adding up
    host_disable(&host, handle);                        // nothing since the read
    host_go_to(&host, 3 * SECOND);
    assert_int_equal(host_read(&host, handle, 4).counts[1], 2 * 298039215);
    host_stop(&host);
}

static void test_a_field_is_rounded_by_what_happened_since_the_last_read_alone(void **state) {
    (void)state;
    struct host host;
    cpu_init(&host, 1, 1);
    struct scenario_rate first[] = {{"SLOTS", 1e9}, {"FIELD_1", 1e9}}, second[] = {{"SLOTS", 1e9}, {"FIELD_1", 1e6}};
    struct scenario_keyframe steps[] = {{.at_seconds = 0, .rates = first, .n_rates = 2},
                                        {.at_seconds = 1 - 1e-6, .rates = first, .n_rates = 2},
                                        {.at_seconds = 1, .rates = second, .n_rates = 2},
                                        {.at_seconds = 5, .rates = second, .n_rates = 2}};
    host.load = (struct scenario_load){host.load.name, 10, steps, 4};
    host_start(&host);
    int often = OPEN(&host, 0, SLOTS, FIELD_1);
    host_enable(&host, often);
    host_go_to(&host, SECOND);
    uint64_t all = host_read(&host, often, 2).counts[1];
    assert_true(all > 999000000 && all <= 1000000000);
    host_go_to(&host, 2 * SECOND); // a thousandth of the leader: less than half of a 255th
    assert_int_equal(host_read(&host, often, 2).counts[1], all);
    host_stop(&host);
}

static void test_a_field_is_rounded_when_its_group_leaves_the_counters_too(void **state) {
    (void)state;
    uint64_t counts[2];
    for (int leaves = 0; leaves < 2; leaves++) {
        struct host host;
        cpu_init(&host, 1, 1);
        struct scenario_rate first[] = {{"SLOTS", 1e9}, {"FIELD_1", 1e9}}, second[] = {{"SLOTS", 1e9}};
        struct scenario_keyframe steps[] = {{.at_seconds = 0, .rates = first, .n_rates = 2},
                                            {.at_seconds = 1 - 1e-9, .rates = first, .n_rates = 2},
                                            {.at_seconds = 1, .rates = second, .n_rates = 1},
                                            {.at_seconds = 5, .rates = second, .n_rates = 1}};
        host.load = (struct scenario_load){host.load.name, 10, steps, 4};
        host_start(&host);
        int handle = OPEN(&host, 0, SLOTS, FIELD_1);
        host_enable(&host, handle);
        host_go_to(&host, SECOND);
        if (leaves) {
            host_disable(&host, handle);
            host_enable(&host, handle);
        }
        host_go_to(&host, 4 * SECOND);
        counts[leaves] = host_read(&host, handle, 2).counts[1];
        host_stop(&host);
    }
    assert_int_equal(counts[0], 1003921568); // a quarter of 4e9: 64 of 255
    assert_int_equal(counts[1], 1000000000); // all of 1e9, and nothing of 3e9
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_that_its_own_events_keep_off_the_counters_is_refused),
        cmocka_unit_test(test_where_nothing_is_validated_such_a_group_opens_and_never_runs),
        cmocka_unit_test(test_a_choice_of_counters_is_kept_beside_others),
        cmocka_unit_test(test_the_watchdog_holds_its_fixed_counter),
        cmocka_unit_test(test_siblings_share_registers_and_cores_do_not),
        cmocka_unit_test(test_an_exclusive_event_leaves_half_of_each_siblings_counters),
        cmocka_unit_test(test_exclusive_groups_are_switched_in_two_phases),
        cmocka_unit_test(test_what_runs_on_one_sibling_runs_on_both_at_once),
        cmocka_unit_test(test_where_smt_was_off_at_boot_exclusive_events_are_like_others),
        cmocka_unit_test(test_fields_are_counted_in_a_group_that_their_leader_leads_only),
        cmocka_unit_test(test_a_field_has_its_number_alone_and_the_modes_of_its_leader),
        cmocka_unit_test(test_a_group_has_at_most_eight_fields),
        cmocka_unit_test(test_groups_that_slots_leads_are_open_side_by_side_and_take_turns),
        cmocka_unit_test(test_a_rival_that_counts_slots_shares_them),
        cmocka_unit_test(test_a_group_that_is_off_is_read_without_an_interrupt),
        cmocka_unit_test(test_a_field_is_a_255th_of_its_leader_for_each_interval_between_reads),
        cmocka_unit_test(test_a_field_is_rounded_by_what_happened_since_the_last_read_alone),
        cmocka_unit_test(test_a_field_is_rounded_when_its_group_leaves_the_counters_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
