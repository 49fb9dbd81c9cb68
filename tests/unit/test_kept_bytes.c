// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32.h"
#include "core/kept/kept_bytes.h"
#include "core/memory/memory_metric.h"

// What outlives the process comes back as it was, and nothing else is believed.

static const struct kept_stamp STAMP = {.boot = "0b6ba57c-4f4b-4d8a-8c1e-2a4c7d4f1f00",
                                        .origin = "host",
                                        .host = "1f0e db-7",
                                        .cpu = "AuthenticAMD EPYC",
                                        .meanwhile = true,
                                        .wall_offset_ns = INT64_C(1700000000000000000)};

static void fill(struct kept_verdicts *verdicts) {
    *verdicts = (struct kept_verdicts){.n = 3,
                                       .all = {{"", KEPT_HOST, "memory_bound", 1700000000.25, 12.5, true, 123456789012},
                                               {"", 0, "", 1700000001, 0, false, 123456789013},
                                               {"cpu_atom", 7, "frontend_bound", 1700000002, 0, false, 0}}};
}

static void write(struct recording_buffer *out) {
    struct kept_verdicts verdicts;
    fill(&verdicts);
    assert_int_equal(kept_write_verdicts(&STAMP, &verdicts, out), 0);
}

static int read_again(const uint8_t *bytes, size_t n) {
    struct kept_stamp stamp = {.boot = "untouched"};
    struct kept_verdicts verdicts = {.n = 77};
    uint8_t *own = malloc(n > 0 ? n : 1); // as long as the file, so that the sanitizer sees a byte too far
    assert_non_null(own);
    memcpy(own, bytes, n);
    int r = kept_read_verdicts(own, n, &stamp, &verdicts);
    free(own);
    if (r < 0)
        assert_true(verdicts.n == 77 && strcmp(stamp.boot, "untouched") == 0);
    return r;
}

static void test_verdicts_come_back_as_they_were(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_verdicts before, after;
    struct kept_stamp stamp;
    fill(&before);
    write(&out);
    assert_int_equal(kept_read_verdicts(out.bytes, out.n, &stamp, &after), 0);
    assert_string_equal(stamp.boot, STAMP.boot);
    assert_string_equal(stamp.origin, "host");
    assert_string_equal(stamp.host, STAMP.host);
    assert_string_equal(stamp.cpu, STAMP.cpu);
    assert_int_equal(stamp.version, 3);
    assert_true(stamp.meanwhile);
    assert_true(stamp.wall_offset_ns == STAMP.wall_offset_ns);
    assert_int_equal(after.n, before.n);
    for (size_t i = 0; i < after.n; i++) {
        const struct kept_verdict *a = &after.all[i], *b = &before.all[i];
        assert_string_equal(a->type, b->type);
        assert_string_equal(a->metric, b->metric);
        assert_true(a->socket == b->socket && a->since_seconds == b->since_seconds && a->known_ns == b->known_ns);
        assert_true(a->unwatched_seconds == b->unwatched_seconds && a->at_least == b->at_least);
    }
    recording_buffer_deinit(&out);
}

static void test_the_largest_file_is_within_what_is_read(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_verdicts *full = calloc(1, sizeof *full);
    assert_non_null(full);
    full->n = KEPT_VERDICTS_MAX;
    for (size_t i = 0; i < full->n; i++) {
        memset(full->all[i].type, 't', KEPT_TYPE_MAX - 1);
        memset(full->all[i].metric, 'm', KEPT_METRIC_MAX - 1);
        full->all[i].socket = INT32_MAX;
        full->all[i].known_ns = INT64_MAX;
    }
    assert_int_equal(kept_write_verdicts(&STAMP, full, &out), 0);
    assert_true(out.n <= KEPT_VERDICTS_BYTES_MAX);
    assert_int_equal(read_again(out.bytes, out.n), 0);
    recording_buffer_deinit(&out);
    free(full);
}

