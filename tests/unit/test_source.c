// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_find.h"
#include "daemon/uncore/uncore_setup.h"
#include "tests/unit/host_tree.h"

#include <errno.h>

// Sources of a made-up host, a simulated one and a recording have the same facts.

static void write_skylake(const struct host_tree *tree, const char *watchdog) {
    static const char *const format[][2] = {{"event", "config:0-7"},
                                            {"umask", "config:8-15"},
                                            {"edge", "config:18"},
                                            {"any", "config:21"},
                                            {"inv", "config:23"},
                                            {"cmask", "config:24-31"},
                                            {"offcore_rsp", "config1:0-63"},
                                            {"frontend", "config1:0-23"}};
    host_tree_write(tree, "cpuinfo",
                    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
                    "model name\t: made up\nstepping\t: 4\n");
    host_tree_write(tree, "devices/system/cpu/online", "0-3\n");
    host_tree_write(tree, "devices/system/cpu/present", "0-3\n");
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        char own[8];
        (void)snprintf(own, sizeof own, "%u\n", cpu);
        host_tree_write_cpu(tree, cpu, own, "0\n");
    }
    host_tree_write_pmu(tree, "software", "type", "1\n");
    host_tree_write_pmu(tree, "cpu", "type", "4\n");
    for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "format/%s", format[i][0]);
        host_tree_write_pmu(tree, "cpu", name, format[i][1]);
    }
    host_tree_write(tree, "sys/kernel/nmi_watchdog", watchdog);
}

// The source of the options' only type of cores.
static struct source *find(const struct options *options) {
    struct specs specs;
    struct errors errors = {0};
    struct source *sources[SOURCE_TYPES_MAX];
    size_t n;
    assert_int_equal(data_open_specs(".", &specs, &errors), 0);
    const struct source_request request = {.options = options, .data = ".", .specs = &specs};
    int r = source_find(&request, &errors, sources, &n);
    if (r < 0)
        fail_msg("%s", errors.items[0].text);
    assert_int_equal(n, 1);
    specs_deinit(&specs);
    return sources[0];
}

static struct source *find_skylake(const struct host_tree *tree, const char *watchdog) {
    const struct options options = {.pmu = PMU_AUTO, .paths = {.sysfs = tree->root, .procfs = tree->root}};
    write_skylake(tree, watchdog);
    return find(&options);
}

static void test_a_host_whose_nmi_watchdog_is_on_has_one_fixed_counter_less(void **state) {
    const struct host_tree *tree = *state;
    struct source *source = find_skylake(tree, "0\n");
    assert_string_equal(source->catalog->product.spec, "skylake-sp");
    assert_false(source->nmi_watchdog);
    assert_int_equal(source_fixed_counters(source), 3);
    assert_false(source_watchdog_holds(source, (size_t)source->catalog->watchdog_event));
    source_free(source);
    source = find_skylake(tree, "1\n");
    assert_true(source->nmi_watchdog);
    assert_int_equal(source_fixed_counters(source), 2);
    assert_true(source_watchdog_holds(source, (size_t)source->catalog->watchdog_event));
    source_free(source);
}

static void test_a_host_tells_what_it_is_and_has_no_past(void **state) {
    struct source *source = find_skylake(*state, "0\n");
    char text[64] = "x";
    assert_string_equal(source->pmu_name, "cpu");
    assert_string_equal(source->cpu.model, "made up");
    assert_true(source->takes_counters && source->general_counters == 4);
    assert_false(source->simulated || source->replayed);
    assert_null(source->past.plan);
    assert_null(source->past.profile);
    source_describe(source, text, sizeof text);
    assert_string_equal(text, "");
    source_free(source);
}

