// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_cpu.h"
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

static void test_sockets_cores_and_siblings_are_told_apart(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-3,6-7\n");
    host_tree_write(tree, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2800000\n");
    host_tree_write_cpu(tree, 0, "0,2\n", "0\n");
    host_tree_write_cpu(tree, 1, "1,3\n", "1\n");
    host_tree_write_cpu(tree, 2, "0,2\n", "0\n");
    host_tree_write_cpu(tree, 3, "1,3\n", "1\n");
    host_tree_write_cpu(tree, 6, "6\n", "0\n");
    host_tree_write_cpu(tree, 7, "7\n", "1\n");
    struct topology *topology;
    assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &tree->errors, &topology), 0);
    assert_int_equal(topology->n_cpus, 6);
    assert_int_equal(topology->n_sockets, 2);
    assert_int_equal(topology->n_cores, 4);
    assert_int_equal(topology->cpus[4].id, 6);
    assert_int_equal(topology->cpus[0].core, topology->cpus[2].core);
    assert_int_not_equal(topology->cpus[0].core, topology->cpus[1].core);
    assert_int_equal(topology->sockets[0].cores, 2);
    assert_int_equal(topology->sockets[0].measured, 3);
    assert_true(topology->maximum_frequency_hz == 2.8e9);
    topology_free(topology);
}

static void test_cpus_that_are_not_selected_are_counted_as_excluded(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    host_tree_write_cpu(tree, 0, "0\n", "0\n");
    host_tree_write_cpu(tree, 1, "1\n", "0\n");
    struct cpuset selected;
    struct topology *topology;
    assert_int_equal(cpuset_parse("1,5", &selected), 0);
    assert_int_equal(
        host_linux_topology(&tree->roots, &(struct host_choice){.selected = &selected}, &tree->errors, &topology), 0);
    assert_int_equal(topology->n_cpus, 1);
    assert_int_equal(topology->cpus[0].id, 1);
    assert_int_equal(topology->sockets[0].excluded, 1);
    topology_free(topology);
    assert_int_equal(cpuset_parse("5", &selected), 0);
    assert_int_equal(
        host_linux_topology(&tree->roots, &(struct host_choice){.selected = &selected}, &tree->errors, &topology),
        -EINVAL);
    assert_non_null(strstr(tree->errors.items[0].text, "online"));
}

static void test_a_virtual_machine_that_says_little_is_one_socket(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    host_tree_write_cpu(tree, 0, "-1\n", "-1\n"); // CPU 1 has no topology at all
    struct topology *topology;
    assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &tree->errors, &topology), 0);
    assert_int_equal(topology->n_sockets, 1);
    assert_int_equal(topology->sockets[0].id, 0);
    assert_int_equal(topology->n_cores, 2);
    assert_true(topology->maximum_frequency_hz == 0);
    topology_free(topology);
}

static void test_an_unreadable_or_wrong_list_of_cpus_is_an_error_with_its_path(void **state) {
    struct host_tree *tree = *state;
    struct topology *topology = NULL;
    assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &tree->errors, &topology), -EINVAL);
    assert_non_null(strstr(tree->errors.items[0].file, "/devices/system/cpu/online"));
    assert_non_null(strstr(tree->errors.items[0].text, "--path.sysfs"));
    static const char *const wrong[] = {"", "zero\n", "3-1\n", "0-99999999\n", "0,,1\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tree->errors.n = 0;
        host_tree_write(tree, "devices/system/cpu/online", wrong[i]);
        assert_int_equal(host_linux_topology(&tree->roots, &(struct host_choice){0}, &tree->errors, &topology),
                         -EINVAL);
        assert_int_equal(tree->errors.n, 1);
    }
    assert_null(topology);
}

static void test_a_pmus_type_is_read(void **state) {
    struct host_tree *tree = *state;
    uint32_t type = 77;
    assert_int_equal(host_linux_pmu_type(&tree->roots, "software", &type), -ENOENT);
    host_tree_write(tree, "bus/event_source/devices/software/type", "1\n");
    host_tree_write(tree, "bus/event_source/devices/odd/type", "one\n");
    assert_int_equal(host_linux_pmu_type(&tree->roots, "odd", &type), -ENOENT);
    assert_int_equal(type, 77);
    assert_int_equal(host_linux_pmu_type(&tree->roots, "software", &type), 0);
    assert_int_equal(type, 1);
}

