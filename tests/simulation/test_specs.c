// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/spec_check.h"

// Arm's and AMD's cores, and the generic specs.

static const char *const SPECS[] = {"amd-generic",
                                    "armv8-pmuv3",
                                    "intel-generic",
                                    "kernel-events",
                                    "c1-nano",
                                    "c1-premium",
                                    "c1-pro",
                                    "c1-ultra",
                                    "neoverse-n1",
                                    "neoverse-n2",
                                    "neoverse-n2-r0p3",
                                    "neoverse-n3",
                                    "neoverse-v1",
                                    "neoverse-v2",
                                    "neoverse-v3",
                                    "zen2",
                                    "zen3",
                                    "zen4",
                                    "zen5",
                                    "zen1",
                                    "zen6",
                                    "ampereone",
                                    "ampereonex",
                                    "olympus",
                                    "kunpeng-920",
                                    "a64fx"};

enum { N_SPECS = sizeof SPECS / sizeof SPECS[0] };

static void test_every_event_group_gets_its_counters_and_counts_the_truth(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SPECS; i++)
        spec_run(SPECS[i], false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_group_gets_its_counters_and_counts_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
