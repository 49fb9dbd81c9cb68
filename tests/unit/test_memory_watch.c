// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory_host.h"

#include "daemon/memory/memory_watch.h"

// When the kernel's counts of memory are read: with the test's clock, which only a reading moves.

static const uint64_t MS = 1000000, SECOND = 1000000000;

struct hands {
    uint64_t now_ns, cpu_ns;
    uint64_t took_ns, took_cpu_ns; // each look at a clock takes so long
};

static uint64_t hands_now_ns(const void *context) {
    struct hands *hands = (struct hands *)(uintptr_t)context;
    return hands->now_ns += hands->took_ns;
}
static uint64_t hands_cpu_ns(const void *context) {
    struct hands *hands = (struct hands *)(uintptr_t)context;
    return hands->cpu_ns += hands->took_cpu_ns;
}
static double hands_realtime(const void *context) {
    return 1.7e9 + (double)((const struct hands *)context)->now_ns * 1e-9;
}

struct watched {
    struct hands hands;
    struct clocks clocks;
    struct self self;
    struct config config;
    struct source source;
    struct setup setup;
    struct memory_watch *watch;
};

static void begin(struct watched *watched, const struct host_tree *tree) {
    *watched = (struct watched){.hands = {.now_ns = 500 * SECOND}};
    watched->clocks = (struct clocks){hands_now_ns, hands_cpu_ns, hands_realtime, &watched->hands};
    self_init(&watched->self, &watched->clocks, 4, watched->hands.now_ns);
    watched->source.roots = tree->roots;
    watched->setup.config = &watched->config;
    watched->setup.types[0].source = &watched->source;
    assert_int_equal(memory_watch_new(&watched->setup, &watched->self, &watched->watch), 0);
}

// Looks every half second from `from` on. Returns after how many the reading is another one.
static unsigned looks_until_next(struct watched *watched, uint64_t from_ns) {
    struct host_memory *first = memory_watch_look(watched->watch, &watched->setup, from_ns);
    double at = first->timestamp_seconds;
    for (unsigned n = 1; n < 100000; n++)
        if (memory_watch_look(watched->watch, &watched->setup, from_ns + n * 500 * MS)->timestamp_seconds != at)
            return n;
    return 0;
}

static void test_a_reading_is_made_every_ten_seconds(void **state) {
    struct watched watched;
    memory_two_sockets(*state);
    begin(&watched, *state);
    watched.hands.took_ns = watched.hands.took_cpu_ns = MS / 10; // at 1 in 10,000, every second would do
    assert_int_equal(looks_until_next(&watched, 1000 * SECOND), 20);
    assert_true(watched.self.status.cost.collection_seconds > 0);
    assert_int_equal(watched.self.status.cost.calls, 0);
    memory_watch_free(watched.watch);
}

static void test_where_nothing_is_counted_it_looks_once_a_minute(void **state) {
    struct watched watched;
    memory_add_cpus(*state, 0, 4, "0\n");
    memory_add_node(*state, 0, "0-3\n", 64);
    begin(&watched, *state);
    watched.hands.took_ns = MS / 10;
    assert_int_equal(looks_until_next(&watched, 1000 * SECOND), 120);
    memory_watch_free(watched.watch);
}

static void test_a_reading_that_takes_long_is_rare(void **state) {
    struct watched watched;
    memory_two_sockets(*state);
    begin(&watched, *state);
    watched.hands.took_ns = watched.hands.took_cpu_ns = 5 * MS; // in 50 s
    assert_int_equal(looks_until_next(&watched, 1000 * SECOND), 100);
    memory_watch_free(watched.watch);
}

static void test_waiting_for_others_matters_less(void **state) {
    struct watched watched;
    memory_two_sockets(*state);
    begin(&watched, *state);
    watched.hands.took_ns = 50 * MS; // a busy host
    assert_int_equal(looks_until_next(&watched, 1000 * SECOND), 20);
    watched.hands.took_ns = 400 * MS; // measuring stands still meanwhile: once in 40 s
    assert_int_equal(looks_until_next(&watched, 2000 * SECOND), 80);
    memory_watch_free(watched.watch);
}

static void test_files_that_make_cpus_answer_are_at_most_ten_a_second(void **state) {
    const struct host_tree *tree = *state;
    struct watched watched;
    char mount[512];
    (void)snprintf(mount, sizeof mount, "56 22 0:44 / %s/resctrl rw - resctrl resctrl rw\n", tree->root);
    host_tree_write(tree, "self/mountinfo", mount);
    for (unsigned domain = 0; domain < 75; domain++) {
        memory_write(tree, "7\n", "resctrl/mon_data/mon_L3_%02u/mbm_total_bytes", domain);
        memory_write(tree, "7\n", "resctrl/mon_data/mon_L3_%02u/mbm_local_bytes", domain);
    }
    begin(&watched, tree);
    watched.hands.took_ns = MS / 100;
    assert_int_equal(looks_until_next(&watched, 1000 * SECOND), 30);
    assert_int_equal(watched.self.status.cost.interrupts, 2 * 150);
    memory_watch_free(watched.watch);
}

