// SPDX-License-Identifier: Apache-2.0
//
// Records of what the kernel counts of memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/recording/recording_bytes.h"
#include "core/recording/recording_memory.h"

static struct recording_record only_record(const struct recording_buffer *buffer) {
    struct recording_record record;
    size_t at = 0;
    assert_int_equal(recording_next(buffer->bytes, buffer->n, &at, &record), 1);
    assert_int_equal(at, buffer->n);
    assert_int_equal(record.kind, RECORDING_MEMORY);
    return record;
}

// Two nodes with CPUs and one of CXL, which has come since the reading before; two caches, of which one is not told
// apart.
static struct host_memory *reading(void) {
    static const double totals[HOST_MEMORY_TOTALS_N] = {9e6, 1e6, 5, NAN, 0, 4096, 8192, 3e12, 7, 0x1p60};
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->timestamp_seconds = 1.7e9 + 0.123;
    memory->seconds = 10.000123;
    memory->resctrl = RESCTRL_COUNTING;
    (void)snprintf(memory->problem, sizeof memory->problem, "a file does not hold whole numbers");
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++) {
        memory->totals[i] = totals[i];
        memory->totals_before[i] = i % 2 == 0 ? totals[i] * 0.75 : totals[i];
    }
    memory->n_nodes = 3;
    for (unsigned i = 0; i < 3; i++) {
        struct host_memory_node *node = &memory->nodes[i];
        *node = (struct host_memory_node){.id = 2 * i, .socket = i < 2 ? (int)i : -1, .tier = i < 2 ? 4 : -1};
        node->kind = i < 2 ? HOST_MEMORY_OF_CPUS : HOST_MEMORY_CXL;
        node->bytes = i == 0 ? NAN : 0x1p36;
        node->free_bytes = 0x1p30 * i;
        node->access = (struct host_memory_access){1e9, NAN, 2.5e-7, NAN, false};
        for (size_t c = 0; c < HOST_MEMORY_COUNTS_N; c++) {
            node->counts[c] = 1000 * i + (double)c;
            node->before[c] = i == 2 ? NAN : c == 1 ? 1e5 : 1000 * i; // one fell
        }
    }
    memory->n_domains = 2;
    memory->domains[0] =
        (struct host_memory_domain){.id = 0, .socket = 0, .bytes = {700, 300, NAN}, .before = {600, 300, NAN}};
    memory->domains[1] =
        (struct host_memory_domain){.id = 9, .socket = 1, .bytes = {NAN, NAN, 1e15}, .before = {NAN, NAN, NAN}};
    host_memory_sum_sockets(memory);
    return memory;
}

static void assert_same(double a, double b) { assert_true((isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0); }

static void assert_same_bytes(const struct host_memory_bytes *a, const struct host_memory_bytes *b) {
    assert_same(a->local, b->local);
    assert_same(a->remote, b->remote);
    assert_same(a->all, b->all);
}

static void assert_same_nodes(const struct host_memory *a, const struct host_memory *b) {
    assert_int_equal(a->n_nodes, b->n_nodes);
    for (size_t i = 0; i < a->n_nodes; i++) {
        const struct host_memory_node *one = &a->nodes[i], *other = &b->nodes[i];
        assert_int_equal(one->id, other->id);
        assert_int_equal(one->socket, other->socket);
        assert_int_equal(one->tier, other->tier);
        assert_int_equal(one->kind, other->kind);
        assert_same(one->bytes, other->bytes);
        assert_same(one->free_bytes, other->free_bytes);
        assert_same(one->access.read_bytes_per_second, other->access.read_bytes_per_second);
        assert_same(one->access.write_bytes_per_second, other->access.write_bytes_per_second);
        assert_same(one->access.read_seconds, other->access.read_seconds);
        assert_same(one->access.write_seconds, other->access.write_seconds);
        for (size_t c = 0; c < HOST_MEMORY_COUNTS_N; c++) {
            assert_same(one->counts[c], other->counts[c]);
            assert_same(one->before[c], other->before[c]);
        }
    }
}

static void assert_same_reading(const struct host_memory *a, const struct host_memory *b) {
    assert_same(a->timestamp_seconds, b->timestamp_seconds);
    assert_same(a->seconds, b->seconds);
    assert_int_equal(a->resctrl, b->resctrl);
    assert_string_equal(a->problem, b->problem);
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++) {
        assert_same(a->totals[i], b->totals[i]);
        assert_same(a->totals_before[i], b->totals_before[i]);
    }
    assert_same_nodes(a, b);
    assert_int_equal(a->n_domains, b->n_domains);
    for (size_t i = 0; i < a->n_domains; i++) {
        assert_int_equal(a->domains[i].id, b->domains[i].id);
        assert_int_equal(a->domains[i].socket, b->domains[i].socket);
        assert_same_bytes(&a->domains[i].bytes, &b->domains[i].bytes);
        assert_same_bytes(&a->domains[i].before, &b->domains[i].before);
    }
    assert_int_equal(a->n_sockets, b->n_sockets);
    for (size_t i = 0; i < a->n_sockets; i++) {
        assert_int_equal(a->sockets[i].id, b->sockets[i].id);
        assert_same_bytes(&a->sockets[i].bytes, &b->sockets[i].bytes);
        assert_same_bytes(&a->sockets[i].before, &b->sockets[i].before);
    }
}

