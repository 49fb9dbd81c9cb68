// SPDX-License-Identifier: Apache-2.0
// From the merged tree to struct config.
//
// One mistake must not hide the next: each function reports and goes on with what it has, and what is wrong still
// counts as there, so that no message is only the echo of another. Short memory is remembered and asked for at the end.
#include "config/yaml/config_decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"
#include "core/base/name.h"
#include "core/spec/catalog.h"

enum { LISTEN_MAX = 16, PATTERN_MAX = 255, PATH_BYTES_MAX = 4095, KNOWN_MAX = 200 };
enum { SLOT_DEFAULT_MS = 200 };
#define IDLE_DEFAULT 0.1
#define LISTEN_DEFAULT_ADDRESS "127.0.0.1"
#define LISTEN_DEFAULT_PORT 10813
#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static const char *const top_keys[] = {"listen",   "profile", "profiles", "hosts",          "slot",  "idle",  "cpus",
                                       "counters", "guests",  "mode",     "standard_error", "specs", "record"};
static const char *const record_keys[] = {"path", "size"};
static const char *const specs_keys[] = {"path", "format"};
static const char *const profile_keys[] = {"groups",   "weights", "slot", "idle",          "cpus",
                                           "counters", "guests",  "mode", "standard_error"};
static const char *const counters_keys[] = {"reserve"};
static const char *const host_keys[] = {"match", "profile"};
static const char *const match_keys[] = {"hostname", "cpu", "file"};
static const char *const default_groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};

struct decoder {
    struct config *config;
    struct errors *errors;
    bool profiles_unknown; // their list is wrong as a whole
    bool memory_short;
};

static char *copy_text(struct decoder *decoder, const char *text) {
    char *copy = strdup(text);
    decoder->memory_short |= !copy;
    return copy;
}

static void *new_array(struct decoder *decoder, size_t n, size_t size) {
    void *array = calloc(n > 0 ? n : 1, size);
    decoder->memory_short |= !array;
    return array;
}

// Looking for a near spelling takes time: not for errors that will not be shown.
static const char *suggest(const struct decoder *decoder, const char *word, const char *const *known, size_t n) {
    return decoder->errors->n < ERRORS_MAX ? error_suggest(word, known, n) : NULL;
}

// `what` there is no `word`: names the near one, or else gives the remedy.
static void report_missing(const struct decoder *decoder, const struct config_origin *origin, const char *what,
                           const char *word, const char *near, const char *remedy) {
    if (near)
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": did you mean \"%s\"?", what,
                              yaml_tree_word(word).text, yaml_tree_word(near).text);
    else
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": %s", what, yaml_tree_word(word).text, remedy);
}

static void check_keys(const struct decoder *decoder, const struct yaml_tree *map, const char *const *known, size_t n) {
    char list[KNOWN_MAX] = "";
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(list);
        (void)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_tree_entry *entry = &map->entries[i];
        bool found = false;
        for (size_t k = 0; k < n; k++)
            found |= strcmp(entry->key, known[k]) == 0;
        if (found)
            continue;
        const char *near = suggest(decoder, entry->key, known, n);
        (void)yaml_tree_error(decoder->errors, &entry->key_origin, "unknown key \"%s\": %s%s%sknown here are %s",
                              yaml_tree_word(entry->key).text, near ? "did you mean \"" : "", near ? near : "",
                              near ? "\"? " : "", list);
    }
}

static void decode_counters(const struct decoder *decoder, const struct yaml_tree *counters,
                            struct config_settings *settings) {
    if (!config_value_is(counters, YAML_TREE_MAP, "counters", "{reserve: 1}", decoder->errors))
        return;
    check_keys(decoder, counters, counters_keys, N_OF(counters_keys));
    const struct yaml_tree *reserve = yaml_tree_get(counters, "reserve");
    if (reserve)
        (void)config_value_reserve(reserve, &settings->reserve_counters, decoder->errors);
}

