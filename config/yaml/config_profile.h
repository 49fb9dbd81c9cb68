// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_PROFILE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_PROFILE_H

// Profiles, and the keys that name one. All but the last decode a key (config/yaml/config_map.h).

#include "config/yaml/config_map.h"

// Every profile, and "default" where the file does not name it; each begins with the top level's settings.
void config_profile_decode_all(struct config_decoder *decoder, const struct config_key *key,
                               const struct yaml_tree *profiles, void *member);

// The groups of the profile that is being read, and their weights.
void config_profile_decode_groups(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *groups, void *member);
void config_profile_decode_weights(struct config_decoder *decoder, const struct config_key *key,
                                   const struct yaml_tree *weights, void *member);

// The profile that `value` names, -1 where it does not name one.
int config_profile_find(struct config_decoder *decoder, const struct yaml_tree *value);

#endif
