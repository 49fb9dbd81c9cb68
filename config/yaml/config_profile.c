// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_profile.h"

#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"
#include "core/base/name.h"
#include "core/spec/catalog.h"

enum { DEFAULT_GROUPS = 2 };
static const char *const default_groups[DEFAULT_GROUPS] = {CONFIG_DEFAULTS, "Software"};

static struct config_group *find_group(const struct config_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->n_groups; i++)
        if (name_equal(profile->groups[i].name, name))
            return &profile->groups[i];
    return NULL;
}

static void decode_group(struct config_decoder *decoder, const struct yaml_tree *item, struct config_profile *profile) {
    if (!config_value_is(item, YAML_TREE_SCALAR, "group", "stage_1", decoder->errors) ||
        !config_value_name(item->text, &item->origin, "group", decoder->errors))
        return;
    const struct config_group *first = find_group(profile, item->text);
    if (first) {
        (void)yaml_tree_error(decoder->errors, &item->origin, "group \"%s\" is already in line %u, as \"%s\"; keep one",
                              item->text, first->origin.line, first->name);
        return;
    }
    char *name = config_map_text(decoder, item->text);
    if (name)
        profile->groups[profile->n_groups++] = (struct config_group){.name = name, .origin = item->origin};
}

static void use_default_groups(struct config_decoder *decoder, struct config_profile *profile) {
    profile->groups = config_map_array(decoder, DEFAULT_GROUPS, sizeof *profile->groups);
    for (size_t i = 0; profile->groups && i < DEFAULT_GROUPS; i++) {
        char *name = config_map_text(decoder, default_groups[i]);
        if (!name)
            return;
        profile->groups[profile->n_groups++] =
            (struct config_group){.name = name, .origin = {.file = decoder->config->files[0]}};
    }
}

