// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/base/block.h"

struct toy {
    size_t n;
    char *letters;   // [n]
    double *numbers; // [n + 1]
    uint16_t *none;  // [0]
};

static void lay_out_toy(void *self, struct block *block) {
    struct toy *toy = self;
    toy->letters = block_take(block, toy->n, sizeof *toy->letters);
    toy->numbers = block_take(block, toy->n + 1, sizeof *toy->numbers);
    toy->none = block_take(block, 0, sizeof *toy->none);
}

static void test_arrays_lie_behind_their_struct_aligned_apart_and_zero(void **state) {
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        struct toy *toy = block_new(&(struct toy){.n = n}, sizeof *toy, lay_out_toy);
        assert_non_null(toy);
        assert_int_equal(toy->n, n);
        assert_true(toy->letters >= (char *)(toy + 1));
        assert_true((char *)toy->numbers >= toy->letters + n);
        assert_true((char *)toy->none >= (char *)(toy->numbers + n + 1));
        assert_int_equal((uintptr_t)toy->letters % BLOCK_LINE, 0);
        assert_int_equal((uintptr_t)toy->numbers % BLOCK_LINE, 0);
        for (size_t i = 0; i <= n; i++)
            assert_true(toy->numbers[i] == 0 && (i == n || toy->letters[i] == 0));
        memset(toy->letters, 1, n); // the sanitizer sees whether it is theirs
        memset(toy->numbers, 1, (n + 1) * sizeof *toy->numbers);
        free(toy);
    }
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

#ifdef SANITIZED
int __asan_address_is_poisoned(void const volatile *address);
#endif

static void test_the_sanitizer_sees_a_step_past_an_array(void **state) {
    (void)state;
#ifdef SANITIZED
    for (size_t n = 0; n < 40; n++) {
        struct toy *toy = block_new(&(struct toy){.n = n}, sizeof *toy, lay_out_toy);
        assert_non_null(toy);
        assert_true(__asan_address_is_poisoned(toy + 1));
        assert_true(__asan_address_is_poisoned(toy->letters + n) && __asan_address_is_poisoned(toy->letters - 1));
        assert_true(__asan_address_is_poisoned(toy->numbers + n + 1) && __asan_address_is_poisoned(toy->numbers - 1));
        assert_false(n > 0 && __asan_address_is_poisoned(toy->letters + n - 1));
        assert_false(__asan_address_is_poisoned(toy->numbers + n));
        free(toy);
    }
#else
    skip();
#endif
}

static void lay_out_huge(void *self, struct block *block) {
    struct toy *toy = self;
    toy->letters = block_take(block, 1, 1);
    toy->numbers = block_take(block, toy->n, sizeof *toy->numbers);
    toy->none = block_take(block, 8, sizeof *toy->none);
}

// A size that wraps around would be granted, and written past.
static void test_a_size_that_no_number_can_say_is_refused(void **state) {
    (void)state;
    static const size_t n[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 8, SIZE_MAX / 8 - 4};
    for (size_t i = 0; i < N_OF(n); i++)
        assert_null(block_new(&(struct toy){.n = n[i]}, sizeof(struct toy), lay_out_huge));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_lie_behind_their_struct_aligned_apart_and_zero),
        cmocka_unit_test(test_the_sanitizer_sees_a_step_past_an_array),
        cmocka_unit_test(test_a_size_that_no_number_can_say_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
