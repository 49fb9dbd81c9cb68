// SPDX-License-Identifier: Apache-2.0
#include "core/name_index.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Open addressing with linear probing; the hash (FNV-1a) takes no notice of case, so both kinds of lookup walk the same
// chain, in order of addition.

enum { CAPACITY_MIN = 64 };

static size_t hash_of(const char *name, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint64_t)tolower((unsigned char)name[i])) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

static void put(struct name_index *index, const char *name, unsigned number) {
    size_t at = hash_of(name, strlen(name)) & (index->capacity - 1);
    while (index->entries[at].name)
        at = (at + 1) & (index->capacity - 1);
    index->entries[at] = (struct name_entry){.name = name, .number = number};
    index->n++;
}

static int compare_entries(const void *a, const void *b) {
    const struct name_entry *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Entries move over in order of their numbers, which is that of addition.
static int double_capacity(struct name_index *index) {
    struct name_index larger = {.capacity = index->capacity > 0 ? 2 * index->capacity : CAPACITY_MIN};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < index->capacity; i++)
        if (index->entries[i].name)
            index->entries[n++] = index->entries[i];
    if (n > 0)
        qsort(index->entries, n, sizeof *index->entries, compare_entries);
    for (size_t i = 0; i < n; i++)
        put(&larger, index->entries[i].name, index->entries[i].number);
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
        put(index, name, number);
    return r;
}

void name_index_deinit(struct name_index *index) {
    free(index->entries);
    *index = (struct name_index){0};
}

int name_index_find(const struct name_index *index, const char *name, size_t length, bool any_case) {
    if (index->n == 0)
        return -1;
    for (size_t at = hash_of(name, length) & (index->capacity - 1); index->entries[at].name;
         at = (at + 1) & (index->capacity - 1)) {
        const char *entry = index->entries[at].name;
        if (strlen(entry) == length && (any_case ? strncasecmp(entry, name, length) : memcmp(entry, name, length)) == 0)
            return (int)index->entries[at].number;
    }
    return -1;
}
