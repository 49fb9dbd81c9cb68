// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/spec/cpu_map_json.h"
#include "core/host/identify.h"
#include "tests/unit/core_check.h"

// The shipped map.
static int shipped_setup(void **state) {
    static struct errors errors;
    static struct cpu_map map;
    if (cpu_map_json_load("specs/cpus.json", &errors, &map) < 0) {
        print_error("%s\n", errors.items[0].text);
        return -1;
    }
    *state = &map;
    return 0;
}

static int shipped_teardown(void **state) {
    cpu_map_deinit(*state);
    return 0;
}

static bool has_pmu_named(const void *context, const char *pattern) {
    const char *name = context;
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(name, pattern, length - 1) == 0 : strcmp(name, pattern) == 0;
}

// Kernels that show none, four or eight fields of PERF_METRICS for a PMU, as Linux names them (arch/x86/events/intel).
struct kernel {
    const char *pmu;
    unsigned fields;
    bool leader; // and `slots`
};

static bool has_pmu_of(const void *context, const char *pattern) {
    const struct kernel *kernel = context;
    return has_pmu_named(kernel->pmu, pattern);
}

static bool shows_fields(const void *context, const char *pmu, const char *event) {
    static const char *const fields[] = {"topdown-retiring",  "topdown-bad-spec",  "topdown-fe-bound",
                                         "topdown-be-bound",  "topdown-heavy-ops", "topdown-br-mispredict",
                                         "topdown-fetch-lat", "topdown-mem-bound"};
    const struct kernel *kernel = context;
    if (strcmp(pmu, kernel->pmu) != 0)
        return false;
    for (size_t i = 0; i < kernel->fields; i++)
        if (strcmp(event, fields[i]) == 0)
            return true;
    return kernel->leader && strcmp(event, "slots") == 0;
}

static const char *spec_of_midr(const struct cpu_map *map, uint32_t midr) {
    const struct cpu_identity identity = {
        .has_midr = true, .midr = midr, .vendor = "0x41", .has_pmu = has_pmu_named, .context = "armv8_pmuv3_0"};
    const struct cpu_row *row = cpu_map_choose(map, &identity);
    return row ? row->spec : "none";
}

static const char *spec_of_cpuid(const struct cpu_map *map, const char *cpuid, const char *pmu) {
    char vendor[32];
    (void)snprintf(vendor, sizeof vendor, "%.*s", (int)strcspn(cpuid, "-"), cpuid);
    const struct cpu_identity identity = {.cpuid = cpuid, .vendor = vendor, .has_pmu = has_pmu_named, .context = pmu};
    const struct cpu_row *row = cpu_map_choose(map, &identity);
    return row ? row->spec : "none";
}

static void test_every_core_gets_its_spec(void **state) {
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
        {0x6d0fd492, "neoverse-n2"},
        {0x6d0fd493, "neoverse-n2-r0p3"},
        {0x410fd400, "neoverse-v1"}, // r0p0
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
        {0xc00fac30, "ampereone"},
        {0xc00fac40, "ampereonex"},
        {0x4e0f0100, "olympus"},
        {0x480fd010, "kunpeng-920"},
        {0x480fd020, "armv8-pmuv3"}, // a later core of the same designer
        {0x460f0010, "a64fx"},
        {0x460f0030, "monaka"},
        {0x6d0fd840, "neoverse-v3"}, // Cobalt 200
        {0x420fd490, "armv8-pmuv3"}, // the part number of another implementer means another core
        {0x6d0fd4f0, "armv8-pmuv3"}, // a part that this licensee is not known for
        {0x4100d490, "armv8-pmuv3"}, // the architecture field is part of the identity
        {0x00000000, "armv8-pmuv3"},
        {0xffffffff, "armv8-pmuv3"},
    };
    for (size_t i = 0; i < N_OF(table); i++) {
        const char *spec = spec_of_midr(*state, table[i].midr);
        if (strcmp(spec, table[i].spec) != 0)
            fail_msg("0x%08x: %s instead of %s", table[i].midr, spec, table[i].spec);
    }
}

