// SPDX-License-Identifier: Apache-2.0
#include "core/host/cpu_names.h"

#include "config/spec/cpu_map_json.h"
#include "tests/unit/core_check.h"

// The names of CPUs that are sold lead to their spec, and to no other; of a hybrid CPU to those of all its cores.

static struct cpu_map map;

static int map_setup(void **state) {
    (void)state;
    struct errors errors = {0};
    return cpu_map_json_load("specs/cpus.json", &errors, &map);
}

static int map_teardown(void **state) {
    (void)state;
    cpu_map_deinit(&map);
    return 0;
}

// The specs of all rows that are called so, in the order of the map, with a space after each.
static void specs_of(const char *name, char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = 0; i < map.n; i++) {
        size_t length = strlen(out);
        if (cpu_row_is_called(&map.rows[i], name) && !strstr(out, map.rows[i].spec))
            (void)snprintf(out + length, size - length, "%s%s", length > 0 ? " " : "", map.rows[i].spec);
    }
}

static const struct {
    const char *name, *specs;
} sold[] = {
    {"Graviton 4", "neoverse-v2"},
    {"AWS Graviton2", "neoverse-n1"},
    {"graviton3e", "neoverse-v1"},
    {"Graviton5", "neoverse-v3"},
    {"Ampere Altra", "neoverse-n1"},
    {"Azure Cobalt 100", "neoverse-n2"},
    {"Cobalt 200", "neoverse-v3"},
    {"NVIDIA Grace", "neoverse-v2"},
    {"Google Axion N4A", "neoverse-n3"},
    {"AmpereOne", "ampereone"},
    {"NVIDIA Vera", "olympus"},
    {"HUAWEI Kunpeng 920", "kunpeng-920"},
    {"Fujitsu A64FX", "a64fx"},
    {"Monaka", "monaka"},
    {"Xeon X5570", "nehalem-ep"},
    {"Intel(R) Xeon(R) CPU           E5520  @ 2.27GHz", "nehalem-ep"},
    {"Xeon X5690", "westmere-ep"},
    {"Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", "sandy-bridge-ep"},
    {"Xeon E5-2670", "sandy-bridge-ep"},
    {"Xeon E5-2687W", "sandy-bridge-ep"},
    {"Xeon E5-2697 v2", "ivy-bridge-ep"},
    {"Xeon E7-8890v3", "haswell-ep"},
    {"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "broadwell-ep"},
    {"Xeon Gold 6148", "skylake-sp"},
    {"Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz", "cascade-lake"},
    {"Xeon 8380H", "cascade-lake"}, // Cooper Lake
    {"Xeon 9242", "cascade-lake"},
    {"Xeon 8380", "ice-lake-sp"},
    {"Xeon Gold 6338N", "ice-lake-sp"},
    {"Xeon D-2796NT", "ice-lake-sp"},
    {"Xeon 8480", "sapphire-rapids"},
    {"Intel(R) Xeon(R) Platinum 8480+", "sapphire-rapids"},
    {"Xeon Max 9480", "sapphire-rapids"},
    {"Xeon w9-3495X", "sapphire-rapids"},
    {"Xeon 8592+", "emerald-rapids"},
    {"Xeon Platinum 8558P", "emerald-rapids"},
    {"Xeon Gold 6530", "emerald-rapids"},
    {"Xeon 6 6980P", "granite-rapids"},
    {"Intel(R) Xeon(R) 6530P", "granite-rapids"},
    {"Xeon 6780E", "sierra-forest"},
    {"Xeon 6 6766E", "sierra-forest"},
    {"AMD EPYC 7551 32-Core Processor", "zen1"},
    {"Hygon Dhyana", "zen1"},
    {"Xeon 6990E+", "clearwater-forest"},
    {"13th Gen Intel(R) Core(TM) i9-13900K", "golden-cove gracemont"},
    {"Core i7-1260P", "golden-cove gracemont"},
    {"Intel(R) N100", "gracemont"},
    {"Intel(R) Core(TM) i3-N305", "gracemont"},
    {"Intel(R) Core(TM) Ultra 7 155H", "redwood-cove crestmont"},
    {"Core Ultra 7 258V", "lion-cove skymont"},
    {"Intel(R) Core(TM) Ultra 9 285K", "lion-cove skymont"},
    {"Core Ultra X9 388H", "cougar-cove darkmont"},
    {"Panther Lake", "cougar-cove darkmont"},
    {"EPYC 7742", "zen2"},
    {"AMD EPYC 7H12 64-Core Processor", "zen2"},
    {"AMD EPYC 7763 64-Core Processor", "zen3"},
    {"EPYC 7R13", "zen3"},
    {"EPYC 9654", "zen4"},
    {"AMD EPYC 9B14", "zen4"},
    {"AMD EPYC 8324P 32-Core Processor", "zen4"},
    {"epyc 9755", "zen5"},
    {"AMD EPYC 4565P 16-Core Processor", "zen5"},
    {"Venice", "zen6"},
    {"Milan", "zen3"},
    {"POWER", "kernel-events"},
    {"POWER10", "kernel-events"},
    {"IBM z16", "kernel-events"},
    {"Apple M2 Max", "kernel-events"},
    {"Diamond Rapids", "intel-topdown"},
    {"Nova Lake", ""}, // Linux's files
    {"Xeon", ""},
    {"Intel", ""},
    {"", ""},
};

static void test_a_cpu_is_found_by_the_name_that_it_is_sold_under(void **state) {
    (void)state;
    for (size_t i = 0; i < N_OF(sold); i++) {
        char specs[256];
        specs_of(sold[i].name, specs, sizeof specs);
        if (strcmp(specs, sold[i].specs) != 0)
            fail_msg("'%s' is for '%s' and not for '%s'", sold[i].name, specs, sold[i].specs);
    }
}

static void test_the_files_of_linux_bear_the_names_of_their_cpus(void **state) {
    (void)state;
    static const char *const names[][2] = {{"Nova Lake", "x86/novalake"},
                                           {"Intel Tiger Lake", "x86/tigerlake"},
                                           {"Cortex-A78", "arm64/arm/cortex-a78"},
                                           {"ThunderX2", "arm64/cavium/thunderx2"}};
    for (size_t i = 0; i < N_OF(names); i++)
        assert_string_equal(cpu_map_files_called(&map, names[i][0]), names[i][1]);
    assert_null(cpu_map_files_called(&map, "Lake"));
    assert_null(cpu_map_files_called(&map, ""));
}

static void test_what_tells_names_apart_is_left_of_them(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"Intel(R) Xeon(R) Platinum 8480+", "xeon8480+"},     {"AMD EPYC 9654 96-Core Processor", "epyc965496core"},
        {"Intel(R) Core(TM) i9-13900K", "corei913900k"},      {"AMD Ryzen 7 5700U with Radeon Graphics", "ryzen75700u"},
        {"Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "xeone52680v4"}, {"  ", ""},
    };
    for (size_t i = 0; i < N_OF(names); i++) {
        char folded[64];
        cpu_name_fold(names[i][0], folded, sizeof folded);
        assert_string_equal(folded, names[i][1]);
    }
    char cut[5];
    cpu_name_fold("Graviton 4", cut, sizeof cut);
    assert_string_equal(cut, "grav");
}

// Folded names hold nothing else, so a pattern with another character never matches.
static void test_every_pattern_that_ships_is_one_of_folded_names(void **state) {
    (void)state;
    for (size_t i = 0; i < map.n; i++)
        for (size_t k = 0; k < map.rows[i].n_sold_as; k++)
            assert_int_equal(strspn(map.rows[i].sold_as[k], "abcdefghijklmnopqrstuvwxyz0123456789+?*[!-]"),
                             strlen(map.rows[i].sold_as[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cpu_is_found_by_the_name_that_it_is_sold_under),
        cmocka_unit_test(test_the_files_of_linux_bear_the_names_of_their_cpus),
        cmocka_unit_test(test_what_tells_names_apart_is_left_of_them),
        cmocka_unit_test(test_every_pattern_that_ships_is_one_of_folded_names),
    };
    return cmocka_run_group_tests(tests, map_setup, map_teardown);
}
