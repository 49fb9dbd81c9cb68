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

const char *config_place_prefix(unsigned places) {
    static const struct {
        unsigned place;
        const char *prefix;
    } prefixes[] = {{CONFIG_TOP, ""},           {CONFIG_PROFILE, "profiles.NAME."}, {CONFIG_COUNTERS, "counters."},
                    {CONFIG_SPECS, "specs."},   {CONFIG_RECORD, "record."},         {CONFIG_TEXTFILE, "textfile."},
                    {CONFIG_UNCORE, "uncore."}, {CONFIG_BOXES, "uncore.boxes."},    {CONFIG_PMU, "uncore.pmus."},
                    {CONFIG_HOST, "hosts."},    {CONFIG_MATCH, "hosts.match."}};
    size_t i = 0;
    while ((prefixes[i].place & places) == 0)
        i++;
    return prefixes[i].prefix;
}

// A profile's own keys have their names without a prefix, whichever profile they are in.
static bool is_named(const struct config_set *set, const char *name) {
    const char *prefix = (set->places & CONFIG_PROFILE) != 0 ? "" : config_place_prefix(set->places);
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && strcmp(name + length, set->name) == 0;
}

struct config_origin config_place_of(const struct config *config, const struct config_profile *profile,
                                     const char *name) {
    struct config_origin found = {.file = NULL};
    int index = profile ? (int)(profile - config->profiles) : -1;
    bool own = false;
    for (size_t i = 0; i < config->n_set; i++) {
        const struct config_set *set = &config->set[i];
        if (!is_named(set, name) || (set->profile >= 0 && set->profile != index) || (own && set->profile < 0))
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
