// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_cpu.h"
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <math.h>

#include "collectors/host/host_bind.h"
#include "collectors/host/host_cores.h"
#include "collectors/host/host_pmu.h"
#include "config/spec/cpu_map_json.h"
#include "config/spec/spec_json.h"
#include "tests/unit/core_check.h"

// Made-up hosts: the chosen spec, the facts for formulas, the events that the host cannot count, and how level 1 is
// measured.

struct made_up {
    const char *vendor, *model_name; // x86, else NULL
    unsigned family, model, stepping;
    const char *midr;   // Arm, else NULL
    unsigned cores;     // one socket
    bool smt;           // CPU i + cores is the sibling of CPU i
    const char *format; // of the PMU: "NAME BITS;NAME BITS"
    const char *events; // "NAME TERMS;NAME TERMS"
};

static const char INTEL_FORMAT[] = "event config:0-7;umask config:8-15;edge config:18;inv config:23;cmask config:24-31;"
                                   "any config:21;offcore_rsp config1:0-63;ldlat config1:0-15;frontend config1:0-23";
static const char AMD_FORMAT[] =
    "event config:0-7,32-35;umask config:8-15;edge config:18;inv config:23;cmask config:24-31";
static const char NAMES[] = "cpu-cycles event=0x3c;instructions event=0xc0";
static const char SLOTS_4[] = "cpu-cycles event=0x3c;slots event=0x00,umask=0x4;topdown-retiring event=0x00,umask=0x80;"
                              "topdown-bad-spec event=0x00,umask=0x81;topdown-fe-bound event=0x00,umask=0x82;"
                              "topdown-be-bound event=0x00,umask=0x83";
static const char SLOTS_8[] = "slots event=0x00,umask=0x4;topdown-retiring event=0x00,umask=0x80;"
                              "topdown-bad-spec event=0x00,umask=0x81;topdown-fe-bound event=0x00,umask=0x82;"
                              "topdown-be-bound event=0x00,umask=0x83;topdown-heavy-ops event=0x00,umask=0x84;"
                              "topdown-br-mispredict event=0x00,umask=0x85;topdown-fetch-lat event=0x00,umask=0x86;"
                              "topdown-mem-bound event=0x00,umask=0x87";

// Writes PMU files from "NAME TEXT;NAME TEXT".
static void write_files(const struct host_tree *tree, const char *pmu, const char *folder, const char *list) {
    while (list && *list != '\0') {
        char name[64], file[96], text[96];
        int used = 0;
        assert_int_equal(sscanf(list, "%63[^ ] %95[^;]%n", name, text, &used), 2);
        (void)snprintf(file, sizeof file, "%s/%s", folder, name);
        host_tree_write_pmu(tree, pmu, file, text);
        list += used + (list[used] == ';');
    }
}

static void write_cpus(const struct host_tree *tree, const struct made_up *host) {
    char text[64], all[64];
    unsigned n = host->smt ? 2 * host->cores : host->cores;
    (void)snprintf(all, sizeof all, "0-%u\n", n - 1);
    host_tree_write(tree, "devices/system/cpu/online", all);
    host_tree_write(tree, "devices/system/cpu/present", all);
    for (unsigned cpu = 0; cpu < n; cpu++) {
        (void)snprintf(text, sizeof text, host->smt ? "%u,%u\n" : "%u\n", cpu % host->cores,
                       cpu % host->cores + host->cores);
        host_tree_write_cpu(tree, cpu, text, "0\n");
        (void)snprintf(text, sizeof text, "devices/system/cpu/cpu%u/topology/package_cpus_list", cpu);
        host_tree_write(tree, text, all);
        if (host->midr)
            host_tree_write_midr(tree, cpu, host->midr);
    }
}

static void write_host(const struct host_tree *tree, const struct made_up *host) {
    char text[512];
    const char *pmu = host->midr ? "armv8_pmuv3_0" : "cpu";
    write_cpus(tree, host);
    (void)snprintf(text, sizeof text,
                   "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\n"
                   "stepping\t: %u\nflags\t\t: fpu tsc\n",
                   host->vendor ? host->vendor : "", host->family, host->model, host->model_name, host->stepping);
    host_tree_write(tree, "cpuinfo",
                    host->midr ? "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n" : text);
    host_tree_write_pmu(tree, pmu, "type", host->midr ? "8\n" : "4\n");
    write_files(tree, pmu, "format", host->format);
    write_files(tree, pmu, "events", host->events);
}

