// SPDX-License-Identifier: Apache-2.0
//
// Files: the main one, the drop-ins beside it, shipped files, and unreadable ones.
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

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

#define MERGE "tests/data/config/merge"
#define ERRORS "tests/data/config/errors"

static struct config *load(const char *path) {
    struct errors errors = {0};
    struct config *config = NULL;
    char line[ERROR_LINE_MAX];
    int r = config_load(path, &errors, &config);
    for (size_t i = 0; i < errors.n; i++) {
        (void)error_format(&errors.items[i], line, sizeof line);
        print_error("%s\n", line);
    }
    assert_int_equal(r, 0);
    assert_non_null(config);
    return config;
}

static void assert_error(const struct errors *errors, size_t i, const char *expected) {
    char line[ERROR_LINE_MAX] = "";
    (void)error_format(&errors->items[i], line, sizeof line);
    assert_string_equal(line, expected);
}

static void refuse(const char *path, const char *expected) {
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_load(path, &errors, &config), -EINVAL);
    assert_null(config);
    assert_error(&errors, 0, expected);
    assert_int_equal(errors.n, 1);
}

static void test_drop_ins_are_read_in_lexical_order(void **state) {
    (void)state;
    struct config *config = load(MERGE "/topdownd.yaml");
    static const char *const files[] = {MERGE "/topdownd.yaml", MERGE "/conf.d/10-first.yaml",
                                        MERGE "/conf.d/20-second.yaml", MERGE "/conf.d/30-empty.yaml"};
    assert_int_equal(config->n_files, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(config->files[i], files[i]);
    config_free(config);
}

static void test_scalars_replace_maps_merge_and_lists_replace(void **state) {
    (void)state;
    struct config *config = load(MERGE "/topdownd.yaml");
    assert_int_equal(config->n_listen, 2); // nobody changes it
    assert_int_equal(config->n_profiles, 4);
    const struct config_profile *database = &config->profiles[0], *batch = &config->profiles[2];
    assert_string_equal(database->name, "database");
    assert_string_equal(config->profiles[1].name, "off");
    assert_string_equal(batch->name, "batch");
    assert_string_equal(config->profiles[3].name, "default");
    assert_true(database->settings.slot_ns == 500000000); // the last file's
    assert_true(database->settings.idle == 0.2);          // the first one's
    assert_int_equal(config->forced_profile, 2);
    assert_int_equal(database->n_groups, 2);
    assert_string_equal(database->groups[0].name, "MPKI");
    assert_int_equal(database->groups[0].weight, 2);
    assert_string_equal(database->groups[1].name, "stage_1");
    assert_int_equal(database->groups[1].weight, 3);
    assert_int_equal(config->n_hosts, 1);
    assert_null(config->hosts[0].hostname);
    assert_string_equal(config->hosts[0].cpu, "software");
    assert_int_equal(config->hosts[0].profile, 2);
    config_free(config);
}

static void test_an_origin_names_the_file_that_had_the_last_word(void **state) {
    (void)state;
    struct config *config = load(MERGE "/topdownd.yaml");
    const struct config_origin *origin = &config->profiles[0].groups[1].origin;
    assert_string_equal(origin->file, MERGE "/conf.d/10-first.yaml");
    assert_int_equal(origin->line, 5);
    assert_int_equal(origin->column, 20);
    config_free(config);
}

static void test_one_file_and_the_same_in_pieces_have_one_hash(void **state) {
    (void)state;
    static const char text[] = "hosts: [{profile: batch, match: {cpu: software}}]\n"
                               "slot: 500ms\n"
                               "profile: batch\n"
                               "listen: [\"127.0.0.1:10813\", \"[::1]:10813\"]\n"
                               "profiles:\n"
                               "  batch: {groups: [General]}\n"
                               "  database: {idle: 20%, weights: {MPKI: 2, stage_1: 3}, groups: [MPKI, stage_1]}\n"
                               "  off: {groups: []}\n";
    struct errors errors = {0};
    struct config *pieces = load(MERGE "/topdownd.yaml"), *whole = NULL;
    assert_int_equal(config_parse("whole.yaml", text, strlen(text), &errors, &whole), 0);
    assert_true(pieces->hash == whole->hash);
    config_free(pieces);
    config_free(whole);
}

static void test_mistakes_in_several_files_are_shown_together(void **state) {
    (void)state;
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_load(ERRORS "/topdownd.yaml", &errors, &config), -EINVAL);
    assert_int_equal(errors.n, 3);
    assert_error(&errors, 0,
                 ERRORS "/conf.d/20-slot.yaml:3:1: unknown key \"prfile\": did you mean \"profile\"? known here are "
                        "listen, probe, profile, profiles, hosts, slot, interval, idle, cpus, counters, guests, mode, "
                        "evidence, standard_error, max_series, max_cpu_series, specs, record, textfile, uncore");
    assert_error(&errors, 1, ERRORS "/conf.d/20-slot.yaml:2:7: slot: \"200\" has no unit: write 200ms");
    assert_error(&errors, 2,
                 ERRORS "/topdownd.yaml:3:49: weights: this profile's groups have no \"MPKI\": add it to groups, or "
                        "remove its weight");
}

