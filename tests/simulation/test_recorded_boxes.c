// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/spec/catalog_same.h"
#include "daemon/base/clocks.h"
#include "daemon/engine/engines.h"
#include "daemon/engine/measure.h"
#include "daemon/engine/replay.h"
#include "daemon/uncore/uncore_setup.h"

// The daemon's own engines of a simulated host and its boxes record in virtual time, and a replay of the file shows
// every snapshot of each of them again, bit by bit, at the same moments.

enum { SNAPSHOTS_MAX = 128, KINDS = 3 }; // the cores and two kinds of boxes

struct host {
    struct options options;
    struct setup *setup;
    struct self self;
    struct clocks clocks;
    uint64_t now_ns;
    struct engines engines; // one that is NULL is not measured
    struct snapshot *made[SETUP_TYPES_MAX][SNAPSHOTS_MAX];
    size_t n_made[SETUP_TYPES_MAX];
};

static char folder[64], recording[96];

static void remove_files(void) {
    char path[sizeof recording + 4];
    (void)unlink(recording);
    (void)snprintf(path, sizeof path, "%s.1", recording);
    (void)unlink(path);
}

// As if all specs were a vendor's files.
static void take_for_vendors(struct setup *setup) {
    static char path[] = "/nonexistent/files";
    setup->config->specs.path = path;
    for (size_t i = 0; i < setup->n_types + setup->n_boxes; i++) {
        setup->types[i].source->vendors = true;
        setup->types[i].source->making.vendor_pmu = "";
    }
}

static void open_host_of(struct host *host, enum pmu_kind pmu, bool vendors) {
    struct errors errors = {0};
    memset(host, 0, sizeof *host);
    host->options = (struct options){.pmu = pmu,
                                     .scenario = "tests/data/scenarios/boxes.json",
                                     .config = "/nonexistent",
                                     .paths = {.data = ".", .sysfs = "/sys", .procfs = "/proc"},
                                     .replay = {.path = recording, .speed = 1}};
    host->options.record = pmu == PMU_SIM ? recording : NULL;
    host->setup = calloc(1, sizeof *host->setup);
    assert_non_null(host->setup);
    int r = setup_init(host->setup, &host->options, &errors);
    if (r == 0)
        r = uncore_setup(host->setup, &host->options, &errors);
    if (r < 0)
        print_error("%s\n", errors.items[0].text);
    assert_int_equal(r, 0);
    if (vendors)
        take_for_vendors(host->setup);
    host->setup->quiet = true;
    host->now_ns = UINT64_C(1000000000);
    host->clocks = clocks_virtual(&host->now_ns);
    self_init(&host->self, &host->clocks, setup_n_cpus(host->setup), host->now_ns);
    r = engines_init(&host->engines, host->setup, &host->self, NULL, host->now_ns, &errors);
    assert_int_equal(r, 0);
    assert_int_equal(host->engines.n, KINDS);
}

static void open_host(struct host *host, enum pmu_kind pmu) { open_host_of(host, pmu, false); }

// Ends measuring, so that all is written; snapshots stay.
static void end_engines(struct host *host) {
    for (size_t i = host->engines.n; i-- > 0;)
        if (host->engines.of[i])
            host->engines.of[i] = host->engines.of[i]->ops->free(host->engines.of[i]);
}

static void close_host(struct host *host) {
    end_engines(host);
    for (size_t i = 0; i < host->engines.n; i++)
        for (size_t j = 0; j < host->n_made[i]; j++)
            snapshot_unref(host->made[i][j]);
    host->setup->config->specs.path = NULL;
    setup_deinit(host->setup);
    free(host->setup);
}

static void step(struct host *host, size_t i) {
    struct snapshot *snapshot = NULL;
    struct engine *engine = host->engines.of[i];
    assert_int_equal(engine->ops->step(engine, host->now_ns, &host->engines.deadlines_ns[i], &snapshot), 0);
    if (!snapshot)
        return;
    assert_true(host->n_made[i] < SNAPSHOTS_MAX);
    host->made[i][host->n_made[i]++] = snapshot;
}

// As the event loop: what is due, then on to what is due next.
static void run_until(struct host *host, uint64_t end_ns) {
    while (host->now_ns < end_ns) {
        uint64_t next_ns = UINT64_MAX;
        for (size_t i = 0; i < host->engines.n; i++) {
            if (!host->engines.of[i])
                continue;
            if (host->engines.deadlines_ns[i] <= host->now_ns)
                step(host, i);
            next_ns = host->engines.deadlines_ns[i] < next_ns ? host->engines.deadlines_ns[i] : next_ns;
        }
        host->now_ns = next_ns > host->now_ns ? next_ns : host->now_ns;
    }
}

static void run_for(struct host *host, double seconds) { run_until(host, host->now_ns + (uint64_t)(seconds * 1e9)); }

// Until all is played.
static void play(struct host *replay) {
    for (;;) {
        bool over = true;
        for (size_t i = 0; i < replay->engines.n; i++)
            over = over && replay_is_over(replay->engines.of[i]);
        if (over)
            return;
        run_until(replay, replay->now_ns + 1);
    }
}

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

