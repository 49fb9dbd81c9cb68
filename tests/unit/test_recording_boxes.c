// SPDX-License-Identifier: Apache-2.0
//
// Records of PMUs outside the cores: a record within a record.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording/recording.h"
#include "core/recording/recording_bytes.h"

static struct recording_buffer pause_record(void) {
    const struct recording_pause pause = {.until_ns = 7, .reason = UNCOVERED_YIELDED, .timestamp_seconds = 3};
    struct recording_buffer out = {0};
    assert_int_equal(recording_put_pause(&out, &pause), 0);
    return out;
}

static struct recording_record only_record(const struct recording_buffer *buffer) {
    struct recording_record record;
    size_t at = 0;
    assert_int_equal(recording_next(buffer->bytes, buffer->n, &at, &record), 1);
    assert_int_equal(at, buffer->n);
    return record;
}

static void test_what_boxes_have_is_read_as_what_cores_have(void **state) {
    (void)state;
    struct recording_buffer inner = pause_record(), out = {0};
    struct recording_record record, within;
    struct recording_pause pause;
    char name[RECORDING_TEXT_MAX + 1];
    assert_int_equal(recording_put_boxes(&out, "imc", &inner), 0);
    record = only_record(&out);
    assert_int_equal(record.kind, RECORDING_BOXES);
    assert_int_equal(recording_get_boxes(&record, name, &within), 0);
    assert_string_equal(name, "imc");
    assert_int_equal(within.kind, RECORDING_PAUSE);
    assert_int_equal(recording_get_pause(&within, &pause), 0);
    assert_int_equal(pause.until_ns, 7);
    recording_buffer_deinit(&inner);
    recording_buffer_deinit(&out);
}

static void test_that_boxes_are_gone_needs_no_content(void **state) {
    (void)state;
    struct recording_buffer inner = {0}, out = {0};
    struct recording_record record, within;
    char name[RECORDING_TEXT_MAX + 1];
    assert_int_equal(recording_put_gone(&inner), 0);
    assert_int_equal(recording_put_boxes(&out, "home", &inner), 0);
    record = only_record(&out);
    assert_int_equal(recording_get_boxes(&record, name, &within), 0);
    assert_int_equal(within.kind, RECORDING_GONE);
    assert_int_equal(within.n, 0);
    recording_buffer_deinit(&inner);
    recording_buffer_deinit(&out);
}

// Returns what the reader says of such content with a right checksum; it must leave the outputs alone.
static int read(const char *kind, const uint8_t *bytes, size_t n) {
    struct recording_buffer out = {0};
    struct recording_record within = {.kind = 1};
    char name[RECORDING_TEXT_MAX + 1] = "untouched";
    size_t begin = bytes_begin(&out, RECORDING_BOXES);
    bytes_put_text(&out, kind);
    bytes_put(&out, bytes, n);
    assert_int_equal(bytes_end(&out, begin), 0);
    struct recording_record record = only_record(&out);
    int r = recording_get_boxes(&record, name, &within);
    assert_true(r == 0 || (strcmp(name, "untouched") == 0 && within.kind == 1));
    recording_buffer_deinit(&out);
    return r;
}

static void test_a_record_within_that_is_not_one_is_refused(void **state) {
    (void)state;
    struct recording_buffer inner = pause_record(), nested = {0};
    assert_int_equal(read("imc", inner.bytes, inner.n), 0);
    assert_int_equal(read("", inner.bytes, inner.n), -EBADMSG);
    assert_int_equal(read("imc", inner.bytes, 0), -EBADMSG);
    for (size_t n = 1; n < inner.n; n++)
        assert_int_equal(read("imc", inner.bytes, n), -EBADMSG); // cut
    assert_int_equal(recording_put_boxes(&nested, "imc", &inner), 0);
    assert_int_equal(read("imc", nested.bytes, nested.n), -EBADMSG); // one of boxes again
    size_t n = inner.n;
    struct recording_buffer two = pause_record();
    bytes_put(&two, inner.bytes, n);
    assert_int_equal(read("imc", two.bytes, two.n), -EBADMSG);
    inner.bytes[inner.n - 1] ^= 1; // its checksum
    assert_int_equal(read("imc", inner.bytes, inner.n), -EBADMSG);
    recording_buffer_deinit(&inner);
    recording_buffer_deinit(&nested);
    recording_buffer_deinit(&two);
}

// On hosts with several core types one file has the boxes, and the others say which.
static void test_a_header_names_the_core_type_that_has_the_boxes_from_version_6_on(void **state) {
    (void)state;
    enum { VERSION_AT = 19 }; // after the text that each recording begins with
    struct recording_header *header = calloc(2, sizeof *header);
    struct recording_buffer out = {0};
    assert_non_null(header);
    for (int named = 1; named >= 0; named--) {
        (void)strcpy(header->first_type, named ? "big" : "");
        out.n = 0;
        assert_int_equal(recording_put_header(&out, header), 0);
        struct recording_record record = only_record(&out);
        assert_int_equal(recording_get_header(&record, &header[1]), 0);
        assert_string_equal(header[1].first_type, header->first_type);
    }
    struct recording_record record = only_record(&out);
    assert_int_equal(record.bytes[VERSION_AT], RECORDING_VERSION);
    record.n--; // without the empty name
    assert_int_equal(recording_get_header(&record, &header[1]), -EBADMSG);
    out.bytes[(size_t)(record.bytes - out.bytes) + VERSION_AT] = 5;
    (void)strcpy(header[1].first_type, "left");
    assert_int_equal(recording_get_header(&record, &header[1]), 0);
    assert_string_equal(header[1].first_type, "");
    recording_buffer_deinit(&out);
    free(header);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_boxes_have_is_read_as_what_cores_have),
        cmocka_unit_test(test_that_boxes_are_gone_needs_no_content),
        cmocka_unit_test(test_a_record_within_that_is_not_one_is_refused),
        cmocka_unit_test(test_a_header_names_the_core_type_that_has_the_boxes_from_version_6_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
