// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_DECODE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_DECODE_H

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

// Fills `config`, which has only the list of files so far, from the merged tree. Adds every mistake to `errors`. The
// result (0 or -ENOMEM) tells only about memory; `config` may be half filled.
int config_decode(const struct yaml_tree *tree, struct config *config, struct errors *errors);

#endif
