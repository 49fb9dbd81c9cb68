// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_ORIGIN_H
#define TOPDOWND_CONFIG_YAML_CONFIG_ORIGIN_H

// Where something stands, for messages that only a later stage can give. `file` is owned by the config.
struct config_origin {
    const char *file;
    unsigned line, column;
};

#endif
