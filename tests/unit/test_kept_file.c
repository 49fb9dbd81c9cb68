// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/kept/kept_file.h"

// The file of what outlives the process: what was put last is there when it is freed, whole or not at all.

// A disk that hangs: what is put on it waits until it is let go. In the place of the C library's.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool hangs;
    int waiting, done;
} disk = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0};

int fsync(int fd) {
    (void)fd;
    pthread_mutex_lock(&disk.lock);
    disk.waiting++;
    pthread_cond_broadcast(&disk.changed);
    while (disk.hangs)
        pthread_cond_wait(&disk.changed, &disk.lock);
    disk.waiting--;
    disk.done++;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.lock);
    return 0;
}

static void let_it_hang(void) {
    pthread_mutex_lock(&disk.lock);
    disk.hangs = true;
    pthread_mutex_unlock(&disk.lock);
}

// Waits until so many calls have ended since then.
static void let_it_go(int calls) {
    pthread_mutex_lock(&disk.lock);
    disk.hangs = false;
    pthread_cond_broadcast(&disk.changed);
    for (int until = disk.done + calls; disk.done < until;)
        pthread_cond_wait(&disk.changed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
}

static void wait_until_it_hangs(int threads) {
    pthread_mutex_lock(&disk.lock);
    while (disk.waiting < threads)
        pthread_cond_wait(&disk.changed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
}

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
    const struct timespec until = kept_file_patience();
    place->file = kept_file_free(place->file, &until);
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
    const struct timespec until = kept_file_patience();
    kept_file_free(place->file, &until);
    assert_int_equal(kept_file_new(place->folder, "verdicts", &place->file), 0);
}

static void expect(struct place *place, const char *text) {
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

static void test_a_disk_that_is_full_leaves_the_old_file(void **state) {
    (void)state;
    struct place place;
    struct rlimit before, small;
    begin(&place);
    put(&place, "one");
    again(&place);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    put(&place, "two, which has no room");
    again(&place);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect(&place, "one");
    assert_int_equal(access(place.beside, F_OK), -1);
    put(&place, "three, for which there is room again");
    again(&place);
    expect(&place, "three, for which there is room again");
    end(&place);
}

static void test_what_a_crash_left_beside_the_file_is_in_nobodys_way(void **state) {
    (void)state;
    struct place place;
    begin(&place);
    put(&place, "one");
    again(&place);
    int fd = open(place.beside, O_WRONLY | O_CREAT, 0400);
    assert_int_equal(write(fd, "hal", 3), 3);
    assert_int_equal(close(fd), 0);
    expect(&place, "one");
    put(&place, "two");
    again(&place);
    expect(&place, "two");
    end(&place);
}

static void test_a_folder_that_nobody_can_write_to_ends_nothing(void **state) {
    (void)state;
    struct kept_file *file;
    assert_int_equal(kept_file_new("/proc/self", "verdicts", &file), 0);
    for (int i = 0; i < 3; i++)
        put(&(struct place){.file = file}, "one");
    const struct timespec until = kept_file_patience();
    assert_null(kept_file_free(file, &until));
}

// The service has five seconds to end in: all files together may take two.
static void test_a_disk_that_hangs_is_given_up_and_the_files_wait_together(void **state) {
    (void)state;
    struct place places[2];
    let_it_hang();
    for (int i = 0; i < 2; i++) {
        begin(&places[i]);
        put(&places[i], "one");
    }
    wait_until_it_hangs(2);
    put(&places[0], "two"); // the next ones wait in memory, and delay nobody
    struct timespec until, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    for (int i = 0; i < 2; i++)
        kept_file_end(places[i].file);
    for (int i = 0; i < 2; i++)
        assert_null(kept_file_free(places[i].file, &until));
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    assert_true(now.tv_sec >= until.tv_sec); // it has waited for all of its time, and came back while the disk hangs
    let_it_go(3 * 2);                        // of three files and their folders; then the threads end by themselves
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kept_file_new(places[i].folder, "verdicts", &places[i].file), 0);
        expect(&places[i], i == 0 ? "two" : "one");
        end(&places[i]);
    }
}

// It may be good: the disk was busy with something else when the host began.
static void test_a_file_that_could_not_be_read_in_time_is_not_written_over(void **state) {
    (void)state;
    struct place place;
    char unread[128], text[8] = "";
    uint8_t *bytes = NULL;
    size_t n;
    begin(&place);
    (void)snprintf(unread, sizeof unread, "%s.unread", place.path);
    let_it_hang();
    put(&place, "one");
    wait_until_it_hangs(1);
    assert_int_equal(kept_file_read(place.file, 100, &bytes, &n), -ETIMEDOUT);
    assert_null(bytes);
    let_it_go(2); // of the file and its folder
    put(&place, "two");
    again(&place);
    expect(&place, "two");
    int fd = open(unread, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 3);
    assert_string_equal(text, "one");
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(unread), 0);
    put(&place, "three");
    again(&place);
    expect(&place, "three");
    assert_int_equal(access(unread, F_OK), -1); // this one was read, or nobody wanted it
    end(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_last_is_there_after_the_end),
        cmocka_unit_test(test_what_is_no_small_regular_file_is_not_read),
        cmocka_unit_test(test_a_link_beside_the_file_is_not_followed),
        cmocka_unit_test(test_a_folder_that_is_not_there_yet_is_tried_again),
        cmocka_unit_test(test_a_disk_that_is_full_leaves_the_old_file),
        cmocka_unit_test(test_what_a_crash_left_beside_the_file_is_in_nobodys_way),
        cmocka_unit_test(test_a_folder_that_nobody_can_write_to_ends_nothing),
        cmocka_unit_test(test_a_disk_that_hangs_is_given_up_and_the_files_wait_together),
        cmocka_unit_test(test_a_file_that_could_not_be_read_in_time_is_not_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