static void decode_settings(const struct decoder *decoder, const struct yaml_tree *map,
                            struct config_settings *settings) {
    const struct yaml_tree *slot = yaml_tree_get(map, "slot"), *idle = yaml_tree_get(map, "idle");
    const struct yaml_tree *cpus = yaml_tree_get(map, "cpus"), *counters = yaml_tree_get(map, "counters");
    const struct yaml_tree *guests = yaml_tree_get(map, "guests"), *mode = yaml_tree_get(map, "mode");
    const struct yaml_tree *standard_error = yaml_tree_get(map, "standard_error");
    if (slot)
        (void)config_value_slot(slot, &settings->slot_ns, decoder->errors);
    if (idle)
        (void)config_value_idle(idle, &settings->idle, decoder->errors);
    if (cpus)
        (void)config_value_cpus(cpus, settings, decoder->errors);
    if (counters)
        decode_counters(decoder, counters, settings);
    if (guests)
        (void)config_value_guests(guests, &settings->guests, decoder->errors);
    if (mode)
        (void)config_value_mode(mode, &settings->mode, decoder->errors);
    if (standard_error)
        (void)config_value_flag(standard_error, "standard_error", &settings->standard_error, decoder->errors);
}

static struct config_group *find_group(const struct config_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->n_groups; i++)
        if (name_equal(profile->groups[i].name, name))
            return &profile->groups[i];
    return NULL;
}

static void decode_group(struct decoder *decoder, const struct yaml_tree *item, struct config_profile *profile) {
    if (!config_value_is(item, YAML_TREE_SCALAR, "group", "stage_1", decoder->errors) ||
        !config_value_name(item->text, &item->origin, "group", decoder->errors))
        return;
    const struct config_group *first = find_group(profile, item->text);
    if (first) {
        (void)yaml_tree_error(decoder->errors, &item->origin, "group \"%s\" is already in line %u, as \"%s\"; keep one",
                              item->text, first->origin.line, first->name);
        return;
    }
    char *name = copy_text(decoder, item->text);
    if (name)
        profile->groups[profile->n_groups++] = (struct config_group){.name = name, .origin = item->origin};
}

static void use_default_groups(struct decoder *decoder, struct config_profile *profile) {
    profile->groups = new_array(decoder, N_OF(default_groups), sizeof *profile->groups);
    for (size_t i = 0; profile->groups && i < N_OF(default_groups); i++) {
        char *name = copy_text(decoder, default_groups[i]);
        if (!name)
            return;
        profile->groups[profile->n_groups++] =
            (struct config_group){.name = name, .origin = {.file = decoder->config->files[0]}};
    }
}

// Returns false where nothing can be said about the profile's groups.
static bool decode_groups(struct decoder *decoder, const struct yaml_tree_entry *entry,
                          struct config_profile *profile) {
    const struct yaml_tree *groups = yaml_tree_get(entry->value, "groups");
    if (!groups && strcmp(entry->key, "default") == 0) {
        use_default_groups(decoder, profile);
        return true;
    }
    if (!groups) {
        (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                              "profile \"%s\" has no groups: list them, or write groups: [] to measure nothing",
                              yaml_tree_word(entry->key).text);
        return false;
    }
    if (!config_value_is(groups, YAML_TREE_LIST, "groups", "[stage_1, MPKI]", decoder->errors))
        return false;
    if (groups->n > CATALOG_GROUPS_MAX) {
        (void)yaml_tree_error(decoder->errors, &groups->origin, "groups: more than %d in one profile",
                              CATALOG_GROUPS_MAX);
        return false;
    }
    profile->groups = new_array(decoder, groups->n, sizeof *profile->groups);
    for (size_t i = 0; profile->groups && i < groups->n; i++)
        decode_group(decoder, groups->entries[i].value, profile);
    return true;
}

static void report_missing_group(struct decoder *decoder, const struct yaml_tree_entry *entry,
                                 const struct config_profile *profile) {
    const char **names = new_array(decoder, profile->n_groups, sizeof *names);
    if (!names)
        return;
    for (size_t i = 0; i < profile->n_groups; i++)
        names[i] = profile->groups[i].name;
    report_missing(decoder, &entry->key_origin, "weights: this profile's groups have no", entry->key,
                   suggest(decoder, entry->key, names, profile->n_groups), "add it to groups, or remove its weight");
    free(names);
}

