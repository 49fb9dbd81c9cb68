// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/recording/recording_file.h"
#include "collectors/recording/recording_short.h"
#include "core/recording/recording.h"

// The files of a recording, in a folder of the test's own.

enum { PLENTY = 1 << 20 };

static char folder[64], path[96], former[96];

// FILE for 0, FILE.1 for 1 and so on; valid until the next call.
static const char *numbered(unsigned number) {
    static char name[112];
    (void)snprintf(name, sizeof name, number > 0 ? "%s.%u" : "%s", path, number);
    return name;
}

static int set_up(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/topdownd-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/rec", folder);
    (void)snprintf(former, sizeof former, "%s/rec.1", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (unsigned i = 0; i <= RECORDING_FILE_FORMERS_MAX; i++)
        (void)unlink(numbered(i));
    return rmdir(folder);
}

static struct recording_buffer header(unsigned part) {
    struct recording_buffer bytes = {0};
    const struct recording_header of = {.part = part};
    assert_int_equal(recording_put_header(&bytes, &of), 0);
    return bytes;
}

static void write_header(struct recording_file *file, unsigned part) {
    struct recording_buffer bytes = header(part);
    assert_int_equal(recording_file_write(file, bytes.bytes, bytes.n), 0);
    recording_buffer_deinit(&bytes);
}

static unsigned part_of(const char *of) {
    uint8_t *bytes;
    size_t n, at = 0;
    struct recording_record record;
    struct recording_header read;
    assert_int_equal(recording_file_read(of, 1 << 20, &bytes, &n), 0);
    assert_true(recording_is(bytes, n));
    assert_int_equal(recording_next(bytes, n, &at, &record), 1);
    assert_int_equal(recording_get_header(&record, &read), 0);
    free(bytes);
    return read.part;
}

static void test_a_new_file_has_mode_0640_and_what_was_written(void **state) {
    (void)state;
    struct recording_file *file;
    struct stat status;
    mode_t before = umask(0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    (void)umask(before);
    write_header(file, 5);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal((uint64_t)status.st_size, recording_file_bytes(file));
    assert_int_equal(part_of(path), 5);
    recording_file_free(file);
}

static void test_rotation_keeps_the_files_before(void **state) {
    (void)state;
    struct recording_file *file;
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    for (unsigned part = 0; part < 4; part++) {
        write_header(file, part);
        for (unsigned before = 0; before <= part; before++)
            assert_int_equal(part_of(numbered(before)), part - before);
        assert_int_equal(recording_file_rotate(file), 0);
        assert_int_equal(recording_file_bytes(file), 0);
    }
    recording_file_free(file);
}

static void test_a_folder_that_was_removed_and_is_back_gets_the_next_file(void **state) {
    (void)state;
    struct recording_file *file;
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    write_header(file, 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(recording_file_rotate(file), -ENOENT);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(recording_file_rotate(file), 0);
    write_header(file, 1);
    assert_int_equal(part_of(path), 1);
    assert_int_equal(access(former, F_OK), -1);
    recording_file_free(file);
}

// A recording that begins anew, as after each start.
static void begin_and_write(unsigned part, uint64_t bytes_max) {
    struct recording_file *file;
    assert_int_equal(recording_file_new(path, bytes_max, &file), 0);
    write_header(file, part);
    recording_file_free(file);
}

static void test_what_led_to_the_first_of_many_restarts_is_still_there(void **state) {
    (void)state;
    for (unsigned start = 0; start < 12; start++)
        begin_and_write(start, PLENTY);
    for (unsigned before = 0; before < 12; before++)
        assert_int_equal(part_of(numbered(before)), 11 - before);
}

static void test_the_oldest_files_make_room_for_what_is_written(void **state) {
    (void)state;
    struct recording_buffer one = header(1);
    uint64_t room = 3 * one.n + one.n / 2; // for three files
    recording_buffer_deinit(&one);
    for (unsigned start = 0; start < 6; start++)
        begin_and_write(start, room);
    for (unsigned before = 0; before < 3; before++)
        assert_int_equal(part_of(numbered(before)), 5 - before);
    assert_int_equal(access(numbered(3), F_OK), -1);
    begin_and_write(6, 1); // the size was made less: what is written is there in any case
    assert_int_equal(part_of(path), 6);
    assert_int_equal(access(former, F_OK), -1);
}

static void test_files_move_up_to_the_first_free_number_and_the_last_one_ends(void **state) {
    (void)state;
    for (unsigned start = 0; start < 4; start++)
        begin_and_write(start, PLENTY);
    assert_int_equal(unlink(numbered(2)), 0); // 3, 2, -, 0
    begin_and_write(4, PLENTY);
    assert_int_equal(part_of(numbered(2)), 2);
    assert_int_equal(part_of(numbered(3)), 0);
    for (unsigned start = 5; start <= 101; start++) // 0 is in FILE.3 before, and in FILE.100 would be behind
        begin_and_write(start, PLENTY);
    assert_int_equal(part_of(numbered(99)), 2); // 0 has gone, 1 was removed
    assert_int_equal(access(numbered(100), F_OK), -1);
}

static void test_an_empty_file_takes_no_number(void **state) {
    (void)state;
    struct recording_file *file;
    begin_and_write(3, PLENTY);
    for (int start = 0; start < 3; start++) {
        assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
        recording_file_free(file);
    }
    assert_int_equal(part_of(former), 3);
    assert_int_equal(access(numbered(2), F_OK), -1);
}

// A recording that began so many seconds ago and ends now.
static void record_for(double seconds, unsigned part, uint64_t seed, uint64_t bytes_max) {
    const struct recording_header of = {.part = part, .seed = seed, .timestamp_seconds = (double)time(NULL) - seconds};
    struct recording_buffer bytes = {0};
    struct recording_file *file;
    assert_int_equal(recording_put_header(&bytes, &of), 0);
    assert_int_equal(recording_file_new(path, bytes_max, &file), 0);
    assert_int_equal(recording_file_write(file, bytes.bytes, bytes.n), 0);
    recording_buffer_deinit(&bytes);
    recording_file_free(file);
}

// The number of the file of that seed; -1: there is none.
static int number_of(uint64_t seed) {
    for (unsigned i = 0; i <= RECORDING_FILE_FORMERS_MAX; i++) {
        uint8_t *bytes;
        size_t n, at = 0;
        struct recording_record record;
        struct recording_header read;
        if (recording_file_read(numbered(i), 1 << 20, &bytes, &n) < 0)
            continue;
        bool found = recording_next(bytes, n, &at, &record) == 1 && recording_get_header(&record, &read) == 0 &&
                     read.seed == seed;
        free(bytes);
        if (found)
            return (int)i;
    }
    return -1;
}

static void test_a_crash_loop_does_not_use_up_the_numbers(void **state) {
    (void)state;
    enum { YESTERDAY = 1000, END_OF_LONG_ONE = 1001 };
    record_for(86400, 0, YESTERDAY, PLENTY);
    record_for(10, 3, END_OF_LONG_ONE, PLENTY); // the last part of a long recording is not a short recording
    for (unsigned start = 0; start < 150; start++)
        record_for(start % 50, 0, start, PLENTY);
    assert_int_equal(number_of(149), 0);
    for (unsigned before = 1; before <= RECORDING_SHORT_MAX + 1; before++)
        assert_int_equal(number_of(149 - before), before);
    assert_int_equal(number_of(END_OF_LONG_ONE), RECORDING_SHORT_MAX + 2);
    assert_int_equal(number_of(YESTERDAY), RECORDING_SHORT_MAX + 3);
    assert_int_equal(number_of(149 - RECORDING_SHORT_MAX - 2), -1);
}

static void test_short_recordings_take_their_share_of_the_space_only(void **state) {
    (void)state;
    struct recording_buffer one = header(0);
    uint64_t room = 2 * RECORDING_SHORT_SHARE * one.n + 1; // for two in their share
    recording_buffer_deinit(&one);
    record_for(3600, 0, 100, room);
    for (unsigned start = 0; start < 10; start++)
        record_for(5, 0, start, room);
    assert_int_equal(number_of(100), 4); // behind the newest and three of those before: the last came after making room
    assert_int_equal(number_of(6), 3);
    assert_int_equal(number_of(5), -1);
}

static void test_recordings_of_a_minute_and_of_a_wrong_clock_are_not_short(void **state) {
    (void)state;
    record_for(RECORDING_SHORT_SECONDS - 5, 0, 0, PLENTY);
    assert_true(recording_short(path));
    record_for(RECORDING_SHORT_SECONDS + 5, 0, 1, PLENTY);
    assert_false(recording_short(path));
    record_for(-3600, 0, 2, PLENTY); // the clock was put back
    assert_false(recording_short(path));
    assert_int_equal(truncate(path, 20), 0);
    assert_false(recording_short(path));
    assert_false(recording_short(folder));
}

static void test_a_second_writer_is_refused_until_the_first_has_ended(void **state) {
    (void)state;
    struct recording_file *first, *second;
    assert_int_equal(recording_file_new(path, PLENTY, &first), 0);
    assert_int_equal(recording_file_new(path, PLENTY, &second), -EBUSY); // it is empty yet
    write_header(first, 4);
    assert_int_equal(recording_file_new(path, PLENTY, &second), -EBUSY);
    assert_int_equal(recording_file_check(path), 0); // check-config beside a daemon
    assert_int_equal(recording_file_rotate(first), 0);
    assert_int_equal(recording_file_new(path, PLENTY, &second), -EBUSY);
    assert_int_equal(part_of(former), 4);
    assert_false(recording_file_removed(first));
    write_header(first, 5);
    recording_file_free(first);
    begin_and_write(6, PLENTY);
    assert_int_equal(part_of(former), 5);
}

static void test_an_older_part_that_another_daemon_writes_is_neither_moved_nor_removed(void **state) {
    (void)state;
    struct recording_file *first, *second;
    for (unsigned start = 0; start < 3; start++)
        begin_and_write(start, PLENTY); // 2, 1, 0
    assert_int_equal(recording_file_new(former, PLENTY, &second), 0);
    write_header(second, 9); // FILE.1.1 is 1 now
    assert_int_equal(recording_file_new(path, PLENTY, &first), -ETXTBSY);
    assert_int_equal(recording_file_new(path, 1, &first), -ETXTBSY);
    assert_int_equal(recording_file_check(path), 0);
    assert_int_equal(part_of(path), 2);
    assert_int_equal(part_of(former), 9);
    assert_int_equal(part_of(numbered(2)), 0);
    assert_false(recording_file_removed(second));
    recording_file_free(second);
    assert_int_equal(recording_file_new(path, PLENTY, &first), 0);
    assert_int_equal(part_of(numbered(2)), 9);
    recording_file_free(first);
    (void)snprintf(former, sizeof former, "%s/rec.1.1", folder);
    assert_int_equal(part_of(former), 1);
    assert_int_equal(unlink(former), 0);
}

static void test_a_rotation_leaves_the_older_part_that_another_daemon_writes_by_now(void **state) {
    (void)state;
    struct recording_file *first, *second;
    begin_and_write(0, PLENTY);
    begin_and_write(1, PLENTY);
    assert_int_equal(recording_file_new(path, PLENTY, &first), 0); // FILE.1 is 1, FILE.2 is 0
    write_header(first, 2);
    assert_int_equal(unlink(numbered(2)), 0);
    assert_int_equal(recording_file_new(numbered(2), PLENTY, &second), 0);
    write_header(second, 9);
    assert_int_equal(recording_file_rotate(first), -ETXTBSY);
    recording_file_limit(first, 1);
    write_header(first, 2); // makes room where it may, and goes on
    assert_int_equal(part_of(path), 2);
    assert_int_equal(access(former, F_OK), -1);
    assert_int_equal(part_of(numbered(2)), 9);
    recording_file_free(second);
    recording_file_limit(first, PLENTY);
    assert_int_equal(recording_file_rotate(first), 0);
    write_header(first, 3);
    assert_int_equal(part_of(former), 2);
    recording_file_free(first);
}

static void test_a_rotation_does_not_move_another_daemons_file(void **state) {
    (void)state;
    struct recording_file *first, *second;
    char elsewhere[96];
    (void)snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    assert_int_equal(recording_file_new(path, PLENTY, &first), 0);
    write_header(first, 1);
    assert_int_equal(rename(path, elsewhere), 0); // somebody has moved it
    assert_int_equal(recording_file_new(path, PLENTY, &second), 0);
    write_header(second, 2);
    assert_int_equal(recording_file_rotate(first), -EBUSY);
    assert_int_equal(part_of(path), 2);
    assert_int_equal(access(former, F_OK), -1);
    recording_file_free(second);
    assert_int_equal(recording_file_rotate(first), 0);
    assert_int_equal(part_of(former), 2);
    assert_int_equal(part_of(elsewhere), 1);
    assert_int_equal(unlink(elsewhere), 0);
    recording_file_free(first);
}

static void test_a_removed_file_is_noticed_and_a_new_one_takes_its_place(void **state) {
    (void)state;
    struct recording_file *file;
    begin_and_write(1, PLENTY);
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    write_header(file, 2);
    assert_int_equal(unlink(path), 0);
    assert_true(recording_file_removed(file));
    assert_int_equal(symlink("/etc/passwd", path), 0); // what has taken its place stays
    assert_int_equal(recording_file_rotate(file), -ELOOP);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(recording_file_rotate(file), 0);
    assert_false(recording_file_removed(file));
    write_header(file, 3);
    assert_int_equal(part_of(path), 3);
    assert_int_equal(part_of(former), 1);
    recording_file_free(file);
}

static void test_a_file_of_another_kind_among_the_numbers_is_not_moved(void **state) {
    (void)state;
    struct recording_file *file;
    begin_and_write(0, PLENTY);
    begin_and_write(1, PLENTY);
    assert_int_equal(symlink("/etc/passwd", numbered(2)), 0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), -ELOOP);
    assert_int_equal(part_of(path), 1);
    assert_int_equal(part_of(former), 0);
}

static void test_an_earlier_recording_is_kept_and_anything_else_refused(void **state) {
    (void)state;
    struct recording_file *file;
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    write_header(file, 7);
    recording_file_free(file);
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    recording_file_free(file);
    assert_int_equal(part_of(former), 7);
    FILE *other = fopen(former, "w");
    assert_true(fputs("precious", other) >= 0 && fclose(other) == 0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), -EEXIST);
    assert_int_equal(rename(former, path), 0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), -EEXIST);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), -ELOOP);
    assert_true(unlink(path) == 0 && mkdir(path, 0700) == 0);
    assert_int_equal(recording_file_new(path, PLENTY, &file), -EISDIR);
    assert_int_equal(rmdir(path), 0);
}

