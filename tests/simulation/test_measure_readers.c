// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

#include "daemon/engine/measure.h"
#include "daemon/engine/readers.h"

// Intervals of single CPUs of a large host are made while somebody reads them, as the event loop tells the engines.
// What is measured never depends on it.

static const char STEADY[] = "tests/data/scenarios/steady.json";
static const char YAML[] = "profiles: {default: {groups: [stage_1]}}\nslot: 200ms\n";

enum { LARGE = MEASURE_INTERVALS_CPUS + 2, SETTLED_SNAPSHOTS = 5 };

struct host {
    struct measuring measuring;
    struct readers readers;
    bool asked; // somebody has read CPUs since the engine looked
};

static bool was_asked(void *context) {
    struct host *host = context;
    bool asked = host->asked;
    host->asked = false;
    return asked;
}

// A host of two sockets, each with half of the CPUs.
static void host_init(struct host *host, unsigned n_cpus) {
    *host = (struct host){.readers = {.cpus_read = was_asked, .context = host}};
    measuring_load(&host->measuring, STEADY, YAML);
    struct scenario *scenario = measuring_scenario(&host->measuring);
    scenario->sockets = 2;
    scenario->cores_per_socket = n_cpus / 2;
    scenario->threads_per_core = 1;
    char all[32];
    (void)snprintf(all, sizeof all, "0-%u", n_cpus - 1);
    assert_int_equal(cpuset_parse(all, &scenario->assignments[0].cpus), 0);
    topology_free(host->measuring.setup.types[0].topology);
    assert_int_equal(pmu_sim_topology(scenario, NULL, &host->measuring.setup.types[0].topology), 0);
    measuring_start(&host->measuring);
    host->measuring.engine->ops->attend(host->measuring.engine, &host->readers);
}

// Goes on to the next snapshot; `read`: somebody has read CPUs meanwhile.
static void next_snapshot(struct host *host, bool read) {
    struct measuring *m = &host->measuring;
    size_t before = m->n_snapshots;
    host->asked = read;
    while (m->n_snapshots == before)
        measuring_step(m);
}

// How many CPUs have an interval of level 1, in the newest snapshot.
static size_t with_interval(const struct host *host) {
    const struct snapshot *snapshot = host->measuring.snapshot;
    const struct snapshot_layout *layout = snapshot->layout;
    size_t n = 0;
    for (size_t cpu = 0; cpu < layout->topology->n_cpus; cpu++) {
        size_t scope = snapshot_scope_cpu(layout, cpu);
        bool has = !isnan(snapshot->values[snapshot_level1_error(layout, scope)]);
        n += has;
        for (size_t m = 0; m < layout->n_metrics; m++) {
            bool gauge = !isnan(snapshot->values[snapshot_metric(layout, scope, m)]);
            assert_true(isnan(snapshot->values[snapshot_low(layout, scope, m)]) == !(has && gauge));
            assert_true((snapshot_quality(snapshot, snapshot_state(layout, scope, m)) == ESTIMATE_NONE) ==
                        !(has && gauge));
        }
    }
    return n;
}

static void test_a_large_host_has_intervals_of_cpus_while_somebody_reads_them(void **state) {
    (void)state;
    static struct host host;
    host_init(&host, LARGE);
    for (int i = 0; i < SETTLED_SNAPSHOTS; i++)
        next_snapshot(&host, false);
    assert_int_equal(with_interval(&host), 0);
    next_snapshot(&host, true); // the first that begins after the request
    assert_int_equal(with_interval(&host), 0);
    next_snapshot(&host, false);
    assert_int_equal(with_interval(&host), LARGE);
    uint64_t end_ns = host.readers.cpus_ns + READERS_KEPT_NS;
    while (host.measuring.now_ns + SECOND_NS < end_ns)
        next_snapshot(&host, false);
    assert_int_equal(with_interval(&host), LARGE);
    while (host.measuring.now_ns < end_ns + SECOND_NS)
        next_snapshot(&host, false);
    assert_int_equal(with_interval(&host), 0);
    measuring_stop(&host.measuring);
}

static void test_up_to_256_cpus_nothing_depends_on_readers(void **state) {
    (void)state;
    static struct host host;
    host_init(&host, MEASURE_INTERVALS_CPUS);
    for (int i = 0; i < SETTLED_SNAPSHOTS; i++)
        next_snapshot(&host, false);
    assert_int_equal(with_interval(&host), MEASURE_INTERVALS_CPUS);
    measuring_stop(&host.measuring);
}

// All of a snapshot but what single CPUs' intervals are made of: low, high and standard error of each metric, and the
// largest of level 1.
static void expect_same_values(const struct snapshot *one, const struct snapshot *other) {
    const struct snapshot_layout *layout = one->layout;
    double *values = other->values;
    for (size_t cpu = 0; cpu < layout->topology->n_cpus; cpu++) {
        size_t scope = snapshot_scope_cpu(layout, cpu);
        size_t parts[] = {snapshot_low(layout, scope, 0), snapshot_high(layout, scope, 0),
                          snapshot_standard_error(layout, scope, 0)};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            memcpy(values + parts[i], one->values + parts[i], layout->n_metrics * sizeof *values);
        values[snapshot_level1_error(layout, scope)] = one->values[snapshot_level1_error(layout, scope)];
    }
    assert_memory_equal(values, one->values, layout->n_values * sizeof *values);
    assert_memory_equal(one->absent, other->absent, snapshot_n_states(layout));
    assert_memory_equal(one->trust, other->trust, snapshot_state(layout, snapshot_scope_cpu(layout, 0), 0));
}

// The same readings, derived with and without readers.
static void expect_same_readings(const char *spec) {
    struct pipeline read, unread;
    pipeline_load_spec(&read, spec, 3);
    pipeline_load_spec(&unread, spec, 3);
    pipeline_start(&read, SECOND_NS / 5, 3, NULL);
    pipeline_start(&unread, SECOND_NS / 5, 3, NULL);
    for (int i = 0; i < 8; i++) {
        derive_want_cpus(unread.derive, i / 2 % 2 == 1); // off, on, off, on
        pipeline_run(&read, 1);
        pipeline_run(&unread, 1);
        expect_same_values(read.snapshot, unread.snapshot);
    }
    pipeline_stop(&unread);
    pipeline_stop(&read);
}

static void test_values_and_totals_are_the_same_with_and_without_readers(void **state) {
    (void)state;
    expect_same_readings("neoverse-v2");
    expect_same_readings("sapphire-rapids"); // fields of PERF_METRICS
    expect_same_readings("zen4");            // a core seen from each thread
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_host_has_intervals_of_cpus_while_somebody_reads_them),
        cmocka_unit_test(test_up_to_256_cpus_nothing_depends_on_readers),
        cmocka_unit_test(test_values_and_totals_are_the_same_with_and_without_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
