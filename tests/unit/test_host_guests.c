// SPDX-License-Identifier: Apache-2.0
// Whether a host may run guests, on made-up hosts.
#include "tests/unit/host_tree.h"

#include "collectors/host/host_guests.h"

static void test_a_host_without_kvm_has_no_guests(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "class/misc/rtc/dev", "10:135\n");
    assert_false(host_guests_possible(&tree->roots));
}

static void test_the_module_alone_is_not_enough_where_the_cpu_cannot(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "module/kvm/refcnt", "1\n"); // loaded, but the device was never registered
    assert_false(host_guests_possible(&tree->roots));
}

static void test_the_device_of_kvm_means_that_guests_can_be_made(void **state) {
    struct host_tree *tree = *state;
    host_tree_write(tree, "class/misc/kvm/dev", "10:232\n");
    assert_true(host_guests_possible(&tree->roots));
}

static bool possible_with(struct host_tree *tree, const char *cpuinfo) {
    host_tree_write(tree, "cpuinfo", cpuinfo);
    return host_guests_possible(&tree->roots);
}

// KVM may be loaded later: the CPU tells. Of the flags of VMX (vmx flags) and of names that hold another one's nothing
// follows.
static void test_x86_cpus_that_can_run_guests_may_have_some_without_kvm(void **state) {
    struct host_tree *tree = *state;
    assert_true(possible_with(tree, "processor\t: 0\nflags\t\t: fpu vme vmx smx\n"));
    assert_true(possible_with(tree, "processor\t: 0\nflags\t\t: svm fpu\n"));
    assert_true(possible_with(tree, "processor\t: 0\nflags\t\t: fpu hypervisor vmx\n")); // guests of a guest
    assert_false(possible_with(tree, "processor\t: 0\nflags\t\t: fpu svm_lock smx vmxx xsvm\n"));
    assert_false(possible_with(tree, "processor\t: 0\nflags\t\t: fpu vme\nvmx flags\t: vnmi vmx svm\n"));
    assert_false(possible_with(tree, "processor\t: 0\nFeatures\t: fp asimd vmx svm\n")); // Arm
}

static void test_a_root_that_is_too_long_names_no_device(void **state) {
    (void)state;
    char root[1024];
    memset(root, '/', sizeof root - 1);
    root[sizeof root - 1] = '\0';
    const struct host_roots roots = {.sysfs = root, .procfs = root};
    assert_false(host_guests_possible(&roots));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_host_without_kvm_has_no_guests, host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_the_module_alone_is_not_enough_where_the_cpu_cannot, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_the_device_of_kvm_means_that_guests_can_be_made, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_x86_cpus_that_can_run_guests_may_have_some_without_kvm, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test(test_a_root_that_is_too_long_names_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
