// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a configuration, value by value, and the profile of each host.
// test_config_errors.c tests refusals, test_config_load.c files and merging.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/config_parsed.h"

static void assert_is_default(const struct config *config) {
    static const char *const groups[] = {"Defaults", "Software"};
    assert_int_equal(config->n_listen, 1);
    assert_string_equal(config->listen[0].text, "127.0.0.1:10813");
    assert_string_equal(config->listen[0].address, "127.0.0.1");
    assert_int_equal(config->listen[0].port, 10813);
    assert_int_equal(config->n_hosts, 0);
    assert_int_equal(config->forced_profile, -1);
    assert_int_equal(config->n_profiles, 1);
    const struct config_profile *profile = profile_of(config, "default");
    assert_int_equal(profile->n_groups, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(profile->groups[i].name, groups[i]);
        assert_int_equal(profile->groups[i].weight, 0);
    }
    assert_true(profile->settings.slot_ns == 0 && profile->settings.interval_ns == 2000000000);
    assert_true(profile->settings.idle == 0.1);
    assert_true(profile->settings.cpus_all);
    assert_int_equal(profile->settings.reserve_counters, 0);
    assert_int_equal(profile->settings.guests, CONFIG_GUESTS_AUTO);
}

static void test_a_file_that_says_nothing_means_all_defaults(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "# a comment",
                                        "---\n",
                                        "---\n...\n",
                                        "{}\n",
                                        "~\n",
                                        "null",
                                        "\xef\xbb\xbf",
                                        "profiles: {}",
                                        "hosts: []",
                                        "%YAML 1.1\n---\n",
                                        "profiles: {default: {}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct config *config = parse(texts[i]);
        assert_is_default(config);
        assert_int_equal(config->n_files, 1);
        assert_string_equal(config->files[0], "test.yaml");
        config_free(config);
    }
    struct config *config = parse_bytes(NULL, 0);
    assert_is_default(config);
    config_free(config);
}

static void test_implied_groups_come_from_the_file_as_a_whole(void **state) {
    (void)state;
    struct config *config = parse("slot: 1s");
    const struct config_group *group = &config->profiles[0].groups[1];
    assert_string_equal(group->origin.file, "test.yaml");
    assert_int_equal(group->origin.line, 0);
    assert_int_equal(group->origin.column, 0);
    config_free(config);
}

static void test_groups_keep_spelling_order_and_origin(void **state) {
    (void)state;
    struct config *config = parse("profiles:\n"
                                  "  a:\n"
                                  "    groups:\n"
                                  "      - Topdown_L1\n"
                                  "      - 'miss-ratio'\n"
                                  "    weights: {missratio: 7}\n");
    const struct config_profile *profile = profile_of(config, "a");
    assert_int_equal(profile->n_groups, 2);
    assert_string_equal(profile->groups[0].name, "Topdown_L1");
    assert_int_equal(profile->groups[0].weight, 0);
    assert_int_equal(profile->groups[0].origin.line, 4);
    assert_int_equal(profile->groups[0].origin.column, 9);
    assert_ptr_equal(profile->groups[0].origin.file, config->files[0]);
    assert_string_equal(profile->groups[1].name, "miss-ratio");
    assert_int_equal(profile->groups[1].weight, 7);
    assert_int_equal(profile->groups[1].origin.line, 5);
    assert_int_equal(config->n_profiles, 2); // and default
    config_free(config);
}

static void test_a_profile_without_groups_in_its_list_measures_nothing(void **state) {
    (void)state;
    struct config *config = parse("profiles: {off: {groups: []}, default: {groups: []}}");
    assert_int_equal(config->n_profiles, 2);
    assert_int_equal(profile_of(config, "off")->n_groups, 0);
    assert_int_equal(profile_of(config, "default")->n_groups, 0);
    config_free(config);
}

