// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "tests/simulation/spec_check.h"

// Simulated hosts of CPUs measured with Linux's own files. The siblings of a core share the registers of
// OFFCORE_RESPONSE and of front-end events, each of which has one value: topdownd never needs more values at once than
// there are registers.

#define TREE "../shared/telemetry/linux/arch"

static void need_telemetry(void) {
    if (access(TREE, R_OK) != 0) {
        print_message("skipped: %s is not there\n", TREE);
        skip();
    }
}

// How many values of the registers all event groups together ask for at least: on the newer ones more than a core
// holds, which is 2 and 1.
static const struct cpu {
    const char *cpuid;
    size_t offcore_rsp, frontend;
} CPUS[] = {{"GenuineIntel-6-3E-4", 2, 0},
            {"GenuineIntel-6-3F-2", 2, 0},
            {"GenuineIntel-6-55-7", 0, 2},
            {"GenuineIntel-6-8F-4", 3, 2},
            {"GenuineIntel-6-AD-1", 3, 2}};

static void test_every_event_group_of_the_vendors_files_counts_the_truth(void **state) {
    (void)state;
    bool all[HANDLES_MAX];
    memset(all, true, sizeof all);
    need_telemetry();
    for (size_t i = 0; i < sizeof CPUS / sizeof *CPUS; i++) {
        struct pipeline p;
        pipeline_load_vendor(&p, TREE, CPUS[i].cpuid, 20260101);
        spec_rounds(&p);
        assert_string_equal(p.catalog->registers[0].term, "offcore_rsp");
        assert_int_equal(p.catalog->registers[0].values, 2);
        assert_true(count_register_values(&p, all, -1, 1) >= CPUS[i].offcore_rsp);
        assert_string_equal(p.catalog->registers[1].term, "frontend");
        assert_int_equal(p.catalog->registers[1].values, 1);
        assert_true(count_register_values(&p, all, -1, 2) >= CPUS[i].frontend);
        pipeline_stop(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_group_of_the_vendors_files_counts_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
