// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_uncore.h"

#include <string.h>

#include "config/yaml/config_value.h"

// In the order of their bits.
static const char *const GROUPS[] = {"memory", "remote", "llc", "interconnect"};
enum { GROUPS_N = sizeof GROUPS / sizeof *GROUPS };

bool config_uncore_selects(const struct config_uncore *uncore, const char *group) {
    for (unsigned i = 0; i < GROUPS_N && !uncore->off; i++)
        if (strcmp(GROUPS[i], group) == 0)
            return uncore->groups >> i & 1;
    return false;
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

static void add_group(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                      unsigned *groups) {
    unsigned i = 0;
    if (!config_value_is(value, YAML_TREE_SCALAR, "an entry of groups", "memory", decoder->errors))
        return;
    while (i < GROUPS_N && strcmp(GROUPS[i], value->text) != 0)
        i++;
    if (i == GROUPS_N)
        config_map_report_missing(decoder, &value->origin, "group outside the cores", value->text,
                                  config_map_suggest(decoder, value->text, GROUPS, GROUPS_N), key->help);
    else
        *groups |= 1U << i;
}

void config_uncore_groups(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                          void *member) {
    unsigned groups = 0;
    if (!config_value_is(value, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    for (size_t i = 0; i < value->n; i++)
        add_group(decoder, key, value->entries[i].value, &groups);
    *(unsigned *)member = groups;
}
