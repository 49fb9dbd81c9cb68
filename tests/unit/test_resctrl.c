// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/resctrl_tree.h"

#include "collectors/memory/resctrl.h"

// resctrl as Intel's and AMD's hosts show it: which bytes count, once each, for which socket.

static void test_control_groups_add_up_and_monitoring_groups_are_in_them(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    resctrl_write(tree, "", 1, "500\n", "500\n");
    resctrl_write(tree, "web/", 0, "100\n", "90\n");
    resctrl_write(tree, "web/", 1, "10\n", "9\n");
    resctrl_write(tree, "mon_groups/one/", 0, "400\n", "300\n");  // part of the root's
    resctrl_write(tree, "web/mon_groups/two/", 1, "10\n", "9\n"); // part of web's
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_COUNTING);
    assert_int_equal(memory->n_domains, 2);
    assert_int_equal(memory->n_sockets, 2);
    resctrl_assert_socket(memory, 0, 790, 310);
    resctrl_assert_socket(memory, 1, 509, 1);
    assert_true(isnan(memory->sockets[0].bytes.all));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void shell(const struct host_tree *tree, const char *form, const char *name) {
    char command[1024], path[512];
    (void)snprintf(path, sizeof path, "%s/%s", tree->root, name);
    (void)snprintf(command, sizeof command, form, path, path, path, path);
    assert_int_equal(system(command), 0);
}

// What cannot be read for once (no files left, no memory) has not gone: its groups are not new when it can be again.
static void test_a_folder_that_cannot_be_read_for_once_makes_no_group_new(void **state) {
    const struct host_tree *tree = *state;
    static const char *const names[] = {"resctrl/mon_groups", "resctrl/mon_data", "self/mountinfo"};
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        resctrl_write(tree, "", 0, "1000\n", "700\n");
        resctrl_write(tree, "mon_groups/one/", 0, "400\n", "300\n");
        struct memory_reader *reader = memory_reader_new(&tree->roots);
        struct host_memory *memory = memory_read_at(reader, 100);
        resctrl_assert_socket(memory, 0, 700, 300);
        host_memory_unref(memory);
        shell(tree, "mv '%s' '%s.away' && ln -s '%s' '%s'", names[i]); // a link to itself: ELOOP
        memory = memory_read_at(reader, 110);
        assert_int_equal(memory->n_domains, 0);
        host_memory_unref(memory);
        shell(tree, "rm '%s' && mv '%s.away' '%s'", names[i]);
        resctrl_write(tree, "", 0, "1100\n", "760\n");
        resctrl_write(tree, "mon_groups/one/", 0, "420\n", "310\n");
        memory = memory_read_at(reader, 120);
        resctrl_assert_socket(memory, 0, 760, 340);
        assert_true(isnan(resctrl_rate(memory, 0)));
        host_memory_unref(memory);
        memory_reader_free(reader);
    }
}

