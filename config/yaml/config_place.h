// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_PLACE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_PLACE_H

// Where keys are set, so that later stages can name the line of what they warn of (config_place_of in config.h).

#include "config/yaml/config_map.h"

// Notes the key's place in the profile that is being read, or at the top level.
void config_place_note(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value);

// What stands before the names of a mapping's keys, as in struct config_key_help.
const char *config_place_prefix(unsigned places);

#endif