static void test_a_name_of_a_folder_and_the_kernels_own_file_systems_are_refused(void **state) {
    (void)state;
    struct recording_file *file;
    static const char *const kernels[] = {"/proc/x", "/proc/none/x", "/proc/self/x"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        assert_int_equal(recording_file_check(kernels[i]), -EOPNOTSUPP);
        assert_int_equal(recording_file_new(kernels[i], PLENTY, &file), -EOPNOTSUPP);
    }
    char below[160];
    (void)snprintf(below, sizeof below, "%s/none/", folder);
    assert_int_equal(recording_file_check(below), -EINVAL);
    assert_int_equal(recording_file_new(below, PLENTY, &file), -EINVAL);
    (void)snprintf(below, sizeof below, "%s/none/rec", folder);
    assert_int_equal(recording_file_check(below), -ENOENT);
    assert_int_equal(recording_file_new(below, PLENTY, &file), -ENOENT);
    (void)snprintf(below, sizeof below, "/proc/self/root%s", path); // a link to a file system with files
    assert_int_equal(recording_file_check(below), 0);
    assert_int_equal(recording_file_check("rec-of-no-folder"), 0);
}

static void test_what_does_not_fit_is_taken_back_in_full(void **state) {
    (void)state;
    struct recording_file *file;
    struct rlimit limit, before;
    static uint8_t zeros[5000];
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    write_header(file, 1);
    uint64_t full = recording_file_bytes(file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 3000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int r = recording_file_write(file, zeros, sizeof zeros);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, -EFBIG);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal((uint64_t)status.st_size, full);
    write_header(file, 2); // and goes on right behind
    assert_int_equal(recording_file_bytes(file), 2 * full);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal((uint64_t)status.st_size, 2 * full);
    recording_file_free(file);
}

