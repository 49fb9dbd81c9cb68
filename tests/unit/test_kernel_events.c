// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/spec/spec_json.h"
#include "daemon/source/source_find.h"
#include "tests/build/build.h"

// CPUs without a spec are measured with the kernel's generic events, of which each driver translates some. This program
// has its own syscall(), which takes precedence over the C library's: a fake driver that opens some events.

enum { CYCLES = PERF_COUNT_HW_CPU_CYCLES, INSTRUCTIONS = PERF_COUNT_HW_INSTRUCTIONS, OTHERS_MAX = 16 };

// All but these, in the order of attr.type << 32 | attr.config, are refused with `error`.
static struct {
    uint64_t translates[OTHERS_MAX];
    size_t n;
    int error;
    int cpu; // of the last question
} driver;

static uint64_t hardware(uint64_t config) { return config; }
static uint64_t cache(uint64_t id, uint64_t op, uint64_t result) {
    return (uint64_t)PERF_TYPE_HW_CACHE << 32 | id | op << 8 | result << 16;
}

long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    const struct perf_event_attr *attr = va_arg(arguments, const struct perf_event_attr *);
    (void)va_arg(arguments, int);
    driver.cpu = va_arg(arguments, int);
    va_end(arguments);
    assert_int_equal(number, SYS_perf_event_open);
    assert_true(attr->disabled);
    for (size_t i = 0; i < driver.n; i++)
        if (((uint64_t)attr->type << 32 | attr->config) == driver.translates[i])
            return open("/dev/null", O_RDONLY | O_CLOEXEC);
    errno = driver.error;
    return -1;
}

static void translate(int error, const uint64_t *events, size_t n) {
    driver.n = n;
    driver.error = error;
    for (size_t i = 0; i < n; i++)
        driver.translates[i] = events[i];
}

static void write_host(const struct host_tree *tree, const char *cpuinfo, const char *pmu) {
    char name[128];
    host_tree_write(tree, "cpuinfo", cpuinfo);
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    host_tree_write(tree, "devices/system/cpu/present", "0-3\n");
    host_tree_write_pmu(tree, "software", "type", "1\n");
    (void)snprintf(name, sizeof name, "bus/event_source/devices/%s/type", pmu);
    host_tree_write(tree, name, "4\n");
    (void)snprintf(name, sizeof name, "bus/event_source/devices/%s/format/event", pmu);
    host_tree_write(tree, name, "config:0-7\n"); // of raw events: it says nothing about generic ones
}

static size_t find_sources(const struct host_tree *tree, struct source *sources[SOURCE_TYPES_MAX]) {
    const struct options options = {.pmu = PMU_AUTO, .paths = {.sysfs = tree->root, .procfs = tree->root}};
    struct specs specs;
    struct errors errors = {0};
    size_t n;
    assert_int_equal(data_open_specs(".", &specs, &errors), 0);
    const struct source_request request = {.options = &options, .data = ".", .specs = &specs};
    if (source_find(&request, &errors, sources, &n) < 0)
        fail_msg("%s", errors.items[0].text);
    specs_deinit(&specs);
    return n;
}

static struct source *find(const struct host_tree *tree) {
    struct source *sources[SOURCE_TYPES_MAX];
    assert_int_equal(find_sources(tree, sources), 1);
    return sources[0];
}

static enum plan_support support_of(const struct source *source, const char *event) {
    int e = catalog_find_event(source->catalog, event);
    assert_true(e >= 0);
    return (enum plan_support)source->support[e];
}

static const char POWER[] = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nrevision\t: 2.2\n";

