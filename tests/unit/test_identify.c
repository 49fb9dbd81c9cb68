// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec_json.h"
#include "core/identify.h"
#include "tests/unit/core_check.h"
#include "tests/unit/host_tree.h"

enum { SPECS_MAX = 64 };

// The specs that ship, and those of a host's PMU among them.
struct shipped {
    struct catalog *all[SPECS_MAX];
    size_t n_all;
    const struct catalog *arm[SPECS_MAX];
    size_t n_arm;
};

static int shipped_setup(void **state) {
    static struct errors errors;
    struct shipped *shipped = calloc(1, sizeof *shipped);
    glob_t files;
    if (!shipped || glob("specs/*.json", 0, NULL, &files) != 0)
        return -1;
    for (size_t i = 0; i < files.gl_pathc && shipped->n_all < SPECS_MAX; i++) {
        struct catalog **catalog = &shipped->all[shipped->n_all];
        if (strcmp(files.gl_pathv[i], "specs/cpus.json") == 0) // no spec: which spec is for which CPU
            continue;
        if (spec_json_load(files.gl_pathv[i], NULL, &errors, catalog) < 0) {
            print_error("%s: %s\n", files.gl_pathv[i], errors.items[0].text);
            return -1;
        }
        shipped->n_all++;
        if (strcmp((*catalog)->product.pmu, "armv*") == 0)
            shipped->arm[shipped->n_arm++] = *catalog;
    }
    globfree(&files);
    *state = shipped;
    return 0;
}

static int shipped_teardown(void **state) {
    struct shipped *shipped = *state;
    for (size_t i = 0; i < shipped->n_all; i++)
        catalog_free(shipped->all[i]);
    free(shipped);
    return 0;
}

static void test_every_core_gets_its_spec(void **state) {
    const struct shipped *shipped = *state;
    static const struct {
        uint32_t midr;
        const char *spec;
    } table[] = {
        {0x410fd0c0, "neoverse-n1"},      // r0p0
        {0x413fd0c1, "neoverse-n1"},      // r3p1: Graviton 2, Altra
        {0x414fd0c1, "neoverse-n1"},      // r4p1
        {0x410fd490, "neoverse-n2"},      // r0p0: Yitian 710
        {0x410fd491, "neoverse-n2"},      // r0p1
        {0x410fd492, "neoverse-n2"},      // r0p2
        {0x410fd493, "neoverse-n2-r0p3"}, // r0p3
        {0x410fd494, "neoverse-n2-r0p3"}, // revisions to come are like the last one known
        {0x411fd490, "neoverse-n2-r0p3"}, // r1p0 comes after r0p3
        {0x6d0fd490, "neoverse-n2"},      // Cobalt 100
        {0x6d0fd492, "neoverse-n2"},      {0x6d0fd493, "neoverse-n2-r0p3"}, {0x410fd400, "neoverse-v1"}, // r0p0
        {0x411fd401, "neoverse-v1"}, // r1p1: Graviton 3
        {0x410fd4f0, "neoverse-v2"}, // r0p0: Grace
        {0x410fd4f1, "neoverse-v2"}, // r0p1: Graviton 4
        {0x410fd830, "neoverse-v3"}, // V3AE
        {0x410fd840, "neoverse-v3"}, // r0p0
        {0x410fd841, "neoverse-v3"}, // r0p1
        {0x410fd8e0, "neoverse-n3"}, // r0p0
        {0x410fd8e1, "neoverse-n3"}, // r0p1
        {0x410fd8a0, "c1-nano"},     // r0p0
        {0x410fd8b0, "c1-pro"},      // r0p0
        {0x411fd8b1, "c1-pro"},      // r1p1
        {0x411fd8b2, "c1-pro"},      // r1p2
        {0x410fd8c0, "c1-ultra"},    // r0p0
        {0x410fd900, "c1-premium"},  // r0p0
        {0x410fd8d0, "armv8-pmuv3"}, // C1-SME2, a unit beside the cores that runs no program by itself
        {0x410fd083, "armv8-pmuv3"}, // Cortex-A72
        {0xc00fac30, "armv8-pmuv3"}, // AmpereOne
        {0x420fd490, "armv8-pmuv3"}, // the part number of another implementer means another core
        {0x6d0fd4f0, "armv8-pmuv3"}, // a part that this licensee is not known for
        {0x4100d490, "armv8-pmuv3"}, // the architecture field is part of the identity
        {0x00000000, "armv8-pmuv3"},      {0xffffffff, "armv8-pmuv3"},
    };
    for (size_t i = 0; i < N_OF(table); i++) {
        const struct catalog *catalog = catalog_choose_midr(shipped->arm, shipped->n_arm, table[i].midr);
        assert_non_null(catalog);
        if (strcmp(catalog->product.spec, table[i].spec) != 0)
            fail_msg("0x%08x: %s instead of %s", table[i].midr, catalog->product.spec, table[i].spec);
    }
}

