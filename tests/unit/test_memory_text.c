// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/memory/memory_text.h"

// The texts of the kernel's files about memory, and what is not one.

static void test_rows_are_found_by_their_whole_name(void **state) {
    (void)state;
    double hit = -1, faults = -1, local = -1, other = -1;
    const struct memory_row rows[] = {
        {"numa_hit", &hit}, {"numa_hint_faults", &faults}, {"numa_hint_faults_local", &local}, {"numa_x", &other}};
    assert_int_equal(memory_text_rows("numa_hit 18446744073709551615\nnuma_hint_faults 12\nnuma_hint_faults_local 7\n"
                                      "nr_numa_x 4\n",
                                      rows, 4),
                     0);
    assert_true(hit == 18446744073709551615.0);
    assert_true(faults == 12 && local == 7);
    assert_true(other == -1); // there is no such row
}

static void test_a_row_without_a_whole_number_is_wrong_and_the_others_are_read(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "numa_hit \n",    "numa_hit -1\n", "numa_hit 0x10\n", "numa_hit 7 8\n",
        "numa_hit 1e3\n", "numa_hit",      "numa_hit  7\n",   "numa_hit 18446744073709551616\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[128];
        double hit = NAN, miss = NAN;
        const struct memory_row rows[] = {{"numa_hit", &hit}, {"numa_miss", &miss}};
        (void)snprintf(text, sizeof text, "%s%snuma_miss 5\n", wrong[i], strchr(wrong[i], '\n') ? "" : "\n");
        int r = memory_text_rows(text, rows, 2);
        bool is_name_alone = strcmp(wrong[i], "numa_hit") == 0; // no row at all
        assert_int_equal(r, is_name_alone ? 0 : -EINVAL);
        assert_true(isnan(hit));
        assert_true(miss == 5);
    }
}

static void test_the_size_of_a_node_is_in_bytes(void **state) {
    (void)state;
    static const char text[] = "Node 12 MemTotal:       65536 kB\nNode 12 MemFree:        1024 kB\n"
                               "Node 12 MemFreeHuge:       1 kB\nNode 12 Odd:       x kB\n";
    assert_true(memory_text_size(text, "MemTotal") == 65536 * 1024.0);
    assert_true(memory_text_size(text, "MemFree") == 1024 * 1024.0);
    assert_true(isnan(memory_text_size(text, "MemUsed")));
    assert_true(isnan(memory_text_size(text, "Odd")));
    assert_true(isnan(memory_text_size("Node", "MemTotal")));
    assert_true(isnan(memory_text_size("Node 1", "MemTotal")));
    assert_true(isnan(memory_text_size("", "MemTotal")));
}

