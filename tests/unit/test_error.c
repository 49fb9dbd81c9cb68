// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

#include "core/base/error.h"
#include "core/base/name.h"

static void expect_line(const struct error *error, const char *wanted) {
    char line[ERROR_LINE_MAX];
    assert_int_equal(error_format(error, line, sizeof line), strlen(wanted));
    assert_string_equal(line, wanted);
}

static void test_an_error_is_written_with_what_is_known_of_its_place(void **state) {
    (void)state;
    struct errors errors = {0};
    assert_int_equal(errors_add(&errors, "a.yaml", 7, 3, "%s is %d", "slot", 5), -EINVAL);
    assert_int_equal(errors_add(&errors, "a.yaml", 7, 0, "no column"), -EINVAL);
    assert_int_equal(errors_add(&errors, "a.yaml", 0, 0, "no line"), -EINVAL);
    assert_int_equal(errors_add(&errors, NULL, 0, 0, "no file"), -EINVAL);
    assert_int_equal(errors_add(&errors, "", 4, 4, "no file either"), -EINVAL);
    assert_int_equal(errors.n, 5);
    expect_line(&errors.items[0], "a.yaml:7:3: slot is 5");
    expect_line(&errors.items[1], "a.yaml:7: no column");
    expect_line(&errors.items[2], "a.yaml: no line");
    expect_line(&errors.items[3], "no file");
    expect_line(&errors.items[4], "no file either");
}

static void test_a_failure_says_what_to_raise_and_whether_it_may_pass(void **state) {
    (void)state;
    static const int passing[] = {EMFILE, ENFILE, ENOMEM, EIO, EINTR}, lasting[] = {ENOENT, EACCES, EISDIR, EINVAL};
    struct errors errors = {0};
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
        assert_int_equal(errors_add_failure(&errors, "f", "cannot be read", lasting[i]), -EINVAL);
    assert_false(errors.passing);
    expect_line(&errors.items[0], "f: cannot be read: No such file or directory");
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        errors = (struct errors){0};
        assert_int_equal(errors_add_failure(&errors, "f", "cannot be read", -passing[i]), -EINVAL);
        assert_int_equal(errors_add(&errors, "f", 1, 1, "a mistake"), -EINVAL);
        assert_true(errors.passing);
    }
    assert_non_null(strstr(error_reason(EMFILE), "LimitNOFILE"));
    assert_non_null(strstr(error_reason(-ENFILE), "fs.file-max"));
}

static void test_errors_beyond_the_greatest_number_are_counted(void **state) {
    (void)state;
    struct errors errors = {0};
    for (unsigned i = 0; i < ERRORS_MAX + 3; i++)
        assert_int_equal(errors_add(&errors, "f", i + 1, 0, "error %u", i), -EINVAL);
    assert_int_equal(errors.n, ERRORS_MAX);
    assert_int_equal(errors.dropped, 3);
    expect_line(&errors.items[0], "f:1: error 0");
    expect_line(&errors.items[ERRORS_MAX - 1], "f:16: error 15");
}

static void test_the_longest_error_fits_a_line(void **state) {
    (void)state;
    static char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    struct errors errors = {0};
    errors_add(&errors, longer, 4294967295u, 4294967295u, "%s", longer);
    assert_int_equal(strlen(errors.items[0].file), ERROR_FILE_MAX - 1);
    assert_int_equal(strlen(errors.items[0].text), ERROR_TEXT_MAX - 1);
    char line[ERROR_LINE_MAX];
    size_t length = error_format(&errors.items[0], line, sizeof line);
    assert_int_equal(length, ERROR_FILE_MAX - 1 + strlen(":4294967295:4294967295: ") + ERROR_TEXT_MAX - 1);
    assert_int_equal(strlen(line), length); // nothing was cut
}

static void test_a_line_that_is_too_short_is_cut_and_terminated(void **state) {
    (void)state;
    struct errors errors = {0};
    errors_add(&errors, "a.yaml", 7, 3, "slot");
    char line[10];
    memset(line, '#', sizeof line);
    (void)error_format(&errors.items[0], line, 8);
    assert_memory_equal(line, "a.yaml:\0##", sizeof line);
}

static void test_a_percent_sign_in_a_files_name_is_just_text(void **state) {
    (void)state;
    struct errors errors = {0};
    errors_add(&errors, "%s%n.yaml", 1, 0, "bad");
    expect_line(&errors.items[0], "%s%n.yaml:1: bad");
}

