// SPDX-License-Identifier: Apache-2.0
//
// The facts of a platform, from made-up sysfs trees.

#include "tests/unit/host_tree.h"

#include <errno.h>

#include "collectors/host/host_platform.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);

static void write_cpu_file(const struct host_tree *tree, unsigned cpu, const char *file, const char *text) {
    char name[128];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/%s", cpu, file);
    host_tree_write(tree, name, text);
}

// Two sockets of one core with two threads each, and one setting for all.
static void write_server(const struct host_tree *tree) {
    static const char *const siblings[] = {"0,2\n", "1,3\n"};
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    host_tree_write(tree, "devices/system/cpu/smt/active", "1\n");
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        write_cpu_file(tree, cpu, "topology/core_cpus_list", siblings[cpu % 2]);
        write_cpu_file(tree, cpu, "topology/package_cpus_list", siblings[cpu % 2]);
        write_cpu_file(tree, cpu, "cpufreq/scaling_governor", "performance\n");
        write_cpu_file(tree, cpu, "cpufreq/scaling_driver", "intel_pstate\n");
        write_cpu_file(tree, cpu, "cpufreq/scaling_min_freq", "800000\n");
        write_cpu_file(tree, cpu, "cpufreq/scaling_max_freq", "3800000\n");
        write_cpu_file(tree, cpu, "microcode/version", "0x2b000603\n");
    }
    host_tree_write(tree, "devices/system/cpu/intel_pstate/no_turbo", "0\n");
    host_tree_write(tree, "devices/system/node/online", "0-3\n");
    host_tree_write(tree, "sys/kernel/numa_balancing", "1\n");
    host_tree_write(tree, "kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    host_tree_write(tree, "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
    host_tree_write(tree, "kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
    host_tree_write(tree, "sys/kernel/osrelease", "6.8.0-made-up\n");
    host_tree_write(tree, "devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    host_tree_write(tree, "cpuinfo",
                    "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 1\nmodel name\t: Made up\nstepping\t: 0\n"
                    "flags\t\t: fpu vme\n\n");
}

static struct platform *collect(const struct host_tree *tree) {
    char devices[300];
    struct platform *platform = NULL;
    (void)snprintf(devices, sizeof devices, "%s/dev", tree->root);
    struct host_platform *collector = host_platform_new(&tree->roots, devices);
    assert_int_equal(host_platform_look(collector, 0, SIZE_MAX, &platform), 1);
    host_platform_free(collector);
    return platform;
}

static void assert_text(const struct platform *platform, enum platform_key key, const char *expected) {
    assert_int_equal(platform->facts[key].n_values, 1);
    assert_string_equal(platform->facts[key].values[0].text, expected);
    assert_string_equal(platform->facts[key].values[0].cpus, "");
    assert_string_equal(platform->facts[key].reason, "");
}

static void assert_number(const struct platform *platform, enum platform_key key, double expected) {
    assert_int_equal(platform->facts[key].n_values, 1);
    assert_true(platform->facts[key].values[0].number == expected);
}

static void assert_unknown(const struct platform *platform, enum platform_key key, const char *reason) {
    assert_int_equal(platform->facts[key].n_values, 0);
    if (!strstr(platform->facts[key].reason, reason))
        fail_msg("%s: '%s' does not say '%s'", platform_names[key].key, platform->facts[key].reason, reason);
}

static void test_a_server_has_each_fact(void **state) {
    const struct host_tree *tree = *state;
    write_server(tree);
    struct platform *platform = collect(tree);
    assert_text(platform, PLATFORM_SMT, "on");
    assert_number(platform, PLATFORM_THREADS_PER_CORE, 2);
    assert_number(platform, PLATFORM_SOCKETS, 2);
    assert_number(platform, PLATFORM_NUMA_NODES, 4);
    assert_text(platform, PLATFORM_NUMA_BALANCING, "on");
    assert_text(platform, PLATFORM_TRANSPARENT_HUGEPAGES, "madvise");
    assert_number(platform, PLATFORM_RESERVED_HUGEPAGES, 3.0 * (1 << 30));
    assert_text(platform, PLATFORM_GOVERNOR, "performance");
    assert_text(platform, PLATFORM_FREQUENCY_DRIVER, "intel_pstate");
    assert_number(platform, PLATFORM_FREQUENCY_MINIMUM, 800e6);
    assert_number(platform, PLATFORM_FREQUENCY_MAXIMUM, 3.8e9);
    assert_text(platform, PLATFORM_BOOST, "on");
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "no");
    assert_text(platform, PLATFORM_MICROCODE, "0x2b000603");
    assert_text(platform, PLATFORM_KERNEL, "6.8.0-made-up");
    assert_text(platform, PLATFORM_CLOCK_SOURCE, "tsc");
    assert_text(platform, PLATFORM_ISOLATED_CPUS, "none");
    assert_unknown(platform, PLATFORM_PREFETCHERS, "it needs root and the kernel's module msr");
    platform_unref(platform);
}

