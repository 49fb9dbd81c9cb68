// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <unistd.h>

#include "collectors/uncore/memory_peak.h"
#include "collectors/uncore/smbios.h"

// The peak of a socket's memory: modules of made-up firmware tables, and channels of made-up EDAC files.

enum { DEVICE_BYTES = 0x5C };

struct table {
    uint8_t bytes[4096];
    size_t n;
};

static void put_word(uint8_t *at, unsigned word) {
    at[0] = (uint8_t)word;
    at[1] = (uint8_t)(word >> 8);
}

// A structure with two texts behind it.
static uint8_t *add(struct table *table, uint8_t type, uint8_t length) {
    static const char texts[] = "DIMM A1\0P0 CHANNEL A\0";
    uint8_t *structure = table->bytes + table->n;
    memset(structure, 0, length);
    structure[0] = type;
    structure[1] = length;
    memcpy(structure + length, texts, sizeof texts);
    table->n += length + sizeof texts;
    return structure;
}

static uint8_t *add_module(struct table *table, unsigned size, unsigned width, unsigned speed) {
    uint8_t *device = add(table, 17, DEVICE_BYTES);
    put_word(device + 0x08, width + 8); // with the bits of ECC
    put_word(device + 0x0A, width);
    put_word(device + 0x0C, size);
    put_word(device + 0x15, 6400); // what it could do
    put_word(device + 0x20, speed);
    device[0x28] = 3;
    return device;
}

static struct smbios_memory read_all(const struct table *table) {
    struct smbios_memory memory;
    smbios_read_memory(table->bytes, table->n, &memory);
    return memory;
}

static void test_modules_in_sockets_are_counted_with_the_lowest_speed(void **state) {
    (void)state;
    struct table table = {.n = 0};
    (void)add(&table, 4, 0x30); // a processor
    (void)add_module(&table, 0x7FFF, 64, 4800);
    (void)add_module(&table, 0, 64, 0); // an empty socket
    (void)add_module(&table, 32768, 64, 4400);
    (void)add(&table, 127, 4);
    (void)add_module(&table, 32768, 64, 100); // behind the end of the table
    struct smbios_memory memory = read_all(&table);
    assert_int_equal(memory.devices, 2);
    assert_int_equal(memory.width_bytes, 8);
    assert_int_equal(memory.transfers, 4400 * UINT64_C(1000000));
}

// Nobody knows which channels have the narrow or the slow modules, so all are taken for such.
static void test_of_unlike_modules_the_narrowest_and_the_slowest_count(void **state) {
    (void)state;
    for (int narrow_first = 0; narrow_first < 2; narrow_first++) {
        struct table table = {.n = 0};
        (void)add_module(&table, 32768, narrow_first ? 32 : 64, narrow_first ? 5600 : 4800);
        (void)add_module(&table, 32768, narrow_first ? 64 : 32, narrow_first ? 4800 : 5600);
        assert_int_equal(read_all(&table).width_bytes, 4);
        assert_int_equal(read_all(&table).transfers, 4800 * UINT64_C(1000000));
    }
}

static void test_persistent_memory_is_not_dram(void **state) {
    (void)state;
    struct table table = {.n = 0};
    (void)add_module(&table, 32768, 64, 2933);
    add_module(&table, 0x7FFF, 64, 2666)[0x28] = 7;
    assert_int_equal(read_all(&table).devices, 1);
    assert_int_equal(read_all(&table).transfers, 2933 * UINT64_C(1000000));
}

static void test_memory_in_the_package_is_not_that_of_channels(void **state) {
    (void)state;
    static const uint8_t types[] = {0x20, 0x21, 0x24}; // HBM to HBM3
    struct table table = {.n = 0};
    (void)add_module(&table, 32768, 64, 4800);
    for (size_t i = 0; i < sizeof types; i++)
        add_module(&table, 16384, 128, 3200)[0x12] = types[i];
    assert_int_equal(read_all(&table).devices, 1);
    assert_int_equal(read_all(&table).transfers, 4800 * UINT64_C(1000000));
}

static void test_a_speed_beyond_a_word_is_in_the_longer_field(void **state) {
    (void)state;
    struct table table = {.n = 0};
    uint8_t *module = add_module(&table, 32768, 64, 0xFFFF);
    put_word(module + 0x58, 70000 & 0xFFFF);
    put_word(module + 0x5A, 70000 >> 16);
    assert_int_equal(read_all(&table).transfers, 70000 * UINT64_C(1000000));
}

