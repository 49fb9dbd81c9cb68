// SPDX-License-Identifier: Apache-2.0
//
// Turns the merged tree into struct config: the table of all keys, and the decoders of those that are more than a
// single value.
#include "config/yaml/config_decode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml/config_boxes.h"
#include "config/yaml/config_listen.h"
#include "config/yaml/config_map.h"
#include "config/yaml/config_profile.h"
#include "config/yaml/config_uncore.h"
#include "config/yaml/config_value.h"

enum { PATTERN_MAX = 255, PATH_BYTES_MAX = 4095 };

// ---- texts ----

static void decode_pattern(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                           void *member) {
    if (config_value_text(value, key->name, PATTERN_MAX, key->example, decoder->errors))
        *(char **)member = config_map_text(decoder, value->text);
}

static void decode_path(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                        void *member) {
    if (!config_value_text(value, key->name, PATH_BYTES_MAX, key->example, decoder->errors))
        return;
    if (value->text[0] != '/')
        (void)yaml_tree_error(decoder->errors, &value->origin, "%s: \"%s\" is not an absolute path: begin it with /",
                              key->name, yaml_tree_word(value->text).text);
    *(char **)member = config_map_text(decoder, value->text);
}

// ---- a host's profile ----

static void decode_forced_profile(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *value, void *member) {
    (void)key;
    (void)member;
    decoder->config->forced_profile = config_profile_find(decoder, value);
}

static void decode_host_profile(struct config_decoder *decoder, const struct config_key *key,
                                const struct yaml_tree *value, void *member) {
    int index = config_profile_find(decoder, value);
    (void)key;
    if (index >= 0)
        *(unsigned *)member = (unsigned)index;
}