static void test_what_no_file_tells_is_unknown_with_a_reason(void **state) {
    const struct host_tree *tree = *state;
    struct platform *platform = collect(tree);
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        if (key != PLATFORM_ISOLATED_CPUS)
            assert_int_equal(platform->facts[key].n_values, 0);
    assert_unknown(platform, PLATFORM_GOVERNOR, "does not tell which CPUs are online");
    assert_unknown(platform, PLATFORM_NUMA_BALANCING, "built without NUMA balancing");
    assert_unknown(platform, PLATFORM_RESERVED_HUGEPAGES, "built without hugetlb");
    assert_unknown(platform, PLATFORM_PREFETCHERS, "only Intel documents a register");
    assert_unknown(platform, PLATFORM_VIRTUAL_MACHINE, "neither firmware nor device tree names a hypervisor");
    platform_unref(platform);
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n"); // as in a virtual machine: CPUs without drivers
    platform = collect(tree);
    assert_unknown(platform, PLATFORM_GOVERNOR, "firmware or a hypervisor chooses");
    assert_unknown(platform, PLATFORM_SMT, "does not tell");
    platform_unref(platform);
}

static void test_what_differs_between_cpus_is_told_for_each(void **state) {
    const struct host_tree *tree = *state;
    write_server(tree);
    write_cpu_file(tree, 1, "cpufreq/scaling_governor", "powersave\n");
    write_cpu_file(tree, 3, "cpufreq/scaling_max_freq", "2000000\n");
    struct platform *platform = collect(tree);
    const struct platform_fact *governor = &platform->facts[PLATFORM_GOVERNOR];
    assert_int_equal(governor->n_values, 2);
    assert_string_equal(governor->values[0].text, "performance");
    assert_string_equal(governor->values[0].cpus, "0,2-3");
    assert_int_equal(governor->values[0].n_cpus, 3);
    assert_string_equal(governor->values[1].text, "powersave");
    assert_string_equal(governor->values[1].cpus, "1");
    assert_true(platform->facts[PLATFORM_FREQUENCY_MAXIMUM].values[1].number == 2e9);
    platform_unref(platform);
    host_tree_write(tree, "devices/system/cpu/online", "0-11\n");
    for (unsigned cpu = 0; cpu < 12; cpu++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u\n", 1000000 + cpu);
        write_cpu_file(tree, cpu, "cpufreq/scaling_max_freq", text);
    }
    platform = collect(tree);
    assert_unknown(platform, PLATFORM_FREQUENCY_MAXIMUM, "more than 8 values");
    platform_unref(platform);
}

