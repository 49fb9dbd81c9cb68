// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_CONFIG_PARSED_H
#define TOPDOWND_TESTS_CONFIG_PARSED_H

// Configurations that must be right, and their profiles.

#include <string.h>

#include "config/yaml/config.h"

static inline struct config *parse_bytes(const char *text, size_t length) {
    struct errors errors = {0};
    struct config *config = NULL;
    char line[ERROR_LINE_MAX];
    int r = config_parse("test.yaml", text, length, &errors, &config);
    for (size_t i = 0; i < errors.n; i++) {
        (void)error_format(&errors.items[i], line, sizeof line);
        print_error("%s\n", line);
    }
    assert_int_equal(r, 0);
    assert_non_null(config);
    return config;
}

static inline struct config *parse(const char *text) { return parse_bytes(text, strlen(text)); }

static inline const struct config_profile *profile_of(const struct config *config, const char *name) {
    for (size_t i = 0; i < config->n_profiles; i++)
        if (strcmp(config->profiles[i].name, name) == 0)
            return &config->profiles[i];
    fail_msg("no profile %s", name);
    return NULL;
}

#endif