static const struct {
    const char *cpuid, *spec;
    const char *core; // the kernel's PMU that counts on it
} x86[] = {
    {"GenuineIntel-6-1A-5", "nehalem-ep", "cpu"},
    {"GenuineIntel-6-1E-5", "nehalem-ep", "cpu"},
    {"GenuineIntel-6-1F-0", "nehalem-ep", "cpu"},
    {"GenuineIntel-6-2E-6", "intel-generic", "cpu"}, // Nehalem-EX
    {"GenuineIntel-6-2C-2", "westmere-ep", "cpu"},
    {"GenuineIntel-6-2F-2", "intel-generic", "cpu"}, // Westmere-EX
    {"GenuineIntel-6-2D-7", "sandy-bridge-ep", "cpu"},
    {"GenuineIntel-6-3E-4", "ivy-bridge-ep", "cpu"},
    {"GenuineIntel-6-3F-2", "haswell-ep", "cpu"},
    {"GenuineIntel-6-4F-1", "broadwell-ep", "cpu"},
    {"GenuineIntel-6-55-0", "skylake-sp", "cpu"},
    {"GenuineIntel-6-55-4", "skylake-sp", "cpu"},
    {"GenuineIntel-6-55-5", "cascade-lake", "cpu"},
    {"GenuineIntel-6-55-7", "cascade-lake", "cpu"},
    {"GenuineIntel-6-55-B", "cascade-lake", "cpu"}, // Cooper Lake
    {"GenuineIntel-6-6A-6", "ice-lake-sp", "cpu"},
    {"GenuineIntel-6-6C-1", "ice-lake-sp", "cpu"},
    {"GenuineIntel-6-8F-4", "sapphire-rapids", "cpu"},
    {"GenuineIntel-6-8F-8", "sapphire-rapids", "cpu"},
    {"GenuineIntel-6-CF-2", "emerald-rapids", "cpu"},
    {"GenuineIntel-6-AD-1", "granite-rapids", "cpu"},
    {"GenuineIntel-6-AE-1", "granite-rapids", "cpu"},
    {"GenuineIntel-6-AF-3", "sierra-forest", "cpu"},
    {"GenuineIntel-6-DD-0", "clearwater-forest", "cpu"},
    {"GenuineIntel-6-B6-0", "grand-ridge", "cpu"},
    {"GenuineIntel-6-97-2", "golden-cove", "cpu_core"},
    {"GenuineIntel-6-97-2", "golden-cove", "cpu"}, // its small cores are off
    {"GenuineIntel-6-B7-1", "gracemont", "cpu_atom"},
    {"GenuineIntel-6-BE-0", "gracemont", "cpu"},
    {"GenuineIntel-6-AA-4", "redwood-cove", "cpu_core"},
    {"GenuineIntel-6-AC-1", "crestmont", "cpu_atom"},
    {"GenuineIntel-6-BD-1", "lion-cove", "cpu_core"},
    {"GenuineIntel-6-BD-1", "skymont", "cpu_atom"},
    {"GenuineIntel-6-C5-2", "lion-cove", "cpu_core"},
    {"GenuineIntel-6-C6-2", "skymont", "cpu_atom"},
    {"GenuineIntel-6-C5-2", "crestmont", "cpu_lowpower"},
    {"GenuineIntel-6-CC-1", "cougar-cove", "cpu_core"},
    {"GenuineIntel-6-CC-1", "darkmont", "cpu_atom"},
    {"GenuineIntel-18-1-0", "intel-generic", "cpu"},  // Nova Lake
    {"GenuineIntel-19-1-0", "intel-generic", "cpu"},  // Diamond Rapids
    {"GenuineIntel-6-8C-1", "intel-generic", "cpu"},  // Tiger Lake
    {"GenuineIntel-6-8-6", "intel-generic", "cpu"},   // not 6-8F
    {"GenuineIntel-6-11A-5", "intel-generic", "cpu"}, // not 6-1A
    {"GenuineIntel-15-6-4", "intel-generic", "cpu"},  // another family
    {"AuthenticAMD-23-1-2", "zen1", "cpu"},           // Zen 1: Naples
    {"AuthenticAMD-23-8-2", "zen1", "cpu"},           // Zen+
    {"AuthenticAMD-23-18-1", "zen1", "cpu"},          // Zen+: Picasso
    {"HygonGenuine-24-1-1", "zen1", "cpu"},           // Dhyana
    {"AuthenticAMD-23-31-0", "zen2", "cpu"},          // Rome
    {"AuthenticAMD-23-71-0", "zen2", "cpu"},          // Matisse
    {"AuthenticAMD-25-1-1", "zen3", "cpu"},           // Milan
    {"AuthenticAMD-25-21-0", "zen3", "cpu"},          // Vermeer
    {"AuthenticAMD-25-50-0", "zen3", "cpu"},          // Cezanne
    {"AuthenticAMD-25-11-1", "zen4", "cpu"},          // Genoa
    {"AuthenticAMD-25-A0-2", "zen4", "cpu"},          // Bergamo, Siena
    {"AuthenticAMD-25-61-2", "zen4", "cpu"},          // Raphael
    {"AuthenticAMD-26-2-1", "zen5", "cpu"},           // Turin
    {"AuthenticAMD-26-11-0", "zen5", "cpu"},          // Turin Dense
    {"AuthenticAMD-26-44-0", "zen5", "cpu"},          // Granite Ridge
    {"AuthenticAMD-26-50-0", "zen6", "cpu"},          // Zen 6
    {"AuthenticAMD-16-2-3", "amd-generic", "cpu"},    // K10
    {"AuthenticAMD-27-1-0", "amd-generic", "cpu"},    // to come
    {"CentaurHauls-7-3B-0", "kernel-events", "cpu"},  // no spec, no generic one either
};

