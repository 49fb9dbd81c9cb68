// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_BOXES_H
#define TOPDOWND_CONFIG_YAML_CONFIG_BOXES_H

// Reads the parts of `uncore:` that name sockets, boxes and PMUs: `peak`, `boxes` and `pmus`.

#include "config/yaml/config_map.h"

// Keys of the mapping, which fill struct config_uncore.
void config_boxes_decode_peak(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);
void config_boxes_decode(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                         void *member);
void config_boxes_decode_pmus(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);

// Keys of `boxes` and of an entry of `pmus`, which fill struct config_patterns.
void config_boxes_decode_patterns(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *value, void *member);
void config_boxes_decode_name(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);
void config_boxes_decode_events(struct config_decoder *decoder, const struct config_key *key,
                                const struct yaml_tree *value, void *member);

void config_boxes_deinit(struct config_uncore *uncore);

#endif