static void test_malformed_files_are_called_so(void **state) {
    static const struct {
        enum platform_key key;
        const char *file, *text;
    } wrong[] = {
        {PLATFORM_SMT, "devices/system/cpu/smt/active", "maybe\n"},
        {PLATFORM_NUMA_NODES, "devices/system/node/online", "all\n"},
        {PLATFORM_NUMA_BALANCING, "sys/kernel/numa_balancing", "17\n"},
        {PLATFORM_TRANSPARENT_HUGEPAGES, "kernel/mm/transparent_hugepage/enabled", "always madvise never\n"},
        {PLATFORM_BOOST, "devices/system/cpu/intel_pstate/no_turbo", "\n"},
        {PLATFORM_KERNEL, "sys/kernel/osrelease", ""},
        {PLATFORM_RESERVED_HUGEPAGES, "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "many\n"},
    };
    static const struct {
        enum platform_key key;
        const char *file, *text;
    } wrong_of_cpus[] = {{PLATFORM_GOVERNOR, "cpufreq/scaling_governor", "\n"},
                         {PLATFORM_FREQUENCY_MINIMUM, "cpufreq/scaling_min_freq", "<unknown>\n"},
                         {PLATFORM_FREQUENCY_MAXIMUM, "cpufreq/scaling_max_freq", "-1\n"},
                         {PLATFORM_THREADS_PER_CORE, "topology/core_cpus_list", "0-\n"}};
    const struct host_tree *tree = *state;
    write_server(tree);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        host_tree_write(tree, wrong[i].file, wrong[i].text);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        for (size_t i = 0; i < sizeof wrong_of_cpus / sizeof *wrong_of_cpus; i++)
            write_cpu_file(tree, cpu, wrong_of_cpus[i].file, wrong_of_cpus[i].text);
    struct platform *platform = collect(tree);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_unknown(platform, wrong[i].key, "hold");
    for (size_t i = 0; i < sizeof wrong_of_cpus / sizeof *wrong_of_cpus; i++)
        assert_unknown(platform, wrong_of_cpus[i].key, "holds something else");
    platform_unref(platform);
}

static void test_old_kernels_tell_threads_and_smt_by_other_files(void **state) {
    const struct host_tree *tree = *state;
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    write_cpu_file(tree, 0, "topology/thread_siblings_list", "0\n");
    write_cpu_file(tree, 1, "topology/thread_siblings_list", "1\n");
    struct platform *platform = collect(tree);
    assert_text(platform, PLATFORM_SMT, "off");
    assert_number(platform, PLATFORM_THREADS_PER_CORE, 1);
    platform_unref(platform);
}

static void write_flag(const struct host_tree *tree, const char *flags) {
    char text[256];
    (void)snprintf(text, sizeof text, "vendor_id\t: AuthenticAMD\nflags\t\t: %s\n\n", flags);
    host_tree_write(tree, "cpuinfo", text);
}

static void test_a_virtual_machine_is_told_with_its_maker(void **state) {
    const struct host_tree *tree = *state;
    write_flag(tree, "fpu not_a_hypervisor_flag");
    struct platform *platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "no");
    platform_unref(platform);
    write_flag(tree, "fpu hypervisor lahf_lm");
    platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "yes, the hypervisor does not say whose");
    platform_unref(platform);
    host_tree_write(tree, "class/dmi/id/sys_vendor", "VMware, Inc.\n");
    host_tree_write(tree, "class/dmi/id/product_name", "VMware7,1\n");
    platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "VMware (VMware, Inc. VMware7,1)");
    platform_unref(platform);
    host_tree_write(tree, "hypervisor/type", "xen\n");
    platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "Xen (VMware, Inc. VMware7,1)");
    platform_unref(platform);
}

