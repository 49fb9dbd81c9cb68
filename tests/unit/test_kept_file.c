// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/kept/kept_file.h"

// The file of what outlives the process: what was put last is there when it is freed, whole or not at all.

struct place {
    char folder[64], path[96], beside[96];
    struct kept_file *file;
};

static void begin(struct place *place) {
    strcpy(place->folder, "/tmp/topdownd-kept-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(place->path, sizeof place->path, "%s/verdicts", place->folder);
    (void)snprintf(place->beside, sizeof place->beside, "%s/.verdicts.new", place->folder);
    assert_int_equal(kept_file_new(place->folder, "verdicts", &place->file), 0);
}

static void end(struct place *place) {
    place->file = kept_file_free(place->file);
    (void)unlink(place->path);
    (void)unlink(place->beside);
    assert_int_equal(rmdir(place->folder), 0);
}

static void put(const struct place *place, const char *text) {
    struct recording_buffer bytes = {.bytes = (uint8_t *)strdup(text), .n = strlen(text), .size = strlen(text) + 1};
    assert_non_null(bytes.bytes);
    kept_file_put(place->file, &bytes);
    assert_null(bytes.bytes);
}

// Ends the writer, and begins another one.
static void again(struct place *place) {
    kept_file_free(place->file);
    assert_int_equal(kept_file_new(place->folder, "verdicts", &place->file), 0);
}

static void expect(const struct place *place, const char *text) {
    uint8_t *bytes = NULL;
    size_t n = 0;
    assert_int_equal(kept_file_read(place->file, 100, &bytes, &n), 0);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, n);
    free(bytes);
}

static void test_what_was_put_last_is_there_after_the_end(void **state) {
    (void)state;
    struct place place;
    struct stat status;
    begin(&place);
    for (int i = 0; i < 100; i++)
        put(&place, "one");
    put(&place, "two");
    again(&place);
    expect(&place, "two");
    assert_int_equal(stat(place.path, &status), 0);
    assert_int_equal(status.st_mode & 0137, 0); // whoever is not of the group reads nothing
    assert_int_equal(access(place.beside, F_OK), -1);
    end(&place);
}

static void test_what_is_no_small_regular_file_is_not_read(void **state) {
    (void)state;
    struct place place;
    uint8_t *bytes = NULL;
    size_t n;
    begin(&place);
    assert_int_equal(kept_file_read(place.file, 100, &bytes, &n), -ENOENT);
    put(&place, "0123456789");
    again(&place);
    assert_int_equal(kept_file_read(place.file, 9, &bytes, &n), -EFBIG);
    assert_int_equal(unlink(place.path), 0);
    assert_int_equal(mkfifo(place.path, 0600), 0);
    assert_int_equal(kept_file_read(place.file, 100, &bytes, &n), -EINVAL);
    assert_int_equal(unlink(place.path), 0);
    assert_int_equal(symlink("/etc/hostname", place.path), 0);
    assert_int_equal(kept_file_read(place.file, 100, &bytes, &n), -ELOOP);
    assert_null(bytes);
    end(&place);
}

static void test_a_link_beside_the_file_is_not_followed(void **state) {
    (void)state;
    struct place place;
    char target[128];
    begin(&place);
    (void)snprintf(target, sizeof target, "%s/target", place.folder);
    assert_int_equal(symlink(target, place.beside), 0);
    put(&place, "one");
    again(&place);
    expect(&place, "one");
    assert_int_equal(access(target, F_OK), -1);
    end(&place);
}

static void test_a_folder_that_is_not_there_yet_is_tried_again(void **state) {
    (void)state;
    struct place place;
    begin(&place);
    assert_int_equal(rmdir(place.folder), 0);
    put(&place, "one");
    again(&place);
    assert_int_equal(mkdir(place.folder, 0700), 0);
    put(&place, "two");
    again(&place);
    expect(&place, "two");
    end(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_last_is_there_after_the_end),
        cmocka_unit_test(test_what_is_no_small_regular_file_is_not_read),
        cmocka_unit_test(test_a_link_beside_the_file_is_not_followed),
        cmocka_unit_test(test_a_folder_that_is_not_there_yet_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