// What the daemon does with a host, until it would open events.
struct bound {
    struct cpu_map map;
    const struct cpu_row *row;
    struct host_events events;
    char pmu[HOST_TEXT_MAX];
    struct environment environment;
    struct catalog *catalog;
    struct host_binding binding;
};

static bool has_pmu(const void *context, const char *pattern) {
    struct host_core_pmu first;
    return host_cores_pmus(context, pattern, &first, 1) > 0;
}

static bool shows(const void *context, const char *pmu, const char *event) {
    char terms[96];
    return host_pmu_alias(context, pmu, event, terms, sizeof terms) == 0;
}

static void bind(const struct host_tree *tree, const char *spec, struct bound *out) {
    *out = (struct bound){0};
    static struct errors errors;
    char cpuid[HOST_CPUID_MAX], path[96];
    struct host_cpu cpu;
    struct host_core_pmu pmu;
    assert_int_equal(cpu_map_json_load("specs/cpus.json", &errors, &out->map), 0);
    host_cpu_describe(&tree->roots, &cpu);
    struct cpu_identity identity = {
        .vendor = cpu.vendor, .core = "cpu", .has_pmu = has_pmu, .shows = shows, .context = &tree->roots};
    identity.has_midr = host_linux_midr(&tree->roots, 0, &identity.midr) == 0;
    if (host_cpu_cpuid(&tree->roots, cpuid, sizeof cpuid) == 0)
        identity.cpuid = cpuid;
    out->row = cpu_map_choose(&out->map, &identity);
    assert_non_null(out->row);
    assert_string_equal(out->row->spec, spec);
    (void)snprintf(path, sizeof path, "specs/%s.json", spec);
    const char *pattern = identity.has_midr ? "armv*" : "cpu";
    assert_true(host_cores_pmus(&tree->roots, pattern, &pmu, 1) > 0);
    (void)snprintf(out->pmu, sizeof out->pmu, "%s", pmu.name);
    out->events = (struct host_events){.roots = tree->roots, .pmu = out->pmu};
    host_cpu_environment(&out->events, 0, &out->environment);
    struct catalog_builder *builder;
    assert_int_equal(spec_json_read(path, &out->environment, &errors, &builder), 0);
    assert_int_equal(host_bind(&tree->roots, out->pmu, pmu.type, builder, &out->binding), 0);
    out->catalog = catalog_builder_finish(builder);
    assert_int_equal(out->binding.types[0], pmu.type);
}

static void unbind(struct bound *bound) {
    host_binding_deinit(&bound->binding);
    catalog_free(bound->catalog);
    cpu_map_deinit(&bound->map);
}

static size_t count_support(const struct bound *bound, enum plan_support support) {
    size_t n = 0;
    for (size_t e = 0; e < bound->catalog->n_events; e++)
        n += bound->binding.support[e] == support;
    return n;
}

static unsigned support_of(const struct bound *bound, const char *event) {
    int e = catalog_find_event(bound->catalog, event);
    assert_true(e >= 0);
    return bound->binding.support[e];
}

static void check_literals(const struct bound *bound, double smt, double cpus, double cores) {
    const double *literals = bound->environment.facts.literals;
    assert_true(literals[LITERAL_SMT_ON] == smt);
    assert_true(literals[LITERAL_NUM_CPUS] == cpus && literals[LITERAL_NUM_CPUS_ONLINE] == cpus);
    assert_true(literals[LITERAL_NUM_CORES] == cores);
    assert_true(literals[LITERAL_NUM_DIES] == 1 && literals[LITERAL_NUM_PACKAGES] == 1);
    assert_true(literals[LITERAL_HAS_PMEM] == 0);
}