static void test_no_two_specs_that_ship_want_the_same_core(void **state) {
    const struct shipped *shipped = *state;
    uint32_t seen[SPECS_MAX * 4];
    size_t n = 0;
    for (size_t i = 0; i < shipped->n_all; i++)
        for (size_t j = 0; j < shipped->all[i]->product.n_midrs; j++) {
            uint32_t midr = shipped->all[i]->product.midrs[j];
            for (size_t k = 0; k < n; k++)
                assert_int_not_equal(seen[k], midr);
            assert_true(n < N_OF(seen));
            seen[n++] = midr;
        }
    assert_true(n >= 7);
}

static void test_one_generic_spec_ships_for_each_pmu(void **state) {
    const struct shipped *shipped = *state;
    size_t n_arm = 0;
    for (size_t i = 0; i < shipped->n_all; i++)
        for (size_t j = 0; shipped->all[i]->product.generic && j < shipped->n_all; j++)
            if (shipped->all[j]->product.generic &&
                strcmp(shipped->all[i]->product.pmu, shipped->all[j]->product.pmu) == 0)
                assert_int_equal(i, j);
    for (size_t i = 0; i < shipped->n_arm; i++)
        n_arm += shipped->arm[i]->product.generic;
    assert_int_equal(n_arm, 1);
}

static struct catalog *catalog_for(const char *spec, bool generic, const uint32_t *midrs, size_t n) {
    struct catalog *catalog;
    struct catalog_error error;
    assert_int_equal(catalog_new(spec, "Acme", spec, spec, "anvil_pmu", &catalog), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(catalog_add_midr(catalog, midrs[i], &error), i);
    if (generic)
        catalog_set_generic(catalog);
    return catalog;
}

static void test_without_a_generic_spec_an_unknown_core_has_none(void **state) {
    (void)state;
    const uint32_t midr = 0x410fd4f1;
    struct catalog *catalog = catalog_for("a", false, &midr, 1);
    const struct catalog *const catalogs[] = {catalog};
    assert_ptr_equal(catalog_choose_midr(catalogs, 1, 0x410fd4f1), catalog);
    assert_null(catalog_choose_midr(catalogs, 1, 0x410fd4f0)); // an earlier revision than the spec is for
    assert_null(catalog_choose_midr(catalogs, 0, 0x410fd4f1));
    catalog_free(catalog);
}

static void test_of_equal_entries_the_first_spec_wins_and_a_generic_spec_can_have_entries(void **state) {
    (void)state;
    const uint32_t midr = 0x410fd4f0;
    struct catalog *a = catalog_for("a", true, NULL, 0), *b = catalog_for("b", true, &midr, 1),
                   *c = catalog_for("c", false, &midr, 1);
    const struct catalog *const forth[] = {a, b, c}, *const back[] = {c, b, a};
    assert_ptr_equal(catalog_choose_midr(forth, 3, midr), b);
    assert_ptr_equal(catalog_choose_midr(back, 3, midr), c);
    assert_ptr_equal(catalog_choose_midr(forth, 3, 0x410fd400), a);
    assert_ptr_equal(catalog_choose_midr(back, 3, 0x410fd400), b);
    catalog_free(a);
    catalog_free(b);
    catalog_free(c);
}

// Every variant and revision of an entry against every one of a CPU, decided digit by digit.
static void test_variant_counts_before_revision(void **state) {
    (void)state;
    size_t n = 0;
    for (unsigned v = 0; v < 16; v++)
        for (unsigned r = 0; r < 16; r++)
            for (unsigned cpu_v = 0; cpu_v < 16; cpu_v++)
                for (unsigned cpu_r = 0; cpu_r < 16; cpu_r++) {
                    bool wanted = cpu_v == v ? cpu_r >= r : cpu_v > v;
                    assert_int_equal(midr_matches(0x410fd490 | v << 20 | r, 0x410fd490 | cpu_v << 20 | cpu_r), wanted);
                    n += wanted;
                }
    assert_int_equal(n, 256 * 257 / 2);
}

static void test_every_other_bit_of_a_midr_tells_cores_apart(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 32; bit++) {
        bool release = bit <= 3 || (bit >= 20 && bit <= 23);
        assert_int_equal(midr_matches(0x410fd490, 0x410fd490 ^ UINT32_C(1) << bit), release);
    }
}

