// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/host_linux.h"

// A made-up host below a folder of its own.
struct tree {
    char root[256];
    struct host_roots roots;
    struct errors errors;
};

static int tree_setup(void **state) {
    struct tree *tree = calloc(1, sizeof *tree);
    (void)snprintf(tree->root, sizeof tree->root, "%s/topdownd-host-XXXXXX",
                   getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
    if (!tree || !mkdtemp(tree->root))
        return -1;
    tree->roots = (struct host_roots){.sysfs = tree->root, .procfs = tree->root};
    *state = tree;
    return 0;
}

static int tree_teardown(void **state) {
    struct tree *tree = *state;
    char command[320];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", tree->root);
    int r = system(command);
    free(tree);
    return r;
}

static void write_file(const struct tree *tree, const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", tree->root, name);
    for (char *slash = strchr(path + strlen(tree->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void write_cpu(const struct tree *tree, unsigned cpu, const char *core, const char *package) {
    char name[128];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/core_id", cpu);
    write_file(tree, name, core);
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    write_file(tree, name, package);
}

static void test_sockets_cores_and_siblings_are_told_apart(void **state) {
    struct tree *tree = *state;
    write_file(tree, "devices/system/cpu/online", "0-3,6-7\n");
    write_file(tree, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2800000\n");
    write_cpu(tree, 0, "0\n", "0\n");
    write_cpu(tree, 1, "0\n", "1\n"); // the same core number on another socket is another core
    write_cpu(tree, 2, "0\n", "0\n"); // a sibling of CPU 0
    write_cpu(tree, 3, "0\n", "1\n");
    write_cpu(tree, 6, "1\n", "0\n");
    write_cpu(tree, 7, "1\n", "1\n");
    struct topology *topology;
    assert_int_equal(host_linux_topology(&tree->roots, NULL, &tree->errors, &topology), 0);
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
    struct tree *tree = *state;
    write_file(tree, "devices/system/cpu/online", "0-1\n");
    write_cpu(tree, 0, "0\n", "0\n");
    write_cpu(tree, 1, "1\n", "0\n");
    struct cpuset selected;
    struct topology *topology;
    assert_int_equal(cpuset_parse("1,5", &selected), 0);
    assert_int_equal(host_linux_topology(&tree->roots, &selected, &tree->errors, &topology), 0);
    assert_int_equal(topology->n_cpus, 1);
    assert_int_equal(topology->cpus[0].id, 1);
    assert_int_equal(topology->sockets[0].excluded, 1);
    topology_free(topology);
    assert_int_equal(cpuset_parse("5", &selected), 0);
    assert_int_equal(host_linux_topology(&tree->roots, &selected, &tree->errors, &topology), -EINVAL);
    assert_non_null(strstr(tree->errors.items[0].text, "online"));
}

static void test_a_virtual_machine_that_says_little_is_one_socket(void **state) {
    struct tree *tree = *state;
    write_file(tree, "devices/system/cpu/online", "0-1\n");
    write_cpu(tree, 0, "-1\n", "-1\n"); // CPU 1 has no topology at all
    struct topology *topology;
    assert_int_equal(host_linux_topology(&tree->roots, NULL, &tree->errors, &topology), 0);
    assert_int_equal(topology->n_sockets, 1);
    assert_int_equal(topology->sockets[0].id, 0);
    assert_int_equal(topology->n_cores, 2);
    assert_true(topology->maximum_frequency_hz == 0);
    topology_free(topology);
}

static void test_an_unreadable_or_wrong_list_of_cpus_is_an_error_with_its_path(void **state) {
    struct tree *tree = *state;
    struct topology *topology = NULL;
    assert_int_equal(host_linux_topology(&tree->roots, NULL, &tree->errors, &topology), -EINVAL);
    assert_non_null(strstr(tree->errors.items[0].file, "/devices/system/cpu/online"));
    assert_non_null(strstr(tree->errors.items[0].text, "--path.sysfs"));
    static const char *const wrong[] = {"", "zero\n", "3-1\n", "0-99999999\n", "0,,1\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tree->errors.n = 0;
        write_file(tree, "devices/system/cpu/online", wrong[i]);
        assert_int_equal(host_linux_topology(&tree->roots, NULL, &tree->errors, &topology), -EINVAL);
        assert_int_equal(tree->errors.n, 1);
    }
    assert_null(topology);
}

static void test_a_pmus_type_is_read(void **state) {
    struct tree *tree = *state;
    uint32_t type = 77;
    assert_int_equal(host_linux_pmu_type(&tree->roots, "software", &type), -ENOENT);
    write_file(tree, "bus/event_source/devices/software/type", "1\n");
    write_file(tree, "bus/event_source/devices/odd/type", "one\n");
    assert_int_equal(host_linux_pmu_type(&tree->roots, "odd", &type), -ENOENT);
    assert_int_equal(type, 77);
    assert_int_equal(host_linux_pmu_type(&tree->roots, "software", &type), 0);
    assert_int_equal(type, 1);
}

static void test_cpuinfo_of_x86_and_of_arm(void **state) {
    struct tree *tree = *state;
    struct host_cpu cpu;
    host_linux_cpu(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "unknown");
    assert_string_equal(cpu.model, "unknown");
    write_file(tree, "cpuinfo",
               "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Xeon \"8\" \x01\n\n");
    host_linux_cpu(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "GenuineIntel");
    assert_string_equal(cpu.model, "Xeon \"8\" ?");
    write_file(tree, "cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    host_linux_cpu(&tree->roots, &cpu);
    assert_string_equal(cpu.vendor, "0x41");
    assert_string_equal(cpu.model, "0xd4f");
}

static void test_figures_of_this_process_are_plausible(void **state) {
    (void)state;
    struct host_process process;
    const struct host_roots roots = {.sysfs = "/sys", .procfs = "/proc"};
    host_linux_process(&roots, &process);
    assert_true(process.cpu_seconds >= 0 && process.cpu_seconds < 1000);
    assert_true(process.resident_bytes > 1e5 && process.resident_bytes < 1e11);
    assert_true(process.virtual_bytes > process.resident_bytes);
    assert_true(process.open_fds >= 3 && process.open_fds <= process.max_fds);
    double age = (double)time(NULL) - process.start_timestamp;
    assert_true(age > -5 && age < 3600);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sockets_cores_and_siblings_are_told_apart, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_cpus_that_are_not_selected_are_counted_as_excluded, tree_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_virtual_machine_that_says_little_is_one_socket, tree_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(test_an_unreadable_or_wrong_list_of_cpus_is_an_error_with_its_path, tree_setup,
                                        tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_pmus_type_is_read, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_cpuinfo_of_x86_and_of_arm, tree_setup, tree_teardown),
        cmocka_unit_test(test_figures_of_this_process_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