static void test_cpus_of_all_kinds_are_measured_with_generic_events(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *cpuinfo, *pmu;
    } hosts[] = {{POWER, "cpu"},
                 {"vendor_id       : IBM/S390\n# processors    : 4\n", "cpum_cf"},
                 {"processor\t: 0\nvendor_id\t: CentaurHauls\ncpu family\t: 7\nmodel\t\t: 59\nstepping\t: 0\n", "cpu"}};
    static const uint64_t both[] = {CYCLES, INSTRUCTIONS};
    translate(ENOENT, both, 2);
    for (size_t i = 0; i < N_OF(hosts); i++) {
        write_host(tree, hosts[i].cpuinfo, hosts[i].pmu);
        struct source *source = find(tree);
        assert_string_equal(source->catalog->product.spec, "kernel-events");
        assert_string_equal(source->pmu_name, hosts[i].pmu);
        assert_string_equal(source->microarchitecture, "unknown");
        assert_true(source->takes_counters && source->general_counters == 4);
        assert_string_equal(source->troubles.errors[0].reason, "unknown_core");
        assert_non_null(strstr(source->troubles.texts[0], "the kernel's common events"));
        source_free(source);
        host_tree_write(tree, "bus/event_source/devices/cpu/type", "none\n");
    }
}

static void test_each_type_of_apple_silicon_has_its_pmu(void **state) {
    const struct host_tree *tree = *state;
    static const uint64_t both[] = {CYCLES, INSTRUCTIONS};
    struct source *sources[SOURCE_TYPES_MAX];
    translate(ENOENT, both, 2);
    write_host(tree, "processor\t: 0\nCPU implementer\t: 0x61\n", "apple_icestorm_pmu");
    host_tree_write_pmu(tree, "apple_icestorm_pmu", "cpus", "0-1\n");
    host_tree_write_pmu(tree, "apple_firestorm_pmu", "type", "5\n");
    host_tree_write_pmu(tree, "apple_firestorm_pmu", "cpus", "2-3\n");
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        char name[96];
        (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
        host_tree_write(tree, name, cpu < 2 ? "0x00000000611f0221\n" : "0x00000000611f0231\n");
    }
    assert_int_equal(find_sources(tree, sources), 2);
    assert_string_equal(sources[0]->core_type, "apple_icestorm_pmu");
    assert_string_equal(sources[1]->core_type, "apple_firestorm_pmu");
    assert_int_equal(driver.cpu, 2); // asked on a CPU of its own
    source_free(sources[0]);
    source_free(sources[1]);
}

static void test_only_what_the_driver_opens_is_used(void **state) {
    const struct host_tree *tree = *state;
    static const int refusals[] = {ENOENT, EOPNOTSUPP, EINVAL};
    const uint64_t some[] = {
        hardware(CYCLES), hardware(INSTRUCTIONS), hardware(PERF_COUNT_HW_BRANCH_MISSES),
        cache(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)};
    for (size_t i = 0; i < N_OF(refusals); i++) {
        translate(refusals[i], some, N_OF(some));
        write_host(tree, POWER, "cpu");
        struct source *source = find(tree);
        assert_int_equal(support_of(source, "cycles"), PLAN_SUPPORT_UNKNOWN);
        assert_int_equal(support_of(source, "branch-misses"), PLAN_SUPPORT_UNKNOWN);
        assert_int_equal(support_of(source, "L1-dcache-load-misses"), PLAN_SUPPORT_UNKNOWN);
        assert_int_equal(support_of(source, "branches"), PLAN_UNSUPPORTED);
        assert_int_equal(support_of(source, "L1-dcache-loads"), PLAN_UNSUPPORTED);
        assert_int_equal(support_of(source, "dTLB-load-misses"), PLAN_UNSUPPORTED);
        source_free(source);
    }
}

// What others do with the counters, or a missing permission, says nothing about the CPU.
static void test_a_refusal_for_other_reasons_rules_out_nothing(void **state) {
    const struct host_tree *tree = *state;
    static const uint64_t both[] = {CYCLES, INSTRUCTIONS};
    write_host(tree, POWER, "cpu");
    translate(EBUSY, both, 2);
    struct source *source = find(tree);
    assert_int_equal(support_of(source, "branches"), PLAN_SUPPORT_UNKNOWN);
    source_free(source);
    translate(ENOENT, both, 0); // not even cycles
    source = find(tree);
    assert_int_equal(support_of(source, "branches"), PLAN_SUPPORT_UNKNOWN);
    source_free(source);
}