static const char *spec_on(const struct cpu_map *map, const char *cpuid, const char *core,
                           const struct kernel *kernel) {
    char vendor[32];
    (void)snprintf(vendor, sizeof vendor, "%.*s", (int)strcspn(cpuid, "-"), cpuid);
    const struct cpu_identity identity = {.cpuid = cpuid,
                                          .vendor = vendor,
                                          .core = core,
                                          .has_pmu = has_pmu_of,
                                          .shows = shows_fields,
                                          .context = kernel};
    return cpu_map_choose(map, &identity)->spec;
}

static const char *spec_of_x86(const struct cpu_map *map, size_t i) {
    const struct kernel kernel = {.pmu = "cpu"};
    return spec_on(map, x86[i].cpuid, x86[i].core, &kernel);
}

static void test_every_x86_cpu_gets_its_spec(void **state) {
    for (size_t i = 0; i < N_OF(x86); i++) {
        const char *spec = spec_of_x86(*state, i);
        if (strcmp(spec, x86[i].spec) != 0)
            fail_msg("%s: %s instead of %s", x86[i].cpuid, spec, x86[i].spec);
    }
}

// What the kernel shows for the CPU's own PMU decides of a CPU that no other row is for. Small cores have ordinary
// events of the fields' names, and no slots.
static const struct {
    const char *cpuid, *core;
    struct kernel kernel;
    const char *spec;
} shown[] = {
    {"GenuineIntel-18-1-0", "cpu", {"cpu", 8, true}, "intel-topdown"},      // Nova Lake
    {"GenuineIntel-18-1-0", "cpu_atom", {"cpu", 8, true}, "intel-generic"}, // its small cores
    {"GenuineIntel-18-1-0", NULL, {"cpu", 8, true}, "intel-generic"},       // of which no PMU is known
    {"GenuineIntel-19-1-0", "cpu", {"cpu", 8, true}, "intel-topdown"},      // Diamond Rapids
    {"GenuineIntel-19-1-0", "cpu", {"cpu", 7, true}, "intel-topdown-l1"},   // a kernel that lacks one
    {"GenuineIntel-6-8C-1", "cpu", {"cpu", 4, true}, "intel-topdown-l1"},   // Tiger Lake
    {"GenuineIntel-6-7E-5", "cpu", {"cpu", 4, true}, "intel-topdown-l1"},   // Ice Lake, client
    {"GenuineIntel-6-A7-1", "cpu", {"cpu", 4, true}, "intel-topdown-l1"},   // Rocket Lake
    {"GenuineIntel-6-8C-1", "cpu", {"cpu", 3, true}, "intel-generic"},      // not all of level 1
    {"GenuineIntel-6-8C-1", "cpu", {"cpu", 0, true}, "intel-generic"},      // `slots` alone
    {"GenuineIntel-6-86-4", "cpu", {"cpu", 4, false}, "intel-generic"},     // Tremont
    {"GenuineIntel-6-6A-6", "cpu", {"cpu", 4, true}, "ice-lake-sp"},        // its own spec comes first
    {"GenuineIntel-6-8F-4", "cpu", {"cpu", 8, true}, "sapphire-rapids"},
    {"AuthenticAMD-27-1-0", "cpu", {"cpu", 8, true}, "amd-generic"}, // another vendor's
};