static void decode_weights(struct decoder *decoder, const struct yaml_tree *weights, struct config_profile *profile) {
    if (!config_value_is(weights, YAML_TREE_MAP, "weights", "{stage_1: 3}", decoder->errors))
        return;
    for (size_t i = 0; i < weights->n; i++) {
        const struct yaml_tree_entry *entry = &weights->entries[i];
        struct config_group *group = find_group(profile, entry->key);
        if (!group) {
            report_missing_group(decoder, entry, profile);
            continue;
        }
        if (group->weight > 0)
            (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                                  "weights: group \"%s\" has a weight already, under another spelling; keep one",
                                  group->name);
        else
            (void)config_value_weight(entry->value, &group->weight, decoder->errors);
    }
}

static void decode_profile(struct decoder *decoder, const struct yaml_tree_entry *entry,
                           const struct config_settings *settings) {
    char *name = copy_text(decoder, entry->key);
    if (!name)
        return;
    struct config_profile *profile = &decoder->config->profiles[decoder->config->n_profiles++];
    profile->name = name;
    profile->settings = *settings;
    (void)config_value_name(name, &entry->key_origin, "profile", decoder->errors);
    if (!config_value_is(entry->value, YAML_TREE_MAP, "a profile", "{groups: [stage_1, MPKI]}", decoder->errors))
        return;
    check_keys(decoder, entry->value, profile_keys, N_OF(profile_keys));
    decode_settings(decoder, entry->value, &profile->settings);
    const struct yaml_tree *weights = yaml_tree_get(entry->value, "weights");
    if (decode_groups(decoder, entry, profile) && weights)
        decode_weights(decoder, weights, profile);
}

static void add_default_profile(struct decoder *decoder, const struct config_settings *settings) {
    char *name = copy_text(decoder, "default");
    if (!name)
        return;
    struct config_profile *profile = &decoder->config->profiles[decoder->config->n_profiles++];
    profile->name = name;
    profile->settings = *settings;
    use_default_groups(decoder, profile);
}

static void decode_profiles(struct decoder *decoder, const struct yaml_tree *profiles,
                            const struct config_settings *settings) {
    static const char example[] = "{batch: {groups: [stage_1]}}";
    if (profiles && !config_value_is(profiles, YAML_TREE_MAP, "profiles", example, decoder->errors)) {
        decoder->profiles_unknown = true;
        return;
    }
    size_t n = profiles ? profiles->n : 0;
    decoder->config->profiles = new_array(decoder, n + 1, sizeof *decoder->config->profiles);
    if (!decoder->config->profiles)
        return;
    for (size_t i = 0; i < n; i++)
        decode_profile(decoder, &profiles->entries[i], settings);
    if (!profiles || !yaml_tree_get(profiles, "default"))
        add_default_profile(decoder, settings);
}

// The profile that `value` names, -1 where it does not name one.
static int decode_profile_name(struct decoder *decoder, const struct yaml_tree *value) {
    const struct config *config = decoder->config;
    if (!config_value_is(value, YAML_TREE_SCALAR, "profile", "default", decoder->errors) || decoder->profiles_unknown)
        return -1;
    for (size_t i = 0; i < config->n_profiles; i++)
        if (strcmp(config->profiles[i].name, value->text) == 0)
            return (int)i;
    const char **names = new_array(decoder, config->n_profiles, sizeof *names);
    if (!names)
        return -1;
    for (size_t i = 0; i < config->n_profiles; i++)
        names[i] = config->profiles[i].name;
    report_missing(decoder, &value->origin, "there is no profile", value->text,
                   suggest(decoder, value->text, names, config->n_profiles), "add it to profiles");
    free(names);
    return -1;
}