// A CPU of a vendor whose common events are known: what it caches, only the kernel's driver knows.
static void test_generic_events_complete_the_common_ones_of_a_vendor(void **state) {
    const struct host_tree *tree = *state;
    const uint64_t core = (uint64_t)4 << 32; // the type of the PMU in sysfs
    const uint64_t cycles[] = {core | 0x3c},
                   both[] = {core | 0x3c, cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ,
                                                PERF_COUNT_HW_CACHE_RESULT_MISS)};
    for (size_t n = 0; n <= 2; n++) {
        translate(ENOENT, n < 2 ? cycles : both, n);
        write_host(tree, "vendor_id\t: GenuineIntel\ncpu family\t: 19\nmodel\t\t: 1\nstepping\t: 0\n", "cpu");
        host_tree_write_pmu(tree, "cpu", "format/umask", "config:8-15\n");
        struct source *source = find(tree);
        assert_string_equal(source->catalog->product.spec, "intel-generic");
        enum plan_support tlb = n == 1 ? PLAN_UNSUPPORTED : PLAN_SUPPORT_UNKNOWN; // n is 0: nothing opens at all
        assert_int_equal(support_of(source, "dTLB-load-misses"), tlb);
        assert_int_equal(support_of(source, "L1-dcache-loads"), n > 0 ? PLAN_UNSUPPORTED : PLAN_SUPPORT_UNKNOWN);
        assert_int_equal(support_of(source, "INST_RETIRED.ANY"), PLAN_SUPPORT_UNKNOWN);
        source_free(source);
    }
}

static const char TIGER_LAKE[] = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 140\nstepping\t: 1\n";
static const char SAPPHIRE_RAPIDS[] = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: 8\n";

static struct source *find_with_fields(const struct host_tree *tree, const char *cpuinfo) {
    static const char *const names[] = {"slots",
                                        "topdown-retiring",
                                        "topdown-bad-spec",
                                        "topdown-fe-bound",
                                        "topdown-be-bound",
                                        "topdown-heavy-ops",
                                        "topdown-br-mispredict",
                                        "topdown-fetch-lat",
                                        "topdown-mem-bound"};
    size_t n = cpuinfo == TIGER_LAKE ? 5 : N_OF(names);
    write_host(tree, cpuinfo, "cpu");
    host_tree_write_pmu(tree, "cpu", "format/umask", "config:8-15\n");
    for (size_t i = 0; i < n; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "events/%s", names[i]);
        host_tree_write_pmu(tree, "cpu", name, "event=0x00\n");
    }
    return find(tree);
}

static bool told(const struct source *source, const char *reason) {
    for (size_t i = 0; i < source->troubles.n; i++)
        if (strcmp(source->troubles.errors[i].reason, reason) == 0)
            return true;
    return false;
}

// A virtual machine may have the kernel's names for the fields and no counter for slots: an event group that slots
// leads would never be opened there. Where nothing opens, the reason is another one.
static void test_a_kernel_that_shows_slots_and_refuses_them_has_the_other_events(void **state) {
    const struct host_tree *tree = *state;
    const uint64_t core = (uint64_t)4 << 32, events[] = {core | 0x0300, core | 0x0400};
    for (size_t n = 0; n <= 2; n++) {
        translate(EINVAL, events, n); // nothing, reference cycles, and slots
        struct source *source = find_with_fields(tree, TIGER_LAKE);
        assert_string_equal(source->catalog->product.spec, "intel-topdown-l1");
        assert_int_equal(source->catalog->level1.present, n != 1);
        assert_int_equal(source->making.topdown_dropped, n == 1);
        assert_int_equal(told(source, "no_slots"), n == 1);
        assert_int_equal(support_of(source, "slots"), n == 1 ? PLAN_UNSUPPORTED : PLAN_SUPPORT_UNKNOWN);
        assert_int_equal(support_of(source, "INST_RETIRED.ANY"), PLAN_SUPPORT_UNKNOWN);
        source_free(source);
    }
}

static void test_a_known_cpu_whose_kernel_refuses_slots_has_level_1_from_ordinary_events(void **state) {
    const struct host_tree *tree = *state;
    const uint64_t events[] = {(uint64_t)4 << 32 | 0x0300};
    translate(EINVAL, events, 1);
    struct source *source = find_with_fields(tree, SAPPHIRE_RAPIDS);
    assert_string_equal(source->catalog->product.spec, "sapphire-rapids");
    assert_true(source->catalog->level1.present && told(source, "no_slots"));
    assert_string_equal(source->catalog->level1.pipeline_slots_text, "TOPDOWN.SLOTS_P");
    source_free(source);
}