// Twice what all sockets' memory can move is believed, as far as each one's modules tell it: a rated or configured peak
// is an opinion.
static void test_a_count_beyond_the_peak_of_all_sockets_is_refused(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        enum topology_peak peak;
        double configured; // of the second socket
        bool refused;
    } hosts[] = {{TOPOLOGY_PEAK_HOST, 0, true},
                 {TOPOLOGY_PEAK_CONFIGURED, 0, false},
                 {TOPOLOGY_PEAK_FIRMWARE, 0, false},
                 {TOPOLOGY_PEAK_FIRMWARE, 1e9, false},
                 {TOPOLOGY_PEAK_HOST, 9e9, true}};
    char mount[512];
    (void)snprintf(mount, sizeof mount, "56 22 0:44 / %s/resctrl rw - resctrl resctrl rw\n", tree->root);
    host_tree_write(tree, "self/mountinfo", mount);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct watched watched;
        struct topology_socket sockets[2] = {{.id = 0}, {.id = 1}},
                               boxes[2] = {{.id = 0, .memory_bytes_per_second = 1e9, .peak = TOPOLOGY_PEAK_HOST},
                                           {.id = 1, .memory_bytes_per_second = 1e9, .peak = hosts[i].peak}};
        struct topology cpus = {.sockets = sockets, .n_sockets = 2}, outside = {.sockets = boxes, .n_sockets = 2};
        struct config_peak peak = {.socket = 1, .bytes_per_second = hosts[i].configured};
        begin(&watched, tree);
        watched.setup.types[0].topology = &cpus;
        watched.setup.types[1].topology = &outside;
        watched.setup.n_types = watched.setup.n_boxes = 1;
        watched.config.uncore.peaks = &peak;
        watched.config.uncore.n_peaks = hosts[i].configured > 0 ? 1 : 0;
        memory_write(tree, "1000\n", "resctrl/mon_data/mon_L3_00/mbm_total_bytes");
        memory_watch_look(watched.watch, &watched.setup, 1000 * SECOND);
        memory_write(tree, "60000001000\n", "resctrl/mon_data/mon_L3_00/mbm_total_bytes"); // 6 GB/s
        const struct host_memory *memory = memory_watch_look(watched.watch, &watched.setup, 1010 * SECOND);
        if ((memory->domains[0].bytes.all == 1000) != hosts[i].refused ||
            (memory->implausible == 1) != hosts[i].refused)
            fail_msg("host %zu has %.0f bytes", i, memory->domains[0].bytes.all);
        memory_watch_free(watched.watch);
    }
}

static void test_a_configuration_that_changes_is_followed_at_once(void **state) {
    struct watched watched;
    memory_two_sockets(*state);
    begin(&watched, *state);
    assert_int_equal(memory_watch_look(watched.watch, &watched.setup, 1000 * SECOND)->n_nodes, 2);
    watched.config.uncore.numa_off = true;
    assert_int_equal(memory_watch_look(watched.watch, &watched.setup, 1001 * SECOND)->n_nodes, 0);
    watched.config.uncore.resctrl_off = true;
    assert_null(memory_watch_look(watched.watch, &watched.setup, 1002 * SECOND));
    watched.config.uncore = (struct config_uncore){.off = false};
    struct host_memory *memory = memory_watch_look(watched.watch, &watched.setup, 1003 * SECOND);
    assert_int_equal(memory->n_nodes, 2);
    watched.config.uncore.off = true;
    assert_null(memory_watch_look(watched.watch, &watched.setup, 1004 * SECOND));
    memory_watch_free(watched.watch);
}

static void test_nothing_of_this_host_describes_another(void **state) {
    struct watched watched;
    memory_two_sockets(*state);
    begin(&watched, *state);
    watched.source.simulated = true;
    assert_null(memory_watch_look(watched.watch, &watched.setup, 1000 * SECOND));
    watched.source.simulated = false;
    watched.source.replayed = true;
    assert_null(memory_watch_look(watched.watch, &watched.setup, 1000 * SECOND));
    assert_null(memory_watch_once(&watched.setup));
    memory_watch_free(watched.watch);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_a_reading_is_made_every_ten_seconds),
        ON_A_TREE(test_where_nothing_is_counted_it_looks_once_a_minute),
        ON_A_TREE(test_a_reading_that_takes_long_is_rare),
        ON_A_TREE(test_waiting_for_others_matters_less),
        ON_A_TREE(test_files_that_make_cpus_answer_are_at_most_ten_a_second),
        ON_A_TREE(test_a_count_beyond_the_peak_of_all_sockets_is_refused),
        ON_A_TREE(test_a_configuration_that_changes_is_followed_at_once),
        ON_A_TREE(test_nothing_of_this_host_describes_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