// Four specs with random entries of one part, against a search from the CPU's own release downwards.
static void test_the_latest_release_that_a_cpu_has_reached_wins(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int trial = 0; trial < 100; trial++) {
        struct catalog *owner[256] = {NULL}, *made[4];
        const struct catalog *catalogs[4];
        struct catalog_error error;
        for (size_t i = 0; i < N_OF(made); i++)
            catalogs[i] = made[i] = catalog_for(names[i], false, NULL, 0);
        for (int i = 0; i < 10; i++) {
            unsigned release = (unsigned)(random_next(&random) % 256);
            if (owner[release])
                continue;
            owner[release] = made[random_next(&random) % N_OF(made)];
            assert_true(catalog_add_midr(owner[release], 0x410fd490 | release >> 4 << 20 | (release & 15), &error) >=
                        0);
        }
        const struct catalog *wanted = NULL;
        for (unsigned release = 0; release < 256; release++) {
            wanted = owner[release] ? owner[release] : wanted;
            assert_ptr_equal(catalog_choose_midr(catalogs, 4, 0x410fd490 | release >> 4 << 20 | (release & 15)),
                             wanted);
        }
        for (size_t i = 0; i < N_OF(made); i++)
            catalog_free(made[i]);
    }
}

static void test_a_catalog_refuses_a_midr_that_stands_twice_or_is_none(void **state) {
    (void)state;
    struct catalog *catalog = catalog_for("a", false, NULL, 0);
    struct catalog_error error;
    assert_int_equal(catalog_add_midr(catalog, 0x410fd490, &error), 0);
    assert_int_equal(catalog_add_midr(catalog, 0x410fd493, &error), 1); // another revision is another entry
    assert_int_equal(catalog_add_midr(catalog, 0x410fd490, &error), -EINVAL);
    assert_non_null(strstr(error.text, "0x410fd490 stands twice"));
    assert_int_equal(catalog_add_midr(catalog, 0x41d49, &error), -EINVAL);
    assert_non_null(strstr(error.text, "0x00041d49 is not a whole MIDR_EL1"));
    assert_int_equal(catalog->product.n_midrs, 2);
    assert_int_equal(catalog->product.midrs[1], 0x410fd493);
    for (unsigned i = 2; i < CATALOG_MIDRS_MAX; i++)
        assert_int_equal(catalog_add_midr(catalog, 0xc00f0000 | i << 4, &error), i);
    assert_int_equal(catalog_add_midr(catalog, 0x410fd4f0, &error), -EINVAL);
    assert_non_null(strstr(error.text, "more than 64"));
    catalog_free(catalog);
}

// What the daemon does, on a host whose CPUs differ.
static void test_the_cpus_of_a_made_up_host_get_their_specs(void **state) {
    void *tree_state = NULL;
    const struct shipped *shipped = *state;
    assert_int_equal(host_tree_setup(&tree_state), 0);
    const struct host_tree *tree = tree_state;
    static const char *const specs[] = {"neoverse-n2", "neoverse-n2-r0p3", "armv8-pmuv3"};
    host_tree_write_midr(tree, 0, "0x000000006d0fd490\n");
    host_tree_write_midr(tree, 1, "0x00000000410fd493\n");
    host_tree_write_midr(tree, 2, "0x00000000610f0320\n");
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "type", "10\n");
    host_tree_write_pmu(tree, "software", "type", "1\n");
    const struct catalog *candidates[SPECS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < shipped->n_all; i++) {
        char name[64];
        uint32_t type;
        if (host_linux_find_pmu(&tree->roots, shipped->all[i]->product.pmu, name, sizeof name, &type) == 0)
            candidates[n++] = shipped->all[i];
    }
    assert_int_equal(n, shipped->n_arm + 1); // and software
    for (unsigned cpu = 0; cpu < N_OF(specs); cpu++) {
        uint32_t midr;
        assert_int_equal(host_linux_midr(&tree->roots, cpu, &midr), 0);
        const struct catalog *catalog = catalog_choose_midr(candidates, n, midr);
        assert_non_null(catalog);
        assert_string_equal(catalog->product.spec, specs[cpu]);
    }
    assert_int_equal(host_tree_teardown(&tree_state), 0);
}

