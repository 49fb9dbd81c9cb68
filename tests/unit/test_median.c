// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/median.h"
#include "core/base/random.h"

static void test_a_median_is_in_the_middle(void **state) {
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 10}, one[] = {7}, same[] = {2, 2, 2, 2, 1};
    assert_true(median_of(odd, 3) == 3);
    assert_true(median_of(even, 4) == 3);
    assert_true(median_of(one, 1) == 7);
    assert_true(median_of(same, 5) == 2);
    assert_true(isnan(median_of(NULL, 0)));
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_it_is_what_sorting_gives(void **state) {
    (void)state;
    enum { MOST = 40 };
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        double values[MOST], sorted[MOST];
        size_t n = 1 + (size_t)random_below(&random, MOST);
        for (size_t k = 0; k < n; k++)
            values[k] = (double)random_below(&random, 1 + (uint64_t)i % 50);
        memcpy(sorted, values, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, compare);
        assert_true(median_of(values, n) == (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_median_is_in_the_middle),
        cmocka_unit_test(test_it_is_what_sorting_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
