// SPDX-License-Identifier: Apache-2.0
//
// Refused configurations: every mistake in a value, with its place and text as the
// user sees them. test_config_limits.c tests YAML itself and the limits.
#include "tests/unit/config_check.h"

static void test_an_unknown_key_is_refused_with_a_suggestion_and_what_is_known(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"\n  slots: 1s",
         "t.yaml:2:3: unknown key \"slots\": did you mean \"slot\"? known here are listen, probe, profile, "
         "profiles, hosts, slot, interval, idle, cpus, counters, guests, mode, evidence, standard_error, "
         "max_series, max_cpu_series, specs, record, textfile, uncore"},
        {"zzzzzz: 1",
         "t.yaml:1:1: unknown key \"zzzzzz\": known here are listen, probe, profile, profiles, hosts, slot, "
         "interval, idle, cpus, counters, guests, mode, evidence, standard_error, max_series, max_cpu_series, "
         "specs, record, textfile, uncore"},
        {"counter: {reserve: 0}",
         "t.yaml:1:1: unknown key \"counter\": did you mean \"counters\"? known here are "
         "listen, probe, profile, profiles, hosts, slot, interval, idle, cpus, counters, guests, "
         "mode, evidence, standard_error, max_series, max_cpu_series, specs, record, textfile, uncore"},
        {"counters: {reserved: 0}", "t.yaml:1:12: unknown key \"reserved\": did you mean \"reserve\"? known here are "
                                    "reserve"},
        {"profiles: {a: {groups: [], weight: {}}}", "t.yaml:1:28: unknown key \"weight\": did you mean \"weights\"? "
                                                    "known here are groups, weights, slot, interval, idle, cpus, "
                                                    "counters, guests, mode, evidence, standard_error, "
                                                    "max_series, max_cpu_series"},
        {"hosts: [{match: {cpu: x}, profile: default, Match: 1}]",
         "t.yaml:1:45: unknown key \"Match\": did you mean \"match\"? known here are match, profile"},
        {"hosts: [{match: {host_name: x}, profile: default}]",
         "t.yaml:1:18: unknown key \"host_name\": did you mean \"hostname\"? known here are hostname, cpu, file"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_specs_of_a_vendor_that_are_wrong_are_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"specs: /usr/share", "t.yaml:1:8: specs must be a mapping, such as {path: /usr/share/pmu-events/arch, format: "
                              "perf}, and is a single value"},
        {"specs: {format: perf}",
         "t.yaml:1:8: specs has no path: write specs: {path: /usr/share/pmu-events/arch, format: perf}"},
        {"specs:\n  path: arch", "t.yaml:2:9: path: \"arch\" is not an absolute path: begin it with /"},
        {"specs: {path: /a, format: json}", "t.yaml:1:27: format: \"json\" is none of these: perf for the files of "
                                            "Linux tools/perf/pmu-events, arm for "
                                            "Arm's specifications, perfmon for the files of intel/perfmon"},
        {"specs: {path: /a, formt: arm}",
         "t.yaml:1:19: unknown key \"formt\": did you mean \"format\"? known here are path, format"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_recordings_that_are_wrong_are_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"record: /a", "t.yaml:1:9: record must be a mapping, such as {path: /var/lib/topdownd/recording, size: 256M}, "
                       "and is a single value"},
        {"record: {size: 1G}",
         "t.yaml:1:9: record has no path: write record: {path: /var/lib/topdownd/recording, size: 256M}"},
        {"record:\n  path: recording", "t.yaml:2:9: path: \"recording\" is not an absolute path: begin it with /"},
        {"textfile: /a", "t.yaml:1:11: textfile must be a mapping, such as {path: /var/lib/prometheus/node-exporter, "
                         "interval: 10s}, and is a single value"},
        {"textfile: {interval: 10s}", "t.yaml:1:11: textfile has no path: write textfile: {path: "
                                      "/var/lib/prometheus/node-exporter, interval: 10s}"},
        {"uncore: off", "t.yaml:1:9: uncore must be a mapping, such as {enabled: auto, groups: [memory]}, and is a "
                        "single value"},
        {"uncore: {enabled: on}", "t.yaml:1:19: enabled: \"on\" is neither: write auto to measure what the host has, "
                                  "or off"},
        {"uncore: {resctrl: mount}", "t.yaml:1:19: resctrl: \"mount\" is neither: write auto to measure what the host "
                                     "has, or off"},
        {"textfile: {path: a}", "t.yaml:1:18: path: \"a\" is not an absolute path: begin it with /"},
        {"textfile: {path: /a, interval: 10}", "t.yaml:1:32: interval: \"10\" has no unit: write 10s"},
        {"textfile: {path: /a, interval: 2m}", "t.yaml:1:32: interval: \"2m\" is out of range: 1s to 60s are allowed"},
        {"record: {path: \"\"}",
         "t.yaml:1:16: path is empty: write one, such as /var/lib/topdownd/recording, or remove the key"},
        {"record: {path: /a, size: 256}",
         "t.yaml:1:26: size: \"256\" is not a size: write a number and M or G, such as 256M"},
        {"record: {path: /a, size: 256MB}",
         "t.yaml:1:26: size: \"256MB\" is not a size: write a number and M or G, such as 256M"},
        {"record: {path: /a, size: 0.9M}", "t.yaml:1:26: size: \"0.9M\" is out of range: 1M to 1024G are allowed"},
        {"record: {path: /a, size: 1025G}", "t.yaml:1:26: size: \"1025G\" is out of range: 1M to 1024G are allowed"},
        {"record: {path: /a, sizes: 1G}",
         "t.yaml:1:20: unknown key \"sizes\": did you mean \"size\"? known here are path, size"},
        {"profiles: {a: {groups: [], record: {path: /a}}}",
         "t.yaml:1:28: unknown key \"record\": known here are groups, weights, slot, interval, idle, cpus, counters, "
         "guests, "
         "mode, "
         "evidence, standard_error, max_series, max_cpu_series"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_what_is_wrong_outside_the_cores_is_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"uncore: {peak: 300G}",
         "t.yaml:1:16: peak: \"300G\" has the unit G, which is not clear: write GB (powers of 1000) or GiB (powers of "
         "1024)"},
        {"uncore: {peak: -5GB}", "t.yaml:1:16: peak: \"-5GB\" must be positive, such as 307.2GB"},
        {"uncore: {peak: -5}", "t.yaml:1:16: peak: \"-5\" must be positive, such as 307.2GB"},
        {"uncore: {peak: 0GB}", "t.yaml:1:16: peak: \"0GB\" must be positive, such as 307.2GB"},
        {"uncore: {peak: 0}", "t.yaml:1:16: peak: \"0\" must be positive, such as 307.2GB"},
        {"uncore: {peak: -x}", "t.yaml:1:16: peak: \"-x\" is no number of bytes a second: write it with its unit, such "
                               "as 307.2GB or 286.1GiB, or auto"},
        {"uncore: {peak: \"-\"}", "t.yaml:1:16: peak: \"-\" is no number of bytes a second: write it with its unit, "
                                  "such as 307.2GB or 286.1GiB, or auto"},
        {"uncore: {peak: 300Gb}", "t.yaml:1:16: peak: \"300Gb\" is in bits (Gb): write bytes, such as 307.2GB"},
        {"uncore: {peak: 2.4 Tbit/s}",
         "t.yaml:1:16: peak: \"2.4 Tbit/s\" is in bits (Tbit): write bytes, such as 307.2GB"},
        {"uncore: {peak: 300b}", "t.yaml:1:16: peak: \"300b\" is in bits (b): write bytes, such as 307.2GB"},
        {"uncore: {peak: 300Gib}", "t.yaml:1:16: peak: \"300Gib\" is in bits (Gib): write bytes, such as 307.2GB"},
        {"uncore: {peak: 1kB}", "t.yaml:1:16: peak: \"1kB\" has an unknown unit: write MB, GB or TB (powers of 1000), "
                                "or MiB, GiB or TiB (powers of 1024)"},
        {"uncore: {peak: 300gb}", "t.yaml:1:16: peak: \"300gb\" has an unknown unit: write MB, GB or TB (powers of "
                                  "1000), or MiB, GiB or TiB (powers of 1024)"},
        {"uncore: {peak: \"307,2GB\"}", "t.yaml:1:16: peak: \"307,2GB\" is no number of bytes a second: write it with "
                                        "its unit, such as 307.2GB or 286.1GiB, or auto"},
        {"uncore: {peak: {0: fast}}", "t.yaml:1:20: peak: \"fast\" is no number of bytes a second: write it with its "
                                      "unit, such as 307.2GB or 286.1GiB, or auto"},
        {"uncore: {peak: 300}", "t.yaml:1:16: peak: \"300\" has no unit, so it is in bytes a second: write its unit, "
                                "such as 307.2GB"},
        {"uncore: {peak: 300B}", "t.yaml:1:16: peak: \"300B\" is out of range: 1MB to 100TB a second are allowed"},
        {"uncore: {peak: 101TB}", "t.yaml:1:16: peak: \"101TB\" is out of range: 1MB to 100TB a second are allowed"},
        {"uncore: {peak: {a: 1GB}}", "t.yaml:1:17: peak: \"a\" is no number of a socket: write 0 to 63, as in {0: "
                                     "307.2GB, 1: 307.2GB}"},
        {"uncore: {peak: {64: 1GB}}", "t.yaml:1:17: peak: \"64\" is no number of a socket: write 0 to 63, as in {0: "
                                      "307.2GB, 1: 307.2GB}"},
        {"uncore: {peak: [1GB]}",
         "t.yaml:1:16: peak must be a single value, such as 307.2GB, or a mapping by socket, such as {0: "
         "307.2GB}, and is a list"},
        {"uncore: {peak: {0: [1GB]}}", "t.yaml:1:20: peak must be a single value, such as 307.2GB, and is a list"},
        {"uncore: {boxes: [uncore_imc_3]}",
         "t.yaml:1:17: boxes must be a mapping, such as {exclude: [uncore_imc_3]}, and is a list"},
        {"uncore: {boxes: {exclud: [a]}}",
         "t.yaml:1:18: unknown key \"exclud\": did you mean \"exclude\"? known here are include, exclude"},
        {"uncore: {boxes: {exclude: [../a]}}",
         "t.yaml:1:28: exclude: \"../a\" cannot be a name in sysfs: write letters, digits, '_', '-' and '.', or a "
         "pattern with * ? [ ], as in [uncore_imc_3]"},
        {"uncore: {boxes: {include: []}}",
         "t.yaml:1:27: include has no entry: write 1 to 256, as in [\"uncore_imc_[0-3]\"]"},
        {"uncore: {pmus: {name: power}}",
         "t.yaml:1:16: pmus must be a list, such as [{name: power, events: [energy-pkg]}], and is a mapping"},
        {"uncore: {pmus: [{name: power}]}",
         "t.yaml:1:17: an entry of pmus without events: write it as {name: power, events: [energy-pkg]}"},
        {"uncore: {pmus: [{events: [a]}]}",
         "t.yaml:1:17: an entry of pmus without name: write it as {name: power, events: [energy-pkg]}"},
        {"uncore: {pmus: [{name: a, events: [\"b*\"]}]}",
         "t.yaml:1:36: events: \"b*\" cannot be a name in sysfs: write letters, digits, '_', '-' and '.', as in "
         "[energy-pkg]"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_a_wrong_type_is_refused_with_a_right_example(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"listen: 127.0.0.1:80",
         "t.yaml:1:9: listen must be a list, such as [\"127.0.0.1:10813\"], and is a single value"},
        {"listen: [{a: b}]",
         "t.yaml:1:10: listen must be a single value, such as \"127.0.0.1:10813\", and is a mapping"},
        {"profile: [default]", "t.yaml:1:10: profile must be a single value, such as default, and is a list"},
        {"profiles: [a]",
         "t.yaml:1:11: profiles must be a mapping, such as {batch: {groups: [stage_1]}}, and is a list"},
        {"profiles: {a: [MPKI]}",
         "t.yaml:1:15: a profile must be a mapping, such as {groups: [stage_1, MPKI]}, and is a list"},
        {"profiles: {a: {groups: MPKI}}",
         "t.yaml:1:24: groups must be a list, such as [stage_1, MPKI], and is a single value"},
        {"profiles: {a: {groups: [{MPKI: 3}]}}",
         "t.yaml:1:25: group must be a single value, such as stage_1, and is a mapping"},
        {"profiles: {a: {groups: [], weights: [3]}}",
         "t.yaml:1:37: weights must be a mapping, such as {stage_1: 3}, and is a list"},
        {"hosts: {match: {cpu: x}}", "t.yaml:1:8: hosts must be a list, such as [{match: {hostname: \"db-*\"}, "
                                     "profile: default}], and is a mapping"},
        {"hosts: [db-1]", "t.yaml:1:9: an entry of hosts must be a mapping, such as {match: {hostname: \"db-*\"}, "
                          "profile: default}, and is a single value"},
        {"hosts: [{match: db-1, profile: default}]",
         "t.yaml:1:17: match must be a mapping, such as {hostname: \"db-*\"}, and is a single value"},
        {"hosts: [{match: {cpu: []}, profile: default}]",
         "t.yaml:1:23: cpu must be a single value, such as \"neoverse-*\", and is a list"},
        {"slot: [1s]", "t.yaml:1:7: slot must be a single value, such as 200ms, and is a list"},
        {"idle: {}", "t.yaml:1:7: idle must be a single value, such as 10%, and is a mapping"},
        {"counters: 2", "t.yaml:1:11: counters must be a mapping, such as {reserve: 1}, and is a single value"},
        {"counters: {reserve: [1]}", "t.yaml:1:21: reserve must be a single value, such as 1, and is a list"},
        {"max_series: 0",
         "t.yaml:1:13: max_series: \"0\" is out of range: 1 to 10000000 are allowed, or none for no limit"},
        {"max_cpu_series: 1.5",
         "t.yaml:1:17: max_cpu_series: \"1.5\" is not a whole number: write how many series, or none for no limit"},
        {"standard_error: [true]", "t.yaml:1:17: standard_error must be a single value, such as true, and is a list"},
        {"standard_error: yes", "t.yaml:1:17: standard_error: \"yes\" is neither: write true or false"},
        {"mode: [fixed]", "t.yaml:1:7: mode must be a single value, such as fixed, and is a list"},
        {"mode: Adaptive", "t.yaml:1:7: mode: \"Adaptive\" is neither: write fixed for the shares of time that the "
                           "weights say, or adaptive for more of it where the bottleneck is"},
        {"guests: [auto]", "t.yaml:1:9: guests must be a single value, such as auto, and is a list"},
        {"cpus: [0, 1]", "t.yaml:1:7: cpus must be a single value, such as all or \"0-3,8\", and is a list"},
        {"just text", "t.yaml:1:1: the file must be a mapping of keys to values, such as \"slot: 200ms\""},
        {"- a", "t.yaml:1:1: the file must be a mapping of keys to values, such as \"slot: 200ms\""},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_a_key_without_a_value_is_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"slot: ~", "t.yaml:1:7: slot has no value: write one, such as 200ms, or remove the key"},
        {"idle: null", "t.yaml:1:7: idle has no value: write one, such as 10%, or remove the key"},
        {"counters:", "t.yaml:1:10: counters has no value: write one, such as {reserve: 1}, or remove the key"},
        {"guests: ~", "t.yaml:1:9: guests has no value: write one, such as auto, or remove the key"},
        {"profile:\nslot: 1s", "t.yaml:1:9: profile has no value: write one, such as default, or remove the key"},
        {"listen:", "t.yaml:1:8: listen has no value: write one, such as [\"127.0.0.1:10813\"], or remove the key"},
        {"profiles:\nprofile: a\nhosts: [{match: {cpu: a}, profile: b}]",
         "t.yaml:1:10: profiles has no value: write one, such as {batch: {groups: [stage_1]}}, or remove the key"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_a_slot_needs_a_unit_and_a_sane_length(void **state) {
    (void)state;
    static const char none[] = "is not a duration: write a number and ms or s, such as 200ms";
    static const char range[] = "is out of range: 10ms to 60s are allowed";
    static const struct {
        const char *slot, *error;
    } cases[] = {{"200", "has no unit: write 200ms"},
                 {"0.5", "has no unit: write 0.5s"},
                 {"20", "has no unit: write 20ms or 20s"},
                 {"10", "has no unit: write 10ms or 10s"},
                 {"60.5", "has no unit: write 60.5ms"},
                 {"60001", "has no unit, and is out of range with any: 10ms to 60s are allowed"},
                 {"0", "has no unit, and is out of range with any: 10ms to 60s are allowed"},
                 {"9.999ms", range},
                 {"60.001s", range},
                 {"61s", range},
                 {"0s", range},
                 {"999999999999999s", range},
                 {"1000000000000000s", none},
                 {"-1s", none},
                 {"1 s", none},
                 {"5m", range},
                 {"1h", range},
                 {"5d", none},
                 {"1e3ms", none},
                 {"0x10ms", none},
                 {"1.s", none},
                 {"1.2.3s", none},
                 {"ms", none},
                 {".5s", none},
                 {"inf s", none}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[64], error[160];
        (void)snprintf(text, sizeof text, "slot: %s", cases[i].slot);
        (void)snprintf(error, sizeof error, "t.yaml:1:7: slot: \"%s\" %s", cases[i].slot, cases[i].error);
        refuse(text, error);
    }
}

static void test_idle_outside_0_to_90_per_cent_is_refused(void **state) {
    (void)state;
    static const char range[] = "is out of range: 0% to 90% (0 to 0.9) are allowed";
    static const char none[] = "is not a share: write it as 10% or 0.1";
    static const struct {
        const char *idle, *error;
    } cases[] = {{"10", range}, {"91%", range}, {"90.1%", range}, {"0.901", range}, {"-1%", none},
                 {"ten", none}, {"5 %", none},  {"5%%", none},    {"nan", none},    {"%", none}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[64], error[160];
        (void)snprintf(text, sizeof text, "idle: '%s'", cases[i].idle);
        (void)snprintf(error, sizeof error, "t.yaml:1:7: idle: \"%s\" %s", cases[i].idle, cases[i].error);
        refuse(text, error);
    }
}

static void test_0_to_31_counters_can_be_reserved(void **state) {
    (void)state;
    static const char range[] = "is out of range: 0 to 31 are allowed";
    static const char none[] = "is not a whole number: write how many counters, such as 1";
    static const struct {
        const char *reserve, *error;
    } cases[] = {{"32", range},  {"999999999999999", range}, {"-1", none}, {"1.5", none}, {"2.0", none}, {"all", none},
                 {"0x10", none}, {"1000000000000000", none}};
    accept("counters: {reserve: 31}");
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[64], error[160];
        (void)snprintf(text, sizeof text, "counters: {reserve: '%s'}", cases[i].reserve);
        (void)snprintf(error, sizeof error, "t.yaml:1:21: reserve: \"%s\" %s", cases[i].reserve, cases[i].error);
        refuse(text, error);
    }
}

