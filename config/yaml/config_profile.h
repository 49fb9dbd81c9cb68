// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_PROFILE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_PROFILE_H

// Profiles, and the keys that name one. All functions except the last decode a key (config/yaml/config_map.h).

#include "config/yaml/config_map.h"

// Decodes every profile and adds "default" if the file does not have it; each starts from the top level's settings.
void config_profile_decode_all(struct config_decoder *decoder, const struct config_key *key,
                               const struct yaml_tree *profiles, void *member);

// Decode the groups, and their weights, of the profile being read.
void config_profile_decode_groups(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *groups, void *member);
void config_profile_decode_weights(struct config_decoder *decoder, const struct config_key *key,
                                   const struct yaml_tree *weights, void *member);

// The index of the profile that `value` names, or -1.
int config_profile_find(struct config_decoder *decoder, const struct yaml_tree *value);

#endif