static void test_a_slip_is_answered_with_the_nearest_word(void **state) {
    (void)state;
    static const char *const words[] = {"slot", "idle", "groups", "weights", "Topdown_L1", "Miss_Ratio", "profiles"};
    static const struct {
        const char *word, *wanted;
    } cases[] = {{"slots", "slot"},
                 {"solt", "slot"},
                 {"sloot", "slot"},
                 {"profile", "profiles"},
                 {"TopDownL1", "Topdown_L1"},
                 {"topdown", "Topdown_L1"},
                 {"missratio", "Miss_Ratio"},
                 {"wieghts", "weights"},
                 {"grops", "groups"},
                 {"listen", NULL},
                 {"xyzzy", NULL},
                 {"slt", "slot"},
                 {"sxo", NULL}, // too little of so short a word is right
                 {"Topdown_L2", "Topdown_L1"}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const char *got = error_suggest(cases[i].word, words, N_OF(words));
        if ((got == NULL) != (cases[i].wanted == NULL) || (got && strcmp(got, cases[i].wanted) != 0))
            fail_msg("%s: got %s", cases[i].word, got ? got : "nothing");
    }
}

static void test_of_equally_near_words_the_first_is_suggested(void **state) {
    (void)state;
    static const char *const words[] = {"metric_a", "metric_b", "metric_c"};
    assert_ptr_equal(error_suggest("metric_x", words, 3), words[0]);
    assert_ptr_equal(error_suggest("metric_c", words, 3), words[2]);
    assert_null(error_suggest("metric_x", words, 0));
}

static void test_words_of_any_length_are_safe_to_compare(void **state) {
    (void)state;
    static char long_word[300], word_63[64], near_63[64];
    memset(long_word, 'a', sizeof long_word - 1);
    memset(word_63, 'a', 63);
    memset(near_63, 'a', 63);
    near_63[62] = 'b';
    const char *const words[] = {long_word, word_63};
    assert_null(error_suggest(long_word, words, 2)); // too long to be a slip
    assert_ptr_equal(error_suggest(near_63, words, 2), word_63);
    assert_null(error_suggest("", (const char *const[]){"groups"}, 1));
}

// ---- names ----

static void test_names_are_equal_without_case_dashes_and_underscores(void **state) {
    (void)state;
    static const char *const equal[][2] = {
        {"Topdown_L1", "topdown-l1"}, {"TopdownL1", "TOPDOWN__L-1"}, {"_a_", "A"}, {"", "_-"}, {"", ""}};
    static const char *const different[][2] = {
        {"Topdown_L1", "Topdown_L2"}, {"ab", "a"}, {"a", "ab"}, {"a b", "ab"}, {"", "a"}, {"a.b", "ab"}};
    for (size_t i = 0; i < N_OF(equal); i++) {
        assert_true(name_equal(equal[i][0], equal[i][1]));
        assert_true(name_equal(equal[i][1], equal[i][0]));
    }
    for (size_t i = 0; i < N_OF(different); i++) {
        assert_false(name_equal(different[i][0], different[i][1]));
        assert_false(name_equal(different[i][1], different[i][0]));
    }
}

static void test_a_folded_name_is_cut_to_its_room(void **state) {
    (void)state;
    char out[8];
    name_fold("-_Top-Down_L1_", out, sizeof out);
    assert_string_equal(out, "topdown");
    name_fold("L_1", out, sizeof out);
    assert_string_equal(out, "l1");
    memset(out, '#', sizeof out);
    name_fold("abc", out, 1);
    assert_memory_equal(out, "\0#######", sizeof out);
}

static void test_names_are_equal_where_they_fold_to_the_same(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    int equal = 0;
    for (int i = 0; i < 20000; i++) {
        char a[8] = "", b[8] = "", folded_a[8], folded_b[8];
        for (size_t c = random_below(&random, 6); c > 0; c--)
            a[c - 1] = "aAbB-_"[random_below(&random, 6)];
        for (size_t c = random_below(&random, 6); c > 0; c--)
            b[c - 1] = "aAbB-_"[random_below(&random, 6)];
        name_fold(a, folded_a, sizeof folded_a);
        name_fold(b, folded_b, sizeof folded_b);
        bool same = strcmp(folded_a, folded_b) == 0;
        assert_int_equal(name_equal(a, b), same);
        equal += same;
    }
    assert_in_range(equal, 100, 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_is_written_with_what_is_known_of_its_place),
        cmocka_unit_test(test_a_failure_says_what_to_raise_and_whether_it_may_pass),
        cmocka_unit_test(test_errors_beyond_the_greatest_number_are_counted),
        cmocka_unit_test(test_the_longest_error_fits_a_line),
        cmocka_unit_test(test_a_line_that_is_too_short_is_cut_and_terminated),
        cmocka_unit_test(test_a_percent_sign_in_a_files_name_is_just_text),
        cmocka_unit_test(test_a_slip_is_answered_with_the_nearest_word),
        cmocka_unit_test(test_of_equally_near_words_the_first_is_suggested),
        cmocka_unit_test(test_words_of_any_length_are_safe_to_compare),
        cmocka_unit_test(test_names_are_equal_without_case_dashes_and_underscores),
        cmocka_unit_test(test_a_folded_name_is_cut_to_its_room),
        cmocka_unit_test(test_names_are_equal_where_they_fold_to_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
