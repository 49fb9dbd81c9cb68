// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/spec_check.h"

// Intel's cores without PERF_METRICS, every other one with the NMI watchdog on.

static const char *const SPECS[] = {"nehalem-ep",    "westmere-ep",       "sandy-bridge-ep", "ivy-bridge-ep",
                                    "haswell-ep",    "broadwell-ep",      "skylake-sp",      "cascade-lake",
                                    "sierra-forest", "gracemont",         "crestmont",       "skymont",
                                    "darkmont",      "clearwater-forest", "grand-ridge"};

enum { N_SPECS = sizeof SPECS / sizeof SPECS[0] };

static void test_every_event_group_gets_its_counters_and_counts_the_truth(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SPECS; i++)
        spec_run(SPECS[i], i % 2 > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_group_gets_its_counters_and_counts_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