static void test_a_generic_row_may_need_events_that_the_kernel_shows(void **state) {
    for (size_t i = 0; i < N_OF(shown); i++) {
        const char *spec = spec_on(*state, shown[i].cpuid, shown[i].core, &shown[i].kernel);
        if (strcmp(spec, shown[i].spec) != 0)
            fail_msg("%s: %s instead of %s", shown[i].cpuid, spec, shown[i].spec);
    }
    const struct cpu_identity unasked = {.cpuid = "GenuineIntel-18-1-0",
                                         .vendor = "GenuineIntel",
                                         .core = "cpu",
                                         .has_pmu = has_pmu_named,
                                         .context = "cpu"};
    assert_string_equal(cpu_map_choose(*state, &unasked)->spec, "intel-generic");
}

static void test_each_spec_is_for_the_pmus_of_its_rows(void **state) {
    static const struct {
        const char *spec, *pmu;
        bool fits;
    } table[] = {
        {"golden-cove", "cpu_core", true},
        {"golden-cove", "cpu_atom", false},
        {"golden-cove", "cpu", true}, // its small cores are off
        {"gracemont", "cpu_atom", true},
        {"gracemont", "cpu", true},
        {"gracemont", "cpu_core", false},
        {"crestmont", "cpu_lowpower", true},
        {"skymont", "cpu_lowpower", false},
        {"sapphire-rapids", "cpu", true},
        {"sapphire-rapids", "cpu_core", false},
        {"zen4", "cpu", true},
        {"zen4", "armv8_pmuv3_0", false},
        {"intel-generic", "cpu_core", true},
        {"intel-topdown", "cpu_core", true},
        {"intel-topdown-l1", "cpu", true},
        {"intel-generic", "cpu", true},
        {"intel-generic", "armv8_pmuv3_0", false},
        {"amd-generic", "cpu", true},
        {"amd-generic", "cpu_core", false},
        {"neoverse-v2", "armv8_pmuv3_0", true},
        {"neoverse-v2", "cpu", false},
        {"armv8-pmuv3", "armv8_cortex_a53", true},
        {"armv8-pmuv3", "cpu_core", false},
        {"software", "cpu_core", true}, // no row
    };
    for (size_t i = 0; i < N_OF(table); i++)
        if (cpu_map_fits_pmu(*state, table[i].spec, table[i].pmu) != table[i].fits)
            fail_msg("%s, %s", table[i].spec, table[i].pmu);
    assert_string_equal(cpu_map_find_generic(*state, "armv8-pmuv3")->pmu, "armv*");
    assert_string_equal(cpu_map_find_generic(*state, "kernel-events")->pmu, "cpu"); // the first of three
    assert_int_equal(cpu_map_find_generic(*state, "intel-generic")->n_shows, 0);
    assert_true(cpu_map_find_generic(*state, "intel-topdown")->n_shows > 0);
    assert_null(cpu_map_find_generic(*state, "neoverse-v2"));
    assert_null(cpu_map_find_generic(*state, "software"));
}

// Every row decides for some CPU of the tables: one that never does stands below another that hides it.
static void test_every_row_of_the_map_that_ships_is_reached(void **state) {
    const struct cpu_map *map = *state;
    assert_true(map->n > 30);
    for (size_t i = 0; i < map->n; i++) {
        const struct cpu_row *row = &map->rows[i];
        bool reached = row->pmu && strcmp(spec_of_midr(map, 0x410fd083), row->spec) == 0;
        for (size_t j = 0; j < row->n_midrs; j++)
            if (strcmp(spec_of_midr(map, row->midrs[j]), row->spec) != 0)
                fail_msg("0x%08x is not for %s", row->midrs[j], row->spec);
        reached = reached || row->n_midrs > 0;
        for (size_t j = 0; j < N_OF(x86); j++)
            reached = reached || strcmp(spec_of_x86(map, j), row->spec) == 0;
        for (size_t j = 0; j < N_OF(shown); j++)
            reached = reached || strcmp(shown[j].spec, row->spec) == 0;
        if (!reached)
            fail_msg("no CPU reaches row %zu (%s)", i, row->spec);
    }
}

