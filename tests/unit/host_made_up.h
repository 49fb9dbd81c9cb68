// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_HOST_MADE_UP_H
#define TOPDOWND_TESTS_UNIT_HOST_MADE_UP_H

// Made-up hosts: the chosen spec, the facts for formulas, the events that the host cannot count, and how level 1 is
// measured.

#include "tests/unit/host_tree.h"

#include <errno.h>
#include <math.h>

#include "collectors/host/host_bind.h"
#include "collectors/host/host_cores.h"
#include "collectors/host/host_cpu.h"
#include "collectors/host/host_pmu.h"
#include "config/spec/cpu_map_json.h"
#include "config/spec/spec_json.h"
#include "tests/unit/core_check.h"

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
static inline void write_files(const struct host_tree *tree, const char *pmu, const char *folder, const char *list) {
    while (list && *list != '\0') {
        char name[64], file[96], text[96];
        int used = 0;
        assert_int_equal(sscanf(list, "%63[^ ] %95[^;]%n", name, text, &used), 2);
        (void)snprintf(file, sizeof file, "%s/%s", folder, name);
        host_tree_write_pmu(tree, pmu, file, text);
        list += used + (list[used] == ';');
    }
}

static inline void write_cpus(const struct host_tree *tree, const struct made_up *host) {
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

static inline void write_host(const struct host_tree *tree, const struct made_up *host) {
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

static inline bool has_pmu(const void *context, const char *pattern) {
    struct host_core_pmu first;
    return host_cores_pmus(context, pattern, &first, 1) > 0;
}

static inline bool shows(const void *context, const char *pmu, const char *event) {
    char terms[96];
    return host_pmu_alias(context, pmu, event, terms, sizeof terms) == 0;
}

static inline void bind(const struct host_tree *tree, const char *spec, struct bound *out) {
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

static inline void unbind(struct bound *bound) {
    host_binding_deinit(&bound->binding);
    catalog_free(bound->catalog);
    cpu_map_deinit(&bound->map);
}

static inline size_t count_support(const struct bound *bound, enum plan_support support) {
    size_t n = 0;
    for (size_t e = 0; e < bound->catalog->n_events; e++)
        n += bound->binding.support[e] == support;
    return n;
}

static inline unsigned support_of(const struct bound *bound, const char *event) {
    int e = catalog_find_event(bound->catalog, event);
    assert_true(e >= 0);
    return bound->binding.support[e];
}

static inline void check_literals(const struct bound *bound, double smt, double cpus, double cores) {
    const double *literals = bound->environment.facts.literals;
    assert_true(literals[LITERAL_SMT_ON] == smt);
    assert_true(literals[LITERAL_NUM_CPUS] == cpus && literals[LITERAL_NUM_CPUS_ONLINE] == cpus);
    assert_true(literals[LITERAL_NUM_CORES] == cores);
    assert_true(literals[LITERAL_NUM_DIES] == 1 && literals[LITERAL_NUM_PACKAGES] == 1);
    assert_true(literals[LITERAL_HAS_PMEM] == 0);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

#endif
