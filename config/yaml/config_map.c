// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_map.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

enum { KNOWN_MAX = 240, STANDARD_MAX = 32, KEYS_MAX = 32 };

char *config_map_text(struct config_decoder *decoder, const char *text) {
    char *copy = strdup(text);
    decoder->memory_short |= !copy;
    return copy;
}

void *config_map_array(struct config_decoder *decoder, size_t n, size_t size) {
    void *array = calloc(n > 0 ? n : 1, size);
    decoder->memory_short |= !array;
    return array;
}

// Finding a similar spelling takes time, so it is skipped for errors that will not be shown.
const char *config_map_suggest(const struct config_decoder *decoder, const char *word, const char *const *known,
                               size_t n) {
    return decoder->errors->n < ERRORS_MAX ? error_suggest(word, known, n) : NULL;
}

void config_map_report_missing(const struct config_decoder *decoder, const struct config_origin *origin,
                               const char *what, const char *word, const char *near, const char *remedy) {
    if (near)
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": did you mean \"%s\"?", what,
                              yaml_tree_word(word).text, yaml_tree_word(near).text);
    else
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": %s", what, yaml_tree_word(word).text, remedy);
}

void config_map_check(const struct config_decoder *decoder, const struct yaml_tree *map, unsigned place) {
    const char *known[KEYS_MAX];
    char list[KNOWN_MAX] = "";
    size_t n = 0;
    for (size_t k = 0; k < decoder->n_keys; k++) {
        if ((decoder->keys[k].places & place) == 0)
            continue;
        size_t length = strlen(list);
        assert(n < KEYS_MAX);
        (void)snprintf(list + length, sizeof list - length, "%s%s", n > 0 ? ", " : "", decoder->keys[k].name);
        known[n++] = decoder->keys[k].name;
    }
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_tree_entry *entry = &map->entries[i];
        bool found = false;
        for (size_t k = 0; k < n; k++)
            found |= strcmp(entry->key, known[k]) == 0;
        if (found)
            continue;
        const char *near = config_map_suggest(decoder, entry->key, known, n);
        (void)yaml_tree_error(decoder->errors, &entry->key_origin, "unknown key \"%s\": %s%s%sknown here are %s",
                              yaml_tree_word(entry->key).text, near ? "did you mean \"" : "", near ? near : "",
                              near ? "\"? " : "", list);
    }
}

// ---- where keys are set ----

struct config_set {
    const struct config_key *key; // of the table, which is constant
    int profile;                  // index; -1: the top level
    struct config_origin origin;
};

// Notes the key's place in the profile that is being read, or at the top level, so that later stages can name the line
// of what they warn of.
static void note_place(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value) {
    struct config *config = decoder->config;
    if (!config || !value->origin.file) // of another file than the configuration; a default
        return;
    struct config_set *set = array_grow(config->set, config->n_set, sizeof *set);
    if (!set) {
        decoder->memory_short = true;
        return;
    }
    config->set = set;
    // the top level's own settings are read before the profiles, and its other keys belong to none of them
    bool of_profile = decoder->profile && (key->places & (CONFIG_PROFILE | CONFIG_COUNTERS)) != 0;
    set[config->n_set++] =
        (struct config_set){key, of_profile ? (int)(decoder->profile - config->profiles) : -1, value->origin};
}

const char *config_map_prefix(const struct config_key *key) {
    static const struct {
        unsigned place;
        const char *prefix;
    } prefixes[] = {{CONFIG_TOP, ""},           {CONFIG_PROFILE, "profiles.NAME."}, {CONFIG_COUNTERS, "counters."},
                    {CONFIG_SPECS, "specs."},   {CONFIG_RECORD, "record."},         {CONFIG_TEXTFILE, "textfile."},
                    {CONFIG_UNCORE, "uncore."}, {CONFIG_BOXES, "uncore.boxes."},    {CONFIG_PMU, "uncore.pmus."},
                    {CONFIG_HOST, "hosts."},    {CONFIG_MATCH, "hosts.match."}};
    size_t i = 0;
    while ((prefixes[i].place & key->places) == 0)
        i++;
    return prefixes[i].prefix;
}

// A profile's own keys have their names without a prefix, whichever profile they are in.
static bool is_named(const struct config_key *key, const char *name) {
    const char *prefix = (key->places & CONFIG_PROFILE) != 0 ? "" : config_map_prefix(key);
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strcmp(name + length, key->name) == 0;
}

struct config_origin config_place_of(const struct config *config, const struct config_profile *profile,
                                     const char *name) {
    struct config_origin found = {.file = NULL};
    int index = profile ? (int)(profile - config->profiles) : -1;
    bool own = false;
    for (size_t i = 0; i < config->n_set; i++) {
        const struct config_set *set = &config->set[i];
        if (!is_named(set->key, name) || (set->profile >= 0 && set->profile != index) || (own && set->profile < 0))
            continue;
        own = set->profile >= 0;
        found = set->origin;
    }
    return found;
}

struct config_origin_text config_origin_text(struct config_origin at) {
    struct config_origin_text place = {.text = ""};
    if (at.file && at.line > 0)
        (void)snprintf(place.text, sizeof place.text, "%.*s:%u: ", ERROR_FILE_MAX - 1, at.file, at.line);
    return place;
}

// ---- reading ----

static void read_key(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                     void *out) {
    void *member = (char *)out + key->member;
    if (value)
        note_place(decoder, key, value);
    if (key->decode && (value || key->when_absent))
        key->decode(decoder, key, value, member);
    else if (value && key->value)
        (void)key->value(value, key->name, member, decoder->errors);
}

void config_map_read(struct config_decoder *decoder, const struct yaml_tree *map, unsigned place, void *out) {
    for (enum config_pass pass = CONFIG_FIRST; pass < CONFIG_PASSES; pass++)
        for (size_t k = 0; k < decoder->n_keys; k++)
            if ((decoder->keys[k].places & place) != 0 && decoder->keys[k].pass == pass)
                read_key(decoder, &decoder->keys[k], yaml_tree_get(map, decoder->keys[k].name), out);
}

void config_map_default(struct config_decoder *decoder, unsigned place, void *out) {
    for (size_t k = 0; k < decoder->n_keys; k++) {
        const struct config_key *key = &decoder->keys[k];
        char text[STANDARD_MAX];
        if ((key->places & place) == 0 || !key->value || !key->standard)
            continue;
        (void)snprintf(text, sizeof text, "%s", key->standard);
        read_key(decoder, key, &(struct yaml_tree){.kind = YAML_TREE_SCALAR, .text = text, .plain = true}, out);
    }
}