static void test_default_keeps_its_groups_where_the_file_names_none(void **state) {
    (void)state;
    struct config *config = parse("profiles: {default: {slot: 1s, weights: {Stage-1: 5, miss_ratio: 100}}}");
    const struct config_profile *profile = profile_of(config, "default");
    assert_int_equal(profile->n_groups, 4);
    for (size_t i = 0; i < 2; i++) // Defaults and Software
        assert_true(profile->groups[i].weight == 0 && !profile->groups[i].weight_only);
    // which groups Defaults stands for is not known here: their weights are kept
    assert_string_equal(profile->groups[2].name, "Stage-1");
    assert_true(profile->groups[2].weight == 5 && profile->groups[2].weight_only);
    assert_string_equal(profile->groups[3].name, "miss_ratio");
    assert_true(profile->groups[3].weight == 100 && profile->groups[3].weight_only);
    assert_true(profile->settings.slot_ns == 1000000000);
    config_free(config);
}

static void test_a_slot_is_read_with_its_unit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t slot_ns;
    } cases[] = {{"slot: 10ms", 10000000},       {"slot: auto", 0},
                 {"slot: 200ms", 200000000},     {"slot: '1s'", 1000000000},
                 {"slot: 60s", 60000000000},     {"slot: 0.25s", 250000000},
                 {"slot: 12.5ms", 12500000},     {"slot: 0.01s", 10000000},
                 {"slot: 1m", 60000000000},      {"slot: 0.5m", 30000000000},
                 {"slot: 60000ms", 60000000000}, {"slot: 010ms", 10000000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config *config = parse(cases[i].text);
        assert_true(config->profiles[0].settings.slot_ns == cases[i].slot_ns);
        config_free(config);
    }
}

static void test_idle_is_read_as_percentage_or_fraction(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double idle;
    } cases[] = {{"idle: 10%", 0.1}, {"idle: 0.1", 0.1}, {"idle: 0", 0},         {"idle: 0%", 0},
                 {"idle: 90%", 0.9}, {"idle: 0.9", 0.9}, {"idle: 12.5%", 0.125}, {"idle: \"33%\"", 0.33}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config *config = parse(cases[i].text);
        assert_true(config->profiles[0].settings.idle == cases[i].idle);
        config_free(config);
    }
}

static void test_cpus_are_all_or_a_list(void **state) {
    (void)state;
    struct config *config = parse("cpus: 0-3,8\nprofiles: {a: {groups: [], cpus: all}, b: {groups: [], cpus: 3}}");
    const struct config_settings *settings = &profile_of(config, "default")->settings;
    assert_false(settings->cpus_all);
    assert_int_equal(cpuset_count(&settings->cpus), 5);
    assert_true(cpuset_has(&settings->cpus, 0) && cpuset_has(&settings->cpus, 3) && cpuset_has(&settings->cpus, 8));
    assert_true(profile_of(config, "a")->settings.cpus_all);
    settings = &profile_of(config, "b")->settings;
    assert_false(settings->cpus_all);
    assert_int_equal(cpuset_count(&settings->cpus), 1);
    assert_true(cpuset_has(&settings->cpus, 3));
    config_free(config);
}

static void test_a_profile_takes_from_the_top_level_what_it_does_not_say(void **state) {
    (void)state;
    struct config *config = parse("profiles: {a: {groups: [], slot: 50ms}, b: {groups: [], idle: 5%}}\n"
                                  "slot: 2s\n"
                                  "idle: 30%\n"
                                  "cpus: 1-2\n");
    const struct config_settings *a = &profile_of(config, "a")->settings, *b = &profile_of(config, "b")->settings;
    assert_true(a->slot_ns == 50000000 && b->slot_ns == 2000000000);
    assert_true(a->idle == 0.3 && b->idle == 0.05);
    assert_false(a->cpus_all || b->cpus_all);
    assert_int_equal(cpuset_count(&b->cpus), 2);
    assert_true(profile_of(config, "default")->settings.slot_ns == 2000000000);
    config_free(config);
}

