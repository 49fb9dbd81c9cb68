// SPDX-License-Identifier: Apache-2.0
//
// Files that stay open: of the kernel's own file systems only, as new as their names at each read, opened by name again
// once the kernel has removed them.

#include "tests/unit/host_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/host/host_isolated.h"
#include "collectors/host/host_platform.h"

static size_t count_fds(void) {
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void test_a_file_of_the_kernel_is_opened_once_and_always_new(void **state) {
    (void)state;
    static const char path[] = "/proc/self/comm";
    char name[32], text[64];
    struct host_files *kept = host_files_new();
    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    size_t before = count_fds();
    for (int i = 0; i < 3; i++) {
        char now[32], expected[64];
        (void)snprintf(now, sizeof now, "kept %d", i);
        (void)snprintf(expected, sizeof expected, "%s\n", now);
        assert_int_equal(prctl(PR_SET_NAME, now), 0);
        assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), strlen(expected));
        assert_string_equal(text, expected);
        assert_int_equal(host_files_n_open(kept), 1);
    }
    assert_int_equal(count_fds(), before + 1);
    assert_int_equal(host_file_read_kept(kept, path, text, 4), 3); // text beyond the buffer is ignored
    assert_string_equal(text, "kep");
    host_files_free(kept);
    assert_int_equal(count_fds(), before);
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

// The files of a process that has ended are removed like those of a CPU that is taken out.
static void test_a_file_that_the_kernel_removes_is_closed(void **state) {
    (void)state;
    char path[64], text[512];
    int ends[2], status;
    struct host_files *kept = host_files_new();
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], text, 1) == 0 ? 0 : 1);
    }
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    assert_true(host_file_read_kept(kept, path, text, sizeof text) > 0);
    assert_int_equal(host_files_n_open(kept), 1);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), -ENOENT);
        assert_int_equal(host_files_n_open(kept), 0);
    }
    close(ends[0]);
    host_files_free(kept);
}

// A program may replace such a file by another one of the same name, which an open file would not show.
static void test_a_file_of_another_file_system_is_opened_by_name_each_time(void **state) {
    const struct host_tree *tree = *state;
    char path[300], other[300], text[64];
    struct host_files *kept = host_files_new();
    (void)snprintf(path, sizeof path, "%s/file", tree->root);
    (void)snprintf(other, sizeof other, "%s/other", tree->root);
    assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), -ENOENT);
    host_tree_write(tree, "file", "one\n");
    assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), 4);
    host_tree_write(tree, "other", "another\n");
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), 8);
    assert_string_equal(text, "another\n");
    assert_int_equal(host_files_n_open(kept), 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(host_file_read_kept(kept, path, text, sizeof text), -ENOENT);
    host_files_free(kept);
}

static void test_more_files_than_there_is_room_for_are_read_all_the_same(void **state) {
    (void)state;
    struct host_files *kept = host_files_new();
    for (int i = 0; i < 2 * HOST_FILES_MAX; i++) {
        char path[128], text[512], slashes[2 * HOST_FILES_MAX + 1];
        memset(slashes, '/', sizeof slashes); // each path has other ones
        (void)snprintf(path, sizeof path, "/proc%.*sself/stat", i + 1, slashes);
        assert_true(host_file_read_kept(kept, path, text, sizeof text) > 0);
    }
    assert_int_equal(host_files_n_open(kept), HOST_FILES_MAX);
    host_files_free(kept);
}

// Below sysfs only the kernel makes files, so what is missing there need not be looked for each time; anywhere else it
// is there as soon as somebody makes it.
static void test_a_missing_file_is_found_as_soon_as_a_program_can_have_made_it(void **state) {
    const struct host_tree *tree = *state;
    char path[300], text[64];
    struct host_files *kept = host_files_new();
    for (int i = 0; i < 3 * HOST_FILE_MISSING_READS; i++)
        assert_int_equal(host_file_read_mounted(kept, "/sys/devices/system/cpu/none", text, sizeof text), -ENOENT);
    ssize_t length = host_file_read_mounted(kept, "/proc/self/comm", text, sizeof text);
    assert_int_equal(length, strlen(text));
    (void)snprintf(path, sizeof path, "%s/fs/cgroup/cpuset.cpus.isolated", tree->root);
    for (int i = 0; i < 3; i++)
        assert_int_equal(host_file_read_mounted(kept, path, text, sizeof text), -ENOENT);
    host_tree_write(tree, "fs/cgroup/cpuset.cpus.isolated", "2-3\n");
    assert_int_equal(host_file_read_mounted(kept, path, text, sizeof text), 4);
    host_files_free(kept);
}