static void test_what_a_table_does_not_say_is_unknown(void **state) {
    (void)state;
    struct table table = {.n = 0};
    struct smbios_memory memory;
    smbios_read_memory(table.bytes, 0, &memory);
    assert_int_equal(memory.devices, 0);
    put_word(add(&table, 17, 0x15) + 0x0C, 4096); // of SMBIOS 2.1, without a speed
    assert_int_equal(read_all(&table).devices, 1);
    assert_int_equal(read_all(&table).transfers, 0);
    table.n = 0;
    (void)add_module(&table, 32768, 0xFFFF, 4800);
    assert_int_equal(read_all(&table).width_bytes, 0);
    for (size_t length = 0; length < table.n; length++) // a table that is cut anywhere
        smbios_read_memory(table.bytes, length, &memory);
    table.bytes[1] = 3; // shorter than its own header
    assert_int_equal(read_all(&table).devices, 0);
}

// ---- files ----

static void write_table(const struct host_tree *tree, const struct table *table) {
    char path[512];
    host_tree_write(tree, "firmware/dmi/tables/DMI", "");
    (void)snprintf(path, sizeof path, "%s/firmware/dmi/tables/DMI", tree->root);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(table->bytes, 1, table->n, file), table->n);
    (void)fclose(file);
}

static void test_a_channel_moves_its_width_at_each_transfer(void **state) {
    const struct host_tree *tree = *state;
    struct table table = {.n = 0};
    double bytes = 7;
    assert_int_equal(memory_peak_read_tables(&tree->roots, &bytes), -ENOENT);
    (void)add_module(&table, 32768, 64, 0);
    write_table(tree, &table);
    assert_int_equal(memory_peak_read_tables(&tree->roots, &bytes), -ENOENT); // no known speed
    assert_true(bytes == 7);
    table.n = 0;
    (void)add_module(&table, 32768, 64, 4800);
    write_table(tree, &table);
    assert_int_equal(memory_peak_read_tables(&tree->roots, &bytes), 0);
    assert_true(bytes == 38.4e9);
}

static void test_what_is_saved_is_read_again(void **state) {
    const struct host_tree *tree = *state;
    char path[512], victim[512];
    struct stat status;
    double bytes = 0;
    assert_int_equal(memory_peak_read_saved(tree->root, &bytes), -ENOENT);
    (void)snprintf(path, sizeof path, "%s/" MEMORY_CHANNEL_FILE, tree->root);
    (void)snprintf(victim, sizeof victim, "%s/victim", tree->root);
    host_tree_write(tree, "victim", "precious\n");
    assert_int_equal(symlink(victim, path), 0); // whoever owns the folder may have put it there
    mode_t before = umask(0077);
    assert_int_equal(memory_peak_save(tree->root, 38.4e9), 0);
    (void)umask(before);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode) && (status.st_mode & 0777) == 0644);
    assert_int_equal(stat(victim, &status), 0);
    assert_int_equal(status.st_size, strlen("precious\n"));
    assert_int_equal(memory_peak_read_saved(tree->root, &bytes), 0);
    assert_true(bytes == 38.4e9);
    host_tree_write(tree, MEMORY_CHANNEL_FILE, "fast\n");
    assert_int_equal(memory_peak_read_saved(tree->root, &bytes), -EINVAL);
    assert_int_equal(memory_peak_save("/nonexistent", 1), -ENOENT);
}

static void write_module(const struct host_tree *tree, unsigned controller, unsigned module, const char *size,
                         const char *location, const char *label) {
    const char *const files[][2] = {{"size", size}, {"dimm_location", location}, {"dimm_label", label}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "devices/system/edac/mc/mc%u/dimm%u/%s", controller, module, files[i][0]);
        host_tree_write(tree, name, files[i][1]);
    }
}

static void write_cpus(const struct host_tree *tree) {
    host_tree_write(tree, "devices/system/cpu/online", "0-1\n");
    host_tree_write_cpu(tree, 0, "0\n", "0\n");
    host_tree_write_cpu(tree, 1, "1\n", "1\n");
}

// i10nm_edac on Sapphire Rapids: four controllers a socket of two channels, one of them with two modules, one empty.
static void test_intels_modules_name_their_socket(void **state) {
    const struct host_tree *tree = *state;
    unsigned channels[MEMORY_PACKAGES_MAX];
    write_cpus(tree);
    for (unsigned mc = 0; mc < 8; mc++) {
        char label[64];
        (void)snprintf(label, sizeof label, "CPU_SrcID#%u_MC#%u_Chan#0_DIMM#0\n", mc % 2, mc / 2);
        write_module(tree, mc, 0, "32768\n", "channel 0 slot 0 \n", label);
        write_module(tree, mc, 1, mc == 3 ? "32768\n" : "0\n", "channel 0 slot 1 \n", label);
        write_module(tree, mc, 2, mc == 5 ? "0\n" : "32768\n", "channel 1 slot 0 \n", label);
    }
    memory_peak_count_channels(&tree->roots, channels);
    assert_int_equal(channels[0], 8);
    assert_int_equal(channels[1], 7);
    assert_int_equal(channels[2], 0);
}

