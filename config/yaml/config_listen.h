// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_LISTEN_H
#define TOPDOWND_CONFIG_YAML_CONFIG_LISTEN_H

// The addresses to serve on: the key `listen`, or words of the command line in its place; and that of probes, `probe`.

#include "config/yaml/config_map.h"

enum { CONFIG_LISTEN_MAX = 16, CONFIG_PROBE_PATH_MAX = 107 }; // bytes of a path: sun_path of unix(7)

// Decodes the key (config/yaml/config_map.h).
void config_listen_decode(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *listen,
                          void *member);

// The same for `probe`, once `listen` has been decoded.
void config_listen_decode_probe(struct config_decoder *decoder, const struct config_key *key,
                                const struct yaml_tree *probe, void *member);

// Addresses in the spelling of Prometheus' exporters: as in the file, or ":9100" for all addresses of the host, or
// "localhost:9100".
struct config_listen_words {
    const char *const *words;
    size_t n;
    bool ipv6; // the host has IPv6 addresses, which ":9100" stands for, too
};

// Replaces the configuration's addresses. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int config_listen_replace(struct config *config, const struct config_listen_words *words, struct errors *errors);

void config_listen_clear(struct config *config);

#endif