static void test_specs_of_a_vendor_are_a_path_and_a_format(void **state) {
    (void)state;
    struct config *config = parse("specs:\n  path: /usr/share/pmu-events\n  format: perf\n");
    assert_string_equal(config->specs.path, "/usr/share/pmu-events");
    assert_int_equal(config->specs.format, SPEC_FORMAT_PERF);
    assert_int_equal(config->specs.origin.line, 2);
    assert_int_equal(config->specs.origin.column, 9);
    config_free(config);
    config = parse("specs: {path: /a/neoverse-v2.json}");
    assert_int_equal(config->specs.format, SPEC_FORMAT_ANY);
    config_free(config);
    config = parse("slot: 1s");
    assert_null(config->specs.path);
    config_free(config);
}

static void test_what_the_kernel_counts_of_memory_can_be_left_out(void **state) {
    (void)state;
    struct config *config = parse("uncore: {groups: [llc]}");
    assert_false(config->uncore.numa_off || config->uncore.resctrl_off);
    config_free(config);
    config = parse("uncore: {numa: off}");
    assert_true(config->uncore.numa_off && !config->uncore.resctrl_off && !config->uncore.off);
    config_free(config);
    config = parse("uncore: {numa: auto, resctrl: off}");
    assert_true(!config->uncore.numa_off && config->uncore.resctrl_off);
    config_free(config);
}

static void test_what_is_measured_outside_the_cores_is_chosen_by_group(void **state) {
    (void)state;
    struct config *config = parse("");
    assert_true(config_uncore_selects(&config->uncore, "memory"));
    assert_false(config_uncore_selects(&config->uncore, "llc"));
    assert_false(config_uncore_selects(&config->uncore, "nothing"));
    config_free(config);
    config = parse("uncore: {groups: [llc, interconnect]}");
    assert_false(config_uncore_selects(&config->uncore, "memory"));
    assert_false(config_uncore_selects(&config->uncore, "remote"));
    assert_true(config_uncore_selects(&config->uncore, "llc"));
    assert_true(config_uncore_selects(&config->uncore, "interconnect"));
    config_free(config);
    config = parse("uncore: {enabled: off}");
    assert_true(config->uncore.off);
    assert_false(config_uncore_selects(&config->uncore, "memory"));
    config_free(config);
}

static void test_the_peak_of_a_socket_is_the_configured_one(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double first, second;
    } peaks[] = {
        {"", 0, 0},
        {"uncore: {peak: auto}", 0, 0},
        {"uncore: {peak: 307.2GB}", 307.2e9, 307.2e9},
        {"uncore: {peak: 307.2 GB/s}", 307.2e9, 307.2e9},
        {"uncore: {peak: 200000000000}", 2e11, 2e11},
        {"uncore: {peak: 1.5TiB}", 1.5 * 1099511627776, 1.5 * 1099511627776},
        {"uncore: {peak: {1: 100MB, 0: auto}}", 0, 1e8},
        {"uncore: {peak: {0: 2MiB}}", 2097152, 0},
    };
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        struct config *config = parse(peaks[i].text);
        assert_true(fabs(config_uncore_peak(&config->uncore, 0) - peaks[i].first) < 1e-3);
        assert_true(fabs(config_uncore_peak(&config->uncore, 1) - peaks[i].second) < 1e-3);
        config_free(config);
    }
}