static void test_sapphire_rapids_on_bare_metal_has_its_topdown_counters(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) Platinum 8480+",
                                 .family = 6,
                                 .model = 143,
                                 .stepping = 8,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = SLOTS_8};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "sapphire-rapids", &bound);
    assert_string_equal(bound.environment.facts.cpuid, "GenuineIntel-6-8F-8");
    check_literals(&bound, 1, 8, 4);
    assert_true(isnan(bound.environment.facts.literals[LITERAL_SLOTS]));
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_false(bound.binding.topdown_dropped);
    assert_true(bound.catalog->n_topdown > 8);
    assert_string_equal(bound.catalog->level1.pipeline_slots_text, "slots");
    unbind(&bound);
}

static void test_ice_lake_in_a_virtual_machine_without_slots_uses_ordinary_events(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel Xeon Processor (Icelake)",
                                 .family = 6,
                                 .model = 106,
                                 .stepping = 6,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "ice-lake-sp", &bound);
    check_literals(&bound, 0, 2, 2);
    assert_true(bound.binding.topdown_dropped);
    assert_int_equal(bound.catalog->n_topdown, 0);
    assert_int_equal(support_of(&bound, "slots"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "topdown-retiring"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "CPU_CLK_UNHALTED.THREAD"), PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 5); // slots and its four fields
    assert_true(bound.catalog->level1.present);
    assert_null(strstr(bound.catalog->level1.pipeline_slots_text, "topdown"));
    assert_string_not_equal(bound.catalog->level1.pipeline_slots_text, "slots");
    unbind(&bound);
}

static void test_a_kernel_that_lacks_one_field_has_no_topdown_counters(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = 143,
                                 .stepping = 4,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = SLOTS_4};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "sapphire-rapids", &bound);
    assert_true(bound.binding.topdown_dropped);
    assert_int_equal(support_of(&bound, "topdown-mem-bound"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "topdown-retiring"), PLAN_UNSUPPORTED); // its leader is not opened
    unbind(&bound);
}

static void test_skylake_with_smt_and_the_watchdog(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
                                 .family = 6,
                                 .model = 85,
                                 .stepping = 4,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    assert_false(host_cpu_nmi_watchdog(&tree->roots));
    host_tree_write(tree, "sys/kernel/nmi_watchdog", "1\n");
    assert_true(host_cpu_nmi_watchdog(&tree->roots));
    host_tree_write(tree, "firmware/acpi/tables/NFIT", "");
    bind(tree, "skylake-sp", &bound);
    assert_true(bound.environment.facts.literals[LITERAL_HAS_PMEM] == 1);
    assert_true(fabs(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] - 2.1e9) < 1e7);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_true(bound.catalog->level1.present && !bound.binding.topdown_dropped);
    unbind(&bound);
    host_tree_write(tree, "devices/system/cpu/smt/active", "0\n"); // the kernel's word goes before the siblings'
    bind(tree, "skylake-sp", &bound);
    assert_true(bound.environment.facts.literals[LITERAL_SMT_ON] == 0);
    unbind(&bound);
}

static void test_siblings_that_are_offline_now_were_there_at_boot(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *control;
        bool smt;
    } words[] = {
        {"on\n", true}, {"off\n", true}, {"forceoff\n", true}, {"notsupported\n", false}, {"notimplemented\n", false}};
    struct made_up host = {
        .vendor = "GenuineIntel", .model_name = "Haswell", .family = 6, .model = 63, .stepping = 2, .cores = 2};
    write_host(tree, &host);
    assert_false(host_cpu_smt_at_boot(&tree->roots)); // no file: no siblings are online
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        host_tree_write(tree, "devices/system/cpu/smt/control", words[i].control);
        assert_int_equal(host_cpu_smt_at_boot(&tree->roots), words[i].smt);
    }
    host.smt = true; // "notimplemented": the siblings that are online decide
    write_host(tree, &host);
    assert_true(host_cpu_smt_at_boot(&tree->roots));
}

