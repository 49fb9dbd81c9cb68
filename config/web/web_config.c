// SPDX-License-Identifier: Apache-2.0
//
// The table of all keys, and the checks of what several keys say together. Keys of the schema that topdownd does not
// honour are in the table too, so that each gets a message of its own.
#include "config/web/web_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/web/web_config_value.h"
#include "config/yaml/config_map.h"
#include "config/yaml/config_value.h"
#include "config/yaml/yaml_file.h"

// A mapping that is left empty is as good as absent.
static bool is_map(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value) {
    return !yaml_tree_is_null(value) && config_value_is(value, YAML_TREE_MAP, key->name, key->example, decoder->errors);
}

static void decode_map(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                       unsigned place, void *out) {
    if (!is_map(decoder, key, value))
        return;
    config_map_check(decoder, value, place);
    config_map_read(decoder, value, place, out);
}

// ---- TLS ----

// Both or none of certificate and key, and a CA exactly where certificates of clients are verified.
static void check_tls(struct config_decoder *decoder, const struct yaml_tree *map, const struct web_tls_settings *tls) {
    bool verified = tls->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN, has_ca = yaml_tree_get(map, "client_ca_file");
    const char *wrong = NULL;
    if (!yaml_tree_get(map, "cert_file") || !yaml_tree_get(map, "key_file"))
        wrong = "tls_server_config needs cert_file and key_file: write both, or remove it for HTTP without TLS";
    else if (verified && !has_ca)
        wrong = "client_auth_type verifies certificates of clients, but client_ca_file, their CA, is missing: add it";
    else if (!verified && has_ca)
        wrong = "client_ca_file is never used: write client_auth_type: RequireAndVerifyClientCert to have certificates "
                "of clients verified";
    else if (tls->min_version > tls->max_version)
        wrong = "min_version is above max_version: no client could connect";
    if (wrong)
        (void)yaml_tree_error(decoder->errors, &map->origin, "%s", wrong);
}

static void decode_tls(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                       void *member) {
    struct web_tls_settings *tls = member;
    size_t before = decoder->errors->n + decoder->errors->dropped;
    decode_map(decoder, key, value, WEB_CONFIG_TLS, tls);
    tls->wanted = value->kind == YAML_TREE_MAP;
    if (tls->wanted && decoder->errors->n + decoder->errors->dropped == before)
        check_tls(decoder, value, tls);
}

// ---- the rest ----

static void decode_http(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                        void *settings) {
    decode_map(decoder, key, value, WEB_CONFIG_HTTP, settings);
}

static void decode_headers(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                           void *settings) {
    decode_map(decoder, key, value, WEB_CONFIG_HEADERS, settings);
}

static void decode_users(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                         void *member) {
    struct web_settings *settings = member;
    if (!is_map(decoder, key, value))
        return;
    if (value->n > WEB_USERS_MAX) {
        (void)yaml_tree_error(decoder->errors, &value->origin,
                              "basic_auth_users: more than %d users: certificates of clients suit many better",
                              WEB_USERS_MAX);
        return;
    }
    settings->users = config_map_array(decoder, value->n, sizeof *settings->users);
    for (size_t i = 0; settings->users && i < value->n; i++)
        web_config_decode_user(decoder, &value->entries[i], &settings->users[settings->n_users++]);
}

// ---- all keys ----

#define TLS(member) offsetof(struct web_tls_settings, member)
#define WHOLE 0 // the reader gets all settings of its place