static void test_boxes_are_chosen_by_their_names(void **state) {
    (void)state;
    struct config *config = parse("uncore: {boxes: {include: [\"uncore_imc_*\"], exclude: [uncore_imc_3]}}");
    assert_false(config_uncore_leaves_out(&config->uncore, "uncore_imc_2"));
    assert_true(config_uncore_leaves_out(&config->uncore, "uncore_imc_3"));
    assert_true(config_uncore_leaves_out(&config->uncore, "uncore_cha_0"));
    config_free(config);
    config = parse("uncore: {boxes: {exclude: [\"*_3\"]}}");
    assert_false(config_uncore_leaves_out(&config->uncore, "uncore_cha_0"));
    assert_true(config_uncore_leaves_out(&config->uncore, "uncore_cha_3"));
    assert_int_equal(config->uncore.boxes.exclude.items[0].origin.column, 28);
    config_free(config);
}

static void test_pmus_that_no_spec_knows_are_named_with_their_events(void **state) {
    (void)state;
    struct config *config = parse("uncore:\n  pmus:\n    - {name: \"uncore_foo_*\", events: [rd, wr]}\n");
    assert_int_equal(config->uncore.n_pmus, 1);
    const struct config_pmu *pmu = &config->uncore.pmus[0];
    assert_int_equal(pmu->name.n, 1);
    assert_string_equal(pmu->name.items[0].text, "uncore_foo_*");
    assert_int_equal(pmu->name.items[0].origin.line, 3);
    assert_int_equal(pmu->events.n, 2);
    assert_string_equal(pmu->events.items[1].text, "wr");
    config_free(config);
}

static void test_probes_have_an_address_or_a_path_or_neither(void **state) {
    (void)state;
    struct config *config = parse("{}");
    assert_null(config->probe.text);
    config_free(config);
    config = parse("probe: '[0:0::1]:0'\nlisten: ['[::1]:0']"); // 0: any free one
    assert_string_equal(config->probe.text, "[0:0::1]:0");
    assert_string_equal(config->probe.address, "::1");
    assert_int_equal(config->probe.port, 0);
    config_free(config);
    config = parse("probe: /run/topdownd/probe.sock\nlisten: none");
    assert_string_equal(config->probe.address, "/run/topdownd/probe.sock");
    assert_int_equal(config->n_listen, 0);
    config_free(config);
}

static void test_a_text_file_is_a_folder_and_an_interval(void **state) {
    (void)state;
    struct config *config = parse("textfile: {path: /var/lib/prometheus/node-exporter}");
    assert_string_equal(config->textfile.path, "/var/lib/prometheus/node-exporter");
    assert_true(config->textfile.interval_ns == UINT64_C(10000000000));
    config_free(config);
    config = parse("textfile: {path: /a, interval: 1m}");
    assert_true(config->textfile.interval_ns == UINT64_C(60000000000));
    config_free(config);
    config = parse("listen: none");
    assert_int_equal(config->n_listen, 0);
    assert_null(config->textfile.path);
    config_free(config);
}

static void test_a_recording_is_a_path_and_a_size(void **state) {
    (void)state;
    struct config *config = parse("record:\n  path: /var/lib/topdownd/recording\n  size: 1.5G\n");
    assert_string_equal(config->record.path, "/var/lib/topdownd/recording");
    assert_true(config->record.size_bytes == 1610612736);
    assert_int_equal(config->record.origin.line, 2);
    assert_int_equal(config->record.origin.column, 9);
    config_free(config);
    config = parse("record: {path: /a}");
    assert_true(config->record.size_bytes == 268435456);
    config_free(config);
    config = parse("slot: 1s");
    assert_null(config->record.path);
    config_free(config);
}

static void test_the_mode_is_fixed_unless_a_profile_or_the_top_level_says_adaptive(void **state) {
    (void)state;
    struct config *config = parse("profiles: {a: {groups: []}, b: {groups: [], mode: adaptive}}\n");
    assert_int_equal(profile_of(config, "a")->settings.mode, CONFIG_MODE_FIXED);
    assert_int_equal(profile_of(config, "b")->settings.mode, CONFIG_MODE_ADAPTIVE);
    config_free(config);
    config = parse("mode: adaptive\nprofiles: {a: {groups: []}, b: {groups: [], mode: fixed}}\n");
    assert_int_equal(profile_of(config, "a")->settings.mode, CONFIG_MODE_ADAPTIVE);
    assert_int_equal(profile_of(config, "b")->settings.mode, CONFIG_MODE_FIXED);
    config_free(config);
}

