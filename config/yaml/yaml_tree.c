// SPDX-License-Identifier: Apache-2.0
//
// Operations on a tree that config/yaml/yaml_tree_parse.c has made. YAML_TREE_DEPTH_MAX bounds the depth of every tree,
// which makes the recursion here safe. The size of a mapping is bounded too, because keys are searched linearly.
#include "config/yaml/yaml_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"

static struct yaml_tree_entry *find_entry(const struct yaml_tree *map, const char *key) {
    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->entries[i].key, key) == 0)
            return &map->entries[i];
    return NULL;
}

const struct yaml_tree *yaml_tree_get(const struct yaml_tree *map, const char *key) {
    const struct yaml_tree_entry *entry = find_entry(map, key);
    return entry ? entry->value : NULL;
}

bool yaml_tree_is_null(const struct yaml_tree *tree) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (tree->kind != YAML_TREE_SCALAR || !tree->plain)
        return false;
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (strcmp(tree->text, nulls[i]) == 0)
            return true;
    return false;
}

static void free_entry(struct yaml_tree_entry *entry) {
    free(entry->key);
    yaml_tree_free(entry->value);
}

static int append_entry(struct yaml_tree *tree, struct yaml_tree_entry entry) {
    struct yaml_tree_entry *entries = array_grow(tree->entries, tree->n, sizeof *entries);
    if (!entries) {
        free_entry(&entry);
        return -ENOMEM;
    }
    tree->entries = entries;
    tree->entries[tree->n++] = entry;
    return 0;
}

int yaml_tree_append(struct yaml_tree *list, struct yaml_tree *value) {
    return append_entry(list, (struct yaml_tree_entry){.value = value});
}

int yaml_tree_add(struct yaml_tree *map, struct yaml_tree_entry entry, struct errors *errors) {
    const struct yaml_tree_entry *first = find_entry(map, entry.key);
    if (first) {
        (void)yaml_tree_error(errors, &entry.key_origin, "duplicate key \"%s\": it is already in line %u; keep one",
                              yaml_tree_word(entry.key).text, first->key_origin.line);
        free_entry(&entry);
        return 0;
    }
    if (map->n == YAML_TREE_KEYS_MAX) {
        int r = yaml_tree_error(errors, &entry.key_origin, "more than %d keys in one mapping", YAML_TREE_KEYS_MAX);
        free_entry(&entry);
        return r;
    }
    return append_entry(map, entry);
}

int yaml_tree_merge(struct yaml_tree *base, struct yaml_tree *over, struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < over->n && r == 0; i++) {
        struct yaml_tree_entry entry = over->entries[i], *old = find_entry(base, entry.key);
        over->entries[i] = (struct yaml_tree_entry){0};
        if (!old) {
            r = yaml_tree_add(base, entry, errors);
        } else if (old->value->kind == YAML_TREE_MAP && entry.value->kind == YAML_TREE_MAP) {
            r = yaml_tree_merge(old->value, entry.value, errors);
            free(entry.key);
        } else {
            free_entry(old);
            *old = entry;
        }
    }
    yaml_tree_free(over);
    return r;
}

static int compare_keys(const void *a, const void *b) {
    const struct yaml_tree_entry *left = a, *right = b;
    return strcmp(left->key, right->key);
}

// Hashes a kind's letter, then a scalar's text or the entries. NUL ends each text and collection, so that no two trees
// give the same bytes.
static uint64_t hash_tree(uint64_t hash, struct yaml_tree *tree) {
    hash = hash_bytes(hash, &"slm"[tree->kind], 1);
    if (tree->kind == YAML_TREE_SCALAR)
        return hash_bytes(hash, tree->text, strlen(tree->text) + 1);
    if (tree->kind == YAML_TREE_MAP && tree->n > 0)
        qsort(tree->entries, tree->n, sizeof *tree->entries, compare_keys);
    for (size_t i = 0; i < tree->n; i++) {
        const char *key = tree->entries[i].key;
        if (key)
            hash = hash_bytes(hash_bytes(hash, "k", 1), key, strlen(key) + 1);
        hash = hash_tree(hash, tree->entries[i].value);
    }
    return hash_bytes(hash, "", 1);
}

uint64_t yaml_tree_hash(struct yaml_tree *tree) { return hash_tree(HASH_BEGIN, tree); }

struct yaml_tree *yaml_tree_free(struct yaml_tree *tree) {
    if (!tree)
        return NULL;
    for (size_t i = 0; i < tree->n; i++)
        free_entry(&tree->entries[i]);
    free(tree->entries);
    free(tree->text);
    free(tree);
    return NULL;
}

struct yaml_tree_word yaml_tree_word(const char *text) {
    struct yaml_tree_word word;
    size_t room = sizeof word.text - sizeof "...", length = strlen(text);
    bool cut = length > room;
    if (cut)
        for (length = room; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--; // do not cut a UTF-8 character
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        word.text[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    (void)strcpy(word.text + length, cut ? "..." : "");
    return word;
}

int yaml_tree_error(struct errors *errors, const struct config_origin *origin, const char *format, ...) {
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return errors_add(errors, origin->file, origin->line, origin->column, "%s", text);
}
