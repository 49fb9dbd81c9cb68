// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_ORIGIN_H
#define TOPDOWND_CONFIG_YAML_CONFIG_ORIGIN_H

// The position of a value in a file, for messages of later stages. `file` is owned by the config.
struct config_origin {
    const char *file;
    unsigned line, column;
};

#endif