static void test_guests_are_left_alone_or_shared_with(void **state) {
    (void)state;
    static const char remedy[] =
        "is neither: write auto to leave guests and their counters alone, or share to count them too";
    static const char *const words[] = {"Auto", "exclude", "", "true"};
    for (size_t i = 0; i < N_OF(words); i++) {
        char text[64], error[200];
        (void)snprintf(text, sizeof text, "profiles: {a: {groups: [], guests: '%s'}}", words[i]);
        (void)snprintf(error, sizeof error, "t.yaml:1:36: guests: \"%s\" %s", words[i], remedy);
        refuse(text, error);
    }
}

static void test_cpus_must_name_some_that_can_exist(void **state) {
    (void)state;
    accept("cpus: 0-8191");
    static const struct refusal refusals[] = {
        {"cpus: All", "t.yaml:1:7: cpus: \"All\" is not a list of CPUs: write all, or numbers and ranges such as "
                      "0-3,8"},
        {"cpus: 3-1", "t.yaml:1:7: cpus: \"3-1\" is not a list of CPUs: write all, or numbers and ranges such as "
                      "0-3,8"},
        {"cpus: 8192", "t.yaml:1:7: cpus: \"8192\" names a CPU above 8191, the highest there can be"},
        {"cpus: ''", "t.yaml:1:7: cpus: \"\" names no CPU: to measure nothing, use a profile with groups: []"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_an_address_that_cannot_be_bound_is_refused_with_the_remedy(void **state) {
    (void)state;
    static const char all[] = "has no address: write 0.0.0.0 or [::] for all of this host's addresses";
    static const char number[] = "is not an address: write a number, such as 127.0.0.1:10813 or \"[::1]:10813\"";
    static const char brackets[] = "is not an address: write IPv6 in brackets, such as \"[::1]:10813\"";
    static const char parts[] = "needs an address and a port, such as 127.0.0.1:10813";
    static const char port[] = "has no valid port: 1 to 65535 are allowed, and 0 for any free one";
    static const struct {
        const char *address, *error;
    } cases[] = {
        {"localhost:80", "has a name for its address: write the number, 127.0.0.1 or [::1]"},
        {":80", all},
        {"*:80", all},
        {"example.org:80", number},
        {"127.1:80", number},
        {"256.0.0.1:80", number},
        {"[127.0.0.1]:80", number},
        {"[::g]:80", number},
        {"[]:80", number},
        {"[:80", number},
        {"::1:80", brackets},
        {"10813", parts},
        {"[::1]", parts},
        {"", parts},
        {"[::ffff:10.0.0.1]:80", "is an IPv4 address written as IPv6: write 127.0.0.1:10813 instead"},
        {"127.0.0.1:65536", port},
        {"127.0.0.1:", port},
        {"127.0.0.1:-1", port},
        {"127.0.0.1:http", port},
        {"127.0.0.1:000080", port},
        {"127.0.0.1: 80", port},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[64], error[200];
        (void)snprintf(text, sizeof text, "listen: ['%s']", cases[i].address);
        (void)snprintf(error, sizeof error, "t.yaml:1:10: listen: \"%s\" %s", cases[i].address, cases[i].error);
        refuse(text, error);
    }
    refuse("listen:\n- [80]",
           "t.yaml:2:3: listen: a list stands where an address should: put IPv6 in quotes, \"[::1]:10813\"");
}

static void test_probes_need_an_address_of_their_own_or_a_short_path(void **state) {
    (void)state;
    refuse("probe: ['127.0.0.1:80']",
           "t.yaml:1:8: probe: a list stands where an address should: put IPv6 in quotes, \"[::1]:10813\"");
    refuse("probe: localhost:80",
           "t.yaml:1:8: probe: \"localhost:80\" has a name for its address: write the number, 127.0.0.1 or [::1]");
    refuse("probe: run/probe.sock",
           "t.yaml:1:8: probe: \"run/probe.sock\" needs an address and a port, such as 127.0.0.1:10813");
    refuse("probe: 127.0.0.1:10813",
           "t.yaml:1:8: probe: \"127.0.0.1:10813\" is an address of listen: probes need one of their own");
    refuse("probe: 0.0.0.0:80\nlisten: ['127.0.0.1:80']",
           "t.yaml:1:8: probe: \"0.0.0.0:80\" is an address of listen: probes need one of their own");
    refuse_repeated("probe: /", "abcdefgh", 14, "", "t.yaml:1:8: probe: the path has more than 107 bytes");
    accept_repeated("probe: /", "abcdefgh", 13, "ab");
}

static void test_listen_takes_1_to_16_different_addresses(void **state) {
    (void)state;
    refuse("listen: []",
           "t.yaml:1:9: listen is empty: write an address, remove the key for 127.0.0.1:10813, or write none to "
           "open no port");
    refuse("listen: ['[::1]:80', '[0:0::1]:80']",
           "t.yaml:1:22: listen: \"[0:0::1]:80\" is there twice (the other one is \"[::1]:80\"); keep one");
    refuse("listen: ['[::1]:0', '[::1]:0']",
           "t.yaml:1:21: listen: \"[::1]:0\" is there twice (the other one is \"[::1]:0\"); keep one");
    refuse("listen: [\"[::1]:80\", \"[::]:80\"]\n",
           "t.yaml:1:22: listen: \"[::]:80\" and \"[::1]:80\" overlap: one of them stands for all addresses; keep one");
    accept_repeated("listen: [", "'0.0.0.0:#',", 16, "]");
    refuse_repeated("listen: [", "'0.0.0.0:#',", 17, "]", "t.yaml:1:9: listen: more than 16 addresses");
}

static void test_a_profile_that_does_not_exist_is_refused(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"profiles: {database: {groups: []}}\nprofile: databse",
         "t.yaml:2:10: there is no profile \"databse\": did you mean \"database\"?"},
        {"hosts:\n- match: {cpu: x}\n  profile: batch",
         "t.yaml:3:12: there is no profile \"batch\": add it to profiles"},
        {"profile: Default", "t.yaml:1:10: there is no profile \"Default\": did you mean \"default\"?"},
        {"profile: \"a\\e[31m\\n\"", "t.yaml:1:10: there is no profile \"a?[31m?\": add it to profiles"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_groups_are_refused_where_missing_doubled_or_misnamed(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"profiles:\n  a: {slot: 1s}",
         "t.yaml:2:3: profile \"a\" has no groups: list them, or write groups: [] to measure nothing"},
        {"profiles:\n  a:\n    groups:\n    - Topdown_L1\n    - MPKI\n    - topdown-l1",
         "t.yaml:6:7: group \"topdown-l1\" is already in line 4, as \"Topdown_L1\"; keep one"},
        {"profiles: {a: {groups: [x y]}}",
         "t.yaml:1:25: group name \"x y\": only letters, digits, '_', '-' and '.' are allowed"},
        {"profiles: {a: {groups: [_-.]}}", "t.yaml:1:25: group name \"_-.\": it needs a letter or digit"},
        {"profiles: {a: {groups: ['']}}", "t.yaml:1:25: group name \"\": it needs a letter or digit"},
        {"profiles: {a: {groups: [~]}}",
         "t.yaml:1:25: group has no value: write one, such as stage_1, or remove the key"},
    };
    refuse_all(refusals, N_OF(refusals));
}

static void test_names_have_at_most_63_plain_characters(void **state) {
    (void)state;
    accept_repeated("profiles: {default: {groups: [", "a", 63, "]}}");
    accept_repeated("profiles: {", "p", 63, ": {groups: []}}");
    refuse_repeated("profiles: {default: {groups: [", "a", 64, "]}}",
                    "t.yaml:1:31: group name \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": "
                    "longer than 63 characters");
    refuse_repeated("profiles: {", "p", 80, ": {groups: []}}",
                    "t.yaml:1:12: profile name "
                    "\"pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp...\": "
                    "longer than 63 characters");
    refuse("profiles: {a/b: {groups: []}}",
           "t.yaml:1:12: profile name \"a/b\": only letters, digits, '_', '-' and '.' are allowed");
    // Cut before, not within, the last character that fits: 33 letters of two bytes after one of one.
    refuse_repeated("profiles: {a", "ä", 40, ": {groups: []}}",
                    "t.yaml:1:12: profile name \"aäääääääääääääääääääääääääääääääää...\": "
                    "only letters, digits, '_', '-' and '.' are allowed");
}

static void test_weights_belong_to_groups_and_are_1_to_100(void **state) {
    (void)state;
    static const struct {
        const char *weights, *error;
    } cases[] = {
        {"{MPKI: 0}", "57: weight: \"0\" is out of range: 1 to 100 are allowed"},
        {"{MPKI: 101}", "57: weight: \"101\" is out of range: 1 to 100 are allowed"},
        {"{MPKI: 2.0}", "57: weight: \"2.0\" is not a whole number: write how many slots a round, such as 3"},
        {"{MPKI: -1}", "57: weight: \"-1\" is not a whole number: write how many slots a round, such as 3"},
        {"{MPKI: many}", "57: weight: \"many\" is not a whole number: write how many slots a round, such as 3"},
        {"{MPKI: [1]}", "57: weight must be a single value, such as 3, and is a list"},
        {"{MPKI: 1, mpki: 1}", "60: weights: group \"MPKI\" has a weight already, under another spelling; keep one"},
        {"{stage1: 1, MPK: 3}", "62: weights: this profile's groups have no \"MPK\": did you mean \"MPKI\"?"},
        {"{General: 3}",
         "51: weights: this profile's groups have no \"General\": add it to groups, or remove its weight"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[128], error[200];
        (void)snprintf(text, sizeof text, "profiles: {a: {groups: [stage_1, MPKI], weights: %s}}", cases[i].weights);
        (void)snprintf(error, sizeof error, "t.yaml:1:%s", cases[i].error);
        refuse(text, error);
    }
}

static void test_a_host_needs_a_match_with_something_in_it_and_a_profile(void **state) {
    (void)state;
    static const struct refusal refusals[] = {
        {"hosts: [{match: {}, profile: default}]",
         "t.yaml:1:17: match names nothing: write hostname, cpu or file (hostname: \"*\" matches every host)"},
        {"hosts: [{profile: default}]", "t.yaml:1:9: an entry of hosts without match: write it as {match: {hostname: "
                                        "\"db-*\"}, profile: default}"},
        {"hosts: [{match: {cpu: x}}]", "t.yaml:1:9: an entry of hosts without profile: write it as {match: {hostname: "
                                       "\"db-*\"}, profile: default}"},
        {"hosts: [{match: {hostname: ''}, profile: default}]",
         "t.yaml:1:28: hostname is empty: write one, such as \"db-*\", or remove the key"},
        {"hosts: [{match: {file: etc/role}, profile: default}]",
         "t.yaml:1:24: file: \"etc/role\" is not an absolute path: begin it with /"},
    };
    refuse_all(refusals, N_OF(refusals));
    accept_repeated("hosts: [{match: {hostname: ", "h", 255, "}, profile: default}]");
    refuse_repeated("hosts: [{match: {hostname: ", "h", 256, "}, profile: default}]",
                    "t.yaml:1:28: hostname is longer than 255 bytes");
    accept_repeated("hosts: [{match: {file: /", "f", 4094, "}, profile: default}]");
    refuse_repeated("hosts: [{match: {file: /", "f", 4095, "}, profile: default}]",
                    "t.yaml:1:24: file is longer than 4095 bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_unknown_key_is_refused_with_a_suggestion_and_what_is_known),
        cmocka_unit_test(test_specs_of_a_vendor_that_are_wrong_are_refused),
        cmocka_unit_test(test_recordings_that_are_wrong_are_refused),
        cmocka_unit_test(test_what_is_wrong_outside_the_cores_is_refused),
        cmocka_unit_test(test_a_wrong_type_is_refused_with_a_right_example),
        cmocka_unit_test(test_a_key_without_a_value_is_refused),
        cmocka_unit_test(test_a_slot_needs_a_unit_and_a_sane_length),
        cmocka_unit_test(test_idle_outside_0_to_90_per_cent_is_refused),
        cmocka_unit_test(test_0_to_31_counters_can_be_reserved),
        cmocka_unit_test(test_guests_are_left_alone_or_shared_with),
        cmocka_unit_test(test_cpus_must_name_some_that_can_exist),
        cmocka_unit_test(test_an_address_that_cannot_be_bound_is_refused_with_the_remedy),
        cmocka_unit_test(test_probes_need_an_address_of_their_own_or_a_short_path),
        cmocka_unit_test(test_listen_takes_1_to_16_different_addresses),
        cmocka_unit_test(test_a_profile_that_does_not_exist_is_refused),
        cmocka_unit_test(test_groups_are_refused_where_missing_doubled_or_misnamed),
        cmocka_unit_test(test_names_have_at_most_63_plain_characters),
        cmocka_unit_test(test_weights_belong_to_groups_and_are_1_to_100),
        cmocka_unit_test(test_a_host_needs_a_match_with_something_in_it_and_a_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
