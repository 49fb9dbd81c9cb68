// SPDX-License-Identifier: Apache-2.0
#include "config/web/web_config_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"

enum { PATH_BYTES_MAX = 4095, BCRYPT_COST_MIN = 4, BCRYPT_COST_MAX = 14, BCRYPT_PREFIX = 7 };

static void refuse(struct config_decoder *decoder, const struct yaml_tree *value, const char *key, const char *remedy) {
    (void)yaml_tree_error(decoder->errors, &value->origin, "%s: \"%s\" %s", key, yaml_tree_word(value->text).text,
                          remedy);
}

// ---- TLS ----

// A path, relative to the folder of the file that names it.
void web_config_decode_file(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                            void *member) {
    struct web_file *file = member;
    const char *of = value->origin.file, *slash = strrchr(of, '/');
    if (!config_value_text(value, key->name, PATH_BYTES_MAX, "server.pem", decoder->errors))
        return;
    size_t folder = value->text[0] != '/' && slash ? (size_t)(slash - of) + 1 : 0;
    char *path = config_map_array(decoder, folder + strlen(value->text) + 1, 1);
    if (!path)
        return;
    memcpy(path, of, folder);
    strcpy(path + folder, value->text);
    *file = (struct web_file){path, value->origin.line, value->origin.column};
}

// The index of the value in a list of names, -1 after a message.
static int find_name(struct config_decoder *decoder, const struct yaml_tree *value, const char *key,
                     const char *const *names, size_t n) {
    char list[160] = "";
    if (!config_value_is(value, YAML_TREE_SCALAR, key, names[n - 1], decoder->errors))
        return -1;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(list);
        if (strcmp(value->text, names[i]) == 0)
            return (int)i;
        (void)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    (void)yaml_tree_error(decoder->errors, &value->origin, "%s: \"%s\" is none of these: %s", key,
                          yaml_tree_word(value->text).text, list);
    return -1;
}

void web_config_decode_client_auth(struct config_decoder *decoder, const struct config_key *key,
                                   const struct yaml_tree *value, void *member) {
    static const char *const names[] = {"NoClientCert", "RequestClientCert", "RequireAnyClientCert",
                                        "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"};
    int i = find_name(decoder, value, key->name, names, sizeof names / sizeof *names);
    if (i >= 0)
        *(enum web_client_auth *)member = (enum web_client_auth)i;
}

void web_config_decode_version(struct config_decoder *decoder, const struct config_key *key,
                               const struct yaml_tree *value, void *member) {
    static const char *const names[] = {"TLS10", "TLS11", "TLS12", "TLS13"};
    int i = find_name(decoder, value, key->name, names, sizeof names / sizeof *names);
    if (i >= 0)
        *(enum web_version *)member = (enum web_version)i;
}

void web_config_decode_curves(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    static const char *const names[] = {"CurveP256", "CurveP384", "CurveP521", "X25519"};
    struct web_tls_settings *tls = member;
    if (!config_value_is(value, YAML_TREE_LIST, key->name, "[X25519, CurveP256]", decoder->errors))
        return;
    if (value->n > WEB_CURVES_MAX)
        (void)yaml_tree_error(decoder->errors, &value->origin, "%s: more than the %d that there are", key->name,
                              WEB_CURVES_MAX);
    for (size_t i = 0; i < value->n && i < WEB_CURVES_MAX; i++) {
        int found = find_name(decoder, value->entries[i].value, key->name, names, sizeof names / sizeof *names);
        if (found >= 0)
            tls->curves[tls->n_curves++] = (enum web_curve)found;
    }
}

