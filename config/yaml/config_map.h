// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_MAP_H
#define TOPDOWND_CONFIG_YAML_CONFIG_MAP_H

// A mapping of the configuration, read key by key as a table says.
//
// One mistake must not hide the next: each function reports and goes on with what it has, and what is wrong still
// counts as there, so that no message is only the echo of another. Short memory is remembered and asked for at the end.

#include <stdbool.h>
#include <stddef.h>

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

// The mappings in which a key may stand.
enum config_place {
    CONFIG_TOP = 1,
    CONFIG_PROFILE = 2,
    CONFIG_COUNTERS = 4,
    CONFIG_SPECS = 8,
    CONFIG_RECORD = 16,
    CONFIG_HOST = 32,
    CONFIG_MATCH = 64
};

// The keys of a mapping are read in this order, whatever order the file or the table has.
enum config_pass {
    CONFIG_FIRST,    // what needs no other key
    CONFIG_PROFILES, // profiles begin with the settings of the top level, weights are of a profile's groups
    CONFIG_LAST,     // what refers to these
    CONFIG_PASSES
};

struct config_decoder {
    const struct config_key *keys; // the table
    size_t n_keys;
    struct config *config;
    struct errors *errors;
    struct config_profile *profile;              // that is being read
    const struct yaml_tree_entry *profile_entry; // its name and keys
    bool groups_known;                           // of that profile
    bool profiles_unknown;                       // their list is wrong as a whole
    bool memory_short;
};

struct config_key {
    const char *name;
    unsigned places; // of enum config_place
    enum config_pass pass;
    // What reads it: a single value into `member`, an offset in the struct that its place fills (struct config_settings
    // at the top level, in a profile and in counters); or, where it is more than that, what decodes it. `decode` is
    // also called for a key that is absent, with NULL, if `when_absent` is set.
    bool (*value)(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
    size_t member;
    void (*decode)(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                   void *member);
    bool when_absent;
    const char *example;  // a right value, for messages of `decode`
    const char *standard; // the default, where it is one value
    const char *help;
};

// Reports keys that cannot stand in a mapping at `place`.
void config_map_check(const struct config_decoder *decoder, const struct yaml_tree *map, enum config_place place);

// Reads the keys of such a mapping into `out`.
void config_map_read(struct config_decoder *decoder, const struct yaml_tree *map, enum config_place place, void *out);

// Sets what all keys at `place` that have a default set, to that.
void config_map_default(struct config_decoder *decoder, enum config_place place, void *out);

// Copies that note when memory is short, and are NULL then.
char *config_map_text(struct config_decoder *decoder, const char *text);
void *config_map_array(struct config_decoder *decoder, size_t n, size_t size);

// The near spelling of a word, NULL where there is none.
const char *config_map_suggest(const struct config_decoder *decoder, const char *word, const char *const *known,
                               size_t n);

// `what` there is no `word`: names the near one, or else gives the remedy.
void config_map_report_missing(const struct config_decoder *decoder, const struct config_origin *origin,
                               const char *what, const char *word, const char *near, const char *remedy);

#endif