static void decode_match(struct decoder *decoder, const struct yaml_tree *match, struct config_host *host) {
    if (!config_value_is(match, YAML_TREE_MAP, "match", "{hostname: \"db-*\"}", decoder->errors))
        return;
    check_keys(decoder, match, match_keys, N_OF(match_keys));
    const struct yaml_tree *hostname = yaml_tree_get(match, "hostname"), *cpu = yaml_tree_get(match, "cpu");
    const struct yaml_tree *file = yaml_tree_get(match, "file");
    if (match->n == 0)
        (void)yaml_tree_error(decoder->errors, &match->origin,
                              "match names nothing: write hostname, cpu or file (hostname: \"*\" matches every host)");
    if (hostname && config_value_text(hostname, "hostname", PATTERN_MAX, "\"db-*\"", decoder->errors))
        host->hostname = copy_text(decoder, hostname->text);
    if (cpu && config_value_text(cpu, "cpu", PATTERN_MAX, "\"neoverse-*\"", decoder->errors))
        host->cpu = copy_text(decoder, cpu->text);
    if (!file || !config_value_text(file, "file", PATH_BYTES_MAX, "/etc/role-batch", decoder->errors))
        return;
    if (file->text[0] != '/')
        (void)yaml_tree_error(decoder->errors, &file->origin, "file: \"%s\" is not an absolute path: begin it with /",
                              yaml_tree_word(file->text).text);
    host->file = copy_text(decoder, file->text);
}

static void decode_host(struct decoder *decoder, const struct yaml_tree *item, struct config_host *host) {
    static const char example[] = "{match: {hostname: \"db-*\"}, profile: default}";
    if (!config_value_is(item, YAML_TREE_MAP, "an entry of hosts", example, decoder->errors))
        return;
    check_keys(decoder, item, host_keys, N_OF(host_keys));
    const struct yaml_tree *match = yaml_tree_get(item, "match"), *profile = yaml_tree_get(item, "profile");
    if (!match || !profile)
        (void)yaml_tree_error(decoder->errors, &item->origin, "an entry of hosts without %s: write it as %s",
                              match ? "profile" : "match", example);
    if (match)
        decode_match(decoder, match, host);
    int index = profile ? decode_profile_name(decoder, profile) : -1;
    if (index >= 0)
        host->profile = (unsigned)index;
}

static void decode_hosts(struct decoder *decoder, const struct yaml_tree *hosts) {
    struct config *config = decoder->config;
    if (!config_value_is(hosts, YAML_TREE_LIST, "hosts", "[{match: {hostname: \"db-*\"}, profile: default}]",
                         decoder->errors))
        return;
    config->hosts = new_array(decoder, hosts->n, sizeof *config->hosts);
    for (size_t i = 0; config->hosts && i < hosts->n; i++)
        decode_host(decoder, hosts->entries[i].value, &config->hosts[config->n_hosts++]);
}

static void add_listen(struct decoder *decoder, const char *text, const struct config_value_endpoint *endpoint) {
    struct config_listen *listen = &decoder->config->listen[decoder->config->n_listen++];
    listen->text = copy_text(decoder, text);
    listen->address = copy_text(decoder, endpoint->address);
    listen->port = endpoint->port;
}

static void decode_listen_item(struct decoder *decoder, const struct yaml_tree *item) {
    const struct config *config = decoder->config;
    struct config_value_endpoint endpoint;
    if (!config_value_listen(item, &endpoint, decoder->errors))
        return;
    for (size_t i = 0; i < config->n_listen && !decoder->memory_short; i++) {
        if (strcmp(config->listen[i].address, endpoint.address) != 0 || config->listen[i].port != endpoint.port)
            continue;
        (void)yaml_tree_error(decoder->errors, &item->origin,
                              "listen: \"%s\" is there twice (the other one is \"%s\"); keep one",
                              yaml_tree_word(item->text).text, yaml_tree_word(config->listen[i].text).text);
        return;
    }
    add_listen(decoder, item->text, &endpoint);
}

static void decode_listen(struct decoder *decoder, const struct yaml_tree *listen) {
    static const struct config_value_endpoint endpoint = {LISTEN_DEFAULT_ADDRESS, LISTEN_DEFAULT_PORT};
    decoder->config->listen = new_array(decoder, LISTEN_MAX, sizeof *decoder->config->listen);
    if (!decoder->config->listen)
        return;
    if (!listen) {
        add_listen(decoder, "127.0.0.1:10813", &endpoint);
        return;
    }
    if (!config_value_is(listen, YAML_TREE_LIST, "listen", "[\"127.0.0.1:10813\"]", decoder->errors))
        return;
    if (listen->n == 0)
        (void)yaml_tree_error(decoder->errors, &listen->origin,
                              "listen is empty: write an address, or remove the key for 127.0.0.1:10813");
    if (listen->n > LISTEN_MAX)
        (void)yaml_tree_error(decoder->errors, &listen->origin, "listen: more than %d addresses", LISTEN_MAX);
    for (size_t i = 0; i < listen->n && i < LISTEN_MAX; i++)
        decode_listen_item(decoder, listen->entries[i].value);
}