// The index of a suite's name in Go's list, -1 after a message.
static int find_suite(struct config_decoder *decoder, const struct yaml_tree *value, const char *key) {
    static const char *const names[WEB_SUITES_MAX] = {
        [WEB_SUITE_AES_128_GCM] = "TLS_AES_128_GCM_SHA256",
        [WEB_SUITE_AES_256_GCM] = "TLS_AES_256_GCM_SHA384",
        [WEB_SUITE_CHACHA20] = "TLS_CHACHA20_POLY1305_SHA256",
        [WEB_SUITE_ECDSA_AES_128_CBC] = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        [WEB_SUITE_ECDSA_AES_256_CBC] = "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        [WEB_SUITE_RSA_AES_128_CBC] = "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        [WEB_SUITE_RSA_AES_256_CBC] = "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        [WEB_SUITE_ECDSA_AES_128_GCM] = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        [WEB_SUITE_ECDSA_AES_256_GCM] = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        [WEB_SUITE_RSA_AES_128_GCM] = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        [WEB_SUITE_RSA_AES_256_GCM] = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        [WEB_SUITE_RSA_CHACHA20] = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        [WEB_SUITE_ECDSA_CHACHA20] = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    };
    if (!config_value_is(value, YAML_TREE_SCALAR, key, names[WEB_SUITE_RSA_AES_128_GCM], decoder->errors))
        return -1;
    for (size_t i = 0; i < WEB_SUITES_MAX; i++)
        if (strcmp(value->text, names[i]) == 0)
            return (int)i;
    const char *near = error_suggest(value->text, names, WEB_SUITES_MAX);
    (void)yaml_tree_error(decoder->errors, &value->origin, "%s: \"%s\" is not in Go's list of secure suites%s%s%s", key,
                          yaml_tree_word(value->text).text, near ? ": did you mean \"" : "", near ? near : "",
                          near ? "\"?" : ", see docs/web.md: remove it");
    return -1;
}

// None, as if the key were absent, has the library's own. One that is there twice counts once.
void web_config_decode_suites(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    struct web_tls_settings *tls = member;
    bool seen[WEB_SUITES_MAX] = {false};
    if (yaml_tree_is_null(value) ||
        !config_value_is(value, YAML_TREE_LIST, key->name, "[TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]", decoder->errors))
        return;
    for (size_t i = 0; i < value->n; i++) {
        int found = find_suite(decoder, value->entries[i].value, key->name);
        if (found >= 0 && !seen[found])
            tls->suites[tls->n_suites++] = (enum web_suite)found;
        if (found >= 0)
            seen[found] = true;
    }
}

// ---- HTTP ----

static bool has_value(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *p = list; *p != '\0'; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == length && strncmp(p, word, length) == 0)
            return true;
    return false;
}

static bool is_printable(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
            return false;
    return true;
}

void web_config_decode_header(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    struct web_settings *settings = member;
    if (yaml_tree_is_null(value) || (value->kind == YAML_TREE_SCALAR && value->text[0] == '\0'))
        return; // as good as absent
    if (!config_value_text(value, key->name, WEB_HEADER_BYTES_MAX, "deny", decoder->errors))
        return;
    if (!is_printable(value->text))
        refuse(decoder, value, key->name, "has characters that a header must not have: use ASCII alone");
    else if (key->example && !has_value(key->example, value->text))
        (void)yaml_tree_error(decoder->errors, &value->origin, "%s: \"%s\" is none of these: %s", key->name,
                              yaml_tree_word(value->text).text, key->example);
    else
        settings->headers[settings->n_headers++] =
            (struct web_header){key->name, config_map_text(decoder, value->text)};
}

void web_config_check_http2(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                            void *member) {
    bool ignored;
    (void)member;
    (void)config_value_flag(value, key->name, &ignored, decoder->errors);
}

void web_config_refuse(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                       void *member) {
    (void)member;
    (void)yaml_tree_error(decoder->errors, &value->origin, "%s is not supported: %s", key->name, key->example);
}

// ---- users ----

// The cost of a bcrypt hash; -1 if it is none.
static int bcrypt_cost(const char *hash) {
    static const char digits[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    bool prefix = hash[0] == '$' && hash[1] == '2' && hash[2] != '\0' && strchr("aby", hash[2]) && hash[3] == '$';
    if (!prefix || strlen(hash) != WEB_HASH_BYTES || strspn(hash + 4, "0123456789") != 2 || hash[6] != '$' ||
        strspn(hash + BCRYPT_PREFIX, digits) != WEB_HASH_BYTES - BCRYPT_PREFIX)
        return -1;
    return (hash[4] - '0') * 10 + (hash[5] - '0');
}

// The hash itself is never shown.
void web_config_decode_user(struct config_decoder *decoder, const struct yaml_tree_entry *entry,
                            struct web_user *user) {
    const char *name = entry->key;
    const struct yaml_tree *value = entry->value;
    const struct yaml_tree_word shown = yaml_tree_word(name);
    int cost = value->kind == YAML_TREE_SCALAR ? bcrypt_cost(value->text) : -1;
    user->name = config_map_text(decoder, name);
    if (name[0] == '\0' || strlen(name) > WEB_USER_BYTES_MAX || strchr(name, ':'))
        (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                              "basic_auth_users: the name \"%s\" must have 1 to %d characters and no colon", shown.text,
                              WEB_USER_BYTES_MAX);
    if (cost < 0)
        (void)yaml_tree_error(decoder->errors, &value->origin,
                              "basic_auth_users: the value of \"%s\" is no bcrypt hash of a password: make one with "
                              "htpasswd -nBC 10 NAME",
                              shown.text);
    else if (cost < BCRYPT_COST_MIN || cost > BCRYPT_COST_MAX)
        (void)yaml_tree_error(decoder->errors, &value->origin,
                              "basic_auth_users: the hash of \"%s\" has cost %d: %d to %d are allowed, as each step "
                              "doubles the CPU time of a guess",
                              shown.text, cost, BCRYPT_COST_MIN, BCRYPT_COST_MAX);
    else
        user->hash = config_map_text(decoder, value->text);
}