static void test_a_path_without_a_folder_has_its_drop_ins_here(void **state) {
    (void)state;
    char *home = getcwd(NULL, 0);
    assert_non_null(home);
    assert_int_equal(chdir(MERGE), 0);
    struct config *config = load("topdownd.yaml");
    assert_int_equal(chdir(home), 0);
    free(home);
    assert_int_equal(config->n_files, 4);
    assert_string_equal(config->files[1], "conf.d/10-first.yaml");
    config_free(config);
}

static void test_an_empty_device_means_all_defaults(void **state) {
    (void)state;
    struct config *config = load("/dev/null");
    assert_int_equal(config->n_profiles, 1);
    assert_string_equal(config->profiles[0].name, "default");
    config_free(config);
}

static void test_what_cannot_be_read_is_said(void **state) {
    (void)state;
    refuse("tests/data/config/absent.yaml", "tests/data/config/absent.yaml: cannot be read: No such file or directory");
    refuse("tests/data/config", "tests/data/config: cannot be read: Is a directory");
    refuse("/dev/zero", "/dev/zero: cannot be read: it is larger than 1048576 bytes");
}

// A new folder of its own for each test that writes.
struct folder {
    char path[128];
};

static int set_up_folder(void **state) {
    static struct folder folder;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(folder.path, sizeof folder.path, "%s/topdownd-test-XXXXXX", parent ? parent : P_tmpdir);
    *state = &folder;
    return mkdtemp(folder.path) ? 0 : -1;
}

static int tear_down_folder(void **state) {
    const struct folder *folder = *state;
    char command[160];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder->path);
    return system(command);
}

static const char *path_in(const struct folder *folder, const char *name) {
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void refuse_in(const struct folder *folder, const char *name, const char *reason) {
    char path[256], expected[ERROR_LINE_MAX];
    (void)snprintf(path, sizeof path, "%s", path_in(folder, "topdownd.yaml"));
    (void)snprintf(expected, sizeof expected, "%s%s", path_in(folder, name), reason);
    refuse(path, expected);
}

static void test_a_fifo_is_refused_and_not_waited_for(void **state) {
    const struct folder *folder = *state;
    assert_int_equal(mkfifo(path_in(folder, "topdownd.yaml"), 0600), 0);
    refuse_in(folder, "topdownd.yaml", ": cannot be read: it is not a regular file");
}

static void test_a_file_larger_than_a_mebibyte_is_refused(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "");
    assert_int_equal(truncate(path_in(folder, "topdownd.yaml"), YAML_TREE_BYTES_MAX + 1), 0);
    refuse_in(folder, "topdownd.yaml", ": cannot be read: it is larger than 1048576 bytes");
}

static void test_a_drop_in_that_is_none_is_refused(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "");
    assert_int_equal(mkdir(path_in(folder, "conf.d"), 0700), 0);
    assert_int_equal(mkdir(path_in(folder, "conf.d/a.yaml"), 0700), 0);
    refuse_in(folder, "conf.d/a.yaml", ": cannot be read: Is a directory");
}

static void test_a_conf_d_that_is_no_folder_is_refused(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "");
    write_file(path_in(folder, "conf.d"), "");
    refuse_in(folder, "conf.d", ": cannot be read: Not a directory");
}

static void test_a_broken_file_hides_no_other_broken_file(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "profile: batch\nslot: [\n");
    assert_int_equal(mkdir(path_in(folder, "conf.d"), 0700), 0);
    write_file(path_in(folder, "conf.d/a.yaml"), "idle: &a 10%");
    struct errors errors = {0};
    struct config *config = NULL;
    assert_int_equal(config_load(path_in(folder, "topdownd.yaml"), &errors, &config), -EINVAL);
    assert_int_equal(errors.n, 2); // and nothing about profile batch, which the rest of the file may define
    assert_string_equal(errors.items[0].file, path_in(folder, "topdownd.yaml"));
    assert_int_equal(errors.items[0].line, 3);
    assert_string_equal(errors.items[1].file, path_in(folder, "conf.d/a.yaml"));
    assert_int_equal(errors.items[1].column, 7);
}

static void test_256_files_are_read_and_more_refused(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "");
    assert_int_equal(mkdir(path_in(folder, "conf.d"), 0700), 0);
    for (int i = 1; i < CONFIG_FILES_MAX; i++) {
        char name[32], text[32];
        (void)snprintf(name, sizeof name, "conf.d/%d.yaml", i);
        (void)snprintf(text, sizeof text, "slot: %dms", 100 + i);
        write_file(path_in(folder, name), text);
    }
    struct config *config = load(path_in(folder, "topdownd.yaml"));
    assert_int_equal(config->n_files, 256);
    assert_true(config->profiles[0].settings.slot_ns == 199000000); // 99.yaml is the last in the order of bytes
    config_free(config);
    write_file(path_in(folder, "conf.d/a.yaml"), "");
    refuse_in(folder, "conf.d", ": more than 255 files");
}

