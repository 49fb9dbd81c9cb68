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
        cmocka_unit_test(test_a_root_that_is_too_long_names_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
