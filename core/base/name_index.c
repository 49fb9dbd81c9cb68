// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_index.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/hash.h"

// Open addressing with linear probing; the hash (FNV-1a) ignores case, so both kinds of lookup walk the same chain, in
// order of addition.

enum { CAPACITY_MIN = 64 };

static unsigned hash_of(const char *name, size_t length) {
    uint64_t hash = HASH_BEGIN;
    for (size_t i = 0; i < length; i++)
        hash = hash_byte(hash, (uint8_t)tolower((unsigned char)name[i]));
    return (unsigned)(hash ^ hash >> 32);
}

static void index_put(struct name_index *index, struct name_entry entry) {
    size_t at = entry.hash & (index->capacity - 1);
    while (index->entries[at].name)
        at = (at + 1) & (index->capacity - 1);
    index->entries[at] = entry;
    index->n++;
}

// Entries are moved starting after a free place, so that those of one chain keep their order.
static int double_capacity(struct name_index *index) {
    struct name_index larger = {.capacity = index->capacity > 0 ? 2 * index->capacity : CAPACITY_MIN};
    size_t start = 0;
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return -ENOMEM;
    while (start < index->capacity && index->entries[start].name)
        start++;
    for (size_t i = 0; i < index->capacity; i++) {
        const struct name_entry *entry = &index->entries[(start + i) & (index->capacity - 1)];
        if (entry->name)
            index_put(&larger, *entry);
    }
    free(index->entries);
    *index = larger;
    return 0;
}

int name_index_make_room(struct name_index *index) {
    return 2 * (index->n + 1) > index->capacity ? double_capacity(index) : 0;
}

int name_index_reserve(struct name_index *index, size_t n) {
    size_t capacity = CAPACITY_MIN;
    while (capacity < 2 * (n + 1))
        capacity *= 2;
    index->entries = calloc(capacity, sizeof *index->entries);
    index->capacity = index->entries ? capacity : 0;
    return index->entries ? 0 : -ENOMEM;
}

int name_index_add(struct name_index *index, const char *name, unsigned number) {
    int r = name_index_make_room(index);
    if (r == 0)
        index_put(index, (struct name_entry){.name = name, .number = number, .hash = hash_of(name, strlen(name))});
    return r;
}

void name_index_deinit(struct name_index *index) {
    free(index->entries);
    *index = (struct name_index){0};
}

static int find(const struct name_index *index, const char *name, size_t length, unsigned hash, bool any_case) {
    for (size_t at = hash & (index->capacity - 1); index->entries[at].name; at = (at + 1) & (index->capacity - 1)) {
        const struct name_entry *entry = &index->entries[at];
        if (entry->hash == hash && strlen(entry->name) == length &&
            (any_case ? strncasecmp(entry->name, name, length) : memcmp(entry->name, name, length)) == 0)
            return (int)entry->number;
    }
    return -1;
}

int name_index_find(const struct name_index *index, const char *name, size_t length, bool any_case) {
    return index->n == 0 ? -1 : find(index, name, length, hash_of(name, length), any_case);
}

int name_index_find_or_add(struct name_index *index, const char *name, unsigned number) {
    struct name_entry entry = {.name = name, .number = number};
    size_t length = strlen(name);
    int r = name_index_make_room(index);
    if (r < 0)
        return r;
    entry.hash = hash_of(name, length);
    int found = find(index, name, length, entry.hash, true);
    if (found < 0)
        index_put(index, entry);
    return found < 0 ? (int)number : found;
}