static void test_evidence_is_fetched_where_the_top_level_or_a_profile_says_so(void **state) {
    (void)state;
    struct config *config = parse("profiles: {a: {groups: []}, b: {groups: [], evidence: true}}\n");
    assert_false(profile_of(config, "a")->settings.evidence);
    assert_true(profile_of(config, "b")->settings.evidence);
    config_free(config);
}

static void test_standard_errors_are_exported_where_the_top_level_or_a_profile_says_so(void **state) {
    (void)state;
    struct config *config = parse("profiles: {a: {groups: []}, b: {groups: [], standard_error: true}}\n");
    assert_false(profile_of(config, "a")->settings.standard_error);
    assert_true(profile_of(config, "b")->settings.standard_error);
    config_free(config);
    config = parse("standard_error: true\nprofiles: {a: {groups: []}, b: {groups: [], standard_error: false}}\n");
    assert_true(profile_of(config, "a")->settings.standard_error);
    assert_false(profile_of(config, "b")->settings.standard_error);
    config_free(config);
}

static void test_limits_of_series_are_numbers_or_none(void **state) {
    (void)state;
    struct config *config =
        parse("profiles: {a: {groups: []}, b: {groups: [], max_series: none, max_cpu_series: 1}}\n");
    assert_int_equal(profile_of(config, "a")->settings.max_series, 1000);
    assert_int_equal(profile_of(config, "a")->settings.max_cpu_series, 50000);
    assert_int_equal(profile_of(config, "b")->settings.max_series, 0);
    assert_int_equal(profile_of(config, "b")->settings.max_cpu_series, 1);
    config_free(config);
    config = parse("max_series: 10000000\nmax_cpu_series: none\n");
    assert_int_equal(profile_of(config, "default")->settings.max_series, 10000000);
    assert_int_equal(profile_of(config, "default")->settings.max_cpu_series, 0);
    config_free(config);
}

static void test_counters_and_guests_of_a_profile_win_over_the_top_level(void **state) {
    (void)state;
    struct config *config = parse("counters: {reserve: 2}\nguests: share\n"
                                  "profiles:\n"
                                  "  a: {groups: [], counters: {reserve: 31}, guests: auto}\n"
                                  "  b: {groups: [], counters: {}}\n"
                                  "  c: {groups: [], counters: {reserve: 0}}\n");
    assert_int_equal(profile_of(config, "a")->settings.reserve_counters, 31);
    assert_int_equal(profile_of(config, "a")->settings.guests, CONFIG_GUESTS_AUTO);
    assert_int_equal(profile_of(config, "b")->settings.reserve_counters, 2);
    assert_int_equal(profile_of(config, "b")->settings.guests, CONFIG_GUESTS_SHARE);
    assert_int_equal(profile_of(config, "c")->settings.reserve_counters, 0);
    assert_int_equal(profile_of(config, "default")->settings.reserve_counters, 2);
    config_free(config);
}

static void test_addresses_lose_brackets_and_keep_their_text(void **state) {
    (void)state;
    struct config *config = parse("listen: [\"[0:0::1]:1\", 0.0.0.0:65535, '127.0.0.1:0', \"[2001:db8::10]:80\"]");
    static const struct {
        const char *text, *address;
        uint16_t port;
    } expected[] = {{"[0:0::1]:1", "::1", 1},
                    {"0.0.0.0:65535", "0.0.0.0", 65535},
                    {"127.0.0.1:0", "127.0.0.1", 0},
                    {"[2001:db8::10]:80", "2001:db8::10", 80}};
    assert_int_equal(config->n_listen, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(config->listen[i].text, expected[i].text);
        assert_string_equal(config->listen[i].address, expected[i].address);
        assert_int_equal(config->listen[i].port, expected[i].port);
    }
    config_free(config);
}