static void test_all_files_together_have_20000_values(void **state) {
    const struct folder *folder = *state;
    write_file(path_in(folder, "topdownd.yaml"), "");
    assert_int_equal(mkdir(path_in(folder, "conf.d"), 0700), 0);
    char text[2 * 10000 + 16];
    (void)strcpy(text, "hosts: [");
    for (size_t i = 0; i < 10000; i++)
        (void)memcpy(text + 8 + 2 * i, "a,", 2);
    (void)strcpy(text + 8 + 20000, "]");
    write_file(path_in(folder, "conf.d/a.yaml"), text);
    write_file(path_in(folder, "conf.d/b.yaml"), text);
    // The first takes 10,002 (its mapping, its list, its items); the second has 9,996 items left, from column 9 on.
    refuse_in(folder, "conf.d/b.yaml", ":1:20001: more than 20000 values in all files");
}

static void test_the_shipped_file_loads_and_says_what_is_the_default(void **state) {
    (void)state;
    struct config *shipped = load("config/topdownd.yaml"), *implied = load("/dev/null");
    assert_int_equal(shipped->n_listen, implied->n_listen);
    assert_string_equal(shipped->listen[0].text, implied->listen[0].text);
    assert_int_equal(shipped->n_profiles, 1);
    assert_int_equal(shipped->profiles[0].n_groups, implied->profiles[0].n_groups);
    for (size_t i = 0; i < implied->profiles[0].n_groups; i++)
        assert_string_equal(shipped->profiles[0].groups[i].name, implied->profiles[0].groups[i].name);
    assert_true(shipped->profiles[0].settings.slot_ns == implied->profiles[0].settings.slot_ns);
    assert_true(shipped->profiles[0].settings.idle == implied->profiles[0].settings.idle);
    config_free(shipped);
    config_free(implied);
}

static void assert_example_loads(const char *text, size_t length, unsigned line) {
    struct errors errors = {0};
    struct config *config = NULL;
    char error[ERROR_LINE_MAX] = "";
    int r = config_parse("example", text, length, &errors, &config);
    if (r < 0)
        (void)error_format(&errors.items[0], error, sizeof error);
    if (r < 0)
        print_error("the example that begins in line %u: %s\n", line, error);
    assert_int_equal(r, 0);
    config_free(config);
}

// Examples stand between .Bd -literal and .Ed; "\-" is how a manual writes "-".
static void test_every_example_of_the_manual_loads(void **state) {
    (void)state;
    FILE *manual = fopen("docs/topdownd.yaml.5", "r");
    assert_non_null(manual);
    char line[512], example[4096];
    size_t length = 0, n_examples = 0;
    unsigned number = 0, first = 0;
    while (fgets(line, sizeof line, manual)) {
        number++;
        if (strncmp(line, ".Bd -literal", strlen(".Bd -literal")) == 0) {
            first = number;
            length = 0;
        } else if (strcmp(line, ".Ed\n") == 0) {
            assert_example_loads(example, length, first);
            n_examples++;
            first = 0;
        } else if (first > 0) {
            assert_true(length + strlen(line) < sizeof example);
            for (const char *c = line; *c != '\0'; c++)
                if (c[0] != '\\' || c[1] != '-')
                    example[length++] = *c;
        }
    }
    assert_int_equal(fclose(manual), 0);
    assert_int_equal(first, 0);
    assert_in_range(n_examples, 4, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drop_ins_are_read_in_lexical_order),
        cmocka_unit_test(test_scalars_replace_maps_merge_and_lists_replace),
        cmocka_unit_test(test_an_origin_names_the_file_that_had_the_last_word),
        cmocka_unit_test(test_one_file_and_the_same_in_pieces_have_one_hash),
        cmocka_unit_test(test_mistakes_in_several_files_are_shown_together),
        cmocka_unit_test(test_a_path_without_a_folder_has_its_drop_ins_here),
        cmocka_unit_test(test_an_empty_device_means_all_defaults),
        cmocka_unit_test(test_what_cannot_be_read_is_said),
        cmocka_unit_test_setup_teardown(test_a_fifo_is_refused_and_not_waited_for, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_file_larger_than_a_mebibyte_is_refused, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_drop_in_that_is_none_is_refused, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_conf_d_that_is_no_folder_is_refused, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_a_broken_file_hides_no_other_broken_file, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_256_files_are_read_and_more_refused, set_up_folder, tear_down_folder),
        cmocka_unit_test_setup_teardown(test_all_files_together_have_20000_values, set_up_folder, tear_down_folder),
        cmocka_unit_test(test_the_shipped_file_loads_and_says_what_is_the_default),
        cmocka_unit_test(test_every_example_of_the_manual_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