void config_profile_decode_groups(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *groups, void *member) {
    struct config_profile *profile = decoder->profile;
    const struct yaml_tree_entry *entry = decoder->profile_entry;
    (void)member;
    decoder->groups_known = false;
    if (!groups && strcmp(entry->key, "default") == 0) {
        use_default_groups(decoder, profile);
        decoder->groups_known = true;
        return;
    }
    if (!groups) {
        (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                              "profile \"%s\" has no groups: list them, or write groups: [] to measure nothing",
                              yaml_tree_word(entry->key).text);
        return;
    }
    if (!config_value_is(groups, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    if (groups->n > CATALOG_GROUPS_MAX) {
        (void)yaml_tree_error(decoder->errors, &groups->origin, "groups: more than %d in one profile",
                              CATALOG_GROUPS_MAX);
        return;
    }
    profile->groups = config_map_array(decoder, groups->n, sizeof *profile->groups);
    for (size_t i = 0; profile->groups && i < groups->n; i++)
        decode_group(decoder, groups->entries[i].value, profile);
    decoder->groups_known = true;
}

static void report_missing_group(struct config_decoder *decoder, const struct yaml_tree_entry *entry,
                                 const struct config_profile *profile) {
    const char **names = config_map_array(decoder, profile->n_groups, sizeof *names);
    if (!names)
        return;
    for (size_t i = 0; i < profile->n_groups; i++)
        names[i] = profile->groups[i].name;
    config_map_report_missing(decoder, &entry->key_origin, "weights: this profile's groups have no", entry->key,
                              config_map_suggest(decoder, entry->key, names, profile->n_groups),
                              "add it to groups, or remove its weight");
    free(names);
}

// Which groups Defaults stands for is known only once the CPU is, so such a profile may have a weight for any.
static struct config_group *add_weighted(struct config_decoder *decoder, const struct yaml_tree_entry *entry,
                                         struct config_profile *profile) {
    if (!find_group(profile, CONFIG_DEFAULTS) || profile->n_groups >= CATALOG_GROUPS_MAX) {
        report_missing_group(decoder, entry, profile);
        return NULL;
    }
    if (!config_value_name(entry->key, &entry->key_origin, "group", decoder->errors))
        return NULL;
    struct config_group *grown = reallocarray(profile->groups, profile->n_groups + 1, sizeof *grown);
    if (grown)
        profile->groups = grown;
    else
        decoder->memory_short = true;
    char *name = grown ? config_map_text(decoder, entry->key) : NULL;
    if (!name)
        return NULL;
    struct config_group *group = &profile->groups[profile->n_groups++];
    *group = (struct config_group){.name = name, .origin = entry->key_origin, .weight_only = true};
    return group;
}

void config_profile_decode_weights(struct config_decoder *decoder, const struct config_key *key,
                                   const struct yaml_tree *weights, void *member) {
    struct config_profile *profile = decoder->profile;
    (void)member;
    if (!decoder->groups_known || !config_value_is(weights, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return;
    for (size_t i = 0; i < weights->n; i++) {
        const struct yaml_tree_entry *entry = &weights->entries[i];
        struct config_group *group = find_group(profile, entry->key);
        if (!group)
            group = add_weighted(decoder, entry, profile);
        if (!group)
            continue;
        if (group->weight > 0)
            (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                                  "weights: group \"%s\" has a weight already, under another spelling; keep one",
                                  group->name);
        else
            (void)config_value_weight(entry->value, &group->weight, decoder->errors);
    }
}

// Appends a profile, initialized with the top level's settings. NULL if out of memory.
static struct config_profile *add_profile(struct config_decoder *decoder, const char *name) {
    char *copy = config_map_text(decoder, name);
    if (!copy)
        return NULL;
    struct config_profile *profile = &decoder->config->profiles[decoder->config->n_profiles++];
    *profile = (struct config_profile){.name = copy, .settings = decoder->config->settings};
    return profile;
}

static void decode_profile(struct config_decoder *decoder, const struct yaml_tree_entry *entry) {
    struct config_profile *profile = add_profile(decoder, entry->key);
    if (!profile)
        return;
    (void)config_value_name(entry->key, &entry->key_origin, "profile", decoder->errors);
    if (!config_value_is(entry->value, YAML_TREE_MAP, "a profile", "{groups: [stage_1, MPKI]}", decoder->errors))
        return;
    config_map_check(decoder, entry->value, CONFIG_PROFILE);
    decoder->profile = profile;
    decoder->profile_entry = entry;
    config_map_read(decoder, entry->value, CONFIG_PROFILE, &profile->settings);
}

void config_profile_decode_all(struct config_decoder *decoder, const struct config_key *key,
                               const struct yaml_tree *profiles, void *member) {
    (void)member;
    if (profiles && !config_value_is(profiles, YAML_TREE_MAP, key->name, key->example, decoder->errors)) {
        decoder->profiles_unknown = true;
        return;
    }
    size_t n = profiles ? profiles->n : 0;
    decoder->config->profiles = config_map_array(decoder, n + 1, sizeof *decoder->config->profiles);
    if (!decoder->config->profiles)
        return;
    for (size_t i = 0; i < n; i++)
        decode_profile(decoder, &profiles->entries[i]);
    if (profiles && yaml_tree_get(profiles, "default"))
        return;
    struct config_profile *profile = add_profile(decoder, "default");
    if (profile)
        use_default_groups(decoder, profile);
}

int config_profile_find(struct config_decoder *decoder, const struct yaml_tree *value) {
    const struct config *config = decoder->config;
    if (!config_value_is(value, YAML_TREE_SCALAR, "profile", "default", decoder->errors) || decoder->profiles_unknown)
        return -1;
    for (size_t i = 0; i < config->n_profiles; i++)
        if (strcmp(config->profiles[i].name, value->text) == 0)
            return (int)i;
    const char **names = config_map_array(decoder, config->n_profiles, sizeof *names);
    if (!names)
        return -1;
    for (size_t i = 0; i < config->n_profiles; i++)
        names[i] = config->profiles[i].name;
    config_map_report_missing(decoder, &value->origin, "there is no profile", value->text,
                              config_map_suggest(decoder, value->text, names, config->n_profiles),
                              "add it to profiles");
    free(names);
    return -1;
}