static void test_the_words_of_resctrl_are_not_numbers(void **state) {
    (void)state;
    double bytes = -1;
    assert_int_equal(memory_text_bytes("1234567890123\n", &bytes), MEMORY_TEXT_BYTES);
    assert_true(bytes == 1234567890123);
    static const char *const later[] = {"Unavailable\n", "Error\n"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        assert_int_equal(memory_text_bytes(later[i], &bytes), MEMORY_TEXT_UNAVAILABLE);
    assert_int_equal(memory_text_bytes("Unassigned\n", &bytes), MEMORY_TEXT_UNASSIGNED);
    static const char *const wrong[] = {"", "\n", "-3\n", "12 bytes\n", "unavailable\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(memory_text_bytes(wrong[i], &bytes), MEMORY_TEXT_WRONG);
    assert_true(bytes == 1234567890123);
}

// Bits of mbm_total_bytes_config (kernel, resctrl.rst): 0 to 3 are reads and non-temporal writes of both nodes, 4 and 5
// reads of slow memory, which few hosts have, 6 the dirty lines that leave the cache.
static void test_each_kind_of_bytes_is_needed_for_all_but_those_of_slow_memory(void **state) {
    (void)state;
    char text[32];
    assert_true(memory_text_counts_all("0=0x7f;1=0x4f\n"));
    for (unsigned bit = 0; bit < 7; bit++) {
        (void)snprintf(text, sizeof text, "0=0x7f;1=0x%x\n", 0x7fU & ~(1U << bit));
        assert_int_equal(memory_text_counts_all(text), bit == 4 || bit == 5);
        (void)snprintf(text, sizeof text, "0=0x%x;1=0x7f\n", 0x7fU & ~(1U << bit));
        assert_int_equal(memory_text_counts_all(text), bit == 4 || bit == 5);
    }
    static const char *const words[] = {"local_reads",
                                        "remote_reads",
                                        "local_non_temporal_writes",
                                        "remote_non_temporal_writes",
                                        "local_reads_slow_memory",
                                        "remote_reads_slow_memory",
                                        "dirty_victim_writes_all"};
    for (size_t without = 0; without <= sizeof words / sizeof *words; without++) {
        char list[256] = "";
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (i != without)
                (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] != '\0' ? "," : "",
                               words[i]);
        assert_int_equal(memory_text_counts_all(list), without == 4 || without == 5 || without == 7);
    }
}

static void test_folders_of_resctrl_have_numbers(void **state) {
    (void)state;
    unsigned number = 99;
    assert_true(memory_text_domain("mon_L3_00", &number) && number == 0);
    assert_true(memory_text_domain("mon_L3_4294967295", &number) && number == 4294967295U);
    assert_true(memory_text_part("mon_sub_L3_03", &number) && number == 3);
    static const char *const others[] = {"mon_L3_",         "mon_L3_x",      "mon_L3_4294967296",
                                         "mon_PERF_PKG_00", "mon_sub_L3_1a", "mon_L2_00"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(memory_text_domain(others[i], &number) || memory_text_part(others[i], &number));
    assert_false(memory_text_domain("mon_sub_L3_00", &number) || memory_text_part("mon_L3_00", &number));
    assert_int_equal(number, 3);
}

static void test_an_event_without_a_counter_is_told_by_domain(void **state) {
    (void)state;
    static const char text[] = "mbm_total_bytes:0=e;1=_;12=_\nmbm_local_bytes:0=_;1=e;12=e\n";
    static const struct {
        const char *event;
        unsigned domain;
        bool unassigned;
    } asked[] = {{"mbm_total_bytes", 0, false}, {"mbm_total_bytes", 1, true},  {"mbm_total_bytes", 12, true},
                 {"mbm_total_bytes", 2, false}, {"mbm_local_bytes", 0, true},  {"mbm_local_bytes", 1, false},
                 {"mbm_local", 0, false},       {"mbm_local_bytes", 12, false}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        assert_int_equal(memory_text_unassigned(text, asked[i].event, asked[i].domain), asked[i].unassigned);
    static const char *const wrong[] = {"",
                                        "\n",
                                        "mbm_total_bytes",
                                        "mbm_total_bytes:",
                                        "mbm_total_bytes:1",
                                        "mbm_total_bytes:1=",
                                        "mbm_total_bytes:x=_\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(memory_text_unassigned(wrong[i], "mbm_total_bytes", 1));
}

static void test_resctrl_is_found_among_the_mounts(void **state) {
    (void)state;
    char path[64];
    static const char mounts[] = "22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
                                 "23 22 0:6 / /mnt/resctrl rw - ext4 /dev/vda1 rw\n"
                                 "56 22 0:44 / /sys/fs/my\\040resctrl rw,relatime shared:30 - resctrl resctrl rw\n";
    assert_true(memory_text_resctrl(mounts, path, sizeof path));
    assert_string_equal(path, "/sys/fs/my resctrl");
    assert_false(memory_text_resctrl(mounts, path, 8)); // it does not fit
    static const char *const none[] = {"",
                                       "\n",
                                       "1 2 3\n - resctrl resctrl rw\n",
                                       " - resctrl resctrl\n",
                                       "22 27 0:20 / /sys rw - sysfs sysfs rw\n",
                                       "1 2 3 / \\000a rw - resctrl resctrl rw\n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(memory_text_resctrl(none[i], path, sizeof path));
}

static void test_the_place_of_a_dax_device_says_what_memory_it_is(void **state) {
    (void)state;
    assert_int_equal(
        memory_text_dax("../../../devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax0.0"),
        MEMORY_TEXT_DAX_CXL);
    assert_int_equal(memory_text_dax("../../../devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0/region1/dax1.0"),
                     MEMORY_TEXT_DAX_NVDIMM);
    assert_int_equal(memory_text_dax("../../../devices/platform/hmem.0/dax2.0"), MEMORY_TEXT_DAX_SPECIAL);
    assert_int_equal(memory_text_dax("../../../devices/other/dax3.0"), MEMORY_TEXT_DAX_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_found_by_their_whole_name),
        cmocka_unit_test(test_a_row_without_a_whole_number_is_wrong_and_the_others_are_read),
        cmocka_unit_test(test_the_size_of_a_node_is_in_bytes),
        cmocka_unit_test(test_the_words_of_resctrl_are_not_numbers),
        cmocka_unit_test(test_each_kind_of_bytes_is_needed_for_all_but_those_of_slow_memory),
        cmocka_unit_test(test_folders_of_resctrl_have_numbers),
        cmocka_unit_test(test_an_event_without_a_counter_is_told_by_domain),
        cmocka_unit_test(test_resctrl_is_found_among_the_mounts),
        cmocka_unit_test(test_the_place_of_a_dax_device_says_what_memory_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
