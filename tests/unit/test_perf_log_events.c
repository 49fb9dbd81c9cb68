// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/perf_log_check.h"

#include <glob.h>

// The lines of perf's logs: events under their many names, cgroups, repeated runs.

static void test_names_of_events(void **state) {
    (void)state;
    struct catalog *catalog = load_spec("neoverse-v1");
    int cycles = catalog_find_event(catalog, "CPU_CYCLES");
    static const char *const names[] = {"CPU_CYCLES", "cpu_cycles",   "cpu-cycles",         "cpu_cycles:u",
                                        "r11",        "r0011",        "armv8/cpu_cycles/",  "armv8/event=0x11/",
                                        "r11:k",      "CPU_CYCLES:u", "armv8/config=0x11/u"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(perf_log_find_event(catalog, NULL, names[i]), cycles);
    static const char *const unknown[] = {"", "r", "rx", "r1111111111111111111", "cycle", "/", "a/", "//", "a/event=/"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(perf_log_find_event(catalog, NULL, unknown[i]), -1);
    catalog_free(catalog);
}

// What the kernel counts for a name of perf's (arch/x86/events/*/core.c, drivers/perf/arm_pmuv3.c), by hand.
static const struct {
    const char *spec, *name, *event; // NULL: it depends on the kernel, or the model
} NAMES[] = {{"neoverse-v2", "cycles", "CPU_CYCLES"},
             {"neoverse-v2", "cpu-cycles:u", "CPU_CYCLES"},
             {"neoverse-v2", "armv8_pmuv3_0/instructions/", "INST_RETIRED"},
             {"neoverse-v2", "branch-misses", "BR_MIS_PRED"},
             {"neoverse-v2", "cache-references", "L1D_CACHE"},
             {"neoverse-v2", "cache-misses", "L1D_CACHE_REFILL"},
             {"neoverse-v2", "l1-icache-load-misses", "L1I_CACHE_REFILL"},
             {"neoverse-v2", "LLC-loads", "LL_CACHE_RD"},
             {"neoverse-v2", "stalled-cycles-backend", "STALL_BACKEND"},
             {"neoverse-v2", "branches", NULL},
             {"neoverse-v2", "ref-cycles", NULL},
             {"skylake-sp", "cycles", "CPU_CLK_UNHALTED.THREAD"},
             {"skylake-sp", "instructions", "INST_RETIRED.ANY"},
             {"skylake-sp", "branches", "BR_INST_RETIRED.ALL_BRANCHES"},
             {"skylake-sp", "branch-misses", "BR_MISP_RETIRED.ALL_BRANCHES"},
             {"skylake-sp", "cpu/cache-misses/", "LONGEST_LAT_CACHE.MISS"},
             {"skylake-sp", "ref-cycles", "CPU_CLK_UNHALTED.REF_TSC"},
             {"skylake-sp", "LLC-loads", NULL},
             {"skylake-sp", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"},
             {"skylake-sp", "L1-dcache-load-misses", "L1D.REPLACEMENT"},
             {"skylake-sp", "cpu/UOPS_ISSUED.ANY,cmask=1/", "UOPS_ISSUED.ANY_c1"},
             {"skylake-sp", "cpu/UOPS_ISSUED.ANY,umask=0x02/", NULL}, // a term twice
             {"skylake-sp", "cpu/idq.ms_uops,cmask=1,edge=1/u", "IDQ.MS_SWITCHES"},
             {"cascade-lake", "cpu/L1-dcache-loads/", "MEM_INST_RETIRED.ALL_LOADS"},
             {"ice-lake-sp", "iTLB-load-misses:u", "ITLB_MISSES.WALK_COMPLETED"},
             {"sapphire-rapids", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"},
             {"granite-rapids", "L1-dcache-loads", "MEM_INST_RETIRED.ALL_LOADS"},
             {"golden-cove", "cpu_core/dTLB-load-misses/", "DTLB_LOAD_MISSES.WALK_COMPLETED"},
             {"lion-cove", "cpu_core/L1-icache-load-misses/u", "L2_RQSTS.ALL_CODE_RD"},
             {"gracemont", "cpu_atom/L1-icache-loads/", "ICACHE.ACCESSES"},
             {"gracemont", "cpu_atom/iTLB-load-misses/", NULL}, // ITLB.MISS
             {"skymont", "cpu_atom/dTLB-store-misses/", "DTLB_STORE_MISSES.WALK_COMPLETED"},
             {"sierra-forest", "L1-dcache-loads", "MEM_UOPS_RETIRED.ALL_LOADS"},
             {"a64fx", "cycles", "CPU_CYCLES"},
             {"olympus", "armv8_pmuv3_0/instructions/", "INST_RETIRED"},
             {"sapphire-rapids", "cycles", "CPU_CLK_UNHALTED.THREAD"},
             {"sapphire-rapids", "slots", "slots"},
             {"zen1", "cycles", "ls_not_halted_cyc"},
             {"zen1", "instructions", "ex_ret_instr"},
             {"zen1", "branch-misses", "ex_ret_brn_misp"},
             {"zen1", "stalled-cycles-frontend", NULL},
             {"zen1", "branch-load-misses", "ex_ret_brn_misp"},
             {"zen2", "dTLB-load-misses", NULL}, // another event before Linux 5.2
             {"zen3", "dTLB-load-misses", "l2_dtlb_misses"},
             {"zen3", "iTLB-load-misses", "bp_l1_tlb_miss_l2_tlb_miss"},
             {"zen4", "cpu/dTLB-loads/", "ls_l1_d_tlb_miss.all"},
             {"zen4", "iTLB-load-misses", NULL},
             {"zen5", "iTLB-loads:u", "bp_l1_tlb_miss_l2_tlb_hit"},
             {"zen6", "dTLB-load-misses", "ls_l1_d_tlb_miss.l2_miss_all"},
             {"zen6", "LLC-load-misses", NULL},
             {"nehalem-ep", "L1-dcache-loads", "MEM_INST_RETIRED.LOADS"},
             {"nehalem-ep", "L1-dcache-load-misses", "L1D.REPL"},
             {"nehalem-ep", "L1-icache-loads", "L1I.READS"},
             {"nehalem-ep", "iTLB-load-misses", "ITLB_MISS_RETIRED"},
             {"nehalem-ep", "dTLB-loads", NULL}, // L1D_CACHE_LD.MESI
             {"nehalem-ep", "node-load-misses", "OFFCORE_RESPONSE.DEMAND_DATA_RD.REMOTE_DRAM"},
             {"nehalem-ep", "stalled-cycles-frontend", "UOPS_ISSUED.STALL_CYCLES"},
             {"nehalem-ep", "LLC-load-misses", NULL},
             {"nehalem-ep", "offcore_response.any_data.local_dram", "OFFCORE_RESPONSE.ANY_DATA.LOCAL_DRAM"},
             {"nehalem-ep", "OFFCORE_RESPONSE_0.PF_RFO.IO_CSR_MMIO:u", "OFFCORE_RESPONSE.PF_RFO.IO_CSR_MMIO"},
             {"nehalem-ep", "cpu/event=0xb7,umask=0x1,offcore_rsp=0x4011/", "OFFCORE_RESPONSE.ANY_DATA.LOCAL_DRAM"},
             {"westmere-ep", "offcore_response_1.corewb.local_cache", "OFFCORE_RESPONSE.COREWB.LOCAL_CACHE"},
             {"westmere-ep", "OFFCORE_RESPONSE.ANY_DATA.LOCAL_DRAM", NULL}, // it cannot tell it from remote caches
             {"westmere-ep", "dTLB-loads", "MEM_INST_RETIRED.LOADS"},
             {"westmere-ep", "iTLB-load-misses", "ITLB_MISSES.ANY"},
             {"sandy-bridge-ep", "L1-dcache-load-misses", "L1D.REPLACEMENT"},
             {"sandy-bridge-ep", "L1-dcache-loads", NULL}, // unit mask 0xf1
             {"ivy-bridge-ep", "iTLB-loads", "ITLB_MISSES.STLB_HIT"},
             {"haswell-ep", "L1-icache-load-misses", "ICACHE.MISSES"},
             {"haswell-ep", "branch-load-misses", "BR_MISP_RETIRED.ALL_BRANCHES"},
             {"haswell-ep", "dTLB-loads", NULL},
             {"broadwell-ep", "L1-dcache-loads", "MEM_UOPS_RETIRED.ALL_LOADS"},
             {"broadwell-ep", "iTLB-loads", "ITLB_MISSES.STLB_HIT"},
             {"kernel-events", "cpu-cycles", "cycles"},
             {"kernel-events", "cpu/branch-instructions/", "branches"},
             {"kernel-events", "idle-cycles-frontend:u", "stalled-cycles-frontend"},
             {"kernel-events", "idle-cycles-backend", "stalled-cycles-backend"},
             {"kernel-events", "LLC-misses", "LLC-load-misses"},
             {"kernel-events", "dTLB-loads", "dTLB-loads"}};

static void test_perfs_own_names_mean_the_events_that_the_kernel_counts_for_them(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_names *names;
    assert_int_equal(perf_names_load("specs/perf/names.json", &errors, &names), 0);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct catalog *catalog = load_spec(NAMES[i].spec);
        int event = perf_log_find_event(catalog, names, NAMES[i].name);
        const char *found = event >= 0 ? catalog->events[event].name : NULL;
        if ((found == NULL) != (NAMES[i].event == NULL) || (found && strcmp(found, NAMES[i].event) != 0))
            fail_msg("%s, %s: %s", NAMES[i].spec, NAMES[i].name, found ? found : "not found");
        catalog_free(catalog);
    }
    perf_names_free(names);
}

static void test_every_cpu_has_perfs_cycles_and_instructions(void **state) {
    (void)state;
    struct errors errors = {0};
    struct perf_names *names;
    glob_t files;
    size_t n = 0;
    assert_int_equal(perf_names_load("specs/perf/names.json", &errors, &names), 0);
    assert_int_equal(glob("specs/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct catalog *catalog;
        if (strstr(files.gl_pathv[i], "cpus.json") || strstr(files.gl_pathv[i], "software.json"))
            continue;
        assert_int_equal(spec_json_load(files.gl_pathv[i], NULL, &errors, &catalog), 0);
        if (perf_log_find_event(catalog, names, "cycles") < 0 ||
            perf_log_find_event(catalog, names, "instructions") < 0)
            fail_msg("%s", files.gl_pathv[i]);
        catalog_free(catalog);
        n++;
    }
    assert_true(n > 30);
    globfree(&files);
    perf_names_free(names);
}

static void test_a_log_with_perfs_own_names_gives_what_perf_printed_beside_it(void **state) {
    (void)state;
    struct derived derived = derive_log(load_log("names.csv"), "skylake-sp");
    assert_close(value(&derived, 0, cpu_scope(&derived, 0), "ipc"), 1.50);
    assert_close(value(&derived, 0, cpu_scope(&derived, 1), "ipc"), 0.25);
    assert_close(value(&derived, 0, cpu_scope(&derived, 0), "branch_miss_ratio"), 0.03);
    assert_true(isnan(value(&derived, 0, cpu_scope(&derived, 1), "branch_miss_ratio"))); // <not counted>
    derived_end(&derived);
}

static void test_cache_names_of_older_cpus_give_the_metrics_whose_events_they_are(void **state) {
    (void)state;
    static const char text[] = "1.0,1000,,instructions,9,100.00,,\n1.0,400,,L1-dcache-loads,9,100.00,,\n"
                               "1.0,20,,L1-dcache-load-misses,9,100.00,,\n1.0,8,,dTLB-load-misses,9,100.00,,\n"
                               "1.0,5,,LLC-load-misses,9,100.00,,\n";
    struct derived derived = derive_text(text, "nehalem-ep");
    assert_close(value(&derived, 0, 0, "l1d_cache_mpki"), 20);
    assert_close(value(&derived, 0, 0, "loads_pki"), 400);
    static const char *const others[] = {"dtlb_mpki", "ll_cache_mpki"}; // the kernel counts other events for the names
    for (size_t i = 0; i < 2; i++) {
        const struct plan_metric *metric = &derived.layout->plan->metrics[place_of(&derived, others[i])];
        assert_int_equal(metric->unit, PLAN_NOT_PLANNABLE);
        assert_non_null(strstr(metric->reason, "is not in the log"));
    }
    derived_end(&derived);
    derived = derive_text(text, "zen4");
    assert_close(value(&derived, 0, 0, "l2_dtlb_misses_pti"), 8);
    derived_end(&derived);
}

static void test_perfs_own_names_are_of_no_cpu_in_particular(void **state) {
    (void)state;
    struct catalog *catalog = load_spec("skylake-sp");
    struct errors errors = {0};
    struct perf_names *names;
    struct perf_log *log = load_log("names.csv");
    assert_int_equal(perf_names_load("specs/perf/names.json", &errors, &names), 0);
    struct perf_log_request request = {.name = "log", .log = log, .catalog = catalog};
    assert_int_equal(perf_log_known(&request, names), 0);
    request.names = names;
    assert_int_equal(perf_log_known(&request, NULL), log->n_events);
    perf_names_free(names);
    perf_log_free(log);
    catalog_free(catalog);
}

static void test_a_wrong_file_of_names_is_refused_with_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } files[] = {{"{\"vendors\": [{\"vendor\": \"v\"}]}", "vendors[0].events"},
                 {"{\"vendors\": [{\"vendor\": \"v\", \"events\": {\"cycles\": 3}}]}", "vendors[0].events.cycles"},
                 {"{\"vendors\": {}}", "vendors"},
                 {"{\"vendors\": [], \"more\": 1}", "more"},
                 {"[]", ""}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct errors errors = {0};
        struct perf_names *names = NULL;
        assert_int_equal(perf_names_parse("names", files[i].text, strlen(files[i].text), &errors, &names), -EINVAL);
        assert_true(errors.n > 0 && strstr(errors.items[0].text, files[i].said));
        assert_null(names);
    }
}

static void test_each_cgroup_is_a_place_of_its_own(void **state) {
    (void)state;
    struct perf_log *log = load_log("cgroups.csv");
    assert_int_equal(log->n_places, 2);
    assert_string_equal(log->places[0], "web.slice");
    assert_int_equal(log->n_events, 2);
    struct derived derived = derive_log(log, "skylake-sp");
    assert_close(value(&derived, 0, cpu_scope(&derived, 0), "ipc"), 1.50);
    assert_close(value(&derived, 0, cpu_scope(&derived, 1), "ipc"), 0.25);
    assert_close(value(&derived, 0, 0, "ipc"), 3.25 / 3);
    const double *values = derived.rounds[0]->values; // of the second cgroup they were multiplexed
    assert_true(values[snapshot_windows(derived.layout, 0, WINDOW_CONTENDED)] == 1);
    derived_end(&derived);
}

static void test_cgroups_are_the_same_in_json(void **state) {
    (void)state;
    static const char text[] =
        "{\"interval\" : 1.0, \"counter-value\" : \"4.0\", \"unit\" : \"\", \"event\" : \"r11\", \"cgroup\" : \"web\", "
        "\"event-runtime\" : 5, \"pcnt-running\" : 100.00}\n"
        "{\"interval\" : 1.0, \"counter-value\" : \"9.0\", \"event\" : \"r11\", \"cgroup\" : \"db\", \"pcnt-running\" "
        ": 40.00}\n"
        "{\"interval\" : 1.0, \"cpu\" : \"3\", \"counter-value\" : \"9.0\", \"event\" : \"r11\", \"cgroup\" : "
        "\"db\"}\n";
    struct errors errors = {0};
    struct perf_log *log;
    assert_int_equal(parse(text, &errors, &log), 0);
    assert_int_equal(log->n_places, 2);
    assert_string_equal(log->places[1], "db");
    assert_int_equal(log->n_rows, 2);
    assert_int_equal(log->rows[1].count, 9);
    assert_true(fabs(log->rows[1].share - 0.4) < 1e-6);
    assert_int_equal(log->n_skipped, 1); // a CPU of a cgroup
    perf_log_free(log);
}

static void test_how_much_repeated_runs_differ_is_no_share_of_time(void **state) {
    (void)state;
    struct perf_log *log = load_log("repeated.csv");
    assert_int_equal(log->n_places, 1);
    assert_true(log->rows[0].share == 0.5 && log->rows[1].share == 1);
    struct derived derived = derive_log(log, "neoverse-v1");
    assert_close(value(&derived, 0, 0, "ipc"), 1.50);
    derived_end(&derived);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_events),
        cmocka_unit_test(test_perfs_own_names_mean_the_events_that_the_kernel_counts_for_them),
        cmocka_unit_test(test_every_cpu_has_perfs_cycles_and_instructions),
        cmocka_unit_test(test_a_log_with_perfs_own_names_gives_what_perf_printed_beside_it),
        cmocka_unit_test(test_cache_names_of_older_cpus_give_the_metrics_whose_events_they_are),
        cmocka_unit_test(test_perfs_own_names_are_of_no_cpu_in_particular),
        cmocka_unit_test(test_a_wrong_file_of_names_is_refused_with_the_place),
        cmocka_unit_test(test_each_cgroup_is_a_place_of_its_own),
        cmocka_unit_test(test_cgroups_are_the_same_in_json),
        cmocka_unit_test(test_how_much_repeated_runs_differ_is_no_share_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