static void test_zen_4_counts_events_of_other_pmus_elsewhere(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "AuthenticAMD",
                                 .model_name = "AMD EPYC 9654 96-Core Processor",
                                 .family = 25,
                                 .model = 17,
                                 .stepping = 1,
                                 .cores = 2,
                                 .smt = true,
                                 .format = AMD_FORMAT,
                                 .events = "cpu-cycles event=0x76"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "amd_l3", "type", "12\n");
    host_tree_write_pmu(tree, "amd_l3", "cpumask", "0\n");
    bind(tree, "zen4", &bound);
    size_t elsewhere = 0;
    for (size_t e = 0; e < bound.catalog->n_events; e++)
        elsewhere += bound.catalog->events[e].code.pmu != 0 && !bound.catalog->events[e].sampling_only;
    assert_true(elsewhere > 0);
    assert_int_equal(count_support(&bound, PLAN_ELSEWHERE), elsewhere);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 2); // ibs_op and ibs_fetch, which this host lacks
    assert_true(bound.catalog->level1.present && bound.catalog->level1.per_thread);
    unbind(&bound);
}

static void test_nehalem_has_no_level_1_and_its_uncore_is_elsewhere(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "Intel(R) Xeon(R) CPU X5570  @ 2.93GHz",
                                 .family = 6,
                                 .model = 26,
                                 .stepping = 5,
                                 .cores = 4,
                                 .smt = true,
                                 .format = INTEL_FORMAT,
                                 .events = NAMES};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "nehalem-ep", &bound);
    assert_false(bound.catalog->level1.present);
    assert_true(count_support(&bound, PLAN_ELSEWHERE) > 0);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), 0);
    assert_true(fabs(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] - 2.93e9) < 1e7);
    unbind(&bound);
}

static void test_events_that_the_kernel_cannot_express_are_unsupported(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = 26,
                                 .stepping = 5,
                                 .cores = 1,
                                 .events = NAMES,
                                 .format = "event config:8-15;umask config:0-7;edge config:18;inv config:23;"
                                           "any config:21;cmask config:24-31;ldlat config1:0-15"};
    struct bound bound;
    write_host(tree, &host);
    bind(tree, "nehalem-ep", &bound);
    size_t n = 0;
    for (size_t e = 0; e < bound.catalog->n_events; e++)
        n += strstr(bound.catalog->events[e].terms, "offcore_rsp") != NULL;
    assert_true(n > 0);
    assert_int_equal(count_support(&bound, PLAN_UNSUPPORTED), n);
    assert_int_equal(bound.binding.n_cannot, n);
    int event = catalog_find_event(bound.catalog, "UOPS_ISSUED.ANY"); // 0E/01, in the host's own bits
    assert_int_equal(bound.catalog->events[event].code.config, 0x0e01);
    unbind(&bound);
}

static void test_a_pmu_that_counts_for_each_cpu_is_bound_too(void **state) {
    const struct host_tree *tree = *state;
    struct fault error;
    struct host_binding binding;
    const struct catalog_event_text tsc = {.name = "tsc", .terms = "event=0x00", .pmu = "msr", .takes = 1},
                                    smi = {.name = "smi", .terms = "event=0x09", .pmu = "msr", .takes = 1},
                                    away = {.name = "away", .terms = "event=0x01", .pmu = "power", .takes = 1};
    struct catalog_builder *builder = builder_for("cpu");
    assert_true(catalog_builder_add_event_text(builder, &tsc, &error) > 0);
    assert_true(catalog_builder_add_event_text(builder, &smi, &error) > 0);
    assert_true(catalog_builder_add_event_text(builder, &away, &error) > 0);
    host_tree_write_pmu(tree, "cpu", "type", "4\n");
    host_tree_write_pmu(tree, "msr", "type", "9\n");
    host_tree_write_pmu(tree, "msr", "format/event", "config:4-11\n");
    assert_int_equal(host_bind(&tree->roots, "cpu", 4, builder, &binding), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    assert_int_equal(binding.support[catalog_find_event(catalog, "tsc")], PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(binding.support[catalog_find_event(catalog, "away")], PLAN_ELSEWHERE);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "smi")].code.config, 0x90);
    assert_int_equal(binding.types[1], 9);
    host_binding_deinit(&binding);
    catalog_free(catalog);
}

