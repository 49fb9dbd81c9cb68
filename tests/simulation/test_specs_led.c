// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/spec_check.h"

// Intel's cores with PERF_METRICS: slots leads every event group. On every other core the NMI watchdog is on.

static const char *const SPECS[] = {"ice-lake-sp",   "sapphire-rapids", "emerald-rapids", "granite-rapids",
                                    "golden-cove",   "redwood-cove",    "lion-cove",      "cougar-cove",
                                    "intel-topdown", "intel-topdown-l1"};

enum { N_SPECS = sizeof SPECS / sizeof SPECS[0] };

static void test_every_event_group_that_slots_leads_gets_its_counters(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SPECS; i++)
        spec_run(SPECS[i], i % 2 > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_group_that_slots_leads_gets_its_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