// False where it is none that could be used.
static bool decode_path(struct decoder *decoder, const struct yaml_tree *path, const char *example, char **out) {
    if (!config_value_text(path, "path", PATH_BYTES_MAX, example, decoder->errors))
        return false;
    if (path->text[0] != '/')
        (void)yaml_tree_error(decoder->errors, &path->origin, "path: \"%s\" is not an absolute path: begin it with /",
                              yaml_tree_word(path->text).text);
    *out = copy_text(decoder, path->text);
    return true;
}

// A vendor's files, which are looked at when the host's CPU is known.
static void decode_specs(struct decoder *decoder, const struct yaml_tree *specs) {
    static const char example[] = "{path: /usr/share/pmu-events/arch, format: perf}";
    if (!config_value_is(specs, YAML_TREE_MAP, "specs", example, decoder->errors))
        return;
    check_keys(decoder, specs, specs_keys, N_OF(specs_keys));
    const struct yaml_tree *path = yaml_tree_get(specs, "path"), *format = yaml_tree_get(specs, "format");
    if (!path)
        (void)yaml_tree_error(decoder->errors, &specs->origin, "specs has no path: write specs: %s", example);
    else if (decode_path(decoder, path, "/usr/share/pmu-events/arch", &decoder->config->specs.path))
        decoder->config->specs.origin = path->origin;
    if (format)
        (void)config_value_format(format, &decoder->config->specs.format, decoder->errors);
}

static void decode_record(struct decoder *decoder, const struct yaml_tree *record) {
    static const char example[] = "{path: /var/lib/topdownd/recording, size: 256M}";
    struct config_record *out = &decoder->config->record;
    out->size_bytes = CONFIG_RECORD_BYTES_DEFAULT;
    if (!config_value_is(record, YAML_TREE_MAP, "record", example, decoder->errors))
        return;
    check_keys(decoder, record, record_keys, N_OF(record_keys));
    const struct yaml_tree *path = yaml_tree_get(record, "path"), *size = yaml_tree_get(record, "size");
    if (!path)
        (void)yaml_tree_error(decoder->errors, &record->origin, "record has no path: write record: %s", example);
    else if (decode_path(decoder, path, "/var/lib/topdownd/recording", &out->path))
        out->origin = path->origin;
    if (size)
        (void)config_value_size(size, &out->size_bytes, decoder->errors);
}

int config_decode(const struct yaml_tree *tree, struct config *config, struct errors *errors) {
    struct decoder decoder = {.config = config, .errors = errors};
    struct config_settings settings = {
        .slot_ns = SLOT_DEFAULT_MS * UINT64_C(1000000), .idle = IDLE_DEFAULT, .cpus_all = true};
    const struct yaml_tree *profile = yaml_tree_get(tree, "profile"), *hosts = yaml_tree_get(tree, "hosts");
    check_keys(&decoder, tree, top_keys, N_OF(top_keys));
    decode_listen(&decoder, yaml_tree_get(tree, "listen"));
    decode_settings(&decoder, tree, &settings);
    decode_profiles(&decoder, yaml_tree_get(tree, "profiles"), &settings);
    config->forced_profile = profile ? decode_profile_name(&decoder, profile) : -1;
    if (hosts)
        decode_hosts(&decoder, hosts);
    if (yaml_tree_get(tree, "specs"))
        decode_specs(&decoder, yaml_tree_get(tree, "specs"));
    if (yaml_tree_get(tree, "record"))
        decode_record(&decoder, yaml_tree_get(tree, "record"));
    return decoder.memory_short ? -ENOMEM : 0;
}
