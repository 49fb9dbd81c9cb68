// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "collectors/recording/recording_reader.h"

// A recording's file, read piece by piece, against the same bytes in memory.

enum { RECORDS = 40 };

static char path[64];

static int set_up(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/topdownd-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    return close(fd);
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

// A header and records of many sizes, three of them larger than what is read at once.
static struct recording_buffer make(uint64_t *random) {
    struct recording_buffer bytes = {0};
    struct recording_header *header = calloc(1, sizeof *header);
    assert_non_null(header);
    assert_int_equal(recording_put_header(&bytes, header), 0);
    free(header);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct plan_group group = {.n_events = 1};
        struct plan plan = {.groups = &group, .n_groups = 1};
        size_t n = i % 13 == 5 ? 400000 : (size_t)random_below(random, 3000);
        struct readings *readings = readings_new_sized(0, n, n);
        assert_non_null(readings);
        readings_begin(readings, i, i);
        readings->end_ns = i + 1;
        for (size_t w = 0; w < n; w++) {
            struct window *window = readings_add(readings, 0, 0, 1);
            window->enabled_ns = window->running_ns = 1 + w;
            window->counts[0] = random_next(random) >> 40;
        }
        assert_int_equal(recording_put_round(&bytes, readings, &plan, 0), 0);
        readings_free(readings);
    }
    return bytes;
}

static void write_all(const struct recording_buffer *bytes, size_t from, size_t to) {
    int fd = open(path, O_WRONLY | O_APPEND | (from == 0 ? O_TRUNC : 0));
    assert_true(fd >= 0);
    while (from < to) {
        ssize_t n = write(fd, bytes->bytes + from, to - from);
        assert_true(n > 0);
        from += (size_t)n;
    }
    (void)close(fd);
}

// Reads on; returns how many records there were before *end.
static size_t read_on(struct recording_reader *reader, const struct recording_buffer *bytes, size_t *at, int *end) {
    struct recording_record record, same;
    size_t n = 0;
    while ((*end = recording_reader_next(reader, &record)) == 1) {
        assert_true(recording_reader_at(reader) == *at);
        assert_int_equal(recording_next(bytes->bytes, bytes->n, at, &same), 1);
        assert_int_equal(record.kind, same.kind);
        assert_int_equal(record.n, same.n);
        assert_memory_equal(record.bytes, same.bytes, same.n);
        n++;
    }
    return n;
}

static void test_a_file_is_read_as_its_bytes_are_in_memory(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct recording_buffer bytes = make(&random);
    struct recording_reader *reader;
    size_t at = 0;
    int end;
    assert_true(bytes.n > 3 << 20);
    write_all(&bytes, 0, bytes.n);
    assert_int_equal(recording_reader_new(path, &reader), 0);
    assert_int_equal(recording_reader_check(reader), 1);
    assert_int_equal(read_on(reader, &bytes, &at, &end), 1 + RECORDS);
    assert_int_equal(end, 0);
    recording_reader_rewind(reader);
    at = 0;
    assert_int_equal(read_on(reader, &bytes, &at, &end), 1 + RECORDS);
    recording_reader_free(reader);
    recording_buffer_deinit(&bytes);
}

static void test_a_cut_file_ends_within_a_record_and_goes_on_when_the_rest_is_there(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct recording_buffer bytes = make(&random);
    struct recording_reader *reader;
    size_t at = 0, n;
    int end;
    write_all(&bytes, 0, bytes.n / 2);
    assert_int_equal(recording_reader_new(path, &reader), 0);
    n = read_on(reader, &bytes, &at, &end);
    assert_true(n < 1 + RECORDS && (end == -ENODATA || at == bytes.n / 2));
    write_all(&bytes, bytes.n / 2, bytes.n);
    assert_int_equal(n + read_on(reader, &bytes, &at, &end), 1 + RECORDS);
    assert_int_equal(end, 0);
    recording_reader_free(reader);
    recording_buffer_deinit(&bytes);
}

static void test_damage_is_told_with_its_place(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct recording_buffer bytes = make(&random);
    struct recording_reader *reader;
    struct recording_record record;
    size_t at = 0, second;
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    second = at;
    bytes.bytes[second + 6] ^= 1;
    write_all(&bytes, 0, bytes.n);
    assert_int_equal(recording_reader_new(path, &reader), 0);
    assert_int_equal(recording_reader_next(reader, &record), 1);
    assert_int_equal(recording_reader_next(reader, &record), -EBADMSG);
    assert_true(recording_reader_at(reader) == second);
    recording_reader_free(reader);
    recording_buffer_deinit(&bytes);
}

static void test_what_is_no_recording_is_known_by_its_beginning(void **state) {
    (void)state;
    struct recording_reader *reader;
    struct recording_record record;
    assert_int_equal(recording_reader_new(path, &reader), 0); // empty
    assert_int_equal(recording_reader_check(reader), 0);
    assert_int_equal(recording_reader_next(reader, &record), 0);
    recording_reader_free(reader);
    const struct recording_buffer text = {.bytes = (uint8_t[]){"     1.0,5,,cycles\n"}, .n = 19};
    write_all(&text, 0, text.n);
    assert_int_equal(recording_reader_new(path, &reader), 0);
    assert_int_equal(recording_reader_check(reader), 0);
    recording_reader_free(reader);
    assert_int_equal(recording_reader_new("/dev/null", &reader), -EINVAL);
    assert_int_equal(recording_reader_new("/nonexistent/file", &reader), -ENOENT);
    assert_null(recording_reader_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_is_read_as_its_bytes_are_in_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cut_file_ends_within_a_record_and_goes_on_when_the_rest_is_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_told_with_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_recording_is_known_by_its_beginning, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