// Writes the reading, reads it back, and gives it up.
static void expect_back(struct host_memory *memory) {
    struct host_memory *again;
    struct recording_buffer out = {0};
    assert_int_equal(recording_put_memory(&out, memory), 0);
    struct recording_record record = only_record(&out);
    assert_int_equal(recording_get_memory(&record, &again), 0);
    assert_same_reading(memory, again);
    host_memory_unref(memory);
    host_memory_unref(again);
    recording_buffer_deinit(&out);
}

static void test_a_reading_comes_back_bit_by_bit(void **state) {
    (void)state;
    expect_back(reading());
}

static void test_the_first_reading_has_nothing_before(void **state) {
    (void)state;
    struct host_memory *memory = host_memory_new();
    memory->totals[HOST_MEMORY_LOCAL] = 5;
    expect_back(memory);
}

static void test_that_nothing_is_read_needs_no_content(void **state) {
    (void)state;
    struct host_memory *again = (struct host_memory *)&again;
    struct recording_buffer out = {0};
    assert_int_equal(recording_put_memory(&out, NULL), 0);
    struct recording_record record = only_record(&out);
    assert_int_equal(record.n, 0);
    assert_int_equal(recording_get_memory(&record, &again), 0);
    assert_null(again);
    recording_buffer_deinit(&out);
}

// Reading such content leaves the output alone.
static int read(const uint8_t *bytes, size_t n) {
    struct recording_record record = {.kind = RECORDING_MEMORY, .bytes = bytes, .n = n};
    struct host_memory *untouched = (struct host_memory *)&record, *out = untouched;
    int r = recording_get_memory(&record, &out);
    if (r == 0)
        host_memory_unref(out);
    else
        assert_ptr_equal(out, untouched);
    return r;
}

static void test_a_damaged_reading_is_refused(void **state) {
    (void)state;
    struct host_memory *memory = reading();
    struct recording_buffer out = {0}, more = {0};
    assert_int_equal(recording_put_memory(&out, memory), 0);
    struct recording_record record = only_record(&out);
    for (size_t n = 1; n < record.n; n++)
        assert_int_equal(read(record.bytes, n), -EBADMSG); // cut
    bytes_put(&more, record.bytes, record.n);
    bytes_put(&more, "", 1);
    assert_int_equal(read(more.bytes, more.n), -EBADMSG); // something follows
    host_memory_unref(memory);
    recording_buffer_deinit(&out);
    recording_buffer_deinit(&more);
}

// What the reader says of a reading that could not have been made.
static int read_wrong(void (*change)(struct host_memory *memory)) {
    struct host_memory *memory = reading();
    struct recording_buffer out = {0};
    change(memory);
    assert_int_equal(recording_put_memory(&out, memory), 0);
    struct recording_record record = only_record(&out);
    int r = read(record.bytes, record.n);
    host_memory_unref(memory);
    recording_buffer_deinit(&out);
    return r;
}

static void swap_nodes(struct host_memory *memory) { memory->nodes[1].id = 0; }
static void take_bytes(struct host_memory *memory) { memory->nodes[0].bytes = -1; }
static void grow_forever(struct host_memory *memory) { memory->totals[0] = HUGE_VAL; }
static void lose_the_time(struct host_memory *memory) { memory->seconds = NAN; }
static void lose_the_socket(struct host_memory *memory) { memory->domains[0].socket = -2; }
static void be_of_no_kind(struct host_memory *memory) {
    memory->nodes[0].kind = (enum host_memory_kind)(HOST_MEMORY_WITHOUT_CPUS + 1);
}
static void be_in_no_state(struct host_memory *memory) { memory->resctrl = (enum resctrl_state)RESCTRL_STATES_N; }
static void change_nothing(struct host_memory *memory) { (void)memory; }

static void test_a_reading_that_cannot_be_is_refused(void **state) {
    (void)state;
    assert_int_equal(read_wrong(change_nothing), 0);
    assert_int_equal(read_wrong(swap_nodes), -EBADMSG);
    assert_int_equal(read_wrong(take_bytes), -EBADMSG);
    assert_int_equal(read_wrong(grow_forever), -EBADMSG);
    assert_int_equal(read_wrong(lose_the_time), -EBADMSG);
    assert_int_equal(read_wrong(lose_the_socket), -EBADMSG);
    assert_int_equal(read_wrong(be_of_no_kind), -EBADMSG);
    assert_int_equal(read_wrong(be_in_no_state), -EBADMSG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reading_comes_back_bit_by_bit),
        cmocka_unit_test(test_the_first_reading_has_nothing_before),
        cmocka_unit_test(test_that_nothing_is_read_needs_no_content),
        cmocka_unit_test(test_a_damaged_reading_is_refused),
        cmocka_unit_test(test_a_reading_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
