// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_place.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN_MAX = 240, STANDARD_MAX = 32, KEYS_MAX = 32 };

char *config_map_text(struct config_decoder *decoder, const char *text) {
    char *copy = strdup(text);
    decoder->memory_short |= !copy;
    return copy;
}

void *config_map_array(struct config_decoder *decoder, size_t n, size_t size) {
    void *array = calloc(n > 0 ? n : 1, size);
    decoder->memory_short |= !array;
    return array;
}

// Finding a similar spelling takes time, so it is skipped for errors that will not be shown.
const char *config_map_suggest(const struct config_decoder *decoder, const char *word, const char *const *known,
                               size_t n) {
    return decoder->errors->n < ERRORS_MAX ? error_suggest(word, known, n) : NULL;
}

void config_map_report_missing(const struct config_decoder *decoder, const struct config_origin *origin,
                               const char *what, const char *word, const char *near, const char *remedy) {
    if (near)
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": did you mean \"%s\"?", what,
                              yaml_tree_word(word).text, yaml_tree_word(near).text);
    else
        (void)yaml_tree_error(decoder->errors, origin, "%s \"%s\": %s", what, yaml_tree_word(word).text, remedy);
}

void config_map_check(const struct config_decoder *decoder, const struct yaml_tree *map, unsigned place) {
    const char *known[KEYS_MAX];
    char list[KNOWN_MAX] = "";
    size_t n = 0;
    for (size_t k = 0; k < decoder->n_keys; k++) {
        if ((decoder->keys[k].places & place) == 0)
            continue;
        size_t length = strlen(list);
        assert(n < KEYS_MAX);
        (void)snprintf(list + length, sizeof list - length, "%s%s", n > 0 ? ", " : "", decoder->keys[k].name);
        known[n++] = decoder->keys[k].name;
    }
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_tree_entry *entry = &map->entries[i];
        bool found = false;
        for (size_t k = 0; k < n; k++)
            found |= strcmp(entry->key, known[k]) == 0;
        if (found)
            continue;
        const char *near = config_map_suggest(decoder, entry->key, known, n);
        (void)yaml_tree_error(decoder->errors, &entry->key_origin, "unknown key \"%s\": %s%s%sknown here are %s",
                              yaml_tree_word(entry->key).text, near ? "did you mean \"" : "", near ? near : "",
                              near ? "\"? " : "", list);
    }
}

static void read_key(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                     void *out) {
    void *member = (char *)out + key->member;
    if (value)
        config_place_note(decoder, key, value);
    if (key->decode && (value || key->when_absent))
        key->decode(decoder, key, value, member);
    else if (value && key->value)
        (void)key->value(value, key->name, member, decoder->errors);
}

void config_map_read(struct config_decoder *decoder, const struct yaml_tree *map, unsigned place, void *out) {
    for (enum config_pass pass = CONFIG_FIRST; pass < CONFIG_PASSES; pass++)
        for (size_t k = 0; k < decoder->n_keys; k++)
            if ((decoder->keys[k].places & place) != 0 && decoder->keys[k].pass == pass)
                read_key(decoder, &decoder->keys[k], yaml_tree_get(map, decoder->keys[k].name), out);
}

void config_map_default(struct config_decoder *decoder, unsigned place, void *out) {
    for (size_t k = 0; k < decoder->n_keys; k++) {
        const struct config_key *key = &decoder->keys[k];
        char text[STANDARD_MAX];
        if ((key->places & place) == 0 || !key->value || !key->standard)
            continue;
        (void)snprintf(text, sizeof text, "%s", key->standard);
        read_key(decoder, key, &(struct yaml_tree){.kind = YAML_TREE_SCALAR, .text = text, .plain = true}, out);
    }
}
