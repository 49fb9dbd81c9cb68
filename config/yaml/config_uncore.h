// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_UNCORE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_UNCORE_H

// Reads `uncore:`, what is measured outside the cores.

#include "config/yaml/config_map.h"

// `enabled` and `groups`: keys of the mapping, which fill struct config_uncore.
bool config_uncore_enabled(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
void config_uncore_groups(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                          void *member);

// The one of our words for groups that is like this one; NULL: none is.
const char *config_uncore_suggest(const char *word);

void config_uncore_deinit(struct config_uncore *uncore);

#endif
