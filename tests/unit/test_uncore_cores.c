// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "daemon/uncore/uncore_cores.h"
#include "exporters/view/shown.h"
#include "tests/unit/exporter_host.h"

// What boxes are told of the cores beside them (daemon/uncore/uncore_cores.h). The made-up host has CPUs 0 and 1 in
// package 0, and 4 and 5 in package 7, of which 5 is not measured.

struct beside {
    struct exporter_host host;
    struct shown shown;
    struct snapshot *snapshot;
    struct pmu_event instructions;
};

static void begin(struct beside *beside) {
    *beside = (struct beside){.snapshot = NULL};
    host_init(&beside->host);
    beside->snapshot = host_snapshot(&beside->host);
    beside->shown = (struct shown){.n = 1, .types = {{&beside->host.view, beside->snapshot}}};
    beside->instructions =
        beside->host.catalog->events[beside->host.layout->events[host_event(&beside->host, "INST")]].code;
}

static void end(struct beside *beside) {
    snapshot_unref(beside->snapshot);
    host_deinit(&beside->host);
}

// The time of all CPUs of package 0.
static void set_time(struct beside *beside, double covered, enum uncovered reason, double uncovered) {
    size_t scope = snapshot_scope_socket(0);
    beside->snapshot->values[snapshot_covered(beside->host.layout, scope)] = covered;
    for (int i = 0; i < UNCOVERED_N; i++)
        beside->snapshot->values[snapshot_uncovered(beside->host.layout, scope, (enum uncovered)i)] =
            i == (int)reason ? uncovered : NAN;
}

static bool read_cores(const struct beside *beside, int package, struct pmu_joined_total *out) {
    return uncore_cores_read(&beside->shown, package, &beside->instructions, out);
}

// Two CPUs that count for ten seconds each are ten seconds of the package. One that is offline executes nothing, and
// what level 1 alone lacks is counted by others; when others hold the counters, instructions are missing.
static void test_a_packages_time_is_that_of_one_of_its_cpus(void **state) {
    static const struct {
        enum uncovered reason;
        double covered, uncovered;
    } cases[] = {{UNCOVERED_OFFLINE, 13, 0},
                 {UNCOVERED_NOT_PLANNABLE, 13, 0},
                 {UNCOVERED_STARVED, 10, 3},
                 {UNCOVERED_YIELDED, 10, 3},
                 {UNCOVERED_GAP, 10, 3}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct beside beside;
        struct pmu_joined_total total;
        begin(&beside);
        set_time(&beside, 20, cases[i].reason, 6);
        size_t event = host_event(&beside.host, "INST");
        beside.snapshot->values[snapshot_event(beside.host.layout, snapshot_scope_socket(0), event)] = 12345;
        assert_true(read_cores(&beside, 0, &total));
        assert_true(total.count == 12345);
        assert_true(total.covered_seconds == cases[i].covered && total.uncovered_seconds == cases[i].uncovered);
        end(&beside);
    }
}

// Boxes count for all of the package's CPUs: a part of their instructions would make every ratio too large.
static void test_a_package_of_which_some_cpus_are_not_measured_tells_nothing(void **state) {
    (void)state;
    struct beside beside;
    struct pmu_joined_total total;
    begin(&beside);
    struct topology_socket *sockets = beside.host.topology->sockets;
    assert_true(read_cores(&beside, 0, &total));
    assert_false(read_cores(&beside, 7, &total)); // one is not selected
    assert_false(read_cores(&beside, 3, &total)); // there is no such package
    sockets[0].isolated = 1;
    assert_false(read_cores(&beside, 0, &total));
    sockets[0].isolated = 0;
    sockets[1].excluded = 0;
    assert_true(read_cores(&beside, 0, &total) && read_cores(&beside, 7, &total));
    end(&beside);
}

static void test_an_event_that_nobody_counts_is_not_told(void **state) {
    (void)state;
    struct beside beside;
    struct pmu_joined_total total;
    begin(&beside);
    beside.instructions.config1 = 1;
    assert_false(read_cores(&beside, 0, &total));
    assert_false(uncore_cores_read(NULL, 0, &beside.instructions, &total));
    end(&beside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packages_time_is_that_of_one_of_its_cpus),
        cmocka_unit_test(test_a_package_of_which_some_cpus_are_not_measured_tells_nothing),
        cmocka_unit_test(test_an_event_that_nobody_counts_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