static void decode_match(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *match,
                         void *member) {
    if (!config_value_is(match, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return;
    config_map_check(decoder, match, CONFIG_MATCH);
    if (match->n == 0)
        (void)yaml_tree_error(decoder->errors, &match->origin,
                              "match names nothing: write hostname, cpu or file (hostname: \"*\" matches every host)");
    config_map_read(decoder, match, CONFIG_MATCH, member);
}

static void decode_host(struct config_decoder *decoder, const struct yaml_tree *item, struct config_host *host) {
    static const char example[] = "{match: {hostname: \"db-*\"}, profile: default}";
    if (!config_value_is(item, YAML_TREE_MAP, "an entry of hosts", example, decoder->errors))
        return;
    config_map_check(decoder, item, CONFIG_HOST);
    bool matches = yaml_tree_get(item, "match") != NULL;
    if (!matches || !yaml_tree_get(item, "profile"))
        (void)yaml_tree_error(decoder->errors, &item->origin, "an entry of hosts without %s: write it as %s",
                              matches ? "profile" : "match", example);
    config_map_read(decoder, item, CONFIG_HOST, host);
}

static void decode_hosts(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *hosts,
                         void *member) {
    struct config *config = decoder->config;
    (void)member;
    if (!config_value_is(hosts, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    config->hosts = config_map_array(decoder, hosts->n, sizeof *config->hosts);
    for (size_t i = 0; config->hosts && i < hosts->n; i++) {
        config->hosts[config->n_hosts].origin = hosts->entries[i].value->origin;
        decode_host(decoder, hosts->entries[i].value, &config->hosts[config->n_hosts++]);
    }
}

// ---- mappings that are parts of the settings, or of the top level ----

static void decode_counters(struct config_decoder *decoder, const struct config_key *key,
                            const struct yaml_tree *counters, void *settings) {
    if (!config_value_is(counters, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return;
    config_map_check(decoder, counters, CONFIG_COUNTERS);
    config_map_read(decoder, counters, CONFIG_COUNTERS, settings);
}

// Checks a mapping that needs the key "path". Returns the path's node, or NULL.
static const struct yaml_tree *decode_place(struct config_decoder *decoder, const struct config_key *key,
                                            const struct yaml_tree *map, enum config_place place, void *out) {
    if (!config_value_is(map, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return NULL;
    config_map_check(decoder, map, place);
    const struct yaml_tree *path = yaml_tree_get(map, "path");
    if (!path)
        (void)yaml_tree_error(decoder->errors, &map->origin, "%s has no path: write %s: %s", key->name, key->name,
                              key->example);
    config_map_read(decoder, map, place, out);
    return path;
}

// Decodes `specs:`. The vendor's files are read later, when the host's CPU is known.
static void decode_specs(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                         void *member) {
    struct config_specs *specs = &decoder->config->specs;
    const struct yaml_tree *path = decode_place(decoder, key, value, CONFIG_SPECS, specs);
    (void)member;
    if (specs->path)
        specs->origin = path->origin;
}

static void decode_record(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                          void *member) {
    struct config_record *record = &decoder->config->record;
    const struct yaml_tree *path = decode_place(decoder, key, value, CONFIG_RECORD, record);
    (void)member;
    if (record->path)
        record->origin = path->origin;
}

static void decode_textfile(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                            void *member) {
    (void)member;
    (void)decode_place(decoder, key, value, CONFIG_TEXTFILE, &decoder->config->textfile);
}

static void decode_uncore(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                          void *member) {
    (void)member;
    if (!config_value_is(value, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return;
    config_map_check(decoder, value, CONFIG_UNCORE);
    config_map_read(decoder, value, CONFIG_UNCORE, &decoder->config->uncore);
}

// ---- all keys ----

#define SETTING(member) offsetof(struct config_settings, member)

// In the order in which messages list them.
static const struct config_key config_keys[] = {
    {.name = "groups",
     .places = CONFIG_PROFILE,
     .pass = CONFIG_PROFILES,
     .decode = config_profile_decode_groups,
     .when_absent = true,
     .example = "[stage_1, MPKI]",
     .help = "metric groups to measure, by name; [] measures nothing"},
    {.name = "weights",
     .places = CONFIG_PROFILE,
     .pass = CONFIG_LAST,
     .decode = config_profile_decode_weights,
     .example = "{stage_1: 3}",
     .help = "slots that a group's event groups get in each round, 1 to 100"},
    {.name = "listen",
     .places = CONFIG_TOP,
     .decode = config_listen_decode,
     .when_absent = true,
     .example = "[\"127.0.0.1:10813\"]",
     .standard = "127.0.0.1:10813",
     .help = "addresses to serve on"},
    {.name = "probe",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = config_listen_decode_probe,
     .example = "\"127.0.0.1:10814\"",
     .help = "an address, or the path of a Unix socket, for /-/healthy and /-/ready alone, without a password"},
    {.name = "profile",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_forced_profile,
     .help = "this host's profile, whatever hosts says"},
    {.name = "profiles",
     .places = CONFIG_TOP,
     .pass = CONFIG_PROFILES,
     .decode = config_profile_decode_all,
     .when_absent = true,
     .example = "{batch: {groups: [stage_1]}}",
     .help = "names, and what each profile measures"},
    {.name = "hosts",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_hosts,
     .example = "[{match: {hostname: \"db-*\"}, profile: default}]",
     .help = "rules that choose a host's profile; the first match wins"},
    {.name = "slot",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_slot,
     .member = SETTING(slot_ns),
     .standard = "auto",
     .help = "time for which one event group counts, 10ms to 60s; auto: 200ms, longer with more than 32 cores"},
    {.name = "interval",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_interval,
     .member = SETTING(interval_ns),
     .standard = "2s",
     .help = "time between two snapshots, as nearly as rounds allow, 1s to 60s"},
    {.name = "idle",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_idle,
     .member = SETTING(idle),
     .standard = "10%",
     .help = "share of each round in which no counter is held, 0% to 90%"},
    {.name = "cpus",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_cpus,
     .standard = "all",
     .help = "CPUs to measure: all, or numbers and ranges such as 0-3,8"},
    {.name = "counters",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .decode = decode_counters,
     .example = "{reserve: 1}",
     .help = "what is left to others of each CPU's counters"},
    {.name = "guests",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_guests,
     .member = SETTING(guests),
     .standard = "auto",
     .help = "auto leaves guests and their counters alone, share counts them too"},
    {.name = "mode",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_mode,
     .member = SETTING(mode),
     .standard = "fixed",
     .help = "fixed: shares of time as the weights say; adaptive: more where the bottleneck is"},
    {.name = "evidence",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_flag,
     .member = SETTING(evidence),
     .standard = "false",
     .help = "true measures what the verdict leads to for as long as it does, beside the profile's groups"},
    {.name = "standard_error",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_flag,
     .member = SETTING(standard_error),
     .standard = "false",
     .help = "true exports each gauge's standard error to Prometheus"},
    {.name = "max_series",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_series,
     .member = SETTING(max_series),
     .standard = "1000",
     .help = "series of /metrics above which topdownd warns; none: never"},
    {.name = "max_cpu_series",
     .places = CONFIG_TOP | CONFIG_PROFILE,
     .value = config_value_series,
     .member = SETTING(max_cpu_series),
     .standard = "50000",
     .help = "series that /metrics/cpu has at most: it leaves out raw events first; none: all"},
    {.name = "specs",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_specs,
     .example = "{path: /usr/share/pmu-events/arch, format: perf}",
     .help = "a vendor's files in the place of our own specs"},
    {.name = "record",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_record,
     .example = "{path: /var/lib/topdownd/recording, size: 256M}",
     .help = "where every reading is written to"},
    {.name = "textfile",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_textfile,
     .example = "{path: /var/lib/prometheus/node-exporter, interval: 10s}",
     .help = "the folder of node_exporter's collector of text files, for hosts that may open no port"},
    {.name = "uncore",
     .places = CONFIG_TOP,
     .pass = CONFIG_LAST,
     .decode = decode_uncore,
     .example = "{enabled: auto, groups: [memory]}",
     .help = "what is measured outside the cores: memory controllers, caches, interconnects"},
    {.name = "reserve",
     .places = CONFIG_COUNTERS,
     .value = config_value_reserve,
     .member = SETTING(reserve_counters),
     .standard = "0",
     .help = "general counters of each CPU that are never used, 0 to 31"},
    {.name = "path",
     .places = CONFIG_SPECS,
     .decode = decode_path,
     .member = offsetof(struct config_specs, path),
     .example = "/usr/share/pmu-events/arch",
     .help = "a file or folder, absolute"},
    {.name = "format",
     .places = CONFIG_SPECS,
     .value = config_value_format,
     .member = offsetof(struct config_specs, format),
     .help = "perf, arm or perfmon; by what is there where it is absent"},
    {.name = "path",
     .places = CONFIG_RECORD,
     .decode = decode_path,
     .member = offsetof(struct config_record, path),
     .example = "/var/lib/topdownd/recording",
     .help = "a file, absolute; older parts have .1, .2 and so on at the end"},
    {.name = "size",
     .places = CONFIG_RECORD,
     .value = config_value_size,
     .member = offsetof(struct config_record, size_bytes),
     .standard = "256M",
     .help = "of all parts together, 1M to 1024G"},
    {.name = "path",
     .places = CONFIG_TEXTFILE,
     .decode = decode_path,
     .member = offsetof(struct config_textfile, path),
     .example = "/var/lib/prometheus/node-exporter",
     .help = "a folder, absolute; topdownd.prom is written to it"},
    {.name = "interval",
     .places = CONFIG_TEXTFILE,
     .value = config_value_interval,
     .member = offsetof(struct config_textfile, interval_ns),
     .standard = "10s",
     .help = "time between two times that it is written, 1s to 60s"},
    {.name = "enabled",
     .places = CONFIG_UNCORE,
     .value = config_uncore_enabled,
     .member = offsetof(struct config_uncore, off),
     .standard = "auto",
     .help = "auto: what the host has; off: nothing"},
    {.name = "groups",
     .places = CONFIG_UNCORE,
     .decode = config_uncore_groups,
     .example = "[memory, Latency]",
     .help = "memory, remote, llc, interconnect, io and names of metric groups of 'topdownd list pmus', as many as are "
             "wanted; memory alone where it is absent"},
    {.name = "numa",
     .places = CONFIG_UNCORE,
     .value = config_uncore_enabled,
     .member = offsetof(struct config_uncore, numa_off),
     .standard = "auto",
     .help = "auto: the kernel's counts of NUMA nodes, of a host with several; off: none"},
    {.name = "resctrl",
     .places = CONFIG_UNCORE,
     .value = config_uncore_enabled,
     .member = offsetof(struct config_uncore, resctrl_off),
     .standard = "auto",
     .help = "auto: what resctrl counts, where somebody has mounted it; off: nothing"},
    {.name = "peak",
     .places = CONFIG_UNCORE,
     .decode = config_boxes_decode_peak,
     .example = "307.2GB",
     .help = "bytes a second that the memory of each socket can move, or {SOCKET: BYTES}; auto: as the host says"},
    {.name = "boxes",
     .places = CONFIG_UNCORE,
     .decode = config_boxes_decode,
     .example = "{exclude: [uncore_imc_3]}",
     .help = "which of the PMUs that topdownd knows are opened, by the kernel's names"},
    {.name = "pmus",
     .places = CONFIG_UNCORE,
     .decode = config_boxes_decode_pmus,
     .example = "[{name: power, events: [energy-pkg]}]",
     .help = "PMUs that topdownd does not know, and which of their events it measures"},
    {.name = "include",
     .places = CONFIG_BOXES,
     .decode = config_boxes_decode_patterns,
     .member = offsetof(struct config_boxes, include),
     .example = "[\"uncore_imc_[0-3]\"]",
     .help = "shell patterns of the kernel's names of PMUs, of which a box needs one; all where it is absent"},
    {.name = "exclude",
     .places = CONFIG_BOXES,
     .decode = config_boxes_decode_patterns,
     .member = offsetof(struct config_boxes, exclude),
     .example = "[uncore_imc_3]",
     .help = "shell patterns of the kernel's names of PMUs, which are not opened"},
    {.name = "name",
     .places = CONFIG_PMU,
     .decode = config_boxes_decode_name,
     .member = offsetof(struct config_pmu, name),
     .example = "power",
     .help = "a shell pattern of the kernel's names of PMUs"},
    {.name = "events",
     .places = CONFIG_PMU,
     .decode = config_boxes_decode_events,
     .member = offsetof(struct config_pmu, events),
     .example = "[energy-pkg]",
     .help = "names of events that have a unit, from the folder events of the PMU"},
    {.name = "match",
     .places = CONFIG_HOST,
     .decode = decode_match,
     .example = "{hostname: \"db-*\"}",
     .help = "conditions that a host must meet, all of them"},
    {.name = "profile",
     .places = CONFIG_HOST,
     .decode = decode_host_profile,
     .member = offsetof(struct config_host, profile),
     .help = "the profile of a host that matches"},
    {.name = "hostname",
     .places = CONFIG_MATCH,
     .decode = decode_pattern,
     .member = offsetof(struct config_host, hostname),
     .example = "\"db-*\"",
     .help = "a shell pattern for the host name"},
    {.name = "cpu",
     .places = CONFIG_MATCH,
     .decode = decode_pattern,
     .member = offsetof(struct config_host, cpu),
     .example = "\"neoverse-*\"",
     .help = "a shell pattern for the name of the CPU's spec"},
    {.name = "file",
     .places = CONFIG_MATCH,
     .decode = decode_path,
     .member = offsetof(struct config_host, file),
     .example = "/etc/role-batch",
     .help = "a file that must exist, absolute"},
};

enum { CONFIG_KEYS = sizeof config_keys / sizeof *config_keys };

bool config_describe_key(size_t index, struct config_key_help *out) {
    if (index >= CONFIG_KEYS)
        return false;
    const struct config_key *key = &config_keys[index];
    *out = (struct config_key_help){
        .in_profile = key->places == (CONFIG_TOP | CONFIG_PROFILE), .standard = key->standard, .help = key->help};
    (void)snprintf(out->name, sizeof out->name, "%s%s", config_map_prefix(key), key->name);
    return true;
}

int config_decode(const struct yaml_tree *tree, struct config *config, struct errors *errors) {
    struct config_decoder decoder = {.keys = config_keys, .n_keys = CONFIG_KEYS, .config = config, .errors = errors};
    config->forced_profile = -1;
    config->uncore.groups = CONFIG_UNCORE_STANDARD;
    config_map_check(&decoder, tree, CONFIG_TOP);
    config_map_default(&decoder, CONFIG_TOP, &config->settings);
    config_map_default(&decoder, CONFIG_COUNTERS, &config->settings);
    config_map_default(&decoder, CONFIG_RECORD, &config->record);
    config_map_default(&decoder, CONFIG_TEXTFILE, &config->textfile);
    config_map_read(&decoder, tree, CONFIG_TOP, &config->settings);
    return decoder.memory_short ? -ENOMEM : 0;
}
