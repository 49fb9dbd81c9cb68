// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "core/spec/family.h"

static bool ends_in(const char *text, const char *end) {
    size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

static void test_every_family_has_a_sound_name_a_type_and_a_sentence_of_help(void **state) {
    (void)state;
    for (int i = 0; i < FAMILY_N; i++) {
        const struct family_info *family = &family_table[i];
        assert_non_null(family->name);
        assert_true(strncmp(family->name, "topdownd_", 9) == 0 || strncmp(family->name, "process_", 8) == 0);
        assert_int_equal(strspn(family->name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(family->name));
        assert_null(strstr(family->name, "__"));
        assert_false(ends_in(family->name, "_"));
        assert_true(strcmp(family->type, "counter") == 0 || strcmp(family->type, "gauge") == 0 ||
                    strcmp(family->type, "histogram") == 0 || strcmp(family->type, "info") == 0);
        assert_true(strlen(family->help) > 10 && ends_in(family->help, "."));
        assert_null(strpbrk(family->help, "\n\\"));
    }
}

static void test_counters_and_only_counters_end_in_total(void **state) {
    (void)state;
    for (int i = 0; i < FAMILY_N; i++)
        assert_int_equal(ends_in(family_table[i].name, "_total"), strcmp(family_table[i].type, "counter") == 0);
}

static void test_infos_end_in_info(void **state) {
    (void)state;
    for (int i = 0; i < FAMILY_N; i++)
        assert_true(strcmp(family_table[i].type, "info") != 0 || ends_in(family_table[i].name, "_info"));
}

static void test_no_other_family_takes_the_name_of_a_histograms_series(void **state) {
    (void)state;
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    for (int i = 0; i < FAMILY_N; i++)
        for (size_t e = 0; e < N_OF(ends); e++)
            assert_false(ends_in(family_table[i].name, ends[e]));
}

static void test_names_are_unique(void **state) {
    (void)state;
    for (int i = 0; i < FAMILY_N; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(family_table[i].name, family_table[j].name);
}

static void test_every_name_of_ours_collides(void **state) {
    (void)state;
    int ours = 0;
    for (int i = 0; i < FAMILY_N; i++)
        if (strncmp(family_table[i].name, "topdownd_", 9) == 0) {
            assert_true(family_collides(family_table[i].name + 9));
            ours++;
        }
    assert_in_range(ours, 20, FAMILY_N);
}

static void test_what_begins_like_a_page_or_a_histogram_of_ours_collides(void **state) {
    (void)state;
    static const char *const collide[] = {"cpu_anything",
                                          "cpu_",
                                          "rotation_duration_seconds_bucket",
                                          "rotation_duration_seconds_sum",
                                          "rotation_duration_seconds_count",
                                          "pipeline_slots", // OpenMetrics' name of the counter's family,
                                          "cpu",
                                          "build"}; // and of infos'
    static const char *const free_names[] = {"ipc",
                                             "cpux",
                                             "branch_mpki",
                                             "frontend_bound_ratio",
                                             "rotation_duration",
                                             "rotation_duration_secondsx",
                                             "pmu_up_ratio",
                                             "process_cpu_seconds_total", // topdownd_process_... is another name
                                             "build_information"};
    for (size_t i = 0; i < N_OF(collide); i++)
        assert_true(family_collides(collide[i]));
    for (size_t i = 0; i < N_OF(free_names); i++)
        assert_false(family_collides(free_names[i]));
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 17);
    assert_non_null(file);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 17) - 1, file);
    assert_true(n > 0 && n < (1 << 17) - 1);
    (void)fclose(file);
    return text;
}

static void test_every_family_of_ours_is_documented_with_its_type(void **state) {
    (void)state;
    char *text = read_text("docs/metrics.md"), row[160];
    for (int i = 0; i < FAMILY_N; i++) {
        (void)snprintf(row, sizeof row, "| `%s` | %s | ", family_table[i].name, family_table[i].type);
        if (strncmp(family_table[i].name, "topdownd_", 9) == 0 && !strstr(text, row))
            fail_msg("docs/metrics.md has no %s", row);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family_has_a_sound_name_a_type_and_a_sentence_of_help),
        cmocka_unit_test(test_counters_and_only_counters_end_in_total),
        cmocka_unit_test(test_infos_end_in_info),
        cmocka_unit_test(test_no_other_family_takes_the_name_of_a_histograms_series),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_every_name_of_ours_collides),
        cmocka_unit_test(test_what_begins_like_a_page_or_a_histogram_of_ours_collides),
        cmocka_unit_test(test_every_family_of_ours_is_documented_with_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