static void test_every_row_names_a_spec_that_ships(void **state) {
    const struct cpu_map *map = *state;
    for (size_t i = 0; i < map->n; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "specs/%s.json", map->rows[i].spec);
        assert_int_equal(access(path, R_OK), 0);
    }
}

static void test_a_generic_row_needs_its_pmu_and_its_vendor(void **state) {
    assert_string_equal(spec_of_cpuid(*state, "GenuineIntel-6-FF-1", "cpu"), "intel-generic");
    assert_string_equal(spec_of_cpuid(*state, "GenuineIntel-6-FF-1", "software"), "none");
    assert_string_equal(spec_of_cpuid(*state, "GenuineIntel-6-8F-4", "software"), "sapphire-rapids");
    const struct cpu_identity other = {.vendor = "IBM/S390", .has_pmu = has_pmu_named, .context = "cpum_cf"};
    assert_string_equal(cpu_map_choose(*state, &other)->spec, "kernel-events");
    const struct cpu_identity nothing = {.vendor = "IBM/S390", .has_pmu = has_pmu_named, .context = "software"};
    assert_null(cpu_map_choose(*state, &nothing));
}

static int parse_map(const char *text, struct errors *errors, struct cpu_map *map) {
    *errors = (struct errors){0};
    return cpu_map_json_parse("cpus.json", text, strlen(text), errors, map);
}

static void test_the_first_row_that_matches_a_cpuid_wins(void **state) {
    (void)state;
    struct errors errors;
    struct cpu_map map;
    assert_int_equal(parse_map("{\"cpus\": [{\"spec\": \"a\", \"cpuid\": [\"Acme-6-1\", \"Acme-6-2-[0123]\"]},"
                               "{\"spec\": \"b\", \"cpuid\": [\"Acme-6-[0-9A-F]\"], \"known_as\": [\"Anvil\"]},"
                               "{\"spec\": \"c\", \"generic\": \"cpu\"}]}",
                               &errors, &map),
                     0);
    assert_string_equal(map.rows[1].known_as[0], "Anvil");
    assert_string_equal(spec_of_cpuid(&map, "Acme-6-1-F", "cpu"), "a"); // any stepping
    assert_string_equal(spec_of_cpuid(&map, "Acme-6-2-3", "cpu"), "a");
    assert_string_equal(spec_of_cpuid(&map, "Acme-6-2-4", "cpu"), "b");
    assert_string_equal(spec_of_cpuid(&map, "Acme-6-11-4", "cpu"), "c"); // the whole text has to match
    assert_string_equal(spec_of_cpuid(&map, "Other-6-1-1", "cpu"), "c"); // any vendor
    cpu_map_deinit(&map);
}

static void test_the_cores_of_a_hybrid_cpu_have_rows_of_their_own(void **state) {
    (void)state;
    struct errors errors;
    struct cpu_map map;
    assert_int_equal(parse_map("{\"cpus\": [{\"spec\": \"large\", \"cpuid\": [\"Acme-6-1\"], \"core\": \"cpu_core\"},"
                               "{\"spec\": \"small\", \"cpuid\": [\"Acme-6-1\"], \"core\": \"cpu_atom\"},"
                               "{\"spec\": \"any\", \"cpuid\": [\"Acme-6-.*\"]}]}",
                               &errors, &map),
                     0);
    static const char *const cores[][2] = {
        {"cpu_core", "large"}, {"cpu_atom", "small"}, {"cpu", "large"}, {"cpu_lowpower", "large"}, {NULL, "large"}};
    for (size_t i = 0; i < N_OF(cores); i++) {
        const struct cpu_identity identity = {.cpuid = "Acme-6-1-0", .core = cores[i][0]};
        assert_string_equal(cpu_map_choose(&map, &identity)->spec, cores[i][1]);
    }
    const struct cpu_identity other = {.cpuid = "Acme-6-2-0", .core = "cpu_atom"};
    assert_string_equal(cpu_map_choose(&map, &other)->spec, "any");
    cpu_map_deinit(&map);
}

