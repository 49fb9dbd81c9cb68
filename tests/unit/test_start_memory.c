// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <malloc.h>

#include "daemon/base/start_memory.h"

enum { CHUNKS = 64, CHUNK_BYTES = 100 << 10 }; // below the size that the C library maps by itself

// KiB of this process in memory: all, and of these what no file has.
static void read_resident(double *all, double *anonymous) {
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file)
        skip();
    while (fgets(line, sizeof line, file)) {
        (void)sscanf(line, "Rss: %lf", all);
        (void)sscanf(line, "Anonymous: %lf", anonymous);
    }
    (void)fclose(file);
}

static void test_pages_of_files_are_mapped_again_when_they_are_used(void **state) {
    (void)state;
    double all = 0, anonymous = 0, all_after = 0, anonymous_after = 0;
    read_resident(&all, &anonymous);
    start_memory_give_back();
    read_resident(&all_after, &anonymous_after);
    if (!(all_after - anonymous_after < 0.8 * (all - anonymous)))
        fail_msg("%.0f KiB of files, then %.0f KiB", all - anonymous, all_after - anonymous_after);
    char text[32];
    (void)snprintf(text, sizeof text, "%.3f", 2.5); // the libraries are still there
    assert_string_equal(text, "2.500");
}

static void test_freed_memory_goes_back(void **state) {
    (void)state;
    static void *chunks[CHUNKS];
    double all = 0, before = 0, after = 0;
    size_t used = mallinfo2().uordblks;
    for (size_t i = 0; i < CHUNKS; i++) {
        chunks[i] = malloc(CHUNK_BYTES);
        assert_non_null(chunks[i]);
        memset(chunks[i], 1, CHUNK_BYTES);
    }
    bool others = mallinfo2().uordblks < used + CHUNKS * CHUNK_BYTES; // a sanitizer has its own allocator
    for (size_t i = 0; i + 1 < CHUNKS; i++)
        free(chunks[i]); // the last one keeps the heap from shrinking by itself
    read_resident(&all, &before);
    start_memory_give_back();
    read_resident(&all, &after);
    free(chunks[CHUNKS - 1]);
    if (others)
        skip();
    assert_true(after < before - 0.9 * CHUNKS * CHUNK_BYTES / 1024);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_of_files_are_mapped_again_when_they_are_used),
        cmocka_unit_test(test_freed_memory_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