static void test_on_arm_firmware_or_the_device_tree_names_a_hypervisor(void **state) {
    const struct host_tree *tree = *state;
    host_tree_write(tree, "cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n\n");
    host_tree_write(tree, "class/dmi/id/sys_vendor", "Amazon EC2\n");
    host_tree_write(tree, "class/dmi/id/product_name", "m7g.metal\n");
    struct platform *platform = collect(tree);
    assert_unknown(platform, PLATFORM_VIRTUAL_MACHINE, "names a hypervisor");
    platform_unref(platform);
    host_tree_write(tree, "class/dmi/id/product_name", "m7g.large\n");
    platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "Nitro (Amazon EC2 m7g.large)");
    platform_unref(platform);
    host_tree_write(tree, "firmware/devicetree/base/hypervisor/compatible", "linux,kvm");
    platform = collect(tree);
    assert_text(platform, PLATFORM_VIRTUAL_MACHINE, "KVM (Amazon EC2 m7g.large)");
    platform_unref(platform);
}

// A register is 8 bytes of the file at its number.
static void write_register(const struct host_tree *tree, unsigned cpu, unsigned char value) {
    char name[64], path[400];
    const unsigned char bytes[8] = {value};
    (void)snprintf(name, sizeof name, "dev/cpu/%u/msr", cpu);
    host_tree_write(tree, name, "");
    (void)snprintf(path, sizeof path, "%s/%s", tree->root, name);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0x1a4, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
}

static void test_prefetchers_are_read_on_a_cpu_that_is_not_isolated(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        unsigned char value;
        const char *text;
    } registers[] = {{0, "on"},
                     {5, "off: L2, L1 data"},
                     {0xf, "off: L2, L2 adjacent line, L1 data, L1 data by instruction"},
                     {0x22, "off: L2 adjacent line; register 0x1a4 is 0x22"}};
    write_server(tree);
    host_tree_write(tree, "devices/system/cpu/isolated", "0\n");
    write_register(tree, 0, 0xff);
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        write_register(tree, 1, registers[i].value);
        struct platform *platform = collect(tree);
        assert_text(platform, PLATFORM_PREFETCHERS, registers[i].text);
        assert_text(platform, PLATFORM_ISOLATED_CPUS, "0");
        platform_unref(platform);
    }
    host_tree_write(tree, "dev/cpu/1/msr", "short");
    struct platform *platform = collect(tree);
    assert_unknown(platform, PLATFORM_PREFETCHERS, "not readable: ");
    platform_unref(platform);
}

static void test_a_pass_looks_at_few_cpus_at_a_time_and_comes_once_a_minute(void **state) {
    const struct host_tree *tree = *state;
    struct platform *first = NULL, *second = NULL, *none = NULL;
    write_server(tree);
    struct host_platform *collector = host_platform_new(&tree->roots, NULL);
    assert_int_equal(host_platform_look(collector, 0, 3, &none), 0);
    assert_int_equal(host_platform_look(collector, 2 * SECOND_NS, 3, &first), 1);
    assert_int_equal(host_platform_look(collector, 61 * SECOND_NS, 4, &none), 0);
    write_cpu_file(tree, 3, "cpufreq/scaling_governor", "powersave\n");
    assert_int_equal(host_platform_look(collector, 62 * SECOND_NS, 4, &second), 1);
    assert_null(none);
    assert_false(platform_equal(first, second));
    assert_int_equal(second->facts[PLATFORM_GOVERNOR].n_values, 2);
    platform_unref(second);
    write_cpu_file(tree, 3, "cpufreq/scaling_governor", "performance\n");
    assert_int_equal(host_platform_look(collector, 200 * SECOND_NS, SIZE_MAX, &second), 1);
    assert_true(platform_equal(first, second));
    platform_unref(first);
    platform_unref(second);
    host_platform_free(collector);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_server_has_each_fact, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_what_no_file_tells_is_unknown_with_a_reason, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_what_differs_between_cpus_is_told_for_each, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_malformed_files_are_called_so, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_old_kernels_tell_threads_and_smt_by_other_files, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_virtual_machine_is_told_with_its_maker, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_on_arm_firmware_or_the_device_tree_names_a_hypervisor, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_prefetchers_are_read_on_a_cpu_that_is_not_isolated, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_a_pass_looks_at_few_cpus_at_a_time_and_comes_once_a_minute,
                                        host_tree_setup, host_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