static void test_events_of_a_sockets_pmu_are_encoded_as_the_host_says_and_not_counted(void **state) {
    const struct host_tree *tree = *state;
    struct fault error;
    struct host_binding binding;
    const struct catalog_event_text reads = {.name = "reads",
                                             .terms = "event=0x04,umask=0x03",
                                             .pmu = "box",
                                             .takes = 1},
                                    ports = {.name = "ports", .terms = "event=0x04,port=1", .pmu = "box", .takes = 1};
    struct catalog_builder *builder = builder_for("cpu");
    int first = catalog_builder_add_event_text(builder, &reads, &error),
        second = catalog_builder_add_event_text(builder, &ports, &error);
    assert_true(first > 0 && second > 0);
    host_tree_write_pmu(tree, "cpu", "type", "4\n");
    for (int i = 0; i < 2; i++) { // boxes of a kind are numbered
        const char *box = i == 0 ? "box_0" : "box_1";
        host_tree_write_pmu(tree, box, "type", "20\n");
        host_tree_write_pmu(tree, box, "cpumask", "0\n");
        host_tree_write_pmu(tree, box, "format/event", "config:0-7\n");
        host_tree_write_pmu(tree, box, "format/umask", "config:16-23\n");
    }
    assert_int_equal(host_bind(&tree->roots, "cpu", 4, builder, &binding), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    assert_null(catalog->events[first].uncoded);
    assert_int_equal(catalog->events[first].code.config, 0x030004);
    assert_non_null(catalog->events[second].uncoded);
    assert_int_equal(binding.support[first], PLAN_ELSEWHERE);
    assert_int_equal(binding.support[second], PLAN_ELSEWHERE);
    assert_int_equal(binding.n_cannot, 0); // of the core PMU
    host_binding_deinit(&binding);
    catalog_free(catalog);
}

static void check_arm(const struct host_tree *tree, const char *midr, const char *spec, bool level1) {
    const struct made_up host = {
        .midr = midr, .cores = 4, .format = "event config:0-15;long config1:0", .events = "cpu_cycles event=0x0011"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "armv8_pmuv3_0", "caps/slots", "0x00000005\n");
    host_tree_write(tree, "sys/kernel/osrelease", "6.8.0\n");
    bind(tree, spec, &bound);
    check_literals(&bound, 0, 4, 4);
    assert_true(bound.environment.facts.literals[LITERAL_SLOTS] == 5);
    assert_true(isnan(bound.environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ]));
    assert_true(environment_is_cpu(&bound.environment, midr));
    assert_int_equal(bound.catalog->level1.present, level1);
    assert_int_equal(support_of(&bound, "CPU_CYCLES"), PLAN_SUPPORT_UNKNOWN);
    assert_int_equal(support_of(&bound, "INST_RETIRED"), PLAN_UNSUPPORTED); // a common event that is not named
    unbind(&bound);
}

static void test_neoverse_n2_r0p3(void **state) { check_arm(*state, "0x00000000410fd493\n", "neoverse-n2-r0p3", true); }
static void test_cobalt_100(void **state) { check_arm(*state, "0x000000006d0fd490\n", "neoverse-n2", true); }
static void test_an_unknown_arm_core(void **state) { check_arm(*state, "0x00000000410fd083\n", "armv8-pmuv3", false); }

// Returns the host's catalog and support, for unbind.
static void bind_unknown_x86(const struct host_tree *tree, const struct made_up *host, const char *spec,
                             struct bound *bound) {
    write_host(tree, host);
    bind(tree, spec, bound);
    assert_non_null(bound->row->pmu); // generic: the CPU has no spec of its own
    assert_false(bound->binding.topdown_dropped);
    size_t sampled = 0; // by a PMU that this host lacks
    for (size_t e = 0; e < bound->catalog->n_events; e++)
        sampled += bound->catalog->events[e].sampling_only;
    assert_int_equal(count_support(bound, PLAN_UNSUPPORTED), sampled);
}

static void check_unknown_x86(const struct host_tree *tree, const char *vendor, const char *format, const char *events,
                              const char *spec) {
    const struct made_up host = {.vendor = vendor,
                                 .model_name = "x",
                                 .family = 99,
                                 .model = 1,
                                 .stepping = 1,
                                 .cores = 1,
                                 .format = format,
                                 .events = events};
    struct bound bound;
    bind_unknown_x86(tree, &host, spec, &bound);
    assert_false(bound.catalog->level1.present);
    unbind(&bound);
}

