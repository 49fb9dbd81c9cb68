// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"

enum { WORD_MAX = 64 };
#define LISTEN_DEFAULT_ADDRESS "127.0.0.1"
#define LISTEN_DEFAULT_PORT 10813
#define LISTEN_NONE "none" // no address: see `textfile`

static void add_listen(struct config_decoder *decoder, const char *text, const struct config_value_endpoint *endpoint,
                       const struct config_origin *origin) {
    struct config_listen *listen = &decoder->config->listen[decoder->config->n_listen++];
    listen->text = config_map_text(decoder, text);
    listen->address = config_map_text(decoder, endpoint->address);
    listen->port = endpoint->port;
    listen->origin = *origin;
}

// Whether `all` stands for all of this host's addresses of the kind of `one`.
static bool covers(const char *all, const char *one) { return strcmp(all, strchr(one, ':') ? "::" : "0.0.0.0") == 0; }

// Whether they are the same, or one of them stands for the other as well.
static bool clashes(const struct config_listen *listen, const struct config_value_endpoint *endpoint) {
    bool overlap = endpoint->port != 0 &&
                   (covers(listen->address, endpoint->address) || covers(endpoint->address, listen->address));
    return listen->port == endpoint->port && (overlap || strcmp(listen->address, endpoint->address) == 0);
}

static void decode_item(struct config_decoder *decoder, const struct yaml_tree *item) {
    const struct config *config = decoder->config;
    struct config_value_endpoint endpoint;
    if (!config_value_listen(item, "listen", &endpoint, decoder->errors))
        return;
    for (size_t i = 0; i < config->n_listen && !decoder->memory_short; i++) {
        bool same = strcmp(config->listen[i].address, endpoint.address) == 0;
        if (!clashes(&config->listen[i], &endpoint))
            continue;
        (void)yaml_tree_error(decoder->errors, &item->origin,
                              same
                                  ? "listen: \"%s\" is there twice (the other one is \"%s\"); keep one"
                                  : "listen: \"%s\" and \"%s\" overlap: one of them stands for all addresses; keep one",
                              yaml_tree_word(item->text).text, yaml_tree_word(config->listen[i].text).text);
        return;
    }
    add_listen(decoder, item->text, &endpoint, &item->origin);
}

static bool make_place(struct config_decoder *decoder) {
    decoder->config->listen = config_map_array(decoder, CONFIG_LISTEN_MAX, sizeof *decoder->config->listen);
    return decoder->config->listen;
}

void config_listen_decode(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *listen,
                          void *member) {
    static const struct config_value_endpoint endpoint = {LISTEN_DEFAULT_ADDRESS, LISTEN_DEFAULT_PORT};
    (void)member;
    if (!make_place(decoder))
        return;
    if (!listen) {
        add_listen(decoder, key->standard, &endpoint, &(struct config_origin){.file = NULL});
        return;
    }
    if (listen->kind == YAML_TREE_SCALAR && strcmp(listen->text, LISTEN_NONE) == 0)
        return;
    if (!config_value_is(listen, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    if (listen->n == 0)
        (void)yaml_tree_error(
            decoder->errors, &listen->origin,
            "listen is empty: write an address, remove the key for 127.0.0.1:10813, or write none to open "
            "no port");
    if (listen->n > CONFIG_LISTEN_MAX)
        (void)yaml_tree_error(decoder->errors, &listen->origin, "listen: more than %d addresses", CONFIG_LISTEN_MAX);
    for (size_t i = 0; i < listen->n && i < CONFIG_LISTEN_MAX; i++)
        decode_item(decoder, listen->entries[i].value);
}

// ---- for probes ----

static void set_probe(struct config_decoder *decoder, const struct yaml_tree *value, const char *address,
                      uint16_t port) {
    struct config_listen *probe = &decoder->config->probe;
    *probe = (struct config_listen){.text = config_map_text(decoder, value->text),
                                    .address = config_map_text(decoder, address),
                                    .port = port,
                                    .origin = value->origin};
}

void config_listen_decode_probe(struct config_decoder *decoder, const struct config_key *key,
                                const struct yaml_tree *value, void *member) {
    const struct config *config = decoder->config;
    struct config_value_endpoint endpoint;
    (void)member;
    if (value->kind == YAML_TREE_SCALAR && *value->text == '/') {
        if (strlen(value->text) > CONFIG_PROBE_PATH_MAX)
            (void)yaml_tree_error(decoder->errors, &value->origin, "%s: the path has more than %d bytes", key->name,
                                  CONFIG_PROBE_PATH_MAX);
        else
            set_probe(decoder, value, value->text, 0);
        return;
    }
    if (!config_value_listen(value, key->name, &endpoint, decoder->errors))
        return;
    for (size_t i = 0; i < config->n_listen && !decoder->memory_short; i++)
        if (endpoint.port != 0 && clashes(&config->listen[i], &endpoint)) {
            (void)yaml_tree_error(decoder->errors, &value->origin,
                                  "%s: \"%s\" is an address of listen: probes need one of their own", key->name,
                                  yaml_tree_word(value->text).text);
            return;
        }
    set_probe(decoder, value, endpoint.address, endpoint.port);
}

// ---- the command line ----

static void decode_word(struct config_decoder *decoder, const char *word) {
    static const struct config_origin origin = {.file = "--web.listen-address"};
    if (decoder->config->n_listen == CONFIG_LISTEN_MAX) {
        (void)yaml_tree_error(decoder->errors, &origin, "listen: more than %d addresses", CONFIG_LISTEN_MAX);
        return;
    }
    char text[WORD_MAX * 2];
    (void)snprintf(text, sizeof text, "%s", word);
    decode_item(decoder, &(struct yaml_tree){.kind = YAML_TREE_SCALAR, .origin = origin, .text = text});
}

// Both spell an address that the file wants as a number: a host's own name for itself may be another one each day.
static void decode_short_word(struct config_decoder *decoder, const struct config_listen_words *words,
                              const char *word) {
    static const char local[] = "localhost:";
    char text[WORD_MAX];
    bool all = word[0] == ':', short_enough = strlen(word) < WORD_MAX / 2;
    if (short_enough && (all || strncmp(word, local, strlen(local)) == 0)) {
        (void)snprintf(text, sizeof text, "%s%s", all ? "0.0.0.0" : "127.0.0.1", strchr(word, ':'));
        decode_word(decoder, text);
        (void)snprintf(text, sizeof text, "[::]%s", word);
        if (all && words->ipv6)
            decode_word(decoder, text);
    } else {
        decode_word(decoder, word);
    }
}

int config_listen_replace(struct config *config, const struct config_listen_words *words, struct errors *errors) {
    struct config_decoder decoder = {.config = config, .errors = errors};
    size_t before = errors->n + errors->dropped;
    config_listen_clear(config);
    if (words->n == 1 && strcmp(words->words[0], LISTEN_NONE) == 0)
        return 0;
    if (!make_place(&decoder))
        return -ENOMEM;
    for (size_t i = 0; i < words->n && !decoder.memory_short; i++)
        decode_short_word(&decoder, words, words->words[i]);
    if (decoder.memory_short)
        return -ENOMEM;
    return errors->n + errors->dropped > before ? -EINVAL : 0;
}

void config_listen_clear(struct config *config) {
    for (size_t i = 0; i < config->n_listen; i++) {
        free(config->listen[i].text);
        free(config->listen[i].address);
    }
    free(config->listen);
    config->listen = NULL;
    config->n_listen = 0;
}