static void test_cpus_without_a_spec_that_linux_has_files_for_are_known(void **state) {
    const struct cpu_map *map = *state;
    const struct cpu_identity nova_lake = {.cpuid = "GenuineIntel-18-1-0", .core = "cpu_core"};
    const struct cpu_identity thunderx2 = {.has_midr = true, .midr = 0x431f0af1};
    const struct cpu_identity zen4 = {.cpuid = "AuthenticAMD-25-11-1"}, to_come = {.cpuid = "GenuineIntel-19-1-0"};
    assert_string_equal(cpu_map_find_files(map, &nova_lake), "x86/novalake");
    assert_string_equal(cpu_map_find_files(map, &thunderx2), "arm64/cavium/thunderx2");
    assert_null(cpu_map_find_files(map, &zen4)); // has one
    assert_null(cpu_map_find_files(map, &to_come));
}

static void test_an_equal_entry_cannot_stand_twice_and_the_latest_wins(void **state) {
    (void)state;
    struct errors errors;
    struct cpu_map map;
    assert_int_equal(parse_map("{\"cpus\": [{\"spec\": \"late\", \"midr\": [\"0x410fd4f1\"]},"
                               "{\"spec\": \"early\", \"midr\": [\"0x410FD4F0\"]}]}",
                               &errors, &map),
                     0);
    assert_string_equal(spec_of_midr(&map, 0x410fd4f0), "early");
    assert_string_equal(spec_of_midr(&map, 0x410fd4f1), "late");
    assert_string_equal(spec_of_midr(&map, 0x410fd400), "none");
    cpu_map_deinit(&map);
}

#define ROW(row) "{\"cpus\": [{\"spec\": \"first\", \"midr\": [\"0x410fd490\"]}, {" row "}]}"

static void test_wrong_maps_are_refused_with_their_place(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"{}", "cpus: is missing"},
        {"{\"cpus\": {}}", "cpus: must be a list"},
        {"{\"cpus\": [1]}", "cpus[0]: must be an object"},
        {"{\"cpu\": [], \"cpus\": []}", "cpu: there is no such key; did you mean cpus?"},
        {ROW("\"midr\": [\"0x410fd4f0\"]"), "cpus[1].spec: is missing"},
        {ROW("\"spec\": \"../a\", \"generic\": \"cpu\""), "cpus[1]: '../a' is no spec's name"},
        {ROW("\"spec\": \"a\""), "cpus[1]: matches no CPU"},
        {ROW("\"spec\": \"a\", \"midr\": []"), "cpus[1]: matches no CPU"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x410fd4f0\"], \"generic\": \"cpu\""), "says in several ways"},
        {ROW("\"spec\": \"a\", \"mdir\": []"), "cpus[1].mdir: there is no such key; did you mean midr?"},
        {ROW("\"spec\": \"a\", \"midr\": \"0x410fd490\""), "cpus[1].midr: must be a list"},
        {ROW("\"spec\": \"a\", \"midr\": [\"1091556496\"]"), "cpus[1]: '1091556496' is not a MIDR_EL1"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x410fd49g\"]"), "is not a MIDR_EL1: write it as \"0x410fd4f0\""},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x\"]"), "is not a MIDR_EL1"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x1410fd490\"]"), "is not a MIDR_EL1"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x41d49\"]"), "0x00041d49 is not a whole MIDR_EL1"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x410FD490\"]"), "the MIDR 0x410fd490 stands twice: remove one"},
        {ROW("\"spec\": \"a\", \"midr\": [\"0x410fd4f0\", \"0x410FD4F0\"]"), "the MIDR 0x410fd4f0 stands twice"},
        {ROW("\"spec\": \"a\", \"cpuid\": [\"Acme-6-[1\"]"), "'Acme-6-[1' is not an extended regular expression"},
        {ROW("\"spec\": \"a\", \"cpuid\": [\"Acme-6-1\"], \"vendor\": \"Acme\""), "a vendor belongs to generic"},
        {ROW("\"spec\": \"a\", \"generic\": \"cpu\", \"core\": \"cpu_atom\""), "a core belongs to cpuid only"},
        {ROW("\"spec\": \"a\", \"cpuid\": [\"Acme-6-1\"], \"shows\": [\"slots\"]"), "shows belongs to generic only"},
        {ROW("\"spec\": \"a\", \"generic\": \"cpu\", \"shows\": \"slots\""), "cpus[1].shows: must be a list"},
        {"{\"cpus\": [], \"linux\": [{\"midr\": [\"0x410fd490\"]}]}", "linux[0].folder: is missing"},
        {"{\"cpus\": [], \"linux\": [{\"folder\": \"x86/a\"}]}", "linux[0]: matches no CPU"},
    };
    for (size_t i = 0; i < N_OF(wrong); i++) {
        struct errors errors;
        struct cpu_map map = {.n = 77};
        assert_int_equal(parse_map(wrong[i][0], &errors, &map), -EINVAL);
        assert_int_equal(map.n, 77);
        if (!strstr(errors.items[0].text, wrong[i][1]))
            fail_msg("%s\nsays: %s", wrong[i][0], errors.items[0].text);
    }
}

