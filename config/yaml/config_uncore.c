// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_uncore.h"

#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"
#include "core/base/array.h"

// In the order of their bits.
static const char *const GROUPS[] = {"memory", "remote", "llc", "interconnect", "io"};
enum { GROUPS_N = sizeof GROUPS / sizeof *GROUPS };
_Static_assert((int)GROUPS_N == (int)CONFIG_UNCORE_GROUPS, "each group has its place");

bool config_uncore_selects(const struct config_uncore *uncore, const char *group) {
    for (unsigned i = 0; i < GROUPS_N && !uncore->off; i++)
        if (strcmp(GROUPS[i], group) == 0)
            return uncore->groups >> i & 1;
    return false;
}

struct config_origin config_uncore_origin(const struct config_uncore *uncore, const char *group) {
    for (unsigned i = 0; i < GROUPS_N; i++)
        if (strcmp(GROUPS[i], group) == 0)
            return uncore->groups_origins[i];
    return (struct config_origin){.file = NULL};
}

bool config_uncore_enabled(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    bool *off = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "auto", errors))
        return false;
    if (strcmp(value->text, "auto") != 0 && strcmp(value->text, "off") != 0) {
        (void)yaml_tree_error(errors, &value->origin,
                              "%s: \"%s\" is neither: write auto to measure what the host has, or off", key,
                              yaml_tree_word(value->text).text);
        return false;
    }
    *off = strcmp(value->text, "off") == 0;
    return true;
}

// What is none of our words names a metric group of a kind's spec or of a vendor's files, which are not read yet:
// whoever reads them checks it.
static void add_named(struct config_decoder *decoder, const struct yaml_tree *value, struct config_uncore *uncore) {
    struct config_group *named = array_grow(uncore->named, uncore->n_named, sizeof *named);
    char *name = named ? strdup(value->text) : NULL;
    if (named)
        uncore->named = named;
    if (name)
        named[uncore->n_named++] = (struct config_group){.name = name, .origin = value->origin};
    else
        decoder->memory_short = true;
}

static void add_group(struct config_decoder *decoder, const struct yaml_tree *value, struct config_uncore *uncore) {
    unsigned i = 0;
    if (!config_value_is(value, YAML_TREE_SCALAR, "an entry of groups", "memory", decoder->errors))
        return;
    while (i < GROUPS_N && strcmp(GROUPS[i], value->text) != 0)
        i++;
    if (i == GROUPS_N) {
        add_named(decoder, value, uncore);
        return;
    }
    uncore->groups |= 1U << i;
    uncore->groups_origins[i] = value->origin;
}

void config_uncore_groups(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                          void *member) {
    struct config_uncore *uncore = &decoder->config->uncore;
    (void)member;
    if (!config_value_is(value, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    uncore->groups = 0;
    for (size_t i = 0; i < value->n; i++)
        add_group(decoder, value->entries[i].value, uncore);
}

const char *config_uncore_suggest(const char *word) { return error_suggest(word, GROUPS, GROUPS_N); }

void config_uncore_deinit(struct config_uncore *uncore) {
    for (size_t i = 0; i < uncore->n_named; i++)
        free(uncore->named[i].name);
    free(uncore->named);
}