// perf_event_attr.config of PERF_TYPE_HW_CACHE: id | op << 8 | result << 16 (perf_event_open(2)).
static void test_every_generic_event_has_the_kernels_number(void **state) {
    (void)state;
    const struct {
        const char *name;
        uint64_t number;
    } wanted[] = {{"cycles", hardware(PERF_COUNT_HW_CPU_CYCLES)},
                  {"instructions", hardware(PERF_COUNT_HW_INSTRUCTIONS)},
                  {"cache-references", hardware(PERF_COUNT_HW_CACHE_REFERENCES)},
                  {"cache-misses", hardware(PERF_COUNT_HW_CACHE_MISSES)},
                  {"branches", hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS)},
                  {"branch-misses", hardware(PERF_COUNT_HW_BRANCH_MISSES)},
                  {"stalled-cycles-frontend", hardware(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND)},
                  {"stalled-cycles-backend", hardware(PERF_COUNT_HW_STALLED_CYCLES_BACKEND)},
                  {"ref-cycles", hardware(PERF_COUNT_HW_REF_CPU_CYCLES)},
                  {"L1-dcache-loads", cache(PERF_COUNT_HW_CACHE_L1D, 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
                  {"L1-dcache-load-misses", cache(PERF_COUNT_HW_CACHE_L1D, 0, PERF_COUNT_HW_CACHE_RESULT_MISS)},
                  {"L1-icache-loads", cache(PERF_COUNT_HW_CACHE_L1I, 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
                  {"L1-icache-load-misses", cache(PERF_COUNT_HW_CACHE_L1I, 0, PERF_COUNT_HW_CACHE_RESULT_MISS)},
                  {"LLC-loads", cache(PERF_COUNT_HW_CACHE_LL, 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
                  {"LLC-load-misses", cache(PERF_COUNT_HW_CACHE_LL, 0, PERF_COUNT_HW_CACHE_RESULT_MISS)},
                  {"dTLB-loads", cache(PERF_COUNT_HW_CACHE_DTLB, 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
                  {"dTLB-load-misses", cache(PERF_COUNT_HW_CACHE_DTLB, 0, PERF_COUNT_HW_CACHE_RESULT_MISS)},
                  {"iTLB-loads", cache(PERF_COUNT_HW_CACHE_ITLB, 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
                  {"iTLB-load-misses", cache(PERF_COUNT_HW_CACHE_ITLB, 0, PERF_COUNT_HW_CACHE_RESULT_MISS)}};
    static struct errors errors;
    struct catalog *catalog;
    assert_int_equal(spec_json_load("specs/kernel-events.json", NULL, &errors, &catalog), 0);
    assert_int_equal(catalog->n_events, N_OF(wanted) + 1); // and the measured time
    for (size_t i = 0; i < N_OF(wanted); i++) {
        const struct catalog_event *event = &catalog->events[catalog_find_event(catalog, wanted[i].name)];
        const char *pmu = wanted[i].number >> 32 == PERF_TYPE_HW_CACHE ? "hw_cache" : "hardware";
        assert_true(event->code.config == (uint32_t)wanted[i].number);
        assert_string_equal(catalog->pmus[event->code.pmu], pmu);
        assert_null(event->uncoded);
        assert_false(event->need.free); // it takes one of the core's counters
    }
    catalog_free(catalog);
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_cpus_of_all_kinds_are_measured_with_generic_events),
        ON_A_TREE(test_each_type_of_apple_silicon_has_its_pmu),
        ON_A_TREE(test_only_what_the_driver_opens_is_used),
        ON_A_TREE(test_generic_events_complete_the_common_ones_of_a_vendor),
        ON_A_TREE(test_a_kernel_that_shows_slots_and_refuses_them_has_the_other_events),
        ON_A_TREE(test_a_known_cpu_whose_kernel_refuses_slots_has_level_1_from_ordinary_events),
        ON_A_TREE(test_a_refusal_for_other_reasons_rules_out_nothing),
        cmocka_unit_test(test_every_generic_event_has_the_kernels_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
