// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_MAP_H
#define TOPDOWND_CONFIG_YAML_CONFIG_MAP_H

// Reads a mapping of the configuration key by key, following a table.
//
// One mistake must not hide the next: each function reports and goes on with what it has. An invalid entry still counts
// as present, so that no message merely echoes another. Running out of memory is recorded and checked at the end.

#include <stdbool.h>
#include <stddef.h>

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

// The mappings in which a key is allowed.
enum config_place {
    CONFIG_TOP = 1,
    CONFIG_PROFILE = 2,
    CONFIG_COUNTERS = 4,
    CONFIG_SPECS = 8,
    CONFIG_RECORD = 16,
    CONFIG_HOST = 32,
    CONFIG_MATCH = 64,
    CONFIG_TEXTFILE = 128,
    CONFIG_UNCORE = 256,
    CONFIG_BOXES = 512,
    CONFIG_PMU = 1024
};

// The keys of a mapping are read in this order, regardless of the order in the file or the table.
enum config_pass {
    CONFIG_FIRST,    // keys that need no other key
    CONFIG_PROFILES, // profiles start from the top level's settings, and weights belong to a profile's groups
    CONFIG_LAST,     // keys that refer to these
    CONFIG_PASSES
};

struct config_decoder {
    const struct config_key *keys; // the table
    size_t n_keys;
    struct config *config;
    struct errors *errors;
    struct config_profile *profile;              // being read
    const struct yaml_tree_entry *profile_entry; // its name and keys
    bool groups_known;                           // of that profile
    bool profiles_unknown;                       // their list is wrong as a whole
    bool memory_short;
};

struct config_key {
    const char *name;
    unsigned places; // of enum config_place
    enum config_pass pass;
    // The key's reader: `value` reads a single value into `member`, an offset in the struct that its place fills
    // (struct config_settings at the top level, in a profile and in counters); `decode` reads anything more complex.
    // With `when_absent`, `decode` is also called with NULL for an absent key.
    bool (*value)(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
    size_t member;
    void (*decode)(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                   void *member);
    bool when_absent;
    const char *example;  // a valid value, for messages of `decode`
    const char *standard; // the default, if it is one value
    const char *help;
};

// Reports keys that are not allowed in a mapping at `place`, one of the places of the table.
void config_map_check(const struct config_decoder *decoder, const struct yaml_tree *map, unsigned place);

// The mappings around a key: "", "counters.", "uncore.boxes.".
const char *config_map_prefix(const struct config_key *key);

// Reads the keys of such a mapping into `out`, and notes where they are set (config_place_of in config.h).
void config_map_read(struct config_decoder *decoder, const struct yaml_tree *map, unsigned place, void *out);

// Applies the defaults of all keys at `place` that have one.
void config_map_default(struct config_decoder *decoder, unsigned place, void *out);

// Copies that return NULL and record it if out of memory.
char *config_map_text(struct config_decoder *decoder, const char *text);
void *config_map_array(struct config_decoder *decoder, size_t n, size_t size);

// The most similar spelling of a word, NULL if there is none.
const char *config_map_suggest(const struct config_decoder *decoder, const char *word, const char *const *known,
                               size_t n);

// Reports that there is no `what` named `word`, with the most similar name, or else the remedy.
void config_map_report_missing(const struct config_decoder *decoder, const struct config_origin *origin,
                               const char *what, const char *word, const char *near, const char *remedy);

#endif
