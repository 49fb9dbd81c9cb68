// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_place.h"

#include <stdio.h>
#include <string.h>

#include "core/base/array.h"

struct config_set {
    const char *name; // a literal
    unsigned places;  // of enum config_place
    int profile;      // index; -1: the top level
    struct config_origin origin;
};

void config_place_note(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value) {
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
    set[config->n_set++] = (struct config_set){.name = key->name,
                                               .places = key->places,
                                               .profile = of_profile ? (int)(decoder->profile - config->profiles) : -1,
                                               .origin = value->origin};
}

// The mapping that a key is in, as in struct config_key_help, and the rest of its name.
static unsigned place_in(const char **name) {
    static const struct {
        const char *prefix;
        unsigned place;
    } prefixes[] = {{"counters.", CONFIG_COUNTERS}, {"record.", CONFIG_RECORD}, {"textfile.", CONFIG_TEXTFILE}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(*name, prefixes[i].prefix, length) != 0)
            continue;
        *name += length;
        return prefixes[i].place;
    }
    return CONFIG_TOP | CONFIG_PROFILE;
}

struct config_origin config_place_of(const struct config *config, const struct config_profile *profile,
                                     const char *name) {
    struct config_origin found = {.file = NULL};
    unsigned place = place_in(&name);
    int index = profile ? (int)(profile - config->profiles) : -1;
    bool own = false;
    for (size_t i = 0; i < config->n_set; i++) {
        const struct config_set *set = &config->set[i];
        bool here = (set->places & place) != 0 && strcmp(set->name, name) == 0;
        if (!here || (set->profile >= 0 && set->profile != index) || (own && set->profile < 0))
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