// perf's rule: the pattern is for the whole text, whose stepping counts where the pattern has three '-'.
static void test_a_cpuid_pattern_is_for_the_whole_text(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *cpuid;
        bool matches;
    } cases[] = {
        {"GenuineIntel-6-8F", "GenuineIntel-6-8F-4", true},
        {"GenuineIntel-6-8F-[4-8]", "GenuineIntel-6-8F-4", false}, // four '-': no stepping is compared, as in perf
        {"GenuineIntel-6-8F-[45678]", "GenuineIntel-6-8F-4", true},
        {"GenuineIntel-6-8F-[45678]", "GenuineIntel-6-8F-9", false},
        {"GenuineIntel-6-8F-[45678]", "GenuineIntel-6-8F-44", false},
        {"GenuineIntel-6-8", "GenuineIntel-6-8F-4", false},
        {"ntel-6-8F", "GenuineIntel-6-8F-4", false},
        {"GenuineIntel-6-(8F|CF)", "GenuineIntel-6-CF-2", true},
        {"GenuineIntel-6-8|GenuineIntel-6-8F", "GenuineIntel-6-8F-2", true}, // the longest counts
        {"AuthenticAMD-25-([[:xdigit:]]|1[[:xdigit:]])", "AuthenticAMD-25-11-1", true},
        {"AuthenticAMD-25-([[:xdigit:]]|1[[:xdigit:]])", "AuthenticAMD-25-21-1", false},
        {"GenuineIntel-6-8F", "genuineintel-6-8f-4", false},
        {"GenuineIntel-6-8F-(4", "GenuineIntel-6-8F-4", false},
        {"GenuineIntel-6-[8F", "GenuineIntel-6-8F-4", false},
        {"", "GenuineIntel-6-8F-4", false},
        {"", "", true},
        {".*", "GenuineIntel-6-8F-4", true},
        {".*{255}", "GenuineIntel-6-8F-4", false},
        {"(.)\\1*.*", "GGGGGGGGGGGG", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cpuid_matches(cases[i].pattern, cases[i].cpuid) != cases[i].matches)
            fail_msg("%s, %s", cases[i].pattern, cases[i].cpuid);
    char pattern[CPUID_PATTERN_MAX + 2];
    memset(pattern, '.', sizeof pattern);
    for (size_t i = 1; i < sizeof pattern; i += 2)
        pattern[i] = '*';
    pattern[CPUID_PATTERN_MAX + 1] = '\0';
    assert_false(cpuid_matches(pattern, "a"));
    pattern[CPUID_PATTERN_MAX - 1] = '\0';
    assert_true(cpuid_matches(pattern, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cpuid_pattern_is_for_the_whole_text),
        cmocka_unit_test(test_every_core_gets_its_spec),
        cmocka_unit_test(test_no_two_specs_that_ship_want_the_same_core),
        cmocka_unit_test(test_one_generic_spec_ships_for_each_pmu),
        cmocka_unit_test(test_without_a_generic_spec_an_unknown_core_has_none),
        cmocka_unit_test(test_of_equal_entries_the_first_spec_wins_and_a_generic_spec_can_have_entries),
        cmocka_unit_test(test_variant_counts_before_revision),
        cmocka_unit_test(test_every_other_bit_of_a_midr_tells_cores_apart),
        cmocka_unit_test(test_the_latest_release_that_a_cpu_has_reached_wins),
        cmocka_unit_test(test_a_catalog_refuses_a_midr_that_stands_twice_or_is_none),
        cmocka_unit_test(test_the_cpus_of_a_made_up_host_get_their_specs),
    };
    return cmocka_run_group_tests(tests, shipped_setup, shipped_teardown);
}
