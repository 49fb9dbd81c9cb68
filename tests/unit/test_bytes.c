// SPDX-License-Identifier: Apache-2.0
//
// Standard algorithms: CRC-32 and FNV-1a against values from their authors and
// zlib, UTF-8 against the Unicode standard; and growing arrays.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/crc32.h"
#include "core/base/hash.h"
#include "core/base/utf8.h"

static uint32_t crc_of(const char *text) { return crc32_of((const uint8_t *)text, strlen(text)); }

static void test_crc32_is_that_of_zlib(void **state) {
    (void)state;
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(crc_of(""), 0);
    assert_int_equal(crc_of("a"), 0xe8b7be43);
    assert_int_equal(crc_of("123456789"), 0xcbf43926); // the check value of the catalogue of CRCs
    assert_int_equal(crc_of("The quick brown fox jumps over the lazy dog"), 0x414fa339);
    assert_int_equal(crc32_of(bytes, sizeof bytes), 0x29058c73);
}

static void test_fnv_1a_is_that_of_its_authors(void **state) {
    (void)state;
    assert_true(hash_bytes(HASH_BEGIN, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(HASH_BEGIN, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_byte(hash_bytes(HASH_BEGIN, "fooba", 5), 'r') == UINT64_C(0x85944171f73967e8));
}

// What a decoder by the definition says: the bytes of the code point are exactly those.
static size_t length_by_code_point(const unsigned char *text, size_t length) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (n == 0 || n > length)
        return 0;
    uint32_t point = n == 1 ? text[0] : text[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        point = point << 6 | (text[i] & 0x3f);
    }
    return point < least[n] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0 : n;
}

static void test_utf8_is_that_of_the_standard_for_all_beginnings(void **state) {
    (void)state;
    static const unsigned char ends[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    enum { ENDS = sizeof ends };
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (unsigned rest = 0; rest < ENDS * ENDS; rest++) {
                unsigned char text[] = {(unsigned char)first, (unsigned char)second, ends[rest / ENDS],
                                        ends[rest % ENDS], 0};
                for (size_t length = 1; length <= 4; length++)
                    assert_int_equal(utf8_length((const char *)text, length), length_by_code_point(text, length));
                assert_int_equal(utf8_length((const char *)text, SIZE_MAX), length_by_code_point(text, 4));
            }
}

static void test_an_array_grows_item_by_item_and_keeps_what_it_has(void **state) {
    (void)state;
    size_t *items = NULL;
    for (size_t n = 0; n < 1000; n++) {
        items = array_grow(items, n, sizeof *items);
        assert_non_null(items);
        items[n] = n; // the address sanitizer watches
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], n);
    assert_null(array_grow(items, SIZE_MAX / 4 + 1, sizeof *items)); // more than there can be
    free(items);
}

static void test_an_array_has_the_room_that_is_asked_for_and_doubles(void **state) {
    (void)state;
    size_t room = 0;
    char *bytes = array_reserve(NULL, 0, &room, 1);
    assert_non_null(bytes); // NULL is only short memory
    bytes = array_reserve(bytes, 100, &room, 1);
    assert_int_equal(room, 100);
    memset(bytes, 'x', 100);
    assert_ptr_equal(array_reserve(bytes, 100, &room, 1), bytes);
    bytes = array_reserve(bytes, 101, &room, 1);
    assert_int_equal(room, 200);
    assert_int_equal(bytes[99], 'x');
    bytes = array_reserve(bytes, 1000, &room, 1);
    assert_int_equal(room, 1000);
    assert_null(array_reserve(bytes, SIZE_MAX / 4, &room, 8));
    assert_int_equal(room, 1000);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32_is_that_of_zlib),
        cmocka_unit_test(test_fnv_1a_is_that_of_its_authors),
        cmocka_unit_test(test_utf8_is_that_of_the_standard_for_all_beginnings),
        cmocka_unit_test(test_an_array_grows_item_by_item_and_keeps_what_it_has),
        cmocka_unit_test(test_an_array_has_the_room_that_is_asked_for_and_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
