// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_NAME_INDEX_H
#define TOPDOWND_CORE_BASE_NAME_INDEX_H

// A hash table from names, which are borrowed, to numbers. Names that differ only in case are distinct entries; lookups
// may respect or ignore case.

#include <stdbool.h>
#include <stddef.h>

struct name_index {
    struct name_entry {
        const char *name; // NULL: free
        unsigned number, hash;
    } * entries;
    size_t n, capacity; // a power of two, at most half full
};

int name_index_add(struct name_index *index, const char *name, unsigned number); // 0, -ENOMEM
int name_index_make_room(struct name_index *index); // the next addition cannot fail; 0, -ENOMEM
// Makes room for n names at once, in an empty index.
int name_index_reserve(struct name_index *index, size_t n); // 0, -ENOMEM
// Returns the name's number, ignoring case; a new name is added with `number`. -ENOMEM.
int name_index_find_or_add(struct name_index *index, const char *name, unsigned number);
void name_index_deinit(struct name_index *index);

// Returns the name's number, -1 if there is none. With `any_case` the first name added wins.
int name_index_find(const struct name_index *index, const char *name, size_t length, bool any_case);

#endif
