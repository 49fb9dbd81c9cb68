// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_ADJUST_H
#define TOPDOWND_CONFIG_YAML_CONFIG_ADJUST_H

// What a command line asks for instead of what the chosen profile says: a measurement by hand keeps the rest of the
// host's profile (guests, reserved counters, the vendor's files).

#include "config/yaml/config.h"

struct config_adjustment {
    const char *groups;   // metric groups, comma-separated; NULL: the profile's
    const char *cpus;     // "0-3,8"; NULL: the profile's
    uint64_t interval_ns; // 0: the profile's
};

// Changes the profile, which belongs to the configuration. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int config_adjust(struct config *config, const struct config_profile *profile,
                  const struct config_adjustment *adjustment, struct errors *errors);

// Sets the length of its slots.
void config_adjust_slot(struct config *config, const struct config_profile *profile, uint64_t slot_ns);

#endif