static bool no_file(const char *path) {
    (void)path;
    return false;
}

static bool only_role_file(const char *path) { return strcmp(path, "/etc/role-batch") == 0; }

static const char *selected(const struct config *config, const char *hostname, const char *cpu,
                            bool (*file_exists)(const char *)) {
    struct config_facts facts = {.hostname = hostname, .cpus = &cpu, .n_cpus = 1, .file_exists = file_exists};
    return config_select(config, &facts)->name;
}

static const char fleet[] = "profiles:\n"
                            "  database: {groups: [stage_1]}\n"
                            "  graviton: {groups: [MPKI]}\n"
                            "  off: {groups: []}\n"
                            "hosts:\n"
                            "  - {match: {hostname: \"db-*\", cpu: \"neoverse-*\"}, profile: database}\n"
                            "  - {match: {file: /etc/role-batch}, profile: off}\n"
                            "  - {match: {cpu: neoverse-v?}, profile: graviton}\n";

static void test_the_first_host_whose_keys_all_match_gives_the_profile(void **state) {
    (void)state;
    struct config *config = parse(fleet);
    assert_int_equal(config->n_hosts, 3);
    assert_string_equal(selected(config, "db-17", "neoverse-v2", no_file), "database");
    assert_string_equal(selected(config, "db-17", "neoverse-v2", only_role_file), "database");
    assert_string_equal(selected(config, "db-17", "software", no_file), "default");
    assert_string_equal(selected(config, "web-1", "neoverse-v2", no_file), "graviton");
    assert_string_equal(selected(config, "web-1", "neoverse-v2", only_role_file), "off");
    assert_string_equal(selected(config, "web-1", "neoverse-n1", no_file), "default");
    config_free(config);
}

static void test_a_host_of_several_core_types_matches_by_any_of_them(void **state) {
    (void)state;
    const char *const cpus[] = {"c1-ultra", "neoverse-v1"};
    struct config *config = parse(fleet);
    struct config_facts facts = {.hostname = "web-1", .cpus = cpus, .n_cpus = 2, .file_exists = no_file};
    assert_string_equal(config_select(config, &facts)->name, "graviton");
    facts.n_cpus = 1;
    assert_string_equal(config_select(config, &facts)->name, "default");
    config_free(config);
}

static void test_hosts_match_without_case(void **state) {
    (void)state;
    struct config *config = parse(fleet);
    assert_string_equal(selected(config, "DB-17", "Neoverse-N1", no_file), "database");
    config_free(config);
}

static void test_a_forced_profile_comes_before_every_match(void **state) {
    (void)state;
    char text[sizeof fleet + 32];
    (void)snprintf(text, sizeof text, "%sprofile: graviton\n", fleet);
    struct config *config = parse(text);
    assert_int_equal(config->forced_profile, 1);
    assert_string_equal(selected(config, "db-17", "neoverse-v2", only_role_file), "graviton");
    config_free(config);
    config = parse("profile: default"); // the implied one
    assert_int_equal(config->forced_profile, 0);
    config_free(config);
}

static uint64_t hash_of(const char *text) {
    struct config *config = parse(text);
    uint64_t hash = config->hash;
    config_free(config);
    return hash;
}

// FNV-1a 64 of "m\0", and of "mkslot\0s1s\0\0", from an implementation in another language.
static void test_the_hash_is_fnv_1a_of_the_content(void **state) {
    (void)state;
    assert_true(hash_of("") == UINT64_C(0x08a97a07b5507e88));
    assert_true(hash_of("slot: 1s") == UINT64_C(0xf8b25aa318c5eafc));
}