static void test_the_size_of_an_open_folder_is_always_new(void **state) {
    const struct host_tree *tree = *state;
    char path[300];
    struct stat status, fresh;
    struct host_files *kept = host_files_new();
    assert_int_equal(host_file_stat(kept, "/proc/self/fd", &status), 0);
    for (int i = 0; i < 2; i++) {
        int fd = dup(0);
        assert_true(fd >= 0);
        assert_int_equal(host_file_stat(kept, "/proc/self/fd", &status), 0);
        assert_int_equal(stat("/proc/self/fd", &fresh), 0);
        assert_int_equal(status.st_size, fresh.st_size);
        close(fd);
    }
    assert_int_equal(host_files_n_open(kept), 1);
    (void)snprintf(path, sizeof path, "%s/file", tree->root);
    assert_int_equal(host_file_stat(kept, path, &status), -ENOENT);
    host_tree_write(tree, "file", "four");
    assert_int_equal(host_file_stat(kept, path, &status), 0);
    assert_int_equal(status.st_size, 4);
    host_files_free(kept);
}

static void test_nothing_stays_open_where_nobody_keeps_it(void **state) {
    (void)state;
    char text[512];
    size_t before = count_fds();
    assert_true(host_file_read_kept(NULL, "/proc/self/stat", text, sizeof text) > 0);
    assert_int_equal(count_fds(), before);
}

// What a daemon reads of this host with files that stay open is what it would read by their names.
static void test_this_host_is_the_same_with_open_files(void **state) {
    (void)state;
    struct host_roots roots = {.sysfs = "/sys", .procfs = "/proc"};
    struct cpuset isolated;
    struct platform *platform, *again;
    host_isolated_cpus(&roots, &isolated);
    struct host_platform *collector = host_platform_new(&roots, NULL);
    assert_int_equal(host_platform_look(collector, 0, SIZE_MAX, &platform), 1);
    host_platform_free(collector);
    roots.kept = host_files_new();
    collector = host_platform_new(&roots, NULL);
    for (uint64_t pass = 0; pass < 2; pass++) {
        struct host_process process = {0};
        struct status_process now;
        struct cpuset kept;
        host_isolated_cpus(&roots, &kept);
        assert_memory_equal(&kept, &isolated, sizeof kept);
        host_linux_process(&roots, &process, &now);
        assert_true(now.virtual_bytes > now.resident_bytes && now.resident_bytes > 1e5);
        assert_int_equal(host_platform_look(collector, pass * 100000000000, SIZE_MAX, &again), 1);
        assert_true(platform_equal(platform, again));
        platform_unref(again);
    }
    assert_true(host_files_n_open(roots.kept) > 0);
    host_platform_free(collector);
    host_files_free(roots.kept);
    platform_unref(platform);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_of_the_kernel_is_opened_once_and_always_new),
        cmocka_unit_test(test_a_file_that_the_kernel_removes_is_closed),
        cmocka_unit_test_setup_teardown(test_a_file_of_another_file_system_is_opened_by_name_each_time, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test(test_more_files_than_there_is_room_for_are_read_all_the_same),
        cmocka_unit_test_setup_teardown(test_a_missing_file_is_found_as_soon_as_a_program_can_have_made_it,
                                        host_tree_setup, host_tree_teardown),
        cmocka_unit_test_setup_teardown(test_the_size_of_an_open_folder_is_always_new, host_tree_setup,
                                        host_tree_teardown),
        cmocka_unit_test(test_nothing_stays_open_where_nobody_keeps_it),
        cmocka_unit_test(test_this_host_is_the_same_with_open_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