static uint64_t config_of(const struct bound *bound, const char *event) {
    return bound->catalog->events[catalog_find_event(bound->catalog, event)].code.config;
}

// The kernel's own codes: slots is event 0, umask 4; the fields are umasks 0x80 to 0x87 (arch/x86/events/intel/core.c).
static void check_slots(const struct host_tree *tree, unsigned model, const char *events, const char *spec,
                        size_t fields) {
    static const char *const names[] = {"topdown-retiring",  "topdown-bad-spec",  "topdown-fe-bound",
                                        "topdown-be-bound",  "topdown-heavy-ops", "topdown-br-mispredict",
                                        "topdown-fetch-lat", "topdown-mem-bound"};
    const struct made_up host = {.vendor = "GenuineIntel",
                                 .model_name = "x",
                                 .family = 6,
                                 .model = model,
                                 .stepping = 1,
                                 .cores = 2,
                                 .format = INTEL_FORMAT,
                                 .events = events};
    struct bound bound;
    bind_unknown_x86(tree, &host, spec, &bound);
    assert_true(bound.catalog->level1.present && bound.catalog->level1.width == 0);
    assert_int_equal(bound.catalog->level1.n_categories, 4);
    assert_true(bound.catalog->n_topdown > fields);
    assert_int_equal(config_of(&bound, "slots"), 0x0400);
    for (size_t i = 0; i < N_OF(names); i++)
        if (i < fields)
            assert_int_equal(config_of(&bound, names[i]), (0x80 + i) << 8);
        else
            assert_int_equal(catalog_find_event(bound.catalog, names[i]), -1);
    assert_int_equal(catalog_find_metric(bound.catalog, "tma_memory_bound") >= 0, fields == 8);
    unbind(&bound);
}

static void test_tiger_lake_has_level_1_from_the_kernels_events(void **state) {
    check_slots(*state, 140, SLOTS_4, "intel-topdown-l1", 4);
}

static void test_a_cpu_to_come_has_levels_1_and_2_from_the_kernels_events(void **state) {
    check_slots(*state, 255, SLOTS_8, "intel-topdown", 8);
}

// Haswell's names are of other events, of which level 1 takes more than their ratios.
static void test_other_events_called_topdown_are_no_level_1(void **state) {
    check_unknown_x86(*state, "GenuineIntel", INTEL_FORMAT,
                      "cpu-cycles event=0x3c;topdown-total-slots event=0x3c,umask=0x0;topdown-slots-issued "
                      "event=0xe,umask=0x1;topdown-slots-retired event=0xc2,umask=0x2;topdown-fetch-bubbles "
                      "event=0x9c,umask=0x1;topdown-recovery-bubbles event=0xd,umask=0x3,cmask=1",
                      "intel-generic");
}

static void test_zen_4_samples_with_ibs_where_the_host_has_it(void **state) {
    const struct host_tree *tree = *state;
    const struct made_up host = {.vendor = "AuthenticAMD",
                                 .model_name = "AMD EPYC 9654 96-Core Processor",
                                 .family = 25,
                                 .model = 17,
                                 .stepping = 1,
                                 .cores = 1,
                                 .format = AMD_FORMAT,
                                 .events = "cpu-cycles event=0x76"};
    struct bound bound;
    write_host(tree, &host);
    host_tree_write_pmu(tree, "ibs_op", "type", "11\n");
    host_tree_write_pmu(tree, "ibs_op", "format/cnt_ctl", "config:19\n");
    bind(tree, "zen4", &bound);
    const struct catalog_event *op = &bound.catalog->events[catalog_find_event(bound.catalog, "ibs_op")];
    assert_string_equal(op->terms, "cnt_ctl=0x1"); // ibs_op has no term `event`
    assert_true(!op->uncoded && op->code.config == UINT64_C(1) << 19);
    assert_int_not_equal(support_of(&bound, "ibs_op"), PLAN_UNSUPPORTED);
    assert_int_equal(support_of(&bound, "ibs_fetch"), PLAN_UNSUPPORTED);
    unbind(&bound);
}