static void test_a_simulated_host_says_so_and_has_its_own_counters(void **state) {
    const struct host_tree *tree = *state;
    const struct options options = {.pmu = PMU_SIM,
                                    .scenario = "tests/data/scenarios/steady.json",
                                    .paths = {.sysfs = tree->root, .procfs = tree->root}};
    struct source *source = find(&options);
    struct cpuset none = {0}, wanted;
    struct topology *topology, *later;
    struct errors errors = {0};
    assert_true(source->simulated && source->takes_counters && !source->nmi_watchdog);
    assert_int_equal(source->general_counters, 6);
    assert_string_equal(source->pmu_name, "simulated");
    assert_int_equal(cpuset_parse("2-3", &wanted), 0);
    assert_int_equal(source_topology(source, &wanted, &errors, &topology), 0);
    assert_int_equal(topology->n_cpus, 2);
    assert_int_equal(source_topology_update(source, NULL, topology, &later), 0); // none come online
    assert_int_equal(source_topology(source, &none, &errors, &later), -EINVAL);
    source_choose_guests(source, false);
    assert_false(source->exclude_guest);
    topology_free(topology);
    source_free(source);
}

static void test_a_log_of_perf_is_replayed_and_counts_nothing_here(void **state) {
    const struct host_tree *tree = *state;
    const struct options options = {.pmu = PMU_REPLAY,
                                    .replay.path = "tests/data/perf/cpus-6.1.csv",
                                    .spec = "software",
                                    .paths = {.sysfs = tree->root, .procfs = tree->root}};
    struct source *source = find(&options);
    struct errors errors = {0};
    struct pmu *pmu;
    char text[128];
    assert_true(source->replayed && !source->simulated);
    assert_null(source->past.hostname);
    assert_null(source->past.profile);
    assert_int_equal(source_pmu(source, 0, &errors, &pmu), -EOPNOTSUPP);
    source_describe(source, text, sizeof text);
    assert_string_equal(text, "replay of tests/data/perf/cpus-6.1.csv, a log of perf");
    source_free(source);
}

// Writes a shipped scenario with another word in the place of one of its words.
static void write_scenario(const struct host_tree *tree, const char *from, const char *to, char path[static 512]) {
    static char text[1 << 16];
    FILE *file = fopen("tests/data/scenarios/boxes.json", "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(fclose(file), 0);
    text[length] = '\0';
    const char *at = strstr(text, from);
    assert_non_null(at);
    (void)snprintf(path, 512, "%s/wrong.json", tree->root);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    assert_int_equal(fclose(file), 0);
}

static void test_a_rate_that_no_spec_has_names_the_scenarios_file_for_cores_and_boxes(void **state) {
    static const struct {
        const char *from;
        size_t type; // of the set-up
        const char *spec;
    } cases[] = {{"\"CPU_CYCLES\"", 0, "neoverse-v2"}, {"\"UNC_M_CAS_COUNT.RD\"", 1, "uncore/imc-sapphire-rapids"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512], wanted[128];
        struct setup *setup = calloc(1, sizeof *setup);
        struct errors errors = {0};
        struct pmu *pmu;
        assert_non_null(setup);
        write_scenario(*state, cases[i].from, "\"UNHEARD_OF\"", path);
        const struct options options = {.pmu = PMU_SIM,
                                        .scenario = path,
                                        .config = "/nonexistent",
                                        .paths = {.data = ".", .sysfs = "/sys", .procfs = "/proc"}};
        assert_int_equal(setup_init(setup, &options, &errors), 0);
        assert_int_equal(uncore_setup(setup, &options, &errors), 0);
        assert_int_equal(source_pmu(setup->types[cases[i].type].source, 1, &errors, &pmu), -EINVAL);
        assert_int_equal(errors.n, 1);
        assert_string_equal(errors.items[0].file, path);
        (void)snprintf(wanted, sizeof wanted, "the event UNHEARD_OF has no such rate, or spec %s does not have it",
                       cases[i].spec);
        assert_string_equal(errors.items[0].text, wanted);
        setup_deinit(setup);
        free(setup);
    }
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_a_host_whose_nmi_watchdog_is_on_has_one_fixed_counter_less),
        ON_A_TREE(test_a_host_tells_what_it_is_and_has_no_past),
        ON_A_TREE(test_a_simulated_host_says_so_and_has_its_own_counters),
        ON_A_TREE(test_a_log_of_perf_is_replayed_and_counts_nothing_here),
        ON_A_TREE(test_a_rate_that_no_spec_has_names_the_scenarios_file_for_cores_and_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