// i10nm_edac on a Xeon Max: the controllers of HBM are among those of DRAM. Older kernels say so in the label alone.
static void test_hbm_and_persistent_memory_add_no_channel(void **state) {
    const struct host_tree *tree = *state;
    unsigned channels[MEMORY_PACKAGES_MAX];
    write_cpus(tree);
    write_module(tree, 0, 0, "32768\n", "channel 0 slot 0 \n", "CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n");
    write_module(tree, 0, 1, "131072\n", "channel 0 slot 1 \n", "CPU_SrcID#0_MC#0_Chan#0_DIMM#1\n");
    write_module(tree, 0, 2, "131072\n", "channel 1 slot 0 \n", "CPU_SrcID#0_MC#0_Chan#1_DIMM#0\n");
    write_module(tree, 1, 0, "1024\n", "channel 0 slot 0 \n", "CPU_SrcID#0_HBMC#0_Chan#0\n");
    write_module(tree, 2, 0, "1024\n", "channel 0 slot 0 \n", "CPU_SrcID#0_MC#9_Chan#0_DIMM#0\n");
    host_tree_write(tree, "devices/system/edac/mc/mc0/dimm0/dimm_mem_type", "Registered-DDR5\n");
    host_tree_write(tree, "devices/system/edac/mc/mc0/dimm1/dimm_mem_type", "Non-volatile-RAM\n");
    host_tree_write(tree, "devices/system/edac/mc/mc0/dimm2/dimm_mem_type", "Non-volatile-RAM\n");
    host_tree_write(tree, "devices/system/edac/mc/mc2/dimm0/dimm_mem_type", "High-bandwidth-memory-Gen2\n");
    memory_peak_count_channels(&tree->roots, channels);
    assert_int_equal(channels[0], 1);
}

// amd64_edac on Zen 4: one controller a socket, and a module for each chip select of a channel.
static void test_amds_controllers_are_numbered_socket_by_socket(void **state) {
    const struct host_tree *tree = *state;
    unsigned channels[MEMORY_PACKAGES_MAX];
    write_cpus(tree);
    for (unsigned mc = 0; mc < 2; mc++)
        for (unsigned module = 0; module < 24; module++) {
            char location[64];
            (void)snprintf(location, sizeof location, "csrow %u channel %u \n", module / 12, module % 12);
            write_module(tree, mc, module, mc == 1 && module % 12 > 9 ? "0\n" : "16384\n", location, "mc#0csrow#0\n");
        }
    memory_peak_count_channels(&tree->roots, channels);
    assert_int_equal(channels[0], 12);
    assert_int_equal(channels[1], 10);
}

static void test_nothing_is_said_of_channels_that_nothing_tells_of(void **state) {
    const struct host_tree *tree = *state;
    unsigned channels[MEMORY_PACKAGES_MAX];
    write_cpus(tree);
    memory_peak_count_channels(&tree->roots, channels); // no driver
    assert_int_equal(channels[0], 0);
    write_module(tree, 0, 0, "16384\n", "csrow 0 channel 0 \n", "mc#0\n"); // one controller for two sockets
    memory_peak_count_channels(&tree->roots, channels);
    assert_int_equal(channels[0] + channels[1], 0);
    write_module(tree, 0, 0, "16384\n", "memory 0 \n", "DIMM 0\n"); // ghes_edac knows modules alone
    memory_peak_count_channels(&tree->roots, channels);
    assert_int_equal(channels[0] + channels[1], 0);
}

int main(void) {
#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules_in_sockets_are_counted_with_the_lowest_speed),
        cmocka_unit_test(test_of_unlike_modules_the_narrowest_and_the_slowest_count),
        cmocka_unit_test(test_persistent_memory_is_not_dram),
        cmocka_unit_test(test_memory_in_the_package_is_not_that_of_channels),
        cmocka_unit_test(test_a_speed_beyond_a_word_is_in_the_longer_field),
        cmocka_unit_test(test_what_a_table_does_not_say_is_unknown),
        IN_A_TREE(test_a_channel_moves_its_width_at_each_transfer),
        IN_A_TREE(test_what_is_saved_is_read_again),
        IN_A_TREE(test_intels_modules_name_their_socket),
        IN_A_TREE(test_hbm_and_persistent_memory_add_no_channel),
        IN_A_TREE(test_amds_controllers_are_numbered_socket_by_socket),
        IN_A_TREE(test_nothing_is_said_of_channels_that_nothing_tells_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