// All but what is about the daemon itself.
static void assert_same_snapshot(const struct snapshot *live, const struct snapshot *again) {
    const struct snapshot_layout *layout = live->layout;
    assert_int_equal(live->start_ns, again->start_ns);
    assert_int_equal(live->end_ns, again->end_ns);
    assert_int_equal(layout->n_values, again->layout->n_values);
    for (size_t v = 0; v < layout->n_values; v++)
        assert_true(same(live->values[v], again->values[v]));
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        const struct topology_socket *a = &layout->topology->sockets[s], *b = &again->layout->topology->sockets[s];
        assert_true(same(a->memory_bytes_per_second, b->memory_bytes_per_second));
        assert_int_equal(a->peak, b->peak);
        assert_int_equal(a->measured, b->measured);
    }
    assert_int_equal(layout->topology->boxes, again->layout->topology->boxes);
}

static void assert_same(const struct host *live, const struct host *again, size_t kind) {
    assert_int_equal(live->n_made[kind], again->n_made[kind]);
    for (size_t i = 0; i < live->n_made[kind]; i++)
        assert_same_snapshot(live->made[kind][i], again->made[kind][i]);
}

static void test_every_snapshot_of_cores_and_boxes_comes_back(void **state) {
    (void)state;
    struct host live, again;
    open_host(&live, PMU_SIM);
    run_for(&live, 20);
    end_engines(&live);
    assert_true(live.n_made[1] > 8 && live.n_made[2] > 8);
    open_host(&again, PMU_REPLAY);
    play(&again);
    for (size_t kind = 0; kind < KINDS; kind++)
        assert_same(&live, &again, kind);
    close_host(&again);
    close_host(&live);
    remove_files();
}

// The recording has their catalogs, of the cores as well: nothing here names the files.
static void test_what_a_vendors_files_have_comes_back_without_them(void **state) {
    (void)state;
    struct host live, again;
    open_host_of(&live, PMU_SIM, true);
    run_for(&live, 8);
    end_engines(&live);
    open_host(&again, PMU_REPLAY);
    play(&again);
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct catalog *recorded = live.setup->types[kind].source->catalog;
        assert_true(catalog_same(recorded, again.setup->types[kind].source->catalog));
        assert_same(&live, &again, kind);
    }
    close_host(&again);
    close_host(&live);
    remove_files();
}

// Measures the last kind again, as a reload may.
static void measure_again(struct host *host) {
    struct errors errors = {0};
    const struct measure_request request = {.setup = host->setup,
                                            .type = &host->setup->types[KINDS - 1],
                                            .self = &host->self,
                                            .first = host->engines.of[0],
                                            .seed = 1,
                                            .now_ns = host->now_ns};
    assert_int_equal(measure_new(&request, &errors, &host->engines.of[KINDS - 1]), 0);
    host->engines.deadlines_ns[KINDS - 1] = 0;
}

static bool has_a_gauge(const struct snapshot *snapshot) {
    for (size_t m = 0; m < snapshot->layout->n_metrics; m++) {
        double value = snapshot->values[snapshot_metric(snapshot->layout, 0, m)];
        if (value == value)
            return true;
    }
    return false;
}

// A part of a recording begins with the kind that comes, and the replay's totals begin anew as the live ones did.
static void test_a_kind_that_goes_and_comes_again_is_replayed(void **state) {
    (void)state;
    struct host live, again;
    open_host(&live, PMU_SIM);
    run_for(&live, 7);
    live.engines.of[KINDS - 1] = live.engines.of[KINDS - 1]->ops->free(live.engines.of[KINDS - 1]);
    size_t before = live.n_made[KINDS - 1];
    run_for(&live, 5);
    measure_again(&live);
    run_for(&live, 7);
    end_engines(&live);
    size_t after = live.n_made[KINDS - 1] - before;
    assert_true(before > 2 && after > 2);
    open_host(&again, PMU_REPLAY);
    play(&again);
    assert_same(&live, &again, 0);
    assert_same(&live, &again, 1);
    assert_int_equal(again.n_made[KINDS - 1], before + 1 + after);
    for (size_t i = 0; i < before; i++)
        assert_same_snapshot(live.made[KINDS - 1][i], again.made[KINDS - 1][i]);
    assert_true(has_a_gauge(again.made[KINDS - 1][before - 1]));
    assert_false(has_a_gauge(again.made[KINDS - 1][before]));
    for (size_t i = before; i < before + after; i++)
        assert_same_snapshot(live.made[KINDS - 1][i], again.made[KINDS - 1][i + 1]);
    close_host(&again);
    close_host(&live);
    remove_files();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_snapshot_of_cores_and_boxes_comes_back),
        cmocka_unit_test(test_what_a_vendors_files_have_comes_back_without_them),
        cmocka_unit_test(test_a_kind_that_goes_and_comes_again_is_replayed),
    };
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.40s/topdownd-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(recording, sizeof recording, "%s/recording", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_files();
    (void)rmdir(folder);
    return failed;
}