static void test_an_unknown_cpu_of_intel(void **state) {
    check_unknown_x86(*state, "GenuineIntel", INTEL_FORMAT, NAMES, "intel-generic");
}
static void test_an_unknown_cpu_of_amd(void **state) {
    check_unknown_x86(*state, "AuthenticAMD", AMD_FORMAT, NAMES, "amd-generic");
}

static void test_of_two_kinds_of_x86_cores_the_larger_ones_pmu_is_found_first(void **state) {
    const struct host_tree *tree = *state;
    struct host_core_pmu pmu;
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 0);
    host_tree_write_pmu(tree, "cpu_atom", "type", "10\n");
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 1);
    assert_string_equal(pmu.name, "cpu_atom");
    host_tree_write_pmu(tree, "cpu_core", "type", "4\n");
    assert_int_equal(host_cores_pmus(&tree->roots, "cpu", &pmu, 1), 1);
    assert_string_equal(pmu.name, "cpu_core");
    assert_int_equal(pmu.type, 4);
}

static void test_a_cpuinfo_that_does_not_say_gives_no_cpuid(void **state) {
    const struct host_tree *tree = *state;
    static const char *const wrong[] = {
        "", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n",
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: many\nstepping\t: 1\n",
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: unknown\n",
        "vendor_id\t: Much too long a name\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: 1\n"};
    char cpuid[HOST_CPUID_MAX] = "untouched";
    assert_int_equal(host_cpu_cpuid(&tree->roots, cpuid, sizeof cpuid), -ENOENT);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        host_tree_write(tree, "cpuinfo", wrong[i]);
        assert_int_equal(host_cpu_cpuid(&tree->roots, cpuid, sizeof cpuid), -ENOENT);
        assert_string_equal(cpuid, "untouched");
    }
}

static void test_events_with_the_kernels_names_are_asked_for_in_sysfs(void **state) {
    const struct host_tree *tree = *state;
    const struct host_events events = {.roots = tree->roots, .pmu = "cpu"};
    host_tree_write_pmu(tree, "cpu", "events/cycles-t", "event=0x3c,in_tx=1\n");
    assert_true(host_cpu_event(&events, "cycles-t"));
    assert_false(host_cpu_event(&events, "el-start"));
    assert_true(host_cpu_event(&events, "INST_RETIRED.ANY")); // the spec's
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_sapphire_rapids_on_bare_metal_has_its_topdown_counters),
        ON_A_TREE(test_ice_lake_in_a_virtual_machine_without_slots_uses_ordinary_events),
        ON_A_TREE(test_a_kernel_that_lacks_one_field_has_no_topdown_counters),
        ON_A_TREE(test_siblings_that_are_offline_now_were_there_at_boot),
        ON_A_TREE(test_skylake_with_smt_and_the_watchdog),
        ON_A_TREE(test_zen_4_counts_events_of_other_pmus_elsewhere),
        ON_A_TREE(test_nehalem_has_no_level_1_and_its_uncore_is_elsewhere),
        ON_A_TREE(test_events_that_the_kernel_cannot_express_are_unsupported),
        ON_A_TREE(test_a_pmu_that_counts_for_each_cpu_is_bound_too),
        ON_A_TREE(test_events_of_a_sockets_pmu_are_encoded_as_the_host_says_and_not_counted),
        ON_A_TREE(test_neoverse_n2_r0p3),
        ON_A_TREE(test_cobalt_100),
        ON_A_TREE(test_an_unknown_arm_core),
        ON_A_TREE(test_zen_4_samples_with_ibs_where_the_host_has_it),
        ON_A_TREE(test_an_unknown_cpu_of_intel),
        ON_A_TREE(test_tiger_lake_has_level_1_from_the_kernels_events),
        ON_A_TREE(test_a_cpu_to_come_has_levels_1_and_2_from_the_kernels_events),
        ON_A_TREE(test_other_events_called_topdown_are_no_level_1),
        ON_A_TREE(test_an_unknown_cpu_of_amd),
        ON_A_TREE(test_of_two_kinds_of_x86_cores_the_larger_ones_pmu_is_found_first),
        ON_A_TREE(test_a_cpuinfo_that_does_not_say_gives_no_cpuid),
        ON_A_TREE(test_events_with_the_kernels_names_are_asked_for_in_sysfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