static void test_layout_comments_and_order_do_not_change_the_hash(void **state) {
    (void)state;
    uint64_t hash = hash_of("slot: 1s\nprofiles: {a: {groups: [x, y], idle: 5%}, b: {groups: []}}\n");
    assert_true(hash == hash_of("# comment\n"
                                "profiles:\n"
                                "  b:\n"
                                "    groups: []\n"
                                "  a:\n"
                                "    idle: '5%'\n"
                                "    groups:\n"
                                "    - x\n"
                                "    - y\n"
                                "\"slot\": \"1s\"\n"));
    static const char *const others[] = {
        "slot: 2s\nprofiles: {a: {groups: [x, y], idle: 5%}, b: {groups: []}}\n",
        "slot: 1s\nprofiles: {a: {groups: [y, x], idle: 5%}, b: {groups: []}}\n",
        "slot: 1s\nprofiles: {a: {groups: [xy], idle: 5%}, b: {groups: []}}\n",
        "slot: 1s\nprofiles: {a: {groups: [x, y]}, b: {groups: [], idle: 5%}}\n",
        "slot: 1s\nprofiles: {a: {groups: [x, y], idle: 5%}, c: {groups: []}}\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(hash != hash_of(others[i]));
}

static void test_freeing_nothing_is_allowed(void **state) {
    (void)state;
    assert_null(config_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_have_an_address_or_a_path_or_neither),
        cmocka_unit_test(test_what_the_kernel_counts_of_memory_can_be_left_out),
        cmocka_unit_test(test_what_is_measured_outside_the_cores_is_chosen_by_group),
        cmocka_unit_test(test_a_file_that_says_nothing_means_all_defaults),
        cmocka_unit_test(test_implied_groups_come_from_the_file_as_a_whole),
        cmocka_unit_test(test_groups_keep_spelling_order_and_origin),
        cmocka_unit_test(test_a_profile_without_groups_in_its_list_measures_nothing),
        cmocka_unit_test(test_default_keeps_its_groups_where_the_file_names_none),
        cmocka_unit_test(test_a_slot_is_read_with_its_unit),
        cmocka_unit_test(test_idle_is_read_as_percentage_or_fraction),
        cmocka_unit_test(test_cpus_are_all_or_a_list),
        cmocka_unit_test(test_a_profile_takes_from_the_top_level_what_it_does_not_say),
        cmocka_unit_test(test_a_recording_is_a_path_and_a_size),
        cmocka_unit_test(test_the_peak_of_a_socket_is_the_configured_one),
        cmocka_unit_test(test_boxes_are_chosen_by_their_names),
        cmocka_unit_test(test_pmus_that_no_spec_knows_are_named_with_their_events),
        cmocka_unit_test(test_a_text_file_is_a_folder_and_an_interval),
        cmocka_unit_test(test_the_mode_is_fixed_unless_a_profile_or_the_top_level_says_adaptive),
        cmocka_unit_test(test_limits_of_series_are_numbers_or_none),
        cmocka_unit_test(test_evidence_is_fetched_where_the_top_level_or_a_profile_says_so),
        cmocka_unit_test(test_standard_errors_are_exported_where_the_top_level_or_a_profile_says_so),
        cmocka_unit_test(test_counters_and_guests_of_a_profile_win_over_the_top_level),
        cmocka_unit_test(test_specs_of_a_vendor_are_a_path_and_a_format),
        cmocka_unit_test(test_addresses_lose_brackets_and_keep_their_text),
        cmocka_unit_test(test_the_first_host_whose_keys_all_match_gives_the_profile),
        cmocka_unit_test(test_a_host_of_several_core_types_matches_by_any_of_them),
        cmocka_unit_test(test_hosts_match_without_case),
        cmocka_unit_test(test_a_forced_profile_comes_before_every_match),
        cmocka_unit_test(test_the_hash_is_fnv_1a_of_the_content),
        cmocka_unit_test(test_layout_comments_and_order_do_not_change_the_hash),
        cmocka_unit_test(test_freeing_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