static void test_reading_is_bounded(void **state) {
    (void)state;
    struct recording_file *file;
    uint8_t *bytes;
    size_t n;
    assert_int_equal(recording_file_new(path, PLENTY, &file), 0);
    write_header(file, 1);
    size_t full = (size_t)recording_file_bytes(file);
    recording_file_free(file);
    assert_int_equal(recording_file_read(path, full - 1, &bytes, &n), -EFBIG);
    assert_int_equal(recording_file_read(path, full, &bytes, &n), 0);
    assert_int_equal(n, full);
    free(bytes);
    assert_int_equal(recording_file_read("/dev/zero", full, &bytes, &n), -EINVAL);
    assert_int_equal(recording_file_read(folder, full, &bytes, &n), -EINVAL);
    assert_int_equal(recording_file_read(former, full, &bytes, &n), -ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_new_file_has_mode_0640_and_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rotation_keeps_the_files_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_folder_that_was_removed_and_is_back_gets_the_next_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_earlier_recording_is_kept_and_anything_else_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_led_to_the_first_of_many_restarts_is_still_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_oldest_files_make_room_for_what_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_move_up_to_the_first_free_number_and_the_last_one_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_empty_file_takes_no_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_crash_loop_does_not_use_up_the_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_recordings_take_their_share_of_the_space_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recordings_of_a_minute_and_of_a_wrong_clock_are_not_short, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_second_writer_is_refused_until_the_first_has_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_older_part_that_another_daemon_writes_is_neither_moved_nor_removed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_rotation_leaves_the_older_part_that_another_daemon_writes_by_now, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_rotation_does_not_move_another_daemons_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_removed_file_is_noticed_and_a_new_one_takes_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_of_another_kind_among_the_numbers_is_not_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_name_of_a_folder_and_the_kernels_own_file_systems_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_taken_back_in_full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reading_is_bounded, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
