// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_WEB_WEB_CONFIG_VALUE_H
#define TOPDOWND_CONFIG_WEB_WEB_CONFIG_VALUE_H

// Readers of single keys of a web configuration (config/yaml/config_map.h). `member` is what the key sets in struct
// web_tls_settings, or the settings of its place as a whole: struct web_tls_settings for curves and cipher suites,
// struct web_settings for headers.

#include "config/yaml/config_map.h"
#include "core/host/web_settings.h"

// The mappings in which a key is allowed.
enum { WEB_CONFIG_TOP = 1, WEB_CONFIG_TLS = 2, WEB_CONFIG_HTTP = 4, WEB_CONFIG_HEADERS = 8 };

void web_config_decode_file(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                            void *member);
void web_config_decode_client_auth(struct config_decoder *decoder, const struct config_key *key,
                                   const struct yaml_tree *value, void *member);
void web_config_decode_version(struct config_decoder *decoder, const struct config_key *key,
                               const struct yaml_tree *value, void *member);
void web_config_decode_curves(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);
void web_config_decode_suites(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);

// A header of the key's name. The key's example lists the values that it may have, if only some.
void web_config_decode_header(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member);

// The server speaks HTTP/1.1 alone, which every client understands: both values are fine.
void web_config_check_http2(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                            void *member);

// Refuses a key that is not honoured; the key's example is the remedy.
void web_config_refuse(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                       void *member);

void web_config_decode_user(struct config_decoder *decoder, const struct yaml_tree_entry *entry, struct web_user *user);

#endif