static void test_amd_has_a_domain_for_each_core_complex(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 4);
    resctrl_mount(tree);
    for (unsigned domain = 0; domain < 8; domain++)
        resctrl_write(tree, "", domain, "100\n", domain < 4 ? "60\n" : "80\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->n_domains, 8);
    assert_int_equal(memory->n_sockets, 2);
    resctrl_assert_socket(memory, 0, 240, 160);
    resctrl_assert_socket(memory, 1, 320, 80);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// It had counted for days before somebody gave it a counter that can be read.
static void test_a_group_that_becomes_readable_adds_what_comes_from_then_on(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *web;
        double shown, rate;
    } steps[] = {{"Unavailable\n", 1000, NAN},  {"Unavailable\n", 1100, 10},   {"9000000000000\n", 1200, NAN},
                 {"9000000000050\n", 1350, 15}, {"Unavailable\n", 1450, NAN},    // the interval lacks web's bytes
                 {"Unavailable\n", 1550, 10},   {"9000000000350\n", 1950, NAN}}; // and this one has those of three
    char root[32];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        (void)snprintf(root, sizeof root, "%u\n", 1000 + 100 * i);
        resctrl_write(tree, "", 0, root, root);
        resctrl_write(tree, "web/", 0, steps[i].web, steps[i].web);
        struct host_memory *memory = memory_read_at(reader, 100 + 10 * i);
        resctrl_assert_socket(memory, 0, steps[i].shown, 0);
        double rate = resctrl_rate(memory, 0);
        if (isnan(rate) ? !isnan(steps[i].rate) : rate != steps[i].rate)
            fail_msg("step %u has a rate of %g", i, rate);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// A host of many containers has megabytes of mounts, and resctrl may be the last.
static void test_the_last_of_many_mounts_is_found(void **state) {
    const struct host_tree *tree = *state;
    char path[300], last[512];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    (void)snprintf(path, sizeof path, "%s/self/mountinfo", tree->root);
    FILE *mounts = fopen(path, "we");
    assert_non_null(mounts);
    for (unsigned i = 0; i < 20000; i++)
        (void)fprintf(mounts, "%u 27 0:%u / /var/lib/containers/overlay/%064u/merged rw - overlay overlay rw\n", i + 60,
                      i + 60, i);
    (void)snprintf(last, sizeof last, "56 22 0:44 / %s/resctrl rw - resctrl resctrl rw\n", tree->root);
    (void)fputs(last, mounts);
    assert_true(ftell(mounts) > 2000000);
    (void)fclose(mounts);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    resctrl_assert_socket(memory, 0, 700, 300);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// AMD's total has dirty lines that leave for local memory, too, so that the rest is not that of other nodes.
static void test_where_events_can_be_chosen_the_total_is_everything_or_nothing(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *file, *text;
        enum resctrl_state state;
        unsigned interrupts;
    } hosts[] = {
        {"mbm_total_bytes_config", "0=0x7f;1=0x7f;\n", RESCTRL_COUNTING, 2},
        {"mbm_total_bytes_config", "0=0x4f;1=0x4f\n", RESCTRL_COUNTING, 4}, // no slow memory; its domains are known
        {"mbm_total_bytes_config", "0=0x7f;1=0x33\n", RESCTRL_OTHER_EVENTS, 2},
        {"event_configs/mbm_total_bytes/event_filter",
         "local_reads,remote_reads,local_non_temporal_writes,remote_non_temporal_writes,local_reads_slow_memory,"
         "remote_reads_slow_memory,dirty_victim_writes_all\n",
         RESCTRL_COUNTING, 2},
        {"event_configs/mbm_total_bytes/event_filter", "local_reads,remote_reads\n", RESCTRL_OTHER_EVENTS, 0},
        {"event_configs/mbm_total_bytes/event_filter", "\n", RESCTRL_OTHER_EVENTS, 0},
    };
    const struct memory_reader_choice all = {.nodes = true, .resctrl = true};
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    resctrl_write(tree, "", 1, "2000\n", "700\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        unsigned interrupts;
        memory_write(tree, hosts[i].text, "resctrl/info/L3_MON/%s", hosts[i].file);
        struct host_memory *memory =
            memory_reader_read(reader, all, (struct memory_reader_time){1 + i, 1.7e9}, &interrupts);
        assert_int_equal(memory->resctrl, hosts[i].state);
        assert_int_equal(interrupts, hosts[i].interrupts);
        assert_int_equal(memory->n_domains, hosts[i].state == RESCTRL_COUNTING ? 2 : 0);
        for (size_t k = 0; k < memory->n_sockets; k++) {
            assert_true(memory->sockets[k].bytes.all == (k == 0 ? 1000 : 2000));
            assert_true(isnan(memory->sockets[k].bytes.local) && isnan(memory->sockets[k].bytes.remote));
        }
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// Arm's domains (MPAM) have the numbers of caches, which the firmware chooses, and no local bytes. Intel's Linux 7.0
// adds folders of other things.
static void test_domains_have_numbers_of_32_bits(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        memory_write(tree, cpu < 2 ? "4294967295\n" : "1107296256\n", "devices/system/cpu/cpu%u/cache/index3/id", cpu);
    resctrl_write(tree, "", 4294967295U, "1000\n", NULL);
    resctrl_write(tree, "", 1107296256, "2000\n", NULL);
    memory_write(tree, "12.5\n", "resctrl/mon_data/mon_PERF_PKG_00/core_energy");
    memory_write(tree, "7\n", "resctrl/mon_data/mon_L3_4294967296/mbm_total_bytes");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->n_domains, 2);
    assert_true(memory->sockets[0].bytes.all == 1000 && memory->sockets[1].bytes.all == 2000);
    assert_string_equal(memory->problem, "");
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_group_without_a_counter_adds_nothing(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    resctrl_write(tree, "", 1, "Unassigned\n", "Unassigned\n");
    resctrl_write(tree, "web/", 0, "500\n", "Unavailable\n"); // a difference would take local bytes for remote ones
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_COUNTING);
    resctrl_assert_socket(memory, 0, 700, 300);
    assert_true(isnan(memory->sockets[1].bytes.local));
    assert_string_equal(memory->problem, "");
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "Error\n", "Unavailable\n");
    memory = memory_read_at(reader, 110);
    resctrl_assert_socket(memory, 0, 700, 300); // as long as the file says nothing
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "1100\n", "750\n");
    memory = memory_read_at(reader, 120);
    resctrl_assert_socket(memory, 0, 750, 350);
    assert_true(isnan(resctrl_rate(memory, 0))); // these bytes are of two intervals
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "1200\n", "800\n");
    memory = memory_read_at(reader, 130);
    assert_true(resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// Of the two caches of a socket one counts from the second reading on, and had counted long before.
static void test_what_a_cache_counted_before_it_was_read_is_no_bandwidth(void **state) {
    (void)state;
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->seconds = 10;
    memory->n_domains = 2;
    memory->domains[0] = (struct host_memory_domain){.id = 0, .bytes = {1100, 100, NAN}, .before = {1000, 100, NAN}};
    memory->domains[1] = (struct host_memory_domain){.id = 1, .bytes = {8e12, 1e12, NAN}, .before = {NAN, NAN, NAN}};
    host_memory_sum_sockets(memory);
    assert_int_equal(memory->n_sockets, 1);
    assert_true(memory->sockets[0].bytes.local == 8e12 + 1100);
    assert_true(isnan(resctrl_rate(memory, 0)));
    memory->domains[1].before = memory->domains[1].bytes;
    host_memory_sum_sockets(memory);
    assert_true(resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
}

static void test_where_no_counter_is_assigned_at_all_it_says_so(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "Unassigned\n", "Unassigned\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_NOT_COUNTING);
    for (size_t i = 0; i < HOST_MEMORY_SERIES_BYTES; i++)
        assert_true(isnan(host_memory_series(memory, HOST_MEMORY_SERIES_TOTALS + i)));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_without_local_bytes_all_are_of_one_kind(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", NULL);
    resctrl_write(tree, "", 1, "2000\n", NULL);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_true(memory->sockets[0].bytes.all == 1000 && memory->sockets[1].bytes.all == 2000);
    assert_true(isnan(memory->sockets[0].bytes.local) && isnan(memory->sockets[0].bytes.remote));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_count_that_falls_adds_nothing_and_goes_on(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *total, *local;
        double shown_local, shown_remote;
    } steps[] = {{"1000\n", "700\n", 700, 300},
                 {"1200\n", "800\n", 800, 400},
                 {"50\n", "40\n", 800, 400}, // a monitoring group in it was removed, or the counter was set back
                 {"150\n", "100\n", 860, 440},
                 {"160\n", "115\n", 875, 440}}; // local bytes were read later
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        resctrl_write(tree, "", 0, steps[i].total, steps[i].local);
        struct host_memory *memory = memory_read_at(reader, 100 + 10 * i);
        resctrl_assert_socket(memory, 0, steps[i].shown_local, steps[i].shown_remote);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

static void test_groups_that_come_and_go_leave_totals_that_only_grow(void **state) {
    const struct host_tree *tree = *state;
    char from[300], to[300];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "1000\n");
    resctrl_write(tree, "web/", 0, "100\n", "100\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    host_memory_unref(memory_read_at(reader, 100));
    (void)snprintf(from, sizeof from, "%s/resctrl/web", tree->root);
    (void)snprintf(to, sizeof to, "%s/resctrl/shop", tree->root);
    assert_int_equal(rename(from, to), 0); // the same group under another name
    struct host_memory *memory = memory_read_at(reader, 110);
    resctrl_assert_socket(memory, 0, 1100, 0);
    host_memory_unref(memory);
    resctrl_remove(tree, "resctrl/shop");
    memory = memory_read_at(reader, 120);
    resctrl_assert_socket(memory, 0, 1100, 0);
    host_memory_unref(memory);
    resctrl_write(tree, "new/", 0, "30\n", "20\n"); // it began at 0
    memory = memory_read_at(reader, 130);
    resctrl_assert_socket(memory, 0, 1120, 10);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_it_is_followed_when_somebody_mounts_and_unmounts_it(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_write(tree, "", 0, "1000\n", "1000\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_NOT_MOUNTED);
    assert_int_equal(memory->n_sockets, 0);
    host_memory_unref(memory);
    resctrl_mount(tree);
    memory = memory_read_at(reader, 110);
    resctrl_assert_socket(memory, 0, 1000, 0);
    host_memory_unref(memory);
    host_tree_write(tree, "self/mountinfo", "22 27 0:20 / /sys rw - sysfs sysfs rw\n");
    memory = memory_read_at(reader, 120);
    assert_int_equal(memory->resctrl, RESCTRL_NOT_MOUNTED);
    assert_int_equal(memory->n_sockets, 0);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_mount_without_monitoring_counts_nothing(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    memory_write(tree, "L3:0=fff\n", "resctrl/schemata");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_NOT_COUNTING);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_file_that_holds_nonsense_is_named(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "a lot\n", "700\n");
    resctrl_write(tree, "", 1, "1000\n", "700\n");
    memory_write(tree, "9\n", "resctrl/mon_data/mon_L3_x/mbm_total_bytes");
    memory_write(tree, "9\n", "resctrl/mon_data/mon_L3_5.old/mbm_total_bytes");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    char problem[HOST_MEMORY_PROBLEM_MAX];
    (void)snprintf(problem, sizeof problem,
                   "%s/resctrl/mon_data/mon_L3_00/mbm_total_bytes does not hold a number of bytes, which are missing",
                   tree->root);
    assert_string_equal(memory->problem, problem);
    assert_int_equal(memory->n_domains, 2);
    resctrl_assert_socket(memory, 1, 700, 300);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_domain_of_no_known_socket_is_shown_without_one(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 9, "1000\n", "700\n");
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->n_domains, 1);
    assert_int_equal(memory->domains[0].socket, -1);
    assert_true(memory->domains[0].bytes.local == 700);
    assert_int_equal(memory->n_sockets, 0);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_more_groups_than_can_be_read_have_no_sum(void **state) {
    const struct host_tree *tree = *state;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    for (int i = 0; i < RESCTRL_GROUPS_MAX; i++) {
        char group[32];
        (void)snprintf(group, sizeof group, "g%d/", i);
        resctrl_write(tree, group, 0, "1\n", "1\n");
    }
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_int_equal(memory->resctrl, RESCTRL_TOO_MANY);
    assert_int_equal(memory->n_domains, 0);
    assert_true(host_memory_same_series(memory, NULL));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_each_file_that_makes_a_cpu_answer_is_counted(void **state) {
    const struct host_tree *tree = *state;
    unsigned interrupts;
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", "700\n");
    resctrl_write(tree, "", 1, "1000\n", NULL);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    const struct memory_reader_choice all = {.nodes = true, .resctrl = true}, nodes = {.nodes = true};
    host_memory_unref(memory_reader_read(reader, all, (struct memory_reader_time){1, 1}, &interrupts));
    assert_int_equal(interrupts, 3);
    struct host_memory *memory = memory_reader_read(reader, nodes, (struct memory_reader_time){2, 2}, &interrupts);
    assert_int_equal(interrupts, 0);
    assert_int_equal(memory->resctrl, RESCTRL_NOT_ASKED);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_control_groups_add_up_and_monitoring_groups_are_in_them),
        ON_A_TREE(test_a_folder_that_cannot_be_read_for_once_makes_no_group_new),
        ON_A_TREE(test_amd_has_a_domain_for_each_core_complex),
        ON_A_TREE(test_a_group_without_a_counter_adds_nothing),
        ON_A_TREE(test_a_group_that_becomes_readable_adds_what_comes_from_then_on),
        ON_A_TREE(test_the_last_of_many_mounts_is_found),
        ON_A_TREE(test_where_events_can_be_chosen_the_total_is_everything_or_nothing),
        ON_A_TREE(test_domains_have_numbers_of_32_bits),
        ON_A_TREE(test_what_a_cache_counted_before_it_was_read_is_no_bandwidth),
        ON_A_TREE(test_where_no_counter_is_assigned_at_all_it_says_so),
        ON_A_TREE(test_without_local_bytes_all_are_of_one_kind),
        ON_A_TREE(test_a_count_that_falls_adds_nothing_and_goes_on),
        ON_A_TREE(test_groups_that_come_and_go_leave_totals_that_only_grow),
        ON_A_TREE(test_it_is_followed_when_somebody_mounts_and_unmounts_it),
        ON_A_TREE(test_a_mount_without_monitoring_counts_nothing),
        ON_A_TREE(test_a_file_that_holds_nonsense_is_named),
        ON_A_TREE(test_a_domain_of_no_known_socket_is_shown_without_one),
        ON_A_TREE(test_more_groups_than_can_be_read_have_no_sum),
        ON_A_TREE(test_each_file_that_makes_a_cpu_answer_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
