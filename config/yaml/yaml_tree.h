// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_YAML_TREE_H
#define TOPDOWND_CONFIG_YAML_YAML_TREE_H

// A YAML file as a tree in which every node knows its file, line and column.
//
// It supports only the part of YAML that a configuration needs: one document of mappings, lists and scalars.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/yaml/config_origin.h"
#include "core/base/error.h"

enum {
    YAML_TREE_BYTES_MAX = 1 << 20,
    YAML_TREE_DEPTH_MAX = 16,
    YAML_TREE_NODES_MAX = 20000,
    YAML_TREE_KEYS_MAX = 1024
};

enum yaml_tree_kind { YAML_TREE_SCALAR, YAML_TREE_LIST, YAML_TREE_MAP };

struct yaml_tree {
    enum yaml_tree_kind kind;
    struct config_origin origin; // the file's name is borrowed
    char *text;                  // of a scalar
    bool plain;                  // a scalar without quotes
    struct yaml_tree_entry {
        char *key; // NULL in a list
        struct config_origin key_origin;
        struct yaml_tree *value;
    } * entries; // of a list or mapping
    size_t n;
};

// Reads a file's text into a mapping, which is empty for an empty file. *nodes_left bounds the files of one
// configuration together. Returns 0, -EINVAL if the file cannot be parsed, -ENOMEM. Mistakes that leave the rest
// readable (duplicate keys, anchors, tags) are added to `errors`, but the result is 0.
int yaml_tree_parse(const char *file, const char *text, size_t length, size_t *nodes_left, struct errors *errors,
                    struct yaml_tree **out);

// Append to a list, add to a mapping. They take ownership of the value, and free it on failure. A duplicate key is
// added to `errors`, but the result is 0. Return 0, -EINVAL if a mapping grows too large, -ENOMEM.
int yaml_tree_append(struct yaml_tree *list, struct yaml_tree *value);
int yaml_tree_add(struct yaml_tree *map, struct yaml_tree_entry entry, struct errors *errors);

// Merges mapping `over` into mapping `base` and frees it: mappings merge, anything else is replaced. Returns 0, -EINVAL
// if a mapping grows too large, -ENOMEM.
int yaml_tree_merge(struct yaml_tree *base, struct yaml_tree *over, struct errors *errors);

// The value of a key, NULL if the mapping lacks it.
const struct yaml_tree *yaml_tree_get(const struct yaml_tree *map, const char *key);

// True for an omitted or null value.
bool yaml_tree_is_null(const struct yaml_tree *tree);

// FNV-1a of the content. Sorts the keys of all mappings, so that the order in the files does not matter.
uint64_t yaml_tree_hash(struct yaml_tree *tree);

struct yaml_tree *yaml_tree_free(struct yaml_tree *tree);

// A word from a file, safe to show: control characters are replaced, and a long word is cut.
struct yaml_tree_word {
    char text[72];
};
struct yaml_tree_word yaml_tree_word(const char *text);

// errors_add with an origin.
int yaml_tree_error(struct errors *errors, const struct config_origin *origin, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