static const struct config_key web_keys[] = {
    {.name = "tls_server_config",
     .places = WEB_CONFIG_TOP,
     .decode = decode_tls,
     .member = offsetof(struct web_settings, tls),
     .example = "{cert_file: server.crt, key_file: server.key}"},
    {.name = "http_server_config",
     .places = WEB_CONFIG_TOP,
     .decode = decode_http,
     .member = WHOLE,
     .example = "{headers: {X-Frame-Options: deny}}"},
    {.name = "basic_auth_users",
     .places = WEB_CONFIG_TOP,
     .decode = decode_users,
     .member = WHOLE,
     .example = "{alice: $2y$10$...}"},
    {.name = "rate_limit",
     .places = WEB_CONFIG_TOP,
     .decode = web_config_refuse,
     .example = "topdownd bounds connections and wrong passwords itself: remove the key"},
    {.name = "cert_file", .places = WEB_CONFIG_TLS, .decode = web_config_decode_file, .member = TLS(certificate)},
    {.name = "key_file", .places = WEB_CONFIG_TLS, .decode = web_config_decode_file, .member = TLS(key)},
    {.name = "client_ca_file", .places = WEB_CONFIG_TLS, .decode = web_config_decode_file, .member = TLS(client_ca)},
    {.name = "client_auth_type",
     .places = WEB_CONFIG_TLS,
     .decode = web_config_decode_client_auth,
     .member = TLS(client_auth)},
    {.name = "min_version", .places = WEB_CONFIG_TLS, .decode = web_config_decode_version, .member = TLS(min_version)},
    {.name = "max_version", .places = WEB_CONFIG_TLS, .decode = web_config_decode_version, .member = TLS(max_version)},
    {.name = "curve_preferences", .places = WEB_CONFIG_TLS, .decode = web_config_decode_curves, .member = WHOLE},
    {.name = "prefer_server_cipher_suites",
     .places = WEB_CONFIG_TLS,
     .value = config_value_flag,
     .member = TLS(server_order)},
    {.name = "cipher_suites", .places = WEB_CONFIG_TLS, .decode = web_config_decode_suites, .member = WHOLE},
    {.name = "client_allowed_sans",
     .places = WEB_CONFIG_TLS,
     .decode = web_config_refuse,
     .example = "topdownd does not look at names in certificates: use a CA for these clients alone"},
    {.name = "cert",
     .places = WEB_CONFIG_TLS,
     .decode = web_config_refuse,
     .example = "write the certificate to a file and name it with cert_file"},
    {.name = "key",
     .places = WEB_CONFIG_TLS,
     .decode = web_config_refuse,
     .example = "write the key to a file and name it with key_file"},
    {.name = "client_ca",
     .places = WEB_CONFIG_TLS,
     .decode = web_config_refuse,
     .example = "write the certificate to a file and name it with client_ca_file"},
    {.name = "http2", .places = WEB_CONFIG_HTTP, .decode = web_config_check_http2},
    {.name = "headers",
     .places = WEB_CONFIG_HTTP,
     .decode = decode_headers,
     .member = WHOLE,
     .example = "{X-Frame-Options: deny}"},
    {.name = "Content-Security-Policy", .places = WEB_CONFIG_HEADERS, .decode = web_config_decode_header},
    {.name = "Strict-Transport-Security", .places = WEB_CONFIG_HEADERS, .decode = web_config_decode_header},
    {.name = "X-Content-Type-Options",
     .places = WEB_CONFIG_HEADERS,
     .decode = web_config_decode_header,
     .example = "nosniff"},
    {.name = "X-Frame-Options",
     .places = WEB_CONFIG_HEADERS,
     .decode = web_config_decode_header,
     .example = "deny sameorigin"},
    {.name = "X-XSS-Protection", .places = WEB_CONFIG_HEADERS, .decode = web_config_decode_header},
};

static struct web_settings *new_settings(const char *path) {
    struct web_settings *settings = calloc(1, sizeof *settings);
    if (!settings)
        return NULL;
    settings->tls.min_version = WEB_TLS12;
    settings->tls.max_version = WEB_TLS13;
    settings->tls.server_order = true;
    settings->file = strdup(path);
    return settings->file ? settings : web_settings_free(settings);
}

// Returns 0 or -ENOMEM; mistakes are in `errors`.
static int decode(const struct yaml_tree *tree, struct web_settings *settings, struct errors *errors) {
    struct config_decoder decoder = {.keys = web_keys, .n_keys = sizeof web_keys / sizeof *web_keys, .errors = errors};
    config_map_check(&decoder, tree, WEB_CONFIG_TOP);
    config_map_read(&decoder, tree, WEB_CONFIG_TOP, settings);
    return decoder.memory_short ? -ENOMEM : 0;
}

int web_config_parse(const char *path, const char *text, size_t length, struct errors *errors,
                     struct web_settings **out) {
    size_t nodes_left = YAML_TREE_NODES_MAX, before = errors->n + errors->dropped;
    struct web_settings *settings = new_settings(path);
    struct yaml_tree *tree = NULL;
    int r = settings ? yaml_tree_parse(path, text, length, &nodes_left, errors, &tree) : -ENOMEM;
    if (r == 0)
        r = decode(tree, settings, errors);
    yaml_tree_free(tree);
    if (r == 0 && errors->n + errors->dropped > before)
        r = -EINVAL;
    if (r < 0)
        web_settings_free(settings);
    else
        *out = settings;
    return r;
}

int web_config_load(const char *path, struct errors *errors, struct web_settings **out) {
    char *text;
    size_t length;
    int r = yaml_file_read(path, &text, &length);
    if (r == -ENOMEM)
        return r;
    if (r < 0) {
        yaml_file_report(errors, path, r);
        return -EINVAL;
    }
    r = web_config_parse(path, text, length, errors, out);
    free(text);
    return r;
}
