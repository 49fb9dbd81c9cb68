// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "core/status/status.h"

// What snapshots say of the daemon, as numbers.

static void test_what_nobody_has_filled_in_has_no_number(void **state) {
    (void)state;
    for (size_t i = 0; i <= STATUS_N; i++)
        assert_true(isnan(status_series(&status_unknown, i)));
    for (size_t i = 0; i <= STATUS_ENGINE_N; i++)
        assert_true(isnan(status_engine_series(&status_engine_unknown, i)));
}

// Each number is that of its own member.
static void test_every_number_is_another_members(void **state) {
    (void)state;
    const struct status status = {.known = true,
                                  .config = {true, 3},
                                  .textfile = {true, -ENOENT, 4},
                                  .cost = {5, 6, 7, 8, 9},
                                  .rotations = {10, 11, {12, 13, 14}},
                                  .process = {15, 16, 17, 18, 19, 20},
                                  .certificate_expiry_seconds = 21};
    double sum = 0;
    for (size_t i = 0; i < STATUS_N; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(status_series(&status, i) != status_series(&status, j));
        sum += status_series(&status, i);
    }
    assert_true(sum == 1 + 0 + (21 * 22 / 2 - 1 - 2));
    assert_true(status_series(&status, STATUS_INTERRUPT_SECONDS) == 8);
    assert_true(status_series(&status, STATUS_ROTATIONS_WITHIN + 2) == 14);
    assert_true(status_series(&status, STATUS_PROCESS_MAX_FDS) == 19);
}

static void test_bounds_of_rotations_ascend(void **state) {
    (void)state;
    assert_true(status_rotation_bounds[0] > 0);
    for (size_t i = 1; i < STATUS_BUCKETS_N; i++)
        assert_true(status_rotation_bounds[i] > status_rotation_bounds[i - 1]);
}

static void test_a_failed_reload_keeps_the_time_of_the_last_one_that_succeeded(void **state) {
    (void)state;
    struct status status = status_unknown;
    status.known = true;
    status.config = (struct status_config){.successful = false, .success_seconds = 1.7e9};
    assert_true(status_series(&status, STATUS_CONFIG_SUCCESSFUL) == 0);
    assert_true(status_series(&status, STATUS_CONFIG_SUCCESS_TIMESTAMP) == 1.7e9);
    status.config.successful = true;
    assert_true(status_series(&status, STATUS_CONFIG_SUCCESSFUL) == 1);
}

static void test_a_file_is_up_or_down_once_it_has_been_tried(void **state) {
    (void)state;
    struct status status = status_unknown;
    status.known = true;
    assert_true(isnan(status_series(&status, STATUS_TEXTFILE_UP)));
    assert_true(isnan(status_series(&status, STATUS_TEXTFILE_FAILURES)));
    assert_true(isnan(status_series(&status, STATUS_CERTIFICATE_EXPIRY)) && isnan(status_series(&status, STATUS_N)));
    status.textfile.tried = true;
    assert_true(status_series(&status, STATUS_TEXTFILE_UP) == 1);
    assert_true(status_series(&status, STATUS_TEXTFILE_FAILURES) == 0);
    status.textfile = (struct status_textfile){.tried = true, .error = -ENOENT, .failures = 3};
    assert_true(status_series(&status, STATUS_TEXTFILE_UP) == 0);
    assert_true(status_series(&status, STATUS_TEXTFILE_FAILURES) == 3);
}

static void test_a_recording_has_numbers_once_it_is_on(void **state) {
    (void)state;
    struct status_engine engine = status_engine_unknown;
    engine.recording = (struct status_recording){true, -ENOSPC, 12345678901, 17};
    assert_true(status_engine_series(&engine, STATUS_RECORDING_UP) == 0);
    assert_true(status_engine_series(&engine, STATUS_RECORDING_BYTES) == 12345678901);
    assert_true(status_engine_series(&engine, STATUS_RECORDING_ROUNDS_LOST) == 17);
}

static void test_later_totals_are_still_true_and_what_was_of_the_moment_is_unknown(void **state) {
    (void)state;
    struct status status = status_unknown;
    status.known = true;
    struct status_engine engine = status_engine_unknown;
    status.config = (struct status_config){.successful = true, .success_seconds = 1.7e9};
    status.textfile = (struct status_textfile){.tried = true, .error = -EIO, .failures = 3};
    status.cost = (struct status_cost){.calls = 6, .budget_used = 0.5};
    status.process.resident_bytes = status.process.cpu_seconds = 7;
    engine.recording = (struct status_recording){.on = true, .bytes = 4, .rounds_lost = 5};
    status_forget_now(&status, &engine);
    assert_true(isnan(status_series(&status, STATUS_TEXTFILE_UP)));
    assert_true(isnan(status_engine_series(&engine, STATUS_RECORDING_UP)));
    assert_true(isnan(status_series(&status, STATUS_BUDGET_USED)));
    assert_true(isnan(status_series(&status, STATUS_PROCESS_RESIDENT_BYTES)));
    assert_true(status_series(&status, STATUS_PROCESS_CPU_SECONDS) == 7);
    assert_true(status_series(&status, STATUS_CALLS) == 6);
    assert_true(status_series(&status, STATUS_CONFIG_SUCCESSFUL) == 1);
    assert_true(status_series(&status, STATUS_TEXTFILE_FAILURES) == 3);
    assert_true(status_engine_series(&engine, STATUS_RECORDING_BYTES) == 4);
    assert_true(status_engine_series(&engine, STATUS_RECORDING_ROUNDS_LOST) == 5);
}

static void test_a_pmu_that_no_plan_uses_is_neither_up_nor_down(void **state) {
    (void)state;
    struct status status = status_unknown;
    struct status_engine engine = status_engine_unknown;
    engine.pmu.up = true;
    assert_true(isnan(status_engine_series(&engine, STATUS_PMU_UP)));
    engine.pmu = (struct status_pmu){.used = true, .up = true, .kernel_bytes = 2048};
    assert_true(status_engine_series(&engine, STATUS_PMU_UP) == 1);
    assert_true(status_engine_series(&engine, STATUS_PMU_KERNEL_BYTES) == 2048);
    engine.counted_seconds = 1.7e9;
    status_forget_now(&status, &engine);
    assert_true(status_engine_series(&engine, STATUS_PMU_UP) == 0);
    assert_true(isnan(status_engine_series(&engine, STATUS_PMU_KERNEL_BYTES)));
    assert_true(status_engine_series(&engine, STATUS_COUNTED_TIMESTAMP) == 1.7e9);
    engine.pmu.used = false;
    assert_true(isnan(status_engine_series(&engine, STATUS_PMU_UP)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_nobody_has_filled_in_has_no_number),
        cmocka_unit_test(test_every_number_is_another_members),
        cmocka_unit_test(test_bounds_of_rotations_ascend),
        cmocka_unit_test(test_a_failed_reload_keeps_the_time_of_the_last_one_that_succeeded),
        cmocka_unit_test(test_a_file_is_up_or_down_once_it_has_been_tried),
        cmocka_unit_test(test_a_pmu_that_no_plan_uses_is_neither_up_nor_down),
        cmocka_unit_test(test_a_recording_has_numbers_once_it_is_on),
        cmocka_unit_test(test_later_totals_are_still_true_and_what_was_of_the_moment_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