static void test_mistakes_in_several_rows_are_shown_at_once(void **state) {
    (void)state;
    struct errors errors;
    struct cpu_map map;
    assert_int_equal(parse_map("{\"cpus\": [{\"spec\": \"a\"}, {\"spec\": \"b\"}]}", &errors, &map), -EINVAL);
    assert_int_equal(errors.n, 2);
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
    static char names[][2] = {"a", "b", "c", "d"};
    for (int trial = 0; trial < 100; trial++) {
        const char *owner[256] = {NULL};
        struct cpu_map map = {0};
        struct fault error;
        for (int i = 0; i < 10; i++) {
            unsigned release = (unsigned)(random_next(&random) % 256);
            uint32_t midr = 0x410fd490 | release >> 4 << 20 | (release & 15);
            if (owner[release])
                continue;
            struct cpu_row row = {.spec = names[random_next(&random) % N_OF(names)], .midrs = &midr, .n_midrs = 1};
            owner[release] = row.spec;
            assert_int_equal(cpu_map_add(&map, &row, &error), 0);
        }
        const char *wanted = "none";
        for (unsigned release = 0; release < 256; release++) {
            wanted = owner[release] ? owner[release] : wanted;
            assert_string_equal(spec_of_midr(&map, 0x410fd490 | release >> 4 << 20 | (release & 15)), wanted);
        }
        cpu_map_deinit(&map);
    }
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
        cmocka_unit_test(test_every_x86_cpu_gets_its_spec),
        cmocka_unit_test(test_a_generic_row_may_need_events_that_the_kernel_shows),
        cmocka_unit_test(test_each_spec_is_for_the_pmus_of_its_rows),
        cmocka_unit_test(test_every_row_of_the_map_that_ships_is_reached),
        cmocka_unit_test(test_every_row_names_a_spec_that_ships),
        cmocka_unit_test(test_a_generic_row_needs_its_pmu_and_its_vendor),
        cmocka_unit_test(test_the_first_row_that_matches_a_cpuid_wins),
        cmocka_unit_test(test_the_cores_of_a_hybrid_cpu_have_rows_of_their_own),
        cmocka_unit_test(test_cpus_without_a_spec_that_linux_has_files_for_are_known),
        cmocka_unit_test(test_an_equal_entry_cannot_stand_twice_and_the_latest_wins),
        cmocka_unit_test(test_wrong_maps_are_refused_with_their_place),
        cmocka_unit_test(test_mistakes_in_several_rows_are_shown_at_once),
        cmocka_unit_test(test_variant_counts_before_revision),
        cmocka_unit_test(test_every_other_bit_of_a_midr_tells_cores_apart),
        cmocka_unit_test(test_the_latest_release_that_a_cpu_has_reached_wins),
    };
    return cmocka_run_group_tests(tests, shipped_setup, shipped_teardown);
}
