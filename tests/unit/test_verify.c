// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <time.h>

#include "daemon/verify/judged.h"

// The verification: kernels run and stop, and what was measured of them is compared with what they do.

static const struct kernel *find(const char *name) {
    for (size_t i = 0; i < n_kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    fail_msg("there is no kernel %s", name);
    return NULL;
}

static struct findings *none(void) {
    struct findings *findings = calloc(1, sizeof *findings);
    assert_non_null(findings);
    return findings;
}

static void test_every_kernel_runs_until_it_is_stopped(void **state) {
    (void)state;
    struct kernel_shared *shared = kernel_shared_new();
    assert_non_null(shared);
    for (size_t i = 0; i < n_kernels; i++) {
        pid_t process = kernel_start(&kernels[i], 0, shared);
        assert_true(process > 0);
        uint64_t iterations = 0;
        for (int tenths = 0; tenths < 600 && iterations == 0 && atomic_load(&shared->failed) == 0; tenths++) {
            const struct timespec pause = {.tv_nsec = 100000000};
            (void)nanosleep(&pause, NULL);
            iterations = atomic_load(&shared->iterations);
        }
        int failed = atomic_load(&shared->failed);
        kernel_stop(process, shared);
        assert_true(iterations > 0 || failed == EOPNOTSUPP || failed == EINVAL); // CPU 0 may be denied to us
    }
    kernel_shared_free(shared);
}

static void test_written_code_goes_through_every_block(void **state) {
    (void)state;
    void *code;
    size_t bytes;
    int r = kernel_code_new(1000, &code, &bytes);
    if (r == -EOPNOTSUPP)
        skip();
    assert_int_equal(r, 0);
    assert_int_equal(bytes, 1001 * 64);
    void (*call)(void);
    memcpy(&call, &code, sizeof call);
    call(); // comes back
    assert_int_equal(munmap(code, bytes), 0);
}

static void test_the_largest_part_must_be_the_kernels(void **state) {
    (void)state;
    const struct kernel *kernel = find("branches");
    struct findings *findings = none();
    struct measured measured = {
        .counters = true,
        .level1 = {{"retiring_ratio", 0.3}, {"bad_speculation_ratio", 0.5}, {"backend_bound_ratio", 0.2}},
        .n_level1 = 3,
        .bound = "bad_speculation_ratio"};
    judged_verdict(kernel, &measured, findings);
    assert_int_equal(findings->items[0].state, FINDING_OK);
    strcpy(measured.bound, "backend_bound_ratio"); // another part is above its own threshold
    judged_verdict(kernel, &measured, findings);
    assert_int_equal(findings->items[1].state, FINDING_WARNING);
    measured.level1[0].share = 0.6;
    judged_verdict(kernel, &measured, findings);
    assert_int_equal(findings->items[2].state, FINDING_FAILURE);
    assert_non_null(strstr(findings->items[2].text, "seen retiring_ratio with 60 %"));
    measured.n_level1 = 0;
    strcpy(measured.reason, "not yet measured");
    judged_verdict(kernel, &measured, findings);
    assert_int_equal(findings->items[3].state, FINDING_NOT_CHECKED);
    judged_verdict(find("page_faults"), &measured, findings); // has no verdict
    assert_int_equal(findings->n, 4);
    free(findings);
}

static void expect_count(double count, enum finding_state state) {
    struct findings *findings = none();
    struct measured measured = {.iterations = 1000,
                                .seconds = 8,
                                .cpu = "3",
                                .totals = {{.metric = "minor_faults_per_second", .count = count}}};
    judged_counts(find("page_faults"), &measured, findings);
    assert_int_equal(findings->n, 1);
    assert_int_equal(findings->items[0].state, state);
    free(findings);
}

static void test_counts_of_an_iteration_have_bounds(void **state) {
    (void)state;
    expect_count(64000, FINDING_OK);
    expect_count(64000 * 0.86, FINDING_OK);
    expect_count(64000 * 0.8, FINDING_WARNING);
    expect_count(64000 * 0.4, FINDING_FAILURE);
    expect_count(64000 * 1.3, FINDING_OK);
    expect_count(64000 * 1.6, FINDING_WARNING);
    expect_count(64000 * 2, FINDING_FAILURE);
    expect_count(NAN, FINDING_NOT_CHECKED);
}

static void test_what_perf_says_is_read_and_compared(void **state) {
    (void)state;
    static const char said[] = "1000000000,,instructions,2000000000,50.00,1.2,insn per cycle\n"
                               "<not supported>,,branches,0,100.00,,\n"
                               "<not counted>,,branch-misses,0,0.00,,\n"
                               "20000,,minor-faults:u,4000000000,100.00,5.0,K/sec\n"
                               "12,,context-switches,4000000000,100.00,,\n";
    struct perf_count counts[PERF_EVENTS];
    assert_true(perf_beside_read(said, counts));
    assert_true(counts[0].per_second == 2.5e8); // already scaled: over the four seconds that it was asked for
    assert_true(isnan(counts[1].per_second) && isnan(counts[2].per_second));
    assert_true(counts[3].per_second == 5000);
    struct findings *findings = none();
    struct measured measured = {.seconds = 8,
                                .cpu = "3",
                                .totals = {{.metric = "ipc", .count = 2.1e9},
                                           {.metric = "branch_miss_ratio", .count = 5e8},
                                           {.metric = "minor_faults_per_second", .count = 8 * 2000},
                                           {.metric = "context_switches_per_second", .count = 100}}};
    judged_perf(find("page_faults"), &measured, counts, findings);
    assert_int_equal(findings->n, 2); // so few switches say nothing, and perf has not counted branches
    assert_int_equal(findings->items[0].state, FINDING_OK);
    assert_int_equal(findings->items[1].state, FINDING_FAILURE);
    free(findings);
    assert_false(perf_beside_read("", counts));
    assert_false(perf_beside_read("Error:\nAccess to performance monitoring is limited\n", counts));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel_runs_until_it_is_stopped),
        cmocka_unit_test(test_written_code_goes_through_every_block),
        cmocka_unit_test(test_the_largest_part_must_be_the_kernels),
        cmocka_unit_test(test_counts_of_an_iteration_have_bounds),
        cmocka_unit_test(test_what_perf_says_is_read_and_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