static void test_a_file_that_is_cut_anywhere_or_has_more_is_refused(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    write(&out);
    for (size_t n = 0; n < out.n; n++)
        assert_true(read_again(out.bytes, n) < 0);
    uint8_t *longer = calloc(out.n + 1, 1);
    assert_non_null(longer);
    memcpy(longer, out.bytes, out.n);
    assert_int_equal(read_again(longer, out.n + 1), -EBADMSG);
    free(longer);
    recording_buffer_deinit(&out);
}

static void test_a_flipped_bit_is_noticed_wherever_it_is(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    write(&out);
    for (size_t i = 0; i < out.n * 8; i++) {
        out.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_true(read_again(out.bytes, out.n) < 0);
        out.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    recording_buffer_deinit(&out);
}

static void test_the_reason_tells_foreign_later_and_damaged_files_apart(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    static const char foreign[] = "#!/bin/sh\nexit 0\n";
    assert_int_equal(read_again((const uint8_t *)foreign, sizeof foreign), -ENOMSG);
    assert_int_equal(read_again((const uint8_t *)"", 0), -ENOMSG);
    write(&out);
    uint8_t *version = (uint8_t *)memchr(out.bytes, '\n', out.n) + 1;
    *version = 4;
    assert_int_equal(read_again(out.bytes, out.n), -EPROTO);
    *version = 0;
    assert_int_equal(read_again(out.bytes, out.n), -EBADMSG);
    recording_buffer_deinit(&out);
}

// Whoever makes the checksum right does not get values in that nobody could have written.
static void test_values_that_nobody_wrote_are_refused(void **state) {
    (void)state;
    enum { SINCE, UNWATCHED, SOCKET, KNOWN, CASES };
    for (int i = 0; i < CASES; i++) {
        struct recording_buffer out = {0};
        struct kept_verdicts verdicts;
        fill(&verdicts);
        if (i == SINCE)
            verdicts.all[1].since_seconds = 1e300;
        if (i == UNWATCHED)
            verdicts.all[1].unwatched_seconds = -1;
        if (i == SOCKET)
            verdicts.all[1].socket = -2;
        if (i == KNOWN)
            verdicts.all[1].known_ns = UINT64_MAX;
        assert_int_equal(kept_write_verdicts(&STAMP, &verdicts, &out), 0);
        assert_int_equal(read_again(out.bytes, out.n), -EBADMSG);
        recording_buffer_deinit(&out);
    }
}

static void test_a_step_of_the_clock_moves_the_beginning_and_drift_does_not(void **state) {
    (void)state;
    struct kept_verdicts verdicts;
    fill(&verdicts);
    kept_follow_clock(&verdicts, &STAMP, STAMP.wall_offset_ns + 999999999);
    assert_true(verdicts.all[0].since_seconds == 1700000000.25);
    kept_follow_clock(&verdicts, &STAMP, STAMP.wall_offset_ns - INT64_C(3600000000000));
    assert_true(verdicts.all[0].since_seconds == 1699996400.25 && verdicts.all[1].since_seconds == 1699996401);
}

// ---- histories ----

static void write_histories(struct recording_buffer *out) {
    kept_begin_histories(out, &STAMP);
    for (int i = 0; i < 2; i++) {
        struct kept_history *history =
            kept_history_new(INT64_C(25000000000), INT64_C(25000000000), INT64_C(311000000000));
        assert_non_null(history);
        strcpy(history->of, i == 0 ? "" : "imc");
        history->kind = i == 0 ? KEPT_CORES : KEPT_BOXES;
        marks_add(&history->marks, INT64_C(30000000000), MARK_RELOAD, "another configuration");
        struct kept_series *series = kept_history_add(history, i == 0 ? -1 : 3, "ipc");
        assert_non_null(series);
        series->values[1] = 1.5F;
        series->values[history->fine.n + history->coarse.n - 1] = 0.25F;
        kept_put_history(out, history);
        kept_history_free(history);
    }
    assert_int_equal(kept_end_histories(out), 0);
}

static int read_histories(const uint8_t *bytes, size_t n) {
    struct kept_stamp stamp;
    struct kept_histories histories = {.n = 0};
    uint8_t *own = malloc(n > 0 ? n : 1);
    assert_non_null(own);
    memcpy(own, bytes, n);
    int r = kept_read_histories(own, n, &stamp, &histories);
    free(own);
    assert_true(r == 0 || histories.n == 0);
    kept_histories_deinit(&histories);
    return r;
}

static void test_histories_come_back_as_they_were(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_stamp stamp;
    struct kept_histories histories;
    write_histories(&out);
    assert_int_equal(kept_read_histories(out.bytes, out.n, &stamp, &histories), 0);
    assert_string_equal(stamp.boot, STAMP.boot);
    assert_int_equal(histories.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct kept_history *history = histories.all[i];
        assert_string_equal(history->of, i == 0 ? "" : "imc");
        assert_int_equal(history->kind, i == 0 ? KEPT_CORES : KEPT_BOXES);
        assert_true(history->end_ns == INT64_C(311000000000));
        assert_int_equal(history->fine.n, 30); // 25 s is in the third one of ten seconds, 311 s in the thirty-second
        assert_int_equal(history->coarse.n, 2);
        assert_int_equal(history->n, 1);
        assert_string_equal(history->series[0].name, "ipc");
        assert_int_equal(history->series[0].of, i == 0 ? -1 : 3);
        assert_true(isnan(history->series[0].values[0]) && history->series[0].values[1] == 1.5F);
        assert_true(history->series[0].values[31] == 0.25F);
        assert_int_equal(marks_count(&history->marks), 1);
        assert_string_equal(marks_get(&history->marks, 0)->text, "another configuration");
    }
    kept_histories_deinit(&histories);
    recording_buffer_deinit(&out);
}

static void test_what_is_of_earlier_boots_and_what_the_kernel_counts_come_back(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_stamp stamp;
    struct kept_histories histories;
    struct kept_history *history =
        kept_history_new(INT64_C(-7200000000000), INT64_C(-7500000000000), INT64_C(311000000000));
    assert_non_null(history);
    history->kind = KEPT_MEMORY;
    history->earlier = (struct steps_earlier){true, 5000000000, -60000000000, 17, {18, -6}, {-19, -1}};
    marks_add(&history->marks, INT64_C(-30000000000), MARK_PLAN, "before the boot");
    assert_non_null(kept_history_add(history, (long)MEMORY_NODE << 32 | 3, "remote"));
    kept_begin_histories(&out, &STAMP);
    kept_put_history(&out, history);
    assert_int_equal(kept_end_histories(&out), 0);
    assert_int_equal(kept_read_histories(out.bytes, out.n, &stamp, &histories), 0);
    const struct kept_history *read = histories.all[0];
    assert_true(read->kind == KEPT_MEMORY && read->begin_ns == history->begin_ns &&
                read->coarse_begin_ns == history->coarse_begin_ns && read->end_ns == history->end_ns);
    assert_true(read->fine.first == history->fine.first && read->coarse.n == 27);
    const struct steps_earlier *a = &read->earlier, *b = &history->earlier;
    assert_true(a->any && a->boot_ns == b->boot_ns && a->end_ns == b->end_ns && a->offset_ns == b->offset_ns);
    assert_true(a->fine.offset_ns == 18 && a->fine.last == -6 && a->coarse.offset_ns == -19 && a->coarse.last == -1);
    assert_true(marks_get(&read->marks, 0)->at_ns == INT64_C(-30000000000));
    assert_true(read->series[0].of == ((long)MEMORY_NODE << 32 | 3));
    kept_histories_deinit(&histories);
    kept_history_free(history);
    recording_buffer_deinit(&out);
}

// A file as version 1 wrote it.
static void test_a_history_of_version_1_is_read(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_stamp stamp;
    struct kept_histories histories;
    static const char line[] = "topdownd kept histories\n";
    static const uint8_t values[2 * 4] = {0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0x3e}; // 1.5 and 0.25
    uint8_t crc[4];
    bytes_put(&out, line, sizeof line - 1);
    bytes_put_varint(&out, 1);
    bytes_put_text(&out, STAMP.boot);
    bytes_put_text(&out, "host");
    bytes_put_signed(&out, STAMP.wall_offset_ns);
    bytes_put_varint(&out, 1); // a history
    bytes_put_text(&out, "imc");
    bytes_put_varint(&out, 1); // of boxes
    bytes_put_varint(&out, 25000000000);
    bytes_put_varint(&out, 26000000000);
    bytes_put_varint(&out, 1); // a mark
    bytes_put_varint(&out, 25500000000);
    bytes_put_varint(&out, MARK_RELOAD);
    bytes_put_text(&out, "another configuration");
    bytes_put_varint(&out, 1); // a series
    bytes_put_text(&out, "reads");
    bytes_put_signed(&out, 3);
    bytes_put(&out, values, sizeof values);
    bytes_put_varint(&out, 0);
    for (uint32_t i = 0, sum = crc32_of(out.bytes, out.n); i < 4; i++)
        crc[i] = (uint8_t)(sum >> 8 * i);
    bytes_put(&out, crc, sizeof crc);
    assert_int_equal(kept_read_histories(out.bytes, out.n, &stamp, &histories), 0);
    assert_true(stamp.version == 1 && stamp.host[0] == '\0' && stamp.wall_offset_ns == STAMP.wall_offset_ns);
    const struct kept_history *history = histories.all[0];
    assert_true(history->kind == KEPT_BOXES && history->begin_ns == 25000000000 && history->end_ns == 26000000000);
    assert_true(!history->earlier.any && marks_get(&history->marks, 0)->at_ns == 25500000000);
    assert_true(history->series[0].of == 3 && history->series[0].values[0] == 1.5F);
    assert_true(history->series[0].values[1] == 0.25F);
    assert_int_equal(kept_relation(&stamp, &STAMP), KEPT_THIS_BOOT); // it could not say which CPU
    kept_histories_deinit(&histories);
    recording_buffer_deinit(&out);
}

// As the writer would, if it wrote all.
static void put_times(struct recording_buffer *out, int64_t begin_ns, int64_t end_ns,
                      const struct steps_earlier *earlier) {
    const int64_t times[] = {earlier->boot_ns,        earlier->end_ns,    earlier->offset_ns,
                             earlier->fine.offset_ns, earlier->fine.last, earlier->coarse.offset_ns,
                             earlier->coarse.last};
    bytes_put_varint(out, 1);
    bytes_put_text(out, "");
    bytes_put_varint(out, KEPT_CORES);
    bytes_put_signed(out, begin_ns);
    bytes_put_signed(out, begin_ns);
    bytes_put_signed(out, end_ns);
    bytes_put_varint(out, earlier->any);
    for (size_t i = 0; i < sizeof times / sizeof times[0] && earlier->any; i++)
        bytes_put_signed(out, times[i]);
    bytes_put_varint(out, 0); // marks
    bytes_put_varint(out, 0); // series
}

// Times with which arithmetic would overflow, and boots that nobody can have had.
static void test_times_that_nobody_writes_are_refused(void **state) {
    (void)state;
    static const struct {
        int64_t begin_ns, end_ns;
        struct steps_earlier earlier;
    } cases[] = {
        {STEPS_TIME_MAX, STEPS_TIME_MAX + 1, {.any = false}},
        {-STEPS_TIME_MAX - 1, 0, {.any = false}},
        {5, 4, {.any = false}},
        {0, 10, {.any = true, .boot_ns = 11, .end_ns = 3}},
        {0, 10, {.any = true, .boot_ns = 5, .end_ns = 6}},
        {0, 10, {.any = true, .boot_ns = 5, .offset_ns = STEPS_OFFSET_MAX + 1}},
        {0, 10, {.any = true, .boot_ns = 5, .fine.offset_ns = -STEPS_OFFSET_MAX - 1}},
        {0, 10, {.any = true, .boot_ns = 5, .fine.last = -STEPS_TIME_MAX / HISTORY_FINE_NS - 1}},
        {0, 10, {.any = true, .boot_ns = 5, .coarse.last = STEPS_TIME_MAX / HISTORY_COARSE_NS + 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recording_buffer out = {0};
        struct kept_history *history = kept_history_new(0, 0, 0);
        assert_non_null(history);
        history->begin_ns = history->coarse_begin_ns = cases[i].begin_ns;
        history->end_ns = cases[i].end_ns;
        history->earlier = cases[i].earlier;
        kept_begin_histories(&out, &STAMP);
        kept_put_history(&out, history); // nothing
        assert_int_equal(kept_end_histories(&out), 0);
        assert_int_equal(read_histories(out.bytes, out.n), 0);
        kept_begin_histories(&out, &STAMP);
        put_times(&out, cases[i].begin_ns, cases[i].end_ns, &cases[i].earlier);
        assert_int_equal(kept_end_histories(&out), 0);
        assert_int_equal(read_histories(out.bytes, out.n), -EBADMSG);
        recording_buffer_deinit(&out);
        kept_history_free(history);
    }
}

// Its steps are left out where even the limits of times are passed, and others stay.
static void test_a_clock_that_is_years_ahead_leaves_a_file_that_can_be_read(void **state) {
    (void)state;
    static const int64_t year_ns = INT64_C(31557600) * 1000000000, ahead_years[] = {0, 3, 70, 100};
    for (size_t i = 0; i < sizeof ahead_years / sizeof ahead_years[0]; i++) {
        struct recording_buffer out = {0};
        struct kept_stamp stamp;
        struct kept_histories histories;
        struct kept_history *history = kept_history_new(0, 0, 1000000000000);
        assert_non_null(history);
        struct kept_history *moved = kept_history_reboot(history, 0, ahead_years[i] * year_ns, 30000000000);
        kept_begin_histories(&out, &STAMP);
        if (moved)
            kept_put_history(&out, moved);
        kept_put_history(&out, history);
        assert_int_equal(kept_end_histories(&out), 0);
        assert_int_equal(kept_read_histories(out.bytes, out.n, &stamp, &histories), 0);
        assert_int_equal(histories.n, ahead_years[i] < 73 ? 2 : 1);
        kept_histories_deinit(&histories);
        kept_history_free(moved);
        kept_history_free(history);
        recording_buffer_deinit(&out);
    }
}

static void test_a_file_is_of_this_boot_of_an_earlier_one_or_of_others(void **state) {
    (void)state;
    static const struct kept_stamp now = {2, "two", "host", "1f0e db-7", "AMD", 0, false};
    static const struct {
        struct kept_stamp of;
        enum kept_relation relation;
    } cases[] = {
        {{2, "two", "host", "1f0e db-7", "AMD", 0, false}, KEPT_THIS_BOOT},
        {{2, "two", "host", "1f0e db-8", "AMD", 0, false}, KEPT_THIS_BOOT}, // its name was changed
        {{1, "two", "host", "", "", 0, false}, KEPT_THIS_BOOT},
        {{2, "two", "sim:a", "1f0e db-7", "AMD", 0, false}, KEPT_OTHERS},
        {{2, "two", "host", "1f0e db-7", "Intel", 0, false}, KEPT_OTHERS},
        {{2, "one", "host", "1f0e db-7", "AMD", 0, false}, KEPT_EARLIER_BOOT},
        {{2, "one", "host", "1f0e db-8", "AMD", 0, false}, KEPT_OTHERS}, // the image was copied
        {{2, "one", "host", "77aa db-7", "AMD", 0, false}, KEPT_OTHERS},
        {{2, "one", "host", "1f0e db-7", "Intel", 0, false}, KEPT_OTHERS},
        {{1, "one", "host", "", "", 0, false}, KEPT_OTHERS}, // nobody can tell
        {{2, "", "host", "1f0e db-7", "AMD", 0, false}, KEPT_OTHERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(kept_relation(&cases[i].of, &now), cases[i].relation);
    const struct kept_stamp nameless = {2, "two", "host", "", "AMD", 0, false},
                            before = {2, "one", "host", "", "AMD", 0, false};
    assert_int_equal(kept_relation(&before, &nameless), KEPT_OTHERS); // as in a container
}

static void test_histories_that_are_cut_or_have_a_flipped_bit_are_refused(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    write_histories(&out);
    for (size_t n = 0; n < out.n; n++)
        assert_true(read_histories(out.bytes, n) < 0);
    for (size_t i = 0; i < out.n * 8; i++) {
        out.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_true(read_histories(out.bytes, out.n) < 0);
        out.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_int_equal(read_histories(out.bytes, out.n), 0);
    assert_int_equal(read_again(out.bytes, out.n), -ENOMSG); // these are no verdicts
    recording_buffer_deinit(&out);
}

static void test_a_history_that_has_no_room_is_left_out_whole(void **state) {
    (void)state;
    struct recording_buffer out = {0};
    struct kept_stamp stamp;
    struct kept_histories histories;
    const int64_t day_ns = INT64_C(86400000000000);
    struct kept_history *history = kept_history_new(0, 0, 2 * day_ns);
    assert_non_null(history);
    while (history->n < KEPT_SERIES_MAX)
        assert_non_null(kept_history_add(history, -1, "ipc"));
    assert_null(kept_history_add(history, -1, "ipc"));
    kept_begin_histories(&out, &STAMP);
    for (int i = 0; i < 10; i++) // of 829 KB
        kept_put_history(&out, history);
    assert_int_equal(kept_end_histories(&out), 0);
    assert_true(out.n <= KEPT_HISTORIES_BYTES_MAX);
    assert_int_equal(kept_read_histories(out.bytes, out.n, &stamp, &histories), 0);
    assert_int_equal(histories.n, 5);
    kept_histories_deinit(&histories);
    kept_history_free(history);
    recording_buffer_deinit(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts_come_back_as_they_were),
        cmocka_unit_test(test_the_largest_file_is_within_what_is_read),
        cmocka_unit_test(test_a_file_that_is_cut_anywhere_or_has_more_is_refused),
        cmocka_unit_test(test_a_flipped_bit_is_noticed_wherever_it_is),
        cmocka_unit_test(test_the_reason_tells_foreign_later_and_damaged_files_apart),
        cmocka_unit_test(test_values_that_nobody_wrote_are_refused),
        cmocka_unit_test(test_a_step_of_the_clock_moves_the_beginning_and_drift_does_not),
        cmocka_unit_test(test_histories_come_back_as_they_were),
        cmocka_unit_test(test_what_is_of_earlier_boots_and_what_the_kernel_counts_come_back),
        cmocka_unit_test(test_a_history_of_version_1_is_read),
        cmocka_unit_test(test_times_that_nobody_writes_are_refused),
        cmocka_unit_test(test_a_clock_that_is_years_ahead_leaves_a_file_that_can_be_read),
        cmocka_unit_test(test_a_file_is_of_this_boot_of_an_earlier_one_or_of_others),
        cmocka_unit_test(test_histories_that_are_cut_or_have_a_flipped_bit_are_refused),
        cmocka_unit_test(test_a_history_that_has_no_room_is_left_out_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