static void test_cpuinfo_of_x86_and_of_arm(void **state) {
    struct host_tree *tree = *state;
    struct host_cpu cpu;
    host_cpu_describe(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "unknown");
    assert_string_equal(cpu.model, "unknown");
    host_tree_write(tree, "cpuinfo",
                    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Xeon \"8\" \x01\n\n");
    host_cpu_describe(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "GenuineIntel");
    assert_string_equal(cpu.model, "Xeon \"8\" ?");
    host_tree_write(tree, "cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    host_cpu_describe(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "0x41");
    assert_string_equal(cpu.model, "0xd4f");
}

static void test_figures_of_this_process_are_plausible(void **state) {
    (void)state;
    struct host_process process = {0};
    struct status_process now;
    const struct host_roots roots = {.sysfs = "/sys", .procfs = "/proc"};
    host_linux_process(&roots, &process, &now);
    assert_true(now.cpu_seconds >= 0 && now.cpu_seconds < 1000);
    assert_true(now.resident_bytes > 1e5 && now.resident_bytes < 1e11);
    assert_true(now.virtual_bytes > now.resident_bytes);
    assert_true(now.open_fds >= 3 && now.open_fds <= now.max_fds);
    double age = (double)time(NULL) - now.start_timestamp;
    assert_true(age > -5 && age < 3600);
}

// A made-up procfs is not a real one, so its folder's size tells nothing, as on kernels before 6.2.
static void test_what_takes_long_is_not_read_in_every_call(void **state) {
    struct host_tree *tree = *state;
    struct host_process process = {0};
    struct status_process now;
    host_tree_write(tree, "self/fd/0", "");
    host_tree_write(tree, "self/fd/1", "");
    host_tree_write(tree, "self/fd/2", ""); // stands for the one that the folder itself takes
    host_tree_write(tree, "self/stat", "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 500 8192 2 0\n");
    host_tree_write(tree, "stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 1\n");
    host_linux_process(&tree->roots, &process, &now);
    double started = 1700000000 + 500.0 / (double)sysconf(_SC_CLK_TCK);
    assert_true(now.start_timestamp == started);
    assert_true(now.open_fds == 2 && now.virtual_bytes == 8192);
    host_tree_write(tree, "stat", "btime 1\n");
    host_tree_write(tree, "self/fd/3", "");
    host_tree_write(tree, "self/stat", "7 (a) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 500 4096 1 0\n");
    for (int call = 1; call < HOST_FDS_CALLS; call++)
        host_linux_process(&tree->roots, &process, &now);
    assert_true(now.start_timestamp == started);
    assert_true(now.open_fds == 2 && now.virtual_bytes == 4096);
    host_linux_process(&tree->roots, &process, &now);
    assert_true(now.open_fds == 3);
}

static void test_open_files_are_counted_every_few_calls_where_the_kernel_does_it(void **state) {
    (void)state;
    struct host_process process = {0};
    struct status_process now;
    const struct host_roots roots = {.sysfs = "/sys", .procfs = "/proc"};
    struct stat status;
    if (stat("/proc/self/fd", &status) < 0 || status.st_size == 0)
        skip(); // a kernel before 6.2
    host_linux_process(&roots, &process, &now);
    double before = now.open_fds;
    int fd = dup(0);
    assert_true(fd >= 0);
    for (int call = 1; call < HOST_FILE_CALLS; call++)
        host_linux_process(&roots, &process, &now);
    assert_true(now.open_fds == before);
    host_linux_process(&roots, &process, &now);
    close(fd);
    assert_true(now.open_fds == before + 1);
    for (int call = 0; call < HOST_FILE_CALLS; call++)
        host_linux_process(&roots, &process, &now);
    assert_true(now.open_fds == before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sockets_cores_and_siblings_are_told_apart, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cpus_that_are_not_selected_are_counted_as_excluded, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_virtual_machine_that_says_little_is_one_socket, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_an_unreadable_or_wrong_list_of_cpus_is_an_error_with_its_path,
                                        host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_pmus_type_is_read, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cpuinfo_of_x86_and_of_arm, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_what_takes_long_is_not_read_in_every_call, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test(test_open_files_are_counted_every_few_calls_where_the_kernel_does_it),
        cmocka_unit_test(test_figures_of_this_process_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
