// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_VALUE_H
#define TOPDOWND_CONFIG_YAML_CONFIG_VALUE_H

// Reads the single values of a configuration. On a mistake each function returns false, adds it to `errors` and leaves
// its output unchanged.

#include "config/yaml/config.h"
#include "config/yaml/yaml_tree.h"

enum { CONFIG_NAME_MAX = 63, CONFIG_ADDRESS_MAX = 46 };

// Checks that `value` of `key` is of a kind; `example` is a valid one, for the message.
bool config_value_is(const struct yaml_tree *value, enum yaml_tree_kind kind, const char *key, const char *example,
                     struct errors *errors);

// Checks that `name` of a `what` ("profile", "group") has only letters, digits, '_', '-' and '.', and fits
// CONFIG_NAME_MAX.
bool config_value_name(const char *name, const struct config_origin *origin, const char *what, struct errors *errors);

// Checks that a shell pattern or path is neither empty nor longer than `max`.
bool config_value_text(const struct yaml_tree *value, const char *key, size_t max, const char *example,
                       struct errors *errors);

// Each reads the value of one key; `key` is its name for messages. `out` points to the member that it sets in struct
// config_settings, config_specs or config_record: slot_ns, interval_ns, idle, the settings as a whole (cpus, cpus_all,
// cpus_origin), reserve_counters, guests, mode, a flag, a number of series, format, size_bytes.
bool config_value_slot(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_interval(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_idle(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_cpus(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_reserve(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_guests(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_format(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_mode(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_flag(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_series(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);
bool config_value_size(const struct yaml_tree *value, const char *key, void *out, struct errors *errors);

bool config_value_weight(const struct yaml_tree *value, unsigned *weight, struct errors *errors);

// "address:port": the address in its shortest numeric form, so that equal addresses have equal spellings.
struct config_value_endpoint {
    char address[CONFIG_ADDRESS_MAX];
    uint16_t port;
};
bool config_value_listen(const struct yaml_tree *value, const char *key, struct config_value_endpoint *endpoint,
                         struct errors *errors);

#endif
